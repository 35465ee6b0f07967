// Columns of few levels as one bit a sample and level: counts become popcounts of ANDs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "columns.hpp"

namespace hocmim {

// Words of 64 samples; every plane is padded with zeros to a whole number of cache lines.
class BitPlanes {
public:
    static constexpr int64_t kMostLevels = 9;  // eight planes: a byte a cell, as much as the codes

    explicit BitPlanes(const Columns& columns);

    bool has(int64_t j) const { return first_[size_t(j)] >= 0; }
    // The planes of levels 1, 2, … of column j, one after the other.
    const uint64_t* planes(int64_t j) const { return words_.data() + first_[size_t(j)]; }
    int64_t n_words() const { return n_words_; }

    static int64_t words_for(int64_t n_samples) { return (n_samples + 511) / 512 * 8; }

private:
    int64_t n_words_;
    std::vector<int64_t> first_;  // where a column's planes begin, or −1
    std::vector<uint64_t> words_;
};

// A joint variable of few cells as one bit a sample and cell.
class CellMasks {
public:
    static constexpr int64_t kMostCells = 512;

    CellMasks() = default;
    CellMasks(const uint32_t* cell_of, int64_t n_samples, int64_t n_cells);
    // One more class for each cell: cell (w, y) is w * y.n_cells() + y.
    CellMasks(const CellMasks& w, const CellMasks& y);

    const uint64_t* masks() const { return words_.data(); }
    int64_t n_cells() const { return n_cells_; }
    int64_t n_words() const { return n_words_; }
    int64_t n_samples() const { return n_samples_; }
    // Samples in each cell.
    std::vector<int64_t> counts() const;

private:
    int64_t n_samples_ = 0, n_cells_ = 0, n_words_ = 0;
    std::vector<uint64_t> words_;
};

// counts[m * n_planes + p] = number of samples in both mask m and plane p.
void count_common(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                  int64_t n_words, int64_t* counts, size_t dispatch = 0);

// The instruction sets count_common can use on this machine; it uses the first.
std::vector<std::string> popcount_dispatches();

}  // namespace hocmim
