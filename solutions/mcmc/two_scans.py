"""Two scans of a Gibbs sampler on few states. Roads: projections; proposals written out in full; all paths one by one."""

from itertools import product

import numpy as np

from course_pkg.checks.record import Record


def by_projection(table, part):
    """To redraw one part is to average over it: the projection, weighted by pi, on what depends on the other part alone."""
    stands = np.indices(table.shape)[1 - part].ravel()
    indicator = (stands[:, None] == np.arange(table.shape[1 - part])).astype(float)
    weighted = indicator.T * table.ravel()
    return indicator @ np.linalg.solve(weighted @ indicator, weighted)


def ratio_in_full(table, lot, old, new):
    turn = lot.ravel()[:, None]
    flow = table.ravel()[:, None] * (turn * by_projection(table, 0) + (1 - turn) * by_projection(table, 1))
    i, j = np.ravel_multi_index(old, table.shape), np.ravel_multi_index(new, table.shape)
    return flow[j, i] / flow[i, j]


def scans_path_by_path(updates):
    n = len(updates[0])
    lot, turns = np.zeros((n, n)), np.zeros((n, n))
    for path in product(range(n), repeat=len(updates) + 1):
        turns[path[0], path[-1]] += np.prod([P[i, j] for P, i, j in zip(updates, path, path[1:], strict=False)])
    for P in updates:
        lot += P / len(updates)
    return lot, turns


def audit_by_loops(pi, P):
    states = range(len(pi))
    drift = max(abs(sum(pi[i] * P[i, j] for i in states) - pi[j]) for j in states)
    return drift, max(abs(pi[i] * P[i, j] - pi[j] * P[j, i]) for i in states for j in states)


def one_table(rng, shape):
    """Probabilities that differ, none of them small."""
    weights = rng.permutation(np.geomspace(1, 6, shape[0] * shape[1])) * rng.uniform(0.9, 1.1, shape[0] * shape[1])
    return (weights / weights.sum()).reshape(shape)


def moved(rng):
    for shape, part in product(((2, 3), (3, 2)), (0, 0, 1, 1)):
        old = [int(rng.integers(n)) for n in shape]
        new = list(old)
        new[part] = int((old[part] + rng.integers(1, shape[part])) % shape[part])
        yield one_table(rng, shape), rng.uniform(0.1, 0.9, shape), tuple(old), tuple(new)


