// Cuts at quantiles.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "coding/arrays.hpp"
#include "coding/block.hpp"

namespace hocmim::coding {

// The cuts of several columns end to end, and how many each has.
using Cuts = std::pair<Result<double>, Result<i64>>;

// The smallest value above `minimum`, or infinity.
inline double next_above(double minimum, const double* x, i64 n) {
    double next = std::numeric_limits<double>::infinity();
    for (i64 i = 0; i < n; ++i) next = x[i] > minimum && x[i] < next ? x[i] : next;
    return next;
}

// Where k/n_bins of the sorted values (k = 1 .. n_bins-1) begin. `x` is reordered.
inline void quantile_cuts_of(double* x, i64 n, i64 n_bins, std::vector<double>& cuts) {
    if (n == 0) return;
    const std::size_t before = cuts.size();
    const double minimum = *std::min_element(x, x + n);
    const double least = next_above(minimum, x, n);
    if (std::isinf(least)) return;  // a constant column has nothing to cut
    const bool sort = n_bins > kFewCuts;
    if (sort) std::sort(x, x + n);
    i64 settled = 0;
    for (i64 k = 1; k < n_bins; ++k) {
        // floor(k n / n_bins) without the product, which may not fit.
        const i64 at = k * (n / n_bins) + k * (n % n_bins) / n_bins;
        if (!sort) std::nth_element(x + settled, x + at, x + n);
        settled = at;
        const double value = std::max(x[at], least);
        if (cuts.size() == before || cuts.back() < value) cuts.push_back(value);
    }
}

template <class T>
Cuts quantile_cuts(const Array2<T>& values, const Array1<i64>& columns, i64 n_bins) {
    const Block<T> block(values);
    require_columns(block, columns);
    require(n_bins >= 1, "n_bins must be at least 1");
    std::vector<double> cuts;
    std::vector<i64> n_cuts(columns.size());
    {
        nb::gil_scoped_release unlocked;
        for_columns(block, Indices{columns}, [&](i64 c, double* x) {
            const std::size_t before = cuts.size();
            double* end = std::remove_if(x, x + block.rows, [](double v) { return v != v; });
            quantile_cuts_of(x, end - x, n_bins, cuts);
            n_cuts[c] = static_cast<i64>(cuts.size() - before);
        });
    }
    return {to_numpy(std::move(cuts)), to_numpy(std::move(n_cuts))};
}

}  // namespace hocmim::coding
