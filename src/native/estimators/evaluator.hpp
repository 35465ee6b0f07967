// From counts to information: the terms of one candidate X against the class Y and a conditioning
// variable W.
//
// The samples come as a Partition by W, or their counts as a table. One walk over the cells gives
// n_xwy and n_xw, from which an estimator computes its terms. Sums over cells are integers or
// fixed-point numbers, so the order of cells, blocks and threads does not change a bit of a result.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/partition.hpp"
#include "counting/cell_counter.hpp"
#include "counting/class_counts.hpp"
#include "counting/paths.hpp"
#include "estimators/condition_sums.hpp"
#include "estimators/setting.hpp"
#include "estimators/term.hpp"

namespace hocmim {

// A candidate and the cells of W, in one of three forms.
struct Cells {
    const Candidate& candidate;
    const Partition& partition;
    const ConditionSums& condition;
    // The partition split by one more column; rows[i] is the row (level and class) of sample i of
    // it.
    const Column* by = nullptr;
    const uint8_t* rows = nullptr;
    // Or a table: n_xwy of `n_cells` cells, by w, then x, then y.
    const int64_t* counts = nullptr;
    int64_t n_cells = 0;

    // How many cells (x, w, y) there can be, without those of samples alone in w.
    size_t most() const {
        return counts ? size_t(n_cells) * candidate.row_count.size() : partition.sample.size();
    }
};

// Evaluates terms. Holds scratch, so one Evaluator serves one thread. An estimator implements
// evaluate().
class Evaluator {
public:
    // `setting` must outlive the evaluator.
    explicit Evaluator(const Setting& setting) : setting_(setting) {}
    virtual ~Evaluator() = default;
    Evaluator(const Evaluator&) = delete;

    // With W as in the partition.
    double operator()(Term term, const Candidate& candidate, const Partition& partition,
                      const ConditionSums& condition) {
        return evaluate(term, {candidate, partition, condition});
    }

    // From the counts n_xwy alone, by w, then x, then y; not for estimators that need the samples.
    virtual double from_table(Term term, const Column& column, const int64_t* counts,
                              int64_t n_cells, const ConditionSums& condition);

    // With W the partition split by one more column, for few rows and levels (SplitCounter).
    double split(Term term, const Candidate& candidate, const Partition& partition,
                 const uint8_t* rows, const Column& by) {
        return evaluate(term, {candidate, partition, split_condition_, &by, rows});
    }

protected:
    virtual double evaluate(Term term, const Cells& cells) = 0;

    // Counts the candidate in every cell of two samples or more, for a sink with the functions
    //     begin_cell(n_w), in_row(row, class, n_xwy), in_level(level, n_xw), end_cell()
    template <class Sink>
    void walk(const Cells& cells, Sink& sink);

    // Sums the counts of a table over its cells.
    const Candidate& candidate_of(const Column& column, const int64_t* counts, int64_t n_cells);

    const Setting& setting_;
    SplitCounter count_split_;
    ConditionSums split_condition_;  // of the cells of a split, made by the walk

private:
    template <class Sink>
    void walk_partition(const Cells& cells, Sink& sink);
    template <class Sink>
    void walk_sorted(const Cells& cells, Sink& sink);
    template <class Sink>
    void walk_split(const Cells& cells, Sink& sink);
    template <class Sink>
    void walk_table(const Cells& cells, Sink& sink);

    CellCounter count_;
    std::vector<uint64_t> sorted_;  // level and class of the samples of a cell
    std::vector<int64_t> row_count_;
    Candidate candidate_;
    Partition no_partition_;
};

inline std::unique_ptr<Evaluator> make_evaluator(const Setting& setting) {
    return setting.estimator.make(setting);
}

// Of estimators that are never negative; R = I(X;W) − I(X;W|Y) may be.
inline double at_least_zero(Term term, double value) {
    return term == Term::redundancy ? value : std::max(0.0, value);
}

// --- the walks ---

// Turns rows into levels and classes, and adds up each level.
template <class Sink>
struct LevelSink {
    Sink& sink;
    const uint32_t n_classes;
    uint32_t level = 0;
    int64_t total = 0;

    void begin_cell(int64_t size) {
        level = 0;
        total = 0;
        sink.begin_cell(size);
    }
    void in_row(uint32_t row, int64_t c) {
        uint32_t cls = row - level * n_classes;
        if (cls >= n_classes) {
            if (total) sink.in_level(level, total);
            total = 0;
            level = row / n_classes;
            cls = row - level * n_classes;
        }
        total += c;
        sink.in_row(row, cls, c);
    }
    void end_cell() {
        sink.in_level(level, total);
        sink.end_cell();
    }
};

// Passes the counts of a cell to the sink, and its classes to the sums of the condition.
template <class Sink>
struct SplitSink {
    Sink& sink;
    ConditionSums& condition;
    const uint32_t n_levels, n_classes;

