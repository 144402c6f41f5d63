"""Options that commands share, in groups that a command has as one parameter each.

`with_option_groups` gives a command the options of its groups, and calls it with one value of each:

    @with_option_groups
    def fit(*, file: File, jobs: Jobs = None) -> None: ...

has the options of `File` and `--jobs`, and is called with a `File`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from mossrules import _late as late
from mossrules import defaults
from mossrules.exceptions import InvalidParameter

__all__ = [
    "ARGUMENTS",
    "CONSTRAINTS",
    "DATA",
    "MODEL",
    "Anyway",
    "BudgetOption",
    "CheckedFile",
    "Choice",
    "ChoiceGap",
    "Cluster",
    "Data",
    "Engine",
    "File",
    "Floor",
    "FloorOption",
    "Folds",
    "Forest",
    "Identity",
    "IdentityOption",
    "Jobs",
    "Json",
    "MaxRules",
    "Moss",
    "Reading",
    "Record",
    "Refits",
    "StabilityOption",
    "Task",
    "TaskOption",
    "Ties",
    "TiesOption",
    "budget_option",
    "some_time",
    "with_option_groups",
]


class Floor(StrEnum):
    """What the stability target limits."""

    SUM = "sum"
    EACH = "each"


class Ties(StrEnum):
    """What happens to rules that tie at the end of the list."""

    KEEP = "keep"
    DROP = "drop"


class Directions(StrEnum):
    """Which sign an effect may have."""

    OWN = "own"
    FREE = "free"


class Task(StrEnum):
    """What the target is."""

    AUTO = "auto"
    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class Identity(StrEnum):
    """When two rules count as the same."""

    THRESHOLDS = "thresholds"
    CODES = "codes"
    ROWS = "rows"


DATA, MODEL, CONSTRAINTS = "Data", "Model", "Constraints on MOSS"  # headings of the help
ARGUMENTS = "mossrules.arguments"  # where a context of typer keeps what was typed


Data = Annotated[
    Path, typer.Argument(help="A file: .csv, .csv.gz, .tsv, .xlsx or .parquet.", show_default=False)
]


# --- groups ---------------------------------------------------------------------------------------


def _several(flag: str, what: str, words: str, panel: str) -> Any:
    """Return an option that may be repeated."""
    return typer.Option(
        flag, metavar=what, help=f"{words}; may be repeated.", rich_help_panel=panel
    )


def _at_most(flag: str, words: str) -> Any:
    """Return an option of a largest number."""
    return typer.Option(
        flag, metavar="N", help=words, rich_help_panel=CONSTRAINTS, show_default=False
    )


def _of_file(flag: str, what: str, words: str) -> Any:
    """Return an option that says something of a file."""
    return typer.Option(flag, metavar=what, help=words, rich_help_panel=DATA, show_default=False)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is said of a file of data: the same options in every command that reads one."""

    delimiter: Annotated[
        str | None,
        _of_file(
            "--delimiter",
            "SIGN",
            "Separator of the fields of a CSV file; by default the comma, semicolon, tab or bar "
            "that fits its first lines.",
        ),
    ] = None
    decimal: Annotated[
        str | None,
        _of_file("--decimal", "SIGN", "Decimal sign of numbers, a point by default, or a comma."),
    ] = None
    thousands: Annotated[
        str | None,
        _of_file(
            "--thousands", "SIGN", "What stands between thousands, such as the point in 1.234."
        ),
    ] = None
    na: Annotated[
        list[str] | None,
        _several("--na", "WORD", "Another word, or number such as -999, for a missing value", DATA),
    ] = None
    encoding: Annotated[
        str | None,
        _of_file(
            "--encoding",
            "NAME",
            "Encoding of a CSV file, such as cp1252; by default what its first bytes say, or "
            "UTF-8.",
        ),
    ] = None
    types: Annotated[
        list[str] | None,
        _several(
            "--types",
            "COLUMN=TYPE,...",
            "Type of columns whose values do not tell, category or number, such as "
            "zip=category,age=number",
            DATA,
        ),
    ] = None
    date: Annotated[
        list[str] | None,
        _several(
            "--date",
            "COLUMN=PART",
            "What a column of dates becomes: year, month, weekday (Monday is 1), days (since "
            "1970-01-01) or age (in years), such as visit=month; days and ages also from another "
            "day or column, such as birth=age@2025-01-01 or discharge=days@admission",
            DATA,
        ),
    ] = None
    date_order: Annotated[
        str | None,
        _of_file("--date-order", "dmy|mdy", "Order of dates such as 03/04/2025."),
    ] = None
    sheet: Annotated[
        str | None, _of_file("--sheet", "NAME", "Sheet of an Excel file that has several.")
    ] = None

    @property
    def said(self) -> dict[str, Any]:
        """What is said, by the names that the library has for it."""
        dates: dict[str, list[str]] = {}
        for text in self.date or []:
            name, part = _name_and_word("--date", text, "visit=month")
            dates.setdefault(name, []).append(part)
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "na": self.na or (),
            "encoding": self.encoding,
            "types": self.known_types,
            "dates": dates,
            "date_order": self.date_order,
            "sheet": self.sheet,
        }

    @property
    def known_types(self) -> dict[str, str]:
        """The types that are said, by column."""
        types: dict[str, str] = {}
        for text in self.types or []:
            for each in text.split(","):
                name, word = _name_and_word("--types", each, "zip=category,age=number")
                if types.setdefault(name, word) != word:
                    raise InvalidParameter(f"--types has {name!r} twice; say one type of it.")
        return types

    @property
    def is_said(self) -> bool:
        """Whether anything is said."""
        return any(self.said.values())


