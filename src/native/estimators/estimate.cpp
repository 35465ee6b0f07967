#include "estimators/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

namespace hocmim {

namespace {

constexpr int64_t kTableSize = 1 << 16;
constexpr double kEuler = 0.57721566490153286061, kLog2 = 0.69314718055994530942;

double n_log_n(double n) { return n > 0 ? n * log_positive(n) : 0.0; }

// ψ(x) for x ≥ 30 by its asymptotic series.
double digamma_of_large(double x) {
    const double y = 1.0 / (x * x);
    return log_positive(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252)));
}

// Grassberger's G: G(1) = −γ − log 2, G(2n) = G(2n−2) + 2/(2n−1), G(2n+1) = G(2n).
double grassberger_g(int64_t count) {
    if (count < 2) return -kEuler - kLog2;
    const int64_t half = count / 2;
    if (half >= 64) return digamma_of_large(double(half) + 0.5) + kLog2;
    double g = -kEuler - kLog2;
    for (int64_t k = 1; k <= half; ++k) g += 2.0 / double(2 * k - 1);
    return g;
}

// Tables are the same for every call with as many samples: the latest few are kept.
std::shared_ptr<const CountFunction> count_function(bool grassberger, int64_t n_samples) {
    static std::mutex mutex;
    static std::map<std::pair<bool, int64_t>, std::shared_ptr<const CountFunction>> kept;
    const std::lock_guard<std::mutex> lock(mutex);
    auto& function = kept[{grassberger, n_samples}];
    if (!function) {
        function = std::make_shared<const CountFunction>(grassberger, n_samples);
        auto result = function;
        if (kept.size() > 8)
            for (auto it = kept.begin(); it != kept.end();)
                it = it->second == result ? std::next(it) : kept.erase(it);
        return result;
    }
    return function;
}

}  // namespace

CountFunction::CountFunction(bool grassberger, int64_t n_samples)
    : grassberger_(grassberger), fixed_(2 * n_log_n(double(n_samples)) + 4) {
    const int64_t size = std::min(n_samples + 1, kTableSize);
    table_.resize(size_t(size));
    table_[0] = 0;
    for (int64_t c = 1; c < size; ++c) table_[size_t(c)] = fixed_.of(exact(c));
}

double CountFunction::exact(int64_t count) const {
    return grassberger_ ? double(count) * grassberger_g(count) : n_log_n(double(count));
}

namespace {
std::vector<int64_t> count_classes(const uint32_t* cls, int64_t n_samples, int64_t n_classes) {
    std::vector<int64_t> counts(size_t(n_classes), 0);
    for (int64_t i = 0; i < n_samples; ++i) {
        if (cls[i] >= uint64_t(n_classes)) throw std::invalid_argument("a class is not below their number");
        ++counts[cls[i]];
    }
    return counts;
}
}  // namespace

Setting::Setting(Estimator estimator_, const uint32_t* cls_, int64_t n_samples_, int64_t n_classes)
    : Setting(estimator_, n_samples_, count_classes(cls_, n_samples_, n_classes)) {
    cls = cls_;
}

Setting::Setting(Estimator estimator_, int64_t n_samples_, std::vector<int64_t> class_counts_)
    : estimator(estimator_),
      n_samples(n_samples_),
      cls(nullptr),
      class_counts(std::move(class_counts_)),
      function(count_function(estimator_ == Estimator::grassberger, n_samples_)),
      nats(256.0) {
    for (int64_t count : class_counts) {
        n_classes_seen += count > 0;
        class_squares += count * count;
        class_sum += (*function)(count);
    }
    whole_sum = function->fixed().of(n_log_n(double(n_samples)));
}

void count_rows(const Column& column, const uint32_t* cls, int64_t n_samples, int64_t n_classes,
                int64_t* row_count) {
    std::fill_n(row_count, size_t(column.arity * n_classes), 0);
    column.visit([&](const auto* level_of) {
        for (int64_t i = 0; i < n_samples; ++i) ++row_count[int64_t(level_of[i]) * n_classes + cls[i]];
    });
}

namespace {

// Class counts of a column are kept while they are this few, and counted anew where they are more.
constexpr int64_t kKeptRows = 1024;

}  // namespace

