// Scratch whose size is an upper bound: pages that are not written take no memory.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#define HOCMIM_MAPS 1
#endif

namespace hocmim {

// An allocator that leaves new elements as they are instead of setting them to 0. Large blocks
// come from the system and are returned to it: the heap would keep them for threads that have
// ended.
template <class T>
struct Untouched : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Untouched<U>;
    };
    using std::allocator<T>::allocator;

    template <class U>
    void construct(U* at) noexcept {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Given>
    void construct(U* at, Given&&... given) {
        ::new (static_cast<void*>(at)) U(std::forward<Given>(given)...);
    }

#ifdef HOCMIM_MAPS
    static constexpr size_t kLarge = size_t(1) << 18;

    T* allocate(size_t n) {
        if (n * sizeof(T) < kLarge) return std::allocator<T>::allocate(n);
        void* at = mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        return static_cast<T*>(at);
    }
    void deallocate(T* at, size_t n) {
        if (n * sizeof(T) < kLarge)
            std::allocator<T>::deallocate(at, n);
        else
            munmap(at, n * sizeof(T));
    }
#endif
};

template <class T>
using Buffer = std::vector<T, Untouched<T>>;

}  // namespace hocmim
