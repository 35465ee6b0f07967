"""A file from which an interrupted search continues.

The state of a search is a function of the codes and of the features selected so far. A checkpoint
holds the steps of these features, the parameters of the search and a fingerprint of the codes; the
last two must be equal when the search continues. The number of features to select may change: a
search that ended continues if more features are requested.

The file is a document of the kind "checkpoint" (``hocmim.data.documents``), with a checksum. It is
written atomically after each step. A lock keeps a second run from using the same file at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hocmim.data.addresses import check_local
from hocmim.data.documents import read_document, write_document
from hocmim.data.values import UnsupportedError, is_count, require, to_json
from hocmim.data.writing import check_regular, lock_name, locked
from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.search.constraints import Constraints
from hocmim.search.joint_candidates import JointCandidates
from hocmim.search.loop import continued, forward_search
from hocmim.search.saved_selection import RECORDS, check_steps, check_stopping, read_value
from hocmim.search.selection import Selection, Step, Stopping
from hocmim.search.stopping import StoppingRule

if TYPE_CHECKING:
    from hocmim.search.engines.dask import DaskEngine
    from hocmim.search.engines.local import LocalEngine


class Checkpoint:
    """The file of one search, or its state in memory. It is read if it exists, otherwise written.

    ``parameters`` are all that the result depends on, ``fingerprint`` is that of the codes. An
    InvalidFileError says that the file is no checkpoint, is damaged, or is of another search.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None,
        parameters: dict[str, Any],
        fingerprint: str,
        n_features: int,
    ) -> None:
        if path is not None:
            check_local(path)
        self._path = Path() if path is None else Path(path).resolve()
        parameters = {**parameters, "hocmim": version("hocmim")}
        self._parameters = {name: _comparable(value) for name, value in parameters.items()}
        self._fingerprint = fingerprint
        self._n_features = n_features
        self._steps: list[Step] = []
        self._p_values: list[float] = []
        self._seed: int | None = None
        self._stopping: Stopping | None = None
        self._held = contextlib.ExitStack()
        self._is_file = path is not None
        if not self._is_file:
            return
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._held)
            self._lock()
            if self._path.exists():
                self._read()
            else:
                self._write()  # an error comes before the work, not after it
            stack.pop_all()  # the lock is held until the search ends

    @property
    def state(self) -> tuple[Any, ...]:
        """The state of the search: steps, p-values, random seed, and why it ended."""
        return list(self._steps), list(self._p_values), self._seed, self._stopping

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._steps, self._p_values, self._seed, self._stopping = state
        self._write()

    def search(
        self,
        engine: LocalEngine | DaskEngine,
        n_select: int,
        rule: StoppingRule | None,
        on_step: Callable[[int, Step], None] | None = None,
        *,
        earlier: Sequence[Step] = (),
        constraints: Constraints | None = None,
        joint: JointCandidates | None = None,
    ) -> Selection:
        """Run ``forward_search`` from the steps of the file on, and write each new step to it.

        ``earlier`` are steps of the same search that are known, for a file that has fewer.
        """
        self.start_from(earlier)
        with self:
            if rule is not None:
                if self._seed is not None:
                    rule.seed = self._seed
                rule.p_values = list(self._p_values)
                if len(self._steps) < n_select and self._stopping is not None:
                    rule.stopping = self._stopping
                    n_select = len(self._steps)
            steps = continued(self._steps, n_select)
            if len(steps) < min(n_select, len(self._steps)):
                self._steps = steps
                if rule is not None:
                    rule.p_values = rule.p_values[: sum(not step.is_kept for step in steps)]

            def save(number: int, step: Step) -> None:
                self._steps.append(step)
                self._save_rule(rule)
                if on_step is not None:
                    on_step(number, step)

            selection = forward_search(
                engine,
                n_select,
                stop=rule,
                on_step=save,
                earlier=tuple(self._steps),
                constraints=constraints,
                joint=joint,
            )
            if rule is not None and rule.stopping is not None and self._stopping is None:
                self._save_rule(rule)
            return selection

    def start_from(self, earlier: Sequence[Step]) -> None:
        """Continue from known steps of the same search, if they are more than those of the file."""
        if len(earlier) > len(self._steps):
            self._steps = list(earlier)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the file to other runs."""
        self._held.close()

    def _lock(self) -> None:
        """Lock the checkpoint; an error if another run uses it."""
        lock = self._path.with_name(lock_name(self._path.name))
        try:
            is_free = self._held.enter_context(locked(lock))
        except OSError as error:
            if os.path.lexists(lock):
                raise InvalidParameterError(
                    f"{lock} is in the place of the lock of the checkpoint: {error.strerror}. "
                    "Remove it, or pass another path."
                ) from error
            return  # the folder does not exist, or cannot be written: ``_write`` says so
        if not is_free:
            raise InvalidParameterError(
                f"Another run is using the checkpoint {self._path}. Wait for it, or pass another "
                "path."
            )

    def _save_rule(self, rule: StoppingRule | None) -> None:
        if rule is not None:
            self._p_values, self._seed, self._stopping = rule.p_values, rule.seed, rule.stopping
        self._write()

    def _write(self) -> None:
        """Replace the content of the file."""
        if not self._is_file:
            return
        state = {
            "steps": self._steps,
            "p_values": self._p_values,
            "seed": self._seed,
            "stopping": self._stopping,
        }
        identity = {"parameters": self._parameters, "data": self._fingerprint}
        content = {**identity, "state": {key: _encode(value) for key, value in state.items()}}
        try:
            write_document(self._path, "checkpoint", content, overwrite=True)
        except InvalidParameterError as error:
            raise InvalidParameterError(
                f"checkpoint must be a file that can be written. {error}"
            ) from error
        except OSError as error:
            raise InvalidParameterError(
                f"checkpoint must be a file that can be written, but {self._path} cannot: {error}."
            ) from error

    def _read(self) -> None:
        check_regular(self._path)
        try:
            contents = read_document(self._path, "checkpoint", lambda content: content)
        except (InvalidFileError, OSError) as error:
            raise _not_a_checkpoint(self._path, error) from error
        self._check_parameters(contents["parameters"])
        if contents["data"] != self._fingerprint:
            raise InvalidFileError(
                f"The checkpoint {self._path} is of other data: X or y was different when it was "
                "written. Pass the same data, or another path."
            )
        read_document(self._path, "checkpoint", self._set_state)

    def _set_state(self, content: dict[str, Any]) -> None:
        state = {key: read_value(value) for key, value in content["state"].items()}
        self._steps, self._p_values = state["steps"], state["p_values"]
        self._seed, self._stopping = state["seed"], state["stopping"]
        check_steps(self._steps, self._n_features)
        is_list = isinstance(self._p_values, list)
        require(is_list and all(type(p) is float for p in self._p_values), "p_values: numbers")
        n_tested = sum(not step.is_kept for step in self._steps)
        require(len(self._p_values) in (0, n_tested), "p_values has the wrong length")
        require(self._seed is None or is_count(self._seed), "seed must be a count")
        check_stopping(self._stopping, self._n_features)

    def _check_parameters(self, written: dict[str, Any]) -> None:
        for name in [*self._parameters, *written]:
            then, now = written.get(name), self._parameters.get(name)
            if then != now:
                raise InvalidFileError(
                    f"The checkpoint {self._path} is of another search: {name} was {then!r} when "
                    f"it was written, and is {now!r} now. Set the same value, or pass another path."
                )


def _not_a_checkpoint(path: Path, error: Exception) -> InvalidFileError:
    if "is damaged" in str(error):
        return InvalidFileError(
            f"The checkpoint {path} is damaged. Delete it to start again, or pass another path."
        )
    return InvalidFileError(
        f"{path} exists and is not a checkpoint that this version of hocmim can read ({error}). "
        "It was not changed. Pass another path."
    )


def _encode(value: Any) -> Any:
    try:
        return to_json(value, RECORDS)
    except UnsupportedError as error:
        raise InvalidParameterError(
            "A checkpoint holds numbers, strings, arrays of numbers, and lists, tuples and dicts "
            f"of them. The criterion's describe() gave a value of type {error}: return one of "
            "these instead."
        ) from error


def _comparable(value: Any) -> Any:
    """Return a parameter as JSON, for comparison: an object as its class and its attributes."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_comparable(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _comparable(item) for key, item in value.items()}
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    attributes = _comparable(vars(value)) if hasattr(value, "__dict__") else repr(value)
    return {_comparable(type(value)): attributes}
