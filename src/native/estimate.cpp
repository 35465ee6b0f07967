#include "estimate.hpp"

#include <algorithm>
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

// λ of shrinkage towards independence, from Σ over cells of c², of c n_r n_c, and from Σ n_r², Σ n_c².
double shrinkage_intensity(double n, double row_squares, double column_squares, double squares,
                           double cross) {
    if (row_squares == n * n || column_squares == n * n) return 1.0;
    const double p2 = squares / (n * n), p_sum = (row_squares + column_squares) / (n * n);
    const double p_ind = cross / (n * n * n);
    const double all_ind2 = (row_squares / (n * n)) * (column_squares / (n * n));
    const double var = (1 - p2) / n;
    const double cov = ((n - 1) * (p_sum - 2 * p_ind) + 1 - p2) / (n * n);
    const double ml2 = ((n - 1) * p2 + 1) / n;
    const double mlind = ((n * n - 3 * n + 2) * p_ind + (n - 1) * (p_sum + p2) + 1) / (n * n);
    const double ind2 = ((n - 1) * (n - 2) * (n - 3) * all_ind2 + (n - 1) * (n - 2) * (p_sum + 4 * p_ind) +
                         (n - 1) * (2 * p_sum + 2 * p2 + 1) + 1) /
                        (n * n * n);
    const double distance = ml2 + ind2 - 2 * mlind;
    if (!(distance > 0)) return 1.0;
    return std::min(1.0, std::max(0.0, (var - cov) / distance));
}

