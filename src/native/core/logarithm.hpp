// A natural logarithm that compilers vectorise, the same to the last bit on every instruction set.
#pragma once
#include <cstdint>
#include <cstring>

#include "core/dispatch.hpp"

namespace hocmim {

// log(x) for normal x > 0, error below one unit in the last place: x = 2^k m with m between
// sqrt(1/2) and sqrt(2), f = m - 1, s = f/(2 + f), log m by its minimax polynomial in s².
HOCMIM_INLINE double log_positive(double x) {
    constexpr uint64_t one = 0x3ff0000000000000u, root_half = 0x3fe6a09e667f3bcdu;
    uint64_t bits;
    std::memcpy(&bits, &x, 8);
    bits += one - root_half;
    const uint64_t k_bits = (bits >> 52) | 0x4330000000000000u;
    const uint64_t m_bits = (bits & 0x000fffffffffffffu) + root_half;
    double k, m;
    std::memcpy(&k, &k_bits, 8);
    std::memcpy(&m, &m_bits, 8);
    k -= 4503599627370496.0 + 1023.0;
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
    const double r =
        z * (6.666666666666735130e-01 +
             z * (3.999999999940941908e-01 +
                  z * (2.857142874366239149e-01 +
                       z * (2.222219843214978396e-01 +
                            z * (1.818357216161805012e-01 +
                                 z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    return k * 6.93147180369123816490e-01 -
           ((half_square - (s * (half_square + r) + k * 1.90821492927058770002e-10)) - f);
}

}  // namespace hocmim
