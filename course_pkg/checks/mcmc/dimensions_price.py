"""What dimensions cost. Roads: the distance of a corner; quadrature, one coordinate at a time; one dimension after the other."""

from typing import Any

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, numbers
from course_pkg.checks._quiet import beyond, exact, quiet


def _by_corners(d: int, error: float) -> float:
    """More nodes on each axis until the corner of the cube, which is as far as can be, is near enough."""
    k = 1
    while np.linalg.norm(np.full(d, 0.5 / k)) > error:
        k += 1
    return float(k) ** d


def _square(v: float, power: int) -> float:
    """The integral of x^power pi^2 / q over the line, in standard deviations of the integrand; infinite if it does not fall."""
    falls = 1 - 1 / (2 * v)
    if falls <= 0:
        return np.inf
    x = np.linspace(-12, 12, 4801) / np.sqrt(2 * falls)
    return float(trapezoid(x**power * np.exp(2 * norm.logpdf(x) - norm.logpdf(x, 0, np.sqrt(v))), x))


def _log_variance_by_quadrature(v: np.ndarray) -> float:
    if (v <= 0.5).any():
        return np.inf
    known = {value: np.log(_square(value, 0)) for value in set(v.tolist())}
    return float(np.log(_square(float(v[0]), 2)) + sum(known[value] for value in v[1:].tolist()))


def _one_after_the_other(v: float, draws: int) -> int:
    rate, log_variance, d = np.log(_square(v, 0)), np.log(_square(v, 2)), 0
    while log_variance <= np.log(draws):
        log_variance, d = log_variance + rate, d + 1
    return d


def nodes_stub(d: int, error: float) -> Any:
    raise NotImplementedError


def log_variance_stub(v: np.ndarray) -> Any:
    raise NotImplementedError


def most_stub(v: float, draws: int) -> Any:
    raise NotImplementedError


def _nodes(per_axis, take=np.ceil):
    return lambda d, error: float(take(per_axis(d, error))) ** d


NODES_MISTAKES = {
    "root of d forgotten": Mistake(
        _nodes(lambda d, error: 0.5 / error),
        "Yours is right along one axis. A corner of a node's small cube is away from it in all d directions at once.",
    ),
    "whole diagonal": Mistake(
        _nodes(lambda d, error: np.sqrt(d) / error),
        "Twice as many on each axis as needed: a node sits in the middle of its small cube, so the farthest point is half a diagonal away.",
    ),
    "d for its root": Mistake(
        _nodes(lambda d, error: 0.5 * d / error),
        "You added the distances along the axes. A straight line is shorter: squares add up.",
    ),
    "nodes on each axis": Mistake(
        lambda d, error: np.ceil(0.5 * np.sqrt(d) / error),
        "That is how many each axis gets. The grid has one node for each combination of them.",
    ),
    "added over the axes": Mistake(
        lambda d, error: d * np.ceil(0.5 * np.sqrt(d) / error),
        "You added up the axes. Each place on the first goes with each place on the second.",
    ),
    "not whole": Mistake(
        _nodes(lambda d, error: 0.5 * np.sqrt(d) / error, np.asarray),
        "The right place, but a grid has a whole number of nodes on each axis: round there, and upwards.",
    ),
    "rounded at the end": Mistake(
        lambda d, error: np.ceil((0.5 * np.sqrt(d) / error) ** d),
        "You rounded the product. It is the number on each axis that has to be whole.",
    ),
    "rounded down": Mistake(
        _nodes(lambda d, error: 0.5 * np.sqrt(d) / error, np.floor),
        "You rounded down, and the corners are too far away. Round up.",
    ),
    "rounded": Mistake(
        _nodes(lambda d, error: 0.5 * np.sqrt(d) / error, np.round),
        "You rounded to the nearest whole number, which is sometimes one too few. Round up.",
    ),
    "one more": Mistake(
        lambda d, error: (np.floor(0.5 * np.sqrt(d) / error) + 1.0) ** d,
        "Right, unless a corner can be exactly as far away as is allowed. Then yours has one node too many on each axis: to round up is "
        "not the same as to cut off and add 1.",
    ),
    "whole numbers that wrap round": Mistake(
        lambda d, error: np.ceil(0.5 * np.sqrt(d) / error).astype(np.int64) ** d,
        "Right, until the number is too large for the whole numbers of NumPy: beyond about 9e18 they come out wrong, and nothing is said. "
        "Python's own whole numbers are as long as need be, and floats reach farther.",
    ),
    "the printed rate": Mistake(
        lambda d, error: (np.sqrt(d) / error) ** d,
        "You solved root d over T^(1/d) = error for T. That is the diagonal of a small cube, and half of it is enough; and the number on "
        "each axis is whole.",
    ),
}


