// Miller and Madow: the plug-in less its bias of first order, the degrees of freedom over 2N.
#include "estimators/entropy.hpp"

namespace hocmim {

namespace {

class MillerMadowEvaluator : public EntropyEvaluator {
public:
    using EntropyEvaluator::EntropyEvaluator;

protected:
    double corrected(double value, int64_t freedom) const override {
        return value - double(freedom) / (2 * double(setting_.n_samples));
    }
};

}  // namespace

extern const EstimatorKind miller_madow = {
    "miller_madow",
    n_log_n_of_count,
    [](const Setting& setting) -> std::unique_ptr<Evaluator> {
        return std::make_unique<MillerMadowEvaluator>(setting);
    },
    /*is_plain_sum=*/false,
    /*is_sum_of_counts=*/true,
    /*is_corrected=*/true};

}  // namespace hocmim
