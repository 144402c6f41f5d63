import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.learning.near import approved_rules, number_to_keep
from mossrules.learning.tidy import with_approved


@pytest.mark.parametrize(
    ("keep", "n", "number"),
    [
        (0.8, 5, 4),
        (0.8, 6, 5),
        (0.07, 100, 7),
        (0.1, 30, 3),
        (1, 7, 7),
        (1e-9, 3, 1),
        (None, 10, 8),
    ],
)
def test_a_share_is_rounded_up_but_not_for_a_rounding_error(keep, n, number):
    """0.07 * 100 is a little above 7 in floating point, and asks for 7."""
    assert number_to_keep(keep, n) == number


def test_approved_rules_come_back_by_how_far_they_move_predictions():
    """As many as are missing, and none where enough have stayed."""
    sizes = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 0.0])

    def size_of(some):
        return sizes[some]

    tidy, approved = np.array([0, 3]), np.array([1, 2, 3, 5])
    assert with_approved(tidy, approved, 1, size_of).tolist() == [0, 3]
    assert with_approved(tidy, approved, 2, size_of).tolist() == [0, 2, 3]
    assert with_approved(tidy, approved, 3, size_of).tolist() == [0, 1, 2, 3]
    assert with_approved(tidy, approved, 4, size_of).tolist() == [0, 1, 2, 3, 5]


def test_a_model_a_rule_set_and_a_file_mean_the_same(tmp_path):
    """All of them are read as rules with their bins."""
    model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    path = tmp_path / "model.json"
    path.write_text(model.rules_.to_json())
    read = [approved_rules(near, classifies=False) for near in (model, model.rules_, path)]
    assert read[0].texts == model.rules_.texts
    assert read[0] == read[1] == read[2]
    assert approved_rules(None, classifies=False) is None
