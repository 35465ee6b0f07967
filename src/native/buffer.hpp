// Scratch whose size is an upper bound: what is not written takes no memory.
#pragma once
#include <memory>
#include <utility>
#include <vector>

namespace hocmim {

// An allocator that leaves new elements as they are instead of setting them to 0.
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
};

template <class T>
using Buffer = std::vector<T, Untouched<T>>;

}  // namespace hocmim
