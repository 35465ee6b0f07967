// Counts of a discrete variable within each cell of a Partition.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/partition.hpp"
#include "core/portable.hpp"

namespace hocmim {

// Calls sink.begin_cell(n_w), then sink.in_row(row, count) for every row that occurs in the cell in
// increasing order, then sink.end_cell(). Holds scratch, so one CellCounter serves one thread.
class CellCounter {
public:
    template <class RowOf, class Sink>
    void operator()(const Partition& partition, int64_t n_rows, RowOf&& row_of, Sink& sink) {
        uint32_t begin = 0;
        for (const uint32_t end : partition.cell_end) {
            const uint32_t *first = partition.sample.data() + begin,
                           *last = partition.sample.data() + end;
            begin = end;
            sink.begin_cell(int64_t(last - first));
            if (n_rows <= 8)
                count_packed<false>(first, last, row_of, sink);
            else if (n_rows <= 16)
                count_packed<true>(first, last, row_of, sink);
            else
                count_any(first, last, n_rows, row_of, sink);
            sink.end_cell();
        }
    }

private:
    // Eight counters of eight bits per register, one register or two.
    struct Packed {
        uint64_t low = 0, high = 0;
    };

    template <bool two, class RowOf>
    static Packed pack(const uint32_t* at, const uint32_t* stop, RowOf& row_of) {
        Packed counts;
        for (; at != stop; ++at) {
            const uint32_t row = row_of(*at);
            const uint64_t is_high = two ? row >> 3 : 0;
            counts.low += (is_high ^ 1) << (8 * (row & 7));
            if (two) counts.high += is_high << (8 * (row & 7));
        }
        return counts;
    }

    template <class Use>
    static void unpack(uint64_t counts, uint32_t first_row, Use&& use) {
        while (counts) {
            const int at = lowest_one(counts) & ~7;
            use(first_row + uint32_t(at >> 3), int64_t((counts >> at) & 255));
            counts &= ~(uint64_t(255) << at);
        }
    }

    template <bool two, class RowOf, class Sink>
    static void count_packed(const uint32_t* first, const uint32_t* last, RowOf& row_of,
                             Sink& sink) {
        if (last - first <= 255) {
            const Packed counts = pack<two>(first, last, row_of);
            const auto use = [&](uint32_t row, int64_t c) { sink.in_row(row, c); };
            unpack(counts.low, 0, use);
            if (two) unpack(counts.high, 8, use);
            return;
        }
        int64_t total[16] = {};
        while (first != last) {
            const uint32_t* stop = first + std::min<ptrdiff_t>(255, last - first);
            const Packed counts = pack<two>(first, stop, row_of);
            for (int r = 0; r < 8; ++r) {
                total[r] += (counts.low >> (8 * r)) & 255;
                if (two) total[8 + r] += (counts.high >> (8 * r)) & 255;
            }
            first = stop;
        }
        for (uint32_t row = 0; row < 16; ++row)
            if (total[row]) sink.in_row(row, total[row]);
    }

    template <class RowOf, class Sink>
    void count_any(const uint32_t* first, const uint32_t* last, int64_t n_rows, RowOf& row_of,
                   Sink& sink) {
        if (int64_t(tally_.size()) < n_rows) tally_.resize(size_t(n_rows), 0);
        if (n_rows <= 4 * (last - first)) {
            for (; first != last; ++first) ++tally_[row_of(*first)];
            for (uint32_t row = 0; row < n_rows; ++row)
                if (tally_[row]) {
                    sink.in_row(row, tally_[row]);
                    tally_[row] = 0;
                }
            return;
        }
        met_.clear();
        for (; first != last; ++first) {
            const uint32_t row = row_of(*first);
            if (tally_[row]++ == 0) met_.push_back(row);
        }
        std::sort(met_.begin(), met_.end());
        for (const uint32_t row : met_) {
            sink.in_row(row, tally_[row]);
            tally_[row] = 0;
        }
    }

