"""One-liners. Road: quantiles of the draws and SciPy's, for noise that fills its interval or square evenly, so that nothing is luck."""

import numpy as np
from scipy.stats import laplace, lognorm, norm, qmc

from course_pkg.checks._judge import Trouble, numbers
from course_pkg.checks.record import Record

OWN_NOISE = "Your draws do not come from eps. Use no other noise: the same numbers in another order must give the same draws in that order."
even = lambda rng, count=4_000: rng.permutation((np.arange(count) + 0.5) / count)
# The middles of the fiftieth parts of an ordered sample
fifty = lambda ordered: ordered[len(ordered) // 100 :: len(ordered) // 50]
quantiles_of = lambda law, eps: fifty(law.ppf((np.arange(len(eps)) + 0.5) / len(eps)))


def quantiles_drawn(answer, *case):
    draws = _draws(answer, *case)
    backwards = _draws(answer, *(part[::-1] if isinstance(part, np.ndarray) else part for part in case))
    if not np.allclose(backwards[::-1], draws, equal_nan=True):
        raise Trouble(OWN_NOISE)
    return fifty(np.sort(np.where(np.isnan(draws), np.inf, draws)))


def _draws(answer, *case):
    draws = numbers(answer(*case))
    if [part.shape for part in draws] != [case[0].shape]:
        raise Trouble(f"Expected one array with a draw for each number of noise, shape {case[0].shape}.")
    return draws[0]


def square(rng):
    eps1, eps2 = qmc.Sobol(2, rng=rng).random_base2(16).T
    return [(np.clip(eps1, 1e-9, 1), eps2)]


GAUSSIAN = Record(
    cases=square,
    reference=lambda eps1, eps2: quantiles_of(norm, eps1),
    right="Right. The squared radius of two standard normals is exponential with mean 2, and the angle is uniform.",
    nudge="Those draws are not standard normal.",
    hints=(
        "Two independent standard normals are a point in the plane. How is its squared distance from 0 distributed?",
        "The squared radius is chi-squared with two degrees of freedom: exponential with mean 2.",
        "Begin with `radius = np.sqrt(2 * np.log(1 / eps1))`",
    ),
    mistakes={
        OWN_NOISE: lambda eps1, eps2: np.random.default_rng(0).normal(size=len(eps1)),
        "That is the printed line. Its draws have variance 1/2: the squared radius of two normals has mean 2, not 1.": "2 * np.log -> np.log",
        "Radius and angle come from the same uniform number. They must be independent: that is what the second one is for.": "eps2 -> eps1",
        "Your angle runs from 0 to 1. It must go once around the circle.": "2 * np.pi * eps2 -> eps2",
        "You multiplied by the squared radius, the one that is exponential with mean 2. The point lies at its root.": "np.sqrt(2 * np.log(1 / eps1)) -> 2 * np.log(1 / eps1)",
    },
    view=quantiles_drawn,
    rtol=5e-3,
)
LAPLACE = Record(
    cases=lambda rng: [(even(rng), 1.0, 2.0), (even(rng), rng.normal(), rng.uniform(0.3, 0.8))],
    reference=lambda eps, mu, b: quantiles_of(laplace(mu, b), eps),
    right="Right. The formula was good and its noise was not: it wants numbers between -1/2 and 1/2.",
    nudge="Those draws are not Laplace. Their middle must be mu, and half of them must lie within b log 2 of it.",
    hints=(
        "The sign of the noise should choose the side. Which interval has both signs?",
        "mu - b sgn(e) log(1 - 2|e|) for e uniform on (-1/2, 1/2).",
        "Begin with `e = eps - 0.5`",
    ),
    mistakes={
        OWN_NOISE: lambda eps, mu, b: np.random.default_rng(0).laplace(mu, b, len(eps)),
        "That is the printed line: for eps above 1/2 it takes the logarithm of a negative number. On which interval does it work?": "eps - 0.5 -> eps",
        "Every draw lies on one side of mu: that is an exponential. The other half of the noise must go to the other side.": "np.sign(e) * np.log(1 - 2 * np.abs(e)) -> np.log(eps)",
        "None of your draws is further from mu than b log 2. |e| ends at 1/2, where the logarithm must run away.": "2 * np.abs -> np.abs",
    },
    view=quantiles_drawn,
    rtol=2e-3,
)
LOG_NORMAL = Record(
    cases=lambda rng: [(norm.ppf(even(rng)), rng.uniform(0.4, 1.2), rng.uniform(0.3, 0.7)) for _ in range(2)],
    reference=lambda eps, mu, sigma: quantiles_of(lognorm(sigma, scale=np.exp(mu)), eps),
    right="Right. As printed the draws are log-normal as well, but nothing would be learnt: the map held no parameter.",
    nudge="Those draws are not log-normal. Their median must be exp(mu).",
    hints=(
        "The noise may not depend on the parameters. So who must contain mu and sigma?",
        "log theta = mu + sigma eps with eps ~ N(0, 1).",
        "Write the line for log theta first; what turns it into theta?",
    ),
    mistakes={
        OWN_NOISE: lambda eps, mu, sigma: np.random.default_rng(0).lognormal(mu, sigma, len(eps)),
        "Your map does not contain mu and sigma, so its derivative by them is 0. The noise is standard: the map must do the rest.": "mu + sigma * eps -> eps",
        "You exponentiated first. It is the logarithm of the draw that is normal with mean mu and standard deviation sigma.": "np.exp(log_theta) -> mu + sigma * np.exp(eps)",
    },
    view=quantiles_drawn,
    rtol=2e-3,
)
TASKS = {"gaussian": GAUSSIAN, "laplace": LAPLACE, "log-normal": LOG_NORMAL}
