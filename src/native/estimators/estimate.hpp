// From counts to information: one candidate X against a class Y and a conditioning variable W.
//
// The samples come as a Partition by (W, Y). One walk over it counts n(x,w,y) and n(x,w), from which
// every term follows under every estimator. Sums over cells are integers or fixed-point numbers, so
// that the order of cells, and with it blocks and threads, cannot change a bit of a result.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/buffer.hpp"
#include "counting/cell_counter.hpp"
#include "core/columns.hpp"
#include "core/fixed_point.hpp"
#include "core/logarithm.hpp"
#include "core/partition.hpp"
#include "estimators/shrinkage_table.hpp"
#include "counting/small_cells.hpp"

namespace hocmim {

enum class Estimator { plugin, shrinkage, miller_madow, grassberger, jeffreys };

enum class Term {
    information,    // I(X;W)
    given_class,    // I(X;W|Y)
    redundancy,     // I(X;W) − I(X;W|Y)
    conditional,    // I(X;Y|W)
    joint,          // I(X,W;Y)
    joint_entropy,  // H(X,W,Y)
};

// f(c) = c log c, or c G(c) for Grassberger, in fixed point: by table where counts are small, since
// that is where they repeat.
class CountFunction {
public:
    CountFunction(bool grassberger, int64_t n_samples);
    int64_t operator()(int64_t count) const {
        return count < int64_t(table_.size()) ? table_[size_t(count)] : fixed_.of(exact(count));
    }
    FixedPoint fixed() const { return fixed_; }
    // f(0), f(1), …: of all counts if there are fewer than 2^16 samples.
    const int64_t* table() const { return table_.data(); }

private:
    double exact(int64_t count) const;
    bool grassberger_;
    FixedPoint fixed_;
    std::vector<int64_t> table_;
};

// What all candidates share: the estimator, the number of samples, the class counts.
struct Setting {
    // `cls` must outlive the setting.
    Setting(Estimator estimator, const uint32_t* cls, int64_t n_samples, int64_t n_classes);
    // Without the classes themselves: for counts that were made elsewhere.
    Setting(Estimator estimator, int64_t n_samples, std::vector<int64_t> class_counts);

    Estimator estimator;
    int64_t n_samples;
    const uint32_t* cls;
    std::vector<int64_t> class_counts;
    int64_t n_classes_seen = 0;
    int64_t class_squares = 0;                      // Σ n_y²
    std::shared_ptr<const CountFunction> function;  // of the entropy-like estimators
    int64_t class_sum = 0;                          // Σ f(n_y)
    int64_t whole_sum = 0;                          // N log N
    FixedPoint nats;                                // for sums of p log p

    int64_t n_classes() const { return int64_t(class_counts.size()); }
};

// Counts n_xy of a column, dense over level * n_classes + class.
void count_rows(const Column& column, const uint32_t* cls, int64_t n_samples, int64_t n_classes,
                int64_t* row_count);

// The same of the columns of a block, each counted when it is first asked for. Those of a column with many
// rows are not kept. Threads may ask for different columns at a time.
class ClassCounts {
public:
    // `columns` and `cls` must outlive the counts.
    ClassCounts(const Columns& columns, const uint32_t* cls, int64_t n_classes);

    const Columns& columns() const { return columns_; }
    const uint32_t* cls() const { return cls_; }
    int64_t n_classes() const { return n_classes_; }
    // Of column j; `scratch` is for those that are not kept.
    const int64_t* of(int64_t j, std::vector<int64_t>& scratch);

private:
    const Columns& columns_;
    const uint32_t* cls_;
    int64_t n_classes_;
    std::vector<int64_t> offset_;    // where a column's begin, or −1 where they are not kept
    std::vector<uint8_t> is_known_;  // by column
    Buffer<int64_t> kept_;           // of all columns, one after the other
};

// A candidate column with its marginal counts. A row is a level with a class.
struct Candidate {
    Column column{};
    std::vector<int64_t> level_count;  // n_x
    std::vector<int64_t> row_count;    // n_xy, dense over level * n_classes + class

