"""One page on which a person chooses their model: data apart from drawing.

`collect.py` gathers the data (`data.py`), `view.py` puts them into words and figures, `render.py`
writes the page from the template in `page/`. Every point is put into words here, once; the page's
script only shows and hides, and does what depends on the reader's input.
"""

from mossrules.display.report.collect import collect
from mossrules.display.report.data import ReportData
from mossrules.display.report.render import render, write_report

__all__ = ["ReportData", "collect", "render", "write_report"]
