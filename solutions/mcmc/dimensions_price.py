"""What dimensions cost. Roads: the distance of a corner; quadrature, one coordinate at a time; one dimension after the other."""

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from course_pkg.checks.record import Record


def by_corners(d, error):
    """More nodes on each axis until the corner of the cube, which is as far as can be, is near enough."""
    k = 1
    while np.linalg.norm(np.full(d, 0.5 / k)) > error:
        k += 1
    return float(k) ** d


def square(v, power):
    """The integral of x^power pi^2 / q over the line, in standard deviations of the integrand; infinite if it does not fall."""
    falls = 1 - 1 / (2 * v)
    if falls <= 0:
        return np.inf
    x = np.linspace(-12, 12, 4801) / np.sqrt(2 * falls)
    return float(trapezoid(x**power * np.exp(2 * norm.logpdf(x) - norm.logpdf(x, 0, np.sqrt(v))), x))


def log_variance_by_quadrature(v, only_finite=False):
    if only_finite or (v <= 0.5).any():
        return float((v > 0.5).all()) if only_finite else np.inf
    known = {value: np.log(square(value, 0)) for value in set(v.tolist())}
    return np.log(square(v[0], 2)) + sum(known[value] for value in v[1:].tolist())


finite_or_value = lambda answer, v, only_finite=False: float(np.isfinite(answer(v))) if only_finite else answer(v)


def one_after_the_other(v, draws, only_sign=False):
    rate, log_variance, d = np.log(square(v, 0)), np.log(square(v, 2)), 0
    while log_variance <= np.log(draws):
        log_variance, d = log_variance + rate, d + 1
    return 0.0 if only_sign else d


negative_or_value = lambda answer, v, draws, only_sign=False: float(np.minimum(answer(v, draws), 0)) if only_sign else answer(v, draws)


def between_hits(rng):
    """Errors at which no corner is exactly as far away as is allowed."""
    for d, k, part in [(1, 3, 0.3), (2, 6, 0.7), (3, 4, 0.35), (8, 3, 0.6), (12, 8, 0.25)]:
        yield d, np.sqrt(d) / 2 / (k + rng.integers(0, 3) + part + rng.uniform(0, 0.1))


def nearly_narrow(rng):
    return [(np.append(rng.uniform(1.2, 1.6, 2), rng.uniform(*last)),) for last in ((0.6, 0.8), (0.503, 0.508))] + [
        (rng.uniform(0.53, 0.56, 2),)
    ]


def narrow(rng):
    lows = [0.3, 1.5, 0.9], [1.5, 0.2, 0.1], [1.5, 1.2, 0.4], [0.485, 1.5, 1.2]
    return [(np.array(low) + rng.uniform(0, 0.01, 3),) for low in lows]


def v_and_draws(*rows):
    """The crossing lies well between two whole numbers."""

    def cases(rng):
        for low, high, draws in rows:
            while True:
                v = rng.uniform(low, high)
                place = (np.log(draws) - np.log(square(v, 2))) / np.log(square(v, 0))
                if 0.25 < place % 1 < 0.75:
                    break
            yield float(v), draws

    return cases


