// Whether any few of the selected columns, with one more well chosen, have the cells of all of
// them.
//
// Let S be the selected columns and T a set of `size` of them. T and one more column s have the
// cells of S unless two samples that differ somewhere in S are equal in all of T and in s. So no s
// is enough for T only if, for every column of S outside T, some pair of samples that differs
// somewhere in S is equal in all of T and in that column. The search looks for such pairs: it takes
// a column in which few pairs are equal, tries each of these pairs, continues with a column in
// which no pair chosen so far is equal, and drops a pair that leaves fewer than |T| columns in
// which all chosen pairs are equal.
//
// docs/development/bounds.md has the proof and what it is for.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "accelerate/pairs.hpp"
#include "core/columns.hpp"

namespace hocmim {

// One search. Any number of threads may call holds(): they share the work.
class Separation {
public:
    // `size` is |T|; with `only_newest`, only sets T with the newest column are considered. The
    // search ends after `most_work`, in pairs tried.
    Separation(const Columns& columns, int64_t size, bool only_newest, int64_t most_work);

    // Whether every T has such a column s; nothing if the answer takes more work than allowed.
    std::optional<bool> holds();

private:
    void begin_work();
    // Waits for the other threads: one of them may find the pairs.
    void end_work();
    void try_pairs();
    // Finds the pairs that are equal in more than |T| columns, though not in all; with
    // `only_newest`, only those equal in the newest column. Returns false if they are too many.
    bool find_pairs(bool only_newest);
    bool find_pairs_among(const uint32_t* sample, size_t n);
    // Ranks the columns by the number of pairs equal in them, the fewest first.
    void rank_columns();
    // The pairs that are equal in this column, made on first use.
    const Pairs& pairs_in(int column);
    // Whether more pairs can be chosen so that every column has a pair equal in it, and |T| columns
    // remain in which all are equal. Those chosen so far are all equal in `in_all`, and at least
    // one of them in `in_any`.
    bool can_cover(uint64_t in_all, uint64_t in_any);

    const Columns& columns_;
    const int64_t size_;  // |T|
    uint64_t all_ = 0;    // one bit per column
    Pairs pairs_;
    std::vector<int> rank_;
    std::vector<Pairs> of_column_;
    std::once_flag is_made_[kMostPairColumns];
    const Pairs* first_ = nullptr;  // every answer holds one of these

    std::atomic<int64_t> work_left_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> is_found_{false};
    int n_at_work_ = 0;
    std::mutex mutex_;
    std::condition_variable finished_;
};

}  // namespace hocmim
