// The part of a term that depends on the conditioning variable W and the class alone.
#pragma once
#include <cstdint>
#include <vector>

#include "core/partition.hpp"
#include "counting/cell_counter.hpp"
#include "estimators/setting.hpp"
#include "estimators/shrinkage_table.hpp"

namespace hocmim {

// The sums over the cells of W that the terms of every candidate use.
class ConditionSums {
public:
    void compute(const Partition& partition, const Setting& setting);
    // From the counts n_wy, by w, then y.
    void compute(const std::vector<int64_t>& pair_counts, const Setting& setting);

    // Cell by cell: start, then each cell of two or more samples with its classes, then finish.
    void start(const Setting& setting, size_t most_cells);
    void add_cell(int64_t size, int64_t times = 1) {
        cell_squares += times * size * size;
        cells_sum += times * (*setting_->function)(size);
        n_cells += times;
    }
    void add_pair(size_t cls, int64_t count, int64_t cell_size, int64_t times = 1) {
        pairs_sum += times * (*setting_->function)(count);
        cells_of_class[cls] += times;
        live_[cls] += times * count;
        if (is_shrunken_) pairs.add(cls, count, cell_size, times);
    }
    void finish();

    int64_t n_cells = 0, n_alone = 0;
    int64_t cell_squares = 0;             // Σ n_w²
    int64_t cells_sum = 0;                // Σ f(n_w)
    int64_t pairs_sum = 0;                // Σ f(n_wy)
    std::vector<int64_t> cells_of_class;  // cells in which each class occurs
    ShrinkageTable<1> pairs;              // rows y, columns w

private:
    const Setting* setting_ = nullptr;
    bool is_shrunken_ = false;
    std::vector<int64_t> live_;  // per class: samples not alone
    CellCounter count_;
};

}  // namespace hocmim
