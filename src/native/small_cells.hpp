// Cells of few samples, tallied by what they hold: with deep conditioning sets there are hundreds of
// them, and few kinds.
#pragma once
#include <cstdint>
#include <vector>

namespace hocmim {

// A variable here is the rows (level and class), the levels, or the classes; its kinds are how many
// cells of each size hold each value how often. One cell of two samples adds to six kinds, looked up
// by its two rows; one of three to nine.
class SmallCells {
public:
    static constexpr int64_t kMostRows = 16;

    // For cells of up to so many samples: with many samples in all, larger ones are alike too.
    explicit SmallCells(int64_t n_samples) : most_(n_samples < kManySamples ? kFew : kMany) {}
    int64_t most_samples() const { return most_; }

    // For tables of n_levels * n_classes ≤ 16 rows. All tallies are 0 before and after a table.
    void prepare(int64_t n_levels, int64_t n_classes) {
        if (n_levels == n_levels_ && n_classes == n_classes_) return;
        n_levels_ = n_levels;
        n_classes_ = n_classes;
        n_rows_ = n_levels * n_classes;
        tally_.assign(size_t(n_rows_ + n_levels + n_classes) * n_kinds_ + 1, 0);
        make_look_ups();
    }

    void add_two(uint32_t a, uint32_t b) {
        ++n_of_size_[2];
        const uint16_t* kinds = twos_.data() + (a * uint32_t(n_rows_) + b) * 6;
        for (int k = 0; k < 6; ++k) ++tally_[kinds[k]];
    }

    void add_three(uint32_t a, uint32_t b, uint32_t c) {
        ++n_of_size_[3];
        const uint32_t at = (a * uint32_t(n_rows_) + b) * uint32_t(n_rows_) + c;
        const uint16_t* kinds = threes_.data() + at * 9;
        for (int k = 0; k < 9; ++k) ++tally_[kinds[k]];
    }

    // Up to most_samples() by their counts; counts of 0 are tallied too and never read.
    void add(const uint8_t* counts, int64_t size) {
        ++n_of_size_[size];
        uint32_t* of_size = tally_.data() + size * (most_ + 1);
        uint32_t *row = of_size, *level = of_size + n_rows_ * n_kinds_;
        uint32_t* cls = level + n_levels_ * n_kinds_;
        uint32_t of_class[kMostRows] = {};
        for (int64_t l = 0; l < n_levels_; ++l, level += n_kinds_) {
            uint32_t total = 0;
            for (int64_t k = 0; k < n_classes_; ++k, ++counts, row += n_kinds_) {
                ++row[*counts];
                total += *counts;
                of_class[k] += *counts;
            }
            ++level[total];
        }
        for (int64_t k = 0; k < n_classes_; ++k, cls += n_kinds_) ++cls[of_class[k]];
    }

    // Calls use(value, count, size, times) for all kinds of a variable, and clears its tally. The
    // sizes go last: they say where to look.
    template <class Use>
    void take_rows(Use&& use) { take(0, n_rows_, use); }
    template <class Use>
    void take_levels(Use&& use) { take(n_rows_, n_levels_, use); }
    template <class Use>
    void take_classes(Use&& use) { take(n_rows_ + n_levels_, n_classes_, use); }
    // Calls use(size, times).
    template <class Use>
    void take_sizes(Use&& use) {
        for (int64_t size = 2; size <= most_; ++size) {
            if (n_of_size_[size]) use(size, n_of_size_[size]);
            n_of_size_[size] = 0;
        }
    }

private:
    static constexpr int64_t kManySamples = 1 << 14, kFew = 8, kMany = 16;

    template <class Use>
    void take(int64_t first, int64_t n_values, Use& use) {
        for (int64_t size = 2; size <= most_; ++size) {
            if (n_of_size_[size] == 0) continue;
            uint32_t* kinds = tally_.data() + first * n_kinds_ + size * (most_ + 1);
            for (int64_t value = 0; value < n_values; ++value, kinds += n_kinds_)
                for (int64_t count = 1; count <= size; ++count) {
                    if (kinds[count]) use(size_t(value), count, size, int64_t(kinds[count]));
                    kinds[count] = 0;
                }
        }
    }

    // The kinds a cell adds to: those of each distinct value among `values`; the last slot of the
    // tally takes the rest.
    void append_kinds(std::vector<uint16_t>& to, int64_t first, const int64_t* values, int64_t size) {
        for (int64_t i = 0; i < size; ++i) {
            bool is_first = true;
            int64_t count = 0;
            for (int64_t k = 0; k < size; ++k) {
                count += values[k] == values[i];
                is_first &= k >= i || values[k] != values[i];
            }
            const int64_t kind = (first + values[i]) * n_kinds_ + size * (most_ + 1) + count;
            to.push_back(uint16_t(is_first ? kind : int64_t(tally_.size()) - 1));
        }
    }

    void append_cell(std::vector<uint16_t>& to, const int64_t* rows, int64_t size) {
        int64_t levels[3], classes[3];
        for (int64_t i = 0; i < size; ++i) {
            levels[i] = rows[i] / n_classes_;
            classes[i] = rows[i] % n_classes_;
        }
        append_kinds(to, 0, rows, size);
        append_kinds(to, n_rows_, levels, size);
        append_kinds(to, n_rows_ + n_levels_, classes, size);
    }

    void make_look_ups() {
        twos_.clear();
        threes_.clear();
        for (int64_t a = 0; a < n_rows_; ++a)
            for (int64_t b = 0; b < n_rows_; ++b) {
                const int64_t two[2] = {a, b};
                append_cell(twos_, two, 2);
                for (int64_t c = 0; c < n_rows_; ++c) {
                    const int64_t three[3] = {a, b, c};
                    append_cell(threes_, three, 3);
                }
            }
    }

    const int64_t most_, n_kinds_ = (most_ + 1) * (most_ + 1);  // by size, by count
    int64_t n_levels_ = 0, n_classes_ = 0, n_rows_ = 0;
    std::vector<uint32_t> tally_;
    std::vector<uint16_t> twos_, threes_;
    int64_t n_of_size_[kMany + 1] = {};
};

}  // namespace hocmim
