"""Calibrate any model for a loss or a utility: the whole pipeline in one call."""

import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import PRNGKeyArray

from course_pkg import _guard, convergence, families, gradients
from course_pkg.decisions import Reduction, paired_reduction
from course_pkg.decisions.rules import as_loss
from course_pkg.families import Family
from course_pkg.fit import NotFiniteError, Settings, fit
from course_pkg.lcvi import closed, discrete, networks, outcomes, steps, utilities
from course_pkg.lcvi.options import Objective, Optimisation, checked_objective, checked_optimisation
from course_pkg.lcvi.result import (
    Approximation,
    Calibration,
    CalibrationWarning,
    bayes_decisions,
    other_units,
    outcomes_drawn,
    predictive,
    same_units,
)
from course_pkg.lcvi.steps import Pair
from course_pkg.lcvi.utilities import Utility, loss_of
from course_pkg.models import as_model, require_differentiable
from course_pkg.models.reading import beyond, check_indices

COARSE = 'Densities of far tails are often finite in double precision alone: jax.config.update("jax_enable_x64", True), before all else.'
DEFAULT_OBJECTIVE, DEFAULT_OPTIMISATION = Objective(), Optimisation()


def calibrate(
    key: PRNGKeyArray | int,
    model: Any,
    data,
    loss_or_utility,
    *,
    held_out=None,
    family: Family | None = None,
    objective: Objective = DEFAULT_OBJECTIVE,
    optimisation: Optimisation = DEFAULT_OPTIMISATION,
) -> Calibration:
    r"""Fit an approximation to the posterior, then one that is calibrated for a decision, and say what that gained.

    Plain variational inference comes first. From where it ends, it goes on for as many steps again, and that is the baseline: its decisions
    are compared, and its expected losses set :math:`M`. The calibrated run starts at the same place and takes as many steps at most, so
    that more steps are not mistaken for calibration. (A strong calibration that starts far from the data may shrink everything before it
    has learnt anything. But from a plain fit it stays on the summit that plain inference found: with ``warm_start=False`` both runs, plain
    and calibrated, start anew.)

    Args:
        key: random key, or a whole number as its seed.
        model: a program in NumPyro, a ``pymc.Model``, or any `Model` whose ``predict`` is differentiable or that says how probable an
            outcome is (``reading.log_prob``), as the first two do. What is a row, a covariate and the outcome is read from
            ``model.reading``; `models.read_as` says otherwise.
        data: rows that the model's likelihood takes; the arguments of a program in NumPyro, by name; None for a ``pymc.Model``, which
            holds its own.
        loss_or_utility: a `Loss`, a function ``(y, h) -> cost``, or a `Utility`, which has its own scale.
        held_out: rows like those of the data, to measure the gain on.
        family: mean-field normal where not given.
        objective: an `Objective`, such as ``Objective(M=2.0)``. Its ``method`` for the inner expectation is ``"closed"`` (normal
            outcomes), ``"even"`` (evenly spread draws), ``"naive"`` (independent draws), ``"taylor"``, ``"jensen"``; of an outcome without
            a derivative ``"sum"`` (over its values) or ``"score"`` (draws, and the gradient of their log probability). ``"auto"`` takes
            the first of closed, even, sum and score that can be had. Its ``decisions`` are optimised together with the approximation
            (``"joint"``), set to the Bayes decisions of each step's draws (``"alternating"``, the paper's EM), or ``"amortised"`` by a
            network of the covariates, which must be a table. For a cost matrix all decisions are looked at, and only ``"joint"`` will do.
        optimisation: an `Optimisation`, such as ``Optimisation(steps=5000, rate=0.02)``.

    Returns:
        `Calibration`: print it for a report, ``decide(covariates)`` for new rows.

    Warns:
        ConvergenceWarning: if the bound of either run still rose at its end, or was too noisy to tell.
        CalibrationWarning: if held-out decisions got worse, a sum over outcomes falls short, the data hold an index that is too large
            for the array that it is looked up in, or held-out rows are taken for those fitted, since an unknown has an entry for each.
            The result keeps the words of both.

    Raises:
        ValueError: if an option is unknown or out of range, ``predict`` cannot be differentiated and nothing says how probable an
            outcome is, probabilities do not sum to 1, a utility is negative or a loss not finite on the predictions.
        NotFiniteError: if a gradient is not finite; the run up to the last good step is in the error.

    Example:
        >>> from course_pkg import data, decisions, models
        >>> schools, model = data.schools(), models.eight_schools()
        >>> quick = Optimisation(steps=2000, rate=0.05, progress=False)
        >>> result = calibrate(jax.random.key(0), model, schools, decisions.tilted(0.2), optimisation=quick)
        >>> result.calibrated.decisions.shape, bool(result.calibrated.risk < result.plain.risk)
        ((8,), True)

    Source: thesis, section 4.1.7; LCVI paper, section 5.
    """
    key, family = _seeded(key), families.mean_field_normal() if family is None else family
    objective, optimisation = checked_objective(objective), checked_optimisation(optimisation)
    given = loss_or_utility if isinstance(loss_or_utility, Utility) else as_loss(loss_or_utility)
    loss = loss_of(given) if isinstance(given, Utility) else given
    model, data = as_model(model, data)
    if not isinstance(family, Family):
        raise ValueError(f"family is {family!r}; give a Family, such as families.mean_field_normal()")
    if held_out is not None and not isinstance(held_out, type(data)):
        raise ValueError(f"held_out is {type(held_out).__name__}; give {type(data).__name__}, as the data are")
    if model.reading.log_prob is None:
        _check_gradient(model)
    seen = _seen(model, family, "data", data, objective.predictive_draws)
    later = None if held_out is None else _later(model, family, data, held_out, objective.predictive_draws)
    keys, known = jax.random.split(key, 8), model.reading.covariates(data)
    if held_out is not None:
        check_indices("held_out", model, model.reading.covariates(held_out), known)
    _foresee(model, given, loss, objective, data)
    said: list[str] = []

    def warn(words, category):
        said.append(words)
        warnings.warn(words, category, stacklevel=3)

    if words := beyond(model, known):
        warn(f"data send the model beyond the end of an array, where JAX takes the last entry: {words}; count from 0", CalibrationWarning)
    if words := model.reading.doubt:
        warn(words, CalibrationWarning)
    if held_out is not None and (words := same_units("held_out", model, data, model.reading.covariates(held_out))):
        warn(words, CalibrationWarning)
    adam = optax.adam(optimisation.rate)  # one object: with another the same steps would compile again

    settings = Settings(tolerance=optimisation.tolerance, progress=optimisation.progress, judge=False)  # both are judged together, below

    def climb(label, k, estimator, begin):
        try:
            return fit(k, estimator, adam, begin, data, optimisation.steps, settings._replace(label=label))
        except NotFiniteError as problem:
            if not jax.config.jax_enable_x64:
                problem.add_note(COARSE)
            raise

    parts = lambda whole: whole if optimisation.batch is None else gradients.minibatch(whole, optimisation.batch)
    entropy = "closed form" if family.affine else "monte carlo"
    plain = parts(gradients.reparameterized(model, family, optimisation.samples, entropy=entropy))  # one object for both runs, as Adam's
    start = climb("warm start", keys[7], plain, family.init(model.dim)).lam if optimisation.warm_start else family.init(model.dim)
    plain_run = climb("plain", keys[0], plain, start)
    predict = lambda k, lam, rows: predictive(k, model, family, lam, model.reading.covariates(rows), objective.predictive_draws)
    plain_y = predict(keys[1], plain_run.lam, data)

    plain_h = bayes_decisions(loss, plain_y)
    costs = _finite_losses(loss, plain_y, plain_h)
    utility = _utility(given, objective, costs[:, seen.counts])
    _check_utility(utility, plain_y, plain_h)

    inner = lambda lam: families.sample(keys[1], family, lam, optimisation.utility_samples)
    summed = objective.method in ("auto", "sum") and model.reading.values is not None
    greatest = discrete.greatest_value(model, inner(plain_run.lam), known, plain_y) if summed else None
    term = _term(model, utility, objective, greatest)
    decider, h = _decider(objective.decisions, model, loss, keys[2], known, plain_h, warm=optimisation.warm_start)
    draws = {"samples": optimisation.samples, "utility_samples": optimisation.utility_samples}
    run = climb("calibrated", keys[3], parts(steps.calibrated(model, family, term, decide=decider, **draws)), Pair(start, h))

    for name, ended in (("plain", plain_run), ("calibrated", run)):
        if doubt := convergence.doubt(ended.objective):
            warn(f"the {name} run: {doubt} (steps, rate, samples of the Optimisation)", convergence.ConvergenceWarning)
    lam = run.lam.lam
    if greatest is not None and (share := discrete.left_out(model, inner(lam), known, greatest)) > discrete.LEFT:
        warn(_cut(greatest, share), CalibrationWarning)
    y = predict(keys[1], lam, data)  # the plain approximation's noise: what differs is the approximation
    decisions = bayes_decisions(loss, y)
    train = _compare(keys[4], loss, seen, plain_h, decisions)
    apart = None
    if held_out is not None:
        drawn = [predict(keys[5], parameters, held_out) for parameters in (plain_run.lam, lam)]
        apart = _compare(keys[6], loss, later, *(bayes_decisions(loss, y) for y in drawn))
        if apart.value < 0:
            warn(_harm(apart), CalibrationWarning)
    risk = float(_finite_losses(loss, y, decisions).mean())
    return Calibration(
        Approximation(plain_run.lam, plain_h, float(costs.mean()), plain_run),
        Approximation(lam, decisions, risk, run),
        train,
        apart,
        utility,
        model,
        family,
        data,
        tuple(said),
    )


