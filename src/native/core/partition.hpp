// Samples grouped by the cell of a conditioning set, for counting candidates against it.
//
// A sample that is alone in its cell stays alone however many columns join the set: it is
// removed from the lists, and only its class is counted. Deep conditioning sets are
// nearly free.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/columns.hpp"

namespace hocmim {

struct Partition {
    Buffer<uint32_t> sample;     // the samples of the cells of two or more, cell by cell
    Buffer<uint32_t> cell_end;   // index into `sample` one past each of these cells
    std::vector<int64_t> alone;  // per class: samples alone in their cell
    int64_t n_alone = 0;

    // All cells that occur, those of one sample included.
    int64_t n_cells() const { return n_alone + int64_t(cell_end.size()); }
    bool is_all_alone() const { return sample.empty(); }

    // All samples in one cell.
    void assign_whole(int64_t n_samples, const uint32_t* cls, int64_t n_classes) {
        alone.assign(size_t(n_classes), 0);
        n_alone = 0;
        sample.clear();
        cell_end.clear();
        if (n_samples == 1) {
            alone[cls[0]] = n_alone = 1;
            return;
        }
        sample.resize(size_t(n_samples));
        for (int64_t i = 0; i < n_samples; ++i) sample[size_t(i)] = uint32_t(i);
        cell_end.push_back(uint32_t(n_samples));
    }
};

// Splits cells by one more column. Holds scratch, so one Refiner serves one thread.
class Refiner {
public:
    template <class Code>
    void operator()(const Partition& in, const Code* level_of, int64_t n_levels,
                    const uint32_t* cls, Partition& out) {
        out.alone = in.alone;
        out.n_alone = in.n_alone;
        out.sample.resize(in.sample.size());
        out.cell_end.resize(in.sample.size() / 2);
        to_ = out.sample.data();
        end_ = out.cell_end.data();
        uint32_t begin = 0;
        for (const uint32_t end : in.cell_end) {
            const uint32_t* first = in.sample.data() + begin;
            const uint32_t size = end - begin;
            begin = end;
            if (n_levels <= 8 && size <= 255)
                split_packed(first, size, level_of, cls, out);
            else if (int64_t(size) * 4 >= n_levels)
                split_by_counting(first, size, level_of, n_levels, cls, out);
            else
                split_by_sorting(first, size, level_of, cls, out);
        }
        out.sample.resize(size_t(to_ - out.sample.data()));
        out.cell_end.resize(size_t(end_ - out.cell_end.data()));
    }

private:
    // Adds a cell of `size` samples at `first`; a single sample is removed.
    void emit(const uint32_t* first, uint32_t size, const uint32_t* cls, Partition& out) {
        if (size == 1) {
            ++out.alone[cls[*first]];
            ++out.n_alone;
            return;
        }
        std::copy(first, first + size, to_);
        to_ += size;
        *end_++ = uint32_t(to_ - out.sample.data());
    }

    // Counts and places of up to eight levels in one register, eight bits each.
    template <class Code>
    void split_packed(const uint32_t* first, uint32_t size, const Code* level_of,
                      const uint32_t* cls, Partition& out) {
        if (size == 2) {
            if (level_of[first[0]] == level_of[first[1]]) return emit(first, 2, cls, out);
            emit(first, 1, cls, out);
            return emit(first + 1, 1, cls, out);
        }
        uint64_t counts = 0;
        for (uint32_t i = 0; i < size; ++i) counts += uint64_t(1) << (8 * level_of[first[i]]);
        uint64_t place = counts * 0x0101010101010100u;  // exclusive prefix sums
        uint32_t sorted[256];
        for (uint32_t i = 0; i < size; ++i) {
            const int shift = 8 * level_of[first[i]];
            sorted[(place >> shift) & 255] = first[i];
            place += uint64_t(1) << shift;
        }
        const uint32_t* at = sorted;
        for (; counts; counts >>= 8) {
            const uint32_t count = counts & 255;
            if (count) emit(at, count, cls, out);
            at += count;
        }
    }

    template <class Code>
    void split_by_counting(const uint32_t* first, uint32_t size, const Code* level_of,
                           int64_t n_levels, const uint32_t* cls, Partition& out) {
        start_.assign(size_t(n_levels) + 1, 0);
        for (uint32_t i = 0; i < size; ++i) ++start_[size_t(level_of[first[i]]) + 1];
        for (int64_t l = 0; l < n_levels; ++l) start_[size_t(l) + 1] += start_[size_t(l)];
        sorted_.resize(size);
        for (uint32_t i = 0; i < size; ++i) sorted_[start_[level_of[first[i]]]++] = first[i];
        uint32_t at = 0;
        for (int64_t l = 0; l < n_levels; ++l) {  // start_[l] has become the end of level l
            if (start_[size_t(l)] > at) emit(sorted_.data() + at, start_[size_t(l)] - at, cls, out);
            at = start_[size_t(l)];
        }
    }

    // Few samples of a column of many levels.
    template <class Code>
    void split_by_sorting(const uint32_t* first, uint32_t size, const Code* level_of,
                          const uint32_t* cls, Partition& out) {
        sorted_.assign(first, first + size);
        std::sort(sorted_.begin(), sorted_.end(), [&](uint32_t a, uint32_t b) {
            return level_of[a] != level_of[b] ? level_of[a] < level_of[b] : a < b;
        });
        for (uint32_t at = 0; at < size;) {
            uint32_t stop = at + 1;
            while (stop < size && level_of[sorted_[stop]] == level_of[sorted_[at]]) ++stop;
            emit(sorted_.data() + at, stop - at, cls, out);
            at = stop;
        }
    }

    uint32_t *to_ = nullptr, *end_ = nullptr;
    Buffer<uint32_t> sorted_, start_;
};

// Puts cells of one size together, the smallest first, so that the branches of the loops over them
// are predictable. Holds scratch, so one CellSorter serves one thread.
class CellSorter {
public:
    void operator()(Partition& p) {
        uint32_t n_cells[kSizes] = {}, cell_at[kSizes], sample_at[kSizes], begin = 0;
        sample_.resize(p.sample.size());
        end_.resize(p.cell_end.size());
        const auto bucket = [](uint32_t size) { return std::min(size, kSizes - 1); };
        for (const uint32_t end : p.cell_end) {
            ++n_cells[bucket(end - begin)];
            begin = end;
        }
        uint32_t cell = 0, sample = 0;
        for (uint32_t size = 0; size < kSizes; ++size) {
            cell_at[size] = cell;
            sample_at[size] = sample;
            cell += n_cells[size];
            sample += n_cells[size] * size;
        }
        begin = 0;
        for (const uint32_t end : p.cell_end) {
            const uint32_t size = end - begin, to = bucket(size);
            std::copy(p.sample.begin() + begin, p.sample.begin() + end,
                      sample_.begin() + sample_at[to]);
            sample_at[to] += size;
            end_[cell_at[to]++] = sample_at[to];
            begin = end;
        }
        // Copied, not swapped: after swaps every partition would hold a buffer for all samples.
        std::copy(sample_.begin(), sample_.end(), p.sample.begin());
        std::copy(end_.begin(), end_.end(), p.cell_end.begin());
    }

private:
    static constexpr uint32_t kSizes = 256;  // larger cells share one
    Buffer<uint32_t> sample_, end_;
};

}  // namespace hocmim
