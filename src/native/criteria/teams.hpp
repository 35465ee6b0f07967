// CMICOT's binary representatives of columns, and teams of them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/columns.hpp"
#include "core/partition.hpp"
#include "estimators/evaluator.hpp"
#include "estimators/setting.hpp"

namespace hocmim {

// A binary column up to negation, which carries the same information: the samples of its rarer
// value, in order, and the same as bits.
struct Representative {
    std::vector<uint32_t> samples;
    std::vector<uint64_t> bits;

    Representative(std::vector<uint32_t> samples_, int64_t n_samples)
        : samples(std::move(samples_)), bits(size_t((n_samples + 63) / 64), 0) {
        for (const uint32_t i : samples) bits[i / 64] |= uint64_t(1) << (i % 64);
    }
};

// [x > t] for t between consecutive levels that occur.
inline std::vector<Representative> representatives(const Column& column, int64_t n_samples) {
    std::vector<Representative> result;
    column.visit([&](const auto* level_of) {
        std::vector<int64_t> count(size_t(column.arity), 0);
        for (int64_t i = 0; i < n_samples; ++i) ++count[level_of[i]];
        int64_t below = 0;
        for (int64_t t = 0; t < column.arity; ++t) {
            below += count[size_t(t)];
            if (below == n_samples) break;
            if (count[size_t(t)] == 0) continue;
            const bool above_is_rare = 2 * below >= n_samples;
            std::vector<uint32_t> rare;
            rare.reserve(size_t(above_is_rare ? n_samples - below : below));
            for (int64_t i = 0; i < n_samples; ++i)
                if ((level_of[i] > t) == above_is_rare) rare.push_back(uint32_t(i));
            result.emplace_back(std::move(rare), n_samples);
        }
    });
    return result;
}

// Whether two are equal, or each other's negation: then the rarer value has half of the samples.
inline bool carry_same_information(const Representative& a, const Representative& b,
                                   int64_t n_samples) {
    if (a.bits == b.bits) return true;
    if (a.samples.size() != b.samples.size() || 2 * int64_t(a.samples.size()) != n_samples)
        return false;
    for (size_t k = 0; k < a.bits.size(); ++k)
        if (a.bits[k] & b.bits[k]) return false;
    return true;
}

// PluginTeam and AnyTeam have the same functions. They compute I(X;Y|W) for a team X and a
// condition W, both growing sets of binary columns, and I(X;Y|W,g) for a binary column g on trial.
//     start(b)           X = {b}, W empty
//     given(g)           I(X;Y|W,g)
//     add_condition(g)   W gains g
//     add_helper(h)      X gains h
//     value()            I(X;Y|W)

// I(X;Y|W) under the plug-in, on counts: about six times as fast as AnyTeam.
//
//     N I(X;Y|W) = Σ f(n_wxy) − Σ f(n_wx) − Σ f(n_wy) + Σ f(n_w),  f(c) = c log c
//
// A cell (w,x) in which all samples are of one class has f(n_wxy) = f(n_wx) however it is split:
// its samples are dropped from the first two sums. The rarer side of g is counted in each cell.
class PluginTeam {
public:
    explicit PluginTeam(const Setting& setting)
        : f_(*setting.function),
          cls_(setting.cls),
          n_samples_(setting.n_samples),
          n_classes_(setting.n_classes()),
          wy_of_(size_t(n_samples_)),
          wxy_of_(size_t(n_samples_)) {}

    void start(const Representative& b) {
        wy_.reset();
        wxy_.reset();
        w_.reset();
        wx_.reset();
        w_.append(0, uint32_t(n_samples_));
        for (int64_t c = 0; c < n_classes_; ++c) wy_.append(0, 0);
        for (int64_t i = 0; i < n_samples_; ++i) ++wy_.count[wy_of_[size_t(i)] = cls_[i]];
        // Cell 0 of wxy holds the dropped samples; then one cell per class.
        wx_.append(0, uint32_t(n_samples_));
        wxy_.append(0, 0);
        for (int64_t c = 0; c < n_classes_; ++c) wxy_.append(0, wy_.count[size_t(c)]);
        for (int64_t i = 0; i < n_samples_; ++i) wxy_of_[size_t(i)] = 1 + cls_[i];
        add_helper(b);
    }

    double given(const Representative& g) {
        count_rarer_side(g);
        const int64_t sum = split_sum(wxy_, wx_) - split_sum(wy_, w_);
        return real(sum - whole_sum(wx_.part, wx_) + whole_sum(w_.part, w_));
    }

    void add_condition(const Representative& g) {
        count_rarer_side(g);
        sum_parts(wy_, w_);
        sum_parts(wxy_, wx_);
        w_.split_owners(nullptr);
        wx_.split_owners(nullptr);
        wy_.split_owners(&w_);
        wxy_.split_owners(&wx_);
        for (const uint32_t i : g.samples) {
            wy_of_[i] = wy_.moved[wy_of_[i]];
            wxy_of_[i] = wxy_.moved[wxy_of_[i]];
        }
        drop_pure_cells();
    }

