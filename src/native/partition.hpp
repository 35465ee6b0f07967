// Samples grouped by the cell of a conditioning set, for counting candidates against it.
//
// A sample that is alone in its cell stays alone however many columns join the set: it retires
// from the lists, and only its class is remembered. Deep conditioning sets are nearly free.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "columns.hpp"

namespace hocmim {

struct Partition {
    // A run is the samples of one cell and one class; a cell is a sequence of runs.
    struct Run {
        uint32_t end;  // index into `sample` one past the run
        uint32_t cls;
    };

    std::vector<uint32_t> sample;     // the samples of cells of two or more, cell by cell, class by class
    std::vector<Run> run;
    std::vector<uint32_t> cell_end;   // index into `run` one past each cell
    std::vector<int64_t> alone;       // per class: samples alone in their cell
    int64_t n_cells = 0;              // all that occur, those of one sample included

    int64_t n_alone() const {
        int64_t total = 0;
        for (int64_t count : alone) total += count;
        return total;
    }
    bool is_spent() const { return sample.empty(); }

    void clear(int64_t n_classes) {
        sample.clear();
        run.clear();
        cell_end.clear();
        alone.assign(size_t(n_classes), 0);
        n_cells = 0;
    }

    // Adds one cell, given its samples in class order.
    template <class ClassOf>
    void add_cell(const uint32_t* first, const uint32_t* last, ClassOf&& class_of) {
        ++n_cells;
        if (last - first == 1) {
            ++alone[class_of(*first)];
            return;
        }
        for (const uint32_t* at = first; at != last;) {
            const uint32_t cls = class_of(*at);
            do sample.push_back(*at++);
            while (at != last && class_of(*at) == cls);
            run.push_back({uint32_t(sample.size()), cls});
        }
        cell_end.push_back(uint32_t(run.size()));
    }
};

// Everybody in one cell, in class order.
template <class ClassOf>
void whole(int64_t n_samples, int64_t n_classes, ClassOf&& class_of, Partition& out) {
    out.clear(n_classes);
    std::vector<uint32_t> start(size_t(n_classes) + 1, 0);
    for (int64_t i = 0; i < n_samples; ++i) ++start[class_of(uint32_t(i)) + 1];
    for (size_t c = 1; c < start.size(); ++c) start[c] += start[c - 1];
    std::vector<uint32_t> sorted(static_cast<size_t>(n_samples));
    for (int64_t i = 0; i < n_samples; ++i) sorted[start[class_of(uint32_t(i))]++] = uint32_t(i);
    out.add_cell(sorted.data(), sorted.data() + n_samples, class_of);
}

// Splits cells by one more column. Holds scratch, so one Refiner serves one thread.
class Refiner {
public:
    template <class Code>
    void operator()(const Partition& in, const Code* level_of, int64_t n_levels, Partition& out) {
        out.alone = in.alone;
        out.n_cells = in.n_alone();
        out.sample.clear();
        out.run.clear();
        out.cell_end.clear();
        if (int64_t(start_.size()) < n_levels + 1) start_.assign(size_t(n_levels) + 1, 0);
        uint32_t begin = 0;
        size_t run = 0;
        for (uint32_t end_run : in.cell_end) {
            const size_t first_run = run;
            run = end_run;
            const uint32_t end = in.run[run - 1].end;
            split(in, first_run, run, begin, end, level_of, n_levels, out);
            begin = end;
        }
    }

private:
    // Stable by level, so that classes stay in order within each new cell.
    template <class Code>
    void split(const Partition& in, size_t first_run, size_t last_run, uint32_t begin, uint32_t end,
               const Code* level_of, int64_t n_levels, Partition& out) {
        const uint32_t size = end - begin;
        if (entry_.size() < size) entry_.resize(size);
        if (int64_t(size) * 4 < n_levels)
            sort_few(in, first_run, last_run, begin, level_of, size);
        else
            sort_by_counting(in, first_run, last_run, begin, end, level_of, n_levels);
        for (uint32_t at = 0; at < size;) {
            const uint32_t level = entry_[at].level;
            uint32_t stop = at + 1;
            while (stop < size && entry_[stop].level == level) ++stop;
            emit(at, stop, out);
            at = stop;
        }
    }

    void emit(uint32_t at, uint32_t stop, Partition& out) const {
        ++out.n_cells;
        if (stop - at == 1) {
            ++out.alone[entry_[at].cls];
            return;
        }
        while (at < stop) {
            const uint32_t cls = entry_[at].cls;
            do out.sample.push_back(entry_[at++].sample);
            while (at < stop && entry_[at].cls == cls);
            out.run.push_back({uint32_t(out.sample.size()), cls});
        }
        out.cell_end.push_back(uint32_t(out.run.size()));
    }

    template <class Code>
    void sort_by_counting(const Partition& in, size_t first_run, size_t last_run, uint32_t begin,
                          uint32_t end, const Code* level_of, int64_t n_levels) {
        std::fill_n(start_.begin(), size_t(n_levels) + 1, 0u);
        for (uint32_t i = begin; i < end; ++i) ++start_[size_t(level_of[in.sample[i]]) + 1];
        for (int64_t l = 1; l < n_levels; ++l) start_[size_t(l)] += start_[size_t(l) - 1];
        uint32_t i = begin;
        for (size_t r = first_run; r < last_run; ++r)
            for (; i < in.run[r].end; ++i) {
                const uint32_t sample = in.sample[i];
                const uint32_t level = level_of[sample];
                entry_[start_[level]++] = {level, in.run[r].cls, sample};
            }
    }

    template <class Code>
    void sort_few(const Partition& in, size_t first_run, size_t last_run, uint32_t begin,
                  const Code* level_of, uint32_t size) {
        uint32_t i = begin;
        for (size_t r = first_run; r < last_run; ++r)
            for (; i < in.run[r].end; ++i) {
                const uint32_t sample = in.sample[i];
                entry_[i - begin] = {level_of[sample], in.run[r].cls, sample};
            }
        const auto by_level = [](const Entry& a, const Entry& b) { return a.level < b.level; };
        std::stable_sort(entry_.begin(), entry_.begin() + size, by_level);
    }

    struct Entry {
        uint32_t level, cls, sample;
    };
    std::vector<Entry> entry_;
    std::vector<uint32_t> start_;
};

}  // namespace hocmim
