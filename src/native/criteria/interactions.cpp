#include "criteria/interactions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "core/byte_masks.hpp"
#include "core/comparison.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

namespace {

constexpr int64_t kLanes = InteractionScreen::kLanes;
// Words of the planes that are counted with one column after the other: half of a second-level
// cache of 512 KB.
constexpr int64_t kWordsAtOnce = 1 << 15;

// table[(a·n_b + b)·8 + lane] of one segment from the counts of levels a, b ≥ 1 and the margins: of
// the column of rows by level, and of the eight others by level and lane.
HOCMIM_INLINE void fill_table_body(const uint32_t* common, int64_t n_a, int64_t n_b,
                                   const uint32_t* row_margin, const uint32_t* margins,
                                   uint32_t* table) {
    uint32_t* zero_row = table;
    for (int64_t k = 0; k < n_b * kLanes; ++k) zero_row[k] = margins[k];
    for (int64_t a = 1; a < n_a; ++a) {
        uint32_t* row = table + a * n_b * kLanes;
        uint32_t rest[kLanes];
        for (int64_t lane = 0; lane < kLanes; ++lane) rest[lane] = row_margin[a];
        for (int64_t b = 1; b < n_b; ++b) {
            const uint32_t* from = common + ((a - 1) * (n_b - 1) + b - 1) * kLanes;
            for (int64_t lane = 0; lane < kLanes; ++lane) {
                row[b * kLanes + lane] = from[lane];
                zero_row[b * kLanes + lane] -= from[lane];
                rest[lane] -= from[lane];
            }
        }
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            row[lane] = rest[lane];
            zero_row[lane] -= rest[lane];
        }
    }
}

HOCMIM_DISPATCH(void, fill_table, fill_table_body,
                (const uint32_t* common, int64_t n_a, int64_t n_b, const uint32_t* row_margin,
                 const uint32_t* margins, uint32_t* table),
                (common, n_a, n_b, row_margin, margins, table))

// sum[k] += table[k].
HOCMIM_INLINE void add_table_body(const uint32_t* table, int64_t n, uint32_t* sum) {
    for (int64_t k = 0; k < n; ++k) sum[k] += table[k];
}

HOCMIM_DISPATCH(void, add_table, add_table_body, (const uint32_t* table, int64_t n, uint32_t* sum),
                (table, n, sum))

// sums[lane] += sign Σ f(table[k·8 + lane]).
void add_sums(const CountFunction& f, bool is_tabled, const uint32_t* table, int64_t n,
              int64_t sign, int64_t* sums) {
    int64_t total[kLanes] = {};
    const int64_t* known = f.table();
    if (is_tabled)
        for (int64_t k = 0; k < n; ++k)
            for (int64_t lane = 0; lane < kLanes; ++lane)
                total[lane] += known[table[k * kLanes + lane]];
    else
        for (int64_t k = 0; k < n; ++k)
            for (int64_t lane = 0; lane < kLanes; ++lane)
                total[lane] += f(int64_t(table[k * kLanes + lane]));
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += sign * total[lane];
}

}  // namespace

// The column of rows, and the counts of it and eight others.
struct InteractionScreen::Scratch {
    int64_t position = -1, arity = 0;
    std::vector<uint64_t> masks;                         // its planes by segment
    std::vector<uint32_t> margin;                        // its counts by segment and level
    std::vector<uint32_t> common;                        // of levels from 1 on
    std::vector<uint32_t> table;                         // by segment and levels
    std::vector<uint32_t> of_shared, of_class, of_pair;  // sums over classes, over V, over both
    int64_t joint[kLanes], g[kLanes];                    // N I of all columns together, and G / 2
};

