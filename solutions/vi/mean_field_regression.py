"""Mean-field regression. Roads: one row after the other; the log joint along one axis at a time; conditioning in blocks."""

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record


def row_by_row(X, y, s, s0):
    """A Kalman filter for weights that do not move."""
    m, C = np.zeros(X.shape[1]), s0**2 * np.eye(X.shape[1])
    for x, one in zip(X, y, strict=True):
        gain = C @ x / (x @ C @ x + s**2)
        m, C = m + gain * (one - x @ m), C - np.outer(gain, x @ C)
    return m, C


def along(e, m, X, y, s, s0):
    """Where the log joint, a parabola from m along e, has its top, and how sharply it is bent."""
    low, middle, high = (norm.logpdf(y, X @ (m + t * e), s).sum() + norm.logpdf(m + t * e, 0, s0).sum() for t in (-1, 0, 1))
    bend = 2 * middle - low - high
    return (high - low) / 2 / bend, bend


bent = lambda X, s, s0: np.array([along(e, 0 * e, X, np.zeros(len(X)), s, s0)[1] ** -0.5 for e in np.eye(X.shape[1])])


def stepped(m, *rest):
    for e in np.eye(len(m)):
        m = m + e * along(e, m, *rest)[0]
    return m


def ratio_by_blocks(c, covariance):
    """The variance of each weight when all others are known, from the covariance's blocks."""
    total = 0.0
    for j in range(len(c)):
        others = np.arange(len(c)) != j
        explained = covariance[j, others] @ np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, j])
        total += c[j] ** 2 * (covariance[j, j] - explained)
    return np.sqrt(total) / np.linalg.norm(np.linalg.cholesky(covariance).T @ c)


def rows(rng, n, d):
    """Columns that resemble each other, and outcomes that depend on them."""
    X = rng.normal(size=(n, d)) + rng.choice([-1, 1]) * rng.uniform(0.8, 1.4, (n, 1))
    return X, X @ (rng.choice([-1, 1], d) * rng.uniform(0.6, 1.5, d)) + rng.normal(size=n)


def tables(rng, sizes):
    for (n, d), s, s0 in zip(sizes, ((1.3, 1.8), (0.4, 0.7), (1.5, 2.0)), ((0.4, 0.7), (1.4, 2.0), (0.6, 0.8)), strict=False):
        yield *rows(rng, n, d), rng.uniform(*s), rng.uniform(*s0)


def sums(rng):
    for d, n in ((2, 8), (3, 6), (4, 9)):
        X = rows(rng, n, d)[0] * rng.uniform(0.5, 2.0, d)
        yield rng.choice([-1, 1], d) * rng.uniform(0.4, 2.5, d), np.linalg.inv(X.T @ X + 0.5 * np.eye(d))
    for d in (2, 3):  # of these sums q is much too unsure: their terms are negatively correlated
        c, covariance = np.ones(d), np.eye(d)
        while ratio_by_blocks(c, covariance) < 1.15:
            X = rows(rng, 3 * d, d)[0] * rng.uniform(0.7, 1.5, d)
            c, covariance = rng.uniform(0.6, 1.8, d), np.linalg.inv(X.T @ X + 0.5 * np.eye(d))
        yield c, covariance


