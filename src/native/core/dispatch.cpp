#include "core/dispatch.hpp"

#include <cstdlib>
#include <stdexcept>

namespace hocmim {

namespace {

struct IsaEntry {
    Isa isa;
    const char* name;
    bool (*is_possible)();
};

// The fastest first.
const IsaEntry kIsas[] = {
#ifdef HOCMIM_X86
    {Isa::avx512, "avx512",
     [] { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq"); }},
    {Isa::avx2, "avx2", [] { return bool(__builtin_cpu_supports("avx2")); }},
#else
    {Isa::avx512, "avx512", [] { return false; }},
    {Isa::avx2, "avx2", [] { return false; }},
#endif
    {Isa::portable, "portable", [] { return true; }},
};

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + ("'" + name + "'");
    return list;
}

struct Choice {
    Isa isa = Isa::portable;
    std::string error;
};

Choice choose() {
#ifdef HOCMIM_X86
    __builtin_cpu_init();
#endif
    const char* wanted = std::getenv("HOCMIM_ISA");
    const std::string name = wanted ? wanted : "";
    std::vector<std::string> known;
    for (const IsaEntry& entry : kIsas) {
        known.push_back(entry.name);
        if (name.empty() ? entry.is_possible() : name == entry.name && entry.is_possible())
            return {entry.isa, ""};
    }
    for (const std::string& one : known)
        if (one == name)
            return {Isa::portable, "HOCMIM_ISA is '" + name +
                                       "', which this processor does not have. It has " +
                                       listed(possible_isas()) + "."};
    return {Isa::portable,
            "HOCMIM_ISA must be one of " + listed(known) + ". Got '" + name + "' instead."};
}

const Choice& choice() {
    static const Choice chosen = choose();
    return chosen;
}

}  // namespace

const Isa kIsaInForce = choice().isa;

std::string isa_name() {
    for (const IsaEntry& entry : kIsas)
        if (entry.isa == kIsaInForce) return entry.name;
    return "";
}

std::vector<std::string> possible_isas() {
#ifdef HOCMIM_X86
    __builtin_cpu_init();
#endif
    std::vector<std::string> names;
    for (const IsaEntry& entry : kIsas)
        if (entry.is_possible()) names.push_back(entry.name);
    return names;
}

void check_isa() {
    if (!choice().error.empty()) throw std::invalid_argument(choice().error);
}

}  // namespace hocmim
