// Bindings of encoding: what the values of columns are like, where to cut them, and the cut itself.
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "coding/apply.hpp"
#include "coding/cuts.hpp"
#include "coding/encode.hpp"
#include "counting/bit_planes.hpp"

namespace hocmim {

namespace {

// What was learnt of columns, with their bit planes: pairs of a first column and planes.
struct LearntWithPlanes : LearntColumns {
    std::vector<BitPlanes::Made> planes;

    explicit LearntWithPlanes(LearntColumns&& learnt) : LearntColumns(std::move(learnt)) {}

    static LearntWithPlanes concatenate(const std::vector<const LearntWithPlanes*>& parts) {
        LearntWithPlanes all{LearntColumns()};
        for (const LearntWithPlanes* part : parts) {
            for (const auto& [first, made] : part->planes)
                all.planes.emplace_back(all.size() + first, made);
            all.append(*part);
        }
        return all;
    }
};

// A block that several threads encode together, and bit planes of its columns for a search with
// `plane_classes` classes. Row j of `room` is for the planes of column j; without rows, no planes
// are made.
class Encoding {
public:
    template <class T>
    static std::unique_ptr<Encoding> make(NumpyBlock<T> values, int method, int64_t n_bins,
                                          NumpyVector<const int64_t> classes, int64_t n_classes,
                                          NumpyMatrix<uint8_t> codes, int64_t n_threads,
                                          int64_t plane_classes, NumpyMatrix<uint64_t> room) {
        require(room.shape(0) == 0 || room.shape(0) == codes.shape(0),
                "room must have one row per column of the block");
        auto made = std::make_unique<Encoding>();
        const Learning how{Method(method), n_bins, view(classes), n_classes};
        made->shared_ = std::make_unique<SharedBlock<T>>(view(values), how, view(codes), n_threads);
        made->values_ = nb::ndarray<>(std::move(values));
        made->classes_ = std::move(classes);
        made->codes_ = std::move(codes);
        made->plane_classes_ = plane_classes;
        made->room_ = std::make_shared<NumpyMatrix<uint64_t>>(std::move(room));
        return made;
    }

    void encode() {
        shared_->encode([this](int64_t left, const LearntColumns& found) {
            if (room_->shape(0) > 0) make_planes(left, found);
        });
    }

    LearntWithPlanes result() {
        LearntWithPlanes learnt(shared_->take());
        learnt.planes = std::move(planes_);
        return learnt;
    }

private:
    void make_planes(int64_t left, const LearntColumns& found) {
        const Matrix<uint8_t> codes = view(codes_);
        const Matrix<uint64_t> room = view(*room_);
        Columns columns{int64_t(codes.n_columns)};
        for (int64_t k = 0; k < found.size(); ++k)
            columns.append(codes.row(left + k), codes.n_columns, false,
                           found.n_levels[k] + found.has_missing[k]);
        const std::shared_ptr<uint64_t[]> words(room_, room.row(left));  // keeps the room
        const int64_t most_planes =
            int64_t(room.n_columns) / BitPlanes::words_of_plane(columns.n_samples());
        auto made = std::make_shared<BitPlanes>(
            BitPlanes::of_part(columns, plane_classes_, most_planes, words));
        const std::lock_guard<std::mutex> locked(mutex_);
        planes_.emplace_back(left, std::move(made));
    }

