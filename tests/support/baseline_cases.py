"""Tables, rows and designs that tests of several baselines learn from."""

import itertools

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from mossrules import Statistics
from mossrules.baselines.boosted_trees import BoostedTrees
from mossrules.baselines.designs import Design
from mossrules.candidates.search import encode_rows
from mossrules.candidates.statistics import rule_columns
from mossrules.data.chunks import row_ranges
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from support.oracles import generalised_lasso_bound


@st.composite
def random_rules(draw):
    """Return columns of 0 and 1 on some rows, and a target of mean 0 and variance 1."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(8, 60)), draw(st.integers(1, 12))
    R = (rng.random((n, m)) < rng.uniform(0.1, 0.9, m)).astype(float)
    if draw(st.booleans()):
        R[:, -1] = 1 - R[:, 0]  # a complement, so that columns depend on each other
    y = R @ rng.normal(size=m) + rng.normal(size=n)
    return R, (y - y.mean()) / y.std()


def statistics_of(R, y):
    """Return the statistics of rules that hold where R is 1."""
    sizes = R.sum(axis=0)
    values = np.divide(R.T @ y, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    statistics = Statistics.from_matrix(R * values, y, np.arange(R.shape[1])[::-1] + 1)
    # A column of zeros has no size of its own there, unlike a rule whose mean is zero.
    assert (statistics.support[values != 0] == sizes[values != 0]).all()
    return statistics


def design_of(X, y):
    """Return the sums of centred columns."""
    Z = X - X.mean(axis=0)
    return Design(Z.T @ Z, Z.T @ y, float(y @ y), float(len(y)), X.mean(axis=0))


def mixed_table(seed=0, n=150):
    """Return numbers, flags, words and missing values, and a target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "kind": rng.choice(["oak", "ash", "elm", None], n),
            "wet": rng.random(n) < 0.5,
            "age": rng.integers(0, 40, n),
            "sex": rng.choice(["m", "f"], n),
        }
    )
    y = 2.0 * (X["kind"] == "oak") + X["size"].fillna(2.0) + X["wet"] * (X["age"] > 20)
    return X, y + 0.1 * rng.normal(size=n)


def rows_as_given(X, y, weights=None):
    """Return rows to learn from in the order that they have."""
    return Rows.from_table(Table.from_any(X), y, weights, keeps_order=True)


def encoded(X, y):
    """Return a table as boosted trees see it."""
    spans = row_ranges(len(X), chunk_rows=40)
    rows = Rows.from_table(Table.from_any(X), y.to_numpy(), spans=spans, keeps_order=True)
    return encode_rows(rows, BoostedTrees(), n_bins=10)


def holds(candidates, X):
    """Return all candidates' columns of 0 and 1."""
    codes = candidates.binning.encode(Table.from_any(X))
    return rule_columns(candidates.pool.rules, candidates.binning, codes).T.astype(float)


def scaled(y):
    """Return the target with mean 0 and variance 1."""
    return ((y - y.mean()) / y.std(ddof=0)).to_numpy()


def is_second(model, y):
    """Return 1 for the class whose probability rules are for."""
    return (y == model.classes_[1]).to_numpy(float)


# --- what solvers minimise ------------------------------------------------------------------------


def logistic_objective(A, h, s, model, prices):
    """Return the penalised logistic loss of weights and an intercept, row by row."""
    w, a = model
    f = a + w @ A
    return np.sum(h * (np.logaddexp(0, f) - s * f)) / h.sum() + prices @ np.abs(w)


def logistic_lasso(A, h, s, prices):
    """Return weights and intercept of the L1 penalty, by scikit-learn's saga."""
    unit = prices.min()
    model = LogisticRegression(
        C=1 / (unit * h.sum()), l1_ratio=1, solver="saga", tol=1e-7, max_iter=50_000, random_state=0
    )
    model.fit(A.T * unit / prices, s, sample_weight=h)
    return model.coef_[0] * unit / prices, model.intercept_[0]


def block_objective(descent, penalty, w):
    """Return what a descent lowers."""
    blocks, price, size = descent.blocks, penalty.price, np.abs(w)
    loss = 0.5 * descent.design.residual(blocks.per_rule(w, descent.design.m))
    bend = penalty.concavity * np.repeat(descent.curvatures, np.diff(blocks.offsets))
    # Beyond price / bend the penalty stays what it is there.
    size = np.divide(price, bend, out=size, where=bend * size > price)
    inside = np.ones(max(len(w) - 1, 0), dtype=bool)
    inside[blocks.offsets[1:-1] - 1] = False
    steps = np.abs(np.diff(w))[inside].sum()
    return loss + price @ size - 0.5 * bend @ size**2 + penalty.fusion * steps


def block_bound(descent, penalty, w):
    """Return what the convex objective is nowhere below, proven with the help of weights w."""
    rules, offsets = descent.blocks.rules, descent.blocks.offsets
    G, q = descent.design.C[np.ix_(rules, rules)], descent.design.c[rules]
    F = [np.diag(penalty.price)]
    for first, stop in itertools.pairwise(offsets):
        steps = np.zeros((stop - first - 1, len(rules)))
        steps[:, first:stop] = np.diff(np.eye(stop - first), axis=0)
        F.append(penalty.fusion * steps)
    # Weights that cost more than none at all need not be looked at.
    reach = 0.5 * descent.design.yy / penalty.price.min()
    bound = generalised_lasso_bound(G, q, np.concatenate(F), w, reach)
    return 0.5 * descent.design.yy + bound
