"""Utilities, the utility term and its estimators, against quadrature and closed forms."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, optimize, stats

from course_pkg import decisions
from course_pkg.lcvi import closed, lattice, outcomes, table, terms, utilities

KEY = jax.random.key(0)
LOSSES = [decisions.squared(), decisions.absolute(), decisions.tilted(0.2), decisions.imbalanced(2.0, 0.5), decisions.linex(0.5)]
BUMP = utilities.direct(lambda y, h: jnp.exp(-((h - y) ** 2)), log=lambda y, h: -((h - y) ** 2), name="bump")


NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def expectation(f, mean, sd, kink):
    """By Gauss and Legendre's rule on either side of the kink, all places at once."""
    found = 0.0
    for low, high in itertools.pairwise((mean - 12 * sd, kink, mean + 12 * sd)):
        y = low + (high - low) * (NODES + 1) / 2
        found += (high - low) / 2 * (WEIGHTS * np.asarray(f(y), float) * stats.norm.pdf(y, mean, sd)).sum()
    return found


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(("mean", "sd", "h"), [(0.0, 1.0, 0.5), (1.0, 0.7, -2.0), (0.0, 2.0, 5.0)])
def test_expected_losses_equal_quadrature(loss, mean, sd, h):
    assert float(closed.expected_loss(loss, mean, sd, h)) == pytest.approx(expectation(lambda y: loss(y, h), mean, sd, h), rel=2e-5)


@pytest.mark.parametrize("loss", LOSSES[:4], ids=lambda loss: loss.name)
@pytest.mark.parametrize(("mean", "sd", "h"), [(0.0, 1.0, 0.5), (1.0, 0.7, -2.0), (0.0, 2.0, 9.0)])
def test_log_expected_utilities_and_their_slopes_equal_quadrature(loss, mean, sd, h):
    u = utilities.exponential(loss, 1.3)

    def reference(mean, sd, h):
        return np.log(expectation(lambda y: u(y, h), mean, sd, h))

    value, slopes = jax.value_and_grad(lambda x: closed.log_expected_utility(u, *x))((mean, sd, h))
    assert float(value) == pytest.approx(reference(mean, sd, h), rel=2e-5)
    numeric = optimize.approx_fprime([mean, sd, h], lambda x: reference(*x), 1e-4)
    assert np.allclose(slopes, numeric, rtol=5e-3, atol=2e-3)


# losses of a reader's own: one that saturates, the LinEx loss in the reader's own words, and three times the squared loss
BOUNDED = decisions.Loss(
    "bounded", lambda y, h: 1 - jnp.exp(-0.5 * (h - y) ** 2), supremum=1.0,
    normal_risk=lambda mean, sd, h: 1 - jnp.exp(-0.5 * (h - mean) ** 2 / (1 + sd**2)) / jnp.sqrt(1 + sd**2),
)  # fmt: skip
LINEX = decisions.Loss(
    "mine", lambda y, h: jnp.exp(0.8 * (h - y)) - 0.8 * (h - y) - 1, lambda draws, w: -jnp.log(jnp.exp(-0.8 * draws).mean(-1)) / 0.8,
    normal_risk=lambda mean, sd, h: jnp.exp(0.8 * (h - mean) + 0.32 * sd**2) - 0.8 * (h - mean) - 1,
)  # fmt: skip
SCALED = decisions.Loss(
    "scaled", lambda y, h: 3 * (h - y) ** 2,
    normal_log_utility=lambda mean, sd, h, M: -0.5 * jnp.log1p(6 * sd**2 / M) - 3 * (h - mean) ** 2 / (M + 6 * sd**2),
)  # fmt: skip


