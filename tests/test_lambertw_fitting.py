"""Fits: what was put in comes out, by likelihood, by moments and by Bayes, for several bases; the same in NumPyro and PyMC."""

import inspect
import itertools
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from numpyro.distributions import constraints
from numpyro.infer import MCMC, NUTS, Predictive
from numpyro.infer.util import log_density
from pymc.distributions.distribution import support_point
from scipy import integrate, optimize, special, stats

from course_pkg import data, gradients
from course_pkg import families as f
from course_pkg import lambertw as lw
from course_pkg.convergence import ConvergenceWarning
from course_pkg.fit import Settings, fit
from course_pkg.lambertw.numpyro_dist import LambertW, SkewTransform
from course_pkg.lambertw.pymc_dist import LambertW as PyMCLambertW
from course_pkg.lambertw.pymc_dist import LambertW_dist, LambertW_moments

MU, SIGMA = 3.0, 2.0
RNG = np.random.default_rng(0)
BASES = {
    "normal": (f.normal(), stats.norm(), dist.Normal(), pm.Normal.dist),
    "laplace": (f.laplace(), stats.laplace(), dist.Laplace(), partial(pm.Laplace.dist, mu=0, b=1)),
    "student": (f.student_t(4.0), stats.t(4.0), dist.StudentT(4.0), partial(pm.StudentT.dist, nu=4)),
}


@pytest.fixture(autouse=True)
def _other_people_s_programs_may_broadcast():
    with jax.numpy_rank_promotion("allow"):
        yield


def cases(names, gammas, quick):
    """Every name with every skew, all but the quick ones in the thorough tier: a base compiles anew, and a fit takes its time."""
    return [
        pytest.param(name, gamma, marks=() if (name, gamma) in quick else pytest.mark.thorough, id=f"{name}-{gamma}")
        for name in names
        for gamma in gammas
    ]


def skewed(name, gamma, n=1500):
    return MU + SIGMA * np.asarray(lw.g_e(BASES[name][1].rvs(n, random_state=7), gamma), dtype=float)


FITTED = {("normal", -0.3), ("normal", 0.0), ("laplace", -0.3), ("student", 0.2)}


@pytest.mark.parametrize(("name", "gamma"), cases(BASES, (-0.3, 0.0, 0.2), FITTED))
def test_maximum_likelihood_finds_what_was_put_in(name, gamma):
    found = lw.fit_mle(skewed(name, gamma), BASES[name][0])
    assert found.converged
    # 27 numbers: one beyond 4.8 standard errors in about 2 * 10^4 runs
    z = (np.array(found[:3]) - [MU, SIGMA, gamma]) / found.standard_error
    assert np.abs(z).max() < 4.8


def test_maximum_likelihood_is_a_maximum():
    """Against an optimiser without derivatives, from elsewhere."""
    y = skewed("normal", 0.3, 300)
    with jax.enable_x64(True):
        cost = jax.jit(lambda t: -lw.log_density(jnp.asarray(y), t[0], jnp.exp(t[1]), t[2]).sum())
        start, often = [np.mean(y), np.log(np.std(y)), 0.05], {"maxiter": 4000, "fatol": 1e-9}
        other = optimize.minimize(cost, start, method="Nelder-Mead", options=often)
    found = lw.fit_mle(y)
    assert found.log_likelihood >= -other.fun - 1e-4
    assert found.gamma == pytest.approx(other.x[2], abs=2e-3)


@pytest.mark.parametrize(
    ("name", "gamma"), cases(("normal", "laplace"), (-0.3, 0.0, 0.2), {("normal", -0.3), ("normal", 0.0), ("laplace", 0.2)})
)
def test_moments_leave_no_skewness(name, gamma):
    y = skewed(name, gamma)
    found = lw.fit_igmm(y, BASES[name][0])
    assert found.converged
    with jax.enable_x64(True):
        z = np.asarray(lw.g_e_inverse((y - found.mu) / found.sigma, found.gamma))
    assert [z.mean(), z.std(), stats.skew(z)] == pytest.approx([0, BASES[name][1].std(), 0], abs=1e-6)
    # the skewness of n draws scatters by about sqrt(6 / n) for the normal, sixfold of it in gamma; the Laplace's is some four times wider
    assert found.gamma == pytest.approx(gamma, abs=5 * np.sqrt(6 / 1500) / 6 * (1 if name == "normal" else 4))


