// Whether few of the selected columns tell apart all the samples that all of them do.
//
// Two samples meet in the columns in which they are equal. A set T of columns and one more, s, have the
// cells of all columns S unless two samples that are not equal in all of S meet in all of T and in s.
// So no s will do for T only if the pairs of samples that meet in all of T meet, one or another of them,
// in every column of S. Such pairs are looked for: take a column in which few pairs meet, try each of
// these, go on with a column in which none of those taken so far meets, and drop a pair that leaves
// fewer than |T| columns in which all of them meet.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>

#include <nanobind/stl/optional.h>

#include "core/byte_masks.hpp"
#include "core/columns.hpp"
#include "core/dispatch.hpp"
#include "bindings/module.hpp"

namespace hocmim {

namespace {

constexpr int64_t kMostColumns = 64;     // a bit each
constexpr size_t kMostPairs = 1u << 18;  // 2 MiB
constexpr size_t kWords = 8;             // of bits gone through together
constexpr size_t kAtOnce = 16;           // pairs a thread takes on
constexpr double kAComparison = 4;       // of two codes, in the work that trying a pair takes

// counts[i] = in how many columns, each n long, sample i is equal to sample `one`, for those after it.
HOCMIM_INLINE void count_meetings_body(const uint8_t* columns, size_t n_columns, size_t n, size_t one, uint8_t* counts) {
    std::memset(counts + one + 1, 0, n - one - 1);
    for (size_t c = 0; c < n_columns; ++c) {
        const uint8_t *codes = columns + c * n, level = codes[one];
        for (size_t i = one + 1; i < n; ++i) counts[i] = uint8_t(counts[i] + (codes[i] == level));
    }
}
HOCMIM_DISPATCH(void, count_meetings, count_meetings_body,
                (const uint8_t* columns, size_t n_columns, size_t n, size_t one, uint8_t* counts),
                (columns, n_columns, n, one, counts))

// Bit j of word i becomes bit i of word j: by halves, quarters and so on.
void transpose(uint64_t* square) {
    uint64_t low = 0x00000000ffffffffu;
    for (size_t width = 32; width > 0; width /= 2, low ^= low << width)
        for (size_t i = 0; i < 64; i = (i + width + 1) & ~width) {
            const uint64_t swap = ((square[i] >> width) ^ square[i + width]) & low;
            square[i] ^= swap << width;
            square[i + width] ^= swap;
        }
}

// Some pairs, a bit each, in blocks of kWords words: where they meet, column by column.
struct Pairs {
    std::vector<uint64_t> meets;  // of each pair, a bit a column
    std::vector<uint64_t> bits;   // of each column, a bit a pair

    size_t n_blocks() const { return (meets.size() + 64 * kWords - 1) / (64 * kWords); }

