"""Two scans of a Gibbs sampler on few states. Roads: projections; proposals written out in full; all paths one by one."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._settle import judged
from course_pkg.checks._tables import telling


def _by_projection(table: np.ndarray, part: int) -> np.ndarray:
    """To redraw one part is to average over it: the projection, weighted by pi, on what depends on the other part alone."""
    stands = np.indices(table.shape)[1 - part].ravel()
    indicator = (stands[:, None] == np.arange(table.shape[1 - part])).astype(float)
    weighted = indicator.T * table.ravel()
    return indicator @ np.linalg.solve(weighted @ indicator, weighted)


def _ratio_in_full(table: np.ndarray, lot: np.ndarray, old: tuple[int, int], new: tuple[int, int]) -> float:
    turn = lot.ravel()[:, None]
    proposal = turn * _by_projection(table, 0) + (1 - turn) * _by_projection(table, 1)
    flow = table.ravel()[:, None] * proposal
    i, j = np.ravel_multi_index(old, table.shape), np.ravel_multi_index(new, table.shape)
    return float(flow[j, i] / flow[i, j])


def _scans_path_by_path(updates: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    n = len(updates[0])
    lot, turns = np.zeros((n, n)), np.zeros((n, n))
    for path in product(range(n), repeat=len(updates) + 1):
        turns[path[0], path[-1]] += np.prod([P[i, j] for P, i, j in zip(updates, path, path[1:], strict=False)])
    for P in updates:
        lot += P / len(updates)
    return lot, turns


def _audit_by_loops(pi: np.ndarray, P: np.ndarray) -> tuple[float, float]:
    states = range(len(pi))
    drift = max(abs(sum(pi[i] * P[i, j] for i in states) - pi[j]) for j in states)
    return drift, max(abs(pi[i] * P[i, j] - pi[j] * P[j, i]) for i in states for j in states)


def update_stub(table: np.ndarray, part: int) -> Any:
    raise NotImplementedError


def ratio_stub(table: np.ndarray, lot: np.ndarray, old: tuple[int, int], new: tuple[int, int]) -> Any:
    raise NotImplementedError


def scans_stub(updates: Sequence[np.ndarray]) -> Any:
    raise NotImplementedError


def audit_stub(pi: np.ndarray, P: np.ndarray) -> Any:
    raise NotImplementedError


def _moves(of_u: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel from ``of_u(table, u, v)``, the chances of the new u; the other part is the same with the table turned."""

    def answer(table, part):
        turned = table if part == 0 else table.T
        A, B = turned.shape
        P = np.zeros((A, B, A, B))
        for u, v in np.ndindex(A, B):
            P[u, v, :, v] = of_u(turned, u, v)
        order = (0, 1, 2, 3) if part == 0 else (1, 0, 3, 2)
        return P.transpose(order).reshape(A * B, A * B)

    return answer


def _given(table, _, v):
    return table[:, v] / table[:, v].sum()


def _never_stays(table, u, v):
    chances = _given(table, u, v)
    chances[u] = 0
    return chances / chances.sum()


def _side_by_side(table, _):
    A, B = table.shape
    P = np.zeros((A, B, A, B))
    for u, v, s, t in np.ndindex(A, B, A, B):
        P[u, v, s, t] = table[s, v] / table[:, v].sum() * table[u, t] / table[u].sum()
    return P.reshape(A * B, A * B)


def _columns_first(table, part):
    A, B = table.shape
    number = np.arange(A * B).reshape(A, B).T.ravel()
    return _by_projection(table, part)[np.ix_(number, number)]


