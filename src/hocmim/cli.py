"""The command ``hocmim``. Each group of commands is in the package it is about."""

from __future__ import annotations

import sys

try:
    import click
except ImportError:  # pragma: no cover
    sys.exit("The command line needs more packages: pip install 'hocmim[paper]'.")

import hocmim


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(hocmim.__version__, prog_name="hocmim")
def main() -> None:
    """Feature selection by high-order conditional mutual information."""


def _add_bench() -> None:
    try:
        from hocmim.experiments.commands import bench
    except ImportError as error:  # pragma: no cover
        missing = error.name
        bench = click.Group("bench", help=f"Needs {missing}: pip install 'hocmim[paper]'.")
    main.add_command(bench)


_add_bench()

if __name__ == "__main__":
    main()