    void rows(const uint8_t* rows, int64_t size) {
        int64_t of_row[SplitCounter::kRows] = {};
        for (int64_t i = 0; i < size; ++i) ++of_row[rows[i]];
        counts(of_row, size);
    }
    void two(const uint8_t* rows, bool is_one_cell) {
        if (is_one_cell) this->rows(rows, 2);
    }
    void three(const uint8_t* rows, bool is_ab, bool is_ac, bool is_bc) {
        if (is_ab && is_ac) return this->rows(rows, 3);
        const uint8_t pair[2] = {rows[is_bc], rows[is_ab ? 1 : 2]};
        if (is_ab || is_ac || is_bc) this->rows(pair, 2);
    }
    template <class Count>
    void counts(const Count* counts, int64_t size) {
        int64_t of_class[SplitCounter::kRows] = {};
        condition.add_cell(size);
        sink.begin_cell(size);
        uint32_t row = 0;
        for (uint32_t level = 0; level < n_levels; ++level) {
            int64_t total = 0;
            for (uint32_t cls = 0; cls < n_classes; ++cls, ++row) {
                if (counts[row] == 0) continue;
                sink.in_row(row, cls, counts[row]);
                total += counts[row];
                of_class[cls] += counts[row];
            }
            if (total) sink.in_level(level, total);
        }
        for (uint32_t cls = 0; cls < n_classes; ++cls)
            if (of_class[cls]) condition.add_pair(cls, of_class[cls], size);
        sink.end_cell();
    }
};

template <class Sink>
void Evaluator::walk(const Cells& cells, Sink& sink) {
    if (cells.by) return walk_split(cells, sink);
    if (cells.counts) return walk_table(cells, sink);
    walk_partition(cells, sink);
}

template <class Sink>
void Evaluator::walk_partition(const Cells& cells, Sink& sink) {
    const uint32_t n_classes = uint32_t(setting_.n_classes());
    const uint32_t* cls = setting_.cls;
    LevelSink<Sink> levels{sink, n_classes};
    const Column& column = cells.candidate.column;
    if (paths::sorts_rows(column.arity * n_classes, setting_.n_samples))
        return walk_sorted(cells, sink);
    column.visit([&](const auto* level_of) {
        const auto row_of = [=](uint32_t i) { return uint32_t(level_of[i]) * n_classes + cls[i]; };
        count_(cells.partition, column.arity * n_classes, row_of, levels);
    });
}

// Many more rows than samples: a table of all rows would be larger than the sample.
template <class Sink>
void Evaluator::walk_sorted(const Cells& cells, Sink& sink) {
    const uint64_t n_classes = uint64_t(setting_.n_classes());
    uint32_t begin = 0;
    for (const uint32_t end : cells.partition.cell_end) {
        sorted_.clear();
        cells.candidate.column.visit([&](const auto* level_of) {
            for (; begin < end; ++begin) {
                const uint32_t i = cells.partition.sample[begin];
                sorted_.push_back(uint64_t(level_of[i]) << 32 | setting_.cls[i]);
            }
        });
        std::sort(sorted_.begin(), sorted_.end());
        sink.begin_cell(int64_t(sorted_.size()));
        int64_t of_row = 0, of_level = 0;
        for (size_t k = 0; k < sorted_.size(); ++k) {
            const uint64_t key = sorted_[k], level = key >> 32;
            const bool is_last = k + 1 == sorted_.size();
            ++of_row;
            ++of_level;
            if (!is_last && sorted_[k + 1] == key) continue;
            const uint32_t cls = uint32_t(key);
            sink.in_row(uint32_t(level * n_classes + cls), cls, of_row);
            of_row = 0;
            if (!is_last && sorted_[k + 1] >> 32 == level) continue;
            sink.in_level(uint32_t(level), of_level);
            of_level = 0;
        }
        sink.end_cell();
    }
}

template <class Sink>
void Evaluator::walk_split(const Cells& cells, Sink& sink) {
    split_condition_.start(setting_, cells.most());
    SplitSink<Sink> split{sink, split_condition_, uint32_t(cells.candidate.column.arity),
                          uint32_t(setting_.n_classes())};
    cells.by->visit([&](const auto* level_of) {
        count_split_(cells.partition, cells.rows, level_of, cells.by->arity, split);
    });
    split_condition_.finish();
}

template <class Sink>
void Evaluator::walk_table(const Cells& cells, Sink& sink) {
    const int64_t n_levels = cells.candidate.column.arity, n_classes = setting_.n_classes();
    const int64_t* counts = cells.counts;
    for (int64_t w = 0; w < cells.n_cells; ++w, counts += n_levels * n_classes) {
        int64_t size = 0;
        for (int64_t row = 0; row < n_levels * n_classes; ++row) size += counts[row];
        if (size < 2) continue;
        sink.begin_cell(size);
        for (int64_t level = 0, row = 0; level < n_levels; ++level) {
            int64_t total = 0;
            for (int64_t cls = 0; cls < n_classes; ++cls, ++row) {
                if (counts[row] == 0) continue;
                sink.in_row(uint32_t(row), uint32_t(cls), counts[row]);
                total += counts[row];
            }
            if (total) sink.in_level(uint32_t(level), total);
        }
        sink.end_cell();
    }
}

}  // namespace hocmim
