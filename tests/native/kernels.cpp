// The kernels against loops written from the definition, without Python: for other compilers,
// processors and systems. Prints a digest of all results, which must be the same everywhere.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "accelerate/pairs.hpp"
#include "coding/buckets.hpp"
#include "coding/bytes.hpp"
#include "core/byte_masks.hpp"
#include "core/interrupt.hpp"
#include "core/logarithm.hpp"
#include "core/partition.hpp"
#include "counting/conditioned_terms.hpp"
#include "counting/join.hpp"
#include "counting/plane_terms.hpp"
#include "filters/manhattan.hpp"

namespace hocmim {

void look_for_stop() {}  // there is no Python to ask

}  // namespace hocmim

namespace {

using namespace hocmim;

int n_checks = 0, n_failed = 0;
uint64_t digest = 0xcbf29ce484222325u;

void check(bool holds, const char* what, int line) {
    ++n_checks;
    if (holds) return;
    ++n_failed;
    std::printf("line %d: %s\n", line, what);
}
#define CHECK(WHAT) check(WHAT, #WHAT, __LINE__)

void add_to_digest(uint64_t word) {
    for (int byte = 0; byte < 8; ++byte)
        digest = (digest ^ ((word >> (8 * byte)) & 255)) * 0x100000001b3u;
}
void add_to_digest(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    add_to_digest(bits);
}

class Random {
public:
    uint64_t word() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545f4914f6cdd1du;
    }
    uint32_t below(uint32_t n) { return uint32_t((word() >> 32) % n); }
    double real() { return double(word() >> 11) / 9007199254740992.0; }

private:
    uint64_t state_ = 88172645463325252u;
} random_number;

void check_bits() {
    for (int i = 0; i < 200; ++i) {
        const uint64_t bits = random_number.word() & random_number.word();
        int n = 0, lowest = -1;
        for (int b = 0; b < 64; ++b)
            if (bits >> b & 1) {
                ++n;
                if (lowest < 0) lowest = b;
            }
        CHECK(count_ones(bits) == n);
        if (bits) CHECK(lowest_one(bits) == lowest);
    }
    uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
    CHECK(load_word(bytes) == 0x0807060504030201u);
    store_word(back, load_word(bytes));
    CHECK(std::memcmp(bytes, back, 8) == 0);

    uint8_t some[64], others[64];
    for (int i = 0; i < 64; ++i) {
        some[i] = uint8_t(random_number.below(3));
        others[i] = uint8_t(random_number.below(3));
    }
    const uint64_t ones = bytes_equal_to(some, 1), equal = bytes_equal(some, others);
    for (int i = 0; i < 64; ++i) {
        CHECK((ones >> i & 1) == uint64_t(some[i] == 1));
        CHECK((equal >> i & 1) == uint64_t(some[i] == others[i]));
    }

    uint64_t square[64], turned[64];
    for (uint64_t& word : square) word = random_number.word();
    std::memcpy(turned, square, sizeof square);
    transpose_bits(turned);
    bool is_turned = true;
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j) is_turned &= (square[i] >> j & 1) == (turned[j] >> i & 1);
    CHECK(is_turned);
}

void check_popcounts() {
    constexpr int64_t n_planes = 5, n_masks = 7, n_words = 24, n_lanes = kPlaneLanes;
    std::vector<uint64_t> planes(size_t(n_planes * n_words * n_lanes)), masks(n_masks * n_words);
    for (uint64_t& word : planes) word = random_number.word();
    for (uint64_t& word : masks) word = random_number.word();
    int64_t counts[n_masks * n_planes];
    count_common(planes.data(), n_planes, masks.data(), n_masks, n_words, counts);
    uint32_t in_lanes[n_masks * n_planes * n_lanes];
    count_lanes(planes.data(), n_planes, masks.data(), n_masks, n_words, n_words, in_lanes);
    for (int64_t m = 0; m < n_masks; ++m)
        for (int64_t p = 0; p < n_planes; ++p) {
            int64_t together = 0, by_lane[n_lanes] = {};
            for (int64_t i = 0; i < n_words; ++i)
                for (int b = 0; b < 64; ++b) {
                    const uint64_t mask = masks[size_t(m * n_words + i)] >> b;
                    together += int64_t(mask & (planes[size_t(p * n_words + i)] >> b) & 1);
                    for (int64_t lane = 0; lane < n_lanes; ++lane)
                        by_lane[lane] += int64_t(
                            mask & (planes[size_t((p * n_words + i) * n_lanes + lane)] >> b) & 1);
                }
            CHECK(counts[m * n_planes + p] == together);
            for (int64_t lane = 0; lane < n_lanes; ++lane)
                CHECK(int64_t(in_lanes[(m * n_planes + p) * n_lanes + lane]) == by_lane[lane]);
        }
}

