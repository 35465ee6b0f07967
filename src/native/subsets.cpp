// Terms of candidates given every subset of the selected columns, as far as they are needed.
#include <cmath>

#include <nanobind/stl/vector.h>

#include "condition.hpp"
#include "module.hpp"
#include "plane_terms.hpp"

namespace hocmim {

namespace {

int64_t choose(int64_t n, int64_t k) {
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
            return join_one(cells_[k], k == 0 ? 1 : n_cells_[k - 1], level_of, uint64_t(column.arity));
        });
    }

    const Columns& columns_;
    const int64_t size_;
    std::vector<int64_t> members_;
    std::vector<std::vector<uint32_t>> cells_;  // of the first 1, 2, … members
    std::vector<uint64_t> n_cells_;
};

// Takes candidates through the subsets they have not met, from n_met on, least = min(least, term),
// each until its key (12 decimals) is below `bar`. Returns after about `most_terms`: 0 if there was
// nothing left to do.
template <class TermOf>
int64_t meet(int64_t n_subsets, Vector<const int64_t> which, Vector<int64_t> n_met, Vector<double> least,
             double bar, int64_t most_terms, TermOf&& term_of) {
    int64_t n_terms = 0;
    std::vector<int64_t> going;
    const auto goes_on = [&](int64_t j) {
        return n_met(j) < n_subsets && std::nearbyint(least(j) * 1e12) >= bar;
    };
    for (size_t k = 0; k < which.shape(0); ++k)
        if (goes_on(which(k))) going.push_back(which(k));
    while (!going.empty() && n_terms < most_terms) {
        int64_t number = n_subsets;
        for (const int64_t j : going) number = std::min(number, n_met(j));
        size_t n_going = 0;
        for (const int64_t j : going) {
            if (n_met(j) == number) {
                least(j) = std::min(least(j), term_of(number, j));
                ++n_met(j);
                ++n_terms;
            }
            if (goes_on(j)) going[n_going++] = j;
        }
        going.resize(n_going);
    }
    return n_terms;
}

void check(int64_t n_columns, const Vector<const int64_t>& which, const Vector<int64_t>& n_met,
           const Vector<double>& least) {
    if (int64_t(n_met.shape(0)) != n_columns || int64_t(least.shape(0)) != n_columns)
        throw std::invalid_argument("the columns, n_met and least do not fit together");
    for (size_t k = 0; k < which.shape(0); ++k)
        if (which(k) < 0 || which(k) >= n_columns)
            throw std::invalid_argument("there is no column at that position");
}

int64_t meet_subsets(const Columns& columns, const Columns& selected, int64_t size,
                     Vector<const uint32_t> y, int64_t n_classes, Term term, Estimator estimator,
                     Vector<const int64_t> which, Vector<int64_t> n_met, Vector<double> least,
                     double bar, int64_t most_terms) {
    if (int64_t(y.shape(0)) != columns.n_samples() || selected.n_samples() != columns.n_samples() ||
        size < 1)
        throw std::invalid_argument("the columns, y and the selected do not fit together");
    check(columns.size(), which, n_met, least);
    nb::gil_scoped_release release;
    const Setting setting(estimator, y.data(), columns.n_samples(), n_classes);
    ConditionedTerms terms(setting);
    Subsets subsets(selected, size);
    int64_t current = -1;
    const auto term_of = [&](int64_t number, int64_t j) {
        if (number != current) {
            const uint32_t* cell_of = subsets.cells_of(number).data();
            terms.condition(cell_of, subsets.n_cells());
            current = number;
        }
        return terms(term, columns[j]);
    };
    return meet(subsets.count(), which, n_met, least, bar, most_terms, term_of);
}

// The same on bit planes, for subsets of one column each.
int64_t meet_columns_by_planes(const BitPlanes& planes, const Columns& columns,
                               const std::vector<const CellMasks*>& selected, const CellMasks& y,
                               Term term, Estimator estimator, Vector<const int64_t> which,
                               Vector<int64_t> n_met, Vector<double> least, double bar,
                               int64_t most_terms) {
    check(columns.size(), which, n_met, least);
    nb::gil_scoped_release release;
    PlaneTerms terms(planes, columns, y, estimator);
    int64_t current = -1;
    const auto term_of = [&](int64_t number, int64_t j) {
        if (number != current) terms.condition(*selected[size_t(number)]);
        current = number;
        terms.count(j);
        return terms(term);
    };
    return meet(int64_t(selected.size()), which, n_met, least, bar, most_terms, term_of);
}

}  // namespace

}  // namespace hocmim

void bind_subsets(nanobind::module_& m) {
    using namespace hocmim;
    using namespace nanobind::literals;

    m.def("meet_subsets", &meet_subsets, "columns"_a, "selected"_a, "size"_a, "y"_a.noconvert(),
          "n_classes"_a, "term"_a, "estimator"_a, "which"_a.noconvert(), "n_met"_a.noconvert(),
          "least"_a.noconvert(), "bar"_a, "most_terms"_a);
    m.def("meet_columns_by_planes", &meet_columns_by_planes, "planes"_a, "columns"_a, "selected"_a,
          "y"_a, "term"_a, "estimator"_a, "which"_a.noconvert(), "n_met"_a.noconvert(),
          "least"_a.noconvert(), "bar"_a, "most_terms"_a);
}
