"""How weights decay. Roads: the spread of the weights about their mean, in logarithms; quadrature; one step at a time."""

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import norm

from course_pkg.checks.record import Record


def by_spread(log_w):
    """M over one plus the squared coefficient of variation, column by column."""
    w = np.exp(log_w - logsumexp(log_w, axis=0)) * len(log_w)  # mean one
    return len(w) / (1 + w.var(axis=0))


def share_by_quadrature(delta, ratio):
    """One over the mean square weight; where the square grows faster than the old density falls, nothing is left."""
    share, x = 1.0, np.linspace(-60, 60, 24_001)
    for shift, width in zip(delta, ratio, strict=True):
        log_square = 2 * norm.logpdf(x, shift, width) - norm.logpdf(x)
        if log_square[-1] > log_square[-2]:
            return 0.0
        share /= trapezoid(np.exp(log_square), x)
    return share


def step_by_step(delta, d, least):
    """Walk on while enough is left, in long strides first; the mean square weight by quadrature."""
    x = np.linspace(-14, 14, 2801)

    def left(steps):
        shift = steps * delta
        if shift > 5:
            return 0.0  # next to nothing, and the square's bulk, at twice the shift, would leave the grid
        return trapezoid(np.exp(2 * norm.logpdf(x, shift) - norm.logpdf(x)), x) ** (-d)

    steps = 0
    for stride in (256, 16, 1):
        while left(steps + stride) >= least:
            steps += stride
    return steps


# Numbers that single precision holds exactly, beside some hundreds too
sixty_fourths = lambda x: np.round(x * 64) / 64
shifted = lambda *columns: lambda rng: [(sixty_fourths(rng.normal(0, 0.8, (5, 3))) + np.array(column),) for column in columns]


def apart(rng):
    """Most draws 900 below the two best in one column, most draws 7 below the best in another."""
    log_w = np.stack([np.full(12, -450.0), np.full(12, -7.0)], axis=1) + sixty_fourths(rng.uniform(-0.4, 0.4, (12, 2)))
    log_w[4:6, 0] += 900
    log_w[7, 1] += 7
    return [(log_w,)]


def moves(rng):
    yield rng.uniform(0.2, 0.6, 2) * [1, -1], rng.uniform(0.5, 0.8, 2)
    yield rng.uniform(0.1, 0.3, 3) * [-1, 1, 1], rng.uniform(1.05, 1.1, 3) * [1, 1, 0.6]
    yield np.zeros(1), rng.uniform(0.5, 0.8, 1)


def wide(most, *widths):
    """Moves with the given widths, each a number or a range."""
    return lambda rng: [
        (rng.uniform(0.4 * most, most, len(row)), np.array([rng.uniform(*np.broadcast_to(w, 2)) for w in row])) for row in widths
    ]


def walks(rng, *rows):
    """The place where the share is `least` lies well between two whole numbers, and no wrong exponent leads to the same ones."""
    for steps, d, least, part in rows:
        least = least + float(rng.uniform(0, 0.05))
        place = steps + (int(rng.integers(0, 4)) if steps else 0) + part + float(rng.uniform(0, 0.15))
        yield float(np.sqrt(-np.log(least) / d) / place), d, least


