"""Metropolis-Hastings from scratch. Roads: the smaller of two flows, place by place; the logarithm of a positive quantity."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, call, numbers
from course_pkg.checks._quiet import beyond, quiet

LogDensity = Callable[[Any], Any]


def _by_flows(weight: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Each pair of places exchanges the smaller of the two flows that the proposals offer; what is left stays."""
    places = len(weight)
    P = np.zeros((places, places))
    for x in range(places):
        for y in range(places):
            if x != y:
                P[x, y] = min(weight[x] * s[x, y], weight[y] * s[y, x]) / weight[x]
        P[x, x] = 1 - P[x].sum()
    return P


def _ring(places: int, up: float) -> np.ndarray:
    one = np.roll(np.eye(places), 1, axis=1)
    return up * one + (1 - up) * one.T


def _walk_by_flows(start: int, weight: np.ndarray, up: float, moves: np.ndarray, coins: np.ndarray) -> np.ndarray:
    s = _ring(len(weight), up)
    P, x, path = _by_flows(weight, s), start, []
    for move, coin in zip(moves, coins, strict=True):
        y = (x + int(move)) % len(weight)
        x = y if coin * s[x, y] < P[x, y] else x
        path.append(x)
    return np.array(path)


def _step_in_logarithms(x: np.ndarray, noise: np.ndarray, coin: np.ndarray, log_density: LogDensity, scale: float) -> np.ndarray:
    """An ordinary random walk of z = log x, whose density is that of x times e^z."""
    z = np.log(x)
    new = z + scale * noise
    gain = (log_density(np.exp(new)) + new) - (log_density(np.exp(z)) + z)
    return np.exp(np.where(np.log(coin) < gain, new, z))


def matrix_stub(weight: np.ndarray, s: np.ndarray) -> Any:
    raise NotImplementedError


def walk_stub(start: int, weight: np.ndarray, up: float, moves: np.ndarray, coins: np.ndarray) -> Any:
    raise NotImplementedError


def step_stub(x: np.ndarray, noise: np.ndarray, coin: np.ndarray, log_density: LogDensity, scale: float) -> Any:
    raise NotImplementedError


def _ratio(weight, s):
    return (weight[None, :] * s.T) / (weight[:, None] * s)


def _stay(moves):
    """Whatever does not leave stays."""
    moves = moves - np.diag(np.diag(moves))
    return moves + np.diag(1 - moves.sum(axis=1))


def _only_moves(weight, s):
    leaving = s * np.minimum(1, _ratio(weight, s))
    leaving = leaving - np.diag(np.diag(leaving))
    return leaving / leaving.sum(axis=1, keepdims=True)


def _diagonal_of(diagonal):
    def answer(weight, s):
        leaving = s * np.minimum(1, _ratio(weight, s))
        leaving = leaving - np.diag(np.diag(leaving))
        return leaving + np.diag(diagonal(s, leaving))

    return answer


