// One byte a value: the first step of encoding a panel of columns.
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
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "coding/block.hpp"
#include "core/dispatch.hpp"

namespace hocmim::coding {

constexpr i64 kWordRows = 8;       // rows in a word
constexpr i64 kNumberLanes = 8;    // columns read together by stage_numbers
constexpr i64 kIntegerLanes = 32;  // columns read together by stage_integers, or 8 (64 bits: 8)
constexpr i64 kBandRows = 16;      // rows of a panel read before the next columns
constexpr i64 kLineBytes = 64;     // of the cache
constexpr double kFirstBucket = 1.0, kLastBucket = 255.0;
constexpr double kToInteger = 4503599627370496.0;  // 2^52: adding it rounds to a whole number

using Lanes = LaneVector<double, 4>;
using Words = LaneVector<std::uint64_t, 4>;

// How the values of columns become buckets, and what was found out about them, for neighbouring
// columns in lanes.
struct alignas(64) NumberLanes {
    double origin[kNumberLanes], scale[kNumberLanes];
    double minimum[kNumberLanes], maximum[kNumberLanes];
    // With scale 1: not 0 if a value was not the whole number of its bucket.
    std::uint64_t is_between[kNumberLanes];
    bool finds_between = true;  // whether is_between is wanted
    bool may_miss = false;      // whether a value was missing, of any column
    // Not constants: GCC has one instruction for the larger of two variables, two with a constant.
    double first = kFirstBucket, last = kLastBucket;

