// Comparisons of 64 bytes at a time, one bit per byte. SSE2 is part of every x86-64 processor, so
// these need no dispatch.
#pragma once
#include <cstdint>

#include "core/portable.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace hocmim {

// Bit i is set where bytes[i] == value.
inline uint64_t bytes_equal_to(const uint8_t* bytes, uint8_t value) {
    uint64_t equal = 0;
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi8(char(value));
    for (int part = 0; part < 4; ++part) {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + part);
        equal |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(here, wanted)))) << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) equal |= uint64_t(bytes[i] == value) << i;
#endif
    return equal;
}

// Bit i is set where the highest bit of bytes[i] is, of 32 bytes.
inline uint64_t highest_bits(const uint8_t* bytes) {
    uint64_t bits = 0;
#ifdef __SSE2__
    for (int part = 0; part < 2; ++part) {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + part);
        bits |= uint64_t(uint32_t(_mm_movemask_epi8(here))) << (16 * part);
    }
#else
    for (int part = 0; part < 4; ++part) {
        // The product adds up bit 7 of byte i, shifted to bit 56 + i.
        const uint64_t high = (load_word(bytes + 8 * part) >> 7) & 0x0101010101010101u;
        bits |= ((high * 0x0102040810204080u) >> 56) << (8 * part);
    }
#endif
    return bits;
}

// Bit i is set where some[i] == others[i].
inline uint64_t bytes_equal(const uint8_t* some, const uint8_t* others) {
    uint64_t equal = 0;
#ifdef __SSE2__
    for (int part = 0; part < 4; ++part) {
        const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(some) + part);
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(others) + part);
        equal |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)))) << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) equal |= uint64_t(some[i] == others[i]) << i;
#endif
    return equal;
}

}  // namespace hocmim
