// What compilers spell differently: the only file that knows which compiler it is.
//
// GCC and Clang, on every system, have vectors as types. Others (MSVC) get a struct with the same
// operators. HOCMIM_NO_VECTORS chooses the struct everywhere, so that it can be tested.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) || defined(__clang__)
#define HOCMIM_GNU 1
#endif

// HOCMIM_INLINE: into every caller, so that the body is compiled for the caller's instruction set.
#ifdef HOCMIM_GNU
#define HOCMIM_INLINE inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define HOCMIM_INLINE __forceinline
#else
#define HOCMIM_INLINE inline
#endif

// HOCMIM_SCALAR: loops that load by index do not gain from vector instructions, but GCC would use
// them.
#if defined(__GNUC__) && !defined(__clang__)
#define HOCMIM_SCALAR __attribute__((optimize("no-tree-vectorize")))
#else
#define HOCMIM_SCALAR
#endif

// The variables of a thread. glibc would allocate them when a thread first uses one, and end the
// process if there is no memory left; with this model they are part of the thread's stack.
#if defined(__GLIBC__)
#define HOCMIM_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local
#else
#define HOCMIM_THREAD_LOCAL thread_local
#endif

// HOCMIM_X86: functions can be compiled for AVX2 and AVX-512 one by one. Not on Windows, where GCC
// does not align the stack for such vectors, and where MSVC has no such functions. HOCMIM_NO_X86
// leaves them out.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32) && !defined(HOCMIM_NO_X86)
#define HOCMIM_X86 1
#endif

// Whether the lowest byte of a word is its first in memory.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOCMIM_BIG_ENDIAN 1
#endif

namespace hocmim {

// The number of bits that are set.
HOCMIM_INLINE int count_ones(uint64_t bits) {
#ifdef HOCMIM_GNU
    return __builtin_popcountll(bits);
#else
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return int((bits * 0x0101010101010101u) >> 56);
#endif
}

// The position of the lowest bit that is set; one must be.
HOCMIM_INLINE int lowest_one(uint64_t bits) {
#ifdef HOCMIM_GNU
    return __builtin_ctzll(bits);
#else
    return count_ones((bits & (0 - bits)) - 1);
#endif
}

// Loads what is read soon into the second-level cache. Only a hint.
HOCMIM_INLINE void prefetch(const void* at) {
#ifdef HOCMIM_GNU
    __builtin_prefetch(at, 0, 2);
#else
    (void)at;
#endif
}

// The same for what is written soon.
HOCMIM_INLINE void prefetch_to_write(const void* at) {
#ifdef HOCMIM_GNU
    __builtin_prefetch(at, 1, 2);
#else
    (void)at;
#endif
}

// Eight bytes as a word, the first byte lowest, and back.
HOCMIM_INLINE uint64_t swap_if_big_endian(uint64_t word) {
#ifdef HOCMIM_BIG_ENDIAN
    return __builtin_bswap64(word);
#else
    return word;
#endif
}
HOCMIM_INLINE uint64_t load_word(const void* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return swap_if_big_endian(word);
}
HOCMIM_INLINE void store_word(void* bytes, uint64_t word) {
    word = swap_if_big_endian(word);
    std::memcpy(bytes, &word, sizeof word);
}

// LaneVector<T, n>: n numbers, with the operators of a number in every lane. A comparison is a
// LaneVector of integers as wide, −1 where it holds and 0 elsewhere.
//
// HOCMIM_SELECT(comparison, a, b): a where it holds, else b.
// HOCMIM_BITS_AS(Vector, v): the same bits as another vector.
//
// A function must not take or return one by value: callers of different instruction sets would
// disagree on how.
#if defined(HOCMIM_GNU) && !defined(HOCMIM_NO_VECTORS)

template <class T, size_t n>
struct LaneVectorOf {
    typedef T type __attribute__((vector_size(n * sizeof(T))));
};
template <class T, size_t n>
using LaneVector = typename LaneVectorOf<T, n>::type;

#define HOCMIM_SELECT(COMPARISON, A, B) ((COMPARISON) ? (A) : (B))
#define HOCMIM_BITS_AS(VECTOR, V) reinterpret_cast<VECTOR>(V)

template <class From, class To>
HOCMIM_INLINE void convert_lanes(const From& from, To& to) {
    to = __builtin_convertvector(from, To);
}

#else

template <size_t width>
struct SignedOf;
template <>
struct SignedOf<1> {
    using type = int8_t;
};
template <>
struct SignedOf<2> {
    using type = int16_t;
};
template <>
struct SignedOf<4> {
    using type = int32_t;
};
template <>
struct SignedOf<8> {
    using type = int64_t;
};

template <class T, size_t n>
struct LaneVector {
    using Number = T;
    static constexpr size_t n_lanes = n;
    T lane[n];

