"""From a file and options to a fitted model, or to many."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mossrules._signals import defer_signals, interrupted_by
from mossrules.cli._console import errors, progress
from mossrules.cli._options import Choice, Cluster, Engine, File, Forest, Moss, Task
from mossrules.exceptions import (
    InvalidFile,
    InvalidParameter,
    MissingDependency,
    SolveLimitWarning,
)

if TYPE_CHECKING:
    from mossrules.constraints import Constraint
    from mossrules.data.files import Columns
    from mossrules.data.table import Table
    from mossrules.estimators import MossClassifier, MossRegressor
    from mossrules.evaluation import Evaluation
    from mossrules.evaluation.folds import EvaluationProgress

__all__ = [
    "connected",
    "evaluated",
    "forest_parameters",
    "learn",
    "learn_for_task",
    "moss_parameters",
    "number_or_word",
    "read_for_task",
    "read_numbers",
    "scan_for_task",
]

Read = TypeVar("Read")

MANY_CLASSES = 20  # labels of a target that may be something else, such as a name


def read_training_file(file: File, task: Task = Task.REGRESSION) -> Columns:
    """Return the columns to learn from, the target among them; of a number, only as such."""
    from mossrules.data.files import read_file  # noqa: PLC0415  the command line starts without it

    return read_file(file.data, **_wanted(file, task))


def scan_training_file(engine: Engine, file: File, task: Task = Task.REGRESSION) -> Table:
    """Return the same as a table that stays in its file, or in the files of a pattern."""
    from mossrules.data.files import scan_files  # noqa: PLC0415

    return scan_files(file.data, engine=engine.value, **_wanted(file, task))


@contextmanager
def connected(cluster: Cluster) -> Iterator[None]:
    """Be a client of a Dask cluster meanwhile, if one is asked for."""
    if cluster.engine is not Engine.DASK:
        if cluster.scheduler is not None:
            raise InvalidParameter("--scheduler is of a Dask cluster; say --engine dask too.")
        yield
        return
    if importlib.util.find_spec("distributed") is None:
        raise MissingDependency('Dask is not installed; run pip install "mossrules[dask]".')
    import dask  # noqa: PLC0415  optional
    from distributed import Client  # noqa: PLC0415

    # Without a cluster one is started here, of threads: processes would hear Ctrl-C as well, and
    # die of it with a traceback each.
    elsewhere = cluster.scheduler or dask.config.get("scheduler-address", None)
    here = {} if elsewhere else {"processes": False, "dashboard_address": ":0"}
    with ExitStack() as stack:
        try:
            with defer_signals():
                client = Client(elsewhere, timeout=10, **here)
                stack.callback(_close, client)
        except (OSError, ValueError) as reason:
            raise InvalidParameter(
                f"There is no Dask scheduler at {elsewhere} ({reason}); check the address."
                if elsewhere
                else f"No Dask cluster can be started here ({reason}); name one by --scheduler."
            ) from reason
        yield


def _close(client: Any) -> None:
    if interrupted_by() is not None:
        logging.disable()  # Dask tells at length what it was about to do
    with defer_signals():
        client.close()


def _wanted(file: File, task: Task) -> dict[str, Any]:
    from mossrules.data.columns import Kind  # noqa: PLC0415

    target, dropped, categories = file.target, file.drop or [], file.categorical or []
    for name in (target, *categories):
        if name in dropped:
            raise InvalidParameter(f"Column {name!r} is dropped and used; do one of the two.")
    kinds = dict.fromkeys(categories, Kind.CATEGORICAL)
    if target in categories and task is not Task.CLASSIFICATION:
        raise InvalidParameter(
            f"The target {target!r} is a number and cannot be categorical; say --task "
            "classification if it is a class."
        )
    if task is Task.REGRESSION:
        kinds[target] = Kind.NUMERIC
    return {
        "drop": dropped,
        "required": [target, *categories],
        "kinds": kinds,
        "delimiter": file.delimiter,
    }


def read_for_task(file: File, task: Task) -> tuple[Columns, Task]:
    """Return the columns to learn from, and whether the target is a number or a class."""
    return _for_task(file, task, read_training_file)


def scan_for_task(file: File, task: Task, engine: Engine) -> tuple[Table, Task]:
    """Return the same as a table that stays in its file."""
    return _for_task(file, task, partial(scan_training_file, engine))


def read_numbers(file: File) -> Columns:
    """Return the columns to learn from, for a command that takes no classes."""
    try:
        table = read_training_file(file)
    except InvalidFile:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is read again to see what the target is
            _refuse_class(file, read_training_file(file, Task.AUTO))
        raise
    _refuse_class(file, table)
    return table


def _refuse_class(file: File, columns: Columns) -> None:
    """Say that a target of words is not for this command; a word among numbers is a mistake."""
    from mossrules.data.columns import Kind  # noqa: PLC0415  loads narwhals
    from mossrules.data.table import Table, target_column  # noqa: PLC0415

    table = Table.from_any(columns)
    column = target_column(table, file.target)
    if column.kind in (Kind.NUMERIC, Kind.BOOLEAN):
        return
    if not any(map(_is_number, column.read(0, table.n_rows).tolist())):
        raise InvalidParameter(
            f"The target {file.target!r} is a class, and this command is for numbers; fit, report "
            "and compare take classes."
        )


def _for_task(file: File, task: Task, read: Callable[[File, Task], Read]) -> tuple[Read, Task]:
    from mossrules.data.columns import Kind  # noqa: PLC0415  loads narwhals
    from mossrules.data.table import Table, target_column  # noqa: PLC0415

    table = read(file, task)
    if task is not Task.AUTO:
        return table, task
    rows = Table.from_any(table)
    column = target_column(rows, file.target)
    values: set[Any] = set()
    for part in rows.ranges():
        values.update(column.read(part.start, part.stop).tolist())
        if column.kind is Kind.NUMERIC and len(values) > 2:
            break  # there may be as many as rows
    if column.kind is not Kind.NUMERIC:
        if any(map(_is_number, values)):
            # Words among numbers: which ones, those who read it as numbers say.
            return read(file, Task.REGRESSION), Task.REGRESSION
        if len(values) > MANY_CLASSES:
            raise InvalidParameter(
                f"The target {file.target!r} has {len(values)} different labels, each of which "
                "would have a rule set of its own; say --task classification if that is meant."
            )
        return table, Task.CLASSIFICATION
    if values == {0.0, 1.0}:
        errors.print(
            f"The target {file.target!r} is 0 or 1 and taken for a number; --task classification "
            "takes it for a class.",
            soft_wrap=True,
            markup=False,
        )
    return read(file, Task.REGRESSION), Task.REGRESSION


def _is_number(value: object) -> bool:
    return isinstance(value, str) and isinstance(number_or_word(value), float)


def number_or_word(text: str) -> Any:
    """Return a number if the text is one; which words there are, the library knows."""
    try:
        return float(text)
    except ValueError:
        return text


def forest_parameters(forest: Forest) -> dict[str, Any]:
    """Return the parameters of estimators that the options stand for."""
    parameters = asdict(forest)
    return {"random_state": parameters.pop("seed"), **parameters}


def moss_parameters(moss: Moss, table: Columns | Table, target: str) -> dict[str, Any]:
    """Return the parameters of `MossRegressor` that the options stand for."""
    return {
        "time_limit": moss.time_limit,
        "gamma": number_or_word(moss.gamma),
        "inner_nodes": moss.inner_nodes,
        "constraints": read_constraints(moss, table, target),
    }


def read_constraints(moss: Moss, table: Columns | Table, target: str) -> list[Constraint] | None:
    """Return what the options ask of a rule set; None if they ask for nothing."""
    from mossrules import constraints as known  # noqa: PLC0415  loads numba
    from mossrules.data.table import did_you_mean  # noqa: PLC0415  loads narwhals

    named = {
        "--never-use": (known.NeverUse, moss.never_use),
        "--only-up": (known.OnlyUp, moss.only_up),
        "--only-down": (known.OnlyDown, moss.only_down),
        "--increasing": (known.Increasing, moss.increasing),
        "--decreasing": (known.Decreasing, moss.decreasing),
    }
    counted = (
        (known.AtMostFeatures, moss.at_most_features),
        (known.AtMostPerFeature, moss.at_most_per_feature),
    )
    columns = table if isinstance(table, dict) else table.names
    features = [name for name in columns if name != target]
    for option, (_, names) in named.items():
        for name in names or ():
            if name not in features:
                raise InvalidParameter(
                    f"{option} is {name!r}, which is no feature of the file; name one of its "
                    f"columns.{did_you_mean(name, features)}"
                )
    asked: list[Constraint] = [kind(*names) for kind, names in named.values() if names]
    asked += [known.OwnDirection()] if moss.own_direction else []
    asked += [kind(most) for kind, most in counted if most is not None]
    return asked or None


def evaluated(learners: Mapping[str, Any], table: Columns, target: str, **how: Any) -> Evaluation:
    """Return learners evaluated side by side, showing how far it is meanwhile."""
    from mossrules.evaluation import evaluate  # noqa: PLC0415  loads numba

    stage = "learning on folds"
    with progress(stage) as show:

        def listen(state: EvaluationProgress) -> None:
            show(stage, state.done, state.total)

        return evaluate(learners, table, target, progress=listen, **how)


def learn_for_task(
    table: Columns | Table,
    target: str,
    task: Task,
    *,
    choice: Choice,
    forest: Forest,
    moss: Moss,
    jobs: int | None,
) -> Any:
    """Return a regressor or a classifier fitted as the options say."""
    return (learn_classes if task is Task.CLASSIFICATION else learn)(
        table,
        target,
        max_rules=choice.max_rules,
        stability=number_or_word(choice.stability),
        ties=choice.ties.value,
        gap=choice.gap,
        **forest_parameters(forest),
        **moss_parameters(moss, table, target),
        n_jobs=jobs,
    )


def learn(table: Columns | Table, target: str, **parameters: Any) -> MossRegressor:
    """Return a model fitted to a table, showing how far it is meanwhile."""
    from mossrules.estimators import MossRegressor, candidates_for, search_parameters  # noqa: PLC0415

    model = MossRegressor(**parameters)
    if model.stability == "auto":  # needs rows, and grows forests of its own
        with progress("cross-validating the stability"):
            return model.fit(table, target)
    with progress("getting ready") as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # the certificate will say it
        candidates = candidates_for(table, target, progress=show, **search_parameters(model))
        show("choosing rules", None, None)
        return model.fit_candidates(candidates, target=target)


def learn_classes(table: Columns | Table, target: str, **parameters: Any) -> MossClassifier:
    """Return a classifier fitted to a table, showing that it works meanwhile."""
    from mossrules.estimators import MossClassifier  # noqa: PLC0415  loads numba

    with progress("finding and choosing rules"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # the certificates will say it
        return MossClassifier(**parameters).fit(table, target)
