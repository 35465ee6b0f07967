"""SelectorCV: the same computed naively, the rule by hand, groups and weights."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import warned
from hocmim import JMI, MIM, Encoder, FisherScore, RobustHOCMIM, SelectorCV, Target, load
from hocmim.errors import HocmimWarning, InvalidParameterError, InvalidTableError
from hocmim.selectors.curves import Curve
from hocmim.selectors.cv import choose_size, order_choices, sizes_to_try

pytestmark = pytest.mark.filterwarnings(
    warned.CLIPPED, warned.LEAK, warned.NOTHING_PREDICTS, warned.REPEATED_ROWS
)

RNG = np.random.default_rng(3)
N = 120
Y = RNG.integers(0, 2, N)
X = RNG.normal(size=(N, 8))
X[:, 2] += 1.5 * Y
X[:, 5] += Y
GROUPS = np.arange(N) // 4


@parametrize_with_checks([SelectorCV(MIM(), max_features=2, cv=2)])
@pytest.mark.slow
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cv", [3, KFold(4), ShuffleSplit(3, random_state=0)])
def test_scores_by_hand(cv):
    model = LogisticRegression()
    found = SelectorCV([JMI(), MIM()], model, cv=cv, max_features=4).fit(X, Y)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0) if cv == 3 else cv
    for split, (train, test) in enumerate(splitter.split(X, Y)):
        expected = []
        for selector in (JMI(4), MIM(4)):
            chosen = selector.fit(X[train], Y[train]).selected_
            for K in range(1, 5):
                columns = np.sort(chosen[:K])
                fitted = clone(model).fit(X[train][:, columns], Y[train])
                guess = fitted.predict(X[test][:, columns])
                expected.append(balanced_accuracy_score(Y[test], guess))
        assert found.cv_results_[f"split{split}_test_score"] == pytest.approx(expected)
    scores = np.array([found.cv_results_[f"split{i}_test_score"] for i in range(found.n_splits_)])
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    assert found.cv_results_["standard_error"] == pytest.approx(error)
    is_best = (found.cv_results_["selector"] == found.best_selector_) & (
        found.cv_results_["n_features"] == found.best_n_features_
    )
    assert [found.best_score_] == found.cv_results_["mean_test_score"][is_best].tolist()
    refitted = {"JMI": JMI, "MIM": MIM}[found.best_selector_](found.best_n_features_).fit(X, Y)
    assert found.selected_.tolist() == refitted.selected_.tolist()
    assert found.transform(X).tobytes() == refitted.transform(X).tobytes()
    assert found.support_.sum() == found.best_n_features_


def test_a_model_by_name_is_the_pipeline_of_scikit_learn():
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    by_name = SelectorCV(JMI(), max_features=5).fit(X, Y)
    given = SelectorCV(JMI(), model, max_features=5).fit(X, Y)
    np.testing.assert_allclose(
        by_name.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"]
    )


def test_the_rule_by_hand():
    #       mean .5    .78   .8    .8    .7; the standard error at the third is .02
    scores = np.array([[0.5, 0.78, 0.78, 0.78, 0.7], [0.5, 0.78, 0.82, 0.82, 0.7]])
    curve = Curve("a", np.arange(1, 6), scores)
    assert choose_size(curve, "best").n_features == 3
    assert choose_size(curve, "one-se").n_features == 2
    better = Curve("b", np.arange(1, 3), np.array([[0.1, 0.9], [0.1, 0.9]]))
    same = Curve("c", np.arange(1, 2), np.array([[0.9], [0.9]]))
    order = [one.selector for one in order_choices([curve, better, same], "best")]
    assert order == ["c", "b", "a"]


RARE = np.random.default_rng(0)
RARE_X = RARE.normal(size=(2000, 6))


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_always_no_is_no_result(scoring):
    """At 1 : 99 noise has an accuracy of .989, and always "no" one of .990."""
    y = np.where(np.arange(2000) % 100 == 0, "yes", "no")
    with pytest.warns(HocmimWarning, match="better than always answering 'no'"):
        found = SelectorCV(JMI(), scoring=scoring).fit(RARE_X, y)
    assert not found.beats_baseline_
    assert found.baseline_score_ == pytest.approx(0.99 if scoring else 0.5)
    assert found.best_n_features_ == 1
    assert "No number of columns predicts better" in found.in_words()
    assert f"without a feature, {found.baseline_score_:.4f}" in found.in_words()
    assert str(found).splitlines()[-1].split()[:2] == ["none", "0"]


def test_a_rare_class_is_seen():
    y = RARE_X[:, 4] > np.quantile(RARE_X[:, 4], 0.99)
    found = SelectorCV(JMI()).fit(RARE_X, y)
    assert found.beats_baseline_
    assert found.best_score_ > 0.8 > found.baseline_score_ == 0.5
    assert "better than always" not in found.in_words()


def test_a_score_without_a_baseline():
    """A score of the model's own attributes: there is nothing to compare with."""
    found = SelectorCV(
        JMI(), LogisticRegression(), scoring=lambda model, X, y: -abs(model.coef_).sum()
    ).fit(X, Y)
    assert np.isnan(found.baseline_score_)
    assert found.beats_baseline_


