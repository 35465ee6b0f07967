// Stopping a kernel: the clock, the signal handlers of Python, and the check of a thread.
#include "core/interrupt.hpp"

#include <chrono>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

#include "bindings/module.hpp"

namespace hocmim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenChecks{50};

HOCMIM_THREAD_LOCAL Clock::time_point last_check;
// Owned. Removed by the thread itself before it ends, while it holds the GIL.
HOCMIM_THREAD_LOCAL PyObject* stop_check = nullptr;

// A function without arguments for this thread, called from time to time while a kernel works; it
// raises an exception to stop the kernel. None removes it. Returns the one before.
nb::object set_stop_check(nb::object check) {
    PyObject* before = stop_check;
    stop_check = check.is_none() ? nullptr : check.release().ptr();
    return before ? nb::steal(before) : nb::none();
}

// Makes what a thread needs to throw an exception, while there is memory for it: later glibc would
// end the process.
void prepare_thread() {
#ifdef __GLIBCXX__
    (void)abi::__cxa_get_globals();
#endif
}

// The check of this thread, or None.
nb::object current_stop_check() { return stop_check ? nb::borrow(stop_check) : nb::none(); }

}  // namespace

void look_for_stop() {
    const Clock::time_point now = Clock::now();
    if (now - last_check < kBetweenChecks) return;
    nb::gil_scoped_acquire acquire;
    last_check = now;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (stop_check) nb::borrow(stop_check)();
}

void bind_interrupt(nb::module_& m) {
    m.def("set_stop_check", &set_stop_check, "check"_a.none(),
          "A function for this thread that raises an exception to stop a kernel; None removes it. "
          "Returns the one before.");
    m.def("stop_check", &current_stop_check, "The check of this thread, or None.");
    m.def("prepare_thread", &prepare_thread);
}

}  // namespace hocmim
