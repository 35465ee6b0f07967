// Bindings of the counting kernels: joint codes, and terms of information for blocks of columns.
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/module.hpp"
#include "core/arrays.hpp"
#include "core/columns.hpp"
#include "core/interrupt.hpp"
#include "counting/conditioned_terms.hpp"
#include "counting/join.hpp"
#include "counting/plane_terms.hpp"

namespace hocmim {

namespace {

using JointCodes = nb::ndarray<nb::numpy, uint32_t, nb::ndim<1>>;

JointCodes to_numpy(std::vector<uint32_t>&& codes) {
    auto* owned = new std::vector<uint32_t>(std::move(codes));
    nb::capsule owner(owned,
                      [](void* p) noexcept { delete static_cast<std::vector<uint32_t>*>(p); });
    return JointCodes(owned->data(), {owned->size()}, owner);
}

void make_columns(Columns* self, Matrix<const uint8_t> narrow, Matrix<const uint16_t> wide,
                  Vector<const int64_t> place, Vector<const int64_t> arity) {
    Columns made(int64_t(narrow.shape(1)));
    const int64_t n_samples = made.n_samples();
    if (int64_t(wide.shape(1)) != n_samples || place.shape(0) != arity.shape(0))
        throw std::invalid_argument("the parts of Codes do not fit together");
    for (size_t j = 0; j < place.shape(0); ++j) {
        const int64_t at = place(j);
        const bool is_wide = at < 0;
        const int64_t row = is_wide ? ~at : at;
        if (row >= int64_t(is_wide ? wide.shape(0) : narrow.shape(0)))
            throw std::invalid_argument("a column lies outside its array");
        const void* data = is_wide ? static_cast<const void*>(wide.data() + row * n_samples)
                                   : static_cast<const void*>(narrow.data() + row * n_samples);
        made.append(data, size_t(n_samples), is_wide, arity(j));
    }
    made.keep(std::move(narrow));
    made.keep(std::move(wide));
    new (self) Columns(std::move(made));
}

template <class Code>
void append(Columns& columns, Vector<const Code> codes, int64_t arity) {
    columns.append(codes.data(), codes.shape(0), sizeof(Code) == 2, arity);
    columns.keep(std::move(codes));
}

std::pair<JointCodes, int64_t> join(const Columns& columns) {
    std::vector<uint32_t> codes(size_t(columns.n_samples()), 0);
    uint64_t n_cells = 1;
    {
        nb::gil_scoped_release release;
        for (int64_t j = 0; j < columns.size(); ++j)
            n_cells = columns[j].visit([&](const auto* level_of) {
                return join_one(codes, n_cells, level_of, uint64_t(columns[j].arity));
            });
    }
    return {to_numpy(std::move(codes)), int64_t(n_cells)};
}

void check_cells(const uint32_t* cell_of, int64_t n_samples, int64_t n_cells) {
    for (int64_t i = 0; i < n_samples; ++i)
        if (cell_of[i] >= uint64_t(n_cells))
            throw std::invalid_argument("a cell is not below the number of cells");
}

std::pair<JointCodes, int64_t> join_with(Vector<const uint32_t> cells, int64_t n_cells,
                                         const Columns& columns, int64_t j) {
    if (int64_t(cells.shape(0)) != columns.n_samples() || j < 0 || j >= columns.size())
        throw std::invalid_argument("the cells and the columns do not fit together");
    std::vector<uint32_t> codes(cells.data(), cells.data() + cells.shape(0));
    uint64_t n_joint = 0;
    {
        nb::gil_scoped_release release;
        check_cells(codes.data(), columns.n_samples(), n_cells);
        n_joint = columns[j].visit([&](const auto* level_of) {
            return join_one(codes, uint64_t(n_cells), level_of, uint64_t(columns[j].arity));
        });
    }
    return {to_numpy(std::move(codes)), int64_t(n_joint)};
}

// The term of every column, or of the columns at the positions `which` only.
void information(ClassCounts& class_counts, Vector<const uint32_t> w, int64_t n_cells,
                 const std::vector<Term>& terms, Estimator estimator, Matrix<double> out,
                 std::optional<Vector<const int64_t>> which) {
    const Columns& columns = class_counts.columns();
    const int64_t n_samples = columns.n_samples();
    const int64_t n_terms = which ? int64_t(which->shape(0)) : columns.size();
    if (int64_t(w.shape(0)) != n_samples || out.shape(0) != terms.size() ||
        int64_t(out.shape(1)) != n_terms)
        throw std::invalid_argument("the columns, w and out do not fit together");
    for (int64_t k = 0; which && k < n_terms; ++k)
        if ((*which)(k) < 0 || (*which)(k) >= columns.size())
            throw std::invalid_argument("there is no column at that position");
    nb::gil_scoped_release release;
    const uint32_t* cell_of = w.data();
    check_cells(cell_of, n_samples, n_cells);
    const Setting setting(estimator, class_counts.cls(), n_samples, class_counts.n_classes());
    ConditionedTerms evaluate(setting);
    evaluate.condition(cell_of, n_cells);
    std::vector<int64_t> scratch;
    std::vector<LaneColumn> lanes;  // waiting to be evaluated side by side
    std::vector<size_t> place;      // where their terms go
    double values[CellLanes::kLanes];
    for (size_t t = 0; t < terms.size(); ++t)
        for (int64_t k = 0; k < n_terms; ++k) {
            const int64_t j = which ? (*which)(k) : k;
            const bool is_counted = ConditionedTerms::needs_counts(terms[t]);
            const int64_t* row_count = is_counted ? class_counts.of(j, scratch) : nullptr;
            if (paths::choose(setting, terms[t], columns[j], n_cells) == Path::cell_lanes) {
                lanes.push_back({&columns[j], row_count});
                place.push_back(size_t(k));
            } else {
                out(t, k) = evaluate(terms[t], columns[j], row_count);
            }
            count_work(n_samples);
            if (lanes.size() < CellLanes::kLanes && (k + 1 < n_terms || lanes.empty())) continue;
            evaluate.redundancy(lanes.data(), lanes.size(), values);
            for (size_t lane = 0; lane < lanes.size(); ++lane) out(t, place[lane]) = values[lane];
            lanes.clear();
            place.clear();
        }
}

// Which columns are counted on bit planes, with n_masks masks.
void counts_on_planes(const Columns& columns, int64_t n_masks, Estimator estimator,
                      Vector<bool> out) {
    if (int64_t(out.shape(0)) != columns.size())
        throw std::invalid_argument("the columns and out do not fit together");
    for (int64_t j = 0; j < columns.size(); ++j)
        out(size_t(j)) = paths::counts_on_planes(kind_of(estimator), columns[j], n_masks);
}

// The same terms from bit planes, for columns that have them and W and Y of few cells.
void evaluate_by_planes(PlaneTerms& by_planes, const CellMasks& w, const std::vector<Term>& terms,
                        Matrix<double> out, std::optional<Vector<const int64_t>> which) {
    const int64_t n_out = which ? int64_t(which->shape(0)) : by_planes.n_columns();
    if (out.shape(0) != terms.size() || int64_t(out.shape(1)) != n_out)
        throw std::invalid_argument("the planes and out do not fit together");
    nb::gil_scoped_release release;
    by_planes.condition(w);
    by_planes.evaluate(terms, which ? which->data() : nullptr, n_out, out.data());
    by_planes.forget();
}

void bind_planes(nb::module_& m) {
    using namespace nb::literals;

    nb::class_<BitPlanes>(m, "BitPlanes")
        .def(nb::init<const Columns&, const std::vector<BitPlanes::Made>&>(), "columns"_a,
             "made"_a = std::vector<BitPlanes::Made>(), nb::call_guard<nb::gil_scoped_release>())
        .def_static("words_of_plane", &BitPlanes::words_of_plane, "n_samples"_a)
        .def_prop_ro("n_columns", &BitPlanes::n_columns)
        .def_prop_ro("in_lanes", &BitPlanes::in_lanes)
        .def_ro_static("most_levels", &BitPlanes::kMostLevels);

    nb::class_<CellMasks>(m, "CellMasks")
        .def(
            "__init__",
            [](CellMasks* self, Vector<const uint32_t> cells, int64_t n_cells) {
                new (self) CellMasks(cells.data(), int64_t(cells.shape(0)), n_cells);
            },
            "cells"_a.noconvert(), "n_cells"_a)
        .def(
            "__init__",
            [](CellMasks* self, Vector<const uint8_t> codes, int64_t n_levels) {
                new (self) CellMasks(codes.data(), int64_t(codes.shape(0)), n_levels);
            },
            "codes"_a.noconvert(), "n_levels"_a)
        .def_ro_static("most_cells", &CellMasks::kMostCells);

    nb::class_<PlaneTerms>(m, "PlaneTerms")
        .def(nb::init<const BitPlanes&, const Columns&, const CellMasks&, Estimator, bool>(),
             "planes"_a, "columns"_a, "y"_a, "estimator"_a, "keeps_rows"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("evaluate", &evaluate_by_planes, "w"_a, "terms"_a, "out"_a.noconvert(),
             "which"_a.noconvert().none() = nb::none());

    m.def("counts_on_planes", &counts_on_planes, "columns"_a, "n_masks"_a, "estimator"_a,
          "out"_a.noconvert());
}

}  // namespace

}  // namespace hocmim

void bind_information(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

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
             "place"_a.noconvert(), "arity"_a.noconvert())
        .def("append", &append<uint8_t>, "codes"_a.noconvert(), "arity"_a)
        .def("append", &append<uint16_t>, "codes"_a.noconvert(), "arity"_a)
        .def("__len__", &Columns::size);

    bind_planes(m);
    m.def("join", &join, "columns"_a);
    m.def("join_with", &join_with, "cells"_a.noconvert(), "n_cells"_a, "columns"_a, "j"_a);
    nb::class_<ClassCounts>(m, "ClassCounts")
        .def(
            "__init__",
            [](ClassCounts* self, const Columns& columns, Vector<const uint32_t> y,
               int64_t n_classes) {
                if (int64_t(y.shape(0)) != columns.n_samples())
                    throw std::invalid_argument("the columns and y do not fit together");
                nb::gil_scoped_release release;
                new (self) ClassCounts(columns, y.data(), n_classes);
            },
            "columns"_a, "y"_a.noconvert(), "n_classes"_a, nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>());
    m.def("information", &information, "class_counts"_a, "w"_a.noconvert(), "n_cells"_a, "terms"_a,
          "estimator"_a, "out"_a.noconvert(), "which"_a.noconvert().none() = nb::none());
}
