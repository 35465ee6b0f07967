// Stops long work after Ctrl-C, or after another thread failed.
#pragma once
#include <atomic>
#include <chrono>

#include <nanobind/nanobind.h>

namespace hocmim::coding {

// Work in several threads checks one flag. The main thread also lets Python handle signals, since
// a signal handler of Python does not run while a kernel does.
class StopFlag {
public:
    void set() { is_set_.store(true, std::memory_order_relaxed); }

    // Call without the GIL; throws if the work is to stop.
    void check() {
        if (is_set_.load(std::memory_order_relaxed)) {
            throw std::runtime_error("encoding was stopped");
        }
        const auto now = std::chrono::steady_clock::now();
        if (now - last_.load(std::memory_order_relaxed) < kBetweenSignals) return;
        last_.store(now, std::memory_order_relaxed);
        nanobind::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

private:
    static constexpr std::chrono::milliseconds kBetweenSignals{50};
    std::atomic<bool> is_set_{false};
    std::atomic<std::chrono::steady_clock::time_point> last_{std::chrono::steady_clock::now()};
};

}  // namespace hocmim::coding
