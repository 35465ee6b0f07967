// Columns of few levels as one bit per sample and level: counts become popcounts of ANDs.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
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
        const uint64_t* words;  // word i of plane p of a lane at (p * n_words + i) * 8 + lane
        int64_t column[kLanes];
    };

    // Planes of neighbouring columns that are made already: the position of the first of these
    // columns, which may be negative, and their planes.
    using Made = std::pair<int64_t, std::shared_ptr<BitPlanes>>;

    // Planes that are made already are used, not copied.
    explicit BitPlanes(const Columns& columns, const std::vector<Made>& made = {});
    // Planes for a larger table that these columns are a part of, in the words given: of the
    // columns that have at most `most_planes` planes, for which there is room, and for which
    // counting with n_masks masks pays. A group that is not full is left to the larger table.
    static BitPlanes of_part(const Columns& columns, int64_t n_masks, int64_t most_planes,
                             std::shared_ptr<uint64_t[]> words);
    BitPlanes(BitPlanes&&) = default;  // a copy would point to the words of the original

    int64_t n_columns() const { return int64_t(arity_.size()); }
    bool has(int64_t j) const { return arity_[size_t(j)] > 0; }
    bool in_lanes() const { return in_lanes_; }
    // Where the planes are in lanes: the groups.
    const std::vector<Group>& groups() const { return groups_; }
    int64_t n_words() const { return n_words_; }
    // The number of words of a plane.
    static int64_t words_of_plane(int64_t n_samples);
    // The planes of levels 1, 2, … of column j, one after the other, each of whole cache lines; put
    // together in `scratch` if they are in lanes.
    const uint64_t* planes(int64_t j, int64_t arity, std::vector<uint64_t>& scratch) const;

    // The number of words of a plane, rounded up to whole cache lines.
    static int64_t words_for(int64_t n_samples) { return (n_samples + 511) / 512 * 8; }

private:
    BitPlanes(int64_t n_samples, int64_t n_columns);
    // Use the planes of these columns that are made; of a group, if it has these columns only.
    void use(const Columns& columns, const Made& made);
    void use_column(const Columns& columns, int64_t j, int64_t arity, const uint64_t* first);
    // Make the planes of some columns, in words_ if there are words already.
    void make(const Columns& columns, const std::vector<bool>& is_wanted);
    uint64_t* room_for(int64_t n_words);
    void make_in_lanes(const Columns& columns, const std::vector<bool>& is_wanted);
    void make_in_turn(const Columns& columns, const std::vector<bool>& is_wanted);

    int64_t n_words_;  // of a plane
    bool in_lanes_;
    std::vector<uint8_t> arity_;          // 0 for a column without planes
    std::vector<const uint64_t*> first_;  // the first word of a column
    std::vector<Group> groups_;
    std::shared_ptr<uint64_t[]> words_;
    std::vector<std::shared_ptr<BitPlanes>> used_;  // whose words are used, too
};

// A joint variable of few cells as one bit per sample and cell.
class CellMasks {
public:
    static constexpr int64_t kMostCells = paths::kMostMasks;

    CellMasks() = default;
    CellMasks(const uint32_t* cell_of, int64_t n_samples, int64_t n_cells);
    // The levels of a column of one byte per sample.
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
