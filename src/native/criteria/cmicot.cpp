// CMICOT: the complementary and opposing teams of every candidate, remembered between steps.
//
// Each team is a greedy path, and what an old member is worth at a level does not change when a
// feature joins S. So at each step only the newcomers are tried, and the levels after the first that
// a newcomer wins are built anew.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "counting/bit_planes.hpp"
#include "counting/paths.hpp"
#include "estimators/evaluator.hpp"
#include "bindings/module.hpp"

namespace hocmim {

namespace {

// A binary column, as far as information is concerned: the samples of its rarer value, in order, and
// the same as bits.
struct Representative {
    std::vector<uint32_t> samples;
    std::vector<uint64_t> bits;

    Representative(std::vector<uint32_t> samples_, int64_t n_samples)
        : samples(std::move(samples_)), bits(size_t((n_samples + 63) / 64), 0) {
        for (const uint32_t i : samples) bits[i / 64] |= uint64_t(1) << (i % 64);
    }
};

// [x > t] for t between consecutive levels that occur.
std::vector<Representative> representatives(const Column& column, int64_t n_samples) {
    std::vector<Representative> result;
    column.visit([&](const auto* level_of) {
        std::vector<int64_t> count(size_t(column.arity), 0);
        for (int64_t i = 0; i < n_samples; ++i) ++count[level_of[i]];
        int64_t below = 0;
        for (int64_t t = 0; t < column.arity; ++t) {
            below += count[size_t(t)];
            if (below == n_samples) break;
            if (count[size_t(t)] == 0) continue;
            const bool above_is_rare = 2 * below >= n_samples;
            std::vector<uint32_t> rare;
            rare.reserve(size_t(above_is_rare ? n_samples - below : below));
            for (int64_t i = 0; i < n_samples; ++i)
                if ((level_of[i] > t) == above_is_rare) rare.push_back(uint32_t(i));
            result.emplace_back(std::move(rare), n_samples);
        }
    });
    return result;
}

// Equal, or one the negation of the other, which only halves can be.
bool say_the_same(const Representative& a, const Representative& b, int64_t n_samples) {
    if (a.bits == b.bits) return true;
    if (a.samples.size() != b.samples.size() || 2 * int64_t(a.samples.size()) != n_samples) return false;
    for (size_t k = 0; k < a.bits.size(); ++k)
        if (a.bits[k] & b.bits[k]) return false;
    return true;
}

// What both kinds of Duel do: I(X;Y|W) for a team X and a condition W, both sets of binary columns
// that grow, and I(X;Y|W,g) for a binary g to be tried.
//     start(b)           X = {b}, W empty
//     expect(n)          as many g will be tried now
//     given(g)           I(X;Y|W,g)
//     add_condition(g)   W gains g
//     add_helper(h)      X gains h
//     value()            I(X;Y|W)

// The plug-in's Duel, on counts.
//
//     N I(X;Y|W) = Σ f(n_wxy) − Σ f(n_wx) − Σ f(n_wy) + Σ f(n_w),  f(c) = c log c
//
// A cell (w,x) in which all samples are of one class has f(n_wxy) = f(n_wx) however it is split: its
// samples retire from the first two sums. The rarer side of g is counted in each cell: sample by sample,
// or, while the cells are few, by popcounts with their masks, eight side by side.
class PluginDuel {
    static constexpr int64_t kLanes = BitPlanes::kLanes;

public:
    explicit PluginDuel(const Setting& setting)
        : f_(*setting.function), cls_(setting.cls), n_samples_(setting.n_samples),
          n_classes_(setting.n_classes()), wy_of_(size_t(n_samples_)), wxy_of_(size_t(n_samples_)),
          n_words_((n_samples_ + 63) / 64) {}