UPDATE_MISTAKES = {
    "the other part": Mistake(
        lambda table, part: _by_projection(table, 1 - part),
        "You redraw the part that should stand still: `part` says which one moves.",
    ),
    "always the first part": Mistake(
        lambda table, part: _by_projection(table, 0),
        "You redraw u, whatever `part` is.",
    ),
    "always the second part": Mistake(
        lambda table, part: _by_projection(table, 1),
        "You redraw v, whatever `part` is.",
    ),
    "flows": Mistake(
        lambda table, part: table.reshape(-1, 1) * _by_projection(table, part),
        "All your entries together sum to one: those are flows. P[i, j] is the chance of j for a chain that is at i; each row sums to one.",
    ),
    "conditional the wrong way round": Mistake(
        _moves(lambda table, u, v: table[:, v] / table.sum(axis=1)),
        "Your rows do not sum to one. You divide by the probability of the part that moves; the condition is the part that stands still.",
    ),
    "not divided": Mistake(
        _moves(lambda table, u, v: table[:, v]),
        "Your rows do not sum to one: those are joint probabilities. Given what stands still, how large are they?",
    ),
    "marginal": Mistake(
        _moves(lambda table, u, v: table.sum(axis=1)),
        "You draw the new value from its own distribution, whatever the other part is. It is drawn given the other part.",
    ),
    "uniform": Mistake(
        _moves(lambda table, u, v: 1 / len(table)),
        "You give all new values the same chance. They are drawn from pi, given the part that stands still.",
    ),
    "never stays": Mistake(
        _moves(_never_stays),
        "You rule out the value that is there already. A draw from the conditional may well give it again.",
    ),
    "columns for rows": Mistake(
        lambda table, part: _by_projection(table, part).T,
        "Your columns sum to one. P[i, j] leads from i to j, so it is the rows that should.",
    ),
    "both parts": Mistake(
        lambda table, part: np.tile(table.ravel(), (table.size, 1)),
        "You draw both parts anew, from pi itself. One of them has to stand still.",
    ),
    "side by side": Mistake(
        _side_by_side,
        "You redraw both parts, each given the old value of the other. One update redraws one part.",
    ),
    "columns first": Mistake(
        _columns_first,
        "The right chances, and the states in another order: (u, v) is state B u + v, as in table.ravel().",
    ),
    "the identity": Mistake(
        lambda table, part: np.eye(table.size),
        "In yours nothing ever moves.",
    ),
}


def _turn(lot, old, new):
    return lot if old[0] != new[0] else 1 - lot


def _scored(pi=0, turn=1, which=_turn) -> Callable[..., Any]:
    """Powers of pi(new) / pi(old) and of the chances of the turn; the right ratio has the first to the power 0."""

    def answer(table, lot, old, new):
        chance = which(lot, old, new)
        return (table[new] / table[old]) ** pi * (chance[new] / chance[old]) ** turn

    return answer


RATIO_MISTAKES = {
    "one": Mistake(
        _scored(turn=0),
        "That would be so if the lot did not look at the state. Here the chance of this part's turn may differ between old and new.",
    ),
    "upside down": Mistake(
        _scored(turn=-1),
        "Upside down: above the bar stands the way back, from new to old.",
    ),
    "lot for both": Mistake(
        _scored(which=lambda lot, old, new: lot),
        "Right where u moves. It is v's turn with the rest of the probability.",
    ),
    "the rest for both": Mistake(
        _scored(which=lambda lot, old, new: 1 - lot),
        "Right where v moves. `lot` is the probability that it is u's turn.",
    ),
    "parts exchanged": Mistake(
        _scored(which=lambda lot, old, new: 1 - _turn(lot, old, new)),
        "The parts have changed places: `lot` is the probability that it is u's turn.",
    ),
    "ratio of pi alone": Mistake(
        _scored(pi=1, turn=0),
        "That is the ratio of pi alone. The proposal is not symmetric: put its probabilities there and back in.",
    ),
    "ratio of pi upside down": Mistake(
        _scored(pi=-1, turn=0),
        "That is the ratio of the two conditionals alone. pi itself belongs into the ratio, and so does the lot.",
    ),
    "pi forgotten": Mistake(
        _scored(pi=-1),
        "Those are the proposals there and back. pi(new) / pi(old) belongs into the ratio as well.",
    ),
    "conditional forgotten": Mistake(
        _scored(pi=1),
        "You have pi and the lot. A proposal also has the probability with which the new value is drawn, given what stands still.",
    ),
    "way there above": Mistake(
        _scored(pi=2, turn=-1),
        "The proposal is upside down: above the bar stands the way back, from new to old.",
    ),
    "stopped at one": Mistake(
        lambda *case: min(1.0, _ratio_in_full(*case)),
        "You stop at 1. The ratio itself was asked for.",
    ),
    "logarithm": Mistake(
        lambda *case: np.log(_ratio_in_full(*case)),
        "That is the logarithm of the ratio.",
    ),
}


