// Applies cuts: from values to codes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "coding/block.hpp"

namespace hocmim::coding {

// codes[i] = number of cuts <= x[i].
template <class Code>
void cut(const double* x, i64 n, const double* cuts, i64 n_cuts, Code* codes) {
    if (n_cuts <= kFewCuts) {
        i64 below[kTileRows] = {};
        for (i64 k = 0; k < n_cuts; ++k) {
            for (i64 i = 0; i < n; ++i) below[i] += cuts[k] <= x[i];
        }
        for (i64 i = 0; i < n; ++i) codes[i] = static_cast<Code>(below[i]);
    } else {
        for (i64 i = 0; i < n; ++i) {
            codes[i] = static_cast<Code>(std::upper_bound(cuts, cuts + n_cuts, x[i]) - cuts);
        }
    }
}

// Give NaN its code; true if an infinite value was met.
template <class Code>
bool mark_unknown(const double* x, i64 n, Code unknown, Code* codes) {
    bool infinite = false;
    for (i64 i = 0; i < n; ++i) {
        if (x[i] != x[i]) codes[i] = unknown;
        infinite |= std::isinf(x[i]);
    }
    return infinite;
}

inline bool all_finite(const double* x, i64 n) {
    i64 finite = 1;
    for (i64 i = 0; i < n; ++i) finite &= std::fabs(x[i]) <= std::numeric_limits<double>::max();
    return finite != 0;
}

// The codes of one tile; true if an infinite value was met.
template <class Code>
bool encode_tile(const double* x, i64 n, const double* cuts, i64 n_cuts, i64 unknown, Code* codes) {
    cut(x, n, cuts, n_cuts, codes);
    return !all_finite(x, n) && mark_unknown(x, n, static_cast<Code>(unknown), codes);
}

template <class T>
void check_cuts(const Block<T>& block, const Array1<double>& cuts, const Array1<i64>& offsets,
                const Array1<i64>& unknown, const Array1<i64>& place,
                const Rows<std::uint8_t>& narrow, const Rows<std::uint16_t>& wide) {
    const i64 width = block.columns, n = block.rows;
    require(static_cast<i64>(offsets.size()) == width + 1, "offsets must have width + 1 elements");
    require(static_cast<i64>(unknown.size()) == width, "unknown must have one element a column");
    require(static_cast<i64>(place.size()) == width, "place must have one element a column");
    const i64 n_narrow = static_cast<i64>(narrow.shape(0)),
              n_wide = static_cast<i64>(wide.shape(0));
    for (i64 j = 0; j < width; ++j) {
        const i64 row = place(j) >= 0 ? place(j) : ~place(j);
        const bool is_narrow = place(j) >= 0;
        require(row < (is_narrow ? n_narrow : n_wide), "place is beyond the rows of codes");
        require(static_cast<i64>(is_narrow ? narrow.shape(1) : wide.shape(1)) == n,
                "rows of codes must have one element a row of the table");
        const i64 n_cuts = offsets(j + 1) - offsets(j);
        const i64 most = is_narrow ? 0xFF : 0xFFFF;
        require(offsets(j) >= 0 && n_cuts >= 0 && n_cuts <= most, "offsets must not decrease");
        require(unknown(j) >= 0 && unknown(j) <= most, "unknown must be a code");
    }
    require(offsets(width) <= static_cast<i64>(cuts.size()), "offsets are beyond the cuts");
}

// Returns the first column that holds an infinite value, or -1.
template <class T>
i64 apply_cuts(const Array2<T>& values, const Array1<double>& cuts, const Array1<i64>& offsets,
               const Array1<i64>& unknown, const Array1<i64>& place,
               const Rows<std::uint8_t>& narrow, const Rows<std::uint16_t>& wide) {
    const Block<T> block(values);
    check_cuts(block, cuts, offsets, unknown, place, narrow, wide);
    const i64 width = block.columns, n = block.rows;
    nb::gil_scoped_release unlocked;
    const double* all_cuts = cuts.data();
    i64 first_infinite = width;
    for_tiles(block, [&](i64 j, i64 top, i64 rows, const double* x) {
        const double* first = all_cuts + offsets(j);
        const i64 n_cuts = offsets(j + 1) - offsets(j);
        const bool infinite = place(j) >= 0 ? encode_tile(x, rows, first, n_cuts, unknown(j),
                                                          narrow.data() + place(j) * n + top)
                                            : encode_tile(x, rows, first, n_cuts, unknown(j),
                                                          wide.data() + ~place(j) * n + top);
        if (infinite) first_infinite = std::min(first_infinite, j);
    });
    return first_infinite < width ? first_infinite : -1;
}

}  // namespace hocmim::coding
