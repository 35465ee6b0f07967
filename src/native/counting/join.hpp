// Joins a column to a variable: the cells of both together.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "core/arrays.hpp"
#include "core/columns.hpp"

namespace hocmim {

// Renumbers the pairs (code, level) that occur by first appearance; returns how many there are. The
// table of new numbers is at most a small multiple of the samples; beyond that it is a hash map.
template <class Code>
uint32_t join_one(std::vector<uint32_t>& codes, uint64_t n_codes, const Code* level_of,
                  uint64_t arity) {
    const uint64_t n_pairs = n_codes * arity;
    uint32_t n_cells = 0;
    if (n_pairs <= 8 * codes.size() + 1024) {
        std::vector<uint32_t> number(n_pairs, UINT32_MAX);
        for (size_t i = 0; i < codes.size(); ++i) {
            uint32_t& cell = number[codes[i] * arity + level_of[i]];
            if (cell == UINT32_MAX) cell = n_cells++;
            codes[i] = cell;
        }
    } else {
        std::unordered_map<uint64_t, uint32_t> number;
        number.reserve(codes.size());
        for (size_t i = 0; i < codes.size(); ++i) {
            const auto [cell, is_new] = number.try_emplace(codes[i] * arity + level_of[i], n_cells);
            n_cells += is_new;
            codes[i] = cell->second;
        }
    }
    return n_cells;
}

// Several columns as one variable: the cell of each sample, and how many cells there are.
struct JointCells {
    std::vector<uint32_t> cells;
    int64_t n_cells = 1;

    void join(const Column& column) {
        n_cells = column.visit([&](const auto* level_of) {
            return join_one(cells, uint64_t(n_cells), level_of, uint64_t(column.arity));
        });
    }
};

inline JointCells join(const Columns& columns) {
    JointCells joint{std::vector<uint32_t>(size_t(columns.n_samples()), 0)};
    for (int64_t j = 0; j < columns.size(); ++j) joint.join(columns[j]);
    return joint;
}

// The cells of a variable and one more column.
inline JointCells join_with(Vector<const uint32_t> cells, int64_t n_cells, const Columns& columns,
                            int64_t j) {
    if (int64_t(cells.size()) != columns.n_samples() || j < 0 || j >= columns.size())
        throw std::invalid_argument("the cells and the columns do not fit together");
    check_below(cells, n_cells);
    JointCells joint{{cells.begin(), cells.end()}, n_cells};
    joint.join(columns[j]);
    return joint;
}

}  // namespace hocmim
