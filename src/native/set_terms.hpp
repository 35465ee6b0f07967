// Terms of a candidate given a set of columns and one more, for sets that many candidates share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "estimate.hpp"

namespace hocmim {

// A set of selected columns as one variable, in the forms that counting needs, each made on demand.
class CellSet {
public:
    // No column: all samples are in one cell.
    explicit CellSet(const Setting& setting) : setting_(setting), n_cells_(1), is_coded_(true), is_listed_(true) {
        cell_of_.assign(size_t(setting.n_samples), 0);
        cells_.assign_whole(setting.n_samples, setting.cls, setting.n_classes());
        find_impure();
    }
    // The set `parent` and one more column; the parent must outlive this set.
    CellSet(CellSet& parent, const Column& column, Refiner& refine)
        : setting_(parent.setting_), parent_(&parent), column_(column) {
        is_coded_ = parent.is_coded_ && parent.n_cells_ * column.arity <= setting_.n_samples;
        if (is_coded_)
            code();
        else
            list(refine);
    }
    CellSet(const CellSet&) = delete;

    int64_t n_cells() const { return n_cells_; }
    // The number of each sample's cell; only where that took no table larger than the samples.
    bool is_coded() const { return is_coded_; }
    const uint32_t* cell_of() const { return cell_of_.data(); }

    // The samples of cells of two or more, cell by cell; and of those cells with two classes or more.
    const Partition& cells(Refiner& refine) {
        list(refine);
        return cells_;
    }
    const Partition& impure(Refiner& refine) {
        list(refine);
        return impure_;
    }

private:
    void code() {
        const size_t n_samples = size_t(setting_.n_samples);
        std::vector<uint32_t> number(size_t(parent_->n_cells_ * column_.arity), UINT32_MAX);
        const uint32_t* from = parent_->cell_of_.data();
        const uint32_t arity = uint32_t(column_.arity);
        uint32_t n_cells = 0;
        cell_of_.resize(n_samples);
        column_.visit([&](const auto* level_of) {
            for (size_t i = 0; i < n_samples; ++i) {
                uint32_t& cell = number[from[i] * arity + level_of[i]];
                if (cell == UINT32_MAX) cell = n_cells++;
                cell_of_[i] = cell;
            }
        });
        n_cells_ = n_cells;
    }

    void list(Refiner& refine) {
        if (is_listed_) return;
        is_listed_ = true;
        const Partition& from = parent_->cells(refine);
        column_.visit([&](const auto* level_of) { refine(from, level_of, column_.arity, setting_.cls, cells_); });
        n_cells_ = cells_.n_cells();
        find_impure();
    }

    void find_impure() {
        impure_.sample.resize(cells_.sample.size());
        impure_.cell_end.resize(cells_.cell_end.size());
        uint32_t *to = impure_.sample.data(), *end_to = impure_.cell_end.data(), begin = 0;
        const uint32_t *sample = cells_.sample.data(), *cls = setting_.cls;
        for (const uint32_t end : cells_.cell_end) {
            bool is_pure = true;
            for (uint32_t k = begin + 1; k < end && is_pure; ++k) is_pure = cls[sample[k]] == cls[sample[begin]];
            if (!is_pure) {
                to = std::copy(sample + begin, sample + end, to);
                *end_to++ = uint32_t(to - impure_.sample.data());
            }
            begin = end;
        }
        impure_.sample.resize(size_t(to - impure_.sample.data()));
        impure_.cell_end.resize(size_t(end_to - impure_.cell_end.data()));
    }

    const Setting& setting_;
    CellSet* parent_ = nullptr;
    Column column_{};
    int64_t n_cells_ = 0;
    bool is_coded_ = false, is_listed_ = false;
    Buffer<uint32_t> cell_of_;
    Partition cells_, impure_;
};

// The sets that are prefixes of some Z*, kept while there is memory for them.
class CellSets {
public:
    CellSets(const Columns& selected, const Setting& setting) : selected_(selected), setting_(setting) {}

    // Of the first `length` members. It may be gone after the next call of make_room().
    CellSet& of(const std::vector<int32_t>& member, size_t length, Refiner& refine) {
        const std::vector<int32_t> members(member.begin(), member.begin() + std::ptrdiff_t(length));
        std::unique_ptr<CellSet>& set = kept_[members];
        if (set) return *set;
        if (length == 0) {
            set = std::make_unique<CellSet>(setting_);
        } else {
            CellSet& parent = of(member, length - 1, refine);
            set = std::make_unique<CellSet>(parent, selected_[member[length - 1]], refine);
        }
        return *set;
    }

