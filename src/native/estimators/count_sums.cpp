#include "estimators/count_sums.hpp"

#include <algorithm>

namespace hocmim {

double CountSums::term(Term term, const Setting& setting, const ConditionSums& condition) const {
    const auto real = [&](int64_t sum) {
        return setting.function->fixed().real(sum) / double(setting.n_samples);
    };
    const auto information = [&] {
        return real(pairs - levels - condition.cells_sum + setting.whole_sum);
    };
    const auto given_class = [&] {
        return real(rows - class_rows - condition.pairs_sum + setting.class_sum);
    };
    switch (term) {
        case Term::information:
            return std::max(0.0, information());
        case Term::given_class:
            return std::max(0.0, given_class());
        case Term::redundancy:
            return information() - given_class();
        case Term::conditional:
            return std::max(0.0, real(rows - pairs - condition.pairs_sum + condition.cells_sum));
        case Term::joint:
            return std::max(0.0, real(rows - pairs - setting.class_sum + setting.whole_sum));
        case Term::joint_entropy:
            return std::max(0.0, real(setting.whole_sum - rows));
    }
    return 0;
}

}  // namespace hocmim
