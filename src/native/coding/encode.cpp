// Encoding: what the values of a block of columns are like, where to cut them, and the cut itself.
//
// A block is a two-dimensional array of any numeric type and any strides, seen as N rows by w
// columns. It is never copied: tiles of it are gathered, as doubles, into a buffer that stays in
// the first-level cache, so that row-major and column-major tables cost the same.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include "bindings/module.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using i64 = std::int64_t;

constexpr i64 kTileRows = 64;
constexpr i64 kTileColumns = 32;
constexpr i64 kScratchCells = i64{1} << 20;
constexpr double kPrecision = 1e12;  // values are compared after rounding to 12 decimals

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Result<T> give(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Result<T>(kept->data(), {kept->size()}, owner);
}

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class T>
struct Block {
  const T* data;
  i64 rows, columns, row_stride, column_stride;

  explicit Block(const Array2<T>& a)
      : data(a.data()),
        rows(static_cast<i64>(a.shape(0))),
        columns(static_cast<i64>(a.shape(1))),
        row_stride(a.stride(0)),
        column_stride(a.stride(1)) {}

  // Rows first..first+n-1 of column j as doubles. Adding 0.0 makes -0.0 and 0.0 one value.
  void gather(i64 first, i64 n, i64 j, double* out) const {
    const T* p = data + first * row_stride + j * column_stride;
    if (row_stride == 1) {
      for (i64 i = 0; i < n; ++i) out[i] = static_cast<double>(p[i]) + 0.0;
    } else {
      for (i64 i = 0; i < n; ++i) out[i] = static_cast<double>(p[i * row_stride]) + 0.0;
    }
  }
};

// Call visit(column, first row, number of rows, values) for every tile of the block; the tiles of
// one column come in the order of the rows.
template <class T, class Visit>
void for_tiles(const Block<T>& block, Visit&& visit) {
  double buffer[kTileRows];
  for (i64 left = 0; left < block.columns; left += kTileColumns) {
    const i64 right = std::min(left + kTileColumns, block.columns);
    for (i64 top = 0; top < block.rows; top += kTileRows) {
      const i64 n = std::min(kTileRows, block.rows - top);
      for (i64 j = left; j < right; ++j) {
        block.gather(top, n, j, buffer);
        visit(j, top, n, buffer);
      }
    }
  }
}

// --- survey --------------------------------------------------------------------------------------

// The distinct values of a column, in order, until there are more than `limit` of them.
class Distinct {
 public:
  void add(const double* x, i64 n, std::size_t limit) {
    if (values_.size() <= kFew && all_known(x, n)) return;
    for (i64 i = 0; i < n && !too_many_; ++i) {
      const double value = x[i];
      if (value != value) continue;
      const auto at = std::lower_bound(values_.begin(), values_.end(), value);
      if (at != values_.end() && *at == value) continue;
      if (values_.size() == limit) {
        too_many_ = true;
        std::vector<double>().swap(values_);
      } else {
        values_.insert(at, value);
      }
    }
  }
  bool too_many() const { return too_many_; }
  const std::vector<double>& values() const { return values_; }

 private:
  static constexpr std::size_t kFew = 16;

  // The usual answer once a column of few levels has been seen for a while, without a branch.
  bool all_known(const double* x, i64 n) const {
    i64 known[kTileRows];
    for (i64 i = 0; i < n; ++i) known[i] = x[i] != x[i];
    for (const double value : values_) {
      for (i64 i = 0; i < n; ++i) known[i] |= x[i] == value;
    }
    i64 all = 1;
    for (i64 i = 0; i < n; ++i) all &= known[i];
    return all != 0;
  }

  std::vector<double> values_;
  bool too_many_ = false;
};