STAY = "Some rows do not add up to 1. "
MATRIX_MISTAKES = {
    "nothing proposed": Mistake(
        lambda weight, s: _stay(np.where(s > 0, s * np.minimum(1, _ratio(weight, np.where(s > 0, s, 1))), 0)),
        "Right where each move can be made in both directions. A move that is never proposed back is never accepted, and one that is never "
        "proposed at all is not made: mind zeros in s, below the bar and above.",
    ),
    "upside down": Mistake(
        lambda weight, s: _stay(s * np.minimum(1, 1 / _ratio(weight, s))),
        "Your ratio is upside down: the chain flees from places of large weight.",
    ),
    "way back forgotten": Mistake(
        lambda weight, s: _stay(s * np.minimum(1, weight[None, :] / weight[:, None])),
        "You compared the weights only. That is right if s is symmetric; this one is not, and the two flows differ.",
    ),
    "way back upside down": Mistake(
        lambda weight, s: _stay(s * np.minimum(1, weight[None, :] * s / (weight[:, None] * s.T))),
        "The weights are right, and the proposals stand the wrong way round: the one that leads back belongs above the bar.",
    ),
    "weights left out": Mistake(
        lambda weight, s: _stay(s * np.minimum(1, s.T / s)),
        "You balanced the proposals only. The weights have to come in, or every place is as good as another.",
    ),
    "two minima": Mistake(
        lambda weight, s: _stay(s * np.minimum(1, weight[None, :] / weight[:, None]) * np.minimum(1, s.T / s)),
        "You cut off two ratios at 1, each by itself. A gain in one may make up for a loss in the other: multiply first, cut off once.",
    ),
    "other rule": Mistake(
        lambda weight, s: _stay(s * _ratio(weight, s) / (1 + _ratio(weight, s))),
        "You accept with r/(1+r). That balances the flows as well, but refuses more than need be. Of each pair, one direction can be "
        "accepted always.",
    ),
    "minimum forgotten": Mistake(
        lambda weight, s: _stay(s * _ratio(weight, s)),
        "Some of your probabilities of acceptance are above 1. Cut them off there.",
    ),
    "refusals not counted": Mistake(
        _diagonal_of(lambda s, leaving: np.zeros(len(s))),
        STAY + "A refused proposal leaves the chain where it is, and that is a step, too: from a place to itself.",
    ),
    "refusals lost": Mistake(
        lambda weight, s: s * np.minimum(1, _ratio(weight, s)),
        STAY + "You count the proposals to stay. A refused move stays as well.",
    ),
    "proposals to stay lost": Mistake(
        _diagonal_of(lambda s, leaving: (s - np.diag(np.diag(s)) - leaving).sum(axis=1)),
        STAY + "You count the refusals. A proposal may also name the place where the chain is.",
    ),
    "only moves": Mistake(
        _only_moves,
        "You rescaled each row after leaving out the refusals. That chain keeps another law: it lacks the visits that consist in staying.",
    ),
    "everything accepted": Mistake(
        lambda weight, s: s,
        "You handed back the proposals: everything is accepted, and the weights do nothing.",
    ),
    "acceptance alone": Mistake(
        lambda weight, s: np.minimum(1, _ratio(weight, s)),
        "That is the probability of acceptance, once proposed. A move has to be proposed first.",
    ),
    "transposed": Mistake(
        lambda weight, s: _stay(s * np.minimum(1, _ratio(weight, s))).T,
        "Transposed: a row says where the chain goes from one place, and adds up to 1.",
    ),
    "flows": Mistake(
        lambda weight, s: weight[:, None] * _stay(s * np.minimum(1, _ratio(weight, s))),
        "Those are the flows, weight times probability. The probabilities alone were asked for.",
    ),
}


def _walked(accept, record="state"):
    def answer(start, weight, up, moves, coins):
        places, x, path = len(weight), start, []
        for move, coin in zip(moves, coins, strict=True):
            y = int(x + move) % places
            there = up if move > 0 else 1 - up
            taken = accept(weight[y] / weight[x], (1 - there) / there, coin)
            if record == "proposal" or (record == "accepted" and taken):
                path.append(y)
            x = y if taken else x
            if record == "state":
                path.append(x)
        return np.array(path, dtype=float)

    return answer


def _in_a_row(start, weight, up, moves, coins):
    x, path = start, []
    for move, coin in zip(moves, coins, strict=True):
        y = int(min(max(x + move, 0), len(weight) - 1))
        there = up if move > 0 else 1 - up
        x = y if coin * weight[x] * there < weight[y] * (1 - there) else x
        path.append(x)
    return np.array(path, dtype=float)


def _without_end(start, weight, up, moves, coins):
    x, path, places = start, [], len(weight)
    for move, coin in zip(moves, coins, strict=True):
        y = int(x + move)
        there = up if move > 0 else 1 - up
        x = y if coin * weight[x % places] * there < weight[y % places] * (1 - there) else x
        path.append(x)
    return np.array(path, dtype=float)


