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

constexpr i64 kFewLevels = 16;  // are counted one by one, more by a table
constexpr i64 kMaskRows = 64;   // rows whose comparisons are the bits of a word
constexpr std::uint8_t kSign = 0x80;

// Vectors of bytes for an instruction set.
template <Isa isa>
struct ByteLanes {
    using Bytes = LaneVector<std::uint8_t, bytes_of(isa)>;
    using SignedBytes = LaneVector<std::int8_t, bytes_of(isa)>;

    // Unsigned bytes as signed ones in the same order, which are compared in one instruction.
    static HOCMIM_INLINE void to_signed(const Bytes& bytes, SignedBytes& ordered) {
        ordered = HOCMIM_BITS_AS(SignedBytes, bytes ^ (Bytes{} + kSign));
    }
    static HOCMIM_INLINE void fill_signed(std::uint8_t byte, SignedBytes& ordered) {
        std::memset(&ordered, byte ^ kSign, sizeof ordered);
    }
};

template <class Bytes>
HOCMIM_INLINE void load_bytes(const std::uint8_t* p, Bytes& bytes) {
    std::memcpy(&bytes, p, sizeof bytes);
}

template <class Bytes>
HOCMIM_INLINE i64 sum_bytes(const Bytes& bytes) {
    constexpr std::uint64_t kPairs = 0x00FF00FF00FF00FF, kOnes = 0x0001000100010001;
    constexpr std::size_t n_words = sizeof bytes / 8;
    using Words = LaneVector<std::uint64_t, n_words>;
    const Words words = HOCMIM_BITS_AS(Words, bytes);
    const Words pairs = (words & kPairs) + ((words >> 8) & kPairs);
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < n_words; ++k) sum += pairs[k];
    return static_cast<i64>((sum * kOnes) >> 48);  // the sum of the four parts of 16 bits
}

