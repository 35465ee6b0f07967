// Columns as bytes: one byte per value, which becomes a code.
//
// A panel is some neighbouring columns of a block. Its values are read once, in order, and each
// leaves one byte in the row of codes of its column; the codes are made from the bytes afterwards.
//
// Integers leave their lowest byte. If a column spans less than 256 values, the byte and the
// minimum of the column determine the value.
//
// Other numbers leave the number of their bucket: (x - origin) * scale, rounded and limited to
// 1..255. Each operation is monotone, so a value of a lower bucket is a smaller value. Byte 0 is a
// missing value. With scale 1, a whole number in the range is alone in its bucket.
//
// Row-major panels are read some rows at a time, a few columns side by side in the lanes of a
// register. The bytes of eight rows of a column are collected in a 64-bit word, so that columns are
// written by words. The last columns and the last rows of a panel may be read twice; this changes
// nothing.
//
// The second half of this file works on columns of bytes: counts, rows of some values, and step
// functions of the values, which replace bytes by codes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "coding/block.hpp"
#include "core/arrays.hpp"
#include "core/byte_masks.hpp"
#include "core/dispatch.hpp"

namespace hocmim {

constexpr int64_t kWordRows = 8;       // rows in a word
constexpr int64_t kNumberLanes = 8;    // columns read together by stage_numbers
constexpr int64_t kIntegerLanes = 32;  // columns read together by stage_integers, or 8 (64 bits: 8)
constexpr int64_t kBandRows = 16;      // rows of a panel read before the next columns
constexpr int64_t kLineBytes = 64;     // of the cache
constexpr double kFirstBucket = 1.0, kLastBucket = 255.0;
constexpr double kToInteger = 4503599627370496.0;  // 2^52: adding it rounds to a whole number

using Lanes = LaneVector<double, 4>;
using Words = LaneVector<uint64_t, 4>;

// How the values of columns become buckets, and what was found out about them, for neighbouring
// columns in lanes.
struct alignas(64) NumberLanes {
    double origin[kNumberLanes], scale[kNumberLanes];
    double minimum[kNumberLanes], maximum[kNumberLanes];
    // With scale 1: not 0 if a value was not the whole number of its bucket.
    uint64_t is_between[kNumberLanes];
    bool finds_between = true;  // whether is_between is wanted
    bool may_miss = false;      // whether a value was missing, of any column
    // Not constants: GCC has one instruction for the larger of two variables, two with a constant.
    double first = kFirstBucket, last = kLastBucket;

    NumberLanes() {
        for (int64_t j = 0; j < kNumberLanes; ++j) {
            origin[j] = 0.0;
            scale[j] = 1.0;
            minimum[j] = std::numeric_limits<double>::infinity();
            maximum[j] = -std::numeric_limits<double>::infinity();
            is_between[j] = 0;
        }
    }
};

// The ranges of neighbouring columns of integers; a Vector has the bytes of a row.
template <class T, class Vector>
struct IntegerLanes {
    using Integer = T;
    static constexpr int64_t n_lanes = sizeof(Vector);
    alignas(32) T minimum[n_lanes];
    alignas(32) T maximum[n_lanes];

    IntegerLanes() {
        std::fill_n(minimum, n_lanes, std::numeric_limits<T>::max());
        std::fill_n(maximum, n_lanes, std::numeric_limits<T>::lowest());
    }
};

template <class Vector, class T>
HOCMIM_INLINE void load(const T* p, Vector& lanes) {
    std::memcpy(&lanes, p, sizeof(Vector));
}

// Some consecutive values as doubles.
template <class Vector, class T>
HOCMIM_INLINE void load_numbers(const T* p, Vector& x) {
    constexpr size_t n = sizeof(Vector) / sizeof(double);
    if constexpr (std::is_same_v<T, double>) {
        load(p, x);
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int32_t>) {
        LaneVector<T, n> narrow;
        load(p, narrow);
        convert_lanes(narrow, x);
    } else {
        double values[n];
        for (size_t k = 0; k < n; ++k) values[k] = double(p[k]);
        load(values, x);
    }
}

// What stage_numbers keeps in registers for n columns.
template <size_t n>
struct BucketLanes {
    using Doubles = LaneVector<double, n>;
    using Bits = LaneVector<uint64_t, n>;
    Doubles origin, scale, first, last, minimum, maximum;
    Bits is_between;

    HOCMIM_INLINE void fill_limits(const NumberLanes& lanes) {
        first = Doubles{} + lanes.first;
        last = Doubles{} + lanes.last;
    }