@pytest.mark.parametrize("loss", [BOUNDED, LINEX], ids=lambda loss: loss.name)
@pytest.mark.parametrize(("mean", "sd", "h"), [(0.0, 1.0, 0.5), (1.0, 0.7, -2.0)])
def test_a_readers_own_closed_form_is_used_where_the_packages_are(loss, mean, sd, h):
    wanted = expectation(lambda y: loss(y, h), mean, sd, h)
    assert float(closed.expected_loss(loss, mean, sd, h)) == pytest.approx(wanted, rel=2e-5)
    u = utilities.linearised(loss, 1.7)
    term = outcomes.normal_outcome(lambda theta, x: (theta + x, sd), u)
    found = term.value((), jnp.full((3, 1), mean), jnp.array([h]), jnp.zeros(1))
    assert found.tolist() == pytest.approx([-wanted / 1.7], rel=2e-5)


def test_the_own_log_utility_serves_the_exponential_and_a_missing_one_is_named():
    u = utilities.exponential(SCALED, 1.3)
    wanted = np.log(expectation(lambda y: u(y, 0.5), 0.2, 0.9, 0.5))
    assert float(closed.log_expected_utility(u, 0.2, 0.9, 0.5)) == pytest.approx(wanted, rel=2e-5)
    for utility in (utilities.linearised(SCALED, 1.0), utilities.exponential(LINEX, 1.0)):
        with pytest.raises(ValueError, match="which has no closed form"):
            closed.log_expected_utility(utility, 0.0, 1.0, 0.0)
        with pytest.raises(ValueError, match="no closed form for a normal outcome; use drawn_outcome"):
            outcomes.normal_outcome(lambda theta, x: (theta, 1.0), utility)


def test_a_loss_without_a_closed_form_is_named():
    with pytest.raises(ValueError, match="cubic, which has no closed form"):
        closed.expected_loss(decisions.Loss("cubic", lambda y, h: jnp.abs(y - h) ** 3), 0.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="any, which has no table of costs; give a cost_matrix"):
        outcomes.classes(lambda theta, x: x, decisions.Loss("any", lambda y, h: 1.0 * (y != h), actions=2))
    with pytest.raises(ValueError, match="bump, which has no closed form"):
        closed.log_expected_utility(BUMP, 0.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="sd holds -1"):
        closed.expected_loss(decisions.squared(), 0.0, -1.0, 0.0)


# the naive estimator errs by the bias that theory gives, the corrected one by less, Jensen's for ever
SIGMA = 0.5  # of a lognormal utility: log E u = SIGMA ** 2 / 2, E log u = 0


def estimates(estimator, outcomes, repeats=20_000, seed=0):
    u = jnp.exp(SIGMA * jax.random.normal(jax.random.key(seed), (repeats, 1, outcomes)))
    return jax.vmap(estimator)(u)


@pytest.mark.parametrize("outcomes_", [10, 40])
def test_bias_of_each_estimator(outcomes_):
    truth = SIGMA**2 / 2
    relative = np.expm1(SIGMA**2)  # V / E^2
    naive, taylor, jensen = (terms.accuracy(estimates(f, outcomes_), truth) for f in (terms.naive, terms.taylor, terms.jensen))
    leading = -relative / (2 * outcomes_)
    assert abs(naive.bias - leading) < 4 * naive.bias_error + 0.25 * abs(leading)
    assert abs(taylor.bias) < 4 * taylor.bias_error + 0.25 * abs(leading)
    assert abs(jensen.bias + truth) < 4 * jensen.bias_error
    assert naive.bias < -4 * naive.bias_error
    printed = terms.accuracy(estimates(terms.taylor_of_logs, outcomes_), truth)
    limit = relative / 2 - truth  # what the printed correction leaves, however many outcomes (T47)
    if outcomes_ == 40:
        assert abs(printed.bias - limit) < 4 * printed.bias_error + 0.5 * limit
        assert abs(printed.bias) > abs(naive.bias)


def test_with_one_outcome_naive_is_jensen_and_with_the_exponential_map_it_is_linearised():
    y = jax.random.normal(KEY, (7, 1, 3))
    h = jnp.array([0.0, 1.0, -2.0])[None, None]
    u = utilities.exponential(decisions.squared(), 2.0)
    naive = terms.naive(u(y, h))
    assert np.allclose(naive, terms.jensen(u(y, h)), rtol=1e-5)
    assert np.allclose(naive, terms.linear(decisions.squared()(y, h), 2.0), rtol=1e-5)
    assert np.allclose(naive, outcomes.from_outcomes(u, y, h), rtol=1e-5)


