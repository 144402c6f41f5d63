"""One page on which a person chooses their model: data apart from drawing."""

from mossrules.display.report.collect import collect
from mossrules.display.report.data import ReportData
from mossrules.display.report.render import render, write_report

__all__ = ["ReportData", "collect", "render", "write_report"]
