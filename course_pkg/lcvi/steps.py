r"""One step of loss-calibrated variational inference: the lower bound plus the utility term, climbed together.

.. math::
    \mathcal{L}(\lambda, h) = \underbrace{\mathbb{E}_q[\log p(\mathcal{D}, \theta) - \log q_\lambda(\theta)]}_{\text{ELBO}}
    + \underbrace{\sum_i \mathbb{E}_q \log \tilde u(\theta, h_i)}_{\mathbb{U}}

The parameters are the pair ``Pair(lam, h)`` and the estimator is the sum of two terms; `fit` does not change. The value that is climbed is
a lower bound of :math:`\log \mathcal{G} + \log p(\mathcal{D})`, not of :math:`\log \mathcal{G}` (errata T43, P01), where
:math:`\mathcal{G}` is the posterior mean of the product of all rows' expected utilities.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard, families
from course_pkg.families import Family
from course_pkg.gradients import Estimate, Estimator, Minibatch, rows_and_scale
from course_pkg.lcvi.outcomes import Term
from course_pkg.models import Model, log_joint


class Pair(NamedTuple):
    """What a calibrated run climbs in."""

    lam: Any  # of the approximation
    h: Any  # the decisions: one for each row, or parameters of a network; () where they are not climbed in


class Decide(NamedTuple):
    """How the decisions of a step are found."""

    find: Callable  # pair, key, thetas, state, covariates, index -> (h, state)
    start: Callable | None = None  # key, thetas, covariates of all rows -> state; None where nothing is remembered


def joint() -> Decide:
    """Climb in the decisions as in everything else: ``pair.h`` holds one for each row of the data.

    Source: LCVI paper, section 4.2 (joint optimisation); thesis, section 4.1.6.
    """

    def find(pair, key, thetas, state, covariates, index):  # noqa: ARG001
        return jax.tree.map(lambda h: h if index is None else h[index], pair.h), state

    return Decide(find)


def amortised(network: Callable, features: Callable) -> Decide:
    """Decide by a network: ``pair.h`` holds its parameters, ``network(parameters, features(covariates))`` the decisions.

    Source: thesis, section 4.1.6 (amortised decision optimisation).
    """

    def find(pair, key, thetas, state, covariates, index):  # noqa: ARG001
        return network(pair.h, features(covariates)), state

    return Decide(find)


def em(rule: Callable, every: int = 1) -> Decide:
    r"""Expectation and maximisation: every so many steps the decisions of the rows at hand are set to the best, then held.

    ``pair.h`` is ``()``; the decisions live in the estimator's state, shape ``(rows, ...)``, from which a run's last are read.

    Args:
        rule: ``(key, thetas, covariates) -> h``, for instance `bayes_rule`.
        every: steps between two decisions, at least 1.

    Raises:
        ValueError: if ``every`` is below 1.

    Source: LCVI paper, section 2.3; Lacoste-Julien, Huszár and Ghahramani (2011).
    """
    every = _guard.count("every", every)

    def find(pair, key, thetas, state, covariates, index):  # noqa: ARG001
        number, table = state
        held = table if index is None else table[index]
        thetas = jax.lax.stop_gradient(thetas)
        if every == 1:
            h = rule(key, thetas, covariates)
        else:
            h = jax.lax.cond(number % every == 0, lambda: rule(key, thetas, covariates).astype(held.dtype), lambda: held)
        h = jax.lax.stop_gradient(h)
        return h, (number + 1, h if index is None else table.at[index].set(h))

    def start(key, thetas, covariates):
        return jnp.array(0), jnp.asarray(rule(key, thetas, covariates), jnp.result_type(float))

    return Decide(find, start)


def bayes_rule(model: Model, loss, draws: int = 1) -> Callable:
    """The rule that decides by predictive draws: ``draws`` outcomes for each ``theta``, pooled, and the Bayes decision of the pool.

    Raises:
        ValueError: if ``draws`` is below 1.
    """
    from course_pkg.decisions import bayes_decision

    draws = _guard.count("draws", draws)

    def rule(key, thetas, covariates):
        keys = jax.random.split(key, (thetas.shape[0], draws))
        y = jax.vmap(jax.vmap(model.predict, (0, None, None)), (0, 0, None))(keys, thetas, covariates)
        pool = y.reshape(-1, *y.shape[2:])
        return bayes_decision(loss, jnp.moveaxis(pool, 0, -1))

    return rule


def calibrated(
    model: Model,
    family: Family,
    term: Term,
    *,
    samples: int = 11,
    utility_samples: int | None = None,
    decide: Decide | None = None,
    weight: float = 1.0,
) -> Estimator:
    r"""Estimator of the gradient of the calibrated bound in ``Pair(lam, h)``, through both reparameterisations.

    A minibatch scales the likelihood and the utility term alike, and the prior not at all.

    Args:
        model: its log joint must be differentiable in ``theta``; its `Reading` says what ``predict`` wants of the data and what counts.
        family: any `Family`.
        term: the utility term, from `outcomes`.
        samples: draws of ``theta`` for the ELBO, at least 1.
        utility_samples: draws for the utility term, the same ones as far as they go; as many where not given.
        decide: `joint` where not given.
        weight: of the utility term; 0 gives plain variational inference at the same cost.

    Raises:
        ValueError: if a count is below 1 or ``weight`` is negative.

    Example:
        >>> import optax
        >>> from course_pkg import data, decisions, models
        >>> from course_pkg.fit import QUIET, fit
        >>> from course_pkg.lcvi import normal_outcome, linearised
        >>> model, family, schools = models.eight_schools(), families.mean_field_normal(), data.schools()
        >>> term = normal_outcome(model.reading.moments, linearised(decisions.tilted(0.2), M=7.0))
        >>> estimator = calibrated(model, family, term)
        >>> start = Pair(family.init(10), jnp.zeros(8))
        >>> run = fit(jax.random.key(0), estimator, optax.adam(0.05), start, schools, 1000, QUIET)
        >>> run.lam.h.shape
        (8,)

    Source: LCVI paper, equation 1 and section 4; thesis, section 4.1.6.
    """
    samples = _guard.count("samples", samples)
    inner = samples if utility_samples is None else _guard.count("utility_samples", utility_samples)
    if _guard.number("weight", weight) < 0:
        raise ValueError(f"weight is {weight:g}: the decisions would be made worse on purpose; give 0 or more")
    decide = joint() if decide is None else decide

    def draw(key, pair, data):  # noqa: ARG001
        base, outcome, decision = jax.random.split(key, 3)
        eps = family.base.sample(base, (max(samples, inner), families.dimension(family, pair.lam)))
        return eps, term.draw(outcome, inner), decision

    def bound(pair, noise, state, rows, scale, index):
        eps, outcome, key = noise
        thetas = jax.vmap(family.transform, (None, 0))(pair.lam, eps)
        known = model.reading.covariates(rows)
        elbo = jax.vmap(lambda theta: log_joint(model, theta, rows, scale))(thetas[:samples]).mean()
        elbo += _entropy(family, pair.lam, eps[:samples])
        h, state = decide.find(pair, key, thetas[:inner], state, known, index)
        utility = term.value(outcome, thetas[:inner], h, known)
        if term.actions is not None:
            utility = utility.max(axis=-1)  # the best action, found by looking at all
        mask = None if model.reading.mask is None else model.reading.mask(rows)
        if mask is not None:
            utility = jnp.where(mask, utility, 0.0)
        return elbo + weight * scale * utility.sum(), state

    def estimate(noise, pair, state, data):
        rows, scale = rows_and_scale(data)
        index = data.index if isinstance(data, Minibatch) else None
        (value, state), gradient = jax.value_and_grad(bound, has_aux=True)(pair, noise, state, rows, scale, index)
        return Estimate(value, gradient, jax.tree.map(lambda g: g[None], gradient)), state

    def init(key, pair, data):
        if decide.start is None:
            return ()
        thetas = families.sample(key, family, pair.lam, inner)
        return decide.start(key, thetas, model.reading.covariates(rows_and_scale(data)[0]))

    return Estimator(init, draw, estimate, model)


def _entropy(family, lam, eps):
    if family.affine:
        return families.entropy(family, lam)
    return -jax.vmap(lambda e: family.base.log_prob(e).sum() - family.log_det(lam, e))(eps).mean()
