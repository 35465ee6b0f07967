// Sums that do not depend on the order of their terms.
#pragma once
#include <cmath>
#include <cstdint>

namespace hocmim {

// Sums of reals as 64-bit integers: exact and associative, so that blocks, threads and groupings of
// equal terms cannot change a bit of the result.
class FixedPoint {
public:
    // `largest` bounds the absolute value of every partial sum.
    explicit FixedPoint(double largest)
        : scale_(std::ldexp(1.0, 61 - std::ilogb(std::fmax(largest, 1.0)) - 1)) {}
    int64_t of(double value) const { return std::llrint(value * scale_); }
    double real(int64_t sum) const { return double(sum) / scale_; }
    double scale() const { return scale_; }

private:
    double scale_;
};

}  // namespace hocmim