def _seeded(key):
    a_seed = isinstance(key, int) and not isinstance(key, bool) and 0 <= key < 2**32
    return jax.random.key(key) if a_seed else _guard.key(key)


class _Seen(NamedTuple):
    """Outcomes, and which of them count."""

    y: Any
    counts: np.ndarray  # of bool, in the shape of y


def _seen(model, family, name, rows, draws) -> _Seen:
    """What was seen of these rows, once it is sure that ``predict`` draws as many, and that both are numbers."""
    shape = _shape_drawn(model, name, rows)
    try:
        y = model.reading.outcome(rows)
    except KeyError as missing:
        raise ValueError(f"{name} has no {missing}, which the model observes; give it by that name") from missing
    if y is None:
        raise ValueError(
            f"{name} holds no outcome that the model knows of; say what was seen: models.read_as(model, outcome=lambda data: ...), of a "
            "program after model, data = models.as_model(program, data)"
        )
    y = _guard.floats(name, y).astype(jnp.result_type(float))
    if y.shape != shape:
        raise ValueError(f"{name} holds outcomes of shape {y.shape} and predict draws {shape}; give one outcome for each draw")
    mask = None if model.reading.mask is None else model.reading.mask(rows)
    counts = np.broadcast_to(True if mask is None else np.asarray(mask, dtype=bool), shape)
    if counts.sum() < 2:
        raise ValueError(f"{name} holds {counts.sum()} outcome(s) that count; give at least 2, or nothing says how sure a saving is")
    _guard.numbers(name, jnp.where(counts, y, 0.0))  # what is masked may be anything
    discrete.check_values(name, np.asarray(y)[counts], model)
    thetas = families.sample(jax.random.key(0), family, family.init(model.dim), draws)  # where the run starts
    # one draw would do; as many as later are of their shape, so that nothing compiles twice
    drawn = np.asarray(outcomes_drawn(jax.random.key(1), model, thetas, model.reading.covariates(rows))[0], float)
    if not np.isfinite(drawn[counts]).all():
        place = tuple(np.argwhere(counts & ~np.isfinite(drawn))[0].tolist())
        raise ValueError(
            f"{name} holds covariates from which predict draws {drawn[place]}, first at {place}; remove or replace what is not finite"
        )
    return _Seen(y, counts)


