// The representative set of each candidate, updated only where it is needed.
//
// A candidate remembers the set Z* of selected columns that gave its smallest term U. A column s
// is tried with every prefix of Z*; the smallest term below U gives the new U and Z*. So U depends
// only on the columns tried, in order, and a candidate may try them late.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/candidate_heap.hpp"
#include "core/comparison.hpp"
#include "core/interrupt.hpp"
#include "criteria/set_terms.hpp"
#include "estimators/evaluator.hpp"

namespace hocmim {

// A bound and the value it bounds are rounded in different ways.
constexpr double kBoundRounding = 2e-12;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

struct RobustParameters {
    int64_t max_order;   // columns in Z at most
    double min_support;  // samples in an occupied cell of Z on average, at least
    double weight;       // how far the minimum is lifted towards the average
    double limit;        // standard errors it is lifted at most
};

class SetUpdater;

// The representative sets of a block of candidates.
class RepresentativeSets {
public:
    RepresentativeSets(ClassCounts& class_counts, const Columns& selected, Estimator estimator,
                       int64_t max_order, double min_support, double weight, double limit)
        : class_counts(class_counts),
          block(class_counts.columns()),
          selected(selected),
          setting(estimator, class_counts.cls(), block.n_samples(), class_counts.n_classes()),
          p{max_order, min_support, weight, limit},
          sets(size_t(block.size())),
          cells(selected, setting),
          sum_(size_t(block.size()), 0.0),
          lowest_(size_t(block.size()), std::numeric_limits<double>::infinity()) {
        if (selected.n_samples() != block.n_samples())
            throw std::invalid_argument("the block and the selected columns do not fit together");
        if (max_order < 1 || !(weight >= 0 && weight <= 1) || !(limit >= 0) || !(min_support >= 0))
            throw std::invalid_argument("a parameter is out of range");
    }

    // Z*, U and how many of the selected columns were tried with the candidate.
    struct Set {
        std::vector<int32_t> member;  // positions in the order of selection
        double minimum = std::numeric_limits<double>::infinity();
        int64_t n_tried = 0;
        int64_t spread = kUnknown;  // Σ_z (k_x(z) − 1)
    };
    static constexpr int64_t kUnknown = SetTerms::kUnknown;

    // Takes the terms Î(X;Y|s) of every candidate and the newest selected column s.
    void append(Vector<const double> terms) {
        if (int64_t(terms.size()) != block.size())
            throw std::invalid_argument("the block and the terms do not fit together");
        if (int64_t(single_.size()) + 1 != selected.size())
            throw std::invalid_argument("every selected column has its terms");
        single_.emplace_back(terms.data(), terms.data() + terms.size());
        for (size_t j = 0; j < sum_.size(); ++j) {
            sum_[j] += terms[j];
            lowest_[j] = std::min(lowest_[j], terms[j]);
        }
    }

    double single(int64_t s, int64_t j) const { return single_[size_t(s)][size_t(j)]; }
    double average(int64_t j) const { return sum_[size_t(j)] / double(single_.size()); }
    bool is_exact(int64_t j) const {
        const Set& set = sets[size_t(j)];
        return set.n_tried == selected.size() && set.spread != kUnknown;
    }

    // σ at the Z of U.
    double sigma(int64_t j) const {
        const double freedom = double((setting.n_classes_seen - 1) * sets[size_t(j)].spread);
        return std::sqrt(freedom / 2) / double(setting.n_samples);
    }
    double lift(int64_t j) const {
        return std::min(p.weight * (average(j) - sets[size_t(j)].minimum), p.limit * sigma(j));
    }
    double score(int64_t j) const { return sets[size_t(j)].minimum + lift(j); }

    // The score is at most (1 − w) U + w A, which falls with U; U falls as columns are tried, at
    // least to the lowest term of a single column.
    double bound(int64_t j) const {
        const double minimum = lowest_[size_t(j)];
        return minimum + p.weight * (average(j) - minimum) + kBoundRounding;
    }

    // Another column was tried with the candidate.
    void note_tried(int64_t j) {
        Set& set = sets[size_t(j)];
        ++set.n_tried;
        lowest_[size_t(j)] = std::min(lowest_[size_t(j)], set.minimum);
    }

    ClassCounts& class_counts;
    const Columns &block, &selected;
    const Setting setting;
    const RobustParameters p;
    std::vector<Set> sets;
    CellSets cells;

