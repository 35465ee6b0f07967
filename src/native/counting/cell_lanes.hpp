// R(X, W, Y) under shrinkage of many candidates with one W: candidates side by side, a byte each.
//
// The cells of W are the same for all, so their samples are gone through once for all. Small cells are
// tallied by what they hold, as in SmallCells. The others are counted twice: for λ, then for the terms.
#pragma once
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/columns.hpp"
#include "estimators/estimate.hpp"
#include "core/partition.hpp"
#include "estimators/shrinkage.hpp"

namespace hocmim {

// The same numbers as ShrinkageTable, bit for bit, of kLanes tables with the same columns.
class LaneTable {
public:
    static constexpr size_t kLanes = 32;

    // Begins tables with rows of so many samples, by row, then lane.
    void start(std::vector<double> row_count);

    // So many cells of each table hold c samples of a row, in columns of `column_size` samples.
    void add(size_t row, uint32_t c, uint32_t column_size, const uint32_t* times);
    // Some cells of one column, a lane each: first for λ, when that is known for their terms.
    void add_cells(size_t row, const uint32_t* counts, uint32_t column_size);
    void add_terms(size_t row, const uint32_t* counts, uint32_t column_size);

    // Ends what is needed for λ: rows hold all samples that were not added, each alone in its column.
    void finish(int64_t n_samples, int64_t column_squares, const FixedPoint& nats);
    double lambda(size_t lane) const { return lambda_[lane]; }
    // Σ p* log(p*/ind), when all terms are added.
    void compute_information();
    double information(size_t lane) const { return information_[lane]; }

private:
    struct Kind {
        size_t row;
        uint32_t count, column_size;
    };
    struct Coefficients {
        double lambda[kLanes], towards[kLanes], keep[kLanes], ratio[kLanes];
    };

    static void compute_terms(const double* row_count, const uint32_t* counts, double column_size,
                              const Coefficients& given, double* out);

    double n_ = 0;
    const FixedPoint* nats_ = nullptr;
    std::vector<double> row_count_, live_, cross_;  // by row, then lane
    double squares_[kLanes], product_sum_[kLanes];
    std::vector<Kind> kinds_;
    std::vector<uint32_t> times_;  // by kind, then lane
    Coefficients of_;
    double lambda_[kLanes], information_[kLanes];
    int64_t sum_[kLanes];
};

// A candidate and its class counts, dense over level * n_classes + class.
struct LaneColumn {
    const Column* column;
    const int64_t* row_count;
};

class CellLanes {
public:
    static constexpr size_t kLanes = LaneTable::kLanes;

    static bool applies(const Setting& setting, Term term, const Column& column);

    // `setting` must outlive the lanes.
    CellLanes(const Setting& setting, const Partition& partition);

    // R of one to kLanes columns.
    void redundancy(const LaneColumn* columns, size_t n_columns, double* out);

private:
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
    Buffer<uint32_t> sample_;           // by cell, then class
    Buffer<uint32_t> class_size_;       // by cell, then class
    int64_t cell_squares_ = 0;
    ShrinkageTable pairs_;  // rows y, columns w

    LaneColumn columns_[kLanes];
    size_t n_levels_ = 0;
    LaneTable by_level_, by_row_;
    std::vector<uint8_t> codes_;         // by sample, then lane
    uint32_t gathered_from_ = 0, gathered_to_ = 0;  // which samples they are of
    std::vector<uint8_t> tally_;         // rows by class, then levels: by count, then lane
    std::vector<uint32_t> times_;        // the same, of more cells
    std::vector<uint32_t> row_, level_;  // of one cell: by class and level, by level; then lane
};

}  // namespace hocmim
