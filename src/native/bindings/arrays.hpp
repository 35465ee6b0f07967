// NumPy arrays as arguments and results of kernels.
#pragma once
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "coding/block.hpp"
#include "core/arrays.hpp"

namespace hocmim {

template <class T>
using NumpyVector =
    nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using NumpyMatrix =
    nanobind::ndarray<T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using NumpyBlock = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::device::cpu>;
template <class T>
using NumpyResult = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

template <class T>
Vector<T> view(const NumpyVector<T>& array) {
    return {array.data(), array.shape(0)};
}
template <class T>
Matrix<T> view(const NumpyMatrix<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}
template <class T>
Block<T> view(const NumpyBlock<T>& array) {
    return {array.data(), int64_t(array.shape(0)), int64_t(array.shape(1)), array.stride(0),
            array.stride(1)};
}

// Without a copy: the array owns the vector.
template <class T>
NumpyResult<T> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumpyResult<T>(kept->data(), {kept->size()}, owner);
}

// The result of a function that runs without the lock of the interpreter.
template <class Function>
auto without_gil(Function&& function) {
    nanobind::gil_scoped_release release;
    return function();
}

}  // namespace hocmim

// A kernel that takes a Vector, Matrix or Block can be bound as it is. The array of an argument
// lives as long as the call; an object that keeps it longer needs keep_alive. Always noconvert():
// a converted copy would be lost.
namespace nanobind::detail {

template <class View, class Array>
struct view_caster {
    NB_TYPE_CASTER(View, make_caster<Array>::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        if (!array_.from_python(source, flags, cleanup)) return false;
        value = hocmim::view(array_.value);
        return true;
    }

private:
    make_caster<Array> array_;
};

template <class T>
struct type_caster<hocmim::Vector<T>> : view_caster<hocmim::Vector<T>, hocmim::NumpyVector<T>> {};
template <class T>
struct type_caster<hocmim::Matrix<T>> : view_caster<hocmim::Matrix<T>, hocmim::NumpyMatrix<T>> {};
template <class T>
struct type_caster<hocmim::Block<T>> : view_caster<hocmim::Block<T>, hocmim::NumpyBlock<T>> {};

}  // namespace nanobind::detail
