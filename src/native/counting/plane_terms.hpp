// Terms of candidates on bit planes and one condition of few cells after another.
#pragma once
#include <memory>
#include <vector>

#include "counting/bit_planes.hpp"
#include "estimators/count_sums.hpp"
#include "estimators/evaluator.hpp"
#include "estimators/shrinkage_table.hpp"

namespace hocmim {

// It keeps, from one condition to the next, the counts n_xy of the candidates, with which one cell
// of every W need not be counted, and scratch. So one PlaneTerms serves one thread.
class PlaneTerms {
public:
    // All arguments must outlive the terms. Not for estimators that need the samples. With
    // `keeps_rows` the n_xy of all candidates are counted first, which pays with many conditions.
    PlaneTerms(const BitPlanes& planes, const Columns& columns, const CellMasks& y,
               Estimator estimator, bool keeps_rows);
    PlaneTerms(const PlaneTerms&) = delete;

    void condition(const CellMasks& w);
    // The same; if the planes are in lanes, and the masks of W therefore small, they are kept under
    // this number.
    void condition(const CellMasks& w, size_t number);

    // Drops the condition, unless it is small.
    void forget();

    // The terms of every column, or of those at the positions `which` (each once): out[t * n_out +
    // k].
    void evaluate(const std::vector<Term>& terms, const int64_t* which, int64_t n_out, double* out);
    bool has(int64_t j) const { return planes_.has(j); }
    int64_t n_columns() const { return columns_.size(); }
    // A term of one column.
    double operator()(Term term, int64_t j);

private:
    static constexpr int64_t kLanes = BitPlanes::kLanes;

    // What all candidates share of W.
    struct Condition {
        CellMasks pairs;  // (w,y)
        int64_t n_cells = 0;
        std::vector<int64_t> pair_counts;  // n_wy
        ConditionSums sums;
    };

    void take(const Condition& condition);
    void form(const CellMasks& w, Condition& condition) const;
    void keep_rows();
    void check(int64_t j) const;
    void count_one(int64_t j);
    void count_group(const BitPlanes::Group& group, int64_t index);
    void sum_group(const BitPlanes::Group& group, int64_t index);
    void sum_marginals(const uint32_t* rows, int64_t arity, CountSums* sums);
    void take_lane(int64_t arity, int64_t lane);
    // Of eight columns at once: a term under the plug-in from its sums, a shrunken one from the
    // table.
    void evaluate_group(Term term, const BitPlanes::Group& group, double* values);
    void correct_conditional(int64_t arity, double* values);
    void shrink_against_class(Term term, int64_t arity, double* values);
    void shrink_against_condition(bool is_given_class, int64_t arity, double* values);
    void shrink(const double* column_squares, bool less_condition, double* values);
    double from_table(Term term, int64_t j) {
        return evaluate_->from_table(term, columns_[j], counts_.data(), now_->n_cells, now_->sums);
    }

    const BitPlanes& planes_;
    const Columns& columns_;
    const CellMasks& y_;
    const Setting setting_;
    std::unique_ptr<Evaluator> evaluate_;
    Condition newest_;
    std::vector<std::unique_ptr<Condition>> kept_;
    const Condition* now_ = nullptr;
    std::vector<int64_t> common_, counts_;  // of one column; counts_ by w, then x, then y
    std::vector<uint64_t> one_;             // the planes of one column
    // Of eight columns, the lanes last: what was counted, the table by w, y and x, and n_xw.
    std::vector<uint32_t> common_lanes_, table_, totals_;
    CountSums sums_[kLanes];
    ShrinkageTable<kLanes> shrinkage_;
    std::vector<double> row_counts_, sizes_;
    // Of every group, if they are kept: n_xy by y and x, and the sums that follow.
    std::vector<uint32_t> rows_;
    std::vector<int64_t> rows_at_;
    std::vector<CountSums> marginal_sums_;
};

}  // namespace hocmim
