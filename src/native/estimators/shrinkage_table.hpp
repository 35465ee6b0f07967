// Shrinking towards independence, on contingency tables of rows against columns.
//
// One template for one table and for several tables of one shape side by side, a lane each. Whole
// numbers are kept as doubles, exact up to 2^53, and terms are summed in fixed point: so the number
// of lanes and the order of the cells do not change a bit of a result.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/dispatch.hpp"
#include "core/fixed_point.hpp"
#include "core/logarithm.hpp"

namespace hocmim {

// λ of a table of n samples, from whole numbers: Σ c² over the cells, Σ c n_r n_c, Σ n_r² and Σ
// n_c².
double shrinkage_intensity(double n, double squares, double cross, double row_squares,
                           double column_squares);

// What an occupied cell adds: p* log(p*/ind) · scale, with p*/ind = λ + (1−λ) N c / (n_r n_c).
template <size_t lanes>
struct ShrunkenCell {
    double lambda[lanes], towards[lanes], keep[lanes], ratio[lanes];

    ShrunkenCell() = default;
    ShrunkenCell(const double* given_lambda, double n, double scale) {
        for (size_t lane = 0; lane < lanes; ++lane) {
            lambda[lane] = given_lambda[lane];
            towards[lane] = lambda[lane] * scale / (n * n);
            keep[lane] = (1 - lambda[lane]) * scale / n;
            ratio[lane] = (1 - lambda[lane]) * n;
        }
    }

    HOCMIM_INLINE double term(double count, double product, size_t lane) const {
        return (towards[lane] * product + keep[lane] * count) *
               log_positive(lambda[lane] + ratio[lane] * count / product);
    }
};

// What all empty cells of a table add: λ log λ times the ind that no occupied cell has.
inline double shrunken_empty_cells(double lambda, double n, double product_sum) {
    return lambda > 0 ? lambda * log_positive(lambda) * (1 - product_sum / (n * n)) : 0.0;
}

namespace shrinkage_kernels {

// A signed conversion takes one instruction where an unsigned one takes several; side by side there
// are fewer than 2^31 samples.
template <size_t lanes>
HOCMIM_INLINE double to_double(uint32_t count) {
    return lanes == 1 ? double(count) : double(int32_t(count));
}

// An empty cell gets a term without a meaning; it is not added.
template <size_t lanes>
HOCMIM_INLINE void terms_body(const uint32_t* count, const double* product, size_t n_cells,
                              const ShrunkenCell<lanes>& cell, double* out) {
    const ShrunkenCell<lanes> of = cell;  // a copy cannot overlap `out`
    for (size_t k = 0; k < n_cells; ++k, count += lanes, product += lanes, out += lanes)
        for (size_t lane = 0; lane < lanes; ++lane)
            out[lane] = of.term(to_double<lanes>(count[lane]), product[lane], lane);
}
HOCMIM_DISPATCH(template <size_t lanes> void, terms, terms_body<lanes>,
                (const uint32_t* count, const double* product, size_t n_cells,
                 const ShrunkenCell<lanes>& cell, double* out),
                (count, product, n_cells, cell, out))

// Sums of a table; live and cross are those of one row.
template <size_t lanes>
struct Sums {
    double *squares, *product_sum, *live, *cross;
};

// The cells of whole columns, counts[k * column_stride + row * row_stride + lane] of column k,
// whose sizes are sizes[k * lanes + lane]; and where they are stored for their terms, column by
// column.
struct CellsOfColumns {
    const uint32_t* counts;
    size_t n_rows, n_columns, row_stride, column_stride;
    const double* sizes;
    uint32_t *to_count, *to_times;
    double* to_product;
};

// Adds cells to the sums, and stores them. The sums of the table and of row 0 are given.
template <size_t lanes>
HOCMIM_INLINE void add_columns_body(const double* row_count, const CellsOfColumns& cells,
                                    const Sums<lanes>& sums) {
    double squares[lanes] = {}, product_sum[lanes] = {};
    for (size_t row = 0; row < cells.n_rows; ++row) {
        double live[lanes] = {}, cross[lanes] = {}, n_row[lanes];
        for (size_t lane = 0; lane < lanes; ++lane) n_row[lane] = row_count[row * lanes + lane];
        for (size_t k = 0; k < cells.n_columns; ++k) {
            const uint32_t* counts =
                cells.counts + k * cells.column_stride + row * cells.row_stride;
            const double* sizes = cells.sizes + k * lanes;
            const size_t at = (k * cells.n_rows + row) * lanes;
            for (size_t lane = 0; lane < lanes; ++lane) {
                const double count = to_double<lanes>(counts[lane]);
                const double product = n_row[lane] * sizes[lane];
                squares[lane] += count * count;
                product_sum[lane] += counts[lane] ? product : 0.0;
                live[lane] += count;
                cross[lane] += count * sizes[lane];
                cells.to_count[at + lane] = counts[lane];
                cells.to_product[at + lane] = product;
                cells.to_times[at + lane] = counts[lane] > 0;
            }
        }
        for (size_t lane = 0; lane < lanes; ++lane) {
            sums.live[row * lanes + lane] += live[lane];
            sums.cross[row * lanes + lane] += cross[lane];
        }
    }
    for (size_t lane = 0; lane < lanes; ++lane) {
        sums.squares[lane] += squares[lane];
        sums.product_sum[lane] += product_sum[lane];
    }
}
HOCMIM_DISPATCH(template <size_t lanes> void, add_columns, add_columns_body<lanes>,
                (const double* row_count, const CellsOfColumns& cells, const Sums<lanes>& sums),
                (row_count, cells, sums))

// Adds one cell to the sums without storing it.
template <size_t lanes>
HOCMIM_INLINE void add_sums_body(const double* __restrict row_count,
                                 const uint32_t* __restrict counts, double size,
                                 const Sums<lanes>& sums) {
    double* __restrict squares = sums.squares, * __restrict product_sum = sums.product_sum;
    double* __restrict live = sums.live, * __restrict cross = sums.cross;
    for (size_t lane = 0; lane < lanes; ++lane) {
        const double count = to_double<lanes>(counts[lane]);
        squares[lane] += count * count;
        product_sum[lane] += counts[lane] ? row_count[lane] * size : 0.0;
        live[lane] += count;
        cross[lane] += count * size;
    }
}
HOCMIM_DISPATCH(template <size_t lanes> void, add_sums, add_sums_body<lanes>,
                (const double* row_count, const uint32_t* counts, double size,
                 const Sums<lanes>& sums),
                (row_count, counts, size, sums))

// The terms of one cell that is not stored.
template <size_t lanes>
HOCMIM_INLINE void cell_terms_body(const double* row_count, const uint32_t* counts, double size,
                                   const ShrunkenCell<lanes>& cell, double* out) {
    for (size_t lane = 0; lane < lanes; ++lane)
        out[lane] =
            cell.term(to_double<lanes>(counts[lane]), std::max(row_count[lane], 1.0) * size, lane);
}
HOCMIM_DISPATCH(template <size_t lanes> void, cell_terms, cell_terms_body<lanes>,
                (const double* row_count, const uint32_t* counts, double size,
                 const ShrunkenCell<lanes>& cell, double* out),
                (row_count, counts, size, cell, out))

}  // namespace shrinkage_kernels

// The cells of `lanes` tables. Cells that are alike are one entry: the count c of a cell, the
// product of its two marginals, and how many such cells there are.
//
// The rows are known in advance, so samples alone in their column need no cell of their own:
// finish() adds them.
template <size_t lanes>
class ShrinkageTable {
public:
    // Starts tables whose rows hold row_count[row * lanes + lane] samples, with space for
    // `most_entries`.
    template <class Count>
    void start(const Count* row_count, size_t n_rows, size_t most_entries) {
        row_count_.assign(row_count, row_count + n_rows * lanes);
        const size_t most = (most_entries + n_rows) * lanes;
        if (count_.size() < most) {
            count_.resize(most);
            product_.resize(most);
            times_.resize(most);
        }
        size_ = 0;
        std::fill_n(squares_, lanes, 0.0);
        std::fill_n(product_sum_, lanes, 0.0);
        std::fill_n(unstored_sum_, lanes, 0);
        live_.assign(row_count_.size(), 0);
        cross_.assign(row_count_.size(), 0);
    }
    void start(const std::vector<int64_t>& row_count, size_t most_entries) {
        static_assert(lanes == 1);
        start(row_count.data(), row_count.size(), most_entries);
    }

