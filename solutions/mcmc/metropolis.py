"""Metropolis-Hastings from scratch. Roads: the smaller of two flows, place by place; the logarithm of a positive quantity."""

import numpy as np

from course_pkg.checks._judge import Trouble, numbers
from course_pkg.checks.record import Record


def by_flows(weight, s):
    """Each pair of places exchanges the smaller of the two flows that the proposals offer; what is left stays."""
    places = len(weight)
    P = np.zeros((places, places))
    for x in range(places):
        for y in range(places):
            if x != y:
                P[x, y] = min(weight[x] * s[x, y], weight[y] * s[y, x]) / weight[x]
        P[x, x] = 1 - P[x].sum()
    return P


def ring(places, up):
    one = np.roll(np.eye(places), 1, axis=1)
    return up * one + (1 - up) * one.T


def walk_by_flows(start, weight, up, moves, coins):
    s = ring(len(weight), up)
    P, x, path = by_flows(weight, s), start, []
    for move, coin in zip(moves, coins, strict=True):
        y = (x + int(move)) % len(weight)
        x = y if coin * s[x, y] < P[x, y] else x
        path.append(x)
    return path


def step_in_logarithms(x, noise, coin, log_density, scale):
    """An ordinary random walk of z = log x, whose density is that of x times e^z."""
    z = np.log(x)
    new = z + scale * noise
    gain = (log_density(np.exp(new)) + new) - (log_density(np.exp(z)) + z)
    return np.exp(np.where(np.log(coin) < gain, new, z))


chains = lambda rng: [(rng.uniform(1, 9, places), rng.dirichlet(np.ones(places) * 2, places)) for places in (4, 6)]


def walks(rng):
    """Coins that do not lie near any probability of acceptance."""
    for places, up in [(5, 0.7), (7, 0.4)]:
        weight, s, coins = rng.uniform(1, 6, places), ring(places, up), rng.uniform(0.02, 0.98, 200)
        edges = (by_flows(weight, s) / np.where(s > 0, s, np.inf)).ravel()
        coins = coins[np.abs(edges[:, None] - coins).min(axis=0) > 2e-3][:80]
        yield places - 1, weight, up, np.where(rng.random(len(coins)) < up, 1, -1), coins


def places_on_the_ring(answer, start, weight, *rest):
    got = numbers(answer(start, weight, *rest))
    if any(((path < 0) | (path >= len(weight))).any() for path in got):
        raise Trouble(
            "Some of your places are not among 0, ..., K - 1. Above the last place comes 0, and below 0 comes K - 1. NumPy reads index -1 as "
            "the last place without a complaint; what is written down has to be the place's own number."
        )
    return got


targets = lambda level: [lambda x: 2 * np.log(x) - x + level, lambda x: -(x**2) / 2 + level, lambda x: -3 * np.log(x) - 1 / x + level]


def steps(level, margin):
    """Coins that are not near the probability of acceptance."""

    def cases(rng):
        for log_density, scale in zip(targets(level), (0.8, 0.5, 1.1), strict=True):
            x, noise, coin = rng.uniform(0.3, 4, 400), rng.normal(size=400), rng.uniform(0.01, 0.99, 400)
            y = x * np.exp(scale * noise)
            clear = np.abs(np.log(coin) - log_density(y) + log_density(x) - np.log(y / x)) > margin
            yield x[clear], noise[clear], coin[clear], log_density, scale

    return cases


