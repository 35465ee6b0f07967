"""Warn of columns of text that hold numbers or dates, which are encoded as categories."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from hocmim.coding.encoder import Encoder
from hocmim.data.columns import column_label
from hocmim.data.recognize import recognize
from hocmim.errors import TextWarning, warn_user
from hocmim.text import one_line, some_of

SHOWN_COLUMNS, SHOWN_WIDTH = 5, 20


def text_columns(encoder: Encoder) -> dict[int, str]:
    """Return the columns of text that can be read as numbers or dates, each with a value.

    Decided on the distinct values, each counted once. With at most ``n_bins`` distinct values
    numbers are not cut either, so such columns are left out.
    """
    found: dict[int, str] = {}
    for j, levels in encoder.columns_.categories.items():
        if len(levels) <= encoder.n_bins or not isinstance(levels[0], str):
            continue
        texts = list(levels)
        reading = recognize(texts, np.ones(len(texts), np.int64))
        if reading is not None and reading.kind != "code":
            found[j] = reading.example or texts[len(texts) // 2]
    return found


def warn_of_text(encoder: Encoder, X: Any) -> None:
    """Give a ``TextWarning`` if columns of text look like numbers or dates.

    A categorical column of a DataFrame is declared to be categories and is not reported.
    """
    found = text_columns(encoder)
    if found and nw.dependencies.is_into_dataframe(X):
        dtypes = list(nw.from_native(X, eager_only=True).schema.values())
        found = {j: text for j, text in found.items() if dtypes[j] not in (nw.Categorical, nw.Enum)}
    if not found:
        return
    names = getattr(encoder, "feature_names_in_", None)
    shown = [f"{column_label(names, j)} ({one_line(v, SHOWN_WIDTH)!r})" for j, v in found.items()]
    warn_user(
        "Text that looks like numbers or dates is treated as categories: "
        f"{some_of(shown, SHOWN_COLUMNS)}. To read it as numbers or dates, pass X through "
        "hocmim.convert_text or hocmim.TextConverter.",
        TextWarning,
    )
