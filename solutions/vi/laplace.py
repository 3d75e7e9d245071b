"""Laplace's approximation. Roads: a search over the log joint from SciPy's densities; sums of a normal's kernel over a grid; quadrature."""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from scipy.stats import binom, norm

from course_pkg.checks._judge import numbers
from course_pkg.checks.record import Record


def top(y, n, s0):
    """The place of the highest log joint, by golden sections."""

    def minus_log_joint(eta):
        return -(binom.logpmf(y, n, expit(eta)) + norm.logpdf(eta, 0, s0))

    return minimize_scalar(minus_log_joint, bounds=(-9, 9), method="bounded", options={"xatol": 1e-9}).x


def kernel(H):
    """Places of a grid, the kernel exp(x' H x / 2) there, and the volume of a cell."""
    d = len(H)
    reach = 7 * np.sqrt(np.diag(np.linalg.inv(-H)))  # seven standard deviations
    side = {1: 201, 2: 61, 3: 25, 4: 17}[d]
    x = np.stack(np.meshgrid(*[np.linspace(-one, one, side) for one in reach], indexing="ij"), axis=-1).reshape(-1, d)
    return x, np.exp(0.5 * ((x @ H) * x).sum(axis=1)), np.prod(2 * reach / (side - 1))


def spread(H):
    x, weight, _ = kernel(H)
    return (x * weight[:, None]).T @ x / weight.sum()


def area(value, H):
    _, height, cell = kernel(H)
    return value + np.log(cell * height.sum())


def tail(mode, sd, t):
    """The density of the rate itself, added up from t to 1."""
    peak = float(np.clip(expit(mode), t + 1e-9, 1 - 1e-9))
    ends = ((t, peak), (peak, 1 - 1e-12))
    return sum(quad(lambda r: norm.pdf(logit(r), mode, sd) / (r * (1 - r)), *end, epsabs=1e-12)[0] for end in ends)


def hessian(rng, d):
    """Minus a precision matrix with strong ties of either sign, well away from having a determinant of one."""
    ties = rng.permutation(np.linspace(0.6, 1.0, d)) * rng.permutation(np.where(np.arange(d) % 2, -1, 1))
    return -rng.uniform(2, 3) * (np.diag(rng.uniform(0.8, 1.3, d)) + np.outer(ties, ties))


def no_number_as_one(answer, *case):
    """A thousand stands for the logarithm of what is below 0, so that it can be recognised."""
    got = answer(*case)
    got = numbers(np.where(np.imag(got) == 0, np.real(got), np.nan) if np.iscomplexobj(got) else got)
    return tuple(np.nan_to_num(part, nan=1000.0) for part in got)


