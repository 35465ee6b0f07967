#include "counting/popcount.hpp"

#include <algorithm>

#ifdef HOCMIM_X86
#include <immintrin.h>
#endif

namespace hocmim {

namespace {

constexpr int64_t kLanes = kPlaneLanes;

// Words of a plane counted before the next pair: a mask and its planes stay in the first-level
// cache.
constexpr int64_t kWordsAtOnce = 512;

// Each counter adds the counts of words from..to-1 (whole cache lines) of planes that are n_words
// long.

void count_chunk_portable(const uint64_t* planes, int64_t n_planes, const uint64_t* masks,
                          int64_t n_masks, int64_t n_words, int64_t from, int64_t to,
                          int64_t* counts) {
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p) {
            const uint64_t *mask = masks + m * n_words, *plane = planes + p * n_words;
            int64_t count = 0;
            for (int64_t i = from; i < to; ++i) count += count_ones(mask[i] & plane[i]);
            counts[m * n_planes + p] += count;
        }
}

void count_lanes_portable(const uint64_t* planes, int64_t n_planes, const uint64_t* masks,
                          int64_t n_masks, int64_t stride, int64_t n_words, uint32_t* counts) {
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p, counts += kLanes) {
            const uint64_t *mask = masks + m * stride, *plane = planes + p * n_words * kLanes;
            std::fill_n(counts, size_t(kLanes), 0);
            for (int64_t i = 0; i < n_words; ++i)
                for (int64_t lane = 0; lane < kLanes; ++lane)
                    counts[lane] += uint32_t(count_ones(mask[i] & plane[i * kLanes + lane]));
        }
}

#ifdef HOCMIM_X86

// Bits of each 64: four at a time by a table in a register; bytes are added up by sums of absolute
// differences.
HOCMIM_TARGET_AVX2 inline __m256i popcount_avx2(__m256i bits) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i bytes = _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(bits, low)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low)));
    return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
}

HOCMIM_TARGET_AVX2 void count_chunk_avx2(const uint64_t* planes, int64_t n_planes,
                                         const uint64_t* masks, int64_t n_masks, int64_t n_words,
                                         int64_t from, int64_t to, int64_t* counts) {
    const __m256i zero = _mm256_setzero_si256();
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p) {
            const uint64_t *mask = masks + m * n_words, *plane = planes + p * n_words;
            __m256i sum = zero;
            for (int64_t i = from; i < to; i += 4) {
                const __m256i both = _mm256_and_si256(
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + i)),
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plane + i)));
                sum = _mm256_add_epi64(sum, popcount_avx2(both));
            }
            alignas(32) int64_t lanes[4];
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
            counts[m * n_planes + p] += lanes[0] + lanes[1] + lanes[2] + lanes[3];
        }
}

HOCMIM_TARGET_AVX2 void count_lanes_avx2(const uint64_t* planes, int64_t n_planes,
                                         const uint64_t* masks, int64_t n_masks, int64_t stride,
                                         int64_t n_words, uint32_t* counts) {
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p, counts += kLanes) {
            const uint64_t *mask = masks + m * stride, *plane = planes + p * n_words * kLanes;
            __m256i sum[2] = {};
            for (int64_t i = 0; i < n_words; ++i) {
                const __m256i bits = _mm256_set1_epi64x(int64_t(mask[i]));
                for (int half = 0; half < 2; ++half) {
                    const uint64_t* at = plane + i * kLanes + 4 * half;
                    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
                    sum[half] =
                        _mm256_add_epi64(sum[half], popcount_avx2(_mm256_and_si256(bits, here)));
                }
            }
            for (int half = 0; half < 2; ++half)
                _mm_storeu_si128(
                    reinterpret_cast<__m128i*>(counts + 4 * half),
                    _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(sum[half], even)));
        }
}

// The counts of n masks (at most four) with one plane: each word of the plane is loaded once.
template <int n>
HOCMIM_TARGET_AVX512 inline void count_lanes_of(const uint64_t* plane, const uint64_t* masks,
                                                int64_t stride, int64_t n_words, uint32_t* counts,
                                                int64_t apart) {
    __m512i sum[n] = {};
    for (int64_t i = 0; i < n_words; ++i) {
        const __m512i bits = _mm512_loadu_si512(plane + i * kLanes);
        for (int m = 0; m < n; ++m) {
            const __m512i mask = _mm512_set1_epi64(int64_t(masks[m * stride + i]));
            sum[m] = _mm512_add_epi64(sum[m], _mm512_popcnt_epi64(_mm512_and_si512(bits, mask)));
        }
    }
    for (int m = 0; m < n; ++m)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts + m * apart),
                            _mm512_maskz_cvtepi64_epi32(0xff, sum[m]));
}

