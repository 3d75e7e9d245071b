r"""Training a decision maker: restarts side by side, early stopping, and the strength of the prior by cross-validation.

A run needs three kinds of points: those it learns from, those that say when to stop, and, for cross-validation, those that judge it. They
are told apart by weights, so that all restarts, folds and candidate values of :math:`\nu` have the same shape and run in one compiled loop.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.decisions.rules import as_loss, on_all_cores
from course_pkg.posthoc.loop import Plan, Points, run
from course_pkg.posthoc.maker import DecisionMaker, DecisionPrior, prior_arrays, standard_units, standardise


class Training(NamedTuple):
    """How a decision maker is trained, where the defaults do not suit: its layers, Adam's steps, and when to stop.

    Args:
        hidden: units of each hidden layer; ``()`` for a linear map.
        restarts: runs from different weights.
        steps: of Adam, at most.
        rate: the first learning rate.
        decay: whether the rate falls to zero along a half cosine.
        batch: points of a minibatch, drawn with replacement; None for all points at every step.
        held_out: share of the points that say when to stop; 0 for the last weights and no stopping.
        patience: looks without improvement before a run stops; one look every 10 steps, every 50 with minibatches.
        folds: of the cross-validation, where there are several values of ``nu``.

    Example:
        >>> Training(hidden=(), restarts=1).steps  # a linear map, from one start
        3000
    """

    hidden: tuple[int, ...] = (20, 10)
    restarts: int = 3
    steps: int = 3000
    rate: float = 0.01
    decay: bool = True
    batch: int | None = None
    held_out: float = 0.25
    patience: int = 50
    folds: int = 5


TRAINING = Training()
IN_FOLDS = Training(restarts=1, steps=1500)  # a run for each fold and value of nu
EVERY = {"all points": 10, "minibatches": 50}  # steps between two looks at the points that say when to stop


class MakerFit(NamedTuple):
    """A trained decision maker and how it came about."""

    maker: DecisionMaker  # the best of the restarts
    nu: float  # the one given, or the one that cross-validation chose
    train: np.ndarray  # (restarts, looks) the objective on the points learnt from, at each look; NaN after the stop
    stop: np.ndarray  # (restarts, looks) the objective on the points held out for stopping
    best: int  # which restart
    steps: int  # after how many steps the maker was taken
    candidates: np.ndarray | None = None  # (K,) values of nu that were tried
    validation: np.ndarray | None = None  # (K, folds) their risk on the points left out


def fit_decision_maker(
    features,
    y,
    loss,
    *,
    prior: DecisionPrior | None = None,
    nu=0.0,
    training: Training = TRAINING,
    key: PRNGKeyArray | None = None,
) -> MakerFit:
    r"""Learn the map from summaries to decisions that makes the objective of `objective` small.

    Adam steps on all points or on minibatches. Early stopping keeps the weights with the lowest objective on points held out for that
    purpose: the same sum of risk and prior that is trained for, so that a strong prior is not undone by stopping where the risk happens to
    be low. Of the restarts the one with the lowest such value is kept.

    Args:
        features: shape ``(..., B)``, from `characterize`.
        y: outcomes, shape ``(...)``.
        loss: a `Loss` with real-valued decisions, or a function ``(y, h) -> cost`` written in JAX.
        prior: belief about the decisions, of the shape of ``y`` or one that broadcasts to it.
        nu: strength of the prior, 0 or more, in the unit of the loss; several values to let cross-validation choose.
        training: layers, steps and stopping; see `Training`.
        key: random key; key 0 where it is not given.

    Returns:
        `MakerFit`; ``fit.maker(features)`` are the decisions.

    Raises:
        ValueError: if shapes do not fit, features are constant, ``nu`` is negative or has no prior, the loss has finitely many decisions,
            or a field of ``training`` is out of its range.

    Example:
        >>> from course_pkg.decisions import absolute
        >>> rng = np.random.default_rng(0)
        >>> centre = rng.normal(size=400)
        >>> draws = centre[:, None] + 2 + rng.normal(size=(400, 100))  # a model that predicts 2 too much
        >>> from course_pkg.posthoc import characterize
        >>> fit = fit_decision_maker(characterize(draws, 5), centre, absolute(), training=Training(hidden=(), restarts=1))
        >>> bool(abs(fit.maker(np.full((1, 5), 3.0))[0] - 1.0) < 0.2)
        True

    Source: thesis, sections 4.2.1 to 4.2.4, as mended by errata T53 and T54.
    """
    key = jax.random.key(0) if key is None else _guard.key(key)
    training = checked(training)
    points, template, loss, prior_nu = _prepare(features, y, loss, prior, nu)
    plan, restarts, rate = _plan(template, training), training.restarts, training.rate
    candidates = validation = None
    if prior_nu.size > 1:
        candidates = prior_nu
        validation = _validate(key, plan, points, loss, candidates, training)
        means = validation.mean(axis=1)
        prior_nu = candidates[np.flatnonzero(means <= means.min())[-1:]]  # of equals, the one nearest to the model
    train, stop = _split(key, np.ones(len(points.y), bool), training.held_out)
    nus = np.repeat(prior_nu, restarts)
    train, stop = (np.broadcast_to(mask, (restarts, mask.size)) for mask in (train, stop))
    layers, history, taken, _ = run(plan, loss.loss, jax.random.split(jax.random.fold_in(key, 1), restarts), nus, train, stop, points, rate)
    train_history, stop_history = map(np.asarray, history)
    scores = _scores(plan, train_history, stop_history)
    if not np.isfinite(scores).any():
        raise ValueError(f"the objective was never finite: rate is {rate:g} and the loss {loss.name}; lower the rate, or rescale y")
    best = int(scores.argmin())
    maker = template._replace(layers=jax.tree.map(lambda leaf: leaf[best], layers))
    return MakerFit(maker, float(prior_nu[0]), train_history, stop_history, best, int(taken[best]), candidates, validation)


def cross_validate(features, y, loss, prior: DecisionPrior, nus, *, training: Training = IN_FOLDS, key=None) -> np.ndarray:
    """The risk, on points left out, of decision makers trained with each value of ``nu``: shape ``(K, folds)``.

    A fold's points neither train nor stop the runs that they judge. Only their risk counts, without the prior.

    Arguments and errors as for `fit_decision_maker`, which does the same, with its own ``training``, where ``nu`` holds several values.
    Here a run has one start and 1,500 steps where ``training`` says nothing else.

    Example:
        >>> from course_pkg.decisions import squared
        >>> from course_pkg.posthoc import constant_prior
        >>> x = np.linspace(-1, 1, 60)[:, None]
        >>> linear = Training(hidden=(), restarts=1, steps=600, folds=3)
        >>> risks = cross_validate(x, 5 + x[:, 0], squared(), constant_prior(np.zeros(60)), [0.0, 10.0], training=linear)
        >>> bool(risks[0].mean() < risks[1].mean())  # the prior is wrong by 5
        True

    Source: thesis, section 4.2.4, "cross-validation".
    """
    key = jax.random.key(0) if key is None else _guard.key(key)
    training = checked(training)
    points, template, loss, nus = _prepare(features, y, loss, prior, nus)
    return _validate(key, _plan(template, training), points, loss, nus, training)


def checked(training: Training) -> Training:
    """The record once every field of it has been looked at, so that a bad one is refused before anything is fitted."""
    if not isinstance(training, Training):
        raise ValueError(f"training is {training!r}; give a record, such as Training(hidden=(), restarts=1)")
    hidden, batch, count = _guard.counts("hidden", training.hidden), training.batch, _guard.count
    restarts, steps, rate = count("restarts", training.restarts), count("steps", training.steps), _guard.positive("rate", training.rate)
    decay, batch = _guard.switch("decay", training.decay), None if batch is None else count("batch", batch)
    patience, folds = count("patience", training.patience), count("folds", training.folds, 2)
    return Training(hidden, restarts, steps, rate, decay, batch, _held_out(training.held_out), patience, folds)


def _prepare(features, y, loss, prior, nu):
    loss = as_loss(loss)
    if loss.actions is not None:
        raise ValueError(f"loss is {loss.name}, whose decisions are classes; a decision maker returns real numbers: give another loss")
    features, y = _guard.numbers("features", features, at_least=2), _guard.numbers("y", y, at_least=1)
    if features.shape[:-1] != y.shape:
        raise ValueError(f"features has shape {features.shape} and y {y.shape}; give one row of features for each outcome")
    mean, sd = prior_arrays(prior, nu, y.shape)
    flat = features.reshape(-1, features.shape[-1])
    y = y.reshape(-1).astype(jnp.result_type(float))
    _guard.traceable(f"loss {loss.name}", loss.loss, y, y)
    template = DecisionMaker((), *standard_units(flat, y))
    z = standardise(flat, template.mean, template.sd)
    nus = np.atleast_1d(np.asarray(nu, dtype=float)).ravel()
    return Points(z, y, mean.reshape(-1), sd.reshape(-1), template.centre, template.scale), template, loss, np.sort(nus)


def _plan(template, training: Training) -> Plan:
    sizes = (template.mean.shape[0], *training.hidden, 1)
    every = EVERY["all points" if training.batch is None else "minibatches"]
    return Plan(sizes, training.steps, training.batch, every, training.patience, training.held_out > 0, training.decay)


def _held_out(share) -> float:
    if not (share := _guard.share("held_out", share)) < 1:
        raise ValueError("held_out is 1.0; give a share of the points, at least 0 and below 1")
    return share


def _split(key, usable, held_out):
    """Which usable points train, and which say when to stop."""
    places = np.flatnonzero(usable)
    count = round(held_out * len(places)) if held_out else 0
    if held_out and not 0 < count < len(places):
        raise ValueError(f"held_out is {held_out} of {len(places)} points, which leaves one part empty; give more points or another share")
    chosen = np.asarray(jax.random.permutation(key, len(places)))[:count]
    stop = np.zeros(len(usable), bool)
    stop[places[chosen]] = True
    return usable & ~stop, stop


def _validate(key, plan, points, loss, nus, training: Training):
    n, folds, restarts = len(points.y), training.folds, training.restarts
    if folds > n // 2:
        raise ValueError(f"folds is {folds} for {n} points; give at most {n // 2}, or more points")
    key = jax.random.fold_in(key, 2)
    fold = np.empty(n, int)
    fold[np.asarray(jax.random.permutation(key, n))] = np.arange(n) % folds
    parts = [_split(jax.random.fold_in(key, k), fold != k, training.held_out) for k in range(folds)]
    keys = jax.random.split(key, (folds, restarts))

    def risk_of(nu, k):  # a fold at a time, of as many runs as the fit that follows: one program is compiled for both
        train, stop = (np.broadcast_to(mask, (restarts, n)) for mask in parts[k])
        _, history, _, h = run(plan, loss.loss, keys[k], np.full(restarts, nu), train, stop, points, training.rate)
        best = h[_scores(plan, *map(np.asarray, history)).argmin()]
        return np.asarray(loss.loss(points.y, best))[fold == k].mean()

    first, *others = [(nu, k) for nu in nus for k in range(folds)]
    risks = [risk_of(*first)]  # alone: threads that begin together would each compile
    risks += on_all_cores(risk_of, *zip(*others, strict=True))
    return np.reshape(risks, (len(nus), folds))


def _scores(plan, train, stop):
    """Each run's objective where its weights were taken; infinite where it was not a number."""
    values = np.where(np.isfinite(stop), stop, np.inf).min(axis=1) if plan.stopping else train[:, -1]
    return np.where(np.isfinite(values), values, np.inf)
