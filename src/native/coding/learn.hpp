// How one column is coded: its cuts or levels, learnt from its bytes (bytes.hpp) or its values.
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
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "coding/apply.hpp"
#include "coding/buckets.hpp"
#include "coding/bytes.hpp"
#include "coding/cuts.hpp"

namespace hocmim {

// Learns columns one after the other; keeps the memory it works in.
class Learner {
public:
    explicit Learner(const Learning& how) : how_(how) {}

    // A column of n bytes that stand for the values low, low + 1, .. low + range, which is present:
    // byte `zero` for low. Byte 0 is a missing value if `may_miss`. The bytes become codes.
    void learn_counts(double low, int64_t range, uint8_t zero, bool may_miss, uint8_t* bytes,
                      int64_t n, LearntColumn& learnt) {
        learnt.clear();
        int64_t counts[256];
        count_values(bytes, n, zero, range, counts);
        int64_t n_present = 0;
        for (int64_t r = 0; r <= range; ++r) n_present += counts[r];
        learnt.has_missing = may_miss && n_present < n;
        runs_.clear();
        for (int64_t r = 0; r <= range; ++r)
            if (counts[r]) runs_.emplace_back(low + double(r) + 0.0, counts[r]);
        learn_runs(n_present, learnt);
        if (learnt.is_cut && how_.method == Method::mdlp) {
            sort_by_counts(low, range, zero, bytes, n, counts, n_present);
            mdlp(n).cuts_of(samples_, learnt.cuts);
        }
        learnt.n_levels = int64_t(learnt.cuts.size()) + 1;
        apply_counts(low, range, zero, counts, n - n_present, bytes, n, learnt);
    }

    // A column of n bytes that are buckets. The bytes become codes.
    template <class T>
    void learn_buckets(const ColumnValues<T>& values, const Buckets& buckets, double minimum,
                       double maximum, uint8_t* bytes, int64_t n, LearntColumn& learnt) {
        learnt.clear();
        learnt.is_cut = true;
        learnt.is_infinite = std::isinf(minimum) || std::isinf(maximum);
        if (learnt.is_infinite) return;
        BucketColumn<T>(values, buckets, bytes, n, found_, learnt).learn(how_, minimum, maximum);
    }

    // A column of n values. They become codes if the codes fit into one byte.
    void learn_values(const double* x, int64_t n, uint8_t* codes, LearntColumn& learnt) {
        learnt.clear();
        double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
        Distinct distinct;
        for (int64_t top = 0; top < n; top += kTileRows) {
            const int64_t rows = std::min(kTileRows, n - top);
            find_range(x + top, rows, minimum, maximum);
            if (!distinct.too_many()) distinct.add(x + top, rows, size_t(how_.n_bins));
            learnt.has_missing |= has_missing(x + top, rows);
        }
        const bool is_empty = minimum > maximum;
        learnt.is_infinite = !is_empty && (std::isinf(minimum) || std::isinf(maximum));
        if (learnt.is_infinite) return;
        learnt.is_cut = distinct.too_many();
        if (!learnt.is_cut) {
            learnt.distinct = distinct.values();
            cut_levels(learnt);
        } else if (learn_own_buckets(x, n, minimum, maximum, codes, learnt)) {
            return;
        } else {
            learnt.minimum = minimum;
            learnt.maximum = maximum;
            cut_values(x, n, minimum, maximum, learnt.cuts);
        }
        learnt.n_levels = is_empty ? 0 : int64_t(learnt.cuts.size()) + 1;
        if (learnt.arity() > kNarrowLevels) return;
        for (int64_t top = 0; top < n; top += kTileRows) {
            encode_tile(x + top, std::min(kTileRows, n - top), learnt.cuts.data(),
                        int64_t(learnt.cuts.size()), learnt.n_levels, codes + top);
        }
        learnt.count(codes, n);
    }

