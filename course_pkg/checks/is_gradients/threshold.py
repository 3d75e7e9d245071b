"""A threshold for the effective sample size. Roads: cycles summed one by one; signs counted; runs added up by hand."""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import quiet
from course_pkg.checks._tables import telling, with_kin


def _pace_by_cycles(model: float, rest: float, reuse: float) -> float:
    """A cycle is a fresh step and the reused ones that follow it: k of them with probability reuse^k (1 - reuse)."""
    k = np.arange(5000)
    chance = reuse**k * (1 - reuse)
    steps, time = chance @ (1 + k), chance @ (model + rest * (1 + k))
    return float(steps / time * (model + rest))


def _agreement_by_counting(gradients: np.ndarray) -> float:
    total = 0
    for before, after in pairwise(gradients):
        for a, b in zip(before, after, strict=True):
            total += int(a * b > 0) - int(a * b < 0)
    return total / ((len(gradients) - 1) * gradients.shape[1])


def _choice_by_hand(leasts: np.ndarray, steps: np.ndarray, gradients: np.ndarray, model: float, rest: float, budget: float) -> float:
    best, found = np.inf, np.nan
    for i, least in enumerate(leasts):
        total = 0.0
        for s, g in zip(steps[i], gradients[i], strict=True):
            total += min(budget, g * model + s * rest)
        if total < best:
            best, found = total, float(least)
    return found


def pace_stub(model: float, rest: float, reuse: float) -> Any:
    raise NotImplementedError


def agreement_stub(gradients: np.ndarray) -> Any:
    raise NotImplementedError


def choose_stub(leasts: np.ndarray, steps: np.ndarray, gradients: np.ndarray, model: float, rest: float, budget: float) -> Any:
    raise NotImplementedError


PACE_MISTAKES = {
    "cheap half free": Mistake(
        lambda model, rest, reuse: 1 / (1 - reuse),
        "That would be so if the rest of a step took no time. Every step pays for it.",
    ),
    "probability of the other": Mistake(
        lambda model, rest, reuse: (model + rest) / (reuse * model + rest),
        "You took `reuse` for the probability of a fresh gradient. Both readings have been printed; here it is that of reusing.",
    ),
    "SGD for less": Mistake(
        lambda model, rest, reuse: model / ((1 - reuse) * model + rest),
        "Close where a model gradient costs much more than the rest, and a ceiling that is often quoted in this form: it leaves out "
        "that a step of SGD pays for the rest, too. With reuse = 0 the two should be equally fast.",
    ),
    "fresh steps for less": Mistake(
        lambda model, rest, reuse: (model + rest) / ((1 - reuse) * model + reuse * rest),
        "A fresh step pays for both, the model gradient and the rest.",
    ),
    "speeds averaged": Mistake(
        lambda model, rest, reuse: (1 - reuse) + reuse * (model + rest) / rest,
        "You averaged speeds. It is times that add up: average the seconds of a step, then turn them into steps a second.",
    ),
    "every step reused": Mistake(
        lambda model, rest, reuse: (model + rest) / rest,
        "That is how much faster a reused step is. Some of the steps are fresh.",
    ),
    "turned round": Mistake(
        lambda model, rest, reuse: 1 / _pace_by_cycles(model, rest, reuse),
        "Yours is turned round. Faster means more steps in a second, a number above 1.",
    ),
    "share saved": Mistake(
        lambda model, rest, reuse: 1 - 1 / _pace_by_cycles(model, rest, reuse),
        "That is the share of the time that is saved. How many times as many steps are taken in a second?",
    ),
    "seconds": Mistake(
        lambda model, rest, reuse: (1 - reuse) * model + rest,
        "Those are the seconds that a step takes on average. Compare them with those of SGD.",
    ),
    "steps a second": Mistake(
        lambda model, rest, reuse: 1 / ((1 - reuse) * model + rest),
        "Those are steps a second. Compare them with those of SGD.",
    ),
}


