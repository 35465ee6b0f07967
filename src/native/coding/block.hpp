// A block of columns of any numeric type.
//
// A block is a two-dimensional array of any strides, seen as N rows by w columns. It is never
// copied: tiles of it are gathered, as doubles, into a buffer that stays in the first-level cache,
// so that row-major and column-major tables cost the same.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"

namespace hocmim::coding {

using i64 = std::int64_t;

constexpr i64 kTileRows = 64;
constexpr i64 kTileColumns = 32;
constexpr i64 kFewCuts = 16;  // are tried one by one, more by bisection
constexpr i64 kScratchCells = i64{1} << 20;

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class T>
struct Block {
    const T* data;
    i64 rows, columns, row_stride, column_stride;

    // An array with data(), shape(i) and stride(i), in numbers.
    template <class Array>
    explicit Block(const Array& a)
        : data(a.data()),
          rows(static_cast<i64>(a.shape(0))),
          columns(static_cast<i64>(a.shape(1))),
          row_stride(a.stride(0)),
          column_stride(a.stride(1)) {}

    // Rows first..first+n-1 of column j. Adding 0.0 makes -0.0 and 0.0 one value.
    template <class Value>
    void gather(i64 first, i64 n, i64 j, Value* out) const {
        const T* p = data + first * row_stride + j * column_stride;
        if (row_stride == 1) {
            for (i64 i = 0; i < n; ++i) out[i] = to<Value>(p[i]);
        } else {
            for (i64 i = 0; i < n; ++i) out[i] = to<Value>(p[i * row_stride]);
        }
    }

private:
    template <class Value>
    static Value to(T x) {
        if constexpr (std::is_floating_point_v<Value>) {
            return static_cast<Value>(x) + Value{0};
        } else {
            return x;
        }
    }
};

// Call visit(column, first row, number of rows, values) for every tile of the listed columns; the
// tiles of one column come in the order of the rows.
template <class T, class Visit>
void for_tiles(const Block<T>& block, const std::vector<i64>& columns, Visit&& visit) {
    double buffer[kTileRows];
    const i64 n_columns = static_cast<i64>(columns.size());
    for (i64 left = 0; left < n_columns; left += kTileColumns) {
        const i64 right = std::min(left + kTileColumns, n_columns);
        for (i64 top = 0; top < block.rows; top += kTileRows) {
            const i64 n = std::min(kTileRows, block.rows - top);
            count_work(n * (right - left));
            for (i64 c = left; c < right; ++c) {
                const i64 j = columns[static_cast<std::size_t>(c)];
                block.gather(top, n, j, buffer);
                visit(j, top, n, buffer);
            }
        }
    }
}

// first, first + 1, .. first + n - 1.
inline std::vector<i64> count_from(i64 first, i64 n) {
    std::vector<i64> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

// Call visit(position in `columns`, values of that column) for each listed column, a few columns
// gathered at a time so that a row-major block is not read once a column. The values are of the
// type that visit accepts: a pointer to doubles or to the type of the block.
template <class T, class Columns, class Visit>
void for_columns(const Block<T>& block, const Columns& columns, Visit&& visit) {
    using Value = std::conditional_t<std::is_invocable_v<Visit, i64, double*>, double, T>;
    const i64 n_columns = static_cast<i64>(columns.size());
    if (n_columns == 0) return;
    const i64 together = std::clamp<i64>(kScratchCells / std::max<i64>(1, block.rows), 1, 8);
    std::unique_ptr<Value[]> scratch(
        new Value[static_cast<std::size_t>(std::min(together, n_columns) * block.rows)]);
    for (i64 left = 0; left < n_columns; left += together) {
        const i64 right = std::min(left + together, n_columns);
        for (i64 top = 0; top < block.rows; top += kTileRows) {
            const i64 n = std::min(kTileRows, block.rows - top);
            for (i64 c = left; c < right; ++c) {
                block.gather(top, n, columns[static_cast<std::size_t>(c)],
                             scratch.get() + (c - left) * block.rows + top);
            }
        }
        for (i64 c = left; c < right; ++c) visit(c, scratch.get() + (c - left) * block.rows);
    }
}

}  // namespace hocmim::coding
