// A condition W: several columns as one variable, and the terms of candidates given it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/arrays.hpp"
#include "core/columns.hpp"
#include "core/interrupt.hpp"
#include "counting/cell_lanes.hpp"
#include "counting/class_counts.hpp"
#include "counting/dense.hpp"
#include "counting/paths.hpp"
#include "estimators/evaluator.hpp"

namespace hocmim {

// Terms of candidates and one condition after another, each by the evaluator that suits its cells.
class ConditionedTerms {
public:
    // `setting` must outlive the terms.
    explicit ConditionedTerms(const Setting& setting)
        : setting_(setting), dense_(setting), evaluate_(make_evaluator(setting)) {}

    // Sets W: the cell of each sample. The caller keeps the array.
    void condition(const uint32_t* cell_of, int64_t n_cells) {
        cell_of_ = cell_of;
        n_cells_ = n_cells;
        is_dense_ready_ = is_formed_ = is_ready_ = false;
        lanes_.reset();
    }

    // R of up to CellLanes::kLanes columns, side by side.
    void redundancy(const LaneColumn* columns, size_t n_columns, double* out) {
        if (!lanes_) {
            form_cells();
            lanes_.emplace(setting_, partition_);
        }
        lanes_->redundancy(columns, n_columns, out);
    }

    // The terms of (X,W) and Y do without the class counts of X.
    static bool needs_counts(Term term) {
        return term == Term::information || term == Term::given_class || term == Term::redundancy;
    }

    // `row_count` are the class counts of the column, if they are known.
    double operator()(Term term, const Column& column, const int64_t* row_count = nullptr) {
        if (paths::choose(setting_, term, column, n_cells_) == Path::dense_table) {
            if (!is_dense_ready_) dense_.condition(cell_of_, n_cells_);
            is_dense_ready_ = true;
            return dense_(term, column);
        }
        if (!is_ready_) {
            form_cells();
            sums_.compute(partition_, setting_);
        }
        is_ready_ = true;
        if (!needs_counts(term)) {
            candidate_.assign_levels(column,
                                     setting_.estimator.needs_samples ? setting_.n_samples : 0);
        } else {
            if (!row_count) {
                row_count_.resize(n_rows_of(column, setting_.n_classes()));
                count_rows(column, setting_.cls, setting_.n_samples, setting_.n_classes(),
                           row_count_.data());
                row_count = row_count_.data();
            }
            candidate_.assign(column, setting_.n_classes(), row_count);
        }
        return (*evaluate_)(term, candidate_, partition_, sums_);
    }

private:
    void form_cells() {
        if (is_formed_) return;
        is_formed_ = true;
        Partition whole;
        whole.assign_whole(setting_.n_samples, setting_.cls, setting_.n_classes());
        Refiner()(whole, cell_of_, n_cells_, setting_.cls, partition_);
    }

    const Setting& setting_;
    const uint32_t* cell_of_ = nullptr;
    int64_t n_cells_ = 0;
    bool is_dense_ready_ = false, is_formed_ = false, is_ready_ = false;
    DenseEvaluator dense_;
    std::unique_ptr<Evaluator> evaluate_;
    Partition partition_;
    std::optional<CellLanes> lanes_;
    ConditionSums sums_;
    Candidate candidate_;
    std::vector<int64_t> row_count_;
};

// Writes terms of every column given W, or of the columns at the positions `which` only: row t of
// `out` is for terms[t].
inline void evaluate_terms(ClassCounts& class_counts, Vector<const uint32_t> w, int64_t n_cells,
                           const std::vector<Term>& terms, Estimator estimator, Matrix<double> out,
                           std::optional<Vector<const int64_t>> which) {
    const Columns& columns = class_counts.columns();
    const int64_t n_samples = columns.n_samples();
    const int64_t n_terms = which ? int64_t(which->size()) : columns.size();
    if (int64_t(w.size()) != n_samples || out.n_rows != terms.size() ||
        int64_t(out.n_columns) != n_terms)
        throw std::invalid_argument("the columns, w and out do not fit together");
    for (int64_t k = 0; which && k < n_terms; ++k)
        if ((*which)[k] < 0 || (*which)[k] >= columns.size())
            throw std::invalid_argument("there is no column at that position");
    check_below(w, n_cells);
    const Setting setting(estimator, class_counts.cls(), n_samples, class_counts.n_classes());
    ConditionedTerms evaluate(setting);
    evaluate.condition(w.data(), n_cells);
    std::vector<int64_t> scratch;
    std::vector<LaneColumn> lanes;  // waiting to be evaluated side by side
    std::vector<size_t> place;      // where their terms go
    double values[CellLanes::kLanes];
    for (size_t t = 0; t < terms.size(); ++t)
        for (int64_t k = 0; k < n_terms; ++k) {
            const int64_t j = which ? (*which)[k] : k;
            const bool is_counted = ConditionedTerms::needs_counts(terms[t]);
            const int64_t* row_count = is_counted ? class_counts.of(j, scratch) : nullptr;
            if (paths::choose(setting, terms[t], columns[j], n_cells) == Path::cell_lanes) {
                lanes.push_back({&columns[j], row_count});
                place.push_back(size_t(k));
            } else {
                out(t, k) = evaluate(terms[t], columns[j], row_count);
            }
            count_work(n_samples);
            if (lanes.size() < CellLanes::kLanes && (k + 1 < n_terms || lanes.empty())) continue;
            evaluate.redundancy(lanes.data(), lanes.size(), values);
            for (size_t lane = 0; lane < lanes.size(); ++lane) out(t, place[lane]) = values[lane];
            lanes.clear();
            place.clear();
        }
}

}  // namespace hocmim
