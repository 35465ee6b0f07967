// A column of many values, learnt and coded from its buckets (stage.hpp).
//
// A cut is in one bucket: every value of a lower bucket is below the cut, every value of a higher
// one above. Only the values of the buckets that hold a cut are looked up.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coding/apply.hpp"
#include "coding/buckets.hpp"
#include "coding/bytes.hpp"
#include "coding/coding.hpp"
#include "coding/quantiles.hpp"
#include "coding/select.hpp"

namespace hocmim::coding {

// The rows of some buckets and their values; the memory is used again for the next column.
struct FoundRows {
    std::vector<i64> rows;
    std::vector<double> values;   // of the rows
    std::vector<double> grouped;  // the values bucket by bucket
    std::vector<double> scratch;
    std::uint8_t wanted[256];  // the buckets, ascending
    i64 n_wanted = 0;
};

template <class T>
class BucketColumn {
public:
    // The n bytes are the buckets of the cells, 0 for a missing value.
    BucketColumn(const Cells<T>& cells, std::uint8_t* bytes, i64 n, FoundRows& found)
        : cells_(cells), bytes_(bytes), n_(n), found_(found) {
        found_.n_wanted = 0;
    }

    // Find the cuts of equal frequency, and whether values are missing.
    void cut_equally(i64 n_bins, double minimum, Coding& coding) {
        count_bytes(bytes_, n_, counts_);
        const i64 n_present = n_ - counts_[0];
        coding.has_missing = counts_[0] > 0;
        Place places[kMostBucketBins];
        i64 bucket = 0, upto = 0;
        for (i64 k = 1; k < n_bins; ++k) {
            const i64 position = part_begin(k, n_present, n_bins);
            while (upto <= position) upto += counts_[++bucket];
            places[k] = {bucket, position - (upto - counts_[bucket])};
            want(static_cast<std::uint8_t>(bucket));
        }
        look_up();
        group_values();
        double least = std::numeric_limits<double>::infinity();
        for (i64 k = 1; k < n_bins; ++k) {
            double value = value_at(places[k]);
            if (value == minimum) {
                if (std::isinf(least)) least = next_above(minimum, places[k].bucket);
                value = least;
            }
            append_above(value, coding.cuts);
        }
    }

    // Replace the bytes by codes.
    void apply(double origin, double scale, const Coding& coding) {
        const i64 n_cuts = static_cast<i64>(coding.cuts.size());
        Steps steps;
        for (const double cut : coding.cuts) {
            const std::uint8_t bucket = bucket_of(cut, origin, scale);
            add_bucket(bucket, holding_, n_holding_);
            if (bucket < kLastBucket) {
                steps.at[steps.n_steps++] = static_cast<std::uint8_t>(bucket + 1);
            }
        }
        steps.has_missing = coding.has_missing;
        steps.missing_code = static_cast<std::uint8_t>(coding.n_levels);
        if (!std::equal(holding_, holding_ + n_holding_, found_.wanted,
                        found_.wanted + found_.n_wanted)) {
            std::copy_n(holding_, n_holding_, found_.wanted);
            found_.n_wanted = n_holding_;
            look_up();
        }
        apply_steps(bytes_, n_, steps);
        std::uint8_t codes[kTileRows];
        const i64 n_found = static_cast<i64>(found_.rows.size());
        for (i64 top = 0; top < n_found; top += kTileRows) {
            const i64 n = std::min(kTileRows, n_found - top);
            cut(found_.values.data() + top, n, coding.cuts.data(), n_cuts, codes);
            const i64* rows = found_.rows.data() + top;
            for (i64 k = 0; k < n; ++k) bytes_[rows[k]] = codes[k];
        }
    }

private:
    // Where the value of a cut is: its bucket, and how many values of the bucket are below it.
    struct Place {
        i64 bucket, rank;
    };

    static void add_bucket(std::uint8_t bucket, std::uint8_t* buckets, i64& n_buckets) {
        if (n_buckets == 0 || buckets[n_buckets - 1] != bucket) buckets[n_buckets++] = bucket;
    }
    void want(std::uint8_t bucket) { add_bucket(bucket, found_.wanted, found_.n_wanted); }

    // Find the rows of the wanted buckets, and their values: in a loop of its own, so that the
    // processor waits for several at a time.
    void look_up() {
        find_rows_of(bytes_, n_, found_.wanted, found_.n_wanted, found_.rows);
        found_.values.resize(found_.rows.size());
        for (std::size_t k = 0; k < found_.rows.size(); ++k) {
            found_.values[k] = cells_[found_.rows[k]];
        }
    }

    void group_values() {
        i64 next[256], begin = 0;
        for (i64 k = 0; k < found_.n_wanted; ++k) {
            begins_[found_.wanted[k]] = next[found_.wanted[k]] = begin;
            begin += counts_[found_.wanted[k]];
        }
        found_.grouped.resize(found_.values.size());
        for (std::size_t k = 0; k < found_.rows.size(); ++k) {
            const i64 at = next[bytes_[found_.rows[k]]]++;
            found_.grouped[static_cast<std::size_t>(at)] = found_.values[k];
        }
    }

    const double* values_of(i64 bucket) const { return found_.grouped.data() + begins_[bucket]; }

    double value_at(const Place& place) {
        const double* values = values_of(place.bucket);
        found_.scratch.assign(values, values + counts_[place.bucket]);
        return select_rank(found_.scratch.data(), counts_[place.bucket], place.rank);
    }

    // The smallest value above the minimum, which is in a bucket that was looked up.
    double next_above(double minimum, i64 bucket) {
        const double* values = values_of(bucket);
        double next = hocmim::coding::next_above(minimum, values, counts_[bucket]);
        if (!std::isinf(next)) return next;
        do {
            ++bucket;
        } while (counts_[bucket] == 0);
        const auto wanted = static_cast<std::uint8_t>(bucket);
        std::vector<i64> rows;
        find_rows_of(bytes_, n_, &wanted, 1, rows);
        for (const i64 row : rows) next = std::min(next, cells_[row]);
        return next;
    }

    Cells<T> cells_;
    std::uint8_t* bytes_;
    i64 n_;
    FoundRows& found_;
    i64 counts_[256];
    i64 begins_[256];  // of the values of a wanted bucket among the grouped ones
    std::uint8_t holding_[256];
    i64 n_holding_ = 0;
};

}  // namespace hocmim::coding
