"""The judgement of a run's trace: its error rates on traces with a known rise, and on fits that have and have not arrived."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from course_pkg import convergence as c
from course_pkg import families, gradients, models
from course_pkg.fit import QUIET, NotFiniteError, Settings, fit
from course_pkg.vi import Normal, kl_normal

TRACES = 2000
X = jax.random.normal(jax.random.key(1), (40, 2))
DATA = models.Rows(X, X @ jnp.array([1.0, -2.0]) + jax.random.normal(jax.random.key(2), (40,)))
MODEL = models.linear_regression(2, 1.0, 3.0)
FAMILY = families.full_rank_normal()
ESTIMATORS = {
    "path derivative": gradients.path_derivative(MODEL, FAMILY, 4),
    "score": gradients.score(MODEL, FAMILY, 20, baseline="constant"),
    "minibatch": gradients.minibatch(gradients.reparameterized(MODEL, FAMILY, 4), 20),
}
START = {"path derivative": 5.0, "score": 3.0, "minibatch": 5.0}  # the score has a harder time
SEEDS = range(5)
ADAM = optax.adam(optax.cosine_decay_schedule(0.05, 1000))  # one object: with another the same steps would compile again


def at_most(share):
    """The largest count among the traces that a true share gives, but once in 10^5 runs."""
    return stats.binom.isf(1e-5, TRACES, share)


def traces(steps, correlation=0.0, seed=0):
    """Standard normal noise; with a correlation, each value leans on the one before."""
    fresh = np.random.default_rng(seed).normal(size=(steps, TRACES))
    noise = [fresh[0]]
    for e in fresh[1:]:
        noise.append(correlation * noise[-1] + np.sqrt(1 - correlation**2) * e)
    return np.stack(noise, axis=1)


def test_the_rise_of_a_straight_line():
    found = c.rise(0.02 * np.arange(800) - 1e4)
    assert found.nats == pytest.approx(0.02 * 200)
    # batches of 20 steps: their means lie 0.4 apart
    spread = 0.4 * np.arange(10).std(ddof=1)
    assert found.high - found.nats == pytest.approx(stats.t.isf(0.01, 9) * spread * np.sqrt(2 / 10))
    assert found.nats - found.low == pytest.approx(found.high - found.nats)


@pytest.mark.parametrize(("steps", "correlation"), [(200, 0.0), (1000, 0.0), (1000, 0.8)])  # 25 steps in a batch, 4.5 lean on each other
def test_the_interval_misses_in_one_run_of_a_hundred(steps, correlation):
    rises = [c.rise(noise) for noise in traces(steps, correlation)]
    share = 0.01 if correlation == 0 else 0.03
    assert sum(r.low > 0 for r in rises) <= at_most(share)
    assert sum(r.high < 0 for r in rises) <= at_most(share)
    assert sum(r.low > -0.05 for r in rises) > TRACES / 200 or steps == 200  # it is no wider than it must be


def test_a_rise_of_a_nat_is_seen_through_noise_and_half_of_that_is_let_pass():
    noise = traces(400, seed=1)
    steep = np.linspace(0.0, 4.0, 400)
    judged = [c.converged(n + steep) for n in noise]
    assert judged.count(True) <= at_most(0.01)
    assert judged.count(False) > 0.95 * TRACES
    gentle = [c.converged(n + steep / 10) for n in noise]
    assert gentle.count(False) <= at_most(0.01)
    assert gentle.count(True) > TRACES / 4


def test_a_run_that_falls_has_not_converged():
    noise = np.random.default_rng(5).normal(size=2000)
    falling = noise - np.arange(2000) / 200
    assert c.converged(falling) is False
    assert "fell by" in c.doubt(falling)


def test_what_cannot_be_judged_is_left_open():
    assert c.converged(np.arange(199.0)) is None
    assert c.converged(np.array([np.nan] * 400)) is None
    assert c.doubt(np.arange(199.0)) is None
    loud = 100 * traces(400)[0]
    assert c.converged(loud) is None
    assert "too noisy" in c.doubt(loud)
    assert "still rose by 2e+02 nats" in c.doubt(np.arange(800.0))
    assert c.doubt(np.zeros(400)) is None
    assert c.converged(np.zeros(400)) is True


def run_of(name, seed, steps, **options):
    start = FAMILY.init(2, location=START[name])
    return fit(jax.random.key(seed), ESTIMATORS[name], ADAM, start, DATA, steps, Settings(progress=False, **options))


@pytest.mark.parametrize("name", [pytest.param("path derivative", marks=pytest.mark.thorough), "score", "minibatch"])
def test_fits_that_have_arrived_are_believed_and_fits_that_have_not_are_not(name):
    for seed in SEEDS:
        assert run_of(name, seed, 1000).converged is not False  # a warning is an error here
        with pytest.warns(c.ConvergenceWarning):
            short = run_of(name, seed, 240)
        assert short.converged is False
    assert run_of(name, 0, 1000).converged is (None if name == "minibatch" else True)


def leaning(seed):
    """A regression on five columns that are nearly one, whose posterior is a normal: what is left of a climb is known to the digit."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(50, 1)) + 0.05 * rng.normal(size=(50, 5))
    y = x @ np.linspace(-1, 1, 5) + rng.normal(size=50)
    return models.Rows(jnp.asarray(x), jnp.asarray(y))


