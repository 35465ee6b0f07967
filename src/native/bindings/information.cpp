// Bindings of the counting kernels: joint codes, and terms of information for blocks of columns.
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "core/columns.hpp"
#include "counting/conditioned_terms.hpp"
#include "counting/join.hpp"
#include "counting/plane_terms.hpp"

namespace hocmim {

namespace {

void make_columns(Columns* self, Matrix<const uint8_t> narrow, Matrix<const uint16_t> wide,
                  Vector<const int64_t> place, Vector<const int64_t> arity) {
    Columns made(int64_t(narrow.n_columns));
    if (wide.n_columns != narrow.n_columns || place.size() != arity.size())
        throw std::invalid_argument("the parts of Codes do not fit together");
    for (size_t j = 0; j < place.size(); ++j) {
        const bool is_wide = place[j] < 0;
        const size_t row = size_t(is_wide ? ~place[j] : place[j]);
        if (row >= (is_wide ? wide.n_rows : narrow.n_rows))
            throw std::invalid_argument("a column lies outside its array");
        const void* data = is_wide ? static_cast<const void*>(wide.row(row)) : narrow.row(row);
        made.append(data, narrow.n_columns, is_wide, arity[j]);
    }
    new (self) Columns(std::move(made));
}

template <class Code>
void append(Columns& columns, Vector<const Code> codes, int64_t arity) {
    columns.append(codes.data(), codes.size(), sizeof(Code) == 2, arity);
}

nb::tuple to_tuple(JointCells&& joint) {
    return nb::make_tuple(to_numpy(std::move(joint.cells)), joint.n_cells);
}

// Which columns are counted on bit planes, with n_masks masks.
void counts_on_planes(const Columns& columns, int64_t n_masks, Estimator estimator,
                      Vector<bool> out) {
    if (int64_t(out.size()) != columns.size())
        throw std::invalid_argument("the columns and out do not fit together");
    for (int64_t j = 0; j < columns.size(); ++j)
        out[j] = paths::counts_on_planes(kind_of(estimator), columns[j], n_masks);
}

// The same terms from bit planes, for columns that have them and W and Y of few cells.
void evaluate_by_planes(PlaneTerms& by_planes, const CellMasks& w, const std::vector<Term>& terms,
                        Matrix<double> out, std::optional<Vector<const int64_t>> which) {
    const int64_t n_out = which ? int64_t(which->size()) : by_planes.n_columns();
    if (out.n_rows != terms.size() || int64_t(out.n_columns) != n_out)
        throw std::invalid_argument("the planes and out do not fit together");
    by_planes.condition(w);
    by_planes.evaluate(terms, which ? which->data() : nullptr, n_out, out.data());
    by_planes.forget();
}

void bind_planes(nb::module_& m) {
    nb::class_<BitPlanes>(m, "BitPlanes")
        .def(nb::init<const Columns&, const std::vector<BitPlanes::Made>&>(), "columns"_a,
             "made"_a = std::vector<BitPlanes::Made>(), WithoutGil())
        .def_static("words_of_plane", &BitPlanes::words_of_plane, "n_samples"_a)
        .def_prop_ro("n_columns", &BitPlanes::n_columns)
        .def_prop_ro("in_lanes", &BitPlanes::in_lanes)
        .def_ro_static("most_levels", &BitPlanes::kMostLevels);

    nb::class_<CellMasks>(m, "CellMasks")
        .def(
            "__init__",
            [](CellMasks* self, Vector<const uint32_t> cells, int64_t n_cells) {
                new (self) CellMasks(cells.data(), int64_t(cells.size()), n_cells);
            },
            "cells"_a.noconvert(), "n_cells"_a)
        .def(
            "__init__",
            [](CellMasks* self, Vector<const uint8_t> codes, int64_t n_levels) {
                new (self) CellMasks(codes.data(), int64_t(codes.size()), n_levels);
            },
            "codes"_a.noconvert(), "n_levels"_a)
        .def_ro_static("most_cells", &CellMasks::kMostCells);

    nb::class_<PlaneTerms>(m, "PlaneTerms")
        .def(nb::init<const BitPlanes&, const Columns&, const CellMasks&, Estimator, bool>(),
             "planes"_a, "columns"_a, "y"_a, "estimator"_a, "keeps_rows"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), WithoutGil())
        .def("evaluate", &evaluate_by_planes, "w"_a, "terms"_a, "out"_a.noconvert(),
             "which"_a.noconvert().none() = nb::none(), WithoutGil());

    m.def("counts_on_planes", &counts_on_planes, "columns"_a, "n_masks"_a, "estimator"_a,
          "out"_a.noconvert());
}

}  // namespace

void bind_information(nb::module_& m) {
    nb::enum_<Estimator> estimator(m, "Estimator");
    std::vector<std::string> names;
    for (const EstimatorKind* kind : estimators()) {
        estimator.value(kind->name, Estimator(names.size()));
        names.emplace_back(kind->name);
    }
    m.def("estimator_names", [names] { return names; });
    m.def("needs_samples", [](Estimator estimator) { return kind_of(estimator).needs_samples; });

    nb::enum_<Term>(m, "Term")
        .value("information", Term::information)
        .value("given_class", Term::given_class)
        .value("redundancy", Term::redundancy)
        .value("conditional", Term::conditional)
        .value("joint", Term::joint)
        .value("joint_entropy", Term::joint_entropy);

    nb::class_<Columns>(m, "Columns")
        .def(nb::init<int64_t>(), "n_samples"_a)
        .def("__init__", &make_columns, "narrow"_a.noconvert(), "wide"_a.noconvert(),
             "place"_a.noconvert(), "arity"_a.noconvert(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def("append", &append<uint8_t>, "codes"_a.noconvert(), "arity"_a, nb::keep_alive<1, 2>())
        .def("append", &append<uint16_t>, "codes"_a.noconvert(), "arity"_a, nb::keep_alive<1, 2>())
        .def("__len__", &Columns::size);

    bind_planes(m);
    m.def(
        "join",
        [](const Columns& columns) { return to_tuple(without_gil([&] { return join(columns); })); },
        "columns"_a);
    m.def(
        "join_with",
        [](Vector<const uint32_t> cells, int64_t n_cells, const Columns& columns, int64_t j) {
            return to_tuple(without_gil([&] { return join_with(cells, n_cells, columns, j); }));
        },
        "cells"_a.noconvert(), "n_cells"_a, "columns"_a, "j"_a);
    nb::class_<ClassCounts>(m, "ClassCounts")
        .def(
            "__init__",
            [](ClassCounts* self, const Columns& columns, Vector<const uint32_t> y,
               int64_t n_classes) {
                if (int64_t(y.size()) != columns.n_samples())
                    throw std::invalid_argument("the columns and y do not fit together");
                new (self) ClassCounts(columns, y.data(), n_classes);
            },
            "columns"_a, "y"_a.noconvert(), "n_classes"_a, nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), WithoutGil());
    m.def("information", &evaluate_terms, "class_counts"_a, "w"_a.noconvert(), "n_cells"_a,
          "terms"_a, "estimator"_a, "out"_a.noconvert(), "which"_a.noconvert().none() = nb::none(),
          WithoutGil());
}

}  // namespace hocmim
