"""How weights decay. Roads: the spread of the weights about their mean, in logarithms; quadrature; one step at a time."""

from typing import Any

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import beyond, exact, quiet


def _by_spread(log_w: np.ndarray) -> np.ndarray:
    """M over one plus the squared coefficient of variation, column by column."""
    out = []
    for column in log_w.T:
        w = np.exp(column - logsumexp(column)) * len(column)  # mean one
        out.append(len(w) / (1 + w.var()))
    return np.array(out)


def _share_by_quadrature(delta: np.ndarray, ratio: np.ndarray) -> float:
    """One over the mean square weight; where the square grows faster than the old density falls, nothing is left."""
    share = 1.0
    for shift, width in zip(delta, ratio, strict=True):
        x = np.linspace(-60, 60, 24_001)
        log_square = 2 * norm.logpdf(x, shift, width) - norm.logpdf(x)
        if log_square[-1] > log_square[-2]:
            return 0.0
        share /= trapezoid(np.exp(log_square), x)
    return share


def _step_by_step(delta: float, d: int, least: float) -> int:
    """Walk on while enough is left, in long strides first; the mean square weight by quadrature."""
    x = np.linspace(-14, 14, 2801)

    def left(steps: int) -> float:
        shift = steps * delta
        if shift > 5:
            return 0.0  # next to nothing, and the square's bulk, at twice the shift, would leave the grid
        return float(trapezoid(np.exp(2 * norm.logpdf(x, shift) - norm.logpdf(x)), x) ** (-d))

    steps = 0
    for stride in (256, 16, 1):
        while left(steps + stride) >= least:
            steps += stride
    return steps


def size_stub(log_w: np.ndarray) -> Any:
    raise NotImplementedError


def share_stub(delta: np.ndarray, ratio: np.ndarray) -> Any:
    raise NotImplementedError


def steps_stub(delta: float, d: int, least: float) -> Any:
    raise NotImplementedError


def _scaled(log_w):
    return np.exp(log_w - log_w.max(axis=0))


def _size(w, axis=0):
    return w.sum(axis=axis) ** 2 / (w**2).sum(axis=axis)


def _perplexity(log_w):
    p = _scaled(log_w) / _scaled(log_w).sum(axis=0)
    return np.exp(-(p * np.log(p)).sum(axis=0))


OVERFLOW = (
    "Right, until a logarithm is large: its exponential overflows or vanishes. Multiplying all weights of a factor by one number "
    "changes nothing, so take the largest logarithm off first."
)
SIZE_MISTAKES = {
    "overflow": Mistake(lambda log_w: _size(np.exp(log_w)), OVERFLOW),
    "one shift for all": Mistake(
        lambda log_w: _size(np.exp(log_w - log_w.max())),
        "Right, until the factors differ much: the largest logarithm of one factor makes all weights of another vanish. Each column has "
        "its own largest.",
    ),
    "another shift": Mistake(
        lambda log_w: _size(np.exp(log_w - log_w.mean(axis=0))),
        "Right while a factor's logarithms lie close together. They may be some hundreds apart: the largest is the one to take off, and "
        "nothing is to be clipped.",
    ),
    "share": Mistake(
        lambda log_w: _size(_scaled(log_w)) / len(log_w),
        "That is the share of the draws. A number of draws was asked for, between 1 and M.",
    ),
    "wrong axis": Mistake(
        lambda log_w: _size(_scaled(log_w), axis=1),
        "You added over the factors. Draws are rows: add down each column.",
    ),
    "logarithms taken for weights": Mistake(
        _size,
        "You put the logarithms where the weights belong.",
    ),
    "largest weight": Mistake(
        lambda log_w: _scaled(log_w).sum(axis=0),
        "That is the sum over the largest weight, another count of draws. Here the squares of all weights count.",
    ),
    "perplexity": Mistake(
        _perplexity,
        "That is the exponential of the weights' entropy, another count of draws. Here the squares of all weights count.",
    ),
    "sum not squared": Mistake(
        lambda log_w: np.exp(log_w).sum(axis=0) / np.exp(2 * log_w).sum(axis=0),
        "The sum of the weights is squared, too: weights of 7 all over are as good as weights of 1.",
    ),
    "upside down": Mistake(
        lambda log_w: 1 / _size(_scaled(log_w)),
        "Upside down: yours is 1/M where all weights are equal.",
    ),
    "one for all factors": Mistake(
        lambda log_w: _size(_scaled(log_w.sum(axis=1))),
        "You multiplied the factors' weights. Each factor has an effective sample size of its own: k numbers.",
    ),
    "square forgotten": Mistake(
        lambda log_w: np.full(log_w.shape[1], float(len(log_w))),
        "Yours does not depend on the weights.",
    ),
}


