// What the headers of the kernels use of nanobind, without Python: the fuzzer calls the functions
// that Python calls, with arrays of its own.
#pragma once
#include <any>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nanobind {

template <std::size_t>
struct ndim {};
struct c_contig {};
struct numpy {};
namespace device {
struct cpu {};
}  // namespace device

struct gil_scoped_release {
    gil_scoped_release() {}
    ~gil_scoped_release() {}
};

struct value_error : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct capsule {
    std::shared_ptr<void> kept;
    capsule(void* p, void (*free)(void*) noexcept) : kept(p, free) {}
};

struct tuple {
    std::vector<std::any> items;
    template <class T>
    T at(std::size_t i) const {
        return std::any_cast<T>(items.at(i));
    }
};

template <class... Items>
tuple make_tuple(Items&&... items) {
    tuple made;
    (made.items.push_back(std::any(std::forward<Items>(items))), ...);
    return made;
}

template <class Scalar, class... Rest>
class ndarray {
public:
    using Value = typename std::conditional_t<std::is_same_v<Scalar, numpy>,
                                              std::tuple_element<0, std::tuple<Rest..., int>>,
                                              std::enable_if<true, Scalar>>::type;

    ndarray() = default;
    ndarray(Value* data, std::initializer_list<std::size_t> shape) : data_(data) {
        for (const std::size_t n : shape) shape_[n_dim_++] = n;
        stride_[n_dim_ - 1] = 1;
        if (n_dim_ == 2) stride_[0] = std::int64_t(shape_[1]);
    }
    ndarray(Value* data, std::initializer_list<std::size_t> shape, capsule owner)
        : ndarray(data, shape) {
        kept_ = owner.kept;
    }
    ndarray(Value* data, std::initializer_list<std::size_t> shape, std::int64_t row_stride,
            std::int64_t column_stride)
        : ndarray(data, shape) {
        stride_[0] = row_stride;
        stride_[1] = column_stride;
    }

    Value* data() const { return data_; }
    std::size_t shape(std::size_t i) const { return shape_[i]; }
    std::int64_t stride(std::size_t i) const { return stride_[i]; }
    std::size_t size() const { return n_dim_ == 2 ? shape_[0] * shape_[1] : shape_[0]; }
    template <class I>
    Value& operator()(I i) const {
        return data_[std::int64_t(i) * stride_[0]];
    }
    template <class I, class J>
    Value& operator()(I i, J j) const {
        return data_[std::int64_t(i) * stride_[0] + std::int64_t(j) * stride_[1]];
    }

private:
    Value* data_ = nullptr;
    std::size_t n_dim_ = 0, shape_[2] = {0, 0};
    std::int64_t stride_[2] = {1, 1};
    std::shared_ptr<void> kept_;
};

}  // namespace nanobind