    // times[lane] cells of each table hold c samples of a row, in columns of `column_size` samples.
    void add(size_t row, int64_t c, int64_t column_size, const uint32_t* times) {
        const double count = double(c), columns = double(column_size);
        const size_t at = row * lanes;
        for (size_t lane = 0; lane < lanes; ++lane) {
            const double cells = double(times[lane]), product = row_count_[at + lane] * columns;
            count_[size_ + lane] = uint32_t(c);
            product_[size_ + lane] = product;
            times_[size_ + lane] = times[lane];
            squares_[lane] += cells * (count * count);
            product_sum_[lane] += cells * product;
            live_[at + lane] += cells * count;
            cross_[at + lane] += cells * (count * columns);
        }
        size_ += lanes;
    }
    void add(size_t row, int64_t c, int64_t column_size, int64_t times = 1) {
        static_assert(lanes == 1);
        const uint32_t cells = uint32_t(times);
        add(row, c, column_size, &cells);
    }

    // A whole column of one table, counts of 0 included: an entry more costs less than a branch.
    template <class Count>
    void add_column(const Count* counts, int64_t column_size) {
        static_assert(lanes == 1);
        double* product = product_.data() + size_;
        uint32_t *count = count_.data() + size_, *times = times_.data() + size_;
        const double columns = double(column_size);
        const size_t n_rows = row_count_.size();
        for (size_t row = 0; row < n_rows; ++row) {
            const double c = double(counts[row]), marginals = row_count_[row] * columns;
            count[row] = uint32_t(counts[row]);
            product[row] = marginals;
            times[row] = counts[row] > 0;
            squares_[0] += c * c;
            product_sum_[0] += counts[row] > 0 ? marginals : 0.0;
            live_[row] += c;
            cross_[row] += c * columns;
        }
        size_ += n_rows;
    }

