// R(X, W, Y) of many shrunken tables with one W: candidates side by side, a byte each.
//
// The cells of W are the same for all, so one pass over their samples serves all. Small cells
// are tallied by their contents, as in SmallCells. The others are counted twice: for λ, then for
// the terms.
#pragma once
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/columns.hpp"
#include "core/partition.hpp"
#include "estimators/setting.hpp"
#include "estimators/shrinkage_table.hpp"
#include "estimators/term.hpp"

namespace hocmim {

// A candidate and its class counts, dense over level * n_classes + class.
struct LaneColumn {
    const Column* column;
    const int64_t* row_count;
};

class CellLanes {
public:
    static constexpr size_t kLanes = 32;

    // `setting` must outlive the lanes.
    CellLanes(const Setting& setting, const Partition& partition);

    // R of one to kLanes columns.
    void redundancy(const LaneColumn* columns, size_t n_columns, double* out);

private:
    using Table = ShrinkageTable<kLanes>;

    struct Cell {
        uint32_t end, size;
    };

    void add_classes();
    void start();
    void gather(uint32_t from, uint32_t to);
    void tally_small();
    void take_tally(uint32_t size);
    void count_cell(size_t cell);
    template <class Use>
    void for_each_large(Use&& use);

    const Setting& setting_;
    const size_t n_classes_;
    Buffer<Cell> cells_;  // the smallest first
    size_t n_small_ = 0;
    Buffer<uint32_t> sample_;      // by cell, then class
    Buffer<uint32_t> class_size_;  // by cell, then class
    int64_t cell_squares_ = 0;
    ShrinkageTable<1> pairs_;  // rows y, columns w

    LaneColumn columns_[kLanes];
    size_t n_levels_ = 0;
    Table by_level_, by_row_;
    std::vector<uint8_t> codes_;                    // by sample, then lane
    uint32_t gathered_from_ = 0, gathered_to_ = 0;  // which samples they are of
    std::vector<uint8_t> tally_;         // rows by class, then levels: by count, then lane
    std::vector<uint32_t> times_;        // the same, of more cells
    std::vector<uint32_t> row_, level_;  // of one cell: by class and level, by level; then lane
};

}  // namespace hocmim