    // A SetUpdater that no thread uses, with what it keeps from one step to the next.
    std::shared_ptr<SetUpdater> take_updater();
    void give_back(std::shared_ptr<SetUpdater> updater) {
        const std::lock_guard<std::mutex> lock(updaters_mutex_);
        updaters_.push_back(std::move(updater));
    }

private:
    std::vector<std::vector<double>> single_;  // Î(X;Y|s) by s and candidate
    std::vector<double> sum_;                  // over s, in the order of selection
    std::vector<double> lowest_;  // a bound on U: its last value and the single terms since
    std::mutex updaters_mutex_;
    std::vector<std::shared_ptr<SetUpdater>> updaters_;
};

// Σ_z (k_x(z) − 1) over the cells z of two samples or more.
struct SpreadSink {
    int64_t spread = 0, n_levels = 0;
    void begin_cell(int64_t) { n_levels = 0; }
    void in_row(uint32_t, int64_t) { ++n_levels; }
    void end_cell() { spread += n_levels - 1; }
};

// Brings representative sets up to date. Holds scratch, so each thread has its own.
class SetUpdater {
public:
    // `like` are the sets to keep, or those of another block of the same table.
    explicit SetUpdater(RepresentativeSets& like)
        : selected_(like.selected),
          setting_(like.setting),
          p_(like.p),
          cells_(like.cells),
          fast_(setting_),
          evaluator_(make_evaluator(setting_)) {}

    // Tries columns with candidate j until all are tried, its bound's key is below `threshold`, or
    // about `most_terms` were computed; then its σ follows. Returns how many terms were computed.
    int64_t update(RepresentativeSets& sets, int64_t j, double threshold, int64_t most_terms) {
        int64_t n_terms = 0;
        is_started_ = false;
        while (sets.sets[size_t(j)].n_tried < selected_.size()) {
            if (n_terms >= most_terms || comparison_key(sets.bound(j)) < threshold) return n_terms;
            n_terms += try_next(sets, j);
            count_work(setting_.n_samples * int64_t(1 + found_.size()));
        }
        if (sets.is_exact(j) || comparison_key(sets.bound(j)) < threshold) return n_terms;
        RepresentativeSets::Set& set = sets.sets[size_t(j)];
        set.spread = spread(sets.block[j], *cells_.of(set.member, set.member.size(), refine_));
        return n_terms + 1;
    }

private:
    int64_t try_next(RepresentativeSets& sets, int64_t j) {
        RepresentativeSets::Set& set = sets.sets[size_t(j)];
        const int32_t added = int32_t(set.n_tried);
        double lowest = sets.single(added, j);
        int64_t spread = RepresentativeSets::kUnknown;
        size_t length = 0;
        try_prefixes(sets, j, added);
        for (size_t k = 0; k < found_.size(); ++k) {
            if (comparison_key(found_[k].value) >= comparison_key(lowest)) continue;
            lowest = found_[k].value;
            spread = found_[k].spread;
            length = k + 1;
        }
        if (set.member.empty() || comparison_key(lowest) < comparison_key(set.minimum)) {
            set.minimum = lowest;
            set.member.resize(length);
            set.member.push_back(added);
            set.spread = spread;
        }
        sets.note_tried(j);
        return int64_t(found_.size());
    }

    // Î(X;Y|Z,s) for the prefixes Z of Z* that are not empty, as far as there are samples for them.
    void try_prefixes(RepresentativeSets& sets, int64_t j, int32_t added) {
        const std::vector<int32_t>& member = sets.sets[size_t(j)].member;
        found_.clear();
        prefixes_.clear();
        for (size_t l = 1; l <= member.size() && int64_t(l) < p_.max_order; ++l)
            prefixes_.push_back(cells_.of(member, l, refine_));
        if (prefixes_.empty()) return;
        const Column &column = sets.block[j], &by = selected_[added];
        if (!SetTerms::can_evaluate(setting_, column)) return try_by_samples(sets, j, by);
        if (!is_started_) fast_.start(column);
        is_started_ = true;
        fast_.evaluate(prefixes_, by, p_.min_support, refine_, found_);
    }

    // The same by any estimator.
    void try_by_samples(RepresentativeSets& sets, int64_t j, const Column& by) {
        candidate_.assign(sets.block[j], setting_.n_classes(), sets.class_counts.of(j, rows_));
        for (const auto& z : prefixes_) {
            const Partition& cells = z->cells(refine_);
            by.visit([&](const auto* level_of) {
                refine_(cells, level_of, by.arity, setting_.cls, trial_);
            });
            if (double(setting_.n_samples) < p_.min_support * double(trial_.n_cells())) return;
            condition_.compute(trial_, setting_);
            const double value = (*evaluator_)(Term::conditional, candidate_, trial_, condition_);
            found_.push_back({value, RepresentativeSets::kUnknown});
        }
    }

