// HOCMIM's representative sets: the greedy path of every candidate through the selected columns.
//
// A candidate's path Z_1, Z_2, … stays as it was unless the newcomer wins at some level; only the
// levels after the first win are built anew. Candidates are visited as a tree of common prefixes, so
// that a conditioning set is formed once for all who share it, and samples alone in their cell retire.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <tuple>

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "counting/paths.hpp"
#include "estimators/evaluator.hpp"
#include "bindings/module.hpp"

namespace hocmim {

namespace {

// Values are compared after rounding to twelve decimals.
int64_t key(double value) { return std::llrint(value * 1e12); }

struct Parameters {
    bool conditional;  // J = I(X;Y|Z) instead of I(X;Y) − R(X,Z,Y)
    int64_t max_order;
    double tol;
    double min_support;
};

// The paths of a block of candidates through the selected columns; level l of a path is its entry l − 1.
struct Paths {
    Paths(ClassCounts& class_counts_, const Columns& selected_, Estimator estimator,
          bool conditional, double tol, double min_support, Vector<const double> relevance,
          Matrix<int32_t> member, Matrix<double> redundancy, Vector<int32_t> order)
        : class_counts(class_counts_), block(class_counts.columns()), selected(selected_),
          relevance_(std::move(relevance)), member_(std::move(member)),
          redundancy_(std::move(redundancy)), order_(std::move(order)),
          setting(estimator, class_counts.cls(), block.n_samples(), class_counts.n_classes()),
          p{conditional, int64_t(member_.shape(1)), tol, min_support},
          closed_(size_t(block.size()), 0), n_absorbed_(size_t(block.size()), 0) {
        const size_t size = size_t(block.size());
        if (selected.n_samples() != block.n_samples() || relevance_.shape(0) != size ||
            member_.shape(0) != size || redundancy_.shape(0) != size ||
            redundancy_.shape(1) != member_.shape(1) || order_.shape(0) != size)
            throw std::invalid_argument("the block, the selected columns and the paths do not fit together");
    }

    double relevance(int64_t id) const { return relevance_(size_t(id)); }
    // Position of the member in the order of selection.
    int32_t& member(int64_t id, int64_t level) { return member_(size_t(id), size_t(level)); }
    double& redundancy(int64_t id, int64_t level) { return redundancy_(size_t(id), size_t(level)); }
    // Levels reached.
    int32_t& order(int64_t id) { return order_(size_t(id)); }
    // Whether the path ended for good: redundant enough, or too few samples a cell.
    uint8_t& closed(int64_t id) { return closed_[size_t(id)]; }
    // How many of the selected columns the path has met.
    int64_t& n_absorbed(int64_t id) { return n_absorbed_[size_t(id)]; }
    int64_t n_behind(int64_t id) { return selected.size() - n_absorbed(id); }
    bool may_grow(int64_t id) { return !closed(id) && order(id) < p.max_order; }

    void assign(Candidate& candidate, int64_t id) const {
        std::vector<int64_t> rows;
        candidate.assign(block[id], setting.n_classes(), class_counts.of(id, rows));
    }

    // J at the last level, or the smallest along the path.
    double score(int64_t id, bool smallest) {
        if (order(id) == 0) return relevance(id);
        const int64_t last = order(id) - 1;
        int64_t level = last;
        for (int64_t l = last; smallest && l >= 0; --l)
            if (key(redundancy(id, l)) >= key(redundancy(id, level))) level = l;
        return relevance(id) - redundancy(id, level);
    }

    ClassCounts& class_counts;
    const Columns &block, &selected;
    const Vector<const double> relevance_;
    Matrix<int32_t> member_;
    Matrix<double> redundancy_;
    Vector<int32_t> order_;
    const Setting setting;
    const Parameters p;
    std::vector<uint8_t> closed_;
    std::vector<int64_t> n_absorbed_;
};

// Brings paths up to date with the selected columns. Holds scratch as large as the table is long: it is
// made for a call, and gone after it.
class PathKeeper {
public:
    using Ids = std::vector<int64_t>;

    // `like` are the paths to follow, or of another block of the same table.
    explicit PathKeeper(const Paths& like)
        : selected_(like.selected), setting_(like.setting), p_(like.p), evaluate_(make_evaluator(like.setting)),
          depth_(size_t(like.p.max_order) + 1) {
        everybody_.assign_whole(setting_.n_samples, setting_.cls, setting_.n_classes());
    }

