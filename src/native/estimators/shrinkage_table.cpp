#include "estimators/shrinkage_table.hpp"

namespace hocmim {

double shrinkage_intensity(double n, double squares, double cross, double row_squares,
                           double columns) {
    if (row_squares == n * n || columns == n * n) return 1.0;
    const double p2 = squares / (n * n), p_sum = (row_squares + columns) / (n * n);
    const double p_ind = cross / (n * n * n),
                 all_ind2 = (row_squares / (n * n)) * (columns / (n * n));
    const double var = (1 - p2) / n;
    const double cov = ((n - 1) * (p_sum - 2 * p_ind) + 1 - p2) / (n * n);
    const double ml2 = ((n - 1) * p2 + 1) / n;
    const double mlind = ((n * n - 3 * n + 2) * p_ind + (n - 1) * (p_sum + p2) + 1) / (n * n);
    const double ind2 =
        ((n - 1) * (n - 2) * (n - 3) * all_ind2 + (n - 1) * (n - 2) * (p_sum + 4 * p_ind) +
         (n - 1) * (2 * p_sum + 2 * p2 + 1) + 1) /
        (n * n * n);
    const double distance = ml2 + ind2 - 2 * mlind;
    if (!(distance > 0)) return 1.0;
    return std::min(1.0, std::max(0.0, (var - cov) / distance));
}

}  // namespace hocmim
