// ReliefF: the neighbours of a block of rows, and what they add to the weight of each column.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/arrays.hpp"
#include "core/interrupt.hpp"
#include "filters/manhattan.hpp"

namespace hocmim::relieff {

struct Table {
    const double* values;  // N x n_values, differences |a - b|
    const int32_t* codes;  // N x n_codes, differences 0 or 1
    const int32_t* y;
    size_t n_rows, n_values, n_codes, n_classes;

    const double* value_row(size_t i) const { return values + i * n_values; }
    const int32_t* code_row(size_t i) const { return codes + i * n_codes; }
};

struct Neighbour {
    int64_t distance;
    size_t row;
};

// The k nearest rows of each class, and all rows as far as the last of them: they share its place,
// so that the order of the rows does not matter.
class Neighbours {
public:
    Neighbours(size_t n_classes, size_t k, double per_unit)
        : k_(k), per_unit_(per_unit), found_(n_classes), limit_(n_classes) {
        for (auto& rows : found_) rows.reserve(k + 1);
    }

    void clear() {
        for (auto& rows : found_) rows.clear();
        for (auto& limit : limit_) limit = std::numeric_limits<double>::infinity();
    }

    // A sum of differences above this cannot enter the class any more.
    double limit(int32_t label) const { return limit_[label]; }

    void offer(int32_t label, double distance, size_t row) {
        const int64_t rounded = std::llrint(distance * per_unit_);
        auto& rows = found_[label];
        if (rows.size() >= k_ && rounded > rows.back().distance) return;
        auto place = rows.end();
        while (place != rows.begin() && (place - 1)->distance > rounded) --place;
        rows.insert(place, {rounded, row});
        if (rows.size() < k_) return;
        while (rows.back().distance > rows[k_ - 1].distance) rows.pop_back();
        // One unit of rounding above the last one kept: giving up early never changes the result.
        limit_[label] = double(rows.back().distance + 1) / per_unit_;
    }

    const std::vector<Neighbour>& of(size_t label) const { return found_[label]; }

    // How many neighbours the rows of a class count as.
    size_t count(size_t label) const { return std::min(k_, found_[label].size()); }

private:
    size_t k_;
    double per_unit_;
    std::vector<std::vector<Neighbour>> found_;
    std::vector<double> limit_;
};

// Offers rows j..j+3 to the neighbours of row i.
HOCMIM_INLINE void offer_group(const Table& t, size_t i, size_t j, Neighbours& nearest) {
    const double* rows[kGroup];
    double limit[kGroup], distance[kGroup];
    for (size_t g = 0; g < kGroup; ++g) {
        const size_t row = j + g < t.n_rows ? j + g : t.n_rows - 1;
        rows[g] = t.value_row(row);
        limit[g] = nearest.limit(t.y[row]);
    }
    if (!distances_to_four(t.value_row(i), rows, t.n_values, limit, distance)) return;
    for (size_t row = j; row < j + kGroup && row < t.n_rows; ++row) {
        if (row == i) continue;
        int64_t different = 0;
        for (size_t q = 0; q < t.n_codes; ++q) different += t.code_row(i)[q] != t.code_row(row)[q];
        nearest.offer(t.y[row], distance[row - j] + double(different), row);
    }
}

HOCMIM_INLINE void add_contribution(const Table& t, size_t i, size_t j, double weight,
                                    double* value_sums, double* code_sums) {
    const double *a = t.value_row(i), *b = t.value_row(j);
    for (size_t r = 0; r < t.n_values; ++r) value_sums[r] += weight * std::fabs(a[r] - b[r]);
    const int32_t *p = t.code_row(i), *q = t.code_row(j);
    for (size_t r = 0; r < t.n_codes; ++r) code_sums[r] += p[r] != q[r] ? weight : 0.0;
}

HOCMIM_INLINE void add_neighbours(const Table& t, size_t i, const Neighbours& nearest,
                                  const double* prior, double* value_sums, double* code_sums) {
    const auto own = size_t(t.y[i]);
    for (size_t c = 0; c < t.n_classes; ++c) {
        const auto& rows = nearest.of(c);
        if (rows.empty()) continue;
        const double share = c == own ? -1.0 : prior[c] / (1.0 - prior[own]);
        const size_t n = nearest.count(c);
        const int64_t last = rows.back().distance;
        size_t n_nearer = 0;
        while (rows[n_nearer].distance < last) ++n_nearer;
        const double part = double(n - n_nearer) / double(rows.size() - n_nearer);
        for (const auto& neighbour : rows) {
            const double weight = share / double(n) * (neighbour.distance < last ? 1.0 : part);
            add_contribution(t, i, neighbour.row, weight, value_sums, code_sums);
        }
        count_work(int64_t(rows.size() * (t.n_values + t.n_codes)));
    }
}

HOCMIM_INLINE void add_block_body(const Table& t, const double* prior, size_t start, size_t stop,
                                  std::vector<Neighbours>& nearest, double* value_sums,
                                  double* code_sums) {
    for (size_t first = start; first < stop; first += kTile) {
        const size_t n = stop - first < kTile ? stop - first : kTile;
        for (size_t i = 0; i < n; ++i) nearest[i].clear();
        for (size_t j = 0; j < t.n_rows; j += kGroup) {
            for (size_t i = 0; i < n; ++i) offer_group(t, first + i, j, nearest[i]);
            count_work(int64_t(n * (t.n_values + t.n_codes)));
        }
        for (size_t i = 0; i < n; ++i)
            add_neighbours(t, first + i, nearest[i], prior, value_sums, code_sums);
    }
}

HOCMIM_DISPATCH(inline void, add_block, add_block_body,
                (const Table& t, const double* prior, size_t start, size_t stop,
                 std::vector<Neighbours>& nearest, double* value_sums, double* code_sums),
                (t, prior, start, stop, nearest, value_sums, code_sums))

inline void relieff_block(Matrix<const double> values, Matrix<const int32_t> codes,
                          Vector<const int32_t> y, Vector<const double> prior, size_t k,
                          size_t start, size_t stop, Vector<double> value_sums,
                          Vector<double> code_sums) {
    const Table t{values.data(),    codes.data(),    y.data(),    values.n_rows,
                  values.n_columns, codes.n_columns, prior.size()};
    if (codes.n_rows != t.n_rows || y.size() != t.n_rows || stop > t.n_rows || start > stop ||
        value_sums.size() != t.n_values || code_sums.size() != t.n_codes || k == 0)
        throw std::invalid_argument("relieff_block: the arrays do not fit together");
    for (size_t i = 0; i < t.n_rows; ++i)
        if (t.y[i] < 0 || size_t(t.y[i]) >= t.n_classes)
            throw std::invalid_argument("relieff_block: a label is outside 0..n_classes-1");
    // Distances are compared as means over the columns, rounded to 12 decimals.
    const double n_columns = double(t.n_values + t.n_codes);
    const Neighbours none(t.n_classes, k, 1e12 / (n_columns > 0 ? n_columns : 1.0));
    std::vector<Neighbours> nearest(kTile, none);
    add_block(t, prior.data(), start, stop, nearest, value_sums.data(), code_sums.data());
}

}  // namespace hocmim::relieff
