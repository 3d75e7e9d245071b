"""What a better decision saves, on the same points: the paired interval against the delta method, and its coverage."""

from itertools import product

import jax
import numpy as np
import pytest
from scipy import stats

from course_pkg.decisions import paired_reduction

KEY = jax.random.key(0)


def test_paired_reduction():
    rng = np.random.default_rng(0)
    before = rng.gamma(2.0, size=2000)
    after = before * 0.9 + 0.05 * rng.gamma(2.0, size=2000)
    result = paired_reduction(KEY, before, after)
    assert result.value == pytest.approx(1 - after.mean() / before.mean(), rel=1e-5)
    ratio = after.mean() / before.mean()
    delta = np.std(after - ratio * before, ddof=1) / np.sqrt(2000) / before.mean()
    assert result.standard_error == pytest.approx(delta, rel=0.1)
    assert result.low < result.value < result.high
    grouped = paired_reduction(KEY, before, after, groups=np.arange(2000))
    assert grouped.standard_error == pytest.approx(result.standard_error, rel=0.1)
    for bad, words in (
        ((before, after[:-1]), "losses on the same points"),
        ((before[:1], after[:1]), "1 point"),
        ((-before, after), "baseline holds -"),
        ((0 * before, after), "baseline is 0"),
    ):
        with pytest.raises(ValueError, match=words):
            paired_reduction(KEY, *bad)


def test_the_interval_is_that_of_scipy_s_paired_bootstrap_of_the_ratio():
    before, after = np.random.default_rng(1).gamma(2.0, size=(2, 40))
    found = paired_reduction(KEY, before, after, level=0.8, resamples=500)
    rng = np.random.default_rng(np.asarray(jax.random.key_data(KEY)))
    ratio = lambda old, new, axis: 1 - new.sum(axis=axis) / old.sum(axis=axis)
    theirs = stats.bootstrap((before, after), ratio, paired=True, n_resamples=500, confidence_level=0.8, method="percentile", rng=rng)
    np.testing.assert_allclose(found[1:4], [theirs.standard_error, *theirs.confidence_interval], atol=1e-6)
    # groups are drawn whole: as points that cost their totals
    groups = np.repeat(["one", "two", "three", "four"], 10)
    totals = (costs.reshape(4, 10).sum(axis=1)[[3, 0, 2, 1]] for costs in (before, after))  # in the order of the alphabet
    together = paired_reduction(KEY, before, after, groups=groups)
    np.testing.assert_allclose(together[1:4], paired_reduction(KEY, *totals)[1:4], atol=1e-6)


def test_resamples_whose_baseline_costs_nothing_are_left_out_of_the_interval():
    # of 3^3 resamples 8 lack the first point; in the others the saving is 1 - (1 + others) / 4 of as many firsts
    found = paired_reduction(KEY, [4.0, 0.0, 0.0], [1.0, 0.0, 1.0], level=0.8, resamples=4000)
    ratios = np.array(
        [1 - sum(np.take([1.0, 0.0, 1.0], i)) / sum(np.take([4.0, 0.0, 0.0], i)) for i in product(range(3), repeat=3) if 0 in i]
    )
    assert found.standard_error == pytest.approx(ratios.std(), rel=0.1)
    assert (found.low, found.high) == tuple(np.quantile(ratios, [0.1, 0.9]))


def test_the_paired_interval_covers_as_it_says():
    # costs that move together: the paired interval knows it. 200 worlds, nominal 90 %: fewer than 160 covered has probability 3e-6
    rng = np.random.default_rng(4)
    covered = 0
    for world in range(200):
        shared = rng.exponential(size=150)
        old, new = shared + 0.1 * rng.random(150), 0.9 * shared + 0.1 * rng.random(150)
        interval = paired_reduction(jax.random.key(world), old, new, level=0.9, resamples=300)
        assert interval.low <= interval.value <= interval.high
        covered += interval.low <= 1 - 0.95 / 1.05 <= interval.high
    assert 160 <= covered <= 197
