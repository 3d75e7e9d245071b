"""Running chains: the same digits in any blocks, names, ESS and R-hat as ArviZ has them, and PyMC's posteriors."""

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np
import nutpie
import pymc as pm
import pytest
from scipy import stats

from course_pkg import data, models
from course_pkg.mcmc import chains, gibbs, hmc, langevin, random_walk, run_chains, sample_chain

KEY = jax.random.key(0)


def normal(x):
    return -0.5 * x @ x


WALK = random_walk(normal, 1.5)
STARTS = 3 * jax.random.normal(jax.random.key(1), (4, 2))


def theta(tree):
    return np.asarray(tree["posterior"]["theta"])


def test_blocks_and_the_bar_change_no_digit(monkeypatch, capsys):
    kernel = hmc(normal, 0.4, 3, jitter=0.2)
    plain = run_chains(KEY, kernel, STARTS, 120, warmup=13, progress=False)
    shown = run_chains(KEY, kernel, STARTS, 120, warmup=13)  # blocks of two and, at the end of the warm-up, of one
    assert "chains: 100%" in capsys.readouterr().err
    monkeypatch.setattr(chains, "BLOCK", 50)
    cut = run_chains(KEY, kernel, STARTS, 120, warmup=13, progress=False)
    for other in (shown, cut):
        assert np.array_equal(theta(plain), theta(other))
        assert all(np.array_equal(plain["sample_stats"][name], other["sample_stats"][name]) for name in plain["sample_stats"].data_vars)


def test_warmup_is_steps_thrown_away_before():
    long, late = (run_chains(KEY, WALK, STARTS, 100 - w, warmup=w, progress=False) for w in (0, 30))
    assert np.array_equal(theta(long)[:, 30:], theta(late))


def test_a_chain_does_not_see_its_neighbours_and_moves_as_its_kernel_says():
    four, two = (run_chains(KEY, WALK, STARTS[:count], 40, progress=False) for count in (4, 2))
    assert np.array_equal(theta(four)[:2], theta(two))
    positions, info = sample_chain(KEY, WALK, STARTS[0], 25)
    state = WALK.init(STARTS[0])
    for step_key, position, accepted in zip(jax.random.split(KEY, 25), positions, info.accepted, strict=True):
        before = state.position
        state, _ = WALK.step(step_key, state)
        assert np.allclose(state.position, position, atol=1e-5)
        assert bool(accepted) == bool((state.position != before).any())


def test_names_and_statistics_are_where_arviz_looks():
    run = lambda kernel, starts, **options: run_chains(KEY, kernel, starts, 50, progress=False, **options)
    tree = run(WALK, STARTS, name="x")
    assert tree["posterior"]["x"].dims[:2] == ("chain", "draw")
    assert tree["posterior"]["x"].shape == (4, 50, 2)
    assert set(tree["sample_stats"].data_vars) == {"acceptance_rate", "accepted", "lp"}
    x = np.asarray(tree["posterior"]["x"])
    assert np.allclose(tree["sample_stats"]["lp"], -0.5 * (x**2).sum(axis=-1), atol=1e-5)
    assert np.array_equal(tree["sample_stats"]["accepted"].values[:, 1:], (x[:, 1:] != x[:, :-1]).any(axis=-1))
    rolled = run(hmc(normal, 0.5, 3), STARTS)
    assert set(rolled["sample_stats"].data_vars) == {"acceptance_rate", "accepted", "lp", "energy", "diverging"}
    fresh = gibbs([lambda key, z: z | {"a": jax.random.normal(key)}, lambda key, z: z | {"b": z["a"] + jax.random.normal(key, (3,))}])
    named = run(fresh, {"a": jnp.zeros(4), "b": jnp.zeros((4, 3))})
    assert {name: value.shape for name, value in named["posterior"].data_vars.items()} == {"a": (4, 50), "b": (4, 50, 3)}
    assert set(named["sample_stats"].data_vars) == {"acceptance_rate", "accepted"}
    model = models.eight_schools(centred=False)
    joint = lambda t: models.log_joint(model, t, data.schools())
    schools = run(langevin(joint, 0.3), jnp.zeros((2, 10)), constrain=model.constrain)
    assert {name: value.shape for name, value in schools["posterior"].data_vars.items()} == {
        "mu": (2, 50),
        "tau": (2, 50),
        "theta": (2, 50, 8),
    }
    pair = run(gibbs([lambda key, z: (z[1], jax.random.normal(key))]), (jnp.zeros(2), jnp.zeros(2)), constrain=lambda z: z[0], name="first")
    assert pair["posterior"]["first"].shape == (2, 50)
    assert az.summary(schools, var_names=["mu"]).shape[0] == 1