def _root(v):
    return np.log(v) - 0.5 * np.log(2 * v - 1)


def _log_variance(each=_root, first=lambda v: np.log(2 - 1 / v[0])):
    def answer(v):
        return np.sum(each(v)) - first(v) if (v > 0.5).all() else np.inf

    return answer


LOG_VARIANCE_MISTAKES = {
    "infinite variance": Mistake(
        lambda v: np.sum(_root(np.abs(v - 0.5) + 0.5)) - np.log(np.abs(2 - 1 / v[0])),
        "Right where the variance is finite. If one coordinate of q is too narrow, one of the integrals is infinite: find out from which v "
        "on, return np.inf, and ask each coordinate.",
    ),
    "infinite too soon": Mistake(
        lambda v: _log_variance()(v) if (v > 0.9).all() else np.inf,
        "Right where q is wider than the target. You say infinite for one that is narrower and still has a finite variance: in the "
        "exponent, from which v on does the sign change?",
    ),
    "product first": Mistake(
        lambda v: np.log(np.prod(v / np.sqrt(2 * v - 1))) - np.log(2 - 1 / v[0]) if (v > 0.5).all() else np.inf,
        "Right for some coordinates. In thousands of dimensions the product is too large for the computer: add logarithms.",
    ),
    "value of the first coordinate forgotten": Mistake(
        _log_variance(first=lambda v: 0.0),
        "That is the log of E_q[w^2]. The squared distance of the first coordinate from its mean 0 stands in the integral, too.",
    ),
    "value of every coordinate": Mistake(
        _log_variance(first=lambda v: np.log(2 - 1 / v).sum()),
        "You put the square of every coordinate into the integral. The mean of the first one is wanted; the others come in through their "
        "weights only.",
    ),
    "first coordinate alone": Mistake(
        lambda v: _root(v[0]) - np.log(2 - 1 / v[0]) if (v > 0.5).all() else np.inf,
        "That is right in one dimension. The others have no part in f, but they have one in the weight.",
    ),
    "one v for all": Mistake(
        lambda v: len(v) * _root(v[0]) - np.log(2 - 1 / v[0]) if (v > 0.5).all() else np.inf,
        "You took the first v for all coordinates. Each has its own.",
    ),
    "root forgotten": Mistake(
        _log_variance(each=lambda v: np.log(v) - np.log(2 * v - 1)),
        "A root is missing: the integral of exp(-a x^2) is the root of pi / a.",
    ),
    "width before the exponential forgotten": Mistake(
        _log_variance(each=lambda v: 0.5 * np.log(v) - 0.5 * np.log(2 * v - 1)),
        "A factor is missing for each coordinate: 1 / q has the standard deviation of q in front of its exponential.",
    ),
    "sign of the first": Mistake(
        _log_variance(first=lambda v: -np.log(2 - 1 / v[0])),
        "The first coordinate's term has the wrong sign: under pi^2 / q its mean square is 1 / (2 - 1 / v), not 2 - 1 / v.",
    ),
    "mean square under the target": Mistake(
        lambda v: np.sum(_root(v)[1:]) if (v > 0.5).all() else np.inf,
        "You left the first coordinate out, or gave it the value 1 that it has if q is the target. It has a weight of its own.",
    ),
    "standard deviations": Mistake(
        lambda v: _log_variance()(v**2) if (v**2 > 0.5).all() else np.inf,
        "You read v as standard deviations. They are variances.",
    ),
    "not the logarithm": Mistake(
        lambda v: np.exp(_log_variance()(v)),
        "That is the variance. Its logarithm was asked for.",
    ),
    "base ten": Mistake(
        lambda v: _log_variance()(v) / np.log(10),
        "You took logarithms to base ten. The natural one was asked for.",
    ),
    "upside down": Mistake(
        lambda v: -_log_variance()(v),
        "Minus the right number.",
    ),
    "weight once": Mistake(
        lambda v: 0.0 * v[0],
        "The log of 1, whatever v is: that is the variance of x_1 under the target. The weight stands squared in the formula.",
    ),
}


def _most(rate=_root, first=lambda v: np.log(2 - 1 / v), of=np.log, take=np.floor):
    def answer(v, draws):
        with np.errstate(all="ignore"):
            return max(0.0, take((of(draws) + first(v)) / rate(v)))

    return answer


