"""False discoveries: which share of a whole selection may be there by chance.

A selected feature X is a **false discovery** if it adds no information about the target to the
features selected before it, S: H0: X ⟂ Y | S. The false-discovery rate is the expected share of
them among the selected features (0 if none is selected). It is a statement about the coded columns,
and about the set and order that were selected. It is not one about causes: a noisy copy of a column
that was not selected does add information, and so it is a true discovery.

``fdr=q`` tests the candidates of a step, the best first. Candidate number m of the step is selected
as discovery number k if

    p ≤ q k / (m D),        so that the adjusted p-value  p m D / k  is at most q.

D is the number of features, and p the p-value of ``search.stopping``, corrected for its sets Z.
``alpha=q`` is the same with k = 1 throughout, which bounds the probability of any false discovery.
For the first discovery the two are equal; with ``fdr`` each one that is made allows for more.

Pairs and triples. If sets of columns were screened they are hypotheses too: a false one adds a
feature that adds nothing. Nine tenths of the level are for the D columns and one tenth for the M
sets that were screened (weighted p-values: their shares add up to 1), so D above is D / 0.9 for a
column and M / 0.1 for a set. A set that adds j features can add j false ones: its k is a j-th of
the number of discoveries with it.

Selection effects. The candidate is the best of all, but each feature has a hypothesis of its own,
with a share 1/D of the level, so it does not matter how a search chooses the features it tests.
A feature that failed is tested again in the next step. Its sets Z are then those of before and a
few more, and p is corrected for all of them, while R does not change. All p-values of a finished
selection are at most q |S| / D: it is *self-consistent* in the sense of Blanchard and Roquain. This
also holds at each step, so that a selection that was interrupted has the same bound.

What theory says, for hypotheses that are chosen before the data are seen and valid p-values:

* FDR ≤ q if the p-values are independent or positively dependent, and no smaller p-value makes the
  selection smaller (Benjamini and Hochberg; Blanchard and Roquain, theorem 2.7 and below).
* FDR ≤ q (1 + 1/2 + … + 1/D) for any dependence and any search (Benjamini and Yekutieli). Divide q
  by this sum for a bound that needs nothing else.

What is measured only (``benchmarks/error_control.py``): S is chosen on the same rows, and X is
tested given the features Z ⊆ S that it depends on instead of all of S. If it depends on none of the
others given Z, then X ⟂ Y | S implies X ⟂ Y | Z; but Z is found from the data, and it is small if
rows are few. Both could raise the rate. The factor m only makes p-values larger; with it the rates
are below q on all tables.

References
----------
Benjamini, Hochberg: Controlling the false discovery rate: a practical and powerful approach to
multiple testing. Journal of the Royal Statistical Society B 57, 1995.
Benjamini, Yekutieli: The control of the false discovery rate in multiple testing under dependency.
Annals of Statistics 29, 2001.
Blanchard, Roquain: Two simple sufficient conditions for FDR control. Electronic Journal of
Statistics 2, 2008.
Genovese, Roeder, Wasserman: False discovery control with p-value weighting. Biometrika 93, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

FALSE_DISCOVERY_RATE = "false-discovery rate"
FAMILY_WISE_RATE = "family-wise error rate"
# What pairs and triples of columns have of the level if they are candidates.
SHARE_OF_SETS = 0.1


@dataclass(frozen=True)
class ErrorControl:
    """Which error rate the tests of a selection keep, and how they were made."""

    # The expected share of false discoveries among the selected features, or the probability that
    # there is any: "false-discovery rate" or "family-wise error rate".
    rate: str
    level: float  # the bound on this rate
    test: str  # how p-values are computed: "chi2" or "permutation"
    n_permutations: int | None
    seed: int | None  # ``random_state`` of the permutations, if it was a number
    n_samples: int
    n_features: int
    n_targets: int = 1
    given_selected: bool = True  # False if the features are tested without a condition: S = ∅
    n_groups: int | None = None  # of rows that are not treated as independent
    # "counts": a row of weight w is w of the ``n_samples``. "relative": weights change scores, and
    # the tests use each row once. "" without weights.
    weights: str = ""
    n_sets: int = 0  # pairs and triples of features that were hypotheses besides the features

    @property
    def is_fdr(self) -> bool:
        """Whether the false-discovery rate is controlled."""
        return self.rate == FALSE_DISCOVERY_RATE


def n_hypotheses_of(n_columns: int, n_sets: int, *, is_set: bool) -> float:
    """Return the factor of Bonferroni's correction of a column, or of a pair or triple.

    Their shares of the level add up to 1. Without sets the columns have all of it.
    """
    if not n_sets:
        return n_columns
    return n_sets / SHARE_OF_SETS if is_set else n_columns / (1 - SHARE_OF_SETS)


def discoveries(n_before: int, n_joining: int) -> float:
    """Return k for a candidate that adds so many features after so many discoveries.

    For one feature its number. A set that adds j features makes j false discoveries if it is a
    false one, so it has a j-th of what their number allows.
    """
    return (n_before + n_joining) / n_joining
