"""The bound and its constant. Roads: the divergence from the q that attains the gain; a search over all q."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _gain(log_joint: np.ndarray, u: np.ndarray) -> float:
    """The log of the gain."""
    return float(logsumexp(log_joint + np.log(u)) - logsumexp(log_joint))


def _bound_from_above(log_joint: np.ndarray, q: np.ndarray, u: np.ndarray) -> float:
    """What the gain loses because q is not the posterior weighed by the utility."""
    best = softmax(log_joint + np.log(u))
    return _gain(log_joint, u) - sum(a * np.log(a / b) for a, b in zip(q, best, strict=True))


def _best_by_search(log_joint: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Climb Jensen's bound in the logits of q."""
    worth = log_joint + np.log(u)

    def below(logits: np.ndarray) -> tuple[float, np.ndarray]:
        q = softmax(logits)
        inside = worth - np.log(q)
        return -float(q @ inside), -q * (inside - q @ inside)

    return softmax(minimize(below, np.zeros(len(u)), jac=True, method="BFGS", options={"gtol": 1e-10}).x)


def bound_stub(log_joint: np.ndarray, q: np.ndarray, u: np.ndarray) -> Any:
    raise NotImplementedError


def best_stub(log_joint: np.ndarray, u: np.ndarray) -> Any:
    raise NotImplementedError


def _parts(log_joint, q, u):
    """The log evidence, the divergence of q from the posterior, and the utility term."""
    evidence = np.log(np.exp(log_joint).sum())
    return evidence, q @ (np.log(q) - log_joint + evidence), q @ np.log(u)


def _sum(log_joint, q, u, *, evidence=0.0, divergence=-1.0, utility=1.0):
    parts = _parts(log_joint, q, u)
    return evidence * parts[0] + divergence * parts[1] + utility * parts[2]


BOUND_MISTAKES = {
    "log p(D) dropped": Mistake(
        lambda *case: _sum(*case, evidence=1.0),
        "That is the ELBO plus U. It bounds log G + log p(D): where log p(D) is above 0 it may lie above log G itself.",
    ),
    "log p(D) with the wrong sign": Mistake(
        lambda *case: _sum(*case, evidence=2.0),
        "log p(D) came in with the wrong sign: dividing by the evidence takes its logarithm away.",
    ),
    "log outside": Mistake(
        lambda log_joint, q, u: _sum(log_joint, q, u, utility=0.0) + np.log(q @ u),
        "The log of the mean utility is larger than the mean of its log, and with it the sum is no lower bound.",
    ),
    "no log": Mistake(
        lambda log_joint, q, u: _sum(log_joint, q, u, utility=0.0) + q @ u,
        "You averaged the utility. In the log of a product it is log u.",
    ),
    "utility under the posterior": Mistake(
        lambda log_joint, q, u: _sum(log_joint, q, u, utility=0.0) + softmax(log_joint) @ np.log(u),
        "You averaged log u under the posterior, which nobody knows. Jensen's inequality leaves every mean under q.",
    ),
    "divergence turned round": Mistake(
        lambda log_joint, q, u: -(softmax(log_joint) @ np.log(softmax(log_joint) / q)) + q @ np.log(u),
        "Your divergence is that of the posterior from q. Here every mean is taken under q.",
    ),
    "divergence added": Mistake(
        lambda *case: _sum(*case, divergence=1.0),
        "The divergence has the wrong sign: a q far from the posterior makes the bound worse.",
    ),
    "q not divided by": Mistake(
        lambda log_joint, q, u: q @ (log_joint - logsumexp(log_joint) + np.log(u)),
        "Where is -log q? X has q below the line.",
    ),
    "no utility": Mistake(
        lambda *case: _sum(*case, utility=0.0),
        "That is minus the divergence from the posterior. Nothing in it knows of the utility.",
    ),
    "ELBO": Mistake(
        lambda *case: _sum(*case, evidence=1.0, utility=0.0),
        "That is the ELBO. Nothing in it knows of the utility, and it bounds log p(D).",
    ),
    "the gain": Mistake(
        lambda log_joint, q, u: _gain(log_joint, u),
        "That is log G itself, for which one needs the posterior. Its lower bound with this q was asked for.",
    ),
    "the gain under q": Mistake(
        lambda log_joint, q, u: np.log(q @ u),
        "That is the log gain that q promises, without a word about how far q is from the posterior. It bounds nothing.",
    ),
}
BEST_MISTAKES = {
    "the posterior": Mistake(
        lambda log_joint, u: softmax(log_joint),
        "That is the posterior: the best q of the ELBO. With it the bound is the mean of log u, and Jensen's inequality loses something.",
    ),
    "utility alone": Mistake(
        lambda log_joint, u: u / u.sum(),
        "You weighed by the utility alone: a wish without evidence. X is constant only if q follows the posterior, too.",
    ),
    "u for log u": Mistake(
        lambda log_joint, u: softmax(log_joint + u),
        "You added u to the log joint. It is log u that belongs there.",
    ),
    "not normalised": Mistake(
        lambda log_joint, u: softmax(log_joint) * u,
        "The proportions are right, and your q does not add up to 1. Its sum is the gain G.",
    ),
    "not normalised, joint": Mistake(
        lambda log_joint, u: np.exp(log_joint) * u,
        "The proportions are right, and your q does not add up to 1.",
    ),
    "one value": Mistake(
        lambda log_joint, u: (np.arange(len(u)) == np.argmax(log_joint + np.log(u))).astype(float),
        "You put everything on one value. That is where p(theta | D) u is largest; but -log q pays for width.",
    ),
    "the decision's pull twice": Mistake(
        lambda log_joint, u: softmax(log_joint + 2 * np.log(u)),
        "The utility counts twice in your q.",
    ),
    "divided by the utility": Mistake(
        lambda log_joint, u: softmax(log_joint - np.log(u)),
        "Your q runs away from where the utility is large. Set X to a constant and solve for q once more.",
    ),
}


