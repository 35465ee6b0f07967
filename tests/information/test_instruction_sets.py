"""HOCMIM_ISA: every instruction set gives the same bits; a bad value is a clear error."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hocmim import _native

IMPORT = "import hocmim._native as native; print(native.instruction_set())"


def run(*arguments, isa):
    environment = {**os.environ, "HOCMIM_ISA": isa}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )


@cache
def digests(isa):
    done = run(str(Path(__file__).with_name("kernel_digests.py")), isa=isa)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("isa", [name for name in _native.instruction_sets() if name != "portable"])
def test_every_instruction_set_gives_the_bits_of_the_portable_one(isa):
    assert len(digests(isa)) > 60
    assert digests(isa) == digests("portable")


@pytest.mark.parametrize("isa", _native.instruction_sets())
def test_a_forced_instruction_set_is_in_force(isa):
    assert run("-c", IMPORT, isa=isa).stdout.strip() == isa


def test_without_the_variable_the_fastest_is_in_force():
    assert run("-c", IMPORT, isa="").stdout.strip() == _native.instruction_sets()[0]


def test_an_instruction_set_the_processor_lacks_is_an_error():
    missing = [name for name in ("avx512", "avx2") if name not in _native.instruction_sets()]
    if not missing:
        pytest.skip("this processor has all instruction sets")
    error = run("-c", IMPORT, isa=missing[0]).stderr
    assert f"HOCMIM_ISA is '{missing[0]}', which this processor does not have. It has '" in error


def test_an_unknown_instruction_set_is_an_error():
    error = run("-c", IMPORT, isa="sse9").stderr
    expected = "HOCMIM_ISA must be one of 'avx512', 'avx2', 'portable'. Got 'sse9' instead."
    assert f"ImportError: {expected}" in error
