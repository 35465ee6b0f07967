#include "counting/plane_terms.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/interrupt.hpp"

namespace hocmim {

namespace {

constexpr int64_t kLanes = BitPlanes::kLanes;

// sums[lane] = Σ f(counts[k * 8 + lane]), by table.
HOCMIM_SCALAR void add_up(const int64_t* f, const uint32_t* counts, int64_t n, int64_t* sums) {
    int64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (int64_t k = 0; k < n; ++k, counts += kLanes) {
        s0 += f[counts[0]];
        s1 += f[counts[1]];
        s2 += f[counts[2]];
        s3 += f[counts[3]];
        s4 += f[counts[4]];
        s5 += f[counts[5]];
        s6 += f[counts[6]];
        s7 += f[counts[7]];
    }
    const int64_t found[kLanes] = {s0, s1, s2, s3, s4, s5, s6, s7};
    std::copy_n(found, kLanes, sums);
}

// rest = whole − Σ counts, lane by lane; two counts are `apart` lanes apart.
void subtract(const uint32_t* whole, const uint32_t* counts, int64_t n, int64_t apart,
              uint32_t* rest) {
    uint32_t left[kLanes];
    std::copy_n(whole, kLanes, left);
    for (int64_t k = 0; k < n; ++k, counts += apart)
        for (int64_t lane = 0; lane < kLanes; ++lane) left[lane] -= counts[lane];
    std::copy_n(left, kLanes, rest);
}

}  // namespace

PlaneTerms::PlaneTerms(const BitPlanes& planes, const Columns& columns, const CellMasks& y,
                       Estimator estimator, bool keeps_rows)
    : planes_(planes),
      columns_(columns),
      y_(y),
      setting_(estimator, columns.n_samples(), y.counts()),
      evaluate_(make_evaluator(setting_)),
      rows_at_(planes.groups().size(), -1) {
    if (y.n_samples() != columns.n_samples() || setting_.estimator.needs_samples)
        throw std::invalid_argument("the planes and y do not fit together");
    if (keeps_rows && planes.in_lanes()) keep_rows();
}

void PlaneTerms::keep_rows() {
    // With a W of one cell, the table by w, y and x is that of y and x.
    const std::vector<uint32_t> nothing(size_t(y_.n_samples()), 0);
    condition(CellMasks(nothing.data(), y_.n_samples(), 1));
    marginal_sums_.resize(planes_.groups().size() * kLanes);
    for (size_t g = 0; g < planes_.groups().size(); ++g) {
        const BitPlanes::Group& group = planes_.groups()[g];
        if (!paths::keeps_class_counts(group.arity, y_.n_cells(), y_.n_samples())) continue;
        count_group(group, int64_t(g));
        rows_at_[g] = int64_t(rows_.size());
        rows_.insert(rows_.end(), table_.begin(),
                     table_.begin() + group.arity * y_.n_cells() * kLanes);
        sum_marginals(table_.data(), group.arity, &marginal_sums_[g * kLanes]);
    }
}

void PlaneTerms::form(const CellMasks& w, Condition& condition) const {
    condition.pairs = CellMasks(w, y_);
    condition.n_cells = w.n_cells();
    condition.pair_counts = condition.pairs.counts();
    condition.sums.compute(condition.pair_counts, setting_);
}

void PlaneTerms::take(const Condition& condition) {
    now_ = &condition;
    const size_t n_pairs = size_t(condition.pairs.n_cells());
    common_.resize(n_pairs * (BitPlanes::kMostLevels - 1));
    counts_.resize(n_pairs * BitPlanes::kMostLevels);
    if (!planes_.in_lanes()) return;
    common_lanes_.resize(common_.size() * kLanes);
    table_.resize(counts_.size() * kLanes);
    totals_.resize(size_t(condition.n_cells) * BitPlanes::kMostLevels * kLanes);
}

void PlaneTerms::condition(const CellMasks& w) {
    form(w, newest_);
    take(newest_);
}

void PlaneTerms::condition(const CellMasks& w, size_t number) {
    if (!planes_.in_lanes()) return condition(w);
    if (number >= kept_.size()) kept_.resize(number + 1);
    if (!kept_[number]) {
        kept_[number] = std::make_unique<Condition>();
        form(w, *kept_[number]);
    }
    take(*kept_[number]);
}

void PlaneTerms::forget() {
    if (planes_.in_lanes()) return;
    newest_ = Condition();
    now_ = nullptr;
}

void PlaneTerms::check(int64_t j) const {
    if (j < 0 || j >= columns_.size() || !planes_.has(j))
        throw std::invalid_argument("there are no planes at that position");
}

// Counts n_xwy of column j, by w, then x, then y.
void PlaneTerms::count_one(int64_t j) {
    const int64_t arity = columns_[j].arity, n_planes = arity - 1, n_classes = y_.n_cells();
    count_common(planes_.planes(j, arity, one_), n_planes, now_->pairs.masks(),
                 now_->pairs.n_cells(), now_->pairs.n_words(), common_.data());
    for (int64_t pair = 0; pair < now_->pairs.n_cells(); ++pair) {
        int64_t* at = counts_.data() + (pair / n_classes * arity) * n_classes + pair % n_classes;
        int64_t rest = now_->pair_counts[size_t(pair)];  // level 0: n_wy less the other levels
        for (int64_t p = 0; p < n_planes; ++p) {
            const int64_t count = common_[size_t(pair * n_planes + p)];
            at[(p + 1) * n_classes] = count;
            rest -= count;
        }
        at[0] = rest;
    }
}

// Counts n_xwy of eight columns, by w, then y, then x. Level 0 is n_wy less the other levels;
// cell 0 of W, where n_xy is known, is n_xy less the other cells.
void PlaneTerms::count_group(const BitPlanes::Group& group, int64_t index) {
    const int64_t arity = group.arity, n_planes = arity - 1, n_classes = y_.n_cells();
    const int64_t row_length = arity * kLanes;
    const bool knows_rows = rows_at_[size_t(index)] >= 0;
    const int64_t first = knows_rows ? n_classes : 0;
    count_lanes(group.words, n_planes, now_->pairs.masks() + first * now_->pairs.n_words(),
                now_->pairs.n_cells() - first, now_->pairs.n_words(), planes_.n_words(),
                common_lanes_.data());
    const uint32_t* from = common_lanes_.data();
    for (int64_t pair = first; pair < now_->pairs.n_cells(); ++pair, from += n_planes * kLanes) {
        uint32_t* row = table_.data() + pair * row_length;
        uint32_t whole[kLanes];
        std::fill_n(whole, kLanes, uint32_t(now_->pair_counts[size_t(pair)]));
        std::copy_n(from, n_planes * kLanes, row + kLanes);
        subtract(whole, from, n_planes, kLanes, row);
    }
    if (!knows_rows) return;
    const uint32_t* rows = rows_.data() + rows_at_[size_t(index)];
    for (int64_t at = 0; at < n_classes * row_length; at += kLanes)
        subtract(rows + at, table_.data() + n_classes * row_length + at, now_->n_cells - 1,
                 n_classes * row_length, table_.data() + at);
}

// Σ f(n_xy) and Σ f(n_x) of eight columns, from n_xy by y, then x.
void PlaneTerms::sum_marginals(const uint32_t* rows, int64_t arity, CountSums* sums) {
    const int64_t *f = setting_.function->table(), n_classes = y_.n_cells();
    int64_t found[kLanes];
    add_up(f, rows, n_classes * arity, found);
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane].class_rows = found[lane];
    std::vector<uint32_t>& levels = totals_;
    std::fill_n(levels.begin(), arity * kLanes, 0);
    for (int64_t cls = 0; cls < n_classes; ++cls)
        for (int64_t at = 0; at < arity * kLanes; ++at) levels[size_t(at)] += *rows++;
    add_up(f, levels.data(), arity, found);
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane].levels = found[lane];
}

