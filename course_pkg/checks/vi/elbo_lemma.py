"""Bound plus divergence. Roads: a derivative of power sums in the complex plane; mirror ascent over distributions; densities divided."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, agree, call, numbers
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin


def _kl_by_powers(q: np.ndarray, p: np.ndarray) -> float:
    """The derivative at a = 1 of log sum q^a p^(1 - a), by a step along the imaginary axis."""
    seen, h = q > 0, 1e-20
    return float(np.imag(np.log((q[seen] ** (1 + 1j * h) * p[seen] ** (-1j * h)).sum())) / h)


def _bound_from_evidence(q: np.ndarray, joint: np.ndarray) -> float:
    return float(np.log(joint.sum())) - _kl_by_powers(q, joint / joint.sum())


def _climbed(joint: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, float]:
    """Mirror ascent of the bound, from a flat start on what is allowed."""
    q = allowed / allowed.sum()
    for _ in range(80):
        with np.errstate(divide="ignore"):
            uphill = np.where(allowed, np.log(joint) - np.log(q), 0.0)
        q = q * np.exp(0.5 * uphill)
        q /= q.sum()
    return q, _kl_by_powers(q, joint / joint.sum())


def _divided(bound: float, kl: float, n: int, c: float) -> tuple[float, float, float]:
    evidence = float(np.exp(bound) * np.exp(kl))
    for _ in range(n):
        evidence /= c  # one reading after the other
    return float(np.log(evidence)) - kl, kl, evidence


def divergence_stub(q: np.ndarray, p: np.ndarray) -> Any:
    raise NotImplementedError


def bound_stub(q: np.ndarray, joint: np.ndarray) -> Any:
    raise NotImplementedError


def within_stub(joint: np.ndarray, allowed: np.ndarray) -> Any:
    raise NotImplementedError


def units_stub(bound: float, kl: float, n: int, c: float) -> Any:
    raise NotImplementedError


def _log(a):
    return np.where(a > 0, np.log(np.where(a > 0, a, 1)), 0)


DIVERGENCE_MISTAKES = {
    "log missing": Mistake(
        lambda q, p: (q * q / p).sum(), "The logarithm is missing. Try q = p: yours gives 1, and a divergence is 0 there."
    ),
    "log outside": Mistake(
        lambda q, p: np.log((q * q / p).sum()), "You took the logarithm of the average. Take the average of the logarithm."
    ),
    "the other direction": Mistake(
        lambda q, p: (p * np.log(p / q)).sum(), "That is KL(p || q), an average under p. In KL(q || p) the average is under q."
    ),
    "sign": Mistake(lambda q, p: (q * np.log(p / q)).sum(), "The sign is turned: yours is never above zero."),
    "wrong weights": Mistake(lambda q, p: (p * np.log(q / p)).sum(), "The ratio is right, and it is averaged under p. Average it under q."),
    "mean": Mistake(
        lambda q, p: (q * np.log(q / p)).mean(), "You divided by the number of values. The q_k are weights already, and sum to one."
    ),
    "base two": Mistake(lambda q, p: (q * np.log2(q / p)).sum(), "Right in bits. The natural logarithm was asked for."),
    "cross entropy": Mistake(
        lambda q, p: -(q * np.log(p)).sum(), "That is the average of -log p alone. The average of log q belongs to it."
    ),
}
BOUND_MISTAKES = {
    "entropy's sign": Mistake(
        lambda q, joint: (q * (_log(joint) + _log(q))).sum(),
        "The entropy has the wrong sign: minus log q on average, not plus. Yours is highest where q sits on a single value.",
    ),
    "no entropy": Mistake(
        lambda q, joint: (q * _log(joint)).sum(), "That is the average of log joint alone. The entropy of q belongs to the bound."
    ),
    "log missing": Mistake(
        lambda q, joint: joint[q > 0].sum(),
        "You averaged the ratio itself, without a logarithm. Where q is positive everywhere that is the evidence, whatever q is.",
    ),
    "log outside": Mistake(
        lambda q, joint: np.log(joint[q > 0].sum()),
        "You took the logarithm of the average. It says nothing about how q spreads its weight: average the logarithm.",
    ),
    "normalised first": Mistake(
        lambda q, joint: -_kl_by_powers(q, joint / joint.sum()),
        "You made the joint sum to one first, so this is minus the divergence. The bound takes the joint as it is.",
    ),
    "sign": Mistake(lambda q, joint: (q * (_log(q) - _log(joint))).sum(), "The sign is turned: it is log joint minus log q."),
    "joint's weights": Mistake(
        lambda q, joint: (joint[q > 0] * np.log(joint[q > 0] / q[q > 0])).sum(),
        "Your average is weighted by the joint. The bound is an average under q.",
    ),
    "divergence added": Mistake(
        lambda q, joint: np.log(joint.sum()) + _kl_by_powers(q, joint / joint.sum()),
        "You added the divergence to the log evidence. A lower bound lies below it.",
    ),
    "base two": Mistake(
        lambda q, joint: (q * (_log(joint) - _log(q))).sum() / np.log(2), "Right in bits. The natural logarithm was asked for."
    ),
}


def _inside(lacking=lambda mass, evidence: -np.log(mass), divide=lambda kept, joint: kept.sum()):
    def answer(joint, allowed):
        kept = np.where(allowed, joint, 0)
        return kept / divide(kept, joint), lacking(kept.sum() / joint.sum(), joint.sum())

    return answer


def _one_value(joint, allowed):
    best = np.argmax(np.where(allowed, joint, 0))
    return np.eye(len(joint))[best], -np.log(joint[best] / joint.sum())


WITHIN_MISTAKES = {
    "posterior cut": Mistake(
        _inside(divide=lambda kept, joint: joint.sum()),
        "Your second number is right. Your q has the right proportions, but it does not sum to one.",
    ),
    "flat": Mistake(
        lambda joint, allowed: (allowed / allowed.sum(), _kl_by_powers(allowed / allowed.sum(), joint / joint.sum())),
        "That is the flat distribution on what is allowed, and what it lacks. Another one has a higher bound.",
    ),
    "one value": Mistake(
        _one_value, "You put everything on the most probable value that is allowed. The bound of a spread-out q is higher: it has entropy."
    ),
    "whole posterior": Mistake(
        lambda joint, allowed: (joint / joint.sum(), 0.0), "That is the posterior, which uses values that are not allowed."
    ),
    "sign": Mistake(
        _inside(lambda mass, evidence: np.log(mass)),
        "Your q is right. What is lacking has the wrong sign: the bound lies below the log evidence.",
    ),
    "mass left out": Mistake(
        _inside(lambda mass, evidence: 1 - mass),
        "Your q is right, and your second number is the posterior probability of what is left out, or minus its logarithm. "
        "What is the bound of your q?",
    ),
    "ratio": Mistake(
        _inside(lambda mass, evidence: 1 / mass),
        "Your q is right, and your second number is a ratio of two evidences. Bounds are logarithms, and so is what lacks.",
    ),
    "bits": Mistake(_inside(lambda mass, evidence: -np.log2(mass)), "Right in bits. What lacks was asked for in nats."),
    "bound": Mistake(
        _inside(lambda mass, evidence: np.log(mass * evidence)),
        "Your q is right, and your second number is its bound. By how much is that short of the log evidence?",
    ),
    "evidence forgotten": Mistake(
        _inside(lambda mass, evidence: -np.log(mass * evidence)),
        "Your q is right, and your second number is minus its bound. The log evidence is not zero: the joint does not sum to one.",
    ),
    "nothing lacks": Mistake(
        _inside(lambda mass, evidence: 0.0),
        "Your q is right, and its bound is not the log evidence: q leaves out values that the posterior does not.",
    ),
}
WITHIN_KIN = {
    "posterior cut": [_inside(divide=lambda kept, joint: 1.0), _inside(divide=lambda kept, joint: kept.max())],
    "mass left out": [_inside(lambda mass, evidence: -np.log(1 - mass))],
    "ratio": [_inside(lambda mass, evidence: mass)],
}


def _unit(moved=lambda n, c: -n * np.log(c), gap=lambda kl, by: kl, evidence=lambda b, kl: np.exp(b + kl)):
    def answer(bound, kl, n, c):
        by = moved(n, c)
        return bound + by, gap(kl, by), evidence(bound + by, kl)

    return answer


UNITS_MISTAKES = {
    "evidence is the sum": Mistake(
        _unit(evidence=lambda b, kl: b + kl),
        "Bound and divergence are right. Their sum is the logarithm of the evidence, not the evidence.",
    ),
    "other way": Mistake(
        _unit(moved=lambda n, c: n * np.log(c)),
        "The unit went the wrong way. If the numbers become larger, they spread over a wider range, and the density becomes lower.",
    ),
    "one reading": Mistake(
        _unit(moved=lambda n, c: -np.log(c)),
        "You changed the unit of one reading. There are n, and the density is one of all of them together.",
    ),
    "divergence moves": Mistake(
        _unit(gap=lambda kl, by: kl + by),
        "Your divergence moves. It averages the log ratio of two densities of the unknown, and hears nothing of the readings' unit.",
    ),
    "nothing changes": Mistake(
        lambda bound, kl, n, c: (bound, kl, np.exp(bound + kl)),
        "You let everything stay. The evidence is a density of the readings, so much per unit of each, and the unit is another one now.",
    ),
    "bound stays": Mistake(
        lambda bound, kl, n, c: (bound, kl, np.exp(bound + kl) / c**n),
        "Divergence and evidence are right. The bound stayed, and then it is no bound any more: add it up.",
    ),
    "evidence stays": Mistake(
        lambda bound, kl, n, c: (bound - n * np.log(c), kl, np.exp(bound + kl)),
        "Bound and divergence are right. The evidence is still in the old unit.",
    ),
    "bound divided": Mistake(
        lambda bound, kl, n, c: (bound / c**n, kl, np.exp(bound + kl) / c**n),
        "The evidence is divided by c for each reading. The bound lives on its logarithm: what becomes of a division there?",
    ),
}
UNITS_KIN = {
    "divergence moves": [
        lambda bound, kl, n, c: (bound, kl - n * np.log(c), np.exp(bound + kl) / c**n),
        lambda bound, kl, n, c: (bound - n * np.log(c), kl + n * np.log(c), np.exp(bound + kl) / c**n),
        lambda bound, kl, n, c: (bound - n * np.log(c), kl + n * np.log(c), np.exp(bound + kl)),
    ],
}


def _pair(rng: np.random.Generator, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Two distributions that are well apart."""
    q, p = rng.permutation(np.linspace(1, 6, k)), rng.permutation(np.geomspace(1, 30, k))
    q, p = q * rng.uniform(0.8, 1.2, k), p * rng.uniform(0.8, 1.2, k)
    q[np.argmax(p)] = 0.5  # so that they are apart whatever the order
    return q / q.sum(), p / p.sum()


