import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes


@pytest.fixture(scope="package")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="package")
def tumours():
    """Return some columns of a table, and classes of text."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[::2, :8], y[::2].map({0: "malignant", 1: "benign"})
