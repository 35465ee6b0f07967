#include "counting/cell_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hocmim {

namespace {

constexpr size_t kLanes = CellLanes::kLanes;
constexpr uint32_t kMostSmall = 8;  // samples of a cell that is tallied
constexpr size_t kMostKinds =
    (kMostSmall * (kMostSmall + 1)) / 2;  // of small cells, by size and count
constexpr uint32_t kMostInByte = 255;     // the largest count of a byte
constexpr uint32_t kGathered = 2048;      // samples whose codes are gathered at a time
constexpr size_t kMostLevels = 16;        // paths::choose

using Bytes = LaneVector<uint8_t, kLanes>;

// counts[level] of n ≤ 255 samples, in every lane.
HOCMIM_INLINE void count_levels(const uint8_t* codes, size_t n, size_t n_levels, Bytes* counts) {
    const size_t last = n_levels - 1;
    for (size_t level = 0; level < last; ++level) counts[level] = Bytes{};
    for (size_t i = 0; i < n; ++i) {
        Bytes code;
        std::memcpy(&code, codes + i * kLanes, kLanes);
        for (size_t level = 0; level < last; ++level)
            counts[level] -= HOCMIM_BITS_AS(Bytes, code == Bytes{} + uint8_t(level));
    }
    counts[last] = Bytes{} + uint8_t(n);
    for (size_t level = 0; level < last; ++level) counts[last] -= counts[level];
}

// Adds 1, in every lane, to the tally of the count it has; 0 is not tallied.
HOCMIM_INLINE void tally_counts(const Bytes& counts, uint32_t most, uint8_t* tally) {
    for (uint32_t c = 1; c <= most; ++c) {
        uint8_t* of_count = tally + (c - 1) * kLanes;
        Bytes times;
        std::memcpy(&times, of_count, kLanes);
        times -= HOCMIM_BITS_AS(Bytes, counts == Bytes{} + uint8_t(c));
        std::memcpy(of_count, &times, kLanes);
    }
}

// Up to 255 cells of one size.
HOCMIM_INLINE void tally_cells_body(const uint8_t* codes, const uint32_t* class_size,
                                    size_t n_cells, uint32_t size, size_t n_classes,
                                    size_t n_levels, uint8_t* of_rows, uint8_t* of_levels) {
    for (size_t cell = 0; cell < n_cells; ++cell, class_size += n_classes) {
        Bytes level[kMostLevels], row[kMostLevels];
        for (size_t l = 0; l < n_levels; ++l) level[l] = Bytes{};
        for (size_t cls = 0; cls < n_classes; ++cls) {
            const uint32_t n = class_size[cls];
            if (n == 0) continue;
            count_levels(codes, n, n_levels, row);
            codes += n * kLanes;
            for (size_t l = 0; l < n_levels; ++l) {
                tally_counts(row[l], n, of_rows + (cls * n_levels + l) * kMostSmall * kLanes);
                level[l] += row[l];
            }
        }
        for (size_t l = 0; l < n_levels; ++l)
            tally_counts(level[l], size, of_levels + l * kMostSmall * kLanes);
    }
}
HOCMIM_DISPATCH(void, tally_cells, tally_cells_body,
                (const uint8_t* codes, const uint32_t* class_size, size_t n_cells, uint32_t size,
                 size_t n_classes, size_t n_levels, uint8_t* of_rows, uint8_t* of_levels),
                (codes, class_size, n_cells, size, n_classes, n_levels, of_rows, of_levels))

// Adds the levels of up to 255 samples.
HOCMIM_INLINE void add_levels_body(const uint8_t* codes, size_t n, size_t n_levels, uint32_t* row,
                                   uint32_t* level) {
    Bytes counts[kMostLevels];
    count_levels(codes, n, n_levels, counts);
    for (size_t l = 0; l < n_levels; ++l, row += kLanes, level += kLanes) {
        uint8_t here[kLanes];
        std::memcpy(here, &counts[l], kLanes);
        for (size_t lane = 0; lane < kLanes; ++lane) row[lane] += here[lane];
        for (size_t lane = 0; lane < kLanes; ++lane) level[lane] += here[lane];
    }
}
HOCMIM_DISPATCH(void, add_levels, add_levels_body,
                (const uint8_t* codes, size_t n, size_t n_levels, uint32_t* row, uint32_t* level),
                (codes, n, n_levels, row, level))

}  // namespace

