// Bindings of encoding: what the values of columns are like, where to cut them, and the cut itself.
#include <nanobind/stl/pair.h>

#include "bindings/module.hpp"
#include "coding/apply.hpp"
#include "coding/encode.hpp"
#include "coding/mdlp.hpp"
#include "coding/quantiles.hpp"
#include "coding/sparse.hpp"
#include "coding/survey.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocmim::coding;

namespace {

template <class T>
void bind_type(nb::module_& m) {
    m.def("survey", &survey<T>, "values"_a.noconvert(), "limit"_a);
    m.def("apply_cuts", &apply_cuts<T>, "values"_a.noconvert(), "cuts"_a.noconvert(),
          "offsets"_a.noconvert(), "unknown"_a.noconvert(), "place"_a.noconvert(),
          "narrow"_a.noconvert(), "wide"_a.noconvert());
    m.def("quantile_cuts", &quantile_cuts<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
          "n_bins"_a);
    m.def("mdlp_cuts", &mdlp_cuts<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
          "classes"_a.noconvert(), "n_classes"_a);
    m.def("encode_block", &encode_block<T>, "values"_a.noconvert(), "method"_a, "n_bins"_a,
          "classes"_a.noconvert(), "n_classes"_a, "codes"_a.noconvert());
}

}  // namespace

void bind_coding(nb::module_& m) {
    bind_type<double>(m);
    bind_type<float>(m);
    bind_type<std::int8_t>(m);
    bind_type<std::int16_t>(m);
    bind_type<std::int32_t>(m);
    bind_type<std::int64_t>(m);
    bind_type<std::uint8_t>(m);
    bind_type<std::uint16_t>(m);
    bind_type<std::uint32_t>(m);
    bind_type<std::uint64_t>(m);
    m.def("encode_sparse", &encode_sparse, "values"_a.noconvert(), "rows"_a.noconvert(),
          "offsets"_a.noconvert(), "n_rows"_a, "method"_a, "n_bins"_a, "classes"_a.noconvert(),
          "n_classes"_a, "codes"_a.noconvert());
    m.def("apply_cuts_sparse", &apply_cuts_sparse, "values"_a.noconvert(), "rows"_a.noconvert(),
          "offsets"_a.noconvert(), "cuts"_a.noconvert(), "cut_offsets"_a.noconvert(),
          "unknown"_a.noconvert(), "place"_a.noconvert(), "narrow"_a.noconvert(),
          "wide"_a.noconvert());
    m.def("most_frequent", &most_frequent<std::uint8_t>, "codes"_a.noconvert());
    m.def("most_frequent", &most_frequent<std::uint16_t>, "codes"_a.noconvert());
}