void check_blocks_of_pairs() {
    constexpr size_t n_columns = 9, n_blocks = 3;
    std::vector<std::vector<uint64_t>> words(n_columns,
                                             std::vector<uint64_t>(n_blocks * kPairWords));
    const uint64_t* columns[n_columns];
    for (size_t c = 0; c < n_columns; ++c) {
        for (uint64_t& word : words[c]) word = random_number.word() | random_number.word();
        columns[c] = words[c].data();
    }
    for (size_t misses = 0; misses < 7; ++misses) {
        uint64_t found[kPairWords], expected[kPairWords];
        const size_t block = find_block(columns, n_columns, misses, 0, n_blocks, found);
        size_t first = 0;
        for (; first < n_blocks; ++first) {
            bool any_found = false;
            for (size_t w = 0; w < kPairWords; ++w) {
                expected[w] = 0;
                for (int b = 0; b < 64; ++b) {
                    size_t missed = 0;
                    for (size_t c = 0; c < n_columns; ++c)
                        missed += !(columns[c][first * kPairWords + w] >> b & 1);
                    expected[w] |= uint64_t(missed <= misses) << b;
                }
                any_found |= expected[w] != 0;
            }
            if (any_found) break;
        }
        CHECK(block == first);
        if (block < n_blocks) CHECK(std::memcmp(found, expected, sizeof found) == 0);
    }
}

struct Sample {
    std::vector<std::vector<uint8_t>> codes;
    std::vector<uint32_t> y, w;
    int64_t n_classes, n_cells;
    std::vector<int64_t> arity;
};

Sample make_sample(size_t n, uint32_t n_classes, uint32_t n_cells) {
    Sample sample;
    sample.n_classes = n_classes;
    sample.n_cells = n_cells;
    for (size_t i = 0; i < n; ++i) {
        sample.y.push_back(i < n_classes ? uint32_t(i) : random_number.below(n_classes));
        sample.w.push_back(i < n_cells ? uint32_t(i)
                                       : (sample.y[i] * 3 + random_number.below(4)) % n_cells);
    }
    for (uint32_t arity : {2u, 3u, 3u, 5u, 8u, 20u}) {
        std::vector<uint8_t> column(n);
        for (size_t i = 0; i < n; ++i) {  // one call a statement: the order is then defined
            const uint32_t follows_w = random_number.below(2), noise = random_number.below(3);
            column[i] =
                uint8_t(i < arity ? i : (sample.y[i] + sample.w[i] * follows_w + noise) % arity);
        }
        sample.codes.push_back(column);
        sample.arity.push_back(arity);
    }
    return sample;
}

void check_partition(const Sample& sample) {
    Partition whole, split;
    whole.assign_whole(int64_t(sample.y.size()), sample.y.data(), sample.n_classes);
    Refiner()(whole, sample.w.data(), sample.n_cells, sample.y.data(), split);
    std::map<uint32_t, std::vector<uint32_t>> expected;
    for (size_t i = 0; i < sample.w.size(); ++i) expected[sample.w[i]].push_back(uint32_t(i));
    size_t n_alone = 0, n_cells = 0;
    for (const auto& cell : expected) (cell.second.size() == 1 ? n_alone : n_cells) += 1;
    CHECK(split.n_alone == int64_t(n_alone));
    CHECK(split.cell_end.size() == n_cells);
    uint32_t begin = 0;
    for (const uint32_t end : split.cell_end) {
        std::vector<uint32_t> cell(split.sample.begin() + begin, split.sample.begin() + end);
        CHECK(cell == expected[sample.w[cell[0]]]);
        begin = end;
    }

    std::vector<uint32_t> joint(sample.w);
    const uint32_t n_joint =
        join_one(joint, uint64_t(sample.n_cells), sample.codes[3].data(), uint64_t(5));
    std::map<std::pair<uint32_t, uint8_t>, uint32_t> number;
    bool is_same = true;
    for (size_t i = 0; i < joint.size(); ++i)
        is_same &= joint[i] ==
                   number.try_emplace({sample.w[i], sample.codes[3][i]}, uint32_t(number.size()))
                       .first->second;
    CHECK(is_same);
    CHECK(n_joint == number.size());
}

