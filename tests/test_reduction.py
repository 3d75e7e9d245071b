"""What a better decision saves, on the same points: the paired interval against the delta method, and its coverage."""

import jax
import numpy as np
import pytest

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
