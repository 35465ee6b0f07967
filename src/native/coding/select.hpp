// The value of a rank among values that are not sorted.
#pragma once
#include <algorithm>
#include <limits>

#include "coding/block.hpp"
#include "coding/stage.hpp"
#include "core/dispatch.hpp"

namespace hocmim::coding {

constexpr i64 kFewToSelect = 48;  // are compared each with each

// How many values are less than `pivot`, and how many equal it.
HOCMIM_INLINE void count_less_body(const double* x, i64 n, double pivot, i64& n_less,
                                   i64& n_equal) {
    i64 less = 0, equal = 0;
    for (i64 i = 0; i < n; ++i) {
        less += x[i] < pivot;
        equal += x[i] == pivot;
    }
    n_less = less;
    n_equal = equal;
}
HOCMIM_DISPATCH(inline void, count_less, count_less_body,
                (const double* x, i64 n, double pivot, i64& n_less, i64& n_equal),
                (x, n, pivot, n_less, n_equal))

constexpr i64 kSelectLanes = 4;

// The value of the rank among a few values: the largest that has at most `rank` smaller ones. No
// branch depends on the values, which are unpredictable. Up to kSelectLanes values after the n-th
// may be read: they must be larger.
template <Isa isa>
HOCMIM_INLINE double select_few_body(const double* x, i64 n, i64 rank) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::size_t n_lanes = bytes_of(isa) / sizeof(double);
    static_assert(n_lanes <= kSelectLanes);
    using Lanes = LaneVector<double, n_lanes>;
    using Counts = LaneVector<i64, n_lanes>;
    Lanes best = Lanes{} - kInfinity;
    const Counts ranks = Counts{} + rank;
    for (i64 k = 0; k < n; k += static_cast<i64>(n_lanes)) {
        Lanes values;
        load(x + k, values);
        Counts n_less = {};
        for (i64 i = 0; i < n; ++i) {
            const Lanes other = Lanes{} + x[i];
            n_less -= HOCMIM_BITS_AS(Counts, other < values);
        }
        const Lanes largest = HOCMIM_SELECT(values > best, values, best);
        best = HOCMIM_SELECT(n_less > ranks, best, largest);
    }
    double largest = best[0];
    for (std::size_t c = 1; c < n_lanes; ++c) largest = std::max<double>(largest, best[c]);
    return largest;
}
HOCMIM_DISPATCH(inline double, select_few, select_few_body<kIsa>,
                (const double* x, i64 n, i64 rank), (x, n, rank))

// Keep the values below the pivot, or those above it, at the front; returns how many there are.
inline i64 keep_side(double* x, i64 n, double pivot, bool is_below) {
    i64 n_kept = 0;
    for (i64 i = 0; i < n; ++i) {  // branch-free: the branch is unpredictable
        const double value = x[i];
        x[n_kept] = value;
        n_kept += is_below ? value < pivot : value > pivot;
    }
    return n_kept;
}

// The value that would be at x[rank] if x were sorted; none is missing. The values are lost, and
// kSelectLanes more, for which there must be room.
inline double select_rank(double* x, i64 n, i64 rank) {
    constexpr int kMostRounds = 24;  // that halve the values; then the pivots are bad
    for (int round = 0; n > kFewToSelect && round < kMostRounds; ++round) {
        const double sample[3] = {x[n / 4], x[n / 2], x[n - n / 4 - 1]};
        const double low = std::min(sample[0], sample[1]), high = std::max(sample[0], sample[1]);
        const double pivot = std::max(low, std::min(high, sample[2]));  // the median
        i64 n_less, n_equal;
        count_less(x, n, pivot, n_less, n_equal);
        const bool is_below = rank < n_less;
        if (!is_below && rank < n_less + n_equal) return pivot;
        n = keep_side(x, n, pivot, is_below);
        if (!is_below) rank -= n_less + n_equal;
    }
    if (n <= kFewToSelect) {
        std::fill_n(x + n, kSelectLanes, std::numeric_limits<double>::infinity());
        return select_few(x, n, rank);
    }
    std::nth_element(x, x + rank, x + n);
    return x[rank];
}

}  // namespace hocmim::coding
