// Grassberger 2003: H = log N − (1/N) Σ c G(c).
#include "core/logarithm.hpp"
#include "estimators/entropy.hpp"

namespace hocmim {

namespace {

constexpr double kEuler = 0.57721566490153286061, kLog2 = 0.69314718055994530942;

// ψ(x) for x ≥ 30 by its asymptotic series.
double digamma_of_large(double x) {
    const double y = 1.0 / (x * x);
    return log_positive(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252)));
}

// G(1) = −γ − log 2, G(2n) = G(2n−2) + 2/(2n−1), G(2n+1) = G(2n).
double g_of_count(int64_t count) {
    if (count < 2) return -kEuler - kLog2;
    const int64_t half = count / 2;
    if (half >= 64) return digamma_of_large(double(half) + 0.5) + kLog2;
    double g = -kEuler - kLog2;
    for (int64_t k = 1; k <= half; ++k) g += 2.0 / double(2 * k - 1);
    return g;
}

}  // namespace

extern const EstimatorKind grassberger = {
    "grassberger", [](int64_t count) { return double(count) * g_of_count(count); },
    [](const Setting& setting) -> std::unique_ptr<Evaluator> {
        return std::make_unique<EntropyEvaluator>(setting);
    },
    /*is_plain_sum=*/false, /*is_sum_of_counts=*/true};

}  // namespace hocmim