    nb::ndarray<> values_;
    NumpyVector<const int64_t> classes_;
    NumpyMatrix<uint8_t> codes_;
    std::shared_ptr<NumpyMatrix<uint64_t>> room_;
    int64_t plane_classes_ = 0;
    std::unique_ptr<SharedEncoding> shared_;
    std::mutex mutex_;
    std::vector<BitPlanes::Made> planes_;  // in any order
};

// A property whose array is the vector itself, of a record that it keeps. `As` is its element type
// in Python.
template <class As, class T>
auto vector_property(std::vector<T> LearntColumns::* field) {
    return [field](LearntWithPlanes& learnt) {
        std::vector<T>& values = learnt.*field;
        return NumpyResult<As>(reinterpret_cast<As*>(values.data()), {values.size()},
                               nb::find(learnt));
    };
}

void bind_learnt(nb::module_& m) {
    static_assert(sizeof(bool) == sizeof(uint8_t));
    using Learnt = LearntWithPlanes;
    nb::class_<Learnt>(m, "LearntColumns")
        .def_prop_ro("is_cut", vector_property<bool>(&Learnt::is_cut))
        .def_prop_ro("has_missing", vector_property<bool>(&Learnt::has_missing))
        .def_prop_ro("n_levels", vector_property<int64_t>(&Learnt::n_levels))
        .def_prop_ro("n_cuts", vector_property<int64_t>(&Learnt::n_cuts))
        .def_prop_ro("n_distinct", vector_property<int64_t>(&Learnt::n_distinct))
        .def_prop_ro("most_frequent", vector_property<int64_t>(&Learnt::most_frequent))
        .def_prop_ro("n_most_frequent", vector_property<int64_t>(&Learnt::n_most_frequent))
        .def_prop_ro("minimum", vector_property<double>(&Learnt::minimum))
        .def_prop_ro("maximum", vector_property<double>(&Learnt::maximum))
        .def_prop_ro("cuts", vector_property<double>(&Learnt::cuts))
        .def_prop_ro("distinct", vector_property<double>(&Learnt::distinct))
        .def_ro("infinite_column", &Learnt::infinite_column)
        .def_ro("planes", &Learnt::planes)
        .def("__len__", &Learnt::size)
        .def_static("concatenate", &Learnt::concatenate, "parts"_a);
}

nb::tuple to_tuple(CutsOfColumns&& found) {
    return nb::make_tuple(to_numpy(std::move(found.cuts)), to_numpy(std::move(found.n_cuts)));
}

template <class T>
void bind_type(nb::module_& m, nb::class_<Encoding>& encoding) {
    m.def(
        "survey",
        [](Block<T> values, int64_t limit) {
            Survey found = without_gil([&] { return survey(values, limit); });
            return nb::make_tuple(
                to_numpy(std::move(found.minimum)), to_numpy(std::move(found.maximum)),
                to_numpy(std::move(found.has_missing)), to_numpy(std::move(found.n_distinct)),
                to_numpy(std::move(found.distinct)));
        },
        "values"_a.noconvert(), "limit"_a);
    m.def(
        "apply_cuts",
        [](Block<T> values, Vector<const double> cuts, Vector<const int64_t> offsets,
           Vector<const int64_t> unknown, Vector<const int64_t> place, Matrix<uint8_t> narrow,
           Matrix<uint16_t> wide) {
            return apply_cuts(values, CutColumns{cuts, offsets, unknown, place, narrow, wide});
        },
        "values"_a.noconvert(), "cuts"_a.noconvert(), "offsets"_a.noconvert(),
        "unknown"_a.noconvert(), "place"_a.noconvert(), "narrow"_a.noconvert(),
        "wide"_a.noconvert(), WithoutGil());
    m.def(
        "quantile_cuts",
        [](Block<T> values, Vector<const int64_t> columns, int64_t n_bins) {
            return to_tuple(without_gil([&] { return quantile_cuts(values, columns, n_bins); }));
        },
        "values"_a.noconvert(), "columns"_a.noconvert(), "n_bins"_a);
    m.def(
        "mdlp_cuts",
        [](Block<T> values, Vector<const int64_t> columns, Vector<const int64_t> classes,
           int64_t n_classes) {
            return to_tuple(
                without_gil([&] { return mdlp_cuts(values, columns, classes, n_classes); }));
        },
        "values"_a.noconvert(), "columns"_a.noconvert(), "classes"_a.noconvert(), "n_classes"_a);
    encoding.def(nb::new_(&Encoding::make<T>), "values"_a.noconvert(), "method"_a, "n_bins"_a,
                 "classes"_a.noconvert(), "n_classes"_a, "codes"_a.noconvert(), "n_threads"_a,
                 "plane_classes"_a, "room"_a.noconvert());
}

void bind_sparse(nb::module_& m) {
    m.def(
        "encode_sparse",
        [](Vector<const double> values, Vector<const int64_t> rows, Vector<const int64_t> offsets,
           int64_t n_rows, int method, int64_t n_bins, Vector<const int64_t> classes,
           int64_t n_classes, Matrix<uint8_t> codes) {
            return LearntWithPlanes(encode_sparse({values, rows, offsets, n_rows},
                                                  {Method(method), n_bins, classes, n_classes},
                                                  codes));
        },
        "values"_a.noconvert(), "rows"_a.noconvert(), "offsets"_a.noconvert(), "n_rows"_a,
        "method"_a, "n_bins"_a, "classes"_a.noconvert(), "n_classes"_a, "codes"_a.noconvert(),
        WithoutGil());
    m.def(
        "apply_cuts_sparse",
        [](Vector<const double> values, Vector<const int64_t> rows, Vector<const int64_t> offsets,
           Vector<const double> cuts, Vector<const int64_t> cut_offsets,
           Vector<const int64_t> unknown, Vector<const int64_t> place, Matrix<uint8_t> narrow,
           Matrix<uint16_t> wide) {
            return apply_cuts(SparseColumns{values, rows, offsets, int64_t(narrow.n_columns)},
                              CutColumns{cuts, cut_offsets, unknown, place, narrow, wide});
        },
        "values"_a.noconvert(), "rows"_a.noconvert(), "offsets"_a.noconvert(), "cuts"_a.noconvert(),
        "cut_offsets"_a.noconvert(), "unknown"_a.noconvert(), "place"_a.noconvert(),
        "narrow"_a.noconvert(), "wide"_a.noconvert(), WithoutGil());
}

template <class Code>
void bind_most_frequent(nb::module_& m) {
    m.def(
        "most_frequent",
        [](Matrix<const Code> codes) {
            return to_numpy(without_gil([&] { return most_frequent(codes); }));
        },
        "codes"_a.noconvert());
}

}  // namespace

void bind_coding(nb::module_& m) {
    bind_learnt(m);
    nb::class_<Encoding> encoding(m, "Encoding");
    encoding.def("encode", &Encoding::encode, WithoutGil()).def("result", &Encoding::result);
    bind_type<double>(m, encoding);
    bind_type<float>(m, encoding);
    bind_type<int8_t>(m, encoding);
    bind_type<int16_t>(m, encoding);
    bind_type<int32_t>(m, encoding);
    bind_type<int64_t>(m, encoding);
    bind_type<uint8_t>(m, encoding);
    bind_type<uint16_t>(m, encoding);
    bind_type<uint32_t>(m, encoding);
    bind_type<uint64_t>(m, encoding);
    bind_sparse(m);
    bind_most_frequent<uint8_t>(m);
    bind_most_frequent<uint16_t>(m);
}

}  // namespace hocmim
