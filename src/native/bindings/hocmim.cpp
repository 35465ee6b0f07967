// Bindings of the greedy paths.
#include <nanobind/stl/vector.h>

#include "bindings/module.hpp"
#include "core/arrays.hpp"
#include "criteria/path_updater.hpp"

namespace hocmim {

namespace {

PathUpdater::Ids checked(GreedyPaths& paths, const Vector<const int64_t>& candidates) {
    const PathUpdater::Ids ids(candidates.data(), candidates.data() + candidates.shape(0));
    for (const int64_t id : ids)
        if (id < 0 || id >= paths.block.size())
            throw std::invalid_argument("a candidate is not in the block");
    return ids;
}

// How many of the candidates have a last level that was not tried with every column.
int64_t n_unfinished(GreedyPaths& paths, Vector<const int64_t> candidates) {
    int64_t n = 0;
    for (const int64_t id : checked(paths, candidates)) n += !paths.is_exact(id);
    return n;
}

void follow(GreedyPaths& paths, Vector<const int64_t> candidates) {
    const PathUpdater::Ids ids = checked(paths, candidates);
    nb::gil_scoped_release release;
    PathUpdater(paths).follow(paths, ids);
}

void update(GreedyPaths& paths, Vector<const int64_t> candidates, double bar,
            Vector<const double> first) {
    const PathUpdater::Ids ids = checked(paths, candidates);
    if (int64_t(first.shape(0)) != paths.block.size())
        throw std::invalid_argument("the block and the terms do not fit together");
    nb::gil_scoped_release release;
    PathUpdater(paths).update(paths, ids, bar, first.data());
}

}  // namespace

}  // namespace hocmim

void bind_hocmim(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<GreedyPaths>(m, "GreedyPaths")
        .def(nb::init<ClassCounts&, const Columns&, Estimator, bool, double, double, bool,
                      Vector<const double>, Matrix<int32_t>, Matrix<double>, Vector<int32_t>>(),
             "class_counts"_a, "selected"_a, "estimator"_a, "conditional"_a, "tol"_a,
             "min_support"_a, "smallest"_a, "relevance"_a.noconvert(), "member"_a.noconvert(),
             "redundancy"_a.noconvert(), "order"_a.noconvert(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def("follow", &follow, "candidates"_a.noconvert())
        .def("n_unfinished", &n_unfinished, "candidates"_a.noconvert())
        .def("update", &update, "candidates"_a.noconvert(), "bar"_a, "first"_a.noconvert());
}
