"""A report on a selection: one HTML file with what was selected, what was not, and why."""

from hocmim.insight.report.fingerprint import fingerprint
from hocmim.insight.report.page import write_report

__all__ = ["fingerprint", "write_report"]