// The sums of the plug-in, from the table of eight columns.
void PlaneTerms::sum_group(const BitPlanes::Group& group, int64_t index) {
    const int64_t *f = setting_.function->table(), n_classes = y_.n_cells();
    const int64_t row_length = group.arity * kLanes, class_rows = n_classes * row_length;
    if (rows_at_[size_t(index)] >= 0) {
        std::copy_n(&marginal_sums_[size_t(index * kLanes)], kLanes, sums_);
    } else {
        std::vector<uint32_t>& rows = common_lanes_;
        rows.resize(std::max(rows.size(), size_t(class_rows)));
        std::fill_n(rows.begin(), class_rows, 0);
        for (int64_t w = 0; w < now_->n_cells; ++w)
            for (int64_t at = 0; at < class_rows; ++at)
                rows[size_t(at)] += table_[size_t(w * class_rows + at)];
        sum_marginals(rows.data(), group.arity, sums_);
    }
    int64_t found[kLanes];
    add_up(f, table_.data(), now_->n_cells * n_classes * group.arity, found);
    for (int64_t lane = 0; lane < kLanes; ++lane)
        sums_[lane].rows = sums_[lane].pairs = found[lane];
    if (n_classes == 1) return;
    for (int64_t w = 0; w < now_->n_cells; ++w) {
        uint32_t* to = totals_.data() + w * row_length;
        const uint32_t* from = table_.data() + w * class_rows;
        std::copy_n(from, row_length, to);
        for (int64_t cls = 1; cls < n_classes; ++cls)
            for (int64_t at = 0; at < row_length; ++at) to[at] += from[cls * row_length + at];
    }
    add_up(f, totals_.data(), now_->n_cells * group.arity, found);
    for (int64_t lane = 0; lane < kLanes; ++lane) sums_[lane].pairs = found[lane];
}