def _formula(shift=lambda d, r: d**2 / (2 - r**2), width=lambda r: r * np.sqrt(2 - r**2), gather=np.prod):
    def answer(delta, ratio):
        d, r = np.minimum(np.abs(delta), 1e9), np.where(ratio**2 < 2, ratio, 1.0)
        each = width(r) * np.exp(-shift(d, r))
        return gather(np.where(ratio**2 < 2, each, 0.0))

    return answer


INFINITE = (
    "Right for small moves. If a coordinate grows wider by root 2 or more, the mean of w^2 is infinite, and no draw is left in the long "
    "run: return 0."
)


def _without_a_limit(delta, ratio):
    return np.prod(ratio * np.sqrt(2 - ratio**2) * np.exp(-(delta**2) / (2 - ratio**2)))


SHARE_MISTAKES = {
    "infinite variance": Mistake(_without_a_limit, INFINITE),
    "absolute value": Mistake(
        lambda delta, ratio: np.prod(ratio * np.sqrt(np.abs(2 - ratio**2)) * np.exp(-(delta**2) / np.abs(2 - ratio**2))),
        INFINITE + " An absolute value hides it.",
    ),
    "nothing left too soon": Mistake(
        lambda delta, ratio: 0.0 if np.any(ratio > 1.3) else _without_a_limit(delta, ratio),
        "Right for widths that hardly grow. Up to root 2 something is left: how much does your answer keep just below that?",
    ),
    "the block asked as a whole": Mistake(
        lambda delta, ratio: 0.0 if np.prod(2 - ratio**2) <= 0 else np.abs(_without_a_limit(delta, ratio)),
        "Right for one coordinate that is far too wide. It takes only one, wherever it stands and however many there are, and a width "
        "just beyond root 2 will do: ask each coordinate on its own.",
    ),
    "upside down": Mistake(
        lambda delta, ratio: 1 / _formula()(delta, np.where(ratio**2 < 2, ratio, 1.4)) if (ratio**2 < 2).all() else np.inf,
        "That is the mean of w^2 itself. The share that is left is one over it.",
    ),
    "width kept": Mistake(
        _formula(lambda d, r: d**2, lambda r: 1.0),
        "That is right if no width changes. A narrower or wider q loses draws as well.",
    ),
    "width in the exponent forgotten": Mistake(
        _formula(lambda d, r: d**2),
        "Your exponent does not see the new width. A move of the mean does less harm if q becomes narrower at once, and more if wider.",
    ),
    "width before the exponential forgotten": Mistake(
        _formula(width=lambda r: 1.0),
        "If the mean stays and the width changes, yours says that nothing is lost.",
    ),
    "half of the exponent": Mistake(
        _formula(lambda d, r: d**2 / (2 - r**2) / 2),
        "Your exponent is half of the right one: the weight stands in it twice, and you have it once.",
    ),
    "root forgotten": Mistake(
        _formula(width=lambda r: r * (2 - r**2)),
        "A root is missing before the exponential: the integral of exp(-a x^2) is the root of pi / a.",
    ),
    "ratio upside down": Mistake(
        lambda delta, ratio: _formula()(delta, 1 / ratio),
        "Your ratio is upside down: it is the new width over the old.",
    ),
    "variances": Mistake(
        lambda delta, ratio: _formula()(delta, np.sqrt(ratio)),
        "You read ratio as one of variances. It is one of standard deviations.",
    ),
    "averaged": Mistake(
        _formula(gather=np.mean),
        "You averaged the coordinates' shares. The weight of a block is a product of independent factors, and so is its mean square.",
    ),
    "the worst coordinate": Mistake(
        _formula(gather=np.min),
        "That is the share of the worst coordinate. The block's weight is a product: all of them take their toll.",
    ),
    "one for each coordinate": Mistake(
        _formula(gather=np.asarray),
        "Right for each coordinate. One weight goes over the whole block: one share.",
    ),
    "typical weight": Mistake(
        lambda delta, ratio: np.exp(np.sum(np.log(1 / ratio) + 0.5 - (1 + delta**2) / (2 * ratio**2))),
        "You averaged the logarithm of the weight. That is how large a typical weight is; the mean square was asked for.",
    ),
}


