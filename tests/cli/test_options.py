"""Options are made from the parameters of the library; help fits one screen."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import click
import pytest
from rich.cells import cell_len

import hocmim
from hocmim import Encoder, Engine, StopTest, Target
from hocmim.cli import commands, main
from hocmim.cli.command import in_options
from hocmim.cli.parameters import options_of, read_value
from hocmim.parameters import one_of, whole

SELECT = ("select", "mixed.csv", "-t", "outcome")
SCREEN_LINES = 40
WITH_SECTIONS = ["select", "explain", "report", "compare", "columns"]


def names_of(command):
    options = main.get_command(click.Context(main), command).params
    return {name for option in options for name in option.opts}


@pytest.mark.parametrize(
    ("thing", "prefix"),
    [(Encoder, ""), (Target, "target-"), (StopTest, ""), (Engine, "")],
)
def test_every_parameter_of_an_object_is_an_option(thing, prefix):
    parameters = set(inspect.signature(thing).parameters)
    wanted = {f"--{prefix}{name.replace('_', '-')}" for name in parameters}
    for command in ("select", "explain", "report"):
        assert wanted <= names_of(command)


def test_every_parameter_of_all_methods_is_an_option():
    objects = {"n_features_to_select", "encoder", "target", "engine", "verbose", "feature_groups"}
    parameters = set(hocmim.JMI().get_params(deep=False)) - objects
    wanted = {f"--{name.replace('_', '-')}" for name in parameters}
    assert wanted <= names_of("select")
    assert "--feature-group" in names_of("select")


def test_the_parameters_of_one_method_stand_behind_its_name(run):
    result = run(*SELECT, "-k", 2, "-m", "BetaGamma(beta=0.5,gamma=0.25)", "--json", "-")
    parameters = json.loads(result.stdout)["parameters"]
    assert {"beta": 0.5, "gamma": 0.25}.items() <= parameters.items()


def test_a_new_parameter_is_a_new_option():
    class Thing:
        """A thing.

        Parameters
        ----------
        size : int, default 3
            How large it is. See ``hocmim.things``.
        colour : {"red", "blue"}, default "red"
            Its colour. A callable gives one.
        shape : callable
            A callable.
        """

        _parameter_constraints: ClassVar = {
            "size": [whole(1)],
            "colour": [one_of(["red", "blue"])],
        }

        def __init__(self, size=3, colour="red", shape=None):
            pass

    size, colour = options_of(Thing, "Things")
    assert (size.opts, size.metavar, size.help) == (
        ["--size"],
        "N",
        "How large it is.  [default: 3]",
    )
    assert colour.metavar == "red|blue"


def test_values_are_read_as_the_constraints_say():
    assert read_value("5", [whole(1)], "n") == 5
    assert read_value("5", [str], "n") == "5"
    assert read_value("none", [whole(1), None], "n") is None
    assert read_value("true", ["boolean"], "n") is True
    assert read_value("red", [], "n") == "red"
    with pytest.raises(
        hocmim.errors.InvalidParameterError, match=r"^--n must be an int in the ran"
    ):
        read_value("0", [whole(1)], "--n")


def test_parameters_reach_the_method(run):
    result = run(
        *SELECT, "-k", 3, "-m", "HOCMIM(max_order=2)", "--n-bins", 8, "--discretizer", "mdlp",
        "--max-levels", "none", "--estimator", "plugin", "--random-state", 4, "--n-jobs", 1,
        "--target-kind", "classes", "--checkpoint", "5", "--json", "-",
    )  # fmt: skip
    parameters = json.loads(result.stdout)["parameters"]
    expected = {"n_features_to_select": 3, "estimator": "plugin", "n_jobs": 1, "max_order": 2}
    assert expected.items() <= parameters.items()
    encoder = {"n_bins": 8, "discretizer": "mdlp", "max_levels": None, "identifiers": "drop"}
    assert parameters["encoder"] == encoder
    assert parameters["target"]["kind"] == "classes"
    assert parameters["engine"] == {"cluster": None, "codes_dir": None, "checkpoint": "5"}


def test_messages_name_options():
    assert in_options("Pass Target(kind='classes').") == "Pass --target-kind classes."
    assert in_options("Encoder(max_levels=…) pools them.") == "--max-levels … pools them."
    assert in_options("n_features_to_select is 12.") == "-k is 12."
    assert in_options("pass groups; as sample_weight.") == "pass --groups; as --weights."


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", WITH_SECTIONS)
def test_help_fits_one_screen(run, command):
    short, full = run(command, "--help").stdout, run(command, "--help-all").stdout
    assert len(short.splitlines()) <= SCREEN_LINES
    assert "\n  Examples:\n    hocmim" in short
    assert f"{command} --help-all" in short
    for text in (short, full):
        assert max(map(len, text.splitlines())) <= 80
    assert "--decimal" not in short
    assert "Reading the file:" in full
    for name in names_of(command):
        if name.startswith("--"):
            assert len(re.findall(rf"^  (?:-\w, )?{name}(?= |$)", full, re.MULTILINE)) == 1


@pytest.mark.parametrize("command", WITH_SECTIONS)
def test_every_option_has_a_help_text_without_markup(command):
    for option in main.get_command(click.Context(main), command).params:
        if isinstance(option, click.Option):
            assert re.search(r"[a-z]{3}", option.help.partition("  [default")[0]), option.opts
            assert "`" not in option.help


def test_help_and_version_import_nothing_heavy():
    """So that they are there at once."""
    code = (
        "import sys; from hocmim.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "heavy = {'sklearn', 'numpy', 'pyarrow', 'rich'} & set(sys.modules); "
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    for arguments in (["--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_the_commands(run):
    modules = sorted(path.stem for path in Path(commands.__file__).parent.glob("[!_]*.py"))
    listed = re.findall(r"^  (\w+) +[A-Z].*\.$", run("--help").stdout, re.MULTILINE)
    assert listed == modules
    assert listed == ["apply", "bench", "columns", "compare", "demo", "explain", "report", "select"]
    for module in set(modules) - {"bench"}:  # tests/experiments
        assert f"Usage: main {module}" in run(module, "--help").stdout.replace("hocmim", "main")


def test_list_methods(run):
    lines = [line.split("\t") for line in run("select", "--list-methods").stdout.splitlines()]
    assert [line[0] for line in lines[1:]] == hocmim.list_methods()
    shown = run("select", "--list-methods", width=80).stdout
    assert max(map(cell_len, shown.splitlines())) <= 80
