"""`mossrules demo`: candidate rules of bundled data, found twice, and a model of a few of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from mossrules import __version__
from mossrules.cli._console import out, print_line
from mossrules.cli._tables import certificate, rules_table

if TYPE_CHECKING:
    from mossrules._typing import FloatArray
    from mossrules.candidates import Candidates

__all__ = ["demo"]

MODEL_RULES = 6


def demo(
    *,
    rules: Annotated[int, typer.Option(min=1, help="How many rules to print.")] = 12,
    trees: Annotated[int, typer.Option(min=1, help="How many trees to grow.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the forest.")] = 0,
) -> None:
    """Find candidate rules in the diabetes data that come with scikit-learn.

    Then find them again without a tenth of the patients, show which ones came back, and choose a
    few that predict well.
    """
    import numpy as np  # noqa: PLC0415  the command line starts without it
    from sklearn.datasets import load_diabetes  # noqa: PLC0415  only the demo needs it

    data = load_diabetes(scaled=False)
    measurements = dict(zip(data.feature_names, data.data.T, strict=True))
    out.print(
        f"[bold]mossrules {__version__}[/]  {len(data.target)} patients, {len(measurements)} "
        "measurements, target: disease progression after a year\n"
    )
    found, seconds = _find(measurements, data.target, trees, seed)
    kept = np.arange(len(data.target)) % 10 != 0
    fewer = {name: values[kept] for name, values in measurements.items()}
    again, _ = _find(fewer, data.target[kept], trees, seed)
    out.print(_rules_table(found, again, rules))
    out.print(
        f"\n{found!r} in {seconds:.2f} s.\n"
        "[dim]found: share of trees that made the rule; again: the same without every tenth "
        "patient; rows: share of patients it holds for; mean: their mean target.[/]\n"
    )
    _show_model(found)


def _find(
    table: Mapping[str, FloatArray], target: FloatArray, n_trees: int, seed: int
) -> tuple[Candidates, float]:
    """Find candidates with a progress bar; return them with the seconds it took."""
    from mossrules.candidates import find_candidates  # noqa: PLC0415  loads numba

    started = time.perf_counter()
    with Progress(console=out, transient=True) as bar:
        task = bar.add_task("compiling (first run only)", total=None)
        found = find_candidates(
            table,
            target,
            n_trees=n_trees,
            random_state=seed,
            progress=lambda stage, done, total: bar.update(
                task, description=stage, completed=done, total=total
            ),
        )
    return found, time.perf_counter() - started


def _show_model(candidates: Candidates) -> None:
    """Choose rules by the approximate method, whose kernels compile in no time, and print them."""
    from mossrules.estimators import MossRegressor  # noqa: PLC0415  loads numba

    model = MossRegressor(MODEL_RULES, solver="coordinate-descent").fit_candidates(candidates)
    out.print("[bold]A model of stable rules[/]: the prediction is the sum of the weights of those "
              "that hold.")  # fmt: skip
    out.print(rules_table(model.rules_))
    print_line(certificate(model.solution_))
    print_line(
        "To choose exactly, with a proof, from a file of yours: mossrules fit FILE --target COLUMN"
    )


def _rules_table(found: Candidates, again: Candidates, most: int) -> Table:
    table = Table(title="Candidate rules, most often found first", title_justify="left")
    for heading in ("found", "again", "rows", "mean"):
        table.add_column(heading, justify="right")
    table.add_column("rule")
    proportion_again = dict(zip(again.pool.rules, again.pool.proportions, strict=True))
    columns = found.columns()
    for position in range(min(most, len(found))):
        table.add_row(
            f"{columns['proportion'][position]:.1%}",
            f"{proportion_again.get(found.pool.rules[position], 0.0):.1%}",
            f"{columns['coverage'][position]:.0%}",
            f"{columns['mean'][position]:.0f}",
            columns["rule"][position],
        )
    return table
