// Bindings of the filters, and of the nearest neighbours of the experiments.
#include "bindings/module.hpp"
#include "filters/knn.hpp"
#include "filters/nca.hpp"
#include "filters/relieff.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class Value>
void bind_knn_of(nb::module_& m) {
    m.def("knn_curve", &hocmim::knn::knn_curve<Value>, "train"_a.noconvert(), "y"_a.noconvert(),
          "n_classes"_a, "test"_a.noconvert(), "k"_a, "out"_a.noconvert(),
          "The class of each test row by its k nearest training rows, with the first 1, 2, … "
          "columns.");
}

}  // namespace

void bind_filters(nb::module_& m) {
    m.def("relieff_block", &hocmim::relieff::relieff_block, "values"_a.noconvert(),
          "codes"_a.noconvert(), "y"_a.noconvert(), "prior"_a.noconvert(), "k"_a, "start"_a,
          "stop"_a, "value_sums"_a.noconvert(), "code_sums"_a.noconvert(),
          "Add to the sums what the neighbours of rows start..stop-1 contribute to each column.");
    m.def(
        "nca_block", &hocmim::nca::nca_block, "values"_a.noconvert(), "row_start"_a.noconvert(),
        "row_place"_a.noconvert(), "row_value"_a.noconvert(), "column_start"_a.noconvert(),
        "column_place"_a.noconvert(), "column_value"_a.noconvert(), "weight"_a.noconvert(),
        "norm"_a.noconvert(), "y"_a.noconvert(), "start"_a, "stop"_a, "dense"_a.noconvert(),
        "overlaps"_a.noconvert(), "by_row"_a.noconvert(),
        "Sum of p_i over rows start..stop-1; adds their part of the sums the gradient is made of.");
    bind_knn_of<std::int16_t>(m);
    bind_knn_of<double>(m);
}