def _later(model, family, data, held_out, draws) -> _Seen:
    """What was seen of the held-out rows."""
    try:
        return _seen(model, family, "held_out", held_out, draws)
    except ValueError as problem:
        said = str(problem).removeprefix("held_out does not fit predict: ")
        if said == str(problem) or said.startswith("covariates") or not (words := other_units("held_out", model, data)):
            raise
        raise ValueError(words) from problem


def _check_gradient(model):
    try:
        require_differentiable(model)
    except ValueError as problem:
        raise ValueError(f"{problem}; or decide from draws of its posterior: decisions.bayes_decision, posthoc.correct") from problem


def _shape_drawn(model, name, rows) -> tuple[int, ...]:
    """The shape of what ``predict`` draws for these rows: one array, which can be differentiated or summed over."""
    theta = jax.ShapeDtypeStruct((model.dim,), jnp.result_type(float))
    try:
        drawn = jax.eval_shape(lambda t: model.predict(jax.random.key(0), t, model.reading.covariates(rows)), theta)
    except (TypeError, ValueError) as problem:  # JAX's words for shapes that do not go together, and an adapter's for what is missing
        raise ValueError(f"{name} does not fit predict: {problem}") from problem
    if not isinstance(drawn, jax.ShapeDtypeStruct):
        raise ValueError(_several(drawn))
    if jnp.issubdtype(drawn.dtype, jnp.complexfloating):
        raise ValueError(f"{name} makes predict draw {drawn.dtype} numbers; give real ones")
    if not jnp.issubdtype(drawn.dtype, jnp.floating) and None in (model.reading.log_prob, model.reading.values):
        raise ValueError(
            f"predict cannot be differentiated: it draws {drawn.dtype} numbers; say how probable each is: "
            "models.read_as(model, log_prob=lambda theta, covariates, y: ..., values=(least, greatest))"
        )
    return drawn.shape


