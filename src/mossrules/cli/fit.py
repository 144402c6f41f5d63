"""`mossrules fit`: from a file to a rule set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mossrules import _late as late
from mossrules._files import check_outputs, write_file
from mossrules.budget import Budget
from mossrules.cli import _options as options
from mossrules.cli._checking import check_before, warn_of_rare
from mossrules.cli._learning import dask_client, learn_for_task, repeat, scan_for_task
from mossrules.cli._output import (
    certificate,
    out,
    print_json,
    print_line,
    print_plain,
    progress,
    rules_table,
    share_of_largest,
    solution_content,
    table_of,
)
from mossrules.cli.verify import checked_proof
from mossrules.exceptions import InvalidParameter

__all__ = ["fit"]


class Export(StrEnum):
    """Forms in which a rule set is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    SQL = "sql"
    PYTHON = "python"


@options.with_option_groups
def fit(
    *,
    file: options.File,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL.JSON", help="Where to keep the model."),
    ] = None,
    export: Annotated[
        Export | None, typer.Option(help="Print the rule set in this form and nothing else.")
    ] = None,
    price: Annotated[
        bool,
        typer.Option(
            "--price", help="With --near, print what it costs to keep more of the approved rules."
        ),
    ] = False,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", metavar="PROOF.GZ", help="Write a complete proof of the bound, for verify."
        ),
    ] = None,
    check_proof: Annotated[
        Path | None,
        typer.Option(
            "--check-proof",
            metavar="PROOF.GZ",
            help="Check that this proof is of the very numbers that these rows give.",
        ),
    ] = None,
    as_json: options.Json = False,
    task: options.TaskOption = options.Task.AUTO,
    anyway: options.Anyway = False,
    choice: options.Choice,
    forest: options.Forest,
    moss: options.Moss,
    cluster: options.Cluster,
    refits: options.Refits = None,
    budget: Annotated[float | None, options.budget_option("the fit and its refits")] = None,
    jobs: options.Jobs = None,
) -> None:
    """Find a short, stable rule set in a CSV or Parquet file, or in those of a pattern.

    They may be larger than memory, unless the stability is "auto".
    """
    if export is not None and as_json:
        raise InvalidParameter("--export and --json both say what to print; give one of them.")
    if price and moss.near is None:
        raise InvalidParameter("--price is that of keeping approved rules; name them by --near.")
    check_outputs({"--output": output, "--proof": proof}, [*file.paths, *moss.paths, check_proof])
    with dask_client(cluster):
        table, task = scan_for_task(file, task, cluster.engine)
        look = partial(check_before, table, file, task, max_rules=choice.max_rules, anyway=anyway)
        classifies = task is options.Task.CLASSIFICATION
        time = Budget(budget)
        how: dict[str, Any] = {
            "choice": choice,
            "forest": forest,
            "moss": moss,
            "jobs": jobs,
            "look": look,
        }
        # Half of the time is for the refits.
        own = time.part(1.0 if refits == 0 else 0.5).limit()
        model = learn_for_task(table, file, task, time_budget=own, **how)
        repeat(model, table, file, refits, time_budget=time)
    warn_of_rare(model)
    sentence = prove(model, proof, check_proof)
    if output is not None:
        write_file(output, f"{model.rules_.to_json()}\n")
    if export is not None:
        print_plain(export_text(model.rules_, export, file.data.name.split(".")[0]))
        return
    scores = (
        class_scores(model, table, file)
        if classifies
        else {"r2_training": model.score(table, file.target, file.weights)}
    )
    prices = prices_of(model) if price else {}
    if as_json:
        print_json(model_content(model, scores, table.n_rows, prices))
    else:
        (show_classes if classifies else show)(model, scores, rows_in_words(table, file))
        for label, each in prices.items():
            show_price(each, label)
        if sentence is not None:
            print_plain(sentence)
        for path in (output, proof):
            if path is not None:
                print_line(f"Written to {path}.")


