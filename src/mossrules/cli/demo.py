"""`mossrules demo`: rules of bundled data, found twice, a model of a few of them, and its page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.progress import Progress
from rich.table import Table

from mossrules import _late as late
from mossrules import defaults
from mossrules._files import check_place, write_file
from mossrules._signals import check_interrupted
from mossrules._version import __version__
from mossrules.cli._output import (
    as_csv,
    certificate,
    out,
    print_line,
    progress,
    rules_table,
)

if TYPE_CHECKING:
    from mossrules._typing import FloatArray

__all__ = ["demo"]

MODEL_RULES = 6
DEMO_FOLDS, DEMO_POINTS = 5, 26


def demo(
    *,
    rules: Annotated[int, typer.Option(min=1, help="How many rules to print.")] = 12,
    trees: Annotated[int, typer.Option(min=1, help="How many trees to grow.")] = (
        defaults.PLAIN_TREES
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the forest.")] = 0,
    page: Annotated[
        Path, typer.Option("--report", metavar="HTML", help="Where to write the page.")
    ] = Path("mossrules-demo.html"),
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Choose with a proof; the first time, compiling takes a minute."
        ),
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="CSV",
            help="Only write the patients to this file, to try the other commands on.",
        ),
    ] = None,
) -> None:
    """Find candidate rules in the diabetes data that come with scikit-learn.

    Then repeat the search without a tenth of the patients, show which rules recur, choose a few
    that predict well, and write the interactive report, to choose between stability and fit.
    """
    check_place(page if table is None else table)
    data = late.datasets.load_diabetes(scaled=False)
    measurements = dict(zip(data.feature_names, data.data.T, strict=True))
    if table is not None:
        patients = {"id": range(1, len(data.target) + 1), **measurements}
        write_file(table, as_csv({**patients, "progression": data.target}))
        print_line(f"Written to {table}: {len(data.target)} patients; the target is progression.")
        return
    out.print(
        f"[bold]mossrules {__version__}[/]  {len(data.target)} patients, {len(measurements)} "
        "measurements, target: disease progression after a year\n"
    )
    found, seconds = _find(measurements, data.target, trees, seed)
    kept = late.np.arange(len(data.target)) % 10 != 0
    fewer = {name: values[kept] for name, values in measurements.items()}
    again, _ = _find(fewer, data.target[kept], trees, seed)
    out.print(_rules_table(found, again, rules))
    out.print(
        f"\n{found!r} in {seconds:.2f} s.\n"
        "[dim]trees: share of trees that contain the rule; refit: the same without every tenth "
        "patient; rows: share of patients for whom it holds; mean: their mean target.[/]\n"
    )
    model = _choose(found, seed, exact=exact)
    check_interrupted()
    _show_model(model)
    with progress("looking at the trade-off") as show:
        shown = model.report(
            page,
            measurements,
            data.target,
            cv=DEMO_FOLDS,
            points=DEMO_POINTS,
            title="Disease progression after a year",
            progress=show,
        )
    print_line(
        f"A page of {len(shown.points)} rule sets, from the most stable to the one that fits best: "
        f"{page}. Open it in a browser."
    )
    print_line("The same for your own file, with a proof: mossrules report FILE --target COLUMN")


def _find(
    table: Mapping[str, FloatArray], target: FloatArray, n_trees: int, seed: int
) -> tuple[late.search.Candidates, float]:
    """Find candidates with a progress bar; return them with the seconds it took."""
    started = time.perf_counter()
    with Progress(console=out, transient=True) as bar:
        task = bar.add_task("compiling (first run only)", total=None)
        found = late.estimators.candidates_for(
            table,
            target,
            n_trees=n_trees,
            random_state=seed,
            progress=lambda stage, done, total: bar.update(
                task, description=stage, completed=done, total=total
            ),
        )
    return found, time.perf_counter() - started


def _choose(
    candidates: late.search.Candidates, seed: int, *, exact: bool
) -> late.estimators.MossRegressor:
    """Choose a few rules; if not exactly, by a method whose kernels compile in no time."""
    solver: Literal["auto", "coordinate-descent"] = "auto" if exact else "coordinate-descent"
    trees = candidates.pool.n_trees
    how: dict[str, Any] = {} if exact else {"floor": "sum", "stability": 0.8}
    model = late.estimators.MossRegressor(
        MODEL_RULES, n_trees=trees, solver=solver, random_state=seed, **how
    )
    return model.fit_candidates(candidates, target="progression")


def _show_model(model: late.estimators.MossRegressor) -> None:
    print_line(
        ("A model of stable rules", "bold"),
        ": the prediction is the intercept plus the effects of the rules that hold.",
    )
    out.print(rules_table(model.rules_))
    print_line(certificate(model.solution_))
    if model.fitted_.floor_sentence is not None:
        print_line(model.fitted_.floor_sentence)


def _rules_table(
    found: late.search.Candidates, again: late.search.Candidates, maximum: int
) -> Table:
    table = Table(title="Candidate rules, the most frequent first", title_justify="left")
    for heading in ("trees", "refit", "rows", "mean"):
        table.add_column(heading, justify="right")
    table.add_column("rule")
    proportion_again = dict(zip(again.pool.rules, again.pool.proportions, strict=True))
    columns = found.columns()
    for position in range(min(maximum, len(found))):
        table.add_row(
            f"{columns['proportion'][position]:.1%}",
            f"{proportion_again.get(found.pool.rules[position], 0.0):.1%}",
            f"{columns['coverage'][position]:.0%}",
            f"{columns['mean'][position]:.0f}",
            columns["rule"][position],
        )
    return table