InteractionScreen::InteractionScreen(std::vector<int64_t> arity, Vector<const uint32_t> order,
                                     std::vector<int64_t> sizes, int64_t n_classes,
                                     int64_t n_shared)
    : n_samples_(int64_t(order.size())),
      n_classes_(n_classes),
      n_shared_(n_shared),
      n_segments_(n_classes * n_shared),
      arity_(std::move(arity)),
      sizes_(std::move(sizes)),
      order_(order) {
    if (n_samples_ < 1 || n_samples_ >= int64_t(UINT32_MAX) || n_classes < 1 || n_shared < 1 ||
        int64_t(sizes_.size()) != n_segments_ ||
        std::accumulate(sizes_.begin(), sizes_.end(), int64_t(0)) != n_samples_ ||
        *std::min_element(sizes_.begin(), sizes_.end()) < 0)
        throw std::invalid_argument("the samples and the segments do not fit together");
    for (int64_t a : arity_)
        if (a < 1 || a > 255) throw std::invalid_argument("a column has 1 to 255 levels");
    for (const uint32_t row : order)
        if (row >= order.size()) throw std::invalid_argument("order is out of range");
    first_word_.push_back(0);
    for (int64_t size : sizes_) first_word_.push_back(first_word_.back() + (size + 63) / 64);
    n_words_ = first_word_.back();

    std::vector<int64_t> class_counts(size_t(n_classes), 0), cells(size_t(n_shared), 0);
    for (int64_t s = 0; s < n_segments_; ++s) {
        class_counts[size_t(s / n_shared)] += sizes_[size_t(s)];
        cells[size_t(s % n_shared)] += sizes_[size_t(s)];
    }
    f_ = std::make_shared<const CountFunction>(n_log_n_of_count, n_samples_);
    for (int64_t count : class_counts) class_sum_ += (*f_)(count);
    whole_sum_ = (*f_)(n_samples_);
    shared_ = whole_sum_ - class_sum_;
    for (int64_t size : sizes_) shared_ += (*f_)(size);
    for (int64_t size : cells) shared_ -= (*f_)(size);
    make_groups();
}

void InteractionScreen::make_groups() {
    const int64_t n_columns = int64_t(arity_.size());
    std::vector<int64_t> by_arity(size_t(n_columns), 0);
    std::iota(by_arity.begin(), by_arity.end(), int64_t(0));
    std::stable_sort(by_arity.begin(), by_arity.end(),
                     [&](int64_t j, int64_t k) { return arity_[size_t(j)] < arity_[size_t(k)]; });
    position_.resize(size_t(n_columns));
    size_t n_words = 0, n_margins = 0;
    for (int64_t j : by_arity) {
        const int64_t arity = arity_[size_t(j)];
        const bool is_full = groups_.empty() || groups_.back().arity != arity ||
                             groups_.back().column[kLanes - 1] >= 0;
        if (is_full) {
            groups_.push_back({arity, {-1, -1, -1, -1, -1, -1, -1, -1}, n_words, n_margins});
            n_words += size_t((arity - 1) * n_words_ * kLanes);
            n_margins += size_t(arity * n_segments_ * kLanes);
        }
        Group& group = groups_.back();
        int64_t lane = 0;
        while (group.column[lane] >= 0) ++lane;
        group.column[lane] = j;
        position_[size_t(j)] = int64_t(places_.size());
        places_.push_back({int64_t(groups_.size()) - 1, lane});
    }
    words_.assign(n_words, 0);
    margins_.assign(n_margins, 0);
    for (const Group& group : groups_)  // a lane without a column is constant
        for (int64_t s = 0; s < n_segments_; ++s)
            std::fill_n(margins_.data() + group.margins + size_t(s * group.arity * kLanes),
                        size_t(kLanes), uint32_t(sizes_[size_t(s)]));
    alone_.resize(size_t(n_columns));
    with_shared_.resize(size_t(n_columns));
    n_seen_.resize(size_t(n_columns));
}

void InteractionScreen::set(int64_t first, Matrix<const uint8_t> codes) {
    if (int64_t(codes.n_columns) != n_samples_)
        throw std::invalid_argument("the columns are not of this length");
    const int64_t n_columns = int64_t(codes.n_rows);
    if (first < 0 || first + n_columns > int64_t(arity_.size()))
        throw std::invalid_argument("there are no such columns");
    std::vector<uint8_t> sorted(size_t(n_words_ * 64), 255);  // no level where a segment has ended
    for (int64_t k = 0; k < n_columns; ++k) {
        const Place& place = places_[size_t(position_[size_t(first + k)])];
        make_planes(codes.row(size_t(k)), groups_[size_t(place.group)], place.lane, sorted);
        count_work(n_samples_);
    }
}

