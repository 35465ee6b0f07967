// Bindings of the counting kernels: joint codes, and terms of information for blocks of columns.
#include <optional>
#include <unordered_map>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "estimate.hpp"
#include "module.hpp"

namespace hocmim {

namespace {

using JointCodes = nb::ndarray<nb::numpy, uint32_t, nb::ndim<1>>;

JointCodes to_numpy(std::vector<uint32_t>&& codes) {
    auto* owned = new std::vector<uint32_t>(std::move(codes));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<uint32_t>*>(p); });
    return JointCodes(owned->data(), {owned->size()}, owner);
}

// Renumbers pair codes a * n_b + b by first appearance. The table of new numbers is never larger
// than a small multiple of the samples; beyond that a hash map takes its place.
template <class Code>
uint32_t join_one(std::vector<uint32_t>& codes, uint64_t n_codes, const Code* level_of, uint64_t arity) {
    const uint64_t n_pairs = n_codes * arity;
    uint32_t n_cells = 0;
    if (n_pairs <= 4 * codes.size() + 1024) {
        std::vector<uint32_t> number(n_pairs, UINT32_MAX);
        for (size_t i = 0; i < codes.size(); ++i) {
            uint32_t& cell = number[codes[i] * arity + level_of[i]];
            if (cell == UINT32_MAX) cell = n_cells++;
            codes[i] = cell;
        }
    } else {
        std::unordered_map<uint64_t, uint32_t> number;
        number.reserve(codes.size());
        for (size_t i = 0; i < codes.size(); ++i) {
            const auto [cell, is_new] = number.try_emplace(codes[i] * arity + level_of[i], n_cells);
            n_cells += is_new;
            codes[i] = cell->second;
        }
    }
    return n_cells;
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

std::pair<JointCodes, int64_t> join_with(Vector<const uint32_t> cells, int64_t n_cells,
                                         const Columns& columns, int64_t j) {
    if (int64_t(cells.shape(0)) != columns.n_samples() || j < 0 || j >= columns.size())
        throw std::invalid_argument("the cells and the columns do not fit together");
    std::vector<uint32_t> codes(cells.data(), cells.data() + cells.shape(0));
    uint64_t n_joint = 0;
    {
        nb::gil_scoped_release release;
        n_joint = columns[j].visit([&](const auto* level_of) {
            return join_one(codes, uint64_t(n_cells), level_of, uint64_t(columns[j].arity));
        });
    }
    return {to_numpy(std::move(codes)), int64_t(n_joint)};
}

// The term of every column, or of the columns at the positions `which` only.
void information(const Columns& columns, Vector<const uint32_t> y, int64_t n_classes,
                 Vector<const uint32_t> w, int64_t n_cells, Term term, Estimator estimator,
                 Vector<double> out, std::optional<Vector<const int64_t>> which) {
    const int64_t n_samples = columns.n_samples();
    const int64_t n_terms = which ? int64_t(which->shape(0)) : columns.size();
    if (int64_t(y.shape(0)) != n_samples || int64_t(w.shape(0)) != n_samples ||
        int64_t(out.shape(0)) != n_terms)
        throw std::invalid_argument("the columns, y, w and out do not fit together");
    for (int64_t k = 0; which && k < n_terms; ++k)
        if ((*which)(k) < 0 || (*which)(k) >= columns.size())
            throw std::invalid_argument("there is no column at that position");
    nb::gil_scoped_release release;
    const uint32_t *cls = y.data(), *cell_of = w.data();
    for (int64_t i = 0; i < n_samples; ++i)
        if (cell_of[i] >= uint64_t(n_cells)) throw std::invalid_argument("a cell is not below their number");
    const Setting setting(estimator, cls, n_samples, n_classes);
    Partition everybody, partition;
    everybody.assign_whole(n_samples, cls, n_classes);
    Refiner()(everybody, cell_of, n_cells, cls, partition);
    ConditionSums condition;
    condition.compute(partition, setting);
    Evaluator evaluate(setting);
    Candidate candidate;
    // The terms of (X,W) and Y do without the counts of X.
    const bool is_counted = estimator == Estimator::jeffreys || term == Term::information ||
                            term == Term::given_class || term == Term::redundancy;
    std::vector<int64_t> row_count;
    for (int64_t k = 0; k < n_terms; ++k) {
        const Column& column = columns[which ? (*which)(k) : k];
        row_count.assign(size_t(column.arity * n_classes), 0);
        if (is_counted) count_rows(column, cls, n_samples, n_classes, row_count.data());
        candidate.assign(column, n_classes, row_count.data());
        out(k) = evaluate(term, candidate, partition, condition);
    }
}

}  // namespace

}  // namespace hocmim

void bind_information(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::enum_<Estimator>(m, "Estimator")
        .value("plugin", Estimator::plugin)
        .value("shrinkage", Estimator::shrinkage)
        .value("miller_madow", Estimator::miller_madow)
        .value("grassberger", Estimator::grassberger)
        .value("jeffreys", Estimator::jeffreys);

    nb::enum_<Term>(m, "Term")
        .value("information", Term::information)
        .value("given_class", Term::given_class)
        .value("redundancy", Term::redundancy)
        .value("conditional", Term::conditional)
        .value("joint", Term::joint)
        .value("joint_entropy", Term::joint_entropy);

    nb::class_<Columns>(m, "Columns")
        .def(nb::init<int64_t>(), "n_samples"_a)
        .def(nb::init<Matrix<const uint8_t>, Matrix<const uint16_t>, Vector<const int64_t>,
                      Vector<const int64_t>>(),
             "narrow"_a.noconvert(), "wide"_a.noconvert(), "place"_a.noconvert(),
             "arity"_a.noconvert())
        .def("append", &Columns::append_narrow, "codes"_a.noconvert(), "arity"_a)
        .def("append", &Columns::append_wide, "codes"_a.noconvert(), "arity"_a)
        .def("__len__", &Columns::size);

    m.def("join", &join, "columns"_a);
    m.def("join_with", &join_with, "cells"_a.noconvert(), "n_cells"_a, "columns"_a, "j"_a);
    m.def("information", &information, "columns"_a, "y"_a.noconvert(), "n_classes"_a,
          "w"_a.noconvert(), "n_cells"_a, "term"_a, "estimator"_a, "out"_a.noconvert(),
          "which"_a.noconvert().none() = nb::none());
}
