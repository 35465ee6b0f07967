"""The files that hocmim writes and reads again: JSON with a kind, a format number and a checksum.

::

    {"sha256": "<64 hexadecimal digits>",
    "hocmim": "<kind>", "format": 1, "written_by": "<version>", "content": {…}}

The checksum is that of all bytes after the first line. A file with any other first line, or with
another checksum, is not read. A file holds values only, never code: ``values`` says how they are
written. A reader ignores fields that it does not know. A change after which it would misunderstand
a file raises the format number of the kind.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from hocmim.data.values import MalformedError
from hocmim.data.writing import check_regular, write_file
from hocmim.errors import InvalidFileError

FORMATS = {"selector": 1, "selection": 1, "checkpoint": 2, "codes": 3}
# Reading and showing values that are nested deeper could exceed the stack.
MAX_NESTING = 100
_FIRST_LINE = re.compile(rb'\{"sha256": "([0-9a-f]{64})",')
_FAMILIAR = b'{"sha256": "'

Read = TypeVar("Read")
# What reading values of other types than expected can raise.
_WRONG_VALUES = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


def checksum(content: bytes | memoryview) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def format_document(kind: str, content: dict[str, Any]) -> bytes:
    """Return a document as the bytes of its file."""
    head = {"hocmim": kind, "format": FORMATS[kind], "written_by": version("hocmim")}
    text = json.dumps({**head, "content": content}, indent=1, allow_nan=False)
    body = text.removeprefix("{\n").encode() + b"\n"
    return b'{"sha256": "%s",\n%s' % (checksum(body).encode(), body)


def parse_document(
    data: bytes, kind: str, name: str, read: Callable[[dict[str, Any]], Read]
) -> Read:
    """Return what ``read`` makes of the content of a file of this kind; ``name`` is for messages.

    ``read`` raises MalformedError for values it cannot use. InvalidFileError: the file is damaged,
    of another kind or another program, or of a later version.
    """
    first, separator, body = data.partition(b"\n")
    found = _FIRST_LINE.fullmatch(first)
    if found is None or not separator:
        raise _damaged(name) if data.startswith(_FAMILIAR) else _foreign(name, kind, data)
    if found[1].decode() != checksum(body):
        raise _damaged(name)
    try:
        document = json.loads(b"{" + body, parse_constant=_reject_constant)
        _check_head(document, kind, name)
        _check_nesting(document)
        return read(document["content"])
    except _WRONG_VALUES as error:
        if isinstance(error, InvalidFileError):
            raise
        raise InvalidFileError(
            f"{name} is not a valid {kind} file of hocmim: {_reason(error)}. Another program may "
            "have written it."
        ) from error


def write_document(
    path: str | PathLike[str], kind: str, content: dict[str, Any], *, overwrite: bool = False
) -> Path:
    """Write a document to a file, completely or not at all."""
    data = format_document(kind, content)
    return write_file(path, lambda file: file.write(data), overwrite=overwrite, is_durable=True)


def read_document(
    path: str | PathLike[str], kind: str, read: Callable[[dict[str, Any]], Read]
) -> Read:
    """Read a document from a file: see ``parse_document``."""
    check_regular(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    return parse_document(data, kind, str(path), read)


def _check_head(document: dict[str, Any], kind: str, name: str) -> None:
    found, number = document.get("hocmim"), document.get("format")
    if found != kind:
        raise InvalidFileError(f"{name} is a file of kind {found!r}, and not a {kind} of hocmim.")
    if type(number) is not int or number != FORMATS[kind]:
        by, known = document.get("written_by"), FORMATS[kind]
        raise InvalidFileError(
            f"{name} has format {number!r} and was written by hocmim {by}. This version reads "
            f"format {known} of a {kind}. Use that version of hocmim, or make the file again."
        )
    if not isinstance(document.get("content"), dict):
        raise MalformedError("it has no content")


def _check_nesting(document: Any) -> None:
    level = [document]
    for _ in range(MAX_NESTING):
        level = [
            inner
            for value in level
            if isinstance(value, (dict, list))
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
    if level:
        raise RecursionError


def _reject_constant(text: str) -> NoReturn:
    raise MalformedError(f"{text} is not a value of JSON")


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, RecursionError):
        return "its values are nested too deeply"
    return str(error).rstrip(".") or type(error).__name__


def _damaged(name: str) -> InvalidFileError:
    return InvalidFileError(
        f"{name} is damaged: its checksum is wrong. It was cut off or changed after hocmim wrote "
        "it. Make it again, or restore a copy."
    )


def _foreign(name: str, kind: str, data: bytes) -> InvalidFileError:
    if data.startswith(b"\x80"):
        return InvalidFileError(
            f"{name} looks like a pickle file. hocmim does not read these, because they can run "
            f"code. Write a {kind} file with this version of hocmim."
        )
    return InvalidFileError(f"{name} is not a {kind} file of hocmim.")
