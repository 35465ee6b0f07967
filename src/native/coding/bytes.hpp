// Columns of bytes: counts, rows of some values, and step functions of the values.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "coding/block.hpp"
#include "core/byte_masks.hpp"
#include "core/dispatch.hpp"

namespace hocmim::coding {

using Bytes = LaneVector<std::uint8_t, 32>;
constexpr i64 kBytes = sizeof(Bytes);
constexpr i64 kFewLevels = 16;  // are counted one by one, more by a table
constexpr i64 kMaskRows = 64;   // rows whose comparisons are the bits of a word

HOCMIM_INLINE void load_bytes(const std::uint8_t* p, Bytes& bytes) {
    std::memcpy(&bytes, p, sizeof bytes);
}

HOCMIM_INLINE i64 sum_bytes(const Bytes& bytes) {
    constexpr std::uint64_t kPairs = 0x00FF00FF00FF00FF, kOnes = 0x0001000100010001;
    std::uint64_t words[kBytes / 8], pairs = 0;
    std::memcpy(words, &bytes, sizeof words);
    for (const std::uint64_t word : words) pairs += (word & kPairs) + ((word >> 8) & kPairs);
    return static_cast<i64>((pairs * kOnes) >> 48);  // the sum of the four parts of 16 bits
}

// counts[k] = how often the byte first + k (modulo 256) occurs, for `n_levels` <= kFewLevels.
HOCMIM_INLINE void count_levels_body(const std::uint8_t* b, i64 n, std::uint8_t first, i64 n_levels,
                                     i64* counts) {
    constexpr i64 kTogether = 4, kMostAdditions = 255;
    const i64 whole = n / kBytes * kBytes;
    std::fill_n(counts, n_levels, 0);
    for (i64 level = 0; level < n_levels; level += kTogether) {
        Bytes value[kTogether], bytes;
        for (i64 k = 0; k < kTogether; ++k) {
            std::memset(&value[k], static_cast<std::uint8_t>(first + level + k), sizeof(Bytes));
        }
        i64 sums[kTogether] = {};
        for (i64 top = 0; top < whole; top += kBytes * kMostAdditions) {
            const i64 end = std::min(whole, top + kBytes * kMostAdditions);
            Bytes found[kTogether] = {};
            for (i64 i = top; i < end; i += kBytes) {
                load_bytes(b + i, bytes);
                for (i64 k = 0; k < kTogether; ++k)
                    found[k] -= HOCMIM_BITS_AS(Bytes, bytes == value[k]);
            }
            for (i64 k = 0; k < kTogether; ++k) sums[k] += sum_bytes(found[k]);
        }
        for (i64 k = 0; k < kTogether && level + k < n_levels; ++k) counts[level + k] = sums[k];
    }
    for (i64 i = whole; i < n; ++i) {
        const auto k = static_cast<std::uint8_t>(b[i] - first);
        if (k < n_levels) ++counts[k];
    }
}
HOCMIM_DISPATCH(inline void, count_levels, count_levels_body,
                (const std::uint8_t* b, i64 n, std::uint8_t first, i64 n_levels, i64* counts),
                (b, n, first, n_levels, counts))

// How often each byte occurs. Four tables: neighbours are often equal.
inline void count_bytes(const std::uint8_t* b, i64 n, i64* counts) {
    constexpr i64 kMostAdditions = i64{1} << 32;
    std::fill_n(counts, 256, 0);
    for (i64 i = 0; i < n;) {
        std::uint32_t tables[4][256] = {};
        const i64 end = std::min(n, i + kMostAdditions);
        for (; i + 8 <= end; i += 8) {
            std::uint64_t word;
            std::memcpy(&word, b + i, sizeof word);
            for (int k = 0; k < 8; ++k) ++tables[k % 4][(word >> (8 * k)) & 0xFF];
        }
        for (; i < end; ++i) ++tables[0][b[i]];
        for (i64 k = 0; k < 256; ++k) {
            counts[k] += i64{tables[0][k]} + tables[1][k] + tables[2][k] + tables[3][k];
        }
    }
}

// The code of a byte: how many steps are not above it, counted from `zero` (modulo 256); one byte
// may have a code of its own.
struct Steps {
    std::uint8_t zero = 0;
    i64 n_steps = 0;
    std::uint8_t at[256] = {};  // ascending, above 0
    bool has_missing = false;
    std::uint8_t missing_byte = 0, missing_code = 0;

