// Stopping a kernel: Ctrl-C, other signals, and work whose result is not needed any more.
//
// A long loop calls count_work(n) after each piece of work, with about as many operations as the
// piece took (samples counted, values compared). A piece should take a few milliseconds at most.
// About every 50 milliseconds a call runs the signal handlers of Python, if the thread is the main
// one, and the check of the thread, if it has one (set_stop_check). If a handler or the check
// raises, count_work throws the exception: it leaves the kernel and arrives in Python as it is. The
// state of a search is not usable after that.
//
// The GIL may be held or not. bindings/interrupt.cpp has the part that knows Python.
// A thread must not hold a mutex that others wait for with the GIL.
#pragma once
#include <cstdint>

#include "core/portable.hpp"

namespace hocmim {

// Operations between two looks at the clock: some hundred microseconds.
constexpr int64_t kWorkBetweenLooks = 1 << 18;

// Looks at the clock; every now and then runs the handlers and the check.
void look_for_stop();

inline void count_work(int64_t n_operations) {
    static HOCMIM_THREAD_LOCAL int64_t n_before_look = kWorkBetweenLooks;
    n_before_look -= n_operations;
    if (n_before_look >= 0) return;
    n_before_look = kWorkBetweenLooks;
    look_for_stop();
}

}  // namespace hocmim
