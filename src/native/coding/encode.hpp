// Learns how the columns of a block are coded, and codes them, in one pass over the block.
//
// A block is encoded panel by panel: some neighbouring columns whose codes stay in the cache. A
// panel is read once; each value leaves a byte in the row of codes of its column (bytes.hpp). Then
// the columns are learnt one by one from their bytes (learn.hpp). Columns that need their values
// again (few values that are not whole numbers, the method mdlp, very many bins) are gathered, a
// few at a time, as doubles.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "coding/block.hpp"
#include "coding/buckets.hpp"
#include "coding/bytes.hpp"
#include "coding/learn.hpp"
#include "core/arrays.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

// What was learnt of some columns. `cuts` and `distinct` are those of all columns, end to end.
struct LearntColumns {
    std::vector<uint8_t> is_cut, has_missing;
    std::vector<int64_t> n_levels, n_cuts, n_distinct, most_frequent, n_most_frequent;
    std::vector<double> minimum, maximum, cuts, distinct;
    int64_t infinite_column = -1;  // the first with an infinite value

    int64_t size() const { return int64_t(is_cut.size()); }

    void append(const LearntColumn& column) {
        if (column.is_infinite && infinite_column < 0) infinite_column = size();
        is_cut.push_back(column.is_cut);
        has_missing.push_back(column.has_missing);
        n_levels.push_back(column.n_levels);
        n_cuts.push_back(int64_t(column.cuts.size()));
        n_distinct.push_back(int64_t(column.distinct.size()));
        most_frequent.push_back(column.most_frequent);
        n_most_frequent.push_back(column.n_most_frequent);
        minimum.push_back(column.minimum);
        maximum.push_back(column.maximum);
        append_to(cuts, column.cuts);
        append_to(distinct, column.distinct);
    }
    // Append the columns that follow.
    void append(const LearntColumns& others) {
        if (others.infinite_column >= 0 && infinite_column < 0)
            infinite_column = size() + others.infinite_column;
        append_to(is_cut, others.is_cut);
        append_to(has_missing, others.has_missing);
        append_to(n_levels, others.n_levels);
        append_to(n_cuts, others.n_cuts);
        append_to(n_distinct, others.n_distinct);
        append_to(most_frequent, others.most_frequent);
        append_to(n_most_frequent, others.n_most_frequent);
        append_to(minimum, others.minimum);
        append_to(maximum, others.maximum);
        append_to(cuts, others.cuts);
        append_to(distinct, others.distinct);
    }

private:
    template <class V>
    static void append_to(std::vector<V>& all, const std::vector<V>& more) {
        all.insert(all.end(), more.begin(), more.end());
    }
};

// Encodes panels of a block; keeps the memory it works in.
template <class T>
class BlockEncoder {
public:
    BlockEncoder(const Block<T>& block, const Learning& how, uint8_t* codes)
        : block_(block), how_(how), learner_(how), codes_(codes) {}

    // Encode the columns from `left` on, and append how they are coded.
    void encode_panel(int64_t left, int64_t width, LearntColumns& found) {
        learnt_.resize(size_t(width));
        unknown_.clear();
        const bool in_rows = block_.column_stride == 1 && block_.rows >= kWordRows;
        if (!in_rows || width < kWordRows)
            encode_columns(left, width);
        else if (!kAreIntegers || !encode_integer_rows(left, width))
            encode_number_rows(left, width);
        for_columns(block_, unknown_, [&](int64_t c, double* x) {
            const int64_t j = unknown_[c];
            learner_.learn_values(x, block_.rows, codes(j), learnt(left, j));
            count_work(kLearning * block_.rows);
        });
        for (const LearntColumn& column : learnt_) found.append(column);
    }

    // The width of panels of nearly the same size.
    int64_t even_width() const {
        const int64_t n_panels = std::max<int64_t>(1, divide_up(block_.columns, panel_width()));
        return in_lanes(divide_up(block_.columns, n_panels));
    }
    // The least width for which a row-major table is read in order: four cache lines of a row.
    static int64_t least_width() { return std::max<int64_t>(32, 256 / int64_t(sizeof(T))); }
    // A width rounded up to columns that are read together.
    static int64_t in_lanes(int64_t width) {
        constexpr int64_t n_lanes = kAreIntegers ? kIntegerLanes : kNumberLanes;
        return divide_up(width, n_lanes) * n_lanes;
    }

private:
    static constexpr bool kAreIntegers = std::is_integral_v<T>;
    static constexpr int64_t kPanelBytes = int64_t(1) << 19;  // a usual second-level cache
    static constexpr int64_t kMostColumns = 512;
    static constexpr int64_t kLearning = 8;  // operations per value, about