    void start(const Representative& b) {
        wy_.reset();
        wxy_.reset();
        w_.reset();
        wx_.reset();
        w_.append(0, uint32_t(n_samples_));
        for (int64_t c = 0; c < n_classes_; ++c) wy_.append(0, 0);
        for (int64_t i = 0; i < n_samples_; ++i) ++wy_.count[wy_of_[size_t(i)] = cls_[i]];
        // Cell 0 of wxy is where retired samples are; then class by class.
        wx_.append(0, uint32_t(n_samples_));
        wxy_.append(0, 0);
        for (int64_t c = 0; c < n_classes_; ++c) wxy_.append(0, wy_.count[size_t(c)]);
        for (int64_t i = 0; i < n_samples_; ++i) wxy_of_[size_t(i)] = 1 + cls_[i];
        add_helper(b);
    }

    void expect(size_t n_trials) { n_trials_ = n_trials; }

    double given(const Representative& g) {
        if (paths::counts_by_masks(n_octets(), n_words_, n_samples_, n_trials_, g.samples.size()))
            count_by_masks(g);
        else
            count_by_samples(g);
        const int64_t sum = split_sum(wxy_, wx_) - split_sum(wy_, w_);
        return real(sum - whole_sum(wx_.part, wx_) + whole_sum(w_.part, w_));
    }

    void add_condition(const Representative& g) {
        count_by_samples(g);
        sum_parts(wy_, w_);
        sum_parts(wxy_, wx_);
        w_.split_owners(nullptr);
        wx_.split_owners(nullptr);
        wy_.split_owners(&w_);
        wxy_.split_owners(&wx_);
        for (const uint32_t i : g.samples) {
            wy_of_[i] = wy_.moved[wy_of_[i]];
            wxy_of_[i] = wxy_.moved[wxy_of_[i]];
        }
        retire();
    }

    void add_helper(const Representative& h) {
        for (const uint32_t i : h.samples) ++wxy_.part[wxy_of_[i]];
        wxy_.part[0] = 0;
        sum_parts(wxy_, wx_);
        wx_.split_owners(nullptr);
        wxy_.split_owners(&wx_);
        for (const uint32_t i : h.samples) wxy_of_[i] = wxy_.moved[wxy_of_[i]];
        retire();
    }

    double value() {
        int64_t sum = 0;
        for (size_t c = 1; c < wxy_.count.size(); ++c) sum += f_(wxy_.count[c]);
        for (const uint32_t count : wx_.count) sum -= f_(count);
        for (const uint32_t count : wy_.count) sum -= f_(count);
        for (const uint32_t count : w_.count) sum += f_(count);
        return real(sum);
    }

private:
    // Cells of one kind: how many samples, in which coarser cell, and scratch for a split.
    struct CellsOf {
        std::vector<uint32_t> count, owner;
        std::vector<uint32_t> part;   // samples on the rarer side of the split; zero in between
        std::vector<uint32_t> moved;  // the cell that side goes to

        void reset() {
            count.clear();
            owner.clear();
            part.clear();
        }
        void append(uint32_t owner_, uint32_t count_) {
            count.push_back(count_);
            owner.push_back(owner_);
            part.push_back(0);
        }
        // Gives the rarer side of each cell a cell of its own, unless it is all of the cell, within
        // the coarser cell that side has gone to.
        void split_owners(const CellsOf* coarser) {
            const size_t size = count.size();
            moved.resize(size);
            for (size_t c = 0; c < size; ++c) {
                moved[c] = uint32_t(c);
                if (part[c] == 0) continue;
                const uint32_t to = coarser ? coarser->moved[owner[c]] : 0;
                if (part[c] == count[c]) {
                    owner[c] = to;
                } else {
                    moved[c] = uint32_t(count.size());
                    append(to, part[c]);
                    count[c] -= part[c];
                }
                part[c] = 0;
            }
        }
    };

    void count_by_samples(const Representative& g) {
        for (const uint32_t i : g.samples) {
            ++wy_.part[wy_of_[i]];
            ++wxy_.part[wxy_of_[i]];
        }
        wxy_.part[0] = 0;
    }

