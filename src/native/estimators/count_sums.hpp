// Terms that are plain sums of a function f of the counts.
#pragma once
#include <cstdint>

#include "estimators/condition_sums.hpp"
#include "estimators/term.hpp"

namespace hocmim {

// Sums over the cells of a candidate's table, from which every term of an
// estimator that is a plain sum follows.
struct CountSums {
    int64_t rows = 0, pairs = 0;         // Σ f of n_xwy, n_xw
    int64_t class_rows = 0, levels = 0;  // Σ f of n_xy, n_x
    double term(Term term, const Setting& setting, const ConditionSums& condition) const;
};

}  // namespace hocmim