// The counts of one of eight columns, by w, then x, then y, for Evaluator::from_table().
void PlaneTerms::take_lane(int64_t arity, int64_t lane) {
    const int64_t n_classes = y_.n_cells();
    const uint32_t* from = table_.data() + lane;
    for (int64_t w = 0; w < now_->n_cells; ++w)
        for (int64_t cls = 0; cls < n_classes; ++cls)
            for (int64_t x = 0; x < arity; ++x, from += kLanes)
                counts_[size_t((w * arity + x) * n_classes + cls)] = *from;
}

void PlaneTerms::evaluate(const std::vector<Term>& terms, const int64_t* which, int64_t n_out,
                          double* out) {
    for (int64_t k = 0; k < n_out; ++k) check(which ? which[k] : k);
    if (!planes_.in_lanes()) {
        for (int64_t k = 0; k < n_out; ++k) {
            const int64_t j = which ? which[k] : k;
            count_one(j);
            for (size_t t = 0; t < terms.size(); ++t)
                out[int64_t(t) * n_out + k] = from_table(terms[t], j);
            count_work(columns_[j].arity * now_->pairs.n_cells() * now_->pairs.n_words());
        }
        return;
    }
    // Where the terms of each column go; −1 if the column is not in `which`.
    std::vector<int64_t> place(which ? size_t(columns_.size()) : 0, -1);
    for (int64_t k = 0; which && k < n_out; ++k) {
        if (place[size_t(which[k])] >= 0) throw std::invalid_argument("a position is given twice");
        place[size_t(which[k])] = k;
    }
    const bool is_corrected =
        setting_.estimator.is_corrected &&
        std::find(terms.begin(), terms.end(), Term::conditional) != terms.end();
    for (size_t g = 0; g < planes_.groups().size(); ++g) {
        const BitPlanes::Group& group = planes_.groups()[g];
        int64_t to[kLanes];
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            const int64_t j = group.column[lane];
            to[lane] = j < 0 ? -1 : which ? place[size_t(j)] : j;
        }
        if (*std::max_element(to, to + kLanes) < 0) continue;
        count_group(group, int64_t(g));
        if (setting_.estimator.is_plain_sum || is_corrected) sum_group(group, int64_t(g));
        for (size_t t = 0; t < terms.size(); ++t) {
            double values[kLanes];
            evaluate_group(terms[t], group, values);
            for (int64_t lane = 0; lane < kLanes; ++lane)
                if (to[lane] >= 0) out[int64_t(t) * n_out + to[lane]] = values[lane];
        }
        count_work(group.arity * now_->pairs.n_cells() * now_->pairs.n_words());
    }
}

void PlaneTerms::evaluate_group(Term term, const BitPlanes::Group& group, double* values) {
    if (setting_.estimator.is_plain_sum) {
        for (int64_t lane = 0; lane < kLanes; ++lane)
            values[lane] = sums_[lane].term(term, setting_, now_->sums);
    } else if (setting_.estimator.is_corrected && term == Term::conditional) {
        correct_conditional(group.arity, values);
    } else if (!setting_.estimator.is_shrunken || term == Term::joint_entropy) {
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            if (group.column[lane] < 0) continue;
            take_lane(group.arity, lane);
            values[lane] = from_table(term, group.column[lane]);
        }
    } else if (term == Term::information) {
        shrink_against_condition(false, group.arity, values);
    } else if (term == Term::given_class) {
        shrink_against_condition(true, group.arity, values);
    } else if (term == Term::redundancy) {
        double given_class[kLanes];
        shrink_against_condition(true, group.arity, given_class);
        shrink_against_condition(false, group.arity, values);
        for (int64_t lane = 0; lane < kLanes; ++lane) values[lane] -= given_class[lane];
    } else {
        shrink_against_class(term, group.arity, values);
    }
}

// I(X;Y|W) of Miller and Madow, from the sums of the plug-in and n_xw.
void PlaneTerms::correct_conditional(int64_t arity, double* values) {
    const int64_t n_classes = y_.n_cells();
    const double n = double(setting_.n_samples);
    int32_t freedom[kLanes] = {};  // Σ_w (k_x(w) − 1)(k_y(w) − 1)
    for (int64_t w = 0; w < now_->n_cells && n_classes > 1; ++w) {
        int32_t classes = 0, levels[kLanes] = {};
        for (int64_t cls = 0; cls < n_classes; ++cls)
            classes += now_->pair_counts[size_t(w * n_classes + cls)] > 0;
        if (classes < 2) continue;
        const uint32_t* totals = totals_.data() + w * arity * kLanes;
        for (int64_t x = 0; x < arity; ++x, totals += kLanes)
            for (int64_t lane = 0; lane < kLanes; ++lane) levels[lane] += totals[lane] > 0;
        for (int64_t lane = 0; lane < kLanes; ++lane)
            freedom[lane] += (levels[lane] - 1) * (classes - 1);
    }
    for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t sum =
            sums_[lane].rows - sums_[lane].pairs - now_->sums.pairs_sum + now_->sums.cells_sum;
        values[lane] = setting_.function->fixed().real(sum) / n - double(freedom[lane]) / (2 * n);
    }
}

