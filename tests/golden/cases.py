"""The cases of the golden test: a method, a table and options; and how each is run.

Only names that are public are used: what is in ``hocmim`` itself, and what its objects have.
"""

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import hocmim
from golden import describe
from golden.tables import TABLES, as_frame, table, weights

# The methods that were recorded.
METHODS = (
    "HOCMIM", "CMIM", "JMI", "DISR", "mRMR", "Relax-mRMR", "CMICOT", "JMI-3", "JMI-4", "CMIM-3",
    "CMIM-4", "MIM", "MIFS", "CIFE", "ICAP", "JMIM", "CMI", "BetaGamma", "Fisher", "Gini",
    "Kruskal-Wallis", "ReliefF", "NCA", "ILFS", "FS-OLS",
)  # fmt: skip
# Defaults that have changed since, as they were.
RECORDED_DEFAULTS = {
    "discretizer": "uniform",
    "target_bins": 5,
    "with_relevance": False,
    "identifiers": "keep",
    "max_levels": None,
    "max_tries": 1,
}
ESTIMATORS = ("plugin", "shrinkage", "miller_madow", "grassberger", "jeffreys")
DISCRETIZERS = ("uniform", "quantile", "mdlp")
INFORMATION = [name for name in METHODS if "estimator" in hocmim.make_selector(name).get_params()]
FILTERS = [name for name in METHODS if name not in INFORMATION]
# These sum by BLAS. The last bits are those of the kernel it has for the processor.
BY_BLAS = ("Fisher", "ILFS", "FS-OLS")
# L-BFGS makes much of little: some last bits of NCA depend on the number of BLAS threads too.
ROUNDED = ("NCA",)
EXPLAINED = ("levels", "mixed", "ties")


class Case(NamedTuple):
    """One result: ``run(folder)`` gives what is recorded of it; the folder is for files."""

    group: str
    key: str
    run: Callable[[Path], Any]


def all_cases():
    """Every case, by its key."""
    makers = (
        methods,
        estimators,
        variants,
        inputs,
        groups_of_columns,
        stops,
        threads,
        files,
        checkpoints,
        own_criteria,
        stability,
        comparisons,
        functions,
        codes,
        dask_cases,
    )
    cases = [case for maker in makers for case in maker()]
    by_key = {case.key: case for case in cases}
    assert len(by_key) == len(cases), "two cases have the same key"
    return by_key


# -- fitting ---------------------------------------------------------------------------------------


def caught(run):
    """What it returns; of an error, the type."""
    try:
        return run()
    except Exception as error:
        return {"error": type(error).__name__}


def fitted(selector, X, y, *, explain=False, **fit_parameters):
    """Fit the selector and describe what it found, or the type of the error it raised."""
    try:
        selector.fit(X, y, **fit_parameters)
    except Exception as error:
        return {"error": type(error).__name__}
    if not hasattr(selector, "trace_"):
        if isinstance(selector, kinds(ROUNDED)):
            return describe.ranking(selector, describe.rounded)
        if isinstance(selector, kinds(BY_BLAS)):
            found = describe.ranking(selector, describe.rounded)
            return {**found, "bits": describe.bits(selector.feature_scores_)}
        return describe.filtered(selector)
    found = describe.selection(selector)
    if explain:
        found["explain"] = describe.explanations(selector, X)
    return found


def kinds(names):
    return tuple(type(hocmim.make_selector(name)) for name in names)


def recorded(method, **parameters):
    """The selector with the defaults that were recorded."""
    known = hocmim.make_selector(method).get_params()
    defaults = {name: value for name, value in RECORDED_DEFAULTS.items() if name in known}
    given = {**defaults, **parameters}
    if "target_discretizer" in known:  # y was cut like the columns; by "quantile" with "mdlp"
        columns = given["discretizer"]
        given.setdefault("target_discretizer", "quantile" if columns == "mdlp" else columns)
    selector = hocmim.make_selector(method, **given)
    if hasattr(selector, "ranks_quantities"):  # no filter ranked for a quantity then
        selector.ranks_quantities = False
    return selector


def selector_of(method, name, parameters):
    """The selector, with as many columns to select as the table has it."""
    return recorded(method, **{"n_features_to_select": table(name).n_select, **parameters})


def written(parameters):
    """Parameters in a key."""
    return ",".join(f"{name}={value}" for name, value in parameters.items())