def test_a_sample_of_a_large_table():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(6000, 3))
    found = SelectorCV(MIM(), max_features=2, cv=2).fit(table, table[:, 1] > 0)
    assert found.n_rows_ == 5000
    assert "2 splits of 5,000 rows, a sample of 6,000" in found.in_words()
    groups = np.arange(6000) // 7
    found.fit(table, table[:, 1] > 0, groups=groups)
    assert 4990 < found.n_rows_ <= 5000
    own = SelectorCV(MIM(), KNeighborsClassifier(3), max_features=1, cv=2)
    assert own.fit(table, table[:, 1] > 0).n_rows_ == 6000


def test_sizes():
    assert sizes_to_try(7) == list(range(1, 8))
    sizes = sizes_to_try(500)
    assert sizes[:20] == list(range(1, 21))
    assert sizes[-1] == 500
    assert all(a < b <= 1.15 * a for a, b in pairwise(sizes[19:]))


def test_groups_are_never_on_both_sides():
    shared = []

    class Remembers(KNeighborsClassifier):
        def fit(self, X, y):
            self.groups_ = set(X[:, 0].tolist())
            return super().fit(X, y)

    def score(model, X, y):
        if X.shape[1] == 9:  # all columns, the first is the group
            shared.append(model.groups_ & set(X[:, 0].tolist()))
        return model.score(X, y)

    labelled = np.column_stack([GROUPS, X])
    selector = MIM()
    for cv in (4, GroupKFold(3)):
        validated = SelectorCV(selector, Remembers(3), cv=cv, scoring=score)
        validated.fit(labelled, Y, groups=GROUPS)
    assert len(shared) == 7
    assert not any(shared)
    found = SelectorCV(selector, max_features=3).fit(X, Y, groups=GROUPS.astype(str))
    assert found.n_splits_ == 5
    with pytest.raises(InvalidParameterError, match="one group on both sides"):
        SelectorCV(selector, cv=KFold(3, shuffle=True, random_state=0)).fit(X, Y, groups=GROUPS)


def test_a_weight_is_a_repeated_row_on_its_side():
    weight = RNG.integers(1, 4, N)
    rows = np.repeat(np.arange(N), weight)
    folds = list(KFold(3).split(X))
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    one = SelectorCV(JMI(), cv=folds, max_features=4).fit(X, Y, sample_weight=weight)
    two = SelectorCV(JMI(), cv=repeated, max_features=4).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    assert one.selected_.tolist() == two.selected_.tolist()


