// Updates the greedy paths when columns are selected.
//
// A candidate's path Z_1, Z_2, … stays as it was unless the newest column wins at some level; only
// the levels after the first win are built again. Candidates are visited as a tree of common
// prefixes: a conditioning set is formed once for all candidates that share it, and samples alone
// in their cell are dropped.
//
// The last level of a path needs not be tried with every column: each column can only raise R there
// and lower J. update() leaves it unfinished as soon as J is below a threshold; finish() continues.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/partition.hpp"
#include "criteria/greedy_paths.hpp"
#include "criteria/split_terms.hpp"
#include "estimators/evaluator.hpp"

namespace hocmim {

// Updates paths with the selected columns they have not seen. Its scratch is as long as the table,
// so it is made for one call.
class PathUpdater {
public:
    using Ids = std::vector<int64_t>;

    // `like` are the paths to update, or those of another block of the same table.
    explicit PathUpdater(const GreedyPaths& like)
        : selected_(like.selected),
          setting_(like.setting),
          p_(like.p),
          evaluate_(make_evaluator(like.setting)),
          split_(like.setting, *evaluate_),
          depth_(size_t(like.p.max_order) + 1) {
        all_samples_.assign_whole(setting_.n_samples, setting_.cls, setting_.n_classes());
    }

    // Follows paths to their ends.
    void follow(GreedyPaths& paths, const Ids& candidates) {
        is_lazy_ = false;
        first_ = nullptr;
        update_all(paths, candidates);
        for (const int64_t id : candidates)
            if (!paths.is_exact(id)) finish(paths, id, -std::numeric_limits<double>::infinity());
    }

    // The same, but the last level is tried only until the key of J is below `threshold`. `first`
    // are the terms of every candidate given the newest column alone.
    void update(GreedyPaths& paths, const Ids& candidates, double threshold, const double* first) {
        is_lazy_ = true;
        threshold_ = threshold;
        first_ = first;
        update_all(paths, candidates);
    }

    // Tries more columns at the last level of a path, until all are tried or J is below
    // `threshold`.
    void finish(GreedyPaths& paths, int64_t id, double threshold) {
        paths_ = &paths;
        threshold_ = threshold;
        const int64_t depth = paths.order(id) - 1;
        // Partitions of the prefix that are known from the path before.
        int64_t n_known = 0;
        while (n_known < std::min(depth, int64_t(prefix_.size())) &&
               prefix_[size_t(n_known)] == member(id, n_known))
            ++n_known;
        prefix_.resize(size_t(n_known));
        for (int64_t level = n_known; level < depth; ++level) {
            refine(level == 0 ? all_samples_ : depth_[size_t(level - 1)].child, member(id, level),
                   depth_[size_t(level)].child);
            prefix_.push_back(member(id, level));
        }
        const Partition& p = depth == 0 ? all_samples_ : depth_[size_t(depth - 1)].child;
        try_last(id, depth, p, depth_[size_t(depth)].trial);
    }

private:
    void update_all(GreedyPaths& paths, const Ids& candidates) {
        paths_ = &paths;
        prefix_.clear();
        Ids one_missing, from_scratch;
        for (const int64_t id : candidates) {
            if (paths.n_missing(id) == 1) {
                one_missing.push_back(id);
            } else if (paths.n_missing(id) > 1) {
                from_scratch.push_back(id);
                paths.order(id) = paths.closed(id) = 0;
            }
            paths.n_seen(id) = selected_.size();
        }
        visit(0, all_samples_, one_missing);
        first_ = nullptr;
        extend(0, all_samples_, from_scratch);
    }

    int32_t newest() const { return int32_t(selected_.size() - 1); }
    int32_t& member(int64_t id, int64_t level) { return paths_->member(id, level); }
    double& redundancy(int64_t id, int64_t level) { return paths_->redundancy(id, level); }
    bool is_supported(const Partition& p) const { return is_within_support(p.n_cells()); }
    bool may_grow(int64_t id) { return paths_->may_grow(id); }
    int64_t& n_tried(int64_t id) { return paths_->n_tried(id); }

