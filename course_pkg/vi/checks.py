r"""Yes, but did it work? Two checks of an approximation that need no second method.

`psis_khat` asks whether q could serve as a proposal for the posterior. `vsbc` asks, on data simulated from the prior, whether q's
marginals are centred where the truths are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from scipy import stats

from course_pkg import _guard, families
from course_pkg.mcmc import Smoothed, importance_sample, pareto_smooth
from course_pkg.models import Model, log_joint


class VSBC(NamedTuple):
    """What a calibration by simulation has shown (variational simulation-based calibration)."""

    probability: Any  # (repeats, d) q's probability of a value below the truth
    p_value: Any  # (d,) of symmetry about one half: is q centred?
    uniform_p_value: Any  # (d,) of a uniform distribution: are its widths right, too?


def psis_khat(key: PRNGKeyArray, model: Model, family: families.Family, lam, data, draws: int = 4000) -> Smoothed:
    r"""Pareto-smoothed weights of draws of q for the posterior, and their :math:`\hat k`.

    Below 0.5 the approximation is close; up to 0.7 the smoothed weights can mend it; above, it is not to be relied on. It judges the joint
    distribution: with many parameters it may be high while every marginal is fine. Where q is the posterior itself all weights are equal;
    that is said as minus infinity.

    Args:
        key: random key.
        model: any `Model`.
        family: of the approximation.
        lam: its parameters, for as many coordinates as the model has.
        data: as the model takes them.
        draws: S, at least 25; more make it steadier.

    Returns:
        `Smoothed`: the log of the smoothed weights, shape ``(S,)``, normalised, and :math:`\hat k`.

    Raises:
        ValueError: if ``lam`` holds what is not a finite number or is for another number of coordinates than the model, there are too few
            draws, or the model's log density is NaN or ``+inf`` at a draw or ``-inf`` at all of them.

    Example:
        >>> import jax.numpy as jnp
        >>> from course_pkg import models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0)
        >>> exact = models.regression_posterior(data, 1.0, 10.0)
        >>> lam = families.Diagonal(exact.mean, 0.5 * jnp.log(jnp.diag(exact.covariance)))
        >>> bool(psis_khat(jax.random.key(0), model, families.mean_field_normal(), lam, data).k_hat < 0.5)
        True

    Source: Yao, Vehtari, Simpson and Gelman (2018), section 2; notes, section 5.4 (a heading there).
    """
    lam = _guard.parameters("lam", lam, family)
    if (dim := families.dimension(family, lam)) != model.dim:
        raise ValueError(f"lam is for {dim} coordinates and the model has {model.dim}; give parameters for the same")
    draws = _guard.count("draws", draws, least=25)
    drawn = importance_sample(key, lambda theta: log_joint(model, theta, data), family, lam, draws)
    log_weights = np.asarray(drawn.log_weights)
    bad = np.flatnonzero(~(log_weights < np.inf))  # NaN, too
    if bad.size:
        raise ValueError(f"model gives a log weight of {log_weights[bad[0]]} at theta = {drawn.theta[bad[0]]}; mend its log density there")
    if log_weights.max() == -np.inf:
        raise ValueError(f"model has no mass at any of the {draws} draws of q; move q or widen it")
    return pareto_smooth(drawn.log_weights)


def vsbc(key: PRNGKeyArray, simulate: Callable, approximate: Callable, repeats: int = 200, *, draws: int = 500) -> VSBC:
    r"""Calibration by simulation of the marginals of an approximation.

    Each time a truth is drawn from the prior, data from the truth, and q is fitted to the data;
    :math:`p_j = Q(\theta_j < \theta_j^\text{true})`. If q is centred well on average the :math:`p_j` lie symmetrically about one half; if q
    leans to one side, so do they. Widths are not judged by that: a q that is too narrow gives a U, which is symmetric; but then the
    :math:`p_j` are not uniform, as those of an exact posterior are. Both are averages over the prior, and say little about the
    data that one has.

    Symmetry is tested by a walk that starts at the outermost :math:`p_j` and takes a step up for each above one half and a step down for
    each below; its largest height over :math:`\sqrt n` is compared with that of Brownian motion. (The usual test of :math:`p` against
    :math:`1 - p` as if they were two samples is wrong: they are one, and it raises 11 false alarms in 100 where it promises 5.)

    Args:
        key: random key.
        simulate: ``key -> (theta (d,), data)``, from the prior and the model.
        approximate: ``(key, data) -> draws of q``, shape ``(S, d)``; it is run ``repeats`` times, one after the other.
        repeats: n, at least 20.
        draws: how many of the S draws are used, at least 2 and at most S; :math:`p_j` is a multiple of one over it.

    Returns:
        `VSBC`: the probabilities, ``(n, d)``, and for each parameter the p-values of symmetry (VSBC) and of uniformity
        (Kolmogorov-Smirnov), ``(d,)``.

    Raises:
        ValueError: if a count is out of range, or a function returns another shape, too few draws or what is not a finite number.

    Example:
        >>> import jax.numpy as jnp
        >>> def simulate(key):
        ...     first, second = jax.random.split(key)
        ...     theta = jax.random.normal(first, (1,))
        ...     return theta, theta + jax.random.normal(second, (1,))
        >>> exact = lambda key, y: 0.5 * y[None] + jnp.sqrt(0.5) * jax.random.normal(key, (500, 1))
        >>> bool(vsbc(jax.random.key(0), simulate, exact, 100).p_value[0] > 0.001)
        True

    Source: Yao, Vehtari, Simpson and Gelman (2018), section 3.
    """
    key, repeats, draws = _guard.key(key), _guard.count("repeats", repeats, least=20), _guard.count("draws", draws, least=2)
    probability = []
    for one in jax.random.split(key, repeats):
        theta, sample = _truth_and_draws(one, simulate, approximate, draws)
        probability.append((sample < theta[None]).mean(axis=0))
    table = np.array(probability)
    uniform = np.array([stats.kstest(column, "uniform").pvalue for column in table.T])
    return VSBC(table, np.array([_symmetry(column) for column in table.T]), uniform)


def _truth_and_draws(key, simulate, approximate, draws):
    """A truth ``(d,)``, and draws ``(draws, d)`` of the approximation that was fitted to its data."""
    first, second = jax.random.split(key)
    made = simulate(first)
    if not isinstance(made, tuple | list) or len(made) != 2:
        raise ValueError(f"simulate returned something of type {type(made).__name__}; give a pair of theta (d,) and data")
    theta, data = np.asarray(made[0]), made[1]
    if theta.ndim != 1:
        raise ValueError(f"simulate returned theta of shape {theta.shape}; give a vector (d,)")
    sample = np.asarray(approximate(second, data))
    if sample.ndim != 2 or sample.shape[1:] != theta.shape:
        raise ValueError(f"approximate returned shape {sample.shape}; give draws (S, {theta.size})")
    if len(sample) < draws:
        raise ValueError(f"approximate returned {len(sample)} draws; give at least {draws}, or set draws to fewer")
    for name, values in (("simulate returned theta", theta), ("approximate returned draws", sample)):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} with NaN or infinite values; give finite numbers")
    return theta, sample[:draws]


def _symmetry(p) -> float:
    """P-value of a symmetric distribution of ``p`` ``(n,)`` about one half."""
    shift = np.round(p - 0.5, 9)  # so that two that lie equally far from one half are seen to
    height = max(abs((shift >= c).sum() - (shift <= -c).sum()) for c in np.unique(np.abs(shift))) / np.sqrt(p.size)
    if height == 0:
        return 1.0
    # P(|W| stays below h up to time 1) = 4 / pi sum_k (-1)^k / (2k + 1) exp(-(2k + 1)^2 pi^2 / (8 h^2)) for Brownian motion W
    k = np.arange(200)
    below = 4 / np.pi * ((-1.0) ** k / (2 * k + 1) * np.exp(-((np.pi * (2 * k + 1) / height) ** 2) / 8)).sum()
    return float(np.clip(1 - below, 0, 1))
