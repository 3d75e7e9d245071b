r"""The runs of the paper, with the settings that its code ran: eight schools and Last.fm.

Paper and code differ in places (rates, the noise of the factorisation, which quantile ``M`` is); here everything is as the code had it.
The stored results are made by ``python tools/lcvi_results.py``.
"""

from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard, decisions, families, gradients, models
from course_pkg.families import Family, normal
from course_pkg.fit import Settings, fit
from course_pkg.lcvi import factors, outcomes, steps, utilities
from course_pkg.lcvi.steps import Pair

SCHOOLS_M = 7.0  # about the 90 % quantile of the losses; the rate of the term is 1/7
GAMMA = {"squared": 0.3, "tilted(0.2)": 1.62, "tilted(0.5)": 1.0, "tilted(0.8)": 1.62}
LEVEL = {"squared": None, "tilted(0.2)": 0.2, "tilted(0.5)": 0.5, "tilted(0.8)": 0.8}
WHATEVER = Settings(progress=False, judge=False)  # the paper's number of steps, whatever became of them


class Soft(NamedTuple):
    """Parameters of a factorised normal: locations, and scales through softplus."""

    mu: Float[Array, " d"]
    raw: Float[Array, " d"]


def softplus_normal() -> Family:
    r"""Independent normals with scales :math:`\log(1 + e^r)`: the family of `families.mean_field_normal`, climbed in other coordinates.

    Example:
        >>> family = softplus_normal()
        >>> family.transform(Soft(jnp.array([1.0]), jnp.array([0.5413])), jnp.array([2.0])).round().tolist()
        [3.0]
    """

    def init(dim: int, location=0.0, scale=families.NARROW) -> Soft:
        mu, sigma = families.each_coordinate(dim, location, scale)
        return Soft(mu, sigma + jnp.log(-jnp.expm1(-sigma)))

    def transform(lam, eps):
        return lam.mu + jax.nn.softplus(lam.raw) * eps

    def standardize(lam, theta):
        return (theta - lam.mu) / jax.nn.softplus(lam.raw)

    def log_det(lam, eps):  # noqa: ARG001
        return jnp.log(jax.nn.softplus(lam.raw)).sum()

    return Family(init, normal(), transform, standardize, log_det, affine=True)


class SchoolsRun(NamedTuple):
    """One seed of the eight schools, plain or calibrated."""

    lam: Soft
    iteration: np.ndarray  # where it was evaluated
    empirical_risk: np.ndarray  # with the decision of 10,000 predictive draws, as published
    exact_risk: np.ndarray  # with the exact quantile of the predictive, which is normal
    q_risk: np.ndarray
    objective: np.ndarray


def eight_schools_run(key: PRNGKeyArray, schools: models.Schools, *, calibrate: bool, iterations: int = 30_000, every: int = 1000):
    r"""One run: centred model, :math:`\tau` through softplus, mean-field normal, Adam at 0.05, tilted loss with q = 0.2.

    Args:
        key: random key.
        schools: the data.
        calibrate: with the linearised utility term, 123 draws of theta, or without.
        iterations: steps.
        every: steps between two evaluations.

    Returns:
        `SchoolsRun`.

    Raises:
        ValueError: if a count is out of range.

    Source: LCVI paper, section 6.1 and Figure 2.
    """
    keys = jax.random.split(_guard.key(key), 4)
    loss = decisions.tilted(0.2)
    lam: Any = Soft(jax.random.normal(keys[0], (10,)), jnp.ones(10))
    start = Pair(lam, jax.random.normal(keys[1], (8,))) if calibrate else lam
    record = _of_pair if calibrate else _itself
    run = fit(keys[2], _schools_estimator(calibrate), optax.adam(0.05), start, schools, iterations, WHATEVER, record=record)
    places = np.append(np.arange(0, iterations, every), iterations - 1)
    lams = jax.tree.map(lambda a: jnp.asarray(a[places]), run.recorded)
    exact, draws = _predict_schools(keys[3], lams, schools)
    draws = np.asarray(draws)  # NumPy's sort is many times faster on a CPU than JAX's
    drawn = np.partition(draws, 1999, axis=1)[:, 1999]
    q_risk = np.asarray(loss(draws, drawn[:, None])).mean(axis=(1, 2))
    seen = np.asarray(schools.y)[None]
    empirical, quantile = (np.asarray(loss(seen, h)).mean(axis=1) for h in (drawn, exact))
    return SchoolsRun(record(run.lam, run.state), places, empirical, quantile, q_risk, run.objective)