def test_both_fits_move_with_the_data():
    y = skewed("normal", 0.25, 300)
    for road in (lw.fit_mle, lw.fit_igmm):
        one, other = road(y), road(10 * y - 4)
        assert other.mu == pytest.approx(10 * one.mu - 4, rel=1e-4)
        assert other.sigma == pytest.approx(10 * one.sigma, rel=1e-4)
        assert other.gamma == pytest.approx(one.gamma, abs=1e-5)
        assert other.log_likelihood == pytest.approx(one.log_likelihood - 300 * np.log(10), abs=1e-3)
        mirrored = road(-y)
        assert mirrored.gamma == pytest.approx(-one.gamma, abs=1e-5)


def test_standard_errors_know_the_kink():
    """The spread of the estimate over 60 samples, where a fifth of a per cent of the data lie beyond the knee."""
    fits = [lw.fit_mle(MU + SIGMA * np.asarray(lw.g_e(RNG.normal(size=300), 0.25))) for _ in range(60)]
    spread = np.std([one[:3] for one in fits], axis=0)
    said = np.mean([one.standard_error for one in fits], axis=0)
    # a standard deviation from 60 has a relative error of 9 per cent: four of them
    assert np.allclose(spread / said, 1, atol=0.37)


def t_fit(y):
    """The same likelihood from SciPy's parts and the plain inverse, climbed by SciPy without slopes: log likelihood and parameters."""

    def cost(p):
        mu, sigma, gamma, df = p[0], np.exp(p[1]), p[2], np.exp(p[3])
        u = gamma * (y - mu) / sigma
        if (u < lw.D).any():  # beyond the knee, where the plain inverse is not meant
            return np.inf
        w = special.lambertw(u).real
        z = (y - mu) / sigma * np.exp(-w)
        return -(stats.t.logpdf(z, df) - w - np.log1p(w)).sum() + len(y) * p[1]

    df, mu, sigma = stats.t.fit(y)
    often = {"maxiter": 4000, "maxfev": 4000, "xatol": 1e-6, "fatol": 1e-9}
    end = optimize.minimize(cost, [mu, np.log(sigma), 0.0, np.log(df)], method="Nelder-Mead", options=often)
    return -end.fun, (end.x[0], np.exp(end.x[1]), end.x[2], np.exp(end.x[3])), stats.t.logpdf(y, df, mu, sigma).sum()


@pytest.mark.parametrize(
    ("df", "gamma"), [(3.0, 0.05), *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((3.0, 0.0), (8.0, -0.02)))]
)
def test_degrees_of_freedom_are_fitted_as_scipy_fits_them(df, gamma):
    worst = 0.0
    for seed in range(4):
        y = MU + SIGMA * np.asarray(lw.g_e(stats.t(df).rvs(1500, random_state=seed), gamma), dtype=float)
        found = lw.fit_mle(y, fit_df=True)
        assert found.converged
        best, theirs, unskewed = t_fit(y)
        ours = np.array([found.mu, found.sigma, found.gamma, found.df])
        assert found.log_likelihood > best - 1e-3
        assert found.log_likelihood > unskewed - 1e-3  # SciPy's own fit, which has no skew
        if found.log_likelihood < best + 1e-3:  # else data lie beyond the knee, where SciPy's copy may not go
            assert np.abs((ours - theirs) / found.standard_error).max() < 0.05
        errors = (ours - [MU, SIGMA, gamma, df]) / found.standard_error
        errors[3] = np.log(found.df / df) / (found.standard_error[3] / found.df)  # nearly normal, as the estimate itself is not
        worst = max(worst, np.abs(errors).max())
    assert worst < 4.7  # 48 numbers in all: one false alarm in about 10^4 runs


def test_of_normal_data_the_degrees_of_freedom_run_off_and_nothing_is_lost():
    y = skewed("normal", 0.1)
    found = lw.fit_mle(y, fit_df=True)
    assert found.df > 15
    assert found.log_likelihood > lw.fit_mle(y).log_likelihood - 1e-2
    assert lw.fit_mle(y).df is None


LEVELS = np.array([1e-4, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-4])


def a_fit(base, gamma):
    return lw.Skewed(MU, SIGMA, gamma, 0.0, np.zeros(3), 1, True, base)


