// What the benchmarks measure against: a plain histogram on one core.
//
// benchmarks/kernels.py compiles this file and calls it by ctypes.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

// Counts each column x against the joint code (w,y): one increment per sample. Returns nanoseconds
// per increment; clearing the table once per column is included.
extern "C" double histogram_ns(const uint8_t* x, size_t n_columns, const uint8_t* wy,
                               size_t n_samples, int64_t repeats) {
    const size_t arity = *std::max_element(x, x + n_columns * n_samples) + 1;
    const size_t n_cells = *std::max_element(wy, wy + n_samples) + 1;
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
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return taken.count() * 1e9 / (double(repeats) * double(n_columns) * double(n_samples));
}
