// Terms of information by every evaluation path against the definitions, and joint codes.
#include <algorithm>

#include "counting/conditioned_terms.hpp"
#include "counting/join.hpp"
#include "counting/plane_terms.hpp"
#include "input.hpp"
#include "twins.hpp"

namespace fuzz {

namespace {

using namespace hocmim;

// Beyond this the twin's own loops would take most of the time. Under jeffreys they visit every
// combination of levels, empty ones too.
uint32_t most_samples(Estimator estimator) { return int(estimator) == twins::jeffreys ? 60 : 400; }

double term_of(Term term, twins::Kind kind, const twins::Variable& x, const twins::Variable& w,
               const twins::Variable& y) {
    using twins::Real;
    const auto positive = [&](Real value) {
        const bool is_bounded = kind == twins::plugin || kind == twins::shrinkage;
        return is_bounded ? std::max(Real(0), value) : value;
    };
    switch (term) {
        case Term::information:
            return double(positive(twins::mi(kind, x, w)));
        case Term::given_class:
            return double(positive(twins::cmi(kind, x, w, y)));
        case Term::redundancy:
            return double(kind == twins::shrinkage
                              ? positive(twins::mi(kind, x, w)) -
                                    positive(twins::cmi(kind, x, w, y))
                              : twins::mi(kind, x, w) - twins::cmi(kind, x, w, y));
        case Term::conditional:
            return double(positive(twins::cmi(kind, x, y, w)));
        case Term::joint:
            return double(positive(twins::mi(kind, twins::join(x, w), y)));
        case Term::joint_entropy:
            return double(positive(twins::entropy(kind, twins::join(twins::join(x, w), y))));
    }
    return 0;
}

template <class Code>
twins::Variable variable(const std::vector<Code>& codes) {
    return {codes.begin(), codes.end()};
}

}  // namespace

void check_terms(Input& in) {
    const auto estimator = Estimator(int(in.below(5)));
    const size_t n = in.up_to(24, most_samples(estimator));
    const bool has_many_classes = in.is_large && in.below(4) == 0;
    const uint32_t n_classes = has_many_classes ? 2000 + in.below(2000) : 1 + in.below(8);
    const uint32_t n_cells = 1 + in.below(in.below(8) ? 9 : 300);
    const auto y = in.levels<uint32_t>(n, n_classes), w = in.levels<uint32_t>(n, n_cells);
    Columns columns{int64_t(n)};
    std::vector<std::vector<uint8_t>> narrow(1 + in.below(in.below(8) ? 2 : 10));
    for (auto& codes : narrow) {
        const uint32_t arity = 1 + in.below(in.below(4) ? 9 : 40);
        codes = in.levels<uint8_t>(n, arity);
        columns.append(codes.data(), n, false, int64_t(arity));
    }
    const uint32_t many = 1 + in.below(in.below(8) ? 30 : 600);
    const auto wide = in.levels<uint16_t>(n, many);
    columns.append(wide.data(), n, true, int64_t(many));

    const Setting setting(estimator, y.data(), int64_t(n), n_classes);
    ClassCounts counts(columns, y.data(), n_classes);
    ConditionedTerms evaluate(setting);
    evaluate.condition(w.data(), n_cells);
    const auto which = int64_t(in.below(uint32_t(columns.size())));
    const auto compared = size_t(which);
    const twins::Variable x =
        compared < narrow.size() ? variable(narrow[compared]) : variable(wide);
    const bool has_masks = n_cells * n_classes <= CellMasks::kMostCells;
    std::optional<BitPlanes> planes;
    std::optional<CellMasks> of_y, of_w;
    std::optional<PlaneTerms> by_planes;
    if (has_masks && !kind_of(estimator).needs_samples) {
        Columns part{int64_t(n)};  // whose planes are made before
        for (size_t j = 0; j < std::min(compared + 1, narrow.size()); ++j)
            part.append(narrow[j].data(), n, false, columns[int64_t(j)].arity);
        const int64_t most_planes = 1 + n_cells % 8;
        const std::shared_ptr<uint64_t[]> room(new uint64_t[size_t(
            part.size() * most_planes * BitPlanes::words_of_plane(int64_t(n)))]);
        const auto made =
            std::make_shared<BitPlanes>(BitPlanes::of_part(part, n_classes, most_planes, room));
        planes.emplace(columns, std::vector<BitPlanes::Made>{{0, made}});
        of_y.emplace(y.data(), int64_t(n), n_classes);
        of_w.emplace(w.data(), int64_t(n), n_cells);
        by_planes.emplace(*planes, columns, *of_y, estimator, in.below(2) == 1);
        by_planes->condition(*of_w);
    }
    const Term term = Term(int(in.below(6)));
    const double value = evaluate(term, columns[which]);
    const double expected =
        term_of(term, twins::Kind(int(estimator)), x, {w.begin(), w.end()}, {y.begin(), y.end()});
    if (!(std::fabs(value - expected) < 1e-9)) {
        std::fprintf(stderr, "n %zu term %d estimator %d: %.17g, expected %.17g\n", n, int(term),
                     int(estimator), value, expected);
        HOLDS(value == expected);
    }
    std::vector<int64_t> scratch;
    if (ConditionedTerms::needs_counts(term))
        HOLDS(evaluate(term, columns[which], counts.of(which, scratch)) == value);
    if (by_planes && by_planes->has(which)) HOLDS((*by_planes)(term, which) == value);
    if (paths::choose(setting, term, columns[which], n_cells) != Path::cell_lanes) return;
    // The same column among others, side by side.
    std::vector<LaneColumn> lanes;
    std::vector<std::vector<int64_t>> rows;
    for (int64_t j = 0; j < columns.size() && lanes.size() < CellLanes::kLanes; ++j) {
        if (paths::choose(setting, term, columns[j], n_cells) != Path::cell_lanes) continue;
        rows.emplace_back(size_t(columns[j].arity * n_classes));
        count_rows(columns[j], y.data(), int64_t(n), n_classes, rows.back().data());
        lanes.push_back({&columns[j], nullptr});
    }
    for (size_t k = 0; k < lanes.size(); ++k) lanes[k].row_count = rows[k].data();
    double values[CellLanes::kLanes];
    evaluate.redundancy(lanes.data(), lanes.size(), values);
    for (size_t k = 0; k < lanes.size(); ++k)
        if (lanes[k].column == &columns[which]) HOLDS(values[k] == value);
}

void check_joins(Input& in) {
    const size_t n = in.up_to(40, 500);
    std::vector<uint32_t> codes(n, 0);
    twins::Variable joint(n, 0);
    uint64_t n_cells = 1;
    Partition partition, split;
    const std::vector<uint32_t> cls(n, 0);
    partition.assign_whole(int64_t(n), cls.data(), 1);
    Refiner refine;
    for (uint32_t k = 1 + in.below(5); k > 0; --k) {
        const uint32_t arity = 1 + in.below(in.below(8) ? 12 : 65536);
        const auto column = in.levels<uint16_t>(n, arity);
        n_cells = join_one(codes, n_cells, column.data(), arity);
        joint = twins::join(joint, {column.begin(), column.end()});
        refine(partition, column.data(), arity, cls.data(), split);
        std::swap(partition, split);
    }
    HOLDS(codes == joint);
    std::map<uint32_t, std::vector<uint32_t>> cells;
    for (size_t i = 0; i < n; ++i) cells[joint[i]].push_back(uint32_t(i));
    HOLDS(n_cells == cells.size());
    HOLDS(partition.n_cells() == int64_t(n_cells));
    uint32_t begin = 0;
    for (const uint32_t end : partition.cell_end) {
        const std::vector<uint32_t> cell(partition.sample.begin() + begin,
                                         partition.sample.begin() + end);
        HOLDS(cell == cells[joint[cell[0]]]);
        begin = end;
    }
    const size_t n_in_cells = partition.sample.size();
    HOLDS(int64_t(n - n_in_cells) == partition.n_alone);
}

}  // namespace fuzz
