"""Mean-field regression. Roads: one row after the other; the log joint along one axis at a time; conditioning in blocks."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import beyond, quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin


def _row_by_row(X: np.ndarray, y: np.ndarray, s: float, s0: float) -> tuple[np.ndarray, np.ndarray]:
    """A Kalman filter for weights that do not move."""
    m, C = np.zeros(X.shape[1]), s0**2 * np.eye(X.shape[1])
    for x, one in zip(X, y, strict=True):
        gain = C @ x / (x @ C @ x + s**2)
        m, C = m + gain * (one - x @ m), C - np.outer(gain, x @ C)
    return m, C


def _log_joint(w: np.ndarray, X: np.ndarray, y: np.ndarray, s: float, s0: float) -> float:
    return float(norm.logpdf(y, X @ w, s).sum() + norm.logpdf(w, 0, s0).sum())


def _parabola(f: Callable[[float], float]) -> tuple[float, float]:
    """Where a parabola has its top, and how sharply it is bent."""
    bend = 2 * f(0.0) - f(1.0) - f(-1.0)
    return (f(1.0) - f(-1.0)) / 2 / bend, bend


def _bent(X: np.ndarray, s: float, s0: float) -> np.ndarray:
    along = [lambda t, e=e: _log_joint(t * e, X, np.zeros(len(X)), s, s0) for e in np.eye(X.shape[1])]
    return np.array([_parabola(f)[1] ** -0.5 for f in along])


def _stepped(m: np.ndarray, X: np.ndarray, y: np.ndarray, s: float, s0: float) -> np.ndarray:
    m = m.copy()
    for e in np.eye(len(m)):
        m = m + e * _parabola(lambda t, m=m, e=e: _log_joint(m + t * e, X, y, s, s0))[0]  # type: ignore[misc]
    return m


def _ratio_by_blocks(c: np.ndarray, covariance: np.ndarray) -> float:
    """The variance of each weight when all others are known, from the covariance's blocks."""
    total = 0.0
    for j in range(len(c)):
        others = np.arange(len(c)) != j
        explained = covariance[j, others] @ np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, j])
        total += c[j] ** 2 * (covariance[j, j] - explained)
    return float(np.sqrt(total) / np.linalg.norm(np.linalg.cholesky(covariance).T @ c))


def posterior_stub(X: np.ndarray, y: np.ndarray, s: float, s0: float) -> Any:
    raise NotImplementedError


def factors_stub(X: np.ndarray, s: float, s0: float) -> Any:
    raise NotImplementedError


def round_stub(m: np.ndarray, X: np.ndarray, y: np.ndarray, s: float, s0: float) -> Any:
    raise NotImplementedError


def ratio_stub(c: np.ndarray, covariance: np.ndarray) -> Any:
    raise NotImplementedError


def _fit(gram=lambda X, s: X.T @ X / s**2, prior=lambda s0: s0**-2, pull=lambda X, y, s: X.T @ y / s**2, give=lambda m, P, C: (m, C)):
    def answer(X, y, s, s0):
        P = gram(X, s) + prior(s0) * np.eye(X.shape[1])
        C = np.linalg.inv(P)
        return give(C @ pull(X, y, s), P, C)

    return answer


NOT_SQUARED = "A standard deviation is not squared in yours, s or s0 or both. A precision is one over the square."
POSTERIOR_MISTAKES = {
    "precision": Mistake(_fit(give=lambda m, P, C: (m, P)), "Your second part is the precision matrix. Its inverse was asked for."),
    "no prior": Mistake(_fit(prior=lambda s0: 0.0), "You left the prior out: that is least squares."),
    "not squared": Mistake(_fit(lambda X, s: X.T @ X / s, lambda s0: 1 / s0, lambda X, y, s: X.T @ y / s), NOT_SQUARED),
    "s0 for its precision": Mistake(_fit(prior=lambda s0: s0**2), "You added the prior's variance. It is precisions that add up."),
    "noise forgotten": Mistake(
        _fit(lambda X, s: X.T @ X, pull=lambda X, y, s: X.T @ y), "The noise is not in it: a row counts as much as its precision."
    ),
    "noise forgotten in the mean": Mistake(
        _fit(pull=lambda X, y, s: X.T @ y), "Your covariance is right. In the mean a row counts as much as its precision."
    ),
    "covariance in units of the noise": Mistake(
        lambda X, y, s, s0: (_fit()(X, y, s, s0)[0], _fit()(X, y, s, s0)[1] / s**2),
        "Your mean is right. Your covariance is that of ridge regression before it is multiplied by s^2.",
    ),
    "least-squares mean": Mistake(
        lambda X, y, s, s0: (np.linalg.lstsq(X, y)[0], _fit()(X, y, s, s0)[1]),
        "Your covariance is right. Your mean is that of least squares; the prior pulls it towards 0.",
    ),
    "variances only": Mistake(
        _fit(give=lambda m, P, C: (m, np.diag(np.diag(C)))), "You kept only the covariance's diagonal. The rest belongs to it."
    ),
}
POSTERIOR_KIN = {
    "not squared": [
        _fit(lambda X, s: X.T @ X / s, pull=lambda X, y, s: X.T @ y / s),
        _fit(prior=lambda s0: 1 / s0),
        _fit(pull=lambda X, y, s: X.T @ y / s),
        _fit(lambda X, s: X.T @ X / s),
    ]
}


