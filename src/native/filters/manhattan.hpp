// Manhattan distances from one row to four others at once: the filters of nearest neighbours spend
// their time here. The four sums are added in the same order on every instruction set, so
// that every machine gets the same bits.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/dispatch.hpp"

namespace hocmim {

using Double4 = LaneVector<double, 4>;
using Int4 = LaneVector<int64_t, 4>;

constexpr size_t kLanes = 4;
constexpr size_t kGroup = 4;     // rows compared with one row at a time
constexpr size_t kStretch = 64;  // columns between two checks of the limits
constexpr size_t kTile = 16;     // rows that share one pass over the table: it is read from
                                 // memory once a tile, and memory is what limits the speed

HOCMIM_INLINE void add_difference(Double4& sum, const double* a, const double* b) {
    Double4 x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    const Int4 no_sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const Double4 difference = x - y;
    sum += HOCMIM_BITS_AS(Double4, HOCMIM_BITS_AS(Int4, difference) & no_sign);
}

HOCMIM_INLINE double total(const Double4& sum) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

// distance[g] = sum over columns of |a - b[g]|, g = 0..3. Gives up, and returns false, as soon as
// every partial sum is above its limit.
HOCMIM_INLINE bool distances_to_four(const double* a, const double* const b[kGroup],
                                     size_t n_columns, const double limit[kGroup],
                                     double distance[kGroup]) {
    Double4 sum[kGroup] = {};
    const size_t whole = n_columns - n_columns % kLanes;
    size_t r = 0;
    while (r < whole) {
        const size_t stop = r + kStretch < whole ? r + kStretch : whole;
        for (; r < stop; r += kLanes)
            for (size_t g = 0; g < kGroup; ++g) add_difference(sum[g], a + r, b[g] + r);
        if (r < whole) {
            bool is_beyond = true;
            for (size_t g = 0; g < kGroup; ++g) is_beyond &= total(sum[g]) > limit[g];
            if (is_beyond) return false;
        }
    }
    for (size_t g = 0; g < kGroup; ++g) {
        distance[g] = total(sum[g]);
        for (size_t q = whole; q < n_columns; ++q) distance[g] += std::fabs(a[q] - b[g][q]);
    }
    return true;
}

// sums[r] += sum over g of weight[g] * |a[r] - b[g][r]|
HOCMIM_INLINE void add_weighted_differences(const double* a, const double* const b[kGroup],
                                            const double weight[kGroup], size_t n_columns,
                                            double* sums) {
    const size_t whole = n_columns - n_columns % kLanes;
    for (size_t r = 0; r < whole; r += kLanes) {
        Double4 sum;
        std::memcpy(&sum, sums + r, sizeof sum);
        for (size_t g = 0; g < kGroup; ++g) {
            Double4 difference = {};
            add_difference(difference, a + r, b[g] + r);
            sum += weight[g] * difference;
        }
        std::memcpy(sums + r, &sum, sizeof sum);
    }
    for (size_t r = whole; r < n_columns; ++r)
        for (size_t g = 0; g < kGroup; ++g) sums[r] += weight[g] * std::fabs(a[r] - b[g][r]);
}

}  // namespace hocmim
