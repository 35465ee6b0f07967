"""A transformer and a function that read the text of a table as numbers and dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.data.checks import check_features
from hocmim.data.conversion import TextConversion
from hocmim.data.recognize import PYTHON_OPTIONS, TextSettings
from hocmim.data.sources import is_row_source, open_source
from hocmim.data.table import as_table
from hocmim.data.text_source import convert_source
from hocmim.errors import InvalidParameterError
from hocmim.text import value_text

if TYPE_CHECKING:
    from hocmim._sklearn import BaseEstimator, TransformerMixin
else:
    from sklearn.base import BaseEstimator, TransformerMixin


class TextConverter(TransformerMixin, BaseEstimator):
    """Read numbers and dates that are written as text, such as "1.234,5", "$12" or "31.01.2012".

    ``fit`` recognises how each column of text is read; ``transform`` reads it in this way, in other
    tables too. Columns that are not text are not changed.

    Parameters
    ----------
    decimal : {".", ","}, optional
        The decimal separator of all columns of numbers that it fits. By default it is recognised.
    thousands : {".", ",", " ", "'", "_"}, optional
        The separator of thousands. By default it is recognised.
    dates : str, optional
        "day-first", "month-first", "year-first", or a format such as "%d.%m.%Y". By default it is
        recognised.
    columns : mapping of str to str, optional
        What single columns hold: "number", "category", "date", or "date-parts", which splits a date
        into year, month, day, weekday and, if there are times, hour.

    Attributes
    ----------
    columns_ : tuple of ColumnReading
        What was found in each column of text that looks like numbers or dates, in the order of the
        table.
    messages_ : list of str
        The same as sentences.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.

    Examples
    --------
    >>> import pandas as pd
    >>> from hocmim import TextConverter
    >>> X = pd.DataFrame({"price": ["34,50", "12,5", "?"], "kind": ["a", "b", "a"]})
    >>> converter = TextConverter().fit(X)
    >>> converter.transform(X)["price"].tolist()
    [34.5, 12.5, nan]
    >>> for message in converter.messages_:
    ...     print(message.partition("; ")[0])
    'price': 2 values read as numbers with decimal separator ','
    """

    def __init__(
        self,
        *,
        decimal: str | None = None,
        thousands: str | None = None,
        dates: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.decimal = decimal
        self.thousands = thousands
        self.dates = dates
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Recognise how the columns of text of X are read. ``y`` is not used."""
        settings = self.settings()
        table = as_table(X)
        self._conversion = TextConversion.learn(table, settings)
        check_features(self, table, reset=True)
        self.columns_ = self._conversion.columns
        self.messages_ = [column.sentence(PYTHON_OPTIONS) for column in self.columns_]
        return self

    def settings(self) -> TextSettings:
        """Return the parameters as settings, if they are valid."""
        if not (self.columns is None or isinstance(self.columns, Mapping)):
            raise InvalidParameterError(
                "columns must be a dict of names of columns and what they hold, such as "
                f"{{'zip': 'category'}}, or None. Got {value_text(self.columns)} instead."
            )
        settings = TextSettings(self.decimal, self.thousands, self.dates, dict(self.columns or {}))
        settings.check()
        return settings

    def transform(self, X: Any) -> Any:
        """Return X with its text read as numbers and dates, in the same kind of table.

        Nested lists become an array. A text that does not parse becomes a missing value.
        """
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        return self._conversion.apply(table)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of the result."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        parts = {column.index: column.parts for column in self.columns_ if column.parts}
        out: list[str] = []
        for j, name in enumerate(names):
            out += parts.get(j, (name,))
        return np.array(out, object)

    def __sklearn_tags__(self) -> Any:
        """Tags: any table, with missing values and strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def convert_text(X: Any, **options: Any) -> tuple[Any, list[str]]:
    """Read the text of a table as numbers and dates; return the table and what was done.

    For a table that stands alone. To read a second table in the same way, such as the test set, use
    :class:`TextConverter`.

    Parameters
    ----------
    X : table, path, pyarrow data set or RowSource
        NumPy array, pandas or polars DataFrame, pyarrow Table, or nested lists. Or the path of a
        Parquet file or of a folder of them, which is not read into memory.
    **options
        The parameters of :class:`TextConverter`.

    Returns
    -------
    table
        In the same kind of container; for a path a RowSource, which ``fit`` of the
        information-theoretic selectors takes as it takes the path.
    messages : list of str
        A sentence for each column of text that looks like numbers or dates.

    Examples
    --------
    >>> from hocmim import convert_text
    >>> convert_text([["1,5", "a"], ["12,25", "b"]])
    (array([[1.5, 'a'],
           [12.25, 'b']], dtype=object), ["'column 0': 2 values read as numbers with decimal \
separator ','."])
    """
    converter = TextConverter(**options)
    if is_row_source(X):
        source, columns = convert_source(open_source(X)[0], converter.settings())
        return source, [column.sentence(PYTHON_OPTIONS) for column in columns]
    converter.fit(X)
    return converter.transform(X), converter.messages_
