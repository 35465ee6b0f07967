#include "counting/class_counts.hpp"

#include <algorithm>
#include <new>

namespace hocmim {

namespace {

constexpr int64_t kMostKeptCounts = 1024;  // of one column

}  // namespace

size_t n_rows_of(const Column& column, int64_t n_classes) {
    const int64_t n_rows = column.arity * n_classes;
    if (n_rows > int64_t(UINT32_MAX)) throw std::bad_alloc();
    return size_t(n_rows);
}

void count_rows(const Column& column, const uint32_t* cls, int64_t n_samples, int64_t n_classes,
                int64_t* row_count) {
    std::fill_n(row_count, size_t(column.arity * n_classes), 0);
    column.visit([&](const auto* level_of) {
        for (int64_t i = 0; i < n_samples; ++i)
            ++row_count[int64_t(level_of[i]) * n_classes + cls[i]];
    });
}

ClassCounts::ClassCounts(const Columns& columns, const uint32_t* cls, int64_t n_classes)
    : columns_(columns), cls_(cls), n_classes_(n_classes), is_counted_(size_t(columns.size()), 0) {
    int64_t n_kept = 0;
    for (int64_t j = 0; j < columns.size(); ++j) {
        const int64_t n_counts = columns[j].arity * n_classes;
        offset_.push_back(n_counts <= kMostKeptCounts ? n_kept : -1);
        if (n_counts <= kMostKeptCounts) n_kept += n_counts;
    }
    kept_.resize(size_t(n_kept));
}

const int64_t* ClassCounts::of(int64_t j, std::vector<int64_t>& scratch) {
    const int64_t offset = offset_[size_t(j)];
    if (offset < 0) scratch.resize(n_rows_of(columns_[j], n_classes_));
    int64_t* counts = offset < 0 ? scratch.data() : kept_.data() + offset;
    if (!is_counted_[size_t(j)])
        count_rows(columns_[j], cls_, columns_.n_samples(), n_classes_, counts);
    is_counted_[size_t(j)] = offset >= 0;
    return counts;
}

void Candidate::assign(const Column& column_, int64_t n_classes, const int64_t* row_count_) {
    column = column_;
    row_count.assign(row_count_, row_count_ + column.arity * n_classes);
    level_count.assign(size_t(column.arity), 0);
    for (int64_t level = 0; level < column.arity; ++level)
        for (int64_t cls = 0; cls < n_classes; ++cls)
            level_count[size_t(level)] += row_count_[level * n_classes + cls];
}

void Candidate::assign_levels(const Column& column_, int64_t n_samples) {
    column = column_;
    row_count.clear();
    level_count.assign(n_samples ? size_t(column.arity) : 0, 0);
    column.visit([&](const auto* level_of) {
        for (int64_t i = 0; i < n_samples; ++i) ++level_count[level_of[i]];
    });
}

}  // namespace hocmim
