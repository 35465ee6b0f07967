// What the values of columns are like, and where the discretizers cut them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "coding/block.hpp"
#include "coding/bytes.hpp"
#include "core/arrays.hpp"
#include "core/comparison.hpp"
#include "core/dispatch.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

constexpr int64_t kFewCuts = 16;  // are tried one by one, more by bisection

enum class Method { uniform, quantile, mdlp };

// How columns are cut.
struct Learning {
    Method method;
    int64_t n_bins;
    Vector<const int64_t> classes;  // of each row, for mdlp
    int64_t n_classes;

    void check(int64_t n_rows) const {
        require(n_bins >= 2, "n_bins must be at least 2");
        require(method >= Method::uniform && method <= Method::mdlp, "there is no such method");
        if (method == Method::mdlp) check_classes(n_rows);
    }
    void check_classes(int64_t n_rows) const {
        require(int64_t(classes.size()) == n_rows, "classes must have one element per row");
        require(n_classes >= 0, "n_classes must not be negative");  // without rows, none is checked
        for (const int64_t c : classes)
            require(c >= 0 && c < n_classes, "classes must be codes below n_classes");
    }
};

// Whether each of n <= kTileRows values is missing or one of `values`, without a branch.
HOCMIM_INLINE bool are_known_body(const double* x, int64_t n, const double* values,
                                  size_t n_values) {
    int64_t known[kTileRows];
    for (int64_t i = 0; i < n; ++i) known[i] = x[i] != x[i];
    for (size_t k = 0; k < n_values; ++k)
        for (int64_t i = 0; i < n; ++i) known[i] |= x[i] == values[k];
    int64_t all = 1;
    for (int64_t i = 0; i < n; ++i) all &= known[i];
    return all != 0;
}
HOCMIM_DISPATCH(inline bool, are_known, are_known_body,
                (const double* x, int64_t n, const double* values, size_t n_values),
                (x, n, values, n_values))

inline bool has_missing(const double* x, int64_t n) {
    bool missing = false;
    for (int64_t i = 0; i < n; ++i) missing |= x[i] != x[i];
    return missing;
}

// The distinct values of a column, in order, until there are more than `limit` of them.
class Distinct {
public:
    void add(const double* x, int64_t n, size_t limit) {
        if (values_.size() <= kFew && all_known(x, n)) return;
        for (int64_t i = 0; i < n && !too_many_; ++i) {
            const double value = x[i];
            if (value != value) continue;
            const auto at = std::lower_bound(values_.begin(), values_.end(), value);
            if (at != values_.end() && *at == value) continue;
            if (values_.size() == limit) {
                too_many_ = true;
                std::vector<double>().swap(values_);
            } else {
                values_.insert(at, value);
            }
        }
    }
    bool too_many() const { return too_many_; }
    const std::vector<double>& values() const { return values_; }

private:
    static constexpr size_t kFew = 16;

    // The usual answer once a column of few levels has been seen for a while.
    bool all_known(const double* x, int64_t n) const {
        return are_known(x, n, values_.data(), values_.size());
    }

    std::vector<double> values_;
    bool too_many_ = false;
};

// Range, missing values and distinct values of each column.
struct Survey {
    std::vector<double> minimum, maximum;
    std::vector<uint8_t> has_missing;
    std::vector<int64_t> n_distinct;  // limit + 1 stands for more
    std::vector<double> distinct;     // of the columns with at most `limit`, end to end
};

template <class T>
Survey survey(const Block<T>& block, int64_t limit) {
    require(limit >= 1, "limit must be at least 1");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto width = size_t(block.columns);
    Survey found{std::vector<double>(width, kInfinity),
                 std::vector<double>(width, -kInfinity),
                 std::vector<uint8_t>(width, 0),
                 std::vector<int64_t>(width),
                 {}};
    std::vector<Distinct> sets(width);
    for_tiles(block, count_from(0, block.columns),
              [&](int64_t j, int64_t, int64_t n, const double* x) {
                  find_range(x, n, found.minimum[j], found.maximum[j]);
                  found.has_missing[j] |= has_missing(x, n);
                  if (!sets[j].too_many()) sets[j].add(x, n, size_t(limit));
              });
    for (size_t j = 0; j < width; ++j) {
        const auto& values = sets[j].values();
        found.n_distinct[j] = sets[j].too_many() ? limit + 1 : int64_t(values.size());
        found.distinct.insert(found.distinct.end(), values.begin(), values.end());
    }
    return found;
}

// A value above l and not above u, as near the middle as there is.
inline double between(double l, double u) {
    const double middle = l / 2 + u / 2;
    return middle > l && middle < u ? middle : u;
}

// --- equal width ---