MODE = Record(
    cases=lambda rng: [(y, n, rng.uniform(*ends)) for y, n, ends in ((1, 12, (1.2, 1.8)), (17, 20, (0.62, 0.8)), (2, 40, (2, 3)))],
    reference=top,
    right="Right. There the slope of the likelihood and that of the prior cancel.",
    nudge="Not that place. With y = 3, n = 4 and s0 = 1 it is 0.5052, where 3 - 4 / (1 + exp(-0.5052)) = 0.5052.",
    hints=(
        "At the top the slope of the log joint is 0. Newton's method finds it, with the curvature as the slope's own slope.",
        "eta goes to eta - slope / curvature, with slope = y - n r - eta / s0^2 and curvature = -n r (1 - r) - 1 / s0^2.",
        "Begin with `eta = 0.0`, and then a loop of 50 steps",
    ),
    mistakes={
        "That is the top of the likelihood. The prior pulls towards 0, and with few cases it pulls hard.": "\nreturn np.log(y) - np.log(n - y)",
        "That is a rate between 0 and 1. The place of the top was asked for on the scale of eta.": "return float(eta) -> return 1 / (1 + np.exp(-eta))",
        "That is Newton's first step from 0. Go on until nothing moves: the log joint is no parabola.": "range(50) -> range(1)",
        "You counted one more of each outcome, as a flat prior on the rate would. The only prior here is that of eta.": "eta = 0.0 -> eta, y, n = 0.0, y + 1, n + 2",
    },
    later={
        "Right where the data say more than the prior, and not where n and s0 are small. If yours are Newton's steps: the curvature is "
        "-n r (1 - r) - 1 / s0^2. Without the prior's term the steps are too long there, and run away.": (
            lambda rng: [(y, 4, rng.uniform(0.5, 0.55)) for y in (1, 3)],
            "(1 - rate) - 1 / s0**2 -> (1 - rate)",
        ),
        "Right where both outcomes occur. If y is 0 or n, the likelihood rises for ever, and only the prior makes a top at a finite place: "
        "no logit(y / n), and enough steps.": (
            lambda rng: [(0, 30, rng.uniform(2, 3)), (25, 25, rng.uniform(1.5, 2.5))],
            "eta = 0.0 -> eta = np.log(y / (n - y))",
        ),
    },
)
COVARIANCE = Record(
    cases=lambda rng: [(hessian(rng, d),) for d in (2, 3, 2)],
    reference=spread,
    right="Right. Where the log joint bends most, the normal is narrowest.",
    nudge="Not that covariance. With H = [[-2, 1], [1, -2]] it is [[2/3, 1/3], [1/3, 2/3]].",
    hints=(
        "Compare the second term of the series of the log joint at its top with the exponent of a normal density.",
        "(1/2) x' H x = -(1/2) x' C^(-1) x for every x.",
        "Begin with `precision = -H`",
    ),
    mistakes={
        "That is the precision. The more the log joint bends, the narrower is the normal.": "np.linalg.inv(precision) -> precision",
        "You inverted the diagonal alone: the variance if all others are known.": "np.linalg.inv(precision) -> np.diag(1 / np.diag(precision))",
        "The variances are right. The covariances between the unknowns are missing.": "np.linalg.inv(precision) -> np.diag(np.diag(np.linalg.inv(precision)))",
        "You inverted every entry by itself. It is the matrix that is to be inverted.": "np.linalg.inv(precision) -> 1 / precision",
    },
)
EVIDENCE = Record(
    cases=lambda rng: [(-rng.uniform(3, 6), hessian(rng, d)) for d in (2, 4, 1, 3)],
    reference=area,
    view=no_number_as_one,
    right="Right: the height at the top times the volume of the bump, exact if the posterior is normal.",
    nudge="Not that logarithm. With value = -3 and H = [[-4, 0], [0, -1]] it is -3 + log(2 pi) - log(4) / 2 = -1.8553.",
    hints=(
        "With the series in its place, the joint is a constant times the kernel of a normal density. What is the area under a kernel?",
        "The integral of exp(-x' A x / 2) is (2 pi)^(d/2) / sqrt(det A). Which matrix is A?",
        "Begin with `sign, log_det = np.linalg.slogdet(-H)`",
    ),
    mistakes={
        "Right if the number of unknowns is even. It is the determinant of minus H that is positive.": "np.linalg.slogdet(-H) -> 1, np.log(np.linalg.det(H))",
        "Each unknown brings a root of 2 pi of its own. You have it once, or for one unknown only.": "len(H) * -> ",
        "The determinant went the wrong way: the more the log joint bends, the less area is under the bump.": "- 0.5 * log_det -> + 0.5 * log_det",
        "The determinant comes with a root: one half of its logarithm.": "- 0.5 * log_det -> - log_det",
        "That is the height at the top. The evidence is the area, height times width.": "\nreturn value",
        "You used the product of the diagonal. With unknowns that hang together the determinant is smaller.": "np.linalg.slogdet(-H) -> 1, np.log(-np.diag(H)).sum()",
    },
)
CHANCE = Record(
    cases=lambda rng: [
        (mode + rng.uniform(-0.2, 0.2), sd * rng.uniform(0.9, 1.1), t)
        for mode, sd, t in ((-1.5, 0.7, 0.3), (-0.5, 0.5, 0.25), (0.8, 1.4, 0.8))
    ],
    reference=tail,
    right="Right. Whatever is increasing in eta has the same chances as eta itself.",
    nudge="Not that chance. With mu = 0, sd = 2 and t = 1/2 it is 1/2, and with mu = -1, sd = 2 and t = 1/2 it is 0.3085.",
    hints=(
        "The rate exceeds t just if eta exceeds a number of its own.",
        "Pr(eta > logit t), with logit t = log t - log(1 - t) and eta normal.",
        "Begin with `place = np.log(t) - np.log1p(-t)`",
    ),
    mistakes={
        "You compared eta with a rate. Bring t to the scale of eta first.": "np.log(t) - np.log1p(-t) -> t",
        "You took log t. Eta is the logit of the rate, log t - log(1 - t).": "- np.log1p(-t) -> ",
        "You made the rate itself normal, by a straight line at the mode. Eta is normal, and the rate is then skewed.": """
            rate = 1 / (1 + np.exp(-mu))
            return norm.sf(t, rate, sd * rate * (1 - rate))
            """,
        "You answered for the mode alone, as if there were no doubt about the rate.": "\nreturn float(1 / (1 + np.exp(-mu)) > t)",
    },
)
TASKS = {"mode": MODE, "covariance": COVARIANCE, "evidence": EVIDENCE, "chance": CHANCE}
