// Bindings of the instruction sets.
#include "core/dispatch.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/module.hpp"

void bind_dispatch(nanobind::module_& m) {
    m.def("isa_level", &hocmim::level_name);
    m.def("isa_levels", &hocmim::possible_levels);
}
