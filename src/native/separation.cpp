// Whether few of the selected columns tell apart all the samples that all of them do.
//
// Two samples meet in the columns in which they are equal. A set T of columns and one more, s, have the
// cells of all columns S unless two samples that are not equal in all of S meet in all of T and in s.
// So no s will do for T only if the pairs of samples that meet in all of T meet, one or another of them,
// in every column of S. Such pairs are looked for: take a column in which few pairs meet, try each of
// these, go on with a column in which none of those taken so far meets, and drop a pair that leaves
// fewer than |T| columns in which all of them meet.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include <nanobind/stl/optional.h>

#include "columns.hpp"
#include "logarithm.hpp"
#include "module.hpp"

namespace hocmim {

namespace {

constexpr int64_t kMostColumns = 64;     // a bit each
constexpr size_t kMostPairs = 1u << 18;  // 2 MiB
constexpr size_t kWords = 8;             // of bits gone through together

// counts[i] = in how many columns, each n long, sample i is equal to sample `one`, for those after it.
HOCMIM_DISPATCH
void count_meetings(const uint8_t* columns, size_t n_columns, size_t n, size_t one, uint8_t* counts) {
    std::memset(counts + one + 1, 0, n - one - 1);
    for (size_t c = 0; c < n_columns; ++c) {
        const uint8_t *codes = columns + c * n, level = codes[one];
        for (size_t i = one + 1; i < n; ++i) counts[i] = uint8_t(counts[i] + (codes[i] == level));
    }
}

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

__attribute__((always_inline)) inline bool any(const Bits& bits) {
    uint64_t all = 0;
    for (size_t w = 0; w < kWords; ++w) all |= bits[w];
    return all != 0;
}

// Finds the next block, from `block` on, with pairs that meet in all of these columns but for `misses` of
// them, and these pairs; returns n_blocks if there is none. most[m] are the pairs that have missed at most m
// columns; a block is left as soon as all its pairs have missed too many.
template <size_t room>
__attribute__((always_inline)) inline size_t find_block_of(const uint64_t* const* columns,
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

HOCMIM_DISPATCH
size_t find_block(const uint64_t* const* columns, size_t n_columns, size_t misses, size_t block,
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

class Separation {
public:
    Separation(const Columns& columns, int64_t size, double most_work)
        : columns_(columns), size_(int(size)), all_(~uint64_t(0) >> (kMostColumns - columns.size())),
          work_left_(most_work), of_column_(size_t(columns.size())) {}

    // Whether some column will do for every set; for every set with the newest column, if `only_newest`.
    // Nothing if finding out takes more work than is allowed.
    std::optional<bool> holds(bool only_newest) {
        if (!find_pairs(only_newest)) return std::nullopt;
        rank_columns();
        const bool is_found = meet_everywhere(all_, 0);
        if (work_left_ < 0) return std::nullopt;
        return !is_found;
    }

private:
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
        work_left_ -= n_pairs * double(columns_.size());
        if (work_left_ < 0) return false;

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
        std::vector<uint8_t> codes(n_columns * n), counts(n);
        for (size_t c = 0; c < n_columns; ++c) {
            const auto* level_of = static_cast<const uint8_t*>(columns_[int64_t(c)].data);
            for (size_t i = 0; i < n; ++i) codes[c * n + i] = level_of[sample[i]];
        }
        for (size_t one = 0; one + 1 < n; ++one) {
            count_meetings(codes.data(), n_columns, n, one, counts.data());
            for (size_t i = one + 1; i < n; ++i) {
                if (int(counts[i]) <= size_ || counts[i] == n_columns) continue;
                if (pairs_.size() == kMostPairs) return false;
                uint64_t meets = 0;
                for (size_t c = 0; c < n_columns; ++c)
                    meets |= uint64_t(codes[c * n + i] == codes[c * n + one]) << c;
                pairs_.push_back(meets);
            }
        }
        return true;
    }

    // Those in which the fewest pairs meet first.
    void rank_columns() {
        std::vector<size_t> n_pairs(of_column_.size(), 0);
        for (uint64_t meets : pairs_)
            for (; meets; meets &= meets - 1) ++n_pairs[size_t(__builtin_ctzll(meets))];
        rank_.resize(n_pairs.size());
        std::iota(rank_.begin(), rank_.end(), 0);
        std::stable_sort(rank_.begin(), rank_.end(),
                         [&](int a, int b) { return n_pairs[size_t(a)] < n_pairs[size_t(b)]; });
    }

    const Pairs& pairs_in(int column) {
        Pairs& pairs = of_column_[size_t(column)];
        if (pairs.meets.empty()) {
            pairs.meets.resize(pairs_.size());
            size_t n = 0;
            for (const uint64_t meets : pairs_) {  // without a branch, which would be a guess
                pairs.meets[n] = meets;
                n += meets >> column & 1;
            }
            pairs.meets.resize(n);
            pairs.meets.shrink_to_fit();
            pairs.turn(of_column_.size());
        }
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
        work_left_ -= double(pairs.meets.size() * (misses + 1));
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
    const int size_;  // of T
    const uint64_t all_;
    double work_left_;
    std::vector<uint64_t> pairs_;  // a bit a column: where a pair meets
    std::vector<int> rank_;
    std::vector<Pairs> of_column_;  // those that meet in it, made when first asked for
};

std::optional<bool> are_separated(const Columns& columns, int64_t size, bool only_newest,
                                  double most_work) {
    if (size < 0) throw std::invalid_argument("the size of a set is not negative");
    if (columns.size() <= size + 1) return true;
    if (columns.size() > kMostColumns) return std::nullopt;
    for (int64_t c = 0; c < columns.size(); ++c)
        if (columns[c].wide) return std::nullopt;
    return Separation(columns, size, most_work).holds(only_newest);
}

}  // namespace

}  // namespace hocmim

void bind_separation(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    m.def("are_separated", &are_separated, "columns"_a, "size"_a, "only_newest"_a, "most_work"_a,
          nb::call_guard<nb::gil_scoped_release>());
}
