// The buckets of a column: chosen by a sample of its rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "coding/block.hpp"
#include "coding/bytes.hpp"
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
    const T* at(i64 row) const { return first + row * stride; }
    double operator[](i64 row) const { return static_cast<double>(*at(row)) + 0.0; }
};

constexpr i64 kMostBucketBins = 32;  // more cuts than this would be in most of the buckets
constexpr i64 kSampleRows = 64;
constexpr i64 kMostGuessedBins = 5;  // for more, counting every bucket is faster

// Samples of neighbouring columns in lanes: the values of row k of the sample are at[k].
struct alignas(64) SampleLanes {
    double at[kSampleRows][kNumberLanes];
    double minimum[kNumberLanes], maximum[kNumberLanes];
    i64 n_present[kNumberLanes], n_not_whole[kNumberLanes];

    // Take the sample of the column of a lane.
    template <class T>
    void take(const Cells<T>& cells, i64 n, i64 lane) {
        const i64 n_rows = std::min(n, kSampleRows);
        const i64 apart = n_rows ? n / n_rows : 0;
        for (i64 k = 0; k < n_rows; ++k) at[k][lane] = cells[k * apart];
        for (i64 k = n_rows; k < kSampleRows; ++k) at[k][lane] = std::nan("");
    }

    // Take the samples of neighbouring columns of a row-major block; `first` is the first of them.
    template <class T>
    void take_rows(const Cells<T>& first, i64 n) {
        const i64 n_rows = std::min(n, kSampleRows);
        const i64 apart = n_rows ? n / n_rows : 0;
        for (i64 k = 0; k < n_rows; ++k) {
            const T* p = first.at(k * apart);
            prefetch(p + kNumberLanes);
            for (i64 h = 0; h < kNumberLanes; h += 4) {
                Lanes x;
                load_numbers(p + h, x);
                x = x + 0.0;
                std::memcpy(at[k] + h, &x, sizeof x);
            }
        }
        for (i64 k = n_rows; k < kSampleRows; ++k) std::fill_n(at[k], kNumberLanes, std::nan(""));
    }
};

// Finds ranges, and counts the values that are present and those that are not whole numbers. A
// missing value becomes infinity.
template <Isa isa>
HOCMIM_INLINE void describe_lanes_body(SampleLanes& samples) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::size_t n = bytes_of(isa) / sizeof(double);
    using Lanes = LaneVector<double, n>;
    using Counts = LaneVector<i64, n>;
    const Lanes zero = {}, most = zero + kToInteger, missing = zero + kInfinity;
    for (std::size_t h = 0; h < kNumberLanes; h += n) {
        Lanes minimum = missing, maximum = zero - kInfinity;
        Counts n_present = {}, n_not_whole = {};
        for (i64 k = 0; k < kSampleRows; ++k) {
            Lanes x;
            load(samples.at[k] + h, x);
            minimum = HOCMIM_SELECT(x < minimum, x, minimum);
            maximum = HOCMIM_SELECT(x > maximum, x, maximum);
            const Lanes size = HOCMIM_SELECT(x < zero, zero - x, x);
            // Numbers from 2^52 on are whole, but not all exact.
            const Counts is_whole = HOCMIM_BITS_AS(Counts, (size + most) - most == size) &
                                    HOCMIM_BITS_AS(Counts, size < most);
            const Counts is_present = HOCMIM_BITS_AS(Counts, x == x);
            n_present -= is_present;
            n_not_whole -= is_present & ~is_whole;
            x = HOCMIM_SELECT(x == x, x, missing);
            std::memcpy(samples.at[k] + h, &x, sizeof x);
        }
        std::memcpy(samples.minimum + h, &minimum, sizeof minimum);
        std::memcpy(samples.maximum + h, &maximum, sizeof maximum);
        std::memcpy(samples.n_present + h, &n_present, sizeof n_present);
        std::memcpy(samples.n_not_whole + h, &n_not_whole, sizeof n_not_whole);
    }
}
HOCMIM_DISPATCH(inline void, describe_lanes, describe_lanes_body<kIsa>, (SampleLanes & samples),
                (samples))

// The comparisons that sort kSampleRows values: Batcher's merges of ever longer parts. They are
// always the same, so that all lanes can make them together.
struct SortingNetwork {
    i64 n = 0;
    std::uint8_t low[1024] = {}, high[1024] = {};

    constexpr SortingNetwork() {
        for (i64 part = 1; part < kSampleRows; part *= 2) {
            for (i64 apart = part; apart > 0; apart /= 2) {
                for (i64 i = apart % part; i + apart < kSampleRows; ++i) {
                    const bool is_first = (i - apart % part) / apart % 2 == 0;
                    // Both in the same pair of parts; `part` is a power of two.
                    if (!is_first || (i ^ (i + apart)) >= 2 * part) continue;
                    low[n] = static_cast<std::uint8_t>(i);
                    high[n++] = static_cast<std::uint8_t>(i + apart);
                }
            }
        }
    }
};
inline constexpr SortingNetwork kNetwork;

