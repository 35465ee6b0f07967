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
    RowList list;
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
    BucketColumn(const Cells<T>& cells, const Buckets& buckets, std::uint8_t* bytes, i64 n,
                 FoundRows& found, Coding& coding)
        : cells_(cells), buckets_(buckets), bytes_(bytes), n_(n), found_(found), coding_(coding) {
        found_.n_wanted = 0;
    }

    // Find the cuts, and replace the bytes by codes. The minimum and the maximum are finite.
    void learn(const Learning& how, double minimum, double maximum) {
        coding_.minimum = minimum;
        coding_.maximum = maximum;
        if (how.method == Method::uniform) {
            count_levels(bytes_, n_, 0, 1, &n_missing_);
            uniform_cuts_of(minimum + 0.0, maximum + 0.0, how.n_bins, coding_.cuts);
        } else {
            if (!place_cuts_by_guesses(how.n_bins)) place_cuts_by_counts(how.n_bins);
            is_counted_ = true;
            look_up();
            cut_equally(how.n_bins);
        }
        coding_.has_missing = n_missing_ > 0;
        coding_.n_levels = static_cast<i64>(coding_.cuts.size()) + 1;
        apply();
    }

private:
    // A bucket of which the values are wanted: how many bytes are below it, missing values
    // included, and how many it has.
    struct Wanted {
        i64 below, count;
    };
    // Where the value of a cut is: the number of its bucket among the wanted ones, and how many
    // values of the bucket are below it.
    struct Place {
        i64 wanted, rank;
    };
    // How many bytes are below a limit.
    struct Limit {
        i64 at, below;
    };

    // The search for the bucket of a position: low.below <= position < high.below.
    struct Search {
        i64 position;
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
        i64 interpolate() const {
            return low.at + (position - low.below) * (high.at - low.at) / (high.below - low.below);
        }
    };

    void cut_equally(i64 n_bins) {
        const double minimum = coding_.minimum;
        group_values();
        double least = std::numeric_limits<double>::infinity();
        for (i64 k = 1; k < n_bins; ++k) {
            double value = value_at(places_[k]);
            if (value == minimum) {
                if (std::isinf(least)) least = next_above(minimum, places_[k].wanted);
                value = least;
            }
            append_above(value, coding_.cuts);
        }
    }

    // The buckets that hold a cut, ascending; returns how many there are.
    i64 find_buckets_of_cuts(std::uint8_t* holding) const {
        i64 n_holding = 0;
        for (const double cut : coding_.cuts) add_bucket(bucket_of(cut), holding, n_holding);
        return n_holding;
    }
    std::uint8_t bucket_of(double value) const {
        return hocmim::coding::bucket_of(value, buckets_.origin, buckets_.scale);
    }

    // Replace the bytes by codes, and note the most frequent one.
    void apply() {
        std::uint8_t holding[256];
        const i64 n_holding = find_buckets_of_cuts(holding);
        if (!std::equal(holding, holding + n_holding, found_.wanted,
                        found_.wanted + found_.n_wanted)) {
            std::copy_n(holding, n_holding, found_.wanted);
            found_.n_wanted = n_holding;
            is_counted_ = false;
            look_up();
        }
        Steps steps;
        for (const double cut : coding_.cuts) {
            const std::uint8_t bucket = bucket_of(cut);
            if (bucket < kLastBucket) {
                steps.at[steps.n_steps++] = static_cast<std::uint8_t>(bucket + 1);
            }
        }
        steps.has_missing = coding_.has_missing;
        steps.missing_code = static_cast<std::uint8_t>(coding_.n_levels);
        apply_steps(bytes_, n_, steps);
        i64 totals[kNarrowLevels];
        std::fill_n(totals, coding_.arity(), 0);
        const i64 n_cuts = static_cast<i64>(coding_.cuts.size());
        std::uint8_t codes[kTileRows];
        for (i64 top = 0; top < found_.list.n; top += kTileRows) {
            const i64 n = std::min(kTileRows, found_.list.n - top);
            cut(found_.values.data() + top, n, coding_.cuts.data(), n_cuts, codes);
            for (i64 k = 0; k < n; ++k) {
                bytes_[found_.list[top + k]] = codes[k];
                ++totals[codes[k]];
            }
        }
        if (is_counted_) {
            count_others(steps, totals);
            coding_.count(totals);
        } else {
            coding_.count(bytes_, n_);
        }
    }

    static void add_bucket(std::uint8_t bucket, std::uint8_t* buckets, i64& n_buckets) {
        if (n_buckets == 0 || buckets[n_buckets - 1] != bucket) buckets[n_buckets++] = bucket;
    }

    // The k-th cut is in the bucket from `low`, of which `high` is the end, at the position.
    void place_cut(i64 k, i64 position, const Limit& low, const Limit& high) {
        add_bucket(static_cast<std::uint8_t>(low.at), found_.wanted, found_.n_wanted);
        wanted_[found_.n_wanted - 1] = {low.below, high.below - low.below};
        places_[k] = {found_.n_wanted - 1, position - low.below};
    }

    // Find the buckets of the cuts by counting every bucket.
    void place_cuts_by_counts(i64 n_bins) {
        i64 counts[256];
        count_bytes(bytes_, n_, counts);
        n_missing_ = counts[0];
        found_.n_wanted = 0;
        i64 bucket = 0, upto = counts[0];
        for (i64 k = 1; k < n_bins; ++k) {
            const i64 position = n_missing_ + part_begin(k, n_ - n_missing_, n_bins);
            while (upto <= position) upto += counts[++bucket];
            place_cut(k, position, {bucket, upto - counts[bucket]}, {bucket + 1, upto});
        }
    }

    // Find the buckets of the cuts by counting what is below a few limits at a time: first the
    // guesses, then the bucket where a cut is by interpolation. False if that is not soon found.
    bool place_cuts_by_guesses(i64 n_bins) {
        constexpr int kMostRounds = 6;
        constexpr i64 kFewRows = 512;  // are counted as fast
        if (!buckets_.has_guesses || n_ < kFewRows) return false;
        const i64 n_cuts = n_bins - 1;
        std::uint8_t limits[kMostLimits] = {};
        i64 below[kMostLimits];
        count_below(bytes_, n_, buckets_.guesses, kMostLimits, below);
        n_missing_ = below[0];
        Search searches[kMostGuessedBins];
        for (i64 k = 0, g = 0; k < n_cuts; ++k) {
            Search& search = searches[k];
            search.position = n_missing_ + part_begin(k + 1, n_ - n_missing_, n_bins);
            while (g + 1 < kMostLimits && below[g + 1] <= search.position) ++g;
            search.low = {buckets_.guesses[g], below[g]};
            search.high = {256, n_};
            if (g + 1 < kMostLimits) search.high = {buckets_.guesses[g + 1], below[g + 1]};
        }
        for (int round = 0; round < kMostRounds; ++round) {
            i64 n_limits = 0, first_limit[kMostGuessedBins];  // of each cut
            for (i64 k = 0; k < n_cuts; ++k) {
                const Search& search = searches[k];
                first_limit[k] = n_limits;
                if (search.is_found()) continue;
                const i64 middle = search.interpolate();
                if (middle > search.low.at) limits[n_limits++] = static_cast<std::uint8_t>(middle);
                if (middle + 1 < search.high.at && n_limits < kMostLimits) {
                    limits[n_limits++] = static_cast<std::uint8_t>(middle + 1);
                }
            }
            if (n_limits == 0) {
                for (i64 k = 0; k < n_cuts; ++k) {
                    place_cut(k + 1, searches[k].position, searches[k].low, searches[k].high);
                }
                return true;
            }
            first_limit[n_cuts] = n_limits;
            count_below(bytes_, n_, limits, n_limits, below);
            for (i64 k = 0; k < n_cuts; ++k) {
                for (i64 t = first_limit[k]; t < first_limit[k + 1]; ++t) {
                    searches[k].narrow({limits[t], below[t]});
                }
            }
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
        for (i64 k = 0; k < found_.list.n; ++k) values[k] = cells_[found_.list[k]];
    }

    void group_values() {
        i64 next[256], begin = 0;
        for (i64 k = 0; k < found_.n_wanted; ++k) {
            begins_[k] = next[found_.wanted[k]] = begin;
            begin += wanted_[k].count;
        }
        double* grouped = found_.grouped.data();
        const double* values = found_.values.data();
        for (i64 k = 0; k < found_.list.n; ++k) {
            grouped[next[bytes_[found_.list[k]]]++] = values[k];
        }
        std::fill_n(grouped + found_.list.n, kSelectLanes, std::numeric_limits<double>::infinity());
    }

    const double* values_of(i64 wanted) const { return found_.grouped.data() + begins_[wanted]; }

    double value_at(const Place& place) {
        const double* values = values_of(place.wanted);
        const i64 count = wanted_[place.wanted].count;
        // What follows are values of higher buckets, and then infinity.
        if (count <= kFewToSelect) return select_few(values, count, place.rank);
        found_.scratch.resize(static_cast<std::size_t>(count + kSelectLanes));
        std::copy_n(values, count, found_.scratch.begin());
        return select_rank(found_.scratch.data(), count, place.rank);
    }

    // The smallest value above the minimum, which is in a bucket that was looked up.
    double next_above(double minimum, i64 wanted) {
        const double next =
            hocmim::coding::next_above(minimum, values_of(wanted), wanted_[wanted].count);
        if (!std::isinf(next)) return next;
        i64 counts[256];
        count_bytes(bytes_, n_, counts);
        i64 bucket = found_.wanted[wanted];
        do {
            ++bucket;
        } while (counts[bucket] == 0);
        const auto following = static_cast<std::uint8_t>(bucket);
        RowList list;
        find_rows_of(bytes_, n_, &following, 1, list);
        double least = next;
        for (i64 k = 0; k < list.n; ++k) least = std::min(least, cells_[list[k]]);
        return least;
    }

    // Add the rows that are not in a wanted bucket to the totals of the codes.
    void count_others(const Steps& steps, i64* totals) const {
        i64 bucket = 1, below = n_missing_;
        if (steps.has_missing) totals[steps.missing_code] += n_missing_;
        for (i64 k = 0; k <= found_.n_wanted; ++k) {
            const i64 next = k < found_.n_wanted ? wanted_[k].below : n_;
            totals[steps.code_of(static_cast<std::uint8_t>(bucket))] += next - below;
            if (k == found_.n_wanted) break;
            below = next + wanted_[k].count;
            bucket = std::min<i64>(found_.wanted[k] + 1, 255);
        }
    }

    Cells<T> cells_;
    const Buckets& buckets_;
    std::uint8_t* bytes_;
    i64 n_;
    FoundRows& found_;
    Coding& coding_;
    i64 n_missing_ = 0;
    bool is_counted_ = false;  // whether wanted_ is known
    Wanted wanted_[kMostBucketBins];
    Place places_[kMostBucketBins];
    i64 begins_[kMostBucketBins];  // of the values of a wanted bucket among the grouped ones
};

}  // namespace hocmim::coding
