"""Free memory as the system's files tell it."""

import resource

import numpy as np
import pytest
from scipy import sparse

from hocmim import MIM, Engine, memory
from hocmim.coding.encoded import open_memory
from hocmim.errors import HocmimWarning
from hocmim.memory import BYTES_PER_NUMBER

GB = 1 << 30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 8 GB free, and a process without limits."""
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (groups / "job/step").mkdir(parents=True)
    (proc / "meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable: {8 * GB // 1024} kB\n")
    (proc / "self/status").write_text("VmSize:\t1024 kB\nVmData:\t512 kB\n")
    (proc / "self/cgroup").write_text("0::/job/step\n")
    monkeypatch.setattr(memory, "_PROC", proc)
    monkeypatch.setattr(memory, "_CGROUP", groups)
    limits = {resource.RLIMIT_DATA: resource.RLIM_INFINITY, resource.RLIMIT_AS: -1}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits[which], -1))
    return proc, groups, limits


def test_what_the_machine_has(system):
    assert memory.free_memory() == 8 * GB


@pytest.mark.parametrize("group", ["", "job", "job/step"])
def test_the_limit_of_a_group_or_of_one_it_lies_in(system, group):
    _, groups, _ = system
    (groups / "job/step/memory.max").write_text("max\n")
    (groups / group / "memory.max").write_text(f"{2 * GB}\n")
    (groups / group / "memory.stat").write_text(f"anon_thp 7\nanon {GB}\nfile {GB}\n")
    assert memory.free_memory() == GB


def test_the_limit_of_a_group_of_the_first_version(system):
    _, groups, _ = system
    (groups / "memory").mkdir()
    (groups / "memory/memory.limit_in_bytes").write_text(f"{3 * GB}\n")
    (groups / "memory/memory.stat").write_text(f"cache 5\ntotal_rss {GB}\n")
    assert memory.free_memory() == 2 * GB


def test_the_limits_of_the_process(system):
    *_, limits = system
    limits[resource.RLIMIT_AS] = GB
    assert memory.free_memory() == GB - (1 << 20)
    limits[resource.RLIMIT_DATA] = 1 << 20
    assert memory.free_memory() == 1 << 19
    limits[resource.RLIMIT_DATA] = 0
    assert memory.free_memory() == 0


def test_a_system_without_such_files(system):
    proc, *_ = system
    for name in ("meminfo", "self/status", "self/cgroup"):
        (proc / name).unlink()
    assert memory.free_memory() > 0


# -- what a fit needs ------------------------------------------------------------------------------


def test_a_table_that_does_not_fit_is_said_before_the_fit(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: GB)
    with pytest.warns(HocmimWarning, match=r"about 2\.0 GB .* and 1\.1 GB are free.*codes_dir"):
        memory.warn_if_short(1_000_000, 2_000)


def test_weights_that_repeat_too_many_rows_are_said(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: GB)
    with pytest.warns(HocmimWarning, match=r"about 10\.0 GB .*divide them by their mean"):
        memory.warn_if_short(10**9, 2, 10**9)


def test_methods_on_numbers_need_more(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: GB)
    X = sparse.csc_array((2_000, 50_000), dtype=np.int8)  # 100 MB as codes
    y = np.arange(2_000) % 2
    with pytest.warns(HocmimWarning, match=r"about 1\.6 GB .*Fit on fewer"):
        open_memory(X, y, bytes_per_value=BYTES_PER_NUMBER)


def test_codes_on_disk_need_no_memory(monkeypatch, recwarn, tmp_path):
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    monkeypatch.setattr(memory, "MIN_CHECKED_BYTES", 1 << 20)
    X, y = np.arange(3_000_000).reshape(1_000, 3_000) % 7, np.arange(1_000) % 2
    MIM(2, engine=Engine(codes_dir=tmp_path)).fit(X, y)
    assert not recwarn.list
    with pytest.warns(HocmimWarning, match="Pass codes_dir"):
        MIM(2).fit(X, y)


def test_a_table_that_fits_is_not_mentioned(monkeypatch, recwarn):
    monkeypatch.setattr(memory, "free_memory", lambda: GB)
    memory.warn_if_short(1_000_000, 500)
    memory.warn_if_short(100, 10)
    assert not recwarn.list


def test_a_huge_empty_sparse_matrix_is_said_at_once(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: GB)
    X = sparse.csc_array((10, 50_000_000), dtype=np.int8)
    with pytest.warns(HocmimWarning, match="50,000,000 columns"):
        open_memory(X, np.arange(10) % 2)
