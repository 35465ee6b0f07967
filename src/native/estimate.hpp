// From counts to information: one candidate X against a class Y and a conditioning variable W.
//
// The samples come as a Partition by (W, Y). One walk over it counts n(x,w,y) and n(x,w), from which
// every term follows under every estimator. Sums over cells are integers or fixed-point numbers, so
// that the order of cells, and with it blocks and threads, cannot change a bit of a result.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "columns.hpp"
#include "logarithm.hpp"
#include "partition.hpp"

namespace hocmim {

enum class Estimator { plugin, shrinkage, miller_madow, grassberger, jeffreys };

enum class Term {
    information,    // I(X;W)
    given_class,    // I(X;W|Y)
    redundancy,     // I(X;W) − I(X;W|Y)
    conditional,    // I(X;Y|W)
    joint,          // I(X,W;Y)
    joint_entropy,  // H(X,W,Y)
};

// f(c) = c log c, or c G(c) for Grassberger, in fixed point: by table where counts are small, since
// that is where they repeat.
class CountFunction {
public:
    CountFunction(bool grassberger, int64_t n_samples);
    int64_t operator()(int64_t count) const {
        return count < int64_t(table_.size()) ? table_[size_t(count)] : fixed_.of(exact(count));
    }
    FixedPoint fixed() const { return fixed_; }

private:
    double exact(int64_t count) const;
    bool grassberger_;
    FixedPoint fixed_;
    std::vector<int64_t> table_;
};

// What all candidates share: the estimator, the number of samples, the class counts.
struct Setting {
    Setting(Estimator estimator, int64_t n_samples, std::vector<int64_t> class_counts);

    Estimator estimator;
    int64_t n_samples;
    std::vector<int64_t> class_counts;
    int64_t n_classes_seen = 0;
    int64_t class_squares = 0;                      // Σ n_y²
    std::shared_ptr<const CountFunction> function;  // of the entropy-like estimators
    int64_t class_sum = 0;                          // Σ f(n_y)
    int64_t whole_sum = 0;                          // N log N
    FixedPoint nats;                                // for sums of p log p

    int64_t n_classes() const { return int64_t(class_counts.size()); }
};

// Counts n_xy of a column, dense over level * n_classes + class.
void count_rows(const Column& column, const uint32_t* cls, int64_t n_samples, int64_t n_classes,
                int64_t* row_count);

// A candidate column with its marginal counts.
struct Candidate {
    Column column{};
    std::vector<int64_t> level_count;  // n_x
    std::vector<int64_t> row_count;    // n_xy, dense over level * n_classes + class

    void assign(const Column& column, int64_t n_classes, const int64_t* row_count);
};

// What a Partition gives to every candidate: computed once, used by each.
struct ConditionSums {
    void compute(const Partition& partition, const Setting& setting);

    int64_t cell_squares = 0;  // Σ n_w²
    int64_t cells_sum = 0;     // Σ f(n_w)
    int64_t runs_sum = 0;      // Σ f(n_wy)
    std::vector<int64_t> cells_of_class;             // cells in which each class occurs
    std::vector<double> run_count, run_product;      // n_wy and n_w n_y of the cells not alone
    int64_t run_product_sum = 0;                     // Σ n_w n_y over all (w, y) that occur
};

// Evaluates terms for candidates. Holds scratch, so one Evaluator serves one thread.
class Evaluator {
public:
    explicit Evaluator(const Setting& setting) : setting_(setting) {}

    double operator()(Term term, const Candidate& candidate, const Partition& partition,
                      const ConditionSums& condition);

private:
    // The cells of one table with shrinkage: rows and columns as its user says.
    struct Cells {
        std::vector<double> count, product;  // c, and the product of the marginals of its cell
        size_t size = 0;
        int64_t squares = 0, product_sum = 0;
        std::vector<int64_t> live;   // per row: samples not alone in their w
        std::vector<int64_t> cross;  // per row: Σ c n_w

        void reset(size_t most_cells, size_t n_rows);
        void add(int64_t c, int64_t product_of_marginals) {
            count[size] = double(c);
            product[size++] = double(product_of_marginals);
            squares += c * c;
            product_sum += product_of_marginals;
        }
    };
    struct EntropySums;
    struct CountLists;
    struct AgainstCondition;
    struct AgainstClass;

    double entropy_like(Term term, const Candidate&, const Partition&, const ConditionSums&);
    double jeffreys(Term term, const Candidate&, const Partition&);
    double shrinkage(Term term, const Candidate&, const Partition&, const ConditionSums&);
    double shrunken_rows(Cells& cells, const std::vector<int64_t>& row_count,
                         const ConditionSums& condition, double& lambda);
    double shrunken_condition(double lambda, const Partition&, const ConditionSums&);
    double shrunken_against_class(Term term, const Candidate&, const Partition&,
                                  const ConditionSums&);
    int64_t shrunken_sum(const double* count, const double* product, size_t size, double lambda);
    int64_t shrunken_alone(int64_t n_alone, int64_t product, double lambda);

    template <class Sink>
    void walk(const Candidate& candidate, const Partition& partition, Sink& sink);
    template <class Code, class Sink>
    void walk_packed(const Code* level_of, const Partition& partition, Sink& sink);
    template <class Code, class Sink>
    void walk_any(const Code* level_of, int64_t arity, const Partition& partition, Sink& sink);

    const Setting& setting_;
    Cells by_level_, by_row_;
    std::vector<double> terms_;
    struct Pending {
        uint32_t level, cls;
        int64_t count;
    };
    std::vector<Pending> pending_;
    std::vector<int64_t> level_total_;
    std::vector<int64_t> row_list_, pair_list_;
    std::vector<uint32_t> run_tally_, cell_tally_, run_levels_, cell_levels_;
};

}  // namespace hocmim