    std::vector<uint32_t> tally_, met_;
};

// Counts the cells of a Partition split by one more column, without forming the finer partition:
// for up to 16 rows and 8 levels. For every new cell of two samples or more it calls
// sink.rows(rows, n_w) with the row of each sample, or sink.counts(counts, n_w) with the count of
// each row. For a cell of two or three samples it calls sink.two(rows, a == b) or sink.three(rows,
// a == b, a == c, b == c) instead, so that the sink can do without a branch: whether the samples
// stay together is unpredictable.
class SplitCounter {
public:
    static constexpr int64_t kRows = 16, kLevels = 8;

    // rows[i] is the row of partition.sample[i].
    template <class Code, class Sink>
    void operator()(const Partition& partition, const uint8_t* rows, const Code* level_of,
                    int64_t n_levels, Sink& sink) {
        uint32_t begin = 0;
        for (const uint32_t end : partition.cell_end) {
            const uint32_t *sample = partition.sample.data() + begin, size = end - begin;
            const uint8_t* here = rows + begin;
            begin = end;
            const auto is_same = [&](int a, int b) {
                return level_of[sample[a]] == level_of[sample[b]];
            };
            if (size > kTabled)
                count(sample, here, size, level_of, n_levels, sink);
            else if (size > kListed)
                tabulate(sample, here, size, level_of, n_levels, sink);
            else if (size > 3)
                list(sample, here, size, level_of, n_levels, sink);
            else if (size == 3)
                sink.three(here, is_same(0, 1), is_same(0, 2), is_same(1, 2));
            else
                sink.two(here, is_same(0, 1));
        }
    }

private:
    // Cells of a few samples are listed; the rows of more are counted, in bytes as long as these
    // will do.
    static constexpr uint32_t kListed = 8, kTabled = 255;

    template <class Code, class Sink>
    void list(const uint32_t* sample, const uint8_t* rows, uint32_t size, const Code* level_of,
              int64_t n_levels, Sink& sink) {
        uint8_t n_here[kLevels] = {};
        for (uint32_t i = 0; i < size; ++i) {
            const uint32_t level = level_of[sample[i]];
            listed_[level][n_here[level]++] = rows[i];
        }
        for (int64_t level = 0; level < n_levels; ++level)
            if (n_here[level] > 1) sink.rows(listed_[level], n_here[level]);
    }

    template <class Code, class Sink>
    void tabulate(const uint32_t* sample, const uint8_t* rows, uint32_t size, const Code* level_of,
                  int64_t n_levels, Sink& sink) {
        uint8_t counts[kLevels * kRows];
        std::memset(counts, 0, size_t(n_levels * kRows));
        for (uint32_t i = 0; i < size; ++i) ++counts[level_of[sample[i]] * kRows + rows[i]];
        for (int64_t level = 0; level < n_levels; ++level) {
            uint64_t low, high;
            std::memcpy(&low, counts + level * kRows, 8);
            std::memcpy(&high, counts + level * kRows + 8, 8);
            const int64_t total =
                int64_t(((low + high) * 0x0101010101010101u) >> 56);  // of all bytes
            if (total > 1) sink.counts(counts + level * kRows, total);
        }
    }

    // Two tables take turns, so that an increment does not wait for the one before it.
    template <class Code, class Sink>
    void count(const uint32_t* sample, const uint8_t* rows, uint32_t size, const Code* level_of,
               int64_t n_levels, Sink& sink) {
        uint32_t even[kLevels * kRows] = {}, odd[kLevels * kRows] = {};
        uint32_t i = 0;
        for (; i + 1 < size; i += 2) {
            ++even[level_of[sample[i]] * kRows + rows[i]];
            ++odd[level_of[sample[i + 1]] * kRows + rows[i + 1]];
        }
        if (i < size) ++even[level_of[sample[i]] * kRows + rows[i]];
        for (int64_t level = 0; level < n_levels; ++level) {
            int64_t counts[kRows], total = 0;
            for (int64_t row = 0; row < kRows; ++row) {
                counts[row] = int64_t(even[level * kRows + row]) + odd[level * kRows + row];
                total += counts[row];
            }
            if (total > 1) sink.counts(counts, total);
        }
    }

    uint8_t listed_[kLevels][kListed];
};

}  // namespace hocmim
