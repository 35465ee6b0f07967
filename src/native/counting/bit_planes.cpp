#include "counting/bit_planes.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/byte_masks.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

namespace {

// Sets bit i of the words of plane `level` where code i is that level; words are `stride` apart.
void set_plane(const uint8_t* codes, int64_t n_samples, uint8_t level, uint64_t* words,
               int64_t stride = 1) {
    int64_t i = 0;
    for (; i + 64 <= n_samples; i += 64) words[i / 64 * stride] = bytes_equal_to(codes + i, level);
    for (; i < n_samples; ++i) words[i / 64 * stride] |= uint64_t(codes[i] == level) << (i % 64);
}

}  // namespace

BitPlanes::BitPlanes(const Columns& columns)
    : n_words_((columns.n_samples() + 63) / 64),
      in_lanes_(paths::are_planes_in_lanes(n_words_)),
      first_(size_t(columns.size()), -1) {
    if (!in_lanes_) n_words_ = words_for(columns.n_samples());
    words_.assign(size_t(in_lanes_ ? place_in_lanes(columns) : place_in_turn(columns)), 0);
    const int64_t stride = in_lanes_ ? kLanes : 1;
    for (int64_t j = 0; j < columns.size(); ++j) {
        for (int64_t level = 1; has(j) && level < columns[j].arity; ++level)
            set_plane(static_cast<const uint8_t*>(columns[j].data), columns.n_samples(),
                      uint8_t(level),
                      words_.data() + first_[size_t(j)] + (level - 1) * n_words_ * stride, stride);
        count_work(columns.n_samples());
    }
}

int64_t BitPlanes::place_in_lanes(const Columns& columns) {
    int64_t n_words = 0;
    int64_t n_of_arity[kMostLevels + 1] = {}, with_room[kMostLevels + 1];
    group_of_.assign(size_t(columns.size()), -1);
    for (int64_t j = 0; j < columns.size(); ++j) {
        if (!paths::has_planes(columns[j])) continue;
        const int64_t arity = columns[j].arity, lane = n_of_arity[arity]++ % kLanes;
        if (lane == 0) {
            with_room[arity] = int64_t(groups_.size());
            groups_.push_back({arity, n_words, {-1, -1, -1, -1, -1, -1, -1, -1}});
            n_words += (arity - 1) * n_words_ * kLanes;
        }
        Group& group = groups_[size_t(with_room[arity])];
        group.column[lane] = j;
        group_of_[size_t(j)] = with_room[arity];
        first_[size_t(j)] = group.first + lane;
    }
    return n_words;
}

int64_t BitPlanes::place_in_turn(const Columns& columns) {
    int64_t n_words = 0;
    for (int64_t j = 0; j < columns.size(); ++j) {
        if (!paths::has_planes(columns[j])) continue;
        first_[size_t(j)] = n_words;
        n_words += (columns[j].arity - 1) * n_words_;
    }
    return n_words;
}

const uint64_t* BitPlanes::planes(int64_t j, int64_t arity, std::vector<uint64_t>& scratch) const {
    if (arity == 1) return words_.data();  // no plane; there may be no words at all
    const uint64_t* from = words_.data() + first_[size_t(j)];
    if (!in_lanes_) return from;
    const int64_t padded = (n_words_ + 7) / 8 * 8;
    scratch.resize(size_t((arity - 1) * padded));
    for (uint64_t* to = scratch.data(); to < scratch.data() + scratch.size(); to += padded) {
        for (int64_t i = 0; i < n_words_; ++i, from += kLanes) to[i] = *from;
        std::fill(to + n_words_, to + padded, 0);
    }
    return scratch.data();
}

CellMasks::CellMasks(const uint32_t* cell_of, int64_t n_samples, int64_t n_cells)
    : n_samples_(n_samples), n_cells_(n_cells), n_words_(BitPlanes::words_for(n_samples)) {
    if (n_cells > kMostCells) throw std::invalid_argument("too many cells for masks");
    words_.assign(size_t(n_cells * n_words_), 0);
    for (int64_t i = 0; i < n_samples; ++i) {
        if (cell_of[i] >= uint64_t(n_cells))
            throw std::invalid_argument("a cell is not below the number of cells");
        words_[size_t(int64_t(cell_of[i]) * n_words_ + i / 64)] |= uint64_t(1) << (i % 64);
    }
}

CellMasks::CellMasks(const uint8_t* codes, int64_t n_samples, int64_t n_levels)
    : n_samples_(n_samples), n_cells_(n_levels), n_words_(BitPlanes::words_for(n_samples)) {
    words_.assign(size_t(n_levels * n_words_), 0);
    for (int64_t level = 0; level < n_levels; ++level)
        set_plane(codes, n_samples, uint8_t(level), words_.data() + level * n_words_);
}

CellMasks::CellMasks(const CellMasks& w, const CellMasks& y)
    : n_samples_(w.n_samples_), n_cells_(w.n_cells_ * y.n_cells_), n_words_(w.n_words_) {
    if (y.n_samples_ != n_samples_) throw std::invalid_argument("the masks are not of one length");
    words_.resize(size_t(n_cells_ * n_words_));
    uint64_t* to = words_.data();
    for (int64_t a = 0; a < w.n_cells_; ++a)
        for (int64_t b = 0; b < y.n_cells_; ++b)
            for (int64_t i = 0; i < n_words_; ++i)
                *to++ = w.words_[size_t(a * n_words_ + i)] & y.words_[size_t(b * n_words_ + i)];
}

std::vector<int64_t> CellMasks::counts() const {
    std::vector<int64_t> counts(size_t(n_cells_), 0);
    for (int64_t cell = 0; cell < n_cells_; ++cell)  // each cell in common with itself
        count_common(masks() + cell * n_words_, 1, masks() + cell * n_words_, 1, n_words_,
                     &counts[size_t(cell)]);
    return counts;
}

}  // namespace hocmim
