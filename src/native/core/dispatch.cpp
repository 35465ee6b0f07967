#include "core/dispatch.hpp"

#include <cstdlib>
#include <stdexcept>

namespace hocmim {

namespace {

struct LevelEntry {
    Level level;
    const char* name;
    bool (*is_possible)();
};

// The fastest first.
const LevelEntry kLevels[] = {
#ifdef HOCMIM_X86
    {Level::avx512, "avx512",
     [] {
         return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq");
     }},
    {Level::avx2, "avx2", [] { return bool(__builtin_cpu_supports("avx2")); }},
#else
    {Level::avx512, "avx512", [] { return false; }},
    {Level::avx2, "avx2", [] { return false; }},
#endif
    {Level::portable, "portable", [] { return true; }},
};

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + ("'" + name + "'");
    return list;
}

struct Choice {
    Level level = Level::portable;
    std::string error;
};

Choice choose() {
#ifdef HOCMIM_X86
    __builtin_cpu_init();
#endif
    const char* wanted = std::getenv("HOCMIM_ISA");
    const std::string name = wanted ? wanted : "";
    std::vector<std::string> known;
    for (const LevelEntry& entry : kLevels) {
        known.push_back(entry.name);
        if (name.empty() ? entry.is_possible() : name == entry.name && entry.is_possible())
            return {entry.level, ""};
    }
    for (const std::string& one : known)
        if (one == name)
            return {Level::portable, "HOCMIM_ISA is '" + name +
                                         "', which this processor does not have. It has " +
                                         listed(possible_levels()) + "."};
    return {Level::portable,
            "HOCMIM_ISA must be one of " + listed(known) + ". Got '" + name + "' instead."};
}

const Choice& choice() {
    static const Choice chosen = choose();
    return chosen;
}

}  // namespace

const Level kLevelInForce = choice().level;

std::string level_name() {
    for (const LevelEntry& entry : kLevels)
        if (entry.level == kLevelInForce) return entry.name;
    return "";
}

std::vector<std::string> possible_levels() {
#ifdef HOCMIM_X86
    __builtin_cpu_init();
#endif
    std::vector<std::string> names;
    for (const LevelEntry& entry : kLevels)
        if (entry.is_possible()) names.push_back(entry.name);
    return names;
}

void check_level() {
    if (!choice().error.empty()) throw std::invalid_argument(choice().error);
}

}  // namespace hocmim