def test_effective_sample_size_of_a_chain_whose_autocorrelation_is_known():
    """A systematic Gibbs scan of two normals of correlation 0.8: each coordinate is AR(1) with coefficient 0.64."""
    other = lambda i: lambda key, x: x.at[i].set(0.8 * x[1 - i] + 0.6 * jax.random.normal(key))
    kernel, draws = gibbs([other(0), other(1)]), 5000
    exact = draws * 4 * (1 - 0.64) / (1 + 0.64)
    found, slopes = [], []
    for seed in range(8):
        key, start = jax.random.split(jax.random.key(seed))
        first = jax.random.multivariate_normal(start, jnp.zeros(2), jnp.array([[1.0, 0.8], [0.8, 1.0]]), (4,))
        x = theta(run_chains(key, kernel, first, draws, progress=False))[..., 0].astype(float)
        found.append(float(az.ess(x, method="mean")))
        slopes.append((x[:, 1:] * x[:, :-1]).mean() / (x**2).mean())
        assert float(az.rhat(x)) < 1.01
    # 8 runs of 20,000 steps: the slope's standard error is sqrt((1 - 0.64^2) / 160,000) = 0.002, false alarm below 1 in 10^5 at 4.5 of them
    assert np.mean(slopes) == pytest.approx(0.64, abs=0.009)
    # an estimate scatters by some 6 % and its mean over eight by 2 %
    assert np.mean(found) == pytest.approx(exact, rel=0.1)


def test_r_hat_of_chains_far_apart():
    two = lambda x: jnp.logaddexp(-0.5 * (x[0] - 10) ** 2, -0.5 * (x[0] + 10) ** 2)
    starts = jnp.array([[-10.0], [-10.0], [10.0], [10.0]])
    assert float(az.rhat(run_chains(KEY, random_walk(two, 1.5), starts, 500, progress=False))["theta"].max()) > 1.7
    met = run_chains(KEY, random_walk(two, jnp.array([18.0])), starts, 4000, progress=False)
    assert float(az.rhat(met)["theta"].max()) < 1.02


# --- PyMC --------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(5)
X = np.column_stack([np.ones(60), RNG.normal(size=(60, 2))])
EVENTS = RNG.random(60) < 1 / (1 + np.exp(-X @ [-0.5, 1.0, -1.5]))
SAMPLE = RNG.normal(2.0, 1.5, 12)


@pytest.fixture(scope="module")
def theirs(request):
    """Draws of one program that holds all three (the first in the quick tier), which know nothing of each other: it is compiled once."""
    y, sigma = (np.asarray(part, float) for part in data.schools())
    with pm.Model() as program:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        pm.Normal("y", pm.Deterministic("effects", mu + tau * pm.Normal("e", 0, 1, shape=8)), sigma, observed=y)
        if request.config.getoption("--thorough"):
            pm.Bernoulli("events", logit_p=X @ pm.Normal("weights", 0, 2, shape=3), observed=EVENTS.astype(int))
            gamma = pm.Gamma("gamma", alpha=2, beta=2)
            pm.Normal("x", pm.Normal("centre", 0, sigma=2), 1 / pm.math.sqrt(gamma), observed=SAMPLE)
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)  # for all threads; PyMC's road to JAX turns it on itself, but only when first imported
    try:
        with jax.numpy_rank_promotion("allow"):
            compiled = nutpie.compile_pymc_model(program, backend="jax", gradient_backend="jax")
            return nutpie.sample(compiled, draws=1000, tune=400, chains=4, cores=1, seed=1, progress_bar=False)["posterior"]
    finally:
        jax.config.update("jax_enable_x64", before)


PAIRS = {  # model, data, step size and inverse masses, names in both
    "eight schools": (
        models.eight_schools(centred=False),
        data.schools(),
        0.3,
        np.array([10.0, *np.ones(9)]),
        {"mu": "mu", "tau": "tau", "theta": "effects"},
    ),
    "logistic regression": (
        models.logistic_regression(3, 2.0),
        models.Rows(jnp.asarray(X, float), jnp.asarray(EVENTS, float)),
        0.35,
        0.15,
        {"theta": "weights"},
    ),
    "normal sample": (
        models.normal_sample(0.25, 2.0, 2.0),
        jnp.asarray(SAMPLE, float),
        0.35,
        0.15,
        {"mu": "centre", "gamma": "gamma"},
    ),
}
COMPARED = 2 * (10 + 3 + 2)  # means and spreads of every coordinate of the three
BOUND = stats.norm.isf(1e-5 / COMPARED / 2)  # together they raise a false alarm once in 10^5 runs of fresh seeds


@pytest.mark.parametrize("name", ["eight schools", *(pytest.param(name, marks=pytest.mark.thorough) for name in list(PAIRS)[1:])])
def test_pymc_s_posterior_within_monte_carlo_error(name, theirs):
    model, observed, h, inverse_mass, names = PAIRS[name]
    kernel = hmc(lambda t: models.log_joint(model, t, observed), h, 8, inverse_mass=jnp.asarray(inverse_mass, float), jitter=0.3)
    starts = 0.5 * jax.random.normal(jax.random.key(2), (4, model.dim))
    ours = run_chains(KEY, kernel, starts, 3000, warmup=1000, constrain=model.constrain, progress=False)["posterior"]
    for variable, other in names.items():
        a, b = ours[variable].astype(float), theirs[other].astype(float)
        assert float(az.rhat(a).max()) < 1.02
        for method, value in (("mean", lambda x: x.mean(("chain", "draw"))), ("sd", lambda x: x.std(("chain", "draw")))):
            error = np.sqrt(sum(np.asarray(az.mcse(x, method=method), float) ** 2 for x in (a, b)))
            assert (np.abs(np.asarray(value(a)) - np.asarray(value(b))) / error).max() < BOUND
