"""The computations behind the errata of the chapter on skewed densities.

One function per item, named after it: ``T33`` is computed by ``t33``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.

The Lambert W function is SciPy's throughout, so nothing here rests on the package.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, stats
from scipy.special import lambertw as scipy_lambertw

Array = NDArray[np.float64]
Figures = dict[str, float]

KNEE = -0.9 / np.e  # the d of Equation 3.5
EDGE = -1 / np.e


def w(x: Array | float, branch: int = 0) -> Array:
    """A real branch of W, nan where there is none."""
    value = scipy_lambertw(np.asarray(x, dtype=complex), branch)
    return np.where(np.abs(value.imag) < 1e-12, value.real, np.nan)


W_KNEE = float(w(KNEE))
SLOPE = 1 / (KNEE + np.exp(W_KNEE))  # of W at the knee


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def skewness(x: Array) -> float:
    return float(stats.skew(x))


def middles(size: int) -> Array:
    """The middles of equal slices of (0, 1): points that stand for a uniform variable."""
    return (np.arange(size) + 0.5) / size


NORMAL = stats.norm.ppf(middles(200_001))


def t33() -> Figures:
    at_plus = scipy_lambertw(1 / np.e, -1)

    def gap(x: float) -> float:
        return float(abs(w(x, 0) - w(x, -1)))

    return {
        "upper": float(w(EDGE * (1 - 1e-14))),
        "gap": gap(EDGE * (1 - 1e-14)),
        "gap_half": gap(EDGE / 2),
        "plus": float(w(1 / np.e)),
        "lower_plus_real": float(at_plus.real),
        "lower_plus_imaginary": float(at_plus.imag),
    }


def t34() -> Figures:
    return {f"skewness_{name}": skewness(NORMAL * np.exp(g * NORMAL)) for name, g in (("plus", 0.2), ("minus", -0.2))}


def t35() -> Figures:
    z, step = np.linspace(-4.0, 4.0, 801), 1e-3

    def bend(gamma: float) -> Array:
        g = [(z + shift) * np.exp(gamma * (z + shift)) for shift in (-step, 0.0, step)]
        return (g[0] - 2 * g[1] + g[2]) / step**2

    theory = 0.2 * (2 + 0.2 * z) * np.exp(0.2 * z)
    return {
        "least_plus": bend(0.2).min(),
        "most_minus": bend(-0.2).max(),
        "off_theory": np.abs(bend(0.2) - theory).max(),
        "far": 0.2 * (2 + 0.2 * -11.0) * np.exp(0.2 * -11.0),  # where gamma z lies below -2
    }


def t36() -> Figures:
    gamma = 0.2

    def mean_of(power: int) -> float:
        return float(integrate.quad(lambda z: (z * np.exp(gamma * z)) ** power * stats.norm.pdf(z), -15.0, 15.0)[0])

    mean, square = mean_of(1), mean_of(2)
    return {
        "mean": mean,
        "variance": square - mean**2,
        "mean_formula": gamma * np.exp(gamma**2 / 2),
        "variance_formula": np.exp(2 * gamma**2) * (1 + 4 * gamma**2) - gamma**2 * np.exp(gamma**2),
    }


def modified(x: Array, printed: bool = False) -> Array:
    """The modified W of Equation 3.5, as printed or with the constant slope."""
    below = (x - KNEE) / (x + np.exp(W_KNEE)) if printed else SLOPE * (x - KNEE)
    return np.where(x >= KNEE, w(np.maximum(x, KNEE)), W_KNEE + below)


def modified_density(x: Array, gamma: float, printed: bool = False) -> Array:
    """The density of a skewed standard normal that goes with it."""
    y = gamma * x
    slope = 1 / (np.maximum(y, KNEE) + np.exp(w(np.maximum(y, KNEE))))
    if printed:
        slope = np.where(y >= KNEE, slope, np.abs((KNEE + np.exp(W_KNEE)) / (y + np.exp(W_KNEE)) ** 2))
    return stats.norm.pdf(modified(y, printed) / gamma) * slope


def t37() -> Figures:
    gamma, pole = 0.3, -np.exp(W_KNEE)
    places = [pole / gamma, KNEE / gamma, 0.0]

    def mass(printed: bool) -> float:
        parts = (-1e7, -1e5, -1e3, -60.0, *places, 60.0)  # as printed, the left tail is as heavy as 1 / x^2
        return float(
            sum(
                integrate.quad(lambda x: modified_density(np.array(x), gamma, printed), low, high, limit=500)[0]
                for low, high in itertools.pairwise(parts)
            )
        )

    x = np.linspace(-3.0, 1.0, 4_001)
    near = pole + np.array([-0.05, 0.05])
    return {
        "pole": pole,
        "left_of_pole": float(modified(near, True)[0]),
        "right_of_pole": float(modified(near, True)[1]),
        "right_left": float(modified(near)[0]),
        "right_right": float(modified(near)[1]),
        "falls_printed": float((np.diff(modified(x, True)) < 0).sum()),
        "falls_right": float((np.diff(modified(x)) < 0).sum()),
        "mass_printed": mass(True),
        "mass_theory": 1 + float(stats.norm.sf((W_KNEE + 1) / gamma)),  # left of the pole it runs through (W(d) + 1, inf) once more
        "mass_right": mass(False),
        "same_at_knee": float(abs(modified(np.array(KNEE - 1e-9), True) - modified(np.array(KNEE - 1e-9)))),
    }


def t38() -> Figures:
    figures: Figures = {}

    def branch(x: float, k: int) -> float:
        value = float(w(gamma * x, k))
        return float(base.pdf(value / gamma) / abs(gamma * x + np.exp(value)))

    def near_edge(t: float) -> float:
        """With ``x = start + t^2``: the singularity at the branch point is gone."""
        return 2 * t * branch(start + t**2, 0)

    def lower_near_edge(t: float) -> float:
        x = start + t**2
        return 2 * t * branch(x, -1) if x < 0 else 0.0

    for name, gamma, base in (("half", 0.5, stats.norm), ("fifth", 0.2, stats.norm), ("heavy", 0.2, stats.t(3, scale=3**-0.5))):
        start = EDGE / gamma
        upper = integrate.quad(near_edge, 1e-6, np.sqrt(-start), limit=500)[0]
        upper += integrate.quad(lambda x: branch(x, 0), 0.0, 10.0, limit=500)[0]
        upper += integrate.quad(lambda x: branch(x, 0), 10.0, 10_000.0, limit=2_000)[0]
        lower = integrate.quad(lower_near_edge, 1e-6, np.sqrt(-start), limit=500)[0]
        figures |= {f"upper_{name}": upper, f"lower_{name}": lower, f"theory_{name}": float(base.sf(-1 / gamma))}
    return figures


def t39() -> Figures:
    gamma, x = 0.2, np.array([-4.0, -1.0, 0.5, 3.0])
    raw = np.log(np.exp(-0.5 * (scipy_lambertw(gamma * x) / gamma) ** 2))
    knee, w_knee, slope = (jnp.float32(v) for v in (KNEE, W_KNEE, SLOPE))

    def halley(y):
        value = jnp.log1p(jnp.maximum(y, knee))
        for _ in range(12):
            e = jnp.exp(value)
            f = value * e - y
            value = value - f / (e * (value + 1) - (value + 2) * f / (2 * value + 2))
        return value

    @jax.custom_jvp
    def lambert(y):
        return jnp.where(y < EDGE, jnp.nan, halley(y))  # as SciPy's: nothing real left of the branch point

    @lambert.defjvp
    def slope_of(primals, tangents):
        value = lambert(primals[0])
        return value, tangents[0] / (primals[0] + jnp.exp(value))

    def log_density(gamma, x, guarded):
        y = gamma * x
        inner = lambert(jnp.maximum(y, knee)) if guarded else lambert(y)
        value = jnp.where(y >= knee, inner, w_knee + slope * (y - knee)) / gamma
        slopes = jnp.where(y >= knee, 1 / (y + jnp.exp(inner)), slope)
        return -0.5 * value**2 + jnp.log(slopes)

    def in_place(gamma):
        values = gamma * jnp.asarray(x)
        values[values < knee] = knee
        return values.sum()

    try:
        jax.grad(in_place)(gamma)
        refused = False
    except TypeError:
        refused = True
    exact = [float((exact_log_density(g, x)).sum()) for g in (gamma - 1e-5, gamma + 1e-5)]
    gradient = jax.grad(lambda g: log_density(g, jnp.asarray(x), True).sum())(gamma)
    unguarded = jax.grad(lambda g: log_density(g, jnp.asarray([-20.0]), False).sum())(gamma)
    return {
        "complex": float(np.iscomplexobj(raw)),
        "refused": float(refused),
        "gradient": float(gradient),
        "difference": (exact[1] - exact[0]) / 2e-5,
        "unguarded_nan": float(np.isnan(unguarded)),
    }


def exact_log_density(gamma: float, x: Array) -> Array:
    """Of the skewed normal, up to the normal's constant."""
    y = gamma * x
    slope = np.where(y >= KNEE, 1 / (np.maximum(y, KNEE) + np.exp(w(np.maximum(y, KNEE)))), SLOPE)
    return -0.5 * (modified(y) / gamma) ** 2 + np.log(slope)


