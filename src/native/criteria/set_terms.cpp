#include "criteria/set_terms.hpp"

#include <algorithm>
#include <numeric>

#include "core/dispatch.hpp"
#include "core/logarithm.hpp"

namespace hocmim {

namespace {

constexpr int64_t kMostCodes = 1 << 16, kMostRows = 1 << 16, kStepTable = 1 << 12;
// Samples in all sets together, two to ten bytes each; and how many sets are kept in any case.
constexpr size_t kMostSamples = size_t(1) << 24, kFewSets = 32;
// Samples whose indices are computed before the counts are raised.
constexpr size_t kBlock = 512;
// Counts within a cell that are scanned however few samples there are.
constexpr size_t kFewCounts = 64;

template <class Level>
HOCMIM_INLINE void join_codes_body(const uint16_t* code, const Level* level, uint32_t arity,
                                   size_t n, uint16_t* to) {
    for (size_t i = 0; i < n; ++i) to[i] = uint16_t(code[i] * arity + level[i]);
}
HOCMIM_DISPATCH(template <class Level> void, join_codes, join_codes_body,
                (const uint16_t* code, const Level* level, uint32_t arity, size_t n, uint16_t* to),
                (code, level, arity, n, to))

template <class Level>
HOCMIM_INLINE void join_rows_body(const uint16_t* code, const Level* level, const uint16_t* row,
                                  uint32_t arity, uint32_t n_rows, size_t n, uint32_t* to) {
    for (size_t i = 0; i < n; ++i) to[i] = (code[i] * arity + level[i]) * n_rows + row[i];
}
HOCMIM_DISPATCH(template <class Level> void, join_rows, join_rows_body,
                (const uint16_t* code, const Level* level, const uint16_t* row, uint32_t arity,
                 uint32_t n_rows, size_t n, uint32_t* to),
                (code, level, row, arity, n_rows, n, to))

template <class Level>
HOCMIM_INLINE void find_rows_body(const Level* level, const uint32_t* cls, uint32_t n_classes,
                                  size_t n, uint16_t* to) {
    for (size_t i = 0; i < n; ++i) to[i] = uint16_t(level[i] * n_classes + cls[i]);
}
HOCMIM_DISPATCH(template <class Level> void, find_rows, find_rows_body,
                (const Level* level, const uint32_t* cls, uint32_t n_classes, size_t n,
                 uint16_t* to),
                (level, cls, n_classes, n, to))

}  // namespace

// --- sets ---

CellSet::CellSet(const Setting& setting) : setting_(setting), is_coded_(true), is_listed_(true) {
    code_of_.reset(new uint16_t[size_t(setting.n_samples)]());
    parent_code_.assign(1, 0);
    cells_.assign_whole(setting.n_samples, setting.cls, setting.n_classes());
    find_impure();
}

CellSet::CellSet(std::shared_ptr<CellSet> parent, const Column& column, Refiner& refine)
    : setting_(parent->setting_), parent_(std::move(parent)), column_(column) {
    const int64_t most = std::min(setting_.n_samples, kMostCodes);
    is_coded_ = parent_->is_coded_ && parent_->n_codes() * column.arity <= most;
    if (is_coded_)
        code();
    else
        list(refine);
}

void CellSet::code() {
    const size_t n_samples = size_t(setting_.n_samples), arity = size_t(column_.arity);
    const size_t n_pairs = parent_->parent_code_.size() * arity;
    code_of_.reset(new uint16_t[n_samples]);
    column_.visit([&](const auto* level_of) {
        join_codes(parent_->code_of(), level_of, uint32_t(arity), n_samples, code_of_.get());
    });
    std::vector<uint16_t> number(n_pairs, 0);  // first whether a code occurs
    n_cells_ = count_codes(number);
    const bool is_sparse = size_t(2 * n_cells_) < n_pairs;
    parent_code_.clear();
    for (size_t pair = 0; pair < n_pairs; ++pair) {
        if (is_sparse && !number[pair]) continue;
        number[pair] = uint16_t(parent_code_.size());
        parent_code_.push_back(uint16_t(pair / arity));
    }
    if (!is_sparse) return;
    for (size_t i = 0; i < n_samples; ++i) code_of_[i] = number[code_of_[i]];
}

// Marks the codes that occur; often the first samples have them all.
int64_t CellSet::count_codes(std::vector<uint16_t>& occurs) const {
    const size_t n_samples = size_t(setting_.n_samples), n_at_once = 8 * occurs.size();
    int64_t n_found = 0;
    for (size_t begin = 0; begin < n_samples && n_found < int64_t(occurs.size());
         begin += n_at_once) {
        const size_t end = std::min(n_samples, begin + n_at_once);
        for (size_t i = begin; i < end; ++i) occurs[code_of_[i]] = 1;
        n_found = std::accumulate(occurs.begin(), occurs.end(), int64_t(0));
    }
    return n_found;
}

void CellSet::list(Refiner& refine) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_listed_) return;
    is_listed_ = true;
    const Partition& from = parent_->cells(refine);
    column_.visit(
        [&](const auto* level_of) { refine(from, level_of, column_.arity, setting_.cls, cells_); });
    if (!is_coded_) n_cells_ = cells_.n_cells();
    find_impure();
}

