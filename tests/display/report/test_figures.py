from __future__ import annotations

import re
import sys
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules.display.report.figures import Axis
from mossrules.display.report.view import fit_figure, score_figure
from support.report_contents import HOSTILE, made_report, without_rows

SVG = "{http://www.w3.org/2000/svg}"
SIZES = [(440, 340), (320, 300), (240, 160)]
SHARES = st.floats(0.0, 1.0)


def parsed(figure, width=440, height=340):
    """Return the picture as a tree."""
    return ET.fromstring(figure.svg(width, height))  # noqa: S314  we wrote it


def by_class(tree, name):
    """Return the elements of a class."""
    return [each for each in tree.iter() if name in each.get("class", "").split()]


def place(element):
    """Return where a mark is."""
    x, y = re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform")).groups()
    return float(x), float(y)


def scale_of(tree, anchor, across):
    """Return the function from values to places that the numbers at an axis tell a reader."""
    ticks = [each for each in by_class(tree, "tick") if each.get("text-anchor") == anchor]
    values = [float(each.text.replace("\N{MINUS SIGN}", "-")) for each in ticks]
    lines = [
        each for each in by_class(tree, "grid") if (each.get("x1") == each.get("x2")) is across
    ]
    places = [float(each.get("x1" if across else "y1")) for each in lines]
    step = (places[-1] - places[0]) / (values[-1] - values[0])
    return lambda value: places[0] + (value - values[0]) * step


@pytest.mark.parametrize("size", SIZES)
def test_marks_sit_where_the_axes_say(size):
    """Read against the numbers at the grid, each mark has the stability and fit of its point."""
    stability, explained = [1.0, 0.93, 0.8, 0.55], [0.31, 0.4, 0.47, 0.4821]
    tree = parsed(fit_figure(stability, explained, chosen=2), *size)
    x, y = scale_of(tree, "middle", across=True), scale_of(tree, "end", across=False)
    marks = by_class(tree, "mark")
    assert [each.get("data-point") for each in marks] == ["0", "1", "2", "3"]
    for mark, share, fit in zip(marks, stability, explained, strict=True):
        assert place(mark) == pytest.approx((x(100 * share), y(100 * fit)), abs=0.15)
    (ring,) = by_class(tree, "selection")
    assert place(ring) == place(marks[2])


def test_named_points_have_shapes_and_words():
    """The fitted model, the knee and the pick of folds differ in shape, and say what they are."""
    tree = parsed(
        fit_figure([1.0, 0.9, 0.8], [0.3, 0.4, 0.5], chosen=0, knee=1, advised=2, proven=[1, 1, 0])
    )
    kinds = [[child.tag.removeprefix(SVG) for child in mark][1:] for mark in by_class(tree, "mark")]
    assert kinds == [["circle", "circle"], ["circle", "path"], ["circle", "rect"]]
    assert [each.text for each in by_class(tree, "label")] == [
        "fitted model",
        "knee",
        "cross-validation",
    ]
    assert len(by_class(tree, "unproven")) == 1
    titles = [each[0].text.replace("\xa0", " ") for each in by_class(tree, "mark")]
    assert titles[1] == "point 2 of 3: stability score 90 %, fit 40.0 %"


def test_one_point_may_be_all_three():
    """A point that is fitted, knee and pick has one label and all three shapes."""
    tree = parsed(fit_figure([1.0], [0.3], chosen=0, knee=0, advised=0))
    assert [each.text for each in by_class(tree, "label")] == [
        "fitted model, knee, cross-validation"
    ]
    assert len(by_class(tree, "ring")) == 3
    assert by_class(tree, "path") == []


def test_scores_on_new_rows_have_bars_and_other_methods():
    """Bars reach from end to end of the interval; methods without a likeness are left out."""
    figure = score_figure(made_report().content())
    assert [(mark.name, mark.point) for mark in figure.marks][-1] == ("SIRUS", None)
    assert "FIRE" not in figure.svg()
    tree = parsed(figure)
    x, y = scale_of(tree, "middle", across=True), scale_of(tree, "end", across=False)
    bars = by_class(by_class(tree, "baseline")[0], "error")
    ends = [(float(bar.get("x2")), float(bar.get("y2"))) for bar in bars]
    middle = (x(0.7), y(0.4))
    wanted = [(x(0.6), middle[1]), (x(0.8), middle[1]), (middle[0], y(0.38)), (middle[0], y(0.42))]
    for (across, down), (to_x, to_y) in zip(ends, wanted, strict=True):
        assert (middle[0] + across, middle[1] + down) == pytest.approx((to_x, to_y), abs=0.3)
    seen = [each.get("display") is None for each in by_class(tree, "range")]
    assert seen == [True, False, True, True, True]  # knee, nothing, fitted, pick, SIRUS


def test_without_folds_there_is_no_second_figure():
    """Nothing to judge by gives no figure."""
    assert score_figure(without_rows(made_report()).content()) is None


def test_names_are_text():
    """A method's name can hold markup: it is shown, and cut short."""
    tree = parsed(score_figure(made_report(spice=HOSTILE).content()))
    assert {each.tag.removeprefix(SVG) for each in tree.iter()} <= {
        *("svg", "title", "desc", "line", "text", "polyline", "g", "circle", "path", "rect")
    }
    label = by_class(tree, "label")[-1].text
    assert label.startswith("SIRUS<i id=")
    assert label.endswith("…")


@given(
    st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=30),
    st.lists(st.tuples(st.text("SIRUSMfé漢", min_size=1, max_size=12), SHARES, SHARES), max_size=5),
    st.sampled_from(SIZES[:2]),
)
def test_labels_never_lie_over_each_other(points, methods, size):
    """Wherever points and methods are, names are in the frame and apart."""
    content = made_report(1).content()
    keys = ("score_se", "dice_low", "dice_high")
    content["points"] = [
        {
            "stability": x,
            "explained": y,
            "evaluated": {"dice": x, "score": y, **dict.fromkeys(keys)},
        }
        for x, y in points
    ]
    content["baselines"] = [
        {"name": name, "dice": x, "score": y, **dict.fromkeys(keys)} for name, x, y in methods
    ]
    content |= {"chosen": 0, "knee": len(points) // 2, "advised": len(points) - 1}
    figure = score_figure(content)
    labels, frame = figure.labels(*size), figure.frame(*size)
    assert all(a.box.shared(b.box) == 0.0 for a, b in combinations(labels, 2))
    for box in (each.box for each in labels):
        assert frame.left <= box.left < box.right <= frame.right + 1e-9
        assert frame.top <= box.top < box.bottom <= frame.bottom + 1e-9


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from([1.0, 100.0]))
def test_numbers_at_the_ticks_are_those_of_the_ticks(values, scale):
    """An axis has room for all values, and numbers that are different, in order and true."""
    axis = Axis.of("x", values, scale=scale)
    assert all(0.0 < axis.share(value) < 1.0 for value in values)
    assert 2 <= len(axis.ticks) <= 7
    read = [float(each.replace("\N{MINUS SIGN}", "-")) for each in axis.words()]
    assert read == sorted(set(read))
    step = scale * (axis.ticks[1] - axis.ticks[0])
    assert read == pytest.approx([scale * tick for tick in axis.ticks], abs=1e-6 * step)


def test_figures_need_no_other_package(monkeypatch):
    """A notebook can show one where neither jinja2 nor matplotlib is installed."""
    for name in ("jinja2", "markupsafe", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    assert fit_figure([1.0, 0.9], [0.3, 0.4]).svg(240, 160).startswith("<svg ")