// I(X,W;Y) or I(X;Y|W), from the tables with rows y and columns (x,w).
void PlaneTerms::shrink_against_class(Term term, int64_t arity, double* values) {
    const int64_t n_classes = y_.n_cells(), row_length = arity * kLanes;
    row_counts_.resize(size_t(n_classes * kLanes));
    for (int64_t cls = 0; cls < n_classes; ++cls)
        std::fill_n(row_counts_.begin() + cls * kLanes, kLanes,
                    double(setting_.class_counts[size_t(cls)]));
    shrinkage_.start(row_counts_.data(), size_t(n_classes),
                     size_t(now_->n_cells * arity * n_classes));
    sizes_.resize(size_t(row_length));
    double column_squares[kLanes] = {};
    for (int64_t w = 0; w < now_->n_cells; ++w) {
        const uint32_t* counts = table_.data() + w * n_classes * row_length;
        std::copy_n(counts, row_length, totals_.begin());
        for (int64_t cls = 1; cls < n_classes; ++cls)
            for (int64_t at = 0; at < row_length; ++at)
                totals_[size_t(at)] += counts[cls * row_length + at];
        for (int64_t at = 0; at < row_length; ++at) {
            sizes_[size_t(at)] = double(int32_t(totals_[size_t(at)]));
            column_squares[at % kLanes] += sizes_[size_t(at)] * sizes_[size_t(at)];
        }
        shrinkage_.add_columns(counts, size_t(arity), kLanes, size_t(row_length), sizes_.data());
    }
    shrink(column_squares, term == Term::conditional, values);
}

// I(X;W) from the tables with rows x and columns w, or I(X;W|Y) from those with rows (x,y).
void PlaneTerms::shrink_against_condition(bool is_given_class, int64_t arity, double* values) {
    const int64_t n_classes = y_.n_cells(), row_length = arity * kLanes;
    const int64_t n_rows = is_given_class ? n_classes * arity : arity, length = n_rows * kLanes;
    const uint32_t* counts = table_.data();
    if (!is_given_class) {
        std::fill_n(totals_.begin(), now_->n_cells * row_length, 0);
        for (int64_t w = 0; w < now_->n_cells; ++w)
            for (int64_t cls = 0; cls < n_classes; ++cls, counts += row_length)
                for (int64_t at = 0; at < row_length; ++at)
                    totals_[size_t(w * row_length + at)] += counts[at];
        counts = totals_.data();
    }
    std::vector<uint32_t>& row_counts = common_lanes_;
    row_counts.assign(std::max(row_counts.size(), size_t(length)), 0);
    sizes_.resize(size_t(now_->n_cells * kLanes));
    for (int64_t w = 0; w < now_->n_cells; ++w) {
        for (int64_t at = 0; at < length; ++at) row_counts[size_t(at)] += counts[w * length + at];
        int64_t size = 0;
        for (int64_t cls = 0; cls < n_classes; ++cls)
            size += now_->pair_counts[size_t(w * n_classes + cls)];
        std::fill_n(sizes_.begin() + w * kLanes, kLanes, double(size));
    }
    shrinkage_.start(row_counts.data(), size_t(n_rows), size_t(now_->n_cells * n_rows));
    shrinkage_.add_columns(counts, size_t(now_->n_cells), size_t(length), kLanes, sizes_.data());
    double column_squares[kLanes];
    std::fill_n(column_squares, kLanes, double(now_->sums.cell_squares));
    shrink(column_squares, is_given_class, values);
}

// The information of the tables, less I(W;Y) under the same λ if `less_condition`.
void PlaneTerms::shrink(const double* column_squares, bool less_condition, double* values) {
    const double n = double(setting_.n_samples);
    double lambda[kLanes];
    shrinkage_.intensity(n, column_squares, lambda);
    shrinkage_.information(lambda, n, setting_.nats, values);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
        if (less_condition)
            values[lane] -=
                now_->sums.pairs.information(lambda[lane], setting_.n_samples, setting_.nats);
        values[lane] = std::max(0.0, values[lane]);
    }
}

double PlaneTerms::operator()(Term term, int64_t j) {
    check(j);
    count_one(j);
    return from_table(term, j);
}

}  // namespace hocmim
