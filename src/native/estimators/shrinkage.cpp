// Shrinkage towards independence, after Sechidis et al. 2019 (ShrinkageTable).
#include "counting/paths.hpp"
#include "counting/small_cells.hpp"
#include "estimators/entropy.hpp"
#include "estimators/shrinkage_table.hpp"

namespace hocmim {

namespace {

using Table = ShrinkageTable<1>;

// Rows x and rows (x, y), columns w.
struct AgainstCondition {
    Table *by_level, *by_row;
    int64_t cell_size = 0;

    void begin_cell(int64_t size) { cell_size = size; }
    void in_row(uint32_t row, uint32_t, int64_t c) {
        if (by_row) by_row->add(row, c, cell_size);
    }
    void in_level(uint32_t level, int64_t c) {
        if (by_level) by_level->add(level, c, cell_size);
    }
    void end_cell() {}
};

// Rows y, columns (x, w).
struct AgainstClass {
    Table& by_class;
    int64_t column_squares = 0;  // Σ n_xw²
    std::vector<std::pair<uint32_t, int64_t>> pending = {};

    void begin_cell(int64_t) {}
    void in_row(uint32_t, uint32_t cls, int64_t c) { pending.emplace_back(cls, c); }
    void in_level(uint32_t, int64_t total) {
        column_squares += total * total;
        for (const auto& [cls, c] : pending) by_class.add(cls, c, total);
        pending.clear();
    }
    void end_cell() {}
};

// Tallies small cells; the others go to the tables one by one.
struct SmallCellSink {
    SmallCells& small;
    Table &by_level, &by_row;
    ConditionSums& condition;
    const int64_t n_levels, n_classes;

    void two(const uint8_t* rows, bool is_one_cell) {
        small.add_two(rows[0], rows[1], is_one_cell);
    }
    void three(const uint8_t* rows, bool is_ab, bool is_ac, bool is_bc) {
        small.add_of_three(rows[0], rows[1], rows[2], is_ab, is_ac, is_bc);
    }
    void rows(const uint8_t* rows, int64_t size) {
        if (size == 2) return two(rows, true);
        if (size == 3) return three(rows, true, true, true);
        uint8_t of_row[SplitCounter::kRows] = {};
        for (int64_t i = 0; i < size; ++i) ++of_row[rows[i]];
        counts(of_row, size);
    }
    void counts(const uint8_t* of_row, int64_t size) {
        if (size <= small.most_samples())
            small.add(of_row, size);
        else
            counts<uint8_t>(of_row, size);
    }
    template <class Count>
    void counts(const Count* counts, int64_t size) {
        Count levels[SplitCounter::kRows] = {}, classes[SplitCounter::kRows] = {};
        for (int64_t level = 0, row = 0; level < n_levels; ++level)
            for (int64_t cls = 0; cls < n_classes; ++cls, ++row) {
                levels[level] += counts[row];
                classes[cls] += counts[row];
            }
        by_level.add_column(levels, size);
        by_row.add_column(counts, size);
        condition.add_cell(size);
        for (int64_t cls = 0; cls < n_classes; ++cls)
            if (classes[cls]) condition.add_pair(size_t(cls), classes[cls], size);
    }
};

class ShrinkageEvaluator : public EntropyEvaluator {
public:
    explicit ShrinkageEvaluator(const Setting& setting)
        : EntropyEvaluator(setting), small_(setting.n_samples) {}

    double from_table(Term term, const Column& column, const int64_t* counts, int64_t n_cells,
                      const ConditionSums& condition) override;

protected:
    double evaluate(Term term, const Cells& cells) override {
        return at_least_zero(term, shrunken(term, cells));
    }

private:
    double shrunken(Term term, const Cells& cells);
    double split_redundancy(const Cells& cells);
    double given_condition(Term term, const Cells& cells);
    double against_class_from_table(Term term, const int64_t* counts, int64_t n_columns,
                                    const ConditionSums& condition);
    double finish_against_class(Term term, int64_t column_squares, const ConditionSums& condition);
    double finish_against_condition(Table* by_level, Table* by_row, const ConditionSums& condition);
    double information(const Table& table, double lambda) const {
        return table.information(lambda, setting_.n_samples, setting_.nats);
    }

