// What the values of a block of columns are like.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "coding/arrays.hpp"
#include "coding/block.hpp"
#include "coding/bytes.hpp"
#include "coding/stage.hpp"
#include "core/dispatch.hpp"

namespace hocmim::coding {

// Whether each of n <= kTileRows values is missing or one of `values`, without a branch.
HOCMIM_INLINE bool are_known_body(const double* x, i64 n, const double* values,
                                  std::size_t n_values) {
    i64 known[kTileRows];
    for (i64 i = 0; i < n; ++i) known[i] = x[i] != x[i];
    for (std::size_t k = 0; k < n_values; ++k) {
        for (i64 i = 0; i < n; ++i) known[i] |= x[i] == values[k];
    }
    i64 all = 1;
    for (i64 i = 0; i < n; ++i) all &= known[i];
    return all != 0;
}
HOCMIM_DISPATCH(inline bool, are_known, are_known_body,
                (const double* x, i64 n, const double* values, std::size_t n_values),
                (x, n, values, n_values))

inline bool has_missing(const double* x, i64 n) {
    bool missing = false;
    for (i64 i = 0; i < n; ++i) missing |= x[i] != x[i];
    return missing;
}

// The distinct values of a column, in order, until there are more than `limit` of them.
class Distinct {
public:
    void add(const double* x, i64 n, std::size_t limit) {
        if (values_.size() <= kFew && all_known(x, n)) return;
        for (i64 i = 0; i < n && !too_many_; ++i) {
            const double value = x[i];
            if (value != value) continue;
            const auto at = std::lower_bound(values_.begin(), values_.end(), value);
            if (at != values_.end() && *at == value) continue;
            if (values_.size() == limit) {
                too_many_ = true;
                std::vector<double>().swap(values_);
            } else {
                values_.insert(at, value);
            }
        }
    }
    bool too_many() const { return too_many_; }
    const std::vector<double>& values() const { return values_; }

private:
    static constexpr std::size_t kFew = 16;

    // The usual answer once a column of few levels has been seen for a while.
    bool all_known(const double* x, i64 n) const {
        return are_known(x, n, values_.data(), values_.size());
    }

    std::vector<double> values_;
    bool too_many_ = false;
};

template <class T>
nb::tuple survey(const Array2<T>& values, i64 limit) {
    require(limit >= 1, "limit must be at least 1");
    const Block<T> block(values);
    const auto width = static_cast<std::size_t>(block.columns);
    std::vector<double> minimum(width, std::numeric_limits<double>::infinity());
    std::vector<double> maximum(width, -std::numeric_limits<double>::infinity());
    std::vector<std::uint8_t> missing(width, 0);
    std::vector<i64> n_distinct(width);
    std::vector<double> distinct;
    {
        nb::gil_scoped_release unlocked;
        std::vector<Distinct> sets(width);
        for_tiles(block, count_from(0, block.columns), [&](i64 j, i64, i64 n, const double* x) {
            find_range(x, n, minimum[j], maximum[j]);
            missing[j] |= has_missing(x, n);
            if (!sets[j].too_many()) sets[j].add(x, n, static_cast<std::size_t>(limit));
        });
        for (std::size_t j = 0; j < width; ++j) {
            const auto& found = sets[j].values();
            n_distinct[j] = sets[j].too_many() ? limit + 1 : static_cast<i64>(found.size());
            distinct.insert(distinct.end(), found.begin(), found.end());
        }
    }
    return nb::make_tuple(to_numpy(std::move(minimum)), to_numpy(std::move(maximum)),
                          to_numpy(std::move(missing)), to_numpy(std::move(n_distinct)),
                          to_numpy(std::move(distinct)));
}

// The most frequent code of each row of codes; of equally frequent ones the smallest.
template <class Code>
Result<i64> most_frequent(const Rows<const Code>& codes) {
    std::vector<i64> found(codes.shape(0));
    {
        nb::gil_scoped_release unlocked;
        const std::size_t n = codes.shape(1);
        std::vector<i64> counts(std::size_t{std::numeric_limits<Code>::max()} + 1);
        for (std::size_t r = 0; r < found.size(); ++r) {
            const Code* row = codes.data() + r * n;
            if constexpr (sizeof(Code) == 1) {
                count_bytes(row, static_cast<i64>(n), counts.data());
            } else {
                std::fill(counts.begin(), counts.end(), 0);
                for (std::size_t i = 0; i < n; ++i) ++counts[row[i]];
            }
            found[r] = std::max_element(counts.begin(), counts.end()) - counts.begin();
        }
    }
    return to_numpy(std::move(found));
}

}  // namespace hocmim::coding