def t40() -> Figures:
    a, b, resolution = -2.0, 5.0, 100
    x = np.linspace(a, b, int((b - a) * resolution) + 1)
    table = modified(x)

    def printed(at: float) -> float:
        index = int((at - a) * resolution)
        index = 0 if index < a else index  # an index held against a place
        return float(table[index])

    def right(at: Array) -> Array:
        return np.interp(at, x, table)

    try:
        printed(b + 0.2)
        beyond = 0.0
    except IndexError:
        beyond = 1.0
    at = np.linspace(a, b - 1e-9, 20_011)
    cut = table[((at - a) * resolution).astype(int)] - modified(at)
    outside = a - 0.015
    return {
        "wrapped": printed(outside),
        "last": float(table[-1]),
        "before_last": float(table[-2]),
        "clipped": float(right(np.array(outside))),
        "first": float(table[0]),
        "beyond": beyond,
        "cut_mean": float(cut.mean()),
        "cut_most": float(np.abs(cut).max()),
        "line_most": float(np.abs(right(at) - modified(at)).max()),
    }


def t41() -> Figures:
    u = stats.gamma(2).ppf(middles(500))
    u = (u - u.mean()) / u.std()

    def total(gamma: float) -> float:
        if gamma == 0:
            return float(-0.5 * (u**2).sum())
        return float(exact_log_density(gamma, u).sum())

    step = 1e-4

    def with_else(gamma):
        nonzero = jnp.where(gamma == 0, 1.0, gamma)
        skewed = -0.5 * (u - nonzero * u**2) ** 2 - 2 * nonzero * u  # the series: enough for a slope at 0
        return jnp.where(gamma == 0, -0.5 * u**2, skewed).sum()

    return {
        "difference": (total(step) - total(-step)) / (2 * step),
        "series": float((u**3 - 2 * u).sum()),
        "branch": float(jax.grad(with_else)(0.0)),  # what an optimiser is told there
        "best": float(optimize.minimize_scalar(lambda g: -total(g), bounds=(0.01, 0.3)).x),
    }


