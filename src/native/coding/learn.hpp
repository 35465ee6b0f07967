// How one column is coded: its cuts or levels, learnt from its bytes (stage.hpp) or its values.
//
// Three cases:
//
// * Every byte stands for one value (small integers, small whole numbers). The counts of the bytes
//   determine the levels, the cuts of any method, and the codes.
// * The bytes are buckets of a column with many values. A cut is in one bucket: every value of a
//   lower bucket is below the cut, every value of a higher one above. Only the values of the
//   buckets that hold a cut are looked up. Equal frequency counts the buckets and selects within
//   those that hold the wanted positions, so nothing is sorted.
// * All values of the column are at hand, as consecutive doubles.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "coding/apply.hpp"
#include "coding/block.hpp"
#include "coding/bucket_column.hpp"
#include "coding/buckets.hpp"
#include "coding/bytes.hpp"
#include "coding/coding.hpp"
#include "coding/mdlp.hpp"
#include "coding/quantiles.hpp"
#include "coding/stage.hpp"
#include "coding/survey.hpp"

namespace hocmim::coding {

// Learns columns one after the other; keeps the memory it works in.
class Learner {
public:
    explicit Learner(const Learning& how) : how_(how) {}

    // A column of n bytes that stand for the values low, low + 1, .. low + range, which is present:
    // byte `zero` for low. Byte 0 is a missing value if `may_miss`. The bytes become codes.
    void learn_counts(double low, i64 range, std::uint8_t zero, bool may_miss, std::uint8_t* bytes,
                      i64 n, Coding& coding) {
        coding.clear();
        i64 counts[256];
        count_values(bytes, n, zero, range, counts);
        i64 n_present = 0;
        for (i64 r = 0; r <= range; ++r) n_present += counts[r];
        coding.has_missing = may_miss && n_present < n;
        for (i64 r = 0; r <= range; ++r) {
            if (counts[r]) coding.levels.push_back(low + static_cast<double>(r) + 0.0);
        }
        if (static_cast<i64>(coding.levels.size()) > how_.n_bins) {
            cut_counts(low, range, zero, bytes, n, counts, n_present, coding);
            coding.minimum = coding.levels.front();
            coding.maximum = coding.levels.back();
            coding.levels.clear();
            coding.is_cut = true;
        } else {
            cut_levels(coding);
        }
        coding.n_levels = static_cast<i64>(coding.cuts.size()) + 1;
        apply_counts(low, range, zero, counts, n - n_present, bytes, n, coding);
    }

    // A column of n bytes that are buckets. The bytes become codes.
    template <class T>
    void learn_buckets(const Cells<T>& cells, const Buckets& buckets, double minimum,
                       double maximum, std::uint8_t* bytes, i64 n, Coding& coding) {
        coding.clear();
        coding.is_cut = true;
        coding.is_infinite = std::isinf(minimum) || std::isinf(maximum);
        if (coding.is_infinite) return;
        BucketColumn<T>(cells, buckets, bytes, n, found_, coding).learn(how_, minimum, maximum);
    }

    // A column of n values. They become codes if the codes fit into one byte.
    void learn_values(const double* x, i64 n, std::uint8_t* codes, Coding& coding) {
        coding.clear();
        double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
        Distinct distinct;
        for (i64 top = 0; top < n; top += kTileRows) {
            const i64 rows = std::min(kTileRows, n - top);
            find_range(x + top, rows, minimum, maximum);
            if (!distinct.too_many()) {
                distinct.add(x + top, rows, static_cast<std::size_t>(how_.n_bins));
            }
            coding.has_missing |= has_missing(x + top, rows);
        }
        const bool is_empty = minimum > maximum;
        coding.is_infinite = !is_empty && (std::isinf(minimum) || std::isinf(maximum));
        if (coding.is_infinite) return;
        coding.is_cut = distinct.too_many();
        if (!coding.is_cut) {
            coding.levels = distinct.values();
            cut_levels(coding);
        } else if (learn_own_buckets(x, n, minimum, maximum, codes, coding)) {
            return;
        } else {
            coding.minimum = minimum;
            coding.maximum = maximum;
            cut_values(x, n, minimum, maximum, coding.cuts);
        }
        coding.n_levels = is_empty ? 0 : static_cast<i64>(coding.cuts.size()) + 1;
        if (coding.arity() > kNarrowLevels) return;
        for (i64 top = 0; top < n; top += kTileRows) {
            encode_tile(x + top, std::min(kTileRows, n - top), coding.cuts.data(),
                        static_cast<i64>(coding.cuts.size()), coding.n_levels, codes + top);
        }
        coding.count(codes, n);
    }

