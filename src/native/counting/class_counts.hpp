// Counts n_xy of columns: how often each level occurs with each class.
#pragma once
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/columns.hpp"

namespace hocmim {

// Levels times classes of a column. Throws std::bad_alloc where a row has no number of 32 bits.
size_t n_rows_of(const Column& column, int64_t n_classes);

// Counts n_xy of a column, dense over level * n_classes + class.
void count_rows(const Column& column, const uint32_t* cls, int64_t n_samples, int64_t n_classes,
                int64_t* row_count);

// The counts n_xy of the columns of a block, each counted on its first use. Those of a column with
// many levels are not kept. Threads may ask for different columns at the same time.
class ClassCounts {
public:
    // `columns` and `cls` must outlive the counts.
    ClassCounts(const Columns& columns, const uint32_t* cls, int64_t n_classes);

    const Columns& columns() const { return columns_; }
    const uint32_t* cls() const { return cls_; }
    int64_t n_classes() const { return n_classes_; }
    // Of column j; `scratch` holds those that are not kept.
    const int64_t* of(int64_t j, std::vector<int64_t>& scratch);

private:
    const Columns& columns_;
    const uint32_t* cls_;
    int64_t n_classes_;
    std::vector<int64_t> offset_;  // where the counts of a column begin, or −1 if they are not kept
    std::vector<uint8_t> is_counted_;  // by column
    Buffer<int64_t> kept_;             // of all columns, one after the other
};

// A candidate column with its marginal counts. A table row is a level with a class.
struct Candidate {
    Column column{};
    std::vector<int64_t> level_count;  // n_x
    std::vector<int64_t> row_count;    // n_xy, dense over level * n_classes + class

    void assign(const Column& column, int64_t n_classes, const int64_t* row_count);
    // Without the counts n_xy; without n_x too if `n_samples` is 0.
    void assign_levels(const Column& column, int64_t n_samples);
};

}  // namespace hocmim