def selection(group, method, name, *, explain=False, weighted=False, note="", **parameters):
    """The case of one method on one table."""

    def run(folder):
        X, y, _ = table(name)
        weight = {"sample_weight": weights(name)} if weighted else {}
        return fitted(selector_of(method, name, parameters), X, y, explain=explain, **weight)

    parts = (group, method, name, written(parameters), "weighted" if weighted else "", note)
    return Case(group, "/".join(part for part in parts if part), run)


# -- in memory -------------------------------------------------------------------------------------


def methods():
    """Every method on every table; one that does not take it raises an error."""
    for method in METHODS:
        for name in TABLES:
            explain = method in INFORMATION and name in EXPLAINED
            yield selection(f"method {method}", method, name, explain=explain)


def estimators():
    """Every information-theoretic method with every estimator."""
    for name in ("levels", "holes", "tiny"):
        for method in INFORMATION:
            for estimator in ESTIMATORS:
                yield selection(f"estimators {name}", method, name, estimator=estimator)


def variants():
    """Parameters of HOCMIM and of others."""
    group = "HOCMIM variants"
    for name in ("levels", "ties", "wide", "classes"):
        for form in ("redundancy", "conditional"):
            for path in ("last", "min"):
                yield selection(group, "HOCMIM", name, form=form, path=path)
        for min_support in (2, 10):
            yield selection(group, "HOCMIM", name, min_support=min_support)
        for tol in (0, 0.2, 1):
            yield selection(group, "HOCMIM", name, tol=tol)
        for max_order in (1, 2, 4):
            yield selection(group, "HOCMIM", name, max_order=max_order)
        for max_order in (1, 2, 3):
            parameters = {"search": "exhaustive", "max_order": max_order}
            yield selection(group, "HOCMIM", name, **parameters, explain=max_order == 2)
            yield selection(group, "HOCMIM", name, **parameters, form="conditional", path="min")
        for estimator in ESTIMATORS:
            parameters = {"form": "conditional", "path": "min", "min_support": 3}
            yield selection(group, "HOCMIM", name, estimator=estimator, **parameters)
    yield selection(group, "HOCMIM", "levels", n_features_to_select=20, max_order=19, tol=0)
    yield selection(group, "HOCMIM", "levels", n_features_to_select=0.3)
    yield selection(group, "HOCMIM", "levels", n_features_to_select=None)
    yield selection(group, "HOCMIM", "levels", n_features_to_select=21)
    yield selection(group, "HOCMIM", "levels", form="other")
    group = "other variants"
    for beta in (0, 0.3):
        yield selection(group, "MIFS", "levels", beta=beta)
    for beta, gamma in [(0, 0), (0.5, 0.25), (0, 1), (1, 2.5)]:
        yield selection(group, "BetaGamma", "levels", beta=beta, gamma=gamma)
    for team_size in (1, 2, 3, 10):
        for name in ("levels", "classes"):
            yield selection(group, "CMICOT", name, team_size=team_size)
    for method in ("MIM", "CMI", "JMI-4", "CMIM-4", "Relax-mRMR", "CMICOT"):
        yield selection(group, method, "xor", n_features_to_select=12)
    yield selection(group, "ReliefF", "levels", n_neighbors=3)
    yield selection(group, "ReliefF", "tiny", n_neighbors=1)
    yield selection(group, "NCA", "floats", regularization=0.1, length_scale=2.0)
    yield selection(group, "NCA", "levels", max_samples=100)
    yield selection(group, "ILFS", "levels", n_tokens=4)
    for method in FILTERS:
        yield selection(group, method, "levels", n_features_to_select="auto")