inline void uniform_cuts_of(double low, double high, int64_t n_bins, std::vector<double>& cuts) {
    for (int64_t k = 1; k < n_bins; ++k) {
        const double step = double(k), bins = double(n_bins);
        const double cut = low + (high - low) * step / bins;
        // high - low may overflow; then the same point is computed as a weighted mean.
        const double share = step / bins;
        cuts.push_back(std::isfinite(cut) ? cut : low * (1 - share) + high * share);
    }
}

// --- equal frequency ---

// The position of the k-th of n_bins parts of n values: floor(k n / n_bins) without the product,
// which may not fit.
inline int64_t part_begin(int64_t k, int64_t n, int64_t n_bins) {
    return k * (n / n_bins) + k * (n % n_bins) / n_bins;
}

inline void append_above(double value, std::vector<double>& cuts) {
    if (cuts.empty() || cuts.back() < value) cuts.push_back(value);
}

// The smallest value above `minimum`, or infinity.
inline double next_above(double minimum, const double* x, int64_t n) {
    double next = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < n; ++i) next = x[i] > minimum && x[i] < next ? x[i] : next;
    return next;
}

// Where k/n_bins of the sorted values (k = 1 .. n_bins-1) begin. `x` is reordered.
inline std::vector<double> quantile_cuts_of(double* x, int64_t n, int64_t n_bins) {
    std::vector<double> cuts;
    if (n == 0) return cuts;
    const double least = next_above(*std::min_element(x, x + n), x, n);
    if (std::isinf(least)) return cuts;  // a constant column has nothing to cut
    const bool sort = n_bins > kFewCuts;
    if (sort) std::sort(x, x + n);
    int64_t settled = 0;
    for (int64_t k = 1; k < n_bins; ++k) {
        const int64_t at = part_begin(k, n, n_bins);
        if (!sort) std::nth_element(x + settled, x + at, x + n);
        settled = at;
        append_above(std::max(x[at], least), cuts);
    }
    return cuts;
}

// The cuts of several columns end to end, and how many each has.
struct CutsOfColumns {
    std::vector<double> cuts;
    std::vector<int64_t> n_cuts;

    void append(const std::vector<double>& of_column) {
        cuts.insert(cuts.end(), of_column.begin(), of_column.end());
        n_cuts.push_back(int64_t(of_column.size()));
    }
};

template <class T>
CutsOfColumns quantile_cuts(const Block<T>& block, Vector<const int64_t> columns, int64_t n_bins) {
    block.require_columns(columns);
    require(n_bins >= 1, "n_bins must be at least 1");
    CutsOfColumns found;
    for_columns(block, columns, [&](int64_t, double* x) {
        double* end = std::remove_if(x, x + block.rows, [](double v) { return v != v; });
        found.append(quantile_cuts_of(x, end - x, n_bins));
    });
    return found;
}

// --- minimum description length ---

// A value and its class.
using LabelledValue = std::pair<double, int64_t>;

// Sort samples by value: first into as many buckets of equal width as there are samples, then the
// samples of each bucket.
inline void sort_samples(std::vector<LabelledValue>& samples) {
    const auto by_value = [](const auto& a, const auto& b) { return a.first < b.first; };
    const size_t n = samples.size();
    if (n < 2) return;
    const auto [first, last] = std::minmax_element(samples.begin(), samples.end(), by_value);
    const double low = first->first;
    const double scale = double(n - 1) / (last->first - low);
    if (!std::isfinite(scale) || !std::isfinite(last->first - low)) {
        std::sort(samples.begin(), samples.end(), by_value);
        return;
    }
    std::vector<size_t> end(n + 1, 0);
    const auto bucket = [&](double x) { return size_t((x - low) * scale); };
    for (const auto& sample : samples) ++end[std::min(bucket(sample.first), n - 1) + 1];
    for (size_t b = 1; b <= n; ++b) end[b] += end[b - 1];
    std::vector<LabelledValue> sorted(n);
    for (const auto& sample : samples)
        sorted[end[std::min(bucket(sample.first), n - 1)]++] = sample;
    // Now end[b] is where bucket b ends.
    size_t begin = 0;
    for (size_t b = 0; b < n; begin = end[b++])
        if (end[b] - begin > 1)
            std::sort(&sorted[begin], &sorted[begin] + (end[b] - begin), by_value);
    samples.swap(sorted);
}

// Cuts by the minimum description length principle (Fayyad and Irani 1993).
class Mdlp {
public:
    Mdlp(int64_t n_samples, int64_t n_classes) : n_classes_(n_classes) {
        const int64_t known = std::min<int64_t>(n_samples, int64_t(1) << 20);
        for (int64_t c = 0; c <= known; ++c) table_.push_back(c_log_c(c));
        left_.resize(size_t(n_classes));
        all_.resize(size_t(n_classes));
    }

    // The accepted cuts of n values, some of which may be missing.
    void cuts_of(const double* x, const int64_t* classes, int64_t n, std::vector<double>& cuts) {
        samples_.clear();
        for (int64_t i = 0; i < n; ++i)
            if (x[i] == x[i]) samples_.emplace_back(x[i], classes[i]);
        sort_samples(samples_);
        cuts_of(samples_, cuts);
    }

