// NCA for feature selection: the objective and its gradient for a block of rows, in O(N) memory
// per thread.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/arrays.hpp"
#include "core/interrupt.hpp"
#include "filters/manhattan.hpp"

namespace hocmim::nca {

// exp(-40) = 4e-18: a neighbour that much farther than the nearest adds nothing to a sum of
// doubles.
constexpr double kNegligible = 40.0;

// Compressed rows or columns: entry k of row (column) i is at place[k], start[i] <= k < start[i+1].
struct Compressed {
    const int64_t* start;
    const int32_t* place;
    const double* value;
};

// The columns are of two kinds. Dense ones come multiplied by their weight. Sparse ones are 0 in
// most rows; since |a - b| = |a| + |b| - overlap(a, b), and overlap is 0 where a or b is, only
// pairs of rows that are both off 0 cost anything.
struct Samples {
    const double* values;  // N x n_dense
    Compressed by_row, by_column;
    const double* weight;  // of the sparse columns
    const double* norm;    // sum over the sparse columns of weight * |x|, for each row
    const int32_t* y;
    size_t n_rows, n_dense;

    const double* row(size_t i) const { return values + i * n_dense; }
};

struct Sums {
    double* dense;    // sum_ij c_ij |x_ir - x_jr|, times the weight of r
    double* overlap;  // sum_ij c_ij overlap(x_ir, x_jr)
    double* by_row;   // sum_j c_ij + c_ji
};

HOCMIM_INLINE double overlap(double a, double b) {
    return (std::fabs(a) + std::fabs(b)) - std::fabs(a - b);
}

// distance[j] from row i over the sparse columns.
HOCMIM_INLINE void sparse_distances(const Samples& s, size_t i, double* distance) {
    for (size_t j = 0; j < s.n_rows; ++j) distance[j] = s.norm[i] + s.norm[j];
    for (int64_t e = s.by_row.start[i]; e < s.by_row.start[i + 1]; ++e) {
        const int32_t r = s.by_row.place[e];
        const double a = s.by_row.value[e], weight = s.weight[r];
        for (int64_t k = s.by_column.start[r]; k < s.by_column.start[r + 1]; ++k)
            distance[s.by_column.place[k]] -= weight * overlap(a, s.by_column.value[k]);
    }
}

// Adds the dense columns to distance[j..j+3] from row i; infinite where too far from `nearest` to
// matter, and for i itself.
HOCMIM_INLINE void add_dense_distances(const Samples& s, size_t i, size_t j, double& nearest,
                                       double* distance) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double* rows[kGroup];
    double limit[kGroup], found[kGroup];
    for (size_t g = 0; g < kGroup; ++g) {
        const size_t row = j + g < s.n_rows ? j + g : s.n_rows - 1;
        rows[g] = s.row(row);
        limit[g] = nearest + kNegligible - distance[row];
    }
    const bool finished = distances_to_four(s.row(i), rows, s.n_dense, limit, found);
    for (size_t row = j; row < j + kGroup && row < s.n_rows; ++row) {
        distance[row] = finished && row != i ? distance[row] + found[row - j] : infinity;
        if (distance[row] < nearest) nearest = distance[row];
    }
}

// Turns distances into p_ij, then into c_ij = p_ij (p_i - [y_i = y_j]); returns p_i, the
// probability of a neighbour of the same class.
HOCMIM_INLINE double neighbour_probabilities(const Samples& s, size_t i, double nearest,
                                             double* p) {
    double all = 0.0, same = 0.0;
    for (size_t j = 0; j < s.n_rows; ++j) {
        const double excess = p[j] - nearest;
        p[j] = excess < kNegligible ? std::exp(-excess) : 0.0;
        all += p[j];
        if (s.y[j] == s.y[i]) same += p[j];
    }
    const double p_same = same / all;
    for (size_t j = 0; j < s.n_rows; ++j) p[j] *= (p_same - (s.y[j] == s.y[i] ? 1.0 : 0.0)) / all;
    return p_same;
}

HOCMIM_INLINE void add_dense_gradient(const Samples& s, size_t i, size_t j, const double* c,
                                      const Sums& sums) {
    const double* rows[kGroup];
    double weight[kGroup];
    bool any = false;
    for (size_t g = 0; g < kGroup; ++g) {
        const bool inside = j + g < s.n_rows;
        rows[g] = s.row(inside ? j + g : i);
        weight[g] = inside ? c[j + g] : 0.0;
        any |= weight[g] != 0.0;
    }
    if (any) add_weighted_differences(s.row(i), rows, weight, s.n_dense, sums.dense);
}