def t57(seed: int) -> Figures:
    gamma = 0.3
    z = np.random.default_rng(seed).normal(size=200_000)
    bent = z * np.exp(gamma * z)
    back = modified(gamma * bent) / gamma
    wrong = np.abs(back - z) > 1e-6
    straight = gamma * z < W_KNEE
    forward = np.where(straight, (KNEE + (gamma * z - W_KNEE) / SLOPE) / gamma, bent)
    theory = float(stats.norm.cdf(W_KNEE / gamma))
    return {
        "share": float(wrong.mean()),
        "theory": theory,
        "z_share": z_score(wrong.astype(float), theory),
        "most": float(np.abs(back - z).max()),
        "right_most": float(np.abs(modified(gamma * forward) / gamma - z).max()),
        "fifth": float(stats.norm.cdf(W_KNEE / 0.2)),
    }


def tr9(seed: int) -> Figures:
    gamma, mu, sigma = 0.2, 0.5, 1.5
    z = np.random.default_rng(seed).normal(size=400_000)
    y = mu + sigma * z * np.exp(gamma * z)

    def density(at: float, extra: float = 1.0) -> float:
        value = float(w(gamma * (at - mu) / sigma))
        return extra * float(stats.norm.pdf(value / gamma) / (gamma * (at - mu) + sigma * np.exp(value)))

    formula = float(integrate.quad(density, 1.0, 2.5)[0])
    inside = ((y > 1.0) & (y < 2.5)).astype(float)
    return {
        "formula": formula,
        "simulated": float(inside.mean()),
        "z_formula": z_score(inside, formula),
        "z_sigma": z_score(inside, formula / sigma),
        "z_gamma": z_score(inside, formula / gamma),
        "slope": 1 / (0.7 + np.exp(float(w(0.7)))),
        "difference": float((w(0.7 + 1e-6) - w(0.7 - 1e-6)) / 2e-6),
        "least": float(y.min()),
        "support": mu + sigma * EDGE / gamma,
    }


def tr10() -> Figures:
    x = np.concatenate([np.linspace(KNEE, 3.0, 400), np.geomspace(3.0, 1e6, 200)])
    value = np.where(x > np.e, np.log(np.maximum(x, 1.0)), x / (1 + x))
    for _ in range(10):
        e = np.exp(value)
        f = value * e - x
        value = value - f / (e * (value + 1) - (value + 2) * f / (2 * value + 2))
    return {"share": float(stats.norm.cdf(W_KNEE / 0.2)), "halley": float(np.abs(value - w(x)).max() / np.abs(w(x)).max())}


def tr11() -> Figures:
    u = np.linspace(-10.0, 10.0, 4_001)
    figures: Figures = {}
    for name, gamma in (("plus", 0.2), ("minus", -0.2)):
        cutoff = KNEE / gamma
        printed = u >= cutoff if gamma < 0 else u <= cutoff
        figures |= {
            f"cutoff_{name}": cutoff,
            f"off_{name}": float((printed != (gamma * u <= KNEE)).sum()),
            f"same_sign_{name}": float(((u <= cutoff) != (gamma * u <= KNEE)).sum()),
        }
    return figures
