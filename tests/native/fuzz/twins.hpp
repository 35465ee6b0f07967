// Information of small tables, written from the definitions of docs/choosing.md with maps and
// loops: what the kernels are compared with.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace twins {

using Variable = std::vector<uint32_t>;
using Real = long double;
using Counts = std::map<uint32_t, Real>;

enum Kind { plugin, shrinkage, miller_madow, grassberger, jeffreys };

inline Variable join(const Variable& a, const Variable& b) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> number;
    Variable joint(a.size());
    for (size_t i = 0; i < a.size(); ++i)
        joint[i] = number.try_emplace({a[i], b[i]}, uint32_t(number.size())).first->second;
    return joint;
}

inline Counts count(const Variable& a) {
    Counts counts;
    for (const uint32_t level : a) counts[level] += 1;
    return counts;
}

inline Real x_log_x(Real x) { return x > 0 ? x * std::log(x) : 0; }

// c G(c), G(c) = ψ(c) + ½(−1)^c [ψ((c+1)/2) − ψ(c/2)], by the recurrence of G.
inline Real grassberger_term(Real c) {
    Real g = -0.577215664901532860606512090082402431L - std::log(2.0L);
    for (Real k = 1; 2 * k <= c; ++k) g += 2 / (2 * k - 1);
    return c * g;
}

inline Real entropy(Kind kind, const Variable& a) {
    const Real n = Real(a.size());
    const Counts counts = count(a);
    Real sum = 0;
    if (kind == jeffreys) {
        const Real mass = n + Real(counts.size()) / 2;
        for (const auto& [level, c] : counts) sum += x_log_x(c + 0.5L);
        return std::log(mass) - sum / mass;
    }
    for (const auto& [level, c] : counts)
        sum += kind == grassberger ? grassberger_term(c) : x_log_x(c);
    const Real value = std::log(n) - sum / n;
    return kind == miller_madow ? value + (Real(counts.size()) - 1) / (2 * n) : value;
}

// The cells of two variables, empty ones included.
struct Table {
    Counts rows, columns;
    std::map<std::pair<uint32_t, uint32_t>, Real> cells;
    Real n;

    Table(const Variable& a, const Variable& b)
        : rows(count(a)), columns(count(b)), n(Real(a.size())) {
        for (size_t i = 0; i < a.size(); ++i) cells[{a[i], b[i]}] += 1;
    }
    template <class Use>
    void each(Use&& use) const {
        for (const auto& [a, n_a] : rows)
            for (const auto& [b, n_b] : columns) {
                const auto cell = cells.find({a, b});
                use(n_a / n, n_b / n, cell == cells.end() ? 0 : cell->second / n);
            }
    }
};

inline Real intensity(const Table& table) {
    const Real n = table.n;
    Real var = 0, cov = 0, ml2 = 0, mlind = 0, ind2 = 0;
    table.each([&](Real a, Real b, Real q) {
        const Real ind = a * b, both = a + b;
        var += q * (1 - q) / n;
        cov += q * ((n - 1) * (both - 2 * ind) + 1 - q) / (n * n);
        ml2 += ((n - 1) * q * q + q) / n;
        mlind += q * ((n * n - 3 * n + 2) * ind + (n - 1) * (both + q) + 1) / (n * n);
        ind2 +=
            ((n - 1) * (n - 2) * (n - 3) * ind * ind + (n - 1) * (n - 2) * ind * (both + 4 * q) +
             (n - 1) * (2 * q * both + 2 * q * q + ind) + q) /
            (n * n * n);
    });
    const Real spread = ml2 + ind2 - 2 * mlind;
    // Rounding cannot tell a spread of 0 from a small one.
    if (spread <= 1e-15L * (ml2 + ind2)) return 1;
    return std::min(Real(1), std::max(Real(0), (var - cov) / spread));
}

inline Real shrunken(const Table& table, Real lambda) {
    Real sum = 0;
    table.each([&](Real a, Real b, Real q) {
        const Real p = lambda * a * b + (1 - lambda) * q;
        if (p > 0) sum += p * std::log(p / (a * b));
    });
    return sum;
}

inline Real mi(Kind kind, const Variable& a, const Variable& b) {
    const Table table(a, b);
    const Real n = table.n, n_a = Real(table.rows.size()), n_b = Real(table.columns.size());
    if (kind == shrinkage) return shrunken(table, intensity(table));
    if (n_a == 1 || n_b == 1) return 0;
    if (kind == jeffreys) {
        const Real mass = n + n_a * n_b / 2;
        Real sum = 0;
        table.each([&](Real p, Real q, Real both) {
            const Real cell = (both * n + 0.5L) / mass;
            sum += cell * std::log(cell * mass * mass / ((p * n + n_b / 2) * (q * n + n_a / 2)));
        });
        return sum;
    }
    const Kind plain = kind == miller_madow ? plugin : kind;
    const Real value = entropy(plain, a) + entropy(plain, b) - entropy(plain, join(a, b));
    return kind == miller_madow ? value - (n_a - 1) * (n_b - 1) / (2 * n) : value;
}

inline Real cmi(Kind kind, const Variable& a, const Variable& b, const Variable& given) {
    const Real n = Real(a.size());
    if (kind == shrinkage) {
        const Table joint(join(a, given), b);
        const Real lambda = intensity(joint);
        return shrunken(joint, lambda) - shrunken(Table(given, b), lambda);
    }
    if (kind == jeffreys) {
        const Counts of_a = count(a), of_b = count(b), of_g = count(given);
        const Real n_a = Real(of_a.size()), n_b = Real(of_b.size());
        std::map<std::array<uint32_t, 3>, Real> cells;
        for (size_t i = 0; i < a.size(); ++i) {
            cells[{a[i], b[i], given[i]}] += 1;
            cells[{a[i], UINT32_MAX, given[i]}] += 1;
            cells[{UINT32_MAX, b[i], given[i]}] += 1;
        }
        const auto with = [&](uint32_t x, uint32_t y, uint32_t z, Real half) {
            const auto cell = cells.find({x, y, z});
            return (cell == cells.end() ? 0 : cell->second) + half;
        };
        const Real mass = n + n_a * n_b * Real(of_g.size()) / 2;
        Real sum = 0;
        for (const auto& [z, n_z] : of_g)
            for (const auto& [x, n_x] : of_a)
                for (const auto& [y, n_y] : of_b) {
                    const Real all = with(x, y, z, 0.5L), left = with(x, UINT32_MAX, z, n_b / 2),
                               right = with(UINT32_MAX, y, z, n_a / 2), bare = n_z + n_a * n_b / 2;
                    sum += all / mass * std::log(all * bare / (left * right));
                }
        return sum;
    }
    const Kind plain = kind == miller_madow ? plugin : kind;
    const Real value = entropy(plain, join(a, given)) + entropy(plain, join(b, given)) -
                       entropy(plain, join(join(a, b), given)) - entropy(plain, given);
    if (kind != miller_madow) return value;
    std::map<uint32_t, std::pair<std::set<uint32_t>, std::set<uint32_t>>> levels;
    for (size_t i = 0; i < a.size(); ++i) {
        levels[given[i]].first.insert(a[i]);
        levels[given[i]].second.insert(b[i]);
    }
    Real freedom = 0;
    for (const auto& [z, both] : levels)
        freedom += (Real(both.first.size()) - 1) * (Real(both.second.size()) - 1);
    return value - freedom / (2 * n);
}

}  // namespace twins