    // The buckets of n values as the lowest bytes of `words`, the exponent of 2^52 as the highest
    // ones; widens the range. Without may_miss, the words of a missing value have the exponent of
    // NaN, and no other value has.
    template <bool finds_between, bool may_miss>
    HOCMIM_INLINE void find_buckets(const Doubles& x, Bits& words) {
        const Doubles zero = {};
        minimum = HOCMIM_SELECT(x < minimum, x, minimum);
        maximum = HOCMIM_SELECT(x > maximum, x, maximum);
        Doubles t = (x - origin) * scale;
        t = HOCMIM_SELECT(first > t, first, t);
        t = HOCMIM_SELECT(last < t, last, t);
        if constexpr (may_miss) t = HOCMIM_SELECT(x == x, t, zero);
        const Doubles whole = t + kToInteger;
        if constexpr (finds_between) {
            // Not whether t is whole: it is 1 for a tiny x and the origin -1.
            const Doubles expected = (whole - kToInteger) + origin;
            is_between |= HOCMIM_BITS_AS(Bits, expected != x) & HOCMIM_BITS_AS(Bits, x == x);
        }
        words = HOCMIM_BITS_AS(Bits, whole);
    }
};

// The bucket of one value, by the same operations.
inline uint8_t bucket_of(double x, double origin, double scale) {
    double t = (x - origin) * scale;
    t = t > kFirstBucket ? t : kFirstBucket;
    t = t < kLastBucket ? t : kLastBucket;
    const double whole = (x == x ? t : 0.0) + kToInteger;
    uint64_t bits;
    std::memcpy(&bits, &whole, sizeof bits);
    return uint8_t(bits);
}

// Words of eight buckets: the sum of the bits of row i, shifted by i bytes. Of the exponents of
// 2^52, only those of rows 0 and 1 are not shifted out.
constexpr uint64_t kExponents = 0x4330000000000000u + 0x3000000000000000u;
constexpr uint64_t kExponentOfNan = 0x7FF;

// The buckets of a band of eight columns. Without may_miss: whether a value is missing, and then
// the buckets are not valid.
template <bool finds_between, bool may_miss, size_t n, size_t n_parts, class T>
HOCMIM_INLINE bool stage_band(const T* x, int64_t row_stride, int64_t rows, int64_t ahead,
                              BucketLanes<n> (&lanes)[n_parts], uint8_t* out, int64_t out_stride) {
    using Lane = BucketLanes<n>;
    typename Lane::Bits seen = {};
    for (int64_t top = 0; top < rows; top += kWordRows) {
        typename Lane::Bits word[n_parts] = {}, bits;
        for (int64_t i = kWordRows - 1; i >= 0; --i) {
            const T* p = x + (top + i) * row_stride;
            prefetch(p + ahead);
            for (size_t h = 0; h < n_parts; ++h) {
                typename Lane::Doubles values;
                load_numbers(p + n * h, values);
                lanes[h].template find_buckets<finds_between, may_miss>(values, bits);
                word[h] = (word[h] << 8) + bits;
                if constexpr (!may_miss) seen |= bits;
            }
        }
        for (size_t h = 0; h < n_parts; ++h) word[h] = word[h] - kExponents;
        for (size_t c = 0; c < kNumberLanes; ++c)
            store_word(out + int64_t(c) * out_stride + top, word[c / n][c % n]);
    }
    uint64_t exponents = 0;
    for (size_t c = 0; c < n; ++c) exponents |= seen[c];
    return (exponents >> 52 & kExponentOfNan) == kExponentOfNan;
}

// Eight columns of a row-major panel. `rows` is a multiple of kWordRows; column c is written to
// out + c * out_stride. `ahead` is how far the next values to be read are from these ones.
template <Isa isa, class T>
HOCMIM_INLINE void stage_numbers_body(const T* x, int64_t row_stride, int64_t rows, int64_t ahead,
                                      NumberLanes& lanes, uint8_t* out, int64_t out_stride) {
    constexpr size_t n = doubles_of(isa), n_parts = kNumberLanes / n;
    using Lane = BucketLanes<n>;
    Lane parts[n_parts];
    for (size_t h = 0; h < n_parts; ++h) {
        load(lanes.origin + n * h, parts[h].origin);
        load(lanes.scale + n * h, parts[h].scale);
        load(lanes.minimum + n * h, parts[h].minimum);
        load(lanes.maximum + n * h, parts[h].maximum);
        load(lanes.is_between + n * h, parts[h].is_between);
        parts[h].fill_limits(lanes);
    }
    // The next cache line of each column is soon written.
    for (int64_t c = 0; c < kNumberLanes; ++c) prefetch_to_write(out + c * out_stride + kLineBytes);
    if (lanes.finds_between) {
        stage_band<true, true>(x, row_stride, rows, ahead, parts, out, out_stride);
    } else {
        if (!lanes.may_miss) {
            lanes.may_miss =
                stage_band<false, false>(x, row_stride, rows, ahead, parts, out, out_stride);
        }
        if (lanes.may_miss)
            stage_band<false, true>(x, row_stride, rows, ahead, parts, out, out_stride);
    }
    for (size_t h = 0; h < n_parts; ++h) {
        std::memcpy(lanes.minimum + n * h, &parts[h].minimum, sizeof(typename Lane::Doubles));
        std::memcpy(lanes.maximum + n * h, &parts[h].maximum, sizeof(typename Lane::Doubles));
        std::memcpy(lanes.is_between + n * h, &parts[h].is_between, sizeof(typename Lane::Bits));
    }
}
HOCMIM_DISPATCH(template <class T> inline void, stage_numbers, (stage_numbers_body<kIsa, T>),
                (const T* x, int64_t row_stride, int64_t rows, int64_t ahead, NumberLanes& lanes,
                 uint8_t* out, int64_t out_stride),
                (x, row_stride, rows, ahead, lanes, out, out_stride))

template <bool finds_between, size_t n, class T>
HOCMIM_INLINE void stage_tiles(const T* x, int64_t n_rows, BucketLanes<n>& lanes, uint8_t* out) {
    uint64_t bits[kTileRows];
    for (int64_t top = 0; top < n_rows; top += kTileRows) {
        const int64_t rows = std::min(kTileRows, n_rows - top);
        T tile[kTileRows];
        const T* p = x + top;
        if (rows < kTileRows) {  // the rest of the last tile repeats a value
            std::copy_n(p, rows, tile);
            std::fill(tile + rows, tile + kTileRows, p[0]);
            p = tile;
        }
        for (size_t i = 0; i < kTileRows; i += n) {
            typename BucketLanes<n>::Doubles values;
            typename BucketLanes<n>::Bits words;
            load_numbers(p + i, values);
            lanes.template find_buckets<finds_between, true>(values, words);
            std::memcpy(bits + i, &words, sizeof words);
        }
        for (int64_t i = 0; i < rows; ++i) out[top + i] = uint8_t(bits[i]);
    }
}

// One column of consecutive values; the other lanes are not used.
template <Isa isa, class T>
HOCMIM_INLINE void stage_number_column_body(const T* x, int64_t n_rows, NumberLanes& lanes,
                                            uint8_t* out) {
    constexpr size_t n = doubles_of(isa);
    using Doubles = typename BucketLanes<n>::Doubles;
    BucketLanes<n> all;
    all.is_between = typename BucketLanes<n>::Bits{};
    all.fill_limits(lanes);
    all.origin = Doubles{} + lanes.origin[0];
    all.scale = Doubles{} + lanes.scale[0];
    all.minimum = Doubles{} + lanes.minimum[0];
    all.maximum = Doubles{} + lanes.maximum[0];
    if (lanes.finds_between)
        stage_tiles<true>(x, n_rows, all, out);
    else
        stage_tiles<false>(x, n_rows, all, out);
    for (size_t c = 0; c < n; ++c) {
        lanes.minimum[0] = std::min<double>(lanes.minimum[0], all.minimum[c]);
        lanes.maximum[0] = std::max<double>(lanes.maximum[0], all.maximum[c]);
        lanes.is_between[0] |= all.is_between[c];
    }
}
HOCMIM_DISPATCH(template <class T> inline void, stage_number_column,
                (stage_number_column_body<kIsa, T>),
                (const T* x, int64_t n, NumberLanes& lanes, uint8_t* out), (x, n, lanes, out))

// Transpose 8 × 8 bytes in each 64-bit lane of eight rows, by swaps of ever smaller parts.
template <class Vector>
HOCMIM_INLINE void transpose_bytes(Vector (&rows)[8]) {
    constexpr uint64_t low[3] = {0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF};
    for (int round = 0; round < 3; ++round) {
        const int apart = 4 >> round, bits = 32 >> round;
        for (int i = 0; i < 8; ++i) {
            if (i & apart) continue;
            const Vector swapped = ((rows[i] >> bits) ^ rows[i + apart]) & low[round];
            rows[i] ^= swapped << bits;
            rows[i + apart] ^= swapped;
        }
    }
}

HOCMIM_INLINE uint64_t word_of(const Words& words, int64_t lane) { return words[lane]; }
HOCMIM_INLINE uint64_t word_of(const uint64_t& word, int64_t) { return word; }

// Makes the first byte of a word its lowest.
HOCMIM_INLINE void order_bytes(uint64_t& word) { word = swap_if_big_endian(word); }
HOCMIM_INLINE void order_bytes(Words& words) {
    for (size_t lane = 0; lane < 4; ++lane) words[lane] = swap_if_big_endian(words[lane]);
}

// Eight columns of 64-bit integers, n of them side by side; the arguments are those of
// stage_numbers_body. The lowest bytes of eight rows are collected in a word.
template <size_t n, class Group>
HOCMIM_INLINE void stage_wide_integers(const typename Group::Integer* x, int64_t row_stride,
                                       int64_t rows, int64_t ahead, Group& lanes, uint8_t* out,
                                       int64_t out_stride) {
    using Integers = LaneVector<typename Group::Integer, n>;
    using Bits = LaneVector<uint64_t, n>;
    constexpr size_t n_parts = kNumberLanes / n;
    Integers minimum[n_parts], maximum[n_parts], values;
    for (size_t h = 0; h < n_parts; ++h) {
        load(lanes.minimum + n * h, minimum[h]);
        load(lanes.maximum + n * h, maximum[h]);
    }
    for (int64_t c = 0; c < kNumberLanes; ++c) prefetch_to_write(out + c * out_stride + kLineBytes);
    for (int64_t top = 0; top < rows; top += kWordRows) {
        Bits word[n_parts] = {};
        for (int64_t i = kWordRows - 1; i >= 0; --i) {
            const auto* p = x + (top + i) * row_stride;
            prefetch(p + ahead);
            for (size_t h = 0; h < n_parts; ++h) {
                load(p + n * h, values);
                minimum[h] = HOCMIM_SELECT(values < minimum[h], values, minimum[h]);
                maximum[h] = HOCMIM_SELECT(values > maximum[h], values, maximum[h]);
                word[h] = (word[h] << 8) | (HOCMIM_BITS_AS(Bits, values) & uint64_t(0xFF));
            }
        }
        for (size_t c = 0; c < kNumberLanes; ++c)
            store_word(out + int64_t(c) * out_stride + top, word[c / n][c % n]);
    }
    for (size_t h = 0; h < n_parts; ++h) {
        std::memcpy(lanes.minimum + n * h, &minimum[h], sizeof(Integers));
        std::memcpy(lanes.maximum + n * h, &maximum[h], sizeof(Integers));
    }
}

// 32 columns of a row-major panel of integers, or 8; of 64-bit integers always 8. The arguments are
// those of stage_numbers_body.
template <Isa isa, class T, class Vector>
HOCMIM_INLINE void stage_integers_body(const T* x, int64_t row_stride, int64_t rows, int64_t ahead,
                                       IntegerLanes<T, Vector>& lanes, uint8_t* out,
                                       int64_t out_stride) {
    constexpr int64_t n_lanes = sizeof(Vector);
    if constexpr (sizeof(T) == 8) {
        static_assert(n_lanes == kNumberLanes);
        stage_wide_integers<doubles_of(isa)>(x, row_stride, rows, ahead, lanes, out, out_stride);
        return;
    }
    for (int64_t top = 0; top < rows; top += kWordRows) {
        Vector words[kWordRows];
        for (int64_t i = 0; i < kWordRows; ++i) {
            const T* p = x + (top + i) * row_stride;
            for (int64_t c = 0; c < n_lanes; c += 64 / int64_t(sizeof(T))) prefetch(p + ahead + c);
            if constexpr (sizeof(T) == 1) {
                load(p, words[i]);
            } else {
                uint8_t low[n_lanes];
                for (int64_t c = 0; c < n_lanes; ++c) {
                    lanes.minimum[c] = p[c] < lanes.minimum[c] ? p[c] : lanes.minimum[c];
                    lanes.maximum[c] = p[c] > lanes.maximum[c] ? p[c] : lanes.maximum[c];
                    low[c] = uint8_t(p[c]);
                }
                load(low, words[i]);
            }
            order_bytes(words[i]);
        }
        transpose_bytes(words);
        for (int64_t c = 0; c < n_lanes; ++c)
            store_word(out + c * out_stride + top, word_of(words[c % 8], c / 8));
    }
}
HOCMIM_DISPATCH(template <class Group> inline void, stage_integers, stage_integers_body<kIsa>,
                (const typename Group::Integer* x, int64_t row_stride, int64_t rows, int64_t ahead,
                 Group& lanes, uint8_t* out, int64_t out_stride),
                (x, row_stride, rows, ahead, lanes, out, out_stride))

// One column of consecutive integers, and its range.
template <class T>
HOCMIM_INLINE void stage_integer_column_body(const T* x, int64_t n, T& minimum, T& maximum,
                                             uint8_t* out) {
    T low = minimum, high = maximum;
    for (int64_t i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        out[i] = uint8_t(x[i]);
    }
    minimum = low;
    maximum = high;
}
HOCMIM_DISPATCH(template <class T> inline void, stage_integer_column, stage_integer_column_body<T>,
                (const T* x, int64_t n, T& minimum, T& maximum, uint8_t* out),
                (x, n, minimum, maximum, out))

template <class T>
HOCMIM_INLINE void find_range_body(const T* x, int64_t n, T& minimum, T& maximum) {
    T low = minimum, high = maximum;
    for (int64_t i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    minimum = low;
    maximum = high;
}
HOCMIM_DISPATCH(template <class T> inline void, find_range, find_range_body<T>,
                (const T* x, int64_t n, T& minimum, T& maximum), (x, n, minimum, maximum))

// --- columns of bytes ---

constexpr int64_t kFewLevels = 16;  // are counted one by one, more by a table
constexpr int64_t kMaskRows = 64;   // rows whose comparisons are the bits of a word
constexpr uint8_t kSign = 0x80;

// Vectors of bytes for an instruction set.
template <Isa isa>
struct ByteLanes {
    using Bytes = LaneVector<uint8_t, bytes_of(isa)>;
    using SignedBytes = LaneVector<int8_t, bytes_of(isa)>;

    // Unsigned bytes as signed ones in the same order, which are compared in one instruction.
    static HOCMIM_INLINE void to_signed(const Bytes& bytes, SignedBytes& ordered) {
        ordered = HOCMIM_BITS_AS(SignedBytes, bytes ^ (Bytes{} + kSign));
    }
    static HOCMIM_INLINE void fill_signed(uint8_t byte, SignedBytes& ordered) {
        std::memset(&ordered, byte ^ kSign, sizeof ordered);
    }
};

template <class Bytes>
HOCMIM_INLINE void load_bytes(const uint8_t* p, Bytes& bytes) {
    std::memcpy(&bytes, p, sizeof bytes);
}

template <class Bytes>
HOCMIM_INLINE int64_t sum_bytes(const Bytes& bytes) {
    constexpr uint64_t kPairs = 0x00FF00FF00FF00FF, kOnes = 0x0001000100010001;
    constexpr size_t n_words = sizeof bytes / 8;
    using Words = LaneVector<uint64_t, n_words>;
    const Words words = HOCMIM_BITS_AS(Words, bytes);
    const Words pairs = (words & kPairs) + ((words >> 8) & kPairs);
    uint64_t sum = 0;
    for (size_t k = 0; k < n_words; ++k) sum += pairs[k];
    return int64_t((sum * kOnes) >> 48);  // the sum of the four parts of 16 bits
}

// counts[k] = how often the byte first + k (modulo 256) occurs, for `n_levels` <= kFewLevels.
template <Isa isa>
HOCMIM_INLINE void count_levels_body(const uint8_t* b, int64_t n, uint8_t first, int64_t n_levels,
                                     int64_t* counts) {
    using Bytes = typename ByteLanes<isa>::Bytes;
    constexpr int64_t kTogether = 4, kMostAdditions = 255, kBytes = sizeof(Bytes);
    const int64_t whole = n / kBytes * kBytes;
    std::fill_n(counts, n_levels, 0);
    for (int64_t level = 0; level < n_levels; level += kTogether) {
        Bytes value[kTogether], bytes;
        for (int64_t k = 0; k < kTogether; ++k)
            std::memset(&value[k], uint8_t(first + level + k), sizeof(Bytes));
        int64_t sums[kTogether] = {};
        for (int64_t top = 0; top < whole; top += kBytes * kMostAdditions) {
            const int64_t end = std::min(whole, top + kBytes * kMostAdditions);
            Bytes found[kTogether] = {};
            for (int64_t i = top; i < end; i += kBytes) {
                load_bytes(b + i, bytes);
                for (int64_t k = 0; k < kTogether; ++k)
                    found[k] -= HOCMIM_BITS_AS(Bytes, bytes == value[k]);
            }
            for (int64_t k = 0; k < kTogether; ++k) sums[k] += sum_bytes(found[k]);
        }
        for (int64_t k = 0; k < kTogether && level + k < n_levels; ++k) counts[level + k] = sums[k];
    }
    for (int64_t i = whole; i < n; ++i) {
        const auto k = uint8_t(b[i] - first);
        if (k < n_levels) ++counts[k];
    }
}
HOCMIM_DISPATCH(inline void, count_levels, count_levels_body<kIsa>,
                (const uint8_t* b, int64_t n, uint8_t first, int64_t n_levels, int64_t* counts),
                (b, n, first, n_levels, counts))

// How often each byte occurs. Four tables: neighbours are often equal.
inline void count_bytes(const uint8_t* b, int64_t n, int64_t* counts) {
    constexpr int64_t kMostAdditions = int64_t(1) << 32;
    std::fill_n(counts, 256, 0);
    for (int64_t i = 0; i < n;) {
        uint32_t tables[4][256] = {};
        const int64_t end = std::min(n, i + kMostAdditions);
        for (; i + 8 <= end; i += 8) {
            uint64_t word;
            std::memcpy(&word, b + i, sizeof word);
            for (int k = 0; k < 8; ++k) ++tables[k % 4][(word >> (8 * k)) & 0xFF];
        }
        for (; i < end; ++i) ++tables[0][b[i]];
        for (int64_t k = 0; k < 256; ++k)
            counts[k] += int64_t{tables[0][k]} + tables[1][k] + tables[2][k] + tables[3][k];
    }
}

// The code of a byte: how many steps are not above it, counted from `zero` (modulo 256); one byte
// may have a code of its own.
struct Steps {
    uint8_t zero = 0;
    int64_t n_steps = 0;
    uint8_t at[256];  // ascending, above 0; the first n_steps
    bool has_missing = false;
    uint8_t missing_byte = 0, missing_code = 0;

    uint8_t code_of(uint8_t byte) const {
        if (has_missing && byte == missing_byte) return missing_code;
        const auto distance = uint8_t(byte - zero);
        return uint8_t(std::upper_bound(at, at + n_steps, distance) - at);
    }
    // Whether the codes are the bytes themselves, for bytes up to `last`.
    bool is_identity(int64_t last) const {
        if (zero != 0 || has_missing || n_steps != last) return false;
        for (int64_t k = 0; k < n_steps; ++k)
            if (at[k] != k + 1) return false;
        return true;
    }
};

// Bytes that are compared with each of some others, kUnrolled of them at a time.
constexpr int64_t kUnrolled = 4;
constexpr int64_t unrolled(int64_t n) { return (n + kUnrolled - 1) / kUnrolled * kUnrolled; }

// Few steps in lanes. Not read through Steps: a byte that is written might be a part of it.
template <Isa isa, bool has_missing>
struct StepLanes {
    using Lanes = ByteLanes<isa>;
    using Bytes = typename Lanes::Bytes;
    using SignedBytes = typename Lanes::SignedBytes;
    Bytes zero, missing_byte, missing_code;
    SignedBytes before[unrolled(kFewLevels)];  // the byte before each step, then the highest byte
    int64_t n_before;

    HOCMIM_INLINE explicit StepLanes(const Steps& steps) : n_before(unrolled(steps.n_steps)) {
        zero = Bytes{} + steps.zero;
        missing_byte = Bytes{} + steps.missing_byte;
        missing_code = Bytes{} + steps.missing_code;
        for (int64_t k = 0; k < n_before; ++k) {
            const int byte = k < steps.n_steps ? steps.at[k] - 1 : 255;
            Lanes::fill_signed(uint8_t(byte), before[k]);
        }
    }

    HOCMIM_INLINE void replace(Bytes& bytes) const {
        SignedBytes distance;
        Lanes::to_signed(bytes - zero, distance);
        Bytes codes = {};
        for (int64_t k = 0; k < n_before; k += kUnrolled)
            for (int64_t u = 0; u < kUnrolled; ++u)
                codes -= HOCMIM_BITS_AS(Bytes, distance > before[k + u]);
        if constexpr (has_missing)
            codes = HOCMIM_SELECT(bytes == missing_byte, missing_code, codes);
        bytes = codes;
    }
};

template <Isa isa, bool has_missing>
HOCMIM_INLINE void apply_few_steps(uint8_t* b, int64_t n, const Steps& steps) {
    const StepLanes<isa, has_missing> lanes(steps);
    typename ByteLanes<isa>::Bytes bytes = {};
    constexpr int64_t kBytes = sizeof bytes;
    int64_t i = 0;
    for (; i + kBytes <= n; i += kBytes) {
        load_bytes(b + i, bytes);
        lanes.replace(bytes);
        std::memcpy(b + i, &bytes, sizeof bytes);
    }
    if (i == n) return;  // also of no bytes, where b may be null
    const auto rest = size_t(n - i);
    std::memcpy(&bytes, b + i, rest);
    lanes.replace(bytes);
    std::memcpy(b + i, &bytes, rest);
}

// Replace bytes by their codes.
template <Isa isa>
HOCMIM_INLINE void apply_steps_body(uint8_t* b, int64_t n, const Steps& steps) {
    if (steps.n_steps > kFewLevels) {
        uint8_t table[256];
        for (int byte = 0; byte < 256; ++byte) table[byte] = steps.code_of(uint8_t(byte));
        for (int64_t i = 0; i < n; ++i) b[i] = table[b[i]];
    } else if (steps.has_missing) {
        apply_few_steps<isa, true>(b, n, steps);
    } else {
        apply_few_steps<isa, false>(b, n, steps);
    }
}
HOCMIM_DISPATCH(inline void, apply_steps, apply_steps_body<kIsa>,
                (uint8_t* b, int64_t n, const Steps& steps), (b, n, steps))

constexpr int64_t kMostLimits = 8;

// Zeros, then as many bytes of ones: a mask of the last bytes of a vector begins among the zeros.
struct LastBytes {
    static constexpr int64_t n = 64;
    uint8_t at[2 * n] = {};

    constexpr LastBytes() {
        for (int64_t i = n; i < 2 * n; ++i) at[i] = 0xFF;
    }
    // A mask of the last n_last bytes.
    template <class Bytes>
    HOCMIM_INLINE void load_mask(int64_t n_last, Bytes& mask) const {
        load_bytes(at + n - int64_t(sizeof mask) + n_last, mask);
    }
};
inline constexpr LastBytes kLastBytes;

// not_below[k] += 1 where a byte is above before[k], in every lane.
template <class Lanes, size_t n_limits>
HOCMIM_INLINE void add_not_below(const typename Lanes::Bytes& bytes,
                                 const typename Lanes::SignedBytes (&before)[n_limits],
                                 typename Lanes::Bytes (&not_below)[n_limits]) {
    typename Lanes::SignedBytes value;
    Lanes::to_signed(bytes, value);
    for (size_t k = 0; k < n_limits; ++k)
        not_below[k] -= HOCMIM_BITS_AS(typename Lanes::Bytes, value > before[k]);
}

// below[k] = how many bytes are less than limits[k], which is above 0.
template <Isa isa, size_t n_limits>
HOCMIM_INLINE void count_below_lanes(const uint8_t* b, int64_t n, const uint8_t* limits,
                                     int64_t* below) {
    using Lanes = ByteLanes<isa>;
    using Bytes = typename Lanes::Bytes;
    constexpr int64_t kMostAdditions = 255, kBytes = sizeof(Bytes);
    typename Lanes::SignedBytes before[n_limits];
    for (size_t k = 0; k < n_limits; ++k) {
        Lanes::fill_signed(uint8_t(limits[k] - 1), before[k]);
        below[k] = n;
    }
    for (int64_t top = 0; top < n; top += kBytes * kMostAdditions) {
        const int64_t end = std::min(n, top + kBytes * kMostAdditions);
        Bytes not_below[n_limits] = {}, bytes;
        int64_t i = top;
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
                std::memcpy(&bytes, b + i, size_t(end - i));
            }
            add_not_below<Lanes>(bytes, before, not_below);
        }
        for (size_t k = 0; k < n_limits; ++k) below[k] -= sum_bytes(not_below[k]);
    }
}