template <class T>
nb::tuple survey(const Array2<T>& values, i64 limit) {
  require(limit >= 1, "limit must be at least 1");
  const Block<T> block(values);
  const auto width = static_cast<std::size_t>(block.columns);
  std::vector<double> minimum(width, std::numeric_limits<double>::infinity());
  std::vector<double> maximum(width, -std::numeric_limits<double>::infinity());
  std::vector<std::uint8_t> missing(width, 0);
  std::vector<i64> n_distinct(width);
  std::vector<double> distinct;
  {
    nb::gil_scoped_release unlocked;
    std::vector<Distinct> sets(width);
    for_tiles(block, [&](i64 j, i64, i64 n, const double* x) {
      double low = minimum[j], high = maximum[j];
      bool nan = false;
      for (i64 i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        nan |= x[i] != x[i];
      }
      minimum[j] = low;
      maximum[j] = high;
      missing[j] |= nan;
      if (!sets[j].too_many()) sets[j].add(x, n, static_cast<std::size_t>(limit));
    });
    for (std::size_t j = 0; j < width; ++j) {
      const auto& found = sets[j].values();
      n_distinct[j] = sets[j].too_many() ? limit + 1 : static_cast<i64>(found.size());
      distinct.insert(distinct.end(), found.begin(), found.end());
    }
  }
  return nb::make_tuple(give(std::move(minimum)), give(std::move(maximum)),
                        give(std::move(missing)), give(std::move(n_distinct)),
                        give(std::move(distinct)));
}

// --- applying cuts -------------------------------------------------------------------------------

constexpr i64 kFewCuts = 16;

// codes[i] = number of cuts <= x[i].
template <class Code>
void cut(const double* x, i64 n, const double* cuts, i64 n_cuts, Code* codes) {
  if (n_cuts <= kFewCuts) {
    i64 below[kTileRows] = {};
    for (i64 k = 0; k < n_cuts; ++k) {
      for (i64 i = 0; i < n; ++i) below[i] += cuts[k] <= x[i];
    }
    for (i64 i = 0; i < n; ++i) codes[i] = static_cast<Code>(below[i]);
  } else {
    for (i64 i = 0; i < n; ++i) {
      codes[i] = static_cast<Code>(std::upper_bound(cuts, cuts + n_cuts, x[i]) - cuts);
    }
  }
}

// Give NaN its code; true if an infinite value was met.
template <class Code>
bool mark_unknown(const double* x, i64 n, Code unknown, Code* codes) {
  bool infinite = false;
  for (i64 i = 0; i < n; ++i) {
    if (x[i] != x[i]) codes[i] = unknown;
    infinite |= std::isinf(x[i]);
  }
  return infinite;
}

bool all_finite(const double* x, i64 n) {
  i64 finite = 1;
  for (i64 i = 0; i < n; ++i) finite &= std::fabs(x[i]) <= std::numeric_limits<double>::max();
  return finite != 0;
}

// The codes of one tile; true if an infinite value was met.
template <class Code>
bool encode_tile(const double* x, i64 n, const double* cuts, i64 n_cuts, i64 unknown, Code* codes) {
  cut(x, n, cuts, n_cuts, codes);
  return !all_finite(x, n) && mark_unknown(x, n, static_cast<Code>(unknown), codes);
}

// Returns the first column that holds an infinite value, or -1.
template <class T>
i64 apply_cuts(const Array2<T>& values, const Array1<double>& cuts, const Array1<i64>& offsets,
                const Array1<i64>& unknown, const Array1<i64>& place,
                const Rows<std::uint8_t>& narrow, const Rows<std::uint16_t>& wide) {
  const Block<T> block(values);
  const i64 width = block.columns, n = block.rows;
  require(static_cast<i64>(offsets.size()) == width + 1, "offsets must have width + 1 elements");
  require(static_cast<i64>(unknown.size()) == width, "unknown must have one element a column");
  require(static_cast<i64>(place.size()) == width, "place must have one element a column");
  const i64 n_narrow = static_cast<i64>(narrow.shape(0)), n_wide = static_cast<i64>(wide.shape(0));
  for (i64 j = 0; j < width; ++j) {
    const i64 row = place(j) >= 0 ? place(j) : ~place(j);
    const bool is_narrow = place(j) >= 0;
    require(row < (is_narrow ? n_narrow : n_wide), "place is beyond the rows of codes");
    require(static_cast<i64>(is_narrow ? narrow.shape(1) : wide.shape(1)) == n,
            "rows of codes must have one element a row of the table");
    const i64 n_cuts = offsets(j + 1) - offsets(j);
    const i64 most = is_narrow ? 0xFF : 0xFFFF;
    require(offsets(j) >= 0 && n_cuts >= 0 && n_cuts <= most, "offsets must not decrease");
    require(unknown(j) >= 0 && unknown(j) <= most, "unknown must be a code");
  }
  require(offsets(width) <= static_cast<i64>(cuts.size()), "offsets are beyond the cuts");
  nb::gil_scoped_release unlocked;
  const double* all_cuts = cuts.data();
  i64 first_infinite = width;
  for_tiles(block, [&](i64 j, i64 top, i64 rows, const double* x) {
    const double* first = all_cuts + offsets(j);
    const i64 n_cuts = offsets(j + 1) - offsets(j);
    const bool infinite =
        place(j) >= 0 ? encode_tile(x, rows, first, n_cuts, unknown(j),
                                    narrow.data() + place(j) * n + top)
                      : encode_tile(x, rows, first, n_cuts, unknown(j),
                                    wide.data() + ~place(j) * n + top);
    if (infinite) first_infinite = std::min(first_infinite, j);
  });
  return first_infinite < width ? first_infinite : -1;
}

