"""Importance sampling without the constant. Roads: weighted least squares; how the estimate moves with a draw's weight; Gauss-Hermite."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, call, numbers
from course_pkg.checks._quiet import beyond, exact, quiet
from course_pkg.checks.gradients._tools import normal_mean

Function = Callable[[Any], Any]


def _by_least_squares(values: np.ndarray, log_w: np.ndarray) -> float:
    """The number from which the weighted squared distances are smallest."""
    root = np.exp((log_w - logsumexp(log_w)) / 2)
    return float(np.linalg.lstsq(root[:, None], root * values, rcond=None)[0][0])


def _by_influence(values: np.ndarray, log_w: np.ndarray) -> float:
    """The root of the summed squares of how the estimate moves as the log of one weight does, by complex steps."""
    share = np.exp(log_w - logsumexp(log_w))
    moves = []
    for place in range(len(values)):
        w = share.astype(complex)
        w[place] *= np.exp(1e-30j)
        moves.append((w @ values / w.sum()).imag / 1e-30)
    return float(np.sqrt(np.square(moves).sum()))


def _by_hermite(f: Function, s: float) -> float:
    """pi^2 / q is a normal density but for a factor, if q is wide enough."""
    falls = 1 - 1 / (2 * s**2)
    if falls <= 0:
        return float("inf")
    mean = normal_mean(f, 0.0, 1.0)
    width = 1 / np.sqrt(2 * falls)
    return s * width * normal_mean(lambda x: (f(x) - mean) ** 2, 0.0, width)


def estimate_stub(values: np.ndarray, log_w: np.ndarray) -> Any:
    raise NotImplementedError


def error_stub(values: np.ndarray, log_w: np.ndarray) -> Any:
    raise NotImplementedError


def limit_stub(f: Function, s: float) -> Any:
    raise NotImplementedError


def _largest_one(log_w):
    return np.exp(log_w - log_w.max())


def _share(log_w):
    w = _largest_one(log_w)
    return w / w.sum()


OVERFLOW = (
    "Right, until a logarithm is large: its exponential overflows, or all of them vanish. A constant that is added to all logarithms "
    "cancels in the end, so choose one under which the largest weight is 1."
)
ESTIMATE_MISTAKES = {
    "overflow": Mistake(lambda f, x: np.exp(x) @ f / np.exp(x).sum(), OVERFLOW),
    "another shift": Mistake(
        lambda f, x: np.exp(x - x.mean()) @ f / np.exp(x - x.mean()).sum(),
        "Right while the logarithms lie close together. They may be some hundreds apart, and then one shift only is safe: take off the "
        "largest.",
    ),
    "sum without 1/S": Mistake(
        lambda f, x: np.exp(x) @ f,
        "That is the sum of the products of weight and value, which grows with the number of draws. By what do you divide it?",
    ),
    "plain mean": Mistake(
        lambda f, x: np.exp(x) @ f / len(f),
        "You divided by the number of draws. Only with normalised densities does that help; here the weights have a constant too many, and "
        "so has yours.",
    ),
    "plain mean after the shift": Mistake(
        lambda f, x: _largest_one(x) @ f / len(f),
        "You divided by the number of draws. Once a constant is taken off for the computer's sake, the mean of the weights is any number: "
        "divide by their sum.",
    ),
    "weights ignored": Mistake(
        lambda f, x: f.mean(),
        "That is the mean under q: the weights do nothing.",
    ),
    "logarithms taken for weights": Mistake(
        lambda f, x: x @ f / x.sum(),
        "You put the logarithms where the weights belong.",
    ),
    "mean weight in the denominator": Mistake(
        lambda f, x: _share(x) @ f * len(f),
        "One sum and one mean: yours is S times too large. Take two sums or two means.",
    ),
    "largest weight": Mistake(
        lambda f, x: _share(x) @ f / _share(x).max(),
        "You took the largest weight for the sum of all. Once a constant is taken off for the computer's sake, the sum is still to be "
        "divided by.",
    ),
    "the heaviest draw": Mistake(
        lambda f, x: f[np.argmax(x)],
        "That is the value at the draw with the largest weight. The others have a say, too.",
    ),
    "weights upside down": Mistake(
        lambda f, x: _share(-x) @ f,
        "Your weights are upside down: a draw counts more where the target is high and the proposal low.",
    ),
    "squared weights": Mistake(
        lambda f, x: _share(2 * x) @ f,
        "You squared the weights. That belongs to the error, in Part 2.",
    ),
    "the constant": Mistake(
        lambda f, x: np.exp(x).mean(),
        "That is the mean weight, an estimate of the missing constant. The values have no part in it.",
    ),
}


def _error(values, log_w, w=None, centre=None):
    share = _share(log_w)
    return np.sqrt((share**2 if w is None else w(share)) @ (values - (share @ values if centre is None else centre)) ** 2)


def _unscaled(values, log_w, w):
    return np.sqrt(np.mean(w**2 * (values - _share(log_w) @ values) ** 2) / len(values))


def _plain_error(values, log_w):
    share = _share(log_w) * len(values)
    return (share * values).std() / np.sqrt(len(values))


ERROR_MISTAKES = {
    "overflow": Mistake(lambda f, x: np.sqrt((np.exp(x) / np.exp(x).sum()) ** 2 @ (f - np.exp(x) @ f / np.exp(x).sum()) ** 2), OVERFLOW),
    "another shift": Mistake(
        lambda f, x: np.sqrt(
            (np.exp(x - x.mean()) / np.exp(x - x.mean()).sum()) ** 2 @ (f - np.exp(x - x.mean()) @ f / np.exp(x - x.mean()).sum()) ** 2
        ),
        "Right while the logarithms lie close together. They may be some hundreds apart, and then one shift only is safe, as in Part 1: "
        "take off the largest.",
    ),
    "weights not scaled": Mistake(
        lambda f, x: _unscaled(f, x, np.exp(x)),
        "Your weights have the unknown constant in them, and so has your error. Divide them by their mean over the draws.",
    ),
    "largest weight 1": Mistake(
        lambda f, x: _unscaled(f, x, _largest_one(x)),
        "The largest of your weights is 1. That helps the computer; the formula wants weights whose mean over the draws is 1.",
    ),
    "weights that add up to 1": Mistake(
        lambda f, x: _unscaled(f, x, _share(x)),
        "Your weights add up to 1, so their mean over the draws is 1/S. The formula wants weights of mean 1: yours are S times too small.",
    ),
    "the plain mean's error": Mistake(
        _plain_error,
        "That is the spread of the products of weight and value, over the root of S: the error of the plain mean. Add 100 to all values, "
        "and yours grows; that of the ratio does not.",
    ),
    "the plain mean's error, S - 1": Mistake(
        lambda f, x: _plain_error(f, x) * np.sqrt(len(f) / (len(f) - 1)),
        "That is the standard error of the plain mean. Add 100 to all values, and yours grows; that of the ratio does not.",
    ),
    "level not taken off": Mistake(
        lambda f, x: _error(f, x, centre=0.0),
        "You squared the values themselves. What counts is how far they are from the estimate.",
    ),
    "effective sample size": Mistake(
        lambda f, x: np.sqrt(_share(x) @ (f - _share(x) @ f) ** 2 * (_share(x) ** 2).sum()),
        "That is the target's spread over the root of the effective sample size, which pretends that weights and values have nothing to do "
        "with each other. Keep each weight with its value.",
    ),
    "number of draws": Mistake(
        lambda f, x: _error(f, x, w=lambda share: share / len(share)),
        "That would be the error of S draws of the target itself. Yours are weighted, and unequal weights cost.",
    ),
    "spread of the target": Mistake(
        lambda f, x: _error(f, x, w=lambda share: share),
        "That is the standard deviation of f under the target, which does not fall with S. In the formula the weight stands squared.",
    ),
    "weights ignored": Mistake(
        lambda f, x: f.std() / np.sqrt(len(f)),
        "That is the error of the plain mean of the values: the weights do nothing.",
    ),
    "weights ignored, S - 1": Mistake(
        lambda f, x: f.std(ddof=1) / np.sqrt(len(f)),
        "That is the standard error of the plain mean of the values, as if there were no weights.",
    ),
    "not rooted": Mistake(
        lambda f, x: _error(f, x) ** 2,
        "That is the square of it, a variance. The root is missing.",
    ),
    "not over S": Mistake(
        lambda f, x: _error(f, x) * np.sqrt(len(f)),
        "That is the root of the limit's variance, and does not fall with S. The estimate's own variance is an S-th of it.",
    ),
    "centred at the plain mean": Mistake(
        lambda f, x: _error(f, x, centre=f.mean()),
        "You took off the plain mean of the values. Put the weighted one, of Part 1, in the place of I.",
    ),
    "S - 1": Mistake(
        lambda f, x: _error(f, x) * np.sqrt(len(f) / (len(f) - 1)),
        "Right but for a factor that tends to 1: you divided by S - 1 once. Each expectation becomes a mean, over S.",
    ),
}
EDGES = 40.0, 80_001


def _grid(edge: float = EDGES[0]) -> Any:
    x = np.linspace(-edge, edge, int(EDGES[1]))
    return x, norm.logpdf(x)


def _integral(f, s, power_of_w, *, under_pi=False, squared=True, centre="pi", edge=EDGES[0]):
    """The mean of w^power (f - centre)^2 under q, or under pi."""
    x, log_pi = _grid(edge)
    log_q = norm.logpdf(x, 0, s)
    mean = {"pi": trapezoid(np.exp(log_pi) * f(x), x), "q": trapezoid(np.exp(log_q) * f(x), x), "no": 0.0}[centre]
    law = log_pi if under_pi else log_q
    log_weight = power_of_w * (log_pi - log_q) + law
    if log_weight[-1] > log_weight[-2]:
        return float("inf")
    return float(trapezoid(np.exp(log_weight) * (f(x) - mean) ** (2 if squared else 0), x))


def _plain_limit(f, s):
    x, log_pi = _grid()
    return _integral(f, s, 2, centre="no") - trapezoid(np.exp(log_pi) * f(x), x) ** 2


LIMIT_MISTAKES = {
    "infinite variance": Mistake(
        lambda f, s: _by_hermite(f, s) if s**2 > 0.5 else 1.0,
        "Right for a wide q. If q is narrow, pi^2 / q grows on the way out, the integral is infinite, and a grid or a simulation does not "
        "say so: find out from the exponents from which s on.",
    ),
    "infinite too soon": Mistake(
        lambda f, s: _by_hermite(f, s) if s > 0.9 else np.inf,
        "Right for a wide q. You say infinite for one that is narrower than pi and still has a finite variance: put the exponents of pi^2 "
        "and q together, and see where the sign changes.",
    ),
    "short grid": Mistake(
        lambda f, s: _integral(f, s, 2, edge=6.0) if s**2 > 0.5 else np.inf,
        "Right for a wide q. For one that is only just wide enough your number is off: pi^2 / q falls slowly there, and what is far out "
        "counts. How far does your grid go? A simulation hardly ever comes there.",
    ),
    "unnormalised": Mistake(
        _plain_limit,
        "That is E_q[w^2 f^2] - I^2, the variance of the plain mean. In the ratio's formula I is taken off before squaring.",
    ),
    "level not taken off": Mistake(
        lambda f, s: _integral(f, s, 2, centre="no"),
        "You did not take I off. A constant f has no error at all.",
    ),
    "weight not squared": Mistake(
        lambda f, s: _integral(f, s, 1),
        "That is the variance of f under pi, whatever q is: one weight turns q into pi, and the second one is missing.",
    ),
    "variance under q": Mistake(
        lambda f, s: _integral(f, s, 0, centre="q"),
        "That is the variance of f under q: no weights at all.",
    ),
    "under pi": Mistake(
        lambda f, s: _integral(f, s, 2, under_pi=True),
        "You averaged the squared weight under pi. The draws come from q.",
    ),
    "split in two": Mistake(
        lambda f, s: _integral(f, s, 2, squared=False) * _integral(f, s, 1),
        "You multiplied E_q[w^2] by the variance of f, as the effective sample size does. Weights and f are not independent.",
    ),
    "I under q": Mistake(
        lambda f, s: _integral(f, s, 2, centre="q"),
        "Your I is the mean of f under q. The estimate tends to the mean under pi.",
    ),
    "variance for standard deviation": Mistake(
        lambda f, s: _by_hermite(f, np.sqrt(s)),
        "You took s for the variance of q. It is the standard deviation.",
    ),
    "upside down": Mistake(
        lambda f, s: _by_hermite(lambda x: f(s * x), 1 / s) if s < np.sqrt(2) else np.inf,
        "pi and q have changed places: w is pi over q.",
    ),
    "root": Mistake(
        lambda f, s: np.sqrt(_by_hermite(f, s)),
        "That is the standard deviation. The variance was asked for.",
    ),
    "the mean of the weights' squares": Mistake(
        lambda f, s: _integral(f, s, 2, squared=False),
        "That is E_q[w^2]. It is the price of a question that has nothing to do with the weights, and f is not in it.",
    ),
}


def estimate_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 210])
    plain = [(rng.normal(2, 1.5, size), rng.normal(level, 0.9, size)) for size, level in [(7, 1.5), (12, -2.0)]]
    # multiples of 1/64, so that single precision holds them exactly
    near = np.round(rng.normal(0, 0.8, 6) * 64) / 64
    words = {
        "right": "Right. Neither density needs its constant.",
        "nudge": "Not that estimate. With values 1, 2 and 4 and weights 1, 1 and 2 it is 2.75.",
    }
    late = ("overflow", "another shift")
    verdict = quiet(answer, plain, _by_least_squares, {k: m for k, m in ESTIMATE_MISTAKES.items() if k not in late}, **words)
    far = [(rng.normal(2, 1.5, 6), near + level) for level in (800.0, -900.0)]
    verdict = beyond(verdict, answer, far, _by_least_squares, OVERFLOW)
    return beyond(verdict, answer, [_apart(rng)], _by_least_squares, ESTIMATE_MISTAKES["another shift"].words)


def _apart(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two draws have nearly all of the weight."""
    log_w = np.full(12, -450.0) + np.round(rng.uniform(-0.4, 0.4, 12) * 64) / 64
    log_w[4:6] += 900
    return rng.normal(2, 1.5, 12), log_w


