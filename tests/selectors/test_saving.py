"""Fitted selectors in files: saved, loaded, and damaged on purpose."""

import base64
import json

import numpy as np
import pandas as pd
import pytest

import hocmim
import warned
from hocmim import (
    HOCMIM,
    JMI,
    MIM,
    Budget,
    Encoder,
    Engine,
    RobustHOCMIM,
    StabilitySelector,
    StopTest,
    Target,
    list_methods,
    make_selector,
)
from hocmim.criteria.jmi_k import JMIkCriterion
from hocmim.data.documents import checksum
from hocmim.errors import (
    HocmimError,
    HocmimWarning,
    InvalidFileError,
    InvalidParameterError,
    InvalidTableError,
    MissingDependencyError,
)
from hocmim.search.selection import Selection

pytestmark = pytest.mark.filterwarnings(warned.LEAK, warned.NEW_LEVELS, warned.ONE_BIN, warned.TEXT)


def frame(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    X["word"] = rng.choice(["u", "v", "w", None], n)
    X["interval"] = pd.cut(X["a"], 3)
    X["flag"] = rng.random(n) < 0.5
    X["when"] = pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 900, n), "h")
    X["many"] = (np.arange(n) % 120).astype(str)
    X.loc[:20, "b"] = np.nan
    X["none"] = np.nan
    y = np.where((X["a"] > 0) ^ (X["word"] == "u"), "yes", "no")
    return X, y


def numbers(n=200):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 8))
    return X, (X[:, 2] + X[:, 5] > 0).astype(int)


def assert_equal(one, two, where=""):
    """Compare values, types included; records by what they show."""
    assert type(one) is type(two), where
    if isinstance(one, np.ndarray) and one.dtype != object:
        assert one.dtype == two.dtype, where
        np.testing.assert_array_equal(one, two, err_msg=where)
    elif isinstance(one, (list, tuple, np.ndarray)):
        assert len(one) == len(two), where
        for a, b in zip(one, two, strict=True):
            assert_equal(a, b, where)
    else:
        assert repr(one) == repr(two), where


def assert_same(loaded, selector):
    """Compare the public fitted attributes of two selectors."""
    found = [
        {name: value for name, value in vars(each).items() if name[0] != "_" and name[-1] == "_"}
        for each in (loaded, selector)
    ]
    # What a filter notes about its own work is not saved.
    is_filter = hasattr(selector, "feature_scores_")
    assert found[0].keys() == found[1].keys() or (is_filter and found[0].keys() < found[1].keys())
    for name in found[0].keys() - {"selection_", "features_", "encoder_", "trace_"}:
        assert_equal(found[0][name], found[1][name], name)
    assert loaded.selection_.to_json() == selector.selection_.to_json()
    assert loaded.features_.n_columns == selector.features_.n_columns
    assert repr(loaded.features_.groups) == repr(selector.features_.groups)
    if hasattr(selector, "trace_"):
        assert str(loaded.trace_) == str(selector.trace_)


def saved_and_loaded(selector, path):
    return hocmim.load(selector.save(path))


@pytest.mark.parametrize("method", list_methods())
def test_every_method_comes_back_to_the_last_bit(method, tmp_path):
    X, y = numbers()
    try:
        selector = make_selector(method, n_features_to_select=3).fit(X, y)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    loaded = saved_and_loaded(selector, tmp_path / "model.json")
    assert type(loaded) is type(selector)
    assert_same(loaded, selector)
    np.testing.assert_array_equal(loaded.transform(X), selector.transform(X))
    again = loaded.save(tmp_path / "again.json")
    assert again.read_bytes() == (tmp_path / "model.json").read_bytes()


FITS = {
    "types": lambda: RobustHOCMIM(5).fit(*frame()),
    "groups": lambda: HOCMIM(3, feature_groups={"g": ["a", "b"], "h": ["word", "c"]}).fit(*frame()),
    "significant": lambda: HOCMIM("significant", encoder=Encoder(4)).fit(*frame(2000)),
    "nothing": lambda: JMI(StopTest(0.001)).fit(
        np.random.default_rng(3).normal(size=(60, 2)), np.arange(60) % 2
    ),
    "quantity": lambda: JMI(3, target="quantity").fit(frame()[0], frame()[0]["a"]),
    "joint": lambda: JMI(3).fit(frame()[0], np.c_[frame()[1], np.arange(240) % 2]),
    "mean": lambda: HOCMIM(3, target=Target(strategy="mean")).fit(
        frame()[0], np.c_[frame()[1], np.arange(240) % 2]
    ),
    "weights": lambda: JMI(3).fit(*frame(), sample_weight=np.arange(240) % 3),
    "mdlp": lambda: JMI(3, encoder=Encoder(discretizer="mdlp")).fit(*frame()),
}


