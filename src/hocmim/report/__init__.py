"""A page on a selection: one HTML file that says what was taken, what was left, and why."""

from hocmim.report.fingerprint import fingerprint
from hocmim.report.page import write_report

__all__ = ["fingerprint", "write_report"]
