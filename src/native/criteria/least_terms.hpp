// Terms of candidates given every subset of the selected columns, computed only where they are
// needed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/comparison.hpp"
#include "core/interrupt.hpp"
#include "counting/conditioned_terms.hpp"
#include "counting/join.hpp"
#include "counting/plane_terms.hpp"

namespace hocmim {

inline int64_t choose(int64_t n, int64_t k) {
    int64_t result = 1;
    for (int64_t i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
    return n < k ? 0 : result;
}

// The subsets of one size, by number, each as one variable.
//
// Number 0 is the first `size` columns; a column that joins the list adds the subsets that hold it
// after all others: subset {c_1 < c_2 < …} has number Σ_k C(c_k, k).
class Subsets {
public:
    Subsets(const Columns& columns, int64_t size) : columns_(columns), size_(size) {}

    int64_t count() const { return choose(columns_.size(), size_); }

    const std::vector<uint32_t>& cells_of(int64_t number) {
        std::vector<int64_t> members;  // the largest first: neighbours share these
        int64_t below = columns_.size();
        for (int64_t k = size_; k > 0; --k) {
            do --below;
            while (choose(below, k) > number);
            number -= choose(below, k);
            members.push_back(below);
        }
        size_t n_shared = 0;
        while (n_shared < members_.size() && members_[n_shared] == members[n_shared]) ++n_shared;
        members_ = std::move(members);
        cells_.resize(size_t(size_));
        n_cells_.resize(size_t(size_));
        for (size_t k = n_shared; k < size_t(size_); ++k) join_member(k);
        return cells_.back();
    }
    int64_t n_cells() const { return int64_t(n_cells_.back()); }

private:
    void join_member(size_t k) {
        if (k == 0)
            cells_[0].assign(size_t(columns_.n_samples()), 0);
        else
            cells_[k] = cells_[k - 1];
        const Column& column = columns_[members_[k]];
        n_cells_[k] = column.visit([&](const auto* level_of) {
            return join_one(cells_[k], k == 0 ? 1 : n_cells_[k - 1], level_of,
                            uint64_t(column.arity));
        });
    }

    const Columns& columns_;
    const int64_t size_;
    std::vector<int64_t> members_;
    std::vector<std::vector<uint32_t>> cells_;  // of the first 1, 2, … members
    std::vector<uint64_t> n_cells_;
};

// The least of a term over all subsets of the selected columns, for each candidate.
//
// The least term over some subsets bounds the least over all. Each candidate has the number of
// subsets it has been evaluated with (n_tried) and the least term of these (least); both arrays are
// the caller's.
class LeastTerms {
public:
    LeastTerms(const Columns& columns, const Columns& selected, int64_t size,
               Vector<const uint32_t> y, int64_t n_classes, Term term, Estimator estimator)
        : columns_(columns),
          y_(y),
          term_(term),
          subsets_(selected, size),
          setting_(estimator, checked_classes(columns, selected, size), columns.n_samples(),
                   n_classes),
          terms_(setting_) {}

    LeastTerms(const LeastTerms&) = delete;

    // Subsets of one column may be counted on bit planes. The masks of the selected columns are
    // appended in the order of selection; null for a column of too many levels.
    void use_planes(PlaneTerms& by_planes) { by_planes_ = &by_planes; }
    void append_masks(const CellMasks* masks) { masks_.push_back(masks); }

    // Starts again with the bounds in `least`.
    void restart(Vector<const double> least) {
        if (int64_t(least.size()) != columns_.size())
            throw std::invalid_argument("the columns and least do not fit together");
        bounds_.clear();
        closed_.clear();
        for (int64_t j = 0; j < columns_.size(); ++j)
            bounds_.push_back({comparison_key(least[j]), j});
        std::make_heap(bounds_.begin(), bounds_.end());
    }

    // Evaluates candidates with the subsets not tried yet, each until its key is below `threshold`.
    // Returns the number of terms computed, about `most_terms` at most; 0 if none was needed.
    int64_t evaluate(Vector<const int64_t> which, Vector<int64_t> n_tried, Vector<double> least,
                     double threshold, int64_t most_terms) {
        check(n_tried, least);
        for (size_t k = 0; k < which.size(); ++k)
            if (which[k] < 0 || which[k] >= columns_.size())
                throw std::invalid_argument("there is no column at that position");
        const std::vector<int64_t> candidates(which.data(), which.data() + which.size());
        return evaluate(candidates, n_tried.data(), least.data(), threshold, most_terms);
    }

    // The open candidate of largest score, among equals the first, and how many terms that took. It
    // is kNone if no score reaches `threshold`, kUnfinished if more than about `most_terms` are
    // needed. `chunk` candidates are evaluated with a subset at a time.
    std::pair<int64_t, int64_t> best(Vector<const bool> open, Vector<int64_t> n_tried,
                                     Vector<double> least, double threshold, int64_t chunk,
                                     int64_t most_terms) {
        check(n_tried, least);
        if (int64_t(open.size()) != columns_.size() || chunk < 1)
            throw std::invalid_argument("the columns and open do not fit together");
        const int64_t n_subsets = subsets_.count();
        std::vector<int64_t> leading;
        int64_t n_terms = 0;
        push_reopened(open.data(), least.data());
        while (n_terms < most_terms) {
            leading.clear();
            drop_closed(open.data(), least.data());
            if (bounds_.empty() || bounds_.front().key < threshold) return {kNone, n_terms};
            if (n_tried[bounds_.front().position] == n_subsets)
                return {bounds_.front().position, n_terms};
            while (!bounds_.empty() && int64_t(leading.size()) < chunk &&
                   bounds_.front().key >= threshold &&
                   n_tried[bounds_.front().position] < n_subsets) {
                leading.push_back(bounds_.front().position);
                pop();
                drop_closed(open.data(), least.data());
            }
            const double enough =
                bounds_.empty() ? threshold : std::max(threshold, bounds_.front().key);
            // A call that is cut short starts again with the bounds it has reached.
            n_terms +=
                evaluate(leading, n_tried.data(), least.data(), enough, most_terms - n_terms);
            for (const int64_t j : leading) push(comparison_key(least[j]), j);
        }
        return {kUnfinished, n_terms};
    }

    static constexpr int64_t kNone = -1, kUnfinished = -2;

private:
    struct Bound {
        double key;
        int64_t position;
        bool operator<(const Bound& other) const {
            return key < other.key || (key == other.key && position > other.position);
        }
    };

    void pop() {
        std::pop_heap(bounds_.begin(), bounds_.end());
        bounds_.pop_back();
    }
    void push(double key, int64_t position) {
        bounds_.push_back({key, position});
        std::push_heap(bounds_.begin(), bounds_.end());
    }
    // Until the first candidate is open and its bound is up to date.
    void drop_closed(const bool* open, const double* least) {
        while (!bounds_.empty()) {
            const Bound first = bounds_.front();
            const double key = comparison_key(least[first.position]);
            if (open[first.position] && key == first.key) return;
            pop();
            if (open[first.position])
                push(key, first.position);
            else
                closed_.push_back(first.position);
        }
    }
    // Candidates that were closed and are open again.
    void push_reopened(const bool* open, const double* least) {
        size_t n_closed = 0;
        for (const int64_t j : closed_)
            if (open[j])
                push(comparison_key(least[j]), j);
            else
                closed_[n_closed++] = j;
        closed_.resize(n_closed);
    }

    void check(const Vector<int64_t>& n_tried, const Vector<double>& least) const {
        if (int64_t(n_tried.size()) != columns_.size() || int64_t(least.size()) != columns_.size())
            throw std::invalid_argument("the columns, n_tried and least do not fit together");
    }

    // The classes, after a look at what they have to fit to.
    const uint32_t* checked_classes(const Columns& columns, const Columns& selected,
                                    int64_t size) const {
        if (int64_t(y_.size()) != columns.n_samples() ||
            selected.n_samples() != columns.n_samples() || size < 1)
            throw std::invalid_argument("the columns, y and the selected do not fit together");
        return y_.data();
    }

    int64_t evaluate(std::vector<int64_t> going, int64_t* n_tried, double* least, double threshold,
                     int64_t most_terms) {
        const int64_t n_subsets = subsets_.count();
        int64_t n_terms = 0;
        const auto drop_finished = [&] {
            size_t n_going = 0;
            for (const int64_t j : going)
                if (n_tried[j] < n_subsets && comparison_key(least[j]) >= threshold)
                    going[n_going++] = j;
            going.resize(n_going);
        };
        for (drop_finished(); !going.empty() && n_terms < most_terms; drop_finished()) {
            int64_t number = n_subsets;
            for (const int64_t j : going) number = std::min(number, n_tried[j]);
            for (const int64_t j : going) {
                if (n_tried[j] != number) continue;
                least[j] = std::min(least[j], term(number, j));
                ++n_tried[j];
                ++n_terms;
                count_work(setting_.n_samples);
            }
        }
        return n_terms;
    }

    double term(int64_t number, int64_t j) {
        if (by_planes_ && counts_on_planes(number, j)) {
            if (number != at_planes_)
                by_planes_->condition(*masks_[size_t(number)], size_t(number));
            at_planes_ = number;
            return (*by_planes_)(term_, j);
        }
        if (number != at_samples_) {
            const uint32_t* cell_of = subsets_.cells_of(number).data();
            terms_.condition(cell_of, subsets_.n_cells());
            at_samples_ = number;
        }
        return terms_(term_, columns_[j]);
    }

    bool counts_on_planes(int64_t number, int64_t j) const {
        const CellMasks* masks = masks_.at(size_t(number));
        if (!masks) return false;
        const int64_t n_masks = masks->n_cells() * setting_.n_classes();
        return paths::counts_on_planes(setting_.estimator, columns_[j], n_masks);
    }

    const Columns& columns_;
    Vector<const uint32_t> y_;
    const Term term_;
    Subsets subsets_;
    const Setting setting_;
    ConditionedTerms terms_;
    PlaneTerms* by_planes_ = nullptr;
    std::vector<const CellMasks*> masks_;
    int64_t at_samples_ = -1, at_planes_ = -1;  // the subset each evaluator is conditioned on
    std::vector<Bound> bounds_;                 // a heap
    std::vector<int64_t> closed_;               // candidates that are not in the heap
};

}  // namespace hocmim