    // The accepted cuts of samples (value, class) sorted by value, in order.
    void cuts_of(const std::vector<LabelledValue>& samples, std::vector<double>& cuts) {
        const auto before = std::ptrdiff_t(cuts.size());
        std::vector<std::pair<int64_t, int64_t>> open{{0, int64_t(samples.size())}};
        while (!open.empty()) {
            const auto [begin, end] = open.back();
            open.pop_back();
            const int64_t split = best_split(samples, begin, end);
            if (split < 0) continue;
            cuts.push_back(between(samples[split - 1].first, samples[split].first));
            open.emplace_back(begin, split);
            open.emplace_back(split, end);
        }
        std::sort(cuts.begin() + before, cuts.end());
    }

private:
    using Counts = std::vector<int64_t>;

    static double c_log_c(int64_t c) { return c < 2 ? 0.0 : double(c) * std::log2(double(c)); }
    double f(int64_t c) const { return c < int64_t(table_.size()) ? table_[c] : c_log_c(c); }

    // n times the entropy (bits) of the samples counted, and how many classes they have.
    std::pair<double, int64_t> weight(const Counts& counts, int64_t n) const {
        double sum = 0.0;
        int64_t present = 0;
        for (const int64_t c : counts) {
            sum += f(c);
            present += c > 0;
        }
        return {f(n) - sum, present};
    }
    std::pair<double, int64_t> weight_of_rest(int64_t n) const {
        double sum = 0.0;
        int64_t present = 0;
        for (int64_t c = 0; c < n_classes_; ++c) {
            const int64_t rest = all_[c] - left_[c];
            sum += f(rest);
            present += rest > 0;
        }
        return {f(n) - sum, present};
    }

    // Where to split samples begin..end-1, or -1 if no split is worth its description.
    int64_t best_split(const std::vector<LabelledValue>& samples, int64_t begin, int64_t end) {
        const int64_t n = end - begin;
        std::fill(all_.begin(), all_.end(), 0);
        std::fill(left_.begin(), left_.end(), 0);
        for (int64_t i = begin; i < end; ++i) ++all_[samples[i].second];
        const auto [whole, k] = weight(all_, n);
        if (k < 2) return -1;
        int64_t best = -1;
        double least = std::numeric_limits<double>::infinity();
        int64_t previous =
            -1;  // the class of the group of equal values before this one; -2: several
        for (int64_t i = begin; i < end;) {
            int64_t stop = i;
            int64_t group = samples[i].second;
            for (; stop < end && samples[stop].first == samples[i].first; ++stop)
                if (samples[stop].second != group) group = -2;
            // Only between two groups that are not of one and the same class can the optimum lie.
            if (i > begin && !(group >= 0 && group == previous)) {
                count_work(2 * n_classes_);
                const double split = weight(left_, i - begin).first + weight_of_rest(end - i).first;
                const double rank = comparison_key(split / double(n));
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

    bool worth(const std::vector<LabelledValue>& samples, int64_t begin, int64_t split, int64_t end,
               double whole, int64_t k) {
        std::fill(left_.begin(), left_.end(), 0);
        for (int64_t i = begin; i < split; ++i) ++left_[samples[i].second];
        const double n = double(end - begin);
        const auto [w1, k1] = weight(left_, split - begin);
        const auto [w2, k2] = weight_of_rest(end - split);
        const double entropy = whole / n, entropy1 = w1 / double(split - begin),
                     entropy2 = w2 / double(end - split);
        const double kk = double(k);
        // log2(3^k - 2), which overflows for many classes as it stands
        const double choices = kk * std::log2(3.0) + std::log2(1.0 - 2.0 * std::pow(3.0, -kk));
        const double delta =
            choices - (kk * entropy - double(k1) * entropy1 - double(k2) * entropy2);
        const double gain = entropy - (w1 + w2) / n;
        return comparison_key(gain) > comparison_key((std::log2(n - 1.0) + delta) / n);
    }

    int64_t n_classes_;
    std::vector<double> table_;
    Counts left_, all_;
    std::vector<LabelledValue> samples_;
};

template <class T>
CutsOfColumns mdlp_cuts(const Block<T>& block, Vector<const int64_t> columns,
                        Vector<const int64_t> classes, int64_t n_classes) {
    block.require_columns(columns);
    Learning{Method::mdlp, 2, classes, n_classes}.check_classes(block.rows);
    CutsOfColumns found;
    Mdlp mdlp(block.rows, n_classes);
    for_columns(block, columns, [&](int64_t, const double* x) {
        std::vector<double> cuts;
        mdlp.cuts_of(x, classes.data(), block.rows, cuts);
        found.append(cuts);
    });
    return found;
}

}  // namespace hocmim
