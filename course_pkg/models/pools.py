r"""Pooled testing: how many are infected, when swabs are tested together."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import betaln, gammaln
from jax.tree_util import Partial
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.models.model import Model, no_slope, refusing
from course_pkg.models.reading import Reading


class Pools(NamedTuple):
    """Results of pooled tests, one entry for each district (or scalars for one)."""

    positives: Float[Array, "..."]  # pools that tested positive
    pools: Float[Array, "..."]  # pools tested
    size: Float[Array, "..."]  # swabs in a pool


def pooled_testing(a: float = 1.0, b: float = 1.0) -> Model:
    r"""Prevalence from pooled tests: a pool of :math:`m` swabs is positive with probability :math:`1 - (1 - \pi)^m`.

    With :math:`l` pools the number of positive ones is binomial, :math:`N \sim \mathrm{Bin}(l, 1 - (1-\pi)^m)`: the pool's size stands in
    the power and the number of pools in the binomial (erratum T01). The prior is :math:`\pi \sim \mathrm{Beta}(a, b)` and
    :math:`\theta = \operatorname{logit} \pi`.

    Args:
        a: first parameter of the beta prior, above 0.
        b: second parameter of the beta prior, above 0.

    Returns:
        A `Model` of `Pools`; ``predict(key, theta, people)`` draws how many of so many people are infected (a count, so no gradient).

    Raises:
        ValueError: if ``a`` or ``b`` is not above 0.

    Example:
        >>> model = pooled_testing()
        >>> round(float(jnp.exp(model.log_likelihood(jnp.array([0.0]), Pools(1, 1, 2)))), 4)  # half infected, one pool of two
        0.75

    Source: thesis, section 1.3, as mended by erratum T01.
    """
    a, b = _guard.positive("a", a), _guard.positive("b", b)

    def constrain(theta):
        return {"prevalence": jax.nn.sigmoid(theta[0])}

    reason = no_slope("the number of infected people", "the count")
    predict = refusing(_predict_infected, reason)
    reading = Reading(log_prob=_log_prob_infected, values=(0, None), no_gradient=reason)
    return Model(1, Partial(_logit_beta, a, b), _pool_likelihood, predict, constrain, reading)


def check_pools(data: Pools) -> Pools:
    """`data` as arrays of counts that make sense together.

    Raises:
        ValueError: if a count is negative or not whole, a pool is empty, or more pools are positive than were tested.
    """
    positives, pools, size = (_guard.nonnegative(name, value) for name, value in data._asdict().items())
    for name, value in zip(data._fields, (positives, pools, size), strict=True):
        if not bool((value == jnp.floor(value)).all()):
            raise ValueError(f"{name} holds a fraction; give whole counts")
    if bool((size < 1).any()):
        raise ValueError("size holds 0; a pool needs at least one swab")
    if bool((positives > pools).any()):
        raise ValueError("positives exceeds pools; at most every pool can test positive")
    return Pools(positives, pools, size)


def _logit_beta(a, b, theta):
    # log sigmoid'(theta) adds one to each exponent
    return a * jax.nn.log_sigmoid(theta[0]) + b * jax.nn.log_sigmoid(-theta[0]) - betaln(a, b)


def _pool_likelihood(theta, data):
    positives, pools, size = (jnp.asarray(value, dtype=theta.dtype) for value in data)
    log_negative = size * jax.nn.log_sigmoid(-theta[0])
    log_choose = _log_choose(pools, positives)
    # where no pool is positive its term is zero, also where log P(positive) is -inf; the inner guard keeps the gradient finite too
    some = positives > 0
    log_positive = jax.nn.log1mexp(jnp.where(some, -log_negative, 1.0))
    return (log_choose + jnp.where(some, positives * log_positive, 0.0) + (pools - positives) * log_negative).sum()


def _log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _log_prob_infected(theta, people, y):
    log_p = _log_choose(people, y) + y * jax.nn.log_sigmoid(theta[0]) + (people - y) * jax.nn.log_sigmoid(-theta[0])
    return jnp.where(y <= people, log_p, -jnp.inf)


def _predict_infected(key: PRNGKeyArray, theta, people):
    return jax.random.binomial(key, people, jax.nn.sigmoid(theta[0]))
