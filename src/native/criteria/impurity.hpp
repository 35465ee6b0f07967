// The impurity gain of pairs of columns: how far knowing (x,w) lowers the impurity of Y.
//
//     G(X,W;Y) = Σ p_xwy² / p_xw − Σ p_y² = (1/N) [Σ_xw (Σ_y n_xwy²) / n_xw − (Σ_y n_y²) / N]
//
// The terms of the sum are added in fixed point, so that the order of the cells does not matter.
// Both ways of counting give the same bits: a dense table where it has at most one counter per
// sample, else the samples grouped by cell.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/arrays.hpp"
#include "core/columns.hpp"
#include "core/fixed_point.hpp"
#include "core/interrupt.hpp"
#include "core/partition.hpp"
#include "counting/cell_counter.hpp"

namespace hocmim {

// Sums (Σ_y n_y²) / n over cells (x,w) of n samples.
class ImpuritySum {
public:
    explicit ImpuritySum(const FixedPoint& fixed) : fixed_(fixed) {}

    void begin_cell(int64_t n_samples) {
        n_samples_ = n_samples;
        squares_ = 0;
    }
    void in_row(uint32_t, int64_t count) { squares_ += uint64_t(count) * uint64_t(count); }
    void end_cell() { sum_ += fixed_.of(double(squares_) / double(n_samples_)); }
    // A cell of one sample adds 1.
    void add_single_samples(int64_t n_cells) { sum_ += n_cells * fixed_.of(1.0); }
    int64_t sum() const { return sum_; }

private:
    const FixedPoint& fixed_;
    int64_t n_samples_ = 0, sum_ = 0;
    uint64_t squares_ = 0;  // fewer than 2³² samples: their square fits
};

// The gain of columns of N samples, each together with one variable W. Holds scratch, so one
// ImpurityGain serves one thread.
class ImpurityGain {
public:
    // `w` and `cls` are the cell and the class of each sample; they must outlive the object.
    ImpurityGain(const uint32_t* w, int64_t n_cells, const uint32_t* cls, int64_t n_classes,
                 int64_t n_samples)
        : w_(w),
          cls_(cls),
          n_cells_(n_cells),
          n_classes_(n_classes),
          n_samples_(n_samples),
          fixed_(double(n_samples)) {
        std::vector<int64_t> class_count(size_t(n_classes), 0);
        for (int64_t i = 0; i < n_samples; ++i) ++class_count[cls[i]];
        ImpuritySum whole(fixed_);
        whole.begin_cell(n_samples);
        for (const int64_t count : class_count) whole.in_row(0, count);
        whole.end_cell();
        whole_ = whole.sum();
    }

    double operator()(const Column& column) {
        ImpuritySum sum(fixed_);
        column.visit([&](const auto* level_of) {
            if (is_small(column.arity))
                count_dense(level_of, column.arity, sum);
            else
                count_cells(level_of, column.arity, sum);
        });
        return fixed_.real(sum.sum() - whole_) / double(n_samples_);
    }

private:
    bool is_small(int64_t arity) const {
        return double(arity) * double(n_cells_) * double(n_classes_) <= double(n_samples_);
    }

    template <class Code>
    void count_dense(const Code* level_of, int64_t arity, ImpuritySum& sum) {
        if (pair_of_.empty()) {
            pair_of_.resize(size_t(n_samples_));
            for (int64_t i = 0; i < n_samples_; ++i)
                pair_of_[size_t(i)] = w_[i] * uint32_t(n_classes_) + cls_[i];
        }
        const size_t n_pairs = size_t(n_cells_ * n_classes_);
        table_.assign(size_t(arity) * n_pairs, 0);
        for (size_t i = 0; i < size_t(n_samples_); ++i)
            ++table_[level_of[i] * n_pairs + pair_of_[i]];
        for (size_t at = 0; at < table_.size(); at += size_t(n_classes_)) {
            int64_t n_here = 0;
            for (int64_t y = 0; y < n_classes_; ++y) n_here += table_[at + size_t(y)];
            if (n_here == 0) continue;
            sum.begin_cell(n_here);
            for (int64_t y = 0; y < n_classes_; ++y)
                sum.in_row(uint32_t(y), table_[at + size_t(y)]);
            sum.end_cell();
        }
    }

    template <class Code>
    void count_cells(const Code* level_of, int64_t arity, ImpuritySum& sum) {
        if (!is_grouped_) {
            Partition whole;
            whole.assign_whole(n_samples_, cls_, n_classes_);
            refine_(whole, w_, n_cells_, cls_, by_w_);
            is_grouped_ = true;
        }
        refine_(by_w_, level_of, arity, cls_, by_xw_);
        count_(by_xw_, n_classes_, [this](uint32_t sample) { return cls_[sample]; }, sum);
        sum.add_single_samples(by_xw_.n_alone);
    }

    const uint32_t *w_, *cls_;
    int64_t n_cells_, n_classes_, n_samples_;
    FixedPoint fixed_;
    int64_t whole_ = 0;              // (Σ_y n_y²) / N
    std::vector<uint32_t> pair_of_;  // w * n_classes + y of each sample, made on first use
    std::vector<uint32_t> table_;    // n_xwy
    bool is_grouped_ = false;
    Partition by_w_, by_xw_;
    Refiner refine_;
    CellCounter count_;
};

// Writes G(X,W;Y) of each column X.
inline void impurity_gain(const Columns& columns, Vector<const uint32_t> w, int64_t n_cells,
                          Vector<const uint32_t> y, int64_t n_classes, Vector<double> out) {
    const int64_t n_samples = columns.n_samples();
    if (int64_t(w.size()) != n_samples || int64_t(y.size()) != n_samples ||
        int64_t(out.size()) != columns.size())
        throw std::invalid_argument("the columns, w, y and out do not fit together");
    check_below(w, n_cells);
    check_below(y, n_classes);
    ImpurityGain gain(w.data(), n_cells, y.data(), n_classes, n_samples);
    for (int64_t j = 0; j < columns.size(); ++j) {
        out[j] = gain(columns[j]);
        count_work(n_samples);
    }
}

}  // namespace hocmim