// --- whole columns -------------------------------------------------------------------------------

// Call visit(position in `columns`, values of that column) for each listed column, a few columns
// gathered at a time so that a row-major block is not read once a column.
template <class T, class Visit>
void for_columns(const Block<T>& block, const Array1<i64>& columns, Visit&& visit) {
  const i64 n_columns = static_cast<i64>(columns.size());
  const i64 together =
      std::max<i64>(1, std::min<i64>(8, kScratchCells / std::max<i64>(1, block.rows)));
  std::vector<double> scratch(static_cast<std::size_t>(together * block.rows));
  for (i64 left = 0; left < n_columns; left += together) {
    const i64 right = std::min(left + together, n_columns);
    for (i64 top = 0; top < block.rows; top += kTileRows) {
      const i64 n = std::min(kTileRows, block.rows - top);
      for (i64 c = left; c < right; ++c) {
        block.gather(top, n, columns(c), scratch.data() + (c - left) * block.rows + top);
      }
    }
    for (i64 c = left; c < right; ++c) visit(c, scratch.data() + (c - left) * block.rows);
  }
}

template <class T>
void require_columns(const Block<T>& block, const Array1<i64>& columns) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    require(columns(c) >= 0 && columns(c) < block.columns, "columns must be columns of the block");
  }
}

// The cuts of several columns end to end, and how many each has.
using Cuts = std::pair<Result<double>, Result<i64>>;

// The smallest value above `minimum`, or infinity.
double next_above(double minimum, const double* x, i64 n) {
  double next = std::numeric_limits<double>::infinity();
  for (i64 i = 0; i < n; ++i) next = x[i] > minimum && x[i] < next ? x[i] : next;
  return next;
}

// Where k/n_bins of the sorted values (k = 1 .. n_bins-1) begin. `x` is reordered.
void quantile_cuts_of(double* x, i64 n, i64 n_bins, std::vector<double>& cuts) {
  if (n == 0) return;
  const std::size_t before = cuts.size();
  const double minimum = *std::min_element(x, x + n);
  const double least = next_above(minimum, x, n);
  if (std::isinf(least)) return;  // a constant column has nothing to cut
  const bool sort = n_bins > kFewCuts;
  if (sort) std::sort(x, x + n);
  i64 settled = 0;
  for (i64 k = 1; k < n_bins; ++k) {
    // floor(k n / n_bins) without the product, which may not fit.
    const i64 at = k * (n / n_bins) + k * (n % n_bins) / n_bins;
    if (!sort) std::nth_element(x + settled, x + at, x + n);
    settled = at;
    const double value = std::max(x[at], least);
    if (cuts.size() == before || cuts.back() < value) cuts.push_back(value);
  }
}

template <class T>
Cuts quantile_cuts(const Array2<T>& values, const Array1<i64>& columns, i64 n_bins) {
  const Block<T> block(values);
  require_columns(block, columns);
  require(n_bins >= 1, "n_bins must be at least 1");
  std::vector<double> cuts;
  std::vector<i64> n_cuts(columns.size());
  {
    nb::gil_scoped_release unlocked;
    for_columns(block, columns, [&](i64 c, double* x) {
      const std::size_t before = cuts.size();
      double* end = std::remove_if(x, x + block.rows, [](double v) { return v != v; });
      quantile_cuts_of(x, end - x, n_bins, cuts);
      n_cuts[c] = static_cast<i64>(cuts.size() - before);
    });
  }
  return {give(std::move(cuts)), give(std::move(n_cuts))};
}

