import numpy as np
import pytest

from mossrules.candidates.kernels import draws
from support.oracles import bootstrap_weights, mix, poisson_quantile, stream_key


def test_splitmix_gives_the_published_first_outputs():
    """Seed 0 yields the reference sequence of SplitMix64."""
    golden = int(draws.GOLDEN)
    outputs = np.empty(3, dtype=np.uint64)
    draws.hash_rows(np.uint64(golden), 0, np.arange(3, dtype=np.uint32), outputs)
    assert outputs.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("seed", [0, 1, 2**62 + 5])
def test_stream_keys_equal_those_of_plain_integers(seed):
    """A key is the same function of (seed, purpose, index) in Python's integers."""
    for purpose, index in ((1, 0), (2, 12345), (3, 2**40)):
        ours = int(draws.stream_key(np.uint64(seed), purpose, index))
        assert ours == stream_key(seed, purpose, index)


def test_uniforms_of_a_row_do_not_depend_on_where_its_chunk_begins():
    """Row 1000 draws the same numbers in every chunking."""
    whole = np.empty((4, 2000), dtype=np.uint16)
    part = np.empty((4, 500), dtype=np.uint16)
    places = np.arange(2000, dtype=np.uint32)
    draws.draw_uniforms(np.uint64(7), 0, places, whole)
    draws.draw_uniforms(np.uint64(7), 900, places[:500], part)
    np.testing.assert_array_equal(whole[:, 900:1400], part)
    draws.draw_uniforms(np.uint64(7), 0, places[900:1400][::-1].copy(), part)
    np.testing.assert_array_equal(whole[:, 900:1400], part[:, ::-1])


def test_poisson_inverts_the_distribution_function_at_every_uniform():
    """All 65536 draws equal the exact quantile, but for those that rounding to 16 bits moves."""
    ours = np.array([draws.poisson.py_func(np.uint16(u)) for u in range(65536)])
    exact = np.array([poisson_quantile((u + 0.5) / 65536) for u in range(65536)])
    assert np.count_nonzero(ours != exact) <= 1
    assert ours.mean() == pytest.approx(1.0, abs=1e-4)
    assert ours.var() == pytest.approx(1.0, abs=1e-3)


def test_bootstraps_of_different_trees_are_uncorrelated():
    """Trees that share a 64-bit draw, and trees that do not, have independent weights."""
    weights = np.array([bootstrap_weights(3, tree, 4000) for tree in range(8)])
    correlations = np.corrcoef(weights)[np.triu_indices(8, 1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(4000)


def test_features_are_drawn_without_replacement_and_equally_often():
    """Every column is drawn by a third of the nodes, and no node draws one twice."""
    features = np.empty((3000, 2, 4), dtype=np.int64)
    draws.draw_features(np.uint64(1), 0, 1, np.ones((3000, 2), dtype=bool), 12, 0, features)
    assert all(len(set(node)) == 4 for node in features.reshape(-1, 4).tolist())
    counts = np.bincount(features.ravel(), minlength=12)
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000 * 2 / 3)


def test_a_later_draw_continues_the_permutation_of_the_node():
    """Ranks 0..3 and 4..7 and 8..9 of ten columns are together one permutation."""
    active = np.ones((5, 1), dtype=bool)
    parts = []
    for start in (0, 4, 8):
        features = np.empty((5, 1, 4), dtype=np.int64)
        draws.draw_features(np.uint64(9), 0, 0, active, 10, start, features)
        parts.append(features)
    for ranks in np.concatenate(parts, axis=2)[:, 0]:
        assert sorted(ranks[:10]) == list(range(10))
        assert (ranks[10:] == -1).all()


def test_a_draw_depends_on_the_tree_and_not_on_the_batch_it_is_in():
    """Trees 4..7 draw the same columns whether or not trees 0..3 are drawn with them."""
    active = np.ones((8, 2), dtype=bool)
    together = np.empty((8, 2, 3), dtype=np.int64)
    draws.draw_features(np.uint64(2), 0, 1, active, 9, 0, together)
    apart = np.empty((4, 2, 3), dtype=np.int64)
    draws.draw_features(np.uint64(2), 4, 1, active[4:], 9, 0, apart)
    np.testing.assert_array_equal(together[4:], apart)


def test_the_oracle_mixes_like_the_kernel():
    """The Python and the compiled finaliser agree on arbitrary words."""
    words = np.random.default_rng(0).integers(0, 2**63, 100, dtype=np.uint64)
    assert [int(draws.mix(word)) for word in words] == [mix(int(word)) for word in words]