    int64_t panel_width() const {
        const int64_t fitting = kPanelBytes / std::max<int64_t>(1, block_.rows) / 32 * 32;
        return std::clamp(fitting, least_width(), std::max(least_width(), kMostColumns));
    }
    static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

    uint8_t* codes(int64_t j) { return codes_ + j * block_.rows; }
    ColumnValues<T> values(int64_t j) const {
        return {block_.data + j * block_.column_stride, block_.row_stride};
    }

    LearntColumn& learnt(int64_t left, int64_t j) { return learnt_[size_t(j - left)]; }

    // --- a row-major panel ---

    // Call stage(first column, first row, rows) for parts of the panel of `lanes` columns.
    template <class Stage>
    void for_bands(int64_t width, int64_t lanes, Stage&& stage) {
        const int64_t whole = block_.rows / kWordRows * kWordRows;
        for (int64_t top = 0; top < whole; top += kBandRows) {
            const int64_t rows = std::min(kBandRows, whole - top);
            count_work(rows * width);
            for (int64_t c = 0; c < width; c += lanes) stage(std::min(c, width - lanes), top, rows);
        }
        if (whole < block_.rows)
            for (int64_t c = 0; c < width; c += lanes)
                stage(std::min(c, width - lanes), block_.rows - kWordRows, kWordRows);
    }

    // The same columns of the next band.
    int64_t ahead() const { return kBandRows * block_.row_stride; }

    const T* at(int64_t row, int64_t j) const { return block_.data + row * block_.row_stride + j; }

    bool encode_integer_rows(int64_t left, int64_t width) {
        if constexpr (kAreIntegers) {
            using Few = uint64_t;
            using Many = std::conditional_t<sizeof(T) == 8, Few, Words>;
            return width < kIntegerLanes ? encode_integer_lanes<Few>(left, width)
                                         : encode_integer_lanes<Many>(left, width);
        }
        return false;
    }

    // False if most columns span too many values.
    template <class Vector>
    bool encode_integer_lanes(int64_t left, int64_t width) {
        constexpr int64_t n_lanes = sizeof(Vector);
        std::vector<IntegerLanes<T, Vector>> lanes(size_t(width / n_lanes + 1));
        bool are_small = true;
        for_bands(width, n_lanes, [&](int64_t c, int64_t top, int64_t rows) {
            if (!are_small) return;
            auto& group = lanes[size_t((c + n_lanes - 1) / n_lanes)];
            stage_integers(at(top, left + c), block_.row_stride, rows, ahead(), group,
                           codes(left + c) + top, block_.rows);
            if (top == 0 && c + n_lanes == width) are_small = are_mostly_small(lanes);
        });
        if (!are_small) return false;
        for (int64_t c = 0; c < width; ++c) {
            const int64_t first = std::min(c / n_lanes * n_lanes, width - n_lanes);
            const auto& group = lanes[size_t((first + n_lanes - 1) / n_lanes)];
            learn_integers(left, left + c, group.minimum[c - first], group.maximum[c - first]);
        }
        return true;
    }

    template <class Group>
    static bool are_mostly_small(const std::vector<Group>& lanes) {
        if constexpr (sizeof(T) == 1) {
            return true;
        } else {
            int64_t n_small = 0, n_all = 0;
            for (const Group& group : lanes) {
                for (int64_t c = 0; c < Group::n_lanes; ++c) {
                    n_small += is_small(group.minimum[c], group.maximum[c]);
                    ++n_all;
                }
            }
            return 2 * n_small >= n_all;
        }
    }

    // Whether a byte and the minimum determine a value, and all values are exact as doubles.
    static bool is_small(T low, T high) {
        if constexpr (sizeof(T) == 8) {
            constexpr T kMost = T{1} << 53;
            if (high > kMost) return false;
            if constexpr (std::is_signed_v<T>) {
                if (low < -kMost) return false;
            }
        }
        return low > high || uint64_t(high) - uint64_t(low) < 256;
    }