def prove(model: Any, proof: Path | None, known: Path | None) -> str | None:
    """Write the proof of a model's bound, and say of a known one that it is of these rows."""
    if proof is None and known is None:
        return None
    if not isinstance(model, late.estimators.MossRegressor) or model.problem_ is None:
        raise InvalidParameter("A proof can be of numbers only, and of a model that has rules.")
    candidates = model.candidates_
    if proof is not None:
        names = [rule.text(candidates.binning) for rule in candidates.pool.rules]
        model.solution_.proof(proof, names)
    if known is None:
        return None
    found = checked_proof(known, model.problem_)
    return f"{known} is a proof of the numbers that these rows give:\n{found}"


def export_text(ruleset: late.model.RuleSet | late.model.RuleSets, form: Export, table: str) -> str:
    """Return a rule set in one of its forms; those of several classes select from a table."""
    forms: dict[Export, Callable[[], str]] = {
        Export.TEXT: ruleset.to_text,
        Export.MARKDOWN: ruleset.to_markdown,
        Export.LATEX: ruleset.to_latex,
        Export.SQL: (
            ruleset.to_sql
            if isinstance(ruleset, late.model.RuleSet)
            else lambda: ruleset.to_sql(table)
        ),
        Export.PYTHON: ruleset.to_python,
    }
    return forms[form]().rstrip("\n")


def rows_in_words(table: late.table.Table, file: options.File) -> str:
    """Return what the training rows are, with how they are weighted and which belong together."""
    words = f"the {table.n_rows:,} training rows"
    if file.weights is not None:
        words += f", weighted by {late.export_text.one_line(file.weights)}"
    if file.groups is None:
        return words
    number = late.groups.count_groups(table, file.groups)
    return f"{words}, in {number:,} groups by {late.export_text.one_line(file.groups)}"


def show(model: late.estimators.MossRegressor, scores: dict[str, float], rows: str) -> None:
    """Print a model for people."""
    print_line((late.export_text.sum_in_words(model.rules_), "bold"))
    out.print(rules_table(model.rules_))
    show_certificate(model)
    if hasattr(model, "evaluation_"):
        chosen = model.evaluation_.choose()
        print_line(
            f"Stability target chosen by cross-validation: {chosen.share:.0%} of the largest "
            f"stability score, with R2 {chosen.r2:.3f} +- {chosen.r2_se:.3f} on rows left out."
        )
    print_line(f"R2 {scores['r2_training']:.3f} on {rows}. {choice_in_words(model)}")


def show_certificate(model: Any) -> None:
    """Print what refits say, how good the choice is known to be, and what the floor promises."""
    record = model.rules_.track_record
    if record is not None:
        notes = late.export_text.notes_on_record(record)
        # The first line of the summary counts what the table shows.
        for line in dict.fromkeys([*notes, *record.summary().splitlines()[1:]]):
            print_line(line)
    print_line(certificate(model.solution_))
    for sentence in (model.fitted_.floor_sentence, model.fitted_.near_sentence):
        if sentence is not None:
            print_line(sentence)


def choice_in_words(model: Any) -> str:
    """Return how many candidates were chosen, and from how many that the stability target left."""
    chosen = f"{len(model.rules_)} of {len(model.candidates_):,} candidate rules"
    problem = model.problem_
    if problem is None or problem.floor == "sum":
        return f"{chosen}, with {share_of_largest(model):.0%} of the largest stability score."
    frequent = late.np.count_nonzero(problem.counts >= problem.min_stability)
    return f"{chosen}, of which {frequent:,} meet the stability target."


def show_classes(
    model: late.estimators.MossClassifier, scores: dict[str, float], rows: str
) -> None:
    """Print a model of classes for people."""
    for member in members_of(model).values():
        print_line((late.export_text.sum_in_words(member.rules_), "bold"))
        out.print(rules_table(member.rules_))
        show_certificate(member)
        print_line(choice_in_words(member))
        event = late.export_text.event_text(member.rules_.target, member.rules_.outcome)
        counted = late.events.events_sentence(member.rules_, late.export_text.one_line(event))
        if counted is not None:
            print_line(counted)
    # No accuracy: where one row in a hundred is an event, 99 % is that of a model without rules.
    print_line(
        f"AUC {scores['auc_training']:.3f} and balanced accuracy "
        f"{scores['balanced_accuracy_training']:.1%} on {rows}; log-loss "
        f"{scores['log_loss_training']:.4f}, and {scores['log_loss_without_rules']:.4f} without "
        "rules."
    )


