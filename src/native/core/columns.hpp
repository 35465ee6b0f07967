// Columns of codes as the kernels see them: a pointer, a width and an arity each.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace hocmim {

struct Column {
    const void* data;
    bool wide;  // two bytes per sample instead of one
    int64_t arity;

    // Calls f with the codes under their own type, so that loops are compiled once for each width.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return wide ? f(static_cast<const uint16_t*>(data)) : f(static_cast<const uint8_t*>(data));
    }
};

// Any number of columns of one length, in arrays of the caller.
class Columns {
public:
    explicit Columns(int64_t n_samples) : n_samples_(n_samples) {
        if (n_samples < 1 || n_samples > int64_t(UINT32_MAX) - 1)
            throw std::invalid_argument("the kernels take 1 to 4294967294 samples");
    }

    void append(const void* codes, size_t length, bool wide, int64_t arity) {
        if (int64_t(length) != n_samples_)
            throw std::invalid_argument("a column has " + std::to_string(length) +
                                        " samples, expected " + std::to_string(n_samples_));
        columns_.push_back({codes, wide, arity});
    }

    int64_t size() const { return int64_t(columns_.size()); }
    int64_t n_samples() const { return n_samples_; }
    const Column& operator[](int64_t j) const { return columns_[size_t(j)]; }

private:
    int64_t n_samples_;
    std::vector<Column> columns_;
};

}  // namespace hocmim