def inputs():
    """How numbers are cut, and weights of rows."""
    for discretizer in DISCRETIZERS:
        for name in ("floats", "gaps", "regression", "holes", "classes"):
            for method in ("HOCMIM", "CMIM", "JMI", "mRMR", "CMICOT"):
                yield selection("cuts", method, name, discretizer=discretizer)
        for n_bins in (2, 3, 12):
            for method in ("HOCMIM", "JMI"):
                parameters = {"discretizer": discretizer, "n_bins": n_bins}
                yield selection("cuts", method, "floats", **parameters)
        for bins in (2, 9):
            parameters = {"discretizer": discretizer, "target_bins": bins}
            yield selection("cuts", "CMIM", "regression", **parameters)
    # More than 256 bins: two bytes a code.
    yield selection("cuts", "HOCMIM", "floats", n_bins=300)
    yield selection("cuts", "JMIM", "many", n_bins=300)
    for method in METHODS:
        yield selection("weights", method, "levels", weighted=True)
    for method in ("HOCMIM", "JMI", "CMIM-4", "Fisher", "Gini"):
        for name in ("gaps", "mixed", "regression", "csr", "many"):
            explain = method == "HOCMIM"
            yield selection("weights", method, name, weighted=True, explain=explain)
    for method in ("HOCMIM", "CMIM", "CMICOT"):
        for discretizer in ("quantile", "mdlp"):
            yield selection("weights", method, "floats", weighted=True, discretizer=discretizer)
        yield selection(
            "weights", method, "levels", weighted=True, n_features_to_select="auto", explain=True
        )


def groups_of_columns():
    """Columns that are selected as one."""
    group = "groups"
    by_name = {"D": ["d0", "d1", "d2", "d3"], "E": ["e0", "e1", "e2"]}
    by_index = [[0, 3, 4], [7, 19], [5, 6]]
    for method in INFORMATION:
        yield selection(group, method, "one_hot", feature_groups=by_name, explain=True)
        yield selection(group, method, "levels", feature_groups=by_index, n_features_to_select=6)
    for name, groups in [("gaps", [["word", "flag"], ["number", "day"]]), ("wide", [[0, 7, 14]])]:
        yield selection(group, "HOCMIM", name, feature_groups=groups)
        yield selection(group, "JMI-3", name, feature_groups=groups)
    for stop in ("chi2", "permutation"):
        parameters = {"n_features_to_select": "auto", "stop": stop, "n_permutations": 99}
        yield selection(
            group, "HOCMIM", "one_hot", feature_groups=by_name, explain=True, **parameters
        )
    yield selection(group, "HOCMIM", "one_hot", feature_groups=by_name, weighted=True)
    yield selection(group, "JMI", "one_hot", feature_groups={"D": ["d0", "a"], "E": ["a"]})


def stops():
    """As many columns as add something."""
    auto = {"n_features_to_select": "auto"}
    for method in INFORMATION:
        for name in ("levels", "mixed"):
            yield selection("auto", method, name, **auto, explain=name == "mixed")
        permutation = {"stop": "permutation", "n_permutations": 99, "alpha": 0.05}
        yield selection("auto", method, "levels", **auto, **permutation)
    for name in ("xor", "ties", "gaps", "regression", "constant", "many", "wide", "tiny"):
        for stop in ("chi2", "permutation"):
            parameters = {"stop": stop, "n_permutations": 199, "random_state": 5}
            yield selection("auto", "HOCMIM", name, **auto, **parameters)
            yield selection("auto", "CMIM", name, **auto, **parameters, alpha=0.2)
    for min_gain in (0, 0.01, 0.05, 10):
        for method in ("HOCMIM", "mRMR", "CMIM-3", "DISR"):
            yield selection("min_gain", method, "levels", min_gain=min_gain, explain=True)
    yield selection("min_gain", "HOCMIM", "gaps", min_gain=0.02, **auto, explain=True)
    yield selection("min_gain", "HOCMIM", "levels", min_gain=-1)


def threads():
    """One thread and two."""
    for n_jobs in (1, 2):
        for method in INFORMATION:
            for name in ("wide", "ties"):
                yield selection("threads", method, name, n_jobs=n_jobs)
        for method in ("ReliefF", "NCA", "FS-OLS"):
            yield selection("threads", method, "floats", n_jobs=n_jobs)
        for stop in ("chi2", "permutation"):
            parameters = {"stop": stop, "n_permutations": 99, "n_jobs": n_jobs}
            yield selection("threads", "HOCMIM", "gaps", n_features_to_select="auto", **parameters)


# -- with files ------------------------------------------------------------------------------------


def files():
    """Codes that are kept in a folder, and tables that are Parquet files."""
    for method in ("HOCMIM", "JMI", "CMIM", "JMI-4"):
        for name in ("levels", "gaps", "many", "csr"):
            yield Case("files", f"files/{method}/{name}/codes_dir", twice(method, name))
    yield Case("files", "files/CMICOT/levels/codes_dir", twice("CMICOT", "levels"))
    yield Case("files", "files/HOCMIM/mixed/codes_dir", twice("HOCMIM", "mixed", explain=True))
    for method in ("HOCMIM", "mRMR", "CMIM-3"):
        for name in ("levels", "gaps", "regression"):
            for discretizer in DISCRETIZERS:
                yield parquet(method, name, 1, discretizer=discretizer)
    for name in ("mixed", "gaps"):
        yield parquet("HOCMIM", name, 3)
        yield parquet("JMI", name, 3, n_features_to_select="auto")
    yield parquet("Fisher", "levels", 1)


