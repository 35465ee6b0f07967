// Terms from entropies, H = log N − (1/N) Σ f(c) over the cells of a table.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "estimators/evaluator.hpp"

namespace hocmim {

// Without a correction; estimators that have one derive from it.
class EntropyEvaluator : public Evaluator {
public:
    using Evaluator::Evaluator;

protected:
    double evaluate(Term term, const Cells& cells) override;

    // `value` less its bias, which grows with the degrees of freedom of the table.
    virtual double corrected(double value, int64_t freedom) const {
        (void)freedom;
        return value;
    }

private:
    // Sums over the cells of two samples or more.
    struct Sums;

    double real(int64_t sum) const {
        return setting_.function->fixed().real(sum) / double(setting_.n_samples);
    }
    double information(const Cells& cells, const Sums& sums) const;
    double given_class(const Cells& cells, const Sums& sums);

    std::vector<int64_t> class_scratch_;
};

}  // namespace hocmim
