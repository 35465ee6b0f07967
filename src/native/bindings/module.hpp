// The parts of the extension module, one binding function a source file.
#pragma once
#include <nanobind/nanobind.h>

void bind_dispatch(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_information(nanobind::module_& m);
void bind_hocmim(nanobind::module_& m);
void bind_accelerate(nanobind::module_& m);
void bind_cmicot(nanobind::module_& m);
void bind_yardstick(nanobind::module_& m);
void bind_subsets(nanobind::module_& m);
void bind_relieff(nanobind::module_& m);
void bind_nca(nanobind::module_& m);
void bind_knn(nanobind::module_& m);
