// Bindings of the criteria that need more than terms of blocks, and of their searches.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "accelerate/bound_search.hpp"
#include "accelerate/last_levels.hpp"
#include "accelerate/separation.hpp"
#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "criteria/cmicot.hpp"
#include "criteria/impurity.hpp"
#include "criteria/least_terms.hpp"
#include "criteria/path_updater.hpp"
#include "criteria/representative_sets.hpp"

namespace hocmim {

namespace {

using Candidates = Vector<const int64_t>;

void check_candidates(Candidates candidates, const Columns& block) {
    for (const int64_t id : candidates)
        if (id < 0 || id >= block.size())
            throw std::invalid_argument("a candidate is not in the block");
}

// HOCMIM_BOUND=off turns the search by bounds off: every candidate's path is followed.
bool bound_is_enabled() {
    const char* given = std::getenv("HOCMIM_BOUND");
    if (!given || !*given || std::strcmp(given, "on") == 0) return true;
    if (std::strcmp(given, "off") == 0) return false;
    throw std::invalid_argument("HOCMIM_BOUND must be 'on' or 'off'. Got '" + std::string(given) +
                                "' instead.");
}

// --- HOCMIM ---

// How many of the candidates have a last level that was not tried with every column.
int64_t n_unfinished(GreedyPaths& paths, Candidates candidates) {
    check_candidates(candidates, paths.block);
    int64_t n = 0;
    for (const int64_t id : candidates) n += !paths.is_exact(id);
    return n;
}

void follow(GreedyPaths& paths, Candidates candidates) {
    check_candidates(candidates, paths.block);
    PathUpdater(paths).follow(paths, {candidates.begin(), candidates.end()});
}

void update(GreedyPaths& paths, Candidates candidates, double threshold,
            Vector<const double> first) {
    check_candidates(candidates, paths.block);
    if (int64_t(first.size()) != paths.block.size())
        throw std::invalid_argument("the block and the terms do not fit together");
    PathUpdater(paths).update(paths, {candidates.begin(), candidates.end()}, threshold,
                              first.data());
}

void bind_hocmim(nb::module_& m) {
    nb::class_<GreedyPaths>(m, "GreedyPaths")
        .def(nb::init<ClassCounts&, const Columns&, Estimator, bool, double, double, bool,
                      Vector<const double>, Matrix<int32_t>, Matrix<double>, Vector<int32_t>>(),
             "class_counts"_a, "selected"_a, "estimator"_a, "conditional"_a, "tol"_a,
             "min_support"_a, "smallest"_a, "relevance"_a.noconvert(), "member"_a.noconvert(),
             "redundancy"_a.noconvert(), "order"_a.noconvert(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 9>(), nb::keep_alive<1, 10>(),
             nb::keep_alive<1, 11>(), nb::keep_alive<1, 12>())
        .def("follow", &follow, "candidates"_a.noconvert(), WithoutGil())
        .def("n_unfinished", &n_unfinished, "candidates"_a.noconvert())
        .def("update", &update, "candidates"_a.noconvert(), "threshold"_a, "first"_a.noconvert(),
             WithoutGil());

    m.def("bound_is_enabled", &bound_is_enabled);

    nb::class_<BoundSearch>(m, "BoundSearch")
        .def(nb::init<std::vector<GreedyPaths*>, std::vector<Vector<const double>>,
                      std::vector<Vector<const bool>>, int64_t>(),
             "blocks"_a, "bounds"_a.noconvert(), "open"_a.noconvert(), "n_best"_a,
             nb::keep_alive<1, 2>())
        .def("work", &BoundSearch::work, WithoutGil())
        .def("best", &BoundSearch::best);

    nb::class_<LastLevels>(m, "LastLevels")
        .def(nb::init<std::vector<GreedyPaths*>, std::vector<Vector<const bool>>>(), "blocks"_a,
             "open"_a.noconvert(), nb::keep_alive<1, 2>())
        .def("work", &LastLevels::work, WithoutGil())
        .def("best", &LastLevels::best);

    nb::class_<Separation>(m, "Separation")
        .def(nb::init<const Columns&, int64_t, bool, int64_t>(), "columns"_a, "size"_a,
             "only_newest"_a, "most_work"_a, nb::keep_alive<1, 2>(), WithoutGil())
        .def("holds", &Separation::holds, WithoutGil());
}

// --- HOCMIM-R ---

// The score of every candidate of `which`.
void scores(RepresentativeSets& sets, Candidates which, Vector<double> out) {
    if (int64_t(out.size()) != sets.block.size())
        throw std::invalid_argument("the block and the scores do not fit together");
    check_candidates(which, sets.block);
    const std::shared_ptr<SetUpdater> updater = sets.take_updater();
    for (const int64_t j : which) {
        updater->update(sets, j, kNoThreshold, kNoLimit);
        out[j] = sets.score(j);
    }
    sets.give_back(updater);
}

// Z* as positions in the order of selection, U, A, σ and the lift of a candidate.
std::tuple<std::vector<int32_t>, double, double, double, double> describe(RepresentativeSets& sets,
                                                                          int64_t j) {
    if (j < 0 || j >= sets.block.size() || sets.selected.size() == 0)
        throw std::invalid_argument("there is nothing to describe");
    if (!sets.is_exact(j)) {
        const std::shared_ptr<SetUpdater> updater = sets.take_updater();
        updater->update(sets, j, kNoThreshold, kNoLimit);
        sets.give_back(updater);
    }
    const RepresentativeSets::Set& set = sets.sets[size_t(j)];
    return {set.member, set.minimum, sets.average(j), sets.sigma(j), sets.lift(j)};
}

void bind_hocmim_r(nb::module_& m) {
    nb::class_<RepresentativeSets>(m, "RepresentativeSets")
        .def(nb::init<ClassCounts&, const Columns&, Estimator, int64_t, double, double, double>(),
             "class_counts"_a, "selected"_a, "estimator"_a, "max_order"_a, "min_support"_a,
             "weight"_a, "limit"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("append", &RepresentativeSets::append, "terms"_a.noconvert())
        .def("scores", &scores, "which"_a.noconvert(), "out"_a.noconvert(), WithoutGil())
        .def("describe", &describe, "position"_a);

    nb::class_<SetSearch>(m, "SetSearch")
        .def(nb::init<std::vector<RepresentativeSets*>, std::vector<Vector<const bool>>>(),
             "blocks"_a, "open"_a.noconvert(), nb::keep_alive<1, 2>())
        .def("work", &SetSearch::work, "most_terms"_a, WithoutGil())
        .def("best", &SetSearch::best);
}

}  // namespace

void bind_criteria(nb::module_& m) {
    bind_hocmim(m);
    bind_hocmim_r(m);

    nb::class_<Cmicot>(m, "Cmicot")
        .def(nb::init<const Columns&, Vector<const uint32_t>, int64_t, Estimator, int64_t>(),
             "columns"_a, "y"_a.noconvert(), "n_classes"_a, "estimator"_a, "team_size"_a,
             nb::keep_alive<1, 2>())
        .def("select", &Cmicot::select, "columns"_a, "j"_a)
        .def("score", &Cmicot::score, "which"_a.noconvert(), "out"_a.noconvert(), WithoutGil());

    nb::class_<LeastTerms>(m, "LeastTerms")
        .def(nb::init<const Columns&, const Columns&, int64_t, Vector<const uint32_t>, int64_t,
                      Term, Estimator>(),
             "columns"_a, "selected"_a, "size"_a, "y"_a.noconvert(), "n_classes"_a, "term"_a,
             "estimator"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 5>())
        .def("use_planes", &LeastTerms::use_planes, "by_planes"_a, nb::keep_alive<1, 2>())
        .def("append_masks", &LeastTerms::append_masks, "masks"_a.none(), nb::keep_alive<1, 2>())
        .def("restart", &LeastTerms::restart, "least"_a.noconvert())
        .def("evaluate",
             nb::overload_cast<Candidates, Vector<int64_t>, Vector<double>, double, int64_t>(
                 &LeastTerms::evaluate),
             "which"_a.noconvert(), "n_tried"_a.noconvert(), "least"_a.noconvert(), "threshold"_a,
             "most_terms"_a, WithoutGil())
        .def("best", &LeastTerms::best, "open"_a.noconvert(), "n_tried"_a.noconvert(),
             "least"_a.noconvert(), "threshold"_a, "chunk"_a, "most_terms"_a, WithoutGil())
        .def_ro_static("none_found", &LeastTerms::kNone)
        .def_ro_static("unfinished", &LeastTerms::kUnfinished);

    m.def("impurity_gain", &impurity_gain, "columns"_a, "w"_a.noconvert(), "n_cells"_a,
          "y"_a.noconvert(), "n_classes"_a, "out"_a.noconvert(), WithoutGil());
}

}  // namespace hocmim