def _several(drawn) -> str:
    names = [repr(name) for name in drawn] if isinstance(drawn, dict) else ["0"]
    return (
        f"predict draws several outcomes ({', '.join(names)}); decide about one: after whole, data = models.as_model(program, data) give "
        f"models.read_as(whole._replace(predict=lambda key, theta, x: whole.predict(key, theta, x)[{names[-1]}]), "
        "outcome=lambda data: ...), with what was seen of it"
    )


def _foresee(model, given, loss, objective, data):
    """Refuse now what would be refused after the plain fit, which sets the scale and the place of a cut; any others will do here."""
    if isinstance(given, Utility) and objective.M is not None:
        raise ValueError(f"M is {objective.M:g}, and utility {given.name} has its own scale; leave M out, or give the loss")
    values, utility = model.reading.values, _utility(given, objective._replace(M=objective.M or 1.0), None)
    _term(model, utility, objective, None if values is None else values[0])
    if objective.method == "auto" and values is not None and values[1] is None:
        _term(model, utility, objective, None)
    _check_decisions(objective.decisions, loss, model.reading.covariates(data))


def _finite_losses(loss, y, h):
    costs = np.asarray(loss(y, h[None]))
    if not np.isfinite(costs).all():
        worst = int(np.flatnonzero(~np.isfinite(costs).reshape(len(costs), -1).all(axis=0))[0])
        raise ValueError(f"loss is not finite on the predictions (first at row {worst}); give a loss that is finite where predictions fall")
    if (costs < 0).any():
        raise ValueError(f"loss is {costs.min():g} on a prediction; give a loss that is never below 0, or a utility")
    return costs