double entropy(const std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>& values) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, double> counts;
    for (const auto& value : values) counts[value] += 1;
    const double n = double(values.size());
    double sum = 0;
    for (const auto& cell : counts) sum -= cell.second / n * std::log(cell.second / n);
    return sum;
}

// A term under the plug-in, from entropies.
double naive_term(Term term, const Sample& sample, size_t j) {
    const auto of = [&](bool x, bool w, bool y) {
        std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> values;
        for (size_t i = 0; i < sample.y.size(); ++i)
            values.emplace_back(x ? sample.codes[j][i] : 0, w ? sample.w[i] : 0,
                                y ? sample.y[i] : 0);
        return entropy(values);
    };
    const double information = of(1, 0, 0) + of(0, 1, 0) - of(1, 1, 0);
    const double given_class = of(1, 0, 1) + of(0, 1, 1) - of(1, 1, 1) - of(0, 0, 1);
    switch (term) {
        case Term::information:
            return information;
        case Term::given_class:
            return given_class;
        case Term::redundancy:
            return information - given_class;
        case Term::conditional:
            return of(1, 1, 0) + of(0, 1, 1) - of(1, 1, 1) - of(0, 1, 0);
        case Term::joint:
            return of(1, 1, 0) + of(0, 0, 1) - of(1, 1, 1);
        default:
            return of(1, 1, 1);
    }
}

void check_terms(const Sample& sample) {
    const std::vector<Term> terms = {Term::information, Term::given_class, Term::redundancy,
                                     Term::conditional, Term::joint};
    const int64_t n = int64_t(sample.y.size());
    Columns columns(n);
    for (size_t j = 0; j < sample.codes.size(); ++j)
        columns.append(sample.codes[j].data(), size_t(n), false, sample.arity[j]);
    const BitPlanes planes(columns);
    const CellMasks y(sample.y.data(), n, sample.n_classes);
    const CellMasks w(sample.w.data(), n, sample.n_cells);
    for (size_t e = 0; e < estimators().size(); ++e) {
        const Estimator estimator = Estimator(int(e));
        const Setting setting(estimator, sample.y.data(), n, sample.n_classes);
        ConditionedTerms evaluate(setting);
        evaluate.condition(sample.w.data(), sample.n_cells);
        for (const Term term : terms)
            for (int64_t j = 0; j < columns.size(); ++j) {
                const double value = evaluate(term, columns[j]);
                add_to_digest(value);
                if (e == 0) CHECK(std::fabs(value - naive_term(term, sample, size_t(j))) < 1e-12);
                if (kind_of(estimator).needs_samples || !planes.has(j)) continue;
                PlaneTerms by_planes(planes, columns, y, estimator, false);
                by_planes.condition(w);
                CHECK(by_planes(term, j) == value);
            }
    }
}

