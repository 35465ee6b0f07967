"""Values as JSON: every type and every bit comes back, and nothing in a file can run.

==========================  ========================================================================
None, booleans, integers,   as in JSON
finite floats, strings
other floats                {"float": "nan"}, "inf" or "-inf"
lists                       as in JSON
tuples, bytes               {"tuple": […]}, {"bytes": "<base64>"}
dicts                       {"dict": {…}}, with strings as keys
arrays of numbers,          {"array": "<base64, little endian>", "dtype": "<f8", "shape": […]}
booleans, dates
arrays of strings, objects  {"objects": […], "dtype": "O", "<U5" or "S5"}
dates                       {"date": "2024-05-01"}, {"datetime": …}
paths                       {"path": "/folder"}; read as strings
intervals of pandas         {"pandas.Interval": [left, right, closed]}
records                     {"<name>": {…}}, the fields of a dataclass the caller lists
==========================  ========================================================================
"""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

Records = Mapping[str, type[Any]]

_RAW_KINDS = "biufmM"
_OBJECT_KINDS = "OUS"
_MAX_DIMENSIONS = 4
# Characters of an array whose strings are shorter than its type allows.
_MAX_PADDED = 1 << 22


class MalformedError(ValueError):
    """A value in a file is not what it must be; the message is a part of a sentence."""


class UnsupportedError(TypeError):
    """A value cannot be written to a file; the message names its type."""


def require(is_valid: bool, message: str) -> None:
    """Raise MalformedError unless a value is valid."""
    if not is_valid:
        raise MalformedError(message)


# --- writing --------------------------------------------------------------------------------------


