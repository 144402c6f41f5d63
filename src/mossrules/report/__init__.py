"""One page on which a person chooses their model: data apart from drawing."""

from mossrules.report.collect import collect
from mossrules.report.data import ReportData
from mossrules.report.render import render, write_report

__all__ = ["ReportData", "collect", "render", "write_report"]
