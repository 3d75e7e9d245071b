"""EM as coordinate ascent. Roads: scikit-learn's mixture; a record in which each item occurs many times; all assignments one by one."""

import warnings

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from course_pkg.checks.record import Record
from solutions.vi._tools import assignments

VECTORS = ("the vector of weights", "the vector of means", "the vector of variances")
SHARES = 20  # responsibilities come in twentieths where a road counts them


def theirs(x, w, m, v):
    """Scikit-learn's mixture at these parameters."""
    one = GaussianMixture(len(w), covariance_type="spherical")
    one.weights_, one.means_, one.covariances_, one.precisions_cholesky_ = w, m[:, None], v, 1 / np.sqrt(v)
    return one.predict_proba(x[:, None])


def counted(x, r):
    """Each apple lies as many times in the heap of a kind as it has twentieths there."""
    heaps = [np.repeat(x, np.rint(SHARES * column).astype(int)) for column in r.T]
    return np.array([len(h) for h in heaps]) / SHARES / len(x), np.array([h.mean() for h in heaps]), np.array([h.var() for h in heaps])


def by_assignments(x, r, w, m, v):
    total = 0.0
    for z, chance in assignments(r):
        if chance > 0:
            total += chance * (np.log(w[z]).sum() + norm.logpdf(x, m[z], np.sqrt(v[z])).sum() - np.log(chance))
    return total


