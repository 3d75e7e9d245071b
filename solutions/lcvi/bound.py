"""The bound and its constant. Roads: the divergence from the q that attains the gain; a climb over all q."""

import numpy as np
from scipy.special import logsumexp, softmax

from course_pkg.checks.record import Record
from solutions.lcvi._tools import best_by_climbing


def bound_from_above(log_joint, q, u):
    """What the gain loses because q is not the posterior weighed by the utility."""
    gain = logsumexp(log_joint + np.log(u)) - logsumexp(log_joint)
    return gain - sum(a * np.log(a / b) for a, b in zip(q, softmax(log_joint + np.log(u)), strict=True))


def problems(rng, sizes):
    for size, evidence in sizes:
        log_joint = rng.normal(0, 1, size)
        yield log_joint - logsumexp(log_joint) + evidence, rng.dirichlet(np.full(size, 3.0)), rng.uniform(0.2, 4.0, size)


BOUND = Record(
    cases=lambda rng: problems(rng, [(3, 8.0), (5, -6.0), (4, 1.5)]),
    reference=bound_from_above,
    right="Right. It lies below log G whatever the evidence is, and with it whatever the unit of the data is.",
    nudge="Not that bound. With log_joint = [3, 3], q = [1/4, 3/4] and u = [1, e^2] it is 1.369.",
    hints=(
        "Write out X with what you are given. Which of its factors is not there yet, and how do you get it from the log joint?",
        "sum over k of q_k (log_joint_k - log p(D) + log u_k - log q_k), with p(D) = sum over k of exp(log_joint_k).",
        "Begin with `log_posterior = log_joint - np.logaddexp.reduce(log_joint)`",
    ),
    mistakes={
        "That is the ELBO plus the averaged log utility. It bounds log G + log p(D): where log p(D) is above 0 it may lie above log G itself.": "- evidence -> ",
        "The log of the mean utility is larger than the mean of its log, and with it the sum is no lower bound.": "+ np.log(u) ->  ;; return -> return np.log(q @ u) +",
        "You averaged log u under the posterior, which nobody knows. Every mean is under q.": "+ np.log(u) ->  ;; return -> return np.exp(log_joint - evidence) @ np.log(u) +",
        "The divergence has the wrong sign: a q far from the posterior makes the bound worse.": "log_joint - evidence -> evidence - log_joint ;; - np.log(q) -> + np.log(q)",
        "That is the ELBO. Nothing in it knows of the utility, and it bounds log p(D).": "- evidence + np.log(u) -> ",
    },
)
BEST = Record(
    cases=lambda rng: [case[::2] for case in problems(rng, [(3, 2.0), (5, -3.0)])],
    reference=lambda log_joint, u: best_by_climbing(log_joint + np.log(u)),
    right="Right. At this q the bound is log G. It is no posterior: it already leans towards where the decision does well.",
    nudge="Not that q. With log_joint = [0.693, 0], which is a joint density of 2 and 1, and u = [1, 3] it is [0.4, 0.6].",
    hints=(
        "Jensen's inequality loses nothing if and only if X is the same for every theta.",
        "q_k is proportional to p(theta_k | D) u_k; it must add up to 1.",
        "Begin with `weight = np.exp(log_joint - log_joint.max()) * u`",
    ),
    mistakes={
        "You added u to the log joint. It is log u that belongs there.": "np.exp(log_joint) * u -> np.exp(log_joint + u)",
        "The proportions are right, and your q does not add up to 1. Divide by the sum.": "/ weight.sum() -> / np.exp(log_joint).sum() || / weight.sum() -> ",
        "You put everything on one value. That is where p(theta | D) u is largest; but -log q pays for width.": "weight / weight.sum() -> 1.0 * (weight == weight.max())",
    },
)
TASKS = {"bound": BOUND, "best": BEST}