not_even_one = lambda *rest: lambda rng: [(0.5 + rng.uniform(0.001, 0.002), 100, *rest), (0.5 + rng.uniform(1e-4, 2e-4), 10, *rest)]
NODES = Record(
    cases=between_hits,
    reference=by_corners,
    right="Right. The number on each axis grows slowly with d. It is the power that hurts.",
    nudge="Not that many. With d = 2 and error = 0.17 it is 25, five on each axis.",
    hints=(
        "Look at one node's small cube. Which of its points is farthest from the node in its middle, and how far is that?",
        "With k nodes on each axis the small cube has sides of 1/k, and half of its diagonal is root d / (2 k). How large must k be, "
        "and how many nodes are there then in all?",
        "Begin with `per_axis = np.ceil(np.sqrt(d) / (2 * error))`",
    ),
    mistakes={
        "Yours is right along one axis. A corner of a node's small cube is away from it in all d directions at once.": "np.sqrt(d) -> 1",
        "Twice as many on each axis as needed: a node sits in the middle of its small cube, so the farthest point is half a diagonal away.": "2 * error -> error",
        "That is how many each axis gets. The grid has one node for each combination of them.": "**d -> ",
        "You rounded the product. It is the number on each axis that has to be whole.": "np.ceil -> ;; per_axis**d -> np.ceil(per_axis**d)",
        "You rounded down, and the corners are too far away. Round up.": "ceil -> floor",
    },
    later={
        "Right, unless a corner can be exactly as far away as is allowed. Then yours has one node too many on each axis: to round up is "
        "not the same as to cut off and add 1.": (lambda rng: [(4, 0.25), (1, 0.125), (16, 0.5)], "np.ceil( -> 1 + np.floor("),
        "Right, until the number is too large for the whole numbers of NumPy: beyond about 9e18 they come out wrong, and nothing is said. "
        "Python's own whole numbers are as long as need be, and floats reach farther.": (
            lambda rng: [(18, np.sqrt(18) / 2 / (20.3 + rng.uniform(0, 0.4)))],
            "per_axis**d -> per_axis.astype(np.int64)**d",
        ),
    },
)
LOG_VARIANCE = Record(
    cases=lambda rng: [(rng.uniform(low, high, d),) for d, low, high in [(1, 2.0, 3.0), (4, 1.2, 2.5), (9, 1.1, 1.6), (3, 3.0, 4.0)]],
    reference=log_variance_by_quadrature,
    view=finite_or_value,
    right="Right. It is a sum over the coordinates, so the variance grows exponentially with the number of those that differ.",
    nudge="Not that number. With v = [2] it is -0.262, and with v = [1, 2] it is 0.144.",
    hints=(
        "Both densities are products over the coordinates, so the integral is a product of integrals over one coordinate each. In "
        "which of them does f appear?",
        "For one coordinate, pi^2 / q is in proportion to exp(-x^2 (2 - 1/v) / 2), with root v / root(2 pi) in front. Integrate it, "
        "alone and with x^2. What if 2 - 1/v is not above 0?",
        "Begin with `falls = 2 - 1 / v`, the inverse of a variance, and look at its signs.",
    ),
    mistakes={
        "That is the log of E_q[w^2]. The squared distance of the first coordinate from its mean 0 stands in the integral, too.": "- np.log(falls[0]) -> ",
        "You put the square of every coordinate in. The others come in through their weights only.": "np.log(falls[0]) -> np.log(falls).sum()",
        "A root is missing: the integral of exp(-a x^2) is the root of pi / a.": "np.log(2 * v - 1) / 2 -> np.log(2 * v - 1)",
        "A factor is missing for each coordinate: 1 / q has the standard deviation of q in front of its exponential.": "np.log(v) - -> np.log(v) / 2 -",
    },
    later={
        "Right where q is wider than the target. You say infinite for one that is narrower and still has a finite variance: in the "
        "exponent, from which v on does the sign change?": (
            lambda rng: [(*case, True) for case in nearly_narrow(rng)],
            "falls <= 0 -> v < 1",
        ),
        "Right for a wide q. For one that is only just wide enough your number is off, though finite, as it should be. If you summed over a "
        "grid: pi^2 / q falls slowly there. If you keep v away from 1/2: not so far.": (
            nearly_narrow,
            "falls = -> v = np.maximum(v, 0.58)\nfalls =",
        ),
        "Right where the variance is finite. If one coordinate of q is too narrow, one of the integrals is infinite: find out from which v "
        "on, return np.inf, and ask each coordinate.": (narrow, ("np.any(falls <= 0) -> False", "np.any(falls <= 0) -> falls[0] <= 0")),
        "Right for some coordinates. In thousands of dimensions the product is too large for the computer: add logarithms.": (
            lambda rng: [(np.full(6_000, rng.uniform(2.0, 2.2)),)],
            "np.sum(np.log(v) - np.log(2 * v - 1) / 2) -> np.log(np.prod(v / np.sqrt(2 * v - 1)))",
        ),
    },
)
MOST = Record(
    cases=v_and_draws((1.9, 2.2, 1_000), (2.8, 3.2, 100_000), (0.6, 0.65, 20_000), (1.7, 1.8, 50)),
    reference=one_after_the_other,
    view=negative_or_value,
    right="Right. It grows with the logarithm of the number of draws: ten times as many buy a few dimensions more.",
    nudge="Not that many. With 1,000 draws it is 50 for v = 2 and 19 for v = 0.6.",
    hints=(
        "In Part 2, with the same v everywhere, each further dimension adds the same amount. Where does the line reach the logarithm "
        "of the number of draws?",
        "d log(v / root(2 v - 1)) - log(2 - 1/v) <= log S. Solve for d, and mind which numbers a dimension may be.",
        "Begin with `rate = np.log(v / np.sqrt(2 * v - 1))`",
    ),
    mistakes={
        "One too many: with it the variance is above the number of draws.": "// rate) -> // rate + 1)",
        "The right place. The largest whole number of dimensions was asked for.": "int -> ;; // -> /",
        "You compared E_q[w^2] with the number of draws. The variance of Part 2 has one more term.": "+ np.log(2 - 1 / v) -> ",
        "The term of the first coordinate's value changed its sign on the way across. Put your answer into Part 2.": "+ np.log(2 - 1 / v) -> - np.log(2 - 1 / v)",
        "You compared the logarithm of the variance with the number of draws itself. Both, or neither.": "np.log(draws) -> draws",
    },
    later={
        "Right for a q that is far off. If q is nearly right, there may be thousands of dimensions: do you stop looking too soon?": (
            v_and_draws((1.19, 1.21, 1_000), (1.095, 1.105, 1_000_000)),
            "return -> return min(99, ;; // rate)) -> // rate)))",
        ),
        "Right where at least one dimension is possible. A number of dimensions is not negative: if one is too many, the answer is 0.": (
            not_even_one(True),
            "max(0, int -> (int",
        ),
        "Right where at least one dimension is possible. If one is too many already, the answer is 0.": (
            not_even_one(),
            "max(0, -> max(1,",
        ),
    },
)
TASKS = {"nodes": NODES, "log-variance": LOG_VARIANCE, "most-dimensions": MOST}
