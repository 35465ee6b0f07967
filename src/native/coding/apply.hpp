// Applies cuts: from values to codes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "coding/arrays.hpp"
#include "coding/block.hpp"
#include "coding/stage.hpp"
#include "core/dispatch.hpp"

namespace hocmim::coding {

constexpr i64 kCutLanes = 8;  // columns of a row-major block that are cut together

// below[i] = number of cuts <= x[i], for the rows of a tile.
HOCMIM_INLINE void count_cuts_body(const double* x, i64 n, const double* cuts, i64 n_cuts,
                                   i64* below) {
    std::fill_n(below, n, 0);
    for (i64 k = 0; k < n_cuts; ++k) {
        for (i64 i = 0; i < n; ++i) below[i] += cuts[k] <= x[i];
    }
}
HOCMIM_DISPATCH(inline void, count_cuts, count_cuts_body,
                (const double* x, i64 n, const double* cuts, i64 n_cuts, i64* below),
                (x, n, cuts, n_cuts, below))

// codes[i] = number of cuts <= x[i].
template <class Code>
void cut(const double* x, i64 n, const double* cuts, i64 n_cuts, Code* codes) {
    if (n_cuts <= kFewCuts) {
        i64 below[kTileRows];
        count_cuts(x, n, cuts, n_cuts, below);
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

inline void check_cuts(i64 width, i64 n, const Array1<double>& cuts, const Array1<i64>& offsets,
                       const Array1<i64>& unknown, const Array1<i64>& place,
                       const Rows<std::uint8_t>& narrow, const Rows<std::uint16_t>& wide) {
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

// Cuts of neighbouring columns in lanes, and where their codes go.
struct CutLanes {
    alignas(32) double cuts[kFewCuts][kCutLanes];
    i64 n_cuts = 0;
    std::uint8_t* codes[kCutLanes];
    std::uint64_t is_special[kCutLanes] = {};  // not 0 if a value is missing or infinite
};

// The codes of eight columns of a row-major block; `rows` is a multiple of kWordRows.
template <Isa isa, class T>
HOCMIM_INLINE void cut_rows_body(const T* x, i64 row_stride, i64 top, i64 rows, CutLanes& lanes) {
    constexpr std::size_t n = bytes_of(isa) / sizeof(double), n_parts = kCutLanes / n;
    using Doubles = LaneVector<double, n>;
    using Bits = LaneVector<std::uint64_t, n>;
    Bits is_special[n_parts], word[n_parts];
    for (std::size_t h = 0; h < n_parts; ++h) load(lanes.is_special + n * h, is_special[h]);
    for (i64 begin = top; begin < top + rows; begin += kWordRows) {
        for (std::size_t h = 0; h < n_parts; ++h) word[h] = Bits{};
        for (i64 i = 0; i < kWordRows; ++i) {
            const T* p = x + (begin + i) * row_stride;
            prefetch(p + kBandRows * row_stride);
            for (std::size_t h = 0; h < n_parts; ++h) {
                Doubles values, cut;
                Bits code = {};
                load_numbers(p + n * h, values);
                for (i64 k = 0; k < lanes.n_cuts; ++k) {
                    load(lanes.cuts[k] + n * h, cut);
                    code -= HOCMIM_BITS_AS(Bits, cut <= values);
                }
                is_special[h] |= HOCMIM_BITS_AS(Bits, (values - values) != 0.0);
                word[h] = (word[h] >> 8) | (code << 56);
            }
        }
        for (std::size_t c = 0; c < kCutLanes; ++c) {
            store_word(lanes.codes[c] + begin, word[c / n][c % n]);
        }
    }
    for (std::size_t h = 0; h < n_parts; ++h) {
        std::memcpy(lanes.is_special + n * h, &is_special[h], sizeof(Bits));
    }
}
HOCMIM_DISPATCH(template <class T> inline void, cut_rows, (cut_rows_body<kIsa, T>),
                (const T* x, i64 row_stride, i64 top, i64 rows, CutLanes& lanes),
                (x, row_stride, top, rows, lanes))

// Cuts that are applied to a block: see apply_cuts.
struct CutColumns {
    const double* cuts;
    const i64 *offsets, *unknown, *place;
    std::uint8_t* narrow;
    std::uint16_t* wide;

    i64 n_cuts(i64 j) const { return offsets[j + 1] - offsets[j]; }
    const double* first(i64 j) const { return cuts + offsets[j]; }
    bool is_narrow(i64 j) const { return place[j] >= 0; }
};

// Cut groups of eight columns of a row-major block; appends the columns that it did not cut.
// Returns the first column with an infinite value, or the number of columns.
template <class T>
i64 cut_lanes(const Block<T>& block, const CutColumns& columns, std::vector<i64>& left_out) {
    const i64 n = block.rows, width = block.columns;
    std::vector<CutLanes> groups;
    std::vector<i64> firsts;
    for (i64 j = 0; j < width; j += kCutLanes) {
        const i64 first = std::max<i64>(0, std::min(j, width - kCutLanes));
        bool is_possible = block.column_stride == 1 && width >= kCutLanes && n >= kWordRows;
        for (i64 c = first; is_possible && c < first + kCutLanes; ++c) {
            is_possible = columns.is_narrow(c) && columns.n_cuts(c) <= kFewCuts;
        }
        if (!is_possible) {
            for (i64 c = j; c < std::min(j + kCutLanes, width); ++c) left_out.push_back(c);
            continue;
        }
        firsts.push_back(first);
        CutLanes& group = groups.emplace_back();
        std::fill_n(group.cuts[0], kFewCuts * kCutLanes, std::numeric_limits<double>::infinity());
        for (i64 c = 0; c < kCutLanes; ++c) {
            const i64 n_cuts = columns.n_cuts(first + c);
            group.n_cuts = std::max(group.n_cuts, n_cuts);
            for (i64 k = 0; k < n_cuts; ++k) group.cuts[k][c] = columns.first(first + c)[k];
            group.codes[c] = columns.narrow + columns.place[first + c] * n;
        }
    }
    const i64 whole = n / kWordRows * kWordRows;
    const auto cut_band = [&](i64 top, i64 rows) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            cut_rows(block.data + firsts[g], block.row_stride, top, rows, groups[g]);
        }
    };
    for (i64 top = 0; top < whole; top += kBandRows) {
        const i64 rows = std::min(kBandRows, whole - top);
        cut_band(top, rows);
        count_work(rows * width);
    }
    if (whole < n && n >= kWordRows) cut_band(n - kWordRows, kWordRows);
    i64 first_infinite = width;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        for (i64 c = 0; c < kCutLanes; ++c) {
            if (!groups[g].is_special[c]) continue;
            const i64 j = firsts[g] + c;
            double buffer[kTileRows];
            for (i64 top = 0; top < n; top += kTileRows) {
                const i64 rows = std::min(kTileRows, n - top);
                block.gather(top, rows, j, buffer);
                const auto unknown = static_cast<std::uint8_t>(columns.unknown[j]);
                if (mark_unknown(buffer, rows, unknown, groups[g].codes[c] + top)) {
                    first_infinite = std::min(first_infinite, j);
                }
            }
        }
    }
    return first_infinite;
}

// Returns the first column that holds an infinite value, or -1.
template <class T>
i64 apply_cuts(const Array2<T>& values, const Array1<double>& cuts, const Array1<i64>& offsets,
               const Array1<i64>& unknown, const Array1<i64>& place,
               const Rows<std::uint8_t>& narrow, const Rows<std::uint16_t>& wide) {
    const Block<T> block(values);
    check_cuts(block.columns, block.rows, cuts, offsets, unknown, place, narrow, wide);
    const i64 width = block.columns, n = block.rows;
    nb::gil_scoped_release unlocked;
    const CutColumns columns{cuts.data(),  offsets.data(), unknown.data(),
                             place.data(), narrow.data(),  wide.data()};
    std::vector<i64> left_out;
    i64 first_infinite = cut_lanes(block, columns, left_out);
    for_tiles(block, left_out, [&](i64 j, i64 top, i64 rows, const double* x) {
        const bool infinite = columns.is_narrow(j)
                                  ? encode_tile(x, rows, columns.first(j), columns.n_cuts(j),
                                                unknown(j), narrow.data() + place(j) * n + top)
                                  : encode_tile(x, rows, columns.first(j), columns.n_cuts(j),
                                                unknown(j), wide.data() + ~place(j) * n + top);
        if (infinite) first_infinite = std::min(first_infinite, j);
    });
    return first_infinite < width ? first_infinite : -1;
}

}  // namespace hocmim::coding
