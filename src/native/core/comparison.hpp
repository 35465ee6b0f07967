// The comparison of values: two values are equal if they agree after rounding to 12 decimals.
#pragma once
#include <cmath>

namespace hocmim {

inline double comparison_key(double value) { return std::nearbyint(value * 1e12); }

}  // namespace hocmim