    // A column of n values, all zero but the n_stored ones of these rows. They become codes if the
    // codes fit into one byte.
    void learn_sparse(const double* stored, const i64* rows, i64 n_stored, i64 n,
                      std::uint8_t* codes, Coding& coding) {
        // Zeros are not much more, or there are no rows and so no value at all.
        if (how_.method == Method::mdlp || 4 * n_stored > n || n == 0) {
            dense_.assign(static_cast<std::size_t>(n), 0.0);
            for (i64 k = 0; k < n_stored; ++k)
                dense_[static_cast<std::size_t>(rows[k])] = stored[k] + 0.0;
            learn_values(dense_.data(), n, codes, coding);
            return;
        }
        coding.clear();
        values_.clear();
        for (i64 k = 0; k < n_stored; ++k) {
            if (stored[k] == stored[k]) values_.push_back(stored[k] + 0.0);
        }
        const i64 n_missing = n_stored - static_cast<i64>(values_.size());
        coding.has_missing = n_missing > 0;
        count_runs(n - n_stored);
        coding.is_infinite = std::isinf(runs_.front().first) || std::isinf(runs_.back().first);
        if (coding.is_infinite) return;
        coding.is_cut = static_cast<i64>(runs_.size()) > how_.n_bins;
        if (coding.is_cut) {
            coding.minimum = runs_.front().first;
            coding.maximum = runs_.back().first;
            cut_runs(n - n_missing, coding.cuts);
        } else {
            for (const auto& run : runs_) coding.levels.push_back(run.first);
            cut_levels(coding);
        }
        coding.n_levels = static_cast<i64>(coding.cuts.size()) + 1;
        if (coding.arity() > kNarrowLevels) return;
        i64 totals[kNarrowLevels] = {};
        for (const auto& run : runs_) totals[code_of(run.first, coding)] += run.second;
        if (coding.has_missing) totals[coding.n_levels] = n_missing;
        coding.count(totals);
        std::fill_n(codes, n, code_of(0.0, coding));
        for (i64 k = 0; k < n_stored; ++k) codes[rows[k]] = code_of(stored[k], coding);
    }

private:
    static std::uint8_t code_of(double x, const Coding& coding) {
        const auto& cuts = coding.cuts;
        return static_cast<std::uint8_t>(x != x ? coding.n_levels
                                                : std::upper_bound(cuts.begin(), cuts.end(), x) -
                                                      cuts.begin());
    }

    // The different values of values_ and n_zeros zeros, in order, with their counts.
    void count_runs(i64 n_zeros) {
        runs_.clear();
        std::sort(values_.begin(), values_.end());
        const auto add = [&](double value, i64 count) {
            if (runs_.empty() || runs_.back().first != value) runs_.emplace_back(value, 0);
            runs_.back().second += count;
        };
        std::size_t k = 0;
        for (; k < values_.size() && values_[k] < 0.0; ++k) add(values_[k], 1);
        if (n_zeros > 0) add(0.0, n_zeros);
        for (; k < values_.size(); ++k) add(values_[k], 1);
    }

    void cut_runs(i64 n_present, std::vector<double>& cuts) const {
        if (how_.method == Method::uniform) {
            uniform_cuts_of(runs_.front().first, runs_.back().first, how_.n_bins, cuts);
            return;
        }
        std::size_t r = 0;
        i64 upto = runs_[0].second;
        for (i64 k = 1; k < how_.n_bins; ++k) {
            const i64 position = part_begin(k, n_present, how_.n_bins);
            while (upto <= position) upto += runs_[++r].second;
            append_above(std::max(runs_[r].first, runs_[1].first), cuts);
        }
    }

    static void cut_levels(Coding& coding) {
        for (std::size_t k = 1; k < coding.levels.size(); ++k) {
            coding.cuts.push_back(between(coding.levels[k - 1], coding.levels[k]));
        }
    }

    // --- counts ---

    static void count_values(const std::uint8_t* bytes, i64 n, std::uint8_t zero, i64 range,
                             i64* counts) {
        if (range < kFewLevels) {
            count_levels(bytes, n, zero, range + 1, counts);
            return;
        }
        i64 raw[256];
        count_bytes(bytes, n, raw);
        for (i64 r = 0; r <= range; ++r) counts[r] = raw[static_cast<std::uint8_t>(zero + r)];
    }

