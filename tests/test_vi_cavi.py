"""Coordinate ascent: bounds that never fall, stationary ends, evidence by quadrature, exact posteriors, and gradients that agree."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.scipy.special import gammaln
from scipy import integrate, stats

from course_pkg import families, gradients, implicit, models
from course_pkg.fit import Settings, fit
from course_pkg.models import Rows, priors
from course_pkg.vi import NormalGamma, cavi_mixture, cavi_normal, cavi_regression
from course_pkg.vi.cavi import _bound_mixture

PRIOR = (0.5, 2.0, 1.5)  # precision of the mean, shape and rate
SAMPLE = np.array([1.1, 2.3, 0.4, 1.9, 3.2])
BOUND = stats.norm.isf(1e-5 / 3 / 2)  # three z-scores; together they raise a false alarm once in 10^5 runs of fresh seeds


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def regression_data(rows=40):
    rng = np.random.default_rng(3)
    slope = rng.normal(size=rows)
    x = np.column_stack([np.ones(rows), slope, 0.8 * slope + 0.6 * rng.normal(size=rows)])
    return Rows(jnp.asarray(x), jnp.asarray(x @ [0.5, 1.0, -1.0] + 0.5 * rng.normal(size=rows)))


def mixture_data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return jnp.asarray(np.array([[0.0, 0.0], [4.0, 1.0], [-3.0, 3.0]])[group] + rng.normal(size=(n, 2)) * [0.6, 1.0])


def precise_regression(data, prior_sd, shape, rate):
    """Log joint of weights and the log of the noise precision."""

    def log_joint(w, t):
        likelihood = priors.log_normal(data.y, data.x @ w, -0.5 * t).sum()
        return likelihood + priors.log_normal(w, 0.0, jnp.log(prior_sd)).sum() + priors.log_gamma_of_log(t, shape, rate)

    return log_joint


def exact_elbo(log_joint, mean, triangle, log_a, log_b):
    """The bound of N(mean, LL') Gamma(a, b), by quadrature: exact for a quadratic in the normal, on a grid for the gamma."""
    d, t = mean.size, jnp.linspace(-6.0, 6.0, 1501)
    points = mean[None] + jnp.sqrt(d) * jnp.concatenate([triangle.T, -triangle.T])
    inner = jax.vmap(lambda t: jax.vmap(lambda w: log_joint(w, t))(points).mean())(t)
    a, b = jnp.exp(log_a), jnp.exp(log_b)
    log_q = a * (log_b + t) - b * jnp.exp(t) - gammaln(a)
    entropy = 0.5 * d * jnp.log(2 * jnp.pi * jnp.e) + jnp.log(jnp.abs(jnp.diag(triangle))).sum()
    return jnp.trapezoid(jnp.exp(log_q) * (inner - log_q), t) + entropy


@cache
def level(log_joint):
    """The exact bound and its slopes, compiled as a whole."""
    return jax.jit(jax.value_and_grad(partial(exact_elbo, log_joint), (0, 1, 2, 3)))


def assert_stationary(log_joint, q, elbo):
    """The last bound is the exact one, and its gradient there is 0."""
    mean = jnp.atleast_1d(q.mean)
    cov = q.covariance if q.covariance.ndim == 2 else jnp.diag(jnp.atleast_1d(q.covariance))
    place = (mean, jnp.linalg.cholesky(cov), jnp.log(q.shape), jnp.log(q.rate))
    value, slope = level(log_joint)(*place)
    assert float(value) == pytest.approx(float(elbo[-1]), abs=1e-7)
    triangle = jnp.diag(slope[1]) if q.covariance.ndim < 2 else jnp.tril(slope[1])
    assert max(float(jnp.abs(s).max()) for s in (slope[0], triangle, *slope[2:])) < 1e-5


def normal_joint():
    model = models.normal_sample(*PRIOR)
    return lambda mu, t: models.log_joint(model, jnp.array([mu[0], t]), jnp.asarray(SAMPLE))


def fitted_normal(iterations=100):
    tau, shape, rate = PRIOR
    return cavi_normal(SAMPLE, prior_precision=tau, shape=shape, rate=rate, iterations=iterations)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_bounds_never_fall(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(3.0, 2.0, 15)
    runs = [cavi_normal(x, iterations=30), cavi_mixture(jax.random.key(seed), mixture_data(seed), 4, iterations=60)]
    runs += [cavi_regression(regression_data(12), factors=factors, iterations=60) for factors in ("block", "coordinate")]
    for run in runs:
        assert float(jnp.diff(run.elbo).min()) > -1e-9
        assert float(run.elbo[-1] - run.elbo[0]) > 0


def test_the_normal_sample_ends_where_the_exact_bound_is_level():
    assert_stationary(normal_joint(), *fitted_normal())


@pytest.mark.parametrize("factors", ["block", "coordinate"])
def test_regression_ends_where_the_exact_bound_is_level(factors):
    data = regression_data()
    sd = jnp.array([1.0, 2.0, 0.5])
    run = cavi_regression(data, prior_sd=sd, shape=2.0, rate=1.0, factors=factors, iterations=400)
    assert_stationary(precise_regression(data, sd, 2.0, 1.0), *run)


def log_normal_joint(mu, log_gamma):
    """The normal model once more, in SciPy's words, at all pairs of arrays that broadcast."""
    tau, shape, rate = PRIOR
    gamma = np.exp(log_gamma)
    likelihood = sum(stats.norm.logpdf(one, mu, gamma**-0.5) for one in SAMPLE)
    return likelihood + stats.norm.logpdf(mu, 0, tau**-0.5) + stats.gamma.logpdf(gamma, shape, scale=1 / rate) + log_gamma


def test_the_bound_lies_below_the_log_evidence_by_the_divergence():
    t, mu = np.linspace(-6, 4, 501), np.linspace(-4, 7, 551)
    log_evidence = np.log(integrate.simpson(integrate.simpson(np.exp(log_normal_joint(mu[:, None], t)), t), mu))
    gap = log_evidence - float(fitted_normal().elbo[-1])
    assert 1e-3 < gap < 0.2
    q = fitted_normal().q
    t, mu = np.linspace(-6, 4, 300), np.linspace(-4, 7, 300)
    exact = log_normal_joint(mu[::3, None], t[::3]) - log_evidence
    log_q = stats.norm.logpdf(mu[::3], q.mean, q.covariance**0.5)[:, None]
    log_q = log_q + (stats.gamma.logpdf(np.exp(t[::3]), q.shape, scale=1 / q.rate) + t[::3])[None]
    divergence = integrate.trapezoid(integrate.trapezoid(np.exp(log_q) * (log_q - exact), t[::3]), mu[::3])
    assert divergence == pytest.approx(gap, abs=1e-4)


def test_the_variance_of_the_mean_is_underestimated():
    tau = PRIOR[0]
    t = np.linspace(-6, 4, 2001)
    gamma, n = np.exp(t), SAMPLE.size
    precision = tau + n * gamma
    centre = gamma * SAMPLE.sum() / precision
    at = np.exp(log_normal_joint(centre, t)) / np.sqrt(precision)
    weight = at / at.sum()
    exact = (weight * (1 / precision + centre**2)).sum() - (weight * centre).sum() ** 2
    assert 0.6 < float(fitted_normal().q.covariance) / exact < 0.95


def test_with_the_noise_pinned_blocks_are_exact_and_single_factors_too_narrow():
    data = regression_data()
    exact = models.regression_posterior(data, 0.5, 2.0)
    block, one = (cavi_regression(data, prior_sd=2.0, shape=4e8, rate=1e8, factors=f, iterations=400).q for f in ("block", "coordinate"))
    assert np.allclose(block.mean, exact.mean, atol=1e-6)
    assert np.allclose(block.covariance, exact.covariance, rtol=1e-5, atol=1e-9)
    assert np.allclose(one.mean, exact.mean, atol=1e-6)  # the means are right
    assert np.allclose(one.covariance, 1 / np.diag(np.linalg.inv(exact.covariance)), rtol=1e-5)
    ratio = np.asarray(one.covariance) / np.diag(exact.covariance)
    assert ratio[1] < 0.5  # two columns are correlated
    assert (ratio < 1).all()


def gradient_fit(estimator, lam, data, steps=3000):
    rate = optax.cosine_decay_schedule(0.03, steps)
    return fit(jax.random.key(0), estimator, optax.adam(rate), lam, data, steps, Settings(average=0.1, progress=False)).average


def test_gradient_vi_ends_at_the_same_normals():
    data = regression_data()
    model = models.linear_regression(3, noise_sd=0.5, prior_sd=2.0)
    block, one = (cavi_regression(data, prior_sd=2.0, shape=4e8, rate=1e8, factors=f, iterations=400).q for f in ("block", "coordinate"))
    family = families.full_rank_normal()
    lam = gradient_fit(gradients.path_derivative(model, family, 10), family.init(3), data)
    triangle = families.triangle(lam)
    assert np.allclose(lam.mu, block.mean, atol=1e-3)
    assert np.allclose(triangle @ triangle.T, block.covariance, atol=1e-4)
    family = families.mean_field_normal()
    lam = gradient_fit(gradients.path_derivative(model, family, 10), family.init(3), data)
    sd = np.sqrt(one.covariance)
    assert (np.abs(lam.mu - one.mean) / sd).max() < 0.05
    assert np.allclose(np.exp(lam.log_sigma), sd, rtol=0.02)


def test_gradient_vi_ends_at_the_same_normal_and_gamma():
    """A normal for the mean and a gamma, differentiated implicitly, for the precision."""
    inside, gamma, normal = models.normal_sample(*PRIOR), implicit.gamma(), families.mean_field_normal()

    def log_prior(theta):  # of the precision itself
        return inside.log_prior(jnp.array([theta[0], jnp.log(theta[1])])) - jnp.log(theta[1])

    model = inside._replace(
        log_prior=log_prior, log_likelihood=lambda theta, x: inside.log_likelihood(jnp.array([theta[0], jnp.log(theta[1])]), x)
    )

    def draw(key, lam):
        first, second = jax.random.split(key)
        mu = normal.transform(lam[0], jax.random.normal(first, (1,)))
        return jnp.concatenate([mu, gamma.sample(second, lam[1])])

    def log_prob(lam, theta):
        return families.log_prob(normal, lam[0], theta[:1]) + gamma.log_prob(lam[1], theta[1:])

    family = implicit.Implicit(lambda dim: (normal.init(1), gamma.init(1)), draw, log_prob)
    lam = gradient_fit(implicit.implicit(model, family, 20), family.init(2), jnp.asarray(SAMPLE), 2000)
    q = fitted_normal().q
    assert float(lam[0].mu[0]) == pytest.approx(float(q.mean), abs=0.02)
    assert float(jnp.exp(2 * lam[0].log_sigma[0])) == pytest.approx(float(q.covariance), rel=0.05)
    assert float(jnp.exp(lam[1].log_a[0])) == pytest.approx(float(q.shape), rel=0.05)
    assert float(jnp.exp(lam[1].log_b[0])) == pytest.approx(float(q.rate), rel=0.05)


def test_a_mixture_of_one_is_the_normal_sample():
    tau, shape, rate = PRIOR
    run = cavi_mixture(jax.random.key(0), SAMPLE[:, None], 1, prior_sd=tau**-0.5, shape=shape, rate=rate, iterations=100)
    normal = fitted_normal()
    assert float(run.elbo[-1]) == pytest.approx(float(normal.elbo[-1]), abs=1e-9)
    q = NormalGamma(run.q.mean[0, 0], 1 / run.q.precision[0, 0], run.q.shape[0, 0], run.q.rate[0, 0])
    assert np.allclose(jnp.stack(q), jnp.stack(normal.q), rtol=1e-6)


def simulated_bound(rng, problem, q, draws):
    """Log joint minus log q at draws of weights, means and precisions; the sum over assignments is done exactly."""
    x, a, sd, a0, b0 = (np.asarray(part) for part in problem)
    q = jax.tree.map(np.asarray, q)
    r = q.responsibilities
    values = []
    for _ in range(draws):
        pi = rng.dirichlet(q.counts)
        mu = rng.normal(q.mean, q.precision**-0.5)
        gamma = rng.gamma(q.shape, 1 / q.rate)
        scores = np.log(pi)[None] + stats.norm.logpdf(x[:, None], mu[None], gamma[None] ** -0.5).sum(axis=-1)
        value = (r * (scores - np.log(r))).sum() + stats.dirichlet.logpdf(pi, np.full(pi.size, a)) - stats.dirichlet.logpdf(pi, q.counts)
        value += (stats.norm.logpdf(mu, 0, sd) - stats.norm.logpdf(mu, q.mean, q.precision**-0.5)).sum()
        values.append(value + (stats.gamma.logpdf(gamma, a0, scale=1 / b0) - stats.gamma.logpdf(gamma, q.shape, scale=1 / q.rate)).sum())
    return np.array(values)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_the_bound_of_a_mixture_is_that_of_draws_and_its_end_is_level(seed):
    x = mixture_data(seed)
    prior = (0.7, 5.0, 2.0, 1.5)
    names = ("concentration", "prior_sd", "shape", "rate")
    run = cavi_mixture(jax.random.key(seed), x, 3, **dict(zip(names, prior, strict=True)), iterations=500)
    off = run.q._replace(responsibilities=0.9 * run.q.responsibilities + 0.1 / 3, counts=run.q.counts + 1, mean=run.q.mean + 0.1)
    values = simulated_bound(np.random.default_rng(seed), (x, *prior), off, 500)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - float(_bound_mixture((x, *prior), off))) / error < BOUND

    def bound(logits, rest):
        q = jax.tree.map(jnp.exp, rest)
        return _bound_mixture((x, *prior), q._replace(responsibilities=jax.nn.softmax(logits, axis=1), mean=rest.mean))

    q = run.q
    rest = jax.tree.map(jnp.log, q)._replace(responsibilities=jnp.zeros(()), mean=q.mean)
    slopes = jax.jit(jax.grad(bound, (0, 1)))(jnp.log(q.responsibilities + 1e-300), rest)
    assert max(float(jnp.abs(slope).max()) for slope in jax.tree.leaves(slopes)) < 1e-4
    assert np.allclose(np.sort(q.mean[:, 0]), [-3, 0, 4], atol=0.5)


def test_a_small_concentration_empties_what_is_not_needed():
    counts = cavi_mixture(jax.random.key(1), mixture_data(n=150), 6, concentration=1e-3, iterations=500).q.counts
    assert (np.sort(counts)[:3] < 1).all()
    assert (np.sort(counts)[3:] > 15).all()


DATA = Rows(jnp.ones((3, 2)), jnp.ones(3))
BAD = [
    (lambda: cavi_normal(np.ones((2, 2))), r"x has shape \(2, 2\)"),
    (lambda: cavi_normal([1.0, np.nan]), "x holds nan"),
    (lambda: cavi_normal([1.0], prior_precision=0.0), "prior_precision is 0"),
    (lambda: cavi_normal([1.0], iterations=0), "iterations is 0"),
    (lambda: cavi_regression(DATA, factors="all"), "factors is 'all'"),
    (lambda: cavi_regression(DATA._replace(y=jnp.ones(4))), "x has 3 rows and y 4"),
    (lambda: cavi_regression(DATA, prior_sd=-1.0), r"prior_sd is -1\.0"),
    (lambda: cavi_regression(DATA, prior_sd=[1.0, 1.0, 1.0]), r"prior_sd has shape \(3,\)"),
    (lambda: cavi_mixture(jax.random.key(0), np.ones((2, 1)), 3), "components is 3 and x has 2 rows"),
    (lambda: cavi_mixture(jax.random.key(0), np.ones((2, 1)), 1, rate=-1.0), "rate is -1"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
