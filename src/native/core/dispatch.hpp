// The instruction sets of the kernels: which there are, which one is in force, and how a function is
// compiled once for each of them.
//
// A level is a set of instructions. All levels give the same bits. The fastest level that the
// processor has is used; the environment variable HOCMIM_ISA forces another.
//
// To add a level: add it to Level and kLevels (dispatch.cpp), to HOCMIM_FOR_EACH_LEVEL below, and,
// if it counts bits in a way of its own, to counting/popcount.cpp.
#pragma once
#include <string>
#include <vector>

#define HOCMIM_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__) && defined(__GNUC__)
#define HOCMIM_X86 1
#define HOCMIM_TARGET_PORTABLE
#define HOCMIM_TARGET_AVX2 __attribute__((target("avx2")))
#define HOCMIM_TARGET_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))
// Calls DO(level, attribute, ...) for every level, the slowest first.
#define HOCMIM_FOR_EACH_LEVEL(DO, ...)                    \
    DO(portable, HOCMIM_TARGET_PORTABLE, __VA_ARGS__)     \
    DO(avx2, HOCMIM_TARGET_AVX2, __VA_ARGS__)             \
    DO(avx512, HOCMIM_TARGET_AVX512, __VA_ARGS__)
#else
#define HOCMIM_TARGET_PORTABLE
#define HOCMIM_FOR_EACH_LEVEL(DO, ...) DO(portable, HOCMIM_TARGET_PORTABLE, __VA_ARGS__)
#endif

namespace hocmim {

enum class Level { portable, avx2, avx512 };

// The level in force, chosen once when the module is loaded. Where HOCMIM_ISA is not valid it is
// `portable`, and check_level() says what is wrong.
extern const Level kLevelInForce;
inline Level level() { return kLevelInForce; }
std::string level_name();

// The levels this processor has, the fastest first.
std::vector<std::string> possible_levels();

// Throws std::invalid_argument, in a sentence, if HOCMIM_ISA does not name a possible level.
void check_level();

}  // namespace hocmim

// HOCMIM_DISPATCH(result, name, body, (parameters), (arguments)) defines name(parameters), which
// calls body(arguments) compiled for the level in force. The body must be HOCMIM_INLINE. The result
// may begin with template <...>, if the parameters determine its arguments.
#define HOCMIM_VARIANT_(LEVEL, TARGET, RESULT, NAME, BODY, PARAMETERS, ARGUMENTS) \
    RESULT TARGET NAME##_##LEVEL PARAMETERS { return BODY ARGUMENTS; }
#define HOCMIM_CASE_(LEVEL, TARGET, NAME, ARGUMENTS) \
    case hocmim::Level::LEVEL:                       \
        return NAME##_##LEVEL ARGUMENTS;
#define HOCMIM_DISPATCH(RESULT, NAME, BODY, PARAMETERS, ARGUMENTS)                    \
    HOCMIM_FOR_EACH_LEVEL(HOCMIM_VARIANT_, RESULT, NAME, BODY, PARAMETERS, ARGUMENTS) \
    RESULT NAME PARAMETERS {                                                          \
        switch (hocmim::level()) {                                                    \
            HOCMIM_FOR_EACH_LEVEL(HOCMIM_CASE_, NAME, ARGUMENTS)                      \
            default:                                                                  \
                return NAME##_portable ARGUMENTS;                                     \
        }                                                                             \
    }
