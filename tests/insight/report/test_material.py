"""A report reads the table once: it is encoded, surveyed and digested in the same reading."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hocmim import HOCMIM, FisherScore
from hocmim.data.table import FrameTable
from hocmim.insight.notes import data_notes
from hocmim.insight.report.fingerprint import TableDigest, fingerprint
from hocmim.insight.report.material import collect

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture
def reads(monkeypatch):
    """How often each column of a DataFrame is read."""
    counts = Counter()
    read = FrameTable.read

    def counted(table, span):
        counts.update(range(span.start, span.stop))
        return read(table, span)

    monkeypatch.setattr(FrameTable, "read", counted)
    return counts


def test_every_column_is_read_once(reads):
    selector = HOCMIM(4).fit(X, Y)
    reads.clear()
    collect(selector, X, Y)
    assert set(reads.values()) == {1}
    assert len(reads) == X.shape[1]


def test_one_column_is_read_for_its_explanation(reads):
    selector = HOCMIM(4).fit(X, Y)
    reads.clear()
    selector.explain(0, X)
    assert reads == {0: 1}


@pytest.mark.parametrize("selector", [HOCMIM(4), FisherScore(4)], ids=str)
def test_fingerprint_and_notes_are_those_of_the_functions(selector):
    table = X.assign(row=np.arange(len(X)), same=1.0)
    found = collect(selector.fit(table, Y), table, Y)
    assert found.fingerprint == fingerprint(table, Y)
    encoder = getattr(selector, "encoder_", None)
    left_out = selector.identifiers_
    assert left_out.tolist() == [X.shape[1]]
    assert found.notes == data_notes(table, Y, encoder=encoder, left_out=left_out)


def test_blocks_may_be_digested_in_any_order():
    from hocmim.data.table import as_table

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "c": [0.0, np.nan], "d": ["p", None]})
    blocks = list(as_table(frame).blocks())
    for order in (blocks, blocks[::-1]):
        digest = TableDigest(frame.shape)
        for block in order:
            digest.add(block)
        assert digest.finish([0, 1]) == fingerprint(frame, [0, 1])
