#include "estimators/evaluator.hpp"

namespace hocmim {

const Candidate& Evaluator::candidate_of(const Column& column, const int64_t* counts,
                                         int64_t n_cells) {
    const size_t n_rows = size_t(column.arity * setting_.n_classes());
    row_count_.assign(n_rows, 0);
    for (int64_t w = 0; w < n_cells; ++w)
        for (size_t row = 0; row < n_rows; ++row)
            row_count_[row] += counts[size_t(w) * n_rows + row];
    candidate_.assign(column, setting_.n_classes(), row_count_.data());
    return candidate_;
}

double Evaluator::from_table(Term term, const Column& column, const int64_t* counts,
                             int64_t n_cells, const ConditionSums& condition) {
    const Candidate& candidate = candidate_of(column, counts, n_cells);
    return evaluate(term, {candidate, no_partition_, condition, nullptr, nullptr, counts, n_cells});
}

}  // namespace hocmim