// counts[k] = how often the byte first + k (modulo 256) occurs, for `n_levels` <= kFewLevels.
template <Isa isa>
HOCMIM_INLINE void count_levels_body(const std::uint8_t* b, i64 n, std::uint8_t first, i64 n_levels,
                                     i64* counts) {
    using Bytes = typename ByteLanes<isa>::Bytes;
    constexpr i64 kTogether = 4, kMostAdditions = 255, kBytes = sizeof(Bytes);
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
HOCMIM_DISPATCH(inline void, count_levels, count_levels_body<kIsa>,
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
    std::uint8_t at[256];  // ascending, above 0; the first n_steps
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

// Bytes that are compared with each of some others, kUnrolled of them at a time.
constexpr i64 kUnrolled = 4;
constexpr i64 unrolled(i64 n) { return (n + kUnrolled - 1) / kUnrolled * kUnrolled; }

// Few steps in lanes. Not read through Steps: a byte that is written might be a part of it.
template <Isa isa, bool has_missing>
struct StepLanes {
    using Lanes = ByteLanes<isa>;
    using Bytes = typename Lanes::Bytes;
    using SignedBytes = typename Lanes::SignedBytes;
    Bytes zero, missing_byte, missing_code;
    SignedBytes before[unrolled(kFewLevels)];  // the byte before each step, then the highest byte
    i64 n_before;

    HOCMIM_INLINE explicit StepLanes(const Steps& steps) : n_before(unrolled(steps.n_steps)) {
        zero = Bytes{} + steps.zero;
        missing_byte = Bytes{} + steps.missing_byte;
        missing_code = Bytes{} + steps.missing_code;
        for (i64 k = 0; k < n_before; ++k) {
            const int byte = k < steps.n_steps ? steps.at[k] - 1 : 255;
            Lanes::fill_signed(static_cast<std::uint8_t>(byte), before[k]);
        }
    }

    HOCMIM_INLINE void replace(Bytes& bytes) const {
        SignedBytes distance;
        Lanes::to_signed(bytes - zero, distance);
        Bytes codes = {};
        for (i64 k = 0; k < n_before; k += kUnrolled) {
            for (i64 u = 0; u < kUnrolled; ++u) {
                codes -= HOCMIM_BITS_AS(Bytes, distance > before[k + u]);
            }
        }
        if constexpr (has_missing) {
            codes = HOCMIM_SELECT(bytes == missing_byte, missing_code, codes);
        }
        bytes = codes;
    }
};

template <Isa isa, bool has_missing>
HOCMIM_INLINE void apply_few_steps(std::uint8_t* b, i64 n, const Steps& steps) {
    const StepLanes<isa, has_missing> lanes(steps);
    typename ByteLanes<isa>::Bytes bytes = {};
    constexpr i64 kBytes = sizeof bytes;
    i64 i = 0;
    for (; i + kBytes <= n; i += kBytes) {
        load_bytes(b + i, bytes);
        lanes.replace(bytes);
        std::memcpy(b + i, &bytes, sizeof bytes);
    }
    if (i == n) return;  // also of no bytes, where b may be null
    const auto rest = static_cast<std::size_t>(n - i);
    std::memcpy(&bytes, b + i, rest);
    lanes.replace(bytes);
    std::memcpy(b + i, &bytes, rest);
}

// Replace bytes by their codes.
template <Isa isa>
HOCMIM_INLINE void apply_steps_body(std::uint8_t* b, i64 n, const Steps& steps) {
    if (steps.n_steps > kFewLevels) {
        std::uint8_t table[256];
        for (int byte = 0; byte < 256; ++byte) {
            table[byte] = steps.code_of(static_cast<std::uint8_t>(byte));
        }
        for (i64 i = 0; i < n; ++i) b[i] = table[b[i]];
    } else if (steps.has_missing) {
        apply_few_steps<isa, true>(b, n, steps);
    } else {
        apply_few_steps<isa, false>(b, n, steps);
    }
}
HOCMIM_DISPATCH(inline void, apply_steps, apply_steps_body<kIsa>,
                (std::uint8_t* b, i64 n, const Steps& steps), (b, n, steps))

constexpr i64 kMostLimits = 8;

// Zeros, then as many bytes of ones: a mask of the last bytes of a vector begins among the zeros.
struct LastBytes {
    static constexpr i64 n = 64;
    std::uint8_t at[2 * n] = {};

    constexpr LastBytes() {
        for (i64 i = n; i < 2 * n; ++i) at[i] = 0xFF;
    }
    // A mask of the last n_last bytes.
    template <class Bytes>
    HOCMIM_INLINE void load_mask(i64 n_last, Bytes& mask) const {
        load_bytes(at + n - static_cast<i64>(sizeof mask) + n_last, mask);
    }
};
inline constexpr LastBytes kLastBytes;

// not_below[k] += 1 where a byte is above before[k], in every lane.
template <class Lanes, std::size_t n_limits>
HOCMIM_INLINE void add_not_below(const typename Lanes::Bytes& bytes,
                                 const typename Lanes::SignedBytes (&before)[n_limits],
                                 typename Lanes::Bytes (&not_below)[n_limits]) {
    typename Lanes::SignedBytes value;
    Lanes::to_signed(bytes, value);
    for (std::size_t k = 0; k < n_limits; ++k) {
        not_below[k] -= HOCMIM_BITS_AS(typename Lanes::Bytes, value > before[k]);
    }
}

// below[k] = how many bytes are less than limits[k], which is above 0.
template <Isa isa, std::size_t n_limits>
HOCMIM_INLINE void count_below_lanes(const std::uint8_t* b, i64 n, const std::uint8_t* limits,
                                     i64* below) {
    using Lanes = ByteLanes<isa>;
    using Bytes = typename Lanes::Bytes;
    constexpr i64 kMostAdditions = 255, kBytes = sizeof(Bytes);
    typename Lanes::SignedBytes before[n_limits];
    for (std::size_t k = 0; k < n_limits; ++k) {
        Lanes::fill_signed(static_cast<std::uint8_t>(limits[k] - 1), before[k]);
        below[k] = n;
    }
    for (i64 top = 0; top < n; top += kBytes * kMostAdditions) {
        const i64 end = std::min(n, top + kBytes * kMostAdditions);
        Bytes not_below[n_limits] = {}, bytes;
        i64 i = top;
        for (; i + kBytes <= end; i += kBytes) {
            load_bytes(b + i, bytes);
            add_not_below<Lanes>(bytes, before, not_below);
        }
        if (i < end) {  // with zeros, which are below every limit, in place of the others
            bytes = Bytes{};
            if (end >= kBytes) {
                Bytes mask;
                load_bytes(b + end - kBytes, bytes);
                kLastBytes.load_mask(end - i, mask);
                bytes &= mask;
            } else {
                std::memcpy(&bytes, b + i, static_cast<std::size_t>(end - i));
            }
            add_not_below<Lanes>(bytes, before, not_below);
        }
        for (std::size_t k = 0; k < n_limits; ++k) below[k] -= sum_bytes(not_below[k]);
    }
}

// The same for up to kMostLimits limits; `limits` and `below` have room for so many.
template <Isa isa>
HOCMIM_INLINE void count_below_body(const std::uint8_t* b, i64 n, const std::uint8_t* limits,
                                    i64 n_limits, i64* below) {
    if (2 * n_limits <= kMostLimits) {
        count_below_lanes<isa, kMostLimits / 2>(b, n, limits, below);
    } else {
        count_below_lanes<isa, kMostLimits>(b, n, limits, below);
    }
}
HOCMIM_DISPATCH(inline void, count_below, count_below_body<kIsa>,
                (const std::uint8_t* b, i64 n, const std::uint8_t* limits, i64 n_limits,
                 i64* below),
                (b, n, limits, n_limits, below))

// Rows that were found; the memory is kept.
struct RowList {
    std::vector<i64> rows;  // more than n
    i64 n = 0;

    i64 operator[](i64 k) const { return rows[static_cast<std::size_t>(k)]; }

    // Append first + the position of every bit that is set. Most words have few: the first ones are
    // written without asking how many there are.
    HOCMIM_INLINE void append(std::uint64_t bits, i64 first) {
        constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
        constexpr i64 kUnasked = 2;
        const auto needed = static_cast<std::size_t>(n + kMaskRows);
        if (rows.size() < needed) rows.resize(2 * needed);
        i64* next = rows.data() + n;
        n += count_ones(bits);
        for (i64 k = 0; k < kUnasked; ++k) {
            *next++ = first + lowest_one(bits | kHighest);
            bits &= bits - (bits != 0);
        }
        for (; bits; bits &= bits - 1) *next++ = first + lowest_one(bits);
    }
};

// Bit i is set where b[i] is one of `wanted`, of 64 bytes; n_wanted is a multiple of kUnrolled.
template <class Bytes>
HOCMIM_INLINE std::uint64_t bits_of(const std::uint8_t* b, const Bytes* wanted, i64 n_wanted) {
    constexpr std::size_t n_parts = kMaskRows / sizeof(Bytes);
    Bytes bytes[n_parts], found[n_parts] = {};
    for (std::size_t p = 0; p < n_parts; ++p) load_bytes(b + p * sizeof(Bytes), bytes[p]);
    for (i64 k = 0; k < n_wanted; k += kUnrolled) {
        for (i64 u = 0; u < kUnrolled; ++u) {
            for (std::size_t p = 0; p < n_parts; ++p) {
                found[p] |= HOCMIM_BITS_AS(Bytes, bytes[p] == wanted[k + u]);
            }
        }
    }
    std::uint8_t is_found[kMaskRows];
    for (std::size_t p = 0; p < n_parts; ++p) {
        std::memcpy(is_found + p * sizeof(Bytes), &found[p], sizeof(Bytes));
    }
    return highest_bits(is_found) | highest_bits(is_found + 32) << 32;
}

// The rows whose byte is one of `wanted`, in order.
template <Isa isa>
HOCMIM_INLINE void find_rows_of_body(const std::uint8_t* b, i64 n, const std::uint8_t* wanted,
                                     i64 n_wanted, RowList& found) {
    typename ByteLanes<isa>::Bytes lanes[256];
    const i64 n_lanes = unrolled(n_wanted);
    for (i64 k = 0; k < n_lanes; ++k) {
        std::memset(&lanes[k], wanted[std::min(k, n_wanted - 1)], sizeof lanes[k]);
    }
    found.n = 0;
    i64 i = 0;
    for (; i + kMaskRows <= n; i += kMaskRows) {
        found.append(bits_of(b + i, lanes, n_lanes), i);
    }
    if (i < n) {
        std::uint8_t rest[kMaskRows] = {};
        std::copy(b + i, b + n, rest);
        const std::uint64_t bits = bits_of(rest, lanes, n_lanes);
        found.append(bits & ((std::uint64_t{1} << (n - i)) - 1), i);
    }
}
HOCMIM_DISPATCH(inline void, find_rows_of, find_rows_of_body<kIsa>,
                (const std::uint8_t* b, i64 n, const std::uint8_t* wanted, i64 n_wanted,
                 RowList& found),
                (b, n, wanted, n_wanted, found))

// How often each code occurs in a row.
inline void count_codes(const std::uint8_t* codes, i64 n, i64 arity, i64* counts) {
    if (arity <= kFewLevels) {
        count_levels(codes, n, 0, arity, counts);
    } else {
        count_bytes(codes, n, counts);
    }
}

}  // namespace hocmim::coding
