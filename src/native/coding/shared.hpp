// A block that several threads encode together.
//
// Each thread takes some neighbouring columns after the other, at last fewer, so that all threads
// end at about the same time. What is found does not depend on the threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "coding/arrays.hpp"
#include "coding/encode.hpp"

namespace hocmim::coding {

class SharedEncoding {
public:
    // Called with the first of some neighbouring columns and how these are coded, by the thread
    // that has just encoded them.
    using OnPanel = std::function<void(i64 left, const Codings& found)>;

    virtual ~SharedEncoding() = default;

    // Encode columns until none is left. Every thread calls it once.
    virtual void encode(const OnPanel& on_panel) = 0;

    // How the columns are coded, after all threads have returned.
    Codings take() {
        std::sort(parts_.begin(), parts_.end(),
                  [](const Part& a, const Part& b) { return a.first < b.first; });
        Codings all;
        for (const Part& part : parts_) all.append(part.second);
        parts_.clear();
        return all;
    }

protected:
    void keep(i64 left, Codings&& found) {
        const std::lock_guard<std::mutex> locked(mutex_);
        parts_.emplace_back(left, std::move(found));
    }

private:
    using Part = std::pair<i64, Codings>;

    std::mutex mutex_;
    std::vector<Part> parts_;
};

// The codes of column j are written to row j of `codes`, unless they do not fit into one byte.
template <class T>
class SharedBlock final : public SharedEncoding {
public:
    SharedBlock(Array2<T> values, int method, i64 n_bins, Array1<i64> classes, i64 n_classes,
                Rows<std::uint8_t> codes, i64 n_threads)
        : values_(std::move(values)),
          classes_(std::move(classes)),
          codes_(std::move(codes)),
          block_(values_),
          how_(to_learning(method, n_bins, classes_, n_classes, block_.rows)),
          n_threads_(n_threads) {
        require(static_cast<i64>(codes_.shape(0)) == block_.columns &&
                    static_cast<i64>(codes_.shape(1)) == block_.rows,
                "codes must have a row a column of the block");
        require(n_threads >= 1, "n_threads must be at least 1");
    }

    void encode(const OnPanel& on_panel) override {
        BlockEncoder<T> encoder(block_, how_, codes_.data());
        i64 left;
        while (const i64 width = take_columns(encoder, left)) {
            Codings found;
            encoder.encode_panel(left, width, found);
            on_panel(left, found);
            keep(left, std::move(found));
        }
    }

private:
    // Take the next columns; returns how many they are, 0 if none is left.
    i64 take_columns(const BlockEncoder<T>& encoder, i64& left) {
        left = next_.load();
        i64 width;
        do {
            const i64 n_left = block_.columns - left;
            width = std::min(n_left, encoder.even_width());
            if (n_threads_ > 1) {
                const i64 share = std::max(n_left / (2 * n_threads_), encoder.least_width());
                width = std::min(width, encoder.in_lanes(share));
            }
        } while (!next_.compare_exchange_weak(left, left + width));
        return width;
    }

    const Array2<T> values_;
    const Array1<i64> classes_;
    const Rows<std::uint8_t> codes_;
    const Block<T> block_;
    const Learning how_;
    const i64 n_threads_;
    std::atomic<i64> next_{0};  // the first column that is not taken
};

}  // namespace hocmim::coding