    SmallCells small_;
    Table by_level_, by_row_;
    std::vector<int64_t> level_count_;
};

double ShrinkageEvaluator::shrunken(Term term, const Cells& cells) {
    if (term == Term::joint_entropy) return EntropyEvaluator::evaluate(term, cells);
    if (term == Term::conditional || term == Term::joint) return given_condition(term, cells);
    if (term == Term::redundancy && cells.by && paths::tallies_small_cells(cells.most()))
        return split_redundancy(cells);
    Table* by_level = term == Term::given_class ? nullptr : &by_level_;
    Table* by_row = term == Term::information ? nullptr : &by_row_;
    if (by_level) by_level->start(cells.candidate.level_count, cells.most());
    if (by_row) by_row->start(cells.candidate.row_count, cells.most());
    AgainstCondition sink{by_level, by_row};
    walk(cells, sink);
    return finish_against_condition(by_level, by_row, cells.condition);
}

double ShrinkageEvaluator::given_condition(Term term, const Cells& cells) {
    by_row_.start(setting_.class_counts, cells.most());
    AgainstClass sink{by_row_};
    walk(cells, sink);
    return finish_against_class(term, sink.column_squares + cells.condition.n_alone,
                                cells.condition);
}

// R of a split partition: a search along greedy paths spends nearly all its time here.
double ShrinkageEvaluator::split_redundancy(const Cells& cells) {
    const Candidate& candidate = cells.candidate;
    const int64_t n_levels = candidate.column.arity, n_classes = setting_.n_classes();
    // A column that is not tallied takes one entry per row; the kinds of small cells are few.
    const size_t most = 2 * cells.most() + 256 * candidate.row_count.size();
    small_.prepare(n_levels, n_classes);
    by_level_.start(candidate.level_count, most);
    by_row_.start(candidate.row_count, most);
    split_condition_.start(setting_, most);
    SmallCellSink sink{small_, by_level_, by_row_, split_condition_, n_levels, n_classes};
    cells.by->visit([&](const auto* level_of) {
        count_split_(cells.partition, cells.rows, level_of, cells.by->arity, sink);
    });
    small_.take_rows([&](size_t row, int64_t count, int64_t size, int64_t times) {
        by_row_.add(row, count, size, times);
    });
    small_.take_levels([&](size_t level, int64_t count, int64_t size, int64_t times) {
        by_level_.add(level, count, size, times);
    });
    small_.take_classes([&](size_t cls, int64_t count, int64_t size, int64_t times) {
        split_condition_.add_pair(cls, count, size, times);
    });
    small_.take_sizes([&](int64_t size, int64_t times) { split_condition_.add_cell(size, times); });
    split_condition_.finish();
    return finish_against_condition(&by_level_, &by_row_, split_condition_);
}

double ShrinkageEvaluator::from_table(Term term, const Column& column, const int64_t* counts,
                                      int64_t n_cells, const ConditionSums& condition) {
    if (term == Term::joint_entropy)
        return Evaluator::from_table(term, column, counts, n_cells, condition);
    const int64_t n_levels = column.arity, n_classes = setting_.n_classes();
    if (term == Term::conditional || term == Term::joint)
        return std::max(0.0, against_class_from_table(term, counts, n_cells * n_levels, condition));
    const Candidate& candidate = candidate_of(column, counts, n_cells);
    const size_t n_rows = size_t(n_levels * n_classes), most = size_t(n_cells) * n_rows;
    Table* by_level = term == Term::given_class ? nullptr : &by_level_;
    Table* by_row = term == Term::information ? nullptr : &by_row_;
    if (by_level) by_level->start(candidate.level_count, most);
    if (by_row) by_row->start(candidate.row_count, most);
    level_count_.assign(size_t(n_levels), 0);
    for (int64_t w = 0; w < n_cells; ++w, counts += n_rows) {
        int64_t size = 0;
        for (int64_t level = 0; level < n_levels; ++level) {
            int64_t total = 0;
            for (int64_t cls = 0; cls < n_classes; ++cls) total += counts[level * n_classes + cls];
            level_count_[size_t(level)] = total;
            size += total;
        }
        if (size == 0) continue;
        if (by_level) by_level->add_column(level_count_.data(), size);
        if (by_row) by_row->add_column(counts, size);
    }
    return at_least_zero(term, finish_against_condition(by_level, by_row, condition));
}

double ShrinkageEvaluator::against_class_from_table(Term term, const int64_t* counts,
                                                    int64_t n_columns,
                                                    const ConditionSums& condition) {
    const int64_t n_classes = setting_.n_classes();
    by_row_.start(setting_.class_counts, size_t(n_columns * n_classes));
    int64_t column_squares = 0;
    for (int64_t column = 0; column < n_columns; ++column, counts += n_classes) {
        int64_t size = 0;
        for (int64_t cls = 0; cls < n_classes; ++cls) size += counts[cls];
        if (size) by_row_.add_column(counts, size);
        column_squares += size * size;
    }
    return finish_against_class(term, column_squares, condition);
}

// I(X,W;Y) or I(X;Y|W), from the table with rows y and columns (x, w).
double ShrinkageEvaluator::finish_against_class(Term term, int64_t column_squares,
                                                const ConditionSums& condition) {
    by_row_.finish();
    const double lambda = by_row_.intensity(setting_.n_samples, column_squares);
    const double joint = information(by_row_, lambda);
    return term == Term::joint ? joint : joint - information(condition.pairs, lambda);
}

// I(X;W), I(X;W|Y) or the first less the second, from the tables with columns w that are given.
double ShrinkageEvaluator::finish_against_condition(Table* by_level, Table* by_row,
                                                    const ConditionSums& condition) {
    double value = 0;
    if (by_level) {
        by_level->finish();
        const double lambda = by_level->intensity(setting_.n_samples, condition.cell_squares);
        value += std::max(0.0, information(*by_level, lambda));
    }
    if (by_row) {
        by_row->finish();
        const double lambda = by_row->intensity(setting_.n_samples, condition.cell_squares);
        const double given_class =
            std::max(0.0, information(*by_row, lambda) - information(condition.pairs, lambda));
        value += by_level ? -given_class : given_class;
    }
    return value;
}

}  // namespace

extern const EstimatorKind shrinkage = {"shrinkage",
                                        n_log_n_of_count,
                                        [](const Setting& setting) -> std::unique_ptr<Evaluator> {
                                            return std::make_unique<ShrinkageEvaluator>(setting);
                                        },
                                        /*is_plain_sum=*/false,
                                        /*is_sum_of_counts=*/false,
                                        /*is_corrected=*/false,
                                        /*is_shrunken=*/true};

}  // namespace hocmim
