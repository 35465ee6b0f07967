"""What this machine is and what is installed on it: for reports that others shall repeat."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def memory_gib() -> float | None:
    """All memory of the machine, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (ValueError, OSError, AttributeError):
        return None


def installed_version(package: str) -> str | None:
    """The version of a package, or None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