def test_a_quantity_strings_and_missing_values():
    y = X[:, 2] + 0.1 * RNG.normal(size=N)
    frame = pd.DataFrame(X[:, :4].copy(), columns=list("abcd"))
    frame["word"] = np.where(y > 0, "high", "low")
    frame.loc[::7, "a"] = np.nan
    found = SelectorCV(RobustHOCMIM(), max_features=3).fit(frame, y)
    assert found.measure_ == "R²"
    assert found.best_score_ > 0.5
    assert "c" in found.get_feature_names_out()


def test_several_targets_have_one_model_each():
    """The score is the mean of the models' scores; classes and quantities may be mixed."""
    first = np.where(X[:, 2] > 0, "up", "down")
    quantity = X[:, 5] + 0.2 * RNG.normal(size=N)
    targets = pd.DataFrame({"first": first, "second": Y, "third": quantity})
    folds = list(KFold(3).split(X))
    found = SelectorCV(JMI(), cv=folds, max_features=4).fit(X, targets)
    assert found.target_kind_ == ("classes", "classes", "quantity")
    assert found.measure_ == "mean score"
    for split, (train, test) in enumerate(folds):
        chosen = JMI(4).fit(X[train], targets.iloc[train]).selected_
        for K in range(1, 5):
            columns = np.sort(chosen[:K])
            models = [KNeighborsClassifier(3), KNeighborsClassifier(3), KNeighborsRegressor(3)]
            measures = [balanced_accuracy_score, balanced_accuracy_score, r2_score]
            scores = [
                measure(
                    y[test],
                    make_pipeline(StandardScaler(), model)
                    .fit(X[train][:, columns], y[train])
                    .predict(X[test][:, columns]),
                )
                for model, measure, y in zip(models, measures, (first, Y, quantity), strict=True)
            ]
            mean = found.cv_results_[f"split{split}_test_score"][K - 1]
            assert mean == pytest.approx(np.mean(scores))
    plain = JMI(found.best_n_features_).fit(X, targets)
    assert found.selected_.tolist() == plain.selected_.tolist()


def test_several_targets_of_one_kind():
    targets = np.column_stack([Y, X[:, 2] > 0])
    model = LogisticRegression()
    for cv, groups in ((3, None), (StratifiedKFold(3), None), (3, GROUPS)):
        found = SelectorCV(
            [JMI(), JMI(target=Target(strategy="mean"))], model, cv=cv, max_features=3
        )
        found.fit(X, targets, groups=groups)
        assert found.measure_ == "balanced accuracy"
        assert found.target_kind_ == ("classes", "classes")
        assert len(found.choices_) == 2
    one = SelectorCV(JMI(), model, cv=3, max_features=3).fit(X, Y)
    twice = SelectorCV(JMI(), model, cv=3, max_features=3).fit(X, np.column_stack([Y, Y]))
    np.testing.assert_allclose(
        one.cv_results_["mean_test_score"], twice.cv_results_["mean_test_score"], rtol=1e-12
    )
    both = SelectorCV([JMI(), FisherScore()], max_features=3).fit(X, targets)
    assert {one.selector for one in both.choices_} == {"JMI", "Fisher"}
    assert get_tags(both).target_tags.multi_output
    with pytest.raises(InvalidParameterError, match="model must be a classifier"):
        SelectorCV(JMI(), Ridge()).fit(X, targets)


def test_parameters_and_encoders_are_chosen_too():
    """Candidates that differ in parameters or encoder keep them when fitted on all rows."""
    selectors = {
        "JMI": JMI(),
        "JMI(encoder=Encoder(n_bins=2))": JMI(encoder=Encoder(2)),
        "JMI(encoder=Encoder(discretizer='mdlp'))": JMI(encoder=Encoder(discretizer="mdlp")),
        "HOCMIM-R": RobustHOCMIM(max_order=2),
    }
    found = SelectorCV(list(selectors.values()), max_features=3, cv=3).fit(X, Y)
    assert {one.selector for one in found.choices_} == set(selectors)
    expected = clone(selectors[found.best_selector_])
    expected.set_params(n_features_to_select=found.best_n_features_).fit(X, Y)
    assert repr(found.selector_.encoder) == repr(expected.encoder)
    assert found.scores_.tobytes() == expected.scores_.tobytes()


