from sklearn.utils.estimator_checks import parametrize_with_checks

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