    // Whole columns of all tables: counts[k * column_stride + row * row_stride + lane], and the
    // size of each column in each table.
    void add_columns(const uint32_t* counts, size_t n_columns, size_t column_stride,
                     size_t row_stride, const double* sizes) {
        const size_t n_rows = row_count_.size() / lanes;
        shrinkage_kernels::add_columns<lanes>(
            row_count_.data(),
            {counts, n_rows, n_columns, row_stride, column_stride, sizes, count_.data() + size_,
             times_.data() + size_, product_.data() + size_},
            sums(0));
        size_ += n_columns * n_rows * lanes;
    }

    // A cell of each table, not stored: first for λ, and when λ is known for its term.
    void add_sums(size_t row, const uint32_t* counts, uint32_t column_size) {
        shrinkage_kernels::add_sums<lanes>(row_count_.data() + row * lanes, counts,
                                           double(column_size), sums(row));
    }
    void add_terms(size_t row, const uint32_t* counts, uint32_t column_size,
                   const ShrunkenCell<lanes>& cell) {
        double terms[lanes];
        shrinkage_kernels::cell_terms<lanes>(row_count_.data() + row * lanes, counts,
                                             double(column_size), cell, terms);
        for (size_t lane = 0; lane < lanes; ++lane)
            unstored_sum_[lane] += std::llrint(terms[lane]) & -int64_t(counts[lane] > 0);
    }

    // Adds the samples of each row that were not added, each alone in its column.
    void finish() {
        for (size_t row = 0; row < row_count_.size() / lanes; ++row) {
            uint32_t alone[lanes], any = 0;
            for (size_t lane = 0; lane < lanes; ++lane) {
                alone[lane] = uint32_t(row_count_[row * lanes + lane] - live_[row * lanes + lane]);
                any |= alone[lane];
            }
            if (any) add(row, 1, 1, alone);
        }
    }

    // λ of each table, given Σ n_c² over its columns.
    void intensity(double n, const double* column_squares, double* lambda) const {
        for (size_t lane = 0; lane < lanes; ++lane) {
            double row_squares = 0, cross = 0;
            for (size_t at = lane; at < row_count_.size(); at += lanes) {
                row_squares += row_count_[at] * row_count_[at];
                cross += row_count_[at] * cross_[at];
            }
            lambda[lane] =
                shrinkage_intensity(n, squares_[lane], cross, row_squares, column_squares[lane]);
        }
    }
    double intensity(int64_t n_samples, int64_t column_squares) const {
        static_assert(lanes == 1);
        const double squares = double(column_squares);
        double lambda;
        intensity(double(n_samples), &squares, &lambda);
        return lambda;
    }

    // Σ p* log(p*/ind) over all cells of each table, occupied or not, p* = λ ind + (1−λ) p.
    void information(const double* lambda, double n, const FixedPoint& nats, double* out) const {
        constexpr size_t at_once = 1024;
        double terms[at_once];
        int64_t sum[lanes];
        std::copy_n(unstored_sum_, lanes, sum);
        const ShrunkenCell<lanes> cell(lambda, n, nats.scale());
        const bool is_needed =
            std::any_of(lambda, lambda + lanes, [](double l) { return l != 1.0; });
        for (size_t at = 0; is_needed && at < size_; at += at_once) {
            const size_t here = std::min(at_once, size_ - at);
            shrinkage_kernels::terms<lanes>(count_.data() + at, product_.data() + at, here / lanes,
                                            cell, terms);
            for (size_t i = 0; i < here; i += lanes)
                for (size_t lane = 0; lane < lanes; ++lane)
                    sum[lane] += int64_t(times_[at + i + lane]) * std::llrint(terms[i + lane]);
        }
        for (size_t lane = 0; lane < lanes; ++lane)
            out[lane] = lambda[lane] == 1.0
                            ? 0.0
                            : nats.real(sum[lane]) +
                                  shrunken_empty_cells(lambda[lane], n, product_sum_[lane]);
    }
    double information(double lambda, int64_t n_samples, const FixedPoint& nats) const {
        static_assert(lanes == 1);
        double value;
        information(&lambda, double(n_samples), nats, &value);
        return value;
    }

private:
    shrinkage_kernels::Sums<lanes> sums(size_t row) {
        return {squares_, product_sum_, live_.data() + row * lanes, cross_.data() + row * lanes};
    }

    std::vector<double> row_count_;  // n_r, by row, then lane
    // Of each entry, by lane.
    Buffer<uint32_t> count_, times_;
    Buffer<double> product_;
    size_t size_ = 0;              // entries times lanes
    double squares_[lanes];        // Σ c²
    double product_sum_[lanes];    // Σ n_r n_c of the occupied cells
    std::vector<double> live_;     // samples added, by row, then lane
    std::vector<double> cross_;    // Σ c n_c, by row, then lane
    int64_t unstored_sum_[lanes];  // terms of the cells that are not stored
};

}  // namespace hocmim