def test_naive_bound_climbs_with_the_outcomes_and_stays_below():
    """P05: naive is a bound that tightens; Jensen's is the loosest of them."""
    truth = SIGMA**2 / 2
    means = [float(estimates(terms.naive, n, 20_000).mean()) for n in (1, 2, 8, 32)]
    assert np.all(np.diff(means) > 0)
    assert means[-1] < truth + 0.005


def test_logs_do_not_underflow():
    log_u = jnp.full((2, 3, 1), -500.0)
    assert np.allclose(terms.naive_from_logs(log_u), -500.0)
    assert np.isneginf(terms.naive(jnp.exp(log_u))).all()


def test_discrete_outcomes_are_summed():
    p = jax.nn.softmax(jax.random.normal(KEY, (5, 4, 3)))
    u = jnp.array([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    p_, u_ = np.asarray(p), np.asarray(u)
    expected = np.mean([[[np.log(sum(p_[s, n, y] * u_[y, h] for y in range(3))) for h in (0, 1)] for n in range(4)] for s in range(5)], 0)
    assert np.allclose(terms.discrete(p, u), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="one row of utilities for each outcome"):
        terms.discrete(p, u.T)
    with pytest.raises(ValueError, match="do not sum to 1"):
        terms.discrete(2 * p, u)


def test_estimation_terms():
    theta = jax.random.normal(KEY, (1000,))
    assert float(terms.estimation(jnp.exp(-(theta**2)))) == pytest.approx(-float((theta**2).mean()), rel=1e-4)


@pytest.mark.parametrize("estimator", [terms.naive, terms.jensen, terms.taylor, terms.taylor_of_logs])
def test_bad_utilities(estimator):
    with pytest.raises(ValueError, match="u holds -1, and a negative utility"):
        estimator(jnp.array([[1.0, -1.0]]))
    with pytest.raises(ValueError, match="u is empty"):
        estimator(jnp.zeros((3, 0)))
    with pytest.raises(ValueError, match="u holds nan"):
        estimator(jnp.array([[1.0, jnp.nan]]))
    with pytest.raises(ValueError, match="at least 2 dimension"):
        estimator(jnp.ones(3))


def test_taylor_needs_two_outcomes():
    with pytest.raises(ValueError, match="1 outcome for each theta; give at least 2"):
        terms.taylor(jnp.ones((4, 1)))


# utilities


def test_conversions_agree_at_small_losses():
    """At no loss all three have the same relative slope, -1/M (T46: with the minus in the exponent)."""
    for M in (0.5, 3.0):
        slopes = [
            jax.grad(lambda l, u=u: jnp.log(u(0.0, l)))(0.0)
            for u in (utilities.linearised(lambda y, h: h - y, M), utilities.exponential(lambda y, h: h - y, M))
        ]
        assert np.allclose(slopes, -1 / M)


def test_from_loss():
    u = utilities.from_loss(decisions.cost_matrix([[0.0, 5.0], [1.0, 0.0]]))
    assert u.M == 5.0
    assert float(u(0, 1)) == 0.0
    with pytest.raises(ValueError, match="M is missing and squared loss is unbounded"):
        utilities.from_loss(decisions.squared())
    with pytest.raises(ValueError, match="M is -1; give something above 0"):
        utilities.from_loss(decisions.squared(), -1.0)


@pytest.mark.parametrize("make", [utilities.linearised, utilities.exponential])
@pytest.mark.parametrize("M", [0.0, -2.0, np.nan])
def test_scales_that_are_not_above_zero(make, M):
    with pytest.raises(ValueError, match="M is"):
        make(decisions.squared(), M)


def test_loss_quantile():
    losses = np.random.default_rng(0).gamma(2.0, size=10_001)
    for q in (0.5, 0.7, 0.95):
        M = utilities.loss_quantile(losses, q)
        assert (losses <= M).mean() == pytest.approx(q, abs=2e-4)
    with pytest.raises(ValueError, match=r"0\.5-quantile 0.* Objective\(quantile=\.\.\.\)"):
        utilities.loss_quantile(np.array([0.0, 0.0, 1.0]), 0.5)
    with pytest.raises(ValueError, match="losses holds -1"):
        utilities.loss_quantile(np.array([-1.0, 1.0]))


def test_shift_and_scale():
    """T44: at no shift the scale drops out, and every pull is hardest at the smallest shift allowed."""
    inner, slope = jnp.array([0.2, 0.9]), jnp.array([1.0, -0.5])
    unscaled = utilities.calibration_force(inner, slope)
    assert np.allclose(unscaled, utilities.calibration_force(inner, slope, alpha=50.0))
    pulls = np.array([np.abs(utilities.calibration_force(inner, slope, beta=b)) for b in (-0.1, 0.0, 1.0, 1000.0)])
    assert (np.diff(pulls, axis=0) < 0).all()
    assert np.allclose(pulls[-1], 0, atol=2e-3)
    with pytest.raises(ValueError, match="raise beta"):
        utilities.calibration_force(inner, slope, beta=-0.5)
    with pytest.raises(ValueError, match=r"beta is -0\.5: the utility would go down to -0.5"):
        utilities.affine(BUMP, 1.0, -0.5)
    lifted = utilities.direct(lambda y, h: 0.5 + jnp.exp(-((h - y) ** 2)), infimum=0.5)
    assert utilities.affine(lifted, 2.0, -1.0).infimum == 0.0
    scaled = utilities.affine(utilities.exponential(decisions.squared(), 1.0), 3.0)
    assert scaled.log(30.0, 0.0) == pytest.approx(np.log(3) - 900)  # where the utility itself underflows
    assert utilities.affine(utilities.exponential(decisions.squared(), 1.0), 3.0, 1.0).log is None


def test_the_exponential_map_changes_the_decision():
    """P07: the mean is best for squared loss; with exp(-loss / M) another decision is."""
    y = jnp.asarray(np.random.default_rng(0).gamma(2.0, size=(1, 20_000)))
    M = utilities.loss_quantile((y - y.mean()) ** 2, 0.9)
    mean = outcomes.best_decisions(utilities.linearised(decisions.squared(), M), y)
    other = outcomes.best_decisions(utilities.exponential(decisions.squared(), M), y)
    assert float(mean) == pytest.approx(float(y.mean()), abs=1e-3)
    grid = np.linspace(0.5, 3, 501)
    expected = grid[np.argmax([np.exp(-((np.asarray(y) - g) ** 2) / M).mean() for g in grid])]
    assert float(other) == pytest.approx(expected, abs=6e-3)
    assert float(other) < float(mean) - 0.2


def test_best_decisions_keep_the_log_outside():
    """T49: a lognormal outcome and u = exp(-(y - h)^2): the log of the mean is best at 0.84, the mean of the log at the mean."""
    y = jnp.exp(0.2 + 0.7 * stats.norm.ppf((np.arange(4000) + 0.5) / 4000))[None, :, None].astype(jnp.float32)
    right = float(outcomes.best_decisions(BUMP, y)[0])
    printed = float(outcomes.best_decisions(BUMP, y, estimator="jensen")[0])
    density = lambda v: stats.lognorm.pdf(v, 0.7, scale=np.exp(0.2))
    gain = lambda h: -integrate.quad(lambda v: np.exp(-((v - h) ** 2)) * density(v), 0, 30, points=[h], limit=200)[0]
    assert right == pytest.approx(optimize.minimize_scalar(gain, bounds=(0, 3), method="bounded").x, abs=0.01)
    assert printed == pytest.approx(float(y.mean()), abs=0.01)
    assert printed > right + 0.2


# even keys


def test_even_keys_fill_the_interval_and_each_draws_as_an_ordinary_key():
    keys = lattice.lattice_keys(KEY, 8)
    u = np.sort(jax.vmap(lambda k: jax.random.uniform(k, (500,)))(keys), axis=0)
    assert np.allclose(np.diff(u, axis=0), 1 / 8, atol=1e-6)
    one = jax.vmap(lambda k: jax.random.normal(lattice.lattice_keys(k, 8)[3], (2,)))(jax.random.split(KEY, 4000))
    assert stats.kstest(np.asarray(one[:, 0]), "norm").pvalue > 1e-4
    assert abs(np.corrcoef(one.T)[0, 1]) < 4 / np.sqrt(4000)


SAMPLERS = [lambda k: jax.random.gamma(k, 2.0), lambda k: jax.random.t(k, 5.0), lambda k: jax.random.beta(k, 2.0, 3.0)]


@pytest.mark.parametrize("draw", SAMPLERS)
def test_even_keys_serve_rejection_samplers_and_split_streams(draw):
    """Unbiased for any sampler, and no worse than independent draws (two streams at once included)."""

    def mean(keys):
        return jax.vmap(lambda k: draw(k) + draw(jax.random.fold_in(k, 1)) + draw(jax.random.split(k)[1]))(keys).mean()

    starts = jax.random.split(KEY, 2000)
    even = np.asarray(jax.vmap(lambda k: mean(lattice.lattice_keys(k, 8)))(starts))
    plain = np.asarray(jax.vmap(lambda k: mean(jax.random.split(k, 8)))(starts))
    error = np.sqrt(even.var() / 2000 + plain.var() / 2000)
    assert abs(even.mean() - plain.mean()) < 4 * error
    assert even.var() < 1.15 * plain.var()


def test_even_draws_err_less_than_independent_ones():
    f = lambda k: jnp.exp(-((jax.random.normal(k) - 0.3) ** 2))
    starts = jax.random.split(KEY, 1000)
    even = np.asarray(jax.vmap(lambda k: jax.vmap(f)(lattice.lattice_keys(k, 8)).mean())(starts))
    plain = np.asarray(jax.vmap(lambda k: jax.vmap(f)(jax.random.split(k, 30)).mean())(starts))
    assert even.var() < 0.2 * plain.var()


# tables


TABLED = [utilities.exponential(decisions.tilted(0.2), 0.7), utilities.linearised(decisions.absolute(), 2.0)]


@pytest.mark.parametrize("u", TABLED, ids=["exp", "lin"])
def test_tables_equal_the_closed_forms(u):
    read = table.location_table(u, 0.8)
    h = jnp.linspace(-14.0, 14.0, 401)
    exact, slope = jax.vmap(jax.value_and_grad(lambda h: closed.log_expected_utility(u, 0.5, 0.8, h)))(h)
    value, read_slope = jax.vmap(jax.value_and_grad(lambda h: read(0.5, h)))(h)
    assert np.allclose(value, exact, atol=2e-4, rtol=2e-4)
    assert np.allclose(read_slope, slope, atol=2e-3)


def test_tables_serve_other_noise_and_refuse_what_they_cannot_hold():
    u = utilities.linearised(decisions.Loss("cubic", lambda y, h: jnp.abs(y - h) ** 3), 1.0)
    read = table.location_table(u, 1.0, stats.logistic(scale=0.3))
    expected = -integrate.quad(lambda z: abs(z - 0.4) ** 3 * stats.logistic(scale=0.3).pdf(z), -10, 10, points=[0.4], limit=200)[0]
    assert float(read(jnp.array(0.0), jnp.array(0.4))) == pytest.approx(expected, rel=1e-3)
    with pytest.raises(ValueError, match="depends on more than the difference"):
        table.location_table(utilities.exponential(lambda y, h: y * h, 1.0), 1.0)
    with pytest.raises(ValueError, match="is negative and has no logarithm"):
        table.location_table(utilities.from_loss(decisions.squared(), 1.0), 1.0)
    with pytest.raises(ValueError, match="more than a millionth of its mass beyond 10"):
        table.location_table(utilities.linearised(decisions.squared(), 1.0), 1.0, stats.t(3))