ClassCounts::ClassCounts(const Columns& columns, const uint32_t* cls, int64_t n_classes)
    : columns_(columns), cls_(cls), n_classes_(n_classes), is_known_(size_t(columns.size()), 0) {
    int64_t n_kept = 0;
    for (int64_t j = 0; j < columns.size(); ++j) {
        const int64_t n_rows = columns[j].arity * n_classes;
        offset_.push_back(n_rows <= kKeptRows ? n_kept : -1);
        if (n_rows <= kKeptRows) n_kept += n_rows;
    }
    kept_.resize(size_t(n_kept));
}

const int64_t* ClassCounts::of(int64_t j, std::vector<int64_t>& scratch) {
    const int64_t offset = offset_[size_t(j)];
    if (offset < 0) scratch.resize(size_t(columns_[j].arity * n_classes_));
    int64_t* counts = offset < 0 ? scratch.data() : kept_.data() + offset;
    if (!is_known_[size_t(j)]) count_rows(columns_[j], cls_, columns_.n_samples(), n_classes_, counts);
    is_known_[size_t(j)] = offset >= 0;
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

namespace {

struct PairSink {
    ConditionSums& sums;
    int64_t size = 0;

    void begin_cell(int64_t cell_size) {
        size = cell_size;
        sums.add_cell(size);
    }
    void in_row(uint32_t cls, int64_t c) { sums.add_pair(cls, c, size); }
    void end_cell() {}
};

}  // namespace

void ConditionSums::start(const Setting& setting, size_t most_cells) {
    setting_ = &setting;
    is_shrunken_ = setting.estimator == Estimator::shrinkage;
    n_cells = cell_squares = cells_sum = pairs_sum = 0;
    cells_of_class.assign(size_t(setting.n_classes()), 0);
    live_.assign(size_t(setting.n_classes()), 0);
    if (is_shrunken_) pairs.start(setting.class_counts, most_cells);
}

void ConditionSums::finish() {
    n_alone = 0;
    for (size_t cls = 0; cls < live_.size(); ++cls) {
        const int64_t alone = setting_->class_counts[cls] - live_[cls];
        cells_of_class[cls] += alone;
        n_alone += alone;
    }
    n_cells += n_alone;
    cell_squares += n_alone;
    cells_sum += n_alone * (*setting_->function)(1);
    pairs_sum += n_alone * (*setting_->function)(1);
    if (is_shrunken_) pairs.finish();
}

// pair_counts holds n_wy, by w, then y. A cell of one sample is one of those that finish() adds.
void ConditionSums::compute(const std::vector<int64_t>& pair_counts, const Setting& setting) {
    start(setting, pair_counts.size());
    const size_t n_classes = size_t(setting.n_classes());
    for (size_t first = 0; first < pair_counts.size(); first += n_classes) {
        int64_t size = 0;
        for (size_t cls = 0; cls < n_classes; ++cls) size += pair_counts[first + cls];
        if (size < 2) continue;
        add_cell(size);
        for (size_t cls = 0; cls < n_classes; ++cls)
            if (pair_counts[first + cls]) add_pair(uint32_t(cls), pair_counts[first + cls], size);
    }
    finish();
}

void ConditionSums::compute(const Partition& partition, const Setting& setting) {
    start(setting, partition.sample.size());
    PairSink sink{*this};
    count_(partition, setting.n_classes(), [&](uint32_t i) { return setting.cls[i]; }, sink);
    finish();
}

// ---- the walk: counts n_xyw and n_xw ---------------------------------------------------------------

namespace {

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

}  // namespace

template <class Sink>
void Evaluator::walk(const Cells& cells, Sink& sink) {
    if (cells.by) return walk_split(cells, sink);
    if (cells.counts) return walk_dense(cells, sink);
    const uint32_t n_classes = uint32_t(setting_.n_classes());
    const uint32_t* cls = setting_.cls;
    LevelSink<Sink> levels{sink, n_classes};
    const Column& column = cells.candidate.column;
    column.visit([&](const auto* level_of) {
        const auto row_of = [=](uint32_t i) { return uint32_t(level_of[i]) * n_classes + cls[i]; };
        count_(cells.partition, column.arity * n_classes, row_of, levels);
    });
}

namespace {

// Passes on the counts of a cell, and its classes to the sums of the condition.
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
    void two(const uint8_t* rows, bool is_so) {
        if (is_so) this->rows(rows, 2);
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

// Tallies small cells; the others go to the tables of shrinkage as they are.
struct SmallCellSink {
    SmallCells& small;
    ShrinkageTable<1> &by_level, &by_row;
    ConditionSums& condition;
    const int64_t n_levels, n_classes;

    void two(const uint8_t* rows, bool is_so) { small.add_two(rows[0], rows[1], is_so); }
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

}  // namespace

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

// R under shrinkage, where nearly all the time of HOCMIM goes.
double Evaluator::split_redundancy(const Cells& cells) {
    const Candidate& candidate = cells.candidate;
    const int64_t n_levels = candidate.column.arity, n_classes = setting_.n_classes();
    // A column of nine or more samples takes a cell a row; kinds of smaller ones are few.
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
    return shrunken_term(&by_level_, &by_row_, split_condition_);
}

template <class Sink>
void Evaluator::walk_dense(const Cells& cells, Sink& sink) {
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

double Evaluator::dense(Term term, const Column& column, const int64_t* counts, int64_t n_cells,
                        const ConditionSums& condition) {
    if (setting_.estimator == Estimator::plugin)
        return dense_plugin(term, column, counts, n_cells, condition);
    const size_t n_rows = size_t(column.arity * setting_.n_classes());
    std::vector<int64_t>& row_count = row_list_;
    row_count.assign(n_rows, 0);
    for (int64_t w = 0; w < n_cells; ++w)
        for (size_t row = 0; row < n_rows; ++row) row_count[row] += counts[size_t(w) * n_rows + row];
    dense_candidate_.assign(column, setting_.n_classes(), row_count.data());
    if (setting_.estimator == Estimator::shrinkage && term != Term::joint_entropy) {
        const double value = dense_shrinkage(term, dense_candidate_, counts, n_cells, condition);
        return term == Term::redundancy ? value : std::max(0.0, value);
    }
    return evaluate(term, {dense_candidate_, no_partition_, condition, nullptr, nullptr, counts, n_cells});
}

// The plug-in of a small table is nothing but look-ups.
double Evaluator::dense_plugin(Term term, const Column& column, const int64_t* counts, int64_t n_cells,
                               const ConditionSums& condition) const {
    const CountFunction& f = *setting_.function;
    const int64_t n_levels = column.arity, n_classes = setting_.n_classes();
    const int64_t n_rows = n_levels * n_classes;
    PluginSums sums;
    for (int64_t level = 0; level < n_levels; ++level) {
        int64_t of_level = 0;
        for (int64_t w = 0; w < n_cells; ++w) {
            const int64_t* here = counts + w * n_rows + level * n_classes;
            int64_t pair = 0;
            for (int64_t cls = 0; cls < n_classes; ++cls) {
                sums.rows += f(here[cls]);
                pair += here[cls];
            }
            sums.pairs += f(pair);
            of_level += pair;
        }
        sums.levels += f(of_level);
        for (int64_t cls = 0; cls < n_classes; ++cls) {
            int64_t of_row = 0;
            for (int64_t w = 0; w < n_cells; ++w) of_row += counts[w * n_rows + level * n_classes + cls];
            sums.class_rows += f(of_row);
        }
    }
    return sums.term(term, setting_, condition);
}

double PluginSums::term(Term term, const Setting& setting, const ConditionSums& condition) const {
    const auto real = [&](int64_t sum) {
        return setting.function->fixed().real(sum) / double(setting.n_samples);
    };
    const auto information = [&] {
        return real(pairs - levels - condition.cells_sum + setting.whole_sum);
    };
    const auto given_class = [&] {
        return real(rows - class_rows - condition.pairs_sum + setting.class_sum);
    };
    switch (term) {
        case Term::information: return std::max(0.0, information());
        case Term::given_class: return std::max(0.0, given_class());
        case Term::redundancy: return information() - given_class();
        case Term::conditional:
            return std::max(0.0, real(rows - pairs - condition.pairs_sum + condition.cells_sum));
        case Term::joint:
            return std::max(0.0, real(rows - pairs - setting.class_sum + setting.whole_sum));
        case Term::joint_entropy: return std::max(0.0, real(setting.whole_sum - rows));
    }
    return 0;
}

bool Evaluator::can_split(const Setting& setting, const Candidate& candidate, const Column& by) {
    return setting.estimator != Estimator::jeffreys &&
           SplitCounter::applies(int64_t(candidate.row_count.size()), by.arity);
}

double Evaluator::split(Term term, const Candidate& candidate, const Partition& partition,
                        const uint8_t* rows, const Column& by) {
    return evaluate(term, {candidate, partition, split_condition_, &by, rows});
}

double Evaluator::operator()(Term term, const Candidate& candidate, const Partition& partition,
                             const ConditionSums& condition) {
    return evaluate(term, {candidate, partition, condition});
}

// ---- plug-in, Miller–Madow and Grassberger: sums of one function of the counts -------------------

namespace {

struct EntropySums {
    const CountFunction& f;
    std::vector<int64_t>& class_seen;  // the last cell in which each class was met
    int64_t rows = 0, pairs = 0;       // Σ f(n_xwy), Σ f(n_xw)
    int64_t n_rows = 0, n_pairs = 0;   // how many of them
    int64_t freedom = 0;               // Σ_w (k_x(w) − 1)(k_y(w) − 1)
    int64_t cell = 0, levels_here = 0, classes_here = 0;

    void begin_cell(int64_t) {
        ++cell;
        levels_here = classes_here = 0;
    }
    void in_row(uint32_t, uint32_t cls, int64_t c) {
        rows += f(c);
        ++n_rows;
        classes_here += class_seen[cls] != cell;
        class_seen[cls] = cell;
    }
    void in_level(uint32_t, int64_t c) {
        pairs += f(c);
        ++n_pairs;
        ++levels_here;
    }
    void end_cell() { freedom += (levels_here - 1) * (classes_here - 1); }
};

struct CountLists {
    std::vector<int64_t>&rows, &pairs;
    void begin_cell(int64_t) {}
    void in_row(uint32_t, uint32_t, int64_t c) { rows.push_back(c); }
    void in_level(uint32_t, int64_t c) { pairs.push_back(c); }
    void end_cell() {}
};

// Rows x and rows (x, y), columns w.
struct AgainstCondition {
    ShrinkageTable<1> *by_level, *by_row;
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
    ShrinkageTable<1>& by_class;
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

}  // namespace

double Evaluator::entropy_like(Term term, const Cells& cells) {
    const Candidate& candidate = cells.candidate;
    const ConditionSums& condition = cells.condition;
    const CountFunction& f = *setting_.function;
    const bool corrected = setting_.estimator == Estimator::miller_madow;
    const double n = double(setting_.n_samples);
    class_scratch_.assign(size_t(setting_.n_classes()), 0);
    EntropySums sums{f, class_scratch_};
    walk(cells, sums);
    const int64_t n_alone = condition.n_alone;
    sums.rows += n_alone * f(1);
    sums.pairs += n_alone * f(1);
    sums.n_rows += n_alone;
    sums.n_pairs += n_alone;

    const auto real = [&](int64_t sum) { return f.fixed().real(sum) / n; };
    const auto information = [&] {
        int64_t levels = 0, level_sum = 0;
        for (int64_t count : candidate.level_count) {
            levels += count > 0;
            level_sum += f(count);
        }
        if (levels == 1 || condition.n_cells == 1) return 0.0;  // Grassberger's would not be
        const double value = real(sums.pairs - level_sum - condition.cells_sum + setting_.whole_sum);
        return corrected ? value - double((levels - 1) * (condition.n_cells - 1)) / (2 * n) : value;
    };
    const auto given_class = [&] {
        const int64_t n_classes = setting_.n_classes();
        int64_t row_sum = 0, freedom = 0;
        std::vector<int64_t>& levels_of_class = class_scratch_;
        levels_of_class.assign(size_t(n_classes), 0);
        for (size_t row = 0; row < candidate.row_count.size(); ++row) {
            row_sum += f(candidate.row_count[row]);
            levels_of_class[row % size_t(n_classes)] += candidate.row_count[row] > 0;
        }
        for (size_t cls = 0; cls < size_t(n_classes); ++cls)
            if (setting_.class_counts[cls])
                freedom += (levels_of_class[cls] - 1) * (condition.cells_of_class[cls] - 1);
        const double value = real(sums.rows - row_sum - condition.pairs_sum + setting_.class_sum);
        return corrected ? value - double(freedom) / (2 * n) : value;
    };

    switch (term) {
        case Term::information: return information();
        case Term::given_class: return given_class();
        case Term::redundancy: return information() - given_class();
        case Term::conditional: {
            const double value =
                real(sums.rows - sums.pairs - condition.pairs_sum + condition.cells_sum);
            return corrected ? value - double(sums.freedom) / (2 * n) : value;
        }
        case Term::joint: {
            if (sums.n_pairs == 1 || setting_.n_classes_seen == 1) return 0.0;
            const double value = real(sums.rows - sums.pairs - setting_.class_sum + setting_.whole_sum);
            const int64_t freedom = (sums.n_pairs - 1) * (setting_.n_classes_seen - 1);
            return corrected ? value - double(freedom) / (2 * n) : value;
        }
        case Term::joint_entropy: {
            const double value = real(setting_.whole_sum - sums.rows);
            return corrected ? value + double(sums.n_rows - 1) / (2 * n) : value;
        }
    }
    return 0;
}

// ---- Jeffreys: half a sample added to every cell of the table ------------------------------------

double Evaluator::jeffreys(Term term, const Cells& source) {
    const Candidate& candidate = source.candidate;
    const Partition& partition = source.partition;
    row_list_.clear();
    pair_list_.clear();
    CountLists lists{row_list_, pair_list_};
    walk(source, lists);
    const size_t n_alone = size_t(partition.n_alone);
    row_list_.insert(row_list_.end(), n_alone, 1);
    pair_list_.insert(pair_list_.end(), n_alone, 1);

    const double n = double(setting_.n_samples), n_pairs = double(pair_list_.size());
    const auto seen = [](int64_t count) { return count > 0; };
    const double levels =
        double(std::count_if(candidate.level_count.begin(), candidate.level_count.end(), seen));
    const double cells = double(partition.n_cells()), classes = double(setting_.n_classes_seen);

    // Σ (c + a) log(c + a) over `n_cells` cells, of which `counts` holds those that are not empty.
    const FixedPoint fixed(n_log_n(n + levels * cells * classes) + 4);
    const auto g = [&](double value) { return fixed.of(n_log_n(value)); };
    const auto sum = [&](const std::vector<int64_t>& counts, double a, double n_cells) {
        int64_t total = 0, occupied = 0;
        for (int64_t c : counts)
            if (c) {
                total += g(double(c) + a);
                ++occupied;
            }
        return fixed.real(total) + (n_cells - double(occupied)) * n_log_n(a);
    };
    const auto sum_pairs = [&](double a, double n_cells) {  // over the cells (w, y)
        std::vector<int64_t>& counts = class_scratch_;
        counts.assign(setting_.class_counts.size(), 0);
        int64_t total = int64_t(n_alone) * g(1 + a), occupied = int64_t(n_alone);
        uint32_t i = 0;
        for (const uint32_t end : partition.cell_end) {
            for (uint32_t at = i; at < end; ++at) ++counts[setting_.cls[partition.sample[at]]];
            for (; i < end; ++i) {
                int64_t& count = counts[setting_.cls[partition.sample[i]]];
                if (count == 0) continue;
                total += g(double(count) + a);
                ++occupied;
                count = 0;
            }
        }
        return fixed.real(total) + (n_cells - double(occupied)) * n_log_n(a);
    };
    const auto sum_cells = [&](double a) {
        int64_t total = int64_t(n_alone) * g(1 + a);
        uint32_t begin = 0;
        for (const uint32_t end : partition.cell_end) {
            total += g(double(end - begin) + a);
            begin = end;
        }
        return fixed.real(total);
    };
    const auto mass = [&](double n_cells) { return n + n_cells / 2; };
    const double all = levels * cells * classes;

    const auto information = [&] {
        const double m = mass(levels * cells);
        return log_positive(m) - (sum(candidate.level_count, cells / 2, levels) + sum_cells(levels / 2) -
                                  sum(pair_list_, 0.5, levels * cells)) /
                                     m;
    };
    const auto given_class = [&] {
        return (sum(row_list_, 0.5, all) + sum(setting_.class_counts, levels * cells / 2, classes) -
                sum(candidate.row_count, cells / 2, levels * classes) -
                sum_pairs(levels / 2, cells * classes)) /
               mass(all);
    };
    switch (term) {
        case Term::information: return information();
        case Term::given_class: return given_class();
        case Term::redundancy: return information() - given_class();
        case Term::conditional:
            return (sum(row_list_, 0.5, all) + sum_cells(levels * classes / 2) -
                    sum(pair_list_, classes / 2, levels * cells) -
                    sum_pairs(levels / 2, cells * classes)) /
                   mass(all);
        case Term::joint: {
            const double m = mass(n_pairs * classes);
            return log_positive(m) -
                   (sum(pair_list_, classes / 2, n_pairs) +
                    sum(setting_.class_counts, n_pairs / 2, classes) -
                    sum(row_list_, 0.5, n_pairs * classes)) /
                       m;
        }
        case Term::joint_entropy: {
            const double occupied = double(row_list_.size()), m = mass(occupied);
            return log_positive(m) - sum(row_list_, 0.5, occupied) / m;
        }
    }
    return 0;
}

// ---- shrinkage towards independence ---------------------------------------------------------------

// I(X,W;Y), or I(X;Y|W), from the table with rows y and columns (x, w).
double Evaluator::shrunken_against_class(Term term, ShrinkageTable<1>& by_class, int64_t column_squares,
                                         const ConditionSums& condition) {
    by_class.finish();
    const double lambda = by_class.intensity(setting_.n_samples, column_squares);
    const double joint = information(by_class, lambda);
    return term == Term::joint ? joint : joint - information(condition.pairs, lambda);
}

// I(X;W), I(X;W|Y) or the first less the second, from the tables with columns w that are given.
double Evaluator::shrunken_term(ShrinkageTable<1>* by_level, ShrinkageTable<1>* by_row,
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

double Evaluator::shrunken_given_condition(Term term, const Cells& cells) {
    by_row_.start(setting_.class_counts, cells.most());
    AgainstClass sink{by_row_};
    walk(cells, sink);
    return shrunken_against_class(term, by_row_, sink.column_squares + cells.condition.n_alone,
                                  cells.condition);
}

double Evaluator::shrinkage(Term term, const Cells& cells) {
    if (term == Term::joint_entropy) return entropy_like(term, cells);
    if (term == Term::conditional || term == Term::joint)
        return shrunken_given_condition(term, cells);
    // Of few samples no two cells are alike.
    if (term == Term::redundancy && cells.by && cells.most() >= 64) return split_redundancy(cells);
    ShrinkageTable<1>* by_level = term == Term::given_class ? nullptr : &by_level_;
    ShrinkageTable<1>* by_row = term == Term::information ? nullptr : &by_row_;
    if (by_level) by_level->start(cells.candidate.level_count, cells.most());
    if (by_row) by_row->start(cells.candidate.row_count, cells.most());
    AgainstCondition sink{by_level, by_row};
    walk(cells, sink);
    return shrunken_term(by_level, by_row, cells.condition);
}

double Evaluator::dense_shrinkage(Term term, const Candidate& candidate, const int64_t* counts,
                                  int64_t n_cells, const ConditionSums& condition) {
    const int64_t n_levels = candidate.column.arity, n_classes = setting_.n_classes();
    const size_t n_rows = size_t(n_levels * n_classes), most = size_t(n_cells) * n_rows;
    std::vector<int64_t>& level_count = pair_list_;
    level_count.assign(size_t(n_levels), 0);
    if (term == Term::conditional || term == Term::joint) {
        by_row_.start(setting_.class_counts, most);
        int64_t column_squares = 0;
        for (int64_t column = 0; column < n_cells * n_levels; ++column, counts += n_classes) {
            int64_t size = 0;
            for (int64_t cls = 0; cls < n_classes; ++cls) size += counts[cls];
            if (size) by_row_.add_column(counts, size);
            column_squares += size * size;
        }
        return shrunken_against_class(term, by_row_, column_squares, condition);
    }
    ShrinkageTable<1>* by_level = term == Term::given_class ? nullptr : &by_level_;
    ShrinkageTable<1>* by_row = term == Term::information ? nullptr : &by_row_;
    if (by_level) by_level->start(candidate.level_count, most);
    if (by_row) by_row->start(candidate.row_count, most);
    for (int64_t w = 0; w < n_cells; ++w, counts += n_rows) {
        int64_t size = 0;
        for (int64_t level = 0; level < n_levels; ++level) {
            int64_t total = 0;
            for (int64_t cls = 0; cls < n_classes; ++cls) total += counts[level * n_classes + cls];
            level_count[size_t(level)] = total;
            size += total;
        }
        if (size == 0) continue;
        if (by_level) by_level->add_column(level_count.data(), size);
        if (by_row) by_row->add_column(counts, size);
    }
    return shrunken_term(by_level, by_row, condition);
}

double Evaluator::evaluate(Term term, const Cells& cells) {
    switch (setting_.estimator) {
        case Estimator::shrinkage: {
            const double value = shrinkage(term, cells);
            return term == Term::redundancy ? value : std::max(0.0, value);
        }
        case Estimator::plugin: {
            const double value = entropy_like(term, cells);
            return term == Term::redundancy ? value : std::max(0.0, value);
        }
        case Estimator::jeffreys: return jeffreys(term, cells);
        default: return entropy_like(term, cells);
    }
}

}  // namespace hocmim
