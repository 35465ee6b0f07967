// NumPy arrays as the kernels see them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace hocmim {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

}  // namespace hocmim
