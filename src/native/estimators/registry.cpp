#include "estimators/estimator.hpp"

namespace hocmim {

extern const EstimatorKind plugin, shrinkage, miller_madow, grassberger, jeffreys;

const std::vector<const EstimatorKind*>& estimators() {
    static const std::vector<const EstimatorKind*> list = {&plugin, &shrinkage, &miller_madow,
                                                           &grassberger, &jeffreys};
    return list;
}

}  // namespace hocmim
