"""Switches in a tank. Roads: moments by a sum over a grid; EP's rest by half steps of all sites at once."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, softmax

from course_pkg.checks.record import Record

UNIT = np.linspace(-1, 1, 2001)


def on_grid(log_density, centre, reach):
    theta = centre + reach * UNIT
    weight = softmax(log_density(theta))
    mean = weight @ theta
    return mean, weight @ (theta - mean) ** 2


def tilted_on_grid(m, v, t, s, up):
    def log_density(theta):
        return -0.5 * (theta - m) ** 2 / v + log_ndtr(up * (theta - t) / s)

    mean, variance = on_grid(log_density, (m + t) / 2, abs(m - t) / 2 + 10 * np.sqrt(v))
    return on_grid(log_density, mean, 12 * np.sqrt(variance))


natural = lambda m, v: np.array([m / v, 1 / v])


def rest(t, up, s, m0, v0, *_):
    """The normal whose moments all tilted distributions share. All sites move at once, a half of their way, until the equations hold."""
    prior, sites = natural(m0, v0), np.zeros((len(t), 2))
    for _ in range(80):
        q = prior + sites.sum(axis=0)
        cavities = q - sites
        wanted = [natural(*tilted_on_grid(a / b, 1 / b, t[i], s, up[i])) for i, (a, b) in enumerate(cavities)]
        sites = sites + 0.5 * (np.array(wanted) - q)
        if np.abs(np.array(wanted) / q - 1).max() < 1e-7:
            break
    return q[0] / q[1], q[1] ** -0.5


def log_posterior(theta, t, up, s, m0, v0):
    return -0.5 * (theta - m0) ** 2 / v0 + log_ndtr(np.multiply.outer(theta, up) / s - up * t / s).sum(axis=-1)


def laplace(t, up, s, m0, v0, *_):
    case, reach, step = (t, up, s, m0, v0), 8 * np.sqrt(v0), 1e-3 * np.sqrt(v0)
    top = minimize_scalar(lambda x: -log_posterior(x, *case), bounds=(m0 - reach, m0 + reach), method="bounded", options={"xatol": 1e-9}).x
    bend = log_posterior(top + step, *case) - 2 * log_posterior(top, *case) + log_posterior(top - step, *case)
    return top, step / np.sqrt(-bend)


def one_switch(rng):
    for up, (v, s) in zip((1, -1, 1), rng.permutation([(20.0, 6.0), (90.0, 4.0), (40.0, 8.0)]), strict=True):
        m, t = rng.uniform(30, 60), rng.uniform(0.4, 1.2) * rng.choice([-1, 1]) * np.sqrt(v + s**2)
        yield m, v * rng.uniform(0.9, 1.1), m + t, s, up


def tanks(rng):
    """The switches are in no order, and one of them disagrees with its neighbours."""
    for n, odd in ((4, 1), (5, 2)):
        m0, v0, s = rng.uniform(40, 60), rng.uniform(200, 400), rng.uniform(5, 9)
        t = m0 + np.sqrt(v0) * (np.linspace(-1.2, 1.2, n) + rng.uniform(-0.1, 0.1, n))
        up = np.where(t < m0 + rng.uniform(3, 8), 1, -1)
        up[odd] *= -1
        order = rng.permutation(n)
        yield t[order], up[order], s, m0, v0, 15


RATIO = "np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))"
TILTED = Record(
    cases=one_switch,
    reference=tilted_on_grid,
    parts=("the mean", "the variance"),
    right="Right. A yes or no shifts the normal and, whatever it says, makes it narrower.",
    nudge="Not those moments. With m = 0, v = 3, t = 0, s = 1 and up = 1 the mean is 3/2 * sqrt(2 / pi) = 1.197 and the variance 3 - 9/4 * 2 / pi = 1.568.",
    hints=(
        "How probable is it that the switch is up? theta + noise is a normal, too. Call that probability Z and differentiate its logarithm.",
        "Z = Phi(z) with z = up (m - t) / sqrt(v + s^2), d log Phi(z) / dz = r with r = phi(z) / Phi(z), and dr / dz = -r (z + r).",
        "Begin with `spread = np.sqrt(v + s**2)`",
    ),
    mistakes={
        "You treat every switch as if it were up. With one that is down the mean goes down.": "z = up * -> z = ;; up * v -> v",
        "The mean goes the same way whatever the switch says. The sign of z stands once more before the slope.": "up * v -> v",
        "The mean is right. The second derivative of log Phi is -r (z + r), not -r^2.": "ratio * (z + ratio) -> ratio**2",
        "The mean is right. Your variance grows: the second derivative of log Phi is below 0.": "return mean, v - -> return mean, v +",
    },
    later={
        "Right where the switch says what could be expected. At z = -40 both phi(z) and Phi(z) round to 0: take the difference of their logarithms "
        "first (`log_ndtr`), and then the exponential.": (
            lambda rng: [(rng.uniform(30, 40), 4.0, 150.0, 1.0, 1), (rng.uniform(200, 220), 9.0, 60.0, 1.0, -1)],
            f"{RATIO} -> np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) / np.exp(log_ndtr(z))",
        ),
    },
)
CAVITY = "q - sites[i]"
PROPAGATE = Record(
    cases=tanks,
    reference=rest,
    rtol=1e-5,
    parts=("the mean", "the standard deviation"),
    right="Right. The order of the switches no longer matters: each tilted distribution has the moments of q.",
    nudge="Not that normal. With t = [0, 0], up = [1, -1], s = 0.5, m0 = 0 and v0 = 9 the two switches pull alike: the mean is 0, and the "
    "standard deviation 0.4567.",
    hints=(
        "For each switch in turn: take its site out of q, let its exact factor in, and read off the new q.",
        "In (m/v, 1/v): cavity = q - site; the new q has the moments of cavity times factor; site = new q - cavity.",
        "Begin with `prior = np.array([m0 / v0, 1 / v0])`",
    ),
    mistakes={
        "You let each factor in without taking its site out, so every switch speaks again in each round. First the cavity.": f"{CAVITY} -> q",
        "You weighed every switch against the prior alone. Each cavity holds the other sites.": f"{CAVITY} -> prior ;; return -> q = prior + sites.sum(axis=0)\nreturn",
        "You mixed up the cavity's variance and standard deviation.": "1 / cavity[1] -> cavity[1] ** -0.5",
        "That is Laplace's normal: top and bend of the posterior. EP matches means and variances.": laplace,
    },
)
TASKS = {"tilted": TILTED, "propagate": PROPAGATE}