def to_json(value: Any, records: Records | None = None) -> Any:
    """Return a value as JSON; ``from_json`` restores it. UnsupportedError for any other type.

    ``records`` are the dataclasses, by name, that may be in it. Their fields are written.
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufUS":
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [to_json(item, records) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: to_json(item, records) for key, item in value.items()}}
    for name, kind in (records or {}).items():
        if type(value) is kind:
            parts = {field.name: getattr(value, field.name) for field in fields(kind)}
            return {name: {key: to_json(part, records) for key, part in parts.items()}}
    if type(value) is tuple:
        return {"tuple": [to_json(item, records) for item in value]}
    if isinstance(value, np.ndarray):
        return _array_to_json(value)
    return _scalar_to_json(value)


def _array_to_json(array: NDArray[Any]) -> dict[str, Any]:
    kind = array.dtype.kind
    if kind in _RAW_KINDS and array.dtype.itemsize <= 8:
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        content = base64.b64encode(plain.tobytes()).decode()
        return {"array": content, "dtype": plain.dtype.str, "shape": list(array.shape)}
    if kind in _OBJECT_KINDS and array.ndim == 1:
        dtype = "O" if kind == "O" else array.dtype.newbyteorder("<").str
        return {"objects": [to_json(item) for item in array.tolist()], "dtype": dtype}
    raise UnsupportedError(f"array of {array.dtype}")


def _scalar_to_json(value: Any) -> dict[str, Any]:
    module, name = type(value).__module__.partition(".")[0], type(value).__name__
    if module == "pandas" and name == "Interval":
        return {"pandas.Interval": [to_json(value.left), to_json(value.right), value.closed]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, PathLike):
        return {"path": fspath(value)}
    for kind in (dt.datetime, dt.date):
        if type(value) is kind:
            return {kind.__name__: value.isoformat()}
    raise UnsupportedError(type(value).__qualname__)


# --- reading --------------------------------------------------------------------------------------


def from_json(value: Any, records: Records | None = None) -> Any:
    """Return the value that ``to_json`` wrote; MalformedError for anything else.

    Unknown fields of a record are ignored, and missing ones have their defaults: a file may be of
    a later or an earlier version.
    """
    if isinstance(value, list):
        return [from_json(item, records) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value or "objects" in value:
        return _array_from_json(value)
    require(len(value) == 1, "a value has several tags")
    ((tag, content),) = value.items()
    if tag == "dict":
        require(isinstance(content, dict), "a dict must be an object")
        return {key: from_json(item, records) for key, item in content.items()}
    if tag == "tuple":
        require(isinstance(content, list), "a tuple must be a list")
        return tuple(from_json(item, records) for item in content)
    if records is not None and tag in records:
        return _record(tag, records[tag], content, records)
    return _scalar_from_json(tag, content)


def _record(name: str, kind: type[Any], content: Any, records: Records) -> Any:
    require(isinstance(content, dict), f"a {name} must be an object")
    given = {}
    for field in fields(kind):
        if field.name in content:
            given[field.name] = from_json(content[field.name], records)
        else:
            has_default = field.default is not MISSING or field.default_factory is not MISSING
            require(has_default, f"{field.name} of a {name} is missing")
    return kind(**given)


def _array_from_json(value: dict[str, Any]) -> NDArray[Any]:
    text = value.get("dtype")
    require(isinstance(text, str) and len(text) < 16, "the type of an array must be a string")
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError) as error:
        raise MalformedError(f"{text!r} is not a type of arrays") from error
    if "objects" in value:
        items = value["objects"]
        is_valid = isinstance(items, list) and dtype.kind in _OBJECT_KINDS
        require(is_valid, "objects must be a list")
        return _objects([from_json(item) for item in items], dtype)
    require(dtype.kind in _RAW_KINDS and dtype.itemsize <= 8, f"{text!r} is not a type of numbers")
    shape: Any = value.get("shape")
    content = value["array"]
    is_shape = isinstance(shape, list) and len(shape) <= _MAX_DIMENSIONS
    require(is_shape and all(is_count(n) for n in shape), "the shape of an array must be counts")
    require(isinstance(content, str), "an array must be in base64")
    data = base64.b64decode(content, validate=True)
    require(math.prod(shape) * dtype.itemsize == len(data), "an array has another length")
    array = np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
    require(dtype.kind != "b" or bool((array.view(np.uint8) < 2).all()), "booleans must be 0 or 1")
    return array


def _objects(items: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    array = np.empty(len(items), dtype if dtype.kind == "O" else object)
    array[:] = items
    if dtype.kind == "O":
        return array
    kind = str if dtype.kind == "U" else bytes
    require(all(type(item) is kind for item in items), f"{dtype} must hold {kind.__name__}")
    width = max(map(len, items), default=0)
    size = dtype.itemsize // (4 if kind is str else 1)
    is_size = size <= max(width, 1) or size * len(items) <= _MAX_PADDED
    require(width <= size and is_size, f"the strings of {dtype} have another length")
    return array.astype(dtype.newbyteorder("="))


def _scalar_from_json(tag: str, content: Any) -> Any:
    try:
        if tag == "float":
            require(content in ("nan", "inf", "-inf"), "a float must be nan, inf or -inf")
            return float(content)
        if tag == "bytes":
            return base64.b64decode(content, validate=True)
        if tag == "path":
            require(isinstance(content, str), "a path must be a string")
            return content
        if tag in ("date", "datetime"):
            return getattr(dt, tag).fromisoformat(content)
        if tag == "pandas.Interval":
            return _interval(content)
    except (ArithmeticError, OverflowError, TypeError, LookupError) as error:
        raise MalformedError(f"{content!r} is not a {tag}") from error
    raise MalformedError(f"there is no kind of value {tag!r}")


def _interval(content: Any) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MalformedError("it has intervals of pandas, which is not installed") from error
    left, right, closed = content
    return pd.Interval(from_json(left), from_json(right), closed)


# --- checks ---------------------------------------------------------------------------------------


def is_count(value: Any) -> bool:
    """Whether a value is an integer of at least 0."""
    return type(value) is int and value >= 0


def array_of(value: Any, dtype: Any, shape: tuple[int | None, ...], name: str) -> NDArray[Any]:
    """Return an array of this type and shape (None: any length), or raise MalformedError."""
    is_array = isinstance(value, np.ndarray) and value.dtype == np.dtype(dtype)
    require(is_array and value.ndim == len(shape), f"{name} must be an array of {dtype}")
    for length, wanted in zip(value.shape, shape, strict=True):
        require(wanted is None or length == wanted, f"{name} has the wrong length")
    return value


def indices_below(value: Any, n: int, name: str, *, distinct: bool = False) -> NDArray[np.int64]:
    """Return an array of indices from 0 to n − 1; MalformedError for anything else."""
    array = array_of(value, np.int64, (None,), name)
    require(bool(((array >= 0) & (array < n)).all()), f"{name} must be from 0 to {n - 1}")
    require(not distinct or len(set(array.tolist())) == len(array), f"{name} must be distinct")
    return array