SIZE = Record(
    cases=lambda rng: [(rng.normal(0.5, 0.8, shape),) for shape in [(6, 3), (4, 2)]],
    reference=by_spread,
    right="Right. Equal weights count in full, and one weight that has everything counts as one draw.",
    nudge="Not those numbers. With weights of 1, 1 and 2 in one column and of 9, 3 and 3 in another they are 8/3 and 25/11.",
    hints=(
        "A factor is a column: add down its rows, and one number is left of each. A weight may be too large or too small for a "
        "computer, but only ratios of weights count. What can you divide a column's weights by first?",
        "The weights w and c w give the same number, whatever c is. Which c makes the largest weight of a column 1, and what is its logarithm?",
        "Begin with `w = np.exp(log_w - log_w.max(axis=0))`",
    ),
    mistakes={
        "You added over the factors. Draws are rows: add down each column.": "sum(axis=0) -> sum(axis=1)",
        "That is the sum over the largest weight, another count of draws. Here the squares of all weights count.": "** 2 / (w**2).sum(axis=0) -> ",
        "You multiplied the factors' weights. Each factor has an effective sample size of its own: k numbers.": "w = -> log_w = log_w.sum(axis=1)\nw =",
    },
    later={
        "Right, until a logarithm is large: its exponential overflows or vanishes. Multiplying all weights of a factor by one number "
        "changes nothing, so take the largest logarithm off first.": (
            shifted([800.0] * 3, [-800.0] * 3),
            "log_w - log_w.max(axis=0) -> log_w",
        ),
        "Right, until the factors differ much: the largest logarithm of one factor makes all weights of another vanish. Each column "
        "has its own largest.": (shifted([800.0, 0.0, -800.0]), "max(axis=0) -> max()"),
        "Right while a factor's logarithms lie close together. They may be some hundreds apart: the largest is the one to take off, "
        "and nothing is to be clipped.": (apart, "log_w.max(axis=0) -> log_w.mean(axis=0)"),
    },
)
SHARE = Record(
    cases=moves,
    reference=share_by_quadrature,
    right="Right. It is a product over the coordinates, so it falls exponentially with their number.",
    nudge="Not that share. With delta = [1/2, 1/2] and ratio = [1, 1/2] it is 0.447, and with delta = [1] and ratio = [6/5] it is 0.151.",
    hints=(
        "One coordinate is enough: the weight is a product over them. Put the old q at 0 with width 1; complete the square.",
        "E[w^2] = integral of N(x; delta, ratio^2)^2 / N(x; 0, 1). In its exponent x^2 has the factor 1/2 - 1/ratio^2: when "
        "does it fall off, and when not?",
        "Begin with `left = 2 - ratio**2`",
    ),
    mistakes={
        "Your exponent does not see the new width. A move of the mean does less harm if q becomes narrower at once, and more if wider.": "/ left -> ",
        "Your exponent is half of the right one: the weight stands in it twice, and you have it once.": "/ left -> / left / 2",
        "A root is missing before the exponential: the integral of exp(-a x^2) is the root of pi / a.": "np.sqrt(left) -> left",
        "You averaged the coordinates' shares. The weight of a block is a product of independent factors, and so is its mean square.": "np.prod -> np.mean",
    },
    later={
        "Right for small moves. If a coordinate grows wider by root 2 or more, the mean of w^2 is infinite, and no draw is left in the "
        "long run: return 0. (An absolute value under the root only hides it.)": (
            wide(0.6, (0.9, (1.8, 1.9))),
            ("np.any(left <= 0) -> False", "left = 2 - ratio**2 -> left = np.abs(2 - ratio**2)"),
        ),
        "Right for widths that hardly grow. Up to root 2 something is left: how much does your answer keep just below that?": (
            wide(0.12, (0.8, (1.36, 1.38))),
            "left <= 0 -> ratio > 1.3",
        ),
        "Right for one coordinate that is far too wide. It takes only one, wherever it stands and however many there are, and a width "
        "just beyond root 2 will do: ask each coordinate on its own.": (
            wide(0.6, ((1.5, 1.7), 0.8, (1.5, 1.7)), ((1.43, 1.46), 0.5, 0.6)),
            ("np.any(left <= 0) -> np.prod(left) <= 0", "np.any(left <= 0) -> np.any(ratio > 1.5)"),
        ),
    },
)
STEPS = Record(
    cases=lambda rng: walks(rng, (9, 1, 0.75, 0.55), (35, 20, 0.4, 0.55), (6, 50, 0.2, 0.3)),
    reference=step_by_step,
    right="Right. Fifty coordinates under one weight shorten the walk by a factor of about seven, the root of fifty.",
    nudge="Not that many. With delta = 0.1, d = 4 and least = 0.4 it is 4: there the share is 0.527, and one step later 0.368.",
    hints=(
        "Where is each coordinate after t steps, and what does Part 2 say about d of them, all moved by as much?",
        "The share after t steps is exp(-d (t delta)^2). At which t is it equal to `least`, and what is the last step before that?",
        "Begin with `loss = -np.log(least)`",
    ),
    mistakes={
        "One too many: at the last of them the share is below the limit.": "int( -> np.ceil(",
        "The right place. A whole number of steps was asked for, the last at which enough is left.": "int( -> (",
        "You let the exponent grow with the steps. After t of them the distance is t delta, and it is squared.": "np.sqrt(loss / d) / delta -> loss / d / delta**2",
        "That is for a single coordinate. All d of them move.": "loss / d -> loss",
        "You walked until the share that is lost reached `least`. It is the share left.": "np.log(least) -> np.log(1 - least)",
    },
    later={
        "Right for a walk of some steps. If the first step is too far already, the answer is 0.": (
            lambda rng: walks(rng, (0, 12, 0.5, 0.4)),
            "return -> return max(1, np.sqrt(loss / d) // delta) #",
        ),
        "Right for short walks. The draws may last for hundreds of small steps; do you stop looking too soon?": (
            lambda rng: walks(rng, (1300, 2, 0.6, 0.45)),
            "return -> return min(49, np.sqrt(loss / d) // delta) #",
        ),
    },
)
TASKS = {"size": SIZE, "share": SHARE, "steps": STEPS}