def fitted(x, w, m, v, rounds):
    start = {"weights_init": w, "means_init": m[:, None], "precisions_init": 1 / v, "init_params": "random", "random_state": 0}
    run = GaussianMixture(len(w), covariance_type="spherical", tol=0.0, reg_covar=0.0, max_iter=rounds, **start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few rounds are asked for, not convergence
        run.fit(x[:, None])
    return run.weights_, run.means_[:, 0], run.covariances_, len(x) * run.score(x[:, None])


def apples(rng, n, k):
    """Weights of apples; of kinds that overlap, of unequal size and width, their shares, means and variances."""
    w = rng.permutation(np.geomspace(1, 3, k)) * rng.uniform(0.9, 1.1, k)
    m = np.linspace(-2, 2, k) + rng.uniform(-0.3, 0.3, k)
    v = rng.permutation(np.geomspace(0.5, 2.5, k)) * rng.uniform(0.9, 1.1, k)
    return np.linspace(-2, 2, k)[np.arange(n) % k] + rng.normal(size=n), w / w.sum(), m, v


def shares(rng, n, k):
    """Twentieths, at least one for each kind, none of them sure; apple i leans to kind i modulo k, twice over."""
    times = np.ones((n, k), dtype=int)
    for i in range(n):
        sure = (SHARES - k) // 2 + 1 if i < 2 * k else 0
        times[i, i % k] += sure
        times[i] += rng.multinomial(SHARES - k - sure, rng.dirichlet(np.ones(k)))
    return times / SHARES


def sorted_apples(rng, sizes):
    for n, k in sizes:
        x, *theta = apples(rng, n, k)
        yield x, shares(rng, n, k), *theta


def with_sure_shares(rng, softened=0.0):
    """The first apples lie in one heap each, or nearly so."""
    (x, r, *theta), sure = next(sorted_apples(rng, [(5, 2)])), np.eye(2)[[0, 1, 1, 0, 1]]
    for firm in (sure, np.concatenate([sure[:2], r[2:]])):
        yield x, (1 - softened) * firm + softened * r, *theta


far = lambda case, by=200: [(case[0] + by, *case[1:])]


def runs(rng):
    for n, k, rounds in ((16, 2, 3), (27, 3, 2), (24, 2, 5)):
        x, *theta = apples(rng, n, k)
        yield x, *(part[::-1] if k == 3 else part for part in theta), rounds  # once from the heaviest kind to the lightest


def runs_far_out(rng):
    yield np.array([-2.0, -1.2, 1.0, 1.9, 2.5]), np.array([0.5, 0.5]), np.array([-45.0, 45.0]), np.ones(2), 1
    x, *theta = apples(rng, 8000, 2)
    yield np.append(x, 1e4), *theta, 1  # an apple far from both kinds, at the end as well


UNDERFLOW = (
    "Right where the densities are not too small. Far from all kinds each of them is rounded to 0. You need a ratio, or a logarithm: "
    "stay with logarithms of densities, and take off the largest before you exponentiate."
)
AS_SD = "You used v as a standard deviation. It is a variance."
ROW_SUM = "shares / shares.sum(axis=1, keepdims=True) ->"
RESPONSIBILITIES = Record(
    cases=lambda rng: [apples(rng, n, k) for n, k in ((7, 2), (6, 3), (4, 4))],
    reference=theirs,
    right="Right. The shares of an apple sum to one, and say nothing about how many apples there are.",
    nudge="Not those shares. With x = [1], w = [1/4, 3/4], m = [0, 2] and v = [1, 4] they are [[0.3142, 0.6858]].",
    hints=(
        "Bayes' theorem for one apple: prior weight times density for each kind, divided by their sum over the kinds.",
        "With s_ik = log w_k - (1/2) log(2 pi v_k) - (x_i - m_k)^2 / (2 v_k) and t_i the largest of apple i's s_ik, r_ik is "
        "exp(s_ik - t_i) / sum over j of exp(s_ij - t_i). The t_i cancel, and without them a far apple has 0 / 0.",
        "Begin with `scores = np.log(w) + norm.logpdf(x[:, None], m, np.sqrt(v))`",
    ),
    mistakes={
        "These are weight times density, and an apple's numbers do not sum to one. A probability of a kind, given the apple, is a share.": f"{ROW_SUM} np.exp(scores)",
        "You made each column sum to one, over the apples. It is the kinds of one apple that share its probability.": "axis=1 -> axis=0",
        "The weights of the kinds are missing. A rare kind is less probable before the apple is weighed, and after it too.": "np.log(w) + -> ",
        AS_SD: "np.sqrt(v) -> v",
        "The normal's factor of one over its standard deviation is missing. It does not cancel, as it differs from kind to kind.": "np.log(w) + -> np.log(w * np.sqrt(v)) +",
        "You gave each apple wholly to its most probable kind. Responsibilities say how probable each kind is.": f"{ROW_SUM} 1.0 * (shares == shares.max(axis=1, keepdims=True))",
    },
    later={
        UNDERFLOW: (lambda rng: far(apples(rng, 4, 2)), "scores - scores.max(axis=1, keepdims=True) -> scores"),
    },
)
RIGHT_BUT = "Weights and means are right."
M_STEP = Record(
    cases=lambda rng: [case[:2] for case in sorted_apples(rng, ((8, 2), (9, 3), (11, 2)))],
    reference=counted,
    right="Right. It is what one would do with sorted apples, and an apple may lie in several heaps.",
    nudge="Not that step. With x = [0, 4] and r = [[1, 0], [1/2, 1/2]] the results are [0.75, 0.25], [1.3333, 4] and [3.5556, 0].",
    hints=(
        "If every share were 0 or 1, you would take the share, the mean and the variance of each heap. Now apple i counts r_ik times.",
        "n_k = sum of r_ik, w_k = n_k / n, m_k = sum of r_ik x_i / n_k, v_k = sum of r_ik (x_i - m_k)^2 / n_k, with the new m_k.",
        "Begin with `n_k = r.sum(axis=0)`",
    ),
    mistakes={
        "Means and variances are right. The weights are shares of all apples, and sum to one.": "n_k / len(x) -> n_k",
        "You divided by the number of apples. A kind has only n_k of them, the sum of its responsibilities.": "x / n_k -> x / len(x) ;; axis=0) / n_k -> axis=0) / len(x)",
        f"{RIGHT_BUT} In the variance divide by n_k, not by the number of apples.": "axis=0) / n_k -> axis=0) / len(x)",
        f"{RIGHT_BUT} The mean of the kind is not taken off.": "x[:, None] - m -> x[:, None]",
        f"{RIGHT_BUT} Dividing by n_k - 1 does not give the top of the bound.": "axis=0) / n_k -> axis=0) / (n_k - 1)",
        "You gave each apple wholly to one kind. An apple counts in each kind with its share.": "n_k = -> r = np.eye(r.shape[1])[r.argmax(axis=1)]\nn_k =",
    },
    parts=VECTORS,
)
TOTAL = "np.sum(r * (score - log_r)) ->"
BOUND = Record(
    cases=lambda rng: sorted_apples(rng, ((5, 2), (4, 3), (3, 4))),
    reference=by_assignments,
    right="Right: an average over all ways to sort the apples, and it needs only one sum over apples and kinds.",
    nudge="Not that bound. With x = [0], r = [[1/20, 19/20]], w = [1/2, 1/2], m = [0, 1] and v = [1, 1] it is -1.8886.",
    hints=(
        "Under q the apples are sorted independently, so the average of a sum over apples is a sum over apples and kinds.",
        "L = sum over i and k of r_ik (log w_k + log N(x_i | m_k, v_k) - log r_ik), where a share of 0 adds nothing.",
        "Begin with `score = np.log(w) + norm.logpdf(x[:, None], m, np.sqrt(v))`",
    ),
    mistakes={
        "The entropy has the wrong sign. It is minus log r on average.": "- log_r -> + log_r",
        "The entropy of the responsibilities is missing. It is what makes the bound touch.": "- log_r -> ",
        "That is the log likelihood, and it does not contain r. The bound is below it, unless r is the exact one.": f"{TOTAL} np.log(np.exp(score).sum(axis=1)).sum()",
        "You averaged inside the logarithm. Average the logarithms.": f"{TOTAL} np.log((r * np.exp(score)).sum(axis=1)).sum()",
        "Off by a constant for each apple: the normal's 2 pi.": "np.log(w) + -> np.log(w * np.sqrt(2 * np.pi)) +",
        AS_SD: "np.sqrt(v) -> v",
    },
    later={
        "Right where no share is small. A share counts with its own logarithm, however small it is: put no floor under it, and add nothing "
        "to it.": (lambda rng: with_sure_shares(rng, 0.01), "np.where(r > 0, r, 1) -> np.maximum(r, 0.02)"),
        "Right where each share is positive. Where r_ik is 0 it adds nothing: r log r goes to 0 there, although the logarithm alone does not.": (
            with_sure_shares,
            "np.where(r > 0, r, 1) -> r",
        ),
        "Right where the densities are not too small. Far from all kinds each of them is rounded to 0, and its logarithm is lost. Take the "
        "logarithm of the density itself, from `norm.logpdf` or from the formula.": (
            lambda rng: far(next(sorted_apples(rng, [(5, 2)]))),
            "np.sqrt(v)) -> np.sqrt(v)));; norm.logpdf( -> np.log(norm.pdf(",
        ),
    },
)
EM = Record(
    cases=runs,
    reference=fitted,
    right="Right. Scikit-learn's mixture comes to the same numbers.",
    nudge="Not those. With x = [-1, 1], w = [1/2, 1/2], m = [1, -1], v = [4, 1] and one round: [0.5098, 0.4902], [0.5436, -0.5654], "
    "[0.7045, 0.6803] and -2.7758.",
    hints=(
        "You have both steps. Take them in turn, and look at the likelihood only when the last round is done.",
        "In each round r = E(x, w, m, v), then w, m, v = M(x, r). At the end: the sum over i of t_i + log sum over k of exp(s_ik - t_i), "
        "with s and t as in Part 1.",
        "Begin with `for _ in range(rounds):`",
    ),
    mistakes={
        "Your variances are around the mean of the round before. In one M step the new mean comes first.": (
            "w, m, v = m_step(x, r) -> v = np.sum(r * (x[:, None] - m) ** 2, axis=0) / r.sum(axis=0)\n    w, m, _ = m_step(x, r)"
        ),
        "You are one round short.": "range(rounds) -> range(rounds - 1)",
    },
    later={
        UNDERFLOW: (runs_far_out, "top = scores.max(axis=1) -> top = np.zeros(len(x))"),
    },
    parts=(*VECTORS, "the log likelihood"),
    rtol=1e-5,
)
TASKS = {"responsibilities": RESPONSIBILITIES, "m-step": M_STEP, "bound": BOUND, "em": EM}
