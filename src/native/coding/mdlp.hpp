// Cuts by the minimum description length principle (Fayyad and Irani 1993).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "coding/arrays.hpp"
#include "coding/block.hpp"
#include "coding/quantiles.hpp"
#include "core/comparison.hpp"
#include "core/interrupt.hpp"

namespace hocmim::coding {

// A value above l and not above u, as near the middle as there is.
inline double between(double l, double u) {
    const double middle = l / 2 + u / 2;
    return middle > l && middle < u ? middle : u;
}

// Sort samples by value: first into as many buckets of equal width as there are samples, then the
// samples of each bucket.
inline void sort_samples(std::vector<std::pair<double, i64>>& samples) {
    const auto by_value = [](const auto& a, const auto& b) { return a.first < b.first; };
    const std::size_t n = samples.size();
    if (n < 2) return;
    const auto [first, last] = std::minmax_element(samples.begin(), samples.end(), by_value);
    const double low = first->first;
    const double scale = static_cast<double>(n - 1) / (last->first - low);
    if (!std::isfinite(scale) || !std::isfinite(last->first - low)) {
        std::sort(samples.begin(), samples.end(), by_value);
        return;
    }
    std::vector<std::size_t> end(n + 1, 0);
    const auto bucket = [&](double x) { return static_cast<std::size_t>((x - low) * scale); };
    for (const auto& sample : samples) ++end[std::min(bucket(sample.first), n - 1) + 1];
    for (std::size_t b = 1; b <= n; ++b) end[b] += end[b - 1];
    std::vector<std::pair<double, i64>> sorted(n);
    for (const auto& sample : samples) {
        sorted[end[std::min(bucket(sample.first), n - 1)]++] = sample;
    }
    // Now end[b] is where bucket b ends.
    std::size_t begin = 0;
    for (std::size_t b = 0; b < n; begin = end[b++]) {
        if (end[b] - begin > 1)
            std::sort(&sorted[begin], &sorted[begin] + (end[b] - begin), by_value);
    }
    samples.swap(sorted);
}

class Mdlp {
public:
    Mdlp(i64 n_samples, i64 n_classes) : n_classes_(n_classes) {
        const i64 known = std::min<i64>(n_samples, i64{1} << 20);
        for (i64 c = 0; c <= known; ++c) table_.push_back(c_log_c(c));
        left_.resize(static_cast<std::size_t>(n_classes));
        all_.resize(static_cast<std::size_t>(n_classes));
    }

    // The accepted cuts of samples (value, class) sorted by value, in order.
    void cuts_of(const std::vector<std::pair<double, i64>>& samples, std::vector<double>& cuts) {
        const auto before = static_cast<std::ptrdiff_t>(cuts.size());
        std::vector<std::pair<i64, i64>> open{{0, static_cast<i64>(samples.size())}};
        while (!open.empty()) {
            const auto [begin, end] = open.back();
            open.pop_back();
            const i64 split = best_split(samples, begin, end);
            if (split < 0) continue;
            cuts.push_back(between(samples[split - 1].first, samples[split].first));
            open.emplace_back(begin, split);
            open.emplace_back(split, end);
        }
        std::sort(cuts.begin() + before, cuts.end());
    }

private:
    using Counts = std::vector<i64>;

    static double c_log_c(i64 c) {
        return c < 2 ? 0.0 : static_cast<double>(c) * std::log2(static_cast<double>(c));
    }
    double f(i64 c) const {
        return c < static_cast<i64>(table_.size()) ? table_[static_cast<std::size_t>(c)]
                                                   : c_log_c(c);
    }

    // n times the entropy (bits) of the samples counted, and how many classes they have.
    std::pair<double, i64> weight(const Counts& counts, i64 n) const {
        double sum = 0.0;
        i64 present = 0;
        for (const i64 c : counts) {
            sum += f(c);
            present += c > 0;
        }
        return {f(n) - sum, present};
    }
    std::pair<double, i64> weight_of_rest(i64 n) const {
        double sum = 0.0;
        i64 present = 0;
        for (i64 c = 0; c < n_classes_; ++c) {
            const i64 rest = all_[c] - left_[c];
            sum += f(rest);
            present += rest > 0;
        }
        return {f(n) - sum, present};
    }