    void turn(size_t n_columns) {
        const size_t n_words = n_blocks() * kWords;
        bits.assign(n_columns * n_words, 0);
        for (size_t first = 0; first < meets.size(); first += 64) {
            uint64_t square[64] = {};
            std::copy_n(meets.begin() + std::ptrdiff_t(first), std::min<size_t>(64, meets.size() - first),
                        square);
            transpose(square);
            for (size_t c = 0; c < n_columns; ++c) bits[c * n_words + first / 64] = square[c];
        }
    }
};

// Bits of one column in a block of pairs; a register where there are such.
typedef uint64_t Bits __attribute__((vector_size(8 * kWords)));

HOCMIM_INLINE bool any(const Bits& bits) {
    uint64_t all = 0;
    for (size_t w = 0; w < kWords; ++w) all |= bits[w];
    return all != 0;
}

// Finds the next block, from `block` on, with pairs that meet in all of these columns but for `misses` of
// them, and these pairs; returns n_blocks if there is none. most[m] are the pairs that have missed at most m
// columns; a block is left as soon as all its pairs have missed too many.
template <size_t room>
HOCMIM_INLINE size_t find_block_of(const uint64_t* const* columns,
                                                           size_t n_columns, size_t misses,
                                                           size_t block, size_t n_blocks,
                                                           uint64_t* found) {
    for (; block < n_blocks; ++block) {
        Bits most[room + 1];
        for (size_t m = 0; m <= misses; ++m) most[m] = ~Bits{};
        for (size_t c = 0; c < n_columns; ++c) {
            Bits meets;
            std::memcpy(&meets, columns[c] + block * kWords, sizeof meets);
            for (size_t m = misses; m > 0; --m) most[m] = (most[m] & meets) | most[m - 1];
            most[0] &= meets;
            if (c < misses + 5 || (c - misses) % 2 == 0) continue;  // looking costs more than going on
            if (!any(most[misses])) break;
        }
        if (any(most[misses])) {
            std::memcpy(found, &most[misses], sizeof(Bits));
            return block;
        }
    }
    return n_blocks;
}

HOCMIM_INLINE size_t find_block_body(const uint64_t* const* columns, size_t n_columns, size_t misses, size_t block,
                  size_t n_blocks, uint64_t* found) {
    switch (misses) {  // few of them in registers
        case 0: return find_block_of<0>(columns, n_columns, 0, block, n_blocks, found);
        case 1: return find_block_of<1>(columns, n_columns, 1, block, n_blocks, found);
        case 2: return find_block_of<2>(columns, n_columns, 2, block, n_blocks, found);
        case 3: return find_block_of<3>(columns, n_columns, 3, block, n_blocks, found);
        case 4: return find_block_of<4>(columns, n_columns, 4, block, n_blocks, found);
        case 5: return find_block_of<5>(columns, n_columns, 5, block, n_blocks, found);
        default: return find_block_of<kMostColumns>(columns, n_columns, misses, block, n_blocks, found);
    }
}
HOCMIM_DISPATCH(size_t, find_block, find_block_body,
                (const uint64_t* const* columns, size_t n_columns, size_t misses, size_t block,
                 size_t n_blocks, uint64_t* found),
                (columns, n_columns, misses, block, n_blocks, found))

// One look for such pairs. Any number of threads may work at it.
class Separation {
public:
    // Of sets with the newest column only, if `only_newest`.
    Separation(const Columns& columns, int64_t size, bool only_newest, int64_t most_work)
        : columns_(columns), size_(size), work_left_(most_work) {
        if (size < 0) throw std::invalid_argument("the size of a set is not negative");
        if (columns.size() <= size + 1) return;  // all the others are one
        bool is_feasible = columns.size() <= kMostColumns;
        for (int64_t c = 0; c < columns.size(); ++c) is_feasible &= !columns[c].wide;
        if (!is_feasible || !find_pairs(only_newest)) {
            work_left_ = -1;
            return;
        }
        all_ = ~uint64_t(0) >> (kMostColumns - columns.size());
        of_column_.resize(size_t(columns.size()));
        rank_columns();
        first_ = &pairs_in(rank_.front());
    }

    // Whether some column will do for every set; nothing if finding out takes more work than is allowed.
    std::optional<bool> holds() {
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

private:
    void begin_work() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++n_at_work_;
    }
    // Waits for the others: what they find counts.
    void end_work() {
        std::unique_lock<std::mutex> lock(mutex_);
        if (--n_at_work_ == 0) finished_.notify_all();
        finished_.wait(lock, [&] { return n_at_work_ == 0; });
    }

    void try_pairs() {
        const size_t n_first = first_ ? first_->meets.size() : 0;
        for (size_t at; work_left_ >= 0 && !is_found_ && (at = next_.fetch_add(kAtOnce)) < n_first;)
            for (size_t end = std::min(n_first, at + kAtOnce); at < end && work_left_ >= 0; ++at)
                if (meet_everywhere(first_->meets[at], first_->meets[at])) is_found_ = true;
    }

    // The pairs that meet in more than |T| columns, though not in all; they meet in the newest column, if
    // only sets with that are asked for.
    bool find_pairs(bool only_newest) {
        const size_t n_samples = size_t(columns_.n_samples());
        const Column& newest = columns_[columns_.size() - 1];
        const auto* level_of = static_cast<const uint8_t*>(newest.data);
        const size_t n_cells = only_newest ? size_t(newest.arity) : 1;
        std::vector<size_t> end(n_cells, 0);
        for (size_t i = 0; i < n_samples; ++i) ++end[only_newest ? level_of[i] : 0];
        double n_pairs = 0;
        for (const size_t n : end) n_pairs += double(n) * double(n) / 2;
        const double work = kAComparison * n_pairs * double(columns_.size());
        if (work > double(work_left_)) return false;
        work_left_ -= int64_t(work);

        std::vector<uint32_t> sample(n_samples);
        std::exclusive_scan(end.begin(), end.end(), end.begin(), size_t(0));
        for (size_t i = 0; i < n_samples; ++i) sample[end[only_newest ? level_of[i] : 0]++] = uint32_t(i);
        size_t begin = 0;
        for (const size_t stop : end) {
            if (!find_pairs_among(sample.data() + begin, stop - begin)) return false;
            begin = stop;
        }
        return true;
    }

