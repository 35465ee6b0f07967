// Learns how the columns of a block are coded, and codes them, in one pass over the block.
//
// A block is encoded panel by panel: some neighbouring columns whose codes stay in the cache. A
// panel is read once; each value leaves a byte in the row of codes of its column (stage.hpp). Then
// the columns are learnt one by one from their bytes (learn.hpp). Columns that need their values
// again (few values that are not whole numbers, the method mdlp, very many bins) are gathered, a
// few at a time, as doubles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "coding/arrays.hpp"
#include "coding/block.hpp"
#include "coding/learn.hpp"
#include "coding/stage.hpp"
#include "core/interrupt.hpp"

namespace hocmim::coding {

// Columns as Python gets them: see encode_block.
struct Codings {
    std::vector<std::uint8_t> is_cut, has_missing;
    std::vector<i64> n_cuts, n_distinct, n_levels, most_frequent, n_most_frequent;
    std::vector<double> minimum, maximum, cuts, distinct;
    i64 infinite = -1;  // the first column with an infinite value

    void append(const Coding& coding) {
        if (coding.is_infinite && infinite < 0) infinite = static_cast<i64>(is_cut.size());
        is_cut.push_back(coding.is_cut);
        has_missing.push_back(coding.has_missing);
        n_cuts.push_back(static_cast<i64>(coding.cuts.size()));
        n_distinct.push_back(static_cast<i64>(coding.levels.size()));
        n_levels.push_back(coding.n_levels);
        most_frequent.push_back(coding.most_frequent);
        n_most_frequent.push_back(coding.n_most_frequent);
        minimum.push_back(coding.minimum);
        maximum.push_back(coding.maximum);
        append_to(cuts, coding.cuts);
        append_to(distinct, coding.levels);
    }
    // Append the columns that follow.
    void append(const Codings& others) {
        if (others.infinite >= 0 && infinite < 0) {
            infinite = static_cast<i64>(is_cut.size()) + others.infinite;
        }
        append_to(is_cut, others.is_cut);
        append_to(has_missing, others.has_missing);
        append_to(n_cuts, others.n_cuts);
        append_to(n_distinct, others.n_distinct);
        append_to(n_levels, others.n_levels);
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

template <class T>
class BlockEncoder {
public:
    BlockEncoder(const Block<T>& block, const Learning& how, std::uint8_t* codes)
        : block_(block), how_(how), learner_(how), codes_(codes) {}

    // Encode the columns from `left` on, and append how they are coded.
    void encode_panel(i64 left, i64 width, Codings& found) {
        codings_.resize(static_cast<std::size_t>(width));
        unknown_.clear();
        const bool in_rows = block_.column_stride == 1 && block_.rows >= kWordRows;
        if (!in_rows || width < kWordRows) {
            encode_columns(left, width);
        } else if (!kAreIntegers || !encode_integer_rows(left, width)) {
            encode_number_rows(left, width);
        }
        for_columns(block_, unknown_, [&](i64 c, double* x) {
            const i64 j = unknown_[static_cast<std::size_t>(c)];
            learner_.learn_values(x, block_.rows, codes(j), coding(left, j));
            count_work(kLearning * block_.rows);
        });
        for (const Coding& coding : codings_) found.append(coding);
    }

    // The width of panels of nearly the same size.
    i64 even_width() const {
        const i64 n_panels = std::max<i64>(1, divide_up(block_.columns, panel_width()));
        return in_lanes(divide_up(block_.columns, n_panels));
    }
    // The least width for which a row-major table is read in order: four cache lines of a row.
    static i64 least_width() { return std::max<i64>(32, 256 / static_cast<i64>(sizeof(T))); }
    // A width rounded up to columns that are read together.
    static i64 in_lanes(i64 width) {
        constexpr i64 n_lanes = kAreIntegers ? kIntegerLanes : kNumberLanes;
        return divide_up(width, n_lanes) * n_lanes;
    }

private:
    static constexpr bool kAreIntegers = std::is_integral_v<T>;
    static constexpr i64 kPanelBytes = i64{1} << 19;  // a usual second-level cache
    static constexpr i64 kMostColumns = 512;
    static constexpr i64 kLearning = 8;  // operations a value, about

    i64 panel_width() const {
        const i64 fitting = kPanelBytes / std::max<i64>(1, block_.rows) / 32 * 32;
        return std::clamp(fitting, least_width(), std::max(least_width(), kMostColumns));
    }
    static i64 divide_up(i64 a, i64 b) { return (a + b - 1) / b; }

    std::uint8_t* codes(i64 j) { return codes_ + j * block_.rows; }
    Cells<T> cells(i64 j) const {
        return {block_.data + j * block_.column_stride, block_.row_stride};
    }

    Coding& coding(i64 left, i64 j) { return codings_[static_cast<std::size_t>(j - left)]; }

    // --- a row-major panel ---

    // Call stage(first column, first row, rows) for parts of the panel of `lanes` columns.
    template <class Stage>
    void for_bands(i64 width, i64 lanes, Stage&& stage) {
        const i64 whole = block_.rows / kWordRows * kWordRows;
        for (i64 top = 0; top < whole; top += kBandRows) {
            const i64 rows = std::min(kBandRows, whole - top);
            count_work(rows * width);
            for (i64 c = 0; c < width; c += lanes) stage(std::min(c, width - lanes), top, rows);
        }
        if (whole < block_.rows) {
            for (i64 c = 0; c < width; c += lanes) {
                stage(std::min(c, width - lanes), block_.rows - kWordRows, kWordRows);
            }
        }
    }

    // The same columns of the next band.
    i64 ahead() const { return kBandRows * block_.row_stride; }

    const T* at(i64 row, i64 j) const { return block_.data + row * block_.row_stride + j; }

    bool encode_integer_rows(i64 left, i64 width) {
        if constexpr (kAreIntegers) {
            using Few = std::uint64_t;
            using Many = std::conditional_t<sizeof(T) == 8, Few, Words>;
            return width < kIntegerLanes ? encode_integer_lanes<Few>(left, width)
                                         : encode_integer_lanes<Many>(left, width);
        }
        return false;
    }

    // False if most columns span too many values.
    template <class Vector>
    bool encode_integer_lanes(i64 left, i64 width) {
        constexpr i64 n_lanes = sizeof(Vector);
        std::vector<IntegerLanes<T, Vector>> lanes(static_cast<std::size_t>(width / n_lanes + 1));
        bool are_small = true;
        for_bands(width, n_lanes, [&](i64 c, i64 top, i64 rows) {
            if (!are_small) return;
            auto& group = lanes[static_cast<std::size_t>((c + n_lanes - 1) / n_lanes)];
            stage_integers(at(top, left + c), block_.row_stride, rows, ahead(), group,
                           codes(left + c) + top, block_.rows);
            if (top == 0 && c + n_lanes == width) are_small = are_mostly_small(lanes);
        });
        if (!are_small) return false;
        for (i64 c = 0; c < width; ++c) {
            const i64 first = std::min(c / n_lanes * n_lanes, width - n_lanes);
            const auto& group = lanes[static_cast<std::size_t>((first + n_lanes - 1) / n_lanes)];
            learn_integers(left, left + c, group.minimum[c - first], group.maximum[c - first]);
        }
        return true;
    }

    template <class Group>
    static bool are_mostly_small(const std::vector<Group>& lanes) {
        if constexpr (sizeof(T) == 1) {
            return true;
        } else {
            i64 n_small = 0, n_all = 0;
            for (const Group& group : lanes) {
                for (i64 c = 0; c < Group::n_lanes; ++c) {
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
        return low > high ||
               static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) < 256;
    }

    void learn_integers(i64 left, i64 j, T low, T high) {
        if constexpr (sizeof(T) == 1) {
            low = std::numeric_limits<T>::max();
            high = std::numeric_limits<T>::lowest();
            find_range(reinterpret_cast<const T*>(codes(j)), block_.rows, low, high);
        }
        if (!is_small(low, high)) {
            unknown_.push_back(j);
            return;
        }
        const auto range = static_cast<i64>(high) - static_cast<i64>(low);
        learner_.learn_counts(static_cast<double>(low), range, static_cast<std::uint8_t>(low),
                              false, codes(j), block_.rows, coding(left, j));
    }

    // How the values of each column of the panel become bytes.
    std::vector<Buckets> choose_buckets(i64 left, i64 width) const {
        const i64 n_groups = divide_up(width, kNumberLanes);
        std::vector<Buckets> buckets(static_cast<std::size_t>(n_groups * kNumberLanes));
        for (i64 c = 0; c < width; c += kNumberLanes) {
            SampleLanes samples;
            if (block_.column_stride == 1 && c + kNumberLanes <= width) {
                samples.take_rows(cells(left + c), block_.rows);
            } else {
                for (i64 lane = 0; lane < kNumberLanes; ++lane) {
                    samples.take(cells(left + std::min(c + lane, width - 1)), block_.rows, lane);
                }
            }
            Buckets::choose(samples, how_, &buckets[static_cast<std::size_t>(c)]);
        }
        return buckets;
    }

    void encode_number_rows(i64 left, i64 width) {
        std::vector<NumberLanes> lanes(static_cast<std::size_t>(width / kNumberLanes + 1));
        const std::vector<Buckets> buckets = choose_buckets(left, width);
        for (i64 c = 0; c < width; c += kNumberLanes) {
            const i64 first = std::min(c, width - kNumberLanes);
            NumberLanes& group = lanes[static_cast<std::size_t>(c / kNumberLanes)];
            group.finds_between = false;
            for (i64 k = 0; k < kNumberLanes; ++k) {
                const Buckets& of_column = buckets[static_cast<std::size_t>(first + k)];
                group.origin[k] = of_column.origin;
                group.scale[k] = of_column.scale;
                group.finds_between |= of_column.kind == Buckets::whole;
            }
        }
        for_bands(width, kNumberLanes, [&](i64 c, i64 top, i64 rows) {
            const i64 group = (c + kNumberLanes - 1) / kNumberLanes;
            stage_numbers(at(top, left + c), block_.row_stride, rows, ahead(),
                          lanes[static_cast<std::size_t>(group)], codes(left + c) + top,
                          block_.rows);
        });
        for (i64 c = 0; c < width; ++c) {
            const i64 first = std::min(c / kNumberLanes * kNumberLanes, width - kNumberLanes);
            const i64 group = (first + kNumberLanes - 1) / kNumberLanes;
            learn_numbers(left, left + c, buckets[static_cast<std::size_t>(c)], cells(left + c),
                          lanes[static_cast<std::size_t>(group)], c - first);
        }
    }

    void learn_numbers(i64 left, i64 j, const Buckets& buckets, const Cells<T>& cells,
                       const NumberLanes& lanes, i64 k) {
        const double low = lanes.minimum[k], high = lanes.maximum[k];
        if (buckets.kind == Buckets::many) {
            learner_.learn_buckets(cells, buckets, low, high, codes(j), block_.rows,
                                   coding(left, j));
        } else if (buckets.kind == Buckets::whole && !lanes.is_between[k] &&
                   low >= buckets.origin + kFirstBucket && high <= buckets.origin + kLastBucket) {
            learner_.learn_counts(low, static_cast<i64>(high - low),
                                  static_cast<std::uint8_t>(low - buckets.origin), true, codes(j),
                                  block_.rows, coding(left, j));
        } else {
            unknown_.push_back(j);
        }
    }

    // --- columns one by one ---

    void encode_columns(i64 left, i64 width) {
        const std::vector<i64> columns = count_from(left, width);
        std::vector<Buckets> chosen;
        if constexpr (!kAreIntegers) chosen = choose_buckets(left, width);
        const auto encode_column = [&](i64 c, const T* x) {
            const i64 j = columns[static_cast<std::size_t>(c)];
            if constexpr (kAreIntegers) {
                T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
                stage_integer_column(x, block_.rows, low, high, codes(j));
                if (is_small(low, high)) return learn_integers(left, j, low, high);
            }
            const Cells<T> cells{x, 1};
            const Buckets buckets = kAreIntegers ? Buckets::choose(cells, block_.rows, how_)
                                                 : chosen[static_cast<std::size_t>(c)];
            NumberLanes lanes;
            lanes.origin[0] = buckets.origin;
            lanes.scale[0] = buckets.scale;
            lanes.finds_between = buckets.kind == Buckets::whole;
            if (buckets.kind != Buckets::unknown) {
                stage_number_column(x, block_.rows, lanes, codes(j));
            }
            learn_numbers(left, j, buckets, cells, lanes, 0);
        };
        if (block_.row_stride == 1) {
            for (i64 c = 0; c < width; ++c) {
                count_work(kLearning * block_.rows);
                encode_column(
                    c, block_.data + columns[static_cast<std::size_t>(c)] * block_.column_stride);
            }
        } else {
            for_columns(block_, columns, [&](i64 c, T* x) {
                count_work(kLearning * block_.rows);
                encode_column(c, x);
            });
        }
    }

    Block<T> block_;
    Learning how_;
    Learner learner_;
    std::uint8_t* codes_;
    std::vector<Coding> codings_;
    std::vector<i64> unknown_;
};

// A column: whether it is cut, whether values are missing, numbers of cuts, of levels that are
// listed, and of levels; the most frequent code and its number of samples (0 if the codes do not
// fit into one byte); minimum and maximum (0 if it is not cut); all cuts and all listed levels; and
// the first column with an infinite value, or -1.
inline nb::tuple to_tuple(Codings&& found) {
    return nb::make_tuple(
        to_numpy(std::move(found.is_cut)), to_numpy(std::move(found.has_missing)),
        to_numpy(std::move(found.n_cuts)), to_numpy(std::move(found.n_distinct)),
        to_numpy(std::move(found.n_levels)), to_numpy(std::move(found.most_frequent)),
        to_numpy(std::move(found.n_most_frequent)), to_numpy(std::move(found.minimum)),
        to_numpy(std::move(found.maximum)), to_numpy(std::move(found.cuts)),
        to_numpy(std::move(found.distinct)), found.infinite);
}

inline Learning to_learning(int method, i64 n_bins, const Array1<i64>& classes, i64 n_classes,
                            i64 n_rows) {
    require(n_bins >= 2, "n_bins must be at least 2");
    require(method >= 0 && method <= static_cast<int>(Method::mdlp), "there is no such method");
    const Learning how{static_cast<Method>(method), n_bins, classes.data(), n_classes};
    if (how.method == Method::mdlp) require_classes(classes, n_rows, n_classes);
    return how;
}

}  // namespace hocmim::coding