def _with_zeros(q: np.ndarray) -> np.ndarray:
    """The same weights, none for the first two values."""
    q = np.where(np.arange(len(q)) < 2, 0.0, q)
    return q / q.sum()


ZEROS = (
    "Right where q is positive everywhere. Where q_k is 0 the value k adds nothing: q log q goes to 0 there, although the logarithm "
    "alone does not."
)
AGAIN_ONE = (
    "Right where q is positive everywhere. Where q leaves values out you made the rest of p sum to one again. p stays as it is: the less "
    "of it lies where q is, the larger is the divergence."
)


def _zeros_too(
    verdict: Verdict, answer: Any, cases: Sequence[tuple[Any, ...]], reference: Callable[..., Any], nudge: str, renormalised: Any = None
) -> Verdict:
    """A verdict that also wants what q leaves out to be right: not finite, p made to sum to one again, or wrong otherwise."""
    if not verdict.passed:
        return verdict
    with np.errstate(all="ignore"):
        try:
            got = [numbers(call(answer, *case)) for case in cases]
        except Trouble:
            return Verdict(False, ZEROS)
        if all(agree(a, numbers(reference(*case)), 1e-4) for a, case in zip(got, cases, strict=True)):
            return verdict
        if not all(np.isfinite(part).all() for a in got for part in a):
            return Verdict(False, ZEROS)
        if renormalised and all(agree(a, numbers(renormalised(*case)), 1e-4) for a, case in zip(got, cases, strict=True)):
            return Verdict(False, AGAIN_ONE)
    return Verdict(False, f"Right where q is positive everywhere, and not where some of q is 0. {nudge}")


