#include "bindings/module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/dispatch.hpp"

NB_MODULE(_native, m) {
    m.doc() = "The kernels of hocmim: encoding, counting, information, representative sets.";
    hocmim::check_isa();
    m.def("instruction_set", &hocmim::isa_name);
    m.def("instruction_sets", &hocmim::possible_isas);
    hocmim::bind_coding(m);
    hocmim::bind_information(m);
    hocmim::bind_criteria(m);
    hocmim::bind_filters(m);
    hocmim::bind_interactions(m);
    hocmim::bind_interrupt(m);
}