    // A column of n values, all zero but the n_stored ones of these rows. They become codes if the
    // codes fit into one byte.
    void learn_sparse(const double* stored, const int64_t* rows, int64_t n_stored, int64_t n,
                      uint8_t* codes, LearntColumn& learnt) {
        // Zeros are not much more, or there are no rows and so no value at all.
        if (how_.method == Method::mdlp || 4 * n_stored > n || n == 0) {
            dense_.assign(size_t(n), 0.0);
            for (int64_t k = 0; k < n_stored; ++k) dense_[size_t(rows[k])] = stored[k] + 0.0;
            learn_values(dense_.data(), n, codes, learnt);
            return;
        }
        learnt.clear();
        values_.clear();
        for (int64_t k = 0; k < n_stored; ++k)
            if (stored[k] == stored[k]) values_.push_back(stored[k] + 0.0);
        const int64_t n_missing = n_stored - int64_t(values_.size());
        learnt.has_missing = n_missing > 0;
        count_runs(n - n_stored);
        learnt.is_infinite = std::isinf(runs_.front().first) || std::isinf(runs_.back().first);
        if (learnt.is_infinite) return;
        learn_runs(n - n_missing, learnt);
        learnt.n_levels = int64_t(learnt.cuts.size()) + 1;
        if (learnt.arity() > kNarrowLevels) return;
        int64_t totals[kNarrowLevels] = {};
        for (const auto& run : runs_) totals[code_of(run.first, learnt)] += run.second;
        if (learnt.has_missing) totals[learnt.n_levels] = n_missing;
        learnt.count(totals);
        std::fill_n(codes, n, code_of(0.0, learnt));
        for (int64_t k = 0; k < n_stored; ++k) codes[rows[k]] = code_of(stored[k], learnt);
    }

private:
    static uint8_t code_of(double x, const LearntColumn& learnt) {
        const auto& cuts = learnt.cuts;
        return uint8_t(x != x ? learnt.n_levels
                              : std::upper_bound(cuts.begin(), cuts.end(), x) - cuts.begin());
    }

    // The different values of values_ and n_zeros zeros, in order, with their counts.
    void count_runs(int64_t n_zeros) {
        runs_.clear();
        std::sort(values_.begin(), values_.end());
        const auto add = [&](double value, int64_t count) {
            if (runs_.empty() || runs_.back().first != value) runs_.emplace_back(value, 0);
            runs_.back().second += count;
        };
        size_t k = 0;
        for (; k < values_.size() && values_[k] < 0.0; ++k) add(values_[k], 1);
        if (n_zeros > 0) add(0.0, n_zeros);
        for (; k < values_.size(); ++k) add(values_[k], 1);
    }

    // Cuts or levels of a column with the values of runs_; no cuts by mdlp.
    void learn_runs(int64_t n_present, LearntColumn& learnt) const {
        learnt.is_cut = int64_t(runs_.size()) > how_.n_bins;
        if (!learnt.is_cut) {
            for (const auto& run : runs_) learnt.distinct.push_back(run.first);
            return cut_levels(learnt);
        }
        learnt.minimum = runs_.front().first;
        learnt.maximum = runs_.back().first;
        if (how_.method == Method::uniform)
            uniform_cuts_of(learnt.minimum, learnt.maximum, how_.n_bins, learnt.cuts);
        if (how_.method != Method::quantile) return;
        size_t r = 0;
        int64_t upto = runs_[0].second;
        for (int64_t k = 1; k < how_.n_bins; ++k) {
            const int64_t position = part_begin(k, n_present, how_.n_bins);
            while (upto <= position) upto += runs_[++r].second;
            append_above(std::max(runs_[r].first, runs_[1].first), learnt.cuts);
        }
    }

    static void cut_levels(LearntColumn& learnt) {
        for (size_t k = 1; k < learnt.distinct.size(); ++k)
            learnt.cuts.push_back(between(learnt.distinct[k - 1], learnt.distinct[k]));
    }

    // --- counts ---

    static void count_values(const uint8_t* bytes, int64_t n, uint8_t zero, int64_t range,
                             int64_t* counts) {
        if (range < kFewLevels) {
            count_levels(bytes, n, zero, range + 1, counts);
            return;
        }
        int64_t raw[256];
        count_bytes(bytes, n, raw);
        for (int64_t r = 0; r <= range; ++r) counts[r] = raw[uint8_t(zero + r)];
    }

