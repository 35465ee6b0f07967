"""What one may write about a selection in a paper: method, numbers and error rate."""

from __future__ import annotations

from importlib.metadata import version

from hocmim.search.discovery import ErrorControl
from hocmim.search.selection import Selection
from hocmim.text import count

UNTESTED = "The number of features was given; they were not tested."
UNTESTED_WITH_BUDGET = "The features were not tested."


def statement(method: str, selection: Selection) -> str:
    """Return what was selected, under which conditions, and which error rate was controlled."""
    control, n_selected = selection.error_control, len(selection)
    n_features = count(len(selection.relevance), "feature")
    of_all = f"{n_selected:,} of {n_features}" if n_selected else f"none of {n_features}"
    details = [f"hocmim {version('hocmim')}", *([] if control is None else [_rows(control)])]
    sentences = [f"We selected {of_all} with {method} ({', '.join(details)})."]
    sentences += _conditions(selection, is_tested=control is not None)
    if control is None:
        has_budget = selection.spending is not None and selection.spending.budget is not None
        return " ".join([*sentences, UNTESTED_WITH_BUDGET if has_budget else UNTESTED])
    if control.weights == "relative":
        sentences.append("Weights changed the scores; the tests used each row once.")
    if control.n_groups is not None:
        sentences.append(
            "Rows of one group were not treated as independent: the tests used one row of each "
            "group at a time, or compared rows within groups."
        )
    return " ".join([*sentences, rate_in_words(control, has_kept=selection.n_kept > 0)])


def _rows(control: ErrorControl) -> str:
    """Return the number of samples, and what they are."""
    text = f"N = {control.n_samples:,}"
    if control.weights == "counts":
        text += ", rows counted by their weights"
    if control.n_groups is not None:
        text += f" in {count(control.n_groups, 'group')}"
    return text


def _conditions(selection: Selection, *, is_tested: bool) -> list[str]:
    """Return sentences on what was given: features to keep and to exclude, costs and a budget."""
    found = []
    if selection.n_kept:
        untested = ", not tested" if is_tested else ""
        verb = "was" if selection.n_kept == 1 else "were"
        found.append(f"{count(selection.n_kept, 'feature')} of them {verb} given{untested}.")
    for features, one, several in (
        (selection.excluded, "was excluded in advance", "were excluded in advance"),
        (
            selection.identifiers,
            "was left out because it identifies the rows",
            "were left out because they identify the rows",
        ),
    ):
        if features:
            said = one if len(features) == 1 else several
            found.append(f"{count(len(features), 'feature')} {said}.")
    spending = selection.spending
    if spending is not None:
        within = "" if spending.budget is None else f", within a budget of {spending.budget:g}"
        found.append(f"Features were compared by their score per unit of cost{within}.")
    return found


def rate_in_words(control: ErrorControl, *, has_kept: bool = False) -> str:
    """Say which error rate was controlled, at which level and how.

    ``has_kept``: some features were given, and the rate is that of the others.
    """
    of_these, any_one = ("the other selected", "any other") if has_kept else ("selected", "any")
    level, how = f"{100 * control.level:.3g} %", _how(control)
    target = "the target" if control.n_targets == 1 else "any of the targets"
    if control.given_selected:
        false = f"no information about {target} to the features selected before"
        with_it = (" or with them", " or with it") if control.n_sets else ("", "")
        many, one = f"add {false} them{with_it[0]}", f"adds {false} it{with_it[1]}"
    else:
        many, one = f"have no information about {target}", f"has no information about {target}"
    if control.is_fdr:
        return (
            f"The false-discovery rate was controlled at {level}: the expected share of {of_these} "
            f"features that {many} is at most {level} ({how})."
        )
    return (
        f"The family-wise error rate was controlled at {level}: the probability of selecting "
        f"{any_one} feature that {one} is at most {level} ({how})."
    )


def _how(control: ErrorControl) -> str:
    what = "conditional independence" if control.given_selected else "independence"
    correction = "Benjamini–Hochberg levels" if control.is_fdr else "Bonferroni correction"
    if control.n_sets:
        correction += f" for features and for {control.n_sets:,} pairs and triples"
    if control.test == "chi2":
        return f"G-tests of {what} with {correction}"
    seed = "" if control.seed is None else f", random seed {control.seed}"
    permutations = count(control.n_permutations or 0, "permutation")
    return f"permutation tests of {what}, {permutations}{seed}, with {correction}"