def divergence_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 300])
    cases = [_pair(rng, k) for k in (4, 6, 3)]
    right = "Right. It is 0 if q equals p and above 0 otherwise, and a value that q leaves out adds nothing, however probable it is."
    nudge = "Not that divergence. With q = [1/2, 1/2] and p = [1/4, 3/4] it is (log 2 + log 2/3) / 2 = 0.1438."
    verdict = quiet(answer, cases, _kl_by_powers, DIVERGENCE_MISTAKES, right=right, nudge=nudge)
    cut = [(_with_zeros(q), p) for q, p in (_pair(rng, 5), _pair(rng, 6))]
    verdict = _zeros_too(
        verdict,
        answer,
        cut,
        _kl_by_powers,
        "With q = [0, 1/2, 1/2] and p = [1/2, 1/4, 1/4] it is log 2 = 0.6931.",
        lambda q, p: _kl_by_powers(q, p / p[q > 0].sum()),
    )
    return settled(verdict, answer, [*cases, *cut], divergence_stub, nudge)


def _joint(rng: np.random.Generator, p: np.ndarray) -> np.ndarray:
    """A joint whose sum is far from one."""
    return p * rng.uniform(0.02, 0.3)


def bound_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 301])
    cases = []
    for k in (4, 6, 3, 5):
        q, p = _pair(rng, k)
        cases.append((q, _joint(rng, p)))
    right = "Right: it falls short of the log evidence by the divergence, and you needed neither of the two."
    nudge = "Not that bound. With q = [1/4, 3/4] and joint = [0.3, 0.2] it is -0.9457."
    verdict = quiet(answer, cases, _bound_from_evidence, BOUND_MISTAKES, right=right, nudge=nudge)
    cut = [(_with_zeros(q), _joint(rng, p)) for q, p in (_pair(rng, 5), _pair(rng, 6))]
    by_hand = "With q = [0, 1/2, 1/2] and joint = [0.3, 0.1, 0.1] it is log 0.2 = -1.6094."
    return settled(_zeros_too(verdict, answer, cut, _bound_from_evidence, by_hand), answer, [*cases, *cut], bound_stub, nudge)