def prices_of(model: Any) -> dict[Any, late.frontier.NearFrontier]:
    """Return what it costs to keep more approved rules, by class where there are several."""
    stage = "solving at numbers of approved rules"
    with progress(stage) as show:

        def listen(state: late.frontier.FrontierProgress) -> None:
            show(stage, state.done, state.total)

        return {
            label: member.near_frontier(progress=listen)
            for label, member in members_of(model).items()
        }


def show_price(price: late.frontier.NearFrontier, label: Any) -> None:
    """Print what it costs to keep more approved rules, and what is proven."""
    of_class = "" if label is None else f" for {label}"
    print_line(
        ("What it costs to keep more of the approved rules", "bold"),
        late.export_text.one_line(f"{of_class}:"),
    )
    headings = ("kept", "recurrence", "rules", price.measure, "gap")
    table = table_of(right=headings, last="status")
    for point in price:
        table.add_row(
            f"{point.kept} of {price.n_approved}",
            f"{point.recurrence:.1%}",
            str(point.rules),
            f"{point.fit:.4f}",
            f"{point.gap:.2%}",
            point.status,
        )
    out.print(table)
    print_line("recurrence: share of rules in common with the approved rule set (Dice).")
    print_line(
        f"{price.measure}: on the training rows, of refitted effects; the search minimises the "
        "loss with its penalty, so this need not rise on each line."
    )
    print_line(price.proof)


# --- for machines ---------------------------------------------------------------------------------


def model_content(
    model: Any, scores: dict[str, float], n_rows: int, prices: Mapping[Any, Any]
) -> dict[str, Any]:
    """Return all that is said of a fitted model; of several classes, by class."""
    members = members_of(model)
    content = {
        str(label): _member_content(member, prices.get(label)) for label, member in members.items()
    }
    said = next(iter(content.values())) if len(members) == 1 else {"classes": content}
    return {"model": json.loads(model.rules_.to_json()), **said, **scores, "rows": n_rows}


def _member_content(model: Any, price: late.frontier.NearFrontier | None) -> dict[str, Any]:
    content = {
        "texts": model.rules_.texts,
        "solution": solution_content(model.solution_, share_of_largest(model)),
    }
    events = model.rules_.events
    if events is not None:
        content["events"] = {**events._asdict(), "per_rule": model.rules_.events_per_rule}
    if model.fitted_.floor_sentence is not None:
        content["floor"] = model.fitted_.floor_sentence
    if model.fitted_.near_sentence is not None:
        content["near"] = model.fitted_.near_sentence
    if price is not None:
        content["price"] = price.columns()
    if hasattr(model, "evaluation_"):  # cross-validation chose the stability
        chosen = model.evaluation_.choose()
        content |= {"chosen_share": chosen.share, "r2_test": chosen.r2}
        content["r2_test_error"] = chosen.r2_se
    return {**content, "candidates": len(model.candidates_)}


def members_of(model: Any) -> dict[Any, Any]:
    """Return the models of several classes, or the one that there is."""
    return getattr(model, "estimators_", None) or {None: model}


def class_scores(
    model: late.estimators.MossClassifier, table: late.table.Table, file: options.File
) -> dict[str, float]:
    """Return how well a classifier does on the rows that it was fitted to."""
    column = late.table.target_column(table, file.target)
    codes = late.labels.read_labels(column, table.n_rows)[1]
    weights = late.groups.split_beside(table, file.target, file.weights, None)[1]
    with_rules, without = late.log_loss.training_log_losses(
        codes, model.predict_proba(table), weights
    )
    shown = late.methods.score_classes(model, table, codes, model.classes_, weights)
    return {
        "auc_training": shown["auc"],
        "balanced_accuracy_training": shown["balanced_accuracy"],
        "accuracy_training": model.score(table, file.target, file.weights),
        "log_loss_training": with_rules,
        "log_loss_without_rules": without,
    }