// Sort each lane.
template <Isa isa>
HOCMIM_INLINE void sort_lanes_body(SampleLanes& samples) {
    constexpr std::size_t n = doubles_of(isa);
    for (i64 k = 0; k < kNetwork.n; ++k) {
        for (std::size_t h = 0; h < kNumberLanes; h += n) {
            LaneVector<double, n> a, b;
            double* first = samples.at[kNetwork.low[k]] + h;
            double* second = samples.at[kNetwork.high[k]] + h;
            load(first, a);
            load(second, b);
            // Two comparisons: the smaller and the larger are one instruction each.
            const LaneVector<double, n> low = HOCMIM_SELECT(b < a, b, a);
            const LaneVector<double, n> high = HOCMIM_SELECT(b > a, b, a);
            std::memcpy(first, &low, sizeof low);
            std::memcpy(second, &high, sizeof high);
        }
    }
}
HOCMIM_DISPATCH(inline void, sort_lanes, sort_lanes_body<kIsa>, (SampleLanes & samples), (samples))

// How the values of a column become bytes.
struct Buckets {
    enum Kind { whole, many, unknown } kind = unknown;
    double origin = 0.0, scale = 1.0;
    // Bucket 1, then those of the quantiles of the sample: limits between which a cut is likely to
    // be, at about the same number of rows from each other.
    bool has_guesses = false;
    std::uint8_t guesses[kMostLimits] = {};

    // Buckets 3..253 for the values from low to high; false if the range is too small or too large.
    bool span(double low, double high) {
        constexpr double kFirst = 3.0, kLast = 253.0;
        scale = (kLast - kFirst) / (high - low);
        origin = low - kFirst / scale;
        return low < high && scale > 0.0 && std::isfinite(scale) && std::isfinite(origin);
    }

    // Decide by a sample of the rows. `whole`: the sample has only whole numbers of a small range.
    // `many`: the sample proves that the column is cut. `unknown` otherwise.
    static void choose(SampleLanes& samples, const Learning& how, Buckets* buckets) {
        describe_lanes(samples);
        bool are_decided = true;
        for (i64 lane = 0; lane < kNumberLanes; ++lane) {
            buckets[lane] = Buckets();
            if (samples.n_present[lane] == 0) continue;
            are_decided &= samples.n_not_whole[lane] == 0 &&
                           buckets[lane].fit_whole(samples.minimum[lane], samples.maximum[lane]);
        }
        if (are_decided || how.method == Method::mdlp || how.n_bins > kMostBucketBins) return;
        sort_lanes(samples);
        for (i64 lane = 0; lane < kNumberLanes; ++lane) {
            if (buckets[lane].kind == unknown) buckets[lane].fit_many(samples, lane, how);
        }
    }

    // The buckets of one column.
    template <class T>
    static Buckets choose(const Cells<T>& cells, i64 n, const Learning& how) {
        SampleLanes samples;
        for (i64 lane = 0; lane < kNumberLanes; ++lane) samples.take(cells, n, lane);
        Buckets buckets[kNumberLanes];
        choose(samples, how, buckets);
        return buckets[0];
    }

private:
    bool fit_whole(double low, double high) {
        constexpr double kMostRange = kLastBucket - kFirstBucket;
        if (high - low > kMostRange) return false;
        kind = whole;
        scale = 1.0;
        // Counts from 0 where possible, otherwise the sample in the middle.
        origin = low >= 0.0 && high <= kMostRange
                     ? -kFirstBucket
                     : low - kFirstBucket - std::floor((kMostRange - (high - low)) / 2.0);
        return true;
    }

    // The samples are sorted.
    void fit_many(const SampleLanes& samples, i64 lane, const Learning& how) {
        const i64 m = samples.n_present[lane];
        const auto value = [&](i64 k) { return samples.at[k][lane]; };
        i64 n_values = m > 0;
        for (i64 k = 1; k < m && n_values <= how.n_bins; ++k) n_values += value(k - 1) < value(k);
        if (n_values <= how.n_bins) return;
        const i64 tail = how.method == Method::quantile ? m / (4 * how.n_bins) : 0;
        if (!span(value(tail), value(m - 1 - tail)) && !span(value(0), value(m - 1))) return;
        kind = many;
        has_guesses = how.method == Method::quantile && how.n_bins <= kMostGuessedBins;
        if (!has_guesses) return;
        guesses[0] = static_cast<std::uint8_t>(kFirstBucket);
        for (i64 g = 1; g < kMostLimits; ++g) {
            guesses[g] = bucket_of(value((g + 1) * m / (kMostLimits + 2)), origin, scale);
        }
    }
};

}  // namespace hocmim::coding