// --- MDLP ----------------------------------------------------------------------------------------

// A value above l and not above u, as near the middle as there is.
double between(double l, double u) {
  const double middle = l / 2 + u / 2;
  return middle > l && middle < u ? middle : u;
}

class Mdlp {
 public:
  Mdlp(i64 n_samples, i64 n_classes) : n_classes_(n_classes) {
    const i64 known = std::min<i64>(n_samples, i64{1} << 20);
    for (i64 c = 0; c <= known; ++c) table_.push_back(c_log_c(c));
    left_.resize(static_cast<std::size_t>(n_classes));
    all_.resize(static_cast<std::size_t>(n_classes));
  }

  // The accepted cuts of samples (value, class) sorted by value, in order.
  void cuts_of(const std::vector<std::pair<double, i64>>& samples, std::vector<double>& cuts) {
    const auto before = static_cast<std::ptrdiff_t>(cuts.size());
    std::vector<std::pair<i64, i64>> open{{0, static_cast<i64>(samples.size())}};
    while (!open.empty()) {
      const auto [begin, end] = open.back();
      open.pop_back();
      const i64 split = best_split(samples, begin, end);
      if (split < 0) continue;
      cuts.push_back(between(samples[split - 1].first, samples[split].first));
      open.emplace_back(begin, split);
      open.emplace_back(split, end);
    }
    std::sort(cuts.begin() + before, cuts.end());
  }

 private:
  using Counts = std::vector<i64>;

  static double c_log_c(i64 c) {
    return c < 2 ? 0.0 : static_cast<double>(c) * std::log2(static_cast<double>(c));
  }
  double f(i64 c) const {
    return c < static_cast<i64>(table_.size()) ? table_[static_cast<std::size_t>(c)] : c_log_c(c);
  }
  static i64 rounded(double v) { return static_cast<i64>(std::llrint(v * kPrecision)); }

  // n times the entropy (bits) of the samples counted, and how many classes they have.
  std::pair<double, i64> weight(const Counts& counts, i64 n) const {
    double sum = 0.0;
    i64 present = 0;
    for (const i64 c : counts) {
      sum += f(c);
      present += c > 0;
    }
    return {f(n) - sum, present};
  }
  std::pair<double, i64> weight_of_rest(i64 n) const {
    double sum = 0.0;
    i64 present = 0;
    for (i64 c = 0; c < n_classes_; ++c) {
      const i64 rest = all_[c] - left_[c];
      sum += f(rest);
      present += rest > 0;
    }
    return {f(n) - sum, present};
  }

  // Where to split samples begin..end-1, or -1 if no split is worth its description.
  i64 best_split(const std::vector<std::pair<double, i64>>& samples, i64 begin, i64 end) {
    const i64 n = end - begin;
    std::fill(all_.begin(), all_.end(), 0);
    std::fill(left_.begin(), left_.end(), 0);
    for (i64 i = begin; i < end; ++i) ++all_[samples[i].second];
    const auto [whole, k] = weight(all_, n);
    if (k < 2) return -1;
    i64 best = -1, least = std::numeric_limits<i64>::max();
    i64 previous = -1;  // the class of the group of equal values before this one; -2: several
    for (i64 i = begin; i < end;) {
      i64 stop = i;
      i64 group = samples[i].second;
      for (; stop < end && samples[stop].first == samples[i].first; ++stop) {
        if (samples[stop].second != group) group = -2;
      }
      // Only between two groups that are not of one and the same class can the optimum lie.
      if (i > begin && !(group >= 0 && group == previous)) {
        const double split =
            weight(left_, i - begin).first + weight_of_rest(end - i).first;
        const i64 rank = rounded(split / static_cast<double>(n));
        if (rank < least) {
          least = rank;
          best = i;
        }
      }
      for (; i < stop; ++i) ++left_[samples[i].second];
      previous = group;
    }
    return best >= 0 && worth(samples, begin, best, end, whole, k) ? best : -1;
  }

