"""The modules that the command line loads when it first uses them: `late.estimators`, say.

numba, scikit-learn and narwhals take a second to load. `mossrules --help` and `--version` do
without them, and a command checks its options before it waits for them. So commands import nothing
that leads to these libraries; they write

    from mossrules import _late as late

    model = late.estimators.MossRegressor()

and the first use of `late.estimators` imports the module. To add one, name it in both lists below:
the first tells mypy what it is, the second where to find it. Only the command line may use this
module, as no room below it has anything to gain (`tests/package/test_layers.py` holds it to that).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    import tempfile
    from importlib import metadata

    import dask
    import distributed
    import joblib
    import numpy as np
    import threadpoolctl  # type: ignore[import-untyped]
    from sklearn import datasets

    from mossrules import _provenance as provenance
    from mossrules import (
        cli,
        constraints,
        data,
        estimators,
        evaluation,
        frontier,
        model,
        solver,
        stability,
    )
    from mossrules.baselines import registry
    from mossrules.candidates import cut_points, search
    from mossrules.data import columns, files, groups, labels, outcome, table
    from mossrules.data.files import excel
    from mossrules.display import report
    from mossrules.display.plots import _axes as axes
    from mossrules.evaluation import assessment, methods, results, side_by_side
    from mossrules.learning import log_loss, squared_error
    from mossrules.model import events, export_text, rulesets, values
else:
    # A function of this name would have mypy take every attribute for one of any type.
    def __getattr__(name: str) -> object:
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = globals()[name] = import_module(MODULES[name])
        return module


MODULES = {
    # --- of others: the first two are optional
    "dask": "dask",
    "distributed": "distributed",
    "datasets": "sklearn.datasets",
    "joblib": "joblib",
    "metadata": "importlib.metadata",
    "np": "numpy",
    "sqlite3": "sqlite3",
    "tempfile": "tempfile",
    "threadpoolctl": "threadpoolctl",
    # --- those that lead to narwhals at most
    "provenance": "mossrules._provenance",
    "data": "mossrules.data",
    "columns": "mossrules.data.columns",
    "files": "mossrules.data.files",
    "excel": "mossrules.data.files.excel",
    "groups": "mossrules.data.groups",
    "labels": "mossrules.data.labels",
    "outcome": "mossrules.data.outcome",
    "table": "mossrules.data.table",
    # --- those that lead to numba as well, and most of them to scikit-learn
    "assessment": "mossrules.evaluation.assessment",
    "axes": "mossrules.display.plots._axes",
    "cli": "mossrules.cli",  # it waits for `__main__` to watch for Ctrl-C
    "constraints": "mossrules.constraints",
    "cut_points": "mossrules.candidates.cut_points",
    "estimators": "mossrules.estimators",
    "evaluation": "mossrules.evaluation",
    "events": "mossrules.model.events",
    "export_text": "mossrules.model.export_text",
    "frontier": "mossrules.frontier",
    "log_loss": "mossrules.learning.log_loss",
    "methods": "mossrules.evaluation.methods",
    "model": "mossrules.model",
    "registry": "mossrules.baselines.registry",
    "report": "mossrules.display.report",
    "results": "mossrules.evaluation.results",
    "rulesets": "mossrules.model.rulesets",
    "search": "mossrules.candidates.search",
    "side_by_side": "mossrules.evaluation.side_by_side",
    "solver": "mossrules.solver",
    "squared_error": "mossrules.learning.squared_error",
    "stability": "mossrules.stability",
    "values": "mossrules.model.values",
}
