"""EM: an objective that never falls, scikit-learn's steps, the posterior's mode, and both steps as optima of one bound."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from course_pkg.vi import MixturePoint, em_mixture
from course_pkg.vi.em import _maximise, _run, log_joint_scores

PRIORS = [(1.0, 0.0, 0.0), (3.0, 2.0, 1.5)]  # none; of the weights (concentration) and the precisions (shape, rate)


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def data(seed=0, n=150):
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return jnp.asarray(np.array([[0.0, 0.0], [2.5, 1.0], [-2.0, 2.0]])[group] + rng.normal(size=(n, 2)) * [0.7, 1.0])


def objective(logits, mean, log_variance, x, prior):
    """Log likelihood and log prior of unconstrained numbers."""
    concentration, shape, rate = prior
    theta = MixturePoint(jax.nn.softmax(logits), mean, jnp.exp(log_variance))
    log_prior = (concentration - 1) * jnp.log(theta.weights).sum() - (shape * log_variance + rate / theta.variance).sum()
    return jax.nn.logsumexp(log_joint_scores(theta, x), axis=1).sum() + log_prior


def bound(logits, log_weights, mean, log_variance, x, prior):
    """Of q's logits and of the parameters."""
    r = jax.nn.softmax(logits, axis=1)
    theta = MixturePoint(jax.nn.softmax(log_weights), mean, jnp.exp(log_variance))
    log_prior = objective(log_weights, mean, log_variance, x, prior) - objective(log_weights, mean, log_variance, x, PRIORS[0])
    return (r * (log_joint_scores(theta, x) - jnp.log(r))).sum() + log_prior


# compiled as wholes, for both priors
climb, climb_bound = jax.jit(jax.value_and_grad(objective, (0, 1, 2))), jax.jit(jax.value_and_grad(bound, (0, 1, 2, 3)))


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_the_objective_never_falls_and_ends_level(seed, prior):
    concentration, shape, rate = prior
    x = data(seed)
    run = em_mixture(jax.random.key(seed), x, 3, concentration=concentration, shape=shape, rate=rate, iterations=3000)
    assert float(jnp.diff(run.log_likelihood).min()) > -1e-9
    place = (jnp.log(run.theta.weights), run.theta.mean, jnp.log(run.theta.variance))
    value, slopes = climb(*place, x, prior)
    assert float(value) == pytest.approx(float(run.log_likelihood[-1]), abs=1e-8)
    assert max(float(jnp.abs(slope).max()) for slope in slopes) < 1e-4
    assert np.allclose(run.responsibilities.sum(axis=1), 1)


def test_scikit_learn_takes_the_same_steps():
    x = data()
    start = MixturePoint(jnp.array([0.2, 0.3, 0.5]), jnp.array([[1.0, 0.0], [2.0, 2.0], [-1.0, 0.5]]), jnp.full((3, 2), 1.5))
    ours = _run(x, start, 1.0, 0.0, 0.0, 25)
    given = {"weights_init": start.weights, "means_init": start.mean, "precisions_init": 1 / start.variance}
    given = {name: np.asarray(value) for name, value in given.items()}
    theirs = GaussianMixture(3, covariance_type="diag", tol=0, reg_covar=0, max_iter=25, random_state=0, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(np.asarray(x))
    assert np.allclose(ours.theta.weights, theirs.weights_, atol=1e-7)
    assert np.allclose(ours.theta.mean, theirs.means_, atol=1e-7)
    assert np.allclose(ours.theta.variance, theirs.covariances_, atol=1e-7)
    assert float(ours.log_likelihood[-1]) / len(x) == pytest.approx(theirs.lower_bound_, abs=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
def test_each_step_is_the_best_for_the_bound(prior):
    """The bound as a function of q's logits (E) and of the parameters (M): level after each step, and touching after the first."""
    x = data()
    theta = MixturePoint(jnp.array([0.2, 0.3, 0.5]), jnp.array([[1.0, 0.0], [2.0, 2.0], [-1.0, 0.5]]), jnp.full((3, 2), 1.5))
    scores = log_joint_scores(theta, x)
    place = (jnp.log(theta.weights), theta.mean, jnp.log(theta.variance))
    value, (slope, *_) = climb_bound(scores, *place, x, prior)
    assert float(jnp.abs(slope).max()) < 1e-12
    assert float(value) == pytest.approx(float(climb(*place, x, prior)[0]), abs=1e-9)
    new = _maximise(x, jax.nn.softmax(scores, axis=1), *prior)
    _, (_, *slopes) = climb_bound(scores, jnp.log(new.weights), new.mean, jnp.log(new.variance), x, prior)
    assert max(float(jnp.abs(slope).max()) for slope in slopes) < 1e-9


def test_a_prior_keeps_a_component_from_closing_in_on_one_value():
    x = jnp.array([[0.0], [0.0], [0.0], [5.0], [6.0], [7.0]])
    free, held = (em_mixture(jax.random.key(0), x, 2, shape=s, rate=r).theta.variance for s, r in ((0.0, 0.0), (1.0, 0.5)))
    assert float(free.min()) < 1e-9
    assert float(held.min()) == pytest.approx(1.0 / (3 + 2), abs=1e-3)  # 2 rate over the count and 2 shape


X = np.ones((3, 1))
BAD = [
    (lambda key: em_mixture(key, np.ones(3), 1), r"x has shape \(3,\)"),
    (lambda key: em_mixture(key, X, 4), "components is 4 and x has 3 rows"),
    (lambda key: em_mixture(key, X, 1, concentration=0.5), r"concentration is 0\.5"),
    (lambda key: em_mixture(key, X, 1, shape=-1.0), "shape is -1"),
    (lambda key: em_mixture(key, X, 1, rate=np.inf), "rate is inf"),
    (lambda key: em_mixture(key, X, 1, iterations=0), "iterations is 0"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(jax.random.key(0))
