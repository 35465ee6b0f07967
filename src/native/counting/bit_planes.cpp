#include "counting/bit_planes.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/byte_masks.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

namespace {

// Bit i of the words of a plane is whether code i is `level`; words are `stride` apart.
void set_plane(const uint8_t* codes, int64_t n_samples, uint8_t level, uint64_t* words,
               int64_t stride = 1) {
    int64_t i = 0;
    for (; i + 64 <= n_samples; i += 64) words[i / 64 * stride] = bytes_equal_to(codes + i, level);
    if (i == n_samples) return;
    uint64_t last = 0;
    for (int64_t k = i; k < n_samples; ++k) last |= uint64_t(codes[k] == level) << (k % 64);
    words[i / 64 * stride] = last;
}

const uint8_t* codes_of(const Column& column) { return static_cast<const uint8_t*>(column.data); }

}  // namespace

BitPlanes::BitPlanes(int64_t n_samples, int64_t n_columns)
    : n_words_(words_of_plane(n_samples)),
      in_lanes_(paths::are_planes_in_lanes(n_words_)),
      arity_(size_t(n_columns), 0),
      first_(size_t(n_columns), nullptr) {}

int64_t BitPlanes::words_of_plane(int64_t n_samples) {
    const int64_t n_words = (n_samples + 63) / 64;
    return paths::are_planes_in_lanes(n_words) ? n_words : words_for(n_samples);
}

BitPlanes::BitPlanes(const Columns& columns, const std::vector<Made>& made)
    : BitPlanes(columns.n_samples(), columns.size()) {
    for (const Made& part : made) use(columns, part);
    std::vector<bool> is_wanted(arity_.size());
    for (int64_t j = 0; j < columns.size(); ++j)
        is_wanted[size_t(j)] = paths::has_planes(columns[j]) && !has(j);
    make(columns, is_wanted);
}

BitPlanes BitPlanes::of_part(const Columns& columns, int64_t n_masks, int64_t most_planes,
                             std::shared_ptr<uint64_t[]> words) {
    BitPlanes part(columns.n_samples(), columns.size());
    part.words_ = std::move(words);
    std::vector<bool> is_wanted(part.arity_.size());
    int64_t n_of_arity[kMostLevels + 1] = {};
    for (int64_t j = 0; j < columns.size(); ++j) {
        is_wanted[size_t(j)] =
            columns[j].arity - 1 <= most_planes && paths::pays_by_planes(columns[j], n_masks);
        if (is_wanted[size_t(j)]) ++n_of_arity[columns[j].arity];
    }
    for (int64_t j = columns.size() - 1; part.in_lanes_ && j >= 0; --j) {
        if (!is_wanted[size_t(j)] || n_of_arity[columns[j].arity] % kLanes == 0) continue;
        is_wanted[size_t(j)] = false;
        --n_of_arity[columns[j].arity];
    }
    part.make(columns, is_wanted);
    return part;
}

void BitPlanes::use(const Columns& columns, const Made& made) {
    const auto& [start, part] = made;
    if (!part || part->n_words_ != n_words_ || part->in_lanes_ != in_lanes_)
        throw std::invalid_argument("the planes are not of these samples");
    const auto is_among_columns = [&, first = start](int64_t j) {
        return j >= 0 && first + j >= 0 && first + j < columns.size();
    };
    if (!in_lanes_)
        for (int64_t j = 0; j < part->n_columns(); ++j)
            if (part->has(j) && is_among_columns(j))
                use_column(columns, start + j, part->arity_[size_t(j)], part->first_[size_t(j)]);
    for (Group group : part->groups_) {
        if (!std::all_of(group.column, group.column + kLanes, is_among_columns)) continue;
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            group.column[lane] += start;
            use_column(columns, group.column[lane], group.arity, group.words + lane);
        }
        groups_.push_back(group);
    }
    used_.push_back(part);
}

void BitPlanes::use_column(const Columns& columns, int64_t j, int64_t arity,
                           const uint64_t* first) {
    if (has(j) || columns[j].wide || columns[j].arity != arity)
        throw std::invalid_argument("the planes are not of these columns");
    arity_[size_t(j)] = uint8_t(arity);
    first_[size_t(j)] = first;
}

void BitPlanes::make(const Columns& columns, const std::vector<bool>& is_wanted) {
    for (int64_t j = 0; j < columns.size(); ++j)
        if (is_wanted[size_t(j)]) arity_[size_t(j)] = uint8_t(columns[j].arity);
    if (in_lanes_)
        make_in_lanes(columns, is_wanted);
    else
        make_in_turn(columns, is_wanted);
}

uint64_t* BitPlanes::room_for(int64_t n_words) {
    if (!words_) words_.reset(new uint64_t[size_t(n_words)]);  // not set to 0: all are written
    return words_.get();
}

void BitPlanes::make_in_lanes(const Columns& columns, const std::vector<bool>& is_wanted) {
    const size_t n_used = groups_.size();
    int64_t n_of_arity[kMostLevels + 1] = {}, n_words = 0;
    size_t with_room[kMostLevels + 1] = {};
    for (int64_t j = 0; j < columns.size(); ++j) {
        if (!is_wanted[size_t(j)]) continue;
        const int64_t arity = columns[j].arity, lane = n_of_arity[arity]++ % kLanes;
        if (lane == 0) {
            with_room[arity] = groups_.size();
            groups_.push_back({arity, nullptr, {-1, -1, -1, -1, -1, -1, -1, -1}});
            n_words += (arity - 1) * n_words_ * kLanes;
        }
        groups_[with_room[arity]].column[lane] = j;
    }
    uint64_t* next = room_for(n_words);
    for (size_t g = n_used; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        const int64_t n_planes = group.arity - 1, length = n_words_ * kLanes;
        group.words = next;
        if (group.column[kLanes - 1] < 0) std::fill_n(next, n_planes * length, 0);
        for (int64_t lane = 0; lane < kLanes && group.column[lane] >= 0; ++lane) {
            const int64_t j = group.column[lane];
            first_[size_t(j)] = next + lane;
            for (int64_t p = 0; p < n_planes; ++p)
                set_plane(codes_of(columns[j]), columns.n_samples(), uint8_t(p + 1),
                          next + p * length + lane, kLanes);
            count_work(columns.n_samples());
        }
        next += n_planes * length;
    }
}

void BitPlanes::make_in_turn(const Columns& columns, const std::vector<bool>& is_wanted) {
    int64_t n_planes = 0;
    for (int64_t j = 0; j < columns.size(); ++j)
        if (is_wanted[size_t(j)]) n_planes += columns[j].arity - 1;
    const int64_t n_written = (columns.n_samples() + 63) / 64;
    uint64_t* next = room_for(n_planes * n_words_);
    for (int64_t j = 0; j < columns.size(); ++j) {
        if (!is_wanted[size_t(j)]) continue;
        first_[size_t(j)] = next;
        for (int64_t level = 1; level < columns[j].arity; ++level, next += n_words_) {
            set_plane(codes_of(columns[j]), columns.n_samples(), uint8_t(level), next);
            std::fill(next + n_written, next + n_words_, 0);
        }
        count_work(columns.n_samples());
    }
}

const uint64_t* BitPlanes::planes(int64_t j, int64_t arity, std::vector<uint64_t>& scratch) const {
    const uint64_t* from = first_[size_t(j)];
    if (arity == 1 || !in_lanes_) return from;  // with one level there is no plane
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
