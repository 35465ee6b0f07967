// Encoding: row-major and column-major blocks, sparse columns, and codes from learnt cuts, against
// each other and against sorting.
#include <cmath>
#include <map>
#include <set>

#include "coding/shared.hpp"
#include "coding/sparse.hpp"
#include "input.hpp"

namespace fuzz {

namespace {

using namespace hocmim::coding;

struct Learnt {
    std::vector<uint8_t> codes, is_cut, has_missing;
    std::vector<i64> n_cuts, n_distinct, n_levels, most_frequent, n_most_frequent;
    std::vector<double> minimum, maximum, cuts, distinct;
    i64 infinite = -1;

    // The codes of a column are written if its levels fit into a byte. A table with an infinite
    // value is refused, so that nothing else matters.
    bool operator==(const Learnt& other) const {
        if (infinite != other.infinite) return false;
        if (infinite >= 0) return true;
        const size_t n = codes.size() / is_cut.size();
        for (size_t j = 0; j < is_cut.size(); ++j)
            if (n_most_frequent[j] &&
                !std::equal(codes.begin() + i64(j * n), codes.begin() + i64((j + 1) * n),
                            other.codes.begin() + i64(j * n)))
                return false;
        return is_cut == other.is_cut && has_missing == other.has_missing &&
               n_cuts == other.n_cuts && n_distinct == other.n_distinct &&
               n_levels == other.n_levels && most_frequent == other.most_frequent &&
               n_most_frequent == other.n_most_frequent && minimum == other.minimum &&
               maximum == other.maximum && cuts == other.cuts && distinct == other.distinct;
    }
};

template <class T>
std::vector<T> vector_at(const nb::tuple& found, size_t i) {
    const auto array = found.at<Result<T>>(i);
    return {array.data(), array.data() + array.size()};
}

Learnt to_learnt(const nb::tuple& found, std::vector<uint8_t> codes) {
    return {std::move(codes),
            vector_at<uint8_t>(found, 0),
            vector_at<uint8_t>(found, 1),
            vector_at<i64>(found, 2),
            vector_at<i64>(found, 3),
            vector_at<i64>(found, 4),
            vector_at<i64>(found, 5),
            vector_at<i64>(found, 6),
            vector_at<double>(found, 7),
            vector_at<double>(found, 8),
            vector_at<double>(found, 9),
            vector_at<double>(found, 10),
            found.at<i64>(11)};
}

struct How {
    int method;
    i64 n_bins, n_classes;
    std::vector<i64> classes;
    Array1<i64> given() const { return {classes.data(), {classes.size()}}; }
};

How read_how(Input& in, size_t n) {
    How how{int(in.below(3)), i64(2 + in.below(in.below(3) ? 8 : 300)), i64(1 + in.below(5)), {}};
    for (size_t i = 0; i < n; ++i) how.classes.push_back(in.below(uint32_t(how.n_classes)));
    return how;
}

template <class T>
Learnt encode(const std::vector<T>& cells, size_t n, size_t width, bool in_rows, const How& how) {
    std::vector<uint8_t> codes(n * width, 255);
    const Array2<T> block(cells.data(), {n, width}, in_rows ? i64(width) : 1, in_rows ? 1 : i64(n));
    const i64 n_threads = 1 + i64(n % 3);  // that take turns: more threads, fewer columns at a time
    SharedBlock<T> shared(block, how.method, how.n_bins, how.given(), how.n_classes,
                          {codes.data(), {width, n}}, n_threads);
    for (i64 k = 0; k < n_threads; ++k) shared.encode([](i64, const Codings&) {});
    return to_learnt(to_tuple(shared.take()), std::move(codes));
}

// What a column should become, from its sorted values; nothing for cuts by mdlp.
void check_column(const std::vector<double>& x, const How& how, const Learnt& learnt, size_t j,
                  const double* cuts, const double* distinct) {
    std::vector<double> present;
    for (const double value : x)
        if (value == value) present.push_back(value + 0.0);
    std::sort(present.begin(), present.end());
    const std::set<double> levels(present.begin(), present.end());
    HOLDS(bool(learnt.has_missing[j]) == (present.size() < x.size()));
    HOLDS(bool(learnt.is_cut[j]) == (i64(levels.size()) > how.n_bins));
    std::vector<double> expected;
    if (!learnt.is_cut[j]) {
        HOLDS(std::equal(levels.begin(), levels.end(), distinct, distinct + learnt.n_distinct[j]));
        for (size_t k = 1; k < levels.size(); ++k) expected.push_back(distinct[k]);
    } else {
        HOLDS(learnt.minimum[j] == present.front());
        HOLDS(learnt.maximum[j] == present.back());
        if (Method(how.method) == Method::mdlp) {
            expected.assign(cuts, cuts + learnt.n_cuts[j]);
            HOLDS(std::is_sorted(expected.begin(), expected.end()));
        } else if (Method(how.method) == Method::uniform) {
            uniform_cuts_of(present.front(), present.back(), how.n_bins, expected);
        } else {
            for (i64 k = 1; k < how.n_bins; ++k) {
                const size_t at = size_t(k) * present.size() / size_t(how.n_bins);
                const double value = std::max(present[at], *std::next(levels.begin()));
                if (expected.empty() || expected.back() < value) expected.push_back(value);
            }
        }
        HOLDS(std::equal(expected.begin(), expected.end(), cuts, cuts + learnt.n_cuts[j]));
    }
    const i64 n_levels = levels.empty() ? 0 : i64(expected.size()) + 1;
    if (learnt.n_most_frequent[j] == 0) return;  // too many levels for a byte
    HOLDS(learnt.n_levels[j] == n_levels);
    std::map<uint8_t, i64> counts;
    for (size_t i = 0; i < x.size(); ++i) {
        const i64 code = x[i] != x[i] ? n_levels
                                      : std::upper_bound(expected.begin(), expected.end(), x[i]) -
                                            expected.begin();
        HOLDS(learnt.codes[j * x.size() + i] == code);
        ++counts[uint8_t(code)];
    }
    for (const auto& [code, count] : counts) HOLDS(count <= learnt.n_most_frequent[j]);
    HOLDS(counts[uint8_t(learnt.most_frequent[j])] == learnt.n_most_frequent[j]);
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
    if (learnt.infinite >= 0) {
        bool is_infinite = false;
        for (size_t i = 0; i < n; ++i)
            is_infinite |= std::isinf(double(columns[size_t(learnt.infinite) * n + i]));
        HOLDS(is_infinite);
        return;
    }
    const double *cuts = learnt.cuts.data(), *distinct = learnt.distinct.data();
    for (size_t j = 0; j < width; ++j) {
        std::vector<double> x(n);
        for (size_t i = 0; i < n; ++i) x[i] = double(columns[j * n + i]);
        check_column(x, how, learnt, j, cuts, distinct);
        cuts += learnt.n_cuts[j];
        distinct += learnt.n_distinct[j];
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
    std::vector<i64> rows, offsets = {0};
    for (size_t j = 0; j < width; ++j) {
        for (size_t i = 0; i < n; ++i) {
            if (in.below(one_in)) continue;
            stored.push_back(read_value<double>(in, kind));
            rows.push_back(i64(i));
            dense[j * n + i] = stored.back();
        }
        offsets.push_back(i64(stored.size()));
    }
    const Array1<double> values(stored.data(), {stored.size()});
    const Array1<i64> of_rows(rows.data(), {rows.size()}), of_columns(offsets.data(), {width + 1});
    std::vector<uint8_t> codes(n * width, 255);
    const nb::tuple found =
        encode_sparse(values, of_rows, of_columns, i64(n), how.method, how.n_bins, how.given(),
                      how.n_classes, {codes.data(), {width, n}});
    const Learnt learnt = to_learnt(found, codes);
    HOLDS(learnt == encode(dense, n, width, false, how));
    if (learnt.infinite >= 0) return;

    // Codes from the cuts of columns that are cut, sparse and not.
    std::vector<i64> cut_offsets = {0}, unknown, place;
    for (size_t j = 0; j < width; ++j) {
        cut_offsets.push_back(cut_offsets.back() + learnt.n_cuts[j]);
        unknown.push_back(learnt.n_cuts[j] + 1);
        place.push_back(learnt.n_cuts[j] > 200 ? ~i64(j) : i64(j));
    }
    std::vector<uint8_t> narrow[2];
    std::vector<uint16_t> wide[2];
    for (int k = 0; k < 2; ++k) {
        narrow[k].assign(n * width, 0);
        wide[k].assign(n * width, 0);
        const Rows<uint8_t> to_narrow(narrow[k].data(), {width, n});
        const Rows<uint16_t> to_wide(wide[k].data(), {width, n});
        const Array1<double> cuts(learnt.cuts.data(), {learnt.cuts.size()});
        const Array1<i64> at(cut_offsets.data(), {width + 1}), none(unknown.data(), {width}),
            where(place.data(), {width});
        const Array2<double> block(dense.data(), {n, width}, 1, i64(n));
        HOLDS((k ? apply_cuts_sparse(values, of_rows, of_columns, cuts, at, none, where, to_narrow,
                                     to_wide)
                 : apply_cuts<double>(block, cuts, at, none, where, to_narrow, to_wide)) == -1);
    }
    HOLDS(narrow[0] == narrow[1]);
    HOLDS(wide[0] == wide[1]);
}

}  // namespace fuzz
