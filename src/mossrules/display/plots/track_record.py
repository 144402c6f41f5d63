"""A track record as a dot plot: how often refits found each rule of a rule set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mossrules._frames import Backend
from mossrules.display.plots._axes import (
    PALETTE,
    PLAIN,
    SMALL,
    Rows,
    axes_for,
    load,
    records_frame,
    rules_of,
    wrap_texts,
)
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model.track_record import TrackRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["FoundMark", "TrackRecordDisplay"]

MARKS, NUMBERS = 3.4, 1.0  # inches of the shares, and of the counts beside them
BELOW = 0.42  # inches from the axes to the legend
FOUND, NEAR = PALETTE["blue"], PALETTE["grey"]


@dataclass(frozen=True)
class FoundMark:
    """One rule on the plot."""

    rule: str  # as it is printed
    found: int  # refits that found it
    near: int  # refits that found it or one near it
    refits: int  # all of them
    lower: float  # end of the interval of found / refits
    upper: float

    @property
    def words(self) -> str:
        """Return the rule in lines."""
        # The record has texts only. Between conditions stands " and "; where a label has it too,
        # a line may break there.
        return wrap_texts(self.rule.split(" and "))


@dataclass
class TrackRecordDisplay:
    """In how many refits each rule of a rule set was found again.

    Make it with `from_record`, `from_estimator` or `TrackRecord.plot`; `frame` has the data, `plot`
    draws them. After `plot`, `ax_` and `figure_` are matplotlib's, and `artists_` has the marks
    "found", "near" and "interval".

    A dot is the share of refits that found the rule as it reads, with the interval of Wilson: how
    far that share may be off because there were no more refits. A pale diamond is the share that
    found the rule or one near it.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": range(40), "dose": [1, 2, 3, 4] * 10}, [1.0, 1.0, 4.0, 5.0] * 10
    >>> model = MossRegressor(2, n_trees=50).fit(X, y)
    >>> record = model.track_record(X, y, refits=10)
    >>> frame = TrackRecordDisplay.from_estimator(model).frame(backend="pandas")
    >>> frame.loc[:0, ["rule", "found", "refits", "lower"]].round(2)
           rule  found  refits  lower
    0  dose > 2     10      10   0.72
    """

    record: TrackRecord  #: that is drawn

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_record(cls, record: TrackRecord) -> TrackRecordDisplay:
        """Return the display of a track record."""
        if isinstance(record, dict) and record:
            raise UnsupportedType(
                f"record has a track record for each of {len(record)} classes; pass that of one, "
                f"record[{next(iter(record))!r}] say."
            )
        if not isinstance(record, TrackRecord):
            raise UnsupportedType(
                f"record is a {type(record).__name__}; pass a TrackRecord, as model.track_record "
                "returns it."
            )
        return cls(record)

    @classmethod
    def from_estimator(cls, model: Any) -> TrackRecordDisplay:
        """Return the display of the record that a fitted estimator's `rules_` carry."""
        record = rules_of(model).track_record
        if record is None:
            raise InvalidParameter(
                "The model has no track record yet; call model.track_record(X, y) first."
            )
        return cls(record)

    @property
    def marks(self) -> list[FoundMark]:
        """What is drawn, from the top down: the rules in the order of the rule set."""
        refits = self.record.refits
        return [
            FoundMark(each.rule, each.found, each.near, refits, *each.found_interval)
            for each in self.record.rules
        ]

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule as a data frame, in the order of the rule set.

        Columns: `rule`, `found`, `near` and `refits` (numbers of refits), `lower` and `upper` (ends
        of the interval of `found / refits`).
        """
        return records_frame(FoundMark, self.marks, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> TrackRecordDisplay:
        """Draw on the axes given, or on those of a new figure."""
        marks = self.marks
        rows = Rows(tuple(mark.words for mark in marks))
        self.ax_: Axes = axes_for(ax, rows.figure_size(MARKS + NUMBERS, around=1.5))
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        self.artists_: dict[str, Any] = self._draw(marks, rows.centres)
        for mark, y in zip(marks, rows.centres, strict=True):
            self._write_count(mark, y)
        self.ax_.set_xlim(-3.0, 103.0)
        self.ax_.grid(visible=True, axis="x", color="0.85", linewidth=0.6)
        self.ax_.set_axisbelow(True)
        none = "" if marks else "; there are no rules"
        self.ax_.set_xlabel(f"found in, % of {self.record.refits} refits{none}")
        self.ax_.set_title(f"Each refit is on {self.record.how}", fontsize=10, **PLAIN)
        if marks:
            self._explain()
        return self

    def _explain(self) -> None:
        """Put the legend below the words of the axis, however high the axes are."""
        shift = load("matplotlib.transforms").ScaledTranslation
        below = self.ax_.transAxes + shift(0.0, -BELOW, self.figure_.dpi_scale_trans)
        self.ax_.legend(
            handles=[self.artists_["found"], self.artists_["near"]],
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=below,
            ncols=2,
            fontsize="small",
            frameon=False,
        )

    def _draw(self, marks: Sequence[FoundMark], centres: Sequence[float]) -> dict[str, Any]:
        found, near, lower, upper = (
            [100.0 * share for share in shares]
            for shares in (
                [mark.found / mark.refits for mark in marks],
                [mark.near / mark.refits for mark in marks],
                [mark.lower for mark in marks],
                [mark.upper for mark in marks],
            )
        )
        confidence = f"{self.record.confidence:.0%} interval"
        interval = self.ax_.hlines(centres, lower, upper, color=FOUND, linewidth=2.0, alpha=0.45)
        shape: dict[str, Any] = {"marker": "D", "linestyle": "none", "markersize": 5.5}
        pale = self.ax_.plot(
            near, centres, color=NEAR, markerfacecolor="white", label="it, or one near it", **shape
        )[0]
        dots = self.ax_.plot(
            found, centres, "o", color=FOUND, markersize=7, label=f"the rule ({confidence})"
        )[0]
        return {"found": dots, "near": pale, "interval": interval}

    def _write_count(self, mark: FoundMark, y: float) -> None:
        """Write "18 of 20" to the right of the axes, where no mark is."""
        self.ax_.annotate(
            f"{mark.found} of {mark.refits}",
            (1.0, y),
            xycoords=self.ax_.get_yaxis_transform(),
            xytext=(6, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=SMALL,
            annotation_clip=False,
        )
