#include "counting/paths.hpp"

#include "counting/cell_counter.hpp"
#include "counting/popcount.hpp"

namespace hocmim::paths {

namespace {

// I(X;Y|W) and I(X,W;Y) from one table that is about as small as the sample.
bool uses_dense_table(const Setting& setting, Term term, const Column& column, int64_t n_cells) {
    const bool has_term = term == Term::conditional || term == Term::joint;
    const bool has_estimator = setting.estimator.is_plain_sum || setting.estimator.is_shrunken;
    const int64_t most = 4 * setting.n_samples, n_rows = column.arity * setting.n_classes();
    return has_term && has_estimator && n_cells <= most && n_rows <= most &&
           n_cells * n_rows <= most;
}

// R of many candidates side by side.
bool uses_cell_lanes(const Setting& setting, Term term, const Column& column) {
    return setting.estimator.is_shrunken && term == Term::redundancy && !column.wide &&
           column.arity <= 16 && column.arity * setting.n_classes() <= 256;
}

}  // namespace

bool pays_by_planes(const Column& column, int64_t n_masks) {
    return has_planes(column) && n_masks <= kMostMasks &&
           (column.arity - 1) * n_masks <= most_popcounts();
}

bool counts_on_planes(const EstimatorKind& estimator, const Column& column, int64_t n_masks) {
    return !estimator.needs_samples && pays_by_planes(column, n_masks);
}

Path choose(const Setting& setting, Term term, const Column& column, int64_t n_cells) {
    if (uses_cell_lanes(setting, term, column)) return Path::cell_lanes;
    return uses_dense_table(setting, term, column, n_cells) ? Path::dense_table : Path::partition;
}

bool splits_cells(const EstimatorKind& estimator, int64_t n_rows, int64_t n_levels) {
    return !estimator.needs_samples && n_rows <= SplitCounter::kRows &&
           n_levels <= SplitCounter::kLevels;
}

}  // namespace hocmim::paths
