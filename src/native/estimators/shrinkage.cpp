#include "estimators/shrinkage.hpp"

#include <algorithm>
#include <cmath>

namespace hocmim {

namespace {

constexpr size_t kAtOnce = 1024;  // terms

HOCMIM_DISPATCH
void shrunken_terms(const uint32_t* count, const double* product, size_t size, double lambda, double n,
                    double scale, double* out) {
    const ShrunkenCell of(lambda, n, scale);
    for (size_t i = 0; i < size; ++i)
        out[i] = ShrunkenCell::term(double(count[i]), product[i], lambda, of.towards, of.keep, of.ratio);
}

}  // namespace

void ShrinkageTable::start(const std::vector<int64_t>& row_count, size_t most_cells) {
    row_double_.assign(row_count.begin(), row_count.end());
    const size_t most_kinds = most_cells + row_count.size();
    if (count_.size() < most_kinds) {
        count_.resize(most_kinds);
        product_.resize(most_kinds);
        times_.resize(most_kinds);
    }
    size_ = 0;
    squares_ = product_sum_ = 0;
    live_.assign(row_count.size(), 0);
    cross_.assign(row_count.size(), 0);
}

void ShrinkageTable::finish() {
    for (size_t row = 0; row < row_double_.size(); ++row)
        if (const int64_t alone = int64_t(row_double_[row] - live_[row])) add(row, 1, 1, alone);
}

double ShrinkageTable::intensity(int64_t n_samples, int64_t column_squares) const {
    double row_squares = 0, cross = 0;
    for (size_t row = 0; row < row_double_.size(); ++row) {
        row_squares += row_double_[row] * row_double_[row];
        cross += row_double_[row] * cross_[row];
    }
    return shrinkage_intensity(double(n_samples), squares_, cross, row_squares, double(column_squares));
}

double shrinkage_intensity(double n, double squares, double cross, double row_squares, double columns) {
    if (row_squares == n * n || columns == n * n) return 1.0;
    const double p2 = squares / (n * n), p_sum = (row_squares + columns) / (n * n);
    const double p_ind = cross / (n * n * n), all_ind2 = (row_squares / (n * n)) * (columns / (n * n));
    const double var = (1 - p2) / n;
    const double cov = ((n - 1) * (p_sum - 2 * p_ind) + 1 - p2) / (n * n);
    const double ml2 = ((n - 1) * p2 + 1) / n;
    const double mlind = ((n * n - 3 * n + 2) * p_ind + (n - 1) * (p_sum + p2) + 1) / (n * n);
    const double ind2 =
        ((n - 1) * (n - 2) * (n - 3) * all_ind2 + (n - 1) * (n - 2) * (p_sum + 4 * p_ind) +
         (n - 1) * (2 * p_sum + 2 * p2 + 1) + 1) /
        (n * n * n);
    const double distance = ml2 + ind2 - 2 * mlind;
    if (!(distance > 0)) return 1.0;
    return std::min(1.0, std::max(0.0, (var - cov) / distance));
}

double ShrinkageTable::information(double lambda, int64_t n_samples, const FixedPoint& nats) const {
    if (lambda == 1.0) return 0.0;
    const double n = double(n_samples);
    double terms[kAtOnce];
    int64_t sum = 0;
    for (size_t at = 0; at < size_; at += kAtOnce) {
        const size_t here = std::min(kAtOnce, size_ - at);
        shrunken_terms(count_.data() + at, product_.data() + at, here, lambda, n, nats.scale(), terms);
        for (size_t i = 0; i < here; ++i) sum += int64_t(times_[at + i]) * std::llrint(terms[i]);
    }
    return nats.real(sum) + ShrunkenCell::empty(lambda, n, product_sum_);
}

}  // namespace hocmim
