"""What a command needs is checked before it does any work."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from hocmim import errors, make_selector
from hocmim.cli import main

CONFIG = """
[run]
out = "out"
splits = 1
n_features = 2
[[dataset]]
path = "{}"
[[method]]
name = "MIM"
[[method]]
name = "JMI"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_iris(as_frame=True).frame.to_csv("iris.csv", index=False)
    return tmp_path


def fails(*arguments, code):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    assert "Unexpected error" not in result.output
    return result.stderr


@pytest.fixture
def untouched(monkeypatch):
    """An error if a table is read or an experiment is run."""

    def work(*_, **__):
        raise AssertionError("worked before it checked")

    monkeypatch.setattr("hocmim.cli.data.read_table", work)
    monkeypatch.setattr("hocmim.experiments.run._attempt", work)


def without(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)


def test_an_experiment_without_any_data_set(folder):
    (folder / "e.toml").write_text(CONFIG.format("absent.csv"))
    said = fails("bench", "run", "e.toml", code=1)
    assert "Not included: absent: the file absent.csv does not exist." in said
    assert "Error: There is no data set to run on" in said
    assert not (folder / "out").exists()


def test_an_experiment_without_matplotlib(folder, monkeypatch, untouched):
    (folder / "e.toml").write_text(CONFIG.format("iris.csv"))
    without(monkeypatch, "matplotlib")
    assert "need matplotlib. Install it with: pip install matplotlib" in fails(
        "bench", "run", "e.toml", code=1
    )


def test_an_experiment_whose_folder_is_a_file(folder, untouched):
    (folder / "e.toml").write_text(CONFIG.format("iris.csv"))
    (folder / "out").touch()
    assert "out: File exists." in fails("bench", "run", "e.toml", code=1)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("matplotlib", ("compare", "--plot", "p.pdf"), "A plot needs matplotlib"),
        ("jinja2", ("report", "-o", "r.html"), "A report needs jinja2"),
        ("distributed", ("select", "--engine", "dask"), "--engine dask needs distributed"),
    ],
)
def test_a_package_that_is_not_installed(folder, monkeypatch, untouched, name, arguments, message):
    without(monkeypatch, name)
    command, *options = arguments
    said = fails(command, "iris.csv", "-t", "target", *options, code=1)
    assert message in said
    assert f"pip install {name}" in said


def test_a_checkpoint_that_cannot_be_written(folder, untouched):
    said = fails("select", "iris.csv", "-t", "target", "--checkpoint", "no/c.npz", code=2)
    assert "The folder no does not exist" in said


def test_a_method_whose_package_is_not_installed(monkeypatch):
    without(monkeypatch, "fastcan")
    with pytest.raises(errors.MissingDependencyError, match="FS-OLS needs fastcan"):
        make_selector("FS-OLS")


def test_the_command_recommends_every_package():
    error = errors.not_installed("This needs", *errors.DASK)
    assert str(error) == (
        "This needs dask, distributed and pyarrow. Install them with: pip install "
        "'dask[array,dataframe]' distributed pyarrow"
    )


def test_the_page_on_installing_names_every_extra():
    root = Path(__file__).resolve().parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    text = (root / "docs" / "install.md").read_text()
    for extra in extras["optional-dependencies"]:
        assert f"| `{extra}` |" in text


def test_no_message_recommends_an_extra():
    """A checkout is in no index, so that ``pip install 'hocmim[plot]'`` may not work there."""
    source = Path(errors.__file__).parent
    for path in source.rglob("*.py"):
        assert not re.search(r"pip install .{0,2}hocmim", path.read_text("utf-8")), path