_right = _walked(lambda target, back, coin: coin < target * back)
WALK_MISTAKES = {
    "rejected place not repeated": Mistake(
        _walked(lambda target, back, coin: coin < target * back, record="accepted"),
        "You wrote down accepted places only. A refusal is a step as well: the old place is written down once more.",
    ),
    "proposals written down": Mistake(
        _walked(lambda target, back, coin: coin < target * back, record="proposal"),
        "You wrote down what was proposed. After a refusal the chain is where it was.",
    ),
    "logarithm against the ratio": Mistake(
        _walked(lambda target, back, coin: np.log(coin) < target * back),
        "You accept everything. The logarithm of a number below 1 is negative: was it compared with a ratio instead of its logarithm?",
    ),
    "coin against the logarithm": Mistake(
        _walked(lambda target, back, coin: coin < np.log(target * back)),
        "You never take a step whose ratio is below 1, and it is the coin that decides those. Was it compared with a logarithm, which is "
        "below 0 there? Both plain, or both in logarithms.",
    ),
    "upside down": Mistake(
        _walked(lambda target, back, coin: coin < 1 / (target * back)),
        "Your ratio is upside down: the chain flees from places of large weight.",
    ),
    "way back forgotten": Mistake(
        _walked(lambda target, back, coin: coin < target),
        "You compared the weights only. The proposal goes up more often than down, or the reverse, and that has to be made up for.",
    ),
    "way back upside down": Mistake(
        _walked(lambda target, back, coin: coin < target / back),
        "The weights are right, and the proposals stand the wrong way round: the probability of the way back belongs above the bar.",
    ),
    "two minima": Mistake(
        _walked(lambda target, back, coin: coin < min(target, 1.0) * min(back, 1.0)),
        "You cut off two ratios at 1, each by itself. A gain in one may make up for a loss in the other: multiply first, cut off once.",
    ),
    "not a place": Mistake(
        lambda *args: _without_end(*args),
        "Some of your places are not among 0, ..., K - 1. Above the last place comes 0, and below 0 comes K - 1. NumPy reads index -1 as "
        "the last place without a complaint; what is written down has to be the place's own number.",
    ),
    "coin turned round": Mistake(
        _walked(lambda target, back, coin: coin > target * back),
        "You accept if the coin is above the probability, which happens the less often the larger that is.",
    ),
    "start written down": Mistake(
        lambda start, *rest: np.concatenate([[start], _right(start, *rest)]),
        "One place too many: the start was not asked for.",
    ),
    "start instead of the last": Mistake(
        lambda start, *rest: np.concatenate([[start], _right(start, *rest)[:-1]]),
        "You wrote down where the chain was before each step. Write down where it is after it.",
    ),
    "no ring": Mistake(
        _in_a_row,
        "Your places do not close to a ring: above the last one comes place 0, and below place 0 the last one.",
    ),
}


def _stepped(log_ratio, accept=lambda coin, gain: np.log(coin) < gain, propose=lambda x, move: x * np.exp(move)):
    def answer(x, noise, coin, log_density, scale):
        y = propose(x, scale * noise)
        return np.where(accept(coin, log_ratio(log_density, x, y)), y, x)

    return answer


def _full(log_density, x, y):
    return log_density(y) - log_density(x) + np.log(y) - np.log(x)


def _plain(log_density, x, y):
    return np.log(np.exp(log_density(y)) * y / (np.exp(log_density(x)) * x))


STEP_MISTAKES = {
    "densities": Mistake(
        _stepped(_plain),
        "Right, until the densities are too small or too large for the computer. Compare logarithms.",
    ),
    "way back forgotten": Mistake(
        _stepped(lambda log_density, x, y: log_density(y) - log_density(x)),
        "You compared the densities only. A factor looks symmetric and is not: around a large y the same factors are spread over a longer "
        "piece of the line.",
    ),
    "way back upside down": Mistake(
        _stepped(lambda log_density, x, y: log_density(y) - log_density(x) + np.log(x) - np.log(y)),
        "The factor for the way back is upside down. Work out s(y | x): the density of y when its logarithm is normal.",
    ),
    "two minima": Mistake(
        _stepped(lambda log_density, x, y: np.minimum(log_density(y) - log_density(x), 0) + np.minimum(np.log(y) - np.log(x), 0)),
        "You cut off two ratios at 1, each by itself. A gain in one may make up for a loss in the other: multiply first, cut off once.",
    ),
    "scale forgotten": Mistake(
        lambda x, noise, coin, log_density, scale: _stepped(_full)(x, noise, coin, log_density, 1.0),
        "Your factor is the exponential of the noise: the scale is missing.",
    ),
    "way back to a power": Mistake(
        _stepped(lambda log_density, x, y: log_density(y) - log_density(x) + (np.log(y) - np.log(x)) * 2),
        "The factor for the way back counts once.",
    ),
    "logarithm against the ratio": Mistake(
        _stepped(_full, accept=lambda coin, gain: np.log(coin) < np.exp(np.minimum(gain, 0))),
        "You accept everything, so these are the proposals. The logarithm of a number below 1 is negative: was it compared with a ratio "
        "instead of its logarithm?",
    ),
    "coin against the logarithm": Mistake(
        _stepped(_full, accept=lambda coin, gain: coin < gain),
        "You never take a step whose ratio is below 1, and it is the coin that decides those. Compare its logarithm with a logarithm.",
    ),
    "upside down": Mistake(
        _stepped(lambda log_density, x, y: -_full(log_density, x, y)),
        "Your ratio is upside down: the chain flees from where the density is high.",
    ),
    "densities upside down": Mistake(
        _stepped(lambda log_density, x, y: log_density(x) - log_density(y) + np.log(y) - np.log(x)),
        "The factor for the way back is right, and the densities are upside down: the chain flees from where they are high.",
    ),
    "logarithm for the factor": Mistake(
        _stepped(lambda log_density, x, y: log_density(y) - log_density(x) + y / x),
        "The factor for the way back stands among logarithms: take its logarithm as well.",
    ),
    "added": Mistake(
        _stepped(lambda log_density, x, y: log_density(y) - log_density(x), propose=lambda x, move: np.maximum(x + move, 1e-9)),
        "You added the noise. The proposal is x times the exponential of scale times the noise.",
    ),
    "coin turned round": Mistake(
        _stepped(_full, accept=lambda coin, gain: np.log(coin) > gain),
        "You accept if the coin is above the probability, which happens the less often the larger that is.",
    ),
}


