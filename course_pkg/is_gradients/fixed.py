r"""Fixed-draw variational inference: the same noise for ever, so that the bound is an ordinary function."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray
from scipy import optimize

from course_pkg import _guard, families
from course_pkg.families import Family
from course_pkg.models import Model, log_joint


class FixedDraws(NamedTuple):
    """Where a climb with fixed draws ended, and what its bound is worth."""

    lam: Any  # the parameters
    objective: float  # the bound on the draws that were climbed: too high, since lam was fitted to them
    fresh: float  # the bound on as many draws that lam has not seen
    evaluations: int  # of the bound with its gradient, each at all the draws and all the rows; the look at fresh draws is not counted
    converged: bool  # whether L-BFGS found a flat place: for a normal family, one from which less than 0.05 nats are left to climb


def fixed_draws(key: PRNGKeyArray, model: Model, family: Family, samples: int, lam, data, *, evaluations: int = 500) -> FixedDraws:
    r"""Maximise the ELBO over M draws of noise that stay as they are, by L-BFGS.

    The objective is :math:`\frac{1}{M} \sum_m [\log p(\mathcal{D}, \theta_m) - \log q_\lambda(\theta_m)]` with
    :math:`\theta_m = f_\lambda(\epsilon_m)`. Its maximum lies above that of the ELBO in the mean, and the ELBO there below: both by about
    :math:`p / 2M` nats, with p parameters and a posterior close to the family. So ``objective - fresh`` is about :math:`p / M`; where
    that is too much, go on from ``lam`` with more draws.

    Args:
        key: random key of the draws.
        model: differentiable in ``theta``. It sees all the rows at each evaluation.
        family: any `Family`. One with a triangle in it, such as a full-rank normal, needs more than d draws in d dimensions; fewer leave a
            direction in which nothing holds the bound down.
        samples: M, at least 2.
        lam: starting point, a pytree of arrays.
        data: what the model wants; the climb is in double precision, whatever its numbers are.
        evaluations: about this many at most, since a line search that has begun is finished; at least 1.

    Raises:
        ValueError: if a count is out of range, ``lam`` holds no number or one that is not finite, or the bound at ``lam`` is not finite.

    Example:
        >>> from course_pkg import models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> found = fixed_draws(jax.random.key(0), model, family, 100, family.init(1), data)
        >>> found.converged, bool(found.objective > found.fresh), bool(abs(found.lam.mu[0] - 3) < 0.1)
        (True, True, True)

    Source: Giordano, Ingram and Broderick (2024); Kleywegt, Shapiro and Homem-de-Mello (2002) for such averages.
    """
    samples, evaluations = _guard.count("samples", samples, 2), _guard.count("evaluations", evaluations)
    lam = _guard.parameters("lam", lam, family)
    dim = families.dimension(family, lam)
    parts = jax.tree.leaves(lam, is_leaf=_full_rank)
    if any(map(_full_rank, parts)) and samples <= dim:
        raise ValueError(
            f"samples is {samples} and lam is of full rank in {dim} dimensions; give more than {dim}, or the bound has no maximum"
        )
    first, second = jax.random.split(_guard.key(key))
    noise = [family.base.sample(k, (samples, dim)) for k in (first, second)]
    with jax.enable_x64(True):  # in single precision a bound of thousands of nats is not known well enough to climb by
        (kept, others), given = _double(noise), _double(data)
        flat, unravel = ravel_pytree(_double(lam))

        def cost(x):
            value, slope = _bound(model, family, unravel(jnp.asarray(x)), kept, given)
            return -float(value), -np.asarray(ravel_pytree(slope)[0])

        if not np.isfinite(cost(flat)[0]):
            raise ValueError(f"lam is {lam}, where the bound is not finite; start from another place")
        options = {"maxfun": evaluations, "maxiter": evaluations, "ftol": 1e-12, "maxls": 50}
        found = optimize.minimize(cost, np.asarray(flat), jac=True, method="L-BFGS-B", options=options)
        end = unravel(jnp.asarray(found.x))
        left = families.own_units(end, _bound(model, family, end, kept, given)[1])
        flat_there = left is None or 0.5 * float(left @ left) < 0.05
        fresh = float(_bound(model, family, end, others, given)[0])
    lam = jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), end, lam)
    return FixedDraws(lam, -float(found.fun), fresh, int(found.nfev) + 1, bool(found.status == 0 and flat_there))


def _full_rank(part):
    return isinstance(part, families.Triangular)


def _double(tree):
    """The floating-point numbers of a tree in double precision."""
    return jax.tree.map(lambda a: jnp.asarray(a, float) if jnp.issubdtype(jnp.result_type(a), jnp.floating) else a, tree)


@partial(jax.jit, static_argnums=(0, 1))
def _bound(model, family, lam, eps, data):
    """The mean over the draws of log joint less log q, and its gradient."""

    def mean(p):
        theta = jax.vmap(family.transform, (None, 0))(p, eps)
        joint = jax.vmap(lambda t: log_joint(model, t, data))(theta)
        stretch = jax.vmap(family.log_det, (None, 0))(p, eps)
        # less the log density of the very draws, also where the entropy is known: their noise cancels as far as q fits
        return (joint + stretch - family.base.log_prob(eps).sum(axis=1)).mean()

    return jax.value_and_grad(mean)(lam)