    // Eight cells side by side; those of wxy come after those of wy.
    int64_t n_octets() const { return octets(wy_.count.size()) + octets(wxy_.count.size()); }
    static int64_t octets(size_t n_cells) { return (int64_t(n_cells) + kLanes - 1) / kLanes; }

    void count_by_masks(const Representative& g) {
        if (!has_masks_) make_masks();
        counts_.resize(size_t(n_octets() * kLanes));
        count_lanes(masks_.data(), n_octets(), g.bits.data(), 1, n_words_, n_words_, counts_.data());
        std::copy_n(counts_.begin(), wy_.part.size(), wy_.part.begin());
        std::copy_n(counts_.begin() + octets(wy_.count.size()) * kLanes, wxy_.part.size(),
                    wxy_.part.begin());
        wxy_.part[0] = 0;
    }

    void make_masks() {
        masks_.assign(size_t(n_octets() * n_words_ * kLanes), 0);
        const int64_t first = octets(wy_.count.size()) * kLanes;
        first_word_.resize(size_t(n_octets() * kLanes));
        for (int64_t cell = 0; cell < n_octets() * kLanes; ++cell)
            first_word_[size_t(cell)] = uint32_t(cell / kLanes * n_words_ * kLanes + cell % kLanes);
        const uint32_t *of_wy = first_word_.data(), *of_wxy = of_wy + first;
        uint64_t* word = masks_.data();
        for (int64_t begin = 0; begin < n_samples_; begin += 64, word += kLanes) {
            const int64_t end = std::min(n_samples_, begin + 64);
            for (int64_t i = begin; i < end; ++i) {
                const uint64_t bit = uint64_t(1) << (i - begin);
                word[of_wy[wy_of_[size_t(i)]]] |= bit;
                word[of_wxy[wxy_of_[size_t(i)]]] |= bit;
            }
        }
        has_masks_ = true;
    }

    static void sum_parts(const CellsOf& fine, CellsOf& coarse) {
        for (size_t c = 0; c < fine.count.size(); ++c) coarse.part[fine.owner[c]] += fine.part[c];
    }

    // Σ f over the halves of the fine cells; adds up the parts of the coarse ones and clears its own.
    int64_t split_sum(CellsOf& fine, CellsOf& coarse) {
        int64_t sum = 0;
        for (size_t c = 0; c < fine.count.size(); ++c) {
            const uint32_t part = fine.part[c];
            fine.part[c] = 0;
            coarse.part[fine.owner[c]] += part;
            sum += f_(part) + f_(fine.count[c] - part);
        }
        return sum;
    }

    int64_t whole_sum(std::vector<uint32_t>& part, const CellsOf& cells) {
        int64_t sum = 0;
        for (size_t c = 0; c < part.size(); ++c) {
            sum += f_(part[c]) + f_(cells.count[c] - part[c]);
            part[c] = 0;
        }
        return sum;
    }

    // Drops the cells (w,x) of one class only, and their samples with them.
    void retire() {
        has_masks_ = false;
        n_inside_.assign(wx_.count.size(), 0);
        for (size_t c = 1; c < wxy_.count.size(); ++c)
            n_inside_[wxy_.owner[c]] += wxy_.count[c] > 0;
        bool any = false;
        for (const uint32_t n : n_inside_) any |= n < 2;
        if (!any) return;
        wx_kept_.resize(wx_.count.size());
        uint32_t n_kept = 0;
        for (size_t k = 0; k < wx_.count.size(); ++k) {
            wx_kept_[k] = n_kept;
            if (n_inside_[k] >= 2) wx_.count[n_kept++] = wx_.count[k];
        }
        wx_.count.resize(n_kept);
        wx_.owner.resize(n_kept);
        wx_.part.resize(n_kept);
        kept_.assign(wxy_.count.size(), 0);
        uint32_t at = 1;
        for (size_t c = 1; c < wxy_.count.size(); ++c) {
            if (wxy_.count[c] == 0 || n_inside_[wxy_.owner[c]] < 2) continue;
            kept_[c] = at;
            wxy_.count[at] = wxy_.count[c];
            wxy_.owner[at++] = wx_kept_[wxy_.owner[c]];
        }
        wxy_.count.resize(at);
        wxy_.owner.resize(at);
        wxy_.part.resize(at);
        if (n_kept == 0) wx_.append(0, 0);  // for the retired to belong to
        for (uint32_t& cell : wxy_of_) cell = kept_[cell];
    }

