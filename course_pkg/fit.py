r"""One optimisation loop for the whole course.

`fit` climbs an objective with any `Estimator` and any optimiser of optax. The steps run in compiled blocks. The noise of a block is drawn
at once, from keys that depend on the number of the step alone, so that neither the length of a block nor the progress bar changes a digit
of the result. Inside, the parameters are one flat array; estimators and readers see their own structure.
"""

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray
from scipy.stats import t
from tqdm import tqdm

from course_pkg import _guard, _streams, convergence, families
from course_pkg.convergence import BATCHES, ConvergenceWarning
from course_pkg.gradients import Estimator

BLOCK = 1000  # steps in a compiled call
NOISE = 2**22  # numbers of noise held at once, at most


class Settings(NamedTuple):
    """What `fit` does beside climbing.

    Example:
        >>> QUIET._replace(average=0.5)  # no bar, and the mean of the parameters over the second half
        Settings(average=0.5, tolerance=None, window=1000, progress=False, judge=True, label='fit')
    """

    average: float = 0.0  # share of the steps, from their end, over which the parameters are averaged (Polyak and Ruppert); 0 for none
    tolerance: float | None = None  # stop when the mean objective over a window has changed by at most this share of its value
    window: int = BLOCK  # steps in a window of that rule; with a tolerance the noise of one window is held at once
    progress: bool = True  # whether to show a bar
    judge: bool = True  # whether to warn of a run whose objective still rose or fell at its end, or was too noisy to tell
    label: str = "fit"  # what the bar says is running


SETTINGS, QUIET = Settings(), Settings(progress=False)


class Fit(NamedTuple):
    """Where a run ended, and how it got there."""

    lam: Any  # the last parameters
    objective: np.ndarray  # (steps,) the estimate of the objective at each step
    recorded: Any  # what `record` returned, with a leading axis of steps; None without it, or before the first step
    average: Any  # mean of the parameters over the last part of the run; None where none was asked for, or the run ended before it
    converged: bool | None  # whether objective (`convergence.converged`) and gradient had come to rest; None where that cannot be told
    state: Any  # of the estimator
    promised: float | None = None  # nats that the mean gradient of the last quarter still promises; None where that cannot be told


class NotFiniteError(FloatingPointError):
    """A gradient, or the step that it led to, was NaN or infinite.

    ``fit`` holds the run up to the last good step; ``step`` and ``parameter`` say where it went wrong.
    """

    def __init__(self, message: str, fit: Fit, step: int, parameter: str):
        super().__init__(message)
        self.fit, self.step, self.parameter = fit, step, parameter