    T operator[](size_t i) const { return lane[i]; }
    T& operator[](size_t i) { return lane[i]; }
};

template <class T, size_t n>
using Comparison = LaneVector<typename SignedOf<sizeof(T)>::type, n>;

// A number may stand for a vector of equal lanes, so the type of a lane is not deduced from it.
template <class T>
struct SameType {
    using type = T;
};
template <class T>
using Same = typename SameType<T>::type;

#define HOCMIM_OPERATOR_(SIGN)                                                                    \
    template <class T, size_t n>                                                                  \
    HOCMIM_INLINE LaneVector<T, n>& operator SIGN## =                                             \
        (LaneVector<T, n> & a, const LaneVector<T, n>& b) {                                       \
        for (size_t i = 0; i < n; ++i) a.lane[i] = T(a.lane[i] SIGN b.lane[i]);                   \
        return a;                                                                                 \
    }                                                                                             \
    template <class T, size_t n>                                                                  \
    HOCMIM_INLINE LaneVector<T, n> operator SIGN(LaneVector<T, n> a, const LaneVector<T, n>& b) { \
        return a SIGN## = b;                                                                      \
    }                                                                                             \
    template <class T, size_t n>                                                                  \
    HOCMIM_INLINE LaneVector<T, n> operator SIGN(LaneVector<T, n> a, Same<T> b) {                 \
        for (size_t i = 0; i < n; ++i) a.lane[i] = T(a.lane[i] SIGN b);                           \
        return a;                                                                                 \
    }                                                                                             \
    template <class T, size_t n>                                                                  \
    HOCMIM_INLINE LaneVector<T, n> operator SIGN(Same<T> a, LaneVector<T, n> b) {                 \
        for (size_t i = 0; i < n; ++i) b.lane[i] = T(a SIGN b.lane[i]);                           \
        return b;                                                                                 \
    }
HOCMIM_OPERATOR_(+)
HOCMIM_OPERATOR_(-)
HOCMIM_OPERATOR_(*)
HOCMIM_OPERATOR_(&)
HOCMIM_OPERATOR_(|)
HOCMIM_OPERATOR_(^)
HOCMIM_OPERATOR_(<<)
HOCMIM_OPERATOR_(>>)
#undef HOCMIM_OPERATOR_

template <class T, size_t n>
HOCMIM_INLINE LaneVector<T, n> operator~(LaneVector<T, n> a) {
    for (size_t i = 0; i < n; ++i) a.lane[i] = T(~a.lane[i]);
    return a;
}

#define HOCMIM_COMPARISON_(SIGN)                                                          \
    template <class T, size_t n>                                                          \
    HOCMIM_INLINE Comparison<T, n> operator SIGN(const LaneVector<T, n>& a,               \
                                                 const LaneVector<T, n>& b) {             \
        Comparison<T, n> holds;                                                           \
        for (size_t i = 0; i < n; ++i) holds.lane[i] = a.lane[i] SIGN b.lane[i] ? -1 : 0; \
        return holds;                                                                     \
    }                                                                                     \
    template <class T, size_t n>                                                          \
    HOCMIM_INLINE Comparison<T, n> operator SIGN(const LaneVector<T, n>& a, Same<T> b) {  \
        Comparison<T, n> holds;                                                           \
        for (size_t i = 0; i < n; ++i) holds.lane[i] = a.lane[i] SIGN b ? -1 : 0;         \
        return holds;                                                                     \
    }
HOCMIM_COMPARISON_(==)
HOCMIM_COMPARISON_(!=)
HOCMIM_COMPARISON_(<)
HOCMIM_COMPARISON_(>)
HOCMIM_COMPARISON_(<=)
HOCMIM_COMPARISON_(>=)
#undef HOCMIM_COMPARISON_

template <class T, size_t n>
HOCMIM_INLINE LaneVector<T, n> select_lanes(const Comparison<T, n>& holds,
                                            const LaneVector<T, n>& a, const LaneVector<T, n>& b) {
    LaneVector<T, n> chosen;
    for (size_t i = 0; i < n; ++i) chosen.lane[i] = holds.lane[i] ? a.lane[i] : b.lane[i];
    return chosen;
}

template <class To, class From>
HOCMIM_INLINE To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

#define HOCMIM_SELECT(COMPARISON, A, B) hocmim::select_lanes((COMPARISON), (A), (B))
#define HOCMIM_BITS_AS(VECTOR, V) hocmim::bits_as<VECTOR>(V)

template <class From, class To>
HOCMIM_INLINE void convert_lanes(const From& from, To& to) {
    for (size_t i = 0; i < To::n_lanes; ++i)
        to.lane[i] = static_cast<typename To::Number>(from.lane[i]);
}

#endif

}  // namespace hocmim
