// Columns of a sparse table: only the stored values are read.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "coding/apply.hpp"
#include "coding/arrays.hpp"
#include "coding/block.hpp"
#include "coding/encode.hpp"
#include "coding/learn.hpp"
#include "core/interrupt.hpp"

namespace hocmim::coding {

// Some columns in compressed form: the stored values of column j are offsets[j]..offsets[j+1]-1.
struct SparseColumns {
    const double* values;
    const i64 *rows, *offsets;
    i64 n_columns, n_rows;

    SparseColumns(const Array1<double>& values_, const Array1<i64>& rows_,
                  const Array1<i64>& offsets_, i64 n_rows_)
        : values(values_.data()),
          rows(rows_.data()),
          offsets(offsets_.data()),
          n_columns(static_cast<i64>(offsets_.size()) - 1),
          n_rows(n_rows_) {
        const i64 n_stored = static_cast<i64>(values_.size());
        require(n_columns >= 0 && offsets[0] == 0 && offsets[n_columns] == n_stored &&
                    static_cast<i64>(rows_.size()) == n_stored,
                "offsets must begin with 0 and end with the number of values");
        for (i64 j = 0; j < n_columns; ++j) {
            require(offsets[j] <= offsets[j + 1] && offsets[j + 1] - offsets[j] <= n_rows,
                    "offsets must not decrease, and a row has one value a column");
        }
        require(std::all_of(rows, rows + n_stored, [=](i64 i) { return i >= 0 && i < n_rows_; }),
                "rows must be rows of the table");
    }
};

// Like SharedBlock, by one thread; returns what to_tuple does.
inline nb::tuple encode_sparse(const Array1<double>& values, const Array1<i64>& rows,
                               const Array1<i64>& offsets, i64 n_rows, int method, i64 n_bins,
                               const Array1<i64>& classes, i64 n_classes,
                               const Rows<std::uint8_t>& codes) {
    const SparseColumns columns(values, rows, offsets, n_rows);
    require(static_cast<i64>(codes.shape(0)) == columns.n_columns &&
                static_cast<i64>(codes.shape(1)) == n_rows,
            "codes must have a row a column");
    const Learning how = to_learning(method, n_bins, classes, n_classes, n_rows);
    Codings found;
    {
        nb::gil_scoped_release unlocked;
        Learner learner(how);
        Coding coding;
        for (i64 j = 0; j < columns.n_columns; ++j) {
            const i64 first = columns.offsets[j];
            count_work(n_rows + 8 * (columns.offsets[j + 1] - first));
            learner.learn_sparse(columns.values + first, columns.rows + first,
                                 columns.offsets[j + 1] - first, n_rows, codes.data() + j * n_rows,
                                 coding);
            found.append(coding);
        }
    }
    return to_tuple(std::move(found));
}

// The codes of one column of n rows; true if a stored value is infinite.
template <class Code>
bool cut_sparse(const double* stored, const i64* rows, i64 n_stored, const double* cuts, i64 n_cuts,
                i64 unknown, Code* codes, i64 n) {
    const auto code_of = [&](double x) {
        return static_cast<Code>(x != x ? unknown
                                        : std::upper_bound(cuts, cuts + n_cuts, x) - cuts);
    };
    std::fill_n(codes, n, code_of(0.0));
    bool infinite = false;
    for (i64 k = 0; k < n_stored; ++k) {
        codes[rows[k]] = code_of(stored[k]);
        infinite |= std::isinf(stored[k]);
    }
    return infinite;
}

// Like apply_cuts.
inline i64 apply_cuts_sparse(const Array1<double>& values, const Array1<i64>& rows,
                             const Array1<i64>& offsets, const Array1<double>& cuts,
                             const Array1<i64>& cut_offsets, const Array1<i64>& unknown,
                             const Array1<i64>& place, const Rows<std::uint8_t>& narrow,
                             const Rows<std::uint16_t>& wide) {
    const i64 n = static_cast<i64>(narrow.shape(1));
    const SparseColumns columns(values, rows, offsets, n);
    check_cuts(columns.n_columns, n, cuts, cut_offsets, unknown, place, narrow, wide);
    nb::gil_scoped_release unlocked;
    for (i64 j = 0; j < columns.n_columns; ++j) {
        const i64 first = columns.offsets[j], n_stored = columns.offsets[j + 1] - first;
        const double *stored = columns.values + first, *own = cuts.data() + cut_offsets(j);
        const i64 n_cuts = cut_offsets(j + 1) - cut_offsets(j);
        const bool infinite = place(j) >= 0
                                  ? cut_sparse(stored, columns.rows + first, n_stored, own, n_cuts,
                                               unknown(j), narrow.data() + place(j) * n, n)
                                  : cut_sparse(stored, columns.rows + first, n_stored, own, n_cuts,
                                               unknown(j), wide.data() + ~place(j) * n, n);
        if (infinite) return j;
    }
    return -1;
}

}  // namespace hocmim::coding
