// The search by unfinished last levels, where no bound is proved. It saves time and never changes a
// result: docs/development/bounds.md has the proof.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/candidate_heap.hpp"
#include "core/comparison.hpp"
#include "criteria/path_updater.hpp"

namespace hocmim {

// A search for the open candidate of largest score in all blocks of a table, whose paths are
// updated with every selected column (PathUpdater::update). J of a path whose last level is not
// finished is an upper bound on its score: paths are finished in the order of these bounds until
// the first is exact. Any number of threads may work on one search.
class LastLevels {
public:
    LastLevels(std::vector<GreedyPaths*> blocks, std::vector<Vector<const bool>> open)
        : blocks_(std::move(blocks)) {
        if (blocks_.empty() || open.size() != blocks_.size())
            throw std::invalid_argument("every block says which candidates are open");
        for (size_t b = 0; b < blocks_.size(); ++b) {
            if (int64_t(open[b].size()) != blocks_[b]->block.size())
                throw std::invalid_argument("the open candidates do not fit the block");
            for (int64_t id = 0; id < blocks_[b]->block.size(); ++id) {
                if (!open[b][id]) continue;
                if (blocks_[b]->n_missing(id) != 0)
                    throw std::invalid_argument("a path is not up to date");
                heap_.add(ranked(b, id));
            }
        }
        heap_.begin();
    }

    void work() {
        std::optional<PathUpdater> updater;
        heap_.work([] { return true; },
                   [&](const RankedCandidate& top, double threshold) {
                       GreedyPaths& paths = *blocks_[top.block];
                       if (!updater) updater.emplace(paths);
                       updater->finish(paths, top.id, threshold);
                       return ranked(top.block, top.id);
                   });
    }

    // The block and position of the best, and its score; block −1 if no candidate is open. Valid
    // when all threads have returned from work().
    std::tuple<int64_t, int64_t, double> best() const {
        if (heap_.empty()) return {-1, 0, 0.0};
        const RankedCandidate& top = heap_.first();
        return {int64_t(top.block), top.id, blocks_[top.block]->score(top.id)};
    }

private:
    RankedCandidate ranked(size_t b, int64_t id) const {
        return {comparison_key(blocks_[b]->score(id)), b, id, blocks_[b]->is_exact(id)};
    }

    std::vector<GreedyPaths*> blocks_;
    CandidateHeap heap_;
};

}  // namespace hocmim