@partial(jax.jit, static_argnums=1)
def density_of(gamma, base, y):
    return jnp.exp(lw.log_density(y, MU, SIGMA, gamma, base))


INTEGRATED = {("normal", -0.4), ("normal", -1e-9), ("laplace", 0.25), ("laplace", 0.0), ("student", -0.4), ("student", 0.0)}


@pytest.mark.parametrize(("name", "gamma"), cases(BASES, (-0.4, -1e-9, 0.0, 0.25), INTEGRATED))
def test_distribution_function_is_the_integral_of_the_density(name, gamma):
    fitted = a_fit(BASES[name][0], gamma)
    with jax.enable_x64(True):
        density = partial(density_of, gamma, fitted.base)
        ends = fitted.ppf(LEVELS)
        between = [integrate.quad(lambda y: float(density(y)), *pair, epsabs=1e-11, limit=300)[0] for pair in itertools.pairwise(ends)]
        # a skewed t falls like 1 / (y log(y)^5), which no quadrature follows to infinity
        beyond = [] if name == "student" and abs(gamma) > 1e-6 else [(-np.inf, ends[0]), (ends[-1], np.inf)]
        tails = [integrate.quad(lambda y: float(density(y)), *pair, epsabs=1e-12, limit=300)[0] for pair in beyond]
    assert np.allclose(between, np.diff(LEVELS), atol=1e-8)
    assert np.allclose(tails, 1e-4, rtol=1e-4, atol=0)
    assert np.allclose(fitted.cdf(ends), LEVELS, rtol=1e-12)


@pytest.mark.parametrize("gamma", [-1.5, -1e-12, 0.0, 1e-7, 0.3])
def test_quantiles_go_there_and_back_in_both_tails(gamma):
    fitted = a_fit(f.normal(), gamma)
    low, high = np.geomspace(1e-300, 0.4, 50), 1 - np.geomspace(1e-15, 0.4, 50)
    assert np.allclose(fitted.cdf(fitted.ppf(low)), low, rtol=1e-10, atol=0)
    assert np.allclose(1 - fitted.cdf(fitted.ppf(high)), 1 - high, rtol=1e-10, atol=3e-16)
    if abs(gamma) < 1e-6:
        assert np.allclose(fitted.ppf(low), stats.norm.ppf(low, MU, SIGMA), rtol=1e-4)
    assert fitted.ppf([[0.2, 0.4]]).shape == (1, 2)
    assert fitted.ppf(0.5) == pytest.approx(MU)


@pytest.mark.parametrize("name", BASES)
def test_draws_of_a_fit_follow_its_distribution_function(name):
    fitted = a_fit(BASES[name][0], 0.3)
    # three tests at this level: one false alarm in 10^4 runs
    assert stats.kstest(np.asarray(fitted.sample(jax.random.key(4), (4000,)), float), fitted.cdf).pvalue > 3.3e-5
    assert fitted.sample(jax.random.key(0), (2, 3)).shape == (2, 3)


def test_a_base_without_a_distribution_function_says_so():
    fitted = a_fit(f.normal()._replace(scipy=None), 0.3)
    for ask in (fitted.cdf, fitted.ppf):
        with pytest.raises(ValueError, match="base says nothing of its distribution function"):
            ask(0.5)


def posterior_by_quadrature(y, gamma_max):
    """Mean and standard deviation of gamma, on a grid of all three parameters."""
    found = lw.fit_mle(y)
    e = found.standard_error
    centres = ((found.mu, e[0]), (np.log(found.sigma), e[1] / found.sigma), (found.gamma, e[2]))
    axes = [np.linspace(centre - 5 * width, centre + 5 * width, 27) for centre, width in centres]
    axes[2] = axes[2][np.abs(axes[2]) < gamma_max]
    model = lw.skewed_sample(gamma_max=gamma_max)
    theta = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    theta[:, 2] = np.arctanh(theta[:, 2] / gamma_max)
    with jax.enable_x64(True):
        density = jax.jit(jax.vmap(lambda t: model.log_prior(t) + model.log_likelihood(t, jnp.asarray(y))))
        log_p = np.asarray(density(jnp.asarray(theta)))
    gamma = gamma_max * np.tanh(theta[:, 2])
    weight = np.exp(log_p - log_p.max()) / (1 - (gamma / gamma_max) ** 2)  # d gamma_hat / d gamma
    weight /= weight.sum()
    mean = weight @ gamma
    return mean, np.sqrt(weight @ (gamma - mean) ** 2)


