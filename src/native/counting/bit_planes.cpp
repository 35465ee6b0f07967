#include "counting/bit_planes.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define HOCMIM_X86 1
#include <immintrin.h>
#endif

namespace hocmim {

namespace {

// Sets bit i of the words of plane `level` where code i is that level; words are `stride` apart.
void set_plane(const uint8_t* codes, int64_t n_samples, uint8_t level, uint64_t* words,
               int64_t stride = 1) {
    int64_t i = 0;
#ifdef HOCMIM_X86
    const __m128i wanted = _mm_set1_epi8(char(level));
    for (; i + 64 <= n_samples; i += 64) {
        uint64_t word = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i* at = reinterpret_cast<const __m128i*>(codes + i + 16 * part);
            const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(at), wanted));
            word |= uint64_t(uint32_t(bits)) << (16 * part);
        }
        words[i / 64 * stride] = word;
    }
#endif
    for (; i < n_samples; ++i) words[i / 64 * stride] |= uint64_t(codes[i] == level) << (i % 64);
}

using Counter = void (*)(const uint64_t*, int64_t, const uint64_t*, int64_t, int64_t, int64_t, int64_t,
                         int64_t*);
using LaneCounter = void (*)(const uint64_t*, int64_t, const uint64_t*, int64_t, int64_t, int64_t,
                             uint32_t*);
constexpr int64_t kLanes = BitPlanes::kLanes;

// Each counter adds the counts of words from..to-1 (whole cache lines) of planes that are n_words long.

__attribute__((always_inline)) inline void count_words(const uint64_t* planes, int64_t n_planes,
                                                       const uint64_t* masks, int64_t n_masks,
                                                       int64_t n_words, int64_t from, int64_t to,
                                                       int64_t* counts) {
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p) {
            const uint64_t *mask = masks + m * n_words, *plane = planes + p * n_words;
            int64_t count = 0;
            for (int64_t i = from; i < to; ++i) count += __builtin_popcountll(mask[i] & plane[i]);
            counts[m * n_planes + p] += count;
        }
}

void count_portable(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                    int64_t n_words, int64_t from, int64_t to, int64_t* counts) {
    count_words(planes, n_planes, masks, n_masks, n_words, from, to, counts);
}

__attribute__((always_inline)) inline void count_lane_words(const uint64_t* planes, int64_t n_planes,
                                                            const uint64_t* masks, int64_t n_masks,
                                                            int64_t stride, int64_t n_words,
                                                            uint32_t* counts) {
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p, counts += kLanes) {
            const uint64_t *mask = masks + m * stride, *plane = planes + p * n_words * kLanes;
            std::fill_n(counts, size_t(kLanes), 0);
            for (int64_t i = 0; i < n_words; ++i)
                for (int64_t lane = 0; lane < kLanes; ++lane)
                    counts[lane] += uint32_t(__builtin_popcountll(mask[i] & plane[i * kLanes + lane]));
        }
}

void count_lanes_portable(const uint64_t* planes, int64_t n_planes, const uint64_t* masks,
                          int64_t n_masks, int64_t stride, int64_t n_words, uint32_t* counts) {
    count_lane_words(planes, n_planes, masks, n_masks, stride, n_words, counts);
}

#ifdef HOCMIM_X86

// The same loop, compiled to the instruction.
__attribute__((target("popcnt"))) void count_popcnt(const uint64_t* planes, int64_t n_planes,
                                                    const uint64_t* masks, int64_t n_masks,
                                                    int64_t n_words, int64_t from, int64_t to,
                                                    int64_t* counts) {
    count_words(planes, n_planes, masks, n_masks, n_words, from, to, counts);
}

__attribute__((target("popcnt"))) void count_lanes_popcnt(const uint64_t* planes, int64_t n_planes,
                                                          const uint64_t* masks, int64_t n_masks,
                                                          int64_t stride, int64_t n_words,
                                                          uint32_t* counts) {
    count_lane_words(planes, n_planes, masks, n_masks, stride, n_words, counts);
}

// Bits of each 64: four at a time by a table in a register; bytes are added up by sums of absolute
// differences.
__attribute__((target("avx2"))) inline __m256i popcount_avx2(__m256i bits) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i bytes =
        _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(bits, low)),
                        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low)));
    return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
}