    void make_room() {
        const size_t most = std::max<size_t>(kMostSamples / size_t(setting_.n_samples), kFewSets);
        if (kept_.size() > most) kept_.clear();
    }

private:
    // Samples in all sets together, each up to twelve bytes; and how many sets are kept in any case.
    static constexpr size_t kMostSamples = size_t(1) << 22, kFewSets = 24;

    const Columns& selected_;
    const Setting& setting_;
    std::map<std::vector<int32_t>, std::unique_ptr<CellSet>> kept_;  // in a map, sets stay where they are
};

// Î(X;Y|Z,s) of one candidate X, for one set Z and column s after another, by the estimators that are sums
// of one function of the counts. No table is larger than the samples. Holds scratch, so it serves one thread.
class SetTerms {
public:
    explicit SetTerms(const Setting& setting) : setting_(setting), f_(*setting.function) {
        const int64_t n_steps = std::min<int64_t>(setting.n_samples, kStepTable);
        for (int64_t c = 0; c < n_steps; ++c) step_.push_back(f_(c + 1) - f_(c));
    }

    static bool can_evaluate(const Setting& setting, const Column& column) {
        return (setting.estimator == Estimator::plugin || setting.estimator == Estimator::miller_madow ||
                setting.estimator == Estimator::grassberger) &&
               column.arity * setting.n_classes() <= kMostRows;
    }

    // Takes X.
    void start(const Column& column) {
        n_levels_ = column.arity;
        n_rows_ = column.arity * setting_.n_classes();
        row_of_.resize(size_t(setting_.n_samples));
        const uint32_t n_classes = uint32_t(setting_.n_classes()), *cls = setting_.cls;
        uint16_t* to = row_of_.data();
        column.visit([&](const auto* level_of) {
            for (int64_t i = 0; i < setting_.n_samples; ++i) to[i] = uint16_t(level_of[i] * n_classes + cls[i]);
        });
        level_of_row_.resize(size_t(n_rows_));
        class_of_row_.resize(size_t(n_rows_));
        for (int64_t row = 0; row < n_rows_; ++row) {
            level_of_row_[size_t(row)] = uint16_t(row / n_classes);
            class_of_row_[size_t(row)] = uint16_t(row % n_classes);
        }
    }

    // The term, unless there are too few samples for the cells of `z` and `by`: supports(n_cells).
    template <class Supports>
    std::optional<double> operator()(CellSet& z, const Column& by, Supports&& supports, Refiner& refine) {
        if (!supports(z.n_cells())) return std::nullopt;
        sum_ = freedom_ = n_cells_ = 0;
        if (z.is_coded() && z.n_cells() * by.arity * n_rows_ <= setting_.n_samples) {
            count_dense(z, by);
            scan_dense(z.n_cells() * by.arity);
            if (!supports(n_cells_)) return std::nullopt;
        } else {
            if (!supports(z.n_cells() * by.arity)) {
                count_cells(z.cells(refine), by);
                if (!supports(n_cells_)) return std::nullopt;
            }
            walk(z.impure(refine), by);
        }
        return value();
    }

private:
    static constexpr int64_t kMostRows = 1 << 16, kStepTable = 1 << 12;
    static constexpr size_t kBlock = 512;

    double value() const {
        const double n = double(setting_.n_samples), value = f_.fixed().real(sum_) / n;
        if (setting_.estimator == Estimator::miller_madow) return value - double(freedom_) / (2 * n);
        return setting_.estimator == Estimator::plugin ? std::max(0.0, value) : value;
    }

    // Counts by (z,s), then row.
    void count_dense(const CellSet& z, const Column& by) {
        const uint32_t n_rows = uint32_t(n_rows_), arity = uint32_t(by.arity);
        table_.assign(size_t(z.n_cells() * by.arity * n_rows_), 0);
        by.visit([&](const auto* level_of) {
            const uint32_t* cell_of = z.cell_of();
            const uint16_t* row_of = row_of_.data();
            uint32_t* table = table_.data();
            const size_t n_samples = row_of_.size();
            uint32_t index[kBlock];
            for (size_t begin = 0; begin < n_samples; begin += kBlock) {
                const size_t size = std::min(kBlock, n_samples - begin);
                for (size_t k = 0; k < size; ++k)
                    index[k] = (cell_of[begin + k] * arity + level_of[begin + k]) * n_rows + row_of[begin + k];
                for (size_t k = 0; k < size; ++k) ++table[index[k]];
            }
        });
    }

