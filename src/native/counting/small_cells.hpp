// A tally of cells of few samples by their contents: deep conditioning sets have hundreds of such
// cells, and most of them are alike.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "counting/paths.hpp"

namespace hocmim {

// There are three variables: the rows (level and class), the levels and the classes. A kind of a
// variable is a value, its count in a cell, and the size of the cell; the tally holds how many
// cells there are of each kind. A cell of two samples adds to six kinds, one of three to nine. So
// cells are first tallied whole: those of two and three samples by their rows, and, with two
// classes, larger ones by the pair of class counts of each level. take_rows() turns these tallies
// into kinds.
class SmallCells {
public:
    static constexpr int64_t kMostRows = 16;

    explicit SmallCells(int64_t n_samples) : most_(paths::most_tallied_samples(n_samples)) {}
    int64_t most_samples() const { return most_; }

    // For tables of n_levels * n_classes ≤ 16 rows. All tallies are 0 before and after a table.
    void prepare(int64_t n_levels, int64_t n_classes) {
        if (n_levels == n_levels_ && n_classes == n_classes_) return;
        n_levels_ = n_levels;
        n_classes_ = n_classes;
        n_rows_ = n_levels * n_classes;
        of_pair_.assign(n_classes == 2 ? size_t(n_levels) * pairs_.size : 0, 0);
        tally_.assign(size_t(n_rows_ + n_levels + n_classes) * n_kinds_ + 1, 0);
        make_look_ups();
    }

    // Two samples of these rows, if they are one cell. Branch-free: the branch is unpredictable.
    void add_two(uint32_t a, uint32_t b, bool is_one_cell) {
        of_two_[a * kMostRows + b] += is_one_cell;
    }

    // Three samples; those that are equal are one cell.
    void add_of_three(uint32_t a, uint32_t b, uint32_t c, bool is_ab, bool is_ac, bool is_bc) {
        const bool is_all = is_ab & is_ac;
        add_two(a, b, is_ab & !is_all);
        add_two(a, c, is_ac & !is_all);
        add_two(b, c, is_bc & !is_all);
        of_three_[(a * kMostRows + b) * kMostRows + c] += is_all;
    }

    // Up to most_samples() by their counts, kMostRows of them; counts of 0 are tallied too and
    // never read.
    void add(const uint8_t* counts, int64_t size) {
        if (n_classes_ == 2)
            add_of_two_classes(counts, size);
        else
            add_of_any(counts, size);
    }

    // Calls use(value, count, size, times) for all kinds of a variable, and clears its tally. The
    // sizes go last: they say where to look.
    template <class Use>
    void take_rows(Use&& use) {
        count_kinds_of_rows();
        if (n_classes_ == 2) count_kinds_of_levels();
        take(0, n_rows_, use);
    }
    template <class Use>
    void take_levels(Use&& use) {
        take(n_rows_, n_levels_, use);
    }
    template <class Use>
    void take_classes(Use&& use) {
        take(n_rows_ + n_levels_, n_classes_, use);
    }
    // Calls use(size, times).
    template <class Use>
    void take_sizes(Use&& use) {
        for (int64_t size = 2; size <= most_; ++size) {
            if (n_of_size_[size]) use(size, n_of_size_[size]);
            n_of_size_[size] = 0;
        }
    }

private:
    static constexpr int64_t kMost = 28;

