// What the benchmarks measure against: a plain histogram and plain reading, on one core.
//
// benchmarks/yardstick.py compiles this file and calls it by ctypes.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Code>
double histogram_ns(const uint8_t* x, size_t n_columns, const Code* wy, size_t n_samples,
                    int64_t repeats) {
    size_t arity = 0, n_cells = 0;
    for (size_t k = 0; k < n_columns * n_samples; ++k) arity = std::max<size_t>(arity, x[k] + 1);
    for (size_t i = 0; i < n_samples; ++i) n_cells = std::max<size_t>(n_cells, wy[i] + 1);
    std::vector<uint32_t> count(n_cells * arity);
    volatile uint32_t keep = 0;  // so that no count can be optimised away
    const auto start = std::chrono::steady_clock::now();
    for (int64_t r = 0; r < repeats; ++r)
        for (size_t j = 0; j < n_columns; ++j) {
            std::fill(count.begin(), count.end(), 0);
            const uint8_t* level = x + j * n_samples;
            uint32_t* table = count.data();
            for (size_t i = 0; i < n_samples; ++i) ++table[wy[i] * arity + level[i]];
            keep = keep + table[level[0]];
        }
    return seconds_since(start) * 1e9 / (double(repeats) * double(n_columns) * double(n_samples));
}

}  // namespace

// Counts each column x against the joint code (w,y): one increment a sample. Returns nanoseconds an
// increment, clearing the table once a column included.
extern "C" double histogram_ns_8(const uint8_t* x, size_t n_columns, const uint8_t* wy,
                                 size_t n_samples, int64_t repeats) {
    return histogram_ns(x, n_columns, wy, n_samples, repeats);
}
extern "C" double histogram_ns_16(const uint8_t* x, size_t n_columns, const uint16_t* wy,
                                  size_t n_samples, int64_t repeats) {
    return histogram_ns(x, n_columns, wy, n_samples, repeats);
}

// Bytes a second of adding up an array, eight bytes at a time.
extern "C" double stream_bytes_per_second(const uint64_t* words, size_t n_words, int64_t repeats) {
    volatile uint64_t keep = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int64_t r = 0; r < repeats; ++r) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n_words; ++i) sum += words[i];
        keep = keep + sum;
    }
    return double(repeats) * double(n_words) * 8 / seconds_since(start);
}
