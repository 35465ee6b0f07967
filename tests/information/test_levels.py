"""HOCMIM_ISA: every instruction set gives the same bits, and a bad value is an error that says so."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hocmim import _native

IMPORT = "import hocmim._native as native; print(native.isa_level())"


def run(*arguments, isa):
    environment = {**os.environ, "HOCMIM_ISA": isa}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )


@cache
def digests(isa):
    done = run(str(Path(__file__).with_name("levels.py")), isa=isa)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("isa", [name for name in _native.isa_levels() if name != "portable"])
def test_every_level_gives_the_bits_of_the_portable_one(isa):
    assert len(digests(isa)) > 60
    assert digests(isa) == digests("portable")


@pytest.mark.parametrize("isa", _native.isa_levels())
def test_the_level_that_is_forced_is_in_force(isa):
    assert run("-c", IMPORT, isa=isa).stdout.strip() == isa


def test_without_the_variable_the_fastest_is_in_force():
    assert run("-c", IMPORT, isa="").stdout.strip() == _native.isa_levels()[0]


def test_a_level_the_processor_lacks_is_an_error():
    missing = [name for name in ("avx512", "avx2") if name not in _native.isa_levels()]
    if not missing:
        pytest.skip("this processor has all levels")
    error = run("-c", IMPORT, isa=missing[0]).stderr
    assert f"HOCMIM_ISA is '{missing[0]}', which this processor does not have. It has '" in error


def test_an_unknown_level_is_an_error():
    error = run("-c", IMPORT, isa="sse9").stderr
    expected = "HOCMIM_ISA must be one of 'avx512', 'avx2', 'portable'. Got 'sse9' instead."
    assert f"ImportError: {expected}" in error
