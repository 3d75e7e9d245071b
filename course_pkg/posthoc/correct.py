r"""The short path: draws of a posterior predictive and outcomes in, decisions and a report out."""

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.decisions import bayes_decision, paired_reduction
from course_pkg.decisions.rules import as_loss
from course_pkg.posthoc.baselines import SingleQuantile, single_quantile
from course_pkg.posthoc.features import characterize, draws_and_outcomes, predictive_draws
from course_pkg.posthoc.maker import DecisionPrior, pointwise_prior, prior_arrays
from course_pkg.posthoc.report import Interval, Report, fidelity
from course_pkg.posthoc.training import TRAINING, MakerFit, Training, checked, fit_decision_maker

STRENGTHS = (0.0, 0.01, 0.1, 1.0, 10.0)  # candidates for nu, in units of the q-optimal decisions' risk
FEW = 20  # held-out points: below this the bootstrap has too little to draw from, and its interval is too short
FAR = 0.5  # predictive standard deviations, root mean square: beyond this the model is overridden


class CorrectionWarning(UserWarning):
    """The correction does not help on held-out points, or does not follow the model."""


class Options(NamedTuple):
    """Which axis `correct` takes for draws, what it tells the decision maker, what holds this near the model, and when it warns.

    Args:
        quantiles: how each point's predictive is summarised, as in `characterize`.
        covariates: appended to that summary, as in `characterize`.
        prior: belief about the decisions, of the shape of the outcomes; where it is not given, centred on the q-optimal decisions, with
            the predictive standard deviations.
        level: of the bootstrap intervals.
        far: root mean square distance from the q-optimal decisions, in predictive standard deviations, beyond which a warning is given;
            ``numpy.inf`` for none.
        axis: of the draws in a plain array: the last where it is not given, ``0`` for draws first, ``(0, 1)`` for chain and draw.

    Example:
        >>> Options(quantiles="mean").level  # told the predictive mean alone; intervals of 90 per cent
        0.9
    """

    quantiles: Any = 20
    covariates: Any = None
    prior: DecisionPrior | None = None
    level: float = 0.9
    far: float = FAR
    axis: Any = None


OPTIONS = Options()


class Correction(NamedTuple):
    """Corrected decisions, with what is needed to judge them and to decide at new points."""

    decisions: jax.Array  # of the shape of y
    q_optimal: jax.Array  # the model's own, of the same shape
    report: Report
    fit: MakerFit
    baseline: SingleQuantile
    train: np.ndarray  # which points the decision maker learnt from, of the shape of y
    options: Options  # as they were given
    warnings: tuple[str, ...]  # the words of every warning