HOCMIM_INLINE void add_sparse_gradient(const Samples& s, size_t i, const double* c,
                                       const Sums& sums) {
    double all = 0.0;
    for (size_t j = 0; j < s.n_rows; ++j) {
        sums.by_row[j] += c[j];
        all += c[j];
    }
    sums.by_row[i] += all;
    for (int64_t e = s.by_row.start[i]; e < s.by_row.start[i + 1]; ++e) {
        const int32_t r = s.by_row.place[e];
        const double a = s.by_row.value[e];
        double sum = 0.0;
        for (int64_t k = s.by_column.start[r]; k < s.by_column.start[r + 1]; ++k)
            sum += c[s.by_column.place[k]] * overlap(a, s.by_column.value[k]);
        sums.overlap[r] += sum;
    }
}

// p holds kTile x N numbers.
HOCMIM_INLINE double add_block_body(const Samples& s, size_t start, size_t stop, double* p,
                                    const Sums& sums) {
    double p_same = 0.0;
    for (size_t first = start; first < stop; first += kTile) {
        const size_t n = stop - first < kTile ? stop - first : kTile;
        double nearest[kTile];
        for (size_t i = 0; i < n; ++i) {
            nearest[i] = std::numeric_limits<double>::infinity();
            sparse_distances(s, first + i, p + i * s.n_rows);
            count_work(int64_t(s.n_rows));
        }
        for (size_t j = 0; j < s.n_rows; j += kGroup) {
            for (size_t i = 0; i < n; ++i)
                add_dense_distances(s, first + i, j, nearest[i], p + i * s.n_rows);
            count_work(int64_t(n * s.n_dense));
        }
        for (size_t i = 0; i < n; ++i) {
            p_same += neighbour_probabilities(s, first + i, nearest[i], p + i * s.n_rows);
            add_sparse_gradient(s, first + i, p + i * s.n_rows, sums);
        }
        if (s.n_dense == 0) continue;
        for (size_t j = 0; j < s.n_rows; j += kGroup) {
            for (size_t i = 0; i < n; ++i)
                add_dense_gradient(s, first + i, j, p + i * s.n_rows, sums);
            count_work(int64_t(n * s.n_dense));
        }
    }
    return p_same;
}

HOCMIM_DISPATCH(inline double, add_block, add_block_body,
                (const Samples& s, size_t start, size_t stop, double* p, const Sums& sums),
                (s, start, stop, p, sums))

using Offsets = Vector<const int64_t>;
using Places = Vector<const int32_t>;
using Numbers = Vector<const double>;

// Throws unless every index the kernel will follow lies inside its array.
inline Compressed checked(Offsets start, Places place, Numbers value, size_t n, size_t n_places) {
    const auto n_entries = int64_t(value.size());
    bool fits = start.size() == n + 1 && place.size() == value.size() && start[0] == 0 &&
                start[n] == n_entries;
    for (size_t i = 0; fits && i < n; ++i) fits = start[i] <= start[i + 1];
    for (int64_t k = 0; fits && k < n_entries; ++k)
        fits = place[k] >= 0 && size_t(place[k]) < n_places;
    if (!fits) throw std::invalid_argument("nca_block: a compressed table does not fit");
    return {start.data(), place.data(), value.data()};
}

inline double nca_block(Matrix<const double> values, Offsets row_start, Places row_place,
                        Numbers row_value, Offsets column_start, Places column_place,
                        Numbers column_value, Numbers weight, Numbers norm, Places y, size_t start,
                        size_t stop, Vector<double> dense, Vector<double> overlaps,
                        Vector<double> by_row) {
    const size_t n_rows = values.n_rows, n_sparse = weight.size();
    if (y.size() != n_rows || norm.size() != n_rows || by_row.size() != n_rows || stop > n_rows ||
        start > stop || n_rows < 2 || dense.size() != values.n_columns ||
        overlaps.size() != n_sparse)
        throw std::invalid_argument("nca_block: the arrays do not fit together");
    const Samples s{values.data(),
                    checked(row_start, row_place, row_value, n_rows, n_sparse),
                    checked(column_start, column_place, column_value, n_sparse, n_rows),
                    weight.data(),
                    norm.data(),
                    y.data(),
                    n_rows,
                    values.n_columns};
    const Sums sums{dense.data(), overlaps.data(), by_row.data()};
    std::vector<double> p(kTile * n_rows);
    return add_block(s, start, stop, p.data(), sums);
}

}  // namespace hocmim::nca
