// Teams of representatives under the plug-in estimator.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "counting/paths.hpp"
#include "counting/popcount.hpp"
#include "criteria/representative.hpp"
#include "estimators/setting.hpp"

namespace hocmim {

// PluginTeam and AnyTeam have the same functions. They compute I(X;Y|W) for a team X and a
// condition W, both growing sets of binary columns, and I(X;Y|W,g) for a binary column g on trial.
//     start(b)           X = {b}, W empty
//     expect(n)          n columns g will be tried next
//     given(g)           I(X;Y|W,g)
//     add_condition(g)   W gains g
//     add_helper(h)      X gains h
//     value()            I(X;Y|W)

// I(X;Y|W) under the plug-in, on counts.
//
//     N I(X;Y|W) = Σ f(n_wxy) − Σ f(n_wx) − Σ f(n_wy) + Σ f(n_w),  f(c) = c log c
//
// A cell (w,x) in which all samples are of one class has f(n_wxy) = f(n_wx) however it is split:
// its samples retire from the first two sums. The rarer side of g is counted in each cell: sample
// by sample, or, while the cells are few, by popcounts with their masks, eight side by side.
class PluginTeam {
    static constexpr int64_t kLanes = kPlaneLanes;

public:
    explicit PluginTeam(const Setting& setting)
        : f_(*setting.function),
          cls_(setting.cls),
          n_samples_(setting.n_samples),
          n_classes_(setting.n_classes()),
          wy_of_(size_t(n_samples_)),
          wxy_of_(size_t(n_samples_)),
          n_words_((n_samples_ + 63) / 64) {}

    void start(const Representative& b) {
        wy_.reset();
        wxy_.reset();
        w_.reset();
        wx_.reset();
        w_.append(0, uint32_t(n_samples_));
        for (int64_t c = 0; c < n_classes_; ++c) wy_.append(0, 0);
        for (int64_t i = 0; i < n_samples_; ++i) ++wy_.count[wy_of_[size_t(i)] = cls_[i]];
        // Cell 0 of wxy holds the retired samples; then one cell a class.
        wx_.append(0, uint32_t(n_samples_));
        wxy_.append(0, 0);
        for (int64_t c = 0; c < n_classes_; ++c) wxy_.append(0, wy_.count[size_t(c)]);
        for (int64_t i = 0; i < n_samples_; ++i) wxy_of_[size_t(i)] = 1 + cls_[i];
        add_helper(b);
    }

    void expect(size_t n_trials) { n_trials_ = n_trials; }

    double given(const Representative& g) {
        if (paths::counts_by_masks(n_octets(), n_words_, n_samples_, n_trials_, g.samples.size()))
            count_by_masks(g);
        else
            count_by_samples(g);
        const int64_t sum = split_sum(wxy_, wx_) - split_sum(wy_, w_);
        return real(sum - whole_sum(wx_.part, wx_) + whole_sum(w_.part, w_));
    }

    void add_condition(const Representative& g) {
        count_by_samples(g);
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
        retire();
    }

    void add_helper(const Representative& h) {
        for (const uint32_t i : h.samples) ++wxy_.part[wxy_of_[i]];
        wxy_.part[0] = 0;
        sum_parts(wxy_, wx_);
        wx_.split_owners(nullptr);
        wxy_.split_owners(&wx_);
        for (const uint32_t i : h.samples) wxy_of_[i] = wxy_.moved[wxy_of_[i]];
        retire();
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

    void count_by_samples(const Representative& g) {
        for (const uint32_t i : g.samples) {
            ++wy_.part[wy_of_[i]];
            ++wxy_.part[wxy_of_[i]];
        }
        wxy_.part[0] = 0;
    }

    // Eight cells side by side; those of wxy come after those of wy.
    int64_t n_octets() const { return octets(wy_.count.size()) + octets(wxy_.count.size()); }
    static int64_t octets(size_t n_cells) { return (int64_t(n_cells) + kLanes - 1) / kLanes; }

    void count_by_masks(const Representative& g) {
        if (!has_masks_) make_masks();
        counts_.resize(size_t(n_octets() * kLanes));
        count_lanes(masks_.data(), n_octets(), g.bits.data(), 1, n_words_, n_words_,
                    counts_.data());
        std::copy_n(counts_.begin(), wy_.part.size(), wy_.part.begin());
        std::copy_n(counts_.begin() + octets(wy_.count.size()) * kLanes, wxy_.part.size(),
                    wxy_.part.begin());
        wxy_.part[0] = 0;
    }

    void make_masks() {
        masks_.assign(size_t(n_octets() * n_words_ * kLanes), 0);
        const int64_t first = octets(wy_.count.size()) * kLanes;
        first_word_.resize(size_t(n_octets() * kLanes));
        for (int64_t cell = 0; cell < n_octets() * kLanes; ++cell)
            first_word_[size_t(cell)] = uint32_t(cell / kLanes * n_words_ * kLanes + cell % kLanes);
        const uint32_t *of_wy = first_word_.data(), *of_wxy = of_wy + first;
        uint64_t* word = masks_.data();
        for (int64_t begin = 0; begin < n_samples_; begin += 64, word += kLanes) {
            const int64_t end = std::min(n_samples_, begin + 64);
            for (int64_t i = begin; i < end; ++i) {
                const uint64_t bit = uint64_t(1) << (i - begin);
                word[of_wy[wy_of_[size_t(i)]]] |= bit;
                word[of_wxy[wxy_of_[size_t(i)]]] |= bit;
            }
        }
        has_masks_ = true;
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
    void retire() {
        has_masks_ = false;
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
        if (n_kept == 0) wx_.append(0, 0);  // the cell of the retired samples
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
    const int64_t n_words_;
    bool has_masks_ = false;  // of the cells as they are
    size_t n_trials_ = 1;
    std::vector<uint64_t> masks_;
    std::vector<uint32_t> first_word_, counts_;
};

}  // namespace hocmim
