// Bindings of the filters, and of the nearest neighbours.
#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "filters/knn.hpp"
#include "filters/nca.hpp"
#include "filters/relieff.hpp"

namespace hocmim {

namespace {

template <class Value>
void bind_knn(nb::module_& m) {
    m.def("knn_curve", &knn::knn_curve<Value>, "train"_a.noconvert(), "y"_a.noconvert(),
          "n_classes"_a, "test"_a.noconvert(), "k"_a, "out"_a.noconvert(), WithoutGil());
}

}  // namespace

void bind_filters(nb::module_& m) {
    m.def("relieff_block", &relieff::relieff_block, "values"_a.noconvert(), "codes"_a.noconvert(),
          "y"_a.noconvert(), "prior"_a.noconvert(), "k"_a, "start"_a, "stop"_a,
          "value_sums"_a.noconvert(), "code_sums"_a.noconvert(), WithoutGil());
    m.def("nca_block", &nca::nca_block, "values"_a.noconvert(), "row_start"_a.noconvert(),
          "row_place"_a.noconvert(), "row_value"_a.noconvert(), "column_start"_a.noconvert(),
          "column_place"_a.noconvert(), "column_value"_a.noconvert(), "weight"_a.noconvert(),
          "norm"_a.noconvert(), "y"_a.noconvert(), "start"_a, "stop"_a, "dense"_a.noconvert(),
          "overlaps"_a.noconvert(), "by_row"_a.noconvert(), WithoutGil());
    m.def("grow_nearest", &knn::grow_nearest, "train"_a.noconvert(), "test"_a.noconvert(),
          "apart"_a.noconvert(), "k"_a, "distance"_a.noconvert(), "limit"_a.noconvert(),
          WithoutGil());
    m.def("count_near", &knn::count_near, "distance"_a.noconvert(), "limit"_a.noconvert(),
          "train"_a.noconvert(), "test"_a.noconvert(), "n_classes"_a, "hits"_a.noconvert(),
          "n_near"_a.noconvert(), "most"_a.noconvert(), WithoutGil());
    m.def("sum_near", &knn::sum_near, "distance"_a.noconvert(), "limit"_a.noconvert(),
          "train"_a.noconvert(), "sums"_a.noconvert(), "n_near"_a.noconvert(), WithoutGil());
    bind_knn<int16_t>(m);
    bind_knn<double>(m);
}

}  // namespace hocmim
