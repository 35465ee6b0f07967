#include "estimators/condition_sums.hpp"

namespace hocmim {

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
    is_shrunken_ = setting.estimator.is_shrunken;
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

// Cells of one sample are left to finish().
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

}  // namespace hocmim
