r"""Where the utility term meets a model: what is decided about, and how its expected utility is found for given :math:`\theta`.

A `Term` is noise and a value, like an estimator: ``draw`` makes the random numbers, ``value`` turns draws of :math:`\theta` and decisions
into one estimate of the utility term for each decision. Four roads lead to it: `normal_outcome` (closed form), `drawn_outcome` (draws, for
any model that predicts), `classes` (a sum over finitely many outcomes) and `estimand` (a decision about the parameters themselves).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard
from course_pkg.decisions.losses import Loss
from course_pkg.lcvi import closed, terms
from course_pkg.lcvi.lattice import lattice_keys
from course_pkg.lcvi.utilities import Utility
from course_pkg.models import Model, require_differentiable


class Term(NamedTuple):
    """An estimate of the utility term for each decision."""

    draw: Callable  # key, S_theta -> noise
    value: Callable  # noise, thetas (S_theta, d), h, covariates -> (...), one for each decision
    actions: Any = None  # (H,): then `value` has a last axis of H, one for each action, and h is not looked at


def drawn_outcome(model: Model, utility: Utility, draws: int = 8, *, estimator: str = "naive", even: bool = True) -> Term:
    r"""The term from outcomes :math:`y = g(\delta, \theta)` that the model predicts, differentiated through both draws.

    With ``even``, the outcomes of every :math:`\theta` share their noise :math:`\delta`, and it is spread evenly (`lattice`): where the
    utility is smooth in the noise, eight even draws err less than thirty independent ones, at a fraction of the cost. Every draw keeps
    its distribution, so that the linearised term stays unbiased; the naive one is still too low on average, and by less where the spread
    helps. Without ``even``, every :math:`\theta` draws its own: the estimator of the paper, kept to compare with.

    Args:
        model: its ``predict`` must be differentiable in ``theta``.
        utility: a `Utility`; a linearised one leaves the estimator nothing to do.
        draws: :math:`S_y`, at least 1; 2 for ``"taylor"``.
        estimator: ``"naive"``, ``"taylor"`` or ``"jensen"``.
        even: whether the draws are spread evenly.

    Raises:
        ValueError: if ``draws`` is too small, ``estimator`` is none of the words, or a predicted outcome is discrete.

    Source: LCVI paper, equations 5 to 7; thesis, Figure 4.5.
    """
    least = {"naive": 1, "taylor": 2, "jensen": 1}
    draws = _guard.count("draws", draws, least[_guard.choice("estimator", estimator, least)])
    require_differentiable(model)

    def draw(key, thetas: int):
        return lattice_keys(key, draws) if even else jax.random.split(key, (thetas, draws))

    def value(keys, thetas, h, covariates):
        inner = jax.vmap(model.predict, (0, None, None))
        y = jax.vmap(inner, (None if even else 0, 0, None))(keys, thetas, covariates)  # (S_theta, S_y, ...)
        return from_outcomes(utility, y, h, estimator)

    return Term(draw, value)


def from_outcomes(utility: Utility, y, h, estimator: str = "naive"):
    """The term of each decision from outcomes ``y``, shape ``(S_theta, S_y, ...)``, with the logarithm where it belongs (erratum T49).

    Raises:
        ValueError: if a utility is negative.

    Example:
        >>> from course_pkg.decisions import squared
        >>> from course_pkg.lcvi.utilities import linearised
        >>> from_outcomes(linearised(squared(), 2.0), jnp.array([[[0.0], [2.0]]]), jnp.array([0.0])).tolist()
        [-1.0]
    """
    _guard.choice("estimator", estimator, terms.ESTIMATORS)
    y, h = _guard.numbers("y", y, at_least=2), _guard.numbers("h", h)
    _check_utility(utility)
    over_draws = h.shape[: max(0, h.ndim - (y.ndim - 2))]  # axes of h that would meet the draws': of length 1, or wrong
    if over_draws.count(1) < len(over_draws) or any(a != b and 1 not in (a, b) for a, b in zip(h.shape[::-1], y.shape[::-1], strict=False)):
        raise ValueError(f"h has shape {h.shape} and y {y.shape}; give one decision for each of {y.shape[2:]}")
    h = jnp.expand_dims(h, tuple(range(y.ndim - h.ndim)))
    if utility.linear:
        return terms.linear(utility.loss(y, h), utility.M)  # type: ignore[misc, arg-type]
    if utility.log is not None and estimator != "taylor":
        log_u = utility.log(y, h)
        return terms.naive_from_logs(log_u) if estimator == "naive" else log_u.mean(axis=(0, 1))
    return terms.ESTIMATORS[estimator](utility(y, h))


def normal_outcome(moments: Callable | None, utility: Utility) -> Term:
    """The term of an outcome that is normal given ``theta``, its inner expectation in closed form: no draws, no bias.

    Args:
        moments: ``(theta, covariates) -> (mean, sd)``; a model whose outcome is normal states it as ``model.reading.moments``.
        utility: one whose loss says the integral (``normal_risk`` or ``normal_log_utility``).

    Raises:
        ValueError: if the utility has no closed form, or ``moments`` is None: the model does not say that its outcome is normal.

    Source: LCVI paper, equation 4.
    """
    if moments is None:
        raise ValueError("moments is None: the model does not say that its outcome is normal; use drawn_outcome")
    form = closed.utility_form(utility)
    if form is None:
        raise ValueError(f"utility is {utility.name}, which has no closed form for a normal outcome; use drawn_outcome")

    def draw(key, thetas):  # noqa: ARG001
        return ()

    def value(noise, thetas, h, covariates):  # noqa: ARG001
        return jax.vmap(lambda theta: form(*moments(theta, covariates), h))(thetas).mean(axis=0)

    return Term(draw, value)


def classes(probabilities: Callable, loss: Loss, M: float | None = None) -> Term:
    r"""The term of a discrete outcome, summed over its values, for each of finitely many decisions.

    Args:
        probabilities: ``(theta, covariates) -> (..., C)``, differentiable in ``theta``.
        loss: a cost matrix, ``costs[y, h]``.
        M: top of the utility :math:`M - \text{costs}`; the largest cost where it is not given.

    Raises:
        ValueError: if the loss is no cost matrix, or ``M`` lies below a cost.

    Source: thesis, section 4.1.5 (discrete outputs); Cobb, Roberts and Gal (2018).
    """
    if not isinstance(loss, Loss) or loss.costs is None:
        raise ValueError(f"loss is {getattr(loss, 'name', loss)}, which has no table of costs; give a cost_matrix")
    costs = loss.costs
    top = float(costs.max())
    M = top if M is None else _guard.positive("M", M)
    if top > M:
        raise ValueError(f"M is {M:g}, below the largest cost {top:g}: a utility would be negative; raise M")
    utilities = M - costs

    def draw(key, thetas):  # noqa: ARG001
        return ()

    def value(noise, thetas, h, covariates):  # noqa: ARG001
        return jnp.log(jax.vmap(lambda theta: probabilities(theta, covariates))(thetas) @ utilities).mean(axis=0)

    return Term(draw, value, jnp.arange(loss.actions))


def estimand(quantity: Callable, utility: Utility) -> Term:
    """The term of a decision about ``quantity(theta)``, a function of the parameters: no outcome, no inner mean.

    Args:
        quantity: ``theta -> (...)``, for instance ``lambda theta: model.constrain(theta)["tau"]``.
        utility: of the quantity and the decision.

    Source: thesis, section 4.1.2.
    """

    def draw(key, thetas):  # noqa: ARG001
        return ()

    def value(noise, thetas, h, covariates):  # noqa: ARG001
        return from_outcomes(utility, jax.vmap(quantity)(thetas)[:, None], h)

    return Term(draw, value)


def best_decisions(utility: Utility, y, *, estimator: str = "naive"):
    r"""The decisions that maximise the utility term itself, all rows side by side: for utilities without a Bayes rule.

    The logarithm stands outside the inner mean (erratum T49). For a linearised utility, or the exponential of a loss with one
    outcome for each :math:`\theta`, that is the loss's own Bayes decision: look at `decisions.bayes_decision` first.

    Args:
        utility: a `Utility`.
        y: outcomes, shape ``(S_theta, S_y, ...)``.
        estimator: as in `drawn_outcome`.

    Returns:
        The decisions, shape ``(...)``: the lowest valley that a row of points between the extreme outcomes can tell apart.

    Raises:
        ValueError: if ``y`` has fewer than two axes, is empty or not finite.

    Example:
        >>> from course_pkg.decisions import squared
        >>> from course_pkg.lcvi.utilities import linearised
        >>> best_decisions(linearised(squared(), 1.0), jnp.array([[[1.0, 0.0], [3.0, 8.0]]])).round(3).tolist()
        [2.0, 4.0]

    Source: LCVI paper, section 4.2 (numerical optimisation).
    """
    from course_pkg.decisions import rules

    _check_utility(utility)
    _guard.choice("estimator", estimator, terms.ESTIMATORS)
    y = _guard.numbers("y", y, at_least=2)
    rows = y.reshape(*y.shape[:2], -1)

    def risk(h):
        return -from_outcomes(utility, rows, h, estimator)

    def slope(h):
        return jax.jvp(risk, (h,), (jnp.ones_like(h),))[1]

    ends = rows.min(axis=(0, 1)), rows.max(axis=(0, 1))
    return rules._bisect_from_a_look(risk, slope, *ends).reshape(y.shape[2:])


def _check_utility(utility):
    if not isinstance(utility, Utility):
        raise ValueError(f"utility is {utility!r}; give a Utility, such as linearised(loss, M)")