__attribute__((target("avx2"))) void count_avx2(const uint64_t* planes, int64_t n_planes,
                                                const uint64_t* masks, int64_t n_masks,
                                                int64_t n_words, int64_t from, int64_t to,
                                                int64_t* counts) {
    const __m256i zero = _mm256_setzero_si256();
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p) {
            const uint64_t *mask = masks + m * n_words, *plane = planes + p * n_words;
            __m256i sum = zero;
            for (int64_t i = from; i < to; i += 4) {
                const __m256i both =
                    _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + i)),
                                     _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plane + i)));
                sum = _mm256_add_epi64(sum, popcount_avx2(both));
            }
            alignas(32) int64_t lanes[4];
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
            counts[m * n_planes + p] += lanes[0] + lanes[1] + lanes[2] + lanes[3];
        }
}

__attribute__((target("avx2"))) void count_lanes_avx2(const uint64_t* planes, int64_t n_planes,
                                                      const uint64_t* masks, int64_t n_masks,
                                                      int64_t stride, int64_t n_words,
                                                      uint32_t* counts) {
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
                    sum[half] = _mm256_add_epi64(sum[half], popcount_avx2(_mm256_and_si256(bits, here)));
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
__attribute__((target("avx512f,avx512vpopcntdq"))) inline void count_lanes_of(
    const uint64_t* plane, const uint64_t* masks, int64_t stride, int64_t n_words, uint32_t* counts,
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

__attribute__((target("avx512f,avx512vpopcntdq"))) void count_lanes_avx512(
    const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks, int64_t stride,
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
            case 3: count_lanes_of<3>(plane, rest, stride, n_words, to + m * apart, apart); break;
            case 2: count_lanes_of<2>(plane, rest, stride, n_words, to + m * apart, apart); break;
            case 1: count_lanes_of<1>(plane, rest, stride, n_words, to + m * apart, apart); break;
            default: break;
        }
    }
}

__attribute__((target("avx512f,avx512vpopcntdq"))) void count_avx512(
    const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks, int64_t n_words,
    int64_t from, int64_t to, int64_t* counts) {
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

struct Dispatch {
    Counter counter;
    LaneCounter lane_counter;
    const char* name;
};

// What this machine can run, the fastest first.
std::vector<Dispatch> possible() {
    std::vector<Dispatch> found;
#ifdef HOCMIM_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512f"))
        found.push_back({count_avx512, count_lanes_avx512, "avx512"});
    if (__builtin_cpu_supports("avx2")) found.push_back({count_avx2, count_lanes_avx2, "avx2"});
    if (__builtin_cpu_supports("popcnt")) found.push_back({count_popcnt, count_lanes_popcnt, "popcnt"});
#endif
    found.push_back({count_portable, count_lanes_portable, "portable"});
    return found;
}

const std::vector<Dispatch> kPossible = possible();

// Words of a plane gone through before the next pair: a mask and its planes stay in the nearest cache.
constexpr int64_t kChunk = 512;

}  // namespace

namespace {

bool has_few_levels(const Column& column) {
    return !column.wide && column.arity <= BitPlanes::kMostLevels;
}

}  // namespace

BitPlanes::BitPlanes(const Columns& columns)
    : n_words_((columns.n_samples() + 63) / 64), in_lanes_(n_words_ <= kMostWordsInLanes),
      first_(size_t(columns.size()), -1) {
    if (!in_lanes_) n_words_ = words_for(columns.n_samples());
    words_.assign(size_t(in_lanes_ ? place_in_lanes(columns) : place_in_turn(columns)), 0);
    const int64_t stride = in_lanes_ ? kLanes : 1;
    for (int64_t j = 0; j < columns.size(); ++j)
        for (int64_t level = 1; has(j) && level < columns[j].arity; ++level)
            set_plane(static_cast<const uint8_t*>(columns[j].data), columns.n_samples(), uint8_t(level),
                      words_.data() + first_[size_t(j)] + (level - 1) * n_words_ * stride, stride);
}

int64_t BitPlanes::place_in_lanes(const Columns& columns) {
    int64_t n_words = 0;
    int64_t n_of_arity[kMostLevels + 1] = {}, with_room[kMostLevels + 1];
    group_of_.assign(size_t(columns.size()), -1);
    for (int64_t j = 0; j < columns.size(); ++j) {
        if (!has_few_levels(columns[j])) continue;
        const int64_t arity = columns[j].arity, lane = n_of_arity[arity]++ % kLanes;
        if (lane == 0) {
            with_room[arity] = int64_t(groups_.size());
            groups_.push_back({arity, n_words, {-1, -1, -1, -1, -1, -1, -1, -1}});
            n_words += (arity - 1) * n_words_ * kLanes;
        }
        Group& group = groups_[size_t(with_room[arity])];
        group.column[lane] = j;
        group_of_[size_t(j)] = with_room[arity];
        first_[size_t(j)] = group.first + lane;
    }
    return n_words;
}