    void learn_integers(int64_t left, int64_t j, T low, T high) {
        if constexpr (sizeof(T) == 1) {
            low = std::numeric_limits<T>::max();
            high = std::numeric_limits<T>::lowest();
            find_range(reinterpret_cast<const T*>(codes(j)), block_.rows, low, high);
        }
        if (!is_small(low, high)) {
            unknown_.push_back(j);
            return;
        }
        const auto range = int64_t(high) - int64_t(low);
        learner_.learn_counts(double(low), range, uint8_t(low), false, codes(j), block_.rows,
                              learnt(left, j));
    }

    // How the values of each column of the panel become bytes.
    std::vector<Buckets> choose_buckets(int64_t left, int64_t width) const {
        const int64_t n_groups = divide_up(width, kNumberLanes);
        std::vector<Buckets> buckets(size_t(n_groups * kNumberLanes));
        for (int64_t c = 0; c < width; c += kNumberLanes) {
            SampleLanes samples;
            if (block_.column_stride == 1 && c + kNumberLanes <= width)
                samples.take_rows(values(left + c), block_.rows);
            else
                for (int64_t lane = 0; lane < kNumberLanes; ++lane)
                    samples.take(values(left + std::min(c + lane, width - 1)), block_.rows, lane);
            Buckets::choose(samples, how_, &buckets[c]);
        }
        return buckets;
    }

    void encode_number_rows(int64_t left, int64_t width) {
        std::vector<NumberLanes> lanes(size_t(width / kNumberLanes + 1));
        const std::vector<Buckets> buckets = choose_buckets(left, width);
        for (int64_t c = 0; c < width; c += kNumberLanes) {
            const int64_t first = std::min(c, width - kNumberLanes);
            NumberLanes& group = lanes[size_t(c / kNumberLanes)];
            group.finds_between = false;
            for (int64_t k = 0; k < kNumberLanes; ++k) {
                const Buckets& of_column = buckets[size_t(first + k)];
                group.origin[k] = of_column.origin;
                group.scale[k] = of_column.scale;
                group.finds_between |= of_column.kind == Buckets::whole;
            }
        }
        for_bands(width, kNumberLanes, [&](int64_t c, int64_t top, int64_t rows) {
            const int64_t group = (c + kNumberLanes - 1) / kNumberLanes;
            stage_numbers(at(top, left + c), block_.row_stride, rows, ahead(), lanes[group],
                          codes(left + c) + top, block_.rows);
        });
        for (int64_t c = 0; c < width; ++c) {
            const int64_t first = std::min(c / kNumberLanes * kNumberLanes, width - kNumberLanes);
            const int64_t group = (first + kNumberLanes - 1) / kNumberLanes;
            learn_numbers(left, left + c, buckets[c], values(left + c), lanes[group], c - first);
        }
    }

    void learn_numbers(int64_t left, int64_t j, const Buckets& buckets,
                       const ColumnValues<T>& values, const NumberLanes& lanes, int64_t k) {
        const double low = lanes.minimum[k], high = lanes.maximum[k];
        if (buckets.kind == Buckets::many) {
            learner_.learn_buckets(values, buckets, low, high, codes(j), block_.rows,
                                   learnt(left, j));
        } else if (buckets.kind == Buckets::whole && !lanes.is_between[k] &&
                   low >= buckets.origin + kFirstBucket && high <= buckets.origin + kLastBucket) {
            learner_.learn_counts(low, int64_t(high - low), uint8_t(low - buckets.origin), true,
                                  codes(j), block_.rows, learnt(left, j));
        } else {
            unknown_.push_back(j);
        }
    }

    // --- columns one by one ---

    void encode_columns(int64_t left, int64_t width) {
        const std::vector<int64_t> columns = count_from(left, width);
        std::vector<Buckets> chosen;
        if constexpr (!kAreIntegers) chosen = choose_buckets(left, width);
        const auto encode_column = [&](int64_t c, const T* x) {
            const int64_t j = columns[c];
            if constexpr (kAreIntegers) {
                T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
                stage_integer_column(x, block_.rows, low, high, codes(j));
                if (is_small(low, high)) return learn_integers(left, j, low, high);
            }
            const ColumnValues<T> values{x, 1};
            const Buckets buckets =
                kAreIntegers ? Buckets::choose(values, block_.rows, how_) : chosen[c];
            NumberLanes lanes;
            lanes.origin[0] = buckets.origin;
            lanes.scale[0] = buckets.scale;
            lanes.finds_between = buckets.kind == Buckets::whole;
            if (buckets.kind != Buckets::unknown)
                stage_number_column(x, block_.rows, lanes, codes(j));
            learn_numbers(left, j, buckets, values, lanes, 0);
        };
        if (block_.row_stride == 1) {
            for (int64_t c = 0; c < width; ++c) {
                count_work(kLearning * block_.rows);
                encode_column(c, block_.data + columns[c] * block_.column_stride);
            }
        } else {
            for_columns(block_, columns, [&](int64_t c, T* x) {
                count_work(kLearning * block_.rows);
                encode_column(c, x);
            });
        }
    }