MOST_MISTAKES = {
    "not even one": Mistake(
        lambda v, draws: max(1.0, _most()(v, draws)),
        "Right where at least one dimension is possible. If one is too many already, the answer is 0.",
    ),
    "below zero": Mistake(
        lambda v, draws: np.floor((np.log(draws) + np.log(2 - 1 / v)) / _root(v)),
        "Right where at least one dimension is possible. A number of dimensions is not negative: if one is too many, the answer is 0.",
    ),
    "search that ends": Mistake(
        lambda v, draws: min(99.0, _most()(v, draws)),
        "Right for a q that is far off. If q is nearly right, there may be thousands of dimensions: do you stop looking too soon?",
    ),
    "one too many": Mistake(
        _most(take=np.ceil),
        "One too many: with it the variance is above the number of draws.",
    ),
    "not whole": Mistake(
        _most(take=np.asarray),
        "The right place. The largest whole number of dimensions was asked for.",
    ),
    "first coordinate's value forgotten": Mistake(
        _most(first=lambda v: 0.0),
        "You compared E_q[w^2] with the number of draws. The variance of Part 2 has one more term.",
    ),
    "sign of the first": Mistake(
        _most(first=lambda v: -np.log(2 - 1 / v)),
        "The term of the first coordinate's value changed its sign on the way across. Put your answer into Part 2.",
    ),
    "root of the draws": Mistake(
        _most(of=lambda draws: 0.5 * np.log(draws)),
        "You compared the variance with the root of the number of draws.",
    ),
    "draws squared": Mistake(
        _most(of=lambda draws: 2 * np.log(draws)),
        "You compared the standard deviation with the number of draws. The variance was asked for.",
    ),
    "base ten": Mistake(
        _most(of=np.log10),
        "You took the logarithm of the number of draws to base ten. The variance's is natural.",
    ),
    "logarithm forgotten": Mistake(
        _most(of=float),
        "You compared the logarithm of the variance with the number of draws itself. Both, or neither.",
    ),
    "standard deviations": Mistake(
        lambda v, draws: _most()(v**2, draws) if v**2 > 0.5 else 0.0,
        "You read v as a standard deviation. It is a variance.",
    ),
}


def nodes_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 220])
    cases = []
    for d, k, part in [(1, 3, 0.3), (2, 6, 0.7), (3, 4, 0.35), (8, 3, 0.6), (12, 8, 0.25)]:
        place = k + int(rng.integers(0, 3)) + part + float(rng.uniform(0, 0.1))
        cases.append((d, float(np.sqrt(d) / 2 / place)))
    verdict = quiet(
        answer,
        cases,
        _by_corners,
        {name: mistake for name, mistake in NODES_MISTAKES.items() if name not in ("one more", "whole numbers that wrap round")},
        right="Right. The number on each axis grows slowly with d. It is the power that hurts.",
        nudge="Not that many. With d = 2 and error = 0.17 it is 25, five on each axis.",
    )
    hits = [(4, 0.25), (1, 0.125), (16, 0.5)]  # powers of two, so that every road meets them exactly
    verdict = beyond(verdict, answer, hits, _by_corners, NODES_MISTAKES["one more"].words)
    large = [(18, float(np.sqrt(18) / 2 / (20.3 + rng.uniform(0, 0.4))))]
    return beyond(verdict, answer, large, _by_corners, NODES_MISTAKES["whole numbers that wrap round"].words)


OFF_WHERE_NARROW = (
    "Right for a wide q. For one that is only just wide enough your number is off, though finite, as it should be. If you summed over a "
    "grid: pi^2 / q falls slowly there. If you keep v away from 1/2: not so far."
)


def _all_finite(answer: Any, cases: list[Any]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return all(np.isfinite(part).all() for case in cases for part in numbers(call(answer, *case)))
    except Trouble:
        return False


def log_variance_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 221])
    usual = [(rng.uniform(low, high, d),) for d, low, high in [(1, 2.0, 3.0), (4, 1.2, 2.5), (9, 1.1, 1.6), (3, 3.0, 4.0)]]
    words = {
        "right": "Right. It is a sum over the coordinates, so the variance grows exponentially with the number of those that differ.",
        "nudge": "Not that number. With v = [2] it is -0.262, and with v = [1, 2] it is 0.144.",
    }
    late = ("infinite variance", "infinite too soon", "product first")
    known = {name: mistake for name, mistake in LOG_VARIANCE_MISTAKES.items() if name not in late}
    verdict = exact(answer, usual, _log_variance_by_quadrature, known, **words)
    near = [
        (np.append(rng.uniform(1.2, 1.6, 2), rng.uniform(0.6, 0.8)),),
        (np.append(rng.uniform(1.2, 1.6, 2), rng.uniform(0.503, 0.508)),),
        (rng.uniform(0.53, 0.56, 2),),
    ]
    too_soon = LOG_VARIANCE_MISTAKES["infinite too soon"].words
    verdict = beyond(verdict, answer, near, _log_variance_by_quadrature, OFF_WHERE_NARROW if _all_finite(answer, near) else too_soon)
    narrow = [
        (np.array([0.3, 1.5, 0.9]) + rng.uniform(0, 0.1, 3),),
        (np.array([1.5, 0.2, 0.1]) + rng.uniform(0, 0.1, 3),),
        (np.array([1.5, 1.2, 0.4]) + rng.uniform(0, 0.08, 3),),
        (np.array([0.485, 1.5, 1.2]) + rng.uniform(0, 0.01, 3),),
    ]
    verdict = beyond(verdict, answer, narrow, _log_variance_by_quadrature, LOG_VARIANCE_MISTAKES["infinite variance"].words)
    many = [(np.full(6_000, float(rng.uniform(2.0, 2.2))),)]
    return beyond(verdict, answer, many, _log_variance_by_quadrature, LOG_VARIANCE_MISTAKES["product first"].words)