int64_t BitPlanes::place_in_turn(const Columns& columns) {
    int64_t n_words = 0;
    for (int64_t j = 0; j < columns.size(); ++j) {
        if (!has_few_levels(columns[j])) continue;
        first_[size_t(j)] = n_words;
        n_words += (columns[j].arity - 1) * n_words_;
    }
    return n_words;
}

const uint64_t* BitPlanes::planes(int64_t j, int64_t arity, std::vector<uint64_t>& scratch) const {
    const uint64_t* from = words_.data() + first_[size_t(j)];
    if (!in_lanes_) return from;
    const int64_t padded = (n_words_ + 7) / 8 * 8;
    scratch.resize(size_t((arity - 1) * padded));
    for (uint64_t* to = scratch.data(); to < scratch.data() + scratch.size(); to += padded) {
        for (int64_t i = 0; i < n_words_; ++i, from += kLanes) to[i] = *from;
        std::fill(to + n_words_, to + padded, 0);
    }
    return scratch.data();
}

CellMasks::CellMasks(const uint32_t* cell_of, int64_t n_samples, int64_t n_cells)
    : n_samples_(n_samples), n_cells_(n_cells), n_words_(BitPlanes::words_for(n_samples)) {
    if (n_cells > kMostCells) throw std::invalid_argument("too many cells for masks");
    words_.assign(size_t(n_cells * n_words_), 0);
    for (int64_t i = 0; i < n_samples; ++i) {
        if (cell_of[i] >= uint64_t(n_cells)) throw std::invalid_argument("a cell is not below their number");
        words_[size_t(int64_t(cell_of[i]) * n_words_ + i / 64)] |= uint64_t(1) << (i % 64);
    }
}

CellMasks::CellMasks(const uint8_t* codes, int64_t n_samples, int64_t n_levels)
    : n_samples_(n_samples), n_cells_(n_levels), n_words_(BitPlanes::words_for(n_samples)) {
    words_.assign(size_t(n_levels * n_words_), 0);
    for (int64_t level = 0; level < n_levels; ++level)
        set_plane(codes, n_samples, uint8_t(level), words_.data() + level * n_words_);
}

CellMasks::CellMasks(const CellMasks& w, const CellMasks& y)
    : n_samples_(w.n_samples_), n_cells_(w.n_cells_ * y.n_cells_), n_words_(w.n_words_) {
    if (y.n_samples_ != n_samples_) throw std::invalid_argument("the masks are not of one length");
    words_.resize(size_t(n_cells_ * n_words_));
    uint64_t* to = words_.data();
    for (int64_t a = 0; a < w.n_cells_; ++a)
        for (int64_t b = 0; b < y.n_cells_; ++b)
            for (int64_t i = 0; i < n_words_; ++i)
                *to++ = w.words_[size_t(a * n_words_ + i)] & y.words_[size_t(b * n_words_ + i)];
}

std::vector<int64_t> CellMasks::counts() const {
    std::vector<int64_t> counts(size_t(n_cells_), 0);
    for (int64_t cell = 0; cell < n_cells_; ++cell)  // each cell in common with itself
        count_common(masks() + cell * n_words_, 1, masks() + cell * n_words_, 1, n_words_,
                     &counts[size_t(cell)]);
    return counts;
}

void count_common(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                  int64_t n_words, int64_t* counts, size_t dispatch) {
    std::fill_n(counts, size_t(n_masks * n_planes), 0);
    for (int64_t from = 0; from < n_words; from += kChunk)
        kPossible[dispatch].counter(planes, n_planes, masks, n_masks, n_words, from,
                                    std::min(n_words, from + kChunk), counts);
}

void count_lanes(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                 int64_t stride, int64_t n_words, uint32_t* counts, size_t dispatch) {
    kPossible[dispatch].lane_counter(planes, n_planes, masks, n_masks, stride, n_words, counts);
}

std::vector<std::string> popcount_dispatches() {
    std::vector<std::string> names;
    for (const Dispatch& dispatch : kPossible) names.emplace_back(dispatch.name);
    return names;
}

}  // namespace hocmim