@pytest.fixture(scope="module")
def small():
    y = skewed("normal", 0.2, 120)
    with jax.numpy_rank_promotion("allow"):
        return y, posterior_by_quadrature(y, 0.5)


def test_model_by_variational_inference(small):
    y, (mean, sd) = small
    family, model = f.full_rank_normal(), lw.skewed_sample()
    # close to the data and narrow: from far and wide, the climb takes ten times as many steps
    start = family.init(3)._replace(mu=jnp.array([y.mean(), np.log(y.std()), 0.0], jnp.float32), log_diagonal=jnp.full(3, -2.0))
    run = fit(
        jax.random.key(0),
        gradients.reparameterized(model, family, 10),
        optax.adam(0.02),
        start,
        jnp.asarray(y, jnp.float32),
        4000,
        Settings(average=0.25, progress=False),
    )
    draws = f.sample(jax.random.key(1), family, run.average, 5000)
    gamma = np.asarray(0.5 * jnp.tanh(draws[:, 2]))
    assert gamma.mean() == pytest.approx(mean, abs=0.3 * sd)
    assert gamma.std() == pytest.approx(sd, rel=0.3)
    values = jax.jit(jax.vmap(lambda key: model.predict(key, run.average.mu, None)))(jax.random.split(jax.random.key(2), 4000))
    assert abs(float(values.mean()) - y.mean()) < 5 * y.std() * np.sqrt(1 / 4000 + 1 / 120)
    assert model.predict(jax.random.key(2), run.average.mu, jnp.zeros((4, 2))).shape == (4,)


def in_numpyro(y):
    mu = numpyro.sample("mu", dist.Normal(0, 10))
    sigma = numpyro.sample("sigma", dist.HalfNormal(10.0))
    gamma = numpyro.sample("gamma", dist.Uniform(-0.5, 0.5))
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", LambertW(mu, sigma, gamma), obs=y)


def log_p_of_parts(y, mu, sigma, gamma):
    """Of a program in either language, but for its constant prior of the skew."""
    with jax.enable_x64(True):
        of_rows = float(lw.log_density(jnp.asarray(y), mu, sigma, gamma).sum())
    return of_rows + stats.norm(0, 10).logpdf(mu) + stats.halfnorm(scale=10).logpdf(sigma)


@pytest.mark.parametrize("gamma", [-0.3, 0.0, 0.2])
def test_a_program_in_numpyro_has_the_density_of_its_parts_and_their_slopes(gamma):
    y, start = skewed("normal", 0.2, 120), np.array([2.5, 1.5, gamma])

    @jax.jit
    def log_p(p):
        return log_density(in_numpyro, (jnp.asarray(y),), {}, dict(zip(("mu", "sigma", "gamma"), p, strict=True)))[0]

    with jax.enable_x64(True):
        value, slopes = jax.value_and_grad(log_p)(start)
    assert value == pytest.approx(log_p_of_parts(y, *start), rel=1e-6)
    steps = 1e-5 * np.eye(3)
    assert np.allclose(slopes, [(log_p_of_parts(y, *start + d) - log_p_of_parts(y, *start - d)) / 2e-5 for d in steps], rtol=1e-5)


@pytest.mark.thorough
def test_nuts_in_numpyro(small):
    y, (mean, sd) = small
    run = MCMC(NUTS(in_numpyro), num_warmup=500, num_samples=1500, progress_bar=False)
    run.run(jax.random.key(0), jnp.asarray(y))
    gamma = np.asarray(run.get_samples()["gamma"])
    assert abs(gamma.mean() - mean) < 0.3 * sd
    assert gamma.std() == pytest.approx(sd, rel=0.25)


def in_pymc(y):
    with pm.Model() as model:
        mu, sigma, gamma = pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 10.0), pm.Uniform("gamma", -0.5, 0.5)
        PyMCLambertW("y", mu, sigma, gamma, observed=y)
    return model


