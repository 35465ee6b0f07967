"""The command ``hocmim``.

A package of its own beside the library, so that ``hocmim --help`` need not wait for scikit-learn,
which ``import hocmim`` brings in: here that happens only when a command begins its work.
"""

from __future__ import annotations

import sys

try:
    import click
except ImportError:  # pragma: no cover
    sys.exit("The command line needs more packages: pip install 'hocmim[cli]'.")

from importlib.metadata import version

from hocmim.cli.group import Commands

main = Commands(
    "hocmim",
    {
        "select": ("hocmim.cli.select", "Select the columns of a table that say most of a target."),
        "explain": ("hocmim.cli.explain", "Say why a column was taken or left."),
        "report": ("hocmim.cli.report", "Write a selection as a web page in one file."),
        "compare": ("hocmim.cli.compare", "Compare the selections of several methods."),
        "info": ("hocmim.cli.info", "Versions, kernels, threads, methods."),
        "bench": ("hocmim.cli.bench", "Run the published experiment, or your own."),
    },
    help="""Feature selection by high-order conditional mutual information.

    \b
    Examples:
      hocmim select patients.csv --target diagnosis -k 20
      hocmim explain patients.csv --target diagnosis --feature age
      hocmim COMMAND --help
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(version("hocmim"), prog_name="hocmim")(main)