@pytest.mark.parametrize("name", FITS)
def test_every_kind_of_fit_comes_back(name, tmp_path):
    selector = FITS[name]()
    loaded = saved_and_loaded(selector, tmp_path / "model.json")
    assert_same(loaded, selector)
    assert loaded.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [True, False], ["a", "é"], [1.0, 2.0], np.array([3, 4], np.int8), [b"x", b"y"]],
    ids=str,
)
def test_classes_keep_their_types(labels, tmp_path):
    X, y = numbers()
    selector = MIM(2, target="classes").fit(X, np.asarray(labels)[y])
    loaded = saved_and_loaded(selector, tmp_path / "model.json")
    assert_equal(loaded.classes_, selector.classes_)


def test_a_new_table_is_encoded_in_the_same_way(tmp_path):
    X, y = frame()
    selector = JMI(4).fit(X, y)
    loaded = saved_and_loaded(selector, tmp_path / "model.json")
    other = frame(seed=7)[0]
    one, two = loaded.encoder_.transform(other), selector.encoder_.transform(other)
    np.testing.assert_array_equal(one.narrow, two.narrow)
    assert_equal(loaded.transform(other), selector.transform(other))


def test_a_selector_of_selectors_has_no_file(tmp_path):
    selector = StabilitySelector(JMI(3), 3).fit(*numbers())
    with pytest.raises(InvalidParameterError, match="pickle it, or save the selector in it"):
        selector.save(tmp_path / "model.json")


# --- what is not in the file ----------------------------------------------------------------------


def test_a_file_has_no_rows(tmp_path):
    X, y = frame()
    loaded = saved_and_loaded(JMI(3).fit(X, y), tmp_path / "model.json")
    with pytest.raises(InvalidTableError, match="has no codes of rows"):
        loaded.explain("a")
    rows = frame(2000)
    JMI(3).fit(*rows).save(tmp_path / "large.json")
    sizes = [(tmp_path / name).stat().st_size for name in ("model.json", "large.json")]
    assert sizes[1] < sizes[0] + 2000


def test_parameters_of_the_machine_are_not_saved(tmp_path):
    X, y = frame()
    selector = JMI(3, n_jobs=2, engine=Engine(codes_dir=tmp_path / "codes")).fit(X, y)
    loaded = saved_and_loaded(selector, tmp_path / "model.json")
    assert (loaded.n_jobs, loaded.engine) == (None, None)
    assert str(tmp_path) not in (tmp_path / "model.json").read_text()


def test_a_parameter_that_a_file_cannot_hold_is_named(tmp_path):
    X, y = frame()
    selector = JMI(3, keep=lambda names: names[:1]).fit(X, y)
    with pytest.warns(HocmimWarning, match=r"keep \(of type function\) of JMI"):
        loaded = saved_and_loaded(selector, tmp_path / "model.json")
    assert loaded.keep is None
    assert loaded.kept_.tolist() == [True, False, False]


def test_a_class_of_your_own_is_refused(tmp_path):
    class Mine(JMI):
        pass

    X, y = frame()
    with pytest.raises(InvalidParameterError, match="a class of your own"):
        Mine(3).fit(X, y).save(tmp_path / "model.json")


def test_files_are_overwritten_only_if_asked(tmp_path):
    X, y = frame()
    selector = JMI(3).fit(X, y)
    path = selector.save(tmp_path / "model.json")
    with pytest.raises(InvalidParameterError, match="already exists"):
        selector.save(path)
    selector.save(path, overwrite=True)
    with pytest.raises(InvalidFileError, match="cannot be read: No such file"):
        hocmim.load(tmp_path / "nothing.json")


# --- selections -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["significant", "groups", "nothing", "mean"])
def test_a_selection_comes_back_as_text(name):
    selection = FITS[name]().selection_
    again = Selection.from_json(selection.to_json())
    assert again.to_json() == selection.to_json()
    assert_equal(again.indices, selection.indices)
    assert_equal(again.scores, selection.scores)
    assert_equal(again.p_values, selection.p_values)
    assert repr(again.stopping) == repr(selection.stopping)
    with pytest.raises(InvalidFileError, match="damaged"):
        Selection.from_json(selection.to_json().replace("index", "Index"))


# --- later versions, and files made on purpose ----------------------------------------------------


def as_file(document):
    document = {key: value for key, value in document.items() if key != "sha256"}
    body = (json.dumps(document, indent=1).removeprefix("{\n") + "\n").encode()
    return b'{"sha256": "%s",\n%s' % (checksum(body).encode(), body)


def test_a_file_of_a_later_version_is_refused(tmp_path):
    path = JMI(3).fit(*frame()).save(tmp_path / "model.json")
    document = json.loads(path.read_text())
    path.write_bytes(as_file(document))
    hocmim.load(path)
    document["format"] += 1
    document["written_by"] = "9.1"
    path.write_bytes(as_file(document))
    with pytest.raises(InvalidFileError, match=r"written by hocmim 9.1. This version reads format"):
        hocmim.load(path)