def twice(method, name, explain=False):
    """Run a method with a folder for the codes; they are written, and then used again."""

    def run(folder):
        X, y, _ = table(name)
        runs = {}
        for which in ("written", "used"):
            selector = selector_of(method, name, {"codes_dir": folder / "codes"})
            runs[which] = fitted(selector, X, y, explain=explain)
        return runs

    return run


def parquet(method, name, n_files, **parameters):
    """The case of a table that is one file, or a folder of several; the target is a column."""

    def run(folder):
        frame = as_frame(name)
        path = folder / "table"
        path.mkdir()
        for i, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
            frame.iloc[rows].to_parquet(path / f"part{i}.parquet", index=False)
        X = path if n_files > 1 else path / "part0.parquet"
        return fitted(selector_of(method, name, parameters), X, "y", explain=method == "HOCMIM")

    key = f"files/{method}/{name}/parquet of {n_files}/{written(parameters)}"
    return Case("files", key, run)


def checkpoints():
    """A search that ends after three columns and goes on from its checkpoint."""
    for method in INFORMATION:
        for name in ("levels", "holes") if method in ("HOCMIM", "CMICOT", "JMI-4") else ("holes",):
            yield Case(
                "checkpoint", f"checkpoint/{method}/{name}", resumed(method, name, explain=True)
            )
    yield Case(
        "checkpoint",
        "checkpoint/HOCMIM/levels/fewer",
        resumed("HOCMIM", "levels", first=10, then=4),
    )
    yield Case(
        "checkpoint",
        "checkpoint/HOCMIM/levels/min_gain",
        resumed("HOCMIM", "levels", then=20, min_gain=0.05),
    )

    def other(folder):
        X, y, _ = table("levels")
        parameters = {"checkpoint": folder / "run"}
        first = fitted(selector_of("JMI", "levels", parameters), X, y)
        return [first, fitted(selector_of("CMIM", "levels", parameters), X, y)]

    yield Case("checkpoint", "checkpoint/another method", other)


def resumed(method, name, first=3, then=None, explain=False, **parameters):
    def run(folder):
        X, y, n_select = table(name)
        where = {**parameters, "checkpoint": folder / "run"}
        fitted(selector_of(method, name, {**where, "n_features_to_select": first}), X, y)
        again = selector_of(method, name, {**where, "n_features_to_select": then or n_select})
        return fitted(again, X, y, explain=explain)

    return run


# -- a criterion of one's own ----------------------------------------------------------------------


class Agreement(hocmim.Criterion):
    """J(X) = I(X;Y) − the largest share of rows in which X has the code of a selected column."""

    # How many updates there are before it is interrupted; not part of the object.
    patience = np.inf

    def start(self, block, y):
        self.columns = np.array([block.column(j).codes for j in range(block.n_columns)])
        self.worst = np.zeros(block.n_columns)
        return super().start(block, y)

    def update(self, newest):
        super().update(newest)
        if len(self.selected) > type(self).patience:
            raise KeyboardInterrupt
        self.worst = np.maximum(self.worst, (self.columns == newest.codes).mean(axis=1))

    def scores(self):
        return self.relevance - self.worst


@contextmanager
def interrupted_after(n_updates):
    """Let a search by Agreement be interrupted after so many columns."""
    Agreement.patience = n_updates
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        Agreement.patience = np.inf


