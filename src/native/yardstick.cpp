// What the benchmarks measure against: a plain histogram and plain reading, on one core.
#include <algorithm>
#include <chrono>

#include "core/columns.hpp"
#include "bindings/module.hpp"

namespace hocmim {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Counts each column x against the joint code (w,y): one increment a sample. Returns nanoseconds an
// increment, clearing the table once a column included.
template <class Code>
double histogram_yardstick(Matrix<const uint8_t> x, Vector<const Code> wy, int64_t repeats) {
    const size_t n_samples = wy.shape(0);
    if (x.shape(1) != n_samples || x.shape(0) == 0 || n_samples == 0 || repeats < 1)
        throw std::invalid_argument("x and wy do not fit together");
    nb::gil_scoped_release release;
    size_t arity = 0, n_cells = 0;
    for (size_t k = 0; k < x.shape(0) * n_samples; ++k) arity = std::max<size_t>(arity, x.data()[k] + 1);
    for (size_t i = 0; i < n_samples; ++i) n_cells = std::max<size_t>(n_cells, wy.data()[i] + 1);
    std::vector<uint32_t> count(n_cells * arity);
    volatile uint32_t keep = 0;  // so that no count can be left out
    const auto start = std::chrono::steady_clock::now();
    for (int64_t r = 0; r < repeats; ++r)
        for (size_t j = 0; j < x.shape(0); ++j) {
            std::fill(count.begin(), count.end(), 0);
            const uint8_t* level = x.data() + j * n_samples;
            const Code* cell = wy.data();
            uint32_t* table = count.data();
            for (size_t i = 0; i < n_samples; ++i) ++table[cell[i] * arity + level[i]];
            keep = keep + table[level[0]];
        }
    return seconds_since(start) * 1e9 / (double(repeats) * double(x.shape(0)) * double(n_samples));
}

// Bytes a second of adding up an array, eight bytes at a time.
double stream_yardstick(Vector<const uint64_t> words, int64_t repeats) {
    if (words.shape(0) == 0 || repeats < 1) throw std::invalid_argument("there is nothing to read");
    nb::gil_scoped_release release;
    volatile uint64_t keep = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int64_t r = 0; r < repeats; ++r) {
        uint64_t sum = 0;
        for (size_t i = 0; i < words.shape(0); ++i) sum += words.data()[i];
        keep = keep + sum;
    }
    return double(repeats) * double(words.shape(0)) * 8 / seconds_since(start);
}

}  // namespace

}  // namespace hocmim

void bind_yardstick(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    m.def("histogram_yardstick", &histogram_yardstick<uint8_t>, "x"_a.noconvert(),
          "wy"_a.noconvert(), "repeats"_a);
    m.def("histogram_yardstick", &histogram_yardstick<uint16_t>, "x"_a.noconvert(),
          "wy"_a.noconvert(), "repeats"_a);
    m.def("stream_yardstick", &stream_yardstick, "words"_a.noconvert(), "repeats"_a);
}
