"""How much to trust the model. Roads: the objective searched for its lowest place; points passed through one at a time."""

import numpy as np
from scipy.optimize import minimize_scalar

from course_pkg.checks.record import Record

shift_by_search = lambda y, h_q, sd, nu: minimize_scalar(lambda b: np.mean((y - h_q - b) ** 2) + nu * b**2 / (2 * sd**2)).x


def risks_by_search(y, h_q, sd, fold, nus):
    out = np.zeros((len(nus), max(fold) + 1))
    for row, k in np.ndindex(out.shape):
        others = [n for n in range(len(y)) if fold[n] != k]
        shift = shift_by_search(y[others], h_q[others], sd, nus[row])
        out[row, k] = np.mean([(y[n] - h_q[n] - shift) ** 2 for n in range(len(y)) if fold[n] == k])
    return out


# Lowest mean risk first, then the largest nu
choice_by_sorting = lambda nus, risks: -min((sum(row) / len(row), -nu) for nu, row in zip(nus, risks, strict=True))[1]


def points(rng, n):
    h_q = rng.normal(2, 1, n)
    return h_q + rng.normal(0.7, 1, n), h_q, rng.uniform(0.4, 0.8)


dealt = lambda rng: [(*points(rng, n), rng.permutation(np.arange(n) % folds), np.array([0.0, 0.2, 1.0])) for n, folds in [(8, 3), (13, 5)]]


def tables(rng):
    unit = 0.3 * 2.0 ** rng.integers(-3, 4)  # no nu but 0 is a place in the list
    # the first, the last, the smallest and the largest of equals are four different ones
    nus = unit * np.array([1.0, 4.0, 0.0, 8.0, 2.0])
    tied = rng.integers(0, 9) + np.array([[4.0, 5.0, 3.0], [5.0, 4.0, 3.0], [6.0, 3.0, 3.0], [6.0, 6.0, 6.0], [4.0, 4.0, 4.0]])
    clear = rng.integers(0, 9) + np.array([[9.0, 1.0, 9.0], [7.0, 7.0, 7.0], [4.0, 7.0, 4.0], [3.0, 9.15, 3.0], [5.5, 6.5, 6.5]])
    order = rng.permutation(5)
    return [(nus, tied), (nus, clear), (nus[order], clear[order])]


SHIFT = Record(
    cases=lambda rng: [(*points(rng, n), nu) for n, nu in [(5, 0.5), (9, 2.0)]],
    reference=shift_by_search,
    right="Right. The larger nu, the smaller the share of the mean error that is taken away.",
    nudge="Not that shift. With y = [2, 4, 9], h_q = [1, 1, 1], sd = 1/2 and nu = 2 it is 4/5.",
    hints=(
        "All points share the shift, and the prior knows how far each may go. Write the objective as a function of the shift alone.",
        "mean of (y - h_q - b)^2, plus nu b^2 / (2 sd^2). Its slope in b is zero at the lowest place.",
        "Begin with `gap = y - h_q`",
    ),
    mistakes={
        "Your prior is summed over the points and your loss is averaged. Average both.": "+ nu -> + len(y) * nu",
        "Your shift does not know sd. A narrow prior holds it back more than a wide one.": "/ sd**2 -> || + nu / sd**2 -> + 2 * nu",
        "Your prior counts for one point beside the loss of all: b^2 stands there n times, too.": "+ nu -> + nu / len(y)",
        "Half the data's weight is missing: the slope of (h - y)^2 is 2 (h - y), and the prior's has no 2.": "+ nu -> + 2 * nu",
        "Without a prior yours is twice the mean error: the slope of (y - h_q - b)^2 has its 2 before b as well.": "(2 + nu -> (1 + nu",
    },
)
RISKS = Record(
    cases=dealt,
    reference=risks_by_search,
    right="Right. Every number comes from points that the shift has never seen.",
    nudge="Not these risks. With y = [1, 5, 8, 2, 10], h_q = [0, 0, 0, 0, 0], sd = 1, fold = [0, 0, 0, 1, 2] and nus = [0, 2] they are "
    "[[10, 16, 36], [11, 1, 64]]. If Part 1 is not right yet, mend that first.",
    hints=(
        "Every fold takes its turn at being left out. The shift is learnt without it and judged on it alone.",
        "risk[i, k] = mean over the points n of fold k of (y_n - h_qn - b)^2, with b learnt with nu_i from all other folds.",
        "Inside two loops, over the nus and over the folds, begin with `left_out = fold == k`",
    ),
    mistakes={
        "You judged each shift on the points that it was learnt from. There nu = 0 always looks best; judge on the fold left out.": "fold == k -> fold != k",
        "Your shift has seen the fold that judges it. Learn from the other folds only.": "fold != k -> fold >= 0",
        "You judged on all points, most of which the shift was learnt from. Only the fold that was left out counts.": "fold == k -> fold >= 0",
        "You learnt from one fold and judged on the others. It is the other way round.": "learn, left_out = -> left_out, learn =",
        "The points left out should judge by the loss alone. With the prior in it a large nu is fined twice.": ".mean() -> .mean() + nu * b**2 / (2 * sd**2)",
    },
)
ONE_FOLD = "risks.mean(axis=1) -> np.median(risks, axis=1) || " + " || ".join(
    f"risks.mean(axis=1) -> risks.{f}(axis=1) ;; means == means.min()].max() -> np.argmin(means)]" for f in ("min", "max")
)
CHOOSE = Record(
    cases=tables,
    reference=choice_by_sorting,
    right="Right. Where the points left out cannot tell, the model has the benefit of the doubt.",
    nudge="Not that nu. With nus = [1, 2, 0.5, 4] and the risks [0, 3], [2, 1], [1.5, 1.5] and [2, 1.01] of two folds it is 2.",
    hints=(
        "Average each row over its folds, and see which rows are lowest. Then mind what to do if there are several.",
        "The largest nu_i among those with mean_k risk[i, k] = min_j mean_k risk[j, k].",
        "Begin with `means = risks.mean(axis=1)`",
    ),
    mistakes={
        "That is a place in the list. The nu that stands there was asked for.": "nus[means == means.min()].max() -> np.argmin(means)",
        "Right but for equal risks: of these take the largest nu, which stays nearest to the model. It need be neither the first in the list nor the last.": "].max() -> ].min() || nus[means == means.min()].max() -> nus[np.argmin(means)] || ].max() -> ][-1]",
        "You let one fold decide. Average over the folds: by how much a nu wins or loses on each counts.": ONE_FOLD,
        "You took the nu that wins most folds. By how much it wins or loses counts, too: average over the folds.": (
            "means == means.min()].max() -> np.argmax((risks == risks.min(axis=0)).sum(axis=1))]"
        ),
        "You averaged over the nus. A row belongs to one nu: average along it, axis 1.": "means == means.min()].max() -> np.argmin(risks.mean(axis=0))]",
    },
)
TASKS = {"shift": SHIFT, "risks": RISKS, "choose": CHOOSE}