def error_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 211])
    plain = [(rng.normal(2, 1.5, size), rng.normal(level, 0.9, size)) for size, level in [(7, 0.5), (12, -2.0)]]
    near = np.round(rng.normal(0, 0.8, 6) * 64) / 64
    words = {
        "right": "Right. The level of the values has no part in it, and the constant of the weights has none.",
        "nudge": "Not that error. With values 0 and 4 and weights 3 and 1 it is 1.061.",
    }
    late = ("overflow", "another shift")
    verdict = quiet(answer, plain, _by_influence, {k: m for k, m in ERROR_MISTAKES.items() if k not in late}, **words)
    far = [(rng.normal(2, 1.5, 6), near + level) for level in (800.0, -900.0)]
    verdict = beyond(verdict, answer, far, _by_influence, OVERFLOW)
    return beyond(verdict, answer, [_apart(rng)], _by_influence, ERROR_MISTAKES["another shift"].words)


def _near(x: Any) -> Any:
    """An integrator over the whole line may ask for thousands: there a function of these stays finite."""
    return np.clip(x, -60, 60)


def limit_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 212])
    level, tilt = float(rng.uniform(1.5, 2.5)), float(rng.uniform(0.4, 0.6))
    functions: list[Function] = [lambda x: x + level, lambda x: x**2 + tilt * x, lambda x: np.exp(tilt * _near(x))]
    usual = list(zip(functions, map(float, (rng.uniform(1.3, 1.5), rng.uniform(1.6, 2.2), rng.uniform(1.1, 1.2))), strict=True))
    words = {
        "right": "Right. It is what S times the mean squared error of Part 1 tends to.",
        "nudge": "Not that variance. With f(x) = x^2 and s = 1.4 it is 1.157.",
    }
    late = ("infinite variance", "infinite too soon", "short grid")
    known = {name: mistake for name, mistake in LIMIT_MISTAKES.items() if name not in late}
    verdict = exact(answer, usual, _by_hermite, known, rtol=2e-3, **words)
    ranges = [(0.82, 0.85), (0.75, 0.77), (0.72, 0.73)]
    narrow = [(f, float(rng.uniform(*range_))) for f, range_ in zip((functions[0], functions[1], functions[0]), ranges, strict=True)]
    if verdict.passed and not quiet(answer, narrow, _by_hermite, {}, right="", nudge="", rtol=5e-3).passed:
        with np.errstate(all="ignore"):
            finite = all(np.isfinite(part).all() for case in narrow for part in numbers(call(answer, *case)))
        return Verdict(False, LIMIT_MISTAKES["short grid" if finite else "infinite too soon"].words)
    lows = (0.45, 0.65, 0.695)
    none = [(f, float(rng.uniform(low, low + 0.01))) for f, low in zip((*functions[:2], functions[0]), lows, strict=True)]
    return beyond(verdict, answer, none, _by_hermite, LIMIT_MISTAKES["infinite variance"].words)