def _count(of, take=np.floor):
    return lambda delta, d, least: take(of(delta, d, -np.log(least)))


STEPS_MISTAKES = {
    "at least one": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss / d) / delta, lambda place: max(1, np.floor(place))),
        "Right for a walk of some steps. If the first step is too far already, the answer is 0.",
    ),
    "search that ends": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss / d) / delta, lambda place: min(49, np.floor(place))),
        "Right for short walks. The draws may last for hundreds of small steps; do you stop looking too soon?",
    ),
    "one too many": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss / d) / delta, np.ceil),
        "One too many: at the last of them the share is below the limit.",
    ),
    "not whole": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss / d) / delta, np.asarray),
        "The right place. A whole number of steps was asked for, the last at which enough is left.",
    ),
    "steps add up like noise": Mistake(
        _count(lambda delta, d, loss: loss / d / delta**2),
        "You let the exponent grow with the number of steps. All steps go the same way: after t of them the distance is t delta, and the "
        "distance is squared.",
    ),
    "dimension forgotten": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss) / delta),
        "That is for a single coordinate. All d of them move.",
    ),
    "dimension not under the root": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss) / d / delta),
        "Too few: d coordinates, each t delta away, have a squared distance of d (t delta)^2.",
    ),
    "distance not squared": Mistake(
        _count(lambda delta, d, loss: loss / d / delta),
        "The exponent has the distance squared.",
    ),
    "half of the exponent": Mistake(
        _count(lambda delta, d, loss: np.sqrt(2 * loss / d) / delta),
        "Too many: your exponent is half of Part 2's.",
    ),
    "twice the exponent": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss / 2 / d) / delta),
        "Too few: your exponent is twice Part 2's.",
    ),
    "largest loss": Mistake(
        lambda delta, d, least: np.floor(np.sqrt(-np.log1p(-least) / d) / delta),
        "You walked until the share that is lost reached `least`. It is the share left.",
    ),
    "logarithm to base ten": Mistake(
        _count(lambda delta, d, loss: np.sqrt(loss / np.log(10) / d) / delta),
        "Too few: the share is a power of e, so take the natural logarithm.",
    ),
}


def size_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 510])
    plain = [rng.normal(0.5, 0.8, (draws, factors)) for draws, factors in [(6, 3), (4, 2)]]
    # multiples of 1/64, so that single precision holds them exactly
    far = np.round(rng.normal(0, 0.8, (5, 3)) * 64) / 64
    words = {
        "right": "Right. Equal weights count in full, and one weight that has everything counts as one draw.",
        "nudge": "Not those numbers. With weights of 1, 1 and 2 in one column and of 9, 3 and 3 in another they are 8/3 and 25/11.",
    }
    others = {name: mistake for name, mistake in SIZE_MISTAKES.items() if name not in ("overflow", "one shift for all", "another shift")}
    verdict = quiet(answer, [(log_w,) for log_w in plain], _by_spread, others, **words)
    for far_off, name in [([800.0, 800.0, 800.0], "overflow"), ([-800.0] * 3, "overflow"), ([800.0, 0.0, -800.0], "one shift for all")]:
        if verdict.passed and not quiet(answer, [(far + np.array(far_off),)], _by_spread, {}, **words).passed:
            return Verdict(False, SIZE_MISTAKES[name].words)
    # most draws 900 below the two best in one column, most draws 7 below the best in another
    apart = np.stack([np.full(12, -450.0), np.full(12, -7.0)], axis=1) + np.round(rng.uniform(-0.4, 0.4, (12, 2)) * 64) / 64
    apart[4:6, 0] += 900
    apart[7, 1] += 7
    return beyond(verdict, answer, [(apart,)], _by_spread, SIZE_MISTAKES["another shift"].words)


