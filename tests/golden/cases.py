"""The cases of the golden record, as plain dictionaries in words of their own.

A case says what is done, not how it is written in Python: ``golden/spelling.py`` knows that. The
words, all of them optional but ``table``:

call
    "select" (if not given), "cv", "stability", "compare", "codes", "clusters" or "information".
table, method, estimator
    As in ``golden/tables.py``, ``hocmim.list_methods()`` and the list of estimators below.
options
    Parameters that only this method has.
k
    How many columns: a number, a share, or None. 6 if not given.
test
    In place of k: the significance test, a dictionary of ``alpha``, ``fdr``, ``kind``,
    ``max_tries``, ``n_permutations`` and ``seed``.
n_bins, discretizer, max_levels, identifiers
    How columns are coded.
target_kind, target_bins, target_discretizer, target_strategy
    How the target is read and coded.
keep, exclude, feature_groups, costs, budget
    Constraints.
weights, row_groups
    Weights of the rows ("whole", "fractional", "balanced"), and whether rows have groups.
way
    Another way to the same result; the case has no record of its own, but that of ``same_as``.
ask
    What is asked after the fit: "explain", "statement", "substitutes", "clusters",
    "redundancy_matrix".
"""

ESTIMATORS = ("plugin", "shrinkage", "miller_madow", "grassberger", "jeffreys")
INFORMATION = (
    "BetaGamma", "CIFE", "CMI", "CMICOT", "CMIM", "CMIM-3", "CMIM-4", "DISR", "HOCMIM", "HOCMIM-R",
    "ICAP", "JIM", "JMI", "JMI-3", "JMI-4", "JMIM", "MIFS", "MIM", "mRMR", "NJMIM", "Relax-mRMR",
)  # fmt: skip
FILTERS = ("FS-OLS", "Fisher", "Gini", "ILFS", "Kruskal-Wallis", "NCA", "ReliefF")


def key(case):
    """The name of a case: its words, in one line."""
    words = {name: value for name, value in case.items() if name != "same_as"}
    first = [str(words.pop(name)) for name in ("call", "method", "table") if name in words]
    return " ".join([*first, *(f"{name}={_short(value)}" for name, value in words.items())])


