// Shrinkage towards independence, on a table of rows against columns of any kind.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/logarithm.hpp"

namespace hocmim {

// What an occupied cell adds: p* log(p*/ind) · scale, with p*/ind = λ + (1−λ) N c / (n_r n_c).
struct ShrunkenCell {
    double lambda, towards, keep, ratio;

    ShrunkenCell() = default;
    ShrunkenCell(double lambda_, double n, double scale)
        : lambda(lambda_), towards(lambda * scale / (n * n)), keep((1 - lambda) * scale / n),
          ratio((1 - lambda) * n) {}
    static double term(double count, double product, double lambda, double towards, double keep,
                       double ratio) {
        return (towards * product + keep * count) * log_positive(lambda + ratio * count / product);
    }
    // What all empty cells add, λ log λ times the ind that no occupied cell has.
    static double empty(double lambda, double n, double product_sum) {
        return lambda > 0 ? lambda * log_positive(lambda) * (1 - product_sum / (n * n)) : 0.0;
    }
};

// λ of a table, from whole numbers: Σ c² over the cells, Σ c n_r n_c, Σ n_r² and Σ n_c².
double shrinkage_intensity(double n, double squares, double cross, double row_squares,
                           double column_squares);

// The occupied cells of a table, kinds of cells at a time: the count c of a cell, the product of its
// two marginals, and how many cells there are of that kind.
//
// With what is known of the rows, samples alone in their column need no cell of their own.
class ShrinkageTable {
public:
    // Begins a table whose rows hold `row_count` samples each, with room for so many cells.
    void start(const std::vector<int64_t>& row_count, size_t most_cells);

    void add(size_t row, int64_t c, int64_t column_size, int64_t times = 1) {
        const double product = row_double_[row] * double(column_size);
        count_[size_] = uint32_t(c);
        product_[size_] = product;
        times_[size_++] = uint32_t(times);
        squares_ += double(times * c * c);
        product_sum_ += double(times) * product;
        live_[row] += double(times * c);
        cross_[row] += double(times * c * column_size);
    }

    // A whole column, counts of 0 included: a cell more costs less than a branch.
    template <class Count>
    void add_column(const Count* counts, int64_t column_size) {
        double* product = product_.data() + size_;
        uint32_t *count = count_.data() + size_, *times = times_.data() + size_;
        const double columns = double(column_size);
        const size_t n_rows = row_double_.size();
        for (size_t row = 0; row < n_rows; ++row) {
            const double c = double(counts[row]), marginals = row_double_[row] * columns;
            count[row] = uint32_t(counts[row]);
            product[row] = marginals;
            times[row] = counts[row] > 0;
            squares_ += c * c;
            product_sum_ += counts[row] > 0 ? marginals : 0.0;
            live_[row] += c;
            cross_[row] += c * columns;
        }
        size_ += n_rows;
    }

    // Ends it: rows hold all samples that were not added, each alone in its column.
    void finish();

    // λ, given Σ n_c² over the columns.
    double intensity(int64_t n_samples, int64_t column_squares) const;

    // Σ p* log(p*/ind) over all cells, p* = λ ind + (1−λ) p; occupied or not.
    double information(double lambda, int64_t n_samples, const FixedPoint& nats) const;

private:
    // Whole numbers kept as doubles are exact up to 2^53.
    std::vector<double> row_double_;  // n_r
    Buffer<uint32_t> count_, times_;
    Buffer<double> product_;
    size_t size_ = 0;
    double squares_ = 0;                // Σ c²
    double product_sum_ = 0;            // Σ of the products of cells that are occupied
    std::vector<double> live_, cross_;  // per row: samples added; Σ c n_c
};

}  // namespace hocmim
