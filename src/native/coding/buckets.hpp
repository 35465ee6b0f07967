// The buckets of a column: chosen by a sample of its rows.
#pragma once
#include <algorithm>
#include <cmath>

#include "coding/block.hpp"
#include "coding/stage.hpp"

namespace hocmim::coding {

enum class Method { uniform, quantile, mdlp };

struct Learning {
    Method method;
    i64 n_bins;
    const i64* classes;  // one a row, for mdlp
    i64 n_classes;
};

// A column of which single values are looked up.
template <class T>
struct Cells {
    const T* first;
    i64 stride;
    double operator[](i64 row) const { return static_cast<double>(first[row * stride]) + 0.0; }
};

constexpr i64 kMostBucketBins = 32;  // more cuts than this would be in most of the buckets
constexpr i64 kSampleRows = 64;

// How the values of a column become bytes.
struct Buckets {
    enum Kind { whole, many, unknown } kind = unknown;
    double origin = 0.0, scale = 1.0;

    // Buckets 3..253 for the values from low to high; false if the range is too small or too large.
    bool span(double low, double high) {
        constexpr double kFirst = 3.0, kLast = 253.0;
        scale = (kLast - kFirst) / (high - low);
        origin = low - kFirst / scale;
        return low < high && scale > 0.0 && std::isfinite(scale) && std::isfinite(origin);
    }

    // Decide by a sample of the rows. `whole`: the sample has only whole numbers of a small range.
    // `many`: the sample proves that the column is cut. `unknown` otherwise.
    template <class T>
    static Buckets choose(const Cells<T>& cells, i64 n, const Learning& how) {
        double sample[kSampleRows];
        const i64 n_rows = std::min(n, kSampleRows);
        i64 m = 0;
        for (i64 k = 0; k < n_rows; ++k) {
            const double x = cells[k * (n / n_rows)];
            if (x == x) sample[m++] = x;
        }
        Buckets buckets;
        if (m == 0 || buckets.fit_whole(sample, m)) return buckets;
        if (how.method == Method::mdlp || how.n_bins > kMostBucketBins) return buckets;
        if (!has_more_values(sample, m, how.n_bins)) return buckets;
        const i64 tail = how.method == Method::quantile ? m / (4 * how.n_bins) : 0;
        std::nth_element(sample, sample + tail, sample + m);
        std::nth_element(sample + tail + 1, sample + m - 1 - tail, sample + m);
        const double low = *std::min_element(sample, sample + tail + 1);
        const double high = *std::max_element(sample + m - 1 - tail, sample + m);
        if (buckets.span(sample[tail], sample[m - 1 - tail]) || buckets.span(low, high)) {
            buckets.kind = many;
        }
        return buckets;
    }

private:
    // Whether the sample has more than n <= kMostBucketBins different values.
    static bool has_more_values(const double* sample, i64 m, i64 n) {
        double seen[kMostBucketBins + 1];
        i64 n_seen = 0;
        for (i64 k = 0; k < m && n_seen <= n; ++k) {
            if (std::find(seen, seen + n_seen, sample[k]) == seen + n_seen) {
                seen[n_seen++] = sample[k];
            }
        }
        return n_seen > n;
    }

    bool fit_whole(const double* sample, i64 m) {
        constexpr double kMostRange = kLastBucket - kFirstBucket;
        constexpr double kMostWhole = kToInteger;  // larger numbers are not all exact
        double low = sample[0], high = sample[0];
        bool are_whole = true;
        for (i64 k = 0; k < m; ++k) {
            low = std::min(low, sample[k]);
            high = std::max(high, sample[k]);
            are_whole &= std::fabs(sample[k]) < kMostWhole && sample[k] == std::rint(sample[k]);
        }
        if (!are_whole || high - low > kMostRange) return false;
        kind = whole;
        scale = 1.0;
        // Counts from 0 where possible, otherwise the sample in the middle.
        origin = low >= 0.0 && high <= kMostRange
                     ? -kFirstBucket
                     : low - kFirstBucket - std::floor((kMostRange - (high - low)) / 2.0);
        return true;
    }
};

}  // namespace hocmim::coding
