// A column of many values, learnt and coded from its buckets (bytes.hpp): which buckets it has is
// chosen by a sample of its rows.
//
// A cut is in one bucket: every value of a lower bucket is below the cut, every value of a higher
// one above. Only the values of the buckets that hold a cut are looked up.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "coding/apply.hpp"
#include "coding/bytes.hpp"
#include "coding/cuts.hpp"

namespace hocmim {

constexpr int64_t kNarrowLevels = 256;  // fit into one byte

// What was learnt of a column: how it is coded.
struct LearntColumn {
    std::vector<double> cuts, distinct;
    bool is_cut = false, has_missing = false, is_infinite = false;
    int64_t n_levels = 0;  // without the level of missing values
    int64_t most_frequent = 0, n_most_frequent = 0;
    double minimum = 0, maximum = 0;  // of a column that is cut

    int64_t arity() const { return n_levels + has_missing; }
    void clear() {
        cuts.clear();
        distinct.clear();
        is_cut = has_missing = is_infinite = false;
        n_levels = most_frequent = n_most_frequent = 0;
        minimum = maximum = 0;
    }
    // Notes the most frequent code, given how many samples each has.
    void count(const int64_t* totals) {
        most_frequent =
            std::max_element(totals, totals + std::min(arity(), kNarrowLevels)) - totals;
        n_most_frequent = totals[most_frequent];
    }
    void count(const uint8_t* codes, int64_t n) {
        int64_t totals[kNarrowLevels];
        count_codes(codes, n, arity(), totals);
        count(totals);
    }
};

// A column of which single values are looked up.
template <class T>
struct ColumnValues {
    const T* first;
    int64_t stride;
    const T* at(int64_t row) const { return first + row * stride; }
    double operator[](int64_t row) const { return double(*at(row)) + 0.0; }
};

constexpr int64_t kMostBucketBins = 32;  // more cuts than this would be in most of the buckets
constexpr int64_t kSampleRows = 64;
constexpr int64_t kMostGuessedBins = 5;  // for more, counting every bucket is faster

// Samples of neighbouring columns in lanes: the values of row k of the sample are at[k].
struct alignas(64) SampleLanes {
    double at[kSampleRows][kNumberLanes];
    double minimum[kNumberLanes], maximum[kNumberLanes];
    int64_t n_present[kNumberLanes], n_not_whole[kNumberLanes];

    // Take the sample of the column of a lane.
    template <class T>
    void take(const ColumnValues<T>& values, int64_t n, int64_t lane) {
        const int64_t n_rows = std::min(n, kSampleRows);
        const int64_t apart = n_rows ? n / n_rows : 0;
        for (int64_t k = 0; k < n_rows; ++k) at[k][lane] = values[k * apart];
        for (int64_t k = n_rows; k < kSampleRows; ++k) at[k][lane] = std::nan("");
    }