def own_criteria():
    """A criterion of one's own, and a search by it that is interrupted."""
    group = "own criterion"
    known = hocmim.CriterionSelector(Agreement()).get_params()
    defaults = {name: value for name, value in RECORDED_DEFAULTS.items() if name in known}
    for name in ("levels", "gaps", "ties", "csr"):
        for estimator in ("plugin", "shrinkage"):

            def run(folder, name=name, estimator=estimator):
                X, y, n_select = table(name)
                selector = hocmim.CriterionSelector(Agreement(estimator), n_select, **defaults)
                return fitted(selector, X, y, explain=name != "csr")

            yield Case(group, f"{group}/{name}/{estimator}", run)

    for n_select in (7, "auto"):

        def interrupted(folder, n_select=n_select):
            X, y, _ = table("levels")
            make = {"checkpoint": folder / "run", "stop": "permutation", "n_permutations": 99}
            with interrupted_after(3):
                hocmim.CriterionSelector(Agreement(), n_select, **defaults, **make).fit(X, y)
            return fitted(hocmim.CriterionSelector(Agreement(), n_select, **defaults, **make), X, y)

        yield Case(group, f"{group}/interrupted/{n_select}", interrupted)

    def wrong(folder):
        X, y, _ = table("levels")
        return fitted(hocmim.CriterionSelector("JMI"), X, y)

    yield Case(group, f"{group}/a name", wrong)


# -- several selections ----------------------------------------------------------------------------


def stability():
    """Selections on resamples."""
    group = "stability"
    for method in ("HOCMIM", "JMI", "MIM", "Gini"):
        for resampling in ("bootstrap", "subsample"):
            yield stable(method, "levels", n_resamples=8, resampling=resampling)
    for name in ("gaps", "regression", "csr", "tiny", "many"):
        yield stable("CMIM", name, n_resamples=6)
    for n_jobs in (1, 2):
        yield stable("mRMR", "floats", n_resamples=6, n_jobs=n_jobs, random_state=3)
    yield stable("JMI", "floats", n_resamples=6, n_features_to_select=4, sample_fraction=0.7)
    yield stable("JMI", "levels", n_resamples=6, weighted=True, threshold=0.8)
    yield stable("JMI", "levels", n_resamples=1)

    def in_groups(folder):
        X, y, _ = table("one_hot")
        columns = {"D": ["d0", "d1", "d2", "d3"]}
        selector = recorded("JMI", n_features_to_select=2, feature_groups=columns)
        return describe.stability(hocmim.StabilitySelector(selector, 6).fit(X, y))

    yield Case(group, f"{group}/JMI/one_hot/groups", in_groups)

    def index(folder):
        selections = table("wide").X[:20, :30]
        value, variance, interval = hocmim.stability_index(selections)
        numbers = [describe.rounded(number) for number in (variance, *interval)]
        return [describe.exact(value), *numbers]

    yield Case(group, f"{group}/index", index)


def stable(method, name, weighted=False, **parameters):
    def run(folder):
        X, y, n_select = table(name)
        inner = recorded(method, n_features_to_select=min(4, n_select))
        selector = hocmim.StabilitySelector(inner, **parameters)
        weight = weights(name) if weighted else None
        return caught(lambda: describe.stability(selector.fit(X, y, sample_weight=weight)))

    note = "/weighted" if weighted else ""
    return Case("stability", f"stability/{method}/{name}/{written(parameters)}{note}", run)


def comparisons():
    """Several methods side by side."""
    for name, chosen in [
        ("levels", ("HOCMIM", "MIM", "Gini")),
        ("gaps", ("CMIM", "JMI-3")),
        ("regression", ("HOCMIM", "mRMR")),
    ]:

        def run(folder, name=name, chosen=chosen):
            X, y, _ = table(name)
            return describe.comparison(
                hocmim.compare_methods(
                    X,
                    y,
                    {method: recorded(method, n_features_to_select=3) for method in chosen},
                    3,
                    n_folds=3,
                    n_resamples=4,
                )
            )

        yield Case("compare", f"compare/{name}/{','.join(chosen)}", run)


# -- functions -------------------------------------------------------------------------------------


def functions():
    """Entropy and information of columns and sets of columns, each value a level."""
    for name in ("levels", "floats", "gaps", "many", "tiny", "constant"):
        for estimator in ESTIMATORS:

            def run(folder, name=name, estimator=estimator):
                return information(name, estimator)

            yield Case("functions", f"functions/{name}/{estimator}", run)

    def wrong(folder):
        X, y, _ = table("levels")
        return [
            caught(lambda: hocmim.entropy(y, estimator="none")),
            caught(lambda: hocmim.mi(y, X[:9])),
            caught(lambda: hocmim.cmi(y, y, y, unit="pounds")),
        ]

    yield Case("functions", "functions/errors", wrong)


