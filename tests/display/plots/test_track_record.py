from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from mossrules import MossClassifier, MossRegressor
from mossrules.display import TrackRecordDisplay
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model.track_record import TrackRecord

mpl.use("agg")  # draw without a screen

N = 200


@pytest.fixture(scope="module")
def rows():
    """Return numbers and words, one of which has a name that would be mathematics."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.integers(20, 80, N), "$dose$": rng.random(N)})
    return X, 3.0 * (X["age"] > 50) + 2.0 * (X["$dose$"] > 0.5) + rng.normal(size=N)


@pytest.fixture(scope="module")
def model(rows):
    """Return a fitted model whose rules have a record of six refits."""
    model = MossRegressor(4, n_trees=50).fit(*rows)
    model.track_record(*rows, refits=6)
    return model


def test_what_is_drawn_is_the_frame_which_is_the_record(model):
    """Dots are shares of refits, lines Wilson's intervals, diamonds count near rules too."""
    record = model.rules_.track_record
    display = record.plot()
    frame = display.frame(backend="pandas")
    assert list(frame) == ["rule", "found", "near", "refits", "lower", "upper"]
    assert frame["rule"].tolist() == model.rules_.texts
    assert frame["found"].tolist() == [each.found for each in record.rules]
    assert set(frame["refits"]) == {6}
    expected = [binomtest(k, 6).proportion_ci(0.95, "wilson") for k in frame["found"]]
    assert frame["lower"].tolist() == pytest.approx([each.low for each in expected])
    assert frame["upper"].tolist() == pytest.approx([each.high for each in expected])
    dots, near, lines = (display.artists_[name] for name in ("found", "near", "interval"))
    assert dots.get_xdata().tolist() == pytest.approx((100 * frame["found"] / 6).tolist())
    assert near.get_xdata().tolist() == pytest.approx((100 * frame["near"] / 6).tolist())
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    assert ends == pytest.approx(100 * frame[["lower", "upper"]].to_numpy())
    assert dots.get_ydata().tolist() == near.get_ydata().tolist()


def test_words_say_what_a_refit_was_and_how_often_each_rule_was_found(model):
    """Rules on the left, counts on the right; names of columns are letters, not mathematics."""
    display = TrackRecordDisplay.from_estimator(model).plot()
    rules = [label.get_text().replace("\n", " ") for label in display.ax_.get_yticklabels()]
    assert rules == model.rules_.texts
    counts = [text.get_text() for text in display.ax_.texts]
    assert counts == [f"{each.found} of 6" for each in display.record.rules]
    assert display.ax_.get_xlabel() == "found in, % of 6 refits"
    assert display.ax_.get_title() == "Each refit is on a random third of the rows"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["the rule (95% interval)", "it, or one near it"]
    assert any("$dose$" in rule for rule in rules)
    display.figure_.draw_without_rendering()


def test_axes_may_be_given_and_a_record_may_have_no_rules(model):
    """A figure without rules says so."""
    empty = replace(model.rules_.track_record, rules=())
    axes = mpl.figure.Figure().subplots()
    display = TrackRecordDisplay.from_record(empty).plot(axes)
    assert display.ax_ is axes
    assert "there are no rules" in axes.get_xlabel()
    assert len(display.frame(backend="pandas")) == 0


def test_only_a_track_record_is_drawn(rows):
    """Anything else is named, and a model without a record hears what to call."""
    X, y = rows
    with pytest.raises(UnsupportedType, match="record is a list; pass a TrackRecord"):
        TrackRecordDisplay.from_record([])
    with pytest.raises(InvalidParameter, match=r"call model.track_record\(X, y\) first"):
        TrackRecordDisplay.from_estimator(MossRegressor(2, n_trees=20).fit(X, y))
    thirds = pd.cut(y, 3, labels=["a", "b", "c"]).astype(str)
    several = MossClassifier(2, n_trees=20).fit(X, thirds)
    records = several.track_record(X, thirds, refits=2)
    with pytest.raises(UnsupportedType, match=r"each of 3 classes; .*record\['a'\]"):
        TrackRecordDisplay.from_record(records)
    with pytest.raises(UnsupportedType, match=r"rule set for each of 3 classes"):
        TrackRecordDisplay.from_estimator(several)
    shown = TrackRecordDisplay.from_record(records["b"])
    assert isinstance(shown.record, TrackRecord)
    assert shown.frame(backend="pandas")["rule"].tolist() == several.rules_["b"].texts