void CellSet::find_impure() {
    impure_.sample.resize(cells_.sample.size());
    impure_.cell_end.resize(cells_.cell_end.size());
    uint32_t *to = impure_.sample.data(), *end_to = impure_.cell_end.data(), begin = 0;
    const uint32_t *sample = cells_.sample.data(), *cls = setting_.cls;
    for (const uint32_t end : cells_.cell_end) {
        const bool is_pure = std::all_of(sample + begin, sample + end,
                                         [&](uint32_t i) { return cls[i] == cls[sample[begin]]; });
        if (!is_pure) {
            to = std::copy(sample + begin, sample + end, to);
            *end_to++ = uint32_t(to - impure_.sample.data());
        }
        begin = end;
    }
    impure_.sample.resize(size_t(to - impure_.sample.data()));
    impure_.cell_end.resize(size_t(end_to - impure_.cell_end.data()));
}

std::shared_ptr<CellSet> CellSets::of(const std::vector<int32_t>& member, size_t length,
                                      Refiner& refine) {
    const std::vector<int32_t> members(member.begin(), member.begin() + std::ptrdiff_t(length));
    std::unique_lock<std::mutex> lock(mutex_);
    const auto known = kept_.find(members);
    if (known != kept_.end()) {
        known->second.last_use = ++n_uses_;
        return known->second.set;
    }
    lock.unlock();
    std::shared_ptr<CellSet> set;
    if (length == 0)
        set = std::make_shared<CellSet>(setting_);
    else
        set = std::make_shared<CellSet>(of(member, length - 1, refine),
                                        selected_[member[length - 1]], refine);
    lock.lock();
    if (kept_.size() >= std::max(kMostSamples / size_t(setting_.n_samples), kFewSets))
        drop_least_used();
    return kept_.insert({members, {set, ++n_uses_}}).first->second.set;
}

void CellSets::drop_least_used() {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
        return a.second.last_use < b.second.last_use;
    }));
}

// --- terms ---

SetTerms::SetTerms(const Setting& setting) : setting_(setting), f_(*setting.function) {
    const int64_t n_steps = std::min<int64_t>(setting.n_samples, kStepTable);
    for (int64_t c = 0; c < n_steps; ++c) step_.push_back(f_(c + 1) - f_(c));
}

bool SetTerms::can_evaluate(const Setting& setting, const Column& column) {
    return setting.estimator.is_sum_of_counts && column.arity * setting.n_classes() <= kMostRows;
}

void SetTerms::start(const Column& column) {
    const int64_t n_classes = setting_.n_classes();
    n_levels_ = column.arity;
    n_rows_ = column.arity * n_classes;
    row_of_.resize(size_t(setting_.n_samples));
    column.visit([&](const auto* level_of) {
        find_rows(level_of, setting_.cls, uint32_t(n_classes), row_of_.size(), row_of_.data());
    });
    of_class_.resize(size_t(n_classes));
    level_of_row_.resize(size_t(n_rows_));
    class_of_row_.resize(size_t(n_rows_));
    for (int64_t row = 0; row < n_rows_; ++row) {
        level_of_row_[size_t(row)] = uint16_t(row / n_classes);
        class_of_row_[size_t(row)] = uint16_t(row % n_classes);
    }
}

