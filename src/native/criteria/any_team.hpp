// Teams of representatives under any estimator.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/partition.hpp"
#include "criteria/representative.hpp"
#include "estimators/evaluator.hpp"

namespace hocmim {

// I(X;Y|W) under any estimator.
class AnyTeam {
public:
    explicit AnyTeam(const Setting& setting)
        : setting_(setting),
          evaluate_(make_evaluator(setting)),
          bits_(size_t(setting.n_samples), 0),
          team_(size_t(setting.n_samples)) {}

    void start(const Representative& b) {
        condition_.assign_whole(setting_.n_samples, setting_.cls, setting_.n_classes());
        is_conditional_ = false;
        std::fill(team_.begin(), team_.end(), uint16_t(0));
        n_levels_ = 1;
        add_helper(b);
    }

    void expect(size_t) {}

    double given(const Representative& g) {
        refine(g, refined_);
        return information(Term::conditional, refined_);
    }

    void add_condition(const Representative& g) {
        refine(g, refined_);
        std::swap(condition_, refined_);
        is_conditional_ = true;
    }

    // Levels of the team that occur, in the order of their first sample.
    void add_helper(const Representative& h) {
        for (const uint32_t i : h.samples) bits_[i] = 1;
        std::vector<uint32_t> number(size_t(2 * n_levels_), UINT32_MAX);
        uint32_t n_levels = 0;
        for (size_t i = 0; i < team_.size(); ++i) {
            uint32_t& level = number[2 * size_t(team_[i]) + bits_[i]];
            if (level == UINT32_MAX) level = n_levels++;
            team_[i] = uint16_t(level);
        }
        n_levels_ = n_levels;
        for (const uint32_t i : h.samples) bits_[i] = 0;
        const Column column{team_.data(), true, n_levels_};
        row_count_.resize(size_t(n_levels_ * setting_.n_classes()));
        count_rows(column, setting_.cls, setting_.n_samples, setting_.n_classes(),
                   row_count_.data());
        candidate_.assign(column, setting_.n_classes(), row_count_.data());
    }

    double value() {
        return information(is_conditional_ ? Term::conditional : Term::joint, condition_);
    }

private:
    void refine(const Representative& g, Partition& out) {
        for (const uint32_t i : g.samples) bits_[i] = 1;
        refiner_(condition_, bits_.data(), 2, setting_.cls, out);
        for (const uint32_t i : g.samples) bits_[i] = 0;
    }
    double information(Term term, const Partition& partition) {
        sums_.compute(partition, setting_);
        return (*evaluate_)(term, candidate_, partition, sums_);
    }

    const Setting& setting_;
    std::unique_ptr<Evaluator> evaluate_;
    Refiner refiner_;
    Partition condition_, refined_;
    bool is_conditional_ = false;
    ConditionSums sums_;
    std::vector<uint8_t> bits_;
    std::vector<uint16_t> team_;
    int64_t n_levels_ = 1;
    std::vector<int64_t> row_count_;
    Candidate candidate_;
};

}  // namespace hocmim
