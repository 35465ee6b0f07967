// Bindings of what only saves time.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "accelerate/contest.hpp"
#include "accelerate/last_levels.hpp"
#include "accelerate/separation.hpp"
#include "bindings/module.hpp"

namespace hocmim {

namespace {

// HOCMIM_BOUND=off turns the search by bounds off: every candidate's path is followed.
bool bound_is_enabled() {
    const char* given = std::getenv("HOCMIM_BOUND");
    if (!given || !*given || std::strcmp(given, "on") == 0) return true;
    if (std::strcmp(given, "off") == 0) return false;
    throw std::invalid_argument("HOCMIM_BOUND must be 'on' or 'off'. Got '" + std::string(given) +
                                "' instead.");
}

}  // namespace

}  // namespace hocmim

void bind_accelerate(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    m.def("bound_is_enabled", &bound_is_enabled);

    nb::class_<Contest>(m, "Contest")
        .def(nb::init<std::vector<GreedyPaths*>, std::vector<Vector<const double>>,
                      std::vector<Vector<const bool>>, int64_t>(),
             "blocks"_a, "bounds"_a.noconvert(), "open"_a.noconvert(), "n_best"_a,
             nb::keep_alive<1, 2>())
        .def("work", &Contest::work)
        .def("winner", &Contest::winner);

    nb::class_<LastLevels>(m, "LastLevels")
        .def(nb::init<std::vector<GreedyPaths*>, std::vector<Vector<const bool>>>(), "blocks"_a,
             "open"_a.noconvert(), nb::keep_alive<1, 2>())
        .def("work", &LastLevels::work)
        .def("winner", &LastLevels::winner);

    nb::class_<Separation>(m, "Separation")
        .def(nb::init<const Columns&, int64_t, bool, int64_t>(), "columns"_a, "size"_a,
             "only_newest"_a, "most_work"_a, nb::keep_alive<1, 2>(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("holds", &Separation::holds, nb::call_guard<nb::gil_scoped_release>());
}
