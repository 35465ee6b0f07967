// Binding of the impurity gain.
#include "criteria/impurity.hpp"

#include "bindings/module.hpp"
#include "core/arrays.hpp"
#include "core/interrupt.hpp"

namespace hocmim {

namespace {

void check_below(const uint32_t* values, int64_t n_samples, int64_t limit) {
    for (int64_t i = 0; i < n_samples; ++i)
        if (values[i] >= uint64_t(limit))
            throw std::invalid_argument("a cell or a class is not below their number");
}

// G(X,W;Y) of each column X.
void impurity_gain(const Columns& columns, Vector<const uint32_t> w, int64_t n_cells,
                   Vector<const uint32_t> y, int64_t n_classes, Vector<double> out) {
    const int64_t n_samples = columns.n_samples();
    if (int64_t(w.shape(0)) != n_samples || int64_t(y.shape(0)) != n_samples ||
        int64_t(out.shape(0)) != columns.size())
        throw std::invalid_argument("the columns, w, y and out do not fit together");
    nb::gil_scoped_release release;
    check_below(w.data(), n_samples, n_cells);
    check_below(y.data(), n_samples, n_classes);
    ImpurityGain gain(w.data(), n_cells, y.data(), n_classes, n_samples);
    for (int64_t j = 0; j < columns.size(); ++j) {
        out(size_t(j)) = gain(columns[j]);
        count_work(n_samples);
    }
}

}  // namespace

}  // namespace hocmim

void bind_impurity(nanobind::module_& m) {
    using namespace nanobind::literals;

    m.def("impurity_gain", &hocmim::impurity_gain, "columns"_a, "w"_a.noconvert(), "n_cells"_a,
          "y"_a.noconvert(), "n_classes"_a, "out"_a.noconvert());
}
