"""Free memory as the system's files tell it."""

import resource

import pytest

from hocmim.data import memory

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
