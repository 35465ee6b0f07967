// Bindings of the teams and of the criteria that take the least of many terms.
#include <nanobind/stl/pair.h>

#include "bindings/module.hpp"
#include "criteria/cmicot.hpp"
#include "criteria/least_terms.hpp"

void bind_cmicot(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<Cmicot>(m, "Cmicot")
        .def(nb::init<const Columns&, Vector<const uint32_t>, int64_t, Estimator, int64_t>(),
             "columns"_a, "y"_a.noconvert(), "n_classes"_a, "estimator"_a, "team_size"_a,
             nb::keep_alive<1, 2>())
        .def("select", &Cmicot::select, "columns"_a, "j"_a)
        .def("score", &Cmicot::score, "which"_a.noconvert(), "out"_a.noconvert());
}

void bind_subsets(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<LeastTerms>(m, "LeastTerms")
        .def(nb::init<const Columns&, const Columns&, int64_t, Vector<const uint32_t>, int64_t,
                      Term, Estimator>(),
             "columns"_a, "selected"_a, "size"_a, "y"_a.noconvert(), "n_classes"_a, "term"_a,
             "estimator"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("use_planes", &LeastTerms::use_planes, "by_planes"_a, nb::keep_alive<1, 2>())
        .def("append_masks", &LeastTerms::append_masks, "masks"_a.none(), nb::keep_alive<1, 2>())
        .def("restart", &LeastTerms::restart, "least"_a.noconvert())
        .def("meet",
             nb::overload_cast<Vector<const int64_t>, Vector<int64_t>, Vector<double>, double,
                               int64_t>(&LeastTerms::meet),
             "which"_a.noconvert(), "n_met"_a.noconvert(), "least"_a.noconvert(), "bar"_a,
             "most_terms"_a)
        .def("best", &LeastTerms::best, "open"_a.noconvert(), "n_met"_a.noconvert(),
             "least"_a.noconvert(), "floor"_a, "chunk"_a, "most_terms"_a)
        .def_ro_static("none_found", &LeastTerms::kNone)
        .def_ro_static("unfinished", &LeastTerms::kUnfinished);
}
