// Blocks of numeric columns, dense and sparse.
//
// A dense block is a two-dimensional array of any strides, seen as N rows by w columns. It is never
// copied: tiles of it are gathered, as doubles, into a buffer that stays in the first-level cache,
// so that row-major and column-major tables cost the same.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/arrays.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

constexpr int64_t kTileRows = 64;
constexpr int64_t kTileColumns = 32;
constexpr int64_t kScratchCells = int64_t(1) << 20;

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class T>
struct Block {
    const T* data = nullptr;
    int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;  // strides in numbers

    // Rows first..first+n-1 of column j. Adding 0.0 makes -0.0 and 0.0 one value.
    template <class Value>
    void gather(int64_t first, int64_t n, int64_t j, Value* out) const {
        const T* p = data + first * row_stride + j * column_stride;
        if (row_stride == 1)
            for (int64_t i = 0; i < n; ++i) out[i] = to<Value>(p[i]);
        else
            for (int64_t i = 0; i < n; ++i) out[i] = to<Value>(p[i * row_stride]);
    }

    void require_columns(Vector<const int64_t> listed) const {
        for (const int64_t j : listed)
            require(j >= 0 && j < columns, "columns must be columns of the block");
    }

private:
    template <class Value>
    static Value to(T x) {
        if constexpr (std::is_floating_point_v<Value>)
            return Value(x) + Value(0);
        else
            return x;
    }
};

// Columns of which only some values are stored, the others are zero. The stored values of column j
// are offsets[j]..offsets[j+1]-1.
struct SparseColumns {
    Vector<const double> values;
    Vector<const int64_t> rows, offsets;
    int64_t n_rows;

    int64_t n_columns() const { return int64_t(offsets.size()) - 1; }

    void check() const {
        const int64_t n_stored = int64_t(values.size());
        require(n_columns() >= 0 && offsets[0] == 0 && offsets[n_columns()] == n_stored &&
                    int64_t(rows.size()) == n_stored,
                "offsets must begin with 0 and end with the number of values");
        for (int64_t j = 0; j < n_columns(); ++j)
            require(offsets[j] <= offsets[j + 1] && offsets[j + 1] - offsets[j] <= n_rows,
                    "offsets must not decrease, and a column has at most one value per row");
        for (const int64_t i : rows)
            require(i >= 0 && i < n_rows, "rows must be rows of the table");
    }
};

// Call visit(column, first row, number of rows, values) for every tile of the listed columns; the
// tiles of one column come in the order of the rows.
template <class T, class Visit>
void for_tiles(const Block<T>& block, const std::vector<int64_t>& columns, Visit&& visit) {
    double buffer[kTileRows];
    const int64_t n_columns = int64_t(columns.size());
    for (int64_t left = 0; left < n_columns; left += kTileColumns) {
        const int64_t right = std::min(left + kTileColumns, n_columns);
        for (int64_t top = 0; top < block.rows; top += kTileRows) {
            const int64_t n = std::min(kTileRows, block.rows - top);
            count_work(n * (right - left));
            for (int64_t c = left; c < right; ++c) {
                block.gather(top, n, columns[c], buffer);
                visit(columns[c], top, n, buffer);
            }
        }
    }
}

// first, first + 1, .. first + n - 1.
inline std::vector<int64_t> count_from(int64_t first, int64_t n) {
    std::vector<int64_t> numbers((size_t(n)));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

// Call visit(position in `columns`, values of that column) for each listed column, a few columns
// gathered at a time so that a row-major block is not read once per column. The values are of the
// type that visit accepts: a pointer to doubles or to the type of the block.
template <class T, class Listed, class Visit>
void for_columns(const Block<T>& block, const Listed& columns, Visit&& visit) {
    using Value = std::conditional_t<std::is_invocable_v<Visit, int64_t, double*>, double, T>;
    const int64_t n_columns = int64_t(columns.size());
    if (n_columns == 0) return;
    const int64_t together =
        std::clamp<int64_t>(kScratchCells / std::max<int64_t>(1, block.rows), 1, 8);
    std::unique_ptr<Value[]> scratch(new Value[size_t(std::min(together, n_columns) * block.rows)]);
    for (int64_t left = 0; left < n_columns; left += together) {
        const int64_t right = std::min(left + together, n_columns);
        for (int64_t top = 0; top < block.rows; top += kTileRows) {
            const int64_t n = std::min(kTileRows, block.rows - top);
            for (int64_t c = left; c < right; ++c)
                block.gather(top, n, columns[c], scratch.get() + (c - left) * block.rows + top);
        }
        for (int64_t c = left; c < right; ++c) visit(c, scratch.get() + (c - left) * block.rows);
    }
}

}  // namespace hocmim