    void assign(const Column& column, int64_t n_classes, const int64_t* row_count);
};

// What a Partition by W gives to every candidate: computed once, used by each.
class ConditionSums {
public:
    void compute(const Partition& partition, const Setting& setting);

    void compute(const std::vector<int64_t>& pair_counts, const Setting& setting);

    // Or cell by cell: start, then each cell of two or more with its classes, then finish.
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
    ShrinkageTable<1> pairs;                 // rows y, columns w

private:
    const Setting* setting_ = nullptr;
    bool is_shrunken_ = false;
    std::vector<int64_t> live_;  // per class: samples not alone
    CellCounter count_;
};

// Sums over the cells of a candidate's table, from which every term of the plug-in follows.
struct PluginSums {
    int64_t rows = 0, pairs = 0;             // Σ f of n_xwy, n_xw
    int64_t class_rows = 0, levels = 0;      // Σ f of n_xy, n_x
    double term(Term term, const Setting& setting, const ConditionSums& condition) const;
};

// Evaluates terms for candidates. Holds scratch, so one Evaluator serves one thread.
class Evaluator {
public:
    explicit Evaluator(const Setting& setting) : setting_(setting), small_(setting.n_samples) {}

    // With W as the partition has it.
    double operator()(Term term, const Candidate& candidate, const Partition& partition,
                      const ConditionSums& condition);

    // From the counts n_xwy alone, by w, then x, then y; not for Jeffreys.
    double dense(Term term, const Column& column, const int64_t* counts, int64_t n_cells,
                 const ConditionSums& condition);

    // R or I(X;Y|W) with W the partition split by one more column. rows[i] is the row (level and
    // class) of partition.sample[i].
    static bool can_split(const Setting& setting, const Candidate& candidate, const Column& by);
    double split(Term term, const Candidate& candidate, const Partition& partition,
                 const uint8_t* rows, const Column& by);

private:
    // How the cells of W are reached.
    struct Cells {
        const Candidate& candidate;
        const Partition& partition;
        const ConditionSums& condition;
        const Column* by = nullptr;  // the column the partition is split by
        const uint8_t* rows = nullptr;
        const int64_t* counts = nullptr;  // n_xwy of `n_cells` cells
        int64_t n_cells = 0;

        // How many cells (x, w, y) there can be, those of samples alone in w apart.
        size_t most() const {
            return counts ? size_t(n_cells) * candidate.row_count.size() : partition.sample.size();
        }
    };

    double evaluate(Term term, const Cells& cells);
    double entropy_like(Term term, const Cells& cells);
    double dense_shrinkage(Term term, const Candidate& candidate, const int64_t* counts,
                           int64_t n_cells, const ConditionSums& condition);
    double dense_plugin(Term term, const Column& column, const int64_t* counts, int64_t n_cells,
                        const ConditionSums& condition) const;
    double jeffreys(Term term, const Cells& cells);
    double shrinkage(Term term, const Cells& cells);
    double split_redundancy(const Cells& cells);
    double shrunken_given_condition(Term term, const Cells& cells);
    double shrunken_term(ShrinkageTable<1>* by_level, ShrinkageTable<1>* by_row,
                         const ConditionSums& condition);
    double shrunken_against_class(Term term, ShrinkageTable<1>& by_class, int64_t column_squares,
                                  const ConditionSums& condition);
    double information(const ShrinkageTable<1>& table, double lambda) {
        return table.information(lambda, setting_.n_samples, setting_.nats);
    }

    // Counts the candidate in every cell: sink.in_row(row, class, count), sink.in_level(level, count).
    template <class Sink>
    void walk(const Cells& cells, Sink& sink);
    template <class Sink>
    void walk_split(const Cells& cells, Sink& sink);
    template <class Sink>
    void walk_dense(const Cells& cells, Sink& sink);

    const Setting& setting_;
    CellCounter count_;
    SplitCounter count_split_;
    SmallCells small_;
    ConditionSums split_condition_;
    ShrinkageTable<1> by_level_, by_row_;
    std::vector<int64_t> class_scratch_, row_list_, pair_list_;
    Candidate dense_candidate_;
    Partition no_partition_;
};

}  // namespace hocmim
