// The search by unfinished last levels. It saves time and never changes a result:
// docs/development/bounds.md has the proof.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/comparison.hpp"
#include "core/contenders.hpp"
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
            if (int64_t(open[b].shape(0)) != blocks_[b]->block.size())
                throw std::invalid_argument("the open candidates do not fit the block");
            for (int64_t id = 0; id < blocks_[b]->block.size(); ++id) {
                if (!open[b](size_t(id))) continue;
                if (blocks_[b]->n_missing(id) != 0)
                    throw std::invalid_argument("a path is not up to date");
                contenders_.add(contender(b, id));
            }
        }
        contenders_.begin();
    }

    void work() {
        nb::gil_scoped_release release;
        std::optional<PathUpdater> updater;
        contenders_.work([] { return true; },
                         [&](const Contender& top, double bar) {
                             GreedyPaths& paths = *blocks_[top.block];
                             if (!updater) updater.emplace(paths);
                             updater->finish(paths, top.id, bar);
                             return contender(top.block, top.id);
                         });
    }

    // The block and position of the best, and its score; block −1 if no candidate is open. Valid
    // when all threads have returned from work().
    std::tuple<int64_t, int64_t, double> winner() const {
        if (contenders_.empty()) return {-1, 0, 0.0};
        const Contender& top = contenders_.first();
        return {int64_t(top.block), top.id, blocks_[top.block]->score(top.id)};
    }

private:
    Contender contender(size_t b, int64_t id) const {
        return {comparison_key(blocks_[b]->score(id)), b, id, blocks_[b]->is_exact(id)};
    }

    std::vector<GreedyPaths*> blocks_;
    Contenders contenders_;
};

}  // namespace hocmim