def _signs(gradients: np.ndarray) -> np.ndarray:
    return np.sign(gradients[1:]) * np.sign(gradients[:-1])


def _cosines(gradients: np.ndarray) -> np.ndarray:
    unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    return (unit[1:] * unit[:-1]).sum(axis=1)


AGREEMENT_MISTAKES = {
    "share of the same": Mistake(
        lambda gradients: (_signs(gradients) > 0).mean(),
        "That is the share in which the signs are the same, one half where all is noise. Take away the share in which they differ.",
    ),
    "cosine": Mistake(
        lambda gradients: _cosines(gradients).mean(),
        "You let large parts count for more. Only signs count, and every parameter as much as any other.",
    ),
    "products": Mistake(
        lambda gradients: (gradients[1:] * gradients[:-1]).mean(),
        "You averaged products of gradients. Only their signs count.",
    ),
    "with the first": Mistake(
        lambda gradients: (np.sign(gradients[1:]) * np.sign(gradients[:1])).mean(),
        "You compare every gradient with the first one. Compare it with the one before it.",
    ),
    "all pairs": Mistake(
        lambda gradients: np.mean([_signs(gradients[[i, j]]) for i in range(len(gradients)) for j in range(i)]),
        "You compare every gradient with every other. Compare it with the one before it only.",
    ),
    "zero is positive": Mistake(
        lambda gradients: 2 * ((gradients[1:] >= 0) == (gradients[:-1] >= 0)).mean() - 1,
        "Right but for zeros: a zero neither agrees nor differs.",
    ),
    "zero differs": Mistake(
        lambda gradients: 2 * (gradients[1:] * gradients[:-1] > 0).mean() - 1,
        "Right but for zeros: you count what does not agree as a difference. A zero does neither.",
    ),
    "zero is like zero": Mistake(
        lambda gradients: (s := np.sign(gradients)) is not None and (s[1:] == s[:-1]).mean() - (s[1:] != s[:-1]).mean(),
        "Right but for zeros: you compare signs, and the sign of a zero is a third one. It neither agrees nor differs.",
    ),
    "zero agrees": Mistake(
        lambda gradients: 1 - 2 * (gradients[1:] * gradients[:-1] < 0).mean(),
        "Right but for zeros: you count what does not differ as agreement. A zero does neither.",
    ),
    "small is zero": Mistake(
        lambda gradients: _signs(np.where(np.abs(gradients) < 1e-3, 0.0, gradients)).mean(),
        "You take small gradients for zeros. A sign is a sign, however small the number is.",
    ),
    "zeros left out": Mistake(
        lambda gradients: _signs(gradients).sum() / (_signs(gradients) != 0).sum(),
        "Right but for zeros: they neither agree nor differ, and still count among the parameters.",
    ),
    "count": Mistake(
        lambda gradients: _signs(gradients).sum(),
        "Those are counts. Shares were asked for, between -1 and 1.",
    ),
    "sum over the pairs": Mistake(
        lambda gradients: _signs(gradients).mean(axis=1).sum(),
        "You summed over the pairs. Take their mean.",
    ),
    "along the parameters": Mistake(
        lambda gradients: _signs(gradients.T).mean(),
        "You compare neighbouring parameters of one gradient. Compare one parameter at two neighbouring steps: rows are steps.",
    ),
    "turned round": Mistake(
        lambda gradients: -_signs(gradients).mean(),
        "The sign is turned: signs that are the same make the agreement larger.",
    ),
    "one pair too many": Mistake(
        lambda gradients: (np.sign(gradients) * np.sign(np.roll(gradients, 1, axis=0))).mean(),
        "You compare the first gradient with the last, too: np.roll leads round in a circle.",
    ),
    "divided by T": Mistake(
        lambda gradients: _signs(gradients).sum() / gradients.size,
        "You divide by the number of gradients. There is one pair fewer.",
    ),
}


def _costs(steps, gradients, model, rest, budget):
    return np.minimum(gradients * model + steps * rest, budget)


