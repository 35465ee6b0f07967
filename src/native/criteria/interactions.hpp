// The screen of pairs and triples of columns for interactions with the class.
//
//     pairs    G = 2N { I(X,X';Y) − I(X;Y) − I(X';Y) }
//     triples  G = 2N { I(V,X,X';Y) − I(V,X;Y) − I(V,X';Y) − I(X,X';Y) + I(V;Y) + I(X;Y) + I(X';Y)
//     }
//
// The samples are sorted by class, and for triples by class and level of V, the column that all
// triples of one screen share. Then the samples of a class are neighbours, and the counts of
// (level, level', class) are popcounts of ANDs of (a − 1)(a' − 1) pairs of bit planes, whatever
// the number of classes; those with level 0 follow from the margins. Eight columns lie side by
// side (counting/popcount.hpp).
//
// All sums are integers: blocks, threads and instruction sets cannot change a bit of G.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/arrays.hpp"
#include "core/buffer.hpp"
#include "counting/popcount.hpp"
#include "estimators/setting.hpp"

namespace hocmim {

// Two columns (with V, three) and their G.
struct Interaction {
    int64_t first, second;  // positions, first < second
    double g;
    double key;                                       // of (G − df) / √(2 df)
    bool operator<(const Interaction& other) const {  // the stronger first
        if (key != other.key) return key > other.key;
        return first != other.first ? first < other.first : second < other.second;
    }
};

class InteractionScreen {
public:
    static constexpr int64_t kLanes = kPlaneLanes;

    // Columns of 1 to 255 levels. `order` sorts the samples by segment, and must outlive the
    // screen: segment c·O + o has those of class c and level o of V, `sizes[c·O + o]` of them.
    // O = n_shared is 1 for pairs.
    InteractionScreen(std::vector<int64_t> arity, Vector<const uint32_t> order,
                      std::vector<int64_t> sizes, int64_t n_classes, int64_t n_shared);

    // Takes the codes of columns first, first + 1, …, a row for each. Threads may set different
    // columns; all must be set before the search.
    void set(int64_t first, Matrix<const uint8_t> codes);

    int64_t n_groups() const { return int64_t(groups_.size()); }

    // The pairs of a column of groups first..last−1 with every column before it whose G is at least
    // least(a, a') for columns of which a and a' levels occur, and that together tell more
    // than the sum of what each column tells: the strongest `most`, in order.
    std::vector<Interaction> search(int64_t first, int64_t last, Matrix<const double> least,
                                    int64_t most) const;

private:
    // Eight columns of one arity; −1 where there is none.
    struct Group {
        int64_t arity;
        int64_t column[kLanes];
        size_t words;    // where its planes begin, segment by segment
        size_t margins;  // where its counts begin: by segment, level and lane
    };
    // Where a column is: its group and lane.
    struct Place {
        int64_t group, lane;
    };
    struct Scratch;

    void make_groups();
    void make_planes(const uint8_t* codes, const Group& group, int64_t lane,
                     std::vector<uint8_t>& sorted);
    int64_t information(const std::vector<int64_t>& counts, int64_t n_cells, int64_t n_rest) const;
    void take_column(int64_t position, Scratch& scratch) const;
    void count(const Group& group, Scratch& scratch) const;
    void evaluate(const Group& group, Scratch& scratch) const;

    int64_t n_samples_, n_classes_, n_shared_, n_segments_, n_words_ = 0;
    std::vector<int64_t> arity_, sizes_;
    Vector<const uint32_t> order_;
    std::vector<int64_t> first_word_;  // of each segment in a plane, and the end of the last
    std::vector<Group> groups_;
    std::vector<Place> places_;      // of the columns in the order of groups and lanes
    std::vector<int64_t> position_;  // of each column in this order
    std::vector<int64_t> n_seen_;    // the levels of each column that occur
    Buffer<uint64_t> words_;
    std::vector<uint32_t> margins_;
    std::shared_ptr<const CountFunction> f_;
    int64_t class_sum_ = 0, whole_sum_ = 0;
    // N I(X;Y), and with V N I(V,X;Y), of each column; N I(V;Y).
    std::vector<int64_t> alone_, with_shared_;
    int64_t shared_ = 0;
};

}  // namespace hocmim