HOCMIM_TARGET_AVX512 void count_lanes_avx512(const uint64_t* planes, int64_t n_planes,
                                             const uint64_t* masks, int64_t n_masks, int64_t stride,
                                             int64_t n_words, uint32_t* counts) {
    const int64_t apart = n_planes * kLanes;
    for (int64_t p = 0; p < n_planes; ++p) {
        const uint64_t* plane = planes + p * n_words * kLanes;
        uint32_t* to = counts + p * kLanes;
        int64_t m = 0;
        for (; m + 4 <= n_masks; m += 4)
            count_lanes_of<4>(plane, masks + m * stride, stride, n_words, to + m * apart, apart);
        const uint64_t* rest = masks + m * stride;
        switch (n_masks - m) {
            case 3:
                count_lanes_of<3>(plane, rest, stride, n_words, to + m * apart, apart);
                break;
            case 2:
                count_lanes_of<2>(plane, rest, stride, n_words, to + m * apart, apart);
                break;
            case 1:
                count_lanes_of<1>(plane, rest, stride, n_words, to + m * apart, apart);
                break;
            default:
                break;
        }
    }
}

HOCMIM_TARGET_AVX512 void count_chunk_avx512(const uint64_t* planes, int64_t n_planes,
                                             const uint64_t* masks, int64_t n_masks,
                                             int64_t n_words, int64_t from, int64_t to,
                                             int64_t* counts) {
    for (int64_t m = 0; m < n_masks; ++m) {
        const uint64_t* mask = masks + m * n_words;
        int64_t p = 0;
        for (; p + 4 <= n_planes; p += 4) {  // four planes share the loads of a mask
            const uint64_t* plane = planes + p * n_words;
            __m512i sum[4] = {};
            for (int64_t i = from; i < to; i += 8) {
                const __m512i bits = _mm512_loadu_si512(mask + i);
                for (int64_t k = 0; k < 4; ++k)
                    sum[k] = _mm512_add_epi64(
                        sum[k], _mm512_popcnt_epi64(_mm512_and_si512(
                                    bits, _mm512_loadu_si512(plane + k * n_words + i))));
            }
            for (int64_t k = 0; k < 4; ++k)
                counts[m * n_planes + p + k] += _mm512_reduce_add_epi64(sum[k]);
        }
        for (; p < n_planes; ++p) {
            const uint64_t* plane = planes + p * n_words;
            __m512i sum = _mm512_setzero_si512();
            for (int64_t i = from; i < to; i += 8)
                sum = _mm512_add_epi64(
                    sum, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(mask + i),
                                                              _mm512_loadu_si512(plane + i))));
            counts[m * n_planes + p] += _mm512_reduce_add_epi64(sum);
        }
    }
}

#endif

void count_chunk(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                 int64_t n_words, int64_t from, int64_t to, int64_t* counts) {
    switch (isa()) {
        HOCMIM_FOR_EACH_ISA(HOCMIM_CASE_, count_chunk,
                            (planes, n_planes, masks, n_masks, n_words, from, to, counts))
        default:
            return;
    }
}

}  // namespace

void count_common(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                  int64_t n_words, int64_t* counts) {
    std::fill_n(counts, size_t(n_masks * n_planes), 0);
    for (int64_t from = 0; from < n_words; from += kWordsAtOnce)
        count_chunk(planes, n_planes, masks, n_masks, n_words, from,
                    std::min(n_words, from + kWordsAtOnce), counts);
}

void count_lanes(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                 int64_t stride, int64_t n_words, uint32_t* counts) {
    switch (isa()) {
        HOCMIM_FOR_EACH_ISA(HOCMIM_CASE_, count_lanes,
                            (planes, n_planes, masks, n_masks, stride, n_words, counts))
        default:
            return;
    }
}

int64_t most_popcounts() {
    switch (isa()) {
        case Isa::avx512:
            return 320;
        case Isa::avx2:
            return 96;
        default:
            return 64;
    }
}

}  // namespace hocmim