  bool worth(const std::vector<std::pair<double, i64>>& samples, i64 begin, i64 split, i64 end,
             double whole, i64 k) {
    std::fill(left_.begin(), left_.end(), 0);
    for (i64 i = begin; i < split; ++i) ++left_[samples[i].second];
    const double n = static_cast<double>(end - begin);
    const auto [w1, k1] = weight(left_, split - begin);
    const auto [w2, k2] = weight_of_rest(end - split);
    const double entropy = whole / n, entropy1 = w1 / static_cast<double>(split - begin),
                 entropy2 = w2 / static_cast<double>(end - split);
    const double kk = static_cast<double>(k);
    // log2(3^k - 2), which overflows for many classes as it stands
    const double choices = kk * std::log2(3.0) + std::log2(1.0 - 2.0 * std::pow(3.0, -kk));
    const double delta = choices - (kk * entropy - static_cast<double>(k1) * entropy1 -
                                    static_cast<double>(k2) * entropy2);
    const double gain = entropy - (w1 + w2) / n;
    return rounded(gain) > rounded((std::log2(n - 1.0) + delta) / n);
  }

  i64 n_classes_;
  std::vector<double> table_;
  Counts left_, all_;
};

template <class T>
Cuts mdlp_cuts(const Array2<T>& values, const Array1<i64>& columns, const Array1<i64>& classes,
               i64 n_classes) {
  const Block<T> block(values);
  require_columns(block, columns);
  require(static_cast<i64>(classes.size()) == block.rows, "classes must have one element a row");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    require(classes(i) >= 0 && classes(i) < n_classes, "classes must be codes below n_classes");
  }
  std::vector<double> cuts;
  std::vector<i64> n_cuts(columns.size());
  {
    nb::gil_scoped_release unlocked;
    Mdlp mdlp(block.rows, n_classes);
    std::vector<std::pair<double, i64>> samples;
    for_columns(block, columns, [&](i64 c, const double* x) {
      const std::size_t before = cuts.size();
      samples.clear();
      for (i64 i = 0; i < block.rows; ++i) {
        if (x[i] == x[i]) samples.emplace_back(x[i], classes(static_cast<std::size_t>(i)));
      }
      std::sort(samples.begin(), samples.end());
      mdlp.cuts_of(samples, cuts);
      n_cuts[c] = static_cast<i64>(cuts.size() - before);
    });
  }
  return {give(std::move(cuts)), give(std::move(n_cuts))};
}

// --- levels --------------------------------------------------------------------------------------

// The most frequent code of each row of codes; of equally frequent ones the smallest.
template <class Code>
Result<i64> most_frequent(const Rows<const Code>& codes) {
  std::vector<i64> found(codes.shape(0));
  {
    nb::gil_scoped_release unlocked;
    const std::size_t n = codes.shape(1);
    std::vector<i64> counts(std::size_t{std::numeric_limits<Code>::max()} + 1);
    for (std::size_t r = 0; r < found.size(); ++r) {
      std::fill(counts.begin(), counts.end(), 0);
      const Code* row = codes.data() + r * n;
      for (std::size_t i = 0; i < n; ++i) ++counts[row[i]];
      found[r] = std::max_element(counts.begin(), counts.end()) - counts.begin();
    }
  }
  return give(std::move(found));
}

template <class T>
void bind_type(nb::module_& m) {
  m.def("survey", &survey<T>, "values"_a.noconvert(), "limit"_a);
  m.def("apply_cuts", &apply_cuts<T>, "values"_a.noconvert(), "cuts"_a.noconvert(),
        "offsets"_a.noconvert(), "unknown"_a.noconvert(), "place"_a.noconvert(),
        "narrow"_a.noconvert(), "wide"_a.noconvert());
  m.def("quantile_cuts", &quantile_cuts<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
        "n_bins"_a);
  m.def("mdlp_cuts", &mdlp_cuts<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
        "classes"_a.noconvert(), "n_classes"_a);
}

}  // namespace

void bind_encode(nb::module_& m) {
  bind_type<double>(m);
  bind_type<float>(m);
  bind_type<bool>(m);
  bind_type<std::int8_t>(m);
  bind_type<std::int16_t>(m);
  bind_type<std::int32_t>(m);
  bind_type<std::int64_t>(m);
  bind_type<std::uint8_t>(m);
  bind_type<std::uint16_t>(m);
  bind_type<std::uint32_t>(m);
  bind_type<std::uint64_t>(m);
  m.def("most_frequent", &most_frequent<std::uint8_t>, "codes"_a.noconvert());
  m.def("most_frequent", &most_frequent<std::uint16_t>, "codes"_a.noconvert());
}
