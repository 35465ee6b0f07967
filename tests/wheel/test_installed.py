"""An installed package works: for wheels, in an environment without compiler and checkout."""

import os
import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import hocmim


def test_information_of_a_fair_coin_is_one_bit():
    assert hocmim.mi([0, 0, 1, 1], [0, 0, 1, 1], unit="bits") == 1.0


def test_a_selection_is_the_known_one_with_every_number_of_threads():
    X, y = load_breast_cancer(return_X_y=True)
    found = [
        hocmim.RobustHOCMIM(n_features_to_select=7, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)
    ]
    assert found[0].selected_[0] == 22  # worst perimeter
    assert np.array_equal(found[0].selected_, found[1].selected_)
    assert np.array_equal(found[0].scores_, found[1].scores_)


def test_codes_are_kept_on_disk_and_read_again(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    engine = hocmim.Engine(codes_dir=tmp_path)
    selectors = [hocmim.JMI(5, engine=engine).fit(X, y) for _ in range(2)]
    assert np.array_equal(selectors[0].selected_, selectors[1].selected_)
    assert any(tmp_path.iterdir())


def hocmim_command(folder, *arguments):
    """Run the command in a folder; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "hocmim", *arguments],
        cwd=folder, capture_output=True, text=True, encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},  # Windows has code pages
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no warning of nanobind about leaks either
    return done.stdout


def test_demo_writes_a_page(tmp_path):
    assert "1\tworst perimeter" in hocmim_command(tmp_path, "demo", "-o", "page.html")
    assert "Breast cancer" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ("select",),
        ("explain", "--feature", "worst area"),
        ("compare", "--methods", "mRMR,JMI", "--cv", "3", "--n-resamples", "3"),
        ("report", "-o", "page.html"),
    ],
    ids=lambda command: command[0],
)
def test_commands_need_no_other_packages(tmp_path, command):
    """The installed package has the extra ``cli`` only: no pandas, no matplotlib."""
    table = load_breast_cancer()
    header = ",".join([*table.feature_names, "target"])
    rows = np.column_stack([table.data, table.target])
    np.savetxt(tmp_path / "table.csv", rows, "%g", ",", header=header, comments="")
    name, *options = command
    source = ("table.csv", "--target", "target", "-k", "4", "--quiet")
    hocmim_command(tmp_path, name, *source, *options)


def test_types_and_licence_are_part_of_the_package():
    folder = Path(hocmim.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "_native.pyi").is_file()
    assert metadata("hocmim")["License-Expression"] == "MIT"
    assert any(needed.startswith("numpy") for needed in requires("hocmim"))
