"""One page on which a person chooses their model: data apart from drawing."""

from mossrules.report.collect import collect
from mossrules.report.data import ReportData

__all__ = ["ReportData", "collect"]