def fit(
    key: PRNGKeyArray,
    estimator: Estimator,
    optimizer: optax.GradientTransformation,
    lam,
    data,
    steps: int,
    settings: Settings = SETTINGS,
    *,
    record: Callable | None = None,
) -> Fit:
    r"""Maximise an objective by ``steps`` stochastic gradient steps from ``lam``.

    Args:
        key: random key; the same key gives the same run.
        estimator: gradient of the objective to climb.
        optimizer: any optimiser of optax, written for descent as usual; it is handed the negative gradient. Made anew, it compiles the
            steps anew, as an estimator does: make both once, outside a loop over keys.
        lam: starting point, a pytree of arrays.
        data: what the estimator wants; an argument of the compiled step, so that new data of the same shape compile nothing.
        steps: how many, at least 1.
        settings: averaging, the stopping rule, and what is said; see `Settings`, and `QUIET` for no bar. A run that the stopping rule ends
            before the part to be averaged has no average. The tolerance is a share of the objective as it stands, so a constant added to
            the log joint changes when the run stops. ``judge=False`` is for a run that is cut short on purpose, or whose objective is not
            in nats.
        record: function of ``lam`` and the estimator's state whose value is kept at every step: of the parameters at which the step asks
            for a gradient, and of the state that the estimator has when it has answered.

    Returns:
        `Fit`.

    Warns:
        ConvergenceWarning: from `convergence.doubt`, if ``converged`` is False, or None because of noise. A rate that is too low, or has
            fallen to almost nothing, makes any trace flat; so of the two normal families the mean gradient over the last quarter of the
            run is asked as well how far the bound can still rise (`families.own_units`), and more than a quarter of a nat is said, too. Of
            other parameters a trace is all there is, and that ``converged`` is True is no proof.

    Raises:
        NotFiniteError: at the first gradient that is not finite, or that an optimiser turned into parameters that are not (Adam squares
            its gradients, so one beyond 1e19 overflows in single precision); it carries the run up to there.
        ValueError: if a count or share is out of range, ``lam`` holds no number or one that is not finite, ``record`` does not take two
            arguments, or ``key``, ``estimator``, ``optimizer`` or ``settings`` is something else.

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> family = families.mean_field_normal()
        >>> model = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0)
        >>> estimator = gradients.path_derivative(model, family, samples=5)
        >>> run = fit(jax.random.key(0), estimator, optax.adam(0.05), family.init(1), data, 500, QUIET)
        >>> exact = models.regression_posterior(data, 1.0, 10.0)
        >>> bool(abs(run.lam.mu[0] - exact.mean[0]) < 0.02), run.converged
        (True, True)

    Source: thesis, Algorithm 2; slides, stochastic gradient ascent.
    """
    steps = _guard.count("steps", steps)
    _check(key, estimator, optimizer, record)
    average, tolerance, window, progress, judge, label = _checked(settings)
    lam = jax.tree.map(_parameter, lam)
    flat, unravel = ravel_pytree(lam)
    if flat.size == 0:
        raise ValueError("lam holds no number; give a pytree with at least one parameter")
    init_key, key = jax.random.split(key)
    slopes = jnp.zeros((BATCHES, flat.size)) if isinstance(lam, families.Diagonal | families.Triangular) else None
    carry = Carry(flat, optimizer.init(flat), estimator.init(init_key, lam, data), jnp.zeros_like(flat), slopes)
    run = partial(_block, estimator, optimizer, record, _structure(lam))

    length = window if tolerance else _block_length(estimator, key, lam, data, steps, progress)
    first_averaged = steps - int(np.ceil(average * steps))
    judged = _batches(steps - steps // 4, steps // 4)
    objective, recorded, settled, done = [], [], False, 0
    with tqdm(desc=label, total=steps, disable=not progress, unit="step", unit_scale=True) as bar:
        while done < steps and not settled:
            count = min(length, steps - done)
            if tolerance:  # any window may be the last
                judged, carry = _batches(done, count), carry._replace(slopes=jax.tree.map(jnp.zeros_like, carry.slopes))
            last_good, marks = carry, (first_averaged, *judged)
            carry, (values, stats) = run(count, average > 0, key, done, marks, carry, data)
            objective.append(values)
            recorded.append(stats)
            done += count
            if not bool(jnp.isfinite(carry.flat).all()):
                _raise_not_finite(run, key, done - count, count, marks, last_good, data, unravel, objective, recorded, average)
            settled = tolerance is not None and len(objective) > 1 and _settled(objective, tolerance)
            bar.update(count)
    result = _judged(_finish(carry, unravel, objective, recorded, average, done - first_averaged), carry.slopes, judged[1], unravel)
    if judge and (doubt := convergence.doubt(result.objective) or _doubt(result.promised)):
        warnings.warn(f"{doubt} (or Settings(judge=False), if the run is to be cut short)", ConvergenceWarning, stacklevel=2)
    return result


class Carry(NamedTuple):
    """What one step hands to the next."""

    flat: Any  # the parameters
    optimizer: Any
    estimator: Any
    total: Any  # sum of the parameters over the averaged part
    slopes: Any  # (BATCHES, p) sums of gradients over the last part, batch by batch; None where no family's own units are known


def robbins_monro(rate: float, *, power: float = 0.6, delay: float = 1.0) -> Callable:
    r"""The schedule :math:`\rho_t = \rho\,(1 + t/\tau)^{-\kappa}`: steps that shrink, but not too fast.

    With :math:`1/2 < \kappa \le 1` the rates sum to infinity and their squares do not. On a smooth hill and with noise of finite
    variance this is sufficient for a climb that neither stops short nor rattles for ever.

    Args:
        rate: first rate, above 0.
        power: :math:`\kappa`, above 1/2 and at most 1.
        delay: :math:`\tau`, steps before the decay sets in, above 0.

    Raises:
        ValueError: if a number is out of its range.

    Example:
        >>> schedule = robbins_monro(0.5, power=1.0)
        >>> float(schedule(0)), float(schedule(4))
        (0.5, 0.1)

    Source: slides, Robbins and Monro's conditions; thesis, section 2.3.
    """
    rate, delay = _guard.positive("rate", rate), _guard.positive("delay", delay)
    power = _guard.number("power", power)
    if not 0.5 < power <= 1:
        raise ValueError(
            f"power is {power}; give more than 1/2 (or the squares of the rates sum to infinity) and at most 1 (or the climb stops short)"
        )

    def schedule(step):
        return rate * (1 + step / delay) ** -power

    return schedule


def _checked(settings) -> Settings:
    if not isinstance(settings, Settings):
        raise ValueError(f"settings is {settings!r}; give a record, such as Settings(progress=False)")
    return Settings(
        _guard.share("average", settings.average),
        None if settings.tolerance is None else _guard.positive("tolerance", settings.tolerance),
        _guard.count("window", settings.window),
        _guard.switch("progress", settings.progress),
        _guard.switch("judge", settings.judge),
        str(settings.label),
    )


def _check(key, estimator, optimizer, record):
    _guard.key(key)
    if not isinstance(estimator, Estimator):
        raise ValueError(f"estimator is {estimator!r}; give an Estimator, such as gradients.path_derivative(model, family, 10)")
    if not isinstance(optimizer, optax.GradientTransformation):
        raise ValueError(f"optimizer is {optimizer!r}; give an optimiser of optax, such as optax.adam(0.01)")
    try:
        _ = record is None or inspect.signature(record).bind(None, None)
    except TypeError as problem:
        raise ValueError(f"record takes other arguments ({problem}); give a function of two, such as lambda lam, state: lam") from None


def _parameter(leaf):
    # a leaf may be empty: in one dimension a triangle has nothing below its diagonal
    return (_guard.numbers("lam", leaf) if np.size(leaf) else jnp.asarray(leaf)).astype(jnp.result_type(float))


def _structure(lam):
    leaves, tree = jax.tree.flatten(lam)
    return tree, tuple(leaf.shape for leaf in leaves)


def _unravel(structure, flat):
    tree, shapes = structure
    sizes = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = jnp.split(flat, sizes)
    return jax.tree.unflatten(tree, [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])


def _ravel(tree, flat):
    """The leaves side by side, written over ``flat``: compiled, a concatenation goes through its numbers one by one."""
    place = 0
    for leaf in jax.tree.leaves(tree):
        flat, place = jax.lax.dynamic_update_slice(flat, leaf.ravel(), (place,)), place + leaf.size
    return flat


@partial(jax.jit, static_argnums=(0, 1, 2, 3, 4, 5))
def _block(estimator, optimizer, record, structure, count, averaging, key, start, marks, carry, data):
    unravel = partial(_unravel, structure)
    first_averaged, first_judged, size = marks

    def step(carry, numbered_noise):
        number, noise = numbered_noise
        lam = unravel(carry.flat)
        estimate, state = estimator.estimate(noise, lam, carry.estimator, data)
        ascent = _ravel(estimate.gradient, carry.flat)
        updates, opt_state = optimizer.update(-ascent, carry.optimizer, carry.flat)
        # an optimiser that clips or normalises would hide a gradient that is not finite
        flat = jnp.where(jnp.isfinite(ascent), optax.apply_updates(carry.flat, updates), jnp.nan)
        total = jnp.where(number >= first_averaged, carry.total + flat, carry.total) if averaging else carry.total
        batch = (number - first_judged) // size
        add = lambda sums: sums.at[jnp.clip(batch, 0, BATCHES - 1)].add(jnp.where((batch >= 0) & (batch < BATCHES), ascent, 0.0))
        kept = None if record is None else record(lam, state)
        return Carry(flat, opt_state, state, total, jax.tree.map(add, carry.slopes)), (estimate.value, kept)

    numbers = start + jnp.arange(count)
    lam = unravel(carry.flat)
    noise = jax.vmap(lambda n: estimator.draw(_streams.fold_in(key, n), lam, data))(numbers)
    return jax.lax.scan(step, carry, (numbers, noise))


def _block_length(estimator, key, lam, data, steps, progress) -> int:
    noise = jax.eval_shape(estimator.draw, key, lam, data)
    size = sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(noise))
    length = min(BLOCK, max(1, NOISE // max(size, 1)), steps)
    return min(length, max(1, steps // 50)) if progress else length


def _settled(objective, tolerance) -> bool:
    before, now = float(objective[-2].mean()), float(objective[-1].mean())
    return abs(now - before) <= tolerance * abs(before)


def _raise_not_finite(run, key, start, count, marks, carry, data, unravel, objective, recorded, average):
    """Walk through the block again, step by step, to the first gradient that is not finite."""
    del objective[-1], recorded[-1]
    name, number = "lam", start
    for number in range(start, start + count):
        after, (values, stats) = run(1, average > 0, key, number, marks, carry, data)
        if not bool(jnp.isfinite(after.flat).all()):
            bad = jax.tree_util.tree_leaves_with_path(jax.tree.map(lambda a: bool(~jnp.isfinite(a).all()), unravel(after.flat)))
            name = next(jax.tree_util.keystr(path) for path, is_bad in bad if is_bad).lstrip(".") or name
            break
        carry = after
        objective.append(values)
        recorded.append(stats)
    result = _finish(carry, unravel, objective, recorded, average, number - marks[0])._replace(converged=False)
    raise NotFiniteError(
        f"the gradient of {name} at step {number}, or the step that it led to, is not finite; lower the rate, look at the model there, "
        "or start elsewhere (the run up to the last good step is in the error's fit)",
        result,
        number,
        name,
    )


def _batches(start: int, count: int) -> tuple[int, int]:
    """The first step of the last whole batches among ``count`` steps, and the steps in one."""
    size = max(1, count // BATCHES)
    return start + count - BATCHES * size, size


def _judged(run: Fit, slopes, size: int, unravel) -> Fit:
    """The run with what its slopes promise: half the squared length of their mean, noise taken out by pairing each batch with others."""
    if slopes is None or run.objective.size < convergence.FEWEST:
        return run
    units = np.array([families.own_units(run.lam, unravel(mean)) for mean in slopes / size], float)
    pairs = lambda w: 0.5 * ((w.sum(axis=0) ** 2).sum() - (w**2).sum()) / (len(w) * (len(w) - 1))
    without = np.array([pairs(np.delete(units, i, axis=0)) for i in range(BATCHES)])  # the jackknife
    error = np.sqrt((BATCHES - 1) * without.var())
    found = float(pairs(units))
    sure = found > t.isf(convergence.LEVEL, BATCHES - 1) * error
    run = run._replace(promised=found if sure else 0.0)
    return run._replace(converged=False) if _doubt(run.promised) else run


def _doubt(promised) -> str | None:
    if promised is None or promised <= convergence.PROMISE:
        return None
    return f"the mean gradient of the last steps promises {promised:.2g} nats or more; take more steps, another rate or a better start"


def _finish(carry, unravel, objective, recorded, average, averaged) -> Fit:
    values = np.concatenate([np.asarray(v) for v in objective]) if objective else np.zeros(0)
    stats = jax.tree.map(lambda *parts: np.concatenate(parts), *recorded) if recorded else None
    mean = unravel(carry.total / averaged) if average > 0 and averaged > 0 else None
    return Fit(unravel(carry.flat), values, stats, mean, convergence.converged(values), carry.estimator)