// Planes that use those of a part of the columns are those made at once, word by word.
void check_made_planes(int64_t n) {
    const int64_t n_columns = 75;
    std::vector<std::vector<uint8_t>> codes;
    Columns columns(n), part(n);
    for (int64_t j = 0; j < n_columns; ++j) {
        const uint32_t arity = j % 5 == 0 ? 12 : j % 3 ? 4 : 1 + uint32_t(j % 9);
        codes.emplace_back(size_t(n));
        for (uint8_t& code : codes.back()) code = uint8_t(random_number.below(arity));
        columns.append(codes.back().data(), size_t(n), false, arity);
        if (j >= 20) part.append(codes.back().data(), size_t(n), false, arity);
    }
    const int64_t most_planes = 6;
    const std::shared_ptr<uint64_t[]> room(
        new uint64_t[size_t(part.size() * most_planes * BitPlanes::words_of_plane(n))]);
    const auto made = std::make_shared<BitPlanes>(BitPlanes::of_part(part, 2, most_planes, room));
    for (const BitPlanes::Group& group : made->groups())
        CHECK(group.column[BitPlanes::kLanes - 1] >= 0);  // full
    // The whole table, and a block of it that begins or ends in the part.
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 75}, {30, 75}, {5, 41}}) {
        Columns block(n);
        for (int64_t j = begin; j < end; ++j)
            block.append(columns[j].data, size_t(n), false, columns[j].arity);
        const BitPlanes at_once(block), joined(block, {{20 - begin, made}});
        size_t n_made = 0;
        std::vector<uint64_t> some, others;
        for (int64_t j = 0; j < block.size(); ++j) {
            CHECK(joined.has(j) == at_once.has(j));
            if (!joined.has(j)) continue;
            const int64_t arity = block[j].arity;
            const int64_t n_words = (arity - 1) * BitPlanes::words_for(n);
            const uint64_t* words = joined.planes(j, arity, some);
            CHECK(std::equal(words, words + n_words, at_once.planes(j, arity, others)));
        }
        for (const BitPlanes::Group& group : joined.groups())
            for (const BitPlanes::Group& of_part : made->groups())
                n_made += group.words == of_part.words;
        CHECK(n_made > 0 || !joined.in_lanes());
        CHECK(joined.groups().size() <= at_once.groups().size() + made->groups().size());
    }
    const auto is_refused = [](const Columns& of, const std::vector<BitPlanes::Made>& given) {
        try {
            BitPlanes planes(of, given);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(is_refused(columns, {{19, made}}));              // of other columns
    CHECK(is_refused(columns, {{20, made}, {20, made}}));  // twice
    CHECK(is_refused(Columns(n + 512), {{0, made}}));      // of other samples
}

template <class T, class Vector>
void check_integers(int64_t shift) {
    constexpr int64_t n_lanes = sizeof(Vector), rows = 24, stride = n_lanes + 5;
    std::vector<T> table(size_t(rows * stride));
    for (T& value : table) value = T(shift + random_number.below(200));
    std::vector<uint8_t> out(size_t(n_lanes * rows));
    IntegerLanes<T, Vector> lanes;
    stage_integers(table.data(), stride, rows, int64_t(0), lanes, out.data(), rows);
    bool is_same = true;
    for (int64_t c = 0; c < n_lanes; ++c)
        for (int64_t i = 0; i < rows; ++i)
            is_same &= out[size_t(c * rows + i)] == uint8_t(table[size_t(i * stride + c)]);
    CHECK(is_same);
}

template <class T>
void check_numbers() {
    constexpr int64_t rows = 40, stride = kNumberLanes + 3;
    std::vector<T> table(size_t(rows * stride)), column;
    for (T& value : table) value = T(random_number.real() * 300.0 - 20.0);
    if (std::numeric_limits<T>::has_quiet_NaN)
        table[5] = table[size_t(2 * stride)] = std::numeric_limits<T>::quiet_NaN();
    NumberLanes lanes, of_column;
    for (int64_t c = 0; c < kNumberLanes; ++c) {
        lanes.origin[c] = -3.0 + double(c);
        lanes.scale[c] = 0.5 + 0.1 * double(c);
    }
    std::vector<uint8_t> out(size_t(kNumberLanes * rows)), alone(rows);
    stage_numbers(table.data(), stride, rows, int64_t(0), lanes, out.data(), rows);
    for (int64_t c = 0; c < kNumberLanes; ++c) {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        bool is_same = true;
        column.clear();
        for (int64_t i = 0; i < rows; ++i) {
            const double x = double(table[size_t(i * stride + c)]);
            column.push_back(table[size_t(i * stride + c)]);
            is_same &= out[size_t(c * rows + i)] == bucket_of(x, lanes.origin[c], lanes.scale[c]);
            if (x < least) least = x;
            if (x > most) most = x;
        }
        CHECK(is_same);
        CHECK(lanes.minimum[c] == least);
        CHECK(lanes.maximum[c] == most);
        of_column = NumberLanes();
        of_column.origin[0] = lanes.origin[c];
        of_column.scale[0] = lanes.scale[c];
        stage_number_column(column.data(), rows, of_column, alone.data());
        CHECK(std::memcmp(alone.data(), out.data() + c * rows, size_t(rows)) == 0);
        CHECK(of_column.minimum[0] == least);
    }
    for (const uint8_t byte : out) add_to_digest(uint64_t(byte));
}

void check_bytes() {
    for (const size_t n : {0u, 31u, 100u, 9000u}) {
        std::vector<uint8_t> bytes(n);
        for (uint8_t& byte : bytes) byte = uint8_t(250 + random_number.below(20));
        const auto count_of = [&](uint8_t value) {
            int64_t count = 0;
            for (const uint8_t byte : bytes) count += byte == value;
            return count;
        };
        int64_t few[kFewLevels], all[256];
        count_levels(bytes.data(), int64_t(n), 250, 15, few);
        count_bytes(bytes.data(), int64_t(n), all);
        for (int k = 0; k < 15; ++k) CHECK(few[k] == count_of(uint8_t(250 + k)));
        for (int k = 0; k < 256; ++k) CHECK(all[k] == count_of(uint8_t(k)));

        const uint8_t wanted[2] = {251, 7};
        RowList found;
        std::vector<int64_t> expected;
        find_rows_of(bytes.data(), int64_t(n), wanted, 2, found);
        for (size_t i = 0; i < n; ++i)
            if (bytes[i] == 251 || bytes[i] == 7) expected.push_back(int64_t(i));
        found.rows.resize(size_t(found.n));
        CHECK(found.rows == expected);

        const uint8_t limits[kMostLimits] = {1, 2, 128, 250, 251, 254, 255, 13};
        for (const int64_t n_limits : {int64_t{1}, kMostLimits / 2, kMostLimits}) {
            int64_t below[kMostLimits];
            count_below(bytes.data(), int64_t(n), limits, n_limits, below);
            for (int64_t k = 0; k < n_limits; ++k) {
                int64_t sum = 0;
                for (int byte = 0; byte < limits[k]; ++byte) sum += all[byte];
                CHECK(below[k] == sum);
            }
        }

        Steps steps;
        steps.zero = 250;
        steps.n_steps = 3;
        steps.at[0] = 2;
        steps.at[1] = 9;
        steps.at[2] = 15;
        steps.has_missing = true;
        steps.missing_byte = 4;
        steps.missing_code = 9;
        std::vector<uint8_t> coded(bytes);
        apply_steps(coded.data(), int64_t(n), steps);
        bool is_same = true;
        for (size_t i = 0; i < n; ++i) is_same &= coded[i] == steps.code_of(bytes[i]);
        CHECK(is_same);

        for (const int64_t n_steps : {0, 4, 5, 16, 17}) {  // few are padded, many are looked up
            steps.has_missing = n_steps == 4;
            steps.n_steps = n_steps;
            for (int64_t k = 0; k < n_steps; ++k) steps.at[k] = uint8_t(k + 1);
            coded = bytes;
            apply_steps(coded.data(), int64_t(n), steps);
            for (size_t i = 0; i < n; ++i) is_same &= coded[i] == steps.code_of(bytes[i]);
            CHECK(is_same);
        }
    }
}

// Not part of the digest, which is that of versions before.
void check_samples() {
    SampleLanes samples;
    std::vector<double> expected[kNumberLanes];
    int64_t n_not_whole[kNumberLanes] = {};
    for (int64_t c = 0; c < kNumberLanes; ++c) {
        double column[kSampleRows];
        const int64_t n = kSampleRows - c;  // a short column fills a part of the sample
        for (int64_t k = 0; k < n; ++k) {
            const uint32_t kind = random_number.below(4), level = random_number.below(9);
            const double x = kind == 0   ? std::nan("")
                             : kind == 1 ? random_number.real() - 0.5
                                         : double(level) - 4.0;
            column[k] = x;
            if (x == x) expected[c].push_back(x);
            n_not_whole[c] += x == x && x != std::floor(x);
        }
        samples.take(ColumnValues<double>{column, 1}, n, c);
    }
    double table[200][kNumberLanes];
    for (auto& row : table)
        for (double& x : row) x = random_number.below(5) ? random_number.real() : std::nan("");
    SampleLanes by_rows, by_columns;
    for (const int64_t n : {5, 64, 200}) {
        by_rows.take_rows(ColumnValues<double>{table[0], kNumberLanes}, n);
        for (int64_t c = 0; c < kNumberLanes; ++c)
            by_columns.take(ColumnValues<double>{table[0] + c, kNumberLanes}, n, c);
        describe_lanes(by_rows);
        describe_lanes(by_columns);
        CHECK(std::memcmp(by_rows.at, by_columns.at, sizeof by_rows.at) == 0);
    }
    describe_lanes(samples);
    sort_lanes(samples);
    for (int64_t c = 0; c < kNumberLanes; ++c) {
        std::sort(expected[c].begin(), expected[c].end());
        CHECK(samples.n_present[c] == int64_t(expected[c].size()));
        CHECK(samples.n_not_whole[c] == n_not_whole[c]);
        CHECK(samples.minimum[c] == expected[c].front());
        CHECK(samples.maximum[c] == expected[c].back());
        bool is_same = true;
        for (int64_t k = 0; k < samples.n_present[c]; ++k)
            is_same &= samples.at[k][c] == expected[c][size_t(k)];
        CHECK(is_same);
    }
}

void check_select() {
    for (const uint32_t n : {1u, 4u, 7u, 48u, 49u, 500u}) {
        for (const uint32_t n_values : {1u, 3u, 1000000u}) {
            std::vector<double> values(n), sorted, lost;
            for (double& x : values) x = double(random_number.below(n_values)) - 1.5;
            sorted = values;
            std::sort(sorted.begin(), sorted.end());
            for (const uint32_t rank : {0u, n / 3, n - 1}) {
                lost = values;
                lost.resize(n + size_t(kSelectLanes));
                CHECK(select_rank(lost.data(), int64_t(n), int64_t(rank)) == sorted[rank]);
            }
        }
    }
    uint8_t bytes[32];
    for (uint8_t& byte : bytes) byte = uint8_t(random_number.below(256));
    for (int i = 0; i < 32; ++i) CHECK((highest_bits(bytes) >> i & 1) == uint64_t(bytes[i] >= 128));
}

void check_numbers_of_filters() {
    for (int i = 0; i < 2000; ++i) {
        const int exponent = int(random_number.below(200)) - 100;
        const double x = std::ldexp(0.5 + random_number.real(), exponent);
        const double value = log_positive(x);
        CHECK(std::fabs(value - std::log(x)) <= 4e-16 * std::fabs(std::log(x)) + 1e-300);
        add_to_digest(value);
    }
    constexpr size_t n_columns = 203;
    std::vector<double> a(n_columns), b[kGroup], sums(n_columns, 0.0), expected(n_columns, 0.0);
    const double* rows[kGroup];
    double limit[kGroup], distance[kGroup], weight[kGroup];
    for (double& value : a) value = random_number.real();
    for (size_t g = 0; g < kGroup; ++g) {
        b[g].resize(n_columns);
        for (double& value : b[g]) value = random_number.real();
        rows[g] = b[g].data();
        limit[g] = 1e9;
        weight[g] = random_number.real();
    }
    CHECK(distances_to_four(a.data(), rows, n_columns, limit, distance));
    add_weighted_differences(a.data(), rows, weight, n_columns, sums.data());
    for (size_t g = 0; g < kGroup; ++g) {
        double sum = 0;
        for (size_t r = 0; r < n_columns; ++r) {
            sum += std::fabs(a[r] - b[g][r]);
            expected[r] += weight[g] * std::fabs(a[r] - b[g][r]);
        }
        CHECK(std::fabs(sum - distance[g]) < 1e-12);
        add_to_digest(distance[g]);
    }
    CHECK(sums == expected);
}

}  // namespace

int main() {
    hocmim::check_isa();
    check_bits();
    check_popcounts();
    check_blocks_of_pairs();
    for (const auto& [n, n_classes, n_cells] :
         {std::tuple<size_t, uint32_t, uint32_t>{60, 2, 5}, {700, 3, 12}, {5000, 2, 40}}) {
        const Sample sample = make_sample(n, n_classes, n_cells);
        check_partition(sample);
        check_terms(sample);
    }
    check_integers<uint8_t, uint64_t>(0);
    check_integers<uint8_t, hocmim::Words>(0);
    check_integers<int16_t, hocmim::Words>(-90);
    check_integers<int32_t, uint64_t>(70000);
    check_numbers<double>();
    check_numbers<float>();
    check_numbers<int32_t>();
    check_bytes();
    check_numbers_of_filters();
    check_samples();
    check_select();
    for (const int64_t n : {64, 777, 4096, 4097}) check_made_planes(n);
    std::printf("%d checks, %d failed, instruction set %s, digest %016llx\n", n_checks, n_failed,
                hocmim::isa_name().c_str(), static_cast<unsigned long long>(digest));
    return n_failed > 0;
}