    bool find_pairs_among(const uint32_t* sample, size_t n) {
        const size_t n_columns = size_t(columns_.size());
        std::vector<uint8_t> codes(n_columns * n), rows(n * kMostColumns, 0), counts(n);
        for (size_t c = 0; c < n_columns; ++c) {
            const auto* level_of = static_cast<const uint8_t*>(columns_[int64_t(c)].data);
            for (size_t i = 0; i < n; ++i)
                codes[c * n + i] = rows[i * kMostColumns + c] = level_of[sample[i]];
        }
        const uint64_t all = ~uint64_t(0) >> (kMostColumns - columns_.size());
        for (size_t one = 0; one + 1 < n; ++one) {
            count_meetings(codes.data(), n_columns, n, one, counts.data());
            for (size_t i = one + 1; i < n; ++i) {
                if (int64_t(counts[i]) <= size_ || counts[i] == n_columns) continue;
                if (pairs_.meets.size() == kMostPairs) return false;
                pairs_.meets.push_back(
                    all & bytes_equal(rows.data() + one * kMostColumns, rows.data() + i * kMostColumns));
            }
        }
        return true;
    }

    // Those in which the fewest pairs meet first.
    void rank_columns() {
        std::vector<int64_t> n_pairs(of_column_.size(), 0);
        pairs_.turn(n_pairs.size());
        const size_t n_words = pairs_.n_blocks() * kWords;
        for (size_t c = 0; c < n_pairs.size(); ++c)
            for (size_t w = 0; w < n_words; ++w)
                n_pairs[c] += __builtin_popcountll(pairs_.bits[c * n_words + w]);
        rank_.resize(n_pairs.size());
        std::iota(rank_.begin(), rank_.end(), 0);
        std::stable_sort(rank_.begin(), rank_.end(),
                         [&](int a, int b) { return n_pairs[size_t(a)] < n_pairs[size_t(b)]; });
    }

    const Pairs& pairs_in(int column) {
        Pairs& pairs = of_column_[size_t(column)];
        std::call_once(is_made_[column], [&] {
            pairs.meets.resize(pairs_.meets.size());
            size_t n = 0;
            for (const uint64_t meets : pairs_.meets) {  // without a branch, which would be a guess
                pairs.meets[n] = meets;
                n += meets >> column & 1;
            }
            pairs.meets.resize(n);
            pairs.meets.shrink_to_fit();
            pairs.turn(of_column_.size());
        });
        return pairs;
    }

    // Whether more pairs can be taken, so that every column has one that meets in it, and |T| columns are
    // left in which all meet. Those taken so far meet together in `together`, one or another in `somewhere`.
    bool meet_everywhere(uint64_t together, uint64_t somewhere) {
        if (somewhere == all_) return true;
        const int column = *std::find_if(rank_.begin(), rank_.end(),
                                         [&](int c) { return !(somewhere >> c & 1); });
        const Pairs& pairs = pairs_in(column);
        const size_t n_blocks = pairs.n_blocks();
        const uint64_t* columns[kMostColumns];  // the rarest first: most blocks are left soon
        size_t n_columns = 0;
        for (const int c : rank_)
            if (together >> c & 1) columns[n_columns++] = pairs.bits.data() + size_t(c) * n_blocks * kWords;
        const size_t misses = n_columns - size_t(size_);
        work_left_ -= int64_t(pairs.meets.size() * (misses + 1));
        uint64_t found[kWords];
        for (size_t block = 0; work_left_ >= 0; ++block) {
            block = find_block(columns, n_columns, misses, block, n_blocks, found);
            if (block == n_blocks) return false;
            for (size_t w = 0; w < kWords; ++w)
                for (; found[w]; found[w] &= found[w] - 1) {
                    const size_t at = (block * kWords + w) * 64 + size_t(__builtin_ctzll(found[w]));
                    if (at >= pairs.meets.size()) break;
                    const uint64_t meets = pairs.meets[at];
                    if (meet_everywhere(together & meets, somewhere | meets)) return true;
                }
        }
        return false;
    }

    const Columns& columns_;
    const int64_t size_;  // of T
    uint64_t all_ = 0;
    Pairs pairs_;
    std::vector<int> rank_;
    std::vector<Pairs> of_column_;  // those that meet in it, made when first asked for
    std::once_flag is_made_[kMostColumns];
    const Pairs* first_ = nullptr;  // one of them is in every answer

    std::atomic<int64_t> work_left_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> is_found_{false};
    int n_at_work_ = 0;
    std::mutex mutex_;
    std::condition_variable finished_;
};

}  // namespace

}  // namespace hocmim

void bind_separation(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<Separation>(m, "Separation")
        .def(nb::init<const Columns&, int64_t, bool, int64_t>(), "columns"_a, "size"_a, "only_newest"_a,
             "most_work"_a, nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
        .def("holds", &Separation::holds, nb::call_guard<nb::gil_scoped_release>());
}
