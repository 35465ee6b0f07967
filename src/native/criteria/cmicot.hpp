// CMICOT: the complementary and opposing teams of every candidate, kept between steps.
//
// Each team is a greedy path, and the value of an old member at a place does not change when a
// column is selected. So at each step only the new members of the pool are tried, and the places
// after the first that one of them wins are built again.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/arrays.hpp"
#include "core/comparison.hpp"
#include "core/interrupt.hpp"
#include "criteria/teams.hpp"

namespace hocmim {

constexpr int64_t kNoMember = std::numeric_limits<int64_t>::min();

// One place of a team: its member and the member's key. Members of the pool are numbered from 0;
// the candidate's own representative b is ~b.
struct Place {
    int64_t member = kNoMember;
    double key = 0;
};

// The teams of one representative of a candidate.
struct Teams {
    std::vector<Place> helpers, opponents;
};

class Cmicot {
public:
    Cmicot(const Columns& columns, Vector<const uint32_t> y, int64_t n_classes, Estimator estimator,
           int64_t team_size)
        : columns_(columns),
          cls_(y.begin(), y.end()),
          team_size_(size_t(team_size)),
          teams_(size_t(columns.size())),
          n_tried_(size_t(columns.size()), 0) {
        if (int64_t(cls_.size()) != columns.n_samples())
            throw std::invalid_argument("the columns and y do not fit together");
        // The levels of a team are numbered in 16 bits.
        if (team_size < 1 || team_size > 16)
            throw std::invalid_argument("teams have 1 to 16 members");
        setting_.emplace(estimator, cls_.data(), columns.n_samples(), n_classes);
        if (setting_->estimator.is_plain_sum)
            plugin_ = std::make_unique<PluginTeam>(*setting_);
        else
            any_ = std::make_unique<AnyTeam>(*setting_);
    }

    // A column joins S: its representatives join the pool.
    void select(const Columns& columns, int64_t j) {
        if (columns.n_samples() != columns_.n_samples() || j < 0 || j >= columns.size())
            throw std::invalid_argument("the selected column does not fit");
        for (auto& b : representatives(columns[j], columns.n_samples()))
            pool_.push_back(std::move(b));
        ++n_selected_;
    }

    // Updates the teams of the candidates at these positions and computes their scores.
    void score(Vector<const int64_t> which, Vector<double> out) {
        if (which.size() != out.size()) throw std::invalid_argument("which and out differ in size");
        for (size_t k = 0; k < which.size(); ++k)
            if (which[k] < 0 || which[k] >= columns_.size())
                throw std::invalid_argument("there is no column at that position");
        for (size_t k = 0; k < which.size(); ++k)
            out[k] = plugin_ ? score_one(*plugin_, size_t(which[k]))
                             : score_one(*any_, size_t(which[k]));
    }

private:
    template <class Team>
    double score_one(Team& team, size_t candidate) {
        const auto own = representatives(columns_[int64_t(candidate)], columns_.n_samples());
        std::vector<Teams>& teams = teams_[candidate];
        teams.resize(own.size());
        double best = own.empty() ? 0.0 : -std::numeric_limits<double>::infinity();
        for (size_t b = 0; b < own.size(); ++b) {
            double value;
            if (n_selected_ == 0) {
                team.start(own[b]);
                value = team.value();
            } else {
                const size_t first_new = find_helpers(team, own, b, teams[b], n_tried_[candidate]);
                value = find_opponents(team, own, b, teams[b], n_tried_[candidate], first_new);
            }
            best = std::max(best, value);
        }
        n_tried_[candidate] = n_selected_ == 0 ? 0 : pool_.size();
        return best;
    }

    template <class Team>
    double key_given(Team& team, const Representative& g) const {
        count_work(columns_.n_samples());
        return comparison_key(team.given(g));
    }

    const Representative& member(const std::vector<Representative>& own, int64_t at) const {
        return at >= 0 ? pool_[size_t(at)] : own[size_t(~at)];
    }

    // h_j = argmax over h in the pool, then among the candidate's own, of I(b;Y|h_1..h_{j−1},h).
    // Returns the first place whose member has changed.
    template <class Team>
    size_t find_helpers(Team& team, const std::vector<Representative>& own, size_t b, Teams& teams,
                        size_t n_tried) {
        bool is_known = !teams.helpers.empty();
        teams.helpers.resize(team_size_ - 1);
        size_t first_new = team_size_ - 1;
        team.start(own[b]);
        for (size_t j = 0; j + 1 < team_size_; ++j) {
            Place& place = teams.helpers[j];
            Place found =
                is_known ? place : Place{kNoMember, -std::numeric_limits<double>::infinity()};
            const size_t first_h = is_known ? n_tried : 0;
            for (size_t h = first_h; h < pool_.size(); ++h) {
                const double key = key_given(team, pool_[h]);
                // The pool comes before the candidate's own.
                const bool is_before = key == found.key && found.member < 0;
                if (key > found.key || is_before) found = {int64_t(h), key};
            }
            for (size_t h = 0; !is_known && h < own.size(); ++h) {
                const double key = key_given(team, own[h]);
                if (key > found.key) found = {~int64_t(h), key};
            }
            if (found.member != place.member) {
                is_known = false;
                first_new = std::min(first_new, j);
            }
            place = found;
            if (j + 2 < team_size_) team.add_condition(member(own, place.member));
        }
        return first_new;
    }

    // g_j = argmin over g in the pool of I(b,h_1..h_{j−1};Y|g_1..g_{j−1},g). Among equals one that
    // carries the same information as the newest of b, h_1, h_2, … comes first: so a copy of a
    // selected column has itself as opponent, and scores 0. Returns the score.
    template <class Team>
    double find_opponents(Team& team, const std::vector<Representative>& own, size_t b,
                          Teams& teams, size_t n_tried, size_t first_new_helper) {
        teams.opponents.resize(team_size_);
        bool is_known = true;
        team.start(own[b]);
        for (size_t j = 0; j < team_size_; ++j) {
            Place& place = teams.opponents[j];
            is_known = is_known && j <= first_new_helper && place.member != kNoMember;
            Place found =
                is_known ? place : Place{kNoMember, std::numeric_limits<double>::infinity()};
            const Representative& newest =
                j == 0 ? own[b] : member(own, teams.helpers[j - 1].member);
            const auto is_rival = [&](int64_t g) {
                return carry_same_information(pool_[size_t(g)], newest, columns_.n_samples());
            };
            const size_t first_g = is_known ? n_tried : 0;
            for (size_t g = first_g; g < pool_.size(); ++g) {
                const double key = key_given(team, pool_[g]);
                if (key < found.key ||
                    (key == found.key && is_rival(int64_t(g)) && !is_rival(found.member)))
                    found = {int64_t(g), key};
            }
            is_known = is_known && found.member == place.member;
            place = found;
            if (place.member != kNoMember) team.add_condition(pool_[size_t(place.member)]);
            if (j + 1 < team_size_) team.add_helper(member(own, teams.helpers[j].member));
        }
        return team.value();
    }

    const Columns& columns_;
    std::vector<uint32_t> cls_;
    size_t team_size_;
    std::optional<Setting> setting_;
    std::unique_ptr<PluginTeam> plugin_;
    std::unique_ptr<AnyTeam> any_;
    std::vector<Representative> pool_;  // of the selected columns, in the order of selection
    size_t n_selected_ = 0;
    std::vector<std::vector<Teams>> teams_;  // of each representative of each candidate
    std::vector<size_t> n_tried_;  // members of the pool each candidate has been tried with
};

}  // namespace hocmim
