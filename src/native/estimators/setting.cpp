#include "estimators/setting.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

#include "core/logarithm.hpp"

namespace hocmim {

namespace {

constexpr int64_t kMostTabledCounts = 1 << 16;
constexpr size_t kMostTables = 8;

using OfCount = double (*)(int64_t);

// A table depends on the estimator and the number of samples alone: a few are kept.
std::shared_ptr<const CountFunction> count_function(OfCount of_count, int64_t n_samples) {
    static std::mutex mutex;
    static std::map<std::pair<OfCount, int64_t>, std::shared_ptr<const CountFunction>> tables;
    const std::lock_guard<std::mutex> lock(mutex);
    auto& table = tables[{of_count, n_samples}];
    if (table) return table;
    const auto result = table = std::make_shared<const CountFunction>(of_count, n_samples);
    if (tables.size() > kMostTables)
        for (auto it = tables.begin(); it != tables.end();)
            it = it->second == result ? std::next(it) : tables.erase(it);
    return result;
}

std::vector<int64_t> count_classes(const uint32_t* cls, int64_t n_samples, int64_t n_classes) {
    if (n_classes < 1) throw std::invalid_argument("there must be a class");
    std::vector<int64_t> counts(size_t(n_classes), 0);
    for (int64_t i = 0; i < n_samples; ++i) {
        if (cls[i] >= uint64_t(n_classes))
            throw std::invalid_argument("a class is not below the number of classes");
        ++counts[cls[i]];
    }
    return counts;
}

}  // namespace

double n_log_n(double n) { return n > 0 ? n * log_positive(n) : 0.0; }
double n_log_n_of_count(int64_t count) { return n_log_n(double(count)); }

CountFunction::CountFunction(OfCount of_count, int64_t n_samples)
    : of_count_(of_count), fixed_(2 * n_log_n(double(n_samples)) + 4) {
    const int64_t size = std::min(n_samples + 1, kMostTabledCounts);
    table_.resize(size_t(size));
    table_[0] = 0;
    for (int64_t c = 1; c < size; ++c) table_[size_t(c)] = fixed_.of(of_count(c));
}

Setting::Setting(Estimator estimator_, const uint32_t* cls_, int64_t n_samples_, int64_t n_classes)
    : Setting(estimator_, n_samples_, count_classes(cls_, n_samples_, n_classes)) {
    cls = cls_;
}

Setting::Setting(Estimator estimator_, int64_t n_samples_, std::vector<int64_t> class_counts_)
    : estimator(kind_of(estimator_)),
      n_samples(n_samples_),
      cls(nullptr),
      class_counts(std::move(class_counts_)),
      function(count_function(estimator.of_count, n_samples_)),
      nats(256.0) {
    for (int64_t count : class_counts) {
        n_classes_seen += count > 0;
        class_squares += count * count;
        class_sum += (*function)(count);
    }
    whole_sum = function->fixed().of(n_log_n(double(n_samples)));
}

}  // namespace hocmim
