#include "core/interrupt.hpp"

#include <chrono>

namespace hocmim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenChecks{50};

thread_local Clock::time_point last_check;
// Owned. Removed by the thread itself before it ends, while it holds the GIL.
thread_local PyObject* stop_check = nullptr;

}  // namespace

void look_for_stop() {
    const Clock::time_point now = Clock::now();
    if (now - last_check < kBetweenChecks) return;
    nanobind::gil_scoped_acquire acquire;
    last_check = now;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (stop_check) nanobind::borrow(stop_check)();
}

nanobind::object set_stop_check(nanobind::object check) {
    PyObject* before = stop_check;
    stop_check = check.is_none() ? nullptr : check.release().ptr();
    return before ? nanobind::steal(before) : nanobind::none();
}

nanobind::object current_stop_check() {
    return stop_check ? nanobind::borrow(stop_check) : nanobind::none();
}

}  // namespace hocmim
