"""Chapter 1's package: losses, Bayes rules and risks against closed forms, brute force and SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import integrate, optimize, stats

from course_pkg import decisions as d
from course_pkg.decisions import rules

RNG = np.random.default_rng(0)
CONTINUOUS = [d.squared(), d.absolute(), d.tilted(0.2), d.imbalanced(3.0, 1.0), d.linex(0.7), d.linex(-1.2)]


def named(losses):
    return pytest.mark.parametrize("loss", losses, ids=lambda loss: loss.name)


def brute_force(loss, draws, weights):
    """The lowest expected loss over a fine grid between the extreme draws."""
    grid = np.linspace(draws.min(), draws.max(), 20_001)
    risks = (weights[:, None] * np.asarray(loss(draws[:, None], grid))).sum(0)
    return grid[risks.argmin()], risks.min()


def expected(loss, draws, weights, h):
    return float((weights * np.asarray(loss(draws, np.asarray(h)))).sum())


@named(CONTINUOUS)
@pytest.mark.parametrize("method", ["closed", "numerical"])
@pytest.mark.parametrize("size", [1, 7, *(pytest.param(size, marks=pytest.mark.thorough) for size in (2, 50))])
def test_bayes_decision_has_the_lowest_risk_on_a_grid(loss, method, size):
    draws, weights = RNG.gamma(2.0, size=size), RNG.dirichlet(np.ones(size))
    h = d.bayes_decision(loss, draws, weights, method=method)
    _, lowest = brute_force(loss, draws, weights)
    assert expected(loss, draws, weights, h) <= lowest + 2e-6 * (1 + lowest)


@named(CONTINUOUS)
def test_closed_form_and_numerical_solution_are_equally_good_for_many_rows(loss):
    draws = RNG.normal(size=(3, 1700, 20))  # more than one block of rows, and a remainder
    closed, numerical = (d.bayes_decision(loss, draws, method=m) for m in ("closed", "numerical"))
    assert closed.shape == numerical.shape == (3, 1700)
    gap = d.risk(loss, draws, numerical) - d.risk(loss, draws, closed)
    assert np.abs(gap).max() < 2e-6


@pytest.mark.parametrize("weights", ["none", "shared", "own"])
def test_rows_spread_over_cores_give_what_one_row_gives(weights):
    draws = RNG.normal(size=(17_000, 5)).astype("f4")
    w = {"none": None, "shared": RNG.random(5), "own": RNG.random((17_000, 5))}[weights]
    together = d.bayes_decision(d.linex(0.5), draws, w, method="numerical")
    for row in (0, 8_499, 8_500, 16_999):
        own = w[row] if weights == "own" else w
        alone = d.bayes_decision(d.linex(0.5), draws[row], own, method="numerical")
        assert together[row] == pytest.approx(float(alone), abs=1e-6)


@pytest.mark.parametrize(
    ("loss", "truth"),
    [
        (d.squared(), lambda dist: dist.mean()),
        (d.absolute(), lambda dist: dist.median()),
        (d.tilted(0.2), lambda dist: dist.ppf(0.2)),
        (d.imbalanced(3.0, 1.0), lambda dist: dist.ppf(0.75)),
        (d.linex(-0.3), lambda dist: np.log(integrate.quad(lambda y: np.exp(0.3 * y) * dist.pdf(y), 0, 150)[0]) / 0.3),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_bayes_rules_of_a_gamma_by_quadrature(loss, truth):
    # a grid of equal steps with density weights is a quadrature rule: no Monte Carlo error to forgive
    dist = stats.gamma(2.0)
    grid = np.linspace(1e-4, 60, 200_001)
    with jax.enable_x64(True):
        h = d.bayes_decision(loss, grid, dist.pdf(grid))
    assert float(h) == pytest.approx(truth(dist), abs=1e-3)


def test_quantile_takes_the_left_end_of_an_interval_of_minimisers():
    draws = np.array([3.0, 1.0, 4.0, 2.0])
    assert float(d.quantile(draws, q=0.5)) == 2.0
    assert float(d.quantile(draws, np.full(4, 0.25), q=0.5)) == 2.0
    ten = np.arange(10.0)
    for k in range(1, 10):  # 0.1 * k is not exact in floating point
        assert float(d.quantile(ten, q=0.1 * k)) == k - 1
        assert float(d.quantile(ten, np.full(10, 0.1), q=0.1 * k)) == k - 1


def test_quantile_agrees_with_numpy_and_inside_jit():
    draws = RNG.normal(size=(40, 31))
    for q in (0.013, 0.2, 0.5, 0.97):
        theirs = np.quantile(draws, q, axis=-1, method="inverted_cdf")
        assert np.allclose(d.quantile(draws, q=q), theirs)
        jitted = jax.jit(lambda x, q=q: d.bayes_decision(d.tilted(q), x))
        assert np.allclose(jitted(draws), theirs)
        weighted = jax.jit(lambda x, w, q=q: d.bayes_decision(d.tilted(q), x, w))(draws, jnp.ones(31))
        assert np.allclose(weighted, theirs)


def test_a_loss_that_is_not_convex_finds_the_right_valley():
    def welcome(y, h):  # rewards closeness only: a bump, flat far away
        return 1 - jnp.exp(-((h - y) ** 2))

    # a narrow crowd on the left, a larger and looser one on the right that pulls at the middle
    draws = np.concatenate([RNG.normal(-3, 0.1, 45), RNG.normal(2.5, 1.5, 55)])
    h = float(d.bayes_decision(d.Loss("welcome", welcome), draws))
    grid, lowest = brute_force(welcome, draws, np.full(100, 0.01))
    assert expected(welcome, draws, np.full(100, 0.01), h) <= lowest + 1e-6
    assert h == pytest.approx(grid, abs=0.01)
    slope_only = d.Loss("welcome", welcome, convex=True)  # what the first look protects from
    assert expected(welcome, draws, np.full(100, 0.01), d.bayes_decision(slope_only, draws)) > lowest + 0.05


def test_a_wild_draw_does_not_blind_the_first_look():
    def capped(y, h):
        return jnp.minimum(jnp.abs(h - y), 1.0)

    for seed in range(10):
        rng = np.random.default_rng(seed)
        draws = np.concatenate([rng.normal(-3, 0.3, 20), rng.normal(3, 0.3, 29), [1e5]])
        assert float(d.bayes_decision(capped, draws)) == pytest.approx(3, abs=0.5)


def test_a_step_loss_without_any_slope_is_solved_by_the_first_look():
    def miss(y, h):
        return jnp.where(jnp.abs(h - y) <= 0.5, 0.0, 1.0)

    draws = np.array([0.0, 0.1, 0.2, 5.0, 9.0, 9.05, 9.1, 9.2])
    h = d.bayes_decision(miss, draws)
    assert 8.7 <= float(h) <= 9.5


def test_the_best_decision_may_lie_outside_the_draws():
    shifted = d.Loss("shifted", lambda y, h: (h - y - 100.0) ** 2, convex=True)
    assert float(d.bayes_decision(shifted, np.array([0.0, 1.0]))) == pytest.approx(100.5, abs=1e-4)
    assert float(d.bayes_decision(shifted, np.array([2.0]))) == pytest.approx(102.0, abs=1e-3)


def test_double_precision_when_asked_for():
    with jax.enable_x64(True):
        draws = RNG.normal(size=1001)
        h = d.bayes_decision(d.linex(0.5), draws, method="numerical")
        assert h.dtype == jnp.float64
        closed = d.bayes_decision(d.linex(0.5), draws)
        assert float(h) == pytest.approx(float(closed), abs=1e-12)


def test_double_precision_reaches_rows_spread_over_cores():
    with jax.enable_x64(True):
        draws = jax.random.normal(jax.random.key(0), (8 * rules.BLOCK + 1, 3))
        found = d.bayes_decision(d.squared(), draws, method="numerical")
        np.testing.assert_allclose(found, draws.mean(axis=-1), rtol=0, atol=1e-13)


def test_numerical_decision_agrees_with_scipy_on_a_loss_of_ones_own():
    def cubic(y, h):
        return jnp.abs(h - y) ** 3

    draws = RNG.normal(size=200)
    theirs = optimize.minimize_scalar(lambda h: np.mean(np.abs(h - draws) ** 3), bounds=(-3, 3), method="bounded", options={"xatol": 1e-8})
    assert float(d.bayes_decision(d.Loss("cubic", cubic), draws)) == pytest.approx(theirs.x, abs=1e-4)


def test_a_readers_own_loss_of_finitely_many_decisions_needs_no_table():
    ask = d.Loss("ask", lambda y, h: jnp.where(h == 2, 0.3, 1.0 * (y != h)), actions=3)
    draws = np.array([[0, 0, 0, 0, 1], [0, 1, 0, 1, 1]])
    assert d.bayes_decision(ask, draws).tolist() == d.bayes_decision(d.cost_matrix([[0.0, 1.0, 0.3], [1.0, 0.0, 0.3]]), draws).tolist()


def test_cost_matrix_by_enumeration():
    costs = np.array([[0.0, 4.0, 1.0], [3.0, 0.0, 1.0]])  # two classes, three decisions: the last asks an expert
    loss = d.cost_matrix(costs)
    for p in np.linspace(0.01, 0.99, 9):
        expected_costs = np.array([1 - p, p]) @ costs
        for method in ("auto", "numerical"):
            assert int(d.bayes_decision(loss, np.array([0, 1]), np.array([1 - p, p]), method=method)) == expected_costs.argmin()
    draws = RNG.integers(0, 2, size=(6, 11))
    shares = np.stack([(draws == k).mean(1) for k in (0, 1)], -1)
    assert (np.asarray(d.bayes_decision(loss, draws)) == (shares @ costs).argmin(1)).all()


def test_zero_one_takes_the_mode():
    draws = np.array([[0, 2, 2, 1, 2], [1, 1, 0, 0, 0]])
    assert d.bayes_decision(d.zero_one(3), draws).tolist() == [2, 0]
    assert d.bayes_decision(d.zero_one(3), draws, np.array([1.0, 0, 0, 5, 0])).tolist() == [1, 0]


def test_bayes_action_chooses_among_finitely_many():
    draws = RNG.normal(1.3, 1.0, size=(4, 500))
    actions = np.array([-1.0, 0.0, 1.0, 2.0])
    chosen = d.bayes_action(d.squared(), draws, actions)
    assert chosen.tolist() == [actions[np.abs(actions - m).argmin()] for m in draws.mean(1)]


def test_decisions_inside_jit_with_captured_arrays():
    grid, weights = jnp.linspace(-2, 2, 41), jnp.ones(20)
    draws = jnp.asarray(RNG.normal(size=20))
    inside = jax.jit(lambda x: (d.bayes_action(d.squared(), x, grid, weights), d.risk(d.absolute(), x, grid)))(draws)
    assert float(inside[0]) == float(d.bayes_action(d.squared(), draws, grid))
    assert np.allclose(inside[1], d.risk(d.absolute(), draws, grid), rtol=1e-5)


@named(CONTINUOUS)
def test_affine_change_of_loss_keeps_the_decision(loss):
    draws = RNG.gamma(2.0, size=101)
    changed = d.Loss("affine", lambda y, h: 3 * loss(y, h) + 7, convex=True)
    h, same = d.bayes_decision(loss, draws, method="numerical"), d.bayes_decision(changed, draws)
    assert float(same) == pytest.approx(float(h), abs=2e-4)


def test_losses_are_zero_at_the_truth_and_nowhere_negative():
    y, h = RNG.normal(size=(2, 1000))
    for loss in CONTINUOUS:
        assert np.allclose(loss(y, y), 0)
        assert (np.asarray(loss(y, h)) >= 0).all()


def test_linex_keeps_its_digits_near_the_truth():
    t = 1e-3
    assert float(d.linex(1.0)(0.0, t)) == pytest.approx(t**2 / 2 + t**3 / 6, rel=1e-3)


def test_utilities():
    cost = d.cost_matrix([[0.0, 5.0], [1.0, 0.0]])
    u = d.shifted_utility(cost)
    assert [float(u(y, h)) for y in (0, 1) for h in (0, 1)] == [5.0, 0.0, 4.0, 5.0]
    assert float(d.shifted_utility(d.squared(), 10.0)(0.0, 2.0)) == 6.0
    assert float(d.exponential_utility(d.squared(), 0.25)(0.0, 2.0)) == pytest.approx(np.exp(-1.0))
    half = jnp.array([1.0, 3.0])
    assert float(d.gain(d.exponential_utility(d.squared(), 0.25), half, 1.0)) == pytest.approx(0.5 + 0.5 * np.exp(-1.0))
    assert float(d.gain(d.shifted_utility(d.Loss("mine", lambda y, h: abs(y - h)), 4.0), half, 1.0)) == pytest.approx(3.0)
    draws = RNG.integers(0, 2, 50)
    h = d.bayes_decision(cost, draws)
    gains = [float(d.gain(u, draws, jnp.asarray(k))) for k in (0, 1)]
    assert int(h) == int(np.argmax(gains))
    assert gains[0] == pytest.approx(5 - float(d.risk(cost, draws, jnp.asarray(0))))


def test_risk_shapes_and_values():
    draws, w = RNG.normal(size=(2, 3, 40)), RNG.random((2, 3, 40))
    h = RNG.normal(size=(2, 3))
    theirs = (np.abs(draws - h[..., None]) * w).sum(-1) / w.sum(-1)
    assert np.allclose(d.risk(d.absolute(), draws, h, w), theirs, rtol=1e-5)
    many = d.risk(d.absolute(), draws[0, 0], np.linspace(-1, 1, 6).reshape(2, 3))
    assert many.shape == (2, 3)
    assert np.allclose(many.ravel(), [np.abs(draws[0, 0] - g).mean() for g in np.linspace(-1, 1, 6)], rtol=1e-5)
    assert np.allclose(d.risk(d.absolute(), draws, 0.0), np.abs(draws).mean(-1), rtol=1e-5)


def test_empirical_risk_and_risk_reduction():
    y = np.array([1.0, 2.0, 4.0])
    assert float(d.empirical_risk(d.absolute(), y, np.array([1.0, 3.0, 3.0]))) == pytest.approx(2 / 3)
    assert float(d.empirical_risk(d.absolute(), y, 2.0)) == pytest.approx(1.0)
    assert float(d.risk_reduction(20.0, 19.0)) == pytest.approx(0.05)
    assert float(d.risk_reduction(2.0, 3.0)) == pytest.approx(-0.5)


# Twelve z-tests below; together they raise a false alarm once in 10^5 runs of fresh seeds.
BOUND = stats.norm.isf(1e-5 / 12 / 2)


@pytest.mark.parametrize("loss", [d.squared(), d.tilted(0.2)], ids=lambda loss: loss.name)
def test_p_risk_against_quadrature(loss):
    p, q, h = stats.norm(1.0, 0.8), stats.norm(0.5, 1.2), 0.7
    truth = sum(integrate.quad(lambda t: float(loss(t, h)) * p.pdf(t), *ends)[0] for ends in ((-7, h), (h, 9)))
    for seed in range(6):
        theta = q.rvs(20_000, random_state=seed)
        estimate = d.p_risk(loss, theta, h, p.logpdf(theta) - q.logpdf(theta) + 30.0)  # a constant does not matter
        assert abs(float(estimate.value) - truth) / float(estimate.standard_error) < BOUND


def test_p_risk_standard_error_is_the_spread_over_replications():
    p, q = stats.norm(0.5, 1.0), stats.norm(0.0, 1.3)
    theta = q.rvs((400, 2000), random_state=1)
    runs = [d.p_risk(d.squared(), row, 0.5, p.logpdf(row) - q.logpdf(row)) for row in theta[:200]]
    values, errors = np.array([r.value for r in runs]), np.array([r.standard_error for r in runs])
    # a standard deviation from 200 runs is off by 5 %; 25 % is five times that
    assert values.std() == pytest.approx(errors.mean(), rel=0.25)


def test_p_risk_of_several_decisions_and_effective_sample_size():
    theta = RNG.normal(size=500)
    estimate = d.p_risk(d.squared(), theta, np.array([0.0, 1.0]), np.zeros(500))
    assert estimate.value.shape == estimate.standard_error.shape == (2,)
    assert float(estimate.effective_sample_size) == pytest.approx(500, rel=1e-5)
    costs = (theta[:, None] - np.array([0.0, 1.0])) ** 2
    for same in (estimate, d.p_risk(d.squared(), theta, np.array([0.0, 1.0]))):  # draws of p itself
        np.testing.assert_allclose(same.value, costs.mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(same.standard_error, costs.std(axis=0) / np.sqrt(500), rtol=1e-5)
    one = np.full(500, -np.inf)
    one[3] = 0.0
    assert float(d.p_risk(d.squared(), theta, 0.0, one).effective_sample_size) == pytest.approx(1.0)


BAD = [
    (lambda: d.tilted(1.0), "q is 1"),
    (lambda: d.tilted(-0.1), "q is -0.1"),
    (lambda: d.tilted(float("nan")), "q is nan"),
    (lambda: d.imbalanced(0.0, 1.0), "a is 0"),
    (lambda: d.imbalanced(1.0, -2.0), "b is -2"),
    (lambda: d.linex(0.0), "c is 0"),
    (lambda: d.cost_matrix([1.0, 2.0]), "costs has shape"),
    (lambda: d.cost_matrix([[0.0, np.inf]]), "costs holds inf"),
    (lambda: d.cost_matrix([[0.0, 1.0], [1.0]]), "costs is no regular array"),
    (lambda: d.zero_one(1), "classes is 1"),
    (lambda: d.shifted_utility(d.squared()), "M is missing"),
    (lambda: d.shifted_utility(d.zero_one(2), 0.5), "M is 0.5, below"),
    (lambda: d.exponential_utility(d.squared(), -1.0), "gamma is -1"),
    (lambda: d.bayes_decision(d.squared(), []), "draws is empty"),
    (lambda: d.bayes_decision(d.squared(), 3.0), "draws has shape"),
    (lambda: d.bayes_decision(d.squared(), ["a"]), "draws has type"),
    (lambda: d.bayes_decision(d.squared(), [1.0, np.nan]), "draws holds nan at position 1"),
    (lambda: d.bayes_decision(d.squared(), [1.0, np.inf]), "draws holds inf"),
    (lambda: d.bayes_decision(d.squared(), [1.0, 2.0], [1.0]), "weights has shape"),
    (lambda: d.bayes_decision(d.squared(), [1.0, 2.0], [1.0, -1.0]), "weights holds -1"),
    (lambda: d.bayes_decision(d.squared(), [1.0, 2.0], [0.0, 0.0]), "weights sums to 0"),
    (lambda: d.bayes_decision(d.squared(), [1.0, 2.0], method="guess"), "method is 'guess'"),
    (lambda: d.bayes_decision(lambda y, h: (y - h) ** 2, [1.0, 2.0], method="closed"), "no known Bayes rule"),
    (lambda: d.bayes_decision("squared", [1.0]), "loss is 'squared'"),
    (lambda: d.bayes_decision(np.arange(1000.0), d.squared()), r"^loss is [^,]{1,9}.{1,30}; give a Loss"),  # not all of its numbers
    (lambda: d.bayes_decision(d.squared, [1.0]), r"loss is squared, which does not take .* or call it: squared\(...\)"),
    (lambda: d.bayes_decision(d.zero_one(2), [0, 1, 2]), "draws hold a class outside"),
    (lambda: d.bayes_action(d.squared(), [1.0], []), "actions is empty"),
    (lambda: d.bayes_action(lambda y, h: 0 * h / 0, np.ones(1), [0.0]), "the expected loss holds nan"),
    (lambda: d.risk(d.squared(), np.ones((2, 3)), np.ones(3)), "h has shape"),
    (lambda: d.empirical_risk(d.squared(), np.ones(3), np.ones(2)), "h has shape"),
    (lambda: d.risk_reduction(0.0, 1.0), "baseline is 0"),
    (lambda: d.risk_reduction(1.0, -1.0), "improved holds -1"),
    (lambda: d.p_risk(d.squared(), [1.0], 0.0, [0.0]), "draws has 1 value"),
    (lambda: d.p_risk(d.squared(), [1.0, 2.0], 0.0, [0.0]), "log_weights has shape"),
    (lambda: d.p_risk(d.squared(), [1.0, 2.0], 0.0, [0.0, np.nan]), "log_weights holds NaN"),
    (lambda: d.p_risk(d.squared(), [1.0, 2.0], 0.0, [-np.inf, -np.inf]), "log_weights is -inf"),
    (lambda: d.normalised_weights(3.0), "log_weights has shape"),
    (lambda: d.effective_sample_size([0.0, 0.0]), "weights sums to 0"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=words):
        call()


finite = st.floats(-1e3, 1e3, width=32)


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float32, 8, elements=finite), st.sampled_from(CONTINUOUS[:4]))
def test_property_decisions_lie_between_the_draws_and_move_with_them(draws, loss):
    h = float(d.bayes_decision(loss, draws))
    slack = float(1e-3 * (1 + np.abs(draws).max()))
    assert draws.min() - slack <= h <= draws.max() + slack
    assert float(d.bayes_decision(loss, draws + 10)) == pytest.approx(h + 10, abs=slack)


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float64, 6, elements=st.floats(allow_nan=True, allow_infinity=True)), st.integers(0, 5))
def test_property_whatever_is_not_finite_is_refused(draws, place):
    draws[place] = np.nan
    with pytest.raises(ValueError, match="draws holds"):
        d.bayes_decision(d.squared(), draws)


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float64, 6, elements=st.floats(-5, 5)))
def test_property_weights_are_refused_or_used(weights):
    draws = np.arange(6.0)
    weights = np.round(weights, 2)  # JAX works in single precision here: a weight below its range is zero
    if (weights < 0).any() or not weights.any():
        with pytest.raises(ValueError, match="weights"):
            d.bayes_decision(d.squared(), draws, weights)
    else:
        assert float(d.bayes_decision(d.squared(), draws, weights)) == pytest.approx(np.average(draws, weights=weights), abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.float64, 12, elements=st.floats(-700, 700)))
def test_property_normalised_weights_sum_to_one_without_overflow(log_weights):
    w = np.asarray(d.normalised_weights(log_weights))
    assert w.sum() == pytest.approx(1, abs=1e-5)
    assert (w >= 0).all()
    assert 1 - 1e-4 <= float(d.effective_sample_size(w)) <= 12 * (1 + 1e-4)


@pytest.mark.parametrize("q", [1e-2, 1e-5])
def test_normal_risk_keeps_its_digits_at_extreme_prices(q):
    h = stats.norm.ppf(q)
    exact = stats.norm.pdf(h) + h * (stats.norm.cdf(h) - q)
    assert float(d.tilted(q).normal_risk(0.0, 1.0, h)) == pytest.approx(exact, rel=1e-5)
