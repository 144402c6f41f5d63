from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from mossrules import MossClassifier


@parametrize_with_checks(
    [
        MossClassifier(5, n_trees=40),
        MossClassifier(3, stability="low", class_weight="balanced", n_trees=10, refit=False),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)


def test_names_of_columns_are_treated_as_scikit_learn_treats_them():
    """Names are kept, compared, and warned or refused about as in scikit-learn's own estimators."""
    check_dataframe_column_names_consistency("MossClassifier", MossClassifier(3, n_trees=10))
