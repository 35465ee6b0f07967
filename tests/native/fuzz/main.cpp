// A fuzzer of the kernels, for libFuzzer: `make fuzz`. The first byte of an input chooses what is
// checked. Fast code is compared with simple code, so that a wrong result is found as well as a
// crash.
#include "core/dispatch.hpp"
#include "core/interrupt.hpp"
#include "input.hpp"

void hocmim::look_for_stop() {}  // there is no Python to ask

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    using Check = void (*)(fuzz::Input&);
    static constexpr Check checks[] = {
        fuzz::check_terms,    fuzz::check_joins,   fuzz::check_encoding, fuzz::check_sparse,
        fuzz::check_searches, fuzz::check_filters, fuzz::check_hostile,
    };
    fuzz::Input in(data + 1, size - 1);
    checks[data[0] % (sizeof checks / sizeof *checks)](in);
    return 0;
}
