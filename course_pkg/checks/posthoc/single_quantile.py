"""One quantile for all points. Roads: the expected loss by quadrature, minimised over levels; every level tried on every point."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def _tilted(y: Any, h: Any, q: float) -> Any:
    return np.where(h <= y, q * (y - h), (1 - q) * (h - y))


def _level_by_search(q: float, shift: float, spread: float, believed: float) -> float:
    """The level of N(0, believed^2) whose quantile costs least when the truth is N(shift, spread^2)."""

    def expected_loss(h: float) -> float:
        total = 0.0
        for low, high in ((shift - 9 * spread, h), (h, shift + 9 * spread)):  # the loss has its corner at h
            y = (low + high) / 2 + (high - low) / 2 * NODES
            total += (high - low) / 2 * float(WEIGHTS @ (_tilted(y, h, q) * norm.pdf(y, shift, spread)))
        return total

    reach = 6 * spread
    h = minimize_scalar(expected_loss, bounds=(shift - reach, shift + reach), method="bounded", options={"xatol": 1e-9}).x
    return float(norm.cdf(h / believed))


def _best_by_trying(levels: np.ndarray, quantiles: np.ndarray, y: np.ndarray, q: float) -> float:
    lowest, best = np.inf, np.nan
    for k, level in enumerate(levels):
        cost = 0.0
        for n, truth in enumerate(y):
            gap = truth - quantiles[n, k]
            cost += q * gap if gap > 0 else (q - 1) * gap
        if cost < lowest:
            lowest, best = cost, float(level)
    return best


def level_stub(q: float, shift: float, spread: float, believed: float) -> Any:
    raise NotImplementedError


def choose_stub(levels: np.ndarray, quantiles: np.ndarray, y: np.ndarray, q: float) -> Any:
    raise NotImplementedError


def _coverage(levels, quantiles, y, q):
    return levels[np.argmin(np.abs((y[:, None] <= quantiles).mean(axis=0) - q))]


def _own(levels, quantiles, y, q):
    """The level that would have been best for each point alone."""
    return levels[_tilted(y[:, None], quantiles, q).argmin(axis=1)]


LEVEL_MISTAKES = {
    "q itself": Mistake(
        lambda q, shift, spread, believed: q,
        "That level is right for somebody whose predictive is right. Where does the true q-quantile lie in this one?",
    ),
    "truth and belief swapped": Mistake(
        lambda q, shift, spread, believed: norm.cdf((believed * norm.ppf(q) - shift) / spread),
        "You asked how likely the truth lies below the model's quantile. The other way round: from the true quantile to the model's level.",
    ),
    "shift forgotten": Mistake(
        lambda q, shift, spread, believed: norm.cdf(spread * norm.ppf(q) / believed),
        "The widths are right. The truth also lies `shift` above what the model believes.",
    ),
    "shift the wrong way": Mistake(
        lambda q, shift, spread, believed: norm.cdf((spread * norm.ppf(q) - shift) / believed),
        "The shift has the wrong sign: where the truth lies higher than the model believes, decide higher.",
    ),
    "widths forgotten": Mistake(
        lambda q, shift, spread, believed: norm.cdf(norm.ppf(q) + shift / believed),
        "The shift is right. The truth's width is not the model's.",
    ),
    "one over the width": Mistake(
        lambda q, shift, spread, believed: norm.cdf((shift + believed * norm.ppf(q)) / spread),
        "The two widths have changed places: the true quantile lies at shift + spread * norm.ppf(q).",
    ),
    "variances for widths": Mistake(
        lambda q, shift, spread, believed: norm.cdf((shift + spread**0.5 * norm.ppf(q)) / believed**0.5),
        "`spread` and `believed` are standard deviations: take no roots.",
    ),
    "widths squared": Mistake(
        lambda q, shift, spread, believed: norm.cdf((shift + spread**2 * norm.ppf(q)) / believed**2),
        "`spread` and `believed` are standard deviations, not to be squared: a normal's quantiles are its mean plus z standard deviations.",
    ),
    "the other side": Mistake(
        lambda q, shift, spread, believed: norm.cdf((shift + spread * norm.ppf(1 - q)) / believed),
        "You took the true (1 - q)-quantile. Deciding too low costs q: with a large q, decide high.",
    ),
    "not standardised": Mistake(
        lambda q, shift, spread, believed: norm.cdf(shift + spread * norm.ppf(q)),
        "norm.cdf is the standard normal's. The model's has width `believed`.",
    ),
    "no probability": Mistake(
        lambda q, shift, spread, believed: (shift + spread * norm.ppf(q)) / believed,
        "That is a z value: how many of the model's widths the decision lies above its mean. `norm.cdf` makes a level of it.",
    ),
    "the density": Mistake(
        lambda q, shift, spread, believed: norm.pdf((shift + spread * norm.ppf(q)) / believed),
        "`norm.pdf` is how high the density stands there. The level is the probability below, `norm.cdf`.",
    ),
    "the quantile": Mistake(
        lambda q, shift, spread, believed: shift + spread * norm.ppf(q),
        "That is the decision. Its level in the model's predictive was asked for.",
    ),
}
CHOOSE_MISTAKES = {
    "the sides swapped": Mistake(
        lambda levels, quantiles, y, q: _best_by_trying(levels, quantiles, y, 1 - q),
        "The two sides of your loss have changed places: deciding too low costs q for each unit, too high 1 - q.",
    ),
    "absolute": Mistake(
        lambda levels, quantiles, y, q: _best_by_trying(levels, quantiles, y, 0.5),
        "Your loss is as dear on one side as on the other.",
    ),
    "the index": Mistake(
        lambda levels, quantiles, y, q: int(np.argmin([_tilted(y, h, q).mean() for h in quantiles.T])),
        "That is the place of the level in the list. The level was asked for.",
    ),
    "nearest to q": Mistake(
        lambda levels, quantiles, y, q: levels[np.argmin(np.abs(levels - q))],
        "You did not look at y. The level q is right only if the predictive is.",
    ),
    "dearest": Mistake(
        lambda levels, quantiles, y, q: levels[np.argmax([_tilted(y, h, q).mean() for h in quantiles.T])],
        "You have found the dearest level.",
    ),
    "each point its own": Mistake(
        lambda levels, quantiles, y, q: _own(levels, quantiles, y, q).mean(),
        "You let each point choose, and averaged. All points must use one level.",
    ),
    "by majority": Mistake(
        lambda levels, quantiles, y, q: max(levels, key=lambda level: (_own(levels, quantiles, y, q) == level).sum()),
        "You let each point choose, and took the level chosen most often. All points must use one level: ask what it costs them together.",
    ),
    "negative costs": Mistake(
        lambda levels, quantiles, y, q: levels[
            np.argmin((np.where(quantiles <= y[:, None], q, 1 - q) * (y[:, None] - quantiles)).mean(axis=0))
        ],
        "Where a decision is too high, your cost is negative. A distance counts as positive on both sides: (1 - q)(h - y) there.",
    ),
    "coverage": Mistake(
        _coverage,
        "You counted how many outcomes lie below. The loss also asks how far: an error at a point with a wide predictive costs more.",
    ),
    "squared": Mistake(
        lambda levels, quantiles, y, q: levels[np.argmin(((y[:, None] - quantiles) ** 2).mean(axis=0))],
        "That level is best for the squared loss. This one is tilted.",
    ),
    "tilted and squared": Mistake(
        lambda levels, quantiles, y, q: levels[
            np.argmin((np.where(quantiles <= y[:, None], q, 1 - q) * (y[:, None] - quantiles) ** 2).mean(axis=0))
        ],
        "You squared the distances. The tilted loss grows with the distance itself.",
    ),
    "signs lost": Mistake(
        lambda levels, quantiles, y, q: levels[np.argmin(np.where(quantiles <= y[:, None], q, 1 - q).mean(axis=0))],
        "You charged for the side and not for the distance. Each unit of distance costs q or 1 - q.",
    ),
    "the lowest risk": Mistake(
        lambda levels, quantiles, y, q: min(_tilted(y, h, q).mean() for h in quantiles.T),
        "That is what the best level costs. The level was asked for.",
    ),
}


def level_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 800])
    cases = []
    for q, sign in [(0.1, 1), (0.8, -1), (0.5, 1)]:
        spread, believed = map(float, rng.uniform([0.6, 1.3], [1.1, 2.0]))
        cases.append((q, sign * float(rng.uniform(0.3, 0.8)), spread, believed))
    return judge(
        answer,
        cases,
        _level_by_search,
        LEVEL_MISTAKES,
        right="Right. With no shift and q = 1/2 it is 1/2, however wrong the width: there the error costs nothing.",
        nudge="Not that level. With q = 1/2, shift = 1 and believed = 2 it is 0.691, whatever the spread; with q = 0.9, shift = 0, "
        "spread = 2 and believed = 4 it is 0.739.",
    )


def _case(rng: np.random.Generator, levels: np.ndarray, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    wide = rng.random(60) < 0.3
    believed = np.where(wide, 6.0, 1.0)
    # a narrow predictive lies too high and a wide one too low: few points, where much is at stake, against many
    y = np.where(wide, 0.6, -0.5) * believed + 0.5 * believed * rng.normal(size=60)
    return levels, believed[:, None] * norm.ppf(levels)[None, :], y, q


def _told_apart(cases: list[tuple[np.ndarray, np.ndarray, np.ndarray, float]]) -> bool:
    """Whether each mistake shows in every case, and no two mistakes give the same answers."""
    best, *wrong = np.array(
        [[answer(*case) for case in cases] for answer in (_best_by_trying, *(m.answer for m in CHOOSE_MISTAKES.values()))]
    )
    return len(np.unique(wrong, axis=0)) == len(wrong) and bool((np.abs(wrong - best) > 0.01).all())


def choose_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 801])
    levels = np.arange(1, 20) / 20
    cases = [_case(rng, levels, q) for q in (0.1, 0.3, 0.8)]
    while not _told_apart(cases):
        cases = [_case(rng, levels, q) for q in (0.1, 0.3, 0.8)]
    return judge(
        answer,
        cases,
        _best_by_trying,
        CHOOSE_MISTAKES,
        right="Right. This is the least that anything cleverer has to beat: it learns one number, for all points.",
        nudge="Not that level. With levels [0.2, 0.5, 0.8], y = [8, 8, 8], q = 0.25 and the quantiles [0, 8, 12], [0, 11, 12] and "
        "[0, 11, 12] of the three points the levels cost 2, 1.5 and 3, so that 0.5 is the best.",
    )


TASKS = (
    Task(
        "posthoc/single-quantile/level",
        "One quantile for all: which level?",
        1,
        9,
        level_stub,
        (
            "First find the best decision under the truth, then ask where the model's predictive has it.",
            "The best decision is the true q-quantile, shift + spread * z with Phi(z) = q. A normal of width s has h at level Phi(h / s).",
            "Begin with `best = shift + spread * norm.ppf(q)`",
        ),
        LEVEL_MISTAKES,
        level_verdict,
    ),
    Task(
        "posthoc/single-quantile/choose",
        "One quantile for all: from outcomes",
        1,
        9,
        choose_stub,
        (
            "Pretend, for one level after another, that everybody had decided by it. What would it have cost?",
            "Risk of level k: the mean over n of q (y_n - h_nk) where h_nk <= y_n, and of (1 - q)(h_nk - y_n) where it is larger.",
            "Begin with `gap = y[:, None] - quantiles`",
        ),
        CHOOSE_MISTAKES,
        choose_verdict,
    ),
)
