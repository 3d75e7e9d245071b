"""Bound plus divergence. Roads: a derivative of power sums in the complex plane; mirror ascent over distributions; densities divided."""

import numpy as np

from course_pkg.checks.record import Record


def kl_by_powers(q, p):
    """The derivative at a = 1 of log sum q^a p^(1 - a), by a step along the imaginary axis."""
    seen, h = q > 0, 1e-20
    return float(np.imag(np.log((q[seen] ** (1 + 1j * h) * p[seen] ** (-1j * h)).sum())) / h)


bound_from_evidence = lambda q, joint: float(np.log(joint.sum())) - kl_by_powers(q, joint / joint.sum())


def climbed(joint, allowed):
    """Mirror ascent of the bound, from a flat start on what is allowed."""
    q = allowed / allowed.sum()
    for _ in range(80):
        q = q * np.exp(0.5 * np.where(allowed, np.log(joint) - np.log(q), 0.0))
        q /= q.sum()
    return q, kl_by_powers(q, joint / joint.sum())


def divided(bound, kl, n, c):
    evidence = float(np.exp(bound) * np.exp(kl))
    for _ in range(n):
        evidence /= c  # one reading after the other
    return float(np.log(evidence)) - kl, kl, evidence


def pair(rng, k, zeros=0):
    """Two distributions that are well apart; the first one has no weight on some values."""
    q, p = rng.permutation(np.linspace(1, 6, k)), rng.permutation(np.geomspace(1, 30, k))
    q, p = q * rng.uniform(0.8, 1.2, k), p * rng.uniform(0.8, 1.2, k)
    q[np.argmax(p)] = 0.5  # so that they are apart whatever the order
    q[:zeros] = 0.0
    return q / q.sum(), p / p.sum()


def pair_and_joint(rng, k, zeros=0):
    q, p = pair(rng, k, zeros)
    return q, p * rng.uniform(0.02, 0.3)


def readings(rng):
    for ends, n, c in [((5, 8), 3, 100.0), ((3, 5), 2, 0.1), ((7, 9), 4, 2.5)]:
        yield -float(rng.uniform(*ends)), float(rng.uniform(0.3, 1.5)), n, c


