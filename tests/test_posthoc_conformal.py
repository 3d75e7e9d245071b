"""Chapter 8, coverage: the conformal quantile against all orders of ranks, NumPy's quantile with one more score, and its Beta law."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from course_pkg.posthoc import conformal_quantile

LEVELS = (0.1, 0.5, 0.56, 2 / 3, 0.75, 5 / 6, 0.9, 0.99)


@pytest.mark.parametrize("n", [1, 2, 3, 4, *(pytest.param(n, marks=pytest.mark.thorough) for n in (5, 6))])
def test_of_all_orders_the_promised_share_is_covered_and_one_more_at_most(n):
    orders = list(permutations(range(n + 1)))
    for level in LEVELS:
        covered = sum(order[-1] <= conformal_quantile(order[:-1], level) for order in orders)
        k = next(k for k in range(1, n + 2) if k >= level * (n + 1) - 1e-9)
        assert covered * (n + 1) == k * len(orders)


@given(st.integers(1, 60), st.sampled_from(LEVELS))
def test_it_is_numpys_quantile_of_the_scores_and_one_that_is_infinite(n, level):
    scores = np.random.default_rng(n).normal(size=n)
    k = next(k for k in range(1, n + 2) if k >= level * (n + 1) - 1e-9)  # NumPy takes 0.56 * 25 for more than 14
    expected = np.quantile([*scores, np.inf], (k - 0.5) / (n + 1), method="inverted_cdf")
    assert conformal_quantile(scores, level) == expected


def test_a_level_in_per_cent_is_not_pushed_up_by_rounding():
    assert conformal_quantile([2.0, 1.0, 3.0], 1e-12) == 1.0
    assert [conformal_quantile(np.arange(1.0, 100.0), share / 100) for share in range(1, 100)] == list(range(1, 100))


def test_coverage_given_the_scores_has_a_beta_law():
    rng, n, level = np.random.default_rng(0), 19, 0.8
    covered = [conformal_quantile(rng.random(n), level) for _ in range(2_000)]  # of uniform scores the bound is its own coverage
    assert stats.kstest(covered, stats.beta(16, 4).cdf).pvalue > 1e-4  # false alarm rate


@pytest.mark.parametrize("values", [(0, 0, 1, 1, 2), (0, 0, 0, 1, 2), (0, 1, 2, 2, 2)])
def test_ties_cover_more_often_and_never_less(values):
    for level in LEVELS:
        covered = [order[-1] <= conformal_quantile(order[:-1], level) for order in permutations(values)]
        assert np.mean(covered) >= level - 1e-9


@pytest.mark.parametrize(
    ("scores", "level", "words"), [([], 0.9, "scores"), ([[1.0]], 0.9, "scores"), ([1.0], 1.0, "level"), ([1.0, np.nan], 0.5, "scores")]
)
def test_bad_input_is_named(scores, level, words):
    with pytest.raises(ValueError, match=words):
        conformal_quantile(scores, level)