    // Where to split samples begin..end-1, or -1 if no split is worth its description.
    i64 best_split(const std::vector<std::pair<double, i64>>& samples, i64 begin, i64 end) {
        const i64 n = end - begin;
        std::fill(all_.begin(), all_.end(), 0);
        std::fill(left_.begin(), left_.end(), 0);
        for (i64 i = begin; i < end; ++i) ++all_[samples[i].second];
        const auto [whole, k] = weight(all_, n);
        if (k < 2) return -1;
        i64 best = -1;
        double least = std::numeric_limits<double>::infinity();
        i64 previous = -1;  // the class of the group of equal values before this one; -2: several
        for (i64 i = begin; i < end;) {
            i64 stop = i;
            i64 group = samples[i].second;
            for (; stop < end && samples[stop].first == samples[i].first; ++stop) {
                if (samples[stop].second != group) group = -2;
            }
            // Only between two groups that are not of one and the same class can the optimum lie.
            if (i > begin && !(group >= 0 && group == previous)) {
                count_work(2 * n_classes_);
                const double split = weight(left_, i - begin).first + weight_of_rest(end - i).first;
                const double rank = comparison_key(split / static_cast<double>(n));
                if (rank < least) {
                    least = rank;
                    best = i;
                }
            }
            for (; i < stop; ++i) ++left_[samples[i].second];
            previous = group;
        }
        return best >= 0 && worth(samples, begin, best, end, whole, k) ? best : -1;
    }

    bool worth(const std::vector<std::pair<double, i64>>& samples, i64 begin, i64 split, i64 end,
               double whole, i64 k) {
        std::fill(left_.begin(), left_.end(), 0);
        for (i64 i = begin; i < split; ++i) ++left_[samples[i].second];
        const double n = static_cast<double>(end - begin);
        const auto [w1, k1] = weight(left_, split - begin);
        const auto [w2, k2] = weight_of_rest(end - split);
        const double entropy = whole / n, entropy1 = w1 / static_cast<double>(split - begin),
                     entropy2 = w2 / static_cast<double>(end - split);
        const double kk = static_cast<double>(k);
        // log2(3^k - 2), which overflows for many classes as it stands
        const double choices = kk * std::log2(3.0) + std::log2(1.0 - 2.0 * std::pow(3.0, -kk));
        const double delta = choices - (kk * entropy - static_cast<double>(k1) * entropy1 -
                                        static_cast<double>(k2) * entropy2);
        const double gain = entropy - (w1 + w2) / n;
        return comparison_key(gain) > comparison_key((std::log2(n - 1.0) + delta) / n);
    }

    i64 n_classes_;
    std::vector<double> table_;
    Counts left_, all_;
};

inline void require_classes(const Array1<i64>& classes, i64 n_rows, i64 n_classes) {
    require(static_cast<i64>(classes.size()) == n_rows, "classes must have one element a row");
    require(n_classes >= 0, "n_classes must not be negative");  // with no rows no class is checked
    const i64 *begin = classes.data(), *end = begin + n_rows;
    require(std::all_of(begin, end, [=](i64 c) { return c >= 0 && c < n_classes; }),
            "classes must be codes below n_classes");
}

template <class T>
Cuts mdlp_cuts(const Array2<T>& values, const Array1<i64>& columns, const Array1<i64>& classes,
               i64 n_classes) {
    const Block<T> block(values);
    require_columns(block, columns);
    require_classes(classes, block.rows, n_classes);
    std::vector<double> cuts;
    std::vector<i64> n_cuts(columns.size());
    {
        nb::gil_scoped_release unlocked;
        Mdlp mdlp(block.rows, n_classes);
        std::vector<std::pair<double, i64>> samples;
        for_columns(block, Indices{columns}, [&](i64 c, const double* x) {
            const std::size_t before = cuts.size();
            samples.clear();
            for (i64 i = 0; i < block.rows; ++i) {
                if (x[i] == x[i]) samples.emplace_back(x[i], classes(static_cast<std::size_t>(i)));
            }
            sort_samples(samples);
            mdlp.cuts_of(samples, cuts);
            n_cuts[c] = static_cast<i64>(cuts.size() - before);
        });
    }
    return {to_numpy(std::move(cuts)), to_numpy(std::move(n_cuts))};
}

}  // namespace hocmim::coding