    double real(int64_t sum) const {
        return std::max(0.0, f_.fixed().real(sum) / double(n_samples_));
    }

    const CountFunction& f_;
    const uint32_t* cls_;
    const int64_t n_samples_, n_classes_;
    CellsOf w_, wx_, wy_, wxy_;
    std::vector<uint32_t> wy_of_, wxy_of_;  // the cell of each sample
    std::vector<uint32_t> n_inside_, wx_kept_, kept_;
    const int64_t n_words_;
    bool has_masks_ = false;       // of the cells as they are
    size_t n_trials_ = 1;
    std::vector<uint64_t> masks_;
    std::vector<uint32_t> first_word_, counts_;
};

// Any estimator's Duel, by the kernels every criterion uses.
class AnyDuel {
public:
    explicit AnyDuel(const Setting& setting)
        : setting_(setting), evaluate_(make_evaluator(setting)), bits_(size_t(setting.n_samples), 0),
          team_(size_t(setting.n_samples)) {}

    void start(const Representative& b) {
        condition_.assign_whole(setting_.n_samples, setting_.cls, setting_.n_classes());
        is_conditional_ = false;
        std::fill(team_.begin(), team_.end(), uint16_t(0));
        n_levels_ = 1;
        add_helper(b);
    }

    void expect(size_t) {}

    double given(const Representative& g) {
        refine(g, refined_);
        return information(Term::conditional, refined_);
    }

    void add_condition(const Representative& g) {
        refine(g, refined_);
        std::swap(condition_, refined_);
        is_conditional_ = true;
    }

    // Levels of the team that occur, in the order of their first sample.
    void add_helper(const Representative& h) {
        for (const uint32_t i : h.samples) bits_[i] = 1;
        std::vector<uint32_t> number(size_t(2 * n_levels_), UINT32_MAX);
        uint32_t n_levels = 0;
        for (size_t i = 0; i < team_.size(); ++i) {
            uint32_t& level = number[2 * size_t(team_[i]) + bits_[i]];
            if (level == UINT32_MAX) level = n_levels++;
            team_[i] = uint16_t(level);
        }
        n_levels_ = n_levels;
        for (const uint32_t i : h.samples) bits_[i] = 0;
        const Column column{team_.data(), true, n_levels_};
        row_count_.resize(size_t(n_levels_ * setting_.n_classes()));
        count_rows(column, setting_.cls, setting_.n_samples, setting_.n_classes(), row_count_.data());
        candidate_.assign(column, setting_.n_classes(), row_count_.data());
    }

    double value() {
        return information(is_conditional_ ? Term::conditional : Term::joint, condition_);
    }

private:
    void refine(const Representative& g, Partition& out) {
        for (const uint32_t i : g.samples) bits_[i] = 1;
        refiner_(condition_, bits_.data(), 2, setting_.cls, out);
        for (const uint32_t i : g.samples) bits_[i] = 0;
    }
    double information(Term term, const Partition& partition) {
        sums_.compute(partition, setting_);
        return (*evaluate_)(term, candidate_, partition, sums_);
    }

