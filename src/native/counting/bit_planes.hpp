// Columns of few levels as one bit a sample and level: counts become popcounts of ANDs.
#pragma once
#include <cstdint>
#include <vector>

#include "core/columns.hpp"
#include "counting/paths.hpp"
#include "counting/popcount.hpp"

namespace hocmim {

// Words of 64 samples.
//
// With few samples, eight columns of one arity lie side by side, a word of each in turn: one
// instruction processes eight columns, and no sum is taken across a register. With many samples the
// planes of a column lie one after the other, padded with zeros to whole cache lines.
class BitPlanes {
public:
    static constexpr int64_t kMostLevels = paths::kMostPlaneLevels;
    static constexpr int64_t kLanes = kPlaneLanes;

    // Columns of one arity side by side; −1 where there is none.
    struct Group {
        int64_t arity;
        int64_t first;  // where its words begin: word i of plane p of a lane at (p * n_words + i) *
                        // 8 + lane
        int64_t column[kLanes];
    };

    explicit BitPlanes(const Columns& columns);

    bool has(int64_t j) const { return first_[size_t(j)] >= 0; }
    bool in_lanes() const { return in_lanes_; }
    // Where the planes are in lanes: the groups, and the group of each column.
    const std::vector<Group>& groups() const { return groups_; }
    int64_t group_of(int64_t j) const { return group_of_[size_t(j)]; }
    const uint64_t* words(const Group& group) const { return words_.data() + group.first; }
    int64_t n_words() const { return n_words_; }
    // The planes of levels 1, 2, … of column j, one after the other, each of whole cache lines; put
    // together in `scratch` if they are in lanes.
    const uint64_t* planes(int64_t j, int64_t arity, std::vector<uint64_t>& scratch) const;

    // The number of words of a plane, rounded up to whole cache lines.
    static int64_t words_for(int64_t n_samples) { return (n_samples + 511) / 512 * 8; }

private:
    // Where the words of each column begin; return how many words there are.
    int64_t place_in_lanes(const Columns& columns);
    int64_t place_in_turn(const Columns& columns);

    int64_t n_words_;  // of a plane
    bool in_lanes_;
    std::vector<int64_t> first_;  // where the first word of a column is, or −1
    std::vector<int64_t> group_of_;
    std::vector<Group> groups_;
    std::vector<uint64_t> words_;
};

// A joint variable of few cells as one bit a sample and cell.
class CellMasks {
public:
    static constexpr int64_t kMostCells = paths::kMostMasks;

    CellMasks() = default;
    CellMasks(const uint32_t* cell_of, int64_t n_samples, int64_t n_cells);
    // The levels of a column of one byte a cell.
    CellMasks(const uint8_t* codes, int64_t n_samples, int64_t n_levels);
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

}  // namespace hocmim