def matrix_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 230])

    def case(places: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.uniform(1, 9, places), rng.dirichlet(np.ones(places) * 2, places)

    verdict = quiet(
        answer,
        [case(4), case(6)],
        _by_flows,
        {name: mistake for name, mistake in MATRIX_MISTAKES.items() if name != "nothing proposed"},
        right="Right. Weight times probability is symmetric, so the weights stay as they are, whatever their sum.",
        nudge="Not that matrix. With weight = [1, 2] and s = [[1/2, 1/2], [1, 0]] it is [[1/2, 1/2], [1/4, 3/4]].",
    )
    one_way = [(weight, _ring(5, up)) for weight, up in [(rng.uniform(1, 9, 5), 0.7), (rng.uniform(1, 9, 5), 1.0)]]
    return beyond(verdict, answer, one_way, _by_flows, MATRIX_MISTAKES["nothing proposed"].words)


def _undisputed(rng: np.random.Generator, weight: np.ndarray, up: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Moves, and coins that do not lie near any probability of acceptance, nor near one of a mistake's."""
    s = _ring(len(weight), up)
    edges = (_by_flows(weight, s) / np.where(s > 0, s, np.inf)).ravel()
    coins: list[float] = []
    while len(coins) < steps:
        coin = float(rng.uniform(0.02, 0.98))
        if np.abs(edges - coin).min() > 2e-3:
            coins.append(coin)
    return np.where(rng.random(steps) < up, 1, -1), np.array(coins)


def walk_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 231])
    cases = []
    for places, up in [(5, 0.7), (7, 0.4)]:
        weight, first = rng.uniform(1, 6, places), 1 if up > 0.5 else -1
        start = places - 1 if first > 0 else 0
        # next to the start a place that is much heavier, and one that is lighter: each mistake leaves the start
        weight[[start, (start + first) % places, start - first]] = np.array([1, 5, 0.3]) * rng.uniform(1, 2)
        moves, coins = _undisputed(rng, weight, up, 80)
        moves[0] = first  # the walk begins across the ring's seam, to the heavier side, and is let through
        coins[0] = coins[coins < 0.4][0]
        cases.append((start, weight, up, moves, coins))
    nudge = (
        "Not that walk. With start = 0, weight = [1, 2, 4], up = 0.8, moves = [1, -1, -1, 1, -1] and "
        "coins = [0.47, 0.9, 0.6, 0.3, 0.7] it is [1, 0, 2, 2, 1]."
    )
    verdict = quiet(
        answer,
        cases,
        _walk_by_flows,
        WALK_MISTAKES,
        right="Right. Where it refuses it writes the old place down once more, and so each place gets its share.",
        nudge=nudge,
        rtol=1e-6,
    )
    if verdict.message != nudge:
        return verdict
    with np.errstate(all="ignore"):
        strays = any(((got < 0) | (got >= len(case[1]))).any() for case in cases for got in numbers(call(answer, *case)))
    return Verdict(False, WALK_MISTAKES["not a place"].words) if strays else verdict


def _targets(level: float) -> list[LogDensity]:
    return [lambda x: 2 * np.log(x) - x + level, lambda x: -(x**2) / 2 + level, lambda x: -3 * np.log(x) - 1 / x + level]


