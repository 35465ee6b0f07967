"""The command ``hocmim``.

Libraries are imported when a command runs, so that ``hocmim --help`` does not wait for them.
"""

from __future__ import annotations

import sys

try:
    import click
except ImportError:  # pragma: no cover
    sys.exit("The command line needs more packages: pip install click rich pyarrow jinja2")

from hocmim.cli.group import Commands

main = Commands(
    "hocmim",
    package="hocmim.cli.commands",
    help="""Select features by high-order conditional mutual information.

    \b
    Examples:
      hocmim select patients.csv --target diagnosis -k 20
      hocmim explain patients.csv --target diagnosis --feature age
      hocmim report patients.csv --target diagnosis -o report.html

    Run 'hocmim COMMAND --help' for the options of a command.
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(package_name="hocmim", prog_name="hocmim")(main)
