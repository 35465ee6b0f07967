// I(X;Y|W) and I(X,W;Y) from one dense table of counts, where it is about as small as the sample.
//
// Many candidates share a condition of few cells: its cells and classes are coded once, and each
// candidate takes one pass over the samples and one over the table. The sums are those of
// Evaluator, bit for bit: integers, and terms in fixed point.
#pragma once
#include <cstdint>
#include <vector>

#include "core/columns.hpp"
#include "estimators/setting.hpp"
#include "estimators/shrinkage_table.hpp"
#include "estimators/term.hpp"

namespace hocmim {

class DenseEvaluator {
public:
    // `setting` must outlive the evaluator.
    explicit DenseEvaluator(const Setting& setting) : setting_(setting) {}

    // Sets W: the cell of each sample.
    void condition(const uint32_t* cell_of, int64_t n_cells);

    double operator()(Term term, const Column& column);

private:
    void count(const Column& column);
    double plain_sum(Term term);
    double shrunken(Term term);
    size_t most_kinds() const { return table_.size() + 2 * tally_.size(); }
    int64_t add_columns(size_t n_columns, ShrinkageTable<1>& table);
    void add_tallied(ShrinkageTable<1>& table);

    const Setting& setting_;
    size_t n_cells_ = 0;
    std::vector<uint32_t> pair_of_;          // w * n_classes + y of each sample
    int64_t cells_sum_ = 0, pairs_sum_ = 0;  // Σ f(n_w), Σ f(n_wy)
    ShrinkageTable<1> pairs_;                // rows y, columns w
    std::vector<uint32_t> table_;            // n_xwy over (x * n_cells + w) * n_classes + y
    size_t n_columns_ = 0;                   // pairs (x,w) in it
    ShrinkageTable<1> by_class_;             // rows y, columns (x,w)
    std::vector<uint32_t> tally_;            // columns of few samples, by class, size and count
};

}  // namespace hocmim
