// Pairs of samples and the columns in which they are equal, for Separation.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/dispatch.hpp"

namespace hocmim {

constexpr size_t kMostPairColumns = 64;  // one bit each
constexpr size_t kPairWords = 8;         // words of a block of pairs

// counts[i] = in how many columns, each n long, sample i is equal to sample `one`, for i > one.
HOCMIM_INLINE void count_equal_columns_body(const uint8_t* columns, size_t n_columns, size_t n,
                                            size_t one, uint8_t* counts) {
    std::memset(counts + one + 1, 0, n - one - 1);
    for (size_t c = 0; c < n_columns; ++c) {
        const uint8_t *codes = columns + c * n, level = codes[one];
        for (size_t i = one + 1; i < n; ++i) counts[i] = uint8_t(counts[i] + (codes[i] == level));
    }
}
HOCMIM_DISPATCH(inline void, count_equal_columns, count_equal_columns_body,
                (const uint8_t* columns, size_t n_columns, size_t n, size_t one, uint8_t* counts),
                (columns, n_columns, n, one, counts))

// Bit j of word i becomes bit i of word j, of 64 words: by halves, quarters and so on.
inline void transpose_bits(uint64_t* square) {
    uint64_t low = 0x00000000ffffffffu;
    for (size_t width = 32; width > 0; width /= 2, low ^= low << width)
        for (size_t i = 0; i < 64; i = (i + width + 1) & ~width) {
            const uint64_t swap = ((square[i] >> width) ^ square[i + width]) & low;
            square[i] ^= swap << width;
            square[i + width] ^= swap;
        }
}

// Some pairs, in blocks of kPairWords words.
struct Pairs {
    std::vector<uint64_t> equal_in;  // of each pair, one bit per column
    std::vector<uint64_t> bits;      // of each column, one bit per pair

    size_t n_blocks() const { return (equal_in.size() + 64 * kPairWords - 1) / (64 * kPairWords); }

    // Makes `bits` from `equal_in`.
    void transpose(size_t n_columns) {
        const size_t n_words = n_blocks() * kPairWords;
        bits.assign(n_columns * n_words, 0);
        for (size_t first = 0; first < equal_in.size(); first += 64) {
            uint64_t square[64] = {};
            std::copy_n(equal_in.begin() + std::ptrdiff_t(first),
                        std::min<size_t>(64, equal_in.size() - first), square);
            transpose_bits(square);
            for (size_t c = 0; c < n_columns; ++c) bits[c * n_words + first / 64] = square[c];
        }
    }
};

// The bits of one column in a block of pairs.
using PairBits = LaneVector<uint64_t, kPairWords>;

HOCMIM_INLINE bool any(const PairBits& bits) {
    uint64_t all = 0;
    for (size_t w = 0; w < kPairWords; ++w) all |= bits[w];
    return all != 0;
}

// Finds the next block, from `block` on, with pairs that are equal in all of these columns except
// `misses` of them, and these pairs; returns n_blocks if there is none. within[m] are the pairs
// that have missed at most m columns. A block is skipped as soon as all its pairs have missed too
// many.
template <size_t most_misses>
HOCMIM_INLINE size_t find_block_with(const uint64_t* const* columns, size_t n_columns,
                                     size_t misses, size_t block, size_t n_blocks,
                                     uint64_t* found) {
    for (; block < n_blocks; ++block) {
        PairBits within[most_misses + 1];
        for (size_t m = 0; m <= misses; ++m) within[m] = ~PairBits{};
        for (size_t c = 0; c < n_columns; ++c) {
            PairBits equal;
            std::memcpy(&equal, columns[c] + block * kPairWords, sizeof equal);
            for (size_t m = misses; m > 0; --m) within[m] = (within[m] & equal) | within[m - 1];
            within[0] &= equal;
            if (c < misses + 5 || (c - misses) % 2 == 0)
                continue;  // a test costs more than a column
            if (!any(within[misses])) break;
        }
        if (any(within[misses])) {
            std::memcpy(found, &within[misses], sizeof(PairBits));
            return block;
        }
    }
    return n_blocks;
}

// The number of misses as a constant keeps `within` in registers.
HOCMIM_INLINE size_t find_block_body(const uint64_t* const* columns, size_t n_columns,
                                     size_t misses, size_t block, size_t n_blocks,
                                     uint64_t* found) {
    switch (misses) {
        case 0:
            return find_block_with<0>(columns, n_columns, 0, block, n_blocks, found);
        case 1:
            return find_block_with<1>(columns, n_columns, 1, block, n_blocks, found);
        case 2:
            return find_block_with<2>(columns, n_columns, 2, block, n_blocks, found);
        case 3:
            return find_block_with<3>(columns, n_columns, 3, block, n_blocks, found);
        case 4:
            return find_block_with<4>(columns, n_columns, 4, block, n_blocks, found);
        case 5:
            return find_block_with<5>(columns, n_columns, 5, block, n_blocks, found);
        default:
            return find_block_with<kMostPairColumns>(columns, n_columns, misses, block, n_blocks,
                                                     found);
    }
}
HOCMIM_DISPATCH(inline size_t, find_block, find_block_body,
                (const uint64_t* const* columns, size_t n_columns, size_t misses, size_t block,
                 size_t n_blocks, uint64_t* found),
                (columns, n_columns, misses, block, n_blocks, found))

}  // namespace hocmim
