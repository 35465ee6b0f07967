// The estimators: what the kernels have to know of one, and the list of them.
//
// To add an estimator: write its file, estimators/<name>.cpp, with an EstimatorKind, and add one
// line to estimators/registry.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace hocmim {

class Evaluator;
struct Setting;

// An estimator's number in the list.
enum class Estimator : int {};

struct EstimatorKind {
    const char* name;
    // f(c) of the sums Σ f(c) over the cells of a table, for c ≥ 1: c log c for most.
    double (*of_count)(int64_t count);
    std::unique_ptr<Evaluator> (*make)(const Setting& setting);
    // Every term is a sum of f(c): kernels that only look f up may compute it.
    bool is_plain_sum = false;
    // I(X;Y|Z) is a sum of f(c), apart from a correction: sets of columns may be counted cell by
    // cell.
    bool is_sum_of_counts = false;
    // The degrees of freedom over 2N are subtracted from that sum.
    bool is_corrected = false;
    // Terms come from a ShrinkageTable.
    bool is_shrunken = false;
    // Terms need the partition of the samples: a table of counts is not enough.
    bool needs_samples = false;
};

const std::vector<const EstimatorKind*>& estimators();
inline const EstimatorKind& kind_of(Estimator estimator) {
    return *estimators()[size_t(estimator)];
}

}  // namespace hocmim
