// Shrinkage towards independence for eight tables of one shape at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "counting/bit_planes.hpp"
#include "estimators/shrinkage.hpp"

namespace hocmim {

// The same numbers as ShrinkageTable, bit for bit: whole numbers, and terms in fixed point. For few
// samples, so that products of two counts fit in 32 bits.
class ShrinkageLanes {
public:
    static constexpr int64_t kLanes = BitPlanes::kLanes;

    // Makes room for tables of so many cells; then counts() and products() are to be filled, by cell,
    // then lane.
    void start(int64_t n_cells);
    uint32_t* counts() { return count_.data(); }
    // Of the two marginals of each cell.
    uint32_t* products() { return product_.data(); }

    // λ of each table, given Σ n_r² and Σ n_c² of each.
    void compute_intensity(double n, const double* row_squares, const double* column_squares);
    double lambda(int64_t lane) const { return lambda_[lane]; }

    // Σ p* log(p*/ind) of each table.
    void information(double n, const FixedPoint& nats, double* out);

private:
    int64_t n_cells_ = 0;
    std::vector<uint32_t> count_, product_;
    std::vector<double> terms_;
    double lambda_[kLanes], product_sum_[kLanes];
};

}  // namespace hocmim