    // Whether a path ends at this level if `s` is its member there, because the cells of `p` and s
    // are too many for the samples.
    bool ends_with(const Partition& p, int32_t s) {
        if (p_.min_support == 0) return false;
        const Column& column = selected_[s];
        const double most = double(setting_.n_samples) / p_.min_support;
        return column.visit([&](const auto* level_of) {
            last_cell_.assign(size_t(column.arity), UINT32_MAX);
            int64_t n_cells = p.n_alone;
            uint32_t begin = 0;
            for (const uint32_t end : p.cell_end) {
                for (uint32_t k = begin; k < end; ++k) {
                    uint32_t& last = last_cell_[level_of[p.sample[k]]];
                    n_cells += last != begin;
                    last = begin;
                }
                begin = end;
                if (double(n_cells) > most && !is_within_support(n_cells)) return true;
            }
            return !is_within_support(n_cells);
        });
    }
    bool is_within_support(int64_t n_cells) const {
        return double(setting_.n_samples) >= p_.min_support * double(n_cells);
    }
    // Whether level `depth` is the last of every path that has the prefix of `p`.
    bool is_last(int64_t depth, const Partition& p, const std::vector<int32_t>& members) {
        return depth + 1 == p_.max_order ||
               (p_.min_support > 0 && std::all_of(members.begin(), members.end(),
                                                  [&](int32_t s) { return ends_with(p, s); }));
    }

    void refine(const Partition& from, int32_t by, Partition& to) {
        const Column& column = selected_[by];
        column.visit(
            [&](const auto* level_of) { refine_(from, level_of, column.arity, setting_.cls, to); });
    }

    Term term() const { return p_.conditional ? Term::conditional : Term::redundancy; }
    double to_redundancy(int64_t id, double value) const {
        return p_.conditional ? paths_->relevance(id) - value : value;
    }

