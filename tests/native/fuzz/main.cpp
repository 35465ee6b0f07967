// A fuzzer of the kernels, for libFuzzer: `make fuzz`. The first byte of an input chooses what is
// checked. Fast code is compared with simple code, so that a wrong result is found as well as a
// crash.
#include "core/dispatch.hpp"
#include "core/interrupt.hpp"
#include "input.hpp"

void hocmim::look_for_stop() {}  // there is no Python to ask

namespace {

struct Check {
    const char* name;
    void (*run)(fuzz::Input&);
    long long n_runs = 0;
};

Check checks[] = {
    {"terms", fuzz::check_terms},       {"joins", fuzz::check_joins},
    {"encoding", fuzz::check_encoding}, {"sparse", fuzz::check_sparse},
    {"searches", fuzz::check_searches}, {"filters", fuzz::check_filters},
    {"hostile", fuzz::check_hostile},   {"screens", fuzz::check_screens},
};

void print_runs() {
    for (const Check& check : checks)
        std::fprintf(stderr, "executions of %s: %lld\n", check.name, check.n_runs);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) { return std::atexit(print_runs); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    Check& check = checks[data[0] % (sizeof checks / sizeof *checks)];
    ++check.n_runs;
    fuzz::Input in(data + 1, size - 1);
    check.run(in);
    return 0;
}
