// HOCMIM's representative sets: the greedy path of every candidate through the selected columns.
//
// A candidate's path Z_1, Z_2, … stays as it was unless the newcomer wins at some level; only the
// levels after the first win are built anew. Candidates are visited as a tree of common prefixes, so
// that a conditioning set is formed once for all who share it, and samples alone in their cell retire.
#include <cmath>

#include "estimate.hpp"
#include "module.hpp"

namespace hocmim {

namespace {

// Values are compared after rounding to twelve decimals.
int64_t key(double value) { return std::llrint(value * 1e12); }

struct Parameters {
    Estimator estimator;
    bool conditional;  // J = I(X;Y|Z) instead of I(X;Y) − R(X,Z,Y)
    int64_t max_order;
    double tol;
    double min_support;
};

// One row a candidate; level l of its path is entry l − 1.
struct Paths {
    const double* relevance;
    int32_t* member;      // position of Z_l in the order of selection
    double* redundancy;   // R_l
    int32_t* order;       // levels reached
    uint8_t* closed;      // the path ended for good: redundant enough, or too few samples a cell
    const int64_t* row_count;   // n_xy of all candidates, one after the other
    const int64_t* row_offset;  // where a candidate's begin, or −1 where they are not kept
};

class PathKeeper {
public:
    using Ids = std::vector<int64_t>;

    PathKeeper(const Columns& block, const Columns& selected, const Setting& setting,
             const Parameters& parameters, const Paths& paths)
        : block_(block), selected_(selected), setting_(setting), p_(parameters), paths_(paths),
          evaluate_(setting), depth_(size_t(parameters.max_order) + 1) {}

    // Paths that knew all selected columns but the newest.
    void absorb_newest(const Ids& candidates) { visit(0, everybody(), candidates); }

    // Paths from scratch.
    void build(const Ids& candidates) { extend(0, everybody(), candidates); }

private:
    Partition everybody() const {
        Partition all;
        all.assign_whole(setting_.n_samples, setting_.cls, setting_.n_classes());
        return all;
    }
    int32_t newest() const { return int32_t(selected_.size() - 1); }
    int32_t& member(int64_t id, int64_t level) { return paths_.member[id * p_.max_order + level]; }
    double& redundancy(int64_t id, int64_t level) { return paths_.redundancy[id * p_.max_order + level]; }
    bool is_supported(const Partition& p) const {
        return double(setting_.n_samples) >= p_.min_support * double(p.n_cells());
    }
    bool may_grow(int64_t id) const {
        return !paths_.closed[id] && paths_.order[id] < p_.max_order;
    }

    void refine(const Partition& from, int32_t by, Partition& to) {
        const Column& column = selected_[by];
        column.visit([&](const auto* level_of) { refine_(from, level_of, column.arity, setting_.cls, to); });
    }

    void set_candidate(int64_t id) {
        const Column& column = block_[id];
        const int64_t offset = paths_.row_offset[id];
        if (offset >= 0) {
            candidate_.assign(column, setting_.n_classes(), paths_.row_count + offset);
        } else {
            rows_.resize(size_t(column.arity * setting_.n_classes()));
            count_rows(column, setting_.cls, setting_.n_samples, setting_.n_classes(), rows_.data());
            candidate_.assign(column, setting_.n_classes(), rows_.data());
        }
    }

    Term term() const { return p_.conditional ? Term::conditional : Term::redundancy; }
    double to_redundancy(int64_t id, double value) const {
        return p_.conditional ? paths_.relevance[id] - value : value;
    }