def _widths(variance=lambda P: 1 / np.diag(P), prior=lambda s0: s0**-2, power=2, give=np.sqrt, count=lambda X: 1):
    def answer(X, s, s0):
        return give(variance(X.T @ X / count(X) / s**power + prior(s0) * np.eye(X.shape[1])))

    return answer


FACTORS_MISTAKES = {
    "diagonal of the covariance": Mistake(
        _widths(lambda P: np.diag(np.linalg.inv(P))),
        "You used the covariance's diagonal, the posterior's own spread. A factor's variance is one over the diagonal of the precision.",
    ),
    "variances": Mistake(_widths(give=lambda v: v), "Those are the variances. The standard deviations were asked for."),
    "precisions": Mistake(
        _widths(give=lambda v: 1 / v), "Those are precisions, or their roots. A standard deviation is one over the root of a precision."
    ),
    "diagonal of the covariance turned over": Mistake(
        _widths(lambda P: 1 / np.diag(np.linalg.inv(P))), "You took one over the diagonal of the covariance, not of the precision."
    ),
    "no prior": Mistake(_widths(prior=lambda s0: 0.0), "You left the prior out. Its precision is added to that of the data."),
    "averaged": Mistake(
        _widths(count=len), "You averaged the squares of a column. The rows add up: each of them makes the weight better known."
    ),
    "not squared": Mistake(_widths(power=1, prior=lambda s0: 1 / s0), NOT_SQUARED),
    "noise forgotten": Mistake(_widths(power=0), "The noise is not in it: a row counts as much as its precision."),
    "eigenvalues": Mistake(
        _widths(lambda P: 1 / np.linalg.eigvalsh(P)), "Those are spreads along the posterior's own axes. A factor belongs to a weight."
    ),
}
FACTORS_KIN = {
    "diagonal of the covariance": [_widths(lambda P: np.diag(np.linalg.inv(P)), give=lambda v: v)],
    "precisions": [_widths(give=lambda v: v**-0.5)],
    "not squared": [_widths(power=1), _widths(prior=lambda s0: 1 / s0)],
}


def _go(
    rest=lambda x, X, m, j: X @ m - x * m[j],
    prior=lambda s0, s: (s / s0) ** 2,
    order=lambda d: range(d),
    old=False,
    add=False,
    above=lambda s: 1,
):
    def answer(m, X, y, s, s0):
        new = m.copy()
        for j in order(len(m)):
            x = X[:, j]
            best = above(s) * (x @ (y - rest(x, X, m if old else new, j))) / (x @ x + prior(s0, s))
            new[j] = new[j] + best if add else best
        return new

    return answer


ROUND_MISTAKES = {
    "old values": Mistake(_go(old=True), "All your weights look at the old values. A new value is used at once."),
    "own weight left in": Mistake(_go(rest=lambda x, X, m, j: X @ m), "The weight's own column has to stay out of what is taken off y."),
    "added": Mistake(_go(add=True), "You added the best value to the old one. It replaces it."),
    "others ignored": Mistake(
        _go(rest=lambda x, X, m, j: 0.0), "Each weight is fitted as if it were alone. First take off what the others predict."
    ),
    "others added": Mistake(_go(rest=lambda x, X, m, j: x * m[j] - X @ m), "You added what the others predict. It is taken off y."),
    "no prior": Mistake(_go(prior=lambda s0, s: 0.0), "You left the prior out: it pulls each weight towards 0."),
    "noise forgotten": Mistake(_go(prior=lambda s0, s: s0**-2), "The noise is not in it: how strongly the prior pulls depends on s."),
    "prior upside down": Mistake(_go(prior=lambda s0, s: (s0 / s) ** 2), "Your prior pulls more strongly the wider it is."),
    "not squared": Mistake(_go(prior=lambda s0, s: s / s0), NOT_SQUARED),
    "noise below only": Mistake(
        _go(above=lambda s: s**2), "Below the bar a row counts as much as its precision. It has to do so above the bar, too."
    ),
    "backwards": Mistake(_go(order=lambda d: reversed(range(d))), "You began with the last weight. A round here begins with the first."),
    "the end": Mistake(
        lambda m, X, y, s, s0: _fit()(X, y, s, s0)[0], "That is where the rounds lead to, the posterior mean. One round was asked for."
    ),
    "two rounds": Mistake(lambda m, *rest: _go()(_go()(m, *rest), *rest), "You made two rounds."),
}
ROUND_KIN = {"not squared": [_go(prior=lambda s0, s: s / s0**2), _go(prior=lambda s0, s: s**2 / s0)]}