def _by(score: Callable[..., Any]) -> Callable[..., Any]:
    def answer(leasts, steps, gradients, model, rest, budget):
        return float(leasts[np.nanargmin(score(steps, gradients, model, rest, budget))])

    return answer


def _only_where(counts: Callable[..., Any]) -> Callable[..., Any]:
    """The mean cost of some of the runs; of none of them, something that is not a number."""

    def score(steps, gradients, model, rest, budget):
        cost = gradients * model + steps * rest
        kept = counts(cost, budget)
        return np.where(kept, cost, 0.0).sum(axis=1) / kept.sum(axis=1)

    return _by(score)


CHOOSE_MISTAKES = {
    "the index": Mistake(
        lambda leasts, *runs: int(np.argmin(_costs(*runs).mean(axis=1))),
        "That is a place in the list. The threshold that stands there was asked for.",
    ),
    "only those that arrived": Mistake(
        _only_where(lambda cost, budget: cost < np.inf),
        "You left out the runs that never arrived, so that a threshold looks the better the more often it fails in the bad cases. "
        "Such a run has cost the whole budget.",
    ),
    "only those in time": Mistake(
        _only_where(lambda cost, budget: cost <= budget),
        "You left out the runs that were stopped. They have cost the whole budget.",
    ),
    "never stopped": Mistake(
        _by(lambda steps, gradients, model, rest, budget: (gradients * model + steps * rest).mean(axis=1)),
        "Stop each run at the budget, before the mean is taken. No run costs more than that, not even one that would never arrive.",
    ),
    "model gradients alone": Mistake(
        _by(lambda steps, gradients, model, rest, budget: np.minimum(gradients * model, budget).mean(axis=1)),
        "You counted the model gradients only. Cheap steps take time as well, and there are many.",
    ),
    "fresh steps for less": Mistake(
        _by(lambda steps, gradients, model, rest, budget: np.fmin(gradients * model + (steps - gradients) * rest, budget).mean(axis=1)),
        "Every step pays `rest`, those with a fresh model gradient too.",
    ),
    "limit on counts": Mistake(
        _by(
            lambda steps, gradients, model, rest, budget: (np.minimum(gradients, budget) * model + np.minimum(steps, budget) * rest).mean(
                axis=1
            )
        ),
        "You took the budget for a limit on counts. It is one on costs: first price a run, then stop it.",
    ),
    "limit on each part": Mistake(
        _by(
            lambda steps, gradients, model, rest, budget: (np.minimum(gradients * model, budget) + np.minimum(steps * rest, budget)).mean(
                axis=1
            )
        ),
        "You gave model gradients and the rest a budget each. There is one for their sum.",
    ),
    "late ones go on": Mistake(
        _by(lambda steps, gradients, model, rest, budget: np.where(np.isinf(steps), budget, gradients * model + steps * rest).mean(axis=1)),
        "Runs that never arrive cost the budget, that is right. One that would arrive later than that is stopped, too.",
    ),
    "failure at twice the budget": Mistake(
        _by(
            lambda steps, gradients, model, rest, budget: np.where(
                gradients * model + steps * rest > budget, 2 * budget, gradients * model + steps * rest
            ).mean(axis=1)
        ),
        "You charge twice the budget for a run that is stopped. It has cost the budget, no more.",
    ),
    "prices exchanged": Mistake(
        _by(lambda steps, gradients, model, rest, budget: np.minimum(gradients * rest + steps * model, budget).mean(axis=1)),
        "The prices have changed places: a step costs `rest`, a model gradient `model`.",
    ),
    "steps alone": Mistake(
        _by(lambda steps, gradients, model, rest, budget: np.where(np.isfinite(steps), steps, 1e6).mean(axis=1)),
        "You chose by the number of steps. The price of one depends on how many model gradients there are.",
    ),
    "every step in full": Mistake(
        _by(lambda steps, gradients, model, rest, budget: np.minimum(steps * (model + rest), budget).mean(axis=1)),
        "You charged a model gradient for every step. Reused steps pay for the rest alone.",
    ),
    "middle run": Mistake(
        _by(lambda *runs: np.median(_costs(*runs), axis=1)),
        "You chose by the median run. What a failure costs does not show in it; take the mean.",
    ),
    "best run": Mistake(
        _by(lambda *runs: _costs(*runs).min(axis=1)),
        "You let the luckiest run decide. Take the mean over the runs.",
    ),
    "worst run": Mistake(
        _by(lambda *runs: (_costs(*runs) + 1e-6 * _costs(*runs).mean(axis=1, keepdims=True)).max(axis=1)),
        "You let the worst run decide. Take the mean over the runs.",
    ),
    "the highest": Mistake(lambda leasts, *runs: float(leasts.max()), "You took the highest threshold, whatever the runs cost."),
    "the lowest": Mistake(lambda leasts, *runs: float(leasts.min()), "You took the lowest threshold, whatever the runs cost."),
    "dearest": Mistake(
        lambda leasts, *runs: float(leasts[np.argmax(_costs(*runs).mean(axis=1))]),
        "You took the dearest threshold.",
    ),
    "most arrivals": Mistake(
        lambda leasts, steps, gradients, model, rest, budget: float(
            leasts[np.argmax((gradients * model + steps * rest <= budget).sum(axis=1))]
        ),
        "You took the threshold at which most runs arrive. How long they take counts, too.",
    ),
}


