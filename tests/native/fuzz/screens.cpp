// The screen of pairs and triples against the definition of G, and with arrays that do not fit.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "criteria/interactions.hpp"
#include "input.hpp"
#include "twins.hpp"

namespace fuzz {

namespace {

using namespace hocmim;

// Columns, classes and the levels of the column that all triples share.
struct Table {
    explicit Table(Input& in)
        : n(in.up_to(24, 300)),
          n_classes(1 + in.below(4)),
          n_shared(in.below(2) ? 1 : 1 + in.below(4)),
          y(in.levels<uint32_t>(n, n_classes)),
          v(in.levels<uint32_t>(n, n_shared)),
          order(n),
          sizes(size_t(n_classes) * n_shared, 0) {
        const size_t width = 1 + in.below(in.below(8) ? 4 : 12);
        for (size_t j = 0; j < width; ++j) {
            arity.push_back(1 + in.below(in.below(8) ? 5 : 12));
            const auto column = in.levels<uint8_t>(n, uint32_t(arity.back()));
            codes.insert(codes.end(), column.begin(), column.end());
        }
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t i, uint32_t k) { return segment(i) < segment(k); });
        for (size_t i = 0; i < n; ++i) ++sizes[segment(i)];
    }

    size_t segment(size_t i) const { return size_t(y[i]) * n_shared + v[i]; }
    twins::Variable column(size_t j) const {
        return {codes.begin() + int64_t(j * n), codes.begin() + int64_t((j + 1) * n)};
    }

    size_t n;
    uint32_t n_classes, n_shared;
    std::vector<uint32_t> y, v, order;
    std::vector<int64_t> sizes, arity;
    std::vector<uint8_t> codes;
};

struct Told {
    twins::Real g, lead;  // N times: G / 2, and what all tell beyond the sum of each
};

Told told(const Table& t, size_t i, size_t j) {
    const auto mi = [&](const twins::Variable& x) { return twins::mi(twins::plugin, x, t.y); };
    const auto a = t.column(i), b = t.column(j), both = twins::join(a, b);
    const twins::Real n = twins::Real(t.n);
    if (t.n_shared == 1) {
        const twins::Real g = n * (mi(both) - mi(a) - mi(b));
        return {g, g};
    }
    const twins::Real all = mi(twins::join(both, t.v)), each = mi(a) + mi(b) + mi(t.v);
    const auto pairs = mi(both) + mi(twins::join(a, t.v)) + mi(twins::join(b, t.v));
    return {n * (all - pairs + each), n * (all - each)};
}

size_t n_seen(const twins::Variable& x) { return std::set<uint32_t>(x.begin(), x.end()).size(); }

void check_screen(Input& in) {
    const Table t(in);
    const size_t width = t.arity.size(), piece = 1 + in.below(4);
    InteractionScreen screen(t.arity, {t.order.data(), t.n}, t.sizes, t.n_classes, t.n_shared);
    for (size_t first = 0; first < width; first += piece) {
        const size_t n_columns = std::min(piece, width - first);
        screen.set(int64_t(first), {t.codes.data() + first * t.n, n_columns, t.n});
    }
    const size_t n_limits = size_t(*std::max_element(t.arity.begin(), t.arity.end())) + 1;
    const double limit =
        in.below(2) ? -std::numeric_limits<double>::infinity() : double(in.below(40)) / 4 + 0.123;
    const std::vector<double> least(n_limits * n_limits, limit);
    const Matrix<const double> limits{least.data(), n_limits, n_limits};
    const int64_t n_groups = screen.n_groups(), middle = in.below(uint32_t(n_groups) + 1);
    const auto found = screen.search(0, n_groups, limits, 1000);
    HOLDS(std::is_sorted(found.begin(), found.end()));

    std::map<std::pair<size_t, size_t>, double> pairs;
    for (const Interaction& one : found) {
        HOLDS(one.first >= 0 && one.first < one.second && one.second < int64_t(width));
        HOLDS(pairs.emplace(std::pair(one.first, one.second), one.g).second);
    }
    for (size_t j = 0; j < width; ++j)
        for (size_t i = 0; i < j; ++i) {
            const auto kept = pairs.find({i, j});
            const bool is_there = kept != pairs.end();
            const bool has_df =
                t.n_classes > 1 && n_seen(t.column(i)) > 1 && n_seen(t.column(j)) > 1;
            const Told twin = told(t, i, j);
            const double g = 2 * double(twin.g);
            const bool is_out = !has_df || g < limit - 1e-6 || (g > 1e-6 && twin.lead < -1e-6);
            const bool is_in = g > limit + 1e-6 && (g < -1e-6 || twin.lead > 1e-6);
            HOLDS(!is_there || (!is_out && std::abs(kept->second - g) < 1e-6));
            HOLDS(is_there || is_out || !is_in);
        }

    // In two parts, and the strongest alone.
    auto parts = screen.search(0, middle, limits, 1000);
    const auto rest = screen.search(middle, n_groups, limits, 1000);
    parts.insert(parts.end(), rest.begin(), rest.end());
    std::sort(parts.begin(), parts.end());
    const size_t most = 1 + in.below(4);
    const auto strongest = screen.search(0, n_groups, limits, int64_t(most));
    HOLDS(parts.size() == found.size() && strongest.size() == std::min(most, found.size()));
    const auto is_same = [](const Interaction& a, const Interaction& b) {
        return a.first == b.first && a.second == b.second && a.g == b.g;
    };
    HOLDS(std::equal(parts.begin(), parts.end(), found.begin(), is_same));
    HOLDS(std::equal(strongest.begin(), strongest.end(), found.begin(), is_same));
}

// Nothing but the documented error may leave an entry point.
void check_misfits(Input& in) {
    Table t(in);
    const auto spoil = [&](auto& values) {
        if (values.empty() || in.below(3)) return;
        values[in.below(uint32_t(values.size()))] += int(in.below(5)) - 2;
    };
    spoil(t.order), spoil(t.sizes), spoil(t.arity), spoil(t.codes);
    if (in.below(6) == 0) t.sizes.pop_back();
    try {
        const size_t width = t.arity.size(), n_limits = in.below(8);
        InteractionScreen screen(t.arity, {t.order.data(), t.n}, t.sizes, t.n_classes, t.n_shared);
        screen.set(int64_t(in.below(8) ? 0 : in.below(5)) - int64_t(in.below(8) == 0),
                   {t.codes.data(), width, t.n});
        const std::vector<double> least(n_limits * n_limits, 0.0);
        screen.search(int64_t(in.below(4)) - 1, int64_t(in.below(6)) - 1,
                      {least.data(), n_limits, n_limits}, int64_t(in.below(4)) - 1);
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace

void check_screens(Input& in) { in.below(4) ? check_screen(in) : check_misfits(in); }

}  // namespace fuzz
