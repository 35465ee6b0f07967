"""What a search needs to go on after it was interrupted, in one file written atomically.

The state of a search is a function of the codes and of the columns selected so far, so a checkpoint
is these columns, with all that was found out about them, and what tells whether the search is the
same: the parameters, and a fingerprint of the codes. How many columns are asked for is not part of
that: a finished checkpoint goes on if more are.

The file is a line (what it is, and a digest of the rest) and JSON, in which floating-point numbers
come back as they were to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.search.loop import Engine, forward_search
from hocmim.search.selection import Selection, Step, Stopping
from hocmim.search.stopping import StoppingRule

_TITLE = "hocmim checkpoint 1"


class Checkpoint:
    """The file of one search; read if it exists, otherwise made.

    Parameters
    ----------
    path : path
    parameters : dict of str to values
        What the result depends on besides the data.
    fingerprint : str
        Of the data: ``Engine.fingerprint``.

    Raises
    ------
    InvalidFileError
        If the file is not a checkpoint, is damaged, or is that of another search.
    """

    def __init__(
        self, path: str | PathLike[str], parameters: dict[str, Any], fingerprint: str
    ) -> None:
        self._path = Path(path).resolve()
        parameters = {**parameters, "hocmim": version("hocmim")}
        self._parameters = {name: _described(value) for name, value in parameters.items()}
        self._fingerprint = fingerprint
        self._steps: list[Step] = []
        self._p_values: list[float] = []
        self._seed: int | None = None
        self._stopping: Stopping | None = None
        if self._path.exists():
            self._read()
        else:
            self._write()  # now, and not after the first hour, is the time to find that it fails

    def search(
        self,
        engine: Engine,
        n_select: int,
        rule: StoppingRule,
        on_step: Callable[[int, Step], None] | None = None,
    ) -> Selection:
        """Go on with ``forward_search`` from where the file has it, and write each step to it."""
        if self._seed is not None:
            rule.seed = self._seed
        rule.p_values = list(self._p_values)
        if len(self._steps) < n_select and self._stopping is not None:
            rule.stopping = self._stopping
            n_select = len(self._steps)

        def keep(number: int, step: Step) -> None:
            self._steps.append(step)
            self._write_with(rule)
            if on_step is not None:
                on_step(number, step)

        selection = forward_search(
            engine, n_select, stop=rule, on_step=keep, taken=tuple(self._steps)
        )
        if rule.stopping is not None and self._stopping is None:
            self._write_with(rule)
        return selection

    def _write_with(self, rule: StoppingRule) -> None:
        self._p_values, self._seed, self._stopping = rule.p_values, rule.seed, rule.stopping
        self._write()

    def _write(self) -> None:
        """Put the state in the place of what was in the file."""
        state = {
            "steps": self._steps,
            "p_values": self._p_values,
            "seed": self._seed,
            "stopping": self._stopping,
        }
        identity = {"parameters": self._parameters, "data": self._fingerprint}
        body = json.dumps({**identity, "state": _encode(state)}, indent=1)
        try:
            _replace(self._path, f"{_TITLE} {_digest(body)}\n{body}")
        except OSError as error:
            raise InvalidParameterError(
                f"checkpoint must be a file that can be written, and {self._path} cannot: {error}."
            ) from error

    def _read(self) -> None:
        contents = _parse(self._path)
        self._check_parameters(contents["parameters"])
        if contents["data"] != self._fingerprint:
            raise InvalidFileError(
                f"The checkpoint {self._path} is of other data: X or y were not the same when it "
                "was written. Pass those data, or another path for these."
            )
        state = _decode(contents["state"])
        self._steps, self._p_values = state["steps"], state["p_values"]
        self._seed, self._stopping = state["seed"], state["stopping"]

    def _check_parameters(self, theirs: dict[str, Any]) -> None:
        for name in [*self._parameters, *theirs]:
            then, now = theirs.get(name), self._parameters.get(name)
            if then != now:
                raise InvalidFileError(
                    f"The checkpoint {self._path} is of another search: {name} was {then!r} when "
                    f"it was written, and is {now!r} now. Set it as it was, or pass another path."
                )


# --- the file -------------------------------------------------------------------------------------


def _replace(path: Path, text: str) -> None:
    """Write a file in such a way that there is always the old one or the new one, whole."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _parse(path: Path) -> dict[str, Any]:
    try:
        title, _, body = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _not_a_checkpoint(path) from error
    kind, _, digest = title.rpartition(" ")
    if kind != _TITLE:
        raise _not_a_checkpoint(path)
    if digest != _digest(body):
        raise InvalidFileError(
            f"The checkpoint {path} is damaged. Delete it to start anew, or pass another path."
        )
    return json.loads(body)


def _not_a_checkpoint(path: Path) -> InvalidFileError:
    return InvalidFileError(
        f"{path} exists and is not a checkpoint that this version of hocmim can read. It was left "
        "as it is; pass another path."
    )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# --- values as JSON -------------------------------------------------------------------------------


def _encode(value: Any) -> Any:
    """A value as JSON has it, so that ``_decode`` gives it back."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encode(item) for key, item in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item) for item in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.str}
    for kind in _KINDS:
        if isinstance(value, kind):
            parts = {field.name: getattr(value, field.name) for field in fields(kind)}
            return {kind.__name__: _encode(parts)}
    raise InvalidParameterError(
        "A checkpoint holds numbers, strings, arrays of numbers, and lists, tuples and dicts of "
        f"them. The criterion's describe() gave a value of type {type(value).__qualname__}."
    )


_KINDS: tuple[type[Any], ...] = (Step, Stopping)


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], value["dtype"])
    ((kind, item),) = value.items()
    if kind == "dict":
        return {key: _decode(one) for key, one in item.items()}
    if kind == "tuple":
        return tuple(map(_decode, item))
    return next(found for found in _KINDS if found.__name__ == kind)(**_decode(item))


def _described(value: Any) -> Any:
    """A parameter as JSON has it, to be compared: an object is its class and its attributes."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_described(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _described(item) for key, item in value.items()}
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    attributes = _described(vars(value)) if hasattr(value, "__dict__") else repr(value)
    return {_described(type(value)): attributes}
