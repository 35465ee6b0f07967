"""The events that a progress callback of ``fit`` receives."""

import numpy as np
import pandas as pd
import pytest

from hocmim import HOCMIM, JMI
from hocmim.search.progress import ProgressEvent


def table():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = rng.integers(3, size=(200, 8)) + y[:, None] * (rng.random(8) < 0.5)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]), y


@pytest.mark.parametrize("kind", [HOCMIM, JMI])
def test_an_event_for_each_selected_feature(kind):
    X, y = table()
    events = []
    selector = kind(3).fit(X, y, progress=events.append)
    assert all(isinstance(event, ProgressEvent) for event in events)
    steps = [event for event in events if event.name is not None]
    assert [event.n_selected for event in steps] == [1, 2, 3]
    assert [event.name for event in steps] == X.columns[selector.selected_].tolist()
    assert [event.score for event in steps] == selector.scores_.tolist()
    assert {event.n_to_select for event in steps} == {3}
    assert {event.stage for event in steps} == {"search"}


def test_a_test_has_no_total():
    X, y = table()
    events = []
    HOCMIM("significant").fit(X, y, progress=events.append)
    assert {event.n_to_select for event in events} == {None}


def test_a_callback_changes_no_result():
    X, y = table()
    told, quiet = HOCMIM(3).fit(X, y, progress=lambda event: None), HOCMIM(3).fit(X, y)
    assert told.scores_.tobytes() == quiet.scores_.tobytes()
