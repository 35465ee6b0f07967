#include "counting/dense.hpp"

#include <algorithm>

#include "counting/paths.hpp"

namespace hocmim {

namespace {

// Columns of at most kMostTallied samples are tallied: they are many, and their cells are alike.
constexpr size_t kMostTallied = 15, kKinds = (kMostTallied + 1) * (kMostTallied + 1);

}  // namespace

// Adds columns of the table, one count per class each; returns Σ of the squares of their sizes.
int64_t DenseEvaluator::add_columns(size_t n_columns, ShrinkageTable<1>& table) {
    const size_t n_classes = size_t(setting_.n_classes());
    const bool is_tallied = paths::tallies_table_columns(n_columns, n_classes);
    const uint32_t* count = table_.data();
    int64_t squares = 0;
    for (size_t k = 0; k < n_columns; ++k, count += n_classes) {
        size_t size = 0;
        for (size_t y = 0; y < n_classes; ++y) size += count[y];
        squares += int64_t(size * size);
        if (is_tallied && size <= kMostTallied) {
            uint32_t* tally = tally_.data() + size * (kMostTallied + 1);
            // With two classes the count of one gives the other.
            for (size_t y = 0; y < (n_classes == 2 ? 1 : n_classes); ++y)
                ++tally[y * kKinds + count[y]];
        } else {
            table.add_column(count, int64_t(size));
        }
    }
    if (is_tallied) add_tallied(table);
    return squares;
}

void DenseEvaluator::add_tallied(ShrinkageTable<1>& table) {
    const size_t n_classes = size_t(setting_.n_classes());
    for (size_t y = 0; y < (n_classes == 2 ? 1 : n_classes); ++y) {
        uint32_t* tally = tally_.data() + y * kKinds;
        for (size_t size = 1; size <= kMostTallied; ++size)
            for (size_t c = 0; c <= size; ++c) {
                uint32_t& times = tally[size * (kMostTallied + 1) + c];
                if (times == 0) continue;
                if (c > 0) table.add(y, int64_t(c), int64_t(size), times);
                if (n_classes == 2 && c < size)
                    table.add(1, int64_t(size - c), int64_t(size), times);
                times = 0;
            }
        tally[0] = 0;
    }
}

void DenseEvaluator::condition(const uint32_t* cell_of, int64_t n_cells) {
    const size_t n_samples = size_t(setting_.n_samples), n_classes = size_t(setting_.n_classes());
    n_cells_ = size_t(n_cells);
    pair_of_.resize(n_samples);
    if (n_classes <= paths::kMostTallyClasses) tally_.resize(n_classes * kKinds, 0);
    table_.assign(n_cells_ * n_classes, 0);
    for (size_t i = 0; i < n_samples; ++i) {
        pair_of_[i] = cell_of[i] * uint32_t(n_classes) + setting_.cls[i];
        ++table_[pair_of_[i]];
    }
    if (setting_.estimator.is_shrunken) {
        pairs_.start(setting_.class_counts, most_kinds());
        add_columns(n_cells_, pairs_);
        pairs_.finish();
        return;
    }
    const CountFunction& f = *setting_.function;
    cells_sum_ = pairs_sum_ = 0;
    for (size_t w = 0; w < n_cells_; ++w) {
        int64_t size = 0;
        for (size_t y = 0; y < n_classes; ++y) {
            size += table_[w * n_classes + y];
            pairs_sum_ += f(table_[w * n_classes + y]);
        }
        cells_sum_ += f(size);
    }
}

void DenseEvaluator::count(const Column& column) {
    const uint32_t n_pairs = uint32_t(n_cells_) * uint32_t(setting_.n_classes());
    n_columns_ = n_cells_ * size_t(column.arity);
    table_.assign(n_pairs * size_t(column.arity), 0);
    column.visit([&](const auto* level_of) {
        uint32_t* table = table_.data();
        const uint32_t* pair_of = pair_of_.data();
        const size_t n_samples = pair_of_.size();
        for (size_t i = 0; i < n_samples; ++i) ++table[level_of[i] * n_pairs + pair_of[i]];
    });
}

double DenseEvaluator::plain_sum(Term term) {
    const CountFunction& f = *setting_.function;
    const size_t n_classes = size_t(setting_.n_classes());
    const uint32_t* count = table_.data();
    int64_t rows = 0, pairs = 0;
    for (size_t k = 0; k < n_columns_; ++k, count += n_classes) {
        int64_t size = 0;
        for (size_t y = 0; y < n_classes; ++y) {
            size += count[y];
            rows += f(count[y]);
        }
        pairs += f(size);
    }
    const int64_t sum = term == Term::joint ? rows - pairs - setting_.class_sum + setting_.whole_sum
                                            : rows - pairs - pairs_sum_ + cells_sum_;
    return f.fixed().real(sum) / double(setting_.n_samples);
}

double DenseEvaluator::shrunken(Term term) {
    by_class_.start(setting_.class_counts, most_kinds());
    const int64_t squares = add_columns(n_columns_, by_class_);
    by_class_.finish();
    const int64_t n = setting_.n_samples;
    const double lambda = by_class_.intensity(n, squares);
    const double joint = by_class_.information(lambda, n, setting_.nats);
    return term == Term::joint ? joint : joint - pairs_.information(lambda, n, setting_.nats);
}

double DenseEvaluator::operator()(Term term, const Column& column) {
    count(column);
    const double value = setting_.estimator.is_plain_sum ? plain_sum(term) : shrunken(term);
    return std::max(0.0, value);
}

}  // namespace hocmim
