// Counts of samples that two sets of bits have in common. The one file, apart from core/dispatch,
// with code written for an instruction set.
#pragma once
#include <cstdint>

#include "core/dispatch.hpp"

namespace hocmim {

constexpr int64_t kPlaneLanes = 8;  // columns side by side in count_lanes

// counts[m * n_planes + p] = number of samples in both mask m and plane p. n_words is a multiple
// of 8.
void count_common(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                  int64_t n_words, int64_t* counts);

// The same for eight columns side by side: counts[(m * n_planes + p) * 8 + lane]. A mask has
// `stride` words, of which the first n_words are used.
void count_lanes(const uint64_t* planes, int64_t n_planes, const uint64_t* masks, int64_t n_masks,
                 int64_t stride, int64_t n_words, uint32_t* counts);

// Measured, for the instruction set in force: the planes times masks up to which counting on bit
// planes takes less time than counting samples.
int64_t most_popcounts();

}  // namespace hocmim