    const Setting& setting_;
    std::unique_ptr<Evaluator> evaluate_;
    Refiner refiner_;
    Partition condition_, refined_;
    bool is_conditional_ = false;
    ConditionSums sums_;
    std::vector<uint8_t> bits_;
    std::vector<uint16_t> team_;
    int64_t n_levels_ = 1;
    std::vector<int64_t> row_count_;
    Candidate candidate_;
};

// Values are compared after rounding to 12 decimals.
double comparison_key(double value) { return std::nearbyint(value * 1e12); }

constexpr int64_t kNobody = std::numeric_limits<int64_t>::min();

// One level of a team: who won it, and with what key. Members of the pool are numbered from 0 on;
// the candidate's own representative b is ~b.
struct Level {
    int64_t member = kNobody;
    double key = 0;
};

// The teams of one representative of a candidate.
struct Teams {
    std::vector<Level> helpers, opponents;
};

class Cmicot {
public:
    Cmicot(const Columns& columns, Vector<const uint32_t> y, int64_t n_classes, Estimator estimator,
           int64_t team_size)
        : columns_(columns), cls_(y.data(), y.data() + y.shape(0)), team_size_(size_t(team_size)),
          teams_(size_t(columns.size())), n_met_(size_t(columns.size()), 0) {
        if (int64_t(cls_.size()) != columns.n_samples())
            throw std::invalid_argument("the columns and y do not fit together");
        // A team's levels are numbered in 16 bits.
        if (team_size < 1 || team_size > 16) throw std::invalid_argument("teams have 1 to 16 members");
        setting_.emplace(estimator, cls_.data(), columns.n_samples(), n_classes);
        if (setting_->estimator.is_plain_sum)
            plugin_ = std::make_unique<PluginDuel>(*setting_);
        else
            any_ = std::make_unique<AnyDuel>(*setting_);
    }

    // A column joins S: its representatives join the pool.
    void select(const Columns& columns, int64_t j) {
        if (columns.n_samples() != columns_.n_samples() || j < 0 || j >= columns.size())
            throw std::invalid_argument("the selected column does not fit");
        for (auto& b : representatives(columns[j], columns.n_samples())) pool_.push_back(std::move(b));
        ++n_selected_;
    }

    // Scores of the candidates at these positions, their teams brought up to date.
    void score(Vector<const int64_t> which, Vector<double> out) {
        if (which.shape(0) != out.shape(0)) throw std::invalid_argument("which and out differ in size");
        for (size_t k = 0; k < which.shape(0); ++k)
            if (which(k) < 0 || which(k) >= columns_.size())
                throw std::invalid_argument("there is no column at that position");
        nb::gil_scoped_release release;
        for (size_t k = 0; k < which.shape(0); ++k)
            out(k) = plugin_ ? score_one(*plugin_, size_t(which(k))) : score_one(*any_, size_t(which(k)));
    }

private:
    template <class Duel>
    double score_one(Duel& duel, size_t candidate) {
        const auto own = representatives(columns_[int64_t(candidate)], columns_.n_samples());
        std::vector<Teams>& teams = teams_[candidate];
        teams.resize(own.size());
        double best = own.empty() ? 0.0 : -std::numeric_limits<double>::infinity();
        for (size_t b = 0; b < own.size(); ++b) {
            double value;
            if (n_selected_ == 0) {
                duel.start(own[b]);
                value = duel.value();
            } else {
                const size_t first_new = find_helpers(duel, own, b, teams[b], n_met_[candidate]);
                value = find_opponents(duel, own, b, teams[b], n_met_[candidate], first_new);
            }
            best = std::max(best, value);
        }
        n_met_[candidate] = n_selected_ == 0 ? 0 : pool_.size();
        return best;
    }

    const Representative& member(const std::vector<Representative>& own, int64_t at) const {
        return at >= 0 ? pool_[size_t(at)] : own[size_t(~at)];
    }

