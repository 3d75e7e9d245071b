"""The references of the chapter on gradients, against closed forms and peers; and guides that nobody thought of."""

import jax
import numpy as np
import numpyro
import pytest
from numpyro.distributions import Gamma, LogNormal, Normal, constraints
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from course_pkg.checks import judge
from solutions.gradients import (
    _tools,
    control_variate,
    find_the_bug,
    guide,
    implicit_gamma,
    logistic_regression,
    one_liners,
    path_derivative,
    reparameterisation,
    robbins_monro,
    score_function,
    vary,
)

Y, MU, SIGMA = 1.3, 0.3, 0.8  # prior N(0, 1), one observation with noise 1: posterior N(Y/2, 1/2)
SLOPES = (2 * (Y / 2 - MU), 1 / SIGMA - 2 * SIGMA)


def _log_joint(theta):
    return norm.logpdf(theta) + norm.logpdf(Y, theta)


def test_the_bound_by_quadrature_is_the_evidence_less_the_divergence():
    evidence = norm.logpdf(Y, 0, np.sqrt(2))
    assert _tools.elbo(_log_joint, Y / 2, np.sqrt(0.5)) == pytest.approx(evidence)
    divergence = np.log(np.sqrt(0.5) / SIGMA) + (SIGMA**2 + (MU - Y / 2) ** 2) - 0.5
    assert _tools.elbo(_log_joint, MU, SIGMA) == pytest.approx(evidence - divergence)
    assert _tools.slope(lambda m: _tools.elbo(_log_joint, m, SIGMA), MU) == pytest.approx(SLOPES[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_reweighted_average_estimates_the_slopes_and_the_control_inside_g_another(seed):
    rng = np.random.default_rng(seed)
    theta = MU + SIGMA * rng.normal(size=4_000)
    parts = score_function.gradient_by_reweighting(_log_joint(theta), theta[:, None], np.array([MU]), np.array([SIGMA]))
    eps = (theta - MU) / SIGMA
    g = _log_joint(theta) - norm.logpdf(theta, MU, SIGMA)
    spreads = [np.std(g * eps / SIGMA), np.std(g * (eps**2 - 1) / SIGMA)]
    for part, slope, spread in zip(parts, SLOPES, spreads, strict=True):
        assert abs(part[0] - slope) / (spread / np.sqrt(4_000)) < 4.6  # twelve comparisons: one false alarm in 20,000
    inside = np.mean((g + 2 * eps / SIGMA) * eps / SIGMA)
    shift = 2.0 / SIGMA**2  # -a E[score^2]
    spread = np.std((g + 2 * eps / SIGMA) * eps / SIGMA) / np.sqrt(4_000)
    assert abs(inside - SLOPES[0] - shift) / spread < 4.6
    assert shift / spread > 20


def test_at_a_single_draw_the_bound_is_what_stands_in_it():
    eps, theta = np.array([0.7]), MU + SIGMA * 0.7
    sampled = reparameterisation.elbo_at_the_draws(_log_joint, eps, MU, SIGMA)
    assert sampled == pytest.approx(_log_joint(theta) - norm.logpdf(theta, MU, SIGMA), rel=1e-6)
    with_entropy = reparameterisation.elbo_with_entropy(_log_joint, eps, MU, SIGMA)
    assert with_entropy == pytest.approx(_log_joint(theta) + norm.entropy(MU, SIGMA))


def test_the_two_slopes_agree_on_balanced_noise_and_only_the_path_vanishes_at_the_posterior():
    def both(eps, mu, sigma):
        pull = Y - 2 * (mu + sigma * eps)
        return (pull.mean(), (pull * eps).mean() + 1 / sigma), ((pull + eps / sigma).mean(), ((pull + eps / sigma) * eps).mean())

    rng = np.random.default_rng(0)
    assert np.allclose(*both(_tools.balanced(rng, 40), MU, SIGMA))
    total, path = both(rng.normal(size=5), Y / 2, np.sqrt(0.5))
    assert np.allclose(path, 0)
    assert np.abs(total).max() > 0.1


def test_jax_is_asked_for_a_finite_derivative():
    assert _tools.differentiable(lambda x: x**2, 3.0)
    assert not _tools.differentiable(np.sqrt, 3.0)
    assert not _tools.differentiable(jax.numpy.sqrt, 0.0)


def test_what_a_control_leaves_is_one_less_the_squared_correlation():
    for rho, multiple in [(-0.6, 0.5), (0.3, 1.0), (0.9, 1.0), (0.7, 2.0), (0.7, 0.4)]:
        want = 1 - rho**2 * multiple * (2 - multiple)
        assert control_variate.share_by_columns(rho, multiple) == pytest.approx(want)


@pytest.mark.parametrize("seed", range(8))
def test_other_right_one_liners_pass_too(seed):
    assert judge("gradients/one-liners/gaussian", lambda a, b: np.sqrt(-2 * np.log(b)) * np.sin(2 * np.pi * a), seed).passed
    assert judge("gradients/one-liners/laplace", lambda e, mu, b: mu + b * np.sign(e - 0.5) * np.log(1 - abs(2 * e - 1)), seed).passed
    assert not judge("gradients/one-liners/gaussian", lambda a, b: norm.ppf(a) * 1.01, seed).passed


def test_even_noise_is_even():
    noise = one_liners.even(np.random.default_rng(0), 500)
    assert np.allclose(np.sort(noise), (np.arange(500) + 0.5) / 500)


@pytest.mark.parametrize("alpha", [0.8, 1.7, 6.0])
def test_the_quantile_moves_as_jax_says(alpha):
    theta = np.array([0.2, 0.9, 2.0, 5.0])
    peer = jax.lax.random_gamma_grad(np.full(4, alpha, np.float32), theta.astype(np.float32))
    assert np.allclose(implicit_gamma.slope_of_quantile(theta, alpha), peer, rtol=2e-3)


def test_the_path_derivative_s_variance_has_a_closed_form():
    for sigma, s in [(0.4, 1.0), (1.3, 0.8)]:
        want = (1 / sigma - sigma / s**2) ** 2, (sigma / s**2) ** 2
        assert np.allclose(path_derivative.variances_by_quadrature(sigma, s), want, rtol=1e-5)
    assert path_derivative.crossing_by_search(1.4) == pytest.approx(1.4 / np.sqrt(2), rel=1e-6)


def test_rates_constant_and_shrinking():
    assert vary.variance_by_iteration(0.3, 1.0, 2.0, 1) == pytest.approx(2.0 * 0.3 / (2 - 0.3))
    assert robbins_monro.spread_of_a_population(np.full(300, 0.3), 2.0) == pytest.approx(2.0 * 0.3 / (2 - 0.3))
    assert [robbins_monro.sums(p) for p in (0.5, 0.7, 1.0, 1.2)] == [(True, False), (True, True), (True, True), (False, True)]
    harmonic = robbins_monro.remaining_by_climbing(0.5, 1.0, 4)
    assert harmonic == pytest.approx((1 / 2) * (3 / 4) * (5 / 6) * (7 / 8))


@pytest.mark.parametrize("seed", range(4))
def test_the_logistic_posterior_peaks_where_scikit_learn_s_does(seed):
    rng = np.random.default_rng(seed)
    x, trials = rng.normal(size=(12, 2)), rng.integers(2, 7, 12)
    successes = rng.binomial(trials, 0.4)
    mode = minimize(lambda t: -logistic_regression.log_joint_by_scipy(t, x, successes, trials, 1.3), np.zeros(3)).x
    design = np.column_stack([np.ones(12), x])
    peer = LogisticRegression(C=1.3**2, fit_intercept=False, tol=1e-8)
    peer.fit(np.vstack([design, design]), np.repeat([1, 0], 12), sample_weight=np.concatenate([successes, trials - successes]))
    assert np.allclose(mode, peer.coef_[0], atol=1e-3)


def test_a_minibatch_that_is_everything_gives_the_bound_itself():
    y = np.array([0.3, 1.1, -0.4, 2.0])
    whole = find_the_bug.elbo_by_quadrature(y, 0.2, 0.5, 1.2, 0.9)
    assert find_the_bug.SCALE.reference(y, 4, np.zeros(2), 0.2, 0.5, 1.2, 0.9) == pytest.approx(whole)


def _param(name, start):
    return numpyro.param(name, start, constraint=constraints.positive)


def _log_normal(x):
    numpyro.sample("mu", Normal(numpyro.param("m", 0.0), _param("s", 1.0)))
    numpyro.sample("gamma", LogNormal(numpyro.param("a", 0.0), _param("b", 1.0)))


def _dependent(x):
    gamma = numpyro.sample("gamma", Gamma(_param("a", 2.0), _param("b", 2.0)))
    numpyro.sample("mu", Normal(numpyro.param("m", 0.0), _param("s", 1.0) * gamma**-0.5))


def _by_softplus(x):
    soft = jax.nn.softplus
    numpyro.sample("mu", Normal(numpyro.param("m", 0.0), soft(numpyro.param("s", 1.0))))
    numpyro.sample("gamma", Gamma(soft(numpyro.param("a", 1.0)), soft(numpyro.param("b", 1.0))))


def _idle(x):
    numpyro.param("unused", np.zeros(2))
    numpyro.sample("mu", Normal(0.0, 1.0))
    numpyro.sample("gamma", Gamma(_param("a", 2.0), _param("b", 2.0)))


def _one_name_for_two(x):
    numpyro.sample("mu", Normal(numpyro.param("m", 0.0), _param("s", 1.0)))
    numpyro.sample("gamma", Gamma(_param("a", 2.0), _param("s", 1.0)))


def _mean_kept_positive(x):
    numpyro.sample("mu", Normal(_param("m", 1.0), _param("s", 1.0)))
    numpyro.sample("gamma", Gamma(_param("a", 2.0), _param("b", 2.0)))


def _observes(x):
    _log_normal(x)
    numpyro.sample("x", Normal(0.0, 1.0), obs=x)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_log_normal, "Right."),
        (_dependent, "Right."),
        (_by_softplus, "Right."),
        (_idle, "The best that your guide can do"),
        (_one_name_for_two, guide.FEW),
        (_observes, "Your guide samples something that the model does not hide: x."),
        (lambda x: None, "Your guide samples nothing."),
        (lambda x: x / "two", "Your guide could not be run: "),
        ("guide", "Hand over the guide itself"),
    ],
)
def test_guides_are_judged_by_what_they_can_reach(answer, words):
    assert judge("gradients/guide/guide", answer).message.startswith(words)


@pytest.mark.parametrize("seed", range(3))
def test_a_mean_that_cannot_be_negative_is_refused_whatever_the_seed(seed):
    verdict = judge("gradients/guide/guide", _mean_kept_positive, seed)
    assert not verdict.passed
    assert verdict.message.endswith("negative ones too?")


def test_a_guide_that_follows_gamma_reaches_the_posterior_up_to_the_prior():
    x = guide.data(0)
    free, maps = guide.look(_dependent, x)
    assert guide.nearest(_dependent, x, free, maps) < 2e-3