    void cut_counts(double low, i64 range, std::uint8_t zero, const std::uint8_t* bytes, i64 n,
                    const i64* counts, i64 n_present, Coding& coding) {
        if (how_.method == Method::uniform) {
            uniform_cuts_of(coding.levels.front(), coding.levels.back(), how_.n_bins, coding.cuts);
        } else if (how_.method == Method::quantile) {
            i64 r = 0, upto = counts[0];
            for (i64 k = 1; k < how_.n_bins; ++k) {
                const i64 position = part_begin(k, n_present, how_.n_bins);
                while (upto <= position) upto += counts[++r];
                const double value = low + static_cast<double>(r) + 0.0;
                append_above(std::max(value, coding.levels[1]), coding.cuts);
            }
        } else {
            sort_by_counts(low, range, zero, bytes, n, counts, n_present);
            mdlp(n).cuts_of(samples_, coding.cuts);
        }
    }

    void sort_by_counts(double low, i64 range, std::uint8_t zero, const std::uint8_t* bytes, i64 n,
                        const i64* counts, i64 n_present) {
        i64 next[256], begin = 0;
        for (i64 r = 0; r <= range; ++r) {
            next[r] = begin;
            begin += counts[r];
        }
        samples_.resize(static_cast<std::size_t>(n_present));
        for (i64 i = 0; i < n; ++i) {
            const auto r = static_cast<std::uint8_t>(bytes[i] - zero);
            if (r > range) continue;  // missing
            samples_[static_cast<std::size_t>(next[r]++)] = {low + static_cast<double>(r) + 0.0,
                                                             how_.classes[i]};
        }
    }

    void apply_counts(double low, i64 range, std::uint8_t zero, const i64* counts, i64 n_missing,
                      std::uint8_t* bytes, i64 n, Coding& coding) {
        Steps steps;
        steps.zero = zero;
        steps.has_missing = coding.has_missing;
        steps.missing_code = static_cast<std::uint8_t>(coding.n_levels);
        i64 totals[256] = {};
        const i64 n_cuts = static_cast<i64>(coding.cuts.size());
        for (i64 r = 0; r <= range; ++r) {
            // A level has the number of its place; the cuts lie midway between levels.
            const double value = low + static_cast<double>(r);
            if (!coding.is_cut && counts[r] == 0) continue;
            while (steps.n_steps < n_cuts && coding.cuts[steps.n_steps] <= value) {
                steps.at[steps.n_steps++] = static_cast<std::uint8_t>(r);
            }
            totals[steps.n_steps] += counts[r];
        }
        if (coding.has_missing) totals[coding.n_levels] = n_missing;
        coding.count(totals);
        if (!steps.is_identity(range)) apply_steps(bytes, n, steps);
    }

    // --- values ---

    // Equal frequency by buckets of the whole range; false if there are too many bins for it.
    bool learn_own_buckets(const double* x, i64 n, double minimum, double maximum,
                           std::uint8_t* codes, Coding& coding) {
        constexpr i64 kFewRows = 256;
        if (how_.method != Method::quantile || how_.n_bins > kMostBucketBins || n < kFewRows) {
            return false;
        }
        const Cells<double> cells{x, 1};
        Buckets buckets = Buckets::choose(cells, n, how_);
        if (buckets.kind != Buckets::many && !buckets.span(minimum, maximum)) return false;
        NumberLanes lanes;
        lanes.origin[0] = buckets.origin;
        lanes.scale[0] = buckets.scale;
        stage_number_column(x, n, lanes, codes);
        learn_buckets(cells, buckets, minimum, maximum, codes, n, coding);
        return true;
    }

    void cut_values(const double* x, i64 n, double minimum, double maximum,
                    std::vector<double>& cuts) {
        if (how_.method == Method::uniform) {
            uniform_cuts_of(minimum + 0.0, maximum + 0.0, how_.n_bins, cuts);
        } else if (how_.method == Method::quantile) {
            values_.clear();
            std::copy_if(x, x + n, std::back_inserter(values_), [](double v) { return v == v; });
            quantile_cuts_of(values_.data(), static_cast<i64>(values_.size()), how_.n_bins, cuts);
        } else {
            samples_.clear();
            for (i64 i = 0; i < n; ++i) {
                if (x[i] == x[i]) samples_.emplace_back(x[i], how_.classes[i]);
            }
            sort_samples(samples_);
            mdlp(n).cuts_of(samples_, cuts);
        }
    }

    Mdlp& mdlp(i64 n) {
        if (!mdlp_) mdlp_ = std::make_unique<Mdlp>(n, how_.n_classes);
        return *mdlp_;
    }

    Learning how_;
    FoundRows found_;
    std::vector<double> values_;
    std::vector<double> dense_;
    std::vector<std::pair<double, i64>> samples_, runs_;
    std::unique_ptr<Mdlp> mdlp_;
};

}  // namespace hocmim::coding