UPSIDE_DOWN = "Your ratio is upside down: the chain flees from places of large weight."
TWO_MINIMA = "You cut off two ratios at 1, each by itself. A gain in one may make up for a loss in the other: multiply first, cut off once."
FLOW, STAY = "np.minimum(there, there.T) / weight[:, None]", "np.diag(1 - P.sum(axis=1))"
MATRIX = Record(
    cases=chains,
    reference=by_flows,
    right="Right. Weight times probability is symmetric, so the weights stay as they are, whatever their sum.",
    nudge="Not that matrix. With weight = [1, 2] and s = [[1/2, 1/2], [1, 0]] it is [[1/2, 1/2], [1/4, 3/4]].",
    hints=(
        "Off the diagonal, a step needs a proposal and its acceptance: a product. What is left of each row, refusals and proposals to "
        "stay together, is the diagonal. Can a flow be accepted more than fully?",
        "P(x, y) = s(y | x) min(1, weight_y s(x | y) / (weight_x s(y | x))) for y other than x. Multiplied out, no ratio is left: "
        "min(s(y | x), ...). The diagonal makes each row add up to 1.",
        "Begin with `there = weight[:, None] * s`, which holds the flows that are offered, from row to column.",
    ),
    mistakes={
        UPSIDE_DOWN: f"{FLOW} -> s * np.minimum(1, there / there.T)",
        "You compared the weights only. That is right if s is symmetric; this one is not, and the two flows differ.": f"{FLOW} -> s * np.minimum(1, weight / weight[:, None])",
        TWO_MINIMA: f"{FLOW} -> s * np.minimum(1, weight / weight[:, None]) * np.minimum(1, s.T / s)",
        "You accept with r/(1+r), which refuses more than need be. Of each pair, one direction can be accepted always.": f"{FLOW} -> s * there.T / (there + there.T)",
        "Some rows do not add up to 1. A refused proposal leaves the chain where it is, and that is a step, too: from a place to itself.": f"+ {STAY} ->  || np.fill_diagonal(P, 0) -> pass ;; + {STAY} -> ",
        "You rescaled each row. That chain keeps another law: it lacks the visits that consist in staying.": (
            f"+ {STAY} -> / P.sum(axis=1, keepdims=True) || np.fill_diagonal(P, 0) -> pass ;; + {STAY} -> / P.sum(axis=1, keepdims=True)"
        ),
    },
    later={
        "Right where each move can be made in both directions. A move that is never proposed back is never accepted, and one that is never "
        "proposed at all is not made: mind zeros in s, below the bar and above.": (
            lambda rng: [(rng.uniform(1, 9, 5), ring(5, up)) for up in (0.7, 1.0)],
            f"{FLOW} -> s * np.minimum(1, there.T / there)",
        ),
    },
)
RATIO = "weight[y] / weight[x] * back_over_there"
WALK = Record(
    cases=walks,
    reference=walk_by_flows,
    view=places_on_the_ring,
    apart=True,
    rtol=1e-6,
    right="Right. Where it refuses it writes the old place down once more, and so each place gets its share.",
    nudge="Not that walk. With start = 0, weight = [1, 2, 4], up = 0.8, moves = [1, -1, -1, 1, -1] and "
    "coins = [0.47, 0.9, 0.6, 0.3, 0.7] it is [1, 0, 2, 2, 1].",
    hints=(
        "One round of a loop is one step: where would it go, how likely is that accepted, is the coin below it? Whatever happens, one "
        "place is written down.",
        "The way up is proposed with probability `up`, and its way back, which goes down, with 1 - up. So after a move up, "
        "alpha = min(1, weight_y (1 - up) / (weight_x up)); after a move down the two change places.",
        "Begin with `x, path = start, []`",
    ),
    mistakes={
        "You wrote down accepted places only. A refusal is a step: write the old place once more.": "path.append(x) -> pass ;; x = y -> x = y; path.append(x)",
        "You wrote down what was proposed. After a refusal the chain is where it was.": "append(x) -> append(y)",
        "You accept everything. The logarithm of a number below 1 is negative: was it compared with a ratio instead of its logarithm?": "coin < -> np.log(coin) <",
        "You compared the weights only. The proposal goes up more often than down, or the reverse, and that has to be made up for.": "* back_over_there -> ",
        "Upside down: above the bar stands the way back, the probability of proposing x from y.": (
            "(1 - up) / up if move == 1 else up / (1 - up) -> up / (1 - up) if move == 1 else (1 - up) / up"
        ),
        TWO_MINIMA: f"{RATIO} -> min(weight[y] / weight[x], 1) * min(back_over_there, 1)",
        "Your places do not close to a ring: above the last one comes place 0.": "(x + move) % len(weight) -> min(max(x + move, 0), len(weight) - 1)",
    },
)
ADDED = "x * np.exp(scale * noise) -> x + scale * noise"
STEP = Record(
    cases=steps(0.5, 2e-3),
    reference=step_in_logarithms,
    right="Right. In log x it is an ordinary random walk, and y / x is what the change of variables costs.",
    nudge="Not those places. With log_density(x) = -x, x = [1, 1, 1], noise = [0.34657, 0.34657, -0.34657], coin = [0.7, 0.8, 0.9] and "
    "scale = 2 they are [2, 1, 1]: 2 is proposed and accepted, 2 is proposed and refused, 1/2 is proposed and refused.",
    hints=(
        "Is it as likely to come to within 0.01 of y = 2 from x = 1 as to within 0.01 of 1 from 2? The factors that do it take up "
        "different lengths. Use logarithms for everything that is compared.",
        "Given x, log y is normal with mean log x, so s(y | x) is a normal density in log y - log x, divided by y. Swap x and y, "
        "divide, and see what is left.",
        "Begin with `y = x * np.exp(scale * noise)`",
    ),
    mistakes={
        "You compared the densities only. Around a large y the same factors are spread over a longer piece.": "+ scale * noise -> ",
        "The factor for the way back is upside down. Work out s(y | x): the density of y when its logarithm is normal.": "+ scale * noise -> - scale * noise",
        TWO_MINIMA: "log_density(y) - log_density(x) + scale * noise -> np.minimum(log_density(y) - log_density(x), 0) + np.minimum(scale * noise, 0)",
        "Your factor is the exponential of the noise: the scale is missing.": "scale * noise -> noise || np.exp(scale * noise) -> np.exp(noise)",
        "You accept everything: a logarithm below 0 was compared with a ratio instead of its logarithm.": "< log_ratio -> < np.exp(log_ratio)",
        "You added the noise. The proposal is x times the exponential of scale times the noise.": f"+ scale * noise -> ;; {ADDED}",
    },
    later={
        "Right, until the densities are too small or too large for the computer. Compare logarithms.": (
            steps(-2000.0, 1e-2),
            "log_density(y) - log_density(x) -> np.log(np.exp(log_density(y)) / np.exp(log_density(x)))",
        ),
    },
)
TASKS = {"matrix": MATRIX, "walk": WALK, "step": STEP}
