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

#include "bindings/module.hpp"
#include "coding/apply.hpp"
#include "coding/encode.hpp"
#include "coding/mdlp.hpp"
#include "coding/quantiles.hpp"
#include "coding/shared.hpp"
#include "coding/sparse.hpp"
#include "coding/survey.hpp"
#include "counting/bit_planes.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocmim::coding;
using hocmim::BitPlanes;

namespace {

// A block that several threads encode together, and bit planes of its columns for a search with
// `plane_classes` classes. Row j of `room` is for the planes of column j; without rows, no planes
// are made.
class Encoding {
public:
    template <class T>
    static std::unique_ptr<Encoding> of(Array2<T> values, int method, i64 n_bins,
                                        Array1<i64> classes, i64 n_classes,
                                        Rows<std::uint8_t> codes, i64 n_threads, i64 plane_classes,
                                        Rows<std::uint64_t> room) {
        require(room.shape(0) == 0 || room.shape(0) == codes.shape(0),
                "room must have a row a column of the block");
        auto made = std::make_unique<Encoding>();
        made->codes_ = codes;
        made->plane_classes_ = plane_classes;
        made->room_ = std::make_shared<Rows<std::uint64_t>>(std::move(room));
        made->shared_ =
            std::make_unique<SharedBlock<T>>(std::move(values), method, n_bins, std::move(classes),
                                             n_classes, std::move(codes), n_threads);
        return made;
    }

    void encode() {
        shared_->encode([this](i64 left, const Codings& found) {
            if (room_->shape(0) > 0) make_planes(left, found);
        });
    }
    nb::tuple result() { return to_tuple(shared_->take()); }
    // In any order.
    std::vector<BitPlanes::Made> planes() const { return planes_; }

private:
    void make_planes(i64 left, const Codings& found) {
        const std::size_t n_rows = codes_.shape(1), first = static_cast<std::size_t>(left);
        hocmim::Columns columns(static_cast<i64>(n_rows));
        for (std::size_t k = 0; k < found.n_levels.size(); ++k) {
            columns.append(codes_.data() + (first + k) * n_rows, n_rows, false,
                           found.n_levels[k] + found.has_missing[k]);
        }
        const std::shared_ptr<std::uint64_t[]> words(
            room_, room_->data() + first * room_->shape(1));  // keeps the room
        const i64 most_planes =
            static_cast<i64>(room_->shape(1)) / BitPlanes::words_of_plane(static_cast<i64>(n_rows));
        auto made = std::make_shared<BitPlanes>(
            BitPlanes::of_part(columns, plane_classes_, most_planes, words));
        const std::lock_guard<std::mutex> locked(mutex_);
        planes_.emplace_back(left, std::move(made));
    }

    std::unique_ptr<SharedEncoding> shared_;
    Rows<std::uint8_t> codes_;
    i64 plane_classes_ = 0;
    std::shared_ptr<Rows<std::uint64_t>> room_;
    std::mutex mutex_;
    std::vector<BitPlanes::Made> planes_;
};

template <class T>
void bind_type(nb::module_& m, nb::class_<Encoding>& encoding) {
    m.def("survey", &survey<T>, "values"_a.noconvert(), "limit"_a);
    m.def("apply_cuts", &apply_cuts<T>, "values"_a.noconvert(), "cuts"_a.noconvert(),
          "offsets"_a.noconvert(), "unknown"_a.noconvert(), "place"_a.noconvert(),
          "narrow"_a.noconvert(), "wide"_a.noconvert());
    m.def("quantile_cuts", &quantile_cuts<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
          "n_bins"_a);
    m.def("mdlp_cuts", &mdlp_cuts<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
          "classes"_a.noconvert(), "n_classes"_a);
    encoding.def(nb::new_(&Encoding::of<T>), "values"_a.noconvert(), "method"_a, "n_bins"_a,
                 "classes"_a.noconvert(), "n_classes"_a, "codes"_a.noconvert(), "n_threads"_a,
                 "plane_classes"_a, "room"_a.noconvert());
}

}  // namespace

void bind_coding(nb::module_& m) {
    nb::class_<Encoding> encoding(m, "Encoding");
    encoding.def("encode", &Encoding::encode, nb::call_guard<nb::gil_scoped_release>())
        .def("result", &Encoding::result)
        .def("planes", &Encoding::planes);
    bind_type<double>(m, encoding);
    bind_type<float>(m, encoding);
    bind_type<std::int8_t>(m, encoding);
    bind_type<std::int16_t>(m, encoding);
    bind_type<std::int32_t>(m, encoding);
    bind_type<std::int64_t>(m, encoding);
    bind_type<std::uint8_t>(m, encoding);
    bind_type<std::uint16_t>(m, encoding);
    bind_type<std::uint32_t>(m, encoding);
    bind_type<std::uint64_t>(m, encoding);
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
