"""Solve or train? Roads: differences of the mean loss, which has straight pieces; a search for the cheapest number of draws and a root."""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from course_pkg.checks.record import Record
from solutions.lcvi._tools import slope as difference


def mean_loss(w, X, y, kappa):
    gap = y - X @ w
    return np.where(gap > 0, kappa * gap, (kappa - 1) * gap).mean()


def slope_by_differences(w, X, y, kappa):
    return np.array([difference(lambda move: mean_loss(w + move * unit, X, y, kappa), 0.0, 1e-7) for unit in np.eye(len(w))])  # noqa: B023


def points_by_search(c, price, T, e):
    found = minimize_scalar(
        lambda log_s: c / np.exp(log_s) + price * np.exp(log_s), bounds=(-20, 20), method="bounded", options={"xatol": 1e-9}
    )
    if found.fun <= e:
        return np.inf
    top = 2 * T * price / (found.fun - e)
    return brentq(lambda n: T * price + n * e - n * found.fun, 0.0, top, xtol=1e-9 * top)


def minibatches(rng):
    """Skewed draws: here and there their mean lies on another side of the decision than most of them."""
    for b, d, S in ((7, 3, 5), (9, 2, 4), (6, 4, 8)):
        X, w = rng.normal(0.4, 1.0, (b, d)), rng.normal(0, 0.7, d)
        yield w, X, X @ w + rng.exponential(2.0, (S, b)) - 1.4, rng.choice([0.15, 0.3, 0.8]) + rng.uniform(-0.05, 0.05)


def bills(rng):
    """The rule leaves between a third and two thirds of what solving costs."""
    for c, price in ((0.3, 0.002), (0.8, 0.01), (5.0, 0.3)):
        c, price = np.array([c, price]) * rng.uniform(0.7, 1.4, 2)
        yield c, price, rng.uniform(2e3, 5e4), 2 * np.sqrt(c * price) * rng.uniform(0.3, 0.45)


SLOPE = Record(
    cases=minibatches,
    reference=slope_by_differences,
    apart=True,
    right="Right. At rest, as large a share of the draws as the level says lies below the decision, in the mean over the points.",
    nudge="Not that slope. With w = [1], X = [[2], [1]], y = [[3, 1.1], [1.9, 5]] and kappa = 0.3 it is (2 (1/2 - 0.3) + (0 - 0.3)) / 2 = 0.05.",
    hints=(
        "How does the loss of one draw at one point change with h? It has two straight pieces. And how does h change with w?",
        "d loss / dh is 1 - kappa if y < h, and -kappa if y > h, so 1[y < h] - kappa; and dh / dw_j = X_ij.",
        "Begin with `h = X @ w`",
    ),
    mistakes={
        "The two prices have changed places: a unit too many costs 1 - kappa, a unit too few kappa.": "- kappa -> - (1 - kappa)",
        "You count the draws above the decision. Where y is above h, more of h lowers the loss.": "y < h -> y > h",
        "You took the draws' mean for the draws: its loss is not their mean loss, and a quantile is lost.": "np.mean(y < h, axis=0) -> (y.mean(axis=0) < h) * 1.0",
        "You left the draws that are above the decision out. They cost kappa for each unit.": "too_much - kappa -> too_much * (1 - kappa)",
        "You averaged the slopes in h and the features apart. Each point's slope goes with its own features.": "X.T @ by_h / len(h) -> X.mean(axis=0) * by_h.mean()",
    },
)
POINTS = Record(
    cases=bills,
    reference=points_by_search,
    right="Right. Draws are spent once, and the regret comes back at every point.",
    nudge="Not that number. With c = 9, price = 4, T = 50 and e = 2 solving takes 1.5 draws and costs 12 a point, so it is 200 / (12 - 2) = 20.",
    hints=(
        "What does one point cost whoever solves? First choose S for it. Then compare a cost per point with one that is paid once.",
        "c / S + price S is least where its derivative -c / S^2 + price is 0. Then N (that cost) = T price + N e.",
        "Begin with `S = np.sqrt(c / price)`",
    ),
    mistakes={
        "The draws of the solver are not paid. At the best S they cost as much as the regret that they leave.": "c / S + price * S -> c / S",
        "You took one draw a point, or S = c / price. Where is the derivative of c / S + price S zero?": "np.sqrt(c / price) -> c / price",
        "Your S is upside down: dear draws, few draws.": "np.sqrt(c / price) -> np.sqrt(price / c)",
    },
    later={
        "Right where the rule is good enough. If its regret is at least what solving costs at a point, training never pays: return np.inf, "
        "and no negative number.": (
            lambda rng: [(c, 0.01, 1e4, 2 * np.sqrt(c * 0.01) * rng.uniform(1.2, 3)) for c in rng.uniform(0.2, 2, 2)],
            "e >= solved -> e == solved",
        ),
    },
)
TASKS = {"slope": SLOPE, "points": POINTS}