CHOOSE_KIN = {
    "never stopped": [
        _by(lambda steps, gradients, model, rest, budget: np.minimum((gradients * model + steps * rest).mean(axis=1), budget)),
    ],
}
ALL_CHOICES = with_kin(CHOOSE_MISTAKES, CHOOSE_KIN)
OTHER_CHOICES = [
    _by(lambda steps, gradients, model, rest, budget, factor=factor: _costs(steps, gradients, model, rest, factor * budget).mean(axis=1))
    for factor in (0.5, 2.0)
] + [_by(lambda *runs: _costs(*runs)[:, 0]), _by(lambda *runs: _costs(*runs).std(axis=1))]


def pace_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 540])
    cases = [(float(rng.uniform(*m)), float(rng.uniform(0.5, 0.9)), p) for m, p in [((8, 20), 0.9), ((3, 6), 0.75), ((2, 4), 0.0)]]
    return quiet(
        answer,
        cases,
        _pace_by_cycles,
        PACE_MISTAKES,
        right="Right. However often a gradient is reused, the pace stays below (model + rest) / rest.",
        nudge="Not that pace. With model = 9, rest = 1 and reuse = 2/3 a step takes 4 seconds on average instead of 10: the pace is 5/2.",
    )


def _walks(rng: np.random.Generator) -> list[tuple[np.ndarray]]:
    """Gradients of a slope and noise; a few parts are exactly 0, twice in a row among them."""
    cases: list[tuple[np.ndarray]] = []
    for steps, parameters, slope in [(4, 7, 1.2), (6, 4, 0.3)]:
        gradients = slope * rng.choice([-1, 1], parameters) * rng.uniform(0.5, 3, parameters) + rng.normal(size=(steps, parameters))
        if not cases:
            gradients[1:3, 0], gradients[2, 3] = 0.0, 0.0
        gradients[:, -1] *= 1e-5
        cases.append((gradients,))
    return cases


def agreement_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 541])
    return quiet(
        answer,
        telling(lambda: _walks(rng), _agreement_by_counting, AGREEMENT_MISTAKES),
        _agreement_by_counting,
        AGREEMENT_MISTAKES,
        right="Right. Where there is a slope it is near 1, and where all is noise near 0.",
        nudge="Not that agreement. With gradients = [[1, 2, 3, 0], [5, 1, 2, 4], [3, -6, -1, -1], [2, -1, 5, -3]] the pairs have 3/4, -1/2 "
        "and 1/2, and the agreement is 1/4.",
    )


