// Terms given a partition of the samples and one more column, without forming the finer partition.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/columns.hpp"
#include "core/partition.hpp"
#include "counting/class_counts.hpp"
#include "counting/paths.hpp"
#include "estimators/condition_sums.hpp"
#include "estimators/evaluator.hpp"
#include "estimators/setting.hpp"
#include "estimators/term.hpp"

namespace hocmim {

// Holds scratch, so one SplitTerms serves one thread. For one candidate and one partition after the
// other: call begin() before another of them.
class SplitTerms {
public:
    SplitTerms(const Setting& setting, Evaluator& evaluate)
        : setting_(setting), evaluate_(evaluate) {}

    void begin() { is_gathered_ = false; }

    // Whether the cells of `p` are split by a column without forming the finer partition.
    bool applies(const Candidate& candidate, const Partition& p, const Column& by) const {
        const int64_t n_rows = int64_t(candidate.row_count.size());
        return uses_table(candidate, p, by) ||
               paths::splits_cells(setting_.estimator, n_rows, by.arity);
    }

    // The term of the candidate with `p` split by one more column. A few samples can be split in a
    // few ways only: each way is evaluated once.
    double operator()(Term term, const Candidate& candidate, const Partition& p, const Column& by) {
        if (!is_gathered_) gather_rows(candidate, p);
        if (uses_table(candidate, p, by)) return from_table(term, candidate, p, by);
        if (p.sample.size() > kFewSamples)
            return evaluate_.split(term, candidate, p, row_of_.data(), by);
        const uint64_t way = way_to_split(p, by);
        for (const auto& [known, value] : known_)
            if (known == way) return value;
        const double value = evaluate_.split(term, candidate, p, row_of_.data(), by);
        known_.emplace_back(way, value);
        return value;
    }

private:
    bool uses_table(const Candidate& candidate, const Partition& p, const Column& by) const {
        return p.n_alone == 0 &&
               paths::counts_split_in_table(setting_, int64_t(candidate.row_count.size()),
                                            int64_t(p.cell_end.size()) * by.arity);
    }

    // From a table of counts by cell, level of `by` and row.
    double from_table(Term term, const Candidate& candidate, const Partition& p, const Column& by) {
        const int64_t n_rows = int64_t(candidate.row_count.size());
        const int64_t n_cells = int64_t(p.cell_end.size()) * by.arity;
        const int64_t n_classes = setting_.n_classes();
        table_.assign(size_t(n_cells * n_rows), 0);
        by.visit([&](const auto* level_of) {
            int64_t* counts = table_.data();
            uint32_t begin = 0;
            for (const uint32_t end : p.cell_end) {
                for (uint32_t i = begin; i < end; ++i)
                    ++counts[int64_t(level_of[p.sample[i]]) * n_rows + row_of_[i]];
                begin = end;
                counts += by.arity * n_rows;
            }
        });
        pairs_.assign(size_t(n_cells * n_classes), 0);
        const int64_t* count = table_.data();
        for (int64_t* pair = pairs_.data(); count != table_.data() + table_.size();
             pair += n_classes)
            for (int64_t level = 0; level < candidate.column.arity; ++level)
                for (int64_t cls = 0; cls < n_classes; ++cls) pair[cls] += *count++;
        condition_.compute(pairs_, setting_);
        return evaluate_.from_table(term, candidate.column, table_.data(), n_cells, condition_);
    }

    // Four bits per sample: the position of the first sample of its cell with the same level.
    static constexpr size_t kFewSamples = 16;
    static uint64_t way_to_split(const Partition& p, const Column& by) {
        return by.visit([&](const auto* level_of) {
            uint64_t way = 0;
            uint32_t begin = 0;
            for (const uint32_t end : p.cell_end) {
                for (uint32_t i = begin; i < end; ++i) {
                    uint32_t first = begin;
                    while (level_of[p.sample[first]] != level_of[p.sample[i]]) ++first;
                    way |= uint64_t(first) << (4 * i);
                }
                begin = end;
            }
            return way;
        });
    }

    // The row (level and class) of each sample of `p`, in its order.
    void gather_rows(const Candidate& candidate, const Partition& p) {
        is_gathered_ = true;
        known_.clear();
        row_of_.resize(p.sample.size());
        const uint32_t n_classes = uint32_t(setting_.n_classes());
        candidate.column.visit([&](const auto* level_of) {
            for (size_t i = 0; i < p.sample.size(); ++i) {
                const uint32_t sample = p.sample[i];
                row_of_[i] = uint8_t(level_of[sample] * n_classes + setting_.cls[sample]);
            }
        });
    }

    const Setting& setting_;
    Evaluator& evaluate_;
    ConditionSums condition_;
    bool is_gathered_ = false;  // whether row_of_ and known_ belong to the candidate and partition
    Buffer<uint8_t> row_of_;
    std::vector<std::pair<uint64_t, double>> known_;  // ways to split, and the terms
    std::vector<int64_t> table_, pairs_;
};

}  // namespace hocmim
