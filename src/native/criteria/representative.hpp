// The binary representatives of a column.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/columns.hpp"

namespace hocmim {

// A binary column up to negation, which carries the same information: the samples of its rarer
// value, in order, and the same as bits.
struct Representative {
    std::vector<uint32_t> samples;
    std::vector<uint64_t> bits;

    Representative(std::vector<uint32_t> samples_, int64_t n_samples)
        : samples(std::move(samples_)), bits(size_t((n_samples + 63) / 64), 0) {
        for (const uint32_t i : samples) bits[i / 64] |= uint64_t(1) << (i % 64);
    }
};

// [x > t] for t between consecutive levels that occur.
inline std::vector<Representative> representatives(const Column& column, int64_t n_samples) {
    std::vector<Representative> result;
    column.visit([&](const auto* level_of) {
        std::vector<int64_t> count(size_t(column.arity), 0);
        for (int64_t i = 0; i < n_samples; ++i) ++count[level_of[i]];
        int64_t below = 0;
        for (int64_t t = 0; t < column.arity; ++t) {
            below += count[size_t(t)];
            if (below == n_samples) break;
            if (count[size_t(t)] == 0) continue;
            const bool above_is_rare = 2 * below >= n_samples;
            std::vector<uint32_t> rare;
            rare.reserve(size_t(above_is_rare ? n_samples - below : below));
            for (int64_t i = 0; i < n_samples; ++i)
                if ((level_of[i] > t) == above_is_rare) rare.push_back(uint32_t(i));
            result.emplace_back(std::move(rare), n_samples);
        }
    });
    return result;
}

// Whether two are equal, or each other's negation: then the rarer value has half of the samples.
inline bool carry_same_information(const Representative& a, const Representative& b,
                                   int64_t n_samples) {
    if (a.bits == b.bits) return true;
    if (a.samples.size() != b.samples.size() || 2 * int64_t(a.samples.size()) != n_samples)
        return false;
    for (size_t k = 0; k < a.bits.size(); ++k)
        if (a.bits[k] & b.bits[k]) return false;
    return true;
}

}  // namespace hocmim