CellLanes::CellLanes(const Setting& setting, const Partition& partition)
    : setting_(setting), n_classes_(size_t(setting.n_classes())), cell_squares_(partition.n_alone) {
    cells_.reserve(partition.cell_end.size());
    uint32_t at = 0;
    for (const uint32_t end : partition.cell_end) {
        cells_.push_back({end, end - at});
        cell_squares_ += int64_t(end - at) * int64_t(end - at);
        at = end;
    }
    std::stable_sort(cells_.begin(), cells_.end(),
                     [](const Cell& a, const Cell& b) { return a.size < b.size; });
    sample_.resize(partition.sample.size());
    class_size_.assign(cells_.size() * n_classes_, 0);
    uint32_t to = 0;
    for (size_t k = 0; k < cells_.size(); ++k) {
        Cell& cell = cells_[k];
        uint32_t* n_of_class = class_size_.data() + k * n_classes_;
        const uint32_t *first = partition.sample.data() + cell.end - cell.size,
                       *last = first + cell.size;
        for (const uint32_t* sample = first; sample != last; ++sample)
            ++n_of_class[setting.cls[*sample]];
        for (size_t cls = 0; cls < n_classes_; ++cls) {
            if (n_of_class[cls] == 0) continue;
            for (const uint32_t* sample = first; sample != last; ++sample)
                if (setting.cls[*sample] == cls) sample_[to++] = *sample;
        }
        cell.end = to;
        n_small_ += cell.size <= kMostSmall;
    }
    add_classes();
}

// The table of classes and cells, an entry for all cells that are alike.
void CellLanes::add_classes() {
    pairs_.start(setting_.class_counts, cells_.size() * n_classes_);
    std::vector<int64_t> times;  // by class, then count
    for (size_t k = 0; k < cells_.size();) {
        const size_t size = cells_[k].size;
        times.assign(n_classes_ * (size + 1), 0);
        for (; k < cells_.size() && cells_[k].size == size; ++k)
            for (size_t cls = 0; cls < n_classes_; ++cls)
                ++times[cls * (size + 1) + class_size_[k * n_classes_ + cls]];
        for (size_t cls = 0; cls < n_classes_; ++cls)
            for (size_t c = 1; c <= size; ++c)
                if (const int64_t n = times[cls * (size + 1) + c])
                    pairs_.add(cls, int64_t(c), int64_t(size), n);
    }
    pairs_.finish();
}

// The marginal counts of each column.
void CellLanes::start() {
    n_levels_ = 2;
    for (const LaneColumn& lane : columns_)
        n_levels_ = std::max(n_levels_, size_t(lane.column->arity));
    std::vector<double> levels(n_levels_ * kLanes, 0), rows(n_levels_ * n_classes_ * kLanes, 0);
    for (size_t lane = 0; lane < kLanes; ++lane)
        for (size_t row = 0; row < size_t(columns_[lane].column->arity) * n_classes_; ++row) {
            const double count = double(columns_[lane].row_count[row]);
            rows[row * kLanes + lane] = count;
            levels[row / n_classes_ * kLanes + lane] += count;
        }
    by_level_.start(levels.data(), n_levels_, n_levels_ * kMostKinds);
    by_row_.start(rows.data(), n_levels_ * n_classes_, n_levels_ * n_classes_ * kMostKinds);
    tally_.assign((n_classes_ + 1) * n_levels_ * kMostSmall * kLanes, 0);
    times_.assign(tally_.size(), 0);
    row_.resize(n_classes_ * n_levels_ * kLanes);
    level_.resize(n_levels_ * kLanes);
}

// The codes of samples from..to-1.
void CellLanes::gather(uint32_t from, uint32_t to) {
    const size_t n = to - from;
    gathered_from_ = from;
    gathered_to_ = to;
    codes_.resize(std::max(codes_.size(), n * kLanes));
    const uint32_t* sample = sample_.data() + from;
    for (size_t lane = 0; lane < kLanes; ++lane) {
        uint8_t* code = codes_.data() + lane;
        const auto* level_of = static_cast<const uint8_t*>(columns_[lane].column->data);
        for (size_t i = 0; i < n; ++i) code[i * kLanes] = level_of[sample[i]];
    }
}

void CellLanes::tally_small() {
    uint8_t* of_levels = tally_.data() + n_classes_ * n_levels_ * kMostSmall * kLanes;
    uint32_t begin = 0;
    for (size_t k = 0; k < n_small_;) {
        const uint32_t size = cells_[k].size;
        size_t stop = k;
        while (stop < n_small_ && stop - k < kMostInByte && cells_[stop].size == size) ++stop;
        const uint32_t end = cells_[stop - 1].end;
        gather(begin, end);
        tally_cells(codes_.data(), class_size_.data() + k * n_classes_, stop - k, size, n_classes_,
                    n_levels_, tally_.data(), of_levels);
        for (size_t at = 0; at < tally_.size(); ++at) times_[at] += tally_[at];
        std::fill(tally_.begin(), tally_.end(), 0);
        begin = end;
        k = stop;
        if (k == n_small_ || cells_[k].size != size) take_tally(size);
    }
}