void SetTerms::evaluate(const std::vector<std::shared_ptr<CellSet>>& prefixes, const Column& by,
                        double min_support, Refiner& refine, std::vector<Found>& found) {
    // The samples are counted once, for the longest prefix whose table is small enough. The tables
    // of the shorter ones are sums over it.
    size_t n_dense = 0;
    while (n_dense < prefixes.size() && is_dense(*prefixes[n_dense], by) &&
           supports(min_support, prefixes[n_dense]->n_cells()))
        ++n_dense;
    if (tables_.size() < prefixes.size()) tables_.resize(prefixes.size());
    if (n_dense > 0) count_dense(*prefixes[n_dense - 1], by, tables_[n_dense - 1]);
    for (size_t k = n_dense; k-- > 1;) {
        tables_[k - 1].assign(size_t(prefixes[k - 1]->n_codes() * by.arity * n_rows_), 0);
        add_up(*prefixes[k], by.arity * n_rows_, tables_[k], tables_[k - 1]);
    }
    for (size_t k = 0; k < n_dense; ++k) {
        sum_ = freedom_ = spread_ = n_cells_ = 0;
        scan(tables_[k].data(), prefixes[k]->n_codes() * by.arity);
        if (!supports(min_support, n_cells_)) return;
        found.push_back(result(spread_));
    }
    for (size_t k = n_dense; k < prefixes.size(); ++k) {
        CellSet& z = *prefixes[k];
        if (!supports(min_support, z.n_cells())) return;
        if (!supports(min_support, z.n_cells() * by.arity)) {
            count_cells(z.cells(refine), by);
            if (!supports(min_support, n_cells_)) return;
        }
        sum_ = freedom_ = 0;
        walk(z.impure(refine), by);
        found.push_back(result(kUnknown));
    }
}

SetTerms::Found SetTerms::result(int64_t spread) const {
    const double n = double(setting_.n_samples), value = f_.fixed().real(sum_) / n;
    if (setting_.estimator.is_corrected) return {value - double(freedom_) / (2 * n), spread};
    return {setting_.estimator.is_plain_sum ? std::max(0.0, value) : value, spread};
}

void SetTerms::count_dense(const CellSet& z, const Column& by, std::vector<uint32_t>& table) const {
    table.assign(size_t(z.n_codes() * by.arity * n_rows_), 0);
    by.visit([&](const auto* level_of) {
        uint32_t index[kBlock], *counts = table.data();
        for (size_t begin = 0; begin < row_of_.size(); begin += kBlock) {
            const size_t size = std::min(kBlock, row_of_.size() - begin);
            join_rows(z.code_of() + begin, level_of + begin, row_of_.data() + begin,
                      uint32_t(by.arity), uint32_t(n_rows_), size, index);
            for (size_t k = 0; k < size; ++k) ++counts[index[k]];
        }
    });
}

// From the table of `z` that without its last column; each code has `length` counts.
void SetTerms::add_up(const CellSet& z, int64_t length, const std::vector<uint32_t>& from,
                      std::vector<uint32_t>& to) const {
    const uint32_t* count = from.data();
    for (const uint16_t parent : z.parent_code()) {
        uint32_t* sums = to.data() + int64_t(parent) * length;
        for (int64_t k = 0; k < length; ++k) sums[k] += count[k];
        count += length;
    }
}

// Adds to the sums what `n_cells` cells contribute, each with its counts by row. With two or three
// classes their number is known to the compiler, which doubles the speed.
template <int known_classes>
void SetTerms::scan_cells(const uint32_t* count, int64_t n_cells) {
    const int64_t n_classes = known_classes ? known_classes : setting_.n_classes();
    int64_t few[known_classes + 1], *of_class = known_classes ? few : of_class_.data();
    for (int64_t cell = 0; cell < n_cells; ++cell, count += n_rows_) {
        uint32_t any = 0;
        for (int64_t row = 0; row < n_rows_; ++row) any |= count[row];
        if (any == 0) continue;
        int64_t size = 0, sum = 0, levels = 0, classes = 0;
        std::fill_n(of_class, n_classes, 0);
        for (const uint32_t *at = count, *end = count + n_rows_; at != end; at += n_classes) {
            int64_t total = 0;
            for (int64_t cls = 0; cls < n_classes; ++cls) {
                sum += f_(at[cls]);
                total += at[cls];
                of_class[cls] += at[cls];
            }
            sum -= f_(total);
            levels += total > 0;
            size += total;
        }
        for (int64_t cls = 0; cls < n_classes; ++cls) {
            sum -= f_(of_class[cls]);
            classes += of_class[cls] > 0;
        }
        sum_ += sum + f_(size);
        freedom_ += (levels - 1) * (classes - 1);
        spread_ += levels - 1;
        ++n_cells_;
    }
}

