"""What could replace a feature, and how much information about the target that would lose.

If c takes the place of the selected feature s, and R is the other selected features, the chain rule
gives the loss exactly:

    I(R, s; Y) − I(R, c; Y)  =  I(s;Y|R) − I(c;Y|R)

Few samples support conditioning on all of R. So what a feature x adds to R is estimated as

    V(x) = max(0, min_j Î(x;Y|Z_j)),   loss(c) = V(s) − V(c)

with Miller–Madow estimates. Z_0 is empty, and Z_j holds the j features t of R with the smallest
Î(x;Y|t): those that make x most redundant. Z_2, Z_3, … count only while there are at least
``SUPPORT`` rows for each cell of Z_j that occurs. For a feature that was not selected R is empty,
and the loss is the difference of the relevances.

Only features that share information with s beyond chance are substitutes: another feature may add
as much as s, but it does not replace it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, SharedColumn, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR, UNBIASED_ESTIMATOR
from hocmim.insight.basis import Basis, basis_of
from hocmim.insight.shared import SharedInformation, SharedRow
from hocmim.parameters import check_value, whole
from hocmim.text import count, one_line, percent, quote, visible
from hocmim.threads import ThreadPool, resolve_n_jobs

# Rows for each cell of a set of selected features that is conditioned on.
SUPPORT = 5
# Members of such a set, at most.
MAX_GIVEN = 15
# V is computed for this many candidates with the largest minimum over Z_0 and Z_1, and for as many
# that share most with the feature.
N_EXAMINED = 50
# Features share information beyond chance below this p-value, corrected for their number.
ALPHA = 0.01
# A feature replaces another if it shares this much of the information, and keeps this much of what
# the other adds.
MIN_SHARE, MIN_KEPT = 0.1, 0.5
BLOCK_COLUMNS = 512
# Selected features that candidates are compared with, at most, the first ones.
MAX_COMPARED = 500


@dataclass(frozen=True)
class Substitute:
    """One feature that could replace another.

    Attributes
    ----------
    feature : str
    index : int
        Its column, or the first column of a group.
    loss : float
        Information about the target that is lost, in nats. Negative: it adds more.
    share : float
        How much information the two features share, from 0 to 1, adjusted for chance.
    adds : float
        V of the substitute: what it adds to the other selected features, in nats.
    noise : float
        Standard deviation of ``loss`` that chance alone gives, in nats: the larger one of V of the
        two features.
    relevance : float
        Its information about the target, in nats.
    is_selected : bool
    """

    feature: str
    index: int
    loss: float
    share: float
    adds: float
    noise: float
    relevance: float
    is_selected: bool

    @property
    def loss_beyond_chance(self) -> float:
        """max(0, loss − noise): 0 if chance alone could give the loss."""
        return max(0.0, self.loss - self.noise)


@dataclass(frozen=True, repr=False)
class Substitutes:
    """What could replace a feature, the best first. ``print`` it, or iterate over it.

    Substitutes are sorted by ``loss_beyond_chance``, and among equal ones by ``share``.

    Attributes
    ----------
    feature : str
    index : int
    is_selected : bool
    adds : float
        V of the feature itself: what it adds to the other selected features; its relevance if it
        was not selected. In nats.
    noise : float
        Standard deviation of ``adds`` that chance alone gives.
    target_entropy : float
        H(Y), in nats.
    rows : tuple of Substitute
    n_sharing : int
        How many features share information with it beyond chance.
    """

    feature: str
    index: int
    is_selected: bool
    adds: float
    noise: float
    target_entropy: float
    rows: tuple[Substitute, ...]
    n_sharing: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Substitute]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Substitute:
        return self.rows[place]

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the feature itself adds more than chance gives: otherwise nothing is replaced."""
        return self.adds > self.noise

    def replaces(self, row: Substitute) -> bool:
        """Whether a feature takes the place of this one, and does not merely add as much.

        It shares at least ``MIN_SHARE`` of the information, and keeps at least half of what this
        feature adds.
        """
        return self.is_beyond_chance and row.share >= MIN_SHARE and row.adds >= MIN_KEPT * self.adds

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in words."""
        name, amount = quote(self.feature), f"{self.adds:.4f} nats"
        if self.is_selected:
            first = f"{name} adds {amount} to the other selected features"
        else:
            first = f"{name} was not selected; alone it has {amount}"
        if not self.is_beyond_chance:
            could = ": it could be left out" if self.is_selected else ""
            return (f"{first}, no more than chance gives{could}.",)
        replacing = [row for row in self.rows if self.replaces(row)]
        if replacing:
            return (f"{first}.", *(self.sentence(row) for row in replacing[:3]))
        if not self.rows:
            return (f"{first}.", "No other feature shares information with it beyond chance.")
        return (f"{first}.", "No other feature can replace it: those below lose most of that.")

    def sentence(self, row: Substitute) -> str:
        """Say what one substitute costs."""
        return (
            f"{quote(self.feature)} can be replaced by {quote(row.feature)} {self.cost(row)}; they "
            f"share {percent(row.share)} of their information."
        )

    def cost(self, row: Substitute) -> str:
        """Return "at a loss of 0.0031 nats (1% of the entropy of the target)", or "at no loss"."""
        if row.loss < -row.noise:
            return f"at no loss (it adds {-row.loss:.4f} nats more)"
        if comparison_key(row.loss) <= 0:
            return "at no loss"
        share = percent(row.loss / self.target_entropy) if self.target_entropy > 0 else "0%"
        if row.loss_beyond_chance == 0:
            return f"at no loss beyond chance ({row.loss:.4f} nats)"
        return f"at a loss of {row.loss:.4f} nats ({share} of the entropy of the target)"

    def __repr__(self) -> str:
        lines = [*self.sentences, ""]
        if self.rows:
            lines.append(f"  {'loss':>8}  {'± chance':>8}  {'share':>6}  {'relevance':>9}  feature")
        for row in self.rows:
            selected = " (selected)" if row.is_selected else ""
            lines.append(
                f"  {row.loss:>8.4f}  {row.noise:>8.4f}  {row.share:>6.0%}  {row.relevance:>9.4f}  "
                f"{one_line(visible(row.feature), 40)}{selected}"
            )
        if self.n_sharing > len(self.rows) > 0:
            more = count(self.n_sharing - len(self.rows), "other feature")
            shares = "shares" if self.n_sharing - len(self.rows) == 1 else "share"
            lines.append(f"  … {more} {shares} information with it beyond chance.")
        return "\n".join(lines).rstrip()


class Replacements:
    """Finds substitutes of the features of a selection."""

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self._codes = basis.all_codes
        self._n_threads = resolve_n_jobs(basis.n_jobs)
        self.shared = SharedInformation(self._codes, n_jobs=basis.n_jobs)
        self.selected = basis.selected_columns[:MAX_COMPARED]

    @cached_property
    def relevance(self) -> Values:
        """Î(X;Y) of every feature."""
        return self._terms_of_blocks([])[0]

    @cached_property
    def _given_one(self) -> Values:
        """Î(X;Y|t) of every feature for each selected t, shape (K, D); Î(X;Y) is the first row."""
        return self._terms_of_blocks(self.selected)

    def _terms_of_blocks(self, given: Sequence[SharedColumn]) -> Values:
        D = self._codes.n_columns
        joints = [t.joint for t in given]

        def of_block(at: int) -> Values:
            block = self._codes.block(at, min(D, at + BLOCK_COLUMNS))
            terms = self.basis.terms(block, UNBIASED_ESTIMATOR)
            return np.array([terms.relevance(), *(terms.conditional(joint) for joint in joints)])

        starts = range(0, D, BLOCK_COLUMNS)
        with ThreadPool(min(self._n_threads, max(1, len(starts)))) as pool:
            return np.concatenate(list(pool.map(of_block, starts)), axis=1)

    def added(self, x: int, without: int | None, *, alone: bool = False) -> tuple[float, float]:
        """Return V(x) and its standard deviation by chance; R is all selected but ``without``.

        With ``alone`` R is empty.
        """
        N = self._codes.n_samples
        column = self._codes.column(x)
        values = self._given_one[1:, x] if not alone else np.empty(0)
        places = [
            place for place in range(len(values)) if self.selected[place].index not in (without, x)
        ]
        places.sort(key=lambda place: (float(comparison_key(values[place])), place))
        joint = Joint.of([], N)
        least, at = float(self.relevance[x]), joint
        for number, place in enumerate(places[:MAX_GIVEN], 1):
            joint = joint.with_column(self.selected[place])
            if number > 1 and joint.n_cells * SUPPORT > N:
                break
            value = self._conditional(column, joint, UNBIASED_ESTIMATOR)
            if comparison_key(value) < comparison_key(least):
                least, at = value, joint
        freedom = max(0.0, 2 * N * (self._conditional(column, at, PLUGIN_ESTIMATOR) - least))
        return max(0.0, least), float(np.sqrt(freedom / 2) / N)

    def _conditional(self, column: Column, given: Joint, estimator: str) -> float:
        terms = self.basis.terms(Codes.from_columns([column]), estimator)
        return float(terms.conditional(given)[0])

    def bound(self, without: int | None, *, alone: bool = False) -> Values:
        """Return an upper bound of V of every feature: the minimum over Z_0 and Z_1."""
        if alone:
            return np.maximum(0.0, self.relevance)
        keep = [0, *(1 + p for p, t in enumerate(self.selected) if t.index != without)]
        return np.maximum(0.0, self._given_one[keep].min(axis=0))

    def of_selected(self, n: int, n_first: int = MAX_COMPARED) -> Iterator[Substitutes]:
        """Yield the n best substitutes of each of the first selected features."""
        selected = self.basis.selection.indices[:n_first].tolist()
        for k, row in zip(selected, self.shared.rows(selected), strict=True):
            yield self.of(k, n, row)

    def of(self, k: int, n: int, row: SharedRow | None = None) -> Substitutes:
        """Return the n best substitutes of feature k; ``row`` is what it shares, if known."""
        basis = self.basis
        is_selected = k in basis.places
        if row is None:
            row = next(self.shared.rows([k]))
        D = self._codes.n_columns
        is_candidate = row.p_values(self._codes.n_samples) * D <= ALPHA
        is_candidate[k] = False
        if is_selected:  # those are in R already
            is_candidate[basis.selection.indices] = False
        candidates = np.flatnonzero(is_candidate & (row.share > 0))
        bound = self.bound(k, alone=not is_selected)[candidates]
        by_value = np.lexsort((candidates, -comparison_key(bound)))[:N_EXAMINED]
        by_share = np.lexsort((candidates, -comparison_key(row.share[candidates])))[:N_EXAMINED]
        examined = candidates[np.union1d(by_value, by_share)].tolist()
        own, noise = self.added(k, k, alone=not is_selected)
        rows = [self._row(c, (own, noise), k, row) for c in examined]
        rows.sort(key=_sort_key)
        return Substitutes(
            feature=basis.name(k),
            index=int(basis.features.first[k]),
            is_selected=is_selected,
            adds=own,
            noise=noise,
            target_entropy=basis.target_entropy,
            rows=tuple(rows[:n]),
            n_sharing=len(candidates),
        )

    def _row(self, c: int, own: tuple[float, float], k: int, row: SharedRow) -> Substitute:
        """Return candidate c in place of feature k, whose V and noise are ``own``."""
        adds, noise = self.added(c, k, alone=k not in self.basis.places)
        return Substitute(
            feature=self.basis.name(c),
            index=int(self.basis.features.first[c]),
            loss=own[0] - adds,
            share=float(row.share[c]),
            adds=adds,
            noise=max(noise, own[1]),
            relevance=float(self.relevance[c]),
            is_selected=c in self.basis.places,
        )


def _sort_key(row: Substitute) -> tuple[float, float, int]:
    loss, share = comparison_key([row.loss_beyond_chance, row.share]).tolist()
    return loss, -share, row.index


@overload
def substitutes(
    selector: Any, X: Any, y: Any = None, feature: None = None, *, n: int = 10
) -> list[Substitutes]: ...
@overload
def substitutes(
    selector: Any, X: Any, y: Any = None, feature: int | str = ..., *, n: int = 10
) -> Substitutes: ...
def substitutes(
    selector: Any, X: Any, y: Any = None, feature: int | str | None = None, *, n: int = 10
) -> Substitutes | list[Substitutes]:
    """Say what could replace a feature, and how much information about y that would lose.

    For a selected feature s with the other selected features R, the loss of a candidate c is
    V(s) − V(c), where V(x) = max(0, min_j Î(x;Y|Z_j)) estimates what x adds to R: Z_0 is empty and
    Z_j holds the j features of R that make x most redundant, as long as there are five rows for
    each of their cells. Estimates are Miller–Madow. For a feature that was not selected R is empty.
    Candidates share information with the feature beyond chance. They are sorted by the loss beyond
    chance, then by the share.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    X : table
        The table the selector was fitted on.
    y : array, optional
        The target it was fitted on; checked if given. A filter needs it.
    feature : int or str, optional
        Its index or its name. By default every selected feature.
    n : int
        How many substitutes to return for a feature, from 1 to 50.

    Returns
    -------
    Substitutes, or list of Substitutes
        ``print`` it; or iterate over it and read ``feature``, ``loss`` and ``share``. Without
        ``feature`` a list, in the order of selection.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import RobustHOCMIM
    >>> from hocmim.insight.substitutes import substitutes
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = RobustHOCMIM(8).fit(X, y)
    >>> substitutes(selector, X, y, "worst perimeter")[0].feature
    'worst radius'
    """
    check_value("n", n, [whole(1, N_EXAMINED)])
    basis = basis_of(selector, X, y)
    if feature is not None:
        return Replacements(basis).of(basis.features.find(feature), n)
    return list(Replacements(basis).of_selected(n))
