"""Show versions, hardware, methods and estimators."""

from __future__ import annotations

import platform
from typing import Any

import click

from hocmim.cli.options import json_option

NEEDED = ("numpy", "scipy", "scikit-learn", "narwhals", "joblib", "threadpoolctl", "click", "rich")
# Optional libraries and their purpose.
OPTIONAL = {
    "pyarrow": "reading table files",
    "python-calamine": "Excel and OpenDocument files",
    "duckdb": "DuckDB databases",
    "jinja2": "reports",
    "pandas": "DataFrames, experiments",
    "polars": "DataFrames",
    "matplotlib": "plots",
    "fastcan": "FS-OLS",
    "dask": "computing on a cluster",
    "distributed": "computing on a cluster",
}


@click.command()
@json_option
def info(json_path: str | None) -> None:
    """Show versions, the instruction set of the kernels, threads, memory, methods and estimators.

    \b
    Examples:
      hocmim info
      hocmim info --json -
    """
    from hocmim.cli import show

    if json_path is not None:
        show.json_result(_collect(), json_path, force=False)
    if json_path != "-":
        _print(_collect())


def _collect() -> dict[str, Any]:
    import joblib

    from hocmim import _native
    from hocmim.experiments import machine
    from hocmim.information.estimators import ESTIMATORS
    from hocmim.selectors.names import method_names

    memory = machine.memory_gib()
    return {
        "hocmim": machine.installed_version("hocmim"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": machine.processor(),
        "kernels": _native.instruction_set(),
        "kernels_built": _native.instruction_sets(),
        "threads": joblib.cpu_count(),
        "memory_gib": None if memory is None else round(memory, 1),
        "libraries": {name: machine.installed_version(name) for name in (*NEEDED, *OPTIONAL)},
        "methods": method_names()[0],
        "estimators": list(ESTIMATORS),
    }


def _print(found: dict[str, Any]) -> None:
    from hocmim.cli import show

    memory = f"{found['memory_gib']} GiB" if found["memory_gib"] else "unknown"
    show.facts(
        [
            ("hocmim", found["hocmim"]),
            ("Python", f"{found['python']} on {found['system']}"),
            ("processor", found["processor"]),
            ("kernels", f"{found['kernels']} (of {', '.join(found['kernels_built'])})"),
            ("threads", str(found["threads"])),
            ("memory", memory),
        ]
    )
    show.facts([(name, _library(name, found["libraries"][name])) for name in (*NEEDED, *OPTIONAL)])
    show.facts(
        [("methods", ", ".join(found["methods"])), ("estimators", ", ".join(found["estimators"]))]
    )


def _library(name: str, found: str | None) -> str:
    if found is not None:
        return found
    return f"not installed ({OPTIONAL.get(name, 'required')}: pip install {name})"
