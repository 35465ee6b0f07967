// Bindings of the instruction sets.
#include "core/dispatch.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/module.hpp"

void bind_dispatch(nanobind::module_& m) {
    m.def("instruction_set", &hocmim::isa_name);
    m.def("instruction_sets", &hocmim::possible_isas);
}
