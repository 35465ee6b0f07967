"""An experiment described in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hocmim.data.writing import check_regular
from hocmim.errors import InvalidParameterError
from hocmim.experiments.datasets import DataSource
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol
from hocmim.experiments.report import ExperimentReport, TimeGroup, describe_protocol, make_report
from hocmim.experiments.run import Experiment, FailedItem
from hocmim.experiments.tables import ComparisonPlan
from hocmim.parameters import MAX_JOBS, TEXT, check_value, whole
from hocmim.text import did_you_mean, value_text

RUN_KEYS = ("title", "out", "splits", "jobs")
DATASET_KEYS = ("name", "path", "target", "splits")
METHOD_KEYS = ("name", "method", "parameters")


@dataclass(frozen=True)
class Config:
    """The content of a configuration file."""

    title: str
    out: Path | None
    jobs: int
    experiment: Experiment


def read_config(path: Path) -> Config:
    """Read a configuration; paths in it are relative to its folder.

    ::

        [run]
        out = "results"            # default: --out
        splits = 30
        n_features = 50            # any attribute of Protocol

        [[dataset]]
        path = "mine.csv"          # .npz, .csv or .parquet
        target = "class"           # default: the last column
        name = "mine"              # default: the name of the file

        [[method]]
        name = "HOCMIM, order 5"   # title of the column
        method = "HOCMIM"          # default: name; any selector as "module:Class"
        parameters = { max_order = 5 }
    """
    check_regular(path)
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidParameterError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidParameterError(f"{path} is not text in UTF-8, so it is no TOML.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidParameterError(f"{path} is not valid TOML: {error}.") from error
    _known(path, document, ("run", "dataset", "method"), "the file")
    settings = document.get("run", {})
    if not isinstance(settings, dict):
        raise InvalidParameterError(f"{path}: run must be a section [run].")
    protocol_keys = [each.name for each in fields(Protocol)]
    _known(path, settings, (*RUN_KEYS, *protocol_keys), "[run]")
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in settings.items()
        if key in protocol_keys
    }
    protocol = Protocol(**given)
    methods = _methods(path, document.get("method", []))
    sources, splits = _sources(path, document.get("dataset", []), settings.get("splits", 30))
    experiment = Experiment(
        protocol, sources, methods, splits, {name: list(methods) for name in sources},
    )  # fmt: skip
    for key in ("out", "title"):
        check_value(f"{key} in [run]", settings.get(key), TEXT)
    out = path.parent / settings["out"] if "out" in settings else None
    title = str(settings.get("title", path.stem))
    jobs = settings.get("jobs", 1)
    check_value("jobs in [run]", jobs, [whole(1, MAX_JOBS)])
    return Config(title, out, int(jobs), experiment)


def config_report(
    config: Config, outcomes: Mapping[Item, ItemOutcome], failures: Sequence[FailedItem] = ()
) -> ExperimentReport:
    """Return the report: one comparison of all methods on all data sets."""
    methods = tuple(config.experiment.methods)
    datasets = tuple(config.experiment.sources)
    comparison = ComparisonPlan("all", "all methods, all data sets", methods, datasets)
    return make_report(
        outcomes,
        [comparison],
        config.experiment.protocol,
        title=config.title,
        about=describe_protocol(config.experiment.protocol, config.experiment.n_splits),
        missing={},
        times_of=comparison,
        time_groups=[TimeGroup("methods", methods, fastest_first=True)],
        reference=methods[0],
        failures=failures,
    )


def _methods(path: Path, entries: list[dict[str, Any]]) -> dict[str, Method]:
    if not _are_sections(entries):
        raise InvalidParameterError(f"{path} has no method. Add a [[method]] with a name.")
    methods: dict[str, Method] = {}
    for entry in entries:
        _known(path, entry, METHOD_KEYS, "[[method]]")
        name = entry.get("name", entry.get("method"))
        if not isinstance(name, str) or name in methods:
            raise InvalidParameterError(
                f"{path}: every [[method]] needs a unique name. Got {value_text(name)}."
            )
        parameters = entry.get("parameters", {})
        if not isinstance(parameters, dict) or not isinstance(entry.get("method", name), str):
            raise InvalidParameterError(
                f"{path}: a [[method]] needs a string as method and a table as parameters, such as "
                "parameters = { max_order = 5, encoder__n_bins = 8 }."
            )
        # A selector module:Class may be in the folder of the configuration.
        folder = str(path.parent.resolve())
        methods[name] = Method(name, entry.get("method", name), parameters, folder)
        # An unknown method or parameter is an error now, not in the run.
        methods[name].make(1, Protocol())
    return methods


def _sources(
    path: Path, entries: list[dict[str, Any]], default_splits: Any
) -> tuple[dict[str, DataSource], dict[str, int]]:
    if not _are_sections(entries):
        raise InvalidParameterError(f"{path} has no data set. Add a [[dataset]] with a path.")
    sources: dict[str, DataSource] = {}
    splits: dict[str, int] = {}
    for entry in entries:
        _known(path, entry, DATASET_KEYS, "[[dataset]]")
        if not isinstance(entry.get("path"), str):
            raise InvalidParameterError(f"{path}: a [[dataset]] has no path.")
        file = path.parent / entry["path"]
        name = entry.get("name", file.stem)
        for key, text in (("name", name), ("target", entry.get("target"))):
            check_value(f"{key} in [[dataset]]", text, TEXT)
        if name in sources:
            raise InvalidParameterError(f"{path}: two data sets have the name {name!r}.")
        number = entry.get("splits", default_splits)
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise InvalidParameterError(
                f"{path}: splits must be an integer of at least 1. Got {value_text(number)}."
            )
        sources[name] = DataSource(name, file, entry.get("target"))
        sources[name].load()  # a file that cannot be read is an error now, not in the run
        splits[name] = number
    return sources, splits


def _are_sections(entries: Any) -> bool:
    """Whether these are sections such as [[method]], at least one."""
    return bool(entries) and isinstance(entries, list) and all(isinstance(e, dict) for e in entries)


def _known(path: Path, entries: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in entries:
        if key not in known:
            raise InvalidParameterError(
                f"{path}: {where} has an unknown key {key!r}.{did_you_mean(key, known)} "
                f"The known keys are {', '.join(known)}."
            )