// The same for up to kMostLimits limits; `limits` and `below` have room for so many.
template <Isa isa>
HOCMIM_INLINE void count_below_body(const uint8_t* b, int64_t n, const uint8_t* limits,
                                    int64_t n_limits, int64_t* below) {
    if (2 * n_limits <= kMostLimits)
        count_below_lanes<isa, kMostLimits / 2>(b, n, limits, below);
    else
        count_below_lanes<isa, kMostLimits>(b, n, limits, below);
}
HOCMIM_DISPATCH(inline void, count_below, count_below_body<kIsa>,
                (const uint8_t* b, int64_t n, const uint8_t* limits, int64_t n_limits,
                 int64_t* below),
                (b, n, limits, n_limits, below))

// Rows that were found; the memory is kept.
struct RowList {
    std::vector<int64_t> rows;  // more than n
    int64_t n = 0;

    int64_t operator[](int64_t k) const { return rows[k]; }

    // Append first + the position of every bit that is set. Most words have few: the first ones are
    // written without asking how many there are.
    HOCMIM_INLINE void append(uint64_t bits, int64_t first) {
        constexpr uint64_t kHighest = uint64_t(1) << 63;
        constexpr int64_t kUnasked = 2;
        const auto needed = size_t(n + kMaskRows);
        if (rows.size() < needed) rows.resize(2 * needed);
        int64_t* next = rows.data() + n;
        n += count_ones(bits);
        for (int64_t k = 0; k < kUnasked; ++k) {
            *next++ = first + lowest_one(bits | kHighest);
            bits &= bits - (bits != 0);
        }
        for (; bits; bits &= bits - 1) *next++ = first + lowest_one(bits);
    }
};