def correct(
    idata,
    y,
    loss,
    *,
    train=None,
    nu=None,
    training: Training = TRAINING,
    options: Options = OPTIONS,
    key: PRNGKeyArray | None = None,
) -> Correction:
    r"""Learn corrected decisions from the predictive draws of any engine, and report whether they are worth having.

    A decision maker is trained on part of the points and judged on the rest, beside the model's own q-optimal decisions and the best single
    quantile. Warnings say when the data can show no help, when the points cannot tell it from a single quantile, when they are too few
    for the interval, and when the decisions lie far from the model's (a second model has been fitted to the data, and the decisions can no
    longer be explained by the first).

    Help is claimed if the interval of the held-out saving lies above 0 and the model's own draws, taken for outcomes, would show such a
    saving with probability ``(1 - level) / 2`` at most. The second holds for any number of points: where the model is right, the outcomes
    are one more draw from it, and a claim is false that often at most. It takes draws: for a probability of 0.05, forty.

    Unless ``train`` says otherwise, a third of the points is held out at random. They are new to the decision maker, not to the
    posterior, which was fitted to all of ``y``: for an honest figure, fit the posterior to the points of ``train`` only and let it predict
    the others, too.

    Args:
        idata: draws of shape ``(..., S)``, an ArviZ ``DataTree`` with the group ``posterior_predictive``, or the dictionary of NumPyro's
            ``Predictive``. Another group or one variable of several goes through `predictive_draws` first. Of an array with its draws
            first, or with as many draws as points, ``Options(axis=...)`` says which axis holds them.
        y: outcomes, shape ``(...)``.
        loss: a `Loss` with real-valued decisions, or a function ``(y, h) -> cost`` written in JAX.
        train: of the shape of ``y``, true for the points that the decision maker learns from.
        nu: strength of the prior; several for cross-validation. Where it is not given: 0, 0.01, 0.1, 1 and 10 times the risk of the
            q-optimal decisions.
        training: the decision maker's layers, steps and stopping; see `Training`.
        options: what it is told, its prior, and when the report warns; see `Options`.
        key: random key; key 0 where it is not given.

    Returns:
        `Correction`; print its ``report``. `decide` applies it to new points.

    Raises:
        ValueError: if the group is not there, ``y`` or ``train`` does not fit the draws, an array may be read either way, either part has
            fewer than 2 points, there is a single draw, the features are constant, or a field of ``training`` or ``options`` is bad.

    Example:
        >>> import arviz as az
        >>> from course_pkg.decisions import tilted
        >>> rng = np.random.default_rng(1)
        >>> centre = rng.normal(size=600)
        >>> y = centre + np.exp(0.3 * centre) * (rng.exponential(size=600) - 1)  # skewed, and wider where it is large
        >>> draws = centre + rng.normal(size=(2, 200, 600))  # the model believes in a normal of one width
        >>> idata = az.from_dict({"posterior_predictive": {"y": draws}})
        >>> result = correct(idata, y, tilted(0.1), training=Training(hidden=()))
        >>> bool(result.report.against_q_optimal.low > 0.1)
        True

    Source: thesis, section 4.2.
    """
    key = jax.random.key(0) if key is None else _guard.key(key)
    loss, training, options = as_loss(loss), checked(training), _checked(options)
    draws, y = draws_and_outcomes(idata, y, axis=options.axis, name="idata")
    train = _train(train, y, key)
    summary = partial(characterize, quantiles=options.quantiles, covariates=options.covariates)
    features = summary(draws)
    q_optimal, sd = bayes_decision(loss, draws), draws.std(axis=-1)
    if not (sd > 0).all():
        raise ValueError(f"the draws of {int((sd == 0).sum())} point(s) are all the same: no predictive distribution; draw with its noise")
    prior = pointwise_prior(q_optimal, sd) if options.prior is None else options.prior
    mean, spread = prior_arrays(prior, 0.0, y.shape)
    baseline = single_quantile(draws[train], y[train], loss, axis=-1)
    if nu is None:
        nu = np.array(STRENGTHS) * float(np.mean(loss(y[train], np.asarray(q_optimal)[train])))
    learnt = DecisionPrior(mean[train], spread[train])
    fit = fit_decision_maker(features[train], y[train], loss, prior=learnt, nu=nu, training=training, key=jax.random.fold_in(key, 1))
    decisions = fit.maker(features)
    chance = _by_chance(loss, y, draws, ~train, lambda told: (bayes_decision(loss, told), fit.maker(summary(told))))
    ways = {"q-optimal": q_optimal, "single quantile": baseline(draws), "decision maker": decisions}
    costs = {name: np.asarray(loss(y, np.asarray(h)), float) for name, h in ways.items()}
    far = fidelity(decisions[~train], q_optimal[~train], sd[~train])
    report = _report(jax.random.fold_in(key, 2), costs, train, far, chance, options.level)
    said = tuple(_doubts(report, baseline, options.level, options.far))
    for words in said:
        warnings.warn(words, CorrectionWarning, stacklevel=2)
    return Correction(decisions, q_optimal, report, fit, baseline, train, options, said)


def decide(correction, predictive, *, covariates=None, variable: str | None = None, group: str = "posterior_predictive"):
    """The corrected decisions at new points, from the draws of their predictive.

    Arguments and errors as for `characterize`; the summary is the one of the correction, and so is the axis of the draws in a plain array.
    New points of a ``DataTree`` often lie in the group ``"predictions"``.
    """
    if not isinstance(correction, Correction):
        raise ValueError(f"correction is of type {type(correction).__name__}; give what correct(...) returns, and after it the draws")
    options, named = correction.options, isinstance(predictive, Mapping) or hasattr(predictive, "dims")
    draws = predictive_draws(predictive, variable=variable, group=group, axis=None if named else options.axis)
    return correction.fit.maker(characterize(draws, options.quantiles, covariates=covariates))