    int64_t spread(const Column& column, CellSet& z) {
        if (z.is_coded() && z.n_codes() * column.arity <= setting_.n_samples) {
            occurs_.assign(size_t(z.n_codes() * column.arity), 0);
            column.visit([&](const auto* level_of) {
                for (int64_t i = 0; i < setting_.n_samples; ++i)
                    occurs_[z.code_of()[i] * size_t(column.arity) + level_of[i]] = 1;
            });
            return std::accumulate(occurs_.begin(), occurs_.end(), int64_t(0)) - z.n_cells();
        }
        SpreadSink sink;
        column.visit([&](const auto* level_of) {
            count_(
                z.cells(refine_), column.arity, [=](uint32_t i) { return uint32_t(level_of[i]); },
                sink);
        });
        return sink.spread;
    }

    const Columns& selected_;
    const Setting& setting_;
    const RobustParameters& p_;
    CellSets& cells_;
    SetTerms fast_;
    bool is_started_ = false;  // whether fast_ has the candidate
    std::vector<std::shared_ptr<CellSet>> prefixes_;
    std::vector<SetTerms::Found> found_;
    Refiner refine_;
    CellCounter count_;
    std::vector<uint8_t> occurs_;
    // For the other estimators.
    std::unique_ptr<Evaluator> evaluator_;
    ConditionSums condition_;
    Candidate candidate_;
    Partition trial_;
    std::vector<int64_t> rows_;
};

inline std::shared_ptr<SetUpdater> RepresentativeSets::take_updater() {
    const std::lock_guard<std::mutex> lock(updaters_mutex_);
    if (updaters_.empty()) return std::make_shared<SetUpdater>(*this);
    const std::shared_ptr<SetUpdater> updater = std::move(updaters_.back());
    updaters_.pop_back();
    return updater;
}

// A search for the open candidate of largest score in all blocks of a table. Any number of threads
// may work at it. Columns are tried with a candidate only while the bound on its score is the
// largest.
class SetSearch {
public:
    SetSearch(std::vector<RepresentativeSets*> blocks, std::vector<Vector<const bool>> open)
        : blocks_(std::move(blocks)) {
        if (blocks_.empty() || open.size() != blocks_.size())
            throw std::invalid_argument("every block says which candidates are open");
        for (size_t b = 0; b < blocks_.size(); ++b) {
            const RepresentativeSets& sets = *blocks_[b];
            if (int64_t(open[b].size()) != sets.block.size())
                throw std::invalid_argument("the open candidates do not fit the block");
            for (int64_t j = 0; j < sets.block.size(); ++j)
                if (open[b][j]) heap_.add(ranked(b, j));
        }
        heap_.begin();
    }

    // Tries columns with candidates until the best is known, or about `most_terms` were computed.
    // Returns how many were: 0 when there is nothing left for this thread to do.
    int64_t work(int64_t most_terms) {
        int64_t n_terms = 0;
        std::shared_ptr<SetUpdater> updater;
        heap_.work([&] { return n_terms < most_terms; },
                   [&](const RankedCandidate& top, double threshold) {
                       if (!updater) updater = blocks_[0]->take_updater();
                       n_terms +=
                           updater->update(*blocks_[top.block], top.id, threshold, most_terms);
                       return ranked(top.block, top.id);
                   });
        if (updater) blocks_[0]->give_back(updater);
        return n_terms;
    }

    // The block and position of the best candidate and its score; block −1 if none is open. After
    // the work of all threads.
    std::tuple<int64_t, int64_t, double> best() const {
        if (heap_.empty()) return {-1, 0, 0.0};
        const RankedCandidate& top = heap_.first();
        return {int64_t(top.block), top.id, blocks_[top.block]->score(top.id)};
    }

private:
    RankedCandidate ranked(size_t b, int64_t j) const {
        const RepresentativeSets& sets = *blocks_[b];
        const bool is_exact = sets.is_exact(j);
        return {comparison_key(is_exact ? sets.score(j) : sets.bound(j)), b, j, is_exact};
    }

    std::vector<RepresentativeSets*> blocks_;
    CandidateHeap heap_;
};

}  // namespace hocmim