    template <class T>
    static T read(const uint8_t* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    // What a cell can hold of a level with two classes: c0 and c1 samples of them.
    struct Pairs {
        std::vector<uint16_t> number;              // by the two as they lie in memory
        uint32_t begin[kMost + 1] = {}, size = 0;  // of the pairs of a cell of n samples; of all

        explicit Pairs(int64_t most) : number(size_t(257 * most + 1), 0) {
            for (int64_t c = 0, pair = 0; c <= most; ++c)
                for (int64_t c1 = 0; c1 <= c; ++c1) {
                    const uint8_t counts[2] = {uint8_t(c - c1), uint8_t(c1)};
                    number[read<uint16_t>(counts)] = uint16_t(pair++);
                }
            for (int64_t n = 2; n <= most; ++n) {
                begin[n] = size;
                size += uint32_t((n + 1) * (n + 2) / 2);
            }
        }
    };

    void add_of_two_classes(const uint8_t* counts, int64_t size) {
        static constexpr uint8_t of_first[8] = {255, 0, 255, 0, 255, 0, 255, 0};
        const uint64_t all = read<uint64_t>(counts) + read<uint64_t>(counts + 8);
        const uint64_t first =
            ((all & read<uint64_t>(of_first)) * 0x0101010101010101u) >> 56;  // sum of bytes
        ++of_first_[size_t(size * (most_ + 1)) + first];
        uint32_t* of_pair = of_pair_.data() + pairs_.begin[size];
        for (int64_t l = 0; l < n_levels_; ++l, of_pair += pairs_.size)
            ++of_pair[pairs_.number[read<uint16_t>(counts + 2 * l)]];
    }

    void add_of_any(const uint8_t* counts, int64_t size) {
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

    void count_kinds_of_rows() {
        const auto take = [&](uint32_t& times, const uint16_t* kinds, int64_t size) {
            if (times == 0) return;
            n_of_size_[size] += times;
            for (int64_t k = 0; k < 3 * size; ++k) tally_[kinds[k]] += times;
            times = 0;
        };
        for (int64_t a = 0, two = 0, three = 0; a < n_rows_; ++a)
            for (int64_t b = 0; b < n_rows_; ++b, ++two) {
                take(of_two_[size_t(a * kMostRows + b)], &twos_[size_t(two) * 6], 2);
                for (int64_t c = 0; c < n_rows_; ++c, ++three)
                    take(of_three_[size_t((a * kMostRows + b) * kMostRows + c)],
                         &threes_[size_t(three) * 9], 3);
            }
    }

    void count_kinds_of_levels() {
        for (int64_t size = 2; size <= most_; ++size) {
            uint32_t* row = tally_.data() + size * (most_ + 1);
            uint32_t *level = row + n_rows_ * n_kinds_, *cls = level + n_levels_ * n_kinds_;
            uint32_t *of_first = of_first_.data() + size * (most_ + 1), n_cells = 0;
            for (int64_t first = 0; first <= size; ++first) {
                n_cells += of_first[first];
                cls[first] += of_first[first];
                cls[n_kinds_ + size - first] += of_first[first];
                of_first[first] = 0;
            }
            if (n_cells == 0) continue;
            n_of_size_[size] += n_cells;
            uint32_t* of_pair = of_pair_.data() + pairs_.begin[size];
            for (int64_t l = 0; l < n_levels_; ++l, of_pair += pairs_.size) {
                uint32_t* times = of_pair;
                for (int64_t c = 0; c <= size; ++c)
                    for (int64_t c1 = 0; c1 <= c; ++c1, ++times) {
                        if (*times == 0) continue;
                        row[c - c1] += *times;
                        row[n_kinds_ + c1] += *times;
                        level[c] += *times;
                        *times = 0;
                    }
                row += 2 * n_kinds_;
                level += n_kinds_;
            }
        }
    }

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
    void append_kinds(std::vector<uint16_t>& to, int64_t first, const int64_t* values,
                      int64_t size) {
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
    int64_t n_of_size_[kMost + 1] = {};

    // Tallied whole: cells of two and three samples by their rows, in order;
    std::vector<uint32_t> of_two_ = std::vector<uint32_t>(kMostRows * kMostRows, 0);
    std::vector<uint32_t> of_three_ = std::vector<uint32_t>(kMostRows * kMostRows * kMostRows, 0);
    std::vector<uint16_t> twos_, threes_;  // the kinds they add to
    // … and with two classes any cells, by level and pair of counts; by size and samples of the
    // first class.
    Pairs pairs_{most_};
    std::vector<uint32_t> of_pair_, of_first_ = std::vector<uint32_t>(size_t(n_kinds_), 0);
};

}  // namespace hocmim
