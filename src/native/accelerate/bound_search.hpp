// The search by bounds. It saves time and never changes a result: docs/development/bounds.md has
// the proof. All of this folder together (HOCMIM_BOUND=off turns it off) makes HOCMIM about 28
// times as fast at K = 40, 2000 × 200.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/candidate_heap.hpp"
#include "core/comparison.hpp"
#include "criteria/path_updater.hpp"

namespace hocmim {

// A search for the open candidate of largest score, or for the n_best largest, in all blocks of a
// table at once. Candidates are followed in the order of an upper bound on their score, until the
// bounds of all others are below the scores found. Any number of threads may work on one search.
class BoundSearch {
public:
    BoundSearch(std::vector<GreedyPaths*> blocks, std::vector<Vector<const double>> bounds,
                std::vector<Vector<const bool>> open, int64_t n_best)
        : blocks_(std::move(blocks)), n_best_(size_t(n_best)) {
        if (blocks_.empty() || bounds.size() != blocks_.size() || open.size() != blocks_.size())
            throw std::invalid_argument("every block must have bounds");
        if (n_best < 1) throw std::invalid_argument("n_best must be at least 1");
        for (size_t b = 0; b < blocks_.size(); ++b) {
            GreedyPaths& paths = *blocks_[b];
            const size_t size = size_t(paths.block.size());
            if (bounds[b].size() != size || open[b].size() != size ||
                paths.selected.size() != blocks_[0]->selected.size())
                throw std::invalid_argument("the bounds do not fit the blocks");
            for (size_t id = 0; id < size; ++id) {
                if (!open[b][id]) continue;
                if (paths.is_exact(int64_t(id)))
                    note(b, int64_t(id));
                else
                    heap_.push_back({comparison_key(bounds[b][id]), b, int64_t(id)});
            }
        }
        heap_.erase(std::remove_if(heap_.begin(), heap_.end(),
                                   [&](const RankedCandidate& c) { return is_beaten(c); }),
                    heap_.end());
        std::make_heap(heap_.begin(), heap_.end());
    }

    // Follows candidates until no bound is above the scores found.
    void work() {
        std::optional<PathUpdater> updater;
        std::unique_lock<std::mutex> lock(mutex_);
        while (!heap_.empty() && !is_beaten(heap_.front())) {
            const RankedCandidate top = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
            lock.unlock();
            GreedyPaths& paths = *blocks_[top.block];
            if (!updater) updater.emplace(paths);
            updater->follow(paths, {top.id});
            lock.lock();
            note(top.block, top.id);
        }
    }

    // The block and position of the best, and its score; block −1 if no candidate is open. Valid
    // when all threads have returned from work().
    std::tuple<int64_t, int64_t, double> best() const {
        if (best_.empty()) return {-1, 0, 0.0};
        return {int64_t(best_[0].block), best_[0].id, score(best_[0].block, best_[0].id)};
    }

private:
    double score(size_t block, int64_t id) const { return blocks_[block]->score(id); }

    // Whether n_best candidates are known to be better.
    bool is_beaten(const RankedCandidate& candidate) const {
        return best_.size() == n_best_ && candidate < best_.back();
    }
    // Adds a candidate whose score is known.
    void note(size_t block, int64_t id) {
        best_.push_back({comparison_key(score(block, id)), block, id});
        std::sort(best_.begin(), best_.end(),
                  [](const RankedCandidate& a, const RankedCandidate& b) { return b < a; });
        if (best_.size() > n_best_) best_.pop_back();
    }

    std::vector<GreedyPaths*> blocks_;
    const size_t n_best_;
    std::mutex mutex_;
    std::vector<RankedCandidate> heap_;  // by the bounds on their scores
    std::vector<RankedCandidate> best_;  // by their scores
};

}  // namespace hocmim