void InteractionScreen::make_planes(const uint8_t* codes, const Group& group, int64_t lane,
                                    std::vector<uint8_t>& sorted) {
    const int64_t j = group.column[lane], arity = group.arity;
    const uint32_t* next = order_.data();
    uint8_t highest = 0;
    for (int64_t s = 0; s < n_segments_; ++s) {
        uint8_t* to = sorted.data() + first_word_[size_t(s)] * 64;
        for (int64_t i = 0; i < sizes_[size_t(s)]; ++i) {
            to[i] = codes[next[i]];
            highest = std::max(highest, to[i]);
        }
        next += sizes_[size_t(s)];
    }
    if (highest >= arity) throw std::invalid_argument("a code is not below its arity");
    std::vector<int64_t> counts(size_t(n_segments_ * arity), 0), seen(size_t(arity), 0);
    for (int64_t s = 0; s < n_segments_; ++s) {
        const int64_t first = first_word_[size_t(s)], n = first_word_[size_t(s + 1)] - first;
        uint64_t* to = words_.data() + group.words + size_t((arity - 1) * first * kLanes);
        int64_t rest = sizes_[size_t(s)];
        for (int64_t level = 1; level < arity; ++level, to += n * kLanes) {
            int64_t count = 0;
            for (int64_t i = 0; i < n; ++i) {
                const uint64_t word =
                    bytes_equal_to(sorted.data() + (first + i) * 64, uint8_t(level));
                to[i * kLanes + lane] = word;
                count += count_ones(word);
            }
            counts[size_t(s * arity + level)] = count;
            rest -= count;
        }
        counts[size_t(s * arity)] = rest;
        for (int64_t level = 0; level < arity; ++level) {
            const int64_t count = counts[size_t(s * arity + level)];
            margins_[group.margins + size_t((s * arity + level) * kLanes + lane)] = uint32_t(count);
            seen[size_t(level)] += count;
        }
    }
    n_seen_[size_t(j)] = std::count_if(seen.begin(), seen.end(), [](int64_t n) { return n > 0; });
    with_shared_[size_t(j)] = information(counts, n_shared_ * arity, 1);
    alone_[size_t(j)] = information(counts, arity, n_shared_);
}

// N I(Z;Y) of a variable Z from counts by class, a part that is summed, and cell of Z.
int64_t InteractionScreen::information(const std::vector<int64_t>& counts, int64_t n_cells,
                                       int64_t n_rest) const {
    int64_t sum = whole_sum_ - class_sum_;
    std::vector<int64_t> of_cell(size_t(n_cells), 0);
    for (int64_t c = 0; c < n_classes_; ++c)
        for (int64_t z = 0; z < n_cells; ++z) {
            int64_t count = 0;
            for (int64_t r = 0; r < n_rest; ++r)
                count += counts[size_t((c * n_rest + r) * n_cells + z)];
            sum += (*f_)(count);
            of_cell[size_t(z)] += count;
        }
    for (int64_t count : of_cell) sum -= (*f_)(count);
    return sum;
}

// The planes and counts of one column, out of the lanes.
void InteractionScreen::take_column(int64_t position, Scratch& scratch) const {
    const Place& place = places_[size_t(position)];
    const Group& group = groups_[size_t(place.group)];
    scratch.position = position;
    scratch.arity = group.arity;
    const int64_t n_words = (group.arity - 1) * n_words_, n_counts = group.arity * n_segments_;
    scratch.masks.resize(size_t(n_words));
    scratch.margin.resize(size_t(n_counts));
    const uint64_t* words = words_.data() + group.words + size_t(place.lane);
    for (int64_t i = 0; i < n_words; ++i) scratch.masks[size_t(i)] = words[i * kLanes];
    const uint32_t* counts = margins_.data() + group.margins + size_t(place.lane);
    for (int64_t k = 0; k < n_counts; ++k) scratch.margin[size_t(k)] = counts[k * kLanes];
}

void InteractionScreen::count(const Group& group, Scratch& scratch) const {
    const int64_t n_a = scratch.arity, n_b = group.arity, n_table = n_a * n_b * kLanes;
    scratch.common.resize(size_t((n_a - 1) * (n_b - 1) * kLanes));
    scratch.table.resize(size_t(n_segments_ * n_table));
    for (int64_t s = 0; s < n_segments_; ++s) {
        const int64_t first = first_word_[size_t(s)], n = first_word_[size_t(s + 1)] - first;
        count_lanes(words_.data() + group.words + size_t((n_b - 1) * first * kLanes), n_b - 1,
                    scratch.masks.data() + (n_a - 1) * first, n_a - 1, n, n, scratch.common.data());
        fill_table(scratch.common.data(), n_a, n_b, scratch.margin.data() + s * n_a,
                   margins_.data() + group.margins + size_t(s * n_b * kLanes),
                   scratch.table.data() + s * n_table);
    }
}

