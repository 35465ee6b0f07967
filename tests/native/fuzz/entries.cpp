// Entry points with arrays that do not fit together, and the filters against loops.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "coding/apply.hpp"
#include "coding/encode.hpp"
#include "core/arrays.hpp"
#include "criteria/cmicot.hpp"
#include "criteria/least_terms.hpp"
#include "filters/knn.hpp"
#include "filters/nca.hpp"
#include "filters/relieff.hpp"
#include "input.hpp"

namespace fuzz {

namespace {

// Exactly as large as its size: AddressSanitizer sees a read beyond it.
template <class T>
std::vector<T> any(Input& in, size_t most) {
    std::vector<T> values(in.below(uint32_t(most) + 1));
    const uint32_t kind = in.below(4);
    for (T& value : values)
        value = kind == 0 ? in.bits<T>() : T(int(in.below(12)) - (kind == 1 ? 2 : 0));
    values.shrink_to_fit();
    return values;
}

// Non-decreasing and within range more often than not, so that later checks are reached.
std::vector<int64_t> any_offsets(Input& in, size_t n, int64_t last) {
    std::vector<int64_t> offsets = {0};
    while (offsets.size() < n) offsets.push_back(offsets.back() + in.below(5));
    offsets.push_back(last);
    if (in.below(3) == 0) offsets[in.below(uint32_t(offsets.size()))] = in.bits<int64_t>();
    if (in.below(8) == 0) offsets.resize(in.below(uint32_t(offsets.size()) + 1));
    offsets.shrink_to_fit();
    return offsets;
}

template <class T>
hocmim::Vector<const T> array(const std::vector<T>& values) {
    return {values.data(), values.size()};
}

// Nothing but the documented error may leave an entry point.
template <class Call>
void call(Call&& entry) {
    try {
        entry();
    } catch (const std::invalid_argument&) {
    }
}

void hostile_coding(Input& in) {
    using namespace hocmim;
    const auto values = any<double>(in, 20);
    const auto rows = any<int64_t>(in, 20);
    const size_t width = in.below(4), n = in.below(12);
    const auto offsets = any_offsets(in, width, int64_t(values.size()));
    const auto cuts = any<double>(in, 12);
    const auto cut_offsets = any_offsets(in, width, int64_t(cuts.size()));
    const auto unknown = any<int64_t>(in, 4), place = any<int64_t>(in, 4);
    const auto classes = any<int64_t>(in, 12);
    std::vector<uint8_t> narrow(width * n);
    std::vector<uint16_t> wide(width * n);
    const Matrix<uint8_t> to_narrow{narrow.data(), width, n};
    const int method = int(in.below(5)) - 1;
    const int64_t n_bins = in.below(6), n_classes = int64_t(in.below(6)) - 1;
    const std::vector<double> cells(width * n, 1.5);
    const Block<double> block{cells.data(), int64_t(n), int64_t(width), 1, int64_t(n)};
    const SparseColumns sparse{array(values), array(rows), array(offsets), int64_t(n)};
    const Learning how{Method(method), n_bins, array(classes), n_classes};
    const CutColumns columns{array(cuts),  array(cut_offsets), array(unknown),
                             array(place), to_narrow,          {wide.data(), width, n}};
    switch (in.below(6)) {
        case 0:
            return call([&] { encode_sparse(sparse, how, to_narrow); });
        case 1:
            return call([&] { apply_cuts(sparse, columns); });
        case 2:
            return call([&] { apply_cuts(block, columns); });
        case 3:
            return call([&] {
                SharedBlock<double>(block, how, to_narrow, 1 + int64_t(n % 2))
                    .encode([](int64_t, const LearntColumns&) {});
            });
        case 4:
            return call([&] { mdlp_cuts(block, array(place), array(classes), n_classes); });
        default:
            return call([&] { quantile_cuts(block, array(place), n_bins); });
    }
}

void hostile_criteria(Input& in) {
    using namespace hocmim;
    const size_t n = 1 + in.below(12);
    const auto codes = in.levels<uint8_t>(n, 4);
    const auto other = in.levels<uint8_t>(n + in.below(2), 4);
    const auto y = any<uint32_t>(in, 14);
    const int64_t n_classes = int64_t(in.below(5)) - 1;
    const auto estimator = Estimator(int(in.below(5)));
    call([&] {
        Columns columns{int64_t(n)}, selected{int64_t(other.size())};
        columns.append(codes.data(), in.below(6) ? n : n + 1, false, 4);
        selected.append(other.data(), other.size(), false, 4);
        const auto which = any<int64_t>(in, 4);
        std::vector<double> out(in.below(3));
        const Vector<const uint32_t> of_y{y.data(), y.size()};
        if (in.below(2)) {
            Cmicot teams(columns, of_y, n_classes, estimator, int64_t(in.below(20)) - 1);
            teams.select(selected, int64_t(in.below(3)) - 1);
            teams.score({which.data(), which.size()}, {out.data(), out.size()});
        } else {
            LeastTerms terms(columns, selected, int64_t(in.below(4)) - 1, of_y, n_classes,
                             Term::conditional, estimator);
            std::vector<int64_t> n_tried(out.size(), 0);
            terms.evaluate(Vector<const int64_t>{which.data(), which.size()},
                           {n_tried.data(), n_tried.size()}, {out.data(), out.size()}, 0.0, 100);
        }
    });
}

void hostile_filters(Input& in) {
    using namespace hocmim;
    const size_t n_rows = in.below(8), n_columns = in.below(5), k = in.below(6);
    const std::vector<double> values(n_rows * n_columns, 0.5), prior(in.below(4), 0.5);
    const auto labels = any<int32_t>(in, 8);
    const size_t start = in.below(9), stop = in.below(9);
    if (in.below(2)) {
        const auto codes = any<int32_t>(in, 12);
        std::vector<double> value_sums(in.below(5)), code_sums(in.below(3));
        const size_t n_codes = n_rows ? codes.size() / n_rows : 0;
        return call([&] {
            relieff::relieff_block(
                {values.data(), n_rows, n_columns}, {codes.data(), n_rows, n_codes},
                {labels.data(), labels.size()}, {prior.data(), prior.size()}, k, start, stop,
                {value_sums.data(), value_sums.size()}, {code_sums.data(), code_sums.size()});
        });
    }
    const size_t n_sparse = in.below(4), n_stored = in.below(9);
    const auto row_start = any_offsets(in, n_rows, int64_t(n_stored)),
               column_start = any_offsets(in, n_sparse, int64_t(n_stored));
    const auto row_place = any<int32_t>(in, 8), column_place = any<int32_t>(in, 8);
    const std::vector<double> stored(n_stored, 1.0), weight(n_sparse, 1.0), norm(n_rows, 1.0);
    std::vector<double> dense(n_columns), overlaps(n_sparse), by_row(n_rows);
    call([&] {
        nca::nca_block({values.data(), n_rows, n_columns}, {row_start.data(), row_start.size()},
                       {row_place.data(), row_place.size()}, {stored.data(), n_stored},
                       {column_start.data(), column_start.size()},
                       {column_place.data(), column_place.size()}, {stored.data(), n_stored},
                       {weight.data(), n_sparse}, {norm.data(), n_rows},
                       {labels.data(), labels.size()}, start, stop, {dense.data(), n_columns},
                       {overlaps.data(), n_sparse}, {by_row.data(), n_rows});
    });
}

}  // namespace

void check_hostile(Input& in) {
    switch (in.below(3)) {
        case 0:
            return hostile_coding(in);
        case 1:
            return hostile_criteria(in);
        default:
            return hostile_filters(in);
    }
}

// The classes of the nearest rows, with the first 1, 2, … columns; whole numbers, so that
// distances are exact.
void check_filters(Input& in) {
    using namespace hocmim;
    const size_t n_train = 1 + in.below(40), n_test = 1 + in.below(6), n_columns = 1 + in.below(5);
    const size_t k = 1 + in.below(uint32_t(n_train));
    const auto n_classes = int32_t(1 + in.below(4));
    std::vector<double> train(n_train * n_columns), test(n_test * n_columns);
    for (double& value : train) value = in.below(6);
    for (double& value : test) value = in.below(6);
    std::vector<int32_t> y(n_train), out(n_columns * n_test);
    for (int32_t& label : y) label = int32_t(in.below(uint32_t(n_classes)));
    knn::knn_curve<double>({train.data(), n_columns, n_train}, {y.data(), n_train}, n_classes,
                           {test.data(), n_columns, n_test}, k, {out.data(), n_columns, n_test});
    for (size_t t = 0; t < n_test; ++t) {
        std::vector<std::pair<double, size_t>> distance(n_train);
        for (size_t i = 0; i < n_train; ++i) distance[i].second = i;
        for (size_t j = 0; j < n_columns; ++j) {
            for (auto& [sum, i] : distance) {
                const double gap = train[j * n_train + i] - test[j * n_test + t];
                sum += gap * gap;
            }
            auto sorted = distance;
            std::sort(sorted.begin(), sorted.end());
            std::vector<int> votes(size_t(n_classes), 0);
            for (size_t i = 0; i < k; ++i) ++votes[size_t(y[sorted[i].second])];
            HOLDS(out[j * n_test + t] ==
                  std::max_element(votes.begin(), votes.end()) - votes.begin());
        }
    }
}

}  // namespace fuzz
