// The k nearest training rows of each test row, with the first 1, 2, … columns.
//
// Distances grow column by column: one pass over the training rows adds the newest column and finds
// the k nearest at once, so m = 1..M columns cost as much as one search with M columns.
#pragma once
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"

namespace hocmim::knn {

namespace nb = nanobind;

constexpr std::size_t kBlock = 128;  // training rows whose least distance is taken at a time

// Small whole numbers stay exact in 16 bits, eight a register; anything else is a double.
template <class Value>
struct Sum {
    using type = double;
};
template <>
struct Sum<std::int16_t> {
    using type = std::int16_t;
};

template <class Distance>
struct Neighbour {
    Distance distance;
    std::size_t row;
};

// The k nearest, the nearest first. Rows arrive in ascending order, so that of equal distances the
// lowest row stays.
template <class Distance>
class Nearest {
public:
    explicit Nearest(std::size_t k) : found_(k) {}

    void clear() {
        for (auto& one : found_) one = {std::numeric_limits<Distance>::max(), 0};
        size_ = 0;
    }
    bool full() const { return size_ == found_.size(); }
    Distance limit() const { return found_.back().distance; }
    void offer(Distance distance, std::size_t row) {
        if (full() && !(distance < limit())) return;
        std::size_t place = full() ? size_ - 1 : size_++;
        for (; place > 0 && distance < found_[place - 1].distance; --place)
            found_[place] = found_[place - 1];
        found_[place] = {distance, row};
    }
    const std::vector<Neighbour<Distance>>& found() const { return found_; }

private:
    std::vector<Neighbour<Distance>> found_;
    std::size_t size_ = 0;
};

// distance[i] += (x - column[i])², and the least of them.
template <class Value, class Distance>
Distance grow(Value x, const Value* column, Distance* distance, std::size_t n) {
    Distance least = std::numeric_limits<Distance>::max();
    for (std::size_t i = 0; i < n; ++i) {
        const Distance difference = static_cast<Distance>(x - column[i]);
        distance[i] = static_cast<Distance>(distance[i] + difference * difference);
        least = std::min(least, distance[i]);
    }
    return least;
}

// The class most of the neighbours have; of equally frequent ones the lowest.
template <class Distance>
std::int32_t vote(const Nearest<Distance>& nearest, const std::int32_t* y,
                  std::vector<std::int32_t>& votes) {
    std::int32_t best = -1;
    for (const auto& one : nearest.found()) ++votes[y[one.row]];
    for (const auto& one : nearest.found()) {
        const std::int32_t label = y[one.row];
        if (best < 0 || votes[label] > votes[best] || (votes[label] == votes[best] && label < best))
            best = label;
    }
    for (const auto& one : nearest.found()) votes[y[one.row]] = 0;
    return best;
}

template <class Value>
using Matrix = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Predictions = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Value>
void knn_curve(Matrix<Value> train, Labels y, std::int32_t n_classes, Matrix<Value> test,
               std::size_t k, Predictions out) {
    using Distance = typename Sum<Value>::type;
    const std::size_t n_columns = train.shape(0), n_train = train.shape(1), n_test = test.shape(1);
    if (test.shape(0) != n_columns || y.shape(0) != n_train || out.shape(0) != n_columns ||
        out.shape(1) != n_test || k == 0 || k > n_train || n_classes < 1)
        throw nb::value_error("knn_curve: the arrays do not fit together");
    for (std::size_t i = 0; i < n_train; ++i)
        if (y.data()[i] < 0 || y.data()[i] >= n_classes)
            throw nb::value_error("knn_curve: a label is outside 0..n_classes-1");

    nb::gil_scoped_release release;
    std::vector<Distance> distance(n_train);
    std::vector<std::int32_t> votes(static_cast<std::size_t>(n_classes), 0);
    Nearest<Distance> nearest(k);
    for (std::size_t row = 0; row < n_test; ++row) {
        std::fill(distance.begin(), distance.end(), Distance(0));
        for (std::size_t j = 0; j < n_columns; ++j) {
            const Value x = test.data()[j * n_test + row];
            const Value* column = train.data() + j * n_train;
            nearest.clear();
            for (std::size_t start = 0; start < n_train; start += kBlock) {
                const std::size_t n = std::min(kBlock, n_train - start);
                const Distance least = grow(x, column + start, distance.data() + start, n);
                if (nearest.full() && !(least < nearest.limit())) continue;
                for (std::size_t i = 0; i < n; ++i) nearest.offer(distance[start + i], start + i);
            }
            out.data()[j * n_test + row] = vote(nearest, y.data(), votes);
            count_work(static_cast<std::int64_t>(n_train));
        }
    }
}

}  // namespace hocmim::knn
