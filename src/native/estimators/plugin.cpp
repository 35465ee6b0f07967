// The plug-in estimator: H = log N − (1/N) Σ c log c.
#include "estimators/count_sums.hpp"
#include "estimators/entropy.hpp"

namespace hocmim {

namespace {

class PluginEvaluator : public EntropyEvaluator {
public:
    using EntropyEvaluator::EntropyEvaluator;

    // By look-up alone.
    double from_table(Term term, const Column& column, const int64_t* counts, int64_t n_cells,
                      const ConditionSums& condition) override {
        const CountFunction& f = *setting_.function;
        const int64_t n_levels = column.arity, n_classes = setting_.n_classes();
        const int64_t n_rows = n_levels * n_classes;
        CountSums sums;
        for (int64_t level = 0; level < n_levels; ++level) {
            int64_t of_level = 0;
            for (int64_t w = 0; w < n_cells; ++w) {
                const int64_t* here = counts + w * n_rows + level * n_classes;
                int64_t pair = 0;
                for (int64_t cls = 0; cls < n_classes; ++cls) {
                    sums.rows += f(here[cls]);
                    pair += here[cls];
                }
                sums.pairs += f(pair);
                of_level += pair;
            }
            sums.levels += f(of_level);
            for (int64_t cls = 0; cls < n_classes; ++cls) {
                int64_t of_row = 0;
                for (int64_t w = 0; w < n_cells; ++w)
                    of_row += counts[w * n_rows + level * n_classes + cls];
                sums.class_rows += f(of_row);
            }
        }
        return sums.term(term, setting_, condition);
    }

protected:
    double evaluate(Term term, const Cells& cells) override {
        return at_least_zero(term, EntropyEvaluator::evaluate(term, cells));
    }
};

}  // namespace

extern const EstimatorKind plugin = {"plugin", n_log_n_of_count,
                                     [](const Setting& setting) -> std::unique_ptr<Evaluator> {
                                         return std::make_unique<PluginEvaluator>(setting);
                                     },
                                     /*is_plain_sum=*/true, /*is_sum_of_counts=*/true};

}  // namespace hocmim
