#include "estimators/shrinkage_lanes.hpp"

#include <algorithm>
#include <cmath>

namespace hocmim {

namespace {

constexpr int64_t kLanes = ShrinkageLanes::kLanes;

// Σ c², Σ c n_r n_c, and Σ n_r n_c of the occupied cells.
struct WholeSums {
    uint32_t squares[kLanes] = {}, product_sum[kLanes] = {};
    uint64_t cross[kLanes] = {};
};

HOCMIM_DISPATCH
void add_up(const uint32_t* count, const uint32_t* product, int64_t n_cells, WholeSums& out) {
    WholeSums sums;  // its own, so that no count can be thought to be one of them
    for (int64_t k = 0; k < n_cells; ++k, count += kLanes, product += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            sums.squares[lane] += count[lane] * count[lane];
            sums.cross[lane] += uint64_t(count[lane]) * product[lane];
            sums.product_sum[lane] += count[lane] ? product[lane] : 0;
        }
    out = sums;
}

struct Coefficients {
    double lambda[kLanes], towards[kLanes], keep[kLanes], ratio[kLanes];
};

// A cell that is empty gets a term of no meaning, which is not added up.
HOCMIM_DISPATCH
void shrunken_terms(const uint32_t* count, const uint32_t* product, int64_t n_cells,
                    const Coefficients& given, double* out) {
    const Coefficients of = given;
    for (int64_t k = 0; k < n_cells; ++k, count += kLanes, product += kLanes, out += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane)
            out[lane] = ShrunkenCell::term(double(int32_t(count[lane])), double(int32_t(product[lane])),
                                           of.lambda[lane], of.towards[lane], of.keep[lane],
                                           of.ratio[lane]);
}

}  // namespace

void ShrinkageLanes::start(int64_t n_cells) {
    n_cells_ = n_cells;
    count_.resize(size_t(n_cells * kLanes));
    product_.resize(size_t(n_cells * kLanes));
    terms_.resize(size_t(n_cells * kLanes));
}

void ShrinkageLanes::compute_intensity(double n, const double* row_squares,
                                       const double* column_squares) {
    WholeSums sums;
    add_up(count_.data(), product_.data(), n_cells_, sums);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
        product_sum_[lane] = double(sums.product_sum[lane]);
        lambda_[lane] = shrinkage_intensity(n, double(sums.squares[lane]), double(sums.cross[lane]),
                                            row_squares[lane], column_squares[lane]);
    }
}

void ShrinkageLanes::information(double n, const FixedPoint& nats, double* out) {
    Coefficients of;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
        const ShrunkenCell cell(lambda_[lane], n, nats.scale());
        of.lambda[lane] = cell.lambda;
        of.towards[lane] = cell.towards;
        of.keep[lane] = cell.keep;
        of.ratio[lane] = cell.ratio;
    }
    shrunken_terms(count_.data(), product_.data(), n_cells_, of, terms_.data());
    int64_t sum[kLanes] = {};
    for (int64_t k = 0; k < n_cells_ * kLanes; k += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            const bool is_occupied = count_[size_t(k + lane)] > 0;
            sum[lane] += std::llrint(terms_[size_t(k + lane)]) & -int64_t(is_occupied);
        }
    for (int64_t lane = 0; lane < kLanes; ++lane)
        out[lane] = lambda_[lane] == 1.0 ? 0.0
                                         : nats.real(sum[lane]) +
                                               ShrunkenCell::empty(lambda_[lane], n, product_sum_[lane]);
}

}  // namespace hocmim
