r"""Beliefs without a likelihood: what a loss alone says about a number :math:`\eta`.

Generalised Bayes puts :math:`e^{-w\,\ell}` where Bayes has a likelihood. The coherent update keeps the prior whole and weighs the loss,
:math:`p(\eta \mid y) \propto e^{-w \sum_n \ell(y_n, \eta)}\, p(\eta)`. The power prior keeps the loss whole and weighs the prior,
:math:`p(\eta \mid y) \propto e^{-\sum_n \ell(y_n, \eta)}\, p(\eta)^\nu`. With :math:`w = 1/\nu` both have the same mode, and at
:math:`\nu \ne 1` only the first gives the same belief whether the data come at once, one by one, or in another order.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from course_pkg import _guard
from course_pkg.decisions.rules import as_loss


class Belief(NamedTuple):
    """A density of one number on a grid; its integral by the trapezium rule is one."""

    eta: Float[Array, " K"]  # grid, rising
    log_density: Float[Array, " K"]

    @property
    def density(self):
        """The density on the grid."""
        return jnp.exp(self.log_density)

    @property
    def mean(self) -> float:
        """The mean."""
        return float((_widths(self.eta) * self.density * self.eta).sum())

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return float(jnp.sqrt((_widths(self.eta) * self.density * (self.eta - self.mean) ** 2).sum()))

    @property
    def mode(self) -> float:
        """The point of the grid with the highest density."""
        return float(self.eta[jnp.argmax(self.log_density)])


class Updates(NamedTuple):
    """The belief from all data at once, in order, and in reverse order."""

    at_once: Belief
    in_order: Belief
    reversed: Belief


def belief_on_grid(eta, log_density) -> Belief:
    """A belief from an unnormalised log density on a grid.

    Args:
        eta: shape ``(K,)``, rising, at least 3 points; wide enough to hold the beliefs to come.
        log_density: shape ``(K,)``, or a function of ``eta``.

    Raises:
        ValueError: if the grid does not rise, the shapes differ or a number is not finite.

    Example:
        >>> prior = belief_on_grid(np.linspace(-8, 8, 801), lambda eta: -0.5 * eta**2)
        >>> round(prior.sd, 4)
        1.0
    """
    eta = _guard.numbers("eta", eta, ndim=1)
    return _normalised(*_grid("", eta, log_density(eta) if callable(log_density) else log_density))


def coherent_update(belief: Belief, loss, y, weight: float = 1.0) -> Belief:
    r"""The belief :math:`\propto e^{-w \sum_n \ell(y_n, \eta)}\, p(\eta)`: coherent, whatever the order of the data.

    With a negative log likelihood for a loss and :math:`w = 1` this is Bayes' rule.

    Args:
        belief: before the data.
        loss: a `Loss` or a function ``(y, eta) -> cost``, element by element.
        y: shape ``(N,)``.
        weight: :math:`w`, 0 or more, per unit of the loss: how much a unit of loss says.

    Raises:
        ValueError: if a number is not finite or ``weight`` is negative.

    Example:
        >>> from course_pkg.decisions import squared
        >>> prior = belief_on_grid(np.linspace(-8, 8, 1601), lambda eta: -0.5 * eta**2)
        >>> belief = coherent_update(prior, squared(), np.array([1.0, 2.0]), weight=0.5)  # the normal likelihood of sd 1
        >>> round(belief.mean, 3), round(belief.sd**2, 3)
        (1.0, 0.333)

    Source: Bissiri, Holmes and Walker (2016); thesis, section 4.2.2, as mended by erratum T52.
    """
    belief = _checked(belief)
    return _normalised(belief.eta, belief.log_density - _nonnegative("weight", weight) * _total(belief, loss, y))


def power_prior_update(belief: Belief, loss, y, nu: float = 1.0) -> Belief:
    r"""The belief :math:`\propto e^{-\sum_n \ell(y_n, \eta)}\, p(\eta)^\nu`: at :math:`\nu \ne 1` it depends on how the data were dealt.

    Every update raises the whole belief so far to the power :math:`\nu`, so that of two updates the first counts :math:`\nu` times. At
    :math:`\nu = 0` the mode is the minimum-loss estimate and the belief is :math:`e^{-\ell}` normalised, not a point (erratum T56).

    Arguments and errors as for `coherent_update`, with ``nu``, 0 or more, for the power of the prior.

    Example:
        >>> from course_pkg.decisions import squared
        >>> flat = power_prior_update(belief_on_grid(np.linspace(-8, 8, 1601), lambda eta: -0.5 * eta**2), squared(), np.ones(3), nu=0.0)
        >>> flat.mode, round(flat.sd, 3)
        (1.0, 0.408)

    Source: thesis, section 4.2.2, with errata T52 and T56.
    """
    belief = _checked(belief)
    return _normalised(belief.eta, _nonnegative("nu", nu) * belief.log_density - _total(belief, loss, y))


def compare_updates(belief: Belief, loss, y, nu: float) -> tuple[Updates, Updates]:
    r"""Both kinds of update side by side, coherent with weight :math:`1/\nu` first: at once, one datum after another, and in reverse.

    Raises:
        ValueError: if ``nu`` is not above 0, or an argument is bad as in `coherent_update`.

    Example:
        >>> from course_pkg.decisions import Loss
        >>> nll = Loss("normal", lambda y, eta: 0.5 * (y - eta) ** 2)
        >>> prior = belief_on_grid(np.linspace(-15, 15, 3001), lambda eta: -0.5 * eta**2)
        >>> coherent, power = compare_updates(prior, nll, np.array([2.0, -1.0]), nu=0.3)
        >>> [round(belief.mean, 3) for belief in coherent], [round(belief.mean, 3) for belief in power]
        ([0.435, 0.435, 0.435], [0.435, -0.288, 1.223])

    Source: erratum T52.
    """
    nu, y = _guard.positive("nu", nu), _guard.numbers("y", y, ndim=1)

    def dealt(update, strength):
        def one_by_one(order):
            now = belief
            for k in order:
                now = update(now, loss, y[k : k + 1], strength)
            return now

        return Updates(update(belief, loss, y, strength), one_by_one(range(len(y))), one_by_one(reversed(range(len(y)))))

    return dealt(coherent_update, 1 / nu), dealt(power_prior_update, nu)


def _checked(belief) -> Belief:
    if not isinstance(belief, Belief):
        raise ValueError(f"belief is {belief!r}; give one from belief_on_grid or an update")
    return Belief(*_grid("belief.", *belief))


def _grid(whose, eta, values):
    """A rising grid with a finite log density at each of its points."""
    eta, values = _guard.numbers(f"{whose}eta", eta, ndim=1), _guard.numbers(f"{whose}log_density", values, ndim=1)
    if eta.shape[0] < 3 or not bool((jnp.diff(eta) > 0).all()):
        raise ValueError(f"{whose}eta must rise and have at least 3 points; give numpy.linspace(low, high, points)")
    if values.shape != eta.shape:
        raise ValueError(f"{whose}log_density has shape {values.shape} and eta {eta.shape}; give one value for each point of the grid")
    return eta, values


def _total(belief, loss, y):
    y = _guard.numbers("y", y, ndim=1)
    loss = as_loss(loss)
    with _guard.calling(f"loss {loss.name}"):
        values = loss.loss(y[:, None] + jnp.zeros((1, belief.eta.shape[0])), belief.eta[None] + jnp.zeros((y.shape[0], 1)))
    return _guard.numbers("the loss on the grid", values.sum(axis=0))


def _nonnegative(name, x) -> float:
    x = _guard.number(name, x)
    if x < 0:
        raise ValueError(f"{name} is {x:g}; give 0 or more")
    return x


def _normalised(eta, log_density) -> Belief:
    # double precision on the way: a grid sums thousands of small numbers
    log_density = np.asarray(log_density, dtype=float)
    log_density = log_density - log_density.max()
    total = (np.asarray(_widths(np.asarray(eta, dtype=float))) * np.exp(log_density)).sum()
    return Belief(eta, jnp.asarray(log_density - np.log(total), dtype=jnp.result_type(float)))


def _widths(eta):
    xp = np if isinstance(eta, np.ndarray) else jnp
    step = xp.diff(eta)
    return 0.5 * (xp.concatenate([step, step[-1:] * 0]) + xp.concatenate([step[:1] * 0, step]))
