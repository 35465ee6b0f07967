// Terms of candidates on bit planes and one condition of few cells after another.
#pragma once
#include <stdexcept>
#include <vector>

#include "bit_planes.hpp"
#include "estimate.hpp"

namespace hocmim {

class PlaneTerms {
public:
    // All arguments must outlive the terms. Not for Jeffreys, which needs the samples.
    PlaneTerms(const BitPlanes& planes, const Columns& columns, const CellMasks& y, Estimator estimator)
        : planes_(planes), columns_(columns), y_(y),
          setting_(estimator, columns.n_samples(), y.counts()), evaluate_(setting_) {
        if (y.n_samples() != columns.n_samples() || estimator == Estimator::jeffreys)
            throw std::invalid_argument("the planes and y do not fit together");
    }

    void condition(const CellMasks& w) {
        pairs_ = CellMasks(w, y_);
        n_cells_ = w.n_cells();
        pair_counts_ = pairs_.counts();
        sums_.compute(pair_counts_, setting_);
        common_.resize(size_t(pairs_.n_cells() * (BitPlanes::kMostLevels - 1)));
        counts_.resize(size_t(pairs_.n_cells() * BitPlanes::kMostLevels));
    }

    // Takes column j: counts n_xwy, by w, then x, then y.
    void count(int64_t j) {
        if (j < 0 || j >= columns_.size() || !planes_.has(j))
            throw std::invalid_argument("there are no planes at that position");
        j_ = j;
        const int64_t arity = columns_[j].arity, n_planes = arity - 1, n_classes = y_.n_cells();
        count_common(planes_.planes(j), n_planes, pairs_.masks(), pairs_.n_cells(), planes_.n_words(),
                     common_.data());
        for (int64_t pair = 0; pair < pairs_.n_cells(); ++pair) {
            int64_t* at = counts_.data() + (pair / n_classes * arity) * n_classes + pair % n_classes;
            int64_t rest = pair_counts_[size_t(pair)];  // level 0 has what the others leave
            for (int64_t p = 0; p < n_planes; ++p) {
                const int64_t count = common_[size_t(pair * n_planes + p)];
                at[(p + 1) * n_classes] = count;
                rest -= count;
            }
            at[0] = rest;
        }
    }

    // A term of the column counted last.
    double operator()(Term term) {
        return evaluate_.dense(term, columns_[j_], counts_.data(), n_cells_, sums_);
    }

private:
    const BitPlanes& planes_;
    const Columns& columns_;
    const CellMasks& y_;
    const Setting setting_;
    Evaluator evaluate_;
    CellMasks pairs_;
    int64_t n_cells_ = 0, j_ = 0;
    std::vector<int64_t> pair_counts_, common_, counts_;
    ConditionSums sums_;
};

}  // namespace hocmim