// out = p* log(p*/ind) · scale for each cell, p*/ind = λ + (1−λ) N c / (n_r n_c).
HOCMIM_DISPATCH
void shrunken_terms(const double* count, const double* product, size_t size, double lambda, double n,
                    double scale, double* out) {
    const double towards = lambda * scale / (n * n), keep = (1 - lambda) * scale / n;
    const double ratio = (1 - lambda) * n;
    for (size_t i = 0; i < size; ++i)
        out[i] = (towards * product[i] + keep * count[i]) *
                 log_positive(lambda + ratio * count[i] / product[i]);
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

Setting::Setting(Estimator estimator_, int64_t n_samples_, std::vector<int64_t> class_counts_)
    : estimator(estimator_),
      n_samples(n_samples_),
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

void Candidate::assign(const Column& column_, int64_t n_classes, const int64_t* row_count_) {
    column = column_;
    row_count.assign(row_count_, row_count_ + column.arity * n_classes);
    level_count.assign(size_t(column.arity), 0);
    for (int64_t level = 0; level < column.arity; ++level)
        for (int64_t cls = 0; cls < n_classes; ++cls)
            level_count[size_t(level)] += row_count_[level * n_classes + cls];
}

void ConditionSums::compute(const Partition& partition, const Setting& setting) {
    const CountFunction& f = *setting.function;
    const int64_t n_alone = partition.n_alone();
    cell_squares = n_alone;
    cells_sum = runs_sum = n_alone * f(1);
    cells_of_class = partition.alone;
    run_count.clear();
    run_product.clear();
    run_product_sum = 0;
    for (size_t cls = 0; cls < partition.alone.size(); ++cls)
        run_product_sum += partition.alone[cls] * setting.class_counts[cls];
    uint32_t begin = 0;
    size_t r = 0;
    for (uint32_t end_run : partition.cell_end) {
        const int64_t size = int64_t(partition.run[end_run - 1].end) - begin;
        cell_squares += size * size;
        cells_sum += f(size);
        for (; r < end_run; ++r) {
            const Partition::Run& run = partition.run[r];
            const int64_t count = run.end - begin, product = size * setting.class_counts[run.cls];
            begin = run.end;
            runs_sum += f(count);
            ++cells_of_class[run.cls];
            run_count.push_back(double(count));
            run_product.push_back(double(product));
            run_product_sum += product;
        }
    }
}

// ---- the walk: counts of x in every (cell, class) run and in every cell --------------------------

template <class Code, class Sink>
void Evaluator::walk_packed(const Code* level_of, const Partition& partition, Sink& sink) {
    // Eight counters of eight bits in one register; a chunk of 255 samples cannot overflow them.
    const uint32_t* sample = partition.sample.data();
    const auto for_each = [](uint64_t packed, auto&& use) {
        while (packed) {
            const int level = __builtin_ctzll(packed) >> 3;
            use(uint32_t(level), int64_t((packed >> (8 * level)) & 255));
            packed &= ~(uint64_t(255) << (8 * level));
        }
    };
    const auto count = [&](uint32_t from, uint32_t to) {
        uint64_t packed = 0;
        for (uint32_t i = from; i < to; ++i) packed += uint64_t(1) << (8 * level_of[sample[i]]);
        return packed;
    };
    uint32_t i = 0;
    size_t r = 0;
    for (uint32_t end_run : partition.cell_end) {
        const int64_t size = int64_t(partition.run[end_run - 1].end) - i;
        const size_t n_runs = end_run - r;
        sink.begin_cell(size);
        if (size <= 255) {
            uint64_t total = 0;
            for (; r < end_run; ++r) {
                const Partition::Run& run = partition.run[r];
                const uint64_t packed = count(i, run.end);
                i = run.end;
                total += packed;
                for_each(packed, [&](uint32_t level, int64_t c) { sink.in_run(level, run.cls, c); });
            }
            for_each(total, [&](uint32_t level, int64_t c) { sink.in_cell(level, c); });
        } else {
            int64_t totals[8] = {};
            for (; r < end_run; ++r) {
                const Partition::Run& run = partition.run[r];
                int64_t counts[8] = {};
                while (i < run.end) {
                    const uint32_t stop = std::min(run.end, i + 255);
                    for_each(count(i, stop), [&](uint32_t level, int64_t c) { counts[level] += c; });
                    i = stop;
                }
                for (uint32_t level = 0; level < 8; ++level)
                    if (counts[level]) {
                        totals[level] += counts[level];
                        sink.in_run(level, run.cls, counts[level]);
                    }
            }
            for (uint32_t level = 0; level < 8; ++level)
                if (totals[level]) sink.in_cell(level, totals[level]);
        }
        sink.end_cell(n_runs);
    }
}

template <class Code, class Sink>
void Evaluator::walk_any(const Code* level_of, int64_t arity, const Partition& partition, Sink& sink) {
    if (int64_t(run_tally_.size()) < arity) {
        run_tally_.resize(size_t(arity), 0);
        cell_tally_.resize(size_t(arity), 0);
    }
    uint32_t i = 0;
    size_t r = 0;
    for (uint32_t end_run : partition.cell_end) {
        sink.begin_cell(int64_t(partition.run[end_run - 1].end) - i);
        const size_t n_runs = end_run - r;
        cell_levels_.clear();
        for (; r < end_run; ++r) {
            const Partition::Run& run = partition.run[r];
            run_levels_.clear();
            for (; i < run.end; ++i) {
                const uint32_t level = level_of[partition.sample[i]];
                if (run_tally_[level]++ == 0) run_levels_.push_back(level);
            }
            for (uint32_t level : run_levels_) {
                sink.in_run(level, run.cls, run_tally_[level]);
                if (cell_tally_[level] == 0) cell_levels_.push_back(level);
                cell_tally_[level] += run_tally_[level];
                run_tally_[level] = 0;
            }
        }
        for (uint32_t level : cell_levels_) {
            sink.in_cell(level, cell_tally_[level]);
            cell_tally_[level] = 0;
        }
        sink.end_cell(n_runs);
    }
}

template <class Sink>
void Evaluator::walk(const Candidate& candidate, const Partition& partition, Sink& sink) {
    candidate.column.visit([&](const auto* level_of) {
        if (candidate.column.arity <= 8)
            walk_packed(level_of, partition, sink);
        else
            walk_any(level_of, candidate.column.arity, partition, sink);
    });
}

// ---- plug-in, Miller–Madow and Grassberger: sums of one function of the counts -------------------

struct Evaluator::EntropySums {
    const CountFunction& f;
    int64_t rows = 0, pairs = 0;      // Σ f(n_xwy), Σ f(n_xw)
    int64_t n_rows = 0, n_pairs = 0;  // how many of them
    int64_t freedom = 0;              // Σ_w (k_x(w) − 1)(k_y(w) − 1)
    int64_t levels_here = 0;

    void begin_cell(int64_t) { levels_here = 0; }
    void in_run(uint32_t, uint32_t, int64_t c) {
        rows += f(c);
        ++n_rows;
    }
    void in_cell(uint32_t, int64_t c) {
        pairs += f(c);
        ++n_pairs;
        ++levels_here;
    }
    void end_cell(size_t n_runs) { freedom += (levels_here - 1) * (int64_t(n_runs) - 1); }
};

double Evaluator::entropy_like(Term term, const Candidate& candidate, const Partition& partition,
                               const ConditionSums& condition) {
    const CountFunction& f = *setting_.function;
    const bool corrected = setting_.estimator == Estimator::miller_madow;
    const double n = double(setting_.n_samples);
    EntropySums sums{f};
    walk(candidate, partition, sums);
    const int64_t n_alone = partition.n_alone();
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
        const double value = real(sums.pairs - level_sum - condition.cells_sum + setting_.whole_sum);
        return corrected ? value - double((levels - 1) * (partition.n_cells - 1)) / (2 * n) : value;
    };
    const auto given_class = [&] {
        const int64_t n_classes = setting_.n_classes();
        int64_t row_sum = 0, freedom = 0;
        std::vector<int64_t>& levels_of_class = level_total_;
        levels_of_class.assign(size_t(n_classes), 0);
        for (size_t row = 0; row < candidate.row_count.size(); ++row) {
            row_sum += f(candidate.row_count[row]);
            levels_of_class[row % size_t(n_classes)] += candidate.row_count[row] > 0;
        }
        for (size_t cls = 0; cls < size_t(n_classes); ++cls)
            if (setting_.class_counts[cls])
                freedom += (levels_of_class[cls] - 1) * (condition.cells_of_class[cls] - 1);
        const double value = real(sums.rows - row_sum - condition.runs_sum + setting_.class_sum);
        return corrected ? value - double(freedom) / (2 * n) : value;
    };

    switch (term) {
        case Term::information: return information();
        case Term::given_class: return given_class();
        case Term::redundancy: return information() - given_class();
        case Term::conditional: {
            const double value =
                real(sums.rows - sums.pairs - condition.runs_sum + condition.cells_sum);
            return corrected ? value - double(sums.freedom) / (2 * n) : value;
        }
        case Term::joint: {
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

struct Evaluator::CountLists {
    std::vector<int64_t>&rows, &pairs;
    void begin_cell(int64_t) {}
    void in_run(uint32_t, uint32_t, int64_t c) { rows.push_back(c); }
    void in_cell(uint32_t, int64_t c) { pairs.push_back(c); }
    void end_cell(size_t) {}
};

double Evaluator::jeffreys(Term term, const Candidate& candidate, const Partition& partition) {
    row_list_.clear();
    pair_list_.clear();
    CountLists lists{row_list_, pair_list_};
    walk(candidate, partition, lists);
    const size_t n_alone = size_t(partition.n_alone());
    row_list_.insert(row_list_.end(), n_alone, 1);
    pair_list_.insert(pair_list_.end(), n_alone, 1);

    const double n = double(setting_.n_samples), n_pairs = double(pair_list_.size());
    const auto seen = [](int64_t count) { return count > 0; };
    const double levels =
        double(std::count_if(candidate.level_count.begin(), candidate.level_count.end(), seen));
    const double cells = double(partition.n_cells), classes = double(setting_.n_classes_seen);

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
    const auto sum_runs = [&](double a, double n_cells) {
        int64_t total = int64_t(n_alone) * g(1 + a);
        uint32_t begin = 0;
        for (const Partition::Run& run : partition.run) {
            total += g(double(run.end - begin) + a);
            begin = run.end;
        }
        return fixed.real(total) + (n_cells - double(n_alone + partition.run.size())) * n_log_n(a);
    };
    const auto sum_cells = [&](double a) {
        int64_t total = int64_t(n_alone) * g(1 + a);
        uint32_t begin = 0;
        for (uint32_t end_run : partition.cell_end) {
            const uint32_t end = partition.run[end_run - 1].end;
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
                sum_runs(levels / 2, cells * classes)) /
               mass(all);
    };
    switch (term) {
        case Term::information: return information();
        case Term::given_class: return given_class();
        case Term::redundancy: return information() - given_class();
        case Term::conditional:
            return (sum(row_list_, 0.5, all) + sum_cells(levels * classes / 2) -
                    sum(pair_list_, classes / 2, levels * cells) -
                    sum_runs(levels / 2, cells * classes)) /
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

void Evaluator::Cells::reset(size_t most_cells, size_t n_rows) {
    if (count.size() < most_cells) {
        count.resize(most_cells);
        product.resize(most_cells);
    }
    size = 0;
    squares = product_sum = 0;
    live.assign(n_rows, 0);
    cross.assign(n_rows, 0);
}

// Rows x (table with w) and rows (x, y) (table with w), as far as they are wanted.
struct Evaluator::AgainstCondition {
    const Candidate& candidate;
    const int64_t n_classes;
    Cells* by_level;
    Cells* by_row;
    int64_t cell_size = 0;

    static void add(Cells& cells, size_t row, int64_t c, int64_t row_count, int64_t cell_size) {
        cells.add(c, row_count * cell_size);
        cells.live[row] += c;
        cells.cross[row] += c * cell_size;
    }
    void begin_cell(int64_t size) { cell_size = size; }
    void in_run(uint32_t level, uint32_t cls, int64_t c) {
        if (!by_row) return;
        const size_t row = size_t(level * n_classes + cls);
        add(*by_row, row, c, candidate.row_count[row], cell_size);
    }
    void in_cell(uint32_t level, int64_t c) {
        if (by_level) add(*by_level, level, c, candidate.level_count[level], cell_size);
    }
    void end_cell(size_t) {}
};

// Rows (x, w), columns y: the products are known once the cell of w is counted out.
struct Evaluator::AgainstClass {
    const Setting& setting;
    Cells& cells;
    std::vector<Pending>& pending;
    std::vector<int64_t>& level_total;
    int64_t row_squares = 0;  // Σ n_xw²

    void begin_cell(int64_t) { pending.clear(); }
    void in_run(uint32_t level, uint32_t cls, int64_t c) { pending.push_back({level, cls, c}); }
    void in_cell(uint32_t level, int64_t c) {
        level_total[level] = c;
        row_squares += c * c;
    }
    void end_cell(size_t) {
        for (const Pending& p : pending) {
            const int64_t row_count = level_total[p.level];
            cells.add(p.count, row_count * setting.class_counts[p.cls]);
            cells.cross[p.cls] += p.count * row_count;
        }
    }
};

int64_t Evaluator::shrunken_sum(const double* count, const double* product, size_t size,
                                double lambda) {
    if (terms_.size() < size) terms_.resize(size);
    shrunken_terms(count, product, size, lambda, double(setting_.n_samples), setting_.nats.scale(),
                   terms_.data());
    int64_t sum = 0;
    for (size_t i = 0; i < size; ++i) sum += std::llrint(terms_[i]);
    return sum;
}

int64_t Evaluator::shrunken_alone(int64_t n_alone, int64_t product, double lambda) {
    if (n_alone == 0) return 0;
    const double count = 1.0, marginals = double(product);
    return n_alone * shrunken_sum(&count, &marginals, 1, lambda);
}

namespace {
// Empty cells hold λ ind each: λ log λ times the ind that no occupied cell has.
double empty_cells(double lambda, double product_sum, double n) {
    return lambda > 0 ? lambda * log_positive(lambda) * (1 - product_sum / (n * n)) : 0.0;
}
}  // namespace

// I*(rows;W) and its λ.
double Evaluator::shrunken_rows(Cells& cells, const std::vector<int64_t>& row_count,
                                const ConditionSums& condition, double& lambda) {
    double row_squares = 0, cross = 0;
    for (size_t row = 0; row < row_count.size(); ++row) {
        const int64_t n_alone = row_count[row] - cells.live[row];
        cells.squares += n_alone;
        cells.product_sum += n_alone * row_count[row];
        cross += double(row_count[row]) * double(cells.cross[row] + n_alone);
        row_squares += double(row_count[row]) * double(row_count[row]);
    }
    const double n = double(setting_.n_samples);
    lambda = shrinkage_intensity(n, row_squares, double(condition.cell_squares),
                                 double(cells.squares), cross);
    if (lambda == 1.0) return 0.0;
    int64_t sum = shrunken_sum(cells.count.data(), cells.product.data(), cells.size, lambda);
    for (size_t row = 0; row < row_count.size(); ++row)
        sum += shrunken_alone(row_count[row] - cells.live[row], row_count[row], lambda);
    return setting_.nats.real(sum) + empty_cells(lambda, double(cells.product_sum), n);
}

// I*(W;Y) under a given λ.
double Evaluator::shrunken_condition(double lambda, const Partition& partition,
                                     const ConditionSums& condition) {
    if (lambda == 1.0) return 0.0;
    int64_t sum = shrunken_sum(condition.run_count.data(), condition.run_product.data(),
                               condition.run_count.size(), lambda);
    for (size_t cls = 0; cls < partition.alone.size(); ++cls)
        sum += shrunken_alone(partition.alone[cls], setting_.class_counts[cls], lambda);
    return setting_.nats.real(sum) +
           empty_cells(lambda, double(condition.run_product_sum), double(setting_.n_samples));
}

double Evaluator::shrunken_against_class(Term term, const Candidate& candidate,
                                         const Partition& partition,
                                         const ConditionSums& condition) {
    Cells& cells = by_row_;
    cells.reset(partition.sample.size(), size_t(setting_.n_classes()));
    if (int64_t(level_total_.size()) < candidate.column.arity)
        level_total_.resize(size_t(candidate.column.arity));
    AgainstClass sink{setting_, cells, pending_, level_total_};
    walk(candidate, partition, sink);

    const int64_t n_alone = partition.n_alone();
    double cross = 0;
    for (size_t cls = 0; cls < partition.alone.size(); ++cls) {
        const int64_t class_count = setting_.class_counts[cls];
        cells.product_sum += partition.alone[cls] * class_count;
        cross += double(class_count) * double(cells.cross[cls] + partition.alone[cls]);
    }
    const double n = double(setting_.n_samples);
    const double lambda =
        shrinkage_intensity(n, double(sink.row_squares + n_alone), double(setting_.class_squares),
                            double(cells.squares + n_alone), cross);
    if (lambda == 1.0) return 0.0;
    int64_t sum = shrunken_sum(cells.count.data(), cells.product.data(), cells.size, lambda);
    for (size_t cls = 0; cls < partition.alone.size(); ++cls)
        sum += shrunken_alone(partition.alone[cls], setting_.class_counts[cls], lambda);
    const double joint =
        setting_.nats.real(sum) + empty_cells(lambda, double(cells.product_sum), n);
    return term == Term::joint ? joint : joint - shrunken_condition(lambda, partition, condition);
}

double Evaluator::shrinkage(Term term, const Candidate& candidate, const Partition& partition,
                            const ConditionSums& condition) {
    if (term == Term::joint_entropy) return entropy_like(term, candidate, partition, condition);
    if (term == Term::conditional || term == Term::joint)
        return shrunken_against_class(term, candidate, partition, condition);
    const bool by_level = term != Term::given_class, by_row = term != Term::information;
    if (by_level) by_level_.reset(partition.sample.size(), candidate.level_count.size());
    if (by_row) by_row_.reset(partition.sample.size(), candidate.row_count.size());
    AgainstCondition sink{candidate, setting_.n_classes(), by_level ? &by_level_ : nullptr,
                          by_row ? &by_row_ : nullptr};
    walk(candidate, partition, sink);
    double value = 0, lambda = 1;
    if (by_level) value += std::max(0.0, shrunken_rows(by_level_, candidate.level_count, condition, lambda));
    if (by_row) {
        const double joint = shrunken_rows(by_row_, candidate.row_count, condition, lambda);
        const double given_class =
            std::max(0.0, joint - shrunken_condition(lambda, partition, condition));
        value += by_level ? -given_class : given_class;
    }
    return value;
}

double Evaluator::operator()(Term term, const Candidate& candidate, const Partition& partition,
                             const ConditionSums& condition) {
    switch (setting_.estimator) {
        case Estimator::shrinkage: {
            const double value = shrinkage(term, candidate, partition, condition);
            return term == Term::redundancy ? value : std::max(0.0, value);
        }
        case Estimator::plugin: {
            const double value = entropy_like(term, candidate, partition, condition);
            return term == Term::redundancy ? value : std::max(0.0, value);
        }
        case Estimator::jeffreys: return jeffreys(term, candidate, partition);
        default: return entropy_like(term, candidate, partition, condition);
    }
}

}  // namespace hocmim
