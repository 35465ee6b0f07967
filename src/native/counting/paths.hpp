// The choice of an evaluation path, by size and arity. Every kernel asks here; all paths give the
// same bits, so a choice changes the time alone.
//
// clang-format off
// | path                 | chosen when                              | code                    | buys   |
// |----------------------|------------------------------------------|-------------------------|--------|
// | bit planes, in lanes | few levels, few cells, N ≤ 4096          | plane_terms.cpp         | 3.7    |
// | bit planes           | few levels, few cells, N > 4096          | plane_terms.cpp         | 3.8    |
// | dense table          | I(X;Y|W), I(X,W;Y); the table is about N | dense.cpp               | 1.1    |
// | table, tallied       | dense table, shrunken, 128 columns       | dense.cpp               | 2.3–3  |
// | cell lanes           | R of a shrunken table, up to 16 levels   | cell_lanes.cpp          | 2–2.7  |
// | partition            | everything else                          | estimators/evaluator    |        |
// | table of a split     | greedy paths: few cells, a table of ≈ N  | criteria/split_terms    | 1–1.15 |
// | split cells          | greedy paths: up to 16 rows and 8 levels | cell_counter.hpp        | 1–1.6  |
// | small cells tallied  | split cells, R of a shrunken table       | small_cells.hpp         | 1–1.6  |
// | ways to split        | split cells of 16 samples or fewer       | criteria/split_terms    | 1–1.14 |
// clang-format on
//
// `buys`: how much longer a whole fit takes without the path, where it is chosen (JMI and HOCMIM-R,
// JMI with 12 bins, JMI3 and JMI4 with shrinkage, HOCMIM with K = 10 and 30).
#pragma once
#include <cstdint>

#include "core/columns.hpp"
#include "estimators/setting.hpp"
#include "estimators/term.hpp"

namespace hocmim {

// How a term of one column is evaluated on samples.
enum class Path { dense_table, cell_lanes, partition };

namespace paths {

// --- bit planes ---

constexpr int64_t kMostPlaneLevels = 9;  // eight planes take one byte per sample, as the codes do
// Longer planes: a sum across lanes costs next to nothing.
constexpr int64_t kMostWordsInLanes = 64;
constexpr int64_t kMostMasks = 512;

inline bool has_planes(const Column& column) {
    return !column.wide && column.arity >= 1 && column.arity <= kMostPlaneLevels;
}

inline bool are_planes_in_lanes(int64_t n_words) { return n_words <= kMostWordsInLanes; }

// Whether popcounts with n_masks masks, one for each cell (w,y), cost less than counting samples.
bool pays_by_planes(const Column& column, int64_t n_masks);
// The same, for an estimator.
bool counts_on_planes(const EstimatorKind& estimator, const Column& column, int64_t n_masks);

// Whether the counts n_xy of a column, kept for all W, take less than an eighth of its codes.
inline bool keeps_class_counts(int64_t arity, int64_t n_classes, int64_t n_samples) {
    return 8 * 4 * arity * n_classes <= n_samples;
}

// --- samples ---

Path choose(const Setting& setting, Term term, const Column& column, int64_t n_cells);

// Whether the rows (levels with classes) of a cell are sorted, instead of counted in a table of all
// rows: that table would be many times larger than the sample.
inline bool sorts_rows(int64_t n_rows, int64_t n_samples) {
    return n_rows > 1 << 20 && n_rows > 16 * n_samples;
}

// Whether the columns of a dense table are tallied by size and count. With fewer columns, or more
// classes, reading the tally costs more than it saves.
constexpr size_t kMostTallyClasses = 16;
inline bool tallies_table_columns(size_t n_columns, size_t n_classes) {
    return n_columns >= 128 && n_classes <= kMostTallyClasses;
}

// --- greedy paths ---

// Whether the cells of a partition are split on the fly, without forming the finer partition.
bool splits_cells(const EstimatorKind& estimator, int64_t n_rows, int64_t n_levels);

// Whether the cells of a split are counted in a table, which suits few large cells. Rows are
// numbered in a byte.
inline bool counts_split_in_table(const Setting& setting, int64_t n_rows, int64_t n_cells) {
    return !setting.estimator.needs_samples && n_rows <= 256 &&
           4 * n_cells * n_rows <= setting.n_samples;
}

// Whether small cells are tallied: among few samples hardly two cells are alike.
inline bool tallies_small_cells(size_t n_samples) { return n_samples >= 64; }

// The most samples of a cell that is tallied: with many samples in all, larger cells are alike too.
inline int64_t most_tallied_samples(int64_t n_samples) {
    return n_samples < 1 << 14 ? 8 : n_samples < 1 << 17 ? 16 : 28;
}

}  // namespace paths

}  // namespace hocmim
