"""How much to trust the model. Roads: the objective searched for its lowest place; points passed through one at a time."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _shift_by_search(y: np.ndarray, h_q: np.ndarray, sd: float, nu: float, by_point: float | None = None) -> float:
    gap, prior = y - h_q, nu if by_point is None else by_point

    def objective(shift: float) -> float:
        return float(((gap - shift) ** 2).sum() / len(gap) + prior * shift**2 / (2 * sd**2))

    return float(minimize_scalar(objective).x)


def _risks_by_search(y: np.ndarray, h_q: np.ndarray, sd: float, fold: np.ndarray, nus: np.ndarray) -> np.ndarray:
    out = np.zeros((len(nus), int(fold.max()) + 1))
    for row, nu in enumerate(nus):
        for k in range(out.shape[1]):
            others = [n for n in range(len(y)) if fold[n] != k]
            shift = _shift_by_search(y[others], h_q[others], sd, nu)
            mine = [(y[n] - h_q[n] - shift) ** 2 for n in range(len(y)) if fold[n] == k]
            out[row, k] = sum(mine) / len(mine)
    return out


def _choice_by_sorting(nus: np.ndarray, risks: np.ndarray) -> float:
    """Lowest mean risk first, then the largest nu."""
    return float(sorted((sum(row) / len(row), -nu) for nu, row in zip(nus, risks, strict=True))[0][1] * -1)


def shift_stub(y: np.ndarray, h_q: np.ndarray, sd: float, nu: float) -> Any:
    raise NotImplementedError


def risks_stub(y: np.ndarray, h_q: np.ndarray, sd: float, fold: np.ndarray, nus: np.ndarray) -> Any:
    raise NotImplementedError


def choose_stub(nus: np.ndarray, risks: np.ndarray) -> Any:
    raise NotImplementedError


def _shift(gap, sd, nu):
    return 2 * gap.mean() / (2 + nu / sd**2)


def _risks(learn_from, judge_on, *, extra=lambda shift, sd, nu: 0.0, average=np.mean):
    def answer(y, h_q, sd, fold, nus):
        gap, out = y - h_q, np.zeros((len(nus), fold.max() + 1))
        for row, nu in enumerate(nus):
            for k in range(out.shape[1]):
                shift = _shift(gap[learn_from(fold, k)], sd, nu)
                out[row, k] = average((gap[judge_on(fold, k)] - shift) ** 2) + extra(shift, sd, nu)
        return out

    return answer


def _with_shift_turned(y, h_q, sd, fold, nus):
    gap = y - h_q
    return np.array([[((gap[fold == k] + _shift(gap[fold != k], sd, nu)) ** 2).mean() for k in range(fold.max() + 1)] for nu in nus])


def _mine(fold, k):
    return fold == k


def _others(fold, k):
    return fold != k


def _all(fold, _k):
    return fold >= 0


def _error_of_best(risks):
    best = risks[np.argmin(risks.mean(axis=1))]
    return best.std(ddof=1) / np.sqrt(len(best))


SHIFT_MISTAKES = {
    "prior summed": Mistake(
        lambda y, h_q, sd, nu: _shift_by_search(y, h_q, sd, nu, len(y) * nu),
        "Your prior is summed over the points and your loss is averaged. Average both.",
    ),
    "loss summed": Mistake(
        lambda y, h_q, sd, nu: _shift_by_search(y, h_q, sd, nu, nu / len(y)),
        "Your prior counts for one point beside the loss of all: either the loss is summed, or the sum over n after nu/N is missing "
        "(b^2 stands there N times).",
    ),
    "slope of the square": Mistake(
        lambda y, h_q, sd, nu: (y - h_q).mean() / (1 + nu / sd**2),
        "Half the data's weight is missing: the slope of (h - y)^2 is 2 (h - y), and the prior's has no 2.",
    ),
    "sd as variance": Mistake(
        lambda y, h_q, sd, nu: _shift(y - h_q, np.sqrt(sd), nu),
        "You divided by sd where its square belongs.",
    ),
    "sd upside down": Mistake(
        lambda y, h_q, sd, nu: _shift(y - h_q, 1 / sd, nu),
        "You multiplied nu by the square of sd. Divide: where the prior is narrow, it pulls harder.",
    ),
    "half of the prior": Mistake(
        lambda y, h_q, sd, nu: _shift(y - h_q, sd, nu / 2),
        "You lost half of the prior: the slope of b^2 / (2 sd^2) is b / sd^2.",
    ),
    "wrong sign": Mistake(
        lambda y, h_q, sd, nu: -_shift(y - h_q, sd, nu),
        "The wrong way: if the outcomes lie above the decisions, the shift is positive.",
    ),
    "model forgotten": Mistake(
        lambda y, h_q, sd, nu: _shift(y, sd, nu),
        "You pulled the decisions towards 0. The shift is added to the model's own decisions: it is about y - h_q.",
    ),
    "no prior": Mistake(
        lambda y, h_q, sd, nu: (y - h_q).mean(),
        "That is the shift for nu = 0. The prior draws it towards 0.",
    ),
    "the decisions": Mistake(
        lambda y, h_q, sd, nu: h_q + _shift(y - h_q, sd, nu),
        "Those are the corrected decisions. The one number that is added to all of them was asked for.",
    ),
}
RISKS_MISTAKES = {
    "judged on what was learnt from": Mistake(
        _risks(_others, _others),
        "You judged each shift on the points that it was learnt from. There nu = 0 always looks best; judge on the fold left out.",
    ),
    "learnt from all": Mistake(
        _risks(_all, _mine),
        "Your shift has seen the fold that judges it. Learn from the other folds only.",
    ),
    "judged on all": Mistake(
        _risks(_others, _all),
        "You judged on all points, most of which the shift was learnt from. Only the fold that was left out counts.",
    ),
    "all on all": Mistake(
        _risks(_all, _all),
        "You learnt from all points and judged on all of them: that is the training risk. There nu = 0 always looks best.",
    ),
    "learnt from the fold and judged on it": Mistake(
        _risks(_mine, _mine),
        "You learnt from one fold and judged on the same. Learn from the others.",
    ),
    "folds exchanged": Mistake(
        _risks(_mine, _others),
        "You learnt from one fold and judged on the others. It is the other way round: learn from the many, judge on the one left out.",
    ),
    "prior in the verdict": Mistake(
        _risks(_others, _mine, extra=lambda shift, sd, nu: nu * shift**2 / (2 * sd**2)),
        "The points left out should judge by the loss alone. With the prior in it a large nu is fined twice.",
    ),
    "summed": Mistake(
        _risks(_others, _mine, average=np.sum),
        "You summed the losses of a fold. Take their mean: folds differ in size.",
    ),
    "folds in the rows": Mistake(
        lambda *case: _risks(_others, _mine)(*case).T,
        "The risks are right, and their table is turned: a row for each nu, please.",
    ),
    "no shift": Mistake(
        lambda y, h_q, sd, fold, nus: np.array([[((y - h_q)[fold == k] ** 2).mean() for k in range(fold.max() + 1)] for _ in nus]),
        "Those are the risks of the model's own decisions. Add the shift that the other folds teach.",
    ),
    "shift taken away": Mistake(
        _with_shift_turned,
        "Your shift goes the wrong way. The corrected decision is h_q + b, so that y - h_q - b is what is left of a point.",
    ),
    "a fold's part of the whole": Mistake(
        lambda y, h_q, sd, fold, nus: _risks(_others, _mine, average=np.sum)(y, h_q, sd, fold, nus) / len(y),
        "You divided the losses of a fold by the number of all points. Each entry is a mean over the points of its own fold.",
    ),
    "one nu for all": Mistake(
        lambda y, h_q, sd, fold, nus: _risks(_others, _mine)(y, h_q, sd, fold, np.zeros(len(nus))),
        "All your rows are those of nu = 0. Each row has its own nu.",
    ),
    "root": Mistake(
        lambda *case: np.sqrt(_risks(_others, _mine)(*case)),
        "You took the root. The mean squared loss was asked for.",
    ),
    "one number for each nu": Mistake(
        lambda *case: _risks(_others, _mine)(*case).mean(axis=1),
        "You have averaged over the folds already. Keep them apart here: how far they differ says how sure the choice is.",
    ),
}
CHOOSE_MISTAKES = {
    "the index": Mistake(
        lambda nus, risks: int(np.argmin(risks.mean(axis=1))),
        "That is a place in the list. The nu that stands there was asked for.",
    ),
    "least faithful of equals": Mistake(
        lambda nus, risks: min(nus[risks.mean(axis=1) == risks.mean(axis=1).min()]),
        "Right but for equal risks: then take the largest nu, which stays nearest to the model.",
    ),
    "first of equals": Mistake(
        lambda nus, risks: nus[np.argmin(risks.mean(axis=1))],
        "Right but for equal risks: argmin takes the first that it meets. Take the largest nu, which stays nearest to the model.",
    ),
    "last of equals": Mistake(
        lambda nus, risks: nus[::-1][np.argmin(risks.mean(axis=1)[::-1])],
        "Right but for equal risks: you took the last in the list, and the list need not be sorted. Take the largest nu.",
    ),
    "one lucky fold": Mistake(
        lambda nus, risks: nus[np.argmin(risks.min(axis=1))],
        "You let the luckiest fold decide. Average over the folds first.",
    ),
    "middle fold": Mistake(
        lambda nus, risks: max(nus[np.median(risks, axis=1) == np.median(risks, axis=1).min()]),
        "You let the middle fold decide. Average over the folds: a fold in which a nu does badly counts, too.",
    ),
    "worst fold": Mistake(
        lambda nus, risks: nus[np.argmin(risks.max(axis=1))],
        "You let the worst fold decide. Average over the folds first.",
    ),
    "most folds": Mistake(
        lambda nus, risks: nus[np.argmax((risks == risks.min(axis=0)).sum(axis=1))],
        "You took the nu that wins most folds. By how much it wins or loses counts, too: average over the folds.",
    ),
    "nearly as good": Mistake(
        lambda nus, risks: nus[risks.mean(axis=1) <= risks.mean(axis=1).min() * (1 + 1e-9) + _error_of_best(risks)].max(),
        "You took the largest nu that is nearly as good. Only equal risks count here.",
    ),
    "over the nus": Mistake(
        lambda nus, risks: nus[np.argmin(risks.mean(axis=0))],
        "You averaged over the nus, down the columns. A row belongs to one nu: average along it, axis 1.",
    ),
    "highest": Mistake(
        lambda nus, risks: nus[np.argmax(risks.mean(axis=1))],
        "You took the highest risk.",
    ),
    "largest nu": Mistake(lambda nus, risks: nus.max(), "You took the largest nu of all, whatever the risks are."),
}


def _points(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    h_q = rng.normal(2, 1, n)
    return h_q + rng.normal(0.7, 1, n), h_q


def shift_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 850])
    return judge(
        answer,
        [(*_points(rng, n), float(rng.uniform(0.4, 0.8)), nu) for n, nu in [(5, 0.5), (9, 2.0)]],
        _shift_by_search,
        SHIFT_MISTAKES,
        right="Right. The larger nu, the smaller the share of the mean error that is taken away.",
        nudge="Not that shift. With y = [2, 4, 9], h_q = [1, 1, 1], sd = 1/2 and nu = 2 it is 4/5.",
    )


def risks_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 851])
    cases = []
    for n, folds in [(8, 3), (13, 5)]:
        fold = rng.permutation(np.arange(n) % folds)
        cases.append((*_points(rng, n), float(rng.uniform(0.4, 0.8)), fold, np.array([0.0, 0.2, 1.0])))
    return judge(
        answer,
        cases,
        _risks_by_search,
        RISKS_MISTAKES,
        right="Right. Every number comes from points that the shift has never seen.",
        nudge="Not these risks. With y = [1, 5, 8, 2, 10], h_q = [0, 0, 0, 0, 0], sd = 1, fold = [0, 0, 0, 1, 2] and nus = [0, 2] they are "
        "[[10, 16, 36], [11, 1, 64]]. If Part 1 is not right yet, mend that first.",
    )


def choose_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 852])
    unit = 0.3 * 2.0 ** rng.integers(-3, 4)  # no nu but 0 is a place in the list
    # the first, the last, the smallest and the largest of equals are four different ones
    nus = unit * np.array([1.0, 4.0, 0.0, 8.0, 2.0])
    tied = rng.integers(0, 9) + np.array([[4.0, 5.0, 3.0], [5.0, 4.0, 3.0], [6.0, 3.0, 3.0], [6.0, 6.0, 6.0], [4.0, 4.0, 4.0]])
    clear = rng.integers(0, 9) + np.array([[9.0, 1.0, 9.0], [7.0, 7.0, 7.0], [4.0, 7.0, 4.0], [3.0, 9.15, 3.0], [5.5, 6.5, 6.5]])
    order = rng.permutation(5)
    return judge(
        answer,
        [(nus, tied), (nus, clear), (nus[order], clear[order])],
        _choice_by_sorting,
        CHOOSE_MISTAKES,
        right="Right. Where the points left out cannot tell, the model has the benefit of the doubt.",
        nudge="Not that nu. With nus = [1, 2, 0.5, 4] and the risks [0, 3], [2, 1], [1.5, 1.5] and [2, 1.01] of two folds it is 2.",
    )


TASKS = (
    Task(
        "posthoc/nu/shift",
        "Choose nu: one number for all",
        2,
        8,
        shift_stub,
        (
            "All points share the shift, and the prior knows how far each may go. Write the objective as a function of the shift alone.",
            "mean of (y - h_q - b)^2, plus nu b^2 / (2 sd^2). Its slope in b is zero at the lowest place.",
            "Begin with `gap = y - h_q`",
        ),
        SHIFT_MISTAKES,
        shift_verdict,
    ),
    Task(
        "posthoc/nu/risks",
        "Choose nu: by points left out",
        2,
        12,
        risks_stub,
        (
            "Every fold takes its turn at being left out. The shift is learnt without it and judged on it alone.",
            "risk[i, k] = mean over the points n of fold k of (y_n - h_qn - b)^2, with b learnt with nu_i from all other folds.",
            "Inside two loops, over the nus and over the folds, begin with `left_out = fold == k`",
        ),
        RISKS_MISTAKES,
        risks_verdict,
    ),
    Task(
        "posthoc/nu/choose",
        "Choose nu: the choice",
        2,
        6,
        choose_stub,
        (
            "Average each row over its folds, and see which rows are lowest. Then mind what to do if there are several.",
            "The largest nu_i among those with mean_k risk[i, k] = min_j mean_k risk[j, k].",
            "Begin with `means = risks.mean(axis=1)`",
        ),
        CHOOSE_MISTAKES,
        choose_verdict,
    ),
)
