// Representative sets as published: the greedy path of every candidate through the selected
// columns.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/columns.hpp"
#include "core/comparison.hpp"
#include "counting/class_counts.hpp"
#include "estimators/setting.hpp"

namespace hocmim {

struct PathParameters {
    bool conditional;  // J = I(X;Y|Z) instead of I(X;Y) − R(X,Z,Y)
    int64_t max_order;
    double tol;
    double min_support;
    bool smallest;  // J is the smallest along the path, instead of that at the last level
};

// The paths of a block of candidates through the selected columns; level l of a path is its entry l
// − 1.
struct GreedyPaths {
    GreedyPaths(ClassCounts& class_counts_, const Columns& selected_, Estimator estimator,
                bool conditional, double tol, double min_support, bool smallest,
                Vector<const double> relevance, Matrix<int32_t> member, Matrix<double> redundancy,
                Vector<int32_t> order)
        : class_counts(class_counts_),
          block(class_counts.columns()),
          selected(selected_),
          relevance_(relevance),
          member_(member),
          redundancy_(redundancy),
          order_(order),
          setting(estimator, class_counts.cls(), block.n_samples(), class_counts.n_classes()),
          p{conditional, int64_t(member_.n_columns), tol, min_support, smallest},
          closed_(size_t(block.size()), 0),
          n_seen_(size_t(block.size()), 0),
          n_tried_(size_t(block.size()), 0),
          hint_(size_t(block.size()), -1) {
        const size_t size = size_t(block.size());
        if (selected.n_samples() != block.n_samples() || relevance_.size() != size ||
            member_.n_rows != size || redundancy_.n_rows != size ||
            redundancy_.n_columns != member_.n_columns || order_.size() != size)
            throw std::invalid_argument(
                "the block, the selected columns and the paths do not fit together");
    }

    double relevance(int64_t id) const { return relevance_[id]; }
    // Position of the member in the order of selection.
    int32_t& member(int64_t id, int64_t level) { return member_(size_t(id), size_t(level)); }
    double& redundancy(int64_t id, int64_t level) { return redundancy_(size_t(id), size_t(level)); }
    // Levels reached.
    int32_t& order(int64_t id) { return order_[id]; }
    // Whether the path has ended: it is redundant enough, or has too few samples per cell.
    uint8_t& closed(int64_t id) { return closed_[size_t(id)]; }
    // How many of the selected columns the path has been updated with.
    int64_t& n_seen(int64_t id) { return n_seen_[size_t(id)]; }
    int64_t n_missing(int64_t id) { return selected.size() - n_seen(id); }
    // How many of the selected columns the last level has been tried with, in their order. If they
    // are not all, R of the last level is at least what it is now, and J at most.
    int64_t& n_tried(int64_t id) { return n_tried_[size_t(id)]; }
    // A column that is likely to have a large R at the next level, or −1. At an unfinished last
    // level it has been tried before the others.
    int32_t& hint(int64_t id) { return hint_[size_t(id)]; }
    bool is_exact(int64_t id) { return n_missing(id) == 0 && n_tried(id) == selected.size(); }
    // Whether J at the last level is below the tolerance.
    bool is_redundant(int64_t id) {
        const double i = relevance(id), r = redundancy(id, order(id) - 1);
        return comparison_key(i) > 0 && comparison_key(i - r) < comparison_key(p.tol * i);
    }
    bool may_grow(int64_t id) { return !closed(id) && order(id) < p.max_order; }

    void assign(Candidate& candidate, int64_t id) const {
        std::vector<int64_t> rows;
        candidate.assign(block[id], setting.n_classes(), class_counts.of(id, rows));
    }

    // J at the last level, or the smallest along the path; infinite if no column has been tried at
    // the last level.
    double score(int64_t id) {
        if (order(id) == 0) return relevance(id);
        const int64_t last = order(id) - 1;
        int64_t level = last;
        for (int64_t l = last; p.smallest && l >= 0; --l)
            if (comparison_key(redundancy(id, l)) >= comparison_key(redundancy(id, level)))
                level = l;
        return relevance(id) - redundancy(id, level);
    }

    ClassCounts& class_counts;
    const Columns &block, &selected;
    const Vector<const double> relevance_;
    Matrix<int32_t> member_;
    Matrix<double> redundancy_;
    Vector<int32_t> order_;
    const Setting setting;
    const PathParameters p;
    std::vector<uint8_t> closed_;
    std::vector<int64_t> n_seen_, n_tried_;
    std::vector<int32_t> hint_;
};

}  // namespace hocmim
