// Binding of the check that stops a kernel.
#include "core/interrupt.hpp"

#include "bindings/module.hpp"

void bind_interrupt(nanobind::module_& m) {
    using namespace nanobind::literals;

    m.def("set_stop_check", &hocmim::set_stop_check, "check"_a.none(),
          "A function for this thread that raises an exception to stop a kernel; None removes it. "
          "Returns the one before.");
    m.def("stop_check", &hocmim::current_stop_check, "The check of this thread, or None.");
}