ZEROS = (
    "Right where q is positive everywhere, and not where some of q is 0. Where q_k is 0 the value k adds nothing: q log q goes to 0 there, "
    "although the logarithm alone does not. "
)
DIVERGENCE = Record(
    cases=lambda rng: [pair(rng, k) for k in (4, 6, 3)],
    reference=kl_by_powers,
    right="Right. It is 0 if q equals p and above 0 otherwise, and a value that q leaves out adds nothing, however probable it is.",
    nudge="Not that divergence. With q = [1/2, 1/2] and p = [1/4, 3/4] it is (log 2 + log 2/3) / 2 = 0.1438.",
    hints=(
        "For each value compare q with p by the logarithm of their ratio. Then average, giving each value the weight that q gives it.",
        "KL(q || p) = sum over k of q_k (log q_k - log p_k), where a value with q_k = 0 adds nothing.",
        "Begin with `seen = q > 0`",
    ),
    mistakes={
        "You took the logarithm of the average. Take the average of the logarithm.": "\n    return np.log(np.sum(q**2 / p))",
        "The ratio is right, and it is averaged under p. Average it under q.": "sum(q[seen] -> sum(p[seen]",
        "That is the average of -log p alone. The average of log q belongs to it.": "np.log(q[seen] / p[seen]) -> -np.log(p[seen])",
    },
    later={
        ZEROS + "And p stays as it is: the rest of it is not made to sum to one again. With q = [0, 1/2, 1/2] and p = [1/2, 1/4, 1/4] it "
        "is log 2 = 0.6931.": (
            lambda rng: [pair(rng, k, zeros=2) for k in (5, 6)],
            ("seen = q > 0 -> seen = q > -1", "/ p[seen] -> / p[seen] * p[seen].sum()"),
        ),
    },
)
BOUND = Record(
    cases=lambda rng: [pair_and_joint(rng, k) for k in (4, 6, 3, 5)],
    reference=bound_from_evidence,
    right="Right: it falls short of the log evidence by the divergence, and you needed neither of the two.",
    nudge="Not that bound. With q = [1/4, 3/4] and joint = [0.3, 0.2] it is -0.9457.",
    hints=(
        "The log of the ratio of joint to q, averaged under q. Nothing has to sum to one but q.",
        "L(q) = sum of q_k log joint_k + H(q), where the entropy is H(q) = - sum of q_k log q_k.",
        "Begin with `entropy = -np.sum(q[q > 0] * np.log(q[q > 0]))`",
    ),
    mistakes={
        "The entropy has the wrong sign: minus log q on average, not plus. Yours is highest where q sits on a single value.": "+ entropy -> - entropy",
        "That is the average of log joint alone. The entropy of q belongs to the bound.": "+ entropy -> ",
        "You averaged the ratio itself, without a logarithm. Where q is positive everywhere that is the evidence, whatever q is.": "\n    return joint.sum()",
        "You took the logarithm of the average. It says nothing about how q spreads its weight: average the logarithm.": "\n    return np.log(joint.sum())",
        "You made the joint sum to one first, so this is minus the divergence. The bound takes the joint as it is.": "np.log(joint) -> np.log(joint / joint.sum())",
    },
    later={
        f"{ZEROS}With q = [0, 1/2, 1/2] and joint = [0.3, 0.1, 0.1] it is log 0.2 = -1.6094.": (
            lambda rng: [pair_and_joint(rng, k, zeros=2) for k in (5, 6)],
            "q[q > 0] -> q",
        ),
    },
)
LACKS = "np.log(joint.sum() / kept.sum()) ->"
WITHIN = Record(
    cases=lambda rng: [(pair_and_joint(rng, k)[1], rng.permutation(np.arange(k) < k - 2)) for k in (5, 7, 6)],
    reference=climbed,
    right="Right. What lacks is minus the log of the probability that is kept. In proportion, q is the posterior: from inside, nothing looks amiss.",
    nudge="Not that. With joint = [0.1, 0.3, 0.1, 0.1] and only the first two values allowed, q is [1/4, 3/4, 0, 0] and log 1.5 = 0.4055 lacks.",
    hints=(
        "Let w be the evidence of the allowed values alone, and write the bound of a q on them with w. Which q is best?",
        "L(q) = log w - KL(q, joint on the allowed values / w), with w = sum of joint_k over them. The log evidence sums over all.",
        "Begin with `kept = np.where(allowed, joint, 0)`",
    ),
    mistakes={
        "Your second number is right. Your q has the right proportions, but it does not sum to one.": "kept / kept.sum() -> kept / joint.sum()",
        "You put everything on one value. A spread-out q has entropy, and a higher bound.": "kept / kept.sum() -> 1.0 * (kept == kept.max()) ;; / kept.sum() -> / kept.max()",
        "Your q is right, and your second number is its bound. By how much is that short of the log evidence?": f"{LACKS} np.log(kept.sum())",
        "Your q is right, and its bound is not the log evidence: q leaves out values that the posterior does not.": f"{LACKS} 0.0",
    },
    parts=("your q", "what lacks"),
)
UNITS = Record(
    cases=readings,
    reference=divided,
    right="Right. The size of a bound says nothing by itself. A difference of two bounds for the same data does.",
    nudge="Not those. With bound = -2, kl = 0.5, n = 2 and c = 1/2 they are -0.6137, 0.5 and 0.8925.",
    hints=(
        "The evidence is a probability per unit of the first reading, per unit of the second, and so on. All of these units change.",
        "new evidence = old evidence / c^n, and log evidence = bound + kl in either unit. Which of bound and kl can move?",
        "Begin with `new_bound = bound - n * np.log(c)`",
    ),
    mistakes={
        "The unit went the wrong way. If the numbers become larger, they spread over a wider range, and the density becomes lower.": "- n -> + n",
        "Your divergence moves. It averages the log ratio of two densities of the unknown, and hears nothing of the readings' unit.": "new_bound, kl, -> new_bound, kl - n * np.log(c),",
        "You let everything stay. The evidence is a density of the readings, so much per unit of each, and the unit is another one now.": "- n * np.log(c) -> ",
    },
    parts=("the bound", "the divergence", "the evidence"),
)
TASKS = {"divergence": DIVERGENCE, "bound": BOUND, "within": WITHIN, "units": UNITS}