    void add_helper(const Representative& h) {
        for (const uint32_t i : h.samples) ++wxy_.part[wxy_of_[i]];
        wxy_.part[0] = 0;
        sum_parts(wxy_, wx_);
        wx_.split_owners(nullptr);
        wxy_.split_owners(&wx_);
        for (const uint32_t i : h.samples) wxy_of_[i] = wxy_.moved[wxy_of_[i]];
        drop_pure_cells();
    }

    double value() {
        int64_t sum = 0;
        for (size_t c = 1; c < wxy_.count.size(); ++c) sum += f_(wxy_.count[c]);
        for (const uint32_t count : wx_.count) sum -= f_(count);
        for (const uint32_t count : wy_.count) sum -= f_(count);
        for (const uint32_t count : w_.count) sum += f_(count);
        return real(sum);
    }

private:
    // Cells of one variable: their counts, the coarser cells they lie in, and scratch for a split.
    struct CellsOf {
        std::vector<uint32_t> count, owner;
        std::vector<uint32_t> part;   // samples on the rarer side of the split; zero in between
        std::vector<uint32_t> moved;  // the cell that side goes to

        void reset() {
            count.clear();
            owner.clear();
            part.clear();
        }
        void append(uint32_t owner_, uint32_t count_) {
            count.push_back(count_);
            owner.push_back(owner_);
            part.push_back(0);
        }
        // Gives the rarer side of each cell a cell of its own, unless it is all of the cell, within
        // the coarser cell that side was moved to.
        void split_owners(const CellsOf* coarser) {
            const size_t size = count.size();
            moved.resize(size);
            for (size_t c = 0; c < size; ++c) {
                moved[c] = uint32_t(c);
                if (part[c] == 0) continue;
                const uint32_t to = coarser ? coarser->moved[owner[c]] : 0;
                if (part[c] == count[c]) {
                    owner[c] = to;
                } else {
                    moved[c] = uint32_t(count.size());
                    append(to, part[c]);
                    count[c] -= part[c];
                }
                part[c] = 0;
            }
        }
    };

    void count_rarer_side(const Representative& g) {
        for (const uint32_t i : g.samples) {
            ++wy_.part[wy_of_[i]];
            ++wxy_.part[wxy_of_[i]];
        }
        wxy_.part[0] = 0;
    }

    static void sum_parts(const CellsOf& fine, CellsOf& coarse) {
        for (size_t c = 0; c < fine.count.size(); ++c) coarse.part[fine.owner[c]] += fine.part[c];
    }

    // Σ f over both sides of the fine cells; adds their parts to those of the coarse cells and
    // clears them.
    int64_t split_sum(CellsOf& fine, CellsOf& coarse) {
        int64_t sum = 0;
        for (size_t c = 0; c < fine.count.size(); ++c) {
            const uint32_t part = fine.part[c];
            fine.part[c] = 0;
            coarse.part[fine.owner[c]] += part;
            sum += f_(part) + f_(fine.count[c] - part);
        }
        return sum;
    }

    int64_t whole_sum(std::vector<uint32_t>& part, const CellsOf& cells) {
        int64_t sum = 0;
        for (size_t c = 0; c < part.size(); ++c) {
            sum += f_(part[c]) + f_(cells.count[c] - part[c]);
            part[c] = 0;
        }
        return sum;
    }

    // Drops the cells (w,x) of one class only, and their samples with them.
    void drop_pure_cells() {
        n_inside_.assign(wx_.count.size(), 0);
        for (size_t c = 1; c < wxy_.count.size(); ++c)
            n_inside_[wxy_.owner[c]] += wxy_.count[c] > 0;
        bool any = false;
        for (const uint32_t n : n_inside_) any |= n < 2;
        if (!any) return;
        wx_kept_.resize(wx_.count.size());
        uint32_t n_kept = 0;
        for (size_t k = 0; k < wx_.count.size(); ++k) {
            wx_kept_[k] = n_kept;
            if (n_inside_[k] >= 2) wx_.count[n_kept++] = wx_.count[k];
        }
        wx_.count.resize(n_kept);
        wx_.owner.resize(n_kept);
        wx_.part.resize(n_kept);
        kept_.assign(wxy_.count.size(), 0);
        uint32_t at = 1;
        for (size_t c = 1; c < wxy_.count.size(); ++c) {
            if (wxy_.count[c] == 0 || n_inside_[wxy_.owner[c]] < 2) continue;
            kept_[c] = at;
            wxy_.count[at] = wxy_.count[c];
            wxy_.owner[at++] = wx_kept_[wxy_.owner[c]];
        }
        wxy_.count.resize(at);
        wxy_.owner.resize(at);
        wxy_.part.resize(at);
        if (n_kept == 0) wx_.append(0, 0);  // the cell of the dropped samples
        for (uint32_t& cell : wxy_of_) cell = kept_[cell];
    }

    double real(int64_t sum) const {
        return std::max(0.0, f_.fixed().real(sum) / double(n_samples_));
    }

    const CountFunction& f_;
    const uint32_t* cls_;
    const int64_t n_samples_, n_classes_;
    CellsOf w_, wx_, wy_, wxy_;
    std::vector<uint32_t> wy_of_, wxy_of_;  // the cell of each sample
    std::vector<uint32_t> n_inside_, wx_kept_, kept_;
};

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
