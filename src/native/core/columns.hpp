// Columns of codes as the kernels see them: a pointer, a width and an arity each.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace hocmim {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct Column {
    const void* data;
    bool wide;  // two bytes a cell instead of one
    int64_t arity;

    // Calls f with the codes under their own type, so that loops are compiled once for each width.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return wide ? f(static_cast<const uint16_t*>(data)) : f(static_cast<const uint8_t*>(data));
    }
};

// Any number of columns of one length. Keeps the arrays they lie in alive.
class Columns {
public:
    explicit Columns(int64_t n_samples) : n_samples_(n_samples) {
        if (n_samples < 1 || n_samples > int64_t(UINT32_MAX) - 1)
            throw std::invalid_argument("the kernels take 1 to 4294967294 samples");
    }

    Columns(Matrix<const uint8_t> narrow, Matrix<const uint16_t> wide, Vector<const int64_t> place,
            Vector<const int64_t> arity)
        : Columns(int64_t(narrow.shape(1))) {
        if (int64_t(wide.shape(1)) != n_samples_ || place.shape(0) != arity.shape(0))
            throw std::invalid_argument("the parts of Codes do not fit together");
        for (size_t j = 0; j < place.shape(0); ++j) {
            const int64_t at = place(j);
            const bool is_wide = at < 0;
            const int64_t row = is_wide ? ~at : at;
            if (row >= int64_t(is_wide ? wide.shape(0) : narrow.shape(0)))
                throw std::invalid_argument("a column lies outside its array");
            const void* data = is_wide ? static_cast<const void*>(wide.data() + row * n_samples_)
                                       : static_cast<const void*>(narrow.data() + row * n_samples_);
            columns_.push_back({data, is_wide, arity(j)});
        }
        narrow_.push_back(std::move(narrow));
        wide_.push_back(std::move(wide));
    }

    void append_narrow(Vector<const uint8_t> codes, int64_t arity) {
        append(codes.data(), codes.shape(0), false, arity);
        single_narrow_.push_back(std::move(codes));
    }

    void append_wide(Vector<const uint16_t> codes, int64_t arity) {
        append(codes.data(), codes.shape(0), true, arity);
        single_wide_.push_back(std::move(codes));
    }

    int64_t size() const { return int64_t(columns_.size()); }
    int64_t n_samples() const { return n_samples_; }
    const Column& operator[](int64_t j) const { return columns_[size_t(j)]; }

private:
    void append(const void* data, size_t length, bool wide, int64_t arity) {
        if (int64_t(length) != n_samples_)
            throw std::invalid_argument("a column has " + std::to_string(length) +
                                        " samples, expected " + std::to_string(n_samples_));
        columns_.push_back({data, wide, arity});
    }

    int64_t n_samples_;
    std::vector<Column> columns_;
    std::vector<Matrix<const uint8_t>> narrow_;
    std::vector<Matrix<const uint16_t>> wide_;
    std::vector<Vector<const uint8_t>> single_narrow_;
    std::vector<Vector<const uint16_t>> single_wide_;
};

}  // namespace hocmim