void InteractionScreen::evaluate(const Group& group, Scratch& scratch) const {
    const int64_t n_cells = scratch.arity * group.arity, n_table = n_cells * kLanes;
    const bool is_tabled = n_samples_ < (1 << 16);
    const uint32_t* table = scratch.table.data();
    // Sums of the table: over the classes, over V, over both. For pairs there is no V.
    scratch.of_shared.assign(size_t(n_shared_ * n_table), 0);
    for (int64_t s = 0; s < n_segments_; ++s)
        add_table(table + s * n_table, n_table, scratch.of_shared.data() + s % n_shared_ * n_table);
    std::fill_n(scratch.joint, size_t(kLanes), whole_sum_ - class_sum_);
    add_sums(*f_, is_tabled, table, n_segments_ * n_cells, 1, scratch.joint);
    add_sums(*f_, is_tabled, scratch.of_shared.data(), n_shared_ * n_cells, -1, scratch.joint);
    std::copy_n(scratch.joint, size_t(kLanes), scratch.g);
    if (n_shared_ == 1) return;
    scratch.of_class.assign(size_t(n_classes_ * n_table), 0);
    scratch.of_pair.assign(size_t(n_table), 0);
    for (int64_t s = 0; s < n_segments_; ++s)
        add_table(table + s * n_table, n_table, scratch.of_class.data() + s / n_shared_ * n_table);
    for (int64_t o = 0; o < n_shared_; ++o)
        add_table(scratch.of_shared.data() + o * n_table, n_table, scratch.of_pair.data());
    for (int64_t lane = 0; lane < kLanes; ++lane) scratch.g[lane] -= whole_sum_ - class_sum_;
    add_sums(*f_, is_tabled, scratch.of_class.data(), n_classes_ * n_cells, -1, scratch.g);
    add_sums(*f_, is_tabled, scratch.of_pair.data(), n_cells, 1, scratch.g);
}

std::vector<Interaction> InteractionScreen::search(int64_t first, int64_t last,
                                                   Matrix<const double> least, int64_t most) const {
    if (least.n_rows != least.n_columns)
        throw std::invalid_argument("there is a limit for each pair of arities");
    if (first < 0 || last > n_groups() || most < 1)
        throw std::invalid_argument("there are no such groups");
    for (int64_t a : arity_)
        if (a >= int64_t(least.n_rows))
            throw std::invalid_argument("there is no limit for a column");
    Scratch scratch;
    std::vector<Interaction> found;  // a heap: the weakest first
    const double scale = f_->fixed().scale();
    const double other_df =
        double(std::max<int64_t>(n_shared_ - 1, 1) * (n_classes_ - 1));  // all classes occur
    for (int64_t from = first, to; from < last; from = to) {
        // Some groups stay in the cache, and meet all columns before them.
        int64_t n_words = 0;
        for (to = from; to < last && (to == from || n_words < kWordsAtOnce); ++to)
            n_words += (groups_[size_t(to)].arity - 1) * n_words_ * kLanes;
        const int64_t n_positions =
            std::min<int64_t>(to * kLanes, int64_t(places_.size()));  // groups may have gaps
        for (int64_t position = 0; position < n_positions; ++position) {
            const Place& place = places_[size_t(position)];
            if (place.group >= to) break;
            if (groups_[size_t(place.group)].arity == 1) continue;  // it has no planes
            take_column(position, scratch);
            const int64_t i = groups_[size_t(place.group)].column[place.lane];
            for (int64_t g = std::max(from, place.group); g < to; ++g) {
                const Group& group = groups_[size_t(g)];
                count(group, scratch);
                evaluate(group, scratch);
                for (int64_t lane = g == place.group ? place.lane + 1 : 0; lane < kLanes; ++lane) {
                    const int64_t j = group.column[lane];
                    if (j < 0) break;
                    const int64_t a = n_seen_[size_t(i)], b = n_seen_[size_t(j)];
                    const double df = other_df * double((a - 1) * (b - 1));
                    const double limit = least(size_t(a), size_t(b));
                    if (df == 0) continue;
                    int64_t sum = scratch.g[lane], each = alone_[size_t(i)] + alone_[size_t(j)];
                    if (n_shared_ == 1)
                        sum -= each;
                    else {
                        sum += each + shared_ - with_shared_[size_t(i)] - with_shared_[size_t(j)];
                        each += shared_;
                    }
                    const double value = 2 * double(sum) / scale;
                    if (!(value >= limit) || (sum > 0 && scratch.joint[lane] <= each)) continue;
                    const double key = comparison_key((value - df) / std::sqrt(2 * df));
                    const Interaction here{std::min(i, j), std::max(i, j), value, key};
                    if (int64_t(found.size()) == most) {
                        if (!(here < found.front())) continue;
                        std::pop_heap(found.begin(), found.end());
                        found.pop_back();
                    }
                    found.push_back(here);
                    std::push_heap(found.begin(), found.end());
                }
                count_work(n_words_ * scratch.arity * group.arity + n_segments_ * 64);
            }
        }
    }
    std::sort_heap(found.begin(), found.end());
    return found;
}

}  // namespace hocmim
