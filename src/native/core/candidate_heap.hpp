// Candidates in the order of their scores, or of bounds on their scores, for several threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace hocmim {

// The threshold of a candidate that is the only one.
constexpr double kNoThreshold = -std::numeric_limits<double>::infinity();

// A candidate of a block. Of candidates with equal keys the first of the table is the larger.
struct RankedCandidate {
    double key;  // of its score, or of a bound on it
    size_t block;
    int64_t id;             // position in the block
    bool is_exact = false;  // whether it is the key of the score
    bool operator<(const RankedCandidate& other) const {
        if (key != other.key) return key < other.key;
        return block != other.block ? block > other.block : id > other.id;
    }
};

// A search for the largest score by bounds that fall: the largest bound is lowered until the first
// candidate is exact. Then no other can be better.
class CandidateHeap {
public:
    // All candidates are added before the work begins.
    void add(const RankedCandidate& candidate) { heap_.push_back(candidate); }
    void begin() { std::make_heap(heap_.begin(), heap_.end()); }

    bool empty() const { return heap_.empty(); }
    const RankedCandidate& first() const { return heap_.front(); }

    // Calls lower(candidate, threshold) for the first candidate, which returns it with a lower
    // bound or its score, while the first is not exact and goes_on() holds. `threshold` is the key
    // of the next candidate: a bound below it is low enough. Any number of threads may call this.
    template <class GoesOn, class Lower>
    void work(GoesOn&& goes_on, Lower&& lower) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!heap_.empty() && !heap_.front().is_exact && goes_on()) {
            const RankedCandidate top = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
            const double threshold = heap_.empty() ? kNoThreshold : heap_.front().key;
            lock.unlock();
            const RankedCandidate lowered = lower(top, threshold);
            lock.lock();
            heap_.push_back(lowered);
            std::push_heap(heap_.begin(), heap_.end());
        }
    }

private:
    std::mutex mutex_;
    std::vector<RankedCandidate> heap_;
};

}  // namespace hocmim