    // Calls use(k, s, R) for each candidate ids[k] and each selected column s of `members`, in that
    // order for every k, with the conditioning set of `p` and s. `trial` is scratch.
    template <class Use>
    void evaluate(const Ids& ids, const Partition& p, const std::vector<int32_t>& members,
                  Partition& trial, Use&& use) {
        pending_.clear();
        for (size_t k = 0; k < ids.size(); ++k) {
            set_candidate(ids[k]);
            bool is_gathered = false;
            for (const int32_t s : members) {
                if (!Evaluator::can_split(setting_, candidate_, selected_[s])) {
                    pending_.push_back({s, k});
                    continue;
                }
                if (!is_gathered) {
                    gather_rows(p);
                    known_.clear();
                }
                is_gathered = true;
                use(k, s, to_redundancy(ids[k], evaluate_split(p, selected_[s])));
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
            set_candidate(ids[k]);
            use(k, s, to_redundancy(ids[k], evaluate_(term(), candidate_, trial, condition_)));
        }
    }

    // The term of the candidate with `p` split by one more column. Few samples are split in few ways,
    // and each is evaluated once.
    double evaluate_split(const Partition& p, const Column& by) {
        if (p.sample.size() > kFewSamples)
            return evaluate_.split(term(), candidate_, p, row_of_.data(), by);
        const uint64_t how = way_to_split(p, by);
        for (const auto& [known, value] : known_)
            if (known == how) return value;
        const double value = evaluate_.split(term(), candidate_, p, row_of_.data(), by);
        known_.emplace_back(how, value);
        return value;
    }

    // Four bits a sample: the first sample of its cell that has the same level.
    static constexpr size_t kFewSamples = 16;
    static uint64_t way_to_split(const Partition& p, const Column& by) {
        return by.visit([&](const auto* level_of) {
            uint64_t how = 0;
            uint32_t begin = 0;
            for (const uint32_t end : p.cell_end) {
                for (uint32_t i = begin; i < end; ++i) {
                    uint32_t first = begin;
                    while (level_of[p.sample[first]] != level_of[p.sample[i]]) ++first;
                    how |= uint64_t(first) << (4 * i);
                }
                begin = end;
            }
            return how;
        });
    }

    // The row (level and class) of each sample of `p`, in its order.
    void gather_rows(const Partition& p) {
        row_of_.resize(p.sample.size());
        const uint32_t n_classes = uint32_t(setting_.n_classes());
        candidate_.column.visit([&](const auto* level_of) {
            for (size_t i = 0; i < p.sample.size(); ++i) {
                const uint32_t sample = p.sample[i];
                row_of_[i] = uint8_t(level_of[sample] * n_classes + setting_.cls[sample]);
            }
        });
    }

    // Sets level `level` of a path, its last for now, and closes the path if that is enough.
    void set_level(int64_t id, int64_t level, int32_t who, double value) {
        member(id, level) = who;
        redundancy(id, level) = value;
        paths_.order[id] = int32_t(level + 1);
        const double relevance = paths_.relevance[id];
        paths_.closed[id] =
            key(relevance) > 0 && key(relevance - value) < key(p_.tol * relevance);
    }

    // Paths of `ids` agree up to `depth`, and `p` is the partition by that prefix. Tries the newcomer
    // at the next level, then goes on along each path.
    void visit(int64_t depth, const Partition& p, const Ids& ids) {
        if (ids.empty()) return;
        if (p.is_spent()) return append_to_spent(p, ids);
        Depth& here = depth_[size_t(depth)];
        Ids tried, won, stayed;
        for (int64_t id : ids) {
            if (paths_.order[id] == depth && !is_supported(p))
                paths_.closed[id] = 1;
            else
                tried.push_back(id);
        }
        evaluate(tried, p, {newest()}, here.trial, [&](size_t k, int32_t, double value) {
            const int64_t id = tried[k];
            if (paths_.order[id] == depth) {
                set_level(id, depth, newest(), value);
            } else if (key(value) > key(redundancy(id, depth))) {
                set_level(id, depth, newest(), value);
                if (may_grow(id)) won.push_back(id);
            } else if (paths_.order[id] > depth + 1 || may_grow(id)) {
                stayed.push_back(id);
            }
        });
        if (!won.empty() && depth + 1 < selected_.size()) {
            refine(p, newest(), here.child);
            extend(depth + 1, here.child, won);
        }
        for_each_branch(depth, stayed, [&](int32_t who, const Ids& branch) {
            refine(p, who, here.child);
            visit(depth + 1, here.child, branch);
        });
    }

    // Builds the paths of `ids` from level `depth` on; they agree before it, and `p` is the partition.
    void extend(int64_t depth, const Partition& p, const Ids& ids) {
        if (ids.empty() || depth == p_.max_order || depth == selected_.size()) return;
        if (!is_supported(p)) {
            for (int64_t id : ids) paths_.closed[id] = 1;
            return;
        }
        if (p.is_spent()) return fill_spent(depth, ids);
        Depth& here = depth_[size_t(depth)];
        std::vector<int32_t> members;
        for (int32_t s = 0; s < selected_.size(); ++s)
            if (!is_member(ids[0], depth, s)) members.push_back(s);
        std::vector<double> best(ids.size());
        std::vector<int32_t> who(ids.size(), -1);
        evaluate(ids, p, members, here.trial, [&](size_t k, int32_t s, double value) {
            const bool is_better = who[k] < 0 || key(value) > key(best[k]) ||
                                   (key(value) == key(best[k]) && s < who[k]);
            if (is_better) {
                best[k] = value;
                who[k] = s;
            }
        });
        Ids grown;
        for (size_t k = 0; k < ids.size(); ++k) {
            set_level(ids[k], depth, who[k], best[k]);
            if (may_grow(ids[k])) grown.push_back(ids[k]);
        }
        for_each_branch(depth, grown, [&](int32_t branch, const Ids& branch_ids) {
            refine(p, branch, here.child);
            extend(depth + 1, here.child, branch_ids);
        });
    }

    // Once every sample is alone nothing changes any more: all members are equally good, and the one
    // selected earliest comes first.
    void fill_spent(int64_t depth, const Ids& ids) {
        for (int64_t id : ids) {
            const double value = redundancy(id, depth - 1);
            int64_t level = depth;
            for (int32_t s = 0; s < selected_.size() && level < p_.max_order; ++s)
                if (!is_member(id, level, s)) set_level(id, level++, s, value);
        }
    }

    void append_to_spent(const Partition& p, const Ids& ids) {
        const bool supported = is_supported(p);
        for (int64_t id : ids) {
            if (!may_grow(id)) continue;
            if (!supported)
                paths_.closed[id] = 1;
            else
                set_level(id, paths_.order[id], newest(), redundancy(id, paths_.order[id] - 1));
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
        std::stable_sort(ids.begin(), ids.end(), [&](int64_t a, int64_t b) {
            return member(a, depth) < member(b, depth);
        });
        for (size_t at = 0; at < ids.size();) {
            const int32_t who = member(ids[at], depth);
            Ids branch;
            while (at < ids.size() && member(ids[at], depth) == who) branch.push_back(ids[at++]);
            use(who, branch);
        }
    }

    struct Depth {
        Partition trial, child;  // for evaluation; for the next depth
    };

    const Columns &block_, &selected_;
    const Setting& setting_;
    const Parameters p_;
    const Paths paths_;
    Evaluator evaluate_;
    Refiner refine_;
    ConditionSums condition_;
    Candidate candidate_;
    std::vector<int64_t> rows_;
    std::vector<uint8_t> row_of_;
    std::vector<std::pair<uint64_t, double>> known_;
    std::vector<std::pair<int32_t, size_t>> pending_;
    std::vector<Depth> depth_;
};

void follow_paths(const Columns& block, const Columns& selected, Vector<const uint32_t> y,
                  int64_t n_classes, Estimator estimator, bool conditional, double tol,
                  double min_support, Vector<const double> relevance, Vector<const int64_t> row_count,
                  Vector<const int64_t> row_offset, Matrix<int32_t> member, Matrix<double> redundancy,
                  Vector<int32_t> order, Vector<uint8_t> closed, Vector<const int64_t> candidates,
                  bool from_scratch) {
    const size_t size = size_t(block.size());
    if (int64_t(y.shape(0)) != block.n_samples() || selected.n_samples() != block.n_samples() ||
        selected.size() == 0 || relevance.shape(0) != size || row_offset.shape(0) != size ||
        member.shape(0) != size || redundancy.shape(0) != size || order.shape(0) != size ||
        closed.shape(0) != size || member.shape(1) != redundancy.shape(1))
        throw std::invalid_argument("the block, the selected columns and the paths do not fit together");
    nb::gil_scoped_release release;
    const Setting setting(estimator, y.data(), block.n_samples(), n_classes);
    const Parameters parameters{estimator, conditional, int64_t(member.shape(1)), tol, min_support};
    const Paths paths{relevance.data(), member.data(), redundancy.data(), order.data(),
                      closed.data(),    row_count.data(), row_offset.data()};
    PathKeeper keeper(block, selected, setting, parameters, paths);
    const PathKeeper::Ids ids(candidates.data(), candidates.data() + candidates.shape(0));
    for (const int64_t id : ids)
        if (id < 0 || id >= block.size()) throw std::invalid_argument("a candidate is not in the block");
    if (from_scratch)
        keeper.build(ids);
    else
        keeper.absorb_newest(ids);
}

// n_xy of the columns whose offset is not negative.
void count_class_rows(const Columns& block, Vector<const uint32_t> y, int64_t n_classes,
                      Vector<const int64_t> row_offset, Vector<int64_t> row_count) {
    if (int64_t(y.shape(0)) != block.n_samples() || int64_t(row_offset.shape(0)) != block.size())
        throw std::invalid_argument("the block, y and the offsets do not fit together");
    nb::gil_scoped_release release;
    for (int64_t j = 0; j < block.size(); ++j) {
        if (row_offset(j) < 0) continue;
        if (row_offset(j) + block[j].arity * n_classes > int64_t(row_count.shape(0)))
            throw std::invalid_argument("the row counts do not fit");
        count_rows(block[j], y.data(), block.n_samples(), n_classes, row_count.data() + row_offset(j));
    }
}

}  // namespace

}  // namespace hocmim

void bind_hocmim(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace nb::literals;
    m.def("follow_paths", &hocmim::follow_paths, "block"_a, "selected"_a, "y"_a.noconvert(),
          "n_classes"_a, "estimator"_a, "conditional"_a, "tol"_a, "min_support"_a,
          "relevance"_a.noconvert(), "row_count"_a.noconvert(), "row_offset"_a.noconvert(),
          "member"_a.noconvert(), "redundancy"_a.noconvert(), "order"_a.noconvert(),
          "closed"_a.noconvert(), "candidates"_a.noconvert(), "from_scratch"_a);
    m.def("count_class_rows", &hocmim::count_class_rows, "block"_a, "y"_a.noconvert(), "n_classes"_a,
          "row_offset"_a.noconvert(), "row_count"_a.noconvert());
}
