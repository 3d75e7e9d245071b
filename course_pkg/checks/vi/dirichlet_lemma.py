"""The mean of a logarithm under a Dirichlet. Roads: an integral for the digamma function; a search for the smallest loss."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, softmax

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import CLOSE, exact
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import telling
from course_pkg.checks.vi._roads import mean_logs


def _guess_by_search(eta: np.ndarray) -> np.ndarray:
    """The quote with the smallest mean loss, sought downhill from an even one."""
    middle = mean_logs(eta)

    def loss(scores: np.ndarray) -> tuple[float, np.ndarray]:
        h = np.exp(scores - scores.max())
        h = h / h.sum()
        each = np.log(h) - middle
        return float(h @ each), h * (each - h @ each)

    best = minimize(loss, np.zeros(len(eta)), jac=True, method="BFGS", options={"gtol": 1e-9})
    h = np.exp(best.x - best.x.max())
    return h / h.sum()


def mean_log_stub(eta: np.ndarray) -> Any:
    raise NotImplementedError


def guess_stub(eta: np.ndarray) -> Any:
    raise NotImplementedError


def _total(eta):
    return eta.sum(axis=-1, keepdims=True)


MEAN_LOG_MISTAKES = {
    "normalised first": Mistake(
        lambda eta: digamma(eta / _total(eta)) - digamma(1.0),
        "You divided the parameters by their sum first. The lemma holds for any positive parameters; their sum says how sure the "
        "distribution is.",
    ),
    "log of the mean": Mistake(
        lambda eta: np.log(eta / _total(eta)),
        "That is the logarithm of the mean. The mean of the logarithm is lower.",
    ),
    "no sum": Mistake(digamma, "The second term is missing: it is the same for all components of a row, but it is not 0."),
    "sum of digammas": Mistake(
        lambda eta: digamma(eta) - digamma(eta).sum(axis=-1, keepdims=True),
        "You added up the digammas. Add up the parameters, then take the digamma of the sum.",
    ),
    "over the whole table": Mistake(
        lambda eta: digamma(eta) - digamma(eta.sum()),
        "Right for one distribution. In a table each row has a sum of its own; you added up all rows.",
    ),
    "over the columns": Mistake(
        lambda eta: digamma(eta) - digamma(eta.sum(axis=0)),
        "Right for one distribution. In a table you added up the columns; each row is a distribution.",
    ),
    "turned round": Mistake(
        lambda eta: digamma(_total(eta)) - digamma(eta), "The sign is turned round: the logarithm of a share is negative."
    ),
    "log gamma": Mistake(
        lambda eta: gammaln(eta) - gammaln(_total(eta)),
        "You used log Gamma itself. The digamma function is its derivative.",
    ),
    "log of the sum": Mistake(
        lambda eta: digamma(eta) - np.log(_total(eta)),
        "The first term is right. For the sum you took the logarithm; it needs the digamma function, too.",
    ),
    "one less": Mistake(
        lambda eta: digamma(eta - 1) - digamma(_total(eta) - eta.shape[-1]),
        "You took the density's exponents. The lemma is about the parameters, which are larger by one.",
    ),
    "exponentials": Mistake(
        lambda eta: np.exp(digamma(eta) - digamma(_total(eta))), "Those are the exponentials. The mean logarithms were asked for."
    ),
}

GUESS_MISTAKES = {
    "mean": Mistake(
        lambda eta: eta / eta.sum(),
        "That is the mean. It is best if theta and h change places in the loss.",
    ),
    "not normalised": Mistake(
        lambda eta: np.exp(digamma(eta) - digamma(eta.sum())),
        "Right up to a factor: what you quote has to sum to one.",
    ),
    "normalised first": Mistake(
        lambda eta: softmax(digamma(eta / eta.sum())),
        "You divided the parameters by their sum first. That sum says how sure the belief is, and it matters here.",
    ),
    "mode": Mistake(
        lambda eta: (eta - 1) / (eta - 1).sum(),
        "That is where the density is highest. The loss was not asked.",
    ),
    "the largest": Mistake(
        lambda eta: np.eye(len(eta))[np.argmax(eta)],
        "You put everything on the largest component. That is dear wherever the other components are not 0.",
    ),
    "mean logarithms": Mistake(
        lambda eta: digamma(eta) - digamma(eta.sum()), "Those are the mean logarithms. What you quote has to be positive and sum to one."
    ),
    "logarithms": Mistake(lambda eta: np.log(softmax(digamma(eta))), "Those are the logarithms of what is to be quoted."),
    "logarithms divided": Mistake(
        lambda eta: (x := digamma(eta) - digamma(eta.sum())) / x.sum(),
        "You divided the mean logarithms by their sum. Take exponentials first.",
    ),
    "softmax of the parameters": Mistake(softmax, "You took exponentials of the parameters. Take them of the mean logarithms."),
    "even": Mistake(lambda eta: np.full(len(eta), 1 / len(eta)), "You quote the same for all components, whatever the belief is."),
    "squared": Mistake(
        lambda eta: softmax(2 * digamma(eta)), "You counted the mean logarithms twice. The loss has h log h once and h log theta once."
    ),
}


@lru_cache(maxsize=64)
def _parameters(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 340])

    def draw() -> list[tuple[Any, ...]]:
        return [(rng.uniform(0.3, 6.0, shape),) for shape in ((2,), (4,), (3, 2), (2, 4))]

    return telling(draw, mean_logs, MEAN_LOG_MISTAKES)


def mean_log_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _parameters(seed)
    nudge = "Not those. With eta = [1, 3] they are [-1.8333, -0.3333]."
    verdict = exact(
        answer,
        cases,
        mean_logs,
        MEAN_LOG_MISTAKES,
        right="Right. The sum of the parameters may be anything: twice the parameters have the same mean and other mean logarithms.",
        nudge=nudge,
    )
    return settled(verdict, answer, cases, mean_log_stub, nudge)


@lru_cache(maxsize=64)
def _beliefs(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 341])

    def draw() -> list[tuple[Any, ...]]:
        return [(rng.uniform(*ends, K),) for K, ends in ((2, (0.4, 3.0)), (3, (0.4, 4.0)), (5, (1.2, 6.0)))]

    return telling(draw, _guess_by_search, GUESS_MISTAKES)


def guess_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _beliefs(seed)
    nudge = "Not that quote. With eta = [1, 3] it is [0.1824, 0.8176]."
    verdict = exact(
        answer,
        cases,
        _guess_by_search,
        GUESS_MISTAKES,
        right="Right. What may be tiny is quoted lower than its mean, for this loss punishes quoting much of what is hardly there.",
        nudge=nudge,
    )
    if verdict.message == CLOSE:
        verdict = Verdict(False, f"Close, but not exact. {nudge}")
    return settled(verdict, answer, cases, guess_stub, nudge)


TASKS = (
    Task(
        "vi/dirichlet-lemma/mean-log",
        "The Dirichlet lemma: mean logarithms",
        1,
        10,
        mean_log_stub,
        (
            "The density integrates to one whatever the parameters are. Differentiate that with respect to one of them.",
            "The slope of log Gamma is psi, so E[log theta_k] = psi(eta_k) - psi(eta_1 + ... + eta_K).",
            "Begin with `total = eta.sum(axis=-1, keepdims=True)`",
        ),
        MEAN_LOG_MISTAKES,
        mean_log_verdict,
    ),
    Task(
        "vi/dirichlet-lemma/guess",
        "The Dirichlet lemma: what to quote",
        1,
        10,
        guess_stub,
        (
            "Average the loss over theta with h fixed. Only the means of log theta_k are left of the belief.",
            "The mean loss is the sum of h_k (log h_k - E[log theta_k]). It is smallest where log h_k = E[log theta_k] + constant.",
            "Begin with `weights = np.exp(mean_log(eta))`",
        ),
        GUESS_MISTAKES,
        guess_verdict,
    ),
)