def _name_and_word(option: str, text: str, example: str) -> tuple[str, str]:
    name, sign, word = text.rpartition("=")
    if not (sign and name and word):
        raise InvalidParameter(f"{option} is {text!r}; write it as {example}.")
    return name.strip(), word.strip()


@dataclass(frozen=True, kw_only=True)
class File(Reading):
    """The rows to learn from."""

    data: Data
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
    ]
    drop: Annotated[
        list[str] | None,
        _several("--drop", "COLUMN", "Column to leave out, such as an identifier", DATA),
    ] = None
    categorical: Annotated[
        list[str] | None,
        _several("--categorical", "COLUMN", "Column of codes that look like numbers", DATA),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that says which rows belong together, such as a patient's: trees, refits "
            "and folds take all rows of a group or none. It is no feature.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the weight of each row, zero or more. It is no feature.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Of two classes the one whose probability is given, by default the one that is "
            "1, true, yes, case, positive and the like; of more classes, see the command.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None

    @property
    def beside(self) -> dict[str, str | None]:
        """The columns of weights and groups, by the names that the library has for them."""
        return {"sample_weight": self.weights, "groups": self.groups}

    @property
    def paths(self) -> list[Path]:
        """The files that are read, those of a pattern too."""
        return late.files.find_files(self.data)

    @property
    def no_features(self) -> tuple[str, ...]:
        """The columns that are no features, the target among them."""
        return tuple(name for name in (self.target, self.groups, self.weights) if name is not None)


@dataclass(frozen=True)
class CheckedFile(File):
    """Rows to look at, whether there is something to predict or not."""

    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column to predict, if any.", show_default=False),
    ] = None  # type: ignore[assignment]  # all other commands need one


