"""A file from which an interrupted search continues.

The state of a search is a function of the codes and of the features selected so far. A checkpoint
holds the steps of these features, the parameters of the search and a fingerprint of the codes; the
last two must be equal when the search continues. The number of features to select may change: a
search that ended continues if more features are requested.

The first line of the file is its title and a digest of the other lines. These are JSON, which keeps
every bit of floating-point numbers. The file is written atomically after each step.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hocmim.data.digests import new_digest
from hocmim.data.writing import write_file
from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.search.loop import Engine, forward_search
from hocmim.search.selection import Selection, Step, Stopping
from hocmim.search.stopping import StoppingRule

TITLE = "hocmim checkpoint 1"


class Checkpoint:
    """The file of one search. It is read if it exists, otherwise written.

    Parameters
    ----------
    path : path
    parameters : dict of str to values
        All parameters the result depends on.
    fingerprint : str
        Of the codes: ``Engine.fingerprint``.

    Raises
    ------
    InvalidFileError
        If the file is not a checkpoint, is damaged, or belongs to another search.
    """

    def __init__(
        self, path: str | PathLike[str], parameters: dict[str, Any], fingerprint: str
    ) -> None:
        self._path = Path(path).resolve()
        parameters = {**parameters, "hocmim": version("hocmim")}
        self._parameters = {name: _comparable(value) for name, value in parameters.items()}
        self._fingerprint = fingerprint
        self._steps: list[Step] = []
        self._p_values: list[float] = []
        self._seed: int | None = None
        self._stopping: Stopping | None = None
        if self._path.exists():
            self._read()
        else:
            self._write()  # an error comes before the work, not after it

    def search(
        self,
        engine: Engine,
        n_select: int,
        rule: StoppingRule,
        on_step: Callable[[int, Step], None] | None = None,
    ) -> Selection:
        """Run ``forward_search`` from the steps of the file on, and write each new step to it."""
        if self._seed is not None:
            rule.seed = self._seed
        rule.p_values = list(self._p_values)
        if len(self._steps) < n_select and self._stopping is not None:
            rule.stopping = self._stopping
            n_select = len(self._steps)

        def save(number: int, step: Step) -> None:
            self._steps.append(step)
            self._save_rule(rule)
            if on_step is not None:
                on_step(number, step)

        selection = forward_search(
            engine, n_select, stop=rule, on_step=save, taken=tuple(self._steps)
        )
        if rule.stopping is not None and self._stopping is None:
            self._save_rule(rule)
        return selection

    def _save_rule(self, rule: StoppingRule) -> None:
        self._p_values, self._seed, self._stopping = rule.p_values, rule.seed, rule.stopping
        self._write()

    def _write(self) -> None:
        """Replace the content of the file."""
        state = {
            "steps": self._steps,
            "p_values": self._p_values,
            "seed": self._seed,
            "stopping": self._stopping,
        }
        identity = {"parameters": self._parameters, "data": self._fingerprint}
        body = json.dumps({**identity, "state": _encode(state)}, indent=1)
        content = f"{TITLE} {_digest(body)}\n{body}".encode()
        try:
            write_file(
                self._path, lambda file: file.write(content), overwrite=True, is_durable=True
            )
        except InvalidParameterError as error:
            raise InvalidParameterError(
                f"checkpoint must be a file that can be written. {error}"
            ) from error
        except OSError as error:
            raise InvalidParameterError(
                f"checkpoint must be a file that can be written, but {self._path} cannot: {error}."
            ) from error

    def _read(self) -> None:
        contents = _parse(self._path)
        self._check_parameters(contents["parameters"])
        if contents["data"] != self._fingerprint:
            raise InvalidFileError(
                f"The checkpoint {self._path} is of other data: X or y was different when it was "
                "written. Pass the same data, or another path."
            )
        state = _decode(contents["state"])
        self._steps, self._p_values = state["steps"], state["p_values"]
        self._seed, self._stopping = state["seed"], state["stopping"]

    def _check_parameters(self, written: dict[str, Any]) -> None:
        for name in [*self._parameters, *written]:
            then, now = written.get(name), self._parameters.get(name)
            if then != now:
                raise InvalidFileError(
                    f"The checkpoint {self._path} is of another search: {name} was {then!r} when "
                    f"it was written, and is {now!r} now. Set the same value, or pass another path."
                )


# --- the file -------------------------------------------------------------------------------------


def _parse(path: Path) -> dict[str, Any]:
    try:
        title, _, body = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _not_a_checkpoint(path) from error
    kind, _, digest = title.rpartition(" ")
    if kind != TITLE:
        raise _not_a_checkpoint(path)
    if digest != _digest(body):
        raise InvalidFileError(
            f"The checkpoint {path} is damaged. Delete it to start again, or pass another path."
        )
    return json.loads(body)


def _not_a_checkpoint(path: Path) -> InvalidFileError:
    return InvalidFileError(
        f"{path} exists and is not a checkpoint that this version of hocmim can read. It was not "
        "changed. Pass another path."
    )


def _digest(text: str) -> str:
    return new_digest(text.encode()).hexdigest()


# --- values as JSON -------------------------------------------------------------------------------


def _encode(value: Any) -> Any:
    """Return a value as JSON; ``_decode`` restores it."""
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
        f"them. The criterion's describe() gave a value of type {type(value).__qualname__}: return "
        "one of these instead."
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