    // h_j = argmax over h in the pool, then among its own, of I(b;Y|h_1..h_{j−1},h). Returns the
    // first level whose member is not what it was.
    template <class Duel>
    size_t find_helpers(Duel& duel, const std::vector<Representative>& own, size_t b, Teams& teams,
                        size_t n_met) {
        bool is_known = !teams.helpers.empty();
        teams.helpers.resize(team_size_ - 1);
        size_t first_new = team_size_ - 1;
        duel.start(own[b]);
        for (size_t j = 0; j + 1 < team_size_; ++j) {
            Level& level = teams.helpers[j];
            Level found = is_known ? level : Level{kNobody, -std::numeric_limits<double>::infinity()};
            const size_t first_h = is_known ? n_met : 0;
            duel.expect(pool_.size() - first_h);
            for (size_t h = first_h; h < pool_.size(); ++h) {
                const double key = comparison_key(duel.given(pool_[h]));
                // The pool comes before the candidate's own.
                const bool is_before = key == found.key && found.member < 0;
                if (key > found.key || is_before) found = {int64_t(h), key};
            }
            for (size_t h = 0; !is_known && h < own.size(); ++h) {
                const double key = comparison_key(duel.given(own[h]));
                if (key > found.key) found = {~int64_t(h), key};
            }
            if (found.member != level.member) {
                is_known = false;
                first_new = std::min(first_new, j);
            }
            level = found;
            if (j + 2 < team_size_) duel.add_condition(member(own, level.member));
        }
        return first_new;
    }

    // g_j = argmin over g in the pool of I(b,h_1..h_{j−1};Y|g_1..g_{j−1},g). Among equals one that says
    // the same as the newest of b, h_1, h_2, … comes first: so a copy of a selected column meets
    // itself, and scores 0. Returns the score.
    template <class Duel>
    double find_opponents(Duel& duel, const std::vector<Representative>& own, size_t b, Teams& teams,
                          size_t n_met, size_t first_new_helper) {
        teams.opponents.resize(team_size_);
        bool is_known = true;
        duel.start(own[b]);
        for (size_t j = 0; j < team_size_; ++j) {
            Level& level = teams.opponents[j];
            is_known = is_known && j <= first_new_helper && level.member != kNobody;
            Level found = is_known ? level : Level{kNobody, std::numeric_limits<double>::infinity()};
            const Representative& newest = j == 0 ? own[b] : member(own, teams.helpers[j - 1].member);
            const auto is_rival = [&](int64_t g) {
                return say_the_same(pool_[size_t(g)], newest, columns_.n_samples());
            };
            const size_t first_g = is_known ? n_met : 0;
            duel.expect(pool_.size() - first_g);
            for (size_t g = first_g; g < pool_.size(); ++g) {
                const double key = comparison_key(duel.given(pool_[g]));
                if (key < found.key ||
                    (key == found.key && is_rival(int64_t(g)) && !is_rival(found.member)))
                    found = {int64_t(g), key};
            }
            is_known = is_known && found.member == level.member;
            level = found;
            if (level.member != kNobody) duel.add_condition(pool_[size_t(level.member)]);
            if (j + 1 < team_size_) duel.add_helper(member(own, teams.helpers[j].member));
        }
        return duel.value();
    }

    const Columns& columns_;
    std::vector<uint32_t> cls_;
    size_t team_size_;
    std::optional<Setting> setting_;
    std::unique_ptr<PluginDuel> plugin_;
    std::unique_ptr<AnyDuel> any_;
    std::vector<Representative> pool_;  // of the selected columns, in the order of selection
    size_t n_selected_ = 0;
    std::vector<std::vector<Teams>> teams_;  // of each representative of each candidate
    std::vector<size_t> n_met_;              // how much of the pool each candidate has met
};

}  // namespace

}  // namespace hocmim

void bind_cmicot(nanobind::module_& m) {
    namespace nb = nanobind;
    using namespace hocmim;
    using namespace nb::literals;

    nb::class_<Cmicot>(m, "Cmicot")
        .def(nb::init<const Columns&, Vector<const uint32_t>, int64_t, Estimator, int64_t>(),
             "columns"_a, "y"_a.noconvert(), "n_classes"_a, "estimator"_a, "team_size"_a,
             nb::keep_alive<1, 2>())
        .def("select", &Cmicot::select, "columns"_a, "j"_a)
        .def("score", &Cmicot::score, "which"_a.noconvert(), "out"_a.noconvert());
}
