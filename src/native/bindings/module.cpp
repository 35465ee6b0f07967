#include "bindings/module.hpp"

#include "core/dispatch.hpp"

NB_MODULE(_native, m) {
    m.doc() = "The kernels of hocmim: encoding, counting, information, representative sets.";
    hocmim::check_isa();
    bind_dispatch(m);
    bind_coding(m);
    bind_information(m);
    bind_hocmim(m);
    bind_hocmim_r(m);
    bind_accelerate(m);
    bind_cmicot(m);
    bind_subsets(m);
    bind_impurity(m);
    bind_filters(m);
    bind_interrupt(m);
}