def _far_from_the_edge(rng: np.random.Generator, log_density: LogDensity, scale: float, margin: float) -> tuple[np.ndarray, ...]:
    x, noise, coin = rng.uniform(0.3, 4, 400), rng.normal(size=400), rng.uniform(0.01, 0.99, 400)
    y = x * np.exp(scale * noise)
    clear = np.abs(np.log(coin) - _full(log_density, x, y)) > margin
    return x[clear], noise[clear], coin[clear]


def _other_proposal(answer: Any, cases: list[tuple[Any, ...]]) -> Verdict | None:
    """Whether all chains that moved went to where one of two wrong proposals leads, whatever the rule of acceptance."""
    proposals = {"added": lambda x, move, scale: x + scale * move, "scale forgotten": lambda x, move, scale: x * np.exp(move)}
    for name, propose in proposals.items():
        with np.errstate(all="ignore"):
            for x, noise, coin, log_density, scale in cases:
                (got,) = numbers(call(answer, x, noise, coin, log_density, scale))
                moved = np.abs(got - x) > 1e-9
                if moved.sum() < 20 or not np.allclose(got[moved], propose(x, noise, scale)[moved], rtol=1e-4, atol=1e-6):
                    break
            else:
                return Verdict(False, STEP_MISTAKES[name].words)
    return None


def step_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 232])
    usual = []
    for log_density, scale in zip(_targets(0.5), (0.8, 0.5, 1.1), strict=True):
        usual.append((*_far_from_the_edge(rng, log_density, scale, 2e-3), log_density, scale))
    nudge = (
        "Not those places. With log_density(x) = -x, x = [1, 1, 1], noise = [0.34657, 0.34657, -0.34657], coin = [0.7, 0.8, 0.9] and "
        "scale = 2 they are [2, 1, 1]: 2 is proposed and accepted, 2 is proposed and refused, 1/2 is proposed and refused."
    )
    verdict = quiet(
        answer,
        usual,
        _step_in_logarithms,
        {name: mistake for name, mistake in STEP_MISTAKES.items() if name != "densities"},
        right="Right. In log x it is an ordinary random walk, and y / x is what the change of variables costs.",
        nudge=nudge,
    )
    if verdict.message == nudge:
        return _other_proposal(answer, usual) or verdict
    far = []
    for log_density, scale in zip(_targets(-2000.0)[:2], (0.8, 0.5), strict=True):
        far.append((*_far_from_the_edge(rng, log_density, scale, 1e-2), log_density, scale))
    return beyond(verdict, answer, far, _step_in_logarithms, STEP_MISTAKES["densities"].words)


TASKS = (
    Task(
        "mcmc/metropolis/matrix",
        "Metropolis-Hastings: the matrix of a chain",
        1,
        13,
        matrix_stub,
        (
            "Off the diagonal, a step needs a proposal and its acceptance: a product. What is left of each row, refusals and proposals to "
            "stay together, is the diagonal. Can a flow be accepted more than fully?",
            "P(x, y) = s(y | x) min(1, weight_y s(x | y) / (weight_x s(y | x))) for y other than x. Multiplied out, no ratio is left: "
            "min(s(y | x), ...). The diagonal makes each row add up to 1.",
            "Begin with `there = weight[:, None] * s`, which holds the flows that are offered, from row to column.",
        ),
        MATRIX_MISTAKES,
        matrix_verdict,
    ),
    Task(
        "mcmc/metropolis/walk",
        "Metropolis-Hastings: a walk on a ring",
        1,
        11,
        walk_stub,
        (
            "One round of a loop is one step: where would it go, how likely is that accepted, is the coin below it? Whatever happens, one "
            "place is written down.",
            "The way up is proposed with probability `up`, and its way back, which goes down, with 1 - up. So after a move up, "
            "alpha = min(1, weight_y (1 - up) / (weight_x up)); after a move down the two change places.",
            "Begin with `x, path = start, []`",
        ),
        WALK_MISTAKES,
        walk_verdict,
    ),
    Task(
        "mcmc/metropolis/step",
        "Metropolis-Hastings: a positive quantity",
        1,
        11,
        step_stub,
        (
            "Is it as likely to come to within 0.01 of y = 2 from x = 1 as to within 0.01 of 1 from 2? The factors that do it take up "
            "different lengths. Use logarithms for everything that is compared.",
            "Given x, log y is normal with mean log x, so s(y | x) is a normal density in log y - log x, divided by y. Swap x and y, "
            "divide, and see what is left.",
            "Begin with `y = x * np.exp(scale * noise)`",
        ),
        STEP_MISTAKES,
        step_verdict,
    ),
)
