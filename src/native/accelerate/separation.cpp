#include "accelerate/separation.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/byte_masks.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

namespace {

constexpr size_t kMostPairs = 1u << 18;   // 2 MiB
constexpr size_t kPairsAtOnce = 16;       // that a thread takes
constexpr double kWorkPerComparison = 4;  // of two codes; trying a pair is 1

}  // namespace

Separation::Separation(const Columns& columns, int64_t size, bool only_newest, int64_t most_work)
    : columns_(columns), size_(size), work_left_(most_work) {
    if (size < 0) throw std::invalid_argument("the size of a set must not be negative");
    if (columns.size() <= size + 1) return;  // one column is left: it completes S
    bool is_feasible = columns.size() <= int64_t(kMostPairColumns);
    for (int64_t c = 0; c < columns.size(); ++c) is_feasible &= !columns[c].wide;
    if (!is_feasible || !find_pairs(only_newest)) {
        work_left_ = -1;
        return;
    }
    all_ = ~uint64_t(0) >> (int64_t(kMostPairColumns) - columns.size());
    of_column_.resize(size_t(columns.size()));
    rank_columns();
    first_ = &pairs_in(rank_.front());
}

std::optional<bool> Separation::holds() {
    begin_work();
    try {
        try_pairs();
    } catch (...) {
        work_left_ = -1;
        end_work();
        throw;
    }
    end_work();
    if (is_found_) return false;
    return work_left_ < 0 ? std::nullopt : std::optional<bool>(true);
}

void Separation::begin_work() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++n_at_work_;
}

void Separation::end_work() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--n_at_work_ == 0) finished_.notify_all();
    finished_.wait(lock, [&] { return n_at_work_ == 0; });
}

void Separation::try_pairs() {
    const size_t n_first = first_ ? first_->equal_in.size() : 0;
    for (size_t at;
         work_left_ >= 0 && !is_found_ && (at = next_.fetch_add(kPairsAtOnce)) < n_first;)
        for (size_t end = std::min(n_first, at + kPairsAtOnce); at < end && work_left_ >= 0; ++at)
            if (can_cover(first_->equal_in[at], first_->equal_in[at])) is_found_ = true;
}

bool Separation::find_pairs(bool only_newest) {
    const size_t n_samples = size_t(columns_.n_samples());
    const Column& newest = columns_[columns_.size() - 1];
    const auto* level_of = static_cast<const uint8_t*>(newest.data);
    const size_t n_cells = only_newest ? size_t(newest.arity) : 1;
    std::vector<size_t> end(n_cells, 0);
    for (size_t i = 0; i < n_samples; ++i) ++end[only_newest ? level_of[i] : 0];
    double n_pairs = 0;
    for (const size_t n : end) n_pairs += double(n) * double(n) / 2;
    const double work = kWorkPerComparison * n_pairs * double(columns_.size());
    if (work > double(work_left_)) return false;
    work_left_ -= int64_t(work);

    std::vector<uint32_t> sample(n_samples);
    std::exclusive_scan(end.begin(), end.end(), end.begin(), size_t(0));
    for (size_t i = 0; i < n_samples; ++i)
        sample[end[only_newest ? level_of[i] : 0]++] = uint32_t(i);
    size_t begin = 0;
    for (const size_t stop : end) {
        if (!find_pairs_among(sample.data() + begin, stop - begin)) return false;
        begin = stop;
    }
    return true;
}

bool Separation::find_pairs_among(const uint32_t* sample, size_t n) {
    const size_t n_columns = size_t(columns_.size());
    std::vector<uint8_t> codes(n_columns * n), rows(n * kMostPairColumns, 0), counts(n);
    for (size_t c = 0; c < n_columns; ++c) {
        const auto* level_of = static_cast<const uint8_t*>(columns_[int64_t(c)].data);
        for (size_t i = 0; i < n; ++i)
            codes[c * n + i] = rows[i * kMostPairColumns + c] = level_of[sample[i]];
    }
    const uint64_t all = ~uint64_t(0) >> (kMostPairColumns - n_columns);
    for (size_t one = 0; one + 1 < n; ++one) {
        count_equal_columns(codes.data(), n_columns, n, one, counts.data());
        count_work(int64_t(n));
        for (size_t i = one + 1; i < n; ++i) {
            if (int64_t(counts[i]) <= size_ || counts[i] == n_columns) continue;
            if (pairs_.equal_in.size() == kMostPairs) return false;
            pairs_.equal_in.push_back(all & bytes_equal(rows.data() + one * kMostPairColumns,
                                                        rows.data() + i * kMostPairColumns));
        }
    }
    return true;
}

void Separation::rank_columns() {
    std::vector<int64_t> n_pairs(of_column_.size(), 0);
    pairs_.transpose(n_pairs.size());
    const size_t n_words = pairs_.n_blocks() * kPairWords;
    for (size_t c = 0; c < n_pairs.size(); ++c)
        for (size_t w = 0; w < n_words; ++w) n_pairs[c] += count_ones(pairs_.bits[c * n_words + w]);
    rank_.resize(n_pairs.size());
    std::iota(rank_.begin(), rank_.end(), 0);
    std::stable_sort(rank_.begin(), rank_.end(),
                     [&](int a, int b) { return n_pairs[size_t(a)] < n_pairs[size_t(b)]; });
}

const Pairs& Separation::pairs_in(int column) {
    Pairs& pairs = of_column_[size_t(column)];
    std::call_once(is_made_[column], [&] {
        pairs.equal_in.resize(pairs_.equal_in.size());
        size_t n = 0;
        for (const uint64_t equal : pairs_.equal_in) {  // branch-free: the branch is unpredictable
            pairs.equal_in[n] = equal;
            n += equal >> column & 1;
        }
        pairs.equal_in.resize(n);
        pairs.equal_in.shrink_to_fit();
        pairs.transpose(of_column_.size());
    });
    return pairs;
}

bool Separation::can_cover(uint64_t in_all, uint64_t in_any) {
    if (in_any == all_) return true;
    const int column =
        *std::find_if(rank_.begin(), rank_.end(), [&](int c) { return !(in_any >> c & 1); });
    const Pairs& pairs = pairs_in(column);
    const size_t n_blocks = pairs.n_blocks();
    const uint64_t* columns[kMostPairColumns];  // the rarest first: most blocks are skipped early
    size_t n_columns = 0;
    for (const int c : rank_)
        if (in_all >> c & 1)
            columns[n_columns++] = pairs.bits.data() + size_t(c) * n_blocks * kPairWords;
    const size_t misses = n_columns - size_t(size_);
    work_left_ -= int64_t(pairs.equal_in.size() * (misses + 1));
    count_work(int64_t(pairs.equal_in.size()) / 8);
    uint64_t found[kPairWords];
    for (size_t block = 0; work_left_ >= 0; ++block) {
        block = find_block(columns, n_columns, misses, block, n_blocks, found);
        if (block == n_blocks) return false;
        for (size_t w = 0; w < kPairWords; ++w)
            for (; found[w]; found[w] &= found[w] - 1) {
                const size_t at = (block * kPairWords + w) * 64 + size_t(lowest_one(found[w]));
                if (at >= pairs.equal_in.size()) break;
                const uint64_t equal = pairs.equal_in[at];
                if (can_cover(in_all & equal, in_any | equal)) return true;
            }
    }
    return false;
}

}  // namespace hocmim