def _settled(v: float, draws: int) -> bool:
    """Whether the place where the line crosses lies well between two whole numbers."""
    place = float((np.log(draws) + np.log(2 - 1 / v)) / _root(v))
    return bool(0.25 < place - np.floor(place) < 0.75)


def _any_negative(answer: Any, cases: list[tuple[float, int]]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return any((part < 0).any() for case in cases for part in numbers(call(answer, *case)))
    except Trouble:
        return False


def most_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 222])

    def case(low: float, high: float, draws: int) -> tuple[float, int]:
        while True:
            v = float(rng.uniform(low, high))
            if _settled(v, draws):
                return v, draws

    usual = [case(1.9, 2.2, 1_000), case(2.8, 3.2, 100_000), case(0.6, 0.65, 20_000), case(1.7, 1.8, 50)]
    words = {
        "right": "Right. It grows with the logarithm of the number of draws: ten times as many buy a few dimensions more.",
        "nudge": "Not that many. With 1,000 draws it is 50 for v = 2 and 19 for v = 0.6.",
    }
    late = ("not even one", "below zero", "search that ends")
    verdict = quiet(answer, usual, _one_after_the_other, {k: m for k, m in MOST_MISTAKES.items() if k not in late}, **words)
    nearly = [case(1.19, 1.21, 1_000), case(1.095, 1.105, 1_000_000)]
    verdict = beyond(verdict, answer, nearly, _one_after_the_other, MOST_MISTAKES["search that ends"].words)
    none = [(0.5 + float(rng.uniform(0.001, 0.002)), 100), (0.5 + float(rng.uniform(1e-4, 2e-4)), 10)]
    if verdict.passed and _any_negative(answer, none):
        return Verdict(False, MOST_MISTAKES["below zero"].words)
    return beyond(verdict, answer, none, _one_after_the_other, MOST_MISTAKES["not even one"].words)


TASKS = (
    Task(
        "mcmc/dimensions-price/nodes",
        "Dimension's price: nodes of a grid",
        1,
        7,
        nodes_stub,
        (
            "Look at one node's small cube. Which of its points is farthest from the node in its middle, and how far is that?",
            "With k nodes on each axis the small cube has sides of 1/k, and half of its diagonal is root d / (2 k). How large must k be, "
            "and how many nodes are there then in all?",
            "Begin with `per_axis = np.ceil(np.sqrt(d) / (2 * error))`",
        ),
        NODES_MISTAKES,
        nodes_verdict,
    ),
    Task(
        "mcmc/dimensions-price/log-variance",
        "Dimension's price: the log of the variance",
        1,
        14,
        log_variance_stub,
        (
            "Both densities are products over the coordinates, so the integral is a product of integrals over one coordinate each. In "
            "which of them does f appear?",
            "For one coordinate, pi^2 / q is in proportion to exp(-x^2 (2 - 1/v) / 2), with root v / root(2 pi) in front. Integrate it, "
            "alone and with x^2. What if 2 - 1/v is not above 0?",
            "Begin with `falls = 2 - 1 / v`, the inverse of a variance, and look at its signs.",
        ),
        LOG_VARIANCE_MISTAKES,
        log_variance_verdict,
    ),
    Task(
        "mcmc/dimensions-price/most-dimensions",
        "Dimension's price: how many dimensions some draws serve",
        1,
        9,
        most_stub,
        (
            "In Part 2, with the same v everywhere, each further dimension adds the same amount. Where does the line reach the logarithm "
            "of the number of draws?",
            "d log(v / root(2 v - 1)) - log(2 - 1/v) <= log S. Solve for d, and mind which numbers a dimension may be.",
            "Begin with `rate = np.log(v / np.sqrt(2 * v - 1))`",
        ),
        MOST_MISTAKES,
        most_verdict,
    ),
)
