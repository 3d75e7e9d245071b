r"""Gradients of a variational objective, estimated from draws.

The objective is the evidence lower bound :math:`\mathcal{L}(\lambda) = \mathbb{E}_{q_\lambda}[\log p(\mathcal{D}, \theta) - \log
q_\lambda(\theta)]`. Each estimator here has :math:`\nabla_\lambda \mathcal{L}` as its mean; they differ in what they ask of the model and
in how much they scatter.

An estimator is three pure functions. ``init`` makes what it remembers, most often nothing. ``draw(key, lam, data)`` makes the random
numbers of one step, ``estimate(noise, lam, state, data)`` turns them into an `Estimate` and the next state. Noise apart from arithmetic
lets a page compare two estimators on the same draws, and lets `fit` draw the noise of many steps at once. For that reason ``draw`` may look
at the shapes of ``lam``, never at its values: they will have moved by the time that the noise is used.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard, families
from course_pkg.families import Family
from course_pkg.models import Model, Reading, log_joint
from course_pkg.models.reading import DEFAULT, check_parts, map_rows, row_count


class Estimate(NamedTuple):
    """One stochastic gradient, with the terms that it is the mean of."""

    value: Float[Array, ""]  # of the objective
    gradient: Any  # a pytree like lam
    per_sample: Any  # a pytree like lam with a leading axis of samples; its mean is the gradient


class Estimator(NamedTuple):
    """An unbiased gradient of an objective, or one that says how it is biased."""

    init: Callable  # key, lam, data -> state
    draw: Callable  # key, lam, data -> noise of one step; of lam it sees the shapes only
    estimate: Callable  # noise, lam, state, data -> (Estimate, state)
    model: Model | None = None  # whose data they are: its `Reading` says what a minibatch may take in parts


class Minibatch(NamedTuple):
    """Some rows of a data set: which, and by how much their likelihood stands for all."""

    rows: Any
    index: Any  # row numbers in the whole data set
    scale: Any  # rows of the whole data set for each row here


def once(estimator: Estimator, key: PRNGKeyArray, lam, data) -> Estimate:
    """One estimate from a fresh state: what a page draws and a test measures."""
    first, second = jax.random.split(_guard.key(key))
    noise = estimator.draw(second, lam, data)
    return estimator.estimate(noise, lam, estimator.init(first, lam, data), data)[0]


def reparameterized(model: Model, family: Family, samples: int, *, entropy: str = "monte carlo") -> Estimator:
    r"""Reparameterised gradient: differentiate through the draw.

    With :math:`\theta = f_\lambda(\epsilon)` the objective is an average over noise that does not depend on :math:`\lambda`,
    :math:`\mathbb{E}_{q_0}[\log p(\mathcal{D}, f_\lambda(\epsilon)) - \log q_\lambda(f_\lambda(\epsilon))]`, and each draw is
    differentiated. With the entropy in closed form, :math:`\mathbb{E}_{q_0}[\log p(\mathcal{D}, f_\lambda(\epsilon))] + H(q_\lambda)`.
    One or the other: the entropy is counted once (errata T08, N11).

    Args:
        model: its log joint must be differentiable in ``theta``.
        family: any `Family`; an affine one for the closed-form entropy.
        samples: draws in each estimate, at least 1.
        entropy: ``"monte carlo"`` or ``"closed form"``.

    Raises:
        ValueError: if ``samples`` is below 1, ``entropy`` is neither word, or a closed form is asked of a map that has none.

    Source: thesis, section 2.3.2, as mended by erratum T08; notes, section 5.3, as mended by N11.
    """
    closed = _closed_entropy(family, entropy)

    def term(lam, eps, rows, scale):
        theta = family.transform(lam, eps)
        if closed:
            return log_joint(model, theta, rows, scale) + families.entropy(family, lam)
        log_q = family.base.log_prob(eps).sum() - family.log_det(lam, eps)
        return log_joint(model, theta, rows, scale) - log_q

    return _pathwise(model, term, family, samples)


def path_derivative(model: Model, family: Family, samples: int) -> Estimator:
    r"""Path derivative ("sticking the landing"): the reparameterised gradient without its score term.

    The term :math:`\nabla_\lambda \log q_\lambda(\theta)` at fixed :math:`\theta` has mean zero, so it may be dropped. What is left
    vanishes draw by draw where :math:`q_\lambda` equals the posterior: no noise at the optimum. Away from it the noise may be larger.
    As with `score`, the support of :math:`q_\lambda` must not depend on ``lam`` (erratum T19), or the dropped term has another mean.

    Arguments and errors as for `reparameterized`.

    Source: slides, the last estimator of the reparameterisation part; notes, section 5.3.
    """

    def term(lam, eps, rows, scale):
        theta = family.transform(lam, eps)
        return log_joint(model, theta, rows, scale) - families.log_prob(family, jax.lax.stop_gradient(lam), theta)

    return _pathwise(model, term, family, samples)


def score(model: Model, family: Family, samples: int, *, baseline: str = "none") -> Estimator:
    r"""Score-function gradient: :math:`g(\theta)\,\nabla_\lambda \log q_\lambda(\theta)` with :math:`g = \log p(\mathcal{D}, \theta) - \log
    q_\lambda(\theta)`.

    The model is only evaluated, never differentiated. The score has mean zero, so any coefficient :math:`a` may be subtracted from
    :math:`g` without moving the mean, as long as it does not look at the draw that it multiplies; here it is found from the other draws.

    Args:
        model: need not be differentiable.
        family: any `Family` whose support does not depend on ``lam`` (erratum T19).
        samples: draws in each estimate; at least 2 with a constant baseline, at least 3 with the optimal one.
        baseline: ``"none"``; ``"constant"`` subtracts the mean of ``g`` over the other draws; ``"optimal"`` subtracts, for each
            parameter, the regression coefficient of ``g * score`` on ``score``, from the other draws. With few draws that coefficient
            is itself noisy, and ``"constant"`` may scatter less.

    Raises:
        ValueError: if ``samples`` is too small or ``baseline`` is none of the three words.

    Source: thesis, section 2.3.1, equation 2.10, with the control variate where erratum T12 puts it; slides, score-function gradient.
    """
    least = {"none": 1, "constant": 2, "optimal": 3}
    samples = _guard.count("samples", samples, least[_guard.choice("baseline", baseline, least)])

    def estimate(eps, lam, state, data):
        rows, scale = rows_and_scale(data)

        def one(e):
            theta = family.transform(lam, e)
            log_q, grad_log_q = jax.value_and_grad(lambda p: families.log_prob(family, p, theta))(lam)
            return log_joint(model, theta, rows, scale) - log_q, grad_log_q

        g, scores = jax.vmap(one)(eps)
        per_sample = jax.tree.map(lambda s: _less_baseline(baseline, g, s), scores)
        return Estimate(g.mean(), mean_over_samples(per_sample), per_sample), state

    return Estimator(no_state, _draw_base(model, family, samples), estimate, model)


def minibatch(estimator: Estimator, size: int) -> Estimator:
    """The same estimator on ``size`` rows drawn afresh, with replacement, at each step; the likelihood is scaled, the prior is not.

    Which arrays have an entry for each row is read from the estimator's model, and verified before the first step: the log likelihoods
    of one row and of the others must add up to that of all. Arrays that are no rows, such as a covariate of groups, are left whole.

    Raises:
        ValueError: if ``size`` is below 1; and before the first step if arrays of rows differ in length, an unknown has an entry for
            each row, or the likelihood is no sum over rows.

    Source: notes, section 5.3.1, as mended by errata N12 and T22.
    """
    size = _guard.count("size", size)
    reading = DEFAULT if estimator.model is None else estimator.model.reading

    def init(key, lam, data):
        if estimator.model is not None:
            check_parts(estimator.model, data)
        return estimator.init(key, lam, data)

    def draw(key, lam, data):
        rows_key, inner_key = jax.random.split(key)
        index = jax.random.randint(rows_key, (size,), 0, row_count(data, reading))
        return index, estimator.draw(inner_key, lam, data)

    def estimate(noise, lam, state, data):
        index, inner = noise
        return estimator.estimate(inner, lam, state, take(data, index, reading))

    return Estimator(init, draw, estimate, estimator.model)


def take(data, index, reading: Reading = DEFAULT) -> Minibatch:
    """The rows ``index`` of the arrays in ``data`` that have rows, with the scale that makes them stand for all.

    Raises:
        ValueError: if arrays of rows differ in length, or there is none.
    """
    scale = row_count(data, reading) / index.shape[0]
    return Minibatch(map_rows(lambda a: a[index], data, reading), index, scale)


def _pathwise(model, term, family, samples) -> Estimator:
    samples = _guard.count("samples", samples)

    def estimate(eps, lam, state, data):
        rows, scale = rows_and_scale(data)
        values, per_sample = jax.vmap(jax.value_and_grad(term), (None, 0, None, None))(lam, eps, rows, scale)
        return Estimate(values.mean(), mean_over_samples(per_sample), per_sample), state

    return Estimator(no_state, _draw_base(model, family, samples), estimate, model)


def _closed_entropy(family, entropy) -> bool:
    _guard.choice("entropy", entropy, ("monte carlo", "closed form"))
    if entropy == "closed form" and not family.affine:
        raise ValueError('entropy is "closed form" and the family has a map that is not affine; use "monte carlo"')
    return entropy == "closed form"


def _less_baseline(baseline, g, s):
    g = g.reshape(-1, *(1,) * (s.ndim - 1))
    if baseline == "none":
        return g * s
    others = g.shape[0] - 1
    if baseline == "constant":
        return (g - _sum_of_others(g) / others) * s
    return (g - _sum_of_others(g * s * s) / _sum_of_others(s * s)) * s


def _sum_of_others(terms):
    return terms.sum(axis=0, keepdims=True) - terms


def _draw_base(model, family, samples):
    def draw(key, lam, data):  # noqa: ARG001
        dim = families.dimension(family, lam)
        if dim != model.dim:
            raise ValueError(f"lam has {dim} coordinates and the model has {model.dim}; start from family.init({model.dim})")
        return family.base.sample(key, (samples, dim))

    return draw


def no_state(key, lam, data):  # noqa: ARG001
    """The `init` of an estimator that remembers nothing."""
    return ()


def rows_and_scale(data):
    """The rows of a data set or of a `Minibatch`, and by how much their log likelihood is to be multiplied."""
    return (data.rows, data.scale) if isinstance(data, Minibatch) else (data, 1.0)


def mean_over_samples(per_sample):
    """The gradient that per-sample terms are the terms of: their mean over the leading axis, leaf by leaf."""
    return jax.tree.map(lambda term: term.mean(axis=0), per_sample)
