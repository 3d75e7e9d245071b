"""EM as coordinate ascent. Roads: scikit-learn's mixture; a record in which each item occurs many times; all assignments one by one."""

import warnings
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import beyond, quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin
from course_pkg.checks.vi._roads import assignments

VECTORS = ("the vector of weights", "the vector of means", "the vector of variances")
SHARES = 20  # responsibilities come in twentieths where a road counts them


def _mixture(w: np.ndarray, m: np.ndarray, v: np.ndarray) -> GaussianMixture:
    """Scikit-learn's mixture at these parameters."""
    one = GaussianMixture(len(w), covariance_type="spherical")
    one.weights_, one.means_, one.covariances_, one.precisions_cholesky_ = w, m[:, None], v, 1 / np.sqrt(v)
    return one


def _theirs(x: np.ndarray, w: np.ndarray, m: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(_mixture(w, m, v).predict_proba(x[:, None]))


def _counted(x: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each apple lies as many times in the heap of a kind as it has twentieths there."""
    times = np.rint(SHARES * r).astype(int)
    heaps = [np.repeat(x, column) for column in times.T]
    return np.array([len(h) for h in heaps]) / times.sum(), np.array([h.mean() for h in heaps]), np.array([h.var() for h in heaps])


def _by_assignments(x: np.ndarray, r: np.ndarray, w: np.ndarray, m: np.ndarray, v: np.ndarray) -> float:
    total = 0.0
    for z, chance in assignments(r):
        if chance > 0:
            total += chance * (np.log(w[z]).sum() + norm.logpdf(x, m[z], np.sqrt(v[z])).sum() - np.log(chance))
    return total


def _fitted(x: np.ndarray, w: np.ndarray, m: np.ndarray, v: np.ndarray, rounds: int) -> tuple[Any, ...]:
    start = {"weights_init": w, "means_init": m[:, None], "precisions_init": 1 / v, "init_params": "random", "random_state": 0}
    run = GaussianMixture(len(w), covariance_type="spherical", tol=0.0, reg_covar=0.0, max_iter=rounds, **start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few rounds are asked for, not convergence
        run.fit(x[:, None])
    return run.weights_, run.means_[:, 0], run.covariances_, len(x) * run.score(x[:, None])


def responsibilities_stub(x: np.ndarray, w: np.ndarray, m: np.ndarray, v: np.ndarray) -> Any:
    raise NotImplementedError


def m_step_stub(x: np.ndarray, r: np.ndarray) -> Any:
    raise NotImplementedError


def bound_stub(x: np.ndarray, r: np.ndarray, w: np.ndarray, m: np.ndarray, v: np.ndarray) -> Any:
    raise NotImplementedError


def em_stub(x: np.ndarray, w: np.ndarray, m: np.ndarray, v: np.ndarray, rounds: int) -> Any:
    raise NotImplementedError


def _scores(x, w, m, v):
    return np.log(w) + norm.logpdf(x[:, None], m, np.sqrt(v))


def _hard(r):
    return np.eye(r.shape[1])[r.argmax(axis=1)]


RESPONSIBILITIES_MISTAKES = {
    "not normalised": Mistake(
        lambda *case: np.exp(_scores(*case)),
        "These are weight times density, and an apple's numbers do not sum to one. A probability of a kind, given the apple, is a share.",
    ),
    "over the apples": Mistake(
        lambda *case: softmax(_scores(*case), axis=0),
        "You made each column sum to one, over the apples. It is the kinds of one apple that share its probability.",
    ),
    "weights forgotten": Mistake(
        lambda x, w, m, v: softmax(_scores(x, 1 + 0 * w, m, v), axis=1),
        "The weights of the kinds are missing. A rare kind is less probable before the apple is weighed, and after it too.",
    ),
    "variance as sd": Mistake(
        lambda x, w, m, v: softmax(_scores(x, w, m, v**2), axis=1), "You used v as a standard deviation. It is a variance."
    ),
    "no constant": Mistake(
        lambda x, w, m, v: softmax(_scores(x, w * np.sqrt(v), m, v), axis=1),
        "The normal's factor of one over its standard deviation is missing. It does not cancel, as it differs from kind to kind.",
    ),
    "half missing": Mistake(
        lambda x, w, m, v: softmax(_scores(x, w / np.sqrt(2), m, v / 2), axis=1), "The square in the exponent is divided by 2 v, not by v."
    ),
    "hard": Mistake(
        lambda *case: _hard(softmax(_scores(*case), axis=1)),
        "You gave each apple wholly to its most probable kind. Responsibilities say how probable each kind is.",
    ),
    "logarithms": Mistake(
        lambda *case: _scores(*case) - logsumexp(_scores(*case), axis=1)[:, None], "Those are logarithms of the responsibilities."
    ),
}


def _stepped(weights=lambda r: r.mean(0), mean=lambda x, r: r.T @ x / r.sum(0), divide=lambda r: r.sum(0), centre=None, end=lambda v: v):
    def answer(x, r):
        m = mean(x, r)
        around = m if centre is None else centre(x, r, m)
        return weights(r), m, end((r * (x[:, None] - around) ** 2).sum(0) / divide(r))

    return answer


M_STEP_MISTAKES = {
    "sums": Mistake(
        _stepped(weights=lambda r: r.sum(0)), "Means and variances are right. The weights are shares of all apples, and sum to one."
    ),
    "equal weights": Mistake(
        _stepped(weights=lambda r: np.full(r.shape[1], 1 / r.shape[1])),
        "Means and variances are right. The weights are not equal: a kind with more responsibility has a larger one.",
    ),
    "mean over all": Mistake(
        _stepped(mean=lambda x, r: r.T @ x / len(x), divide=len),
        "You divided by the number of apples. A kind has only n_k of them, the sum of its responsibilities.",
    ),
    "variance over all": Mistake(
        _stepped(divide=len), "Weights and means are right. In the variance divide by n_k, not by the number of apples."
    ),
    "overall mean": Mistake(
        _stepped(centre=lambda x, r, m: x.mean()), "Weights and means are right. The squares are around the mean of the kind."
    ),
    "around zero": Mistake(_stepped(centre=lambda x, r, m: 0.0), "Weights and means are right. The mean of the kind is not taken off."),
    "n - 1": Mistake(
        _stepped(divide=lambda r: r.sum(0) - 1), "Weights and means are right. Dividing by n_k - 1 does not give the top of the bound."
    ),
    "standard deviation": Mistake(_stepped(end=np.sqrt), "Weights and means are right. A variance was asked for."),
    "hard": Mistake(
        lambda x, r: _stepped()(x, _hard(r)), "You gave each apple wholly to one kind. An apple counts in each kind with its share."
    ),
}


def _bounded(entropy=1.0, s=_scores, fall=np.sum):
    return lambda x, r, *theta: fall((r * (s(x, *theta) - entropy * np.log(r))).sum(axis=1))


BOUND_MISTAKES = {
    "entropy's sign": Mistake(_bounded(entropy=-1.0), "The entropy has the wrong sign. It is minus log r on average."),
    "no entropy": Mistake(_bounded(entropy=0.0), "The entropy of the responsibilities is missing. It is what makes the bound touch."),
    "log likelihood": Mistake(
        lambda x, r, *theta: logsumexp(_scores(x, *theta), axis=1).sum(),
        "That is the log likelihood, and it does not contain r. The bound is below it, unless r is the exact one.",
    ),
    "log outside": Mistake(
        lambda x, r, *theta: logsumexp(_scores(x, *theta), axis=1, b=r).sum(), "You averaged inside the logarithm. Average the logarithms."
    ),
    "no weights": Mistake(
        _bounded(s=lambda x, w, m, v: _scores(x, 1 + 0 * w, m, v)), "The logarithms of the weights are missing: a kind has a probability."
    ),
    "no 2 pi": Mistake(
        _bounded(s=lambda *case: _scores(*case) + 0.5 * np.log(2 * np.pi)), "Off by a constant for each apple: the normal's 2 pi."
    ),
    "variance as sd": Mistake(
        _bounded(s=lambda x, w, m, v: _scores(x, w, m, v**2)), "You used v as a standard deviation. It is a variance."
    ),
    "mean": Mistake(_bounded(fall=np.mean), "You averaged over the apples. The bound is that of all of them together: a sum."),
    "sign": Mistake(lambda *case: -_bounded()(*case), "The sign is turned round."),
}


def _run(e=lambda s: softmax(s, axis=1), old_mean=False, weights=True, spare=0, before=False, fall=np.sum, end=lambda v: v):
    def answer(x, w, m, v, rounds):
        heights = [fall(logsumexp(_scores(x, w, m, v), axis=1))]
        for _ in range(rounds + spare):
            r = e(_scores(x, w, m, v))
            new_w, new_m, new_v = _stepped(centre=(lambda x, r, _, m=m: m) if old_mean else None)(x, r)
            w, m, v = new_w if weights else w, new_m, new_v
            heights.append(fall(logsumexp(_scores(x, w, m, v), axis=1)))
        return w, m, end(v), heights[-2 if before else -1]

    return answer


def _in_order(found, by, turn=1):
    order = np.argsort(turn * found[by])
    return (*(part[order] for part in found[:3]), found[3])


EM_NAMES = {
    "variance around the old mean": Mistake(
        _run(old_mean=True), "Your variances are around the mean of the round before. In one M step the new mean comes first."
    ),
    "weights stay": Mistake(_run(weights=False), "The weights never move. An M step has three results."),
    "hard": Mistake(_run(e=_hard), "You gave each apple wholly to one kind. An E step keeps the shares."),
    "one round fewer": Mistake(_run(spare=-1), "You are one round short."),
    "one round more": Mistake(_run(spare=1), "You made one round too many."),
    "log likelihood before": Mistake(
        _run(before=True), "The parameters are right. The log likelihood is that of the parameters before the last M step."
    ),
    "per apple": Mistake(_run(fall=np.mean), "The parameters are right. The log likelihood is a sum over the apples, not their average."),
    "standard deviation": Mistake(_run(end=np.sqrt), "All else is right. A variance was asked for."),
    "sorted": Mistake(
        lambda *case: _in_order(_run()(*case), by=1), "You sorted the kinds at the end. Leave them in the order in which they came."
    ),
}
EM_MISTAKES = with_kin(
    EM_NAMES, {"sorted": [lambda *case: _in_order(_run()(*case), by=0), lambda *case: _in_order(_run()(*case), by=0, turn=-1)]}
)

UNDERFLOW = (
    "Right where the densities are not too small. Far from all kinds each of them is rounded to 0. You need a ratio, or a logarithm: "
    "stay with logarithms of densities, and take off the largest before you exponentiate."
)
LOST = (
    "Right where the densities are not too small. Far from all kinds each of them is rounded to 0, and its logarithm is lost. Take the "
    "logarithm of the density itself, from `norm.logpdf` or from the formula."
)
SMALL = (
    "Right where no share is small. A share counts with its own logarithm, however small it is: put no floor under it, "
    "and add nothing to it."
)
ZEROS = (
    "Right where each share is positive. Where r_ik is 0 it adds nothing: r log r goes to 0 there, although the logarithm alone does not."
)


def _theta(rng: np.random.Generator, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kinds that overlap, of unequal size and width."""
    w = rng.permutation(np.geomspace(1, 3, k)) * rng.uniform(0.9, 1.1, k)
    m = np.linspace(-2, 2, k) + rng.uniform(-0.3, 0.3, k)
    return w / w.sum(), m, rng.permutation(np.geomspace(0.5, 2.5, k)) * rng.uniform(0.9, 1.1, k)


def _apples(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return np.linspace(-2, 2, k)[np.arange(n) % k] + rng.normal(size=n)


def _record(rng: np.random.Generator, n: int, k: int) -> tuple[np.ndarray, ...]:
    return _apples(rng, n, k), *_theta(rng, k)


def _shares(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Twentieths, at least one for each kind, none of them sure; apple i leans to kind i modulo k, twice over."""
    times = np.ones((n, k), dtype=int)
    for i in range(n):
        sure = (SHARES - k) // 2 + 1 if i < 2 * k else 0
        times[i, i % k] += sure
        times[i] += rng.multinomial(SHARES - k - sure, rng.dirichlet(np.ones(k)))
    return times / SHARES


def responsibilities_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 370])
    cases = [_record(rng, n, k) for n, k in ((7, 2), (6, 3), (4, 4))]
    nudge = "Not those shares. With x = [1], w = [1/4, 3/4], m = [0, 2] and v = [1, 4] they are [[0.3142, 0.6858]]."
    right = "Right. The shares of an apple sum to one, and say nothing about how many apples there are."
    verdict = quiet(answer, cases, _theirs, RESPONSIBILITIES_MISTAKES, right=right, nudge=nudge)
    x, *theta = _record(rng, 4, 2)
    return settled(beyond(verdict, answer, [(x + 200, *theta)], _theirs, UNDERFLOW), answer, cases, responsibilities_stub, nudge)


def m_step_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 371])
    cases = [(_apples(rng, n, k), _shares(rng, n, k)) for n, k in ((8, 2), (9, 3), (11, 2))]
    nudge = "Not that step. With x = [0, 4] and r = [[1, 0], [1/2, 1/2]] the results are [0.75, 0.25], [1.3333, 4] and [3.5556, 0]."
    right = "Right. It is what one would do with sorted apples, and an apple may lie in several heaps."
    verdict = quiet(answer, cases, _counted, M_STEP_MISTAKES, right=right, nudge=nudge, parts=VECTORS)
    return settled(verdict, answer, cases, m_step_stub, nudge)


def bound_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 372])
    cases = []
    for n, k in ((5, 2), (4, 3), (3, 4)):
        x, *theta = _record(rng, n, k)
        cases.append((x, _shares(rng, n, k), *theta))
    nudge = "Not that bound. With x = [0], r = [[1/20, 19/20]], w = [1/2, 1/2], m = [0, 1] and v = [1, 1] it is -1.8886."
    right = "Right: an average over all ways to sort the apples, and it needs only one sum over apples and kinds."
    verdict = quiet(answer, cases, _by_assignments, BOUND_MISTAKES, right=right, nudge=nudge)
    (x, r, *theta), sure = cases[0], np.eye(2)[[0, 1, 1, 0, 1]]
    verdict = beyond(verdict, answer, [(x, 0.99 * sure + 0.01 * r, *theta)], _by_assignments, SMALL)
    verdict = beyond(verdict, answer, [(x, sure, *theta), (x, np.concatenate([sure[:2], r[2:]]), *theta)], _by_assignments, ZEROS)
    return settled(beyond(verdict, answer, [(x + 200, r, *theta)], _by_assignments, LOST), answer, cases, bound_stub, nudge)


def _every_kind_has_apples(case: tuple[Any, ...]) -> bool:
    """More than one each, if every apple goes to its likeliest kind."""
    with np.errstate(all="ignore"):
        return all(np.isfinite(part).all() for part in EM_MISTAKES["hard"].answer(*case))


def em_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 373])
    cases: list[tuple[Any, ...]] = []
    for n, k, rounds in ((16, 2, 3), (27, 3, 2), (24, 2, 5)):
        case: tuple[Any, ...] = (*_record(rng, n, k), rounds)
        while not _every_kind_has_apples(case):
            case = (*_record(rng, n, k), rounds)
        x, *theta, rounds = case
        cases.append((x, *(part[::-1] if k == 3 else part for part in theta), rounds))  # once from the heaviest kind to the lightest
    nudge = "Not those. With x = [-1, 1], w = [1/2, 1/2], m = [1, -1], v = [4, 1] and one round: "
    nudge += "[0.5098, 0.4902], [0.5436, -0.5654], [0.7045, 0.6803] and -2.7758."
    right = "Right. Scikit-learn's mixture comes to the same numbers."
    parts = (*VECTORS, "the log likelihood")
    verdict = quiet(answer, cases, _fitted, EM_MISTAKES, right=right, nudge=nudge, parts=parts, rtol=1e-5)
    apart = (np.array([-2.0, -1.2, 1.0, 1.9, 2.5]), np.array([0.5, 0.5]), np.array([-45.0, 45.0]), np.ones(2), 1)
    stray = (np.append(_apples(rng, 8000, 2), 1e4), *_theta(rng, 2), 1)  # an apple far from both kinds, at the end as well
    return settled(beyond(verdict, answer, [apart, stray], _fitted, UNDERFLOW), answer, cases, em_stub, nudge)


TASKS = (
    Task(
        "vi/em-as-vi/responsibilities",
        "EM as coordinate ascent: the E step",
        2,
        9,
        responsibilities_stub,
        (
            "Bayes' theorem for one apple: prior weight times density for each kind, divided by their sum over the kinds.",
            "With s_ik = log w_k - (1/2) log(2 pi v_k) - (x_i - m_k)^2 / (2 v_k) and t_i the largest of apple i's s_ik, r_ik is "
            "exp(s_ik - t_i) / sum over j of exp(s_ij - t_i). The t_i cancel, and without them a far apple has 0 / 0.",
            "Begin with `scores = np.log(w) + norm.logpdf(x[:, None], m, np.sqrt(v))`",
        ),
        RESPONSIBILITIES_MISTAKES,
        responsibilities_verdict,
    ),
    Task(
        "vi/em-as-vi/m-step",
        "EM as coordinate ascent: the M step",
        2,
        9,
        m_step_stub,
        (
            "If every share were 0 or 1, you would take the share, the mean and the variance of each heap. Now apple i counts r_ik times.",
            "n_k = sum of r_ik, w_k = n_k / n, m_k = sum of r_ik x_i / n_k, v_k = sum of r_ik (x_i - m_k)^2 / n_k, with the new m_k.",
            "Begin with `n_k = r.sum(axis=0)`",
        ),
        M_STEP_MISTAKES,
        m_step_verdict,
    ),
    Task(
        "vi/em-as-vi/bound",
        "EM as coordinate ascent: the bound",
        2,
        10,
        bound_stub,
        (
            "Under q the apples are sorted independently, so the average of a sum over apples is a sum over apples and kinds.",
            "L = sum over i and k of r_ik (log w_k + log N(x_i | m_k, v_k) - log r_ik), where a share of 0 adds nothing.",
            "Begin with `score = np.log(w) + norm.logpdf(x[:, None], m, np.sqrt(v))`",
        ),
        BOUND_MISTAKES,
        bound_verdict,
    ),
    Task(
        "vi/em-as-vi/em",
        "EM as coordinate ascent: rounds",
        2,
        10,
        em_stub,
        (
            "You have both steps. Take them in turn, and look at the likelihood only when the last round is done.",
            "In each round r = E(x, w, m, v), then w, m, v = M(x, r). At the end: the sum over i of "
            "t_i + log sum over k of exp(s_ik - t_i), with s and t as in Part 1.",
            "Begin with `for _ in range(rounds):`",
        ),
        EM_NAMES,
        em_verdict,
    ),
)