@pytest.mark.parametrize("gamma", [-0.3, 0.0, 0.2])
def test_a_model_in_pymc_has_the_density_of_its_parts(gamma):
    y, mu, sigma = skewed("normal", 0.2, 120), 2.5, 1.5
    log_p = in_pymc(y).compile_logp(jacobian=False, mode="FAST_COMPILE")
    found = log_p({"mu": mu, "sigma_log__": np.log(sigma), "gamma_interval__": np.log((0.5 + gamma) / (0.5 - gamma))})
    assert found == pytest.approx(log_p_of_parts(y, mu, sigma, gamma), rel=1e-6)


@pytest.mark.thorough
def test_nuts_in_pymc(small):
    y, (mean, sd) = small
    with in_pymc(y):
        posterior = pm.sample(800, tune=500, chains=2, cores=1, nuts_sampler="nutpie", progressbar=False, random_seed=1).posterior
    found = posterior["gamma"].values
    assert abs(found.mean() - mean) < 0.3 * sd
    assert found.std() == pytest.approx(sd, rel=0.25)


@pytest.mark.parametrize("name", BASES)
def test_densities_and_gradients_are_the_same_in_three_languages(name):
    base, _, numpyro_base, pymc_base = BASES[name]
    y = np.linspace(-6, 12, 61)
    v, m, s, g = pt.vector("v"), pt.scalar("m"), pt.scalar("s"), pt.scalar("g")
    log_p = pm.logp(LambertW_dist(m, s, g, base=pymc_base, shape=61), v)
    function = pytensor.function([v, m, s, g], [log_p, *pytensor.grad(log_p.sum(), [m, s, g])])

    @jax.jit
    def in_jax(p):
        ours = lambda p: lw.log_density(jnp.asarray(y), *p, base)
        return ours(p), LambertW(*p, base=numpyro_base).log_prob(jnp.asarray(y)), jax.grad(lambda p: ours(p).sum())(p)

    with jax.enable_x64(True):
        for gamma in (-0.5, -1e-8, 0.0, 0.3, 2.0):
            ours, theirs, wanted = in_jax(np.array([0.5, 1.5, gamma]))
            value, *slopes = function(y, 0.5, 1.5, gamma)
            assert np.allclose(theirs, ours, rtol=1e-6, atol=1e-7)
            assert np.allclose(value, ours, rtol=1e-6, atol=1e-7)
            assert np.allclose(slopes, wanted, rtol=1e-6, atol=1e-6)


def test_second_derivatives_in_pymc():
    """What find_MAP and a Laplace approximation ask for."""
    g, y = pt.scalar("g"), np.linspace(-2.0, 3.0, 31)
    log_p = pm.logp(LambertW_dist(0.1, 1.0, g, shape=31), y).sum()
    second = pytensor.function([g], pytensor.grad(pytensor.grad(log_p, g), g))
    with jax.enable_x64(True):
        ours = jax.jit(jax.grad(jax.grad(lambda gamma: lw.log_density(jnp.asarray(y), 0.1, 1.0, gamma).sum())))
        for gamma in (-0.2, 0.0, 0.3):
            assert float(second(gamma)) == pytest.approx(float(ours(gamma)), rel=1e-6)


@pytest.mark.parametrize("mode", ["JAX", "NUMBA"])
def test_pymc_density_compiles_for_other_backends(mode):
    g, y = pt.scalar("g"), np.linspace(-4.0, 5.0, 31)
    log_p = pm.logp(LambertW_dist(0.1, 1.0, g, shape=31), y).sum()
    graph = [log_p, pytensor.grad(log_p, g)]
    before = jax.config.jax_enable_x64
    try:
        with jax.enable_x64(True):
            assert np.allclose(pytensor.function([g], graph, mode=mode)(0.2), pytensor.function([g], graph)(0.2), rtol=1e-5)
    finally:
        jax.config.update("jax_enable_x64", before)  # PyTensor turns it on for the whole process


@pytest.mark.parametrize("name", ["normal", pytest.param("laplace", marks=pytest.mark.thorough), "student"])
def test_draws_of_both_languages(name):
    _, theirs, numpyro_base, pymc_base = BASES[name]
    cdf = lambda y: theirs.cdf(np.asarray(lw.g_e_inverse((y - MU) / SIGMA, 0.3)))
    there = LambertW(MU, SIGMA, 0.3, base=numpyro_base)
    # six tests at this level: one false alarm in 10^4 runs
    assert stats.kstest(np.asarray(there.sample(jax.random.key(0), (4000,))), cdf).pvalue > 1.6e-5
    draws = pm.draw(LambertW_dist(MU, SIGMA, 0.3, base=pymc_base), 4000, random_seed=3)
    assert stats.kstest(draws, cdf).pvalue > 1.6e-5