// Adds the tallied cells of one size to the tables.
void CellLanes::take_tally(uint32_t size) {
    const uint32_t* times = times_.data();
    for (size_t cls = 0; cls <= n_classes_; ++cls)
        for (size_t level = 0; level < n_levels_; ++level)
            for (uint32_t c = 1; c <= kMostSmall; ++c, times += kLanes) {
                if (std::all_of(times, times + kLanes, [](uint32_t n) { return n == 0; })) continue;
                if (cls < n_classes_)
                    by_row_.add(level * n_classes_ + cls, c, size, times);
                else
                    by_level_.add(level, c, size, times);
            }
    std::fill(times_.begin(), times_.end(), 0);
}

// Counts one cell, at most 255 samples of a class at a time.
void CellLanes::count_cell(size_t cell) {
    const uint32_t* class_size = class_size_.data() + cell * n_classes_;
    uint32_t at = cells_[cell].end - cells_[cell].size;
    std::fill(level_.begin(), level_.end(), 0);
    for (size_t cls = 0; cls < n_classes_; ++cls) {
        uint32_t* row = row_.data() + cls * n_levels_ * kLanes;
        std::fill_n(row, n_levels_ * kLanes, 0);
        for (const uint32_t end = at + class_size[cls]; at < end;) {
            if (at < gathered_from_ || at >= gathered_to_)
                gather(at, std::min(uint32_t(sample_.size()), at + kGathered));
            const uint32_t stop = std::min({end, at + kMostInByte, gathered_to_});
            add_levels(codes_.data() + (at - gathered_from_) * kLanes, stop - at, n_levels_, row,
                       level_.data());
            at = stop;
        }
    }
}

// Calls use(table, row of the table, counts, size of the cell) for all rows of all cells that were
// not tallied.
template <class Use>
void CellLanes::for_each_large(Use&& use) {
    for (size_t cell = n_small_; cell < cells_.size(); ++cell) {
        count_cell(cell);
        const uint32_t size = cells_[cell].size;
        for (size_t level = 0; level < n_levels_; ++level) {
            use(by_level_, level, level_.data() + level * kLanes, size);
            for (size_t cls = 0; cls < n_classes_; ++cls)
                if (class_size_[cell * n_classes_ + cls])
                    use(by_row_, level * n_classes_ + cls,
                        row_.data() + (cls * n_levels_ + level) * kLanes, size);
        }
    }
}

void CellLanes::redundancy(const LaneColumn* columns, size_t n_columns, double* out) {
    // Unused lanes repeat the last column.
    for (size_t lane = 0; lane < kLanes; ++lane)
        columns_[lane] = columns[std::min(lane, n_columns - 1)];
    gathered_to_ = 0;
    start();
    tally_small();
    for_each_large([](Table& table, size_t row, const uint32_t* counts, uint32_t size) {
        table.add_sums(row, counts, size);
    });
    const double n = double(setting_.n_samples);
    double squares[kLanes], lambda_of_levels[kLanes], lambda[kLanes];
    std::fill_n(squares, kLanes, double(cell_squares_));
    by_level_.finish();
    by_row_.finish();
    by_level_.intensity(n, squares, lambda_of_levels);
    by_row_.intensity(n, squares, lambda);
    const ShrunkenCell<kLanes> of_levels(lambda_of_levels, n, setting_.nats.scale());
    const ShrunkenCell<kLanes> of_rows(lambda, n, setting_.nats.scale());
    for_each_large([&](Table& table, size_t row, const uint32_t* counts, uint32_t size) {
        table.add_terms(row, counts, size, &table == &by_row_ ? of_rows : of_levels);
    });
    double by_level[kLanes], by_row[kLanes];
    by_level_.information(lambda_of_levels, n, setting_.nats, by_level);
    by_row_.information(lambda, n, setting_.nats, by_row);
    for (size_t lane = 0; lane < n_columns; ++lane) {
        const double classes = pairs_.information(lambda[lane], setting_.n_samples, setting_.nats);
        out[lane] = std::max(0.0, by_level[lane]) - std::max(0.0, by_row[lane] - classes);
    }
}

}  // namespace hocmim