def _chained(updates: Sequence[np.ndarray]) -> np.ndarray:
    out = np.eye(len(updates[0]))
    for P in updates:
        out = out @ P
    return out


def _mean(updates: Sequence[np.ndarray]) -> np.ndarray:
    return np.mean(updates, axis=0)


SCANS_MISTAKES = {
    "last first": Mistake(
        lambda updates: (_mean(updates), _chained(updates[::-1])),
        "Your sweep begins with the last update. Rows are where a step begins, so the first update stands on the left.",
    ),
    "sum": Mistake(
        lambda updates: (_mean(updates) * len(updates), _chained(updates)),
        "Rows of your random scan do not sum to one. Each update comes with a probability.",
    ),
    "always two": Mistake(
        lambda updates: (_mean(updates) * len(updates) / 2, _chained(updates)),
        "You gave each update the probability 1/2. There may be more than two.",
    ),
    "exchanged": Mistake(
        lambda updates: (_chained(updates), _mean(updates)),
        "The two scans have changed places: the random one comes first.",
    ),
    "as many by lot as in a sweep": Mistake(
        lambda updates: (np.linalg.matrix_power(_mean(updates), len(updates)), _chained(updates)),
        "Your random scan makes as many updates as a sweep has. One step of it is a single update.",
    ),
    "entries multiplied": Mistake(
        lambda updates: (_mean(updates), np.prod(updates, axis=0)),
        "You multiplied the entries. From one state to another the way leads by all states in between: sum over them.",
    ),
    "there and back": Mistake(
        lambda updates: (_mean(updates), _chained([*updates, *updates[-2::-1]])),
        "Your sweep goes there and back again. It ends with the last update.",
    ),
    "only two": Mistake(
        lambda updates: (_mean(updates), _chained(updates[:2])),
        "Your sweep ends after two updates. There may be more.",
    ),
    "every order": Mistake(
        lambda updates: (_mean(updates), (_chained(updates) + _chained(updates[::-1])) / 2),
        "Your sweep takes both orders at random. It always goes from the first update to the last.",
    ),
    "both the same": Mistake(
        lambda updates: (_mean(updates), _mean(updates)),
        "Your systematic scan is the random one. It makes all updates, one after the other.",
    ),
    "columns for rows": Mistake(
        lambda updates: (_mean(updates).T, _chained(updates).T),
        "Your columns sum to one. P[i, j] leads from i to j, so it is the rows that should.",
    ),
}


def _flow(pi, P):
    return pi[:, None] * P


def _audit(drift=lambda pi, P: np.abs(pi @ P - pi).max(), imbalance=lambda pi, P: np.abs(_flow(pi, P) - _flow(pi, P).T).max()):
    return lambda pi, P: (drift(pi, P), imbalance(pi, P))


