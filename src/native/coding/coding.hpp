// How a column is coded, and the steps that several ways to learn it share.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coding/block.hpp"
#include "coding/bytes.hpp"

namespace hocmim::coding {

constexpr i64 kNarrowLevels = 256;  // fit into one byte

// How a column is coded.
struct Coding {
    std::vector<double> cuts, levels;
    bool is_cut = false, has_missing = false, is_infinite = false;
    i64 n_levels = 0;  // without the level of missing values
    i64 most_frequent = 0, n_most_frequent = 0;
    double minimum = 0, maximum = 0;  // of a column that is cut

    i64 arity() const { return n_levels + has_missing; }
    void clear() {
        cuts.clear();
        levels.clear();
        is_cut = has_missing = is_infinite = false;
        n_levels = most_frequent = n_most_frequent = 0;
        minimum = maximum = 0;
    }
    // Notes the most frequent code, given how many samples each has.
    void count(const i64* totals) {
        most_frequent = std::max_element(totals, totals + std::min<i64>(arity(), 256)) - totals;
        n_most_frequent = totals[most_frequent];
    }
    void count(const std::uint8_t* codes, i64 n) {
        i64 totals[256];
        count_codes(codes, n, arity(), totals);
        count(totals);
    }
};

inline void uniform_cuts_of(double low, double high, i64 n_bins, std::vector<double>& cuts) {
    for (i64 k = 1; k < n_bins; ++k) {
        const double step = static_cast<double>(k), bins = static_cast<double>(n_bins);
        const double cut = low + (high - low) * step / bins;
        // high - low may overflow; then the same point is computed as a weighted mean.
        const double share = step / bins;
        cuts.push_back(std::isfinite(cut) ? cut : low * (1 - share) + high * share);
    }
}

// The position of the k-th of n_bins parts of n values: floor(k n / n_bins) without the product,
// which may not fit.
inline i64 part_begin(i64 k, i64 n, i64 n_bins) {
    return k * (n / n_bins) + k * (n % n_bins) / n_bins;
}

inline void append_above(double value, std::vector<double>& cuts) {
    if (cuts.empty() || cuts.back() < value) cuts.push_back(value);
}

}  // namespace hocmim::coding