LEANING = gradients.reparameterized(models.linear_regression(5, 1.0, 3.0), FAMILY, 10)
SLOW, FAST = (optax.adam(optax.cosine_decay_schedule(rate, steps)) for rate, steps in ((0.0075, 2000), (0.05, 3000)))


def left(run, seed):
    """Nats between the bound where a run ended and the log evidence: the divergence of two normals."""
    exact, L = models.regression_posterior(leaning(seed), 1.0, 3.0), np.asarray(families.triangle(run.lam), float)
    return float(kl_normal(Normal(np.asarray(run.lam.mu, float), L @ L.T), Normal(exact.mean, exact.covariance)))


@pytest.mark.parametrize("seed", [11, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (12, 13))])
def test_a_climb_whose_rate_has_run_out_has_not_converged_however_flat_its_trace(seed):
    climb = lambda steps, adam: fit(jax.random.key(seed), LEANING, adam, FAMILY.init(5), leaning(seed), steps, QUIET)
    with pytest.warns(c.ConvergenceWarning, match=r"the mean gradient of the last steps promises .* nats or more"):
        short = climb(2000, SLOW)
    assert c.converged(short.objective) is not False
    assert left(short, seed) > c.MATTERS
    assert short.converged is False
    assert 0.4 * left(short, seed) < short.promised < 1.5 * left(short, seed)
    long = climb(3000, FAST)
    assert left(long, seed) < c.MATTERS
    assert long.converged is True


def test_who_cuts_a_run_short_on_purpose_says_so_and_very_short_runs_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_of("path derivative", 0, 240, judge=False).converged is False
        assert run_of("path derivative", 0, 100).converged is None


def test_a_run_that_a_tolerance_ended_is_judged_like_any_other():
    with pytest.warns(c.ConvergenceWarning, match="of the 240 steps"):
        run = run_of("path derivative", 0, 1000, tolerance=0.9, window=120)
    assert len(run.objective) == 240


def test_a_run_that_broke_has_not_converged():
    def estimate(noise, lam, state, data):
        return gradients.Estimate(-lam.sum(), jnp.where(state == 300, jnp.nan, -lam), lam[None]), state + 1

    sick = gradients.Estimator(lambda key, lam, data: jnp.array(0), lambda key, lam, data: jnp.zeros(()), estimate)
    with pytest.raises(NotFiniteError) as caught:
        fit(jax.random.key(0), sick, optax.sgd(0.1), jnp.zeros(2), None, 400, QUIET)
    assert caught.value.fit.converged is False


BAD = [(np.zeros(100), "has 100 values"), (np.zeros((2, 300)), "has shape"), (np.full(300, np.nan), "holds nan")]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_bad_input_is_named(given, words):
    with pytest.raises(ValueError, match=f"objective {words}"):
        c.rise(given)
