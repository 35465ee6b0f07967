"""Data sets: from a folder of npz, CSV or Parquet files, or downloaded from OpenML.

A folder has one file for each data set: ``<name>.npz`` (arrays ``X`` and ``y``), ``<name>.csv`` or
``<name>.parquet`` (the class is the last column unless another one is named).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hocmim.data.numeric import NumericMatrix, numeric_matrix
from hocmim.data.table import as_table
from hocmim.errors import (
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    not_installed,
)
from hocmim.experiments.published import PublishedSet

SUFFIXES = (".npz", ".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table and its classes."""

    name: str
    X: Any  # NaN or null is missing
    y: NDArray[np.int32]  # Classes 0..C-1.
    classes: NDArray[Any]  # The label of each class
    # The columns that are known to be useful; empty if this is not known
    useful: tuple[int, ...] = ()

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

    @property
    def sizes(self) -> tuple[int, int, int]:
        """N, D and C."""
        return self.n_samples, self.n_features, self.n_classes

    def rows(self, index: NDArray[np.int64]) -> Any:
        """Return the table of these rows."""
        return self.X[index] if isinstance(self.X, np.ndarray) else self.X.take(index)

    def numbers(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return these rows and columns as numbers, NaN if missing.

        A category is its index among the sorted categories of the data set.
        """
        values = self.X if isinstance(self.X, np.ndarray) else self._numeric.values
        # Copies only these cells: a table may have 22 283 columns.
        return np.asarray(values[np.ix_(rows, columns)], np.float64)

    @cached_property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which columns have categories."""
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
        """A digest of the values: equal for data sets with the same values."""
        values = self.X if isinstance(self.X, np.ndarray) else self._numeric.values
        digest = hashlib.sha256(repr((values.shape, values.dtype.str)).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
        digest.update(np.ascontiguousarray(self.y).tobytes())
        if self.useful:
            digest.update(repr(self.useful).encode())
        return digest.hexdigest()[:16]

    @cached_property
    def _numeric(self) -> NumericMatrix:
        return numeric_matrix(self.X)


class AnySource(Protocol):
    """Where a data set comes from: a file, or a generator. Hashable."""

    @property
    def name(self) -> str:
        """The name of the data set."""

    def load(self) -> DataSet:
        """Read or generate the data set."""

    def __hash__(self) -> int:
        """Return a number; loaded data sets are cached."""


@dataclass(frozen=True)
class DataSource:
    """The file of a data set."""

    name: str
    path: Path
    target: str | None = None  # The column of the class in a CSV or Parquet file; None for the last

    def load(self) -> DataSet:
        """Read the file."""
        if not self.path.is_file():
            raise InvalidParameterError(
                f"Data set {self.name!r}: the file {self.path} does not exist."
            )
        if self.path.suffix == ".npz":
            X, y = _read_npz(self)
        elif self.path.suffix in (".csv", ".parquet"):
            X, y = _read_columns(self)
        else:
            raise InvalidParameterError(
                f"Data set {self.name!r}: {self.path} has an unknown format. Convert it to "
                f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
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
        raise InvalidTargetError(f"Data set {name!r}: y has missing values. Drop these rows.")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2 or len(classes) > len(labels) // 2:
        raise InvalidTargetError(
            f"Data set {name!r}: y has {len(classes)} different values in {len(labels)} rows. It "
            "must be classes: check which column is the target."
        )
    return DataSet(name, X, codes.astype(np.int32), classes)


def _read_npz(source: DataSource) -> tuple[NDArray[Any], NDArray[Any]]:
    with np.load(source.path, allow_pickle=False) as arrays:
        if not {"X", "y"} <= set(arrays.files):
            raise InvalidTableError(
                f"{source.path} has the arrays {', '.join(arrays.files) or 'none'}. An npz data "
                "set needs X (samples by features) and y (classes)."
            )
        return arrays["X"], arrays["y"]


def _read_columns(source: DataSource) -> tuple[Any, NDArray[Any]]:
    try:
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise not_installed(f"Reading {source.path.name} needs", "pyarrow") from error
    if source.path.suffix == ".csv":
        empty_is_missing = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
        table = pyarrow.csv.read_csv(source.path, convert_options=empty_is_missing)
    else:
        table = pyarrow.parquet.read_table(source.path)
    target = table.column_names[-1] if source.target is None else source.target
    if table.column_names.count(target) != 1:
        raise InvalidParameterError(
            f"Data set {source.name!r}: {source.path.name} has no column {target!r} (or several). "
            f"Its columns are {', '.join(map(str, table.column_names[:20]))}."
        )
    labels = table.column(target)
    if labels.null_count:
        raise InvalidTargetError(
            f"Data set {source.name!r}: the target {target!r} has {labels.null_count} missing "
            "values. Drop these rows."
        )
    X = table.drop_columns([target])
    is_number = [
        pyarrow.types.is_integer(t) or pyarrow.types.is_floating(t) for t in X.schema.types
    ]
    return numeric_matrix(X).values if all(is_number) else X, labels.to_numpy()


# --- a folder of the paper's data sets ------------------------------------------------------------


@dataclass(frozen=True)
class FoundData:
    """The data sets that were found, and those that were not."""

    sources: dict[str, DataSource]  # By name
    missing: dict[str, str]  # By name. Why a data set is missing, in a sentence.


def find_published(folder: Path, wanted: Sequence[PublishedSet]) -> FoundData:
    """Find the data sets of the paper in a folder; those of another size count as missing."""
    if not folder.is_dir():
        raise InvalidParameterError(
            f"The folder {folder} does not exist. Pass the folder of the data sets; 'hocmim bench "
            "fetch' creates one."
        )
    sources: dict[str, DataSource] = {}
    missing: dict[str, str] = {}
    for entry in wanted:
        source = _in_folder(folder, entry.name)
        if source is None:
            names = ", ".join(entry.name + suffix for suffix in SUFFIXES)
            missing[entry.name] = f"none of {names} is in the data folder."
            continue
        found = source.load().sizes
        if found == entry.sizes:
            sources[entry.name] = source
        else:
            missing[entry.name] = (
                f"{source.path.name} has N, D, C = {found}, that of the paper {entry.sizes}."
            )
    return FoundData(sources, missing)


def _in_folder(folder: Path, name: str) -> DataSource | None:
    for suffix in SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return DataSource(name, path)
    return None


# --- the public originals -------------------------------------------------------------------------


class Original(NamedTuple):
    """A data set on OpenML, and how to make that of the paper from it."""

    data_id: int
    drop_columns: tuple[int, ...] = ()
    drop_incomplete: bool = False  # rows with a missing value
    n_rows: int | None = None  # only the first ones


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
    """Download a data set of the paper from OpenML and check its N, D and C.

    ``fetch`` is ``sklearn.datasets.fetch_openml`` unless it is given. A data set that is not on
    OpenML is an error that says where to find it.
    """
    if entry.name not in OPENML:
        raise InvalidParameterError(
            f"{entry.name} is not on OpenML. Get it from {ELSEWHERE[entry.name]}. Save it in the "
            f"data folder as {entry.name}.npz with arrays X and y, or as {entry.name}.csv "
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
    if data.sizes != entry.sizes:
        raise InvalidTableError(
            f"The OpenML data set {original.data_id} is not the {entry.name} of the paper: N, D, C "
            f"are {data.sizes} instead of {entry.sizes}. OpenML may have replaced it by another "
            "version."
        )
    return data


def save(data: DataSet, folder: Path) -> Path:
    """Write ``<name>.npz`` for :func:`find_published`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{data.name}.npz"
    np.savez_compressed(path, X=data.X, y=data.y)
    return path