GIVEN, WHOLE = "table / table.sum(axis=part, keepdims=True)", "P.reshape(A * B, A * B)"
UPDATE = Record(
    cases=lambda rng: [(one_table(rng, shape), part) for shape in ((2, 3), (3, 2), (2, 2)) for part in (0, 1)],
    reference=by_projection,
    right="Right. Do it twice and nothing changes: P P = P, since what has just been drawn may as well be drawn again.",
    nudge="Not that kernel. With table = [[0.4, 0.1], [0.2, 0.3]] and part 1 the rows are [0.8, 0.2, 0, 0] twice, then "
    "[0, 0, 0.4, 0.6] twice. With part 0 they are [2/3, 0, 1/3, 0] and [0, 1/4, 0, 3/4] in turn.",
    hints=(
        "From (u, v) only states with the same v can be reached if u is redrawn. How probable is each of them, given v?",
        "P[(u, v), (u', v)] = pi(u', v) / sum over s of pi(s, v), and 0 where v changes. The old u plays no part in it.",
        "Begin with `given = table / table.sum(axis=part, keepdims=True)`",
    ),
    mistakes={
        "You redraw the part that should stand still: `part` says which one moves.": "given = -> part = 1 - part\ngiven =",
        "All your entries together sum to one: those are flows. P[i, j] is the chance of j for a chain that is at i; each row sums to one.": f"{WHOLE} -> table.reshape(-1, 1) * {WHOLE}",
        "Your rows do not sum to one: those are joint probabilities. Given what stands still, how large are they?": f"{GIVEN} -> table",
        "You draw from its own distribution. It is drawn given the other part.": f"{GIVEN} -> table.sum(axis=1 - part, keepdims=True) + 0 * table",
        "You rule out the value that is there already. A draw from the conditional may well give it again.": (
            f"return {WHOLE} -> P = {WHOLE} * (1 - np.eye(A * B))\nreturn P / P.sum(axis=1, keepdims=True)"
        ),
        "The right chances, and the states in another order: (u, v) is state B u + v, as in table.ravel().": "P.reshape -> P.transpose(1, 0, 3, 2).reshape",
    },
)
TURNS = "turn[new] / turn[old]"
RATIO = Record(
    cases=moved,
    reference=ratio_in_full,
    apart=True,
    right="Right. It does not depend on pi at all, and if the lot is the same in every state it is 1: nothing is ever refused.",
    nudge="Not that ratio. With table = [[0.4, 0.1], [0.2, 0.3]] and lot = [[0.5, 0.2], [0.75, 0.5]] it is 1.5 from (0, 0) to (1, 0), "
    "and 1.6 from (0, 0) to (0, 1).",
    hints=(
        "Write the probability of the proposal from old to new: first it is this part's turn, then the new value is drawn.",
        "If u moves, q(new | old) = lot(old) pi(new) / sum over s of pi(s, v). The same sum stands in q(old | new). What cancels?",
        "Begin with `turn = lot if old[0] != new[0] else 1 - lot`",
    ),
    mistakes={
        "That would be so if the lot did not look at the state. Here the chance of this part's turn may differ between old and new.": f"{TURNS} -> 1.0",
        "Right where u moves. It is v's turn with the rest of the probability.": "lot if old[0] != new[0] else 1 - lot -> lot",
        "That is the ratio of pi alone. The proposal is not symmetric: put its probabilities there and back in.": f"{TURNS} -> table[new] / table[old]",
        "That is the ratio of the two conditionals alone. pi itself belongs into the ratio, and so does the lot.": f"{TURNS} -> table[old] / table[new]",
        "Those are the proposals there and back. pi(new) / pi(old) belongs into the ratio as well.": f"{TURNS} -> {TURNS} * table[old] / table[new]",
        "": f"{TURNS} -> min(1.0, {TURNS})",
    },
)
SCANS = Record(
    cases=lambda rng: [([rng.dirichlet(np.full(n, 0.7), n) for _ in range(k)],) for n, k in ((3, 2), (4, 3), (2, 4))],
    reference=scans_path_by_path,
    parts=("the random scan", "the systematic scan"),
    right="Right. If each update keeps pi, so does their mean, and so does their product.",
    nudge="Not those scans. With updates = [[[1, 0], [1/2, 1/2]], [[0, 1], [1, 0]], [[1/2, 1/2], [0, 1]]] all entries of the random "
    "scan are 1/2, and the systematic one is [[0, 1], [1/4, 3/4]].",
    hints=(
        "Two steps one after the other: sum over where the first may lead. One of several by lot: average over which.",
        "Random: (P_1 + ... + P_K) / K. Systematic: P_1 P_2 ... P_K, because row i of a product P Q is row i of P, sent on by Q.",
        "Begin with `random = sum(updates) / len(updates)`",
    ),
    mistakes={
        "Your sweep begins with the last update. Rows are where a step begins, so the first update stands on the left.": "systematic @ P -> P @ systematic",
        "Rows of your random scan do not sum to one. Each update comes with a probability.": "/ len(updates) -> ",
        "You multiplied the entries. From one state to another the way leads by all states in between: sum over them.": "@ P -> * P",
    },
)
ONE, DRIFT = "(flow - flow.T)", "np.abs(flow.sum(axis=0) - pi)"
AUDIT = Record(
    cases=lambda rng: [(rng.dirichlet(np.full(n, 3.0)), rng.dirichlet(np.full(n, 0.6), n)) for n in (3, 4, 5)],
    reference=audit_by_loops,
    apart=True,
    parts=("the drift", "the imbalance"),
    right="Right. If the second is zero, so is the first. Is it true the other way round? Run the cell below.",
    nudge="Not those two. With pi = [0.3, 0.3, 0.4] and P = [[0, 0, 1], [0.5, 0.5, 0], [0, 1, 0]] the drift is 0.25 and the imbalance 0.4.",
    hints=(
        "Make the table of flows first: the probability of being at i, times that of going from there to j.",
        "flow_ij = pi_i P_ij. Its column sums are what arrives. Compare them with pi, and flow_ij with flow_ji.",
        "Begin with `flow = pi[:, None] * P`",
    ),
    mistakes={
        "Your drift has P pi. What arrives at j is the sum over i of pi_i P_ij, with pi on the left.": "flow.sum(axis=0) -> P @ pi",
        "Your imbalance is that of P. A flow is the probability of being there times that of going.": "flow - flow.T -> P - P.T",
        "Your flows are weighted with the state where they arrive. They leave from i: pi_i P_ij.": "flow - flow.T -> P * pi - (P * pi).T",
        "": f"{ONE} -> (flow[0] - flow[:, 0]) || {ONE} -> (flow[-1] - flow[:, -1]) || {DRIFT} -> (pi - flow.sum(axis=0)) || pi).max() -> pi).sum() / 2",
    },
)
TASKS = {"update": UPDATE, "ratio": RATIO, "scans": SCANS, "audit": AUDIT}