def _checked(options: Options) -> Options:
    if not isinstance(options, Options):
        raise ValueError(f"options is {options!r}; give a record, such as Options(quantiles=9)")
    far = options.far
    far = np.inf if isinstance(far, float) and far == np.inf else _guard.positive("far", far)
    return options._replace(level=_guard.proportion("level", options.level), far=far)


def _train(train, y, key):
    if train is None:
        order = np.asarray(jax.random.permutation(jax.random.fold_in(key, 0), y.size))
        train = np.ones(y.size, bool)
        train[order[: y.size // 3]] = False
        train = train.reshape(y.shape)
    train = _guard.labels("train", train, y.shape)
    if train.shape != y.shape or train.dtype != bool:
        raise ValueError(f"train has shape {train.shape} and type {train.dtype}; give true or false for each of {y.shape}")
    if train.sum() < 2 or (~train).sum() < 2:
        raise ValueError(f"train holds {int(train.sum())} of {train.size} points; leave at least 2 on either side")
    return train


def _report(key, cost, train, far, chance, level) -> Report:
    out = ~train

    def risks(part):
        return {name: float(c[part].mean()) for name, c in cost.items()}

    def saved(name):
        found = paired_reduction(key, cost[name][out], cost["decision maker"][out], level=level, resamples=1000)
        return Interval(found.value, found.low, found.high)

    against = saved("q-optimal")
    return Report(risks(train), risks(out), against, saved("single quantile"), far, (int(train.sum()), int(out.sum())), chance)


def _by_chance(loss, y, draws, out, decide) -> float:
    """The rank of a saving among those that the model's own draws would show, each draw taken for the outcomes of all points.

    Decisions are made from one half of the draws and ranked among the other: among the very draws that the q-optimal ones were made from,
    these would look too good.

    Args:
        loss: a `Loss`.
        y: outcomes, shape ``(...)``.
        draws: shape ``(..., S)``.
        out: of the shape of ``y``, true for the points that judge.
        decide: draws -> decisions before and after the correction, each of the shape of ``y``.
    """
    half = draws.shape[-1] // 2
    own = draws[..., half:][out]
    before, after = (np.asarray(h)[out] for h in decide(draws[..., :half]))

    def saving(outcomes):
        a, b = (np.asarray(loss(outcomes, h[:, None]), float).mean(axis=0) for h in (before, after))
        return np.divide(a - b, a, out=np.zeros_like(a), where=a > 0)

    return float((1 + (saving(own) >= saving(y[out][:, None])).sum()) / (1 + own.shape[-1]))


def _doubts(report: Report, baseline: SingleQuantile, level: float, far: float):
    saved, single, out = report.against_q_optimal, report.against_single_quantile, report.points[1]
    no_help = "no help that the data can show; keep the q-optimal decisions, or raise nu"
    if out < FEW:
        yield f"{out} points were held out, too few for the intervals (they are too short below {FEW}); hold out more"
    if saved.low <= 0:
        yield (
            f"the correction saves {saved.value:.1%} of the held-out risk, and the interval of that saving ({saved.low:.1%} to "
            f"{saved.high:.1%}) does not lie above 0: {no_help}"
        )
    elif report.by_chance > (1 - level) / 2:
        yield (
            f"the correction saves {saved.value:.1%} of the held-out risk, and outcomes drawn from the model itself would show as much "
            f"with probability {report.by_chance:.2f}: {no_help}"
        )
    elif single.low <= 0:
        yield (
            f"the held-out points cannot tell the correction from one quantile for all points, at level {baseline.level:.2f}: against it "
            f"the correction saves {single.value:.1%} ({single.low:.1%} to {single.high:.1%}); take that simpler rule"
        )
    distance = report.fidelity.root_mean_square
    if distance > far:
        yield (
            f"the decisions lie {distance:.2f} predictive standard deviations from the q-optimal ones (root mean square, above {far:g}): "
            "they override the model; raise nu, or mend the model"
        )