def places(value, path=()):
    """The place of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        yield from places(item, (*path, key))


WRONG = [None, -1, 10**6, 2**63, 1.5, "x", [], {}, [1], True, {"array": "", "dtype": "<i8"}]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore")
def test_wrong_values_with_a_right_checksum_crash_nothing(seed, tmp_path):
    """Whoever can write a file can make its checksum, so that the values are checked too."""
    X, y = frame()
    text = RobustHOCMIM(3).fit(X, y).save(tmp_path / "model.json").read_text()
    rng = np.random.default_rng(seed)
    every = [place for place in places(json.loads(text)["content"]) if place]
    path = tmp_path / "model.json"
    n_refused = 0
    for _ in range(150):
        document = json.loads(text)
        *way, last = every[rng.integers(len(every))]
        parent = document["content"]
        for key in way:
            parent = parent[key]
        found = parent[last]
        if last == "array" and rng.random() < 0.7:  # other numbers, as many
            data = bytearray(base64.b64decode(found))
            if data:
                data[rng.integers(len(data))] ^= 1 << rng.integers(8)
            parent[last] = base64.b64encode(data).decode()
        else:
            parent[last] = WRONG[rng.integers(len(WRONG))]
        path.write_bytes(as_file(document))
        try:
            loaded = hocmim.load(path)
            loaded.transform(X)
            loaded.encoder_.transform(X)
            loaded.explain(0, X)
        except HocmimError:
            n_refused += 1
    assert n_refused > 50


@pytest.mark.parametrize("name", ["classes_", "target_cuts_", "target_kind_"])
def test_a_file_without_a_fitted_attribute_is_refused(name, tmp_path):
    path = JMI(3).fit(*frame()).save(tmp_path / "model.json")
    document = json.loads(path.read_text())
    del document["content"]["target"][name]
    path.write_bytes(as_file(document))
    with pytest.raises(InvalidFileError, match=f"'{name}' is missing"):
        hocmim.load(path)


def test_a_file_with_nested_values_is_refused(tmp_path):
    path = JMI(3).fit(*frame()).save(tmp_path / "model.json")
    document = json.loads(path.read_text())
    nested = []
    for _ in range(400):
        nested = [nested]
    document["content"]["parameters"]["keep"] = nested
    path.write_bytes(as_file(document))
    with pytest.raises(InvalidFileError, match="nested too deeply"):
        hocmim.load(path)


def test_an_order_that_no_set_has_is_refused(tmp_path):
    path = RobustHOCMIM(3).fit(*frame()).save(tmp_path / "model.json")
    document = json.loads(path.read_text())
    step = document["content"]["selection"]["Selection"]["steps"]["tuple"][0]["Step"]
    step["details"]["dict"]["order"] = 2**63
    path.write_bytes(as_file(document))
    with pytest.raises(InvalidFileError, match="order is out of range"):
        hocmim.load(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stop", ["significant", 3])
def test_wrong_values_in_a_checkpoint_crash_nothing(stop, tmp_path):
    X, y = frame()
    path = tmp_path / "run.json"
    RobustHOCMIM(stop, engine=hocmim.Engine(checkpoint=path)).fit(X, y)
    text = path.read_text()
    rng = np.random.default_rng(0)
    state = json.loads(text)["content"]["state"]
    every = [place for place in places(state) if place]
    every = [every[i] for i in rng.permutation(len(every))[:25]]
    n_refused = 0
    for *way, last in every:
        for wrong in (*WRONG, 99, 2**40):
            document = json.loads(text)
            parent = document["content"]["state"]
            for key in way:
                parent = parent[key]
            parent[last] = wrong
            path.write_bytes(as_file(document))
            try:
                RobustHOCMIM(stop, engine=hocmim.Engine(checkpoint=path)).fit(X, y)
            except HocmimError:
                n_refused += 1
    assert n_refused > 200


def test_a_criterion_of_your_own_is_not_saved(tmp_path):
    X, y = numbers()
    selector = hocmim.CriterionSelector(JMIkCriterion(2), n_features_to_select=2).fit(X, y)
    with pytest.raises(InvalidParameterError, match="a file cannot hold its criterion"):
        selector.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [hocmim.RobustHOCMIM, hocmim.FisherScore])
def test_what_was_kept_excluded_and_paid(tmp_path, kind):
    X, y = numbers()
    costs = np.arange(1.0, X.shape[1] + 1)
    selector = kind(Budget(20.0, 3), keep=[2], exclude=[0], costs=costs).fit(X, y)
    loaded = hocmim.load(selector.save(tmp_path / "model.json"))
    assert loaded.kept_.tolist() == selector.kept_.tolist()
    assert loaded.total_cost_ == selector.total_cost_
    assert loaded.selection_.closed == (0,)
    assert loaded.selection_.spending.budget == 20.0


def test_which_error_rate_was_controlled(tmp_path):
    X, y = numbers()
    selector = hocmim.MIM(StopTest(fdr=0.2)).fit(X, y)
    loaded = hocmim.load(selector.save(tmp_path / "model.json"))
    assert loaded.selection_.error_control == selector.selection_.error_control
    assert loaded.statement() == selector.statement()


@pytest.mark.parametrize("kind", ["pandas", "polars", "default"])
def test_set_output_comes_back(tmp_path, kind):
    X, y = frame()
    selector = JMI(2).set_output(transform=kind).fit(X, y)
    selector.save(tmp_path / "m.json")
    loaded = hocmim.load(tmp_path / "m.json")
    expected, found = selector.transform(X), loaded.transform(X)
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)