def test_feature_groups_count_as_one():
    found = SelectorCV(MIM(feature_groups={"pair": [2, 5]}), rule="best").fit(X, Y)
    assert max(found.cv_results_["n_features"]) == 7
    assert {2, 5} <= set(found.selected_.tolist())
    assert len(found.selected_) == found.best_n_features_ + 1


def test_kept_and_excluded_columns():
    found = SelectorCV(MIM(keep=[0, 1, 3], exclude=[5])).fit(X, Y)
    assert found.cv_results_["n_features"].tolist() == [3, 4, 5, 6, 7]
    assert {0, 1, 3} <= set(found.selected_.tolist())
    assert 5 not in found.selected_


def test_the_chosen_selector_is_saved(tmp_path):
    found = SelectorCV(MIM(), max_features=3).fit(X, Y)
    found.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.selected_.tolist() == found.selected_.tolist()


def test_parallel_pickle_and_progress():
    told = []
    one = SelectorCV([MIM(), FisherScore()], max_features=3, cv=3)
    one.fit(X, Y, progress=lambda event: told.append((event.done, event.total)))
    assert told[:7] == [(done, 6) for done in range(7)]  # 2 selectors in 3 folds
    n_models = told[7][1]
    assert 9 <= n_models <= 18  # selectors that select the same columns share a model
    assert told[7 : 8 + n_models] == [(done, n_models) for done in range(n_models + 1)]
    two = pickle.loads(pickle.dumps(clone(one).set_params(n_jobs=2).fit(X, Y)))
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )

    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        clone(one).fit(X, Y, progress=stop)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selectors": []}, "selectors must be"),
        ({"selectors": [SelectKBest()]}, "selectors of hocmim"),
        ({"rule": "worst"}, "rule must be one of"),
        ({"max_features": 0}, "max_features must be"),
        ({"cv": 1}, "cv must be an int"),
        ({"cv": "five"}, "cv must be a number of folds"),
        ({"cv": 500}, "cv is too large"),
        ({"scoring": "beauty"}, "scoring cannot be used"),
        ({"model": "oracle"}, "model must be one of"),
        ({"model": Ridge()}, "model must be a classifier"),
    ],
)
def test_wrong_parameters(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        SelectorCV(**{"selectors": MIM(), **settings}).fit(X, Y)


def test_a_path_is_an_error(tmp_path):
    with pytest.raises(InvalidTableError, match="in memory"):
        SelectorCV(MIM()).fit(tmp_path / "table.parquet", "y")


def test_the_picture_and_the_table():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    selectors = {"MIM": MIM(), "JMI": JMI(), "8 bins": JMI(encoder=Encoder(8))}
    found = SelectorCV(selectors, max_features=4, cv=3).fit(X, Y)
    labels = found.plot_curves().get_legend_handles_labels()[1]
    assert set(selectors) <= set(labels)
    assert any(label.startswith(f"chosen: {found.best_selector_}") for label in labels)
    assert "without features" in labels
    titles, *rows = str(found).split("\n")[-5:]
    assert "balanced accuracy" in titles
    assert [row.split("  ")[0] for row in rows] == [
        *(one.selector for one in found.choices_),
        "none",
    ]
    assert "<table>" in found._html_repr()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ["knn", "linear", "forest"])
@pytest.mark.parametrize("largest", [np.finfo(float).max, 5e-324])
def test_numbers_whose_squares_overflow(model, largest):
    table = X.copy()
    table[:, 2] = np.where(Y, largest, -largest)
    table[0, 5] = np.finfo(float).max  # in one part only
    found = SelectorCV(MIM(), max_features=2, cv=2, model=model).fit(table, Y)
    assert found.best_score_ == 1