    std::uint8_t code_of(std::uint8_t byte) const {
        if (has_missing && byte == missing_byte) return missing_code;
        const auto distance = static_cast<std::uint8_t>(byte - zero);
        return static_cast<std::uint8_t>(std::upper_bound(at, at + n_steps, distance) - at);
    }
    // Whether the codes are the bytes themselves, for bytes up to `last`.
    bool is_identity(i64 last) const {
        if (zero != 0 || has_missing || n_steps != last) return false;
        for (i64 k = 0; k < n_steps; ++k) {
            if (at[k] != k + 1) return false;
        }
        return true;
    }
};

// The codes of 32 bytes, for few steps.
HOCMIM_INLINE void code_bytes(const Steps& steps, Bytes& bytes) {
    const Bytes distance = bytes - (Bytes{} + steps.zero);
    Bytes codes = {};
    for (i64 k = 0; k < steps.n_steps; ++k) {
        codes -= HOCMIM_BITS_AS(Bytes, distance >= Bytes{} + steps.at[k]);
    }
    if (steps.has_missing) {
        const Bytes missing = Bytes{} + steps.missing_byte, code = Bytes{} + steps.missing_code;
        codes = HOCMIM_SELECT(bytes == missing, code, codes);
    }
    bytes = codes;
}

// Replace bytes by their codes.
HOCMIM_INLINE void apply_steps_body(std::uint8_t* b, i64 n, const Steps& steps) {
    i64 i = 0;
    if (steps.n_steps <= kFewLevels) {
        Bytes bytes = {};
        for (; i + kBytes <= n; i += kBytes) {
            load_bytes(b + i, bytes);
            code_bytes(steps, bytes);
            std::memcpy(b + i, &bytes, sizeof bytes);
        }
        if (i == n) return;  // also of no bytes, where b may be null
        const auto rest = static_cast<std::size_t>(n - i);
        std::memcpy(&bytes, b + i, rest);
        code_bytes(steps, bytes);
        std::memcpy(b + i, &bytes, rest);
    } else {
        std::uint8_t table[256];
        for (int byte = 0; byte < 256; ++byte) {
            table[byte] = steps.code_of(static_cast<std::uint8_t>(byte));
        }
        for (; i < n; ++i) b[i] = table[b[i]];
    }
}
HOCMIM_DISPATCH(inline void, apply_steps, apply_steps_body,
                (std::uint8_t* b, i64 n, const Steps& steps), (b, n, steps))

// Append first + the position of every bit that is set. Most words have few: the first ones are
// written without asking how many there are.
HOCMIM_INLINE void append_rows(std::uint64_t bits, i64 first, i64& n_found,
                               std::vector<i64>& rows) {
    constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
    constexpr i64 kUnasked = 4;
    const auto needed = static_cast<std::size_t>(n_found + kMaskRows);
    if (rows.size() < needed) rows.resize(std::max(2 * rows.size(), needed));
    i64* next = rows.data() + n_found;
    n_found += count_ones(bits);
    for (i64 k = 0; k < kUnasked; ++k) {
        *next++ = first + lowest_one(bits | kHighest);
        bits &= bits - (bits != 0);
    }
    for (; bits; bits &= bits - 1) *next++ = first + lowest_one(bits);
}

// Bit i is set where b[i] is one of `wanted`, of 64 bytes.
HOCMIM_INLINE std::uint64_t bits_of(const std::uint8_t* b, const std::uint8_t* wanted,
                                    i64 n_wanted) {
    std::uint64_t bits = 0;
    for (i64 part = 0; part < kMaskRows; part += kBytes) {
        Bytes bytes, found = {};
        load_bytes(b + part, bytes);
        for (i64 k = 0; k < n_wanted; ++k)
            found |= HOCMIM_BITS_AS(Bytes, bytes == Bytes{} + wanted[k]);
        std::uint8_t is_found[kBytes];
        std::memcpy(is_found, &found, sizeof is_found);
        bits |= highest_bits(is_found) << part;
    }
    return bits;
}

// The rows whose byte is one of `wanted`, in order.
HOCMIM_INLINE void find_rows_of_body(const std::uint8_t* b, i64 n, const std::uint8_t* wanted,
                                     i64 n_wanted, std::vector<i64>& rows) {
    rows.clear();
    i64 i = 0, n_found = 0;
    for (; i + kMaskRows <= n; i += kMaskRows) {
        const std::uint64_t bits = bits_of(b + i, wanted, n_wanted);
        if (bits) append_rows(bits, i, n_found, rows);
    }
    if (i < n) {
        std::uint8_t rest[kMaskRows] = {};
        std::copy(b + i, b + n, rest);
        const std::uint64_t bits = bits_of(rest, wanted, n_wanted);
        append_rows(bits & ((std::uint64_t{1} << (n - i)) - 1), i, n_found, rows);
    }
    rows.resize(static_cast<std::size_t>(n_found));
}
HOCMIM_DISPATCH(inline void, find_rows_of, find_rows_of_body,
                (const std::uint8_t* b, i64 n, const std::uint8_t* wanted, i64 n_wanted,
                 std::vector<i64>& rows),
                (b, n, wanted, n_wanted, rows))

// How often each code occurs in a row.
inline void count_codes(const std::uint8_t* codes, i64 n, i64 arity, i64* counts) {
    if (arity <= kFewLevels) {
        count_levels(codes, n, 0, arity, counts);
    } else {
        count_bytes(codes, n, counts);
    }
}

}  // namespace hocmim::coding