def information(name, estimator):
    """The values for some columns of a table and for pairs of them."""
    frame = as_frame(name)
    y = frame["y"]
    sets = [frame[[column]] for column in frame.columns[:3]] + [frame[frame.columns[1:4]]]
    how = {"estimator": estimator}

    def values(function, *others):
        found = [caught(lambda X=X: function(X, *others, **how)) for X in sets]
        return [describe.exact(v) if isinstance(v, float) else v for v in found]

    return {
        "entropy": values(hocmim.entropy),
        "entropy of y in bits": describe.exact(hocmim.entropy(y, unit="bits", **how)),
        "mi": values(hocmim.mi, y),
        "mi with two": values(hocmim.mi, frame[frame.columns[2:4]]),
        "cmi": values(hocmim.cmi, y, frame[[frame.columns[2]]]),
        "cmi given three": values(hocmim.cmi, y, frame[frame.columns[1:4]]),
    }


def recorded_target(name, y):
    """The target; a continuous one in bins of equal width, as it was recorded."""
    if name != "regression":
        return y
    return hocmim.encode(np.asarray(y)[:, None], discretizer="uniform").column(0).codes


def codes():
    """The codes of each table, and those of rows an encoder has not seen."""
    for name in TABLES:
        for discretizer in DISCRETIZERS:
            for n_bins in (5, 300):

                def run(folder, name=name, discretizer=discretizer, n_bins=n_bins):
                    X, y, _ = table(name)
                    y = recorded_target(name, y)
                    how = {"discretizer": discretizer, "n_bins": n_bins, "max_levels": None}
                    found = caught(lambda: describe.codes(hocmim.encode(X, y, **how)))
                    two = caught(lambda: describe.codes(hocmim.encode(X, y, **how, n_jobs=2)))
                    return {"one thread": found, "two": two}

                yield Case("codes", f"codes/{name}/{discretizer}/{n_bins}", run)

            def later(folder, name=name, discretizer=discretizer):
                X, y, _ = table(name)
                half = X.shape[0] // 2
                is_frame = isinstance(X, pd.DataFrame)
                first, then = (X.iloc[:half], X.iloc[half:]) if is_frame else (X[:half], X[half:])
                encoder = hocmim.Encoder(discretizer, max_levels=None)
                encoder.fit(first, recorded_target(name, np.asarray(y)[:half]))
                new = caught(lambda: describe.codes(encoder.transform(then)))
                return {**describe.encoding(encoder), "new rows": new}

            yield Case("codes", f"codes/{name}/{discretizer}/new rows", later)


# -- on a cluster ----------------------------------------------------------------------------------


@contextmanager
def cluster():
    """Two workers in this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=50,
        ) as workers,
        Client(workers),
    ):
        yield


def dask_cases():
    """The same work on a Dask cluster: to be run inside ``cluster()``."""
    for method in ("HOCMIM", "CMIM", "JMI", "mRMR", "CMICOT", "JMI-3"):
        yield selection("dask", method, "levels", engine="dask")
    yield selection("dask", "HOCMIM", "gaps", engine="dask", explain=True)
    yield selection("dask", "JMI-3", "many", engine="dask")
    for stop in ("chi2", "permutation"):
        parameters = {"n_features_to_select": "auto", "stop": stop, "n_permutations": 99}
        yield selection("dask", "HOCMIM", "levels", engine="dask", **parameters)
    by_index = [[0, 3, 4], [7, 19]]
    yield selection("dask", "HOCMIM", "levels", engine="dask", feature_groups=by_index)
    yield selection("dask", "JMI", "levels", engine="dask", weighted=True)
    for name in ("mixed", "regression"):
        for kind in ("frame", "files"):
            yield collection("HOCMIM", name, kind)
    yield collection("HOCMIM", "floats", "array")


def collection(method, name, kind):
    """The case of a table that is a Dask collection, or Parquet files for the workers to read."""

    def run(folder):
        import dask.array as da
        import dask.dataframe as dd

        frame = as_frame(name)
        if kind == "array":
            X, y = (da.from_array(part, chunks=70) for part in table(name)[:2])
            X = X.rechunk((70, -1))
        elif kind == "frame":
            X, y = dd.from_pandas(frame, npartitions=3), "y"
        else:
            dd.from_pandas(frame, npartitions=3).to_parquet(folder / "table", write_index=False)
            X, y = folder / "table", "y"
        return fitted(selector_of(method, name, {"engine": "dask"}), X, y)

    return Case("dask", f"dask/{method}/{name}/{kind}", run)