    // The present values with their classes, for mdlp.
    void sort_by_counts(double low, int64_t range, uint8_t zero, const uint8_t* bytes, int64_t n,
                        const int64_t* counts, int64_t n_present) {
        int64_t next[256], begin = 0;
        for (int64_t r = 0; r <= range; ++r) {
            next[r] = begin;
            begin += counts[r];
        }
        samples_.resize(size_t(n_present));
        for (int64_t i = 0; i < n; ++i) {
            const auto r = uint8_t(bytes[i] - zero);
            if (r > range) continue;  // missing
            samples_[size_t(next[r]++)] = {low + double(r) + 0.0, how_.classes[i]};
        }
    }

    void apply_counts(double low, int64_t range, uint8_t zero, const int64_t* counts,
                      int64_t n_missing, uint8_t* bytes, int64_t n, LearntColumn& learnt) {
        Steps steps;
        steps.zero = zero;
        steps.has_missing = learnt.has_missing;
        steps.missing_code = uint8_t(learnt.n_levels);
        int64_t totals[256] = {};
        const int64_t n_cuts = int64_t(learnt.cuts.size());
        for (int64_t r = 0; r <= range; ++r) {
            // A level has the number of its place; the cuts lie midway between levels.
            const double value = low + double(r);
            if (!learnt.is_cut && counts[r] == 0) continue;
            while (steps.n_steps < n_cuts && learnt.cuts[steps.n_steps] <= value)
                steps.at[steps.n_steps++] = uint8_t(r);
            totals[steps.n_steps] += counts[r];
        }
        if (learnt.has_missing) totals[learnt.n_levels] = n_missing;
        learnt.count(totals);
        if (!steps.is_identity(range)) apply_steps(bytes, n, steps);
    }

    // --- values ---

    // Equal frequency by buckets of the whole range; false if there are too many bins for it.
    // Columns of mostly zeros are encoded 1.3 times as fast.
    bool learn_own_buckets(const double* x, int64_t n, double minimum, double maximum,
                           uint8_t* codes, LearntColumn& learnt) {
        constexpr int64_t kFewRows = 256;
        if (how_.method != Method::quantile || how_.n_bins > kMostBucketBins || n < kFewRows)
            return false;
        const ColumnValues<double> values{x, 1};
        Buckets buckets = Buckets::choose(values, n, how_);
        if (buckets.kind != Buckets::many && !buckets.span(minimum, maximum)) return false;
        NumberLanes lanes;
        lanes.origin[0] = buckets.origin;
        lanes.scale[0] = buckets.scale;
        stage_number_column(x, n, lanes, codes);
        learn_buckets(values, buckets, minimum, maximum, codes, n, learnt);
        return true;
    }

    void cut_values(const double* x, int64_t n, double minimum, double maximum,
                    std::vector<double>& cuts) {
        if (how_.method == Method::uniform) {
            uniform_cuts_of(minimum + 0.0, maximum + 0.0, how_.n_bins, cuts);
        } else if (how_.method == Method::quantile) {
            values_.clear();
            std::copy_if(x, x + n, std::back_inserter(values_), [](double v) { return v == v; });
            cuts = quantile_cuts_of(values_.data(), int64_t(values_.size()), how_.n_bins);
        } else {
            mdlp(n).cuts_of(x, how_.classes.data(), n, cuts);
        }
    }

    Mdlp& mdlp(int64_t n) {
        if (!mdlp_) mdlp_ = std::make_unique<Mdlp>(n, how_.n_classes);
        return *mdlp_;
    }

    Learning how_;
    FoundRows found_;
    std::vector<double> values_;
    std::vector<double> dense_;
    std::vector<LabelledValue> samples_;
    std::vector<std::pair<double, int64_t>> runs_;  // distinct values and their counts
    std::unique_ptr<Mdlp> mdlp_;
};

}  // namespace hocmim
