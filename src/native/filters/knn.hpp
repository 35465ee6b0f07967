// The k nearest training rows of each test row, with the first 1, 2, … columns.
//
// Distances grow column by column: one pass over the training rows adds the newest column and finds
// the k nearest at once, so m = 1..M columns cost as much as one search with M columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/interrupt.hpp"

namespace hocmim::knn {

constexpr size_t kBlock = 128;  // training rows whose least distance is taken at a time

// Small whole numbers stay exact in 16 bits, eight per register; anything else is a double.
template <class Value>
struct Sum {
    using type = double;
};
template <>
struct Sum<int16_t> {
    using type = int16_t;
};

template <class Distance>
struct Neighbour {
    Distance distance;
    size_t row;
};

// The k nearest, the nearest first. Rows arrive in ascending order, so that of equal distances the
// lowest row stays.
template <class Distance>
class Nearest {
public:
    explicit Nearest(size_t k) : found_(k) {}

    void clear() {
        for (auto& one : found_) one = {std::numeric_limits<Distance>::max(), 0};
        size_ = 0;
    }
    bool full() const { return size_ == found_.size(); }
    Distance limit() const { return found_.back().distance; }
    void offer(Distance distance, size_t row) {
        if (full() && !(distance < limit())) return;
        size_t place = full() ? size_ - 1 : size_++;
        for (; place > 0 && distance < found_[place - 1].distance; --place)
            found_[place] = found_[place - 1];
        found_[place] = {distance, row};
    }
    const std::vector<Neighbour<Distance>>& found() const { return found_; }

private:
    std::vector<Neighbour<Distance>> found_;
    size_t size_ = 0;
};

// distance[i] += (x - column[i])², and the least of them.
template <class Value, class Distance>
Distance grow(Value x, const Value* column, Distance* distance, size_t n) {
    Distance least = std::numeric_limits<Distance>::max();
    for (size_t i = 0; i < n; ++i) {
        const Distance difference = Distance(x - column[i]);
        distance[i] = Distance(distance[i] + difference * difference);
        least = std::min(least, distance[i]);
    }
    return least;
}

// The class most of the neighbours have; of equally frequent ones the lowest.
template <class Distance>
int32_t vote(const Nearest<Distance>& nearest, const int32_t* y, std::vector<int32_t>& votes) {
    int32_t best = -1;
    for (const auto& one : nearest.found()) ++votes[y[one.row]];
    for (const auto& one : nearest.found()) {
        const int32_t label = y[one.row];
        if (best < 0 || votes[label] > votes[best] || (votes[label] == votes[best] && label < best))
            best = label;
    }
    for (const auto& one : nearest.found()) votes[y[one.row]] = 0;
    return best;
}

template <class Value>
void knn_curve(Matrix<const Value> train, Vector<const int32_t> y, int32_t n_classes,
               Matrix<const Value> test, size_t k, Matrix<int32_t> out) {
    using Distance = typename Sum<Value>::type;
    const size_t n_columns = train.n_rows, n_train = train.n_columns, n_test = test.n_columns;
    if (test.n_rows != n_columns || y.size() != n_train || out.n_rows != n_columns ||
        out.n_columns != n_test || k == 0 || k > n_train || n_classes < 1)
        throw std::invalid_argument("knn_curve: the arrays do not fit together");
    for (size_t i = 0; i < n_train; ++i)
        if (y[i] < 0 || y[i] >= n_classes)
            throw std::invalid_argument("knn_curve: a label is outside 0..n_classes-1");

    std::vector<Distance> distance(n_train);
    std::vector<int32_t> votes(size_t(n_classes), 0);
    Nearest<Distance> nearest(k);
    for (size_t row = 0; row < n_test; ++row) {
        std::fill(distance.begin(), distance.end(), Distance(0));
        for (size_t j = 0; j < n_columns; ++j) {
            const Value x = test(j, row);
            const Value* column = train.row(j);
            nearest.clear();
            for (size_t start = 0; start < n_train; start += kBlock) {
                const size_t n = std::min(kBlock, n_train - start);
                const Distance least = grow(x, column + start, distance.data() + start, n);
                if (nearest.full() && !(least < nearest.limit())) continue;
                for (size_t i = 0; i < n; ++i) nearest.offer(distance[start + i], start + i);
            }
            out(j, row) = vote(nearest, y.data(), votes);
            count_work(int64_t(n_train));
        }
    }
}

// Adds one column of codes to the distances of test rows (rows) and training rows (columns), and
// writes the distance of the k-th nearest training row of each test row. `apart` holds the distance
// of each pair of levels.
inline void grow_nearest(Vector<const uint16_t> train, Vector<const uint16_t> test,
                         Matrix<const int32_t> apart, size_t k, Matrix<int32_t> distance,
                         Vector<int32_t> limit) {
    const size_t n_train = train.size(), n_test = test.size();
    if (apart.n_rows != apart.n_columns || distance.n_rows != n_test ||
        distance.n_columns != n_train || limit.size() != n_test || k == 0 || k > n_train)
        throw std::invalid_argument("grow_nearest: the arrays do not fit together");
    for (const auto codes : {train, test})
        for (const uint16_t code : codes)
            if (code >= apart.n_rows)
                throw std::invalid_argument("grow_nearest: a code is not below the levels");
    Nearest<int32_t> nearest(k);
    for (size_t row = 0; row < n_test; ++row) {
        const int32_t* from_here = apart.row(test[row]);
        int32_t* sums = distance.row(row);
        nearest.clear();
        for (size_t start = 0; start < n_train; start += kBlock) {
            const size_t stop = std::min(start + kBlock, n_train);
            int32_t least = std::numeric_limits<int32_t>::max();
            for (size_t i = start; i < stop; ++i) {
                sums[i] += from_here[train[i]];
                least = std::min(least, sums[i]);
            }
            if (nearest.full() && least >= nearest.limit()) continue;
            for (size_t i = start; i < stop; ++i) nearest.offer(sums[i], i);
        }
        limit[row] = nearest.limit();
        count_work(int64_t(n_train));
    }
}

// Calls add(training row) for all that are near a test row, at most `limit` away, then
// end(test row), and writes how many they are.
template <class Add, class End>
void for_near(Matrix<const int32_t> distance, Vector<const int32_t> limit, size_t n_train,
              Vector<int32_t> n_near, Add add, End end) {
    if (distance.n_columns != n_train || distance.n_rows != limit.size() ||
        n_near.size() != limit.size())
        throw std::invalid_argument("for_near: the arrays do not fit together");
    for (size_t row = 0; row < distance.n_rows; ++row) {
        const int32_t* sums = distance.row(row);
        int32_t n = 0;
        for (size_t i = 0; i < n_train; ++i) {
            if (sums[i] > limit[row]) continue;
            ++n;
            add(i);
        }
        n_near[row] = n;
        end(row);
        count_work(int64_t(n_train));
    }
}

// How many of the near training rows have the class of the test row, and the class that most of
// them have; of several, the first.
inline void count_near(Matrix<const int32_t> distance, Vector<const int32_t> limit,
                       Vector<const int32_t> train, Vector<const int32_t> test, int n_classes,
                       Vector<int32_t> hits, Vector<int32_t> n_near, Vector<int32_t> most) {
    if (test.size() != limit.size() || hits.size() != limit.size() || most.size() != limit.size())
        throw std::invalid_argument("count_near: the arrays do not fit together");
    std::vector<int32_t> votes(static_cast<size_t>(std::max(n_classes, 1)));
    const auto check = [&](Vector<const int32_t> classes) {
        for (const int32_t one : classes)
            if (one < 0 || one >= n_classes)
                throw std::invalid_argument("count_near: a class is out of range");
    };
    check(train);
    check(test);
    for_near(
        distance, limit, train.size(), n_near, [&](size_t i) { ++votes[size_t(train[i])]; },
        [&](size_t row) {
            hits[row] = votes[size_t(test[row])];
            most[row] = int32_t(std::max_element(votes.begin(), votes.end()) - votes.begin());
            std::fill(votes.begin(), votes.end(), 0);
        });
}

// The sum of the values of the near training rows.
inline void sum_near(Matrix<const int32_t> distance, Vector<const int32_t> limit,
                     Vector<const double> train, Vector<double> sums, Vector<int32_t> n_near) {
    if (sums.size() != limit.size())
        throw std::invalid_argument("sum_near: the arrays do not fit together");
    double sum = 0.0;
    for_near(
        distance, limit, train.size(), n_near, [&](size_t i) { sum += train[i]; },
        [&](size_t row) {
            sums[row] = sum;
            sum = 0.0;
        });
}

}  // namespace hocmim::knn
