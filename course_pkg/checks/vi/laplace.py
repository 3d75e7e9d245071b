"""Laplace's approximation. Roads: a search over the log joint from SciPy's densities; sums of a normal's kernel over a grid; quadrature."""

from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from scipy.stats import binom, norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import beyond, exact, quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin


def _log_joint(eta: float, y: int, n: int, s0: float) -> float:
    return float(binom.logpmf(y, n, expit(eta)) + norm.logpdf(eta, 0, s0))


def _top(y: int, n: int, s0: float) -> float:
    """The place of the highest log joint, by golden sections."""
    found = minimize_scalar(lambda eta: -_log_joint(eta, y, n, s0), bounds=(-9, 9), method="bounded", options={"xatol": 1e-9})
    return float(found.x)


def _kernel(H: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Places of a grid, the kernel exp(x' H x / 2) there, and the volume of a cell."""
    d = len(H)
    reach = 7 * np.sqrt(np.diag(np.linalg.inv(-H)))  # seven standard deviations
    side = {1: 201, 2: 121, 3: 49, 4: 25}[d]
    axes = [np.linspace(-one, one, side) for one in reach]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    return x, np.exp(0.5 * np.einsum("gi,ij,gj->g", x, H, x)), float(np.prod(2 * reach / (side - 1)))


def _spread(H: np.ndarray) -> np.ndarray:
    x, kernel, _ = _kernel(H)
    return np.asarray((x * kernel[:, None]).T @ x / kernel.sum())


def _area(value: float, H: np.ndarray) -> float:
    _, kernel, cell = _kernel(H)
    return float(value + np.log(cell * kernel.sum()))


def _tail(mode: float, sd: float, t: float) -> float:
    """The density of the rate itself, added up from t to 1."""
    density = lambda r: norm.pdf(logit(r), mode, sd) / (r * (1 - r))
    peak = float(np.clip(expit(mode), t + 1e-9, 1 - 1e-9))
    return float(sum(quad(density, a, b, epsabs=1e-12)[0] for a, b in ((t, peak), (peak, 1 - 1e-12))))


def mode_stub(y: int, n: int, s0: float) -> Any:
    raise NotImplementedError


def covariance_stub(H: np.ndarray) -> Any:
    raise NotImplementedError


def evidence_stub(value: float, H: np.ndarray) -> Any:
    raise NotImplementedError


def chance_stub(mu: float, sd: float, t: float) -> Any:
    raise NotImplementedError


def _newton(y, n, s0, steps=60, prior=1.0, sign=1.0, power=2, start=0.0):
    eta = start
    for _ in range(steps):
        r = expit(eta)
        slope, curvature = y - n * r - prior * eta / s0**power, -n * r * (1 - r) - prior / s0**power
        eta = eta - sign * slope / curvature
    return eta


MODE_MISTAKES = {
    "prior forgotten": Mistake(
        lambda y, n, s0: logit(y / n), "That is the top of the likelihood. The prior pulls towards 0, and with few cases it pulls hard."
    ),
    "s0 not squared": Mistake(
        lambda y, n, s0: _top(y, n, np.sqrt(s0)), "You used s0 as a variance. It is a standard deviation: the prior's slope is -eta / s0^2."
    ),
    "precision for variance": Mistake(
        lambda y, n, s0: _top(y, n, 1 / s0), "You multiplied by s0^2 where the prior's slope divides by it. A wide prior pulls little."
    ),
    "a rate": Mistake(
        lambda *case: expit(_top(*case)), "That is a rate between 0 and 1. The place of the top was asked for on the scale of eta."
    ),
    "one step": Mistake(
        lambda y, n, s0: _newton(y, n, s0, steps=1),
        "That is Newton's first step from 0. Go on until nothing moves: the log joint is no parabola.",
    ),
    "too few steps": Mistake(
        lambda y, n, s0: _newton(y, n, s0, steps=2), "Two of Newton's steps from 0 are not enough here. Go on until nothing moves."
    ),
    "top by rate": Mistake(
        lambda y, n, s0: _newton(y + 1, n + 2, s0),
        "You counted one more of each outcome, as a flat prior on the rate would. The only prior here is that of eta.",
    ),
    "failures for successes": Mistake(
        lambda y, n, s0: -_top(y, n, s0), "The sign is turned round: eta is the logit of the rate of what y counts."
    ),
}

SIGN = (
    "Right if the number of unknowns is even. If it is odd, the determinant of H is below 0, as each direction turns the sign once. "
    "What must be positive is the determinant of minus H."
)


INSIDE = (
    "Right if the number of unknowns is odd. Turn the sign of the matrix, not that of its determinant: with an even number of unknowns "
    "det(-H) is det H, and minus that is below 0."
)


def _formula(dims=len, half=0.5, log_det=lambda H: np.linalg.slogdet(H)[1], constant=2 * np.pi):
    return lambda value, H: value + dims(H) / 2 * np.log(constant) - half * log_det(H)


COVARIANCE_NAMES = {
    "Hessian's sign": Mistake(
        np.linalg.inv, "Your variances are below 0. At a top the log joint bends downwards, so its second derivatives are negative."
    ),
    "not inverted": Mistake(lambda H: -H, "That is the precision. The more the log joint bends, the narrower is the normal."),
    "absolute values": Mistake(
        lambda H: abs(np.linalg.inv(H)),
        "You took the sizes of the entries, of H or of its inverse. Only the sign of the whole turns. Covariances have either sign.",
    ),
    "diagonal first": Mistake(
        lambda H: np.diag(-1 / np.diag(H)),
        "You inverted the diagonal alone: the variance of an unknown when all others are known. Invert the whole matrix.",
    ),
    "diagonal": Mistake(
        lambda H: np.diag(np.diag(np.linalg.inv(-H))), "The variances are right. The covariances between the unknowns are missing."
    ),
    "factor two": Mistake(
        lambda H: np.linalg.inv(-H) / 2, "Twice too small: the normal's exponent has a half in it, and so has the second term of a series."
    ),
    "element by element": Mistake(lambda H: -1 / H, "You inverted every entry by itself. It is the matrix that is to be inverted."),
}
COVARIANCE_MISTAKES = with_kin(COVARIANCE_NAMES, {"absolute values": [lambda H: np.linalg.inv(abs(H))]})
EVIDENCE_MISTAKES = {
    "Hessian's sign": Mistake(_formula(log_det=lambda H: np.log(np.linalg.det(H))), SIGN),
    "one dimension": Mistake(
        _formula(dims=lambda H: 1), "Each unknown brings a root of 2 pi of its own. You have it once, or for one unknown only."
    ),
    "determinant's sign": Mistake(
        _formula(half=-0.5), "The determinant went the wrong way: the more the log joint bends, the less area is under the bump."
    ),
    "no root": Mistake(_formula(half=1.0), "The determinant comes with a root: one half of its logarithm."),
    "no 2 pi": Mistake(_formula(constant=1.0), "The factor of root 2 pi for each unknown is missing."),
    "e": Mistake(
        _formula(constant=2 * np.pi * np.e), "You added the entropy of the normal. Its area is asked for: one over its height at the top."
    ),
    "height alone": Mistake(lambda value, H: value, "That is the height at the top. The evidence is the area, height times width."),
    "trace": Mistake(
        _formula(log_det=lambda H: np.log(-np.diag(H)).sum()),
        "You used the product of the diagonal. With unknowns that hang together the determinant is smaller.",
    ),
    "evidence": Mistake(lambda *case: np.exp(_formula()(*case)), "That is the evidence. Its logarithm was asked for."),
}
CHANCE_MISTAKES = {
    "rate not transformed": Mistake(
        lambda mode, sd, t: norm.sf(t, mode, sd), "You compared eta with a rate. Bring t to the scale of eta first."
    ),
    "below": Mistake(lambda mode, sd, t: norm.cdf(logit(t), mode, sd), "That is the chance that the rate is below t."),
    "variance": Mistake(lambda mode, sd, t: norm.sf(logit(t), mode, sd**2), "You squared sd. SciPy's normal takes the standard deviation."),
    "variance as sd": Mistake(
        lambda mode, sd, t: norm.sf(logit(t), mode, np.sqrt(sd)), "You took a root of sd. It is a standard deviation already."
    ),
    "log for logit": Mistake(
        lambda mode, sd, t: norm.sf(np.log(t), mode, sd), "You took log t. Eta is the logit of the rate, log t - log(1 - t)."
    ),
    "logistic for logit": Mistake(
        lambda mode, sd, t: norm.sf(expit(t), mode, sd),
        "You took the logistic function of t. It leads from eta to a rate; you need its inverse.",
    ),
    "normal in the rate": Mistake(
        lambda mode, sd, t: norm.sf(t, expit(mode), sd * expit(mode) * (1 - expit(mode))),
        "You made the rate itself normal, by a straight line at the mode. Eta is normal, and the rate is then skewed.",
    ),
    "density": Mistake(lambda mode, sd, t: norm.pdf(logit(t), mode, sd), "That is a density at t. The chance is the area beyond it."),
    "point": Mistake(
        lambda mode, sd, t: float(expit(mode) > t), "You answered for the mode alone, as if there were no doubt about the rate."
    ),
}

FEW = (
    "Right where the data say more than the prior, and not where n and s0 are small. If yours are Newton's steps: the curvature is "
    "-n r (1 - r) - 1 / s0^2. Without the prior's term the steps are too long there, and run away."
)
EDGE = (
    "Right where both outcomes occur. If y is 0 or n, the likelihood rises for ever, and only the prior makes a top at a finite place: "
    "no logit(y / n), and enough steps."
)


def _hessian(rng: np.random.Generator, d: int) -> np.ndarray:
    """Minus a precision matrix with strong ties of either sign, well away from having a determinant of one."""
    ties = rng.permutation(np.linspace(0.6, 1.0, d)) * rng.permutation(np.where(np.arange(d) % 2, -1, 1))
    return -float(rng.uniform(2, 3)) * (np.diag(rng.uniform(0.8, 1.3, d)) + np.outer(ties, ties))


def mode_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 390])
    cases = [(y, n, float(rng.uniform(*ends))) for y, n, ends in ((1, 12, (1.2, 1.8)), (17, 20, (0.62, 0.8)), (2, 40, (2, 3)))]
    nudge = "Not that place. With y = 3, n = 4 and s0 = 1 it is 0.5052, where 3 - 4 / (1 + exp(-0.5052)) = 0.5052."
    right = "Right. There the slope of the likelihood and that of the prior cancel."
    verdict = exact(answer, cases, _top, MODE_MISTAKES, right=right, nudge=nudge)
    few = [(1, 4, float(rng.uniform(0.5, 0.55))), (3, 4, float(rng.uniform(0.5, 0.55)))]
    verdict = beyond(verdict, answer, few, _top, FEW)
    edge = [(0, 30, float(rng.uniform(2, 3))), (25, 25, float(rng.uniform(1.5, 2.5)))]
    return settled(beyond(verdict, answer, edge, _top, EDGE), answer, cases, mode_stub, nudge)


