"""The computations behind the errata of the chapter on corrections after inference.

One function per item, named after it: ``T52`` is computed by ``t52``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.

Beliefs about one number are densities on a grid, from the formulas as they stand: no conjugate shortcut comes between a
printed formula and its figure.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

Array = NDArray[np.float64]
Figures = dict[str, float]

ETA = np.linspace(-15.0, 15.0, 6_001)


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def spread_out(size: int, centre: float, sd: float) -> Array:
    """Observations around a centre: quantiles of a normal, so nothing is left to chance."""
    return centre + sd * stats.norm.ppf((np.arange(size) + 0.5) / size)


def log_prior(eta: Array) -> Array:
    """A standard normal."""
    return -0.5 * eta**2 - 0.5 * np.log(2 * np.pi)


def gaussian(y: float | Array, eta: float | Array) -> Array:
    """The loss that is a negative log likelihood: an observation with unit noise."""
    return 0.5 * (y - eta) ** 2


def squared(y: float | Array, h: float | Array) -> Array:
    return (y - h) ** 2


def total(y: Array, eta: Array, loss: Callable[..., Array] = gaussian) -> Array:
    """The summed loss of all observations at every point of a grid."""
    return loss(y[:, None], eta).sum(axis=0)


def normalised(log_density: Array, eta: Array = ETA) -> Array:
    """A density on the grid; the trapezium rule is exact to rounding where a smooth density fades at both ends."""
    density = np.exp(log_density - log_density.max())
    return density / np.trapezoid(density, eta)


def mean_of(density: Array, eta: Array = ETA) -> float:
    return float(np.trapezoid(eta * density, eta))


def sd_of(density: Array, eta: Array = ETA) -> float:
    return float(np.sqrt(np.trapezoid((eta - mean_of(density, eta)) ** 2 * density, eta)))


def mode_of(objective: Callable[[float], float], low: float = -10.0, high: float = 10.0) -> float:
    """Where a function of one number is largest, by a search."""
    return float(optimize.minimize_scalar(lambda x: -objective(x), bounds=(low, high), options={"xatol": 1e-9}).x)


def t52() -> Figures:
    nu, y = 0.3, np.array([2.0, -1.0])

    def follow(update: Callable[[Array, Array], Array], batches: list[Array], start: Array) -> Array:
        belief = start
        for batch in batches:
            belief = update(belief, total(batch, ETA))
        return normalised(belief)

    def dealt(update: Callable[[Array, Array], Array], start: Array) -> list[Array]:
        """The same two observations at once, in order, and in reverse."""
        return [follow(update, batches, start) for batches in ([y], [y[:1], y[1:]], [y[1:], y[:1]])]

    prior = log_prior(ETA)
    printed = dealt(lambda belief, loss: nu * belief - loss, prior)
    weighted = dealt(lambda belief, loss: belief - loss / nu, prior)
    once = dealt(lambda belief, loss: belief - loss, nu * prior)  # the power belongs to the first prior alone
    plain = dealt(lambda belief, loss: belief - loss, prior)  # the printed update at nu = 1
    mode_printed = mode_of(lambda eta: nu * log_prior(eta) - gaussian(y, eta).sum())
    mode_weighted = mode_of(lambda eta: log_prior(eta) - gaussian(y, eta).sum() / nu)
    return {
        "printed": mean_of(printed[0]),
        "in_order": mean_of(printed[1]),
        "reversed": mean_of(printed[2]),
        "sd_printed": sd_of(printed[0]),
        "weighted": mean_of(weighted[0]),
        "sd_weighted": sd_of(weighted[0]),
        "off_weighted": max(float(np.abs(belief - weighted[0]).max()) for belief in weighted),
        "off_once": max(float(np.abs(belief - printed[0]).max()) for belief in once),
        "off_one": max(float(np.abs(belief - plain[0]).max()) for belief in plain),
        "off_mode": abs(mode_printed - mode_weighted),
    }


def t53() -> Figures:
    figures: Figures = {}
    nu = 0.5
    for n in (10, 1_000):
        y = spread_out(n, 1.0, 0.5)
        loss = total(y, ETA, squared)
        figures |= {
            f"printed_{n}": sd_of(normalised(-loss / n + log_prior(ETA))),
            f"right_{n}": sd_of(normalised(-loss + log_prior(ETA))),
            f"theory_{n}": np.sqrt(1 / (2 * n + 1)),
            f"mode_printed_{n}": mode_of(lambda h, y=y: -squared(y, h).mean() + nu * log_prior(h)),
            f"mode_right_{n}": mode_of(lambda h, y=y: -squared(y, h).sum() + nu * log_prior(h)),
            f"mode_multiplied_{n}": mode_of(lambda h, y=y: -squared(y, h).sum() + nu * y.size * log_prior(h)),
        }
    return figures


def t54() -> Figures:
    nu, figures = 0.1, {}
    for n in (10, 100, 10_000):
        y, q_optimal = spread_out(n, 2.0, 0.5), np.zeros(n)

        def prior(h: float, q_optimal: Array = q_optimal) -> Array:
            return stats.norm.logpdf(h, q_optimal, 1.0)

        figures |= {
            f"printed_{n}": mode_of(lambda h, y=y, p=prior: -squared(y, h).mean() + nu * p(h).sum()),
            f"averaged_{n}": mode_of(lambda h, y=y, p=prior: -squared(y, h).mean() + nu * p(h).mean()),
            f"summed_{n}": mode_of(lambda h, y=y, p=prior: -squared(y, h).sum() + nu * p(h).sum()),
        }
    return figures


def t55(seed: int) -> Figures:
    refits, sd = 10, 0.2
    decisions = 3.0 + sd * np.random.default_rng(seed).normal(size=(100_000, refits))
    squares = ((decisions - decisions.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    printed = squares / (refits - 1)
    root = np.sqrt(printed)
    cents = (100 * decisions).var(axis=1, ddof=1)  # the same decisions in another unit
    c4 = np.sqrt(2 / (refits - 1)) * np.exp(special.gammaln(refits / 2) - special.gammaln((refits - 1) / 2))
    return {
        "sd": sd,
        "printed": printed.mean(),
        "variance": sd**2,
        "right": root.mean(),
        "c4": c4,
        "theory": c4 * sd,
        "rescaled_printed": float((cents / printed).mean()),
        "rescaled_right": float((np.sqrt(cents) / root).mean()),
        "z_sd_printed": z_score(printed, sd),
        "z_variance": z_score(printed, sd**2),
        "z_sd_right": z_score(root, sd),
        "z_theory": z_score(root, c4 * sd),
    }


def t56() -> Figures:
    y = np.array([0.0, 0.5, 2.5])
    wide = np.linspace(-2_000.0, 2_000.0, 400_001)

    def belief(nu: float, loss: Array, eta: Array = ETA) -> Array:
        return normalised(nu * log_prior(eta) - loss, eta)

    def bounded(y: Array, eta: Array) -> Array:
        return (y - eta) ** 2 / (1 + (y - eta) ** 2)

    loss, flat = total(y, ETA), total(y, wide, bounded)
    limit = normalised(-loss)
    near = belief(1e-6, loss)
    return {
        "least": mode_of(lambda eta: -gaussian(y, eta).sum()),
        "mode": mode_of(lambda eta: 1e-6 * log_prior(eta) - gaussian(y, eta).sum()),
        "sd": sd_of(near),
        "distance": float(np.trapezoid(np.abs(near - limit), ETA) / 2),  # total variation
        "sd_averaged": sd_of(belief(1e-6, loss / y.size)),
        "sd_hundredth": sd_of(belief(1e-2, flat, wide), wide),
        "sd_tiny": sd_of(belief(1e-4, flat, wide), wide),
        "mass_half": float(np.trapezoid(np.exp(-flat[100_000:300_001]), wide[100_000:300_001])),
        "mass": float(np.trapezoid(np.exp(-flat), wide)),
        "share_two": mean_of(belief(2.0, loss)),
        "share_hundred": mean_of(belief(100.0, loss)),
    }