    void follow(Paths& paths, const Ids& candidates) {
        paths_ = &paths;
        Ids one_behind, from_scratch;
        for (const int64_t id : candidates) {
            if (paths.n_behind(id) == 1) {
                one_behind.push_back(id);
            } else if (paths.n_behind(id) > 1) {
                from_scratch.push_back(id);
                paths.order(id) = paths.closed(id) = 0;
            }
            paths.n_absorbed(id) = selected_.size();
        }
        visit(0, everybody_, one_behind);
        extend(0, everybody_, from_scratch);
    }

private:
    int32_t newest() const { return int32_t(selected_.size() - 1); }
    int32_t& member(int64_t id, int64_t level) { return paths_->member(id, level); }
    double& redundancy(int64_t id, int64_t level) { return paths_->redundancy(id, level); }
    bool is_supported(const Partition& p) const {
        return double(setting_.n_samples) >= p_.min_support * double(p.n_cells());
    }
    bool may_grow(int64_t id) { return paths_->may_grow(id); }

    void refine(const Partition& from, int32_t by, Partition& to) {
        const Column& column = selected_[by];
        column.visit([&](const auto* level_of) { refine_(from, level_of, column.arity, setting_.cls, to); });
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
            bool is_gathered = false;
            for (const int32_t s : members) {
                if (!paths::splits_cells(setting_.estimator, int64_t(candidate_.row_count.size()), selected_[s].arity)) {
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
            paths_->assign(candidate_, ids[k]);
            use(k, s, to_redundancy(ids[k], (*evaluate_)(term(), candidate_, trial, condition_)));
        }
    }

    // The term of the candidate with `p` split by one more column. Few samples are split in few ways,
    // and each is evaluated once.
    double evaluate_split(const Partition& p, const Column& by) {
        if (p.sample.size() > kFewSamples)
            return evaluate_->split(term(), candidate_, p, row_of_.data(), by);
        const uint64_t how = way_to_split(p, by);
        for (const auto& [known, value] : known_)
            if (known == how) return value;
        const double value = evaluate_->split(term(), candidate_, p, row_of_.data(), by);
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
        paths_->order(id) = int32_t(level + 1);
        const double relevance = paths_->relevance(id);
        paths_->closed(id) = key(relevance) > 0 && key(relevance - value) < key(p_.tol * relevance);
    }

    // Paths of `ids` agree up to `depth`, and `p` is the partition by that prefix. Tries the newcomer
    // at the next level, then goes on along each path.
    void visit(int64_t depth, const Partition& p, const Ids& ids) {
        if (ids.empty()) return;
        if (p.is_spent()) return append_to_spent(p, ids);
        Depth& here = depth_[size_t(depth)];
        Ids tried, won, stayed;
        for (int64_t id : ids) {
            if (paths_->order(id) == depth && !is_supported(p))
                paths_->closed(id) = 1;
            else
                tried.push_back(id);
        }
        evaluate(tried, p, {newest()}, here.trial, [&](size_t k, int32_t, double value) {
            const int64_t id = tried[k];
            if (paths_->order(id) == depth) {
                set_level(id, depth, newest(), value);
            } else if (key(value) > key(redundancy(id, depth))) {
                set_level(id, depth, newest(), value);
                if (may_grow(id)) won.push_back(id);
            } else if (paths_->order(id) > depth + 1 || may_grow(id)) {
                stayed.push_back(id);
            }
        });
        if (!won.empty() && depth + 1 < selected_.size()) {
            refine(p, newest(), here.child);
            sort_cells_(here.child);
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
            for (int64_t id : ids) paths_->closed(id) = 1;
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
            sort_cells_(here.child);
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

    Paths* paths_ = nullptr;
    const Columns& selected_;
    const Setting& setting_;
    const Parameters& p_;
    std::unique_ptr<Evaluator> evaluate_;
    Refiner refine_;
    CellSorter sort_cells_;
    ConditionSums condition_;
    Candidate candidate_;
    Partition everybody_;
    Buffer<uint8_t> row_of_;
    std::vector<std::pair<uint64_t, double>> known_;
    std::vector<std::pair<int32_t, size_t>> pending_;
    std::vector<Depth> depth_;
};

void follow(Paths& paths, Vector<const int64_t> candidates) {
    const PathKeeper::Ids ids(candidates.data(), candidates.data() + candidates.shape(0));
    for (const int64_t id : ids)
        if (id < 0 || id >= paths.block.size())
            throw std::invalid_argument("a candidate is not in the block");
    nb::gil_scoped_release release;
    PathKeeper(paths).follow(paths, ids);
}

// One look for the open candidate of largest score, or for the first few, in all blocks of a table at once. Any number
// of threads may work at it; only those candidates are followed that a bound on their score leaves as contenders.
class Contest {
public:
    Contest(std::vector<Paths*> blocks, std::vector<Vector<const double>> bounds,
            std::vector<Vector<const bool>> open, bool smallest, int64_t n_best)
        : blocks_(std::move(blocks)), smallest_(smallest), n_best_(size_t(n_best)) {
        if (blocks_.empty() || bounds.size() != blocks_.size() || open.size() != blocks_.size())
            throw std::invalid_argument("every block has bounds");
        if (n_best < 1) throw std::invalid_argument("a contest is for the best, at least");
        for (size_t b = 0; b < blocks_.size(); ++b) {
            Paths& paths = *blocks_[b];
            const size_t size = size_t(paths.block.size());
            if (bounds[b].shape(0) != size || open[b].shape(0) != size ||
                paths.selected.size() != blocks_[0]->selected.size())
                throw std::invalid_argument("the bounds do not fit the blocks");
            for (size_t id = 0; id < size; ++id) {
                if (!open[b](id)) continue;
                if (paths.n_behind(int64_t(id)) == 0)
                    note(b, int64_t(id));
                else
                    heap_.push_back({key(bounds[b](id)), b, int64_t(id)});
            }
        }
        heap_.erase(std::remove_if(heap_.begin(), heap_.end(), [&](const Contender& c) { return is_beaten(c); }),
                    heap_.end());
        std::make_heap(heap_.begin(), heap_.end());
    }

    // Follows contenders as long as there are any.
    void work() {
        nb::gil_scoped_release release;
        std::optional<PathKeeper> keeper;
        std::unique_lock<std::mutex> lock(mutex_);
        while (!heap_.empty() && !is_beaten(heap_.front())) {
            const Contender top = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
            lock.unlock();
            Paths& paths = *blocks_[top.block];
            if (!keeper) keeper.emplace(paths);
            keeper->follow(paths, {top.id});
            lock.lock();
            note(top.block, top.id);
        }
    }

    // The block and position of the best, and its score; of block −1 if no candidate is open. When all have worked.
    std::tuple<int64_t, int64_t, double> winner() const {
        if (best_.empty()) return {-1, 0, 0.0};
        return {int64_t(best_[0].block), best_[0].id, score(best_[0].block, best_[0].id)};
    }

private:
    // Equal candidates: the first of the table comes first.
    struct Contender {
        int64_t key;
        size_t block;
        int64_t id;
        bool operator<(const Contender& other) const {
            if (key != other.key) return key < other.key;
            return block != other.block ? block > other.block : id > other.id;
        }
    };

    double score(size_t block, int64_t id) const { return blocks_[block]->score(id, smallest_); }

    // Whether there are enough better ones.
    bool is_beaten(const Contender& contender) const {
        return best_.size() == n_best_ && contender < best_.back();
    }
    // Takes one whose score is known.
    void note(size_t block, int64_t id) {
        best_.push_back({key(score(block, id)), block, id});
        std::sort(best_.begin(), best_.end(), [](const Contender& a, const Contender& b) { return b < a; });
        if (best_.size() > n_best_) best_.pop_back();
    }

    std::vector<Paths*> blocks_;
    const bool smallest_;
    const size_t n_best_;
    std::mutex mutex_;
    std::vector<Contender> heap_;  // by what they might score
    std::vector<Contender> best_;  // by what they do score
};

}  // namespace

}  // namespace hocmim

void bind_hocmim(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<Paths>(m, "GreedyPaths")
        .def(nb::init<ClassCounts&, const Columns&, Estimator, bool, double, double,
                      Vector<const double>, Matrix<int32_t>, Matrix<double>, Vector<int32_t>>(),
             "class_counts"_a, "selected"_a, "estimator"_a, "conditional"_a, "tol"_a, "min_support"_a,
             "relevance"_a.noconvert(), "member"_a.noconvert(), "redundancy"_a.noconvert(),
             "order"_a.noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("follow", &follow, "candidates"_a.noconvert());

    nb::class_<Contest>(m, "Contest")
        .def(nb::init<std::vector<Paths*>, std::vector<Vector<const double>>,
                      std::vector<Vector<const bool>>, bool, int64_t>(),
             "blocks"_a, "bounds"_a.noconvert(), "open"_a.noconvert(), "smallest"_a, "n_best"_a)
        .def("work", &Contest::work)
        .def("winner", &Contest::winner);
}
