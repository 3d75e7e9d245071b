"""The mean of a logarithm under a Dirichlet. Roads: an integral for the digamma function; a search for the smallest loss."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from course_pkg.checks.record import Record
from solutions.vi._tools import mean_logs


def guess_by_search(eta):
    """The quote with the smallest mean loss, sought downhill from an even one."""
    middle = mean_logs(eta)

    def loss(scores):
        h = softmax(scores)
        each = np.log(h) - middle
        return float(h @ each), h * (each - h @ each)

    return softmax(minimize(loss, np.zeros(len(eta)), jac=True, method="BFGS", options={"gtol": 1e-9}).x)


MEAN_LOG = Record(
    cases=lambda rng: [(rng.uniform(0.3, 6.0, shape),) for shape in ((2,), (4,), (3, 2), (2, 4))],
    reference=mean_logs,
    right="Right. The sum of the parameters may be anything: twice the parameters have the same mean and other mean logarithms.",
    nudge="Not those. With eta = [1, 3] they are [-1.8333, -0.3333].",
    hints=(
        "The density integrates to one whatever the parameters are. Differentiate that with respect to one of them.",
        "The slope of log Gamma is psi, so E[log theta_k] = psi(eta_k) - psi(eta_1 + ... + eta_K).",
        "Begin with `total = eta.sum(axis=-1, keepdims=True)`",
    ),
    mistakes={
        "You divided the parameters by their sum first. It says how sure the distribution is.": "digamma(eta) - digamma(total) -> digamma(eta / total) - digamma(1.0)",
        "That is the logarithm of the mean. The mean of the logarithm is lower.": "digamma(eta) - digamma(total) -> np.log(eta / total)",
        "The second term is missing: it is the same for all components of a row, but it is not 0.": "- digamma(total) -> ",
        "You added up the digammas. Add up the parameters, then take the digamma of the sum.": "digamma(total) -> digamma(eta).sum(axis=-1, keepdims=True)",
        "Right for one distribution. In a table each row has a sum of its own; you added up all rows.": "eta.sum(axis=-1, keepdims=True) -> eta.sum()",
        "The first term is right. For the sum you took the logarithm; it needs the digamma function, too.": "digamma(total) -> np.log(total)",
    },
)
WEIGHTS = "np.exp(mean_log(eta)) ->"
GUESS = Record(
    cases=lambda rng: [(rng.uniform(*ends, K),) for K, ends in ((2, (0.4, 3.0)), (3, (0.4, 4.0)), (5, (1.2, 6.0)))],
    reference=guess_by_search,
    right="Right. What may be tiny is quoted lower than its mean, for this loss punishes quoting much of what is hardly there.",
    nudge="Not that quote. With eta = [1, 3] it is [0.1824, 0.8176].",
    hints=(
        "Average the loss over theta with h fixed. Only the means of log theta_k are left of the belief.",
        "The mean loss is the sum of h_k (log h_k - E[log theta_k]). It is smallest where log h_k = E[log theta_k] + constant.",
        "Begin with `weights = np.exp(mean_log(eta))`",
    ),
    mistakes={
        "That is the mean. It is best if theta and h change places in the loss.": f"{WEIGHTS} eta",
        "You divided the parameters by their sum first. That sum says how sure the belief is, and it matters here.": "(mean_log(eta)) -> (digamma(eta / eta.sum()))",
        "That is where the density is highest. The loss was not asked.": f"{WEIGHTS} eta - 1",
        "You put everything on the largest component. That is dear wherever the other components are not 0.": f"{WEIGHTS} 1.0 * (eta == eta.max())",
        "You divided the mean logarithms by their sum. Take exponentials first.": f"{WEIGHTS} mean_log(eta)",
    },
)
TASKS = {"mean-log": MEAN_LOG, "guess": GUESS}
