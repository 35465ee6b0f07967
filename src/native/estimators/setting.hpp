// What all candidates share: the estimator, the number of samples, the class counts.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/fixed_point.hpp"
#include "estimators/estimator.hpp"

namespace hocmim {

double n_log_n(double n);
double n_log_n_of_count(int64_t count);

// An estimator's f(c) in fixed point: by table where counts are small, since small counts repeat.
class CountFunction {
public:
    CountFunction(double (*of_count)(int64_t), int64_t n_samples);
    int64_t operator()(int64_t count) const {
        return count < int64_t(table_.size()) ? table_[size_t(count)] : fixed_.of(of_count_(count));
    }
    FixedPoint fixed() const { return fixed_; }
    // f(0), f(1), …: of all counts if there are fewer than 2^16 samples.
    const int64_t* table() const { return table_.data(); }

private:
    double (*of_count_)(int64_t);
    FixedPoint fixed_;
    std::vector<int64_t> table_;
};

struct Setting {
    // `cls` must outlive the setting.
    Setting(Estimator estimator, const uint32_t* cls, int64_t n_samples, int64_t n_classes);
    // Without the class of each sample: for counts that were made elsewhere.
    Setting(Estimator estimator, int64_t n_samples, std::vector<int64_t> class_counts);

    const EstimatorKind& estimator;
    int64_t n_samples;
    const uint32_t* cls;
    std::vector<int64_t> class_counts;
    int64_t n_classes_seen = 0;
    int64_t class_squares = 0;                      // Σ n_y²
    std::shared_ptr<const CountFunction> function;  // f
    int64_t class_sum = 0;                          // Σ f(n_y)
    int64_t whole_sum = 0;                          // N log N
    FixedPoint nats;                                // for sums of p log p

    int64_t n_classes() const { return int64_t(class_counts.size()); }
};

}  // namespace hocmim
