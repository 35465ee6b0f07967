"""Data sets: from a folder of npz, CSV or Parquet files, or fetched from the public archives.

A folder holds one file a data set, ``<name>.npz`` (arrays ``X`` and ``y``), ``<name>.csv`` or
``<name>.parquet`` (one column of them the class, the last unless told).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.data.numeric import NumericMatrix, numeric_matrix
from hocmim.data.table import as_table
from hocmim.errors import (
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    MissingDependencyError,
)
from hocmim.experiments.published import PublishedSet

SUFFIXES = (".npz", ".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table and its classes.

    Attributes
    ----------
    name : str
    X : ndarray of numbers, or pyarrow.Table
        NaN or null is missing.
    y : ndarray of int32
        Classes 0..C-1.
    classes : ndarray
        What each class is called.
    """

    name: str
    X: Any
    y: NDArray[np.int32]
    classes: NDArray[Any]

    @property
    def n_samples(self) -> int:
        """N."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """D."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.classes)

    def rows(self, index: NDArray[np.int64]) -> Any:
        """The table of these rows."""
        return self.X[index] if isinstance(self.X, np.ndarray) else self.X.take(index)

    def numbers(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """These rows and columns as numbers, NaN where missing.

        A category is its index among the sorted categories of the whole set.
        """
        values = self.X if isinstance(self.X, np.ndarray) else self._numeric.values
        # Only the cells asked for are copied: a table may have 22 283 columns.
        return np.asarray(values[np.ix_(rows, columns)], np.float64)

    @cached_property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        if isinstance(self.X, np.ndarray):
            return np.zeros(self.n_features, bool)
        return self._numeric.is_categorical

    @cached_property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        if isinstance(self.X, np.ndarray):
            return self.X.dtype.kind == "f" and bool(np.isnan(self.X).any())
        return bool(self._numeric.has_missing.any())

    @cached_property
    def fingerprint(self) -> str:
        """Tells whether two sets hold the same values."""
        values = self.X if isinstance(self.X, np.ndarray) else self._numeric.values
        digest = hashlib.sha256(repr((values.shape, values.dtype.str)).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
        digest.update(np.ascontiguousarray(self.y).tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def _numeric(self) -> NumericMatrix:
        return numeric_matrix(self.X)


@dataclass(frozen=True)
class Source:
    """Where a data set is.

    Attributes
    ----------
    name : str
    path : Path
    target : str or None
        The column of the class in a CSV or Parquet file; None for the last.
    """

    name: str
    path: Path
    target: str | None = None

    def load(self) -> DataSet:
        """Read the file."""
        if not self.path.is_file():
            raise InvalidParameterError(f"Data set {self.name!r}: there is no file {self.path}.")
        if self.path.suffix == ".npz":
            X, y = _read_npz(self)
        elif self.path.suffix in (".csv", ".parquet"):
            X, y = _read_columns(self)
        else:
            raise InvalidParameterError(
                f"Data set {self.name!r}: {self.path} is neither {', '.join(SUFFIXES[:-1])} nor "
                f"{SUFFIXES[-1]}. Convert it to one of them."
            )
        return make_data_set(self.name, X, y)


def make_data_set(name: str, X: Any, y: Any) -> DataSet:
    """Check a table and its classes, and number the classes in sorted order."""
    table = as_table(X, min_rows=4)
    labels = np.asarray(y)
    if labels.shape != (table.n_rows,):
        raise InvalidTargetError(
            f"Data set {name!r}: X has {table.n_rows} rows, but y has shape {labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidTargetError(f"Data set {name!r}: a class is missing. Drop that row.")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2 or len(classes) > len(labels) // 2:
        raise InvalidTargetError(
            f"Data set {name!r}: y has {len(classes)} different values in {len(labels)} rows. It "
            "must hold classes; name the right column as its target."
        )
    return DataSet(name, X, codes.astype(np.int32), classes)


def _read_npz(source: Source) -> tuple[NDArray[Any], NDArray[Any]]:
    with np.load(source.path, allow_pickle=False) as arrays:
        if not {"X", "y"} <= set(arrays.files):
            raise InvalidTableError(
                f"{source.path} holds {', '.join(arrays.files) or 'nothing'}; an npz data set "
                "must hold X (samples by features) and y (classes)."
            )
        return arrays["X"], arrays["y"]


def _read_columns(source: Source) -> tuple[Any, NDArray[Any]]:
    try:
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError(
            f"Reading {source.path.name} needs pyarrow: pip install 'hocmim[paper]'."
        ) from error
    if source.path.suffix == ".csv":
        empty_is_missing = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
        table = pyarrow.csv.read_csv(source.path, convert_options=empty_is_missing)
    else:
        table = pyarrow.parquet.read_table(source.path)
    target = table.column_names[-1] if source.target is None else source.target
    if table.column_names.count(target) != 1:
        raise InvalidParameterError(
            f"Data set {source.name!r}: {source.path.name} has no column {target!r} (or several). "
            f"It has {', '.join(map(str, table.column_names[:20]))}."
        )
    labels = table.column(target)
    if labels.null_count:
        raise InvalidTargetError(
            f"Data set {source.name!r}: column {target!r}, the class, has {labels.null_count} "
            "missing values. Drop those rows."
        )
    X = table.drop_columns([target])
    is_number = [
        pyarrow.types.is_integer(t) or pyarrow.types.is_floating(t) for t in X.schema.types
    ]
    return numeric_matrix(X).values if all(is_number) else X, labels.to_numpy()


# --- a folder of the paper's data sets ------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What of the data sets asked for is there.

    Attributes
    ----------
    sources : dict of name to Source
    missing : dict of name to str
        Why a set is not there, in a sentence.
    """

    sources: dict[str, Source]
    missing: dict[str, str]


def find_published(folder: Path, wanted: Sequence[PublishedSet]) -> Found:
    """The sets of the paper in a folder; one of another N, D or C than the paper's is missing."""
    if not folder.is_dir():
        raise InvalidParameterError(
            f"There is no folder {folder}. Pass the folder of the data sets; `hocmim bench fetch` "
            "makes one."
        )
    sources: dict[str, Source] = {}
    missing: dict[str, str] = {}
    for entry in wanted:
        source = _in_folder(folder, entry.name)
        if source is None:
            names = ", ".join(entry.name + suffix for suffix in SUFFIXES)
            missing[entry.name] = f"none of {names} is in the data folder."
            continue
        data = source.load()
        found = (data.n_samples, data.n_features, data.n_classes)
        published = (entry.n_samples, entry.n_features, entry.n_classes)
        if found == published:
            sources[entry.name] = source
        else:
            missing[entry.name] = (
                f"{source.path.name} has N, D, C = {found}, the paper's set {published}."
            )
    return Found(sources, missing)


def _in_folder(folder: Path, name: str) -> Source | None:
    for suffix in SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return Source(name, path)
    return None


# --- the public originals -------------------------------------------------------------------------


@dataclass(frozen=True)
class Original:
    """How a set is had from OpenML.

    Attributes
    ----------
    data_id : int
    drop_columns : tuple of int
        Columns the paper does not have.
    drop_incomplete : bool
        Whether rows with a missing value are dropped.
    n_rows : int or None
        Only the first rows.
    """

    data_id: int
    drop_columns: tuple[int, ...] = ()
    drop_incomplete: bool = False
    n_rows: int | None = None


OPENML = {
    "parkinsons": Original(1488),
    "spect": Original(336),
    "breast": Original(1510),
    "ionosphere": Original(59, drop_columns=(1,)),
    "dermatology": Original(35, drop_incomplete=True),
    "krvskp": Original(3),
    "sonar": Original(40),
    "libras": Original(299),
    "semeion": Original(1501),
    "arrhythmia": Original(5),
    "gisette": Original(41026, n_rows=6000),
}

ELSEWHERE = {
    "german": "the UCI archive, Statlog (German Credit Data), file german.data-numeric",
    "wdbc": "the UCI archive, Breast Cancer Wisconsin (Diagnostic), file wdbc.data with its ID",
    "soybeansmall": "the UCI archive, Soybean (Small)",
    "penglung": "the scikit-feature repository, file lung_small.mat",
    "ujiindoor": "the UCI archive, UJIIndoorLoc: training and validation rows, class BUILDINGID",
    "pcmac": "the scikit-feature repository, file PCMAC.mat",
    "basehock": "the scikit-feature repository, file BASEHOCK.mat",
    "pengleuk": "the scikit-feature repository, file leukemia.mat",
    "gli-85": "the scikit-feature repository, file GLI_85.mat",
}


def fetch_published(entry: PublishedSet, fetch: Callable[..., Any] | None = None) -> DataSet:
    """Fetch a set of the paper from OpenML and check that it has the paper's N, D and C.

    Parameters
    ----------
    entry : PublishedSet
    fetch : callable
        ``sklearn.datasets.fetch_openml`` unless given.

    Raises
    ------
    InvalidParameterError
        If OpenML does not have it; the message says where it is.
    InvalidTableError
        If what came is of another size.
    """
    if entry.name not in OPENML:
        raise InvalidParameterError(
            f"{entry.name} is not on OpenML. It is to be had from {ELSEWHERE[entry.name]}. Save it "
            f"in the data folder as {entry.name}.npz with arrays X and y, or as {entry.name}.csv "
            "with the class in the last column."
        )
    if fetch is None:
        from sklearn.datasets import fetch_openml

        fetch = fetch_openml
    original = OPENML[entry.name]
    assert fetch is not None
    bunch = fetch(data_id=original.data_id, as_frame=True)
    values = numeric_matrix(bunch.data).values
    X = np.delete(values, original.drop_columns, axis=1)[: original.n_rows]
    y = np.asarray(bunch.target)[: original.n_rows]
    if original.drop_incomplete:
        complete = ~np.isnan(X).any(axis=1)
        X, y = X[complete], y[complete]
    data = make_data_set(entry.name, X, y)
    found = (data.n_samples, data.n_features, data.n_classes)
    published = (entry.n_samples, entry.n_features, entry.n_classes)
    if found != published:
        raise InvalidTableError(
            f"OpenML's data set {original.data_id} is not the paper's {entry.name}: N, D, C are "
            f"{found} instead of {published}. It may have been replaced there by another version."
        )
    return data


def save(data: DataSet, folder: Path) -> Path:
    """Write ``<name>.npz`` for :func:`find_published`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{data.name}.npz"
    np.savez_compressed(path, X=data.X, y=data.y)
    return path
