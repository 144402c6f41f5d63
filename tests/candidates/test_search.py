import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import mossrules
from mossrules import FittedEnsemble, MossError, find_candidates
from mossrules.exceptions import InvalidParameter, InvalidTable, InvalidTarget
from support.oracles import dense_statistics, holds


@pytest.fixture(scope="module")
def diabetes():
    """Return the diabetes data as a pandas frame and a target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def same(a, b):
    """Tell whether two results have the same rules and, bit for bit, the same statistics."""
    return (
        a.pool == b.pool
        and a.binning == b.binning
        and a.statistics.G.tobytes() == b.statistics.G.tobytes()
        and a.statistics.q.tobytes() == b.statistics.q.tobytes()
    )


def test_statistics_are_those_of_the_rules_as_they_read(diabetes):
    """Rules evaluated by their thresholds on the raw columns give the same G and q."""
    X, y = diabetes
    found = find_candidates(X, y, n_trees=50)
    columns = {name: X[name].to_numpy(dtype=float) for name in X}
    dense = np.column_stack([holds(rule, found.binning, columns) for rule in found.pool.rules])
    _, v, G, q, yy, n = dense_statistics(dense, y.to_numpy())
    np.testing.assert_allclose(found.statistics.values, v, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.statistics.G, G, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.statistics.q, q, rtol=1e-8, atol=1e-9)
    assert (found.statistics.yy, found.statistics.n) == pytest.approx((yy, n))


def test_the_same_call_gives_the_same_rules_whatever_the_frame_threads_or_chunks(diabetes):
    """pandas, polars, pyarrow and dict; 1 or 2 threads; any chunk size; y by name."""
    X, y = diabetes
    reference = find_candidates(X, y, n_trees=60)
    everything = X.assign(target=y)
    variants = [
        find_candidates(X, y, n_trees=60, n_jobs=1, chunk_rows=29),
        find_candidates(X, y, n_trees=60, n_jobs=2, chunk_rows=100),
        find_candidates(pl.from_pandas(X), pl.from_pandas(y), n_trees=60),
        find_candidates(pa.Table.from_pandas(X), y.to_list(), n_trees=60),
        find_candidates({name: X[name].to_numpy() for name in X}, y, n_trees=60),
        find_candidates(everything, "target", n_trees=60),
        find_candidates(X, y, n_trees=60, random_state=0),
        find_candidates(X, y, n_trees=60, sample_weight=np.ones(len(y))),
    ]
    assert all(same(reference, variant) for variant in variants[:-1])
    assert not same(reference, find_candidates(X, y, n_trees=60, random_state=1))
    assert len(variants[-1].pool) > 50


def test_permuting_the_columns_leaves_the_statistics_of_given_rules_alone(diabetes):
    """Rules know their columns by name: order matters to the draw of the forest only."""
    X, y = diabetes
    model = RandomForestRegressor(20, max_depth=2, random_state=0).fit(X, y)
    a = find_candidates(X, y, generator=FittedEnsemble(model))
    backwards = X[X.columns[::-1]]
    model_b = RandomForestRegressor(20, max_depth=2, random_state=0).fit(backwards, y)
    b = find_candidates(backwards, y, generator=model_b)
    shared = [rule for rule in a.pool.rules if rule in set(b.pool.rules)]
    assert len(shared) > 5
    for rule in shared:
        i, j = a.pool.rules.index(rule), b.pool.rules.index(rule)
        assert a.statistics.G[i, i] == b.statistics.G[j, j]


def test_every_generator_gives_a_pool(diabetes):
    """Forest, noisy target, fitted model and ready-made generator objects."""
    X, y = diabetes
    model = RandomForestRegressor(30, max_depth=2, random_state=0).fit(X, y)
    for generator in ("forest", "noisy-target", model, FittedEnsemble(model)):
        found = find_candidates(X, y, generator=generator, n_trees=30)
        assert found.pool.n_trees == 30
        assert found.pool.counts.sum() > 60


def test_caps_inner_nodes_and_merging_change_the_pool_as_they_say(diabetes):
    """Fewer rules with a cap or merging, more with inner nodes."""
    X, y = diabetes
    base = find_candidates(X, y, n_trees=100)
    capped = find_candidates(X, y, n_trees=100, max_candidates=20)
    assert capped.pool.rules == base.pool.rules[:20]
    np.testing.assert_array_equal(capped.statistics.G, base.statistics.G[:20, :20])
    inner = find_candidates(X, y, n_trees=100, inner_nodes=True, max_candidates=None)
    assert set(base.pool.rules) < set(inner.pool.rules)
    twice = pd.concat([X, X.add_suffix("_copy")], axis=1)
    plain = find_candidates(twice, y, n_trees=100, max_candidates=None)
    merged = find_candidates(twice, y, n_trees=100, max_candidates=None, merge_identical=True)
    assert len(merged) < len(plain)
    N = merged.statistics.G / np.outer(merged.statistics.values, merged.statistics.values)
    sizes = np.diagonal(N)
    identical = np.isclose(N, sizes) & np.isclose(N, sizes[:, None])
    assert np.count_nonzero(identical) == len(merged)
    assert merged.pool.counts.max() <= 100
    for rule, count in zip(merged.pool.rules, merged.pool.counts, strict=True):
        assert count >= plain.pool.counts[plain.pool.rules.index(rule)]


def test_mixed_tables_with_missing_values_need_no_preparation():
    """Strings, categories, booleans, missing values: rules speak of them in words."""
    rng = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n),
            "region": pd.Categorical(rng.choice(["north", "south", "east"], n)),
            "owner": rng.random(n) < 0.5,
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], n),
                categories=["low", "mid", "high"],
                ordered=True,
            ),
        }
    )
    y = (X["region"] == "north") * 2.0 + X["owner"] + (X["grade"] == "high") + rng.normal(0, 0.1, n)
    y[X["income"] > 30_000] += 2
    X.loc[rng.random(n) < 0.2, "income"] = np.nan
    X.loc[rng.random(n) < 0.1, "region"] = None
    texts = " | ".join(find_candidates(X, y, n_trees=200, max_features=1.0).texts)
    for words in ("region is north", "region is not north", "income", "missing"):
        assert words in texts
    texts = " | ".join(find_candidates(X, y, n_trees=300, max_features=1).texts)
    for words in ("owner is true", "owner is false", "grade > mid", "grade <= mid"):
        assert words in texts


def test_the_result_prints_and_frames(diabetes):
    """Repr is one line, str a short table, frame a frame of the library asked for."""
    X, y = diabetes
    found = find_candidates(X, y, n_trees=40)
    assert repr(found) == f"Candidates({len(found)} rules from 40 trees on 442 rows)"
    assert len(str(found).splitlines()) == 12
    frame = found.frame()
    assert list(frame.columns) == ["rule", "count", "proportion", "coverage", "mean"]
    assert len(frame) == len(found)
    first = found.pool.rules[0]
    rows = holds(first, found.binning, {name: X[name].to_numpy(dtype=float) for name in X})
    assert frame["coverage"][0] == pytest.approx(rows.mean())
    assert frame["mean"][0] == pytest.approx(y[rows].mean(), rel=1e-8)
    assert isinstance(found.frame("polars"), pl.DataFrame)
    with pytest.raises(InvalidParameter, match="backend is 'excel'"):
        found.frame("excel")


def test_progress_is_reported_for_every_pass(diabetes):
    """The callback sees each stage go from its first chunk to its last."""
    X, y = diabetes
    events = []
    find_candidates(X, y, n_trees=10, chunk_rows=200, progress=lambda *event: events.append(event))
    stages = dict.fromkeys(stage for stage, _, _ in events)
    assert list(stages) == [
        "reading columns", "binning", "growing level 1", "growing level 2", "counting overlaps",
    ]  # fmt: skip
    for stage in stages:
        assert [done for name, done, _ in events if name == stage][:3] == [1, 2, 3]


def test_seeds_can_come_from_numpy(diabetes):
    """Generators and random states give seeds; other things are refused."""
    X, y = diabetes
    for make in (np.random.default_rng, np.random.RandomState):
        a, b = (find_candidates(X, y, n_trees=10, random_state=make(5)) for _ in range(2))
        assert same(a, b)
    for bad in (-1, 1.5, "7"):
        with pytest.raises(InvalidParameter, match="random_state"):
            find_candidates(X, y, n_trees=10, random_state=bad)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_trees": 0}, InvalidParameter, "n_trees"),
        ({"n_trees": 10.0}, InvalidParameter, "n_trees is 10.0; pass an integer"),
        ({"n_trees": True}, InvalidParameter, "n_trees is True"),
        ({"max_depth": None}, InvalidParameter, "max_depth is None"),
        ({"min_leaf": float("nan")}, InvalidParameter, "min_leaf is nan"),
        ({"max_features": "third"}, InvalidParameter, "max_features is 'third'"),
        ({"generator": "noisy-target", "noise": 0}, InvalidParameter, "noise is 0"),
        ({"n_bins": "ten"}, InvalidParameter, "n_bins is 'ten'"),
        ({"n_bins": 1}, InvalidParameter, "n_bins"),
        ({"n_bins": 300}, InvalidParameter, "n_bins"),
        ({"generator": "magic"}, InvalidParameter, "generator is 'magic'"),
        ({"generator": None}, InvalidParameter, "generator is None"),
        ({"n_jobs": 0}, InvalidParameter, "n_jobs"),
        ({"chunk_rows": 0}, InvalidParameter, "chunk_rows"),
        ({"max_candidates": 0}, InvalidParameter, "max_candidates is 0"),
        ({"sample_weight": [1.0]}, InvalidTarget, "sample_weight has 1 values"),
        ({"sample_weight": [-1.0] * 442}, InvalidTarget, "negative"),
        ({"sample_weight": [0.0] * 442}, InvalidTarget, "zero on all rows"),
        ({"sample_weight": [1.0] + [0.0] * 441}, InvalidTarget, "fewer than two rows"),
        ({"sample_weight": [1e308] * 442}, InvalidTarget, r"is 1e\+308; rescale"),
        ({"sample_weight": [1e-300] * 442}, InvalidTarget, "is 1e-300; rescale"),
        ({"min_leaf": 400}, InvalidTable, "No tree found a split"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(diabetes, options, error, words):
    """The message names the parameter; the error is ours and a ValueError."""
    X, y = diabetes
    with pytest.raises(error, match=words) as caught:
        find_candidates(X, y, **{"n_trees": 10, **options})
    assert isinstance(caught.value, MossError)
    assert isinstance(caught.value, ValueError)


def test_zero_weight_rows_might_as_well_not_be_there(diabetes):
    """Rows without weight change neither the bins nor any statistic of given rules."""
    X, y = diabetes
    weights = np.ones(len(y))
    weights[::3] = 0.0
    strange = X.copy()
    strange.iloc[::3] = 1e6
    a = find_candidates(strange, y.where(weights > 0, 1e9), n_trees=20, sample_weight=weights)
    b = find_candidates(X, y, n_trees=20, sample_weight=weights)
    assert same(a, b)


def test_the_public_names_are_all_there():
    """Every name in __all__ can be had, and nothing else is offered."""
    for name in mossrules.__all__:
        assert getattr(mossrules, name) is not None
    assert dir(mossrules) == sorted(mossrules.__all__)
    with pytest.raises(AttributeError, match="no attribute 'MossTeapot'"):
        mossrules.MossTeapot  # noqa: B018
