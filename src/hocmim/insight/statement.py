"""What one may write about a selection in a paper: method, numbers and error rate."""

from __future__ import annotations

from importlib.metadata import version

from hocmim.search.discovery import ErrorControl
from hocmim.search.selection import Selection
from hocmim.text import count

UNTESTED = "The number of features was given; they were not tested."


def statement(method: str, selection: Selection) -> str:
    """Return two sentences: what was selected, and which error rate was controlled.

    Parameters
    ----------
    method : str
        The name of the method.
    selection : Selection
        Of a search.
    """
    control, n_selected = selection.error_control, len(selection)
    n_features = count(len(selection.relevance), "feature")
    of_all = f"{n_selected:,} of {n_features}" if n_selected else f"none of {n_features}"
    software = f"hocmim {version('hocmim')}"
    if control is None:
        return f"We selected {of_all} with {method} ({software}). {UNTESTED}"
    first = f"We selected {of_all} with {method} ({software}, N = {control.n_samples:,})."
    if selection.n_kept:
        first += (
            f" {count(selection.n_kept, 'feature')} of them {_were(selection)} given, not tested."
        )
    return f"{first} {rate_in_words(control)}"


def _were(selection: Selection) -> str:
    return "was" if selection.n_kept == 1 else "were"


def rate_in_words(control: ErrorControl) -> str:
    """Say which error rate was controlled, at which level and how."""
    level, how = f"{100 * control.level:.3g} %", _how(control)
    target = "the target" if control.n_targets == 1 else "any of the targets"
    if control.given_selected:
        false = f"no information about {target} to the features selected before"
        many, one = f"add {false} them", f"adds {false} it"
    else:
        many, one = f"have no information about {target}", f"has no information about {target}"
    if control.is_fdr:
        return (
            f"The false-discovery rate was controlled at {level}: the expected share of selected "
            f"features that {many} is at most {level} ({how})."
        )
    return (
        f"The family-wise error rate was controlled at {level}: the probability of selecting any "
        f"feature that {one} is at most {level} ({how})."
    )


def _how(control: ErrorControl) -> str:
    what = "conditional independence" if control.given_selected else "independence"
    correction = "Benjamini–Hochberg levels" if control.is_fdr else "Bonferroni correction"
    if control.test == "chi2":
        return f"G-tests of {what} with {correction}"
    seed = "" if control.seed is None else f", random seed {control.seed}"
    permutations = count(control.n_permutations or 0, "permutation")
    return f"permutation tests of {what}, {permutations}{seed}, with {correction}"