    Block<T> block_;
    Learning how_;
    Learner learner_;
    uint8_t* codes_;
    std::vector<LearntColumn> learnt_;
    std::vector<int64_t> unknown_;
};

// A block that several threads encode together. Each thread takes some neighbouring columns after
// the other, at last fewer, so that all threads end at about the same time. What is found does not
// depend on the threads.
class SharedEncoding {
public:
    // Called with the first of some neighbouring columns and how these are coded, by the thread
    // that has just encoded them.
    using OnPanel = std::function<void(int64_t left, const LearntColumns& found)>;

    virtual ~SharedEncoding() = default;

    // Encode columns until none is left. Every thread calls it once.
    virtual void encode(const OnPanel& on_panel) = 0;

    // How the columns are coded, after all threads have returned.
    LearntColumns take() {
        std::sort(parts_.begin(), parts_.end(),
                  [](const Part& a, const Part& b) { return a.first < b.first; });
        LearntColumns all;
        for (const Part& part : parts_) all.append(part.second);
        parts_.clear();
        return all;
    }

protected:
    void keep(int64_t left, LearntColumns&& found) {
        const std::lock_guard<std::mutex> locked(mutex_);
        parts_.emplace_back(left, std::move(found));
    }

private:
    using Part = std::pair<int64_t, LearntColumns>;

    std::mutex mutex_;
    std::vector<Part> parts_;
};

// The codes of column j are written to row j of `codes`, unless they do not fit into one byte.
template <class T>
class SharedBlock final : public SharedEncoding {
public:
    SharedBlock(const Block<T>& block, const Learning& how, Matrix<uint8_t> codes,
                int64_t n_threads)
        : block_(block), how_(how), codes_(codes), n_threads_(n_threads) {
        how.check(block.rows);
        require(int64_t(codes.n_rows) == block.columns && int64_t(codes.n_columns) == block.rows,
                "codes must have one row per column of the block");
        require(n_threads >= 1, "n_threads must be at least 1");
    }

    void encode(const OnPanel& on_panel) override {
        BlockEncoder<T> encoder(block_, how_, codes_.data());
        int64_t left;
        while (const int64_t width = take_columns(encoder, left)) {
            LearntColumns found;
            encoder.encode_panel(left, width, found);
            on_panel(left, found);
            keep(left, std::move(found));
        }
    }

private:
    // Take the next columns; returns how many they are, 0 if none is left.
    int64_t take_columns(const BlockEncoder<T>& encoder, int64_t& left) {
        left = next_.load();
        int64_t width;
        do {
            const int64_t n_left = block_.columns - left;
            width = std::min(n_left, encoder.even_width());
            if (n_threads_ > 1) {
                const int64_t share = std::max(n_left / (2 * n_threads_), encoder.least_width());
                width = std::min(width, encoder.in_lanes(share));
            }
        } while (!next_.compare_exchange_weak(left, left + width));
        return width;
    }

    const Block<T> block_;
    const Learning how_;
    const Matrix<uint8_t> codes_;
    const int64_t n_threads_;
    std::atomic<int64_t> next_{0};  // the first column that is not taken
};

// The same for sparse columns, by one thread.
inline LearntColumns encode_sparse(const SparseColumns& columns, const Learning& how,
                                   Matrix<uint8_t> codes) {
    columns.check();
    how.check(columns.n_rows);
    require(
        int64_t(codes.n_rows) == columns.n_columns() && int64_t(codes.n_columns) == columns.n_rows,
        "codes must have one row per column");
    LearntColumns found;
    Learner learner(how);
    LearntColumn column;
    for (int64_t j = 0; j < columns.n_columns(); ++j) {
        const int64_t first = columns.offsets[j], n_stored = columns.offsets[j + 1] - first;
        count_work(columns.n_rows + 8 * n_stored);
        learner.learn_sparse(columns.values.data() + first, columns.rows.data() + first, n_stored,
                             columns.n_rows, codes.row(j), column);
        found.append(column);
    }
    return found;
}

}  // namespace hocmim