def _of_pair(pair, state):  # noqa: ARG001
    return pair.lam


def _itself(lam, state):  # noqa: ARG001
    return lam


@cache
def _schools_estimator(calibrate):
    """One for all seeds: `fit` keeps compiled steps by estimator."""
    model, family = models.eight_schools(link="softplus"), softplus_normal()
    if not calibrate:
        return gradients.reparameterized(model, family, 11, entropy="closed form")
    utility = utilities.linearised(decisions.tilted(0.2), SCHOOLS_M)
    term = outcomes.normal_outcome(model.reading.moments, utility)
    return steps.calibrated(model, family, term, samples=11, utility_samples=123)


@jax.jit
def _predict_schools(key, lams, schools):
    """The exact quantile of the predictive, and 10,000 draws of it, at every evaluation."""
    spread = jnp.sqrt(jax.nn.softplus(lams.raw[:, 2:]) ** 2 + schools.sigma[None] ** 2)
    draws = lams.mu[:, None, 2:] + spread[:, None] * jax.random.normal(key, (spread.shape[0], 10_000, 8))
    return lams.mu[:, 2:] + spread * jax.scipy.stats.norm.ppf(0.2), draws


class MusicRun(NamedTuple):
    """One seed of the factorisation of the listening counts."""

    lam: factors.Factors
    h: Any
    objective: np.ndarray
    recorded: Any  # what ``record`` returned, with a leading axis of steps


def music_run(
    key: PRNGKeyArray, table: models.TableRows, utility: utilities.Utility | None, *, iterations: int = 30_000, record=None, **options
):
    """One run: 20 factors, prior sd 10, noise sd 1, mean-field normal, Adam at 0.01, 100 rows at a time, 11 draws, everything from randn.

    The authors' utility term has 300 draws of theta and one outcome each, which makes it the mean of log utilities; here it is that mean
    over 11 draws, with the integral over the outcome in closed form.

    Args:
        key: random key: the same key starts plain and calibrated runs at the same place.
        table: the data, test cells hidden.
        utility: None for plain variational inference.
        iterations: steps.
        record: function of the `Pair` and the estimator's state whose value is kept at every step.
        **options: of `factors.factor_estimator`.

    Raises:
        ValueError: if an option is out of range.

    Source: LCVI paper, section 6.2.
    """
    start_key, key = jax.random.split(_guard.key(key))
    rows, columns = table.value.shape
    start = factors.random_start(start_key, rows, columns, 20)
    if utility is None or options.get("em"):
        start = start._replace(h=())
    run = fit(key, factors.factor_estimator(utility, **options), optax.adam(0.01), start, table, iterations, WHATEVER, record=record)
    return MusicRun(run.lam.lam, run.lam.h, run.objective, run.recorded)


def music_risks(key: PRNGKeyArray, lam: factors.Factors, table: models.TableRows, loss: decisions.Loss) -> dict[str, float]:
    """Empirical risk of the Bayes decisions on the cells that were seen (``"train"``) and those that were hidden (``"test"``)."""
    h = factors.predictive_decisions(key, lam, LEVEL[loss.name])
    costs = loss(table.value, h)
    return {"train": float(costs[table.seen].mean()), "test": float(costs[~table.seen].mean())}