def within_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 302])
    cases = []
    for k in (5, 7, 6):
        joint = _joint(rng, _pair(rng, k)[1])
        cases.append((joint, rng.permutation(np.arange(k) < k - 2)))
    right = "Right. What lacks is minus the log of the probability that is kept. In proportion, q is the posterior: from inside, nothing "
    right += "looks amiss."
    nudge = "Not that. With joint = [0.1, 0.3, 0.1, 0.1] and only the first two values allowed, q is [1/4, 3/4, 0, 0] and "
    nudge += "log 1.5 = 0.4055 lacks."
    mistakes = with_kin(WITHIN_MISTAKES, WITHIN_KIN)
    verdict = quiet(answer, cases, _climbed, mistakes, right=right, nudge=nudge, parts=("your q", "what lacks"))
    return settled(verdict, answer, cases, within_stub, nudge)


def units_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 303])
    cases = [
        (-float(rng.uniform(*b)), float(rng.uniform(0.3, 1.5)), n, c)
        for b, n, c in [((5, 8), 3, 100.0), ((3, 5), 2, 0.1), ((7, 9), 4, 2.5)]
    ]
    return quiet(
        answer,
        cases,
        _divided,
        with_kin(UNITS_MISTAKES, UNITS_KIN),
        right="Right. The size of a bound says nothing by itself. A difference of two bounds for the same data does.",
        nudge="Not those. With bound = -2, kl = 0.5, n = 2 and c = 1/2 they are -0.6137, 0.5 and 0.8925.",
        parts=("the bound", "the divergence", "the evidence"),
    )


TASKS = (
    Task(
        "vi/elbo-lemma/divergence",
        "Bound plus divergence: the divergence",
        1,
        7,
        divergence_stub,
        (
            "For each value compare q with p by the logarithm of their ratio. Then average, giving each value the weight that q gives it.",
            "KL(q || p) = sum over k of q_k (log q_k - log p_k), where a value with q_k = 0 adds nothing.",
            "Begin with `seen = q > 0`",
        ),
        DIVERGENCE_MISTAKES,
        divergence_verdict,
    ),
    Task(
        "vi/elbo-lemma/bound",
        "Bound plus divergence: the bound",
        1,
        7,
        bound_stub,
        (
            "The log of the ratio of joint to q, averaged under q. Nothing has to sum to one but q.",
            "L(q) = sum of q_k log joint_k + H(q), where the entropy is H(q) = - sum of q_k log q_k.",
            "Begin with `entropy = -np.sum(q[q > 0] * np.log(q[q > 0]))`",
        ),
        BOUND_MISTAKES,
        bound_verdict,
    ),
    Task(
        "vi/elbo-lemma/within",
        "Bound plus divergence: the best that is allowed",
        1,
        9,
        within_stub,
        (
            "Let w be the evidence of the allowed values alone, and write the bound of a q on them with w. Which q is best?",
            "L(q) = log w - KL(q, joint on the allowed values / w), with w = sum of joint_k over them. The log evidence sums over all.",
            "Begin with `kept = np.where(allowed, joint, 0)`",
        ),
        WITHIN_MISTAKES,
        within_verdict,
    ),
    Task(
        "vi/elbo-lemma/units",
        "Bound plus divergence: another unit",
        1,
        6,
        units_stub,
        (
            "The evidence is a probability per unit of the first reading, per unit of the second, and so on. All of these units change.",
            "new evidence = old evidence / c^n, and log evidence = bound + kl in either unit. Which of bound and kl can move?",
            "Begin with `new_bound = bound - n * np.log(c)`",
        ),
        UNITS_MISTAKES,
        units_verdict,
    ),
)
