// Encoding: row-major and column-major blocks, sparse columns, and codes from learnt cuts, against
// each other and against sorting.
#include <cmath>
#include <map>
#include <set>

#include "coding/apply.hpp"
#include "coding/encode.hpp"
#include "input.hpp"

namespace fuzz {

namespace {

using namespace hocmim;

struct Learnt {
    std::vector<uint8_t> codes;
    LearntColumns columns;

    // The codes of a column are written if its levels fit into a byte. A table with an infinite
    // value is refused, so that nothing else matters.
    bool operator==(const Learnt& other) const {
        const LearntColumns &a = columns, &b = other.columns;
        if (a.infinite_column != b.infinite_column) return false;
        if (a.infinite_column >= 0) return true;
        const size_t n = codes.size() / a.is_cut.size();
        for (size_t j = 0; j < a.is_cut.size(); ++j)
            if (a.n_most_frequent[j] &&
                !std::equal(codes.begin() + int64_t(j * n), codes.begin() + int64_t((j + 1) * n),
                            other.codes.begin() + int64_t(j * n)))
                return false;
        return a.is_cut == b.is_cut && a.has_missing == b.has_missing && a.n_cuts == b.n_cuts &&
               a.n_distinct == b.n_distinct && a.n_levels == b.n_levels &&
               a.most_frequent == b.most_frequent && a.n_most_frequent == b.n_most_frequent &&
               a.minimum == b.minimum && a.maximum == b.maximum && a.cuts == b.cuts &&
               a.distinct == b.distinct;
    }
};

struct How {
    int method;
    int64_t n_bins, n_classes;
    std::vector<int64_t> classes;
    Learning given() const {
        return {Method(method), n_bins, {classes.data(), classes.size()}, n_classes};
    }
};

How read_how(Input& in, size_t n) {
    How how{int(in.below(3)),
            int64_t(2 + in.below(in.below(3) ? 8 : 300)),
            int64_t(1 + in.below(5)),
            {}};
    for (size_t i = 0; i < n; ++i) how.classes.push_back(in.below(uint32_t(how.n_classes)));
    return how;
}

template <class T>
Learnt encode(const std::vector<T>& cells, size_t n, size_t width, bool in_rows, const How& how) {
    std::vector<uint8_t> codes(n * width, 255);
    const Block<T> block{cells.data(), int64_t(n), int64_t(width), in_rows ? int64_t(width) : 1,
                         in_rows ? 1 : int64_t(n)};
    const int64_t n_threads = 1 + int64_t(n % 3);  // take turns: more threads, fewer columns each
    SharedBlock<T> shared(block, how.given(), {codes.data(), width, n}, n_threads);
    for (int64_t k = 0; k < n_threads; ++k) shared.encode([](int64_t, const LearntColumns&) {});
    return {std::move(codes), shared.take()};
}

// What a column should become, from its sorted values; nothing for cuts by mdlp.
void check_column(const std::vector<double>& x, const How& how, const Learnt& learnt, size_t j,
                  const double* cuts, const double* distinct) {
    std::vector<double> present;
    for (const double value : x)
        if (value == value) present.push_back(value + 0.0);
    std::sort(present.begin(), present.end());
    const std::set<double> levels(present.begin(), present.end());
    HOLDS(bool(learnt.columns.has_missing[j]) == (present.size() < x.size()));
    HOLDS(bool(learnt.columns.is_cut[j]) == (int64_t(levels.size()) > how.n_bins));
    std::vector<double> expected;
    if (!learnt.columns.is_cut[j]) {
        HOLDS(std::equal(levels.begin(), levels.end(), distinct,
                         distinct + learnt.columns.n_distinct[j]));
        for (size_t k = 1; k < levels.size(); ++k) expected.push_back(distinct[k]);
    } else {
        HOLDS(learnt.columns.minimum[j] == present.front());
        HOLDS(learnt.columns.maximum[j] == present.back());
        if (Method(how.method) == Method::mdlp) {
            expected.assign(cuts, cuts + learnt.columns.n_cuts[j]);
            HOLDS(std::is_sorted(expected.begin(), expected.end()));
        } else if (Method(how.method) == Method::uniform) {
            uniform_cuts_of(present.front(), present.back(), how.n_bins, expected);
        } else {
            for (int64_t k = 1; k < how.n_bins; ++k) {
                const size_t at = size_t(k) * present.size() / size_t(how.n_bins);
                const double value = std::max(present[at], *std::next(levels.begin()));
                if (expected.empty() || expected.back() < value) expected.push_back(value);
            }
        }
        HOLDS(std::equal(expected.begin(), expected.end(), cuts, cuts + learnt.columns.n_cuts[j]));
    }
    const int64_t n_levels = levels.empty() ? 0 : int64_t(expected.size()) + 1;
    if (learnt.columns.n_most_frequent[j] == 0) return;  // too many levels for a byte
    HOLDS(learnt.columns.n_levels[j] == n_levels);
    std::map<uint8_t, int64_t> counts;
    for (size_t i = 0; i < x.size(); ++i) {
        const int64_t code =
            x[i] != x[i]
                ? n_levels
                : std::upper_bound(expected.begin(), expected.end(), x[i]) - expected.begin();
        HOLDS(learnt.codes[j * x.size() + i] == code);
        ++counts[uint8_t(code)];
    }
    for (const auto& [code, count] : counts) HOLDS(count <= learnt.columns.n_most_frequent[j]);
    HOLDS(counts[uint8_t(learnt.columns.most_frequent[j])] == learnt.columns.n_most_frequent[j]);
}

template <class T>
T read_value(Input& in, uint32_t kind) {
    if constexpr (std::is_integral_v<T>) {
        if (kind == 0) return in.bits<T>();
        return T(T(kind * 50) + T(in.below(kind < 3 ? 7 : 300)));
    } else {
        if (kind == 0) return in.bits<T>();
        if (kind == 1 && in.below(5) == 0) return std::numeric_limits<T>::quiet_NaN();
        if (kind == 2) return T(in.below(300)) - T(20);
        return T(int(in.below(65536)) - 30000) / T(kind * 7);
    }
}

template <class T>
void check_type(Input& in) {
    const size_t n = in.up_to(30, 1500);  // from 512 rows on, cuts are searched by limits
    const size_t width = in.up_to(12, 80);
    const How how = read_how(in, n);
    const uint32_t kind = in.below(4);
    std::vector<T> rows(n * width), columns(n * width);
    for (size_t j = 0; j < width; ++j)
        for (size_t i = 0; i < n; ++i)
            columns[j * n + i] = rows[i * width + j] = read_value<T>(in, kind);
    const Learnt learnt = encode(columns, n, width, false, how);
    HOLDS(learnt == encode(rows, n, width, true, how));
    if (learnt.columns.infinite_column >= 0) {
        bool is_infinite = false;
        for (size_t i = 0; i < n; ++i)
            is_infinite |=
                std::isinf(double(columns[size_t(learnt.columns.infinite_column) * n + i]));
        HOLDS(is_infinite);
        return;
    }
    const double *cuts = learnt.columns.cuts.data(), *distinct = learnt.columns.distinct.data();
    for (size_t j = 0; j < width; ++j) {
        std::vector<double> x(n);
        for (size_t i = 0; i < n; ++i) x[i] = double(columns[j * n + i]);
        check_column(x, how, learnt, j, cuts, distinct);
        cuts += learnt.columns.n_cuts[j];
        distinct += learnt.columns.n_distinct[j];
    }
}

}  // namespace

void check_encoding(Input& in) {
    switch (in.below(4)) {
        case 0:
            return check_type<double>(in);
        case 1:
            return check_type<float>(in);
        case 2:
            return check_type<int8_t>(in);
        default:
            return check_type<int64_t>(in);
    }
}

// Stored values against the same table with its zeros.
void check_sparse(Input& in) {
    const size_t n = in.up_to(30, 400), width = in.up_to(3, 8);
    const How how = read_how(in, n);
    const uint32_t kind = in.below(4), one_in = 1 + in.below(12);
    std::vector<double> stored, dense(n * width, 0.0);
    std::vector<int64_t> rows, offsets = {0};
    for (size_t j = 0; j < width; ++j) {
        for (size_t i = 0; i < n; ++i) {
            if (in.below(one_in)) continue;
            stored.push_back(read_value<double>(in, kind));
            rows.push_back(int64_t(i));
            dense[j * n + i] = stored.back();
        }
        offsets.push_back(int64_t(stored.size()));
    }
    const SparseColumns sparse{{stored.data(), stored.size()},
                               {rows.data(), rows.size()},
                               {offsets.data(), offsets.size()},
                               int64_t(n)};
    std::vector<uint8_t> codes(n * width, 255);
    LearntColumns found = encode_sparse(sparse, how.given(), {codes.data(), width, n});
    const Learnt learnt{std::move(codes), std::move(found)};
    HOLDS(learnt == encode(dense, n, width, false, how));
    if (learnt.columns.infinite_column >= 0) return;

    // Codes from the cuts of columns that are cut, sparse and not.
    std::vector<int64_t> cut_offsets = {0}, unknown, place;
    for (size_t j = 0; j < width; ++j) {
        cut_offsets.push_back(cut_offsets.back() + learnt.columns.n_cuts[j]);
        unknown.push_back(learnt.columns.n_cuts[j] + 1);
        place.push_back(learnt.columns.n_cuts[j] > 200 ? ~int64_t(j) : int64_t(j));
    }
    std::vector<uint8_t> narrow[2];
    std::vector<uint16_t> wide[2];
    for (int k = 0; k < 2; ++k) {
        narrow[k].assign(n * width, 0);
        wide[k].assign(n * width, 0);
        const CutColumns cuts{{learnt.columns.cuts.data(), learnt.columns.cuts.size()},
                              {cut_offsets.data(), cut_offsets.size()},
                              {unknown.data(), width},
                              {place.data(), width},
                              {narrow[k].data(), width, n},
                              {wide[k].data(), width, n}};
        const Block<double> block{dense.data(), int64_t(n), int64_t(width), 1, int64_t(n)};
        HOLDS((k ? apply_cuts(sparse, cuts) : apply_cuts(block, cuts)) == -1);
    }
    HOLDS(narrow[0] == narrow[1]);
    HOLDS(wide[0] == wide[1]);
}

}  // namespace fuzz