// Bit i is set where b[i] is one of `wanted`, of 64 bytes; n_wanted is a multiple of kUnrolled.
template <class Bytes>
HOCMIM_INLINE uint64_t bits_of(const uint8_t* b, const Bytes* wanted, int64_t n_wanted) {
    constexpr size_t n_parts = kMaskRows / sizeof(Bytes);
    Bytes bytes[n_parts], found[n_parts] = {};
    for (size_t p = 0; p < n_parts; ++p) load_bytes(b + p * sizeof(Bytes), bytes[p]);
    for (int64_t k = 0; k < n_wanted; k += kUnrolled) {
        for (int64_t u = 0; u < kUnrolled; ++u)
            for (size_t p = 0; p < n_parts; ++p)
                found[p] |= HOCMIM_BITS_AS(Bytes, bytes[p] == wanted[k + u]);
    }
    uint8_t is_found[kMaskRows];
    for (size_t p = 0; p < n_parts; ++p)
        std::memcpy(is_found + p * sizeof(Bytes), &found[p], sizeof(Bytes));
    return highest_bits(is_found) | highest_bits(is_found + 32) << 32;
}

// The rows whose byte is one of `wanted`, in order.
template <Isa isa>
HOCMIM_INLINE void find_rows_of_body(const uint8_t* b, int64_t n, const uint8_t* wanted,
                                     int64_t n_wanted, RowList& found) {
    typename ByteLanes<isa>::Bytes lanes[256];
    const int64_t n_lanes = unrolled(n_wanted);
    for (int64_t k = 0; k < n_lanes; ++k)
        std::memset(&lanes[k], wanted[std::min(k, n_wanted - 1)], sizeof lanes[k]);
    found.n = 0;
    int64_t i = 0;
    for (; i + kMaskRows <= n; i += kMaskRows) found.append(bits_of(b + i, lanes, n_lanes), i);
    if (i < n) {
        uint8_t rest[kMaskRows] = {};
        std::copy(b + i, b + n, rest);
        const uint64_t bits = bits_of(rest, lanes, n_lanes);
        found.append(bits & ((uint64_t(1) << (n - i)) - 1), i);
    }
}
HOCMIM_DISPATCH(inline void, find_rows_of, find_rows_of_body<kIsa>,
                (const uint8_t* b, int64_t n, const uint8_t* wanted, int64_t n_wanted,
                 RowList& found),
                (b, n, wanted, n_wanted, found))

// How often each code occurs in a row.
inline void count_codes(const uint8_t* codes, int64_t n, int64_t arity, int64_t* counts) {
    if (arity <= kFewLevels)
        count_levels(codes, n, 0, arity, counts);
    else
        count_bytes(codes, n, counts);
}

// The most frequent code of each row of codes; of equally frequent ones the smallest.
template <class Code>
std::vector<int64_t> most_frequent(Matrix<const Code> codes) {
    std::vector<int64_t> found(codes.n_rows), counts(size_t(std::numeric_limits<Code>::max()) + 1);
    for (size_t r = 0; r < found.size(); ++r) {
        const Code* row = codes.row(r);
        if constexpr (sizeof(Code) == 1) {
            count_bytes(row, int64_t(codes.n_columns), counts.data());
        } else {
            std::fill(counts.begin(), counts.end(), 0);
            for (size_t i = 0; i < codes.n_columns; ++i) ++counts[row[i]];
        }
        found[r] = std::max_element(counts.begin(), counts.end()) - counts.begin();
    }
    return found;
}

}  // namespace hocmim