def _runs(rng: np.random.Generator) -> tuple[Any, ...]:
    """A table in which a low threshold is cheap when it arrives, and does not always."""
    leasts = np.array([0.0, 0.3, 0.5, 0.7, 0.9])
    gradients = np.ceil(np.array([[20], [26], [34], [46], [80]]) * rng.lognormal(0, 0.35, (5, 5)))
    steps = np.ceil(gradients * np.array([[10], [7], [4.5], [3], [1.4]]) * rng.lognormal(0, 0.25, (5, 5)))
    never = rng.random((5, 5)) < np.array([[0.4], [0.3], [0.15], [0.05], [0.0]])
    slow = rng.random((5, 5)) < 0.1
    steps, gradients = (np.where(never, np.inf, np.where(slow, 6 * a, a)) for a in (steps, gradients))
    order = rng.permutation(5)
    return leasts[order], steps[order], gradients[order], 1.0, float(rng.uniform(0.08, 0.2)), float(rng.integers(120, 200))


def _clear_choice(leasts: Any, steps: Any, gradients: Any, model: float, rest: float, budget: float) -> bool:
    """No two thresholds are nearly as good, and a run is stopped for good or is not near the budget."""
    cost = gradients * model + steps * rest
    low, next_low = np.sort(np.minimum(cost, budget).mean(axis=1))[:2]
    return bool(next_low > 1.03 * low and abs(cost / budget - 1).min() > 0.02 and len(leasts) == len(cost))


@lru_cache(maxsize=32)
def _tables(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 542])

    def draw() -> list[tuple[Any, ...]]:
        cases: list[tuple[Any, ...]] = []
        while len(cases) < 16:
            case = _runs(rng)
            if _clear_choice(*case):
                cases.append(case)
        return cases

    return telling(draw, _choice_by_hand, ALL_CHOICES, others=OTHER_CHOICES)


def choose_verdict(answer: Any, seed: int = 0) -> Verdict:
    return quiet(
        answer,
        _tables(seed),
        _choice_by_hand,
        ALL_CHOICES,
        right="Right. What a threshold is worth depends on what a failure costs.",
        nudge="Not that threshold. With leasts = [0, 0.5, 0.9], steps = [[20, inf], [40, 40], [50, 50]], gradients = [[5, inf], [20, 16], "
        "[50, 45]], model = 1, rest = 1/2 and budget = 65 the mean costs are 40, 38 and 65, so that it is 0.5.",
    )


TASKS = (
    Task(
        "is_gradients/threshold/pace",
        "A threshold: how much faster at best",
        2,
        7,
        pace_stub,
        (
            "How many seconds does a step take on average, with reuse and without?",
            "mean seconds of a step = reuse * (seconds of a reused one) + (1 - reuse) * (seconds of a fresh one).",
            "Begin with `seconds = (1 - reuse) * model + rest`",
        ),
        PACE_MISTAKES,
        pace_verdict,
    ),
    Task(
        "is_gradients/threshold/agreement",
        "A threshold: slope or noise",
        2,
        8,
        agreement_stub,
        (
            "Multiply two signs. What comes out if they are the same, if they differ, and if one of them is 0?",
            "For one pair of rows: share of the same - share of the others = (1/d) sum over i of sign(a_i) sign(b_i).",
            "Begin with `signs = np.sign(gradients)`",
        ),
        AGREEMENT_MISTAKES,
        agreement_verdict,
    ),
    Task(
        "is_gradients/threshold/choose",
        "A threshold: the choice",
        2,
        8,
        choose_stub,
        (
            "What has each run cost? Then: what does a threshold cost on average?",
            "A run that arrives in time costs gradients model + steps rest; any other costs the budget. Which is the smaller of the two?",
            "Begin with `cost = np.minimum(gradients * model + steps * rest, budget)`",
        ),
        CHOOSE_MISTAKES,
        choose_verdict,
    ),
)