AUDIT_MISTAKES = {
    "P pi": Mistake(
        _audit(drift=lambda pi, P: np.abs(P @ pi - pi).max()),
        "Your drift has P pi. What arrives at j is the sum over i of pi_i P_ij, with pi on the left.",
    ),
    "kernel alone": Mistake(
        _audit(imbalance=lambda pi, P: np.abs(P - P.T).max()),
        "Your imbalance is that of P. A flow is the probability of being there times that of going.",
    ),
    "weighted where it arrives": Mistake(
        _audit(imbalance=lambda pi, P: np.abs(P * pi - (P * pi).T).max()),
        "Your flows are weighted with the state where they arrive. They leave from i: pi_i P_ij.",
    ),
    "signed": Mistake(
        _audit(drift=lambda pi, P: (pi @ P - pi).max()),
        "Your drift is the largest gain. A loss counts as much: take sizes.",
    ),
    "largest loss": Mistake(
        _audit(drift=lambda pi, P: (pi - pi @ P).max()),
        "Your drift is the largest loss. A gain counts as much: take sizes.",
    ),
    "summed": Mistake(
        _audit(lambda pi, P: np.abs(pi @ P - pi).sum(), lambda pi, P: np.abs(_flow(pi, P) - _flow(pi, P).T).sum()),
        "You summed. The largest of each was asked for.",
    ),
    "drift summed": Mistake(
        _audit(drift=lambda pi, P: np.abs(pi @ P - pi).sum()),
        "You summed over the states in the drift. The largest was asked for.",
    ),
    "half the sum": Mistake(
        _audit(drift=lambda pi, P: np.abs(pi @ P - pi).sum() / 2),
        "Your drift is half the sum of the differences, the distance in total variation. The largest difference was asked for.",
    ),
    "flows added": Mistake(
        _audit(imbalance=lambda pi, P: np.abs(_flow(pi, P) + _flow(pi, P).T).max()),
        "You added the flow and the flow back. By how much do they differ?",
    ),
    "averaged": Mistake(
        _audit(lambda pi, P: np.abs(pi @ P - pi).mean(), lambda pi, P: np.abs(_flow(pi, P) - _flow(pi, P).T).mean()),
        "You averaged. The largest of each was asked for.",
    ),
    "exchanged": Mistake(
        lambda pi, P: _audit()(pi, P)[::-1],
        "The two have changed places: the drift comes first.",
    ),
    "roots of squares": Mistake(
        _audit(lambda pi, P: np.linalg.norm(pi @ P - pi), lambda pi, P: np.linalg.norm(_flow(pi, P) - _flow(pi, P).T)),
        "You took roots of sums of squares. The largest of each was asked for.",
    ),
    "what leaves": Mistake(
        _audit(drift=lambda pi, P: np.abs(_flow(pi, P).sum(axis=1) - pi).max()),
        "Your drift is 0 whatever P is. What leaves a state is always all of it; sum what arrives, and compare that with pi.",
    ),
    "in parts of pi": Mistake(
        _audit(drift=lambda pi, P: np.abs((pi @ P - pi) / pi).max()),
        "Your drift is relative to pi. The difference itself was asked for.",
    ),
}
OTHER_AUDITS = [_audit(imbalance=lambda pi, P, i=i: np.abs(_flow(pi, P)[i] - _flow(pi, P)[:, i]).max()) for i in (0, -1)]