TASKS = (
    Task(
        "mcmc/self-normalised/estimate",
        "Self-normalised importance sampling: the estimate",
        2,
        8,
        estimate_stub,
        (
            "Average with weights, as one averages marks that count differently. What happens to the result if all weights are multiplied "
            "by the same number, and what can you do with that?",
            "Estimate = sum of w_s f_s over the sum of w_s. Replace w_s by w_s / max w: in logarithms, take the largest off.",
            "Begin with `w = np.exp(log_w - log_w.max())`",
        ),
        ESTIMATE_MISTAKES,
        estimate_verdict,
    ),
    Task(
        "mcmc/self-normalised/standard-error",
        "Self-normalised importance sampling: its standard error",
        2,
        11,
        error_stub,
        (
            "Everything in the formula can be had from the draws: I from Part 1, an expectation under q from a mean over the S draws. One "
            "more thing is needed, since these weights do not have mean 1.",
            "Let p_s = w_s / sum of w, so that S p_s has mean 1. Then the variance of the limit is estimated by the mean of "
            "(S p_s)^2 (f_s - I)^2, and the estimate's own variance is an S-th of that.",
            "Begin with `share = np.exp(log_w - log_w.max())`, and divide it by its sum on the next line.",
        ),
        ERROR_MISTAKES,
        error_verdict,
    ),
    Task(
        "mcmc/self-normalised/limit",
        "Self-normalised importance sampling: the variance in the limit",
        2,
        16,
        limit_stub,
        (
            "Two integrals over the line: first I, the mean of f under pi, then the variance, into which I goes. A fine grid and the "
            "trapezoidal rule will do. Before that, ask what pi^2 / q does far out.",
            "The integrand is pi(x)^2 / q(x) (f(x) - I)^2, and pi(x)^2 / q(x) is in proportion to exp(-x^2 + x^2 / (2 s^2)). For which s "
            "does it not fall?",
            "Begin with `if s**2 <= 0.5:`",
        ),
        LIMIT_MISTAKES,
        limit_verdict,
    ),
)
