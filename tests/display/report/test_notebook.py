import re
from xml.etree import ElementTree as ET

import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes

from mossrules import MossClassifier, MossRegressor
from mossrules.defaults import PAPER_WAY
from mossrules.learning.fit import frontier_without_rules

HOSTILE = '<script>alert("bmi")</script>'


@pytest.fixture(scope="module")
def rows():
    """Return numbers, one column of which has a name that is no good in HTML."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X.rename(columns={"bmi": HOSTILE}), y


@pytest.fixture(scope="module")
def model(rows):
    """Return a fitted model."""
    return MossRegressor(5, n_trees=100, random_state=0).fit(*rows)


def words_of(html):
    """Return the words of HTML that is also XML, as it has to be to be read."""
    return re.sub(r"\s+", " ", " ".join(ET.fromstring(html).itertext()))  # noqa: S314  ours


def test_a_fitted_model_shows_its_rules_and_certificate(rows):
    """Rules as text, whatever the names; the trade-off only where it was solved before."""
    model = MossRegressor(5, n_trees=100, random_state=0).fit(*rows)
    html = model._repr_html_()
    words = words_of(html)
    assert all(text in words for text in model.rules_.texts)
    assert HOSTILE in words
    assert "<script" not in html
    assert "Proven: no equally stable set of up to 5" in words
    assert "<svg" not in html
    frontier = model.frontier([1.0, 0.7, 0.4, model.settings().stability])
    with_figure = model._repr_mimebundle_()["text/html"]
    marks = re.findall(r'data-point="(\d+)"', with_figure)
    assert len(marks) == len(frontier)
    assert "fitted model" in words_of(with_figure)


def test_a_model_that_is_not_fitted_shows_its_parameters():
    """As scikit-learn shows it; and nothing at all where HTML is not wanted."""
    assert "sk-container" in MossRegressor()._repr_html_()
    with config_context(display="text"):
        assert not hasattr(MossRegressor(), "_repr_html_")


def test_several_classes_show_the_rules_of_each(rows):
    """One table for each class."""
    X, y = rows
    thirds = (y // 120).astype(int).astype(str)
    model = MossClassifier(2, n_trees=30).fit(X[["s5", "bp"]], thirds)
    assert model._repr_html_().count("<table") == len(model.classes_) > 2


def test_a_frontier_shows_its_points(rows):
    """A mark for each, a table of some, and how good they are; the paper's has many points."""
    model = MossRegressor(5, n_trees=100, random_state=0, **PAPER_WAY).fit(*rows)
    frontier = model.frontier("complete", gap=0.0)
    html = frontier._repr_html_()
    words = words_of(html)
    assert len(re.findall(r'data-point="(\d+)"', html)) == len(frontier)
    assert html.count("<tr>") - 1 <= 13 < len(frontier)
    assert f"of {len(frontier)} points" in words
    assert repr(frontier) in words
    assert "knee" in words


def test_a_frontier_without_a_choice_has_a_view(model):
    """No point, and a single one."""
    single = frontier_without_rules(model.solution_, 5)
    assert 'data-point="0"' in single._repr_html_()
    assert "knee" not in single._repr_html_()