    NumberLanes() {
        for (i64 j = 0; j < kNumberLanes; ++j) {
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
    static constexpr i64 n_lanes = sizeof(Vector);
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
    constexpr std::size_t n = sizeof(Vector) / sizeof(double);
    if constexpr (std::is_same_v<T, double>) {
        load(p, x);
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>) {
        LaneVector<T, n> narrow;
        load(p, narrow);
        convert_lanes(narrow, x);
    } else {
        double values[n];
        for (std::size_t k = 0; k < n; ++k) values[k] = static_cast<double>(p[k]);
        load(values, x);
    }
}

// What stage_numbers keeps in registers for n columns.
template <std::size_t n>
struct BucketLanes {
    using Doubles = LaneVector<double, n>;
    using Bits = LaneVector<std::uint64_t, n>;
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
inline std::uint8_t bucket_of(double x, double origin, double scale) {
    double t = (x - origin) * scale;
    t = t > kFirstBucket ? t : kFirstBucket;
    t = t < kLastBucket ? t : kLastBucket;
    const double whole = (x == x ? t : 0.0) + kToInteger;
    std::uint64_t bits;
    std::memcpy(&bits, &whole, sizeof bits);
    return static_cast<std::uint8_t>(bits);
}

// Words of eight buckets: the sum of the bits of row i, shifted by i bytes. Of the exponents of
// 2^52, only those of rows 0 and 1 are not shifted out.
constexpr std::uint64_t kExponents = 0x4330000000000000u + 0x3000000000000000u;
constexpr std::uint64_t kExponentOfNan = 0x7FF;

// The buckets of a band of eight columns. Without may_miss: whether a value is missing, and then
// the buckets are not valid.
template <bool finds_between, bool may_miss, std::size_t n, std::size_t n_parts, class T>
HOCMIM_INLINE bool stage_band(const T* x, i64 row_stride, i64 rows, i64 ahead,
                              BucketLanes<n> (&lanes)[n_parts], std::uint8_t* out, i64 out_stride) {
    using Lane = BucketLanes<n>;
    typename Lane::Bits seen = {};
    for (i64 top = 0; top < rows; top += kWordRows) {
        typename Lane::Bits word[n_parts] = {}, bits;
        for (i64 i = kWordRows - 1; i >= 0; --i) {
            const T* p = x + (top + i) * row_stride;
            prefetch(p + ahead);
            for (std::size_t h = 0; h < n_parts; ++h) {
                typename Lane::Doubles values;
                load_numbers(p + n * h, values);
                lanes[h].template find_buckets<finds_between, may_miss>(values, bits);
                word[h] = (word[h] << 8) + bits;
                if constexpr (!may_miss) seen |= bits;
            }
        }
        for (std::size_t h = 0; h < n_parts; ++h) word[h] = word[h] - kExponents;
        for (std::size_t c = 0; c < kNumberLanes; ++c) {
            store_word(out + static_cast<i64>(c) * out_stride + top, word[c / n][c % n]);
        }
    }
    std::uint64_t exponents = 0;
    for (std::size_t c = 0; c < n; ++c) exponents |= seen[c];
    return (exponents >> 52 & kExponentOfNan) == kExponentOfNan;
}

// Eight columns of a row-major panel. `rows` is a multiple of kWordRows; column c is written to
// out + c * out_stride. `ahead` is how far the next values to be read are from these ones.
template <Isa isa, class T>
HOCMIM_INLINE void stage_numbers_body(const T* x, i64 row_stride, i64 rows, i64 ahead,
                                      NumberLanes& lanes, std::uint8_t* out, i64 out_stride) {
    constexpr std::size_t n = doubles_of(isa), n_parts = kNumberLanes / n;
    using Lane = BucketLanes<n>;
    Lane parts[n_parts];
    for (std::size_t h = 0; h < n_parts; ++h) {
        load(lanes.origin + n * h, parts[h].origin);
        load(lanes.scale + n * h, parts[h].scale);
        load(lanes.minimum + n * h, parts[h].minimum);
        load(lanes.maximum + n * h, parts[h].maximum);
        load(lanes.is_between + n * h, parts[h].is_between);
        parts[h].fill_limits(lanes);
    }
    // The next cache line of each column is soon written.
    for (i64 c = 0; c < kNumberLanes; ++c) prefetch_to_write(out + c * out_stride + kLineBytes);
    if (lanes.finds_between) {
        stage_band<true, true>(x, row_stride, rows, ahead, parts, out, out_stride);
    } else {
        if (!lanes.may_miss) {
            lanes.may_miss =
                stage_band<false, false>(x, row_stride, rows, ahead, parts, out, out_stride);
        }
        if (lanes.may_miss) {
            stage_band<false, true>(x, row_stride, rows, ahead, parts, out, out_stride);
        }
    }
    for (std::size_t h = 0; h < n_parts; ++h) {
        std::memcpy(lanes.minimum + n * h, &parts[h].minimum, sizeof(typename Lane::Doubles));
        std::memcpy(lanes.maximum + n * h, &parts[h].maximum, sizeof(typename Lane::Doubles));
        std::memcpy(lanes.is_between + n * h, &parts[h].is_between, sizeof(typename Lane::Bits));
    }
}
HOCMIM_DISPATCH(template <class T> inline void, stage_numbers, (stage_numbers_body<kIsa, T>),
                (const T* x, i64 row_stride, i64 rows, i64 ahead, NumberLanes& lanes,
                 std::uint8_t* out, i64 out_stride),
                (x, row_stride, rows, ahead, lanes, out, out_stride))

template <bool finds_between, std::size_t n, class T>
HOCMIM_INLINE void stage_tiles(const T* x, i64 n_rows, BucketLanes<n>& lanes, std::uint8_t* out) {
    std::uint64_t bits[kTileRows];
    for (i64 top = 0; top < n_rows; top += kTileRows) {
        const i64 rows = std::min(kTileRows, n_rows - top);
        T tile[kTileRows];
        const T* p = x + top;
        if (rows < kTileRows) {  // the rest of the last tile repeats a value
            std::copy_n(p, rows, tile);
            std::fill(tile + rows, tile + kTileRows, p[0]);
            p = tile;
        }
        for (std::size_t i = 0; i < kTileRows; i += n) {
            typename BucketLanes<n>::Doubles values;
            typename BucketLanes<n>::Bits words;
            load_numbers(p + i, values);
            lanes.template find_buckets<finds_between, true>(values, words);
            std::memcpy(bits + i, &words, sizeof words);
        }
        for (i64 i = 0; i < rows; ++i) out[top + i] = static_cast<std::uint8_t>(bits[i]);
    }
}

// One column of consecutive values; the other lanes are not used.
template <Isa isa, class T>
HOCMIM_INLINE void stage_number_column_body(const T* x, i64 n_rows, NumberLanes& lanes,
                                            std::uint8_t* out) {
    constexpr std::size_t n = doubles_of(isa);
    using Doubles = typename BucketLanes<n>::Doubles;
    BucketLanes<n> all;
    all.is_between = typename BucketLanes<n>::Bits{};
    all.fill_limits(lanes);
    all.origin = Doubles{} + lanes.origin[0];
    all.scale = Doubles{} + lanes.scale[0];
    all.minimum = Doubles{} + lanes.minimum[0];
    all.maximum = Doubles{} + lanes.maximum[0];
    if (lanes.finds_between) {
        stage_tiles<true>(x, n_rows, all, out);
    } else {
        stage_tiles<false>(x, n_rows, all, out);
    }
    for (std::size_t c = 0; c < n; ++c) {
        lanes.minimum[0] = std::min<double>(lanes.minimum[0], all.minimum[c]);
        lanes.maximum[0] = std::max<double>(lanes.maximum[0], all.maximum[c]);
        lanes.is_between[0] |= all.is_between[c];
    }
}
HOCMIM_DISPATCH(template <class T> inline void, stage_number_column,
                (stage_number_column_body<kIsa, T>),
                (const T* x, i64 n, NumberLanes& lanes, std::uint8_t* out), (x, n, lanes, out))

// Transpose 8 × 8 bytes in each 64-bit lane of eight rows, by swaps of ever smaller parts.
template <class Vector>
HOCMIM_INLINE void transpose_bytes(Vector (&rows)[8]) {
    constexpr std::uint64_t low[3] = {0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF};
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

HOCMIM_INLINE std::uint64_t word_of(const Words& words, i64 lane) {
    return words[static_cast<std::size_t>(lane)];
}
HOCMIM_INLINE std::uint64_t word_of(const std::uint64_t& word, i64) { return word; }

// Makes the first byte of a word its lowest.
HOCMIM_INLINE void order_bytes(std::uint64_t& word) { word = swap_if_big_endian(word); }
HOCMIM_INLINE void order_bytes(Words& words) {
    for (std::size_t lane = 0; lane < 4; ++lane) words[lane] = swap_if_big_endian(words[lane]);
}

// Eight columns of 64-bit integers, n of them side by side; the arguments are those of
// stage_numbers_body. The lowest bytes of eight rows are collected in a word.
template <std::size_t n, class Group>
HOCMIM_INLINE void stage_wide_integers(const typename Group::Integer* x, i64 row_stride, i64 rows,
                                       i64 ahead, Group& lanes, std::uint8_t* out, i64 out_stride) {
    using Integers = LaneVector<typename Group::Integer, n>;
    using Bits = LaneVector<std::uint64_t, n>;
    constexpr std::size_t n_parts = kNumberLanes / n;
    Integers minimum[n_parts], maximum[n_parts], values;
    for (std::size_t h = 0; h < n_parts; ++h) {
        load(lanes.minimum + n * h, minimum[h]);
        load(lanes.maximum + n * h, maximum[h]);
    }
    for (i64 c = 0; c < kNumberLanes; ++c) prefetch_to_write(out + c * out_stride + kLineBytes);
    for (i64 top = 0; top < rows; top += kWordRows) {
        Bits word[n_parts] = {};
        for (i64 i = kWordRows - 1; i >= 0; --i) {
            const auto* p = x + (top + i) * row_stride;
            prefetch(p + ahead);
            for (std::size_t h = 0; h < n_parts; ++h) {
                load(p + n * h, values);
                minimum[h] = HOCMIM_SELECT(values < minimum[h], values, minimum[h]);
                maximum[h] = HOCMIM_SELECT(values > maximum[h], values, maximum[h]);
                word[h] = (word[h] << 8) | (HOCMIM_BITS_AS(Bits, values) & std::uint64_t{0xFF});
            }
        }
        for (std::size_t c = 0; c < kNumberLanes; ++c) {
            store_word(out + static_cast<i64>(c) * out_stride + top, word[c / n][c % n]);
        }
    }
    for (std::size_t h = 0; h < n_parts; ++h) {
        std::memcpy(lanes.minimum + n * h, &minimum[h], sizeof(Integers));
        std::memcpy(lanes.maximum + n * h, &maximum[h], sizeof(Integers));
    }
}

// 32 columns of a row-major panel of integers, or 8; of 64-bit integers always 8. The arguments are
// those of stage_numbers_body.
template <Isa isa, class T, class Vector>
HOCMIM_INLINE void stage_integers_body(const T* x, i64 row_stride, i64 rows, i64 ahead,
                                       IntegerLanes<T, Vector>& lanes, std::uint8_t* out,
                                       i64 out_stride) {
    constexpr i64 n_lanes = sizeof(Vector);
    if constexpr (sizeof(T) == 8) {
        static_assert(n_lanes == kNumberLanes);
        stage_wide_integers<doubles_of(isa)>(x, row_stride, rows, ahead, lanes, out, out_stride);
        return;
    }
    for (i64 top = 0; top < rows; top += kWordRows) {
        Vector words[kWordRows];
        for (i64 i = 0; i < kWordRows; ++i) {
            const T* p = x + (top + i) * row_stride;
            for (i64 c = 0; c < n_lanes; c += 64 / static_cast<i64>(sizeof(T))) {
                prefetch(p + ahead + c);
            }
            if constexpr (sizeof(T) == 1) {
                load(p, words[i]);
            } else {
                std::uint8_t low[n_lanes];
                for (i64 c = 0; c < n_lanes; ++c) {
                    lanes.minimum[c] = p[c] < lanes.minimum[c] ? p[c] : lanes.minimum[c];
                    lanes.maximum[c] = p[c] > lanes.maximum[c] ? p[c] : lanes.maximum[c];
                    low[c] = static_cast<std::uint8_t>(p[c]);
                }
                load(low, words[i]);
            }
            order_bytes(words[i]);
        }
        transpose_bytes(words);
        for (i64 c = 0; c < n_lanes; ++c) {
            store_word(out + c * out_stride + top, word_of(words[c % 8], c / 8));
        }
    }
}
HOCMIM_DISPATCH(template <class Group> inline void, stage_integers, stage_integers_body<kIsa>,
                (const typename Group::Integer* x, i64 row_stride, i64 rows, i64 ahead,
                 Group& lanes, std::uint8_t* out, i64 out_stride),
                (x, row_stride, rows, ahead, lanes, out, out_stride))

// One column of consecutive integers, and its range.
template <class T>
HOCMIM_INLINE void stage_integer_column_body(const T* x, i64 n, T& minimum, T& maximum,
                                             std::uint8_t* out) {
    T low = minimum, high = maximum;
    for (i64 i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        out[i] = static_cast<std::uint8_t>(x[i]);
    }
    minimum = low;
    maximum = high;
}
HOCMIM_DISPATCH(template <class T> inline void, stage_integer_column, stage_integer_column_body<T>,
                (const T* x, i64 n, T& minimum, T& maximum, std::uint8_t* out),
                (x, n, minimum, maximum, out))

template <class T>
HOCMIM_INLINE void find_range_body(const T* x, i64 n, T& minimum, T& maximum) {
    T low = minimum, high = maximum;
    for (i64 i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    minimum = low;
    maximum = high;
}
HOCMIM_DISPATCH(template <class T> inline void, find_range, find_range_body<T>,
                (const T* x, i64 n, T& minimum, T& maximum), (x, n, minimum, maximum))

}  // namespace hocmim::coding