def covariance_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 391])
    cases = [(_hessian(rng, d),) for d in (2, 3, 2)]
    nudge = "Not that covariance. With H = [[-2, 1], [1, -2]] it is [[2/3, 1/3], [1/3, 2/3]]."
    right = "Right. Where the log joint bends most, the normal is narrowest."
    verdict = quiet(answer, cases, _spread, COVARIANCE_MISTAKES, right=right, nudge=nudge)
    return settled(verdict, answer, cases, covariance_stub, nudge)


def _real(answer: Any) -> Any:
    """The answer, without a number where it gives a complex one: the logarithm of a determinant below 0."""

    def real(*case: Any) -> Any:
        got = answer(*case)
        return np.real(got) if np.all(np.imag(got) == 0) else np.nan

    return real


def evidence_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 392])
    cases = [(-float(rng.uniform(3, 6)), _hessian(rng, d)) for d in (2, 4)]
    nudge = "Not that logarithm. With value = -3 and H = [[-4]] it is -3 + log(2 pi) / 2 - log(4) / 2 = -2.7742."
    right = "Right: the height at the top times the volume of the bump, exact if the posterior is normal."
    verdict = quiet(answer, cases, _area, EVIDENCE_MISTAKES, right=right, nudge=nudge)
    odd = [(-float(rng.uniform(3, 6)), _hessian(rng, d)) for d in (1, 3)]
    if not verdict.passed and verdict.message.startswith("Your answer contains a number that is not finite"):
        inside = quiet(answer, odd, _area, {}, right="", nudge="").passed
        return Verdict(False, INSIDE) if inside else verdict
    verdict = beyond(beyond(verdict, _real(answer), odd, _area, SIGN), _real(answer), cases, _area, INSIDE)
    return settled(verdict, answer, cases, evidence_stub, nudge)