NOT_SQUARED = "A standard deviation is not squared in yours, s or s0 or both. A precision is one over the square."
POSTERIOR = Record(
    cases=lambda rng: tables(rng, ((6, 2), (9, 3), (5, 4))),
    reference=row_by_row,
    right="Right. The covariance depends on the columns alone; the outcomes move the mean.",
    nudge="Not that normal. With X = [[1, 0], [1, 1]], y = [1, 3], s = 2 and s0 = 1 it has mean [17, 14] / 29 and covariance [[20, -4], [-4, 24]] / 29.",
    hints=(
        "The log joint is a quadratic in w. Its second derivatives make the precision matrix, and the mean is where the slope is zero.",
        "P = X^T X / s^2 + I / s0^2, and P mean = X^T y / s^2. The covariance is the inverse of P.",
        "Begin with `P = X.T @ X / s**2 + np.eye(X.shape[1]) / s0**2`",
    ),
    mistakes={
        "You left the prior out: that is least squares.": "+ np.eye(X.shape[1]) / s0**2 -> ",
        NOT_SQUARED: ("**2 -> ", "/ s**2 -> / s", "s0**2 -> s0", "y / s**2 -> y / s", "X / s**2 -> X / s"),
        "Your mean is right. Your covariance is that of ridge regression before it is multiplied by s^2.": ", covariance -> , covariance / s**2",
    },
    later={
        "Right where X has more rows than columns. It may have fewer: X^T X alone has no inverse then, and with the prior's part it has.": (
            lambda rng: tables(rng, ((2, 3), (1, 2))),
            """
            C = s**2 * np.linalg.pinv(X.T @ X)
            pull = s0**2 * np.linalg.inv(C + s0**2 * np.eye(len(C)))
            return pull @ np.linalg.lstsq(X, y)[0], C @ pull
            """,
        ),
    },
    parts=("the mean", "the covariance"),
)
FULL = "\nP = X.T @ X / s**2 + np.eye(X.shape[1]) / s0**2\n"
FACTORS = Record(
    cases=lambda rng: [(X, s, s0) for X, _, s, s0 in tables(rng, ((6, 2), (9, 3), (5, 4)))],
    reference=bent,
    right="Right. A factor is as wide as the posterior of its weight would be if all other weights were known.",
    nudge="Not those. With X = [[1, 2], [1, 3]], s = 2 and s0 = 1/2 they are [0.4714, 0.3714].",
    hints=(
        "Average the log joint over all weights but one. How sharply is it bent in the one that is left?",
        "log phi_j(w_j) = -(1/2) P_jj w_j^2 + a multiple of w_j, so q_j has the variance 1 / P_jj.",
        "Begin with `precision = (X**2).sum(axis=0) / s**2 + 1 / s0**2`",
    ),
    mistakes={
        "You used the covariance's diagonal, the posterior's own spread. A factor's variance is one over the diagonal of the precision.": f"{FULL}return np.sqrt(np.diag(np.linalg.inv(P)))",
        "You took one over the diagonal of the covariance, not of the precision.": f"{FULL}return 1 / np.sqrt(np.diag(np.linalg.inv(P)))",
        "You left the prior out. Its precision is added to that of the data.": "+ 1 / s0**2 -> ",
        NOT_SQUARED: ("/ s**2 -> / s ;; s0**2 -> s0", "/ s**2 -> / s", "s0**2 -> s0"),
    },
)
ROUND = Record(
    cases=lambda rng: [(rng.normal(size=len(table[0].T)), *table) for table in tables(rng, ((6, 2), (9, 3), (7, 4)))],
    reference=stepped,
    right="Right. The variances of the factors play no part in it: the means find the posterior's by themselves.",
    nudge="Not that round. With m = [0, 2], X = [[1, 1], [0, 1]], y = [3, 1], s = 2 and s0 = 1 the new means are [0.2, 0.6333].",
    hints=(
        "For one weight: take off y what all other weights predict, and fit what is left over by this column alone, with the prior.",
        "m_j = x_j^T (y - sum over k other than j of x_k m_k) / (x_j^T x_j + s^2 / s0^2), for one j after the other.",
        "Begin with `m = np.array(m, dtype=float)`",
    ),
    mistakes={
        "All your weights look at the old values. A new value is used at once.": "m = np.array(m, dtype=float) -> old, m = m, np.array(m, dtype=float) ;; X @ m + x * m[j] -> X @ old + x * old[j]",
        "The weight's own column has to stay out of what is taken off y.": "+ x * m[j] -> ",
        "Each weight is fitted as if it were alone. First take off what the others predict.": "y - X @ m + x * m[j] -> y",
        NOT_SQUARED: ("(s / s0) ** 2 -> s / s0", "(s / s0) ** 2 -> s / s0**2", "(s / s0) ** 2 -> s**2 / s0"),
        "Below the bar a row counts as much as its precision. It has to do so above the bar, too.": "= x @ left -> = s**2 * x @ left",
    },
)
RATIO = Record(
    cases=sums,
    reference=ratio_by_blocks,
    right="Right. It is never above 1 if c picks a single weight. For a sum it may be, if the weights are negatively correlated.",
    nudge="Not that ratio. With c = [1, -2] and covariance = [[2, 1], [1, 2]], q has variance 7.5 and the posterior 6: 1.1180.",
    hints=(
        "Under q the weights are independent: what is the variance of a sum? Under the posterior use all of the matrix.",
        "sd_q^2 = sum over j of c_j^2 / P_jj with P the inverse of the covariance; sd^2 = c^T covariance c.",
        "Begin with `narrow = 1 / np.diag(np.linalg.inv(covariance))`",
    ),
    mistakes={
        "Above 1 you cut it off. q is never too wide for one weight, but it may be for a sum.": "covariance @ c)) -> covariance @ c)).clip(max=1)",
        "A factor's variance is one over the diagonal of the precision, not the covariance's.": "1 / np.diag(np.linalg.inv(covariance)) -> np.diag(covariance)",
        "You added standard deviations. It is variances that add up.": "np.sqrt(np.sum(c**2 * narrow) / -> np.sum(abs(c) * np.sqrt(narrow)) / np.sqrt(",
        "You took the diagonal of the precision for variances: take one over it.": "1 / np.diag -> np.diag",
        "In the posterior the weights hang together: its variance holds their covariances.": "c @ covariance @ c -> c**2 @ np.diag(covariance)",
    },
)
TASKS = {"posterior": POSTERIOR, "factors": FACTORS, "round": ROUND, "ratio": RATIO}
