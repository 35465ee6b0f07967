// Terms of a candidate given a set of columns and one more, for sets that many candidates share.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/buffer.hpp"
#include "core/columns.hpp"
#include "core/partition.hpp"
#include "counting/cell_counter.hpp"
#include "estimators/setting.hpp"

namespace hocmim {

// A set of columns as one variable, in the forms that counting needs. Threads may share it.
class CellSet {
public:
    // No column: all samples are in one cell.
    explicit CellSet(const Setting& setting);
    // The set `parent` and one more column.
    CellSet(std::shared_ptr<CellSet> parent, const Column& column, Refiner& refine);
    CellSet(const CellSet&) = delete;

    // Cells that occur.
    int64_t n_cells() const { return n_cells_; }

    // A code for the cell of each sample, below n_codes(); only where no table of codes is larger
    // than the samples. Not every code needs to occur.
    bool is_coded() const { return is_coded_; }
    int64_t n_codes() const { return int64_t(parent_code_.size()); }
    const uint16_t* code_of() const { return code_of_.get(); }
    // Each code without the last column.
    const std::vector<uint16_t>& parent_code() const { return parent_code_; }

    // The samples of cells of two or more, cell by cell, made when first asked for; and of those
    // cells with two classes or more.
    const Partition& cells(Refiner& refine) {
        list(refine);
        return cells_;
    }
    const Partition& impure(Refiner& refine) {
        list(refine);
        return impure_;
    }

private:
    void code();
    int64_t count_codes(std::vector<uint16_t>& occurs) const;
    void list(Refiner& refine);
    void find_impure();

    const Setting& setting_;
    std::shared_ptr<CellSet> parent_;
    Column column_{};
    int64_t n_cells_ = 1;
    bool is_coded_ = false, is_listed_ = false;
    std::mutex mutex_;  // of the lists
    std::unique_ptr<uint16_t[]> code_of_;
    std::vector<uint16_t> parent_code_;
    Partition cells_, impure_;
};

// The sets that are prefixes of some Z*, kept while there is memory for them. Threads may share
// them.
class CellSets {
public:
    // Both arguments must outlive the sets.
    CellSets(const Columns& selected, const Setting& setting)
        : selected_(selected), setting_(setting) {}

    // Of the first `length` members.
    std::shared_ptr<CellSet> of(const std::vector<int32_t>& member, size_t length, Refiner& refine);

private:
    struct Kept {
        std::shared_ptr<CellSet> set;
        int64_t last_use;
    };

    void drop_least_used();

    const Columns& selected_;
    const Setting& setting_;
    std::mutex mutex_;
    int64_t n_uses_ = 0;
    std::map<std::vector<int32_t>, Kept> kept_;
};

// Î(X;Y|Z,s) of one candidate X, for the prefixes Z of one set and a column s, by the estimators
// that are sums of one function of the counts: HOCMIM-R is 1.2 to 2.2 times as fast as with an
// Evaluator. No table is larger than the samples. Holds scratch, so it serves one thread.
class SetTerms {
public:
    static constexpr int64_t kUnknown = -1;
    struct Found {
        double value;
        int64_t spread;  // Σ (k_x − 1) over the cells of Z and s, if it is known
    };

    explicit SetTerms(const Setting& setting);

    static bool can_evaluate(const Setting& setting, const Column& column);

    // Takes X.
    void start(const Column& column);

    // Appends to `found` the terms of the prefixes in order, up to the first for which there are
    // too few samples: N < min_support · cells of Z and s.
    void evaluate(const std::vector<std::shared_ptr<CellSet>>& prefixes, const Column& by,
                  double min_support, Refiner& refine, std::vector<Found>& found);

private:
    bool supports(double min_support, int64_t n_cells) const {
        return double(setting_.n_samples) >= min_support * double(n_cells);
    }
    bool is_dense(const CellSet& z, const Column& by) const {
        return z.is_coded() && z.n_codes() * by.arity * n_rows_ <= setting_.n_samples;
    }
    Found result(int64_t spread) const;
    void count_dense(const CellSet& z, const Column& by, std::vector<uint32_t>& table) const;
    void add_up(const CellSet& z, int64_t length, const std::vector<uint32_t>& from,
                std::vector<uint32_t>& to) const;
    void scan(const uint32_t* count, int64_t n_cells);
    template <int known_classes>
    void scan_cells(const uint32_t* count, int64_t n_cells);
    void count_cells(const Partition& cells, const Column& by);
    void walk(const Partition& cells, const Column& by);
    template <class Code>
    void step_through(const uint32_t* sample, uint32_t size, const Code* level_of, int64_t arity);
    int64_t step(uint32_t count) const {
        return count < step_.size() ? step_[count] : f_(int64_t(count) + 1) - f_(count);
    }

    const Setting& setting_;
    const CountFunction& f_;
    std::vector<int64_t> step_;  // f(c + 1) − f(c)
    int64_t n_levels_ = 0, n_rows_ = 0;
    Buffer<uint16_t> row_of_;  // level and class of each sample
    std::vector<uint16_t> level_of_row_, class_of_row_;
    // Over the cells scanned: the sum of f, Σ (k_x − 1)(k_y − 1), Σ (k_x − 1), and how many occur.
    int64_t sum_ = 0, freedom_ = 0, spread_ = 0, n_cells_ = 0;
    std::vector<std::vector<uint32_t>> tables_;  // by prefix: counts by code and s, then row
    std::vector<uint32_t> last_cell_;
    std::vector<int64_t> of_class_;
    // Counts within one cell of Z, by the level of s; all 0 between two cells.
    std::vector<uint32_t> split_row_, split_level_, split_class_, split_, levels_, classes_;
};

}  // namespace hocmim