def _narrow(C):
    return 1 / np.diag(np.linalg.inv(C))


def _compare(variance=_narrow, power=2, root=np.sqrt, end=lambda q, p: q / p):
    return lambda c, C: end(root((abs(c) ** power) @ variance(C)), root(c @ C @ c))


RATIO_MISTAKES = {
    "capped": Mistake(
        _compare(end=lambda q, p: min(q / p, 1.0)),
        "Right as long as the ratio is below 1; above 1 you cut it off. q is never too wide for a single weight, but it may be for a sum.",
    ),
    "diagonal of the covariance": Mistake(
        _compare(np.diag),
        "You read the variances of the factors off the diagonal of the covariance. They are one over the diagonal of the precision.",
    ),
    "variances": Mistake(_compare(root=lambda v: v), "That is a ratio of variances. One of standard deviations was asked for."),
    "upside down": Mistake(_compare(end=lambda q, p: p / q), "Upside down: q stands above the bar, the posterior below."),
    "q alone": Mistake(_compare(end=lambda q, p: q), "That is the standard deviation under q. Divide it by the posterior's."),
    "posterior alone": Mistake(_compare(end=lambda q, p: p), "That is the posterior's standard deviation. It goes below the bar."),
    "c not squared": Mistake(_compare(power=1), "Under q the variance of c_j w_j is c_j squared times that of w_j."),
    "standard deviations added": Mistake(
        lambda c, C: abs(c) @ np.sqrt(_narrow(C)) / np.sqrt(c @ C @ c), "You added standard deviations. It is variances that add up."
    ),
    "precision's diagonal": Mistake(
        _compare(lambda C: np.diag(np.linalg.inv(C))), "You took the diagonal of the precision for variances: take one over it."
    ),
    "covariance's diagonal turned over": Mistake(
        _compare(lambda C: 1 / np.diag(C)), "You took one over the diagonal of the covariance. Invert the matrix first."
    ),
    "no covariances below": Mistake(
        lambda c, C: np.sqrt(c**2 @ _narrow(C)) / np.sqrt(c**2 @ np.diag(C)),
        "q is right. In the posterior the weights hang together: the variance of c @ w holds their covariances, too.",
    ),
}


