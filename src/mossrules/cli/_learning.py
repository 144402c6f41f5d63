"""From a file and options to a fitted model, or to many.

A command first reads its file, then asks the library for what its options stand for. What is
decided here is only what a command line has to decide: whether a target is a number or a class, and
which mistakes in options can be told before any work.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from mossrules import _late as late
from mossrules import defaults
from mossrules._signals import defer_signals, interrupted_by
from mossrules.cli._options import Choice, Cluster, Engine, File, Floor, Forest, Moss, Task
from mossrules.cli._output import errors, progress
from mossrules.exceptions import (
    InvalidParameter,
    MissingDependency,
    MossError,
    SolveLimitWarning,
)

__all__ = [
    "Columns",
    "assess_methods",
    "choice_parameters",
    "dask_client",
    "evaluate_methods",
    "forest_parameters",
    "learn",
    "learn_classes",
    "learn_for_task",
    "moss_parameters",
    "number_or_word",
    "read_for_task",
    "refits_of",
    "repeat",
    "scan",
    "scan_for_task",
    "stability_parameters",
]

Read = TypeVar("Read")
Columns = dict[str, Any]  # of a file that was read, by name

REFITS = 20  # of a fit, unless asked for others
LARGE = 1_000_000  # values of a table whose refits would take long
MANY_CLASSES = 20  # labels of a target that may be something else, such as a name


# --- reading --------------------------------------------------------------------------------------


def read_for_task(file: File, task: Task) -> tuple[Columns, Task]:
    """Return the columns to learn from, and whether the target is a number or a class."""
    return _read_and_decide(file, task, _read_columns)


def scan(file: File, task: Task) -> late.table.Table:
    """Return the columns of a file, or of the files of a pattern, as they are to be read."""
    return _scan_table(Engine.THREADS, file, task)


def scan_for_task(file: File, task: Task, engine: Engine) -> tuple[late.table.Table, Task]:
    """Return the same as a table that stays in its file, or in the files of a pattern."""
    return _read_and_decide(file, task, partial(_scan_table, engine))


def _read_columns(file: File, task: Task) -> Columns:
    return late.data.read_file(file.data, **_reading_options(file, task))


def _scan_table(engine: Engine, file: File, task: Task) -> late.table.Table:
    return late.data.scan_files(file.data, engine=engine.value, **_reading_options(file, task))


def _reading_options(file: File, task: Task) -> dict[str, Any]:
    """Return what to read of a file; a target that has to be a number is read as one."""
    kind = late.columns.Kind
    target, dropped, categories = file.target, file.drop or [], _categories(file)
    _check_roles(file)
    for name in (*file.no_features, *categories):
        if name in dropped:
            raise InvalidParameter(f"Column {name!r} is dropped and used; do one of the two.")
    kinds = dict.fromkeys(categories, kind.CATEGORICAL)
    if file.groups is not None:
        kinds[file.groups] = kind.CATEGORICAL  # labels, whatever they look like
    if file.weights is not None:
        kinds[file.weights] = kind.NUMERIC
    if target in categories and task is not Task.CLASSIFICATION:
        raise InvalidParameter(
            f"The target {target!r} is a number and cannot be categorical; say --task "
            "classification if it is a class."
        )
    if file.weights in categories:
        raise InvalidParameter(
            f"The weights {file.weights!r} are numbers and cannot be categorical; leave out one of "
            "the options."
        )
    if task is Task.REGRESSION:
        kinds[target] = kind.NUMERIC
    return {
        "drop": dropped,
        "required": [*file.no_features, *categories],
        "kinds": kinds,
        **file.said,
    }


def _categories(file: File) -> list[str]:
    """Return the columns that are said to hold categories, in one way or another."""
    types, named = file.known_types, file.categorical or []
    for name in named:
        if types.get(name, "category") != "category":
            raise InvalidParameter(
                f"--categorical and --types say different things of {name!r}; leave out one."
            )
    return [*named, *(name for name, word in types.items() if word == "category")]


def _check_roles(file: File) -> None:
    """Refuse a column that is to be two things."""
    roles: dict[str, str] = {}
    named = {"--target": file.target, "--groups": file.groups, "--weights": file.weights}
    for option, name in named.items():
        if name in roles:
            raise InvalidParameter(
                f"{option} and {roles[name]} are both the column {name!r}; name another for one of "
                "them."
            )
        if name is not None:
            roles[name] = option


def _read_and_decide(
    file: File, task: Task, read: Callable[[File, Task], Read]
) -> tuple[Read, Task]:
    """Return what is read, and what the target is, looking at its values if nobody said so."""
    if file.outcome is not None and task is Task.REGRESSION:
        raise InvalidParameter("--outcome names a class, and the target is a number; leave it out.")
    is_said = task is not Task.AUTO
    if file.outcome is not None:
        task = Task.CLASSIFICATION  # whatever its labels look like
    table = read(file, task)
    if not is_said and file.outcome is not None:
        _check_named_class(table, file)
    if task is not Task.AUTO:
        return table, task
    rows = late.table.Table.from_any(table)
    column = late.table.target_column(rows, file.target)
    is_numeric = column.kind is late.columns.Kind.NUMERIC
    values: set[Any] = set()
    for part in rows.ranges():
        values.update(column.read(part.start, part.stop).tolist())
        if is_numeric and len(values) > 2:
            break  # there may be as many as rows
    if not is_numeric and not any(map(_is_number, values)):
        _check_number_of_classes(file.target, len(values))
        return table, Task.CLASSIFICATION
    if values == {0.0, 1.0}:
        errors.print(
            f"The target {file.target!r} is 0 or 1 and taken for a number; --task classification "
            "takes it for a class.",
            soft_wrap=True,
            markup=False,
        )
    # Words among numbers are a mistake: reading them as numbers tells which ones.
    return read(file, Task.REGRESSION), Task.REGRESSION


def _check_named_class(table: Any, file: File) -> None:
    """Refuse the name of a class where the target looks like a number."""
    rows = late.table.Table.from_any(table)
    column = late.table.target_column(rows, file.target)
    values: set[Any] = set()
    for part in rows.ranges():
        values.update(column.read(part.start, part.stop).tolist())
    is_numeric = column.kind is late.columns.Kind.NUMERIC
    if len(values) > MANY_CLASSES and (is_numeric or all(map(_is_number, values - {None}))):
        raise InvalidParameter(
            f"The target {file.target!r} has {len(values)} different numbers, and --outcome names "
            "a class; leave it out for rules that predict the number (--task regression), or say "
            "--task classification if they are classes."
        )


def _check_number_of_classes(target: str, number: int) -> None:
    if number > MANY_CLASSES:
        raise InvalidParameter(
            f"The target {target!r} has {number} different labels, each of which would have a rule "
            "set of its own; say --task classification if that is meant."
        )


def _is_number(value: object) -> bool:
    return isinstance(value, str) and not isinstance(number_or_word(value), str)


def number_or_word(text: str) -> Any:
    """Return a number if the text is one; which words there are, the library knows.

    A whole number from 2 on stays one: it counts rules, and is no share.
    """
    if text.isdecimal() and int(text) > 1:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


# --- a Dask cluster -------------------------------------------------------------------------------


@contextmanager
def dask_client(cluster: Cluster) -> Iterator[None]:
    """Be a client of a Dask cluster meanwhile, if one is asked for."""
    if cluster.engine is not Engine.DASK:
        if cluster.scheduler is not None:
            raise InvalidParameter("--scheduler is of a Dask cluster; say --engine dask too.")
        yield
        return
    if importlib.util.find_spec("distributed") is None:
        raise MissingDependency('Dask is not installed; run pip install "mossrules[dask]".')
    # Without a cluster one is started here, of threads: processes would hear Ctrl-C as well, and
    # die of it with a traceback each.
    elsewhere = cluster.scheduler or late.dask.config.get("scheduler-address", None)
    here = {} if elsewhere else {"processes": False, "dashboard_address": ":0"}
    with ExitStack() as stack:
        try:
            with defer_signals():
                client = late.distributed.Client(elsewhere, timeout=10, **here)
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


# --- parameters -----------------------------------------------------------------------------------


def forest_parameters(forest: Forest, moss: Moss) -> dict[str, Any]:
    """Return the parameters of estimators that the options stand for."""
    parameters = asdict(forest)
    n_trees, generator = parameters.pop("n_trees"), parameters.pop("generator")
    usual = defaults.PAPER["generator"] if moss.paper else defaults.GENERATOR
    return {
        "n_trees": int(n_trees) if n_trees.lstrip("-").isdecimal() else n_trees,
        "random_state": parameters.pop("seed"),
        "generator": generator or usual,
        **parameters,
    }


def choice_parameters(choice: Choice, moss: Moss) -> dict[str, Any]:
    """Return the parameters of the choice that the options stand for."""
    return {
        "max_rules": choice.max_rules,
        **stability_parameters(choice.stability, choice.floor, moss),
        "ties": choice.ties.value,
        "gap": choice.gap,
    }


def stability_parameters(stability: str | None, floor: Floor | None, moss: Moss) -> dict[str, Any]:
    """Return the stability target and what it is for."""
    usual = defaults.PAPER["floor"] if moss.paper else defaults.FLOOR
    return {
        "stability": None if stability is None else number_or_word(stability),
        "floor": usual if floor is None else floor.value,
    }


def moss_parameters(moss: Moss, table: Columns | late.table.Table, file: File) -> dict[str, Any]:
    """Return the parameters of `MossRegressor` that the options stand for.

    With --paper some are those of a choice or a forest, whose own options come after them.
    """
    if moss.keep is not None and moss.near is None:
        raise InvalidParameter(
            "--keep is the share of the rules of an approved model; name that by --near."
        )
    asked = {
        "cuts": _read_cuts(moss, _features(table, file)),
        "inner_nodes": moss.inner_nodes,
        "min_coverage": _share_or_rows(moss.min_coverage),
        "min_tree_frequency": moss.min_tree_frequency,
        "near": None if moss.near is None else late.rulesets.read_model(moss.near),
        "keep": moss.keep,
        "directions": None if moss.directions is None else moss.directions.value,
    }
    return {
        "time_limit": moss.time_limit,
        "gamma": number_or_word(moss.gamma),
        "constraints": _read_constraints(moss, table, file),
        **(defaults.PAPER_WAY if moss.paper else {}),
        **{name: value for name, value in asked.items() if value is not None},
    }


def _share_or_rows(number: float | None) -> float | None:
    is_number = number is not None and number >= 1 and float(number).is_integer()
    return int(number) if number is not None and is_number else number


def _features(table: Columns | late.table.Table, file: File) -> list[str]:
    columns = table if isinstance(table, dict) else table.names
    return [name for name in columns if name not in file.no_features]


def _read_cuts(moss: Moss, features: Sequence[str]) -> Any:
    """Return what the options say of cut points."""
    given = moss.cuts or []
    if moss.cuts_from is not None:
        if given:
            raise InvalidParameter(
                "--cuts and --cuts-from both say where to cut; give one of them."
            )
        return late.rulesets.read_model(moss.cuts_from)
    if len(given) == 1 and given[0] in late.cut_points.RULES:
        return given[0]
    cuts: dict[str, list[str]] = {}
    for text in given:
        name, points = _split_cuts(text, features)
        if name in cuts:
            raise InvalidParameter(
                f"--cuts has {name!r} twice; give all of its cut points at once."
            )
        cuts[name] = points
    return cuts or None


def _split_cuts(text: str, features: Sequence[str]) -> tuple[str, list[str]]:
    """Return the column and its cut points; there may be equals signs in both."""
    places = [place for place, letter in enumerate(text) if letter == "="]
    if not places:
        raise InvalidParameter(
            f"--cuts is {text!r}; write a column and its cut points, such as age=18,40,65, or "
            "alone 'round' or 'quantile'."
        )
    known = [place for place in places if text[:place] in features]
    place = known[-1] if known else places[0]
    return text[:place], [point.strip() for point in text[place + 1 :].split(",")]


def _read_constraints(
    moss: Moss, table: Columns | late.table.Table, file: File
) -> list[late.constraints.Constraint] | None:
    """Return what the options ask of a rule set; None if they ask for nothing."""
    kinds = late.constraints
    named = {
        "--never-use": (kinds.NeverUse, moss.never_use),
        "--only-up": (kinds.OnlyUp, moss.only_up),
        "--only-down": (kinds.OnlyDown, moss.only_down),
        "--increasing": (kinds.Increasing, moss.increasing),
        "--decreasing": (kinds.Decreasing, moss.decreasing),
    }
    counted = (
        (kinds.AtMostFeatures, moss.at_most_features),
        (kinds.AtMostPerFeature, moss.at_most_per_feature),
    )
    features = _features(table, file)
    for option, (_, names) in named.items():
        for name in names or ():
            if name not in features:
                raise InvalidParameter(
                    f"{option} is {name!r}, which is not a feature of the file; name one of its "
                    f"columns.{late.table.did_you_mean(name, features)}"
                )
    for one, other in (("--only-up", "--only-down"), ("--increasing", "--decreasing")):
        for name in sorted({*(named[one][1] or ())} & {*(named[other][1] or ())}):
            raise InvalidParameter(
                f"{one} and {other} are both {name!r} and contradict each other; leave out one, or "
                f"say --never-use {name} if no rule shall look at it."
            )
    asked: list[late.constraints.Constraint] = [
        kind(*names) for kind, names in named.values() if names
    ]
    asked += [kinds.OwnDirection()] if moss.own_direction else []
    asked += [kind(limit) for kind, limit in counted if limit is not None]
    return asked or None


# --- learning -------------------------------------------------------------------------------------


def learn_for_task(
    table: Columns | late.table.Table,
    file: File,
    task: Task,
    *,
    choice: Choice,
    forest: Forest,
    moss: Moss,
    jobs: int | None,
    look: Callable[[], None] = lambda: None,
    time_budget: float | None = None,
) -> Any:
    """Return a regressor or a classifier fitted as the options say.

    Between the look at options and the fit, `look` is called to look at the table.
    """
    is_class = task is Task.CLASSIFICATION
    parameters = {
        **moss_parameters(moss, table, file),
        **forest_parameters(forest, moss),
        **choice_parameters(choice, moss),
        **({"outcome": file.outcome} if is_class else {}),
        "time_budget": time_budget,
        "n_jobs": jobs,
    }
    estimators = late.estimators
    (estimators.MossClassifier if is_class else estimators.MossRegressor)(
        **parameters
    ).check_parameters()
    look()
    return (learn_classes if is_class else learn)(table, file, **parameters)


def learn(
    table: Columns | late.table.Table, file: File, **parameters: Any
) -> late.estimators.MossRegressor:
    """Return a model fitted to a table, showing how far it is meanwhile."""
    model = late.estimators.MossRegressor(**parameters)
    if model.stability == "auto":  # needs rows, and grows forests of its own
        with progress("cross-validating the stability"):
            return model.fit(table, file.target, **file.beside)
    with progress("getting ready") as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # the certificate will say it
        # In two steps, as only the search for candidates tells how far it is.
        search = model.search_parameters()
        find = late.estimators.candidates_for
        candidates = find(table, file.target, **file.beside, progress=show, **search)
        show("choosing rules", None, None)
        return model.fit_candidates(candidates, target=file.target)


def learn_classes(
    table: Columns | late.table.Table, file: File, target: Any = None, **parameters: Any
) -> late.estimators.MossClassifier:
    """Return the same of classes; `target` is that of each row, in place of the file's column."""
    model = late.estimators.MossClassifier(**parameters)
    with progress("finding and choosing rules"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # the certificates will say it
        return model.fit(table, file.target if target is None else target, **file.beside)


def refits_of(table: Columns | late.table.Table, refits: int | None) -> int:
    """Return how many refits are asked for; by default some, but only where they are quick."""
    if refits is not None:
        return refits
    values = late.table.Table.from_any(table)
    if values.n_rows * len(values.columns) <= LARGE:
        return REFITS
    errors.print(
        "The table is large, so the analysis was not repeated; add --refits 20 to see how often "
        "each rule is found again.",
        soft_wrap=True,
    )
    return 0


def repeat(
    model: Any,
    table: Columns | late.table.Table,
    file: File,
    refits: int | None,
    **how: Any,
) -> None:
    """Repeat the analysis of a model as often as asked for, and let its rules carry the record.

    Of what stands against refits that nobody asked for, people are told.
    """
    if interrupted_by() is not None:
        return  # what there is of the model is shown, and nothing long begins
    asked, count = refits is not None, refits_of(table, refits)
    if count == 0:
        return
    stage = "refitting"
    with progress(stage) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a refit warns of, the fit has warned of

        def listen(state: late.evaluation.EvaluationProgress) -> None:
            show(stage, state.done, state.total)

        try:
            how = {"refits": count, "progress": listen, **file.beside, **how}
            model.track_record(table, file.target, **how)
        except KeyboardInterrupt:
            if interrupted_by() is None:
                raise
            # The model is there already; the command ends as interrupted ones do, and says so.
        except MossError as reason:
            if asked:
                raise
            errors.print(f"The analysis was not repeated. {reason}", soft_wrap=True, markup=False)


def evaluate_methods(
    methods: Mapping[str, Any], table: Columns, file: File, target: Any = None, **how: Any
) -> late.evaluation.Evaluation:
    """Return methods evaluated side by side, showing how far it is meanwhile.

    `target` is that of each row, in place of the column of the file.
    """
    stage = "learning on folds"
    with progress(stage) as show:

        def listen(state: late.evaluation.EvaluationProgress) -> None:
            show(stage, state.done, state.total)

        how = {"progress": listen, **file.beside, **how}
        return late.evaluation.evaluate(
            methods, table, file.target if target is None else target, **how
        )


def assess_methods(
    methods: Mapping[str, Any], table: Columns, file: File, **how: Any
) -> late.evaluation.Assessment:
    """Return the trust table of methods, showing how far it is meanwhile."""
    stage = "refitting"
    with progress(stage) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # choices that ran out of time count

        def listen(state: late.evaluation.EvaluationProgress) -> None:
            show(stage, state.done, state.total)

        how = {"progress": listen, **file.beside, **how}
        return late.evaluation.assess(methods, table, file.target, **how)