def chance_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 393])
    ends = ((-1.5, 0.7, 0.3), (-0.5, 0.5, 0.25), (0.8, 1.4, 0.8))
    cases = [(mode + float(rng.uniform(-0.2, 0.2)), sd * float(rng.uniform(0.9, 1.1)), t) for mode, sd, t in ends]
    nudge = "Not that chance. With mu = 0, sd = 2 and t = 1/2 it is 1/2, and with mu = -1, sd = 2 and t = 1/2 it is 0.3085."
    right = "Right. Whatever is increasing in eta has the same chances as eta itself."
    verdict = exact(answer, cases, _tail, CHANCE_MISTAKES, right=right, nudge=nudge)
    return settled(verdict, answer, cases, chance_stub, nudge)


TASKS = (
    Task(
        "vi/laplace/mode",
        "Laplace's approximation: the top",
        1,
        10,
        mode_stub,
        (
            "At the top the slope of the log joint is 0. Newton's method finds it, with the curvature as the slope's own slope.",
            "eta goes to eta - slope / curvature, with slope = y - n r - eta / s0^2 and curvature = -n r (1 - r) - 1 / s0^2.",
            "Begin with `eta = 0.0`, and then a loop of 50 steps",
        ),
        MODE_MISTAKES,
        mode_verdict,
    ),
    Task(
        "vi/laplace/covariance",
        "Laplace's approximation: the bend",
        1,
        6,
        covariance_stub,
        (
            "Compare the second term of the series of the log joint at its top with the exponent of a normal density.",
            "(1/2) x' H x = -(1/2) x' C^(-1) x for every x.",
            "Begin with `precision = -H`",
        ),
        COVARIANCE_NAMES,
        covariance_verdict,
    ),
    Task(
        "vi/laplace/evidence",
        "Laplace's approximation: the evidence",
        1,
        8,
        evidence_stub,
        (
            "With the series in its place, the joint is a constant times the kernel of a normal density. What is the area under a kernel?",
            "The integral of exp(-x' A x / 2) is (2 pi)^(d/2) / sqrt(det A). Which matrix is A?",
            "Begin with `sign, log_det = np.linalg.slogdet(-H)`",
        ),
        EVIDENCE_MISTAKES,
        evidence_verdict,
    ),
    Task(
        "vi/laplace/chance",
        "Laplace's approximation: a chance",
        1,
        5,
        chance_stub,
        (
            "The rate exceeds t just if eta exceeds a number of its own.",
            "Pr(eta > logit t), with logit t = log t - log(1 - t) and eta normal.",
            "Begin with `place = np.log(t) - np.log1p(-t)`",
        ),
        CHANCE_MISTAKES,
        chance_verdict,
    ),
)
