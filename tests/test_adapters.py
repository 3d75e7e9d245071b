"""Models written in NumPyro and PyMC: the adapters against the languages' own densities, and what they refuse."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pymc as pm
import pytest
from jax.flatten_util import ravel_pytree
from numpyro import distributions as dist
from numpyro.infer.reparam import LocScaleReparam
from numpyro.infer.util import initialize_model, potential_energy
from scipy import stats

from course_pkg import models as m
from course_pkg.gradients import take

RNG = np.random.default_rng(4)
N = 12
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.normal(size=N)
GROUP = RNG.integers(0, 3, N)
COUNTS = RNG.poisson(3.0, N)
SCHOOLS_Y, SIGMA = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
PRECISE = 1e-6


@pytest.fixture(autouse=True)
def _other_people_s_programs_may_broadcast():
    with jax.numpy_rank_promotion("allow"):
        yield


# --- NumPyro -----------------------------------------------------------------------------------------------------


def n_schools(sigma, y=None):
    mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", len(sigma)):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


n_schools_apart = numpyro.handlers.reparam(n_schools, config={"theta": LocScaleReparam(0)})


def n_linear(x, y=None):
    b = numpyro.sample("b", dist.Normal(0, 2).expand([x.shape[1]]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(3.0))
    numpyro.sample("y", dist.Normal(numpyro.deterministic("mean", x @ b), sigma), obs=y)


def n_exponential_scale(x, y=None):
    b, sigma = numpyro.sample("b", dist.Laplace(0.0, 1.0).expand([2])), numpyro.sample("sigma", dist.Exponential(0.5))
    numpyro.sample("y", dist.StudentT(4.0, x @ b, sigma), obs=y)


def n_logistic(x, y=None):
    b = numpyro.sample("b", dist.Normal(0, 2).expand([2]))
    numpyro.sample("y", dist.Bernoulli(logits=x @ b), obs=y)


def n_poisson(counts):
    rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0))
    with numpyro.plate("rows", len(counts)):
        numpyro.sample("count", dist.Poisson(rate), obs=counts)


def n_simplex(counts):
    p = numpyro.sample("p", dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])))
    numpyro.sample("count", dist.Multinomial(12, p), obs=counts)


def n_covariance(y):
    scale = numpyro.sample("scale", dist.HalfCauchy(1.0).expand([2]))
    corner = numpyro.sample("corner", dist.LKJCholesky(2, 1.5))
    with numpyro.plate("rows", y.shape[0]):
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(2), scale_tril=scale[:, None] * corner), obs=y)


def n_radon(group, x, groups, y=None):
    mu, b = numpyro.sample("mu", dist.Normal(0, 1)), numpyro.sample("b", dist.Normal(0, 1).expand([2]))
    sigma_a, sigma_y = numpyro.sample("sigma_a", dist.Uniform(0, 100)), numpyro.sample("sigma_y", dist.Uniform(0, 100))
    with numpyro.plate("groups", groups):
        a = numpyro.sample("a", dist.Normal(mu, sigma_a))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(a[group] + x @ b, sigma_y), obs=y)


def n_mixture(y):
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(2)))
    locations = numpyro.sample("locations", dist.Normal(0, 5).expand([2]))
    with numpyro.plate("rows", y.shape[0]):
        numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(weights), dist.Normal(locations, jnp.ones(2))), obs=y)


def n_with_factor(y):
    low = numpyro.sample("low", dist.Normal(0, 1))
    high = numpyro.sample("high", dist.TruncatedNormal(0.0, 1.0, low=low))  # its support depends on another site
    numpyro.factor("penalty", -0.5 * (high - low) ** 2)
    with numpyro.handlers.scale(scale=2.5):
        numpyro.sample("y", dist.Normal(low, jnp.exp(high)), obs=y)


NUMPYRO = {
    "schools": (n_schools, (SIGMA, SCHOOLS_Y)),
    "schools, not centred": (n_schools_apart, (SIGMA, SCHOOLS_Y)),
    "linear": (n_linear, (X, Y)),
    "exponential scale": (n_exponential_scale, (X, Y)),
    "logistic": (n_logistic, (X, (Y > 0).astype(float))),
    "poisson": (n_poisson, (COUNTS,)),
    "simplex": (n_simplex, (np.array([[3, 4, 5], [2, 9, 1]]),)),
    "covariance": (n_covariance, (X,)),
    "radon": (n_radon, (GROUP, X, 3, Y)),
    "mixture": (n_mixture, (Y,)),
    "factor and scale": (n_with_factor, (Y,)),
}


def some(examples, quick):
    """Every example by name, all but the quick ones in the thorough tier: what they are made of, the gallery has too."""
    assert set(examples) >= quick
    return [pytest.param(name, marks=() if name in quick else pytest.mark.thorough) for name in examples]


@pytest.mark.parametrize("name", some(NUMPYRO, {"schools, not centred", "exponential scale", "simplex", "covariance", "factor and scale"}))
def test_numpyro_s_own_density(name):
    fn, arguments = NUMPYRO[name]
    with jax.enable_x64(True):
        model, data = m.from_numpyro(fn, *arguments)
        shapes = jax.eval_shape(lambda key: initialize_model(key, fn, model_args=arguments).param_info.z, jax.random.key(0))
        flat, unravel = ravel_pytree(jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), shapes))
        assert model.dim == flat.size
        ours = jax.jit(jax.value_and_grad(lambda theta: m.log_joint(model, theta, data)))
        theirs = jax.jit(lambda theta: -potential_energy(fn, arguments, {}, unravel(theta)))
        for seed in range(3):
            theta = jnp.asarray(np.random.default_rng(seed).normal(size=model.dim))
            value, slope = ours(theta)
            assert float(value) == pytest.approx(float(theirs(theta)), abs=PRECISE)
            assert jnp.isfinite(slope).all()


def test_a_numpyro_prior_and_likelihood_are_told_apart():
    with jax.enable_x64(True):
        model, data = m.from_numpyro(n_schools, SIGMA, y=SCHOOLS_Y)
        ours = m.eight_schools()
        theta = jnp.linspace(-1, 1, 10)  # mu, tau, theta: the order of names is ours, too, but for tau
        named = model.constrain(theta)
        flat = jnp.concatenate([named["mu"][None], jnp.log(named["tau"])[None], named["theta"]])
        assert float(model.log_prior(theta)) == pytest.approx(float(ours.log_prior(flat)), abs=PRECISE)
        rows = m.Schools(jnp.asarray(SCHOOLS_Y), jnp.asarray(SIGMA))
        assert float(model.log_likelihood(theta, data)) == pytest.approx(float(ours.log_likelihood(flat, rows)), abs=PRECISE)
        assert set(data) == {"sigma", "y"}


def test_numpyro_s_deterministic_sites_are_among_the_named_values():
    model, _ = m.from_numpyro(n_schools_apart, SIGMA, SCHOOLS_Y)
    assert set(model.constrain(jnp.zeros(10))) == {"mu", "tau", "theta_decentered", "theta"}


def test_new_data_compile_nothing_and_scale_as_minibatches():
    model, data = m.from_numpyro(n_linear, X, Y.tolist())
    likelihood = jax.jit(model.log_likelihood)
    theta = jnp.array([0.5, -0.5, 0.1])
    whole = likelihood(theta, data)
    likelihood(theta, {**data, "y": data["y"] + 1})
    assert likelihood._cache_size() == 1
    halves = [take(data, jnp.arange(N)[part]) for part in (slice(0, 6), slice(6, 12))]
    assert sum(float(likelihood(theta, half.rows)) for half in halves) == pytest.approx(float(whole), rel=1e-5)
    assert halves[0].scale == 2.0


# --- PyMC --------------------------------------------------------------------------------------------------------


def p_schools():
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", mu, tau, shape=8)
        pm.Normal("y", theta, SIGMA, observed=SCHOOLS_Y)
    return model


def p_schools_apart():
    with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        e = pm.Normal("e", dims="school")
        theta = pm.Deterministic("theta", mu + tau * e, dims="school")
        pm.Normal("y", theta, SIGMA, observed=SCHOOLS_Y, dims="school")
    return model


def p_linear():
    with pm.Model() as model:
        x, y = pm.Data("x", X), pm.Data("outcome", Y)
        b, sigma = pm.Normal("b", 0, 2, shape=2), pm.HalfNormal("sigma", 3)
        pm.Normal("y", x @ b, sigma, observed=y)
    return model


def p_named_rows():
    with pm.Model(coords={"row": range(N)}) as model:
        x, y = pm.Data("x", X, dims=("row", None)), pm.Data("outcome", Y, dims="row")
        b, sigma = pm.Laplace("b", 0, 1, shape=2), pm.Exponential("sigma", 0.5)
        pm.StudentT("y", nu=4, mu=x @ b, sigma=sigma, observed=y, dims="row")
    return model


def p_logistic():
    with pm.Model() as model:
        x = pm.Data("x", X)
        b = pm.Normal("b", 0, 2, shape=2)
        pm.Bernoulli("y", logit_p=x @ b, observed=(Y > 0).astype(int))
    return model


def p_poisson():
    with pm.Model() as model:
        pm.Poisson("count", pm.Gamma("rate", 2, 1), observed=COUNTS)
    return model


def p_simplex():
    with pm.Model() as model:
        pm.Multinomial("count", n=12, p=pm.Dirichlet("p", [1.0, 2.0, 3.0]), observed=[[3, 4, 5], [2, 9, 1]])
    return model


def p_covariance():
    with pm.Model() as model:
        corner = pm.LKJCholeskyCov("corner", n=2, eta=1.5, sd_dist=pm.HalfNormal.dist(1.0), compute_corr=False)
        pm.MvNormal("y", np.zeros(2), chol=pm.math.expand_packed_triangular(2, corner), observed=X)
    return model


def p_radon():
    with pm.Model() as model:
        x, group, y = pm.Data("x", X), pm.Data("group", GROUP), pm.Data("outcome", Y)
        mu, b = pm.Normal("mu", 0, 1), pm.Normal("b", 0, 1, shape=2)
        sigma_a, sigma_y = pm.Uniform("sigma_a", 0, 100), pm.Uniform("sigma_y", 0, 100)
        a = pm.Normal("a", mu, sigma_a, shape=3)
        pm.Normal("y", a[group] + x @ b, sigma_y, observed=y)
    return model


def p_mixture():
    with pm.Model() as model:
        weights, locations = pm.Dirichlet("weights", np.ones(2)), pm.Normal("locations", 0, 5, shape=2)
        pm.NormalMixture("y", weights, locations, sigma=np.ones(2), observed=Y)
    return model


def p_potential():
    with pm.Model() as model:
        low, high = pm.Normal("low"), pm.Normal("high", transform=pm.distributions.transforms.ordered, shape=2)
        pm.Potential("penalty", -0.5 * (high - low) ** 2)
        pm.Normal("first", low, 1, observed=Y)
        pm.Gamma("second", alpha=pm.math.exp(low), beta=pm.math.exp(high[0]), observed=[1.0, 2.0])
    return model


PYMC = {
    "schools": p_schools,
    "schools, not centred": p_schools_apart,
    "linear": p_linear,
    "named rows": p_named_rows,
    "logistic": p_logistic,
    "poisson": p_poisson,
    "simplex": p_simplex,
    "covariance": p_covariance,
    "radon": p_radon,
    "mixture": p_mixture,
    "potential": p_potential,
}
FAST = "FAST_COMPILE"  # PyTensor's own interpreter: no compiler is asked for


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")  # PyTensor's own densities, where pip installed it
@pytest.mark.parametrize("name", some(PYMC, {"schools, not centred", "named rows", "simplex", "covariance", "potential"}))
def test_pymc_s_own_density(name):
    written = PYMC[name]()
    theirs = written.compile_logp(mode=FAST)
    prior = written.compile_logp(written.free_RVs, mode=FAST)
    with jax.enable_x64(True):
        model, data = m.from_pymc(written)
        ours = jax.jit(jax.value_and_grad(lambda theta: m.log_joint(model, theta, data)))
        log_prior, start = jax.jit(model.log_prior), written.initial_point(random_seed=0)
        for seed in range(3):
            flat = np.random.default_rng(seed).normal(size=model.dim)
            point, used = {}, 0
            for value in written.value_vars:
                size = start[value.name].size
                point[value.name], used = flat[used : used + size].reshape(start[value.name].shape), used + size
            assert used == model.dim
            theta = jnp.asarray(flat)
            value, slope = ours(theta)
            assert float(value) == pytest.approx(float(theirs(point)), abs=PRECISE)
            assert float(log_prior(theta)) == pytest.approx(float(prior(point)), abs=PRECISE)
            assert jnp.isfinite(slope).all()


def test_the_two_languages_agree_with_our_own_eight_schools():
    with jax.enable_x64(True):
        model, data = m.from_pymc(p_schools())
        theta, ours = jnp.linspace(-1, 1, 10), m.eight_schools()
        rows = m.Schools(jnp.asarray(SCHOOLS_Y), jnp.asarray(SIGMA))
        assert float(model.log_prior(theta)) == pytest.approx(float(ours.log_prior(theta)), abs=PRECISE)
        assert float(model.log_likelihood(theta, data)) == pytest.approx(float(ours.log_likelihood(theta, rows)), abs=PRECISE)
        for name, value in model.constrain(theta).items():
            assert np.allclose(value, ours.constrain(theta)[name])


def test_pymc_s_data_are_an_argument():
    model, data = m.from_pymc(p_linear())
    assert set(data) == {"x", "outcome"}
    likelihood = jax.jit(model.log_likelihood)
    theta = jnp.array([0.5, -0.5, 0.1])
    whole = float(likelihood(theta, data))
    assert float(likelihood(theta, {**data, "outcome": data["outcome"] + 1})) != pytest.approx(whole)
    assert likelihood._cache_size() == 1
    halves = [float(likelihood(theta, take(data, jnp.arange(N)[part]).rows)) for part in (slice(0, 6), slice(6, 12))]
    assert sum(halves) == pytest.approx(whole, rel=1e-5)


def test_a_plain_observed_array_is_an_argument_too():
    model, data = m.from_pymc(p_poisson())
    more = float(model.log_likelihood(jnp.zeros(1), {"count": data["count"] + 1}))
    direct = stats.poisson.logpmf(COUNTS + 1, 1.0).sum()
    assert more == pytest.approx(direct, rel=1e-5)


# --- predictions -------------------------------------------------------------------------------------------------

BOTH = {
    "numpyro": lambda: m.from_numpyro(n_linear, X, Y),
    "pymc": lambda: m.from_pymc(p_linear()),
    "pymc, named rows": lambda: m.from_pymc(p_named_rows()),
}
NEW = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
THETA = jnp.array([0.5, -0.5, 0.1])
DRAWS = 10_000
# A mean and a spread for each of at most N outcomes, four times; together they raise a false alarm once in 10^5 runs of fresh seeds.
BOUND = stats.norm.isf(1e-5 / 2 / (2 * N * 4))


@pytest.mark.parametrize("language", ["numpyro", "pymc"])
@pytest.mark.parametrize("rows", [X, NEW], ids=["the rows of the data", "other rows"])
def test_predictions_have_their_mean_and_spread(language, rows):
    model, _ = BOTH[language]()
    covariates = None if rows is X else {"x": jnp.asarray(rows)}
    draw = jax.jit(jax.vmap(lambda key: model.predict(key, THETA, covariates)))
    draws = np.asarray(draw(jax.random.split(jax.random.key(1), DRAWS)), dtype=float)
    noise = (draws - rows @ np.asarray(THETA[:2])) / np.exp(0.1)
    assert draws.shape == (DRAWS, len(rows))
    assert np.abs(noise.mean(0) * np.sqrt(DRAWS)).max() < BOUND
    assert np.abs(((noise**2).mean(0) - 1) * np.sqrt(DRAWS / 2)).max() < BOUND


@pytest.mark.parametrize("language", BOTH)
def test_predictions_are_differentiable(language):
    with jax.enable_x64(True):
        model, _ = BOTH[language]()
        assert m.require_differentiable(model) is model
        theta, key = jnp.asarray(THETA, dtype=float), jax.random.key(0)
        predict = jax.jit(lambda theta: model.predict(key, theta, {"x": jnp.asarray(NEW)}))
        forward = jax.jacfwd(predict)(theta)
        assert forward.shape == (3, 3)
        for place, step in enumerate(1e-6 * jnp.eye(3)):
            assert np.allclose(forward[:, place], (predict(theta + step) - predict(theta - step)) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("build", [lambda: m.from_numpyro(n_poisson, COUNTS), lambda: m.from_pymc(p_poisson())], ids=["numpyro", "pymc"])
def test_counts_are_predicted_but_refuse_a_gradient(build):
    model, _ = build()
    draws = jax.jit(jax.vmap(lambda key: model.predict(key, jnp.array([1.0]), None)))(jax.random.split(jax.random.key(2), 2000))
    assert draws.shape == (2000, N)
    assert abs(float(draws.mean()) - np.e) / np.sqrt(np.e / draws.size) < BOUND
    with pytest.raises(ValueError, match=r"a draw of count is discrete.* score-function"):
        m.require_differentiable(model)
    with pytest.raises(ValueError, match="a draw of count is discrete"):
        jax.grad(lambda theta: model.predict(jax.random.key(0), theta, None).astype(float).sum())(jnp.array([1.0]))


@pytest.mark.parametrize("build", [lambda: m.from_numpyro(n_mixture, Y), lambda: m.from_pymc(p_mixture())], ids=["numpyro", "pymc"])
def test_a_mixture_refuses_a_gradient(build):
    model, _ = build()
    assert jax.jit(model.predict)(jax.random.key(0), jnp.zeros(model.dim), None).shape == (N,)
    with pytest.raises(ValueError, match="a draw of y is discrete, passes through a discrete choice"):
        m.require_differentiable(model)


def test_several_outcomes_are_predicted_by_name():
    model, _ = m.from_pymc(p_potential())
    first = model.predict(jax.random.key(0), jnp.zeros(3), None)
    assert {name: value.shape for name, value in first.items()} == {"first": (N,), "second": (2,)}
    again = model.predict(jax.random.key(0), jnp.zeros(3), None)
    assert all(np.array_equal(first[name], again[name]) for name in first)

    def two(y):
        mu = numpyro.sample("mu", dist.Normal(0, 1))
        numpyro.sample("first", dist.Normal(mu, 1), obs=y)
        numpyro.sample("second", dist.Normal(mu, jnp.ones(2)), obs=jnp.zeros(2))
        numpyro.sample("third", dist.Normal(mu, 1), obs=y)

    both = m.from_numpyro(two, Y)[0].predict(jax.random.key(0), jnp.zeros(1), None)
    assert {name: value.shape for name, value in both.items()} == {"first": (N,), "second": (2,), "third": (N,)}
    assert len(np.unique(np.concatenate(list(both.values())))) == 2 * N + 2  # no two share their noise


OTHERS = "InverseGamma", "HalfNormal", "LogNormal", "HalfCauchy", "Gumbel", "Logistic"  # made of gammas, normals and uniforms, too


@pytest.mark.parametrize("family", ["Gamma", "Beta", "Pareto", *(pytest.param(name, marks=pytest.mark.thorough) for name in OTHERS)])
def test_what_pymc_s_list_calls_differentiable_is(family):
    """The mean draw moves with the parameter as its gradient says: common random numbers would jump in rejection samplers."""
    arguments = {
        "Gamma": lambda t: {"alpha": t, "beta": 1.0},
        "InverseGamma": lambda t: {"alpha": 5.0, "beta": t},
        "Beta": lambda t: {"alpha": t, "beta": 2.0},
        "HalfNormal": lambda t: {"sigma": t},
        "LogNormal": lambda t: {"mu": t, "sigma": 0.5},
        "HalfCauchy": lambda t: {"beta": t},
        "Pareto": lambda t: {"alpha": 5.0, "m": t},
        "Gumbel": lambda t: {"mu": t, "beta": 1.0},
        "Logistic": lambda t: {"mu": t, "s": 1.0},
    }[family]
    with pm.Model() as written:
        t = pm.HalfNormal("t")
        getattr(pm, family)("y", **arguments(t), observed=[1.5])
    model, _ = m.from_pymc(written)
    keys = jax.random.split(jax.random.key(3), 20_000)

    @jax.jit
    def share_below(theta):  # a smooth bounded function of the draw
        return jax.vmap(lambda key: jnp.tanh(model.predict(key, theta, None)[0]))(keys)

    theta, step = jnp.array([0.3]), 0.2
    slopes = np.asarray(jax.jit(jax.jacfwd(share_below))(theta), dtype=float)[:, 0]
    above, below = (np.asarray(share_below(theta + sign * step), dtype=float) for sign in (1, -1))
    difference = (above - below) / (2 * step)
    spread = np.sqrt(slopes.var() / len(keys) + (above.var() + below.var()) / (2 * step) ** 2 / len(keys))
    assert abs(slopes.mean()) > 0.01
    assert abs(slopes.mean() - difference.mean()) < BOUND * spread + 0.02 * abs(slopes.mean())  # the last term: the chord's curvature


# --- what is refused, and what is left alone ----------------------------------------------------------------------


def n_discrete(y):
    k = numpyro.sample("k", dist.Bernoulli(0.5))
    numpyro.sample("y", dist.Normal(k, 1), obs=y)


def n_param(y):
    numpyro.sample("z", dist.Normal(0, 1))
    numpyro.sample("y", dist.Normal(numpyro.param("loc", 0.0), 1), obs=y)


def n_subsample(y):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    with numpyro.plate("rows", len(y), subsample_size=3):
        numpyro.sample("y", dist.Normal(mu, 1), obs=numpyro.subsample(y, 0))


def n_size_in_values(group, y):
    a = numpyro.sample("a", dist.Normal(0, 1).expand([int(group.max()) + 1]))
    numpyro.sample("y", dist.Normal(a[group], 1), obs=y)


def p_discrete():
    with pm.Model() as model:
        pm.Normal("y", pm.Bernoulli("k", 0.5), 1, observed=Y)
    return model


def p_fixed():
    with pm.Model() as model:
        x = pm.Data("x", X)
        pm.Normal("y", x @ pm.Normal("b", shape=2), 1, observed=Y)
    return model


def p_nothing_seen():
    with pm.Model() as model:
        pm.Normal("z")
    return model


def p_nothing_free():
    with pm.Model() as model:
        pm.Normal("y", observed=Y)
    return model


def p_moyal():
    with pm.Model() as model:
        pm.Moyal("y", 3.0, pm.HalfNormal("scale"), observed=[1.0, 2.0])
    return model


def predict_with(build, covariates):
    model, _ = build()
    return model.predict(jax.random.key(0), jnp.zeros(model.dim), covariates)


BAD = [
    (lambda: m.from_numpyro(n_discrete, Y), "discrete site k"),
    (lambda: m.from_numpyro(n_param, Y), "parameter loc"),
    (lambda: m.from_numpyro(n_subsample, Y), "subsamples the plate rows"),
    (lambda: m.from_numpyro(n_size_in_values, GROUP, Y), "plain number of its own"),
    (lambda: m.from_numpyro(n_linear, X), "the program observes nothing"),
    (lambda: m.from_numpyro(lambda y: numpyro.sample("y", dist.Normal(0, 1), obs=y), Y), "the program has no unknown"),
    (lambda: predict_with(BOTH["numpyro"], {"z": NEW}), "covariates holds 'z', which the model was not called with"),
    (lambda: predict_with(BOTH["numpyro"], NEW), "covariates is a ndarray"),
    (lambda: m.from_pymc(p_discrete()), "discrete variable k"),
    (lambda: m.from_pymc(p_nothing_seen()), "model observes nothing"),
    (lambda: m.from_pymc(p_nothing_free()), "model has no free variable"),
    (lambda: predict_with(BOTH["pymc"], {"z": NEW}), "covariates holds 'z', which is no pm.Data"),
    (lambda: predict_with(BOTH["pymc"], NEW), "covariates is a ndarray"),
    (lambda: predict_with(lambda: m.from_pymc(p_moyal()), None), "cannot draw y in JAX: .*[Mm]oyal"),
    (lambda: predict_with(lambda: m.from_pymc(p_fixed()), {"x": NEW}), "y was observed as a plain array"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


QUIET = """
import course_pkg.models, sys
assert not {"numpyro", "pymc", "pytensor"} & set(sys.modules)
import pymc as pm, jax, jax.numpy as jnp
print("imported", file=sys.stderr, flush=True)
with pm.Model() as written:
    x = pm.Data("x", [[1.0], [2.0]])
    pm.Normal("y", x @ pm.Normal("b", shape=1), pm.HalfNormal("sigma"), observed=[1.0, 2.0])
model, data = course_pkg.models.from_pymc(written)
assert jax.config.jax_enable_x64 is False
theta = jnp.zeros(2)
value, slope = jax.jit(jax.value_and_grad(lambda t: course_pkg.models.log_joint(model, t, data)))(theta)
assert value.dtype == jnp.float32
jax.jit(model.predict)(jax.random.key(0), theta)
model.constrain(theta)
"""


def test_the_package_imports_neither_language_and_pymc_s_adapter_is_quiet_in_single_precision():
    done = subprocess.run([sys.executable, "-W", "always", "-c", QUIET], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split("imported\n")[1] == ""