def test_numpyro_distribution_behaves():
    y = LambertW(jnp.zeros(3), 1.0, jnp.array([[-0.2], [0.3]]))
    assert y.batch_shape == (2, 3)
    assert y.sample(jax.random.key(0), (5,)).shape == (5, 2, 3)
    assert y.support is constraints.real
    scalar = LambertW(MU, SIGMA, 0.3)
    q = jnp.array([0.1, 0.5, 0.9])
    assert np.allclose(scalar.cdf(scalar.icdf(q)), q, atol=1e-5)
    shift = jax.grad(lambda g: LambertW(0.0, 1.0, g).rsample(jax.random.key(0)))(0.0)
    assert float(shift) == pytest.approx(float(dist.Normal().sample(jax.random.key(0))) ** 2, rel=1e-5)
    copied = jax.tree.map(lambda a: a, scalar)
    assert float(copied.log_prob(2.0)) == float(scalar.log_prob(2.0))
    assert jax.jit(lambda d: d.log_prob(2.0))(scalar) == pytest.approx(float(scalar.log_prob(2.0)))
    assert SkewTransform(0.2) == SkewTransform(0.2)
    assert SkewTransform(0.2) != SkewTransform(0.3)
    assert SkewTransform(0.2) != SkewTransform(0.2, d=-0.2)


def test_numpyro_s_mean_and_variance_are_those_of_draws():
    y = LambertW(jnp.array([1.0, -2.0]), jnp.array([[0.3], [5.0]]), -0.25, base=dist.Normal(0.4, 1.3))
    for one in (y, y.expand((3, 2, 2)), jax.tree.map(lambda a: a, y)):
        drawn = np.asarray(one.sample(jax.random.key(5), (40_000,)), float)
        assert one.mean.shape == one.variance.shape == one.batch_shape
        error = drawn.std(axis=0) / np.sqrt(len(drawn))
        square = (drawn - drawn.mean(axis=0)) ** 2
        # 40 comparisons: one false alarm in 10^4 runs
        assert (np.abs(drawn.mean(axis=0) - one.mean) / error).max() < 4.7
        assert (np.abs(square.mean(axis=0) - one.variance) / square.std(axis=0) * np.sqrt(len(drawn))).max() < 4.7
    for base in (dist.StudentT(4.0), dist.Laplace()):
        with pytest.raises(NotImplementedError, match=type(base).__name__):
            _ = LambertW(0.0, 1.0, 0.2, base=base).mean


def test_one_vocabulary_and_one_pair_of_moments_in_models_of_both_languages():
    """At each draw of the prior of either program, its mean and variance are those of `safe_moments`, whose tests are quadrature."""
    d = -0.25

    def program():
        mu, sigma = numpyro.sample("mu", dist.Normal(0, 2)), numpyro.sample("sigma", dist.HalfNormal(1))
        y = LambertW(mu=mu, sigma=sigma, gamma=numpyro.sample("gamma", dist.Uniform(-1, 1)), d=d)
        numpyro.deterministic("mean", y.mean), numpyro.deterministic("variance", y.variance)
        numpyro.sample("y", y)

    with pm.Model():
        mu, sigma, gamma = pm.Normal("mu", 0, 2), pm.HalfNormal("sigma", 1), pm.Uniform("gamma", -1, 1)
        for name, part in zip(("mean", "variance"), LambertW_moments(mu=mu, sigma=sigma, gamma=gamma, d=d), strict=True):
            pm.Deterministic(name, part)
        PyMCLambertW("y", mu=mu, sigma=sigma, gamma=gamma, d=d)
        in_pymc_s = pm.sample_prior_predictive(200, random_seed=1).prior
    in_numpyro_s = Predictive(program, num_samples=200)(jax.random.key(0))
    for found in (in_numpyro_s, {name: in_pymc_s[name].values.ravel() for name in in_pymc_s}):
        parameters = [np.asarray(found[name], float) for name in ("mu", "sigma", "gamma")]
        with jax.enable_x64(True):
            mean, variance = (np.asarray(part) for part in lw.safe_moments(*parameters, d))
        assert np.allclose(found["mean"], mean, rtol=1e-4, atol=1e-5)
        assert np.allclose(found["variance"], variance, rtol=1e-4)
        # two means of 200: one false alarm in 10^4 runs
        assert abs(((np.asarray(found["y"]) - mean) / np.sqrt(variance)).mean()) < 4.1 / np.sqrt(200)


