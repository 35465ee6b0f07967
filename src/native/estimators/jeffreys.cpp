// Jeffreys: half a sample added to every cell of the table, then the plug-in.
#include "core/logarithm.hpp"
#include "estimators/evaluator.hpp"

namespace hocmim {

namespace {

using Counts = std::vector<int64_t>;

// The counts of the cells (x, w, y) and (x, w).
struct CountLists {
    Counts &rows, &pairs;
    void begin_cell(int64_t) {}
    void in_row(uint32_t, uint32_t, int64_t c) { rows.push_back(c); }
    void in_level(uint32_t, int64_t c) { pairs.push_back(c); }
    void end_cell() {}
};

class JeffreysEvaluator : public Evaluator {
public:
    using Evaluator::Evaluator;

protected:
    double evaluate(Term term, const Cells& cells) override;

private:
    // Σ (c + a) log(c + a) over tables of n_cells cells, a the pseudo-count of each. Cells that do
    // not occur have c = 0.
    struct Sums {
        const Partition& partition;
        const Setting& setting;
        Counts& class_scratch;
        const FixedPoint fixed;

        int64_t of(double value) const { return fixed.of(n_log_n(value)); }
        double with_empty(int64_t total, int64_t n_occupied, double a, double n_cells) const {
            return fixed.real(total) + (n_cells - double(n_occupied)) * n_log_n(a);
        }
        // Over given counts.
        double over(const Counts& counts, double a, double n_cells) const;
        // Over the cells (w, y), and over the cells w.
        double over_pairs(double a, double n_cells) const;
        double over_cells(double a) const;
    };

    Counts rows_, pairs_, class_scratch_;
};

double JeffreysEvaluator::Sums::over(const Counts& counts, double a, double n_cells) const {
    int64_t total = 0, n_occupied = 0;
    for (int64_t c : counts)
        if (c) {
            total += of(double(c) + a);
            ++n_occupied;
        }
    return with_empty(total, n_occupied, a, n_cells);
}

double JeffreysEvaluator::Sums::over_pairs(double a, double n_cells) const {
    Counts& counts = class_scratch;
    counts.assign(setting.class_counts.size(), 0);
    int64_t total = partition.n_alone * of(1 + a), n_occupied = partition.n_alone;
    uint32_t i = 0;
    for (const uint32_t end : partition.cell_end) {
        for (uint32_t at = i; at < end; ++at) ++counts[setting.cls[partition.sample[at]]];
        for (; i < end; ++i) {
            int64_t& count = counts[setting.cls[partition.sample[i]]];
            if (count == 0) continue;
            total += of(double(count) + a);
            ++n_occupied;
            count = 0;
        }
    }
    return with_empty(total, n_occupied, a, n_cells);
}

double JeffreysEvaluator::Sums::over_cells(double a) const {
    int64_t total = partition.n_alone * of(1 + a);
    uint32_t begin = 0;
    for (const uint32_t end : partition.cell_end) {
        total += of(double(end - begin) + a);
        begin = end;
    }
    return fixed.real(total);
}

double JeffreysEvaluator::evaluate(Term term, const Cells& source) {
    const Candidate& candidate = source.candidate;
    const Partition& partition = source.partition;
    rows_.clear();
    pairs_.clear();
    CountLists lists{rows_, pairs_};
    walk(source, lists);
    rows_.insert(rows_.end(), size_t(partition.n_alone), 1);
    pairs_.insert(pairs_.end(), size_t(partition.n_alone), 1);

    const double n = double(setting_.n_samples), n_pairs = double(pairs_.size());
    const auto occurs = [](int64_t count) { return count > 0; };
    const double levels =
        double(std::count_if(candidate.level_count.begin(), candidate.level_count.end(), occurs));
    const double cells = double(partition.n_cells()), classes = double(setting_.n_classes_seen);
    const double all = levels * cells * classes;
    const Sums sum{partition, setting_, class_scratch_, FixedPoint(n_log_n(n + all) + 4)};
    const auto mass = [&](double n_cells) { return n + n_cells / 2; };

    const auto information = [&] {
        const double m = mass(levels * cells);
        return log_positive(m) -
               (sum.over(candidate.level_count, cells / 2, levels) + sum.over_cells(levels / 2) -
                sum.over(pairs_, 0.5, levels * cells)) /
                   m;
    };
    const auto given_class = [&] {
        return (sum.over(rows_, 0.5, all) +
                sum.over(setting_.class_counts, levels * cells / 2, classes) -
                sum.over(candidate.row_count, cells / 2, levels * classes) -
                sum.over_pairs(levels / 2, cells * classes)) /
               mass(all);
    };
    switch (term) {
        case Term::information:
            return information();
        case Term::given_class:
            return given_class();
        case Term::redundancy:
            return information() - given_class();
        case Term::conditional:
            return (sum.over(rows_, 0.5, all) + sum.over_cells(levels * classes / 2) -
                    sum.over(pairs_, classes / 2, levels * cells) -
                    sum.over_pairs(levels / 2, cells * classes)) /
                   mass(all);
        case Term::joint: {
            const double m = mass(n_pairs * classes);
            return log_positive(m) - (sum.over(pairs_, classes / 2, n_pairs) +
                                      sum.over(setting_.class_counts, n_pairs / 2, classes) -
                                      sum.over(rows_, 0.5, n_pairs * classes)) /
                                         m;
        }
        case Term::joint_entropy: {
            const double n_occupied = double(rows_.size()), m = mass(n_occupied);
            return log_positive(m) - sum.over(rows_, 0.5, n_occupied) / m;
        }
    }
    return 0;
}

}  // namespace

extern const EstimatorKind jeffreys = {"jeffreys",
                                       n_log_n_of_count,
                                       [](const Setting& setting) -> std::unique_ptr<Evaluator> {
                                           return std::make_unique<JeffreysEvaluator>(setting);
                                       },
                                       /*is_plain_sum=*/false,
                                       /*is_sum_of_counts=*/false,
                                       /*is_corrected=*/false,
                                       /*is_shrunken=*/false,
                                       /*needs_samples=*/true};

}  // namespace hocmim
