// The parts of the extension module, one function per source file.
#pragma once
#include <nanobind/nanobind.h>

namespace hocmim {

namespace nb = nanobind;
using namespace nb::literals;

// For kernels: other threads of Python run meanwhile.
using WithoutGil = nb::call_guard<nb::gil_scoped_release>;

void bind_coding(nb::module_& m);
void bind_information(nb::module_& m);
void bind_criteria(nb::module_& m);
void bind_filters(nb::module_& m);
void bind_interactions(nb::module_& m);
void bind_interrupt(nb::module_& m);

}  // namespace hocmim