def _table(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Probabilities that differ, none of them small."""
    weights = rng.permutation(np.geomspace(1, 6, shape[0] * shape[1])) * rng.uniform(0.9, 1.1, shape[0] * shape[1])
    return (weights / weights.sum()).reshape(shape)


def update_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 240])
    cases = [(_table(rng, shape), part) for shape in ((2, 3), (3, 2), (2, 2)) for part in (0, 1)]
    return judged(
        answer,
        cases,
        _by_projection,
        UPDATE_MISTAKES,
        stub=update_stub,
        right="Right. Do it twice and nothing changes: P P = P, since what has just been drawn may as well be drawn again.",
        nudge="Not that kernel. With table = [[0.4, 0.1], [0.2, 0.3]] and part 1 the rows are [0.8, 0.2, 0, 0] twice, then "
        "[0, 0, 0.4, 0.6] "
        "twice. With part 0 they are [2/3, 0, 1/3, 0] and [0, 1/4, 0, 3/4] in turn.",
    )


def _moved(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    cases: list[tuple[Any, ...]] = []
    for shape, part in product(((2, 3), (3, 2)), (0, 0, 1, 1)):
        old = [int(rng.integers(n)) for n in shape]
        new = list(old)
        new[part] = int((old[part] + rng.integers(1, shape[part])) % shape[part])
        cases.append((_table(rng, shape), rng.uniform(0.1, 0.9, shape), tuple(old), tuple(new)))
    return cases


def ratio_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 241])
    return judged(
        answer,
        telling(lambda: _moved(rng), _ratio_in_full, RATIO_MISTAKES),
        _ratio_in_full,
        RATIO_MISTAKES,
        stub=ratio_stub,
        right="Right. It does not depend on pi at all, and if the lot is the same in every state it is 1: nothing is ever refused.",
        nudge="Not that ratio. With table = [[0.4, 0.1], [0.2, 0.3]] and lot = [[0.5, 0.2], [0.75, 0.5]] it is 1.5 from (0, 0) to (1, 0), "
        "and 1.6 from (0, 0) to (0, 1).",
    )


def scans_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 242])
    cases = [([rng.dirichlet(np.full(n, 0.7), n) for _ in range(k)],) for n, k in ((3, 2), (4, 3), (2, 4))]
    return judged(
        answer,
        cases,
        _scans_path_by_path,
        SCANS_MISTAKES,
        stub=scans_stub,
        right="Right. If each update keeps pi, so does their mean, and so does their product.",
        nudge="Not those scans. With updates = [[[1, 0], [1/2, 1/2]], [[0, 1], [1, 0]], [[1/2, 1/2], [0, 1]]] all entries of the random "
        "scan are 1/2, and the systematic one is [[0, 1], [1/4, 3/4]].",
        parts=("the random scan", "the systematic scan"),
    )


@lru_cache(maxsize=64)
def _kernels(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 243])

    def draw() -> list[tuple[Any, ...]]:
        return [(rng.dirichlet(np.full(n, 3.0)), rng.dirichlet(np.full(n, 0.6), n)) for n in (3, 4, 5)]

    return telling(draw, _audit_by_loops, AUDIT_MISTAKES, others=OTHER_AUDITS)


def audit_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _kernels(seed),
        _audit_by_loops,
        AUDIT_MISTAKES,
        stub=audit_stub,
        right="Right. If the second is zero, so is the first. Is it true the other way round? Run the cell below.",
        nudge="Not those two. With pi = [0.3, 0.3, 0.4] and P = [[0, 0, 1], [0.5, 0.5, 0], [0, 1, 0]] the drift is 0.25 and the imbalance "
        "0.4.",
        parts=("the drift", "the imbalance"),
    )


TASKS = (
    Task(
        "mcmc/two-scans/update",
        "Two scans: one update as a matrix",
        2,
        10,
        update_stub,
        (
            "From (u, v) only states with the same v can be reached if u is redrawn. How probable is each of them, given v?",
            "P[(u, v), (u', v)] = pi(u', v) / sum over s of pi(s, v), and 0 where v changes. The old u plays no part in it.",
            "Begin with `given = table / table.sum(axis=part, keepdims=True)`",
        ),
        UPDATE_MISTAKES,
        update_verdict,
    ),
    Task(
        "mcmc/two-scans/ratio",
        "Two scans: an update as a proposal",
        2,
        10,
        ratio_stub,
        (
            "Write the probability of the proposal from old to new: first it is this part's turn, then the new value is drawn.",
            "If u moves, q(new | old) = lot(old) pi(new) / sum over s of pi(s, v). The same sum stands in q(old | new). What cancels?",
            "Begin with `turn = lot if old[0] != new[0] else 1 - lot`",
        ),
        RATIO_MISTAKES,
        ratio_verdict,
    ),
    Task(
        "mcmc/two-scans/scans",
        "Two scans: the kernels",
        2,
        6,
        scans_stub,
        (
            "Two steps one after the other: sum over where the first may lead. One of several by lot: average over which.",
            "Random: (P_1 + ... + P_K) / K. Systematic: P_1 P_2 ... P_K, because row i of a product P Q is row i of P, sent on by Q.",
            "Begin with `random = sum(updates) / len(updates)`",
        ),
        SCANS_MISTAKES,
        scans_verdict,
    ),
    Task(
        "mcmc/two-scans/audit",
        "Two scans: drift and imbalance",
        2,
        7,
        audit_stub,
        (
            "Make the table of flows first: the probability of being at i, times that of going from there to j.",
            "flow_ij = pi_i P_ij. Its column sums are what arrives. Compare them with pi, and flow_ij with flow_ji.",
            "Begin with `flow = pi[:, None] * P`",
        ),
        AUDIT_MISTAKES,
        audit_verdict,
    ),
)