    // Take the samples of neighbouring columns of a row-major block; `first` is the first of them.
    template <class T>
    void take_rows(const ColumnValues<T>& first, int64_t n) {
        const int64_t n_rows = std::min(n, kSampleRows);
        const int64_t apart = n_rows ? n / n_rows : 0;
        for (int64_t k = 0; k < n_rows; ++k) {
            const T* p = first.at(k * apart);
            prefetch(p + kNumberLanes);
            for (int64_t h = 0; h < kNumberLanes; h += 4) {
                Lanes x;
                load_numbers(p + h, x);
                x = x + 0.0;
                std::memcpy(at[k] + h, &x, sizeof x);
            }
        }
        for (int64_t k = n_rows; k < kSampleRows; ++k)
            std::fill_n(at[k], kNumberLanes, std::nan(""));
    }
};

// Finds ranges, and counts the values that are present and those that are not whole numbers. A
// missing value becomes infinity.
template <Isa isa>
HOCMIM_INLINE void describe_lanes_body(SampleLanes& samples) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr size_t n = bytes_of(isa) / sizeof(double);
    using Lanes = LaneVector<double, n>;
    using Counts = LaneVector<int64_t, n>;
    const Lanes zero = {}, most = zero + kToInteger, missing = zero + kInfinity;
    for (size_t h = 0; h < kNumberLanes; h += n) {
        Lanes minimum = missing, maximum = zero - kInfinity;
        Counts n_present = {}, n_not_whole = {};
        for (int64_t k = 0; k < kSampleRows; ++k) {
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
    int64_t n = 0;
    uint8_t low[1024] = {}, high[1024] = {};

    constexpr SortingNetwork() {
        for (int64_t part = 1; part < kSampleRows; part *= 2) {
            for (int64_t apart = part; apart > 0; apart /= 2) {
                for (int64_t i = apart % part; i + apart < kSampleRows; ++i) {
                    const bool is_first = (i - apart % part) / apart % 2 == 0;
                    // Both in the same pair of parts; `part` is a power of two.
                    if (!is_first || (i ^ (i + apart)) >= 2 * part) continue;
                    low[n] = uint8_t(i);
                    high[n++] = uint8_t(i + apart);
                }
            }
        }
    }
};
inline constexpr SortingNetwork kNetwork;

// Sort each lane.
template <Isa isa>
HOCMIM_INLINE void sort_lanes_body(SampleLanes& samples) {
    constexpr size_t n = doubles_of(isa);
    for (int64_t k = 0; k < kNetwork.n; ++k) {
        for (size_t h = 0; h < kNumberLanes; h += n) {
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
    uint8_t guesses[kMostLimits] = {};

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
        for (int64_t lane = 0; lane < kNumberLanes; ++lane) {
            buckets[lane] = Buckets();
            if (samples.n_present[lane] == 0) continue;
            are_decided &= samples.n_not_whole[lane] == 0 &&
                           buckets[lane].fit_whole(samples.minimum[lane], samples.maximum[lane]);
        }
        if (are_decided || how.method == Method::mdlp || how.n_bins > kMostBucketBins) return;
        sort_lanes(samples);
        for (int64_t lane = 0; lane < kNumberLanes; ++lane)
            if (buckets[lane].kind == unknown) buckets[lane].fit_many(samples, lane, how);
    }

    // The buckets of one column.
    template <class T>
    static Buckets choose(const ColumnValues<T>& values, int64_t n, const Learning& how) {
        SampleLanes samples;
        for (int64_t lane = 0; lane < kNumberLanes; ++lane) samples.take(values, n, lane);
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
    void fit_many(const SampleLanes& samples, int64_t lane, const Learning& how) {
        const int64_t m = samples.n_present[lane];
        const auto value = [&](int64_t k) { return samples.at[k][lane]; };
        int64_t n_values = m > 0;
        for (int64_t k = 1; k < m && n_values <= how.n_bins; ++k)
            n_values += value(k - 1) < value(k);
        if (n_values <= how.n_bins) return;
        const int64_t tail = how.method == Method::quantile ? m / (4 * how.n_bins) : 0;
        if (!span(value(tail), value(m - 1 - tail)) && !span(value(0), value(m - 1))) return;
        kind = many;
        has_guesses = how.method == Method::quantile && how.n_bins <= kMostGuessedBins;
        if (!has_guesses) return;
        guesses[0] = uint8_t(kFirstBucket);
        for (int64_t g = 1; g < kMostLimits; ++g)
            guesses[g] = bucket_of(value((g + 1) * m / (kMostLimits + 2)), origin, scale);
    }
};

constexpr int64_t kFewToSelect = 48;  // are compared each with each

// How many values are less than `pivot`, and how many equal it.
HOCMIM_INLINE void count_less_body(const double* x, int64_t n, double pivot, int64_t& n_less,
                                   int64_t& n_equal) {
    int64_t less = 0, equal = 0;
    for (int64_t i = 0; i < n; ++i) {
        less += x[i] < pivot;
        equal += x[i] == pivot;
    }
    n_less = less;
    n_equal = equal;
}
HOCMIM_DISPATCH(inline void, count_less, count_less_body,
                (const double* x, int64_t n, double pivot, int64_t& n_less, int64_t& n_equal),
                (x, n, pivot, n_less, n_equal))

constexpr int64_t kSelectLanes = 4;

// The value of the rank among a few values: the largest that has at most `rank` smaller ones. No
// branch depends on the values, which are unpredictable. Up to kSelectLanes values after the n-th
// may be read: they must be larger.
template <Isa isa>
HOCMIM_INLINE double select_few_body(const double* x, int64_t n, int64_t rank) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr size_t n_lanes = bytes_of(isa) / sizeof(double);
    static_assert(n_lanes <= kSelectLanes);
    using Lanes = LaneVector<double, n_lanes>;
    using Counts = LaneVector<int64_t, n_lanes>;
    Lanes best = Lanes{} - kInfinity;
    const Counts ranks = Counts{} + rank;
    for (int64_t k = 0; k < n; k += int64_t(n_lanes)) {
        Lanes values;
        load(x + k, values);
        Counts n_less = {};
        for (int64_t i = 0; i < n; ++i) {
            const Lanes other = Lanes{} + x[i];
            n_less -= HOCMIM_BITS_AS(Counts, other < values);
        }
        const Lanes largest = HOCMIM_SELECT(values > best, values, best);
        best = HOCMIM_SELECT(n_less > ranks, best, largest);
    }
    double largest = best[0];
    for (size_t c = 1; c < n_lanes; ++c) largest = std::max<double>(largest, best[c]);
    return largest;
}
HOCMIM_DISPATCH(inline double, select_few, select_few_body<kIsa>,
                (const double* x, int64_t n, int64_t rank), (x, n, rank))

// Keep the values below the pivot, or those above it, at the front; returns how many there are.
inline int64_t keep_side(double* x, int64_t n, double pivot, bool is_below) {
    int64_t n_kept = 0;
    for (int64_t i = 0; i < n; ++i) {  // branch-free: the branch is unpredictable
        const double value = x[i];
        x[n_kept] = value;
        n_kept += is_below ? value < pivot : value > pivot;
    }
    return n_kept;
}

// The value that would be at x[rank] if x were sorted; none is missing. The values are lost, and
// kSelectLanes more, for which there must be room.
inline double select_rank(double* x, int64_t n, int64_t rank) {
    constexpr int kMostRounds = 24;  // that halve the values; then the pivots are bad
    for (int round = 0; n > kFewToSelect && round < kMostRounds; ++round) {
        const double sample[3] = {x[n / 4], x[n / 2], x[n - n / 4 - 1]};
        const double low = std::min(sample[0], sample[1]), high = std::max(sample[0], sample[1]);
        const double pivot = std::max(low, std::min(high, sample[2]));  // the median
        int64_t n_less, n_equal;
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

// The rows of some buckets and their values; the memory is used again for the next column.
struct FoundRows {
    RowList list;
    std::vector<double> values;   // of the rows
    std::vector<double> grouped;  // the values bucket by bucket
    std::vector<double> scratch;
    uint8_t wanted[256];  // the buckets, ascending
    int64_t n_wanted = 0;
};

template <class T>
class BucketColumn {
public:
    // The n bytes are the buckets of the values, 0 for a missing value.
    BucketColumn(const ColumnValues<T>& values, const Buckets& buckets, uint8_t* bytes, int64_t n,
                 FoundRows& found, LearntColumn& learnt)
        : column_(values), buckets_(buckets), bytes_(bytes), n_(n), found_(found), learnt_(learnt) {
        found_.n_wanted = 0;
    }

    // Find the cuts, and replace the bytes by codes. The minimum and the maximum are finite.
    void learn(const Learning& how, double minimum, double maximum) {
        learnt_.minimum = minimum;
        learnt_.maximum = maximum;
        if (how.method == Method::uniform) {
            count_levels(bytes_, n_, 0, 1, &n_missing_);
            uniform_cuts_of(minimum + 0.0, maximum + 0.0, how.n_bins, learnt_.cuts);
        } else {
            if (!place_cuts_by_guesses(how.n_bins)) place_cuts_by_counts(how.n_bins);
            is_counted_ = true;
            look_up();
            cut_equally(how.n_bins);
        }
        learnt_.has_missing = n_missing_ > 0;
        learnt_.n_levels = int64_t(learnt_.cuts.size()) + 1;
        apply();
    }

private:
    // A bucket of which the values are wanted: how many bytes are below it, missing values
    // included, and how many it has.
    struct Wanted {
        int64_t below, count;
    };
    // Where the value of a cut is: the number of its bucket among the wanted ones, and how many
    // values of the bucket are below it.
    struct Place {
        int64_t wanted, rank;
    };
    // How many bytes are below a limit.
    struct Limit {
        int64_t at, below;
    };

    // The search for the bucket of a position: low.below <= position < high.below.
    struct Search {
        int64_t position;
        Limit low, high;

        bool is_found() const { return high.at - low.at == 1; }
        void narrow(const Limit& limit) {
            if (limit.below <= position) {
                if (limit.at > low.at) low = limit;
            } else if (limit.at < high.at) {
                high = limit;
            }
        }
        // The bucket of the position, if all buckets in between had as many rows.
        int64_t interpolate() const {
            return low.at + (position - low.below) * (high.at - low.at) / (high.below - low.below);
        }
    };

    void cut_equally(int64_t n_bins) {
        const double minimum = learnt_.minimum;
        group_values();
        double least = std::numeric_limits<double>::infinity();
        for (int64_t k = 1; k < n_bins; ++k) {
            double value = value_at(places_[k]);
            if (value == minimum) {
                if (std::isinf(least)) least = next_above(minimum, places_[k].wanted);
                value = least;
            }
            append_above(value, learnt_.cuts);
        }
    }

    // The buckets that hold a cut, ascending; returns how many there are.
    int64_t find_buckets_of_cuts(uint8_t* holding) const {
        int64_t n_holding = 0;
        for (const double cut : learnt_.cuts) add_bucket(bucket_of(cut), holding, n_holding);
        return n_holding;
    }
    uint8_t bucket_of(double value) const {
        return hocmim::bucket_of(value, buckets_.origin, buckets_.scale);
    }

    // Replace the bytes by codes, and note the most frequent one.
    void apply() {
        uint8_t holding[256];
        const int64_t n_holding = find_buckets_of_cuts(holding);
        if (!std::equal(holding, holding + n_holding, found_.wanted,
                        found_.wanted + found_.n_wanted)) {
            std::copy_n(holding, n_holding, found_.wanted);
            found_.n_wanted = n_holding;
            is_counted_ = false;
            look_up();
        }
        Steps steps;
        for (const double cut : learnt_.cuts) {
            const uint8_t bucket = bucket_of(cut);
            if (bucket < kLastBucket) steps.at[steps.n_steps++] = uint8_t(bucket + 1);
        }
        steps.has_missing = learnt_.has_missing;
        steps.missing_code = uint8_t(learnt_.n_levels);
        apply_steps(bytes_, n_, steps);
        int64_t totals[kNarrowLevels];
        std::fill_n(totals, learnt_.arity(), 0);
        const int64_t n_cuts = int64_t(learnt_.cuts.size());
        uint8_t codes[kTileRows];
        for (int64_t top = 0; top < found_.list.n; top += kTileRows) {
            const int64_t n = std::min(kTileRows, found_.list.n - top);
            cut(found_.values.data() + top, n, learnt_.cuts.data(), n_cuts, codes);
            for (int64_t k = 0; k < n; ++k) {
                bytes_[found_.list[top + k]] = codes[k];
                ++totals[codes[k]];
            }
        }
        if (is_counted_) {
            count_others(steps, totals);
            learnt_.count(totals);
        } else {
            learnt_.count(bytes_, n_);
        }
    }

    static void add_bucket(uint8_t bucket, uint8_t* buckets, int64_t& n_buckets) {
        if (n_buckets == 0 || buckets[n_buckets - 1] != bucket) buckets[n_buckets++] = bucket;
    }

    // The k-th cut is in the bucket from `low`, of which `high` is the end, at the position.
    void place_cut(int64_t k, int64_t position, const Limit& low, const Limit& high) {
        add_bucket(uint8_t(low.at), found_.wanted, found_.n_wanted);
        wanted_[found_.n_wanted - 1] = {low.below, high.below - low.below};
        places_[k] = {found_.n_wanted - 1, position - low.below};
    }

    // Find the buckets of the cuts by counting every bucket.
    void place_cuts_by_counts(int64_t n_bins) {
        int64_t counts[256];
        count_bytes(bytes_, n_, counts);
        n_missing_ = counts[0];
        found_.n_wanted = 0;
        int64_t bucket = 0, upto = counts[0];
        for (int64_t k = 1; k < n_bins; ++k) {
            const int64_t position = n_missing_ + part_begin(k, n_ - n_missing_, n_bins);
            while (upto <= position) upto += counts[++bucket];
            place_cut(k, position, {bucket, upto - counts[bucket]}, {bucket + 1, upto});
        }
    }

    // Find the buckets of the cuts by counting what is below a few limits at a time: first the
    // guesses, then the bucket where a cut is by interpolation. False if that is not soon found.
    // Encoding takes 15 to 20 % longer if every bucket is counted.
    bool place_cuts_by_guesses(int64_t n_bins) {
        constexpr int kMostRounds = 6;
        constexpr int64_t kFewRows = 512;  // are counted as fast
        if (!buckets_.has_guesses || n_ < kFewRows) return false;
        const int64_t n_cuts = n_bins - 1;
        uint8_t limits[kMostLimits] = {};
        int64_t below[kMostLimits];
        count_below(bytes_, n_, buckets_.guesses, kMostLimits, below);
        n_missing_ = below[0];
        Search searches[kMostGuessedBins];
        for (int64_t k = 0, g = 0; k < n_cuts; ++k) {
            Search& search = searches[k];
            search.position = n_missing_ + part_begin(k + 1, n_ - n_missing_, n_bins);
            while (g + 1 < kMostLimits && below[g + 1] <= search.position) ++g;
            search.low = {buckets_.guesses[g], below[g]};
            search.high = {256, n_};
            if (g + 1 < kMostLimits) search.high = {buckets_.guesses[g + 1], below[g + 1]};
        }
        for (int round = 0; round < kMostRounds; ++round) {
            int64_t n_limits = 0, first_limit[kMostGuessedBins];  // of each cut
            for (int64_t k = 0; k < n_cuts; ++k) {
                const Search& search = searches[k];
                first_limit[k] = n_limits;
                if (search.is_found()) continue;
                const int64_t middle = search.interpolate();
                if (middle > search.low.at) limits[n_limits++] = uint8_t(middle);
                if (middle + 1 < search.high.at && n_limits < kMostLimits)
                    limits[n_limits++] = uint8_t(middle + 1);
            }
            if (n_limits == 0) {
                for (int64_t k = 0; k < n_cuts; ++k)
                    place_cut(k + 1, searches[k].position, searches[k].low, searches[k].high);
                return true;
            }
            first_limit[n_cuts] = n_limits;
            count_below(bytes_, n_, limits, n_limits, below);
            for (int64_t k = 0; k < n_cuts; ++k)
                for (int64_t t = first_limit[k]; t < first_limit[k + 1]; ++t)
                    searches[k].narrow({limits[t], below[t]});
        }
        return false;
    }

    // Find the rows of the wanted buckets, and their values: in a loop of its own, so that the
    // processor waits for several at a time.
    void look_up() {
        find_rows_of(bytes_, n_, found_.wanted, found_.n_wanted, found_.list);
        if (found_.values.size() < found_.list.rows.size()) {
            found_.values.resize(found_.list.rows.size());
            found_.grouped.resize(found_.list.rows.size() + kSelectLanes);
        }
        double* values = found_.values.data();
        for (int64_t k = 0; k < found_.list.n; ++k) values[k] = column_[found_.list[k]];
    }

    void group_values() {
        int64_t next[256], begin = 0;
        for (int64_t k = 0; k < found_.n_wanted; ++k) {
            begins_[k] = next[found_.wanted[k]] = begin;
            begin += wanted_[k].count;
        }
        double* grouped = found_.grouped.data();
        const double* values = found_.values.data();
        for (int64_t k = 0; k < found_.list.n; ++k)
            grouped[next[bytes_[found_.list[k]]]++] = values[k];
        std::fill_n(grouped + found_.list.n, kSelectLanes, std::numeric_limits<double>::infinity());
    }

    const double* values_of(int64_t wanted) const {
        return found_.grouped.data() + begins_[wanted];
    }

    double value_at(const Place& place) {
        const double* values = values_of(place.wanted);
        const int64_t count = wanted_[place.wanted].count;
        // What follows are values of higher buckets, and then infinity.
        if (count <= kFewToSelect) return select_few(values, count, place.rank);
        found_.scratch.resize(size_t(count + kSelectLanes));
        std::copy_n(values, count, found_.scratch.begin());
        return select_rank(found_.scratch.data(), count, place.rank);
    }

    // The smallest value above the minimum, which is in a bucket that was looked up.
    double next_above(double minimum, int64_t wanted) {
        const double next = hocmim::next_above(minimum, values_of(wanted), wanted_[wanted].count);
        if (!std::isinf(next)) return next;
        int64_t counts[256];
        count_bytes(bytes_, n_, counts);
        int64_t bucket = found_.wanted[wanted];
        do {
            ++bucket;
        } while (counts[bucket] == 0);
        const auto following = uint8_t(bucket);
        RowList list;
        find_rows_of(bytes_, n_, &following, 1, list);
        double least = next;
        for (int64_t k = 0; k < list.n; ++k) least = std::min(least, column_[list[k]]);
        return least;
    }

    // Add the rows that are not in a wanted bucket to the totals of the codes.
    void count_others(const Steps& steps, int64_t* totals) const {
        int64_t bucket = 1, below = n_missing_;
        if (steps.has_missing) totals[steps.missing_code] += n_missing_;
        for (int64_t k = 0; k <= found_.n_wanted; ++k) {
            const int64_t next = k < found_.n_wanted ? wanted_[k].below : n_;
            totals[steps.code_of(uint8_t(bucket))] += next - below;
            if (k == found_.n_wanted) break;
            below = next + wanted_[k].count;
            bucket = std::min<int64_t>(found_.wanted[k] + 1, 255);
        }
    }

    ColumnValues<T> column_;
    const Buckets& buckets_;
    uint8_t* bytes_;
    int64_t n_;
    FoundRows& found_;
    LearntColumn& learnt_;
    int64_t n_missing_ = 0;
    bool is_counted_ = false;  // whether wanted_ is known
    Wanted wanted_[kMostBucketBins];
    Place places_[kMostBucketBins];
    int64_t begins_[kMostBucketBins];  // of the values of a wanted bucket among the grouped ones
};

}  // namespace hocmim