    // Calls use(k, s, R) for each candidate ids[k] and each selected column s of `members`, in that
    // order for every k, with the conditioning set of `p` and s. `trial` is scratch.
    template <class Use>
    void evaluate(const Ids& ids, const Partition& p, const std::vector<int32_t>& members,
                  Partition& trial, Use&& use) {
        pending_.clear();
        for (size_t k = 0; k < ids.size(); ++k) {
            paths_->assign(candidate_, ids[k]);
            split_.begin();
            for (const int32_t s : members) {
                if (!split_.applies(candidate_, p, selected_[s])) {
                    pending_.push_back({s, k});
                    continue;
                }
                use(k, s, to_redundancy(ids[k], split_(term(), candidate_, p, selected_[s])));
                count_work(int64_t(p.sample.size()));
            }
        }
        // The others need the partition itself, once for each s.
        std::stable_sort(pending_.begin(), pending_.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        int32_t formed = -1;
        for (const auto& [s, k] : pending_) {
            if (s != formed) {
                refine(p, s, trial);
                condition_.compute(trial, setting_);
                formed = s;
            }
            paths_->assign(candidate_, ids[k]);
            use(k, s, to_redundancy(ids[k], (*evaluate_)(term(), candidate_, trial, condition_)));
            count_work(int64_t(p.sample.size()));
        }
    }

    // Tries the columns that have not been tried at level `depth`, the last of the path, until the
    // key of J is below the threshold: first the hint, then the others in the order of selection.
    // `p` is the partition by the levels before.
    void try_last(int64_t id, int64_t depth, const Partition& p, Partition& trial) {
        paths_->assign(candidate_, id);
        split_.begin();
        if (member(id, depth) < 0 && paths_->hint(id) >= 0)
            try_column(id, depth, p, trial, paths_->hint(id));
        while (n_tried(id) < selected_.size() && comparison_key(paths_->score(id)) >= threshold_) {
            const int32_t s = int32_t(n_tried(id)++);
            if (s != paths_->hint(id) && !is_member(id, depth, s))
                try_column(id, depth, p, trial, s);
        }
    }

    // Tries a column at the last level of the path of the candidate.
    void try_column(int64_t id, int64_t depth, const Partition& p, Partition& trial, int32_t s) {
        double value;
        if (split_.applies(candidate_, p, selected_[s])) {
            value = to_redundancy(id, split_(term(), candidate_, p, selected_[s]));
        } else {
            refine(p, s, trial);
            condition_.compute(trial, setting_);
            value = to_redundancy(id, (*evaluate_)(term(), candidate_, trial, condition_));
        }
        const double key = comparison_key(value), best = comparison_key(redundancy(id, depth));
        if (member(id, depth) < 0 || key > best || (key == best && s < member(id, depth))) {
            member(id, depth) = s;
            redundancy(id, depth) = value;
        }
        count_work(int64_t(p.sample.size()));
    }

    // Sets level `level` of a path, its last so far, and closes the path if J is below the
    // tolerance.
    void set_level(int64_t id, int64_t level, int32_t column, double value) {
        member(id, level) = column;
        redundancy(id, level) = value;
        paths_->order(id) = int32_t(level + 1);
        paths_->closed(id) = paths_->is_redundant(id);
        n_tried(id) = selected_.size();
        paths_->hint(id) = -1;
    }

    // Begins the last level of a path, on which no column has been tried. The hint is one of those
    // that can be tried there.
    void begin_last(int64_t id, int64_t level) {
        member(id, level) = -1;
        redundancy(id, level) = -std::numeric_limits<double>::infinity();
        paths_->order(id) = int32_t(level + 1);
        paths_->closed(id) = 1;
        n_tried(id) = 0;
    }

    // Whether level `depth` is the last of the path, and stays so if the newest column wins there.
    // `ends_with_newest` is what ends_with() says of it, found when first needed.
    bool stays_last(int64_t id, int64_t depth, const Partition& p,
                    std::optional<bool>& ends_with_newest) {
        if (paths_->order(id) != depth + 1 || may_grow(id)) return false;
        if (depth + 1 == p_.max_order || paths_->is_redundant(id)) return true;
        if (!ends_with_newest) ends_with_newest = ends_with(p, newest());
        return *ends_with_newest;
    }

    // The paths of `ids` agree up to `depth`, and `p` is the partition by that prefix. Tries the
    // newest column at the next level, then follows each path.
    void visit(int64_t depth, const Partition& p, const Ids& ids) {
        if (ids.empty()) return;
        if (p.is_all_alone()) return append_to_all_alone(p, ids);
        Depth& here = depth_[size_t(depth)];
        Ids tried, changed, stayed;
        std::optional<bool> ends_with_newest;
        const bool is_known = depth == 0 && first_;
        for (int64_t id : ids) {
            const bool is_at_end = paths_->order(id) == depth + 1 && !may_grow(id);
            if (paths_->order(id) == depth && !is_supported(p)) {
                paths_->closed(id) = 1;
                n_tried(id) = selected_.size();
            } else if (is_at_end && n_tried(id) + 1 < selected_.size()) {
                // Columns before the newest have not been tried.
                if (is_lazy_ && stays_last(id, depth, p, ends_with_newest)) continue;
                const double threshold = threshold_;
                threshold_ = -std::numeric_limits<double>::infinity();
                try_last(id, depth, p, here.trial);
                threshold_ = threshold;
                paths_->closed(id) = paths_->is_redundant(id) || member(id, depth) != newest();
                if (may_grow(id)) changed.push_back(id);
            } else if (is_lazy_ && !is_known && stays_last(id, depth, p, ends_with_newest)) {
                continue;
            } else {
                tried.push_back(id);
            }
        }
        const auto use = [&](size_t k, int32_t, double value) {
            const int64_t id = tried[k];
            if (paths_->order(id) == depth + 1) n_tried(id) = selected_.size();
            if (paths_->order(id) == depth) {
                set_level(id, depth, newest(), value);
            } else if (comparison_key(value) > comparison_key(redundancy(id, depth))) {
                const int32_t displaced = member(id, depth);
                set_level(id, depth, newest(), value);
                paths_->hint(id) = displaced;
                if (may_grow(id)) changed.push_back(id);
            } else if (paths_->order(id) > depth + 1 || may_grow(id)) {
                stayed.push_back(id);
            }
        };
        if (is_known)
            for (size_t k = 0; k < tried.size(); ++k)
                use(k, newest(), to_redundancy(tried[k], first_[tried[k]]));
        else
            evaluate(tried, p, {newest()}, here.trial, use);
        if (!changed.empty() && depth + 1 < selected_.size()) {
            refine(p, newest(), here.child);
            sort_cells_(here.child);
            extend(depth + 1, here.child, changed);
        }
        for_each_branch(depth, stayed, [&](int32_t column, const Ids& branch) {
            refine(p, column, here.child);
            visit(depth + 1, here.child, branch);
        });
    }

    // Builds the paths of `ids` from level `depth` on. They agree before it, and `p` is the
    // partition by that prefix.
    void extend(int64_t depth, const Partition& p, const Ids& ids) {
        if (ids.empty() || depth == p_.max_order || depth == selected_.size()) return;
        if (!is_supported(p)) {
            for (int64_t id : ids) {
                paths_->closed(id) = 1;
                n_tried(id) = selected_.size();
            }
            return;
        }
        if (p.is_all_alone()) return fill_all_alone(depth, ids);
        Depth& here = depth_[size_t(depth)];
        std::vector<int32_t> members;
        for (int32_t s = 0; s < selected_.size(); ++s)
            if (!is_member(ids[0], depth, s)) members.push_back(s);
        if (is_lazy_ && is_last(depth, p, members)) {
            for (int64_t id : ids) {
                begin_last(id, depth);
                try_last(id, depth, p, here.trial);
            }
            return;
        }
        std::vector<double> best(ids.size()), second(ids.size());
        std::vector<int32_t> winner(ids.size(), -1), runner_up(ids.size(), -1);
        evaluate(ids, p, members, here.trial, [&](size_t k, int32_t s, double value) {
            const double new_key = comparison_key(value), best_key = comparison_key(best[k]);
            const bool is_better =
                winner[k] < 0 || new_key > best_key || (new_key == best_key && s < winner[k]);
            if (is_better) {
                second[k] = best[k];
                runner_up[k] = winner[k];
                best[k] = value;
                winner[k] = s;
            } else if (runner_up[k] < 0 || value > second[k]) {
                second[k] = value;
                runner_up[k] = s;
            }
        });
        Ids grown;
        for (size_t k = 0; k < ids.size(); ++k) {
            set_level(ids[k], depth, winner[k], best[k]);
            paths_->hint(ids[k]) = runner_up[k];
            if (may_grow(ids[k])) grown.push_back(ids[k]);
        }
        for_each_branch(depth, grown, [&](int32_t branch, const Ids& branch_ids) {
            refine(p, branch, here.child);
            sort_cells_(here.child);
            extend(depth + 1, here.child, branch_ids);
        });
    }

    // Once every sample is alone in its cell, no column changes R: the columns follow in the order
    // of selection.
    void fill_all_alone(int64_t depth, const Ids& ids) {
        for (int64_t id : ids) {
            const double value = redundancy(id, depth - 1);
            int64_t level = depth;
            for (int32_t s = 0; s < selected_.size() && level < p_.max_order; ++s)
                if (!is_member(id, level, s)) set_level(id, level++, s, value);
        }
    }

    void append_to_all_alone(const Partition& p, const Ids& ids) {
        const bool supported = is_supported(p);
        for (int64_t id : ids) {
            n_tried(id) = selected_.size();
            if (!may_grow(id)) continue;
            if (!supported)
                paths_->closed(id) = 1;
            else
                set_level(id, paths_->order(id), newest(), redundancy(id, paths_->order(id) - 1));
        }
    }

    bool is_member(int64_t id, int64_t depth, int32_t s) {
        for (int64_t level = 0; level < depth; ++level)
            if (member(id, level) == s) return true;
        return false;
    }

    // Groups ids by their member at level `depth`.
    template <class Use>
    void for_each_branch(int64_t depth, Ids& ids, Use&& use) {
        std::stable_sort(ids.begin(), ids.end(),
                         [&](int64_t a, int64_t b) { return member(a, depth) < member(b, depth); });
        for (size_t at = 0; at < ids.size();) {
            const int32_t column = member(ids[at], depth);
            Ids branch;
            while (at < ids.size() && member(ids[at], depth) == column) branch.push_back(ids[at++]);
            use(column, branch);
        }
    }

    struct Depth {
        Partition trial, child;  // for evaluation; for the next depth
    };

    GreedyPaths* paths_ = nullptr;
    const Columns& selected_;
    const Setting& setting_;
    const PathParameters& p_;
    std::unique_ptr<Evaluator> evaluate_;
    SplitTerms split_;
    Refiner refine_;
    CellSorter sort_cells_;
    ConditionSums condition_;
    Candidate candidate_;
    Partition all_samples_;
    std::vector<std::pair<int32_t, size_t>> pending_;
    std::vector<uint32_t> last_cell_;
    std::vector<Depth> depth_;
    bool is_lazy_ = false;
    double threshold_ = 0;           // the key of J below which the last level is left
    const double* first_ = nullptr;  // terms given the newest column alone
    std::vector<int32_t> prefix_;    // whose partitions are in depth_, for finish()
};

}  // namespace hocmim
