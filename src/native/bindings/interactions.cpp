// Binding of the screen for interactions.
#include "criteria/interactions.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

namespace hocmim {

namespace {

// The strongest pairs as (first, second, G), in order.
using FoundPairs = std::vector<std::tuple<int64_t, int64_t, double>>;

FoundPairs search(const InteractionScreen& screen, int64_t first, int64_t last,
                  Matrix<const double> least, int64_t most) {
    const auto found = without_gil([&] { return screen.search(first, last, least, most); });
    FoundPairs result;
    for (const Interaction& one : found) result.emplace_back(one.first, one.second, one.g);
    return result;
}

}  // namespace

void bind_interactions(nb::module_& m) {
    nb::class_<InteractionScreen>(m, "InteractionScreen")
        .def(nb::init<std::vector<int64_t>, Vector<const uint32_t>, std::vector<int64_t>, int64_t,
                      int64_t>(),
             "arity"_a, "order"_a.noconvert(), "sizes"_a, "n_classes"_a, "n_shared"_a,
             nb::keep_alive<1, 3>(), WithoutGil())
        .def("set", &InteractionScreen::set, "first"_a, "codes"_a.noconvert(), WithoutGil())
        .def_prop_ro("n_groups", &InteractionScreen::n_groups)
        .def("search", &search, "first"_a, "last"_a, "least"_a.noconvert(), "most"_a);
}

}  // namespace hocmim
