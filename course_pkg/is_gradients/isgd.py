r"""Importance-sampled stochastic gradient descent: several steps from one model gradient."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard
from course_pkg.families import Family
from course_pkg.gradients import Estimate, Estimator, mean_over_samples, no_state
from course_pkg.is_gradients import reuse as halves
from course_pkg.is_gradients import weights as w_
from course_pkg.models import Model


class Memory(NamedTuple):
    """What one step leaves for the next."""

    cache: halves.Cache
    fresh: Any  # model gradients evaluated so far (each at M draws); 0 means that the cache is empty
    ess: Any  # share of the weights that was effective at the last step, 1 at a fresh one
    source: Any  # of the model gradients: nothing here, an anchor in `anchored`
    agreement: Any  # of fresh gradients with the old ones that they replaced, between -1 and 1: a mean that forgets; 1 before there is one


def isgd(
    model: Model,
    family: Family,
    samples: int,
    *,
    reuse: float = 0.9,
    adaptive: bool = False,
    form: str = "reparameterized",
    weighting: halves.Weighting = halves.WEIGHTING,
    subsample: halves.Subsample = halves.ALL_ROWS,
) -> Estimator:
    r"""Importance-sampled SGD: with probability ``reuse`` a step reweights the model gradients that it remembers.

    A step draws :math:`\rho \sim U(0, 1)` and reuses if :math:`\rho <` ``reuse`` (one convention, erratum T25), so a model gradient serves
    :math:`1/(1 - p)` steps on average. It evaluates the model afresh if there is nothing to reuse yet, and if the relative effective
    sample size is below ``weighting.min_ess``. On a reused step the model is not called, unless the run is under `jax.vmap`: there every
    step pays for the model, since a condition on a batch evaluates both branches. The numbers are the same; `jax.lax.map` over runs keeps
    the saving.

    The reused gradient is

    .. math:: \frac1M \sum_m w_m \odot \nabla_\theta \log p(\mathcal{D}, \theta_m)\, \nabla_\lambda f_{\lambda'}(\epsilon'_m)

    plus the gradient of the entropy, which is never old. In the score-function form it is

    .. math:: \frac1M \sum_m w_m\, g_{\lambda'}(\theta_m) \nabla \log q_{\lambda'}(\theta_m),

    where only the log joint is old (erratum T28).

    For a move that does not depend on the draws, the joint weights are unbiased. Weights per factor are biased by erratum T24, and a real
    run moves where its own draws sent it, which biases both.

    Args:
        model: differentiable in ``theta``, unless ``form`` is ``"score"``.
        family: any `Family`; independent coordinates for weights per factor.
        samples: draws remembered, at least 1.
        reuse: probability of reusing, at least 0; below 1, or 1 if ``weighting.min_ess`` is above 0. With 0 this is plain SGD.
        adaptive: reuse with probability ``reuse`` times the agreement of fresh gradients with the reweighted old ones that they replace:
            the share of parameters in which the signs are the same, less the share in which they differ, averaged over about five fresh
            gradients. Where the slope stands above the noise it is near 1; where all is noise it is near 0, and the steps are those of SGD.
        form: ``"reparameterized"`` or ``"score"``.
        weighting: of the old gradients, and when they are refreshed; see `Weighting`.
        subsample: the rows of a model gradient, all if not given; see `Subsample`.

    Returns:
        `Estimator` with a `Memory`: ``fit(...).state.fresh`` counts the model gradients. The value of a reused step has an old log joint.

    Raises:
        ValueError: if an argument is out of range, or the rows do not divide into blocks (when the run starts).

    Example:
        >>> import optax
        >>> from course_pkg import families, models
        >>> from course_pkg.fit import QUIET, fit
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> estimator = isgd(model, family, samples=10, reuse=0.8)
        >>> run = fit(jax.random.key(0), estimator, optax.adam(0.02), family.init(1), data, 1000, QUIET)
        >>> bool(abs(run.lam.mu[0] - 3) < 0.1), 150 < int(run.state.fresh) < 250
        (True, True)

    Source: thesis, section 3.1.3 and algorithm 4, with errata T20 to T28; ``scale_by_ess`` and ``adaptive`` are this course's own.
    """
    rule, how = halves.rule(model, family, samples, form, weighting), halves.batches(subsample, model)

    def source(rows_key, draws_key, lam, memory, data):
        rows, scale = halves.choose(how, rows_key, data)
        return halves.evaluate(rule, draws_key, lam, rows, scale), memory

    return reusing(rule, how, source, no_state, reuse, adaptive=_guard.switch("adaptive", adaptive))


def _fresh_eps(rule, lam, cache):
    """The noise of draws just made; where no draw is differentiated through, read off the draw, as `gradients.score` does."""
    return jax.vmap(rule.family.standardize, (None, 0))(lam, cache.theta) if rule.form == "score" else cache.eps


def _agreement(one, two):
    """Mean product of signs over all parameters: 1 where all point the same way, about 0 where they have nothing to do with each other."""
    products = jax.tree.map(lambda a, b: jnp.sign(a) * jnp.sign(b), one, two)
    return sum(leaf.sum() for leaf in jax.tree.leaves(products)) / sum(leaf.size for leaf in jax.tree.leaves(products))


def reusing(rule: halves.Rule, how: halves.Batches, source: halves.Source, source_init, reuse, *, adaptive=False) -> Estimator:
    """The estimator that asks ``source`` for model gradients now and then, and reweights what it remembers in between."""
    reuse, min_ess = _guard.number("reuse", reuse), rule.weighting.min_ess
    if not 0 <= reuse <= 1 or (reuse == 1 and min_ess == 0):
        raise ValueError(f"reuse is {reuse:g} and min_ess {min_ess:g}; give a probability below 1, or 1 with min_ess above 0")

    def init(key, lam, data):
        halves.check_batches(how, data)
        return Memory(halves.empty(rule, lam), jnp.array(0), jnp.array(1.0), source_init(key, lam, data), jnp.array(1.0))

    def draw(key, lam, data):  # noqa: ARG001
        rows_key, draws_key = halves.split(how, key)
        return jax.random.uniform(jax.random.fold_in(key, 1)), rows_key, draws_key

    def estimate(noise, lam, state, data):
        rho, rows_key, draws_key = noise
        eps, w = halves.standardized(rule, lam, state.cache)
        ess = w_.effective_share(w) if w.size > 1 else jnp.ones((), w.dtype)
        wanted = reuse * jnp.maximum(state.agreement, 0.0) if adaptive else reuse
        again = (rho < wanted) & (state.fresh > 0) & (ess >= min_ess)  # a share that is not a number is not enough

        def slope(cache, eps, w):
            terms = halves.pulled_back(rule, lam, cache, eps, w)
            if rule.form == "reparameterized":
                terms = jax.tree.map(jnp.add, terms, halves.entropy_terms(rule, lam, halves.entropy_noise(rule, draws_key, cache)))
            return mean_over_samples(terms)

        def anew():
            cache, memory = source(rows_key, draws_key, lam, state.source, data)
            if not adaptive:
                return cache, memory, state.agreement
            seen = _agreement(slope(state.cache, eps, w), slope(cache, _fresh_eps(rule, lam, cache), jnp.ones_like(w)))
            agreement = jnp.where((state.fresh > 0) & jnp.isfinite(seen), 0.8 * state.agreement + 0.2 * seen, state.agreement)
            return cache, memory, agreement.astype(state.agreement.dtype)

        # Outside any vmap, so that the branch not taken costs nothing.
        cache, memory, agreement = jax.lax.cond(again, lambda: (state.cache, state.source, state.agreement), anew)
        eps, w = jnp.where(again, eps, _fresh_eps(rule, lam, cache)), jnp.where(again, w, 1.0)
        ess = jnp.where(again, ess, 1.0)
        noise_now = halves.entropy_noise(rule, draws_key, cache)
        per_sample = halves.pulled_back(rule, lam, cache, eps, w)
        if rule.form == "reparameterized":
            per_sample = jax.tree.map(jnp.add, per_sample, halves.entropy_terms(rule, lam, noise_now))
        if rule.weighting.scale_by_ess:
            per_sample = jax.tree.map(lambda g: g * ess, per_sample)
        value = halves.value_of(rule, lam, cache, eps, noise_now)
        new = Memory(cache, state.fresh + ~again, ess.astype(state.ess.dtype), memory, agreement)
        return Estimate(value, mean_over_samples(per_sample), per_sample), new

    return Estimator(init, draw, estimate)