def _utility(given, objective, costs):
    if isinstance(given, Utility):
        return given
    M = objective.M
    if M is None:
        M = given.supremum if np.isfinite(given.supremum) else utilities.loss_quantile(costs, objective.quantile)
    return utilities.linearised(given, M) if objective.transform == "linearised" else utilities.exponential(given, M)


def _check_utility(utility, y, h):
    if utility.linear:
        return
    worth = np.asarray(utility(y, h[None]))
    if not np.isfinite(worth).all():
        raise ValueError("utility is not finite on the predictions; give one that is finite where predictions fall")
    if (worth < 0).any():
        share = 100 * (worth < 0).mean()
        raise ValueError(
            f"utility {utility.name} is negative on {share:.1f} % of the predictions (down to {worth.min():g}) and has no logarithm there; "
            "raise M, or use linearised or exponential"
        )


def _term(model, utility, objective, greatest):
    if utility.loss is not None and utility.loss.actions is not None and model.reading.log_prob is None:
        raise ValueError(
            "loss lists its decisions, and the model does not say how probable each class is; say so: "
            "models.read_as(model, log_prob=lambda theta, covariates, y: ..., values=(0, greatest))"
        )
    moments, method, draws = model.reading.moments, objective.method, objective.outcome_draws
    fits = moments is not None and closed.utility_form(utility) is not None
    if method == "closed" and not fits:
        raise ValueError('method is "closed", and the outcome is not known to be normal or the utility has no closed form; use "auto"')
    if method == "closed" or (method == "auto" and fits):
        return outcomes.normal_outcome(moments, utility)
    if method == "auto":
        smooth = not model.reading.no_gradient and model.reading.values is None
        method = "even" if smooth else "score" if greatest is None else "sum"
    if method == "sum":
        return discrete.summed_outcome(model, utility, greatest)
    if method == "score":
        return discrete.scored_outcome(model, utility, _guard.count("outcome_draws", draws, 2))
    estimator = method if method in ("taylor", "jensen") else "naive"
    return outcomes.drawn_outcome(model, utility, draws, estimator=estimator, even=method != "naive")


def _check_decisions(found, loss, known):
    if loss.actions is not None and found != "joint":
        raise ValueError(f'decisions is "{found}", and the loss lists its decisions: the best is found by looking at all; use "joint"')
    if found == "amortised" and (not isinstance(known, jax.Array | np.ndarray) or known.ndim != 2):
        raise ValueError('decisions is "amortised", and the covariates are no table (n, d); use "joint"')


def _decider(found, model, loss, key, known, plain_h, *, warm):
    """How the decisions are optimised, and where that starts."""
    if loss.actions is not None:
        return steps.joint(), ()
    if found == "joint":
        return steps.joint(), plain_h if warm else jnp.full(plain_h.shape, plain_h.mean())
    if found == "alternating":
        return steps.em(steps.bayes_rule(model, loss, 4)), ()
    scale = float(plain_h.std()) or 1.0
    network = networks.start_network(key, known, location=float(plain_h.mean()), scale=scale)
    return steps.amortised(networks.decide_with, lambda known: known), network


def _compare(key, loss, seen, before, after):
    costs = [np.asarray(loss(seen.y, h))[seen.counts] for h in (before, after)]
    if costs[0].any():
        return paired_reduction(key, *costs)
    share = -np.inf if costs[1].any() else 0.0  # of nothing nothing can be saved
    return Reduction(share, 0.0, share, share, 0.0, float(costs[1].mean()))


def _cut(greatest, share) -> str:
    return (
        f"outcomes were summed up to {greatest}, and the calibrated approximation lets {100 * share:.1f} % lie above; "
        'draw them instead: method="score"'
    )


def _harm(apart) -> str:
    if apart.baseline == 0:
        return f"calibration raised the held-out risk from 0 to {apart.improved:.4g}; keep the plain approximation, or try a larger M"
    sure = "and its interval lies below 0" if apart.high < 0 else "though its interval reaches above 0"
    return f"calibration raised the held-out risk by {-100 * apart.value:.2f} % ({sure}); keep the plain approximation, or try a larger M"