def _rows(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns that resemble each other, and outcomes that depend on them."""
    X = rng.normal(size=(n, d)) + rng.choice([-1, 1]) * rng.uniform(0.8, 1.4, (n, 1))
    return X, X @ (rng.choice([-1, 1], d) * rng.uniform(0.6, 1.5, d)) + rng.normal(size=n)


def _scales(rng: np.random.Generator, k: int) -> tuple[float, float]:
    ends = (((1.3, 1.8), (0.4, 0.7)), ((0.4, 0.7), (1.4, 2.0)), ((1.5, 2.0), (0.6, 0.8)))[k]
    return float(rng.uniform(*ends[0])), float(rng.uniform(*ends[1]))


def _too_wide(rng: np.random.Generator, d: int) -> tuple[np.ndarray, np.ndarray]:
    """A sum of two weights about which the best product is much too wide: its terms are negatively correlated."""
    while True:
        X = _rows(rng, 3 * d, d)[0] * rng.uniform(0.7, 1.5, d)
        covariance = np.linalg.inv(X.T @ X + 0.5 * np.eye(d))
        c = rng.uniform(0.6, 1.8, d)
        if _ratio_by_blocks(c, covariance) > 1.15:
            return c, covariance


FEW = "Right where X has more rows than columns. It may have fewer: X^T X alone has no inverse then, and with the prior's part it has."


def posterior_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 330])
    cases = [(*_rows(rng, n, d), *_scales(rng, k)) for k, (n, d) in enumerate(((6, 2), (9, 3), (5, 4)))]
    right = "Right. The covariance depends on the columns alone; the outcomes move the mean."
    nudge = "Not that normal. With X = [[1, 0], [1, 1]], y = [1, 3], s = 2 and s0 = 1 it has mean [17, 14] / 29 and covariance "
    nudge += "[[20, -4], [-4, 24]] / 29."
    parts = ("the mean", "the covariance")
    mistakes = with_kin(POSTERIOR_MISTAKES, POSTERIOR_KIN)
    verdict = quiet(answer, cases, _row_by_row, mistakes, right=right, nudge=nudge, parts=parts)
    few = [(*_rows(rng, n, d), *_scales(rng, k)) for k, (n, d) in enumerate(((2, 3), (1, 2)))]
    return settled(beyond(verdict, answer, few, _row_by_row, FEW), answer, cases, posterior_stub, nudge)


def factors_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 331])
    cases = [(_rows(rng, n, d)[0], *_scales(rng, k)) for k, (n, d) in enumerate(((6, 2), (9, 3), (5, 4)))]
    right = "Right. A factor is as wide as the posterior of its weight would be if all other weights were known."
    nudge = "Not those. With X = [[1, 1], [1, 3]], s = 2 and s0 = 1/2 they are [0.4714, 0.3922]."
    verdict = quiet(answer, cases, _bent, with_kin(FACTORS_MISTAKES, FACTORS_KIN), right=right, nudge=nudge)
    return settled(verdict, answer, cases, factors_stub, nudge)


def round_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 332])
    cases = [(rng.normal(size=d), *_rows(rng, n, d), *_scales(rng, k)) for k, (n, d) in enumerate(((6, 2), (9, 3), (7, 4)))]
    right = "Right. The variances of the factors play no part in it: the means find the posterior's by themselves."
    nudge = "Not that round. With m = [0, 2], X = [[1, 1], [0, 1]], y = [3, 1], s = 2 and s0 = 1 the new means are [0.2, 0.6333]."
    verdict = quiet(answer, cases, _stepped, with_kin(ROUND_MISTAKES, ROUND_KIN), right=right, nudge=nudge)
    return settled(verdict, answer, cases, round_stub, nudge)


def ratio_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 333])
    cases = []
    for d, n in ((2, 8), (3, 6), (4, 9)):
        X = _rows(rng, n, d)[0] * rng.uniform(0.5, 2.0, d)
        cases.append((rng.choice([-1, 1], d) * rng.uniform(0.4, 2.5, d), np.linalg.inv(X.T @ X + 0.5 * np.eye(d))))
    cases += [_too_wide(rng, d) for d in (2, 3)]
    right = "Right. It is never above 1 if c picks a single weight. For a sum it may be, if the weights are negatively correlated."
    nudge = "Not that ratio. With c = [1, -2] and covariance = [[2, 1], [1, 2]], q has variance 7.5 and the posterior 6: 1.1180."
    verdict = quiet(answer, cases, _ratio_by_blocks, RATIO_MISTAKES, right=right, nudge=nudge)
    return settled(verdict, answer, cases, ratio_stub, nudge)


TASKS = (
    Task(
        "vi/mean-field-regression/posterior",
        "Mean-field regression: the exact posterior",
        1,
        8,
        posterior_stub,
        (
            "The log joint is a quadratic in w. Its second derivatives make the precision matrix, and the mean is where the slope is zero.",
            "P = X^T X / s^2 + I / s0^2, and P mean = X^T y / s^2. The covariance is the inverse of P.",
            "Begin with `P = X.T @ X / s**2 + np.eye(X.shape[1]) / s0**2`",
        ),
        POSTERIOR_MISTAKES,
        posterior_verdict,
    ),
    Task(
        "vi/mean-field-regression/factors",
        "Mean-field regression: how wide the factors are",
        1,
        7,
        factors_stub,
        (
            "Average the log joint over all weights but one. How sharply is it bent in the one that is left?",
            "log phi_j(w_j) = -(1/2) P_jj w_j^2 + a multiple of w_j, so q_j has the variance 1 / P_jj.",
            "Begin with `precision = (X**2).sum(axis=0) / s**2 + 1 / s0**2`",
        ),
        FACTORS_MISTAKES,
        factors_verdict,
    ),
    Task(
        "vi/mean-field-regression/round",
        "Mean-field regression: a round",
        1,
        9,
        round_stub,
        (
            "For one weight: take off y what all other weights predict, and fit what is left over by this column alone, with the prior.",
            "m_j = x_j^T (y - sum over k other than j of x_k m_k) / (x_j^T x_j + s^2 / s0^2), for one j after the other.",
            "Begin with `m = np.array(m, dtype=float)`",
        ),
        ROUND_MISTAKES,
        round_verdict,
    ),
    Task(
        "vi/mean-field-regression/ratio",
        "Mean-field regression: what is said of a sum",
        1,
        7,
        ratio_stub,
        (
            "Under q the weights are independent: what is the variance of a sum? Under the posterior use all of the matrix.",
            "sd_q^2 = sum over j of c_j^2 / P_jj with P the inverse of the covariance; sd^2 = c^T covariance c.",
            "Begin with `narrow = 1 / np.diag(np.linalg.inv(covariance))`",
        ),
        RATIO_MISTAKES,
        ratio_verdict,
    ),
)