    void scan_dense(int64_t n_cells) {
        const int64_t n_classes = setting_.n_classes();
        of_class_.resize(size_t(n_classes));
        const uint32_t* count = table_.data();
        for (int64_t cell = 0; cell < n_cells; ++cell) {
            int64_t size = 0, sum = 0, levels = 0, classes = 0;
            std::fill(of_class_.begin(), of_class_.end(), 0);
            for (int64_t level = 0; level < n_levels_; ++level) {
                int64_t total = 0;
                for (int64_t cls = 0; cls < n_classes; ++cls, ++count) {
                    sum += f_(*count);
                    total += *count;
                    of_class_[size_t(cls)] += *count;
                }
                sum -= f_(total);
                levels += total > 0;
                size += total;
            }
            if (size == 0) continue;
            for (const int64_t total : of_class_) {
                sum -= f_(total);
                classes += total > 0;
            }
            sum_ += sum + f_(size);
            freedom_ += (levels - 1) * (classes - 1);
            ++n_cells_;
        }
    }

    // Occupied cells once `by` splits those of two samples or more.
    void count_cells(const Partition& cells, const Column& by) {
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

    // A count that goes from c to c + 1 adds f(c + 1) − f(c).
    int64_t step(uint32_t count) const {
        return count < step_.size() ? step_[count] : f_(int64_t(count) + 1) - f_(count);
    }

    void walk(const Partition& cells, const Column& by) {
        const size_t n_levels = size_t(n_levels_), n_classes = size_t(setting_.n_classes());
        const size_t n_by = size_t(by.arity), n_rows = size_t(n_rows_);
        clear(split_row_, n_by * n_rows);
        clear(split_level_, n_by * n_levels);
        clear(split_class_, n_by * n_classes);
        clear(split_, n_by);
        clear(levels_, n_by);
        clear(classes_, n_by);
        by.visit([&](const auto* level_of) {
            uint32_t begin = 0;
            for (const uint32_t end : cells.cell_end) {
                for (uint32_t k = begin; k < end; ++k) {
                    const uint32_t i = cells.sample[k], s = level_of[i], row = row_of_[i];
                    uint32_t& in_row = split_row_[s * n_rows + row];
                    uint32_t& in_level = split_level_[s * n_levels + level_of_row_[row]];
                    uint32_t& in_class = split_class_[s * n_classes + class_of_row_[row]];
                    sum_ += step(in_row) - step(in_level) - step(in_class) + step(split_[s]);
                    levels_[s] += in_level == 0;
                    classes_[s] += in_class == 0;
                    ++in_row;
                    ++in_level;
                    ++in_class;
                    ++split_[s];
                }
                for (uint32_t k = begin; k < end; ++k) {
                    const uint32_t i = cells.sample[k], s = level_of[i], row = row_of_[i];
                    if (split_[s]) freedom_ += int64_t(levels_[s] - 1) * int64_t(classes_[s] - 1);
                    split_row_[s * n_rows + row] = split_level_[s * n_levels + level_of_row_[row]] = 0;
                    split_class_[s * n_classes + class_of_row_[row]] = 0;
                    split_[s] = levels_[s] = classes_[s] = 0;
                }
                begin = end;
            }
        });
    }

    // At least so many counts; all counts are 0 before and after a walk.
    static void clear(std::vector<uint32_t>& counts, size_t size) {
        if (counts.size() < size) counts.resize(size, 0);
    }

    const Setting& setting_;
    const CountFunction& f_;
    std::vector<int64_t> step_;
    int64_t n_levels_ = 0, n_rows_ = 0;
    Buffer<uint16_t> row_of_;  // level and class of each sample
    std::vector<uint16_t> level_of_row_, class_of_row_;
    int64_t sum_ = 0, freedom_ = 0, n_cells_ = 0;
    std::vector<uint32_t> table_, last_cell_;
    std::vector<int64_t> of_class_;
    // Counts within one cell of Z, by the level of s.
    std::vector<uint32_t> split_row_, split_level_, split_class_, split_, levels_, classes_;
};

}  // namespace hocmim
