#include "estimators/entropy.hpp"

namespace hocmim {

struct EntropyEvaluator::Sums {
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
    // Samples that are alone in their cell of W.
    void add_alone(int64_t n_alone) {
        rows += n_alone * f(1);
        pairs += n_alone * f(1);
        n_rows += n_alone;
        n_pairs += n_alone;
    }
};

double EntropyEvaluator::information(const Cells& cells, const Sums& sums) const {
    int64_t levels = 0, level_sum = 0;
    for (int64_t count : cells.candidate.level_count) {
        levels += count > 0;
        level_sum += sums.f(count);
    }
    // Exactly 0 where one variable is constant; the sums of other functions than c log c are not.
    if (levels == 1 || cells.condition.n_cells == 1) return 0.0;
    const double value =
        real(sums.pairs - level_sum - cells.condition.cells_sum + setting_.whole_sum);
    return corrected(value, (levels - 1) * (cells.condition.n_cells - 1));
}

double EntropyEvaluator::given_class(const Cells& cells, const Sums& sums) {
    const size_t n_classes = size_t(setting_.n_classes());
    const std::vector<int64_t>& row_count = cells.candidate.row_count;
    std::vector<int64_t>& levels_of_class = class_scratch_;
    levels_of_class.assign(n_classes, 0);
    int64_t row_sum = 0, freedom = 0;
    for (size_t row = 0; row < row_count.size(); ++row) {
        row_sum += sums.f(row_count[row]);
        levels_of_class[row % n_classes] += row_count[row] > 0;
    }
    for (size_t cls = 0; cls < n_classes; ++cls)
        if (setting_.class_counts[cls])
            freedom += (levels_of_class[cls] - 1) * (cells.condition.cells_of_class[cls] - 1);
    return corrected(real(sums.rows - row_sum - cells.condition.pairs_sum + setting_.class_sum),
                     freedom);
}

double EntropyEvaluator::evaluate(Term term, const Cells& cells) {
    class_scratch_.assign(size_t(setting_.n_classes()), 0);
    Sums sums{*setting_.function, class_scratch_};
    walk(cells, sums);
    const ConditionSums& condition = cells.condition;
    sums.add_alone(condition.n_alone);
    switch (term) {
        case Term::information:
            return information(cells, sums);
        case Term::given_class:
            return given_class(cells, sums);
        case Term::redundancy: {
            const double without = information(cells, sums);
            return without - given_class(cells, sums);
        }
        case Term::conditional:
            return corrected(
                real(sums.rows - sums.pairs - condition.pairs_sum + condition.cells_sum),
                sums.freedom);
        case Term::joint:
            if (sums.n_pairs == 1 || setting_.n_classes_seen == 1) return 0.0;
            return corrected(real(sums.rows - sums.pairs - setting_.class_sum + setting_.whole_sum),
                             (sums.n_pairs - 1) * (setting_.n_classes_seen - 1));
        case Term::joint_entropy:
            return corrected(real(setting_.whole_sum - sums.rows), 1 - sums.n_rows);
    }
    return 0;
}

}  // namespace hocmim