def _short(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{_short(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_short, value)) + "]"
    return str(value)


def all_cases():
    """Every case, by its name."""
    makers = (
        methods, options, interactions, codings, rows, several_targets, tests, constraints, ways,
        questions, cross_validation, stability, comparison, codes, clusters, information,
    )  # fmt: skip
    cases = [case for make in makers for case in make()]
    by_key = {key(case): case for case in cases}
    assert len(by_key) == len(cases), "two cases have the same name"
    return by_key


def methods():
    """Every method; those of information theory with every estimator."""
    for method in INFORMATION:
        for estimator in ESTIMATORS:
            yield {"method": method, "table": "levels", "estimator": estimator}
        for estimator in ESTIMATORS[:3]:
            yield {"method": method, "table": "few", "estimator": estimator}
        for table in ("binary", "mixed", "copies"):
            yield {"method": method, "table": table}
    for method in ("HOCMIM", "HOCMIM-R", "CMIM", "JMI-3"):
        for table in (
            "classes",
            "floats",
            "xor",
            "skewed",
            "constant",
            "quantity",
            "counts",
            "holes",
        ):
            yield {"method": method, "table": table}
    yield {"method": "CMICOT", "table": "skewed"}
    for method in FILTERS:
        for table in ("levels", "floats", "few", "skewed", "counts"):
            yield {"method": method, "table": table}
    for method in ("FS-OLS", "Fisher", "ReliefF"):
        yield {"method": method, "table": "quantity"}


def options():
    """Parameters that only some methods have."""
    for table in ("levels", "copies"):
        for given in (
            {"form": "conditional"}, {"tol": 0}, {"tol": 0.2}, {"max_order": 1}, {"max_order": 3},
        ):  # fmt: skip
            yield {"method": "HOCMIM", "table": table, "options": given}
        for max_order in (1, 2):
            given = {"max_order": max_order}
            yield {"method": "HOCMIM-R", "table": table, "options": given}
    yield {"method": "HOCMIM", "table": "levels", "k": 16, "options": {"max_order": 12, "tol": 0}}
    yield {"method": "HOCMIM-R", "table": "levels", "k": 16}
    yield {"method": "MIFS", "table": "levels", "options": {"beta": 0.3}}
    yield {"method": "BetaGamma", "table": "levels", "options": {"beta": 0.5, "gamma": 0.25}}
    yield {"method": "CMIM", "table": "levels", "options": {"with_relevance": False}}
    for team_size in (1, 3, 10):
        yield {"method": "CMICOT", "table": "levels", "options": {"team_size": team_size}}
    yield {"method": "ReliefF", "table": "levels", "options": {"n_neighbors": 3}}
    yield {"method": "NCA", "table": "floats", "options": {"regularization": 0.1}}
    yield {"method": "ILFS", "table": "levels", "options": {"n_tokens": 4}}
    for method in ("HOCMIM-R", "Gini"):
        for k in (0.3, None):
            yield {"method": method, "table": "levels", "k": k}


def interactions():
    """Pairs and triples of columns as candidates. All other cases of HOCMIM-R are without."""
    base = {"method": "HOCMIM-R", "options": {"interactions": "auto"}}
    for table in ("floats", "xor", "levels", "quantity", "copies"):
        yield {**base, "table": table}
    yield {**base, "table": "targets", "target_strategy": "mean"}
    yield {**base, "table": "xor", "test": {"alpha": 0.05}}
    for way in ("two threads", "codes on disk", "checkpoint", "saved", "extended", "dask frame"):
        yield _by({**base, "table": "floats"}, way)


def codings():
    """How columns and the target are cut and coded."""
    for discretizer in ("uniform", "mdlp"):
        for method in ("HOCMIM-R", "JMI"):
            for table in ("floats", "mixed", "quantity"):
                yield {"method": method, "table": table, "discretizer": discretizer}
    for n_bins in (2, 12, 180):
        for method in ("HOCMIM", "JMI"):
            yield {"method": method, "table": "floats", "n_bins": n_bins}
    for max_levels in (4, None):
        yield {"method": "JMI", "table": "mixed", "max_levels": max_levels}
    for identifiers in ("warn", "keep"):
        yield {"method": "JMI", "table": "mixed", "identifiers": identifiers, "max_levels": None}
    for bins in (2, 7):
        for discretizer in ("quantile", "uniform"):
            cut = {"target_bins": bins, "target_discretizer": discretizer}
            yield {"method": "CMIM", "table": "quantity", **cut}
    yield {"method": "CMIM", "table": "quantity", "target_kind": "quantity"}
    yield {"method": "CMIM", "table": "quantity", "target_kind": "classes"}
    yield {"method": "JMI", "table": "classes", "target_kind": "classes"}


def rows():
    """Weights of rows."""
    for kind in ("whole", "fractional", "balanced"):
        for method in ("HOCMIM-R", "HOCMIM", "JMI"):
            for table in ("levels", "mixed", "skewed"):
                yield {"method": method, "table": table, "weights": kind}
        yield {"method": "Fisher", "table": "skewed", "weights": kind}
    for kind in ("whole", "fractional"):
        yield {"method": "JMI", "table": "quantity", "weights": kind}
        yield {"method": "JMI", "table": "floats", "discretizer": "mdlp", "weights": kind}
        yield {"method": "JMI", "table": "counts", "weights": kind}


def several_targets():
    for strategy in ("joint", "mean"):
        for method in ("HOCMIM-R", "HOCMIM", "JMI", "CMIM", "CMICOT", "MIM"):
            yield {"method": method, "table": "targets", "target_strategy": strategy}
        for more in ({"weights": "whole"}, {"test": {"alpha": 0.05}}, {"ask": ["explain"]}):
            yield {
                "method": "HOCMIM-R", "table": "targets", "target_strategy": strategy, **more
            }  # fmt: skip
        yield {"method": "JMI", "table": "quantities", "target_strategy": strategy}


def tests():
    """As many columns as a test finds significant; error control; groups of rows."""
    for method in INFORMATION:
        yield {"method": method, "table": "levels", "test": {}}
    for table in ("mixed", "xor", "few", "quantity", "skewed", "constant"):
        for method in ("HOCMIM-R", "JMI"):
            yield {"method": method, "table": table, "test": {"alpha": 0.05}}
            permuted = {"kind": "permutation", "n_permutations": 199, "alpha": 0.05, "seed": 5}
            yield {"method": method, "table": table, "test": permuted}
    for method in ("HOCMIM-R", "HOCMIM", "MIM"):
        for table in ("levels", "copies"):
            yield {"method": method, "table": table, "test": {"fdr": 0.1}}
        permuted = {"kind": "permutation", "n_permutations": 199, "fdr": 0.2}
        yield {"method": method, "table": "levels", "test": permuted}
        yield {"method": method, "table": "levels", "test": {"max_tries": 1}}
        yield {"method": method, "table": "mixed", "test": {}, "weights": "whole"}
        for test in ({}, {"kind": "permutation", "n_permutations": 99}):
            yield {"method": method, "table": "levels", "test": test, "row_groups": True}


def constraints():
    by_name = {"D": ["d0", "d1", "d2", "d3"], "E": ["e0", "e1", "e2"]}
    by_index = [[0, 3, 4], [7, 15], [5, 6]]
    costs = [1, 2, 0.5, 3] * 4
    for method in ("HOCMIM-R", "HOCMIM", "CMIM", "JMI-3", "Fisher"):
        base = {"method": method, "table": "levels"}
        yield {**base, "keep": [2, 9]}
        yield {**base, "exclude": [4, 8, 14]}
        yield {**base, "keep": [2], "exclude": [4, 8, 14], "costs": costs}
        yield {**base, "costs": costs, "budget": 7, "k": None}
        yield {**base, "costs": costs, "budget": 7, "k": 4}
    for method in ("HOCMIM-R", "JMI", "CMICOT"):
        yield {"method": method, "table": "levels", "feature_groups": by_index}
        yield {"method": method, "table": "one_hot", "k": 3, "feature_groups": by_name}
    groups = {"feature_groups": by_name}
    for test in ({}, {"kind": "permutation", "n_permutations": 99}):
        yield {"method": "HOCMIM-R", "table": "one_hot", **groups, "test": test}
    yield {"method": "JMI", "table": "one_hot", **groups, "k": 3, "keep": ["e1"], "exclude": ["a"]}
    yield {"method": "JMI", "table": "one_hot", **groups, "k": 2, "costs": {"d0": 5, "b": 0.1}}
    yield {"method": "JMI", "table": "mixed", "keep": ["day"], "exclude": ["copy", "word"]}
    yield {"method": "HOCMIM-R", "table": "levels", "test": {}, "keep": [2], "exclude": [4]}
    yield {"method": "HOCMIM-R", "table": "levels", "test": {}, "costs": costs}


def ways():
    """Other ways to a result: each must be as recorded for the plain one."""
    for method, table in [
        ("HOCMIM-R", "levels"), ("HOCMIM-R", "mixed"), ("HOCMIM", "copies"), ("JMI", "mixed"),
        ("CMIM", "quantity"), ("JMI-3", "counts"), ("CMICOT", "skewed"), ("HOCMIM-R", "targets"),
    ]:  # fmt: skip
        plain = {"method": method, "table": table}
        if plain == {"method": "HOCMIM-R", "table": "levels"}:
            plain["test"] = {}
        if table == "targets":
            plain["target_strategy"] = "mean"
        for way in ("one thread", "two threads", "codes on disk", "checkpoint", "saved", "pickled"):
            yield _by(plain, way)
        if "test" not in plain:
            yield _by(plain, "extended")
            yield _by(plain, "extended with the table")
        if table in ("levels", "mixed", "quantity"):
            yield _by(plain, "parquet")
            yield _by(plain, "parquet folder")
    for method, table in [("HOCMIM-R", "mixed"), ("JMI", "levels"), ("CMIM", "quantity")]:
        plain = {"method": method, "table": table}
        if table == "levels":
            plain["test"] = {}
        for way in ("dask", "dask frame"):
            yield _by(plain, way)
    for method in ("ReliefF", "FS-OLS"):
        for way in ("one thread", "two threads", "saved", "extended with the table"):
            yield _by({"method": method, "table": "floats"}, way)


def _by(plain, way):
    return {**plain, "way": way, "same_as": key(plain)}


def questions():
    """Explanations, substitutes, clusters and the statement."""
    everything = ["explain", "statement", "substitutes", "clusters", "redundancy_matrix"]
    for method, table in [
        ("HOCMIM-R", "levels"), ("HOCMIM-R", "mixed"), ("HOCMIM", "copies"), ("JMI", "quantity"),
        ("CMIM", "classes"),
    ]:  # fmt: skip
        yield {"method": method, "table": table, "k": 5, "ask": [*everything]}
    for method in INFORMATION:
        yield {"method": method, "table": "levels", "k": 4, "ask": ["explain"]}
    asked = ["explain", "statement"]
    for test in ({}, {"fdr": 0.1}, {"kind": "permutation", "n_permutations": 99}):
        yield {"method": "HOCMIM-R", "table": "mixed", "test": test, "ask": asked}
    more = {"costs": [1, 2, 0.5, 3] * 4, "keep": [2], "exclude": [4], "budget": 7}
    yield {"method": "HOCMIM-R", "table": "levels", **more, "ask": asked}
    everything.remove("clusters")  # of columns, without weights and groups
    yield {"method": "JMI", "table": "mixed", "weights": "whole", "ask": [*everything]}
    groups = {"A": [0, 3, 4], "B": [7, 15], "C": [5, 6]}
    yield {"method": "HOCMIM-R", "table": "levels", "feature_groups": groups, "ask": everything}
    yield {
        "method": "HOCMIM-R", "table": "levels", "row_groups": True, "test": {}, "ask": asked
    }  # fmt: skip


def cross_validation():
    base = {"call": "cv", "method": "HOCMIM-R", "max_features": 6, "folds": 3}
    for table in ("levels", "mixed", "quantity"):
        for rule in ("one-se", "best"):
            yield {**base, "table": table, "model": "knn", "rule": rule}
    yield {**base, "table": "levels", "model": "linear", "rule": "best", "row_groups": True}
    yield {**base, "table": "levels", "model": "knn", "rule": "best", "weights": "whole"}
    yield {**base, "method": "Gini", "table": "levels", "model": "knn", "rule": "best"}
    yield {**base, "table": "targets", "model": "knn", "rule": "best", "target_strategy": "mean"}


def stability():
    base = {"call": "stability", "k": 4, "n_resamples": 8}
    for method in ("HOCMIM-R", "Gini"):
        for resampling in ("bootstrap", "subsample"):
            yield {**base, "method": method, "table": "levels", "resampling": resampling}
    for table in ("mixed", "quantity", "counts", "targets"):
        yield {**base, "method": "JMI", "table": table}
    yield {**base, "method": "JMI", "table": "levels", "row_groups": True}
    yield {**base, "method": "JMI", "table": "levels", "weights": "whole"}


def comparison():
    for table, methods in [("levels", ("HOCMIM-R", "MIM", "Gini")), ("mixed", ("CMIM", "JMI-3"))]:
        yield {"call": "compare", "table": table, "methods": methods, "k": 3}


def codes():
    """The codes of the tables, and of rows that the encoder has not seen."""
    for table in ("floats", "mixed", "classes", "holes", "counts", "skewed"):
        for discretizer in ("quantile", "uniform", "mdlp"):
            yield {"call": "codes", "table": table, "discretizer": discretizer}
    yield {"call": "codes", "table": "floats", "n_bins": 180}
    yield {"call": "codes", "table": "mixed", "max_levels": None}
    yield {"call": "codes", "table": "mixed", "max_levels": 4}


def clusters():
    for table in ("copies", "mixed", "floats", "counts"):
        for with_target in (True, False):
            yield {"call": "clusters", "table": table, "with_target": with_target}


def information():
    """Entropy, information and conditional information of columns."""
    for table in ("levels", "mixed", "few"):
        for estimator in ESTIMATORS:
            yield {"call": "information", "table": table, "estimator": estimator}
