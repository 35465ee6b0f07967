// Bindings of the representative sets.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/module.hpp"
#include "core/arrays.hpp"
#include "criteria/representative_sets.hpp"

namespace hocmim {

namespace {

// The score of every candidate of `which`.
void scores(RepresentativeSets& sets, Vector<const int64_t> which, Vector<double> out) {
    if (int64_t(out.shape(0)) != sets.block.size())
        throw std::invalid_argument("the block and the scores do not fit together");
    for (size_t k = 0; k < which.shape(0); ++k)
        if (which(k) < 0 || which(k) >= sets.block.size())
            throw std::invalid_argument("a candidate is not in the block");
    nb::gil_scoped_release release;
    const std::shared_ptr<SetKeeper> keeper = sets.take_keeper();
    for (size_t k = 0; k < which.shape(0); ++k) {
        keeper->meet(sets, which(k), kNoBar, kNoLimit);
        out(size_t(which(k))) = sets.score(which(k));
    }
    sets.give_back(keeper);
}

// Z* as positions in the order of selection, U, A, σ and the lift of a candidate.
std::tuple<std::vector<int32_t>, double, double, double, double> describe(RepresentativeSets& sets,
                                                                          int64_t j) {
    if (j < 0 || j >= sets.block.size() || sets.selected.size() == 0)
        throw std::invalid_argument("there is nothing to describe");
    if (!sets.is_exact(j)) {
        const std::shared_ptr<SetKeeper> keeper = sets.take_keeper();
        keeper->meet(sets, j, kNoBar, kNoLimit);
        sets.give_back(keeper);
    }
    const RepresentativeSets::Set& set = sets.sets[size_t(j)];
    return {set.member, set.minimum, sets.average(j), sets.sigma(j), sets.lift(j)};
}

}  // namespace

}  // namespace hocmim

void bind_hocmim_r(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<RepresentativeSets>(m, "RepresentativeSets")
        .def(nb::init<ClassCounts&, const Columns&, Estimator, int64_t, double, double, double>(),
             "class_counts"_a, "selected"_a, "estimator"_a, "max_order"_a, "min_support"_a,
             "weight"_a, "limit"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("append", &RepresentativeSets::append, "terms"_a.noconvert())
        .def("scores", &scores, "which"_a.noconvert(), "out"_a.noconvert())
        .def("describe", &describe, "position"_a);

    nb::class_<RobustContest>(m, "RobustContest")
        .def(nb::init<std::vector<RepresentativeSets*>, std::vector<Vector<const bool>>>(),
             "blocks"_a, "open"_a.noconvert(), nb::keep_alive<1, 2>())
        .def("work", &RobustContest::work, "most_terms"_a)
        .def("winner", &RobustContest::winner);
}