def _case(rng: np.random.Generator, size: int, evidence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    log_joint = rng.normal(0, 1, size)
    return log_joint - logsumexp(log_joint) + evidence, rng.dirichlet(np.full(size, 3.0)), rng.uniform(0.2, 4.0, size)


def bound_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 700])
    return judge(
        answer,
        [_case(rng, size, evidence) for size, evidence in [(3, 8.0), (5, -6.0), (4, 1.5)]],
        _bound_from_above,
        BOUND_MISTAKES,
        right="Right. It lies below log G whatever the evidence is, and with it whatever the unit of the data is.",
        nudge="Not that bound. With log_joint = [3, 3], q = [1/4, 3/4] and u = [1, e^2] it is 1.369.",
    )


def best_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 701])
    return judge(
        answer,
        [_case(rng, size, evidence)[::2] for size, evidence in [(3, 2.0), (5, -3.0)]],
        _best_by_search,
        BEST_MISTAKES,
        right="Right. At this q the bound is log G. It is no posterior: it already leans towards where the decision does well.",
        nudge="Not that q. With log_joint = [0.693, 0], which is a joint density of 2 and 1, and u = [1, 3] it is [0.4, 0.6].",
        rtol=1e-4,
    )


TASKS = (
    Task(
        "lcvi/bound/bound",
        "The bound and its constant: the bound",
        1,
        12,
        bound_stub,
        (
            "Write out X with what you are given. Which of its factors is not there yet, and how do you get it from the log joint?",
            "sum over k of q_k (log_joint_k - log p(D) + log u_k - log q_k), with p(D) = sum over k of exp(log_joint_k).",
            "Begin with `log_posterior = log_joint - np.logaddexp.reduce(log_joint)`",
        ),
        BOUND_MISTAKES,
        bound_verdict,
    ),
    Task(
        "lcvi/bound/best",
        "The bound and its constant: where it is tight",
        1,
        8,
        best_stub,
        (
            "Jensen's inequality loses nothing if and only if X is the same for every theta.",
            "q_k is proportional to p(theta_k | D) u_k; it must add up to 1.",
            "Begin with `weight = np.exp(log_joint - log_joint.max()) * u`",
        ),
        BEST_MISTAKES,
        best_verdict,
    ),
)
