"""Terms of information about several targets: their means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hocmim.coding.codes import Codes
from hocmim.information.counting import BlockTerms, Joint, Positions, Values


class MeanTerms:
    """Terms of each column X of a block, as the mean over several targets Y: see BlockTerms.

    With one target they are the terms of BlockTerms, to the last bit.
    """

    def __init__(
        self,
        block: Codes,
        targets: Sequence[Joint],
        estimator: str,
        on_terms: Callable[[int], None] | None = None,
    ) -> None:
        # A term counts once, however many targets it is about.
        callbacks = [None] * (len(targets) - 1) + [on_terms]
        pairs = zip(targets, callbacks, strict=True)
        self._each = [BlockTerms(block, y, estimator, each) for y, each in pairs]

    def relevance(self, which: Positions | None = None) -> Values:
        """I(X;Y)."""
        return _mean([terms.relevance(which) for terms in self._each])

    def redundancy(self, w: Joint, which: Positions | None = None) -> Values:
        """R = I(X;W) − I(X;W|Y)."""
        return _mean([terms.redundancy(w, which) for terms in self._each])

    def conditional(self, w: Joint, which: Positions | None = None) -> Values:
        """I(X;Y|W)."""
        return _mean([terms.conditional(w, which) for terms in self._each])


def _mean(values: Sequence[Values]) -> Values:
    return np.asarray(np.mean(values, axis=0))
