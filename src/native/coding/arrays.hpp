// NumPy arrays as encoding sees them.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "coding/block.hpp"

namespace hocmim::coding {

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// An array of indices, read like a vector.
struct Indices {
    explicit Indices(const Array1<i64>& array) : first(array.data()), n(array.size()) {}
    const i64* first;
    std::size_t n;
    std::size_t size() const { return n; }
    i64 operator[](std::size_t i) const { return first[i]; }
};

template <class T>
Result<T> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Result<T>(kept->data(), {kept->size()}, owner);
}

template <class T>
void require_columns(const Block<T>& block, const Array1<i64>& columns) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
        require(columns(c) >= 0 && columns(c) < block.columns,
                "columns must be columns of the block");
    }
}

}  // namespace hocmim::coding
