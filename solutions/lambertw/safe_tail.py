"""The safe tail. Roads: slopes by finite differences, inverses by bisection, the share by quadrature."""

import numpy as np
from scipy.integrate import quad

from course_pkg.checks.record import Record
from solutions.lambertw._tools import W, bent, bisect, real, steep


def straight_below(x, d):
    tangent = W(d) + steep(W, d, 2e-4) * (x - d)
    return np.where(x < d, tangent, W(np.maximum(x, d)))


# The x that the modified W takes back to z
undoes_it = lambda z, gamma, d: bisect(lambda x: straight_below(gamma * x, d) / gamma, z, -1e3, 1e3)


def by_quadrature(gamma, d):
    """Mass of the normal where the equation z e^z = d says that the straight part begins, and beyond."""
    knee = float(bisect(lambda v: bent(v, 1.0), d, -1.0, 0.0))
    return quad(lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), abs(knee / gamma), 40)[0]


def on_both_sides(rng):
    for d in (-0.9 / np.e, -rng.uniform(0.15, 0.28)):
        ranges = [(-3, d - 0.05, 4), (-0.36, d - 0.02, 1), (d + 0.02, 0, 2), (0.2, 3, 2)]
        yield np.concatenate([rng.uniform(*one) for one in ranges]), d


def noise_on_both_sides(rng):
    for gamma, d in [(rng.uniform(0.3, 0.6), -0.9 / np.e), (-rng.uniform(0.4, 0.8), -rng.uniform(0.2, 0.28))]:
        knee = W(d)
        place = [rng.uniform(-3, knee - 0.1, 4), [0.9 * knee], rng.uniform(knee / 2, 0, 2), rng.uniform(0.2, 1, 2)]
        yield np.concatenate(place) / gamma, gamma, d


MODIFIED = Record(
    cases=on_both_sides,
    reference=straight_below,
    right="Right. It rises everywhere, and every real number has its place on it.",
    nudge="Not that function. With d = -0.5 e^-0.5, where W(d) = -1/2, it is -3/2 at x = 2d and 1 at x = e.",
    hints=(
        "A line is fixed by a point and a slope. Which point, and which slope, so that there is no corner?",
        "W(d) + W'(d) (x - d), with W'(d) = 1 / (d + e^W(d)), for x < d.",
        "Begin with `knee = W(d)`",
    ),
    mistakes={
        "Your slope contains x, so the left arm is no line, and has a pole. The slope of a tangent is that at d.": "(d + np.exp -> (x + np.exp",
        "Your slope is that of w e^w. W's is one over it.": "/ (d + -> * (d +",
        "Below d you have W itself, and below -1/e the real part of a complex number. Go on along the tangent at d.": "\nreturn W(x)",
        "The slope is right. The line must pass through the point (d, W(d)): count from d, not from 0.": "(x - d) -> x",
        "Your line begins at -1/e. It is the tangent at d, and begins there.": "x < d, tangent, W(np.maximum(x, d)) -> x < -1 / np.e, tangent, W(x)",
    },
    view=real,
)
FORWARD = Record(
    cases=noise_on_both_sides,
    reference=undoes_it,
    right="Right. There and back is where you started, for every z and either sign of the skew.",
    nudge="Not that map. With d = -0.5 e^-0.5, where W(d) = -1/2, it is -0.758 for gamma = 1 at z = -2, and 1.516 for gamma = -1/2 at "
    "z = 4.",
    hints=(
        "Beyond the knee the way back is a line. Solve it for x. On which side of the knee is it used if gamma is negative?",
        "Where gamma z < W(d): gamma x = d + (gamma z - W(d)) / W'(d). Elsewhere x = z e^(gamma z).",
        "Begin with `knee = W(d)`",
    ),
    mistakes={
        "You left the forward map as it was. What lies beyond the knee does not come back: it turns round at -1 / gamma.": "\nreturn z * np.exp(gamma * z)",
        "Right for a positive gamma. For a negative one the knee lies at a positive z: compare gamma z with W(d).": "gamma * z < knee -> z < knee / gamma",
        "The tangent is right, and it begins too early. The knee is where gamma x = d, that is, where gamma z = W(d).": "z < knee -> z < d",
        "Your knee is at z = W(d) whatever gamma is. It is where gamma z = W(d).": "gamma * z < knee -> z < knee",
        "Your straight part is that of gamma x. Divide by gamma.": "/ gamma -> ",
    },
    view=real,
)
SHARE = Record(
    cases=lambda rng: [(rng.uniform(0.4, 0.8), -0.9 / np.e), (-rng.uniform(0.3, 0.6), -rng.uniform(0.15, 0.28))],
    reference=by_quadrature,
    right="Right. That is the price of safety: so many draws are not skewed as the plain map would.",
    nudge="Not that share. With d = -0.5 e^-0.5, where W(d) = -1/2, it is 0.159 for gamma = 1/2 and 0.309 for gamma = -1.",
    hints=(
        "For which z is the straight part used? How likely is that for a standard normal?",
        "P(gamma z < W(d)), and gamma z is normal with mean 0 and standard deviation |gamma|.",
        "Begin with `knee = W(d)`",
    ),
    mistakes={
        "Right for a positive gamma. For a negative one the knee is positive, and the share lies above it.": "abs(gamma) -> gamma",
        "You took d for the knee. d is where it lies for gamma x; for gamma z that is W(d).": "W(d) -> d",
        "The knee is where gamma z = W(d). Divide by gamma: less skew, fewer draws on the straight part.": "/ abs -> * abs",
        "That is the share beyond the point where the plain map turns round. The straight part begins before it.": "knee / -> -1 /",
        "You counted both tails. The map has one straight part.": "return -> return 2 *",
    },
    view=real,
)
TASKS = {"modified": MODIFIED, "forward": FORWARD, "share": SHARE}