@dataclass(frozen=True)
class Forest:
    """Where candidate rules come from; the names are those of the parameters, but for the seed."""

    n_trees: Annotated[
        str,
        typer.Option(
            "--n-trees",
            "--trees",
            metavar="N|auto",
            help="Trees to grow; 'auto' grows them until another seed would find nearly the same "
            "rules.",
            rich_help_panel=MODEL,
        ),
    ] = str(defaults.N_TREES)
    max_depth: Annotated[
        int, typer.Option("--max-depth", help="Depth of trees.", rich_help_panel=MODEL)
    ] = defaults.MAX_DEPTH
    n_bins: Annotated[
        int, typer.Option("--n-bins", help="Bins of a numeric column.", rich_help_panel=MODEL)
    ] = defaults.N_BINS
    max_features: Annotated[
        float,
        typer.Option(
            "--max-features",
            help="Share of the columns that each split looks at.",
            rich_help_panel=MODEL,
            show_default="1/3",
        ),
    ] = defaults.MAX_FEATURES
    generator: Annotated[
        str | None,
        typer.Option(
            help="'forest' draws by what rows and columns hold, 'paper-forest' as the first "
            "release did.",
            rich_help_panel=MODEL,
            show_default=f"{defaults.GENERATOR}; {defaults.PAPER['generator']} with --paper",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of the forest.", rich_help_panel=MODEL)] = 0


@dataclass(frozen=True)
class Moss:
    """What is asked of MOSS alone."""

    time_limit: Annotated[
        float,
        typer.Option(help="Seconds for each search of the best rules.", rich_help_panel=MODEL),
    ] = defaults.TIME_LIMIT
    gamma: Annotated[
        str,
        typer.Option(
            help="Larger gamma means less shrinkage: a number, or 'auto'.",
            rich_help_panel=MODEL,
        ),
    ] = "auto"
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Rules and weights as in the paper: quantiles for cut points, leaves of trees for "
            "rules, a floor on the sum at stability 'high', free directions, equal shrinkage. "
            "Options given beside it still count; numbers, such as that of bins, are not changed.",
            rich_help_panel=MODEL,
        ),
    ] = False
    inner_nodes: Annotated[
        bool | None,
        typer.Option(
            "--inner-nodes/--leaves",
            help="Whether inner nodes of trees are rules too: shorter ones, which recur more "
            "often. They are by default.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None
    min_coverage: Annotated[
        float | None,
        typer.Option(
            help="Rows that a rule must hold on, and leave out: a share below 1, or a number. By "
            "default 1 % of the rows, and no fewer than 5.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None
    min_tree_frequency: Annotated[
        float | None,
        typer.Option(
            help="Share of the trees that a rule must be in.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None
    directions: Annotated[
        Directions | None,
        typer.Option(
            help="Whether each rule moves the prediction to the side on which its 'own' rows lie, "
            "as by default, or is 'free'.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None
    cuts: Annotated[
        list[str] | None,
        _several(
            "--cuts",
            "COLUMN=A,B,C",
            "Cut points of a column, such as age=18,40,65 or 'age=<18,<65'; or 'round' or "
            "'quantile' for all columns",
            MODEL,
        ),
    ] = None
    cuts_from: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL.JSON",
            help="Use the cut points of an earlier model, a file that fit has written.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None
    near: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL.JSON",
            help="Stay near an approved model, a file that fit has written: keep at least the "
            "share --keep of its rules, however low their tree frequency.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None
    keep: Annotated[
        float | None,
        typer.Option(
            help="Share of the rules of --near to keep, in (0, 1].",
            rich_help_panel=MODEL,
            show_default=f"{defaults.KEPT_SHARE} with --near",
        ),
    ] = None
    never_use: Annotated[
        list[str] | None,
        _several("--never-use", "FEATURE", "No rule looks at this feature", CONSTRAINTS),
    ] = None
    only_up: Annotated[
        list[str] | None,
        _several(
            "--only-up", "FEATURE", "Rules that look at it only raise the prediction", CONSTRAINTS
        ),
    ] = None
    only_down: Annotated[
        list[str] | None,
        _several(
            "--only-down", "FEATURE", "Rules that look at it only lower the prediction", CONSTRAINTS
        ),
    ] = None
    increasing: Annotated[
        list[str] | None,
        _several(
            "--increasing", "FEATURE", "The prediction does not fall as it grows", CONSTRAINTS
        ),
    ] = None
    decreasing: Annotated[
        list[str] | None,
        _several(
            "--decreasing", "FEATURE", "The prediction does not rise as it grows", CONSTRAINTS
        ),
    ] = None
    own_direction: Annotated[
        bool,
        typer.Option(
            "--own-direction",
            help="A rule moves the prediction only to the side on which its own rows lie.",
            rich_help_panel=CONSTRAINTS,
        ),
    ] = False
    at_most_features: Annotated[
        int | None, _at_most("--at-most-features", "All rules together look at no more features.")
    ] = None
    at_most_per_feature: Annotated[
        int | None, _at_most("--at-most-per-feature", "No more rules look at the same feature.")
    ] = None

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        return [path for path in (self.cuts_from, self.near) if path is not None]


# --- single options -------------------------------------------------------------------------------


MaxRules = Annotated[
    int, typer.Option("--max-rules", "-k", help="Most rules in the model.", rich_help_panel=MODEL)
]
FloorOption = Annotated[
    Floor | None,
    typer.Option(
        "--floor",
        help="What the stability target limits: the 'sum' of the tree frequencies of the rules, or "
        "the tree frequency of 'each' rule.",
        rich_help_panel=MODEL,
        show_default=f"{defaults.FLOOR}; {defaults.PAPER['floor']} with --paper",
    ),
]
StabilityOption = Annotated[
    str | None,
    typer.Option(
        "--stability",
        help="Stability target: 'high', 'medium', 'low', a share of the largest stability score in "
        "(0, 1], or 'auto', which chooses a share by cross-validation; with --floor each also a "
        "number of rules: only that many of the most frequent are allowed.",
        rich_help_panel=MODEL,
        show_default=f"{defaults.STABILITY}; {defaults.PAPER['stability']} with a floor on the sum",
    ),
]
TiesOption = Annotated[
    Ties,
    typer.Option("--ties", help="'drop' leaves out rules that tie last.", rich_help_panel=MODEL),
]
TaskOption = Annotated[
    Task,
    typer.Option(
        "--task",
        help="Whether the target is a number or a class; 'auto' takes text and truth values for "
        "classes, and numbers for numbers.",
        rich_help_panel=MODEL,
    ),
]
ChoiceGap = Annotated[float, typer.Option(help="Largest optimality gap of each rule set.")]


class Engine(StrEnum):
    """What works on the rows."""

    THREADS = "threads"
    DASK = "dask"


@dataclass(frozen=True)
class Cluster:
    """Where the rows are worked on."""

    engine: Annotated[
        Engine,
        typer.Option(
            help="Threads of this process, or a Dask cluster that sees the same Parquet files.",
            rich_help_panel=DATA,
        ),
    ] = Engine.THREADS
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of the Dask cluster, such as tcp://host:8786; by default one is started "
            "on this machine.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None


def _some_jobs(number: int | None) -> int | None:
    if number == 0:
        raise InvalidParameter("--jobs is 0; say how many threads, or leave it out for all cores.")
    return number


def _no_single_refit(number: int | None) -> int | None:
    if number == 1:
        raise InvalidParameter(
            "--refits is 1, which shows nothing of how refits differ; pass 2 or more, or 0 for "
            "none."
        )
    return number


def some_time(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds < float("inf"):
        raise InvalidParameter(f"--budget is {seconds:g}; pass a number of seconds greater than 0.")
    return seconds


def budget_option(what: str, *names: str) -> Any:
    """Return the option of a time that all parts of some work share."""
    return typer.Option(
        "--budget",
        *names,
        metavar="SECONDS",
        callback=some_time,
        show_default=False,
        help=f"Seconds for {what} together; what does not fit in is cut short, and said.",
    )


BudgetOption = Annotated[float | None, budget_option("all folds and refits")]
Refits = Annotated[
    int | None,
    typer.Option(
        "--refits",
        min=0,
        callback=_no_single_refit,
        metavar="N",
        help="Repeat the analysis on N random thirds of the rows, and show how often each rule is "
        "found again; 0 for none.",
        show_default="20; none with more than a million values",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Threads; all cores by default.",
        rich_help_panel=MODEL,
        show_default=False,
        callback=_some_jobs,
    ),
]
Folds = Annotated[int, typer.Option(min=2, help="Number of folds for cross-validation.")]
IdentityOption = Annotated[
    Identity,
    typer.Option(
        "--identity",
        help="Rules are the same if they read the same ('thresholds'), have the same bins "
        "('codes'), or hold on nearly the same 'rows'.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Record of a long run; an interrupted run resumes from it.",
    ),
]
Anyway = Annotated[
    bool,
    typer.Option(
        "--anyway",
        help="Go on although something is surely wrong with the table: see mossrules check.",
        rich_help_panel=DATA,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@dataclass(frozen=True)
class Choice:
    """Which rules to take of the candidates."""

    stability: StabilityOption = None
    floor: FloorOption = None
    max_rules: MaxRules = defaults.MAX_RULES
    gap: Annotated[
        float,
        typer.Option("--gap", help="Largest optimality gap.", rich_help_panel=MODEL),
    ] = defaults.GAP
    ties: TiesOption = Ties.KEEP


# --- commands -------------------------------------------------------------------------------------


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of each group among its parameters for options."""
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            options += _options_of(parameter.annotation)
        else:
            options.append(parameter)

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {option.name: option.annotation for option in options}
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return run


def _options_of(group: Any) -> list[inspect.Parameter]:
    """Return the fields of a group as parameters of a command."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