void SetTerms::scan(const uint32_t* count, int64_t n_cells) {
    switch (setting_.n_classes()) {
        case 2:
            return scan_cells<2>(count, n_cells);
        case 3:
            return scan_cells<3>(count, n_cells);
        default:
            return scan_cells<0>(count, n_cells);
    }
}

// The cells that occur once `by` splits those of two samples or more.
void SetTerms::count_cells(const Partition& cells, const Column& by) {
    last_cell_.assign(size_t(by.arity), UINT32_MAX);
    n_cells_ = cells.n_alone;
    by.visit([&](const auto* level_of) {
        uint32_t begin = 0;
        for (const uint32_t end : cells.cell_end) {
            for (uint32_t k = begin; k < end; ++k) {
                uint32_t& last = last_cell_[level_of[cells.sample[k]]];
                n_cells_ += last != begin;
                last = begin;
            }
            begin = end;
        }
    });
}

// Cells of one class and cells of one sample add nothing, so that the other cells are enough.
void SetTerms::walk(const Partition& cells, const Column& by) {
    const size_t n_rows = size_t(n_rows_), n_counts = size_t(by.arity) * n_rows;
    if (split_row_.size() < n_counts) split_row_.resize(n_counts, 0);
    by.visit([&](const auto* level_of) {
        uint32_t begin = 0, *counts = split_row_.data();
        for (const uint32_t end : cells.cell_end) {
            if (n_counts > std::max<size_t>(kFewCounts, 4 * (end - begin))) {
                step_through(cells.sample.data() + begin, end - begin, level_of, by.arity);
            } else {
                for (uint32_t k = begin; k < end; ++k) {
                    const uint32_t i = cells.sample[k];
                    ++counts[level_of[i] * n_rows + row_of_[i]];
                }
                scan(counts, by.arity);
                std::fill_n(counts, n_counts, 0);
            }
            begin = end;
        }
    });
}

// What the samples of one cell contribute, where there are far more counts than samples.
template <class Code>
void SetTerms::step_through(const uint32_t* sample, uint32_t size, const Code* level_of,
                            int64_t arity) {
    const size_t n_levels = size_t(n_levels_), n_classes = size_t(setting_.n_classes());
    const size_t n_by = size_t(arity), n_rows = size_t(n_rows_);
    const auto provide = [](std::vector<uint32_t>& counts, size_t n) {
        if (counts.size() < n) counts.resize(n, 0);
    };
    provide(split_level_, n_by * n_levels);
    provide(split_class_, n_by * n_classes);
    for (auto* counts : {&split_, &levels_, &classes_}) provide(*counts, n_by);
    for (uint32_t k = 0; k < size; ++k) {
        const uint32_t i = sample[k], s = level_of[i], row = row_of_[i];
        uint32_t& in_row = split_row_[s * n_rows + row];
        uint32_t& in_level = split_level_[s * n_levels + level_of_row_[row]];
        uint32_t& in_class = split_class_[s * n_classes + class_of_row_[row]];
        levels_[s] += in_level == 0;
        classes_[s] += in_class == 0;
        sum_ += step(in_row++) - step(in_level++) - step(in_class++) + step(split_[s]++);
    }
    for (uint32_t k = 0; k < size; ++k) {
        const uint32_t i = sample[k], s = level_of[i], row = row_of_[i];
        if (split_[s]) freedom_ += int64_t(levels_[s] - 1) * int64_t(classes_[s] - 1);
        split_row_[s * n_rows + row] = split_level_[s * n_levels + level_of_row_[row]] = 0;
        split_class_[s * n_classes + class_of_row_[row]] = 0;
        split_[s] = levels_[s] = classes_[s] = 0;
    }
}

}  // namespace hocmim