def test_pymc_variable_in_a_model_takes_shapes_and_draws():
    with pm.Model(coords={"row": [1, 2, 3]}) as model:
        gamma = pm.Uniform("gamma", -0.5, 0.5)
        PyMCLambertW("free", 0.0, 1.0, gamma)
        PyMCLambertW("y", [0.0, 1.0, 2.0], 1.0, gamma, dims="row", observed=[0.0, 1.0, 2.0])
        drawn = pm.sample_prior_predictive(7, random_seed=1)
    assert drawn.prior_predictive["y"].shape == (1, 7, 3)
    assert np.isfinite(model.compile_logp()(model.initial_point()))
    start = support_point(LambertW_dist([5.0, -1.0], 2.0, 0.3, size=(4, 2)))
    assert np.allclose(start.eval(), np.tile([5.0, -1.0], (4, 1)))  # the base's own is 0, and so is its skewed value


def test_the_package_needs_neither_language():
    code = "import sys; from course_pkg import lambertw; print('pymc' in sys.modules or 'numpyro' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


BAD = [
    (lambda: lw.fit_mle([1.0, 2.0, 3.0]), "y has 3 values"),
    (lambda: lw.fit_mle(np.ones(9)), "y holds nothing but 1"),
    (lambda: lw.fit_mle(np.arange(9.0), f.normal(), fit_df=True), "base is given and fit_df is True"),
    (lambda: inspect.unwrap(lw.fit_mle)(np.arange(9.0), fit_df=3), "fit_df is 3; give True or False"),
    (lambda: a_fit(f.normal(), 0.1).ppf([0.5, 1.0]), "q goes from 0.5 to 1; give levels strictly between 0 and 1"),
    (lambda: lw.fit_igmm(np.ones((3, 3))), "y has shape"),
    (lambda: lw.fit_igmm([1.0, 2.0, np.nan, 3.0]), "y holds nan"),
    (lambda: lw.fit_igmm([1.0, 2.0, 3.0, 5.0], f.student_t(2.0)), "base has no variance"),
    (lambda: lw.fit_igmm([1.0, 2.0, 3.0, 5.0], steps=0), "steps is 0"),
    (lambda: lw.skewed_sample(prior_sd=0.0), "prior_sd is 0"),
    (lambda: lw.skewed_sample(gamma_max=-1.0), "gamma_max is -1"),
    (lambda: LambertW(0.0, 0.0, 0.1), "sigma holds 0"),
    (lambda: LambertW(0.0, 1.0, np.nan), "gamma holds nan"),
    (lambda: LambertW(d=-1.0), "d is -1"),
    (lambda: LambertW(0.0, 1.0, 0.1, base=dist.Normal(jnp.zeros(2))), "base has shape"),
    (lambda: LambertW_dist(d=-1.0), "d is -1"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_moments_survive_a_column_that_no_skew_straightens():
    """The area error of the tumours has a skewness of 5.4: from the plain mean and scale, no skew brings it to 0."""
    table = data.breast_cancer()
    y = np.asarray(table.x, float)[:, table.names.index("area error")]
    found = lw.fit_igmm(y)
    assert found.converged
    assert 0.5 < found.gamma < 0.7
    assert lw.fit_mle(y).log_likelihood > found.log_likelihood


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_moments_that_collapse_say_so(sign):
    y = sign * np.exp(2 * np.random.default_rng(3).normal(size=300))  # lognormal, with tails far heavier than any skew gives a normal
    with pytest.warns(ConvergenceWarning, match=r"broke off in round \d+: .* is no fit; use fit_mle, or fit the logarithms"):
        found = lw.fit_igmm(y)
    assert not found.converged
    better = lw.fit_mle(y)  # starts from these moments, too, and says nothing
    assert better.converged
    assert better.log_likelihood > found.log_likelihood + 100
