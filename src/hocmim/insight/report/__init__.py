"""A page on a selection: one HTML file that says what was taken, what was left, and why."""

from hocmim.insight.report.fingerprint import fingerprint
from hocmim.insight.report.page import write_report

__all__ = ["fingerprint", "write_report"]
