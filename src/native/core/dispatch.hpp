// The instruction sets of the kernels: which there are, which one is in force, and how a function
// is compiled once for each of them.
//
// All instruction sets give the same bits. The fastest one that the processor has is used; the
// environment variable HOCMIM_ISA forces another.
//
// To add an instruction set: add it to Isa and HOCMIM_FOR_EACH_ISA below, to kIsas in dispatch.cpp,
// and write its bit counts in counting/popcount.cpp.
#pragma once
#include <string>
#include <vector>

#include "core/portable.hpp"

#ifdef HOCMIM_X86
#define HOCMIM_TARGET_PORTABLE
#define HOCMIM_TARGET_AVX2 __attribute__((target("avx2")))
#define HOCMIM_TARGET_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))
// Calls DO(isa, attribute, ...) for every instruction set, the slowest first.
#define HOCMIM_FOR_EACH_ISA(DO, ...)                  \
    DO(portable, HOCMIM_TARGET_PORTABLE, __VA_ARGS__) \
    DO(avx2, HOCMIM_TARGET_AVX2, __VA_ARGS__)         \
    DO(avx512, HOCMIM_TARGET_AVX512, __VA_ARGS__)
#else
#define HOCMIM_TARGET_PORTABLE
#define HOCMIM_FOR_EACH_ISA(DO, ...) DO(portable, HOCMIM_TARGET_PORTABLE, __VA_ARGS__)
#endif

namespace hocmim {

enum class Isa { portable, avx2, avx512 };

// The instruction set in force, chosen once when the module is loaded. Where HOCMIM_ISA is not
// valid it is `portable`, and check_isa() says what is wrong.
extern const Isa kIsaInForce;
inline Isa isa() { return kIsaInForce; }
std::string isa_name();

// The instruction sets of this processor, the fastest first.
std::vector<std::string> possible_isas();

// How many doubles and bytes an instruction works on: GCC compares longer vectors one number after
// the other. AVX-512F has no instructions for bytes, and comparisons that are used as numbers are
// slower than with AVX2: they take bytes_of / 8 doubles.
constexpr size_t doubles_of(Isa isa) { return isa == Isa::avx512 ? 8 : isa == Isa::avx2 ? 4 : 2; }
constexpr size_t bytes_of(Isa isa) { return isa == Isa::portable ? 16 : 32; }

// Throws std::invalid_argument, in a sentence, if HOCMIM_ISA does not name one of them.
void check_isa();

}  // namespace hocmim

// HOCMIM_DISPATCH(result, name, body, (parameters), (arguments)) defines name(parameters), which
// calls body(arguments) compiled for the instruction set in force. The body must be HOCMIM_INLINE.
// The result may begin with template <...>, if the parameters determine its arguments. The body may
// be a template of kIsa, the instruction set that it is compiled for.
#define HOCMIM_VARIANT_(ISA, TARGET, RESULT, NAME, BODY, PARAMETERS, ARGUMENTS) \
    RESULT TARGET NAME##_##ISA PARAMETERS {                                     \
        [[maybe_unused]] constexpr hocmim::Isa kIsa = hocmim::Isa::ISA;         \
        return BODY ARGUMENTS;                                                  \
    }
#define HOCMIM_CASE_(ISA, TARGET, NAME, ARGUMENTS) \
    case hocmim::Isa::ISA:                         \
        return NAME##_##ISA ARGUMENTS;
#define HOCMIM_DISPATCH(RESULT, NAME, BODY, PARAMETERS, ARGUMENTS)                  \
    HOCMIM_FOR_EACH_ISA(HOCMIM_VARIANT_, RESULT, NAME, BODY, PARAMETERS, ARGUMENTS) \
    RESULT NAME PARAMETERS {                                                        \
        switch (hocmim::isa()) {                                                    \
            HOCMIM_FOR_EACH_ISA(HOCMIM_CASE_, NAME, ARGUMENTS)                      \
            default:                                                                \
                return NAME##_portable ARGUMENTS;                                   \
        }                                                                           \
    }