def share_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 511])
    narrow = (rng.uniform(0.2, 0.6, 2) * [1, -1], rng.uniform(0.5, 0.8, 2))
    wide = (rng.uniform(0.1, 0.3, 3) * [-1, 1, 1], rng.uniform(1.05, 1.1, 3) * [1, 1, 0.6])
    alone = (np.zeros(1), rng.uniform(0.5, 0.8, 1))
    too_wide = (rng.uniform(0.2, 0.6, 2), np.array([0.9, rng.uniform(1.8, 1.9)]))
    near = (rng.uniform(0.05, 0.12, 2), np.array([0.8, rng.uniform(1.36, 1.38)]))  # wide, and not too wide yet
    block = [
        (rng.uniform(0.2, 0.6, 3), np.array([rng.uniform(1.5, 1.7), 0.8, rng.uniform(1.5, 1.7)])),
        (rng.uniform(0.2, 0.6, 3), np.array([rng.uniform(1.43, 1.46), 0.5, 0.6])),
    ]
    words = {
        "right": "Right. It is a product over the coordinates, so it falls exponentially with their number.",
        "nudge": "Not that share. With delta = [1/2, 1/2] and ratio = [1, 1/2] it is 0.447, and with delta = [1] and ratio = [6/5] it is "
        "0.151.",
    }
    late = ("infinite variance", "absolute value", "the block asked as a whole", "nothing left too soon")
    others = {name: mistake for name, mistake in SHARE_MISTAKES.items() if name not in late}
    verdict = exact(answer, [narrow, wide, alone], _share_by_quadrature, others, **words)
    if not verdict.passed:
        return verdict
    if quiet(answer, [too_wide], _share_by_quadrature, {}, **words).passed:
        verdict = beyond(verdict, answer, [near], _share_by_quadrature, SHARE_MISTAKES["nothing left too soon"].words)
        return beyond(verdict, answer, block, _share_by_quadrature, SHARE_MISTAKES["the block asked as a whole"].words)
    hidden = {"absolute value": SHARE_MISTAKES["absolute value"]}
    verdict = quiet(answer, [too_wide], _share_by_quadrature, hidden, right="", nudge="")
    return Verdict(False, verdict.message if verdict.message == hidden["absolute value"].words else INFINITE)


def steps_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 512])
    cases = []
    # the place lies well between two whole numbers, and no wrong exponent leads to the same ones
    for steps, d, least, part in [(9, 1, 0.75, 0.55), (35, 20, 0.4, 0.55), (6, 50, 0.2, 0.3), (0, 12, 0.5, 0.4), (1300, 2, 0.6, 0.45)]:
        least = least + float(rng.uniform(0, 0.05))
        place = steps + (int(rng.integers(0, 4)) if steps else 0) + part + float(rng.uniform(0, 0.15))
        cases.append((float(np.sqrt(-np.log(least) / d) / place), d, least))
    *usual, none, many = cases
    verdict = quiet(
        answer,
        usual,
        _step_by_step,
        STEPS_MISTAKES,
        right="Right. Fifty coordinates under one weight shorten the walk by a factor of about seven, the root of fifty.",
        nudge="Not that many. With delta = 0.1, d = 4 and least = 0.4 it is 4: there the share is 0.527, and one step later 0.368.",
    )
    verdict = beyond(verdict, answer, [none], _step_by_step, STEPS_MISTAKES["at least one"].words)
    return beyond(verdict, answer, [many], _step_by_step, STEPS_MISTAKES["search that ends"].words)


TASKS = (
    Task(
        "is_gradients/decay/size",
        "Decay: how many draws are left",
        2,
        6,
        size_stub,
        (
            "A factor is a column: add down its rows, and one number is left of each. A weight may be too large or too small for a "
            "computer, but only ratios of weights count. What can you divide a column's weights by first?",
            "The weights w and c w give the same number, whatever c is. Which c makes the largest weight of a column 1, and what is its "
            "logarithm?",
            "Begin with `w = np.exp(log_w - log_w.max(axis=0))`",
        ),
        SIZE_MISTAKES,
        size_verdict,
    ),
    Task(
        "is_gradients/decay/share",
        "Decay: the share in closed form",
        2,
        14,
        share_stub,
        (
            "One coordinate is enough: the weight is a product over them. Put the old q at 0 with width 1; complete the square.",
            "E[w^2] = integral of N(x; delta, ratio^2)^2 / N(x; 0, 1). In its exponent x^2 has the factor 1/2 - 1/ratio^2: when "
            "does it fall off, and when not?",
            "Begin with `left = 2 - ratio**2`",
        ),
        SHARE_MISTAKES,
        share_verdict,
    ),
    Task(
        "is_gradients/decay/steps",
        "Decay: how far one may walk",
        2,
        6,
        steps_stub,
        (
            "Where is each coordinate after t steps, and what does Part 2 say about d of them, all moved by as much?",
            "The share after t steps is exp(-d (t delta)^2). At which t is it equal to `least`, and what is the last step before that?",
            "Begin with `loss = -np.log(least)`",
        ),
        STEPS_MISTAKES,
        steps_verdict,
    ),
)
