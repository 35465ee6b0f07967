"""The events that a progress callback of ``fit`` receives."""

import numpy as np
import pandas as pd
import pytest

from hocmim import (
    HOCMIM,
    JMI,
    Encoder,
    Engine,
    RobustHOCMIM,
    SelectorCV,
    StabilitySelector,
    cluster_columns,
    compare_methods,
    interactions,
)
from hocmim.search.progress import Progress, ProgressEvent, time_text


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
    assert [event.done for event in steps] == [1, 2, 3]
    assert [event.name for event in steps] == X.columns[selector.selected_].tolist()
    assert [event.score for event in steps] == selector.scores_.tolist()
    assert {event.total for event in steps} == {3}
    assert {event.stage for event in steps} == {"search"}


def test_a_test_has_no_total():
    X, y = table()
    events = []
    HOCMIM("significant").fit(X, y, progress=events.append)
    assert {event.total for event in events if event.stage == "search"} == {None}


def test_a_callback_changes_no_result():
    X, y = table()
    told, quiet = HOCMIM(3).fit(X, y, progress=lambda event: None), HOCMIM(3).fit(X, y)
    assert told.scores_.tobytes() == quiet.scores_.tobytes()


# -- tasks: each is complete, in order, and ends with done == total --------------------------------


def tasks(events):
    """Return the stage, the numbers done and the total of each task."""
    found = []
    for event in events:
        if not found or event.stage != found[-1][0] or event.done < found[-1][1][-1]:
            found.append((event.stage, [], None))
        stage, done, total = found.pop()
        assert total is None or event.total is not None  # a total does not go
        found.append((stage, [*done, event.done], event.total))
    return found


def check(events, stages):
    found = tasks(events)
    assert [stage for stage, *_ in found] == stages
    for stage, done, total in found:
        assert done == sorted(done)
        if total is not None:
            assert done[-1] == total, stage


@pytest.fixture
def often(monkeypatch):
    """No event is left out because another one was sent just before."""
    monkeypatch.setattr("hocmim.search.progress.SECONDS_BETWEEN_EVENTS", 0.0)


@pytest.fixture
def folder(tmp_path):
    X, y = table()
    for part in range(4):
        rows = slice(50 * part, 50 * part + 50)
        X[rows].assign(y=y[rows]).astype({"x1": float}).to_parquet(tmp_path / f"{part}.parquet")
    return tmp_path


@pytest.fixture
def by_rows(monkeypatch):
    """As if there were no memory for a block of columns."""
    monkeypatch.setattr("hocmim.coding.encoded_source._column_blocks", lambda *_: [])


def test_files(folder, often, monkeypatch):
    monkeypatch.setattr("hocmim.coding.encoded_source.BLOCK_BYTES", 2 * 8 * 200)
    events = []
    JMI(2, n_jobs=1).fit(folder, "y", progress=events.append)
    check(events, ["encode", "search"])
    reading = list(dict.fromkeys(event.task for event in events if event.stage == "encode"))
    n_columns = table()[0].shape[1]
    blocks = [(at + 1, min(at + 2, n_columns)) for at in range(0, n_columns, 2)]
    files = [f"reading columns {a} to {b} of {n_columns}, file {f} of 4" for a, b in blocks
             for f in range(1, 5)]  # fmt: skip
    assert reading == ["reading the table", *files]
    assert events[1].total == len(blocks) * 200


@pytest.mark.parametrize(("discretizer", "n_passes"), [("quantile", 3), ("uniform", 2)])
def test_files_by_rows(folder, often, by_rows, discretizer, n_passes):
    events = []
    selector = JMI(2, encoder=Encoder(discretizer=discretizer), engine=None, n_jobs=1)
    selector.fit(folder, "y", progress=events.append)
    check(events, ["encode", "search"])
    reading = list(dict.fromkeys(event.task for event in events if event.stage == "encode"))
    files = [f"reading pass {p} of {n_passes}, file {f} of 4" for p in range(1, n_passes + 1)
             for f in range(1, 5)]  # fmt: skip
    # No column has more than 256 values: nothing is cut, and the second of three passes is empty.
    if n_passes == 3:
        files[5:8] = []
    assert reading == ["reading the table", *files]
    assert events[1].total == n_passes * 200


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_files_and_stored_codes(folder, tmp_path, often, n_jobs):
    events, engine = [], Engine(codes_dir=tmp_path / "codes")
    JMI(2, engine=engine, n_jobs=n_jobs).fit(str(folder), "y", progress=events.append)
    check(events, ["encode", "search"])
    assert max(event.done for event in events) == 200


def test_a_callback_stops_the_reading_of_files(folder, often):
    def stop(event):
        if "file 3 of 4" in event.task:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        JMI(2).fit(folder, "y", progress=stop)


def test_screen_and_validation(often):
    X, y = table()
    events = []
    RobustHOCMIM("cv").fit(X, y, progress=events.append)
    check(events, ["encode", "screen", "validate", "search"])


@pytest.mark.parametrize(
    ("call", "stages"),
    [
        (lambda X, y, **p: SelectorCV(JMI(), max_features=3).fit(X, y, **p),
         ["validate", "validate", "encode", "search"]),
        (lambda X, y, **p: StabilitySelector(JMI(2), 5).fit(X, y, **p), ["resample"]),
        (lambda X, y, **p: compare_methods(X, y, ["MIM", "JMI"], 2, n_resamples=3, **p),
         ["compare", "validate"]),
        (lambda X, y, **p: interactions(X, y, **p), ["encode", "screen"]),
        (lambda X, y, **p: cluster_columns(X, y, **p), ["cluster"]),
    ],
)  # fmt: skip
def test_each_call(often, call, stages):
    X, y = table()
    events = []
    call(X, y, progress=events.append)
    check(events, stages)
    assert all(event.task for event in events)

    def stop(event):
        if event.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(X, y, progress=stop)


def test_a_report(tmp_path, often):
    X, y = table()
    events = []
    JMI(2).fit(X, y).report(tmp_path / "a.html", X, y, progress=events.append)
    check(events, ["encode", "explain"])


# -- the time left ---------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr("hocmim.search.progress.time.monotonic", lambda: now[0])
    return now


def test_the_time_left(clock, capsys):
    events = []
    progress = Progress("JMI", events.append, is_verbose=True)
    progress.begin("encode", "reading", 400)
    for second, done in [(0.5, 4), (20, 100), (70, 100), (100, 400)]:
        clock[0] = 100 + second
        progress.move(f"reading, {done}", done)
    assert [event.seconds_left for event in events] == [None, None, 60, 210, None]
    assert [str(event) for event in events[2:]] == [
        "reading, 100, 1 min left", "reading, 100, 4 min left", "reading, 400"
    ]  # fmt: skip
    assert capsys.readouterr().err.splitlines() == [
        "JMI: reading, 100, 1 min left  [20.0 s]",
        "JMI: reading, 100, 4 min left  [70.0 s]",
        "JMI: reading, 400  [100.0 s]",
    ]


def test_what_was_done_before_does_not_make_it_look_fast(clock):
    events = []
    progress = Progress("bench", events.append)
    progress.begin("run", "running", 100, done=90)
    clock[0] += 10
    progress.count("running, {}")
    assert (events[-1].task, events[-1].seconds_left) == ("running, 91 of 100", pytest.approx(90))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (59.4, "59 s"), (60, "1 min"), (200, "3 min"), (3600, "1 h"),
     (7800, "2 h 10 min")],
)  # fmt: skip
def test_time_in_words(seconds, text):
    assert time_text(seconds) == text
