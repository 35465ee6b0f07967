// Arrays as the kernels see them: memory of the caller, who keeps it while a kernel uses it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace hocmim {

template <class T>
struct Vector {
    T* first = nullptr;
    size_t n = 0;

    T* data() const { return first; }
    size_t size() const { return n; }
    T* begin() const { return first; }
    T* end() const { return first + n; }
    T& operator[](size_t i) const { return first[i]; }
};

// Row by row, without gaps.
template <class T>
struct Matrix {
    T* first = nullptr;
    size_t n_rows = 0, n_columns = 0;

    T* data() const { return first; }
    T* row(size_t i) const { return first + i * n_columns; }
    T& operator()(size_t i, size_t j) const { return first[i * n_columns + j]; }
};

// Cells or classes: numbers from 0 to limit - 1.
inline void check_below(Vector<const uint32_t> numbers, int64_t limit) {
    for (const uint32_t number : numbers)
        if (number >= uint64_t(limit))
            throw std::invalid_argument("a cell or a class is not below their number");
}

}  // namespace hocmim
