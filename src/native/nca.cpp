// NCA for feature selection: the objective and its gradient for a block of rows, in O(N) memory a thread.
#include <nanobind/ndarray.h>

#include <cmath>
#include <limits>
#include <vector>

#include "manhattan.hpp"
#include "module.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocmim {
namespace {

// exp(-40) = 4e-18: a neighbour that much farther than the nearest adds nothing to a sum of doubles.
constexpr double kNegligible = 40.0;

struct Samples {
  const double* values;  // N x n_columns, already multiplied by the weights
  const std::int32_t* y;
  std::size_t n_rows, n_columns;

  const double* row(std::size_t i) const { return values + i * n_columns; }
};

// distance[j..j+3] from row i; infinite where too far from `nearest` to matter, and for i itself.
HOCMIM_INLINE void distances_to_group(const Samples& s, std::size_t i, std::size_t j,
                                      double& nearest, double* distance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double* rows[kGroup];
  double limit[kGroup], found[kGroup];
  for (std::size_t g = 0; g < kGroup; ++g) {
    rows[g] = s.row(j + g < s.n_rows ? j + g : s.n_rows - 1);
    limit[g] = nearest + kNegligible;
  }
  const bool finished = distances_to_four(s.row(i), rows, s.n_columns, limit, found);
  for (std::size_t row = j; row < j + kGroup && row < s.n_rows; ++row) {
    distance[row] = finished && row != i ? found[row - j] : infinity;
    if (distance[row] < nearest) nearest = distance[row];
  }
}

// Turns distances into p_ij; returns p_i, the probability of a neighbour of the same class.
HOCMIM_INLINE double neighbour_probabilities(const Samples& s, std::size_t i, double nearest,
                                             double* p) {
  double all = 0.0, same = 0.0;
  for (std::size_t j = 0; j < s.n_rows; ++j) {
    const double excess = p[j] - nearest;
    p[j] = excess < kNegligible ? std::exp(-excess) : 0.0;
    all += p[j];
    if (s.y[j] == s.y[i]) same += p[j];
  }
  for (std::size_t j = 0; j < s.n_rows; ++j) p[j] /= all;
  return same / all;
}

// gradient[r] += sum over rows j..j+3 of p_ij (p_i - [y_i = y_j]) |x_ir - x_jr|
HOCMIM_INLINE void add_gradient(const Samples& s, std::size_t i, std::size_t j, const double* p,
                                double p_same, double* gradient) {
  const double* rows[kGroup];
  double weight[kGroup];
  bool any = false;
  for (std::size_t g = 0; g < kGroup; ++g) {
    const bool inside = j + g < s.n_rows;
    rows[g] = s.row(inside ? j + g : i);
    weight[g] = inside ? p[j + g] * (p_same - (s.y[j + g] == s.y[i] ? 1.0 : 0.0)) : 0.0;
    any |= weight[g] != 0.0;
  }
  if (any) add_weighted_differences(s.row(i), rows, weight, s.n_columns, gradient);
}

// p holds kTile x N numbers.
HOCMIM_INLINE double block(const Samples& s, std::size_t start, std::size_t stop, double* p,
                           double* gradient) {
  double sum = 0.0;
  for (std::size_t first = start; first < stop; first += kTile) {
    const std::size_t n = stop - first < kTile ? stop - first : kTile;
    double nearest[kTile], p_same[kTile];
    for (double& distance : nearest) distance = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < s.n_rows; j += kGroup)
      for (std::size_t i = 0; i < n; ++i)
        distances_to_group(s, first + i, j, nearest[i], p + i * s.n_rows);
    for (std::size_t i = 0; i < n; ++i) {
      p_same[i] = neighbour_probabilities(s, first + i, nearest[i], p + i * s.n_rows);
      sum += p_same[i];
    }
    for (std::size_t j = 0; j < s.n_rows; j += kGroup)
      for (std::size_t i = 0; i < n; ++i)
        add_gradient(s, first + i, j, p + i * s.n_rows, p_same[i], gradient);
  }
  return sum;
}

HOCMIM_AVX2 double block_avx2(const Samples& s, std::size_t start, std::size_t stop, double* p,
                              double* gradient) {
  return block(s, start, stop, p, gradient);
}

double block_portable(const Samples& s, std::size_t start, std::size_t stop, double* p,
                      double* gradient) {
  return block(s, start, stop, p, gradient);
}

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

double nca_block(Values values, Labels y, std::size_t start, std::size_t stop, Sums gradient) {
  const Samples s{values.data(), y.data(), values.shape(0), values.shape(1)};
  if (y.shape(0) != s.n_rows || stop > s.n_rows || start > stop || s.n_rows < 2 ||
      gradient.shape(0) != s.n_columns)
    throw nb::value_error("nca_block: the arrays do not fit together");
  nb::gil_scoped_release release;
  std::vector<double> p(kTile * s.n_rows);
  auto run = HOCMIM_HAS_AVX2() ? block_avx2 : block_portable;
  return run(s, start, stop, p.data(), gradient.data());
}

}  // namespace
}  // namespace hocmim

void bind_nca(nb::module_& m) {
  m.def("nca_block", &hocmim::nca_block, "values"_a.noconvert(), "y"_a.noconvert(), "start"_a,
        "stop"_a, "gradient"_a.noconvert(),
        "Sum of p_i over rows start..stop-1; adds sum_ij p_ij (p_i - [same class]) |x_i - x_j|.");
}
