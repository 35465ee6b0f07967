// The input of the fuzzer: its bytes, then numbers that follow from them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fuzz {

class Input {
public:
    // The first byte has chosen the check already. One input in 128 is large, by a hash of all its
    // bytes: a mutation of a large input is small again, so that large ones, which take a hundred
    // times as long, never fill the corpus.
    Input(const uint8_t* data, size_t size) : data_(data), left_(size) {
        uint64_t hash = 0xcbf29ce484222325u;
        for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 0x100000001b3u;
        is_large = (hash >> 40) % 128 == 0;
    }

    bool is_large;

    // At most `small`, or `large` if the input is large.
    uint32_t up_to(uint32_t small, uint32_t large) { return 1 + below(is_large ? large : small); }

    // Below n. Once the bytes are used up, from a random sequence that they started.
    uint32_t below(uint32_t n) {
        uint32_t value = byte();
        if (n > 256) value = value << 8 | byte();
        if (n > 65536) value = value << 16 | uint32_t(byte()) << 8 | byte();
        return value % n;
    }
    uint8_t byte() {
        if (left_ > 0) {
            --left_;
            state_ = (state_ ^ *data_) * 0x100000001b3u;
            return *data_++;
        }
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return uint8_t(state_ * 0x2545f4914f6cdd1du >> 56);
    }
    // Any bits.
    template <class T>
    T bits() {
        T value;
        uint8_t bytes[sizeof(T)];
        for (uint8_t& b : bytes) b = byte();
        std::memcpy(&value, bytes, sizeof value);
        return value;
    }
    // Levels of a column: all of them, few, or one after the other.
    template <class Code>
    std::vector<Code> levels(size_t n, uint32_t arity) {
        std::vector<Code> codes(n);
        const uint32_t how = below(4), part = 1 + below(arity);
        uint32_t run = 0;
        for (Code& code : codes) {
            if (how == 3) run = (run + below(8) / 7) % arity;
            code = Code(how == 3 ? run : below(how == 2 ? part : arity));
        }
        return codes;
    }

private:
    const uint8_t* data_;
    size_t left_;
    uint64_t state_ = 0xcbf29ce484222325u;
};

[[noreturn]] inline void fail(const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    std::abort();
}
#define HOLDS(WHAT) \
    if (!(WHAT)) fuzz::fail(#WHAT, __FILE__, __LINE__)

// What the first byte of an input chooses.
void check_terms(Input& in);
void check_joins(Input& in);
void check_encoding(Input& in);
void check_sparse(Input& in);
void check_searches(Input& in);
void check_filters(Input& in);
void check_hostile(Input& in);
void check_screens(Input& in);

}  // namespace fuzz
