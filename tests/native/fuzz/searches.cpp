// The searches of the kernels: what is found lazily, by bounds or in parts against what is found by
// looking at every candidate.
#include <memory>
#include <optional>
#include <string>

#include "accelerate/bound_search.hpp"
#include "accelerate/separation.hpp"
#include "criteria/cmicot.hpp"
#include "criteria/least_terms.hpp"
#include "criteria/representative_sets.hpp"
#include "input.hpp"

namespace fuzz {

namespace {

using namespace hocmim;

struct Problem {
    size_t n, width;
    uint32_t n_classes;
    std::vector<uint32_t> y;
    std::vector<std::vector<uint8_t>> codes;
    std::vector<uint32_t> arity;
    Columns columns, selected;

    explicit Problem(Input& in)
        : n(1 + in.up_to(30, 300)),
          width(1 + in.up_to(4, 9)),
          n_classes(1 + in.below(5)),
          y(in.levels<uint32_t>(n, n_classes)),
          columns{int64_t(n)},
          selected{int64_t(n)} {
        for (size_t j = 0; j < width; ++j) {
            arity.push_back(1 + in.below(in.below(8) ? 6 : 30));
            codes.push_back(in.levels<uint8_t>(n, arity.back()));
            if (j && in.below(4) == 0) {  // a copy with some changes
                arity[j] = std::max(arity[j], arity[j - 1]);
                for (size_t i = 0; i < n; ++i)
                    if (in.below(8)) codes[j][i] = codes[j - 1][i];
            }
        }
        for (size_t j = 0; j < width; ++j) columns.append(codes[j].data(), n, false, arity[j]);
    }
    void select(size_t j) { selected.append(codes[j].data(), n, false, arity[j]); }
};

// The first open candidate of largest score.
int64_t largest(const std::vector<double>& scores, const bool* open) {
    int64_t best = -1;
    for (size_t j = 0; j < scores.size(); ++j)
        if (open[j] &&
            (best < 0 || comparison_key(scores[j]) > comparison_key(scores[size_t(best)])))
            best = int64_t(j);
    return best;
}

void check_sets(Input& in) {
    Problem p(in);
    const auto estimator = Estimator(int(in.below(5)));
    const int64_t max_order = 1 + in.below(4);
    const double min_support = in.below(4), weight = in.below(5) / 4.0, limit = in.below(5);
    ClassCounts lazy_counts(p.columns, p.y.data(), p.n_classes);
    ClassCounts eager_counts(p.columns, p.y.data(), p.n_classes);
    RepresentativeSets lazy(lazy_counts, p.selected, estimator, max_order, min_support, weight,
                            limit);
    RepresentativeSets eager(eager_counts, p.selected, estimator, max_order, min_support, weight,
                             limit);
    const auto open = std::make_unique<bool[]>(p.width);
    std::fill_n(open.get(), p.width, true);
    size_t newest = in.below(uint32_t(p.width));
    for (uint32_t step = 1 + in.below(5); step > 0; --step) {
        open[newest] = false;
        p.select(newest);
        std::vector<uint32_t> w(p.codes[newest].begin(), p.codes[newest].end());
        ConditionedTerms evaluate(lazy.setting);
        evaluate.condition(w.data(), p.arity[newest]);
        std::vector<double> terms;
        for (size_t j = 0; j < p.width; ++j)
            terms.push_back(evaluate(Term::conditional, p.columns[int64_t(j)]));
        lazy.append({terms.data(), p.width});
        eager.append({terms.data(), p.width});
        SetSearch search({&lazy}, {{open.get(), p.width}});
        while (search.work(1 + in.below(20))) {
        }
        std::vector<double> scores(p.width, 0.0);
        for (size_t j = 0; j < p.width; ++j) {
            const auto updater = eager.take_updater();
            updater->update(eager, int64_t(j), kNoThreshold, kNoLimit);
            scores[j] = eager.score(int64_t(j));
            eager.give_back(updater);
        }
        const auto [block, id, score] = search.best();
        const int64_t best = largest(scores, open.get());
        HOLDS(block == (best < 0 ? -1 : 0));
        if (best < 0) return;
        HOLDS(id == best);
        HOLDS(score == scores[size_t(best)]);
        newest = size_t(best);
    }
}

void check_least(Input& in) {
    Problem p(in);
    const auto estimator = Estimator(int(in.below(5)));
    const Term term = in.below(2) ? Term::conditional : Term::joint;
    const int64_t size = 1 + in.below(2);
    for (uint32_t k = uint32_t(size) + in.below(3); k > 0; --k)
        p.select(in.below(uint32_t(p.width)));
    const Vector<const uint32_t> y{p.y.data(), p.n};
    LeastTerms lazy(p.columns, p.selected, size, y, p.n_classes, term, estimator);
    LeastTerms eager(p.columns, p.selected, size, y, p.n_classes, term, estimator);
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> least(p.width, infinity), all(p.width, infinity);
    std::vector<int64_t> n_tried(p.width, 0), n_all(p.width, 0), which;
    const auto open = std::make_unique<bool[]>(p.width);
    for (size_t j = 0; j < p.width; ++j) {
        open[j] = in.below(5) > 0;
        which.push_back(int64_t(j));
    }
    eager.evaluate(Vector<const int64_t>{which.data(), p.width}, {n_all.data(), p.width},
                   {all.data(), p.width}, -infinity, 1'000'000);
    lazy.restart({least.data(), p.width});
    int64_t found = LeastTerms::kUnfinished;
    while (found == LeastTerms::kUnfinished)
        found = lazy.best({open.get(), p.width}, {n_tried.data(), p.width}, {least.data(), p.width},
                          -infinity, 1 + in.below(4), 1 + in.below(30))
                    .first;
    HOLDS(found == largest(all, open.get()));
    if (found >= 0) HOLDS(least[size_t(found)] == all[size_t(found)]);
}

// The paths of all candidates at once, and of one after the other.
void check_paths(Input& in) {
    Problem p(in);
    const auto estimator = Estimator(int(in.below(5)));
    const bool conditional = in.below(2), smallest = in.below(2);
    const double tol = in.below(4) / 8.0, min_support = in.below(3);
    const size_t max_order = 1 + in.below(4);
    for (uint32_t k = 1 + in.below(4); k > 0; --k) p.select(in.below(uint32_t(p.width)));
    std::vector<double> relevance(p.width);
    std::vector<double> scores[2];
    for (int way = 0; way < 2; ++way) {
        ClassCounts counts(p.columns, p.y.data(), p.n_classes);
        std::vector<int32_t> member(p.width * max_order, -1), order(p.width, 0);
        std::vector<double> redundancy(p.width * max_order, 0.0);
        const Setting setting(estimator, p.y.data(), int64_t(p.n), p.n_classes);
        const std::vector<uint32_t> none(p.n, 0);
        ConditionedTerms evaluate(setting);
        evaluate.condition(none.data(), 1);
        for (size_t j = 0; j < p.width; ++j)
            relevance[j] = evaluate(Term::joint, p.columns[int64_t(j)]);
        GreedyPaths paths(counts, p.selected, estimator, conditional, tol, min_support, smallest,
                          {relevance.data(), p.width}, {member.data(), p.width, max_order},
                          {redundancy.data(), p.width, max_order}, {order.data(), p.width});
        if (way == 0) {
            PathUpdater::Ids all;
            for (size_t j = 0; j < p.width; ++j) all.push_back(int64_t(j));
            PathUpdater(paths).follow(paths, all);
        } else {
            for (size_t j = p.width; j-- > 0;) PathUpdater(paths).follow(paths, {int64_t(j)});
        }
        for (size_t j = 0; j < p.width; ++j) {
            HOLDS(paths.is_exact(int64_t(j)));
            scores[way].push_back(paths.score(int64_t(j)));
            HOLDS(order[j] >= 1 && size_t(order[j]) <= max_order);
            for (int32_t level = 0; level < order[j]; ++level)
                HOLDS(member[j * max_order + size_t(level)] >= 0 &&
                      member[j * max_order + size_t(level)] < p.selected.size());
        }
    }
    HOLDS(scores[0] == scores[1]);
}

void check_teams(Input& in) {
    Problem p(in);
    const auto estimator = Estimator(int(in.below(5)));
    const int64_t size = in.up_to(2, 3);
    const Vector<const uint32_t> y{p.y.data(), p.n};
    Cmicot step_by_step(p.columns, y, p.n_classes, estimator, size);
    std::vector<int64_t> which;
    for (size_t j = 0; j < p.width; ++j) which.push_back(int64_t(j));
    std::vector<double> scores(p.width);
    std::vector<int64_t> chosen;
    for (uint32_t k = in.below(3); k > 0; --k) {
        chosen.push_back(in.below(uint32_t(p.width)));
        step_by_step.select(p.columns, chosen.back());
        step_by_step.score({which.data(), p.width}, {scores.data(), p.width});
    }
    if (chosen.empty()) return;
    // The same choices without scores between them, and one candidate alone.
    Cmicot at_once(p.columns, y, p.n_classes, estimator, size);
    for (const int64_t j : chosen) at_once.select(p.columns, j);
    const size_t one = in.below(uint32_t(p.width));
    double again = 0;
    at_once.score({&which[one], 1}, {&again, 1});
    HOLDS(again == scores[one]);
}

}  // namespace

void check_searches(Input& in) {
    switch (in.below(4)) {
        case 0:
            return check_sets(in);
        case 1:
            return check_least(in);
        case 2:
            return check_paths(in);
        default:
            return check_teams(in);
    }
}

}  // namespace fuzz
