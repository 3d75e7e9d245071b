"""The published models: their exact ELBOs against draws, and that a small run climbs."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from course_pkg import families, models
from course_pkg.fit import Settings, fit
from course_pkg.is_gradients import Subsample, isgd
from course_pkg.is_gradients import published as pub

FAMILY = families.mean_field_normal()
sample = jax.jit(families.sample, static_argnums=(1, 3))
MAKERS = {
    "normal": lambda: pub.normal_columns(rows=200, columns=3, size=20),
    "tempered": lambda: pub.normal_columns(rows=200, columns=3, size=20, temper=0.1),
    "regression": lambda: pub.regression(rows=200, columns=3, size=20),
    "mixture": lambda: pub.gaussian_mixture(rows=200, components=3, size=20, draws=2000),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_elbo_without_noise_is_the_mean_of_draws(name):
    problem = MAKERS[name]()
    lam = jax.tree.map(lambda a: jnp.asarray(a + 0.1 * np.cos(np.arange(a.size) + 1.0), a.dtype), problem.start)
    lam = lam._replace(log_sigma=jnp.minimum(lam.log_sigma, -1.0))
    theta = sample(jax.random.key(0), FAMILY, lam, 4000)
    gains = jax.vmap(lambda t: models.log_joint(problem.model, t, problem.data) - families.log_prob(FAMILY, lam, t))
    values = np.asarray(jax.jit(gains)(theta), float)
    error = values.std() / np.sqrt(4000)
    extra = values.std() / np.sqrt(2000) if name == "mixture" else 0.0  # its own draws
    assert abs(problem.elbo(lam) - values.mean()) < 5 * np.hypot(error, extra) + 1e-5 * abs(problem.elbo(lam))


@pytest.mark.parametrize("name", [pytest.param("normal", marks=pytest.mark.thorough), "tempered", "regression", "mixture"])
def test_a_short_run_climbs(name):
    problem = MAKERS[name]()
    estimator = isgd(problem.model, FAMILY, 2, reuse=0.5, subsample=Subsample(problem.size, partition=True))
    run = fit(jax.random.key(0), estimator, optax.adam(0.03), problem.start, problem.data, 300, Settings(progress=False, judge=False))
    assert problem.elbo(run.lam) > problem.elbo(problem.start)


def test_counts_are_checked():
    for make in (pub.normal_columns, pub.regression, pub.gaussian_mixture):
        with pytest.raises(ValueError, match="rows is 0"):
            make(rows=0)
