"""The public entry points of Python, each as a function of a table, a target and a folder."""

from inspect import signature

import hocmim
from hocmim import Engine
from hocmim.insight.checks import describe_columns
from hocmim.insight.report.page import write_report
from hocmim.selectors.registry import list_methods, make_selector

K = 2
# A worker of Dask takes a second to start: the matrix starts one cluster and keeps it.
CLUSTERS = []


def fit(name, X, y, weights=None, **parameters):
    """Fit a method; weights only where they are given and the method takes them."""
    selector = make_selector(name, n_features_to_select=K, **parameters)
    if weights is None or "sample_weight" not in signature(selector.fit).parameters:
        return selector.fit(X, y)
    return selector.fit(X, y, weights)


def _method(name):
    return lambda folder, X, y, *weights: fit(name, X, y, *weights)


def _transform_of(name):
    """Fit a usual table of the same columns, then transform the bad one."""

    def transform(folder, X, y, *weights):
        selector = _fitted_like(name, X)
        return selector.transform(X)

    return transform


def _fitted_like(name, X):
    import pandas as pd
    from bad_tables import numbers

    names = None if hasattr(X, "collect") else getattr(X, "columns", None)
    names = getattr(X, "column_names", names)  # pyarrow's columns are no names
    shape = getattr(X, "shape", None)
    is_usual = shape is not None and len(shape) == 2 and 0 < shape[1] <= 1000
    good, y = numbers(60, shape[1] if is_usual else 5)
    if names is not None and is_usual and len(set(map(str, names))) == len(names):
        good = pd.DataFrame(good, columns=pd.Index([str(each) for each in names], dtype=object))
    return make_selector(name, n_features_to_select=1).fit(good, y)


def _small(X, y, *weights):
    """A selector fitted on the bad table itself, as explain and report need it."""
    return fit("JMI", X, y, *weights)


def _explain(folder, X, y, *weights):
    selector = _small(X, y, *weights)
    return str(selector.explain(0)) + selector.statement() + repr(selector.trace_)


def _feature(selector):
    return int(selector.selected_[0])


def _save(folder, X, y, *weights):
    selector = _small(X, y, *weights)
    path = selector.save(folder / "model.json")
    again = hocmim.load(path)
    assert again.selected_.tolist() == selector.selected_.tolist()
    return again.transform(X)


def _checkpoint(folder, X, y, *weights):
    first = fit("JMI", X, y, *weights, engine=Engine(checkpoint=folder / "state"))
    second = fit("JMI", X, y, *weights, engine=Engine(checkpoint=folder / "state"))
    assert first.selected_.tolist() == second.selected_.tolist()


def _codes(folder, X, y, *weights):
    first = fit("JMI", X, y, *weights, engine=Engine(codes_dir=folder / "codes"))
    second = fit("JMI", X, y, *weights, engine=Engine(codes_dir=folder / "codes"))
    assert first.selected_.tolist() == second.selected_.tolist()


def _client():
    if not CLUSTERS:
        from distributed import Client, LocalCluster

        CLUSTERS.append(Client(LocalCluster(1, threads_per_worker=1, processes=False)))
    return CLUSTERS[0]


def _stability(folder, X, y, *weights):
    return hocmim.StabilitySelector(hocmim.MIM(K), 3).fit(X, y, *weights)


def _cv(folder, X, y, *weights):
    return hocmim.SelectorCV([hocmim.MIM()], cv=2, max_features=2).fit(X, y)


def _compare(folder, X, y, *weights):
    found = hocmim.compare_methods(X, y, ["MIM", "JMI"], K, cv=2, n_resamples=2)
    return repr(found) + found._repr_html_()


def _report(folder, X, y, *weights):
    return _small(X, y, *weights).report(folder / "page.html", X, y)


def _report_of_a_filter(folder, X, y, *weights):
    return write_report(fit("Fisher", X, y), folder / "page.html", X, y)


def _encoder(folder, X, y, *weights):
    encoder = hocmim.Encoder().fit(X, y)
    return encoder.transform(X)


METHODS = list_methods()
FITS = {f"fit {name}": _method(name) for name in METHODS}
TRANSFORMS = {f"transform {name}": _transform_of(name) for name in ("MIM", "Fisher", "HOCMIM-R")}
OTHERS = {
    "encode": lambda folder, X, y, *_: hocmim.Encoder().fit_transform(X, y),
    "encode without y": lambda folder, X, y, *_: hocmim.Encoder().fit_transform(X),
    "Encoder": _encoder,
    "entropy": lambda folder, X, y, *_: hocmim.entropy(X),
    "entropy of y": lambda folder, X, y, *_: hocmim.entropy(y),
    "mi": lambda folder, X, y, *_: hocmim.mi(X, y),
    "cmi": lambda folder, X, y, *_: hocmim.cmi(y, X, X),
    "StabilitySelector": _stability,
    "SelectorCV": _cv,
    "explain": _explain,
    "explain again": lambda folder, X, y, *w: _small(X, y, *w).explain(0, X),
    "substitutes": lambda folder, X, y, *w: str(
        hocmim.substitutes(s := _small(X, y, *w), X, y, _feature(s))
    ),
    "interactions": lambda folder, X, y, *_: str(hocmim.interactions(X, y)),
    "selected_interactions": lambda folder, X, y, *w: str(
        hocmim.selected_interactions(_small(X, y, *w), X, y)
    ),
    "extend": lambda folder, X, y, *w: fit("JMI", X, y, *w).extend(3, X, y, *w),
    "inverse_transform": lambda folder, X, y, *w: (s := _small(X, y, *w)).inverse_transform(
        s.transform(X)
    ),
    "names out": lambda folder, X, y, *w: _small(X, y, *w).get_feature_names_out(),
    "report": _report,
    "report of a filter": _report_of_a_filter,
    "compare_methods": _compare,
    "cluster_columns": lambda folder, X, y, *_: str(hocmim.cluster_columns(X, y)),
    "check_table": lambda folder, X, y, *_: str(hocmim.check_table(X, y)),
    "describe_columns": lambda folder, X, y, *_: str(describe_columns(X, y)),
    "TextConverter": lambda folder, X, y, *_: hocmim.TextConverter().fit(X, y).transform(X),
    "save and load": _save,
    "checkpoint": _checkpoint,
    "codes on disk": _codes,
    "two threads": lambda folder, X, y, *w: fit("HOCMIM-R", X, y, *w, n_jobs=2),
    "Dask": lambda folder, X, y, *w: fit("JMI", X, y, *w, engine=_client()),
    "stop by itself": lambda folder, X, y, *w: hocmim.RobustHOCMIM("significant").fit(X, y, *w),
}
ENTRY_POINTS = {**FITS, **TRANSFORMS, **OTHERS}
