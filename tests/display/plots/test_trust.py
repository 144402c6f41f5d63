import matplotlib as mpl
import pytest

from mossrules.display import TrustDisplay
from mossrules.evaluation import Assessment, MethodTrust
from mossrules.exceptions import UnsupportedType

mpl.use("agg")  # draw without a screen


def table(task="regression"):
    """Return a table of three methods."""
    score = "r2" if task == "regression" else "auc"
    methods = (
        MethodTrust("MOSS", dice=0.6, refits=10, **{score: 0.7}),
        MethodTrust("_a $b$", dice=0.3, refits=8, failed=2, failure="because", **{score: 0.8}),
        MethodTrust("forest", refits=10, **{score: 0.9}),
    )
    return Assessment(methods, task, 10, "folds", 5, 100, 1.0)


@pytest.mark.parametrize(("task", "score"), [("regression", "r2"), ("classification", "auc")])
def test_what_is_drawn_is_the_frame(task, score):
    """Methods with rules are points, others lines, and the legend tells of failures."""
    display = table(task).plot()
    frame = display.frame(backend="pandas")
    assert list(frame) == ["method", "dice", score, "failed"]
    assert frame[score].tolist() == [0.7, 0.8, 0.9]
    point, line = display.artists_["MOSS"], display.artists_["forest"]
    assert (point.get_xdata().tolist(), point.get_ydata().tolist()) == ([0.6], [0.7])
    assert set(line.get_ydata()) == {0.9}
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["MOSS", r" _a \$b\$ (2 fits failed)", "forest"]
    assert "10 refits" in display.ax_.get_xlabel()


def test_only_a_trust_table_is_drawn():
    """Anything else is named."""
    with pytest.raises(UnsupportedType, match="assessment is a list"):
        TrustDisplay.from_assessment([])
