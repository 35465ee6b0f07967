// The parts of the extension module, one binding function a source file.
#pragma once
#include <nanobind/nanobind.h>

void bind_dispatch(nanobind::module_& m);
void bind_coding(nanobind::module_& m);
void bind_information(nanobind::module_& m);
void bind_hocmim(nanobind::module_& m);
void bind_hocmim_r(nanobind::module_& m);
void bind_accelerate(nanobind::module_& m);
void bind_cmicot(nanobind::module_& m);
void bind_subsets(nanobind::module_& m);
void bind_impurity(nanobind::module_& m);
void bind_filters(nanobind::module_& m);
void bind_interrupt(nanobind::module_& m);
