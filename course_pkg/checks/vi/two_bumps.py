"""One bump for two. Roads: densities on a finer grid through a spline; a search over a grid of normals; decisions one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import simpson
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, call, numbers, read
from course_pkg.checks._quiet import beyond, quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin

Ends = tuple[float, float]
NEAR = (0.85, 1.1)  # standard deviations of the bumps


def _finer(theta: np.ndarray, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fine = np.linspace(theta[0], theta[-1], 8 * (len(theta) - 1) + 1)
    return fine, CubicSpline(theta, log_p)(fine)


def _moments(theta: np.ndarray, log_p: np.ndarray) -> tuple[float, float]:
    """A cumulant function, and its first two derivatives at 0 by finite differences."""
    fine, log_fine = _finer(theta, log_p)
    low, middle, high = (np.log(simpson(np.exp(log_fine + s * fine), x=fine)) for s in (-1e-3, 0, 1e-3))
    return float((high - low) / 2e-3), float(np.sqrt((high - 2 * middle + low) / 1e-6))


def _cost(t_log: np.ndarray, a: float) -> np.ndarray:
    """f of t = p / q, with a tangent so that it is never below zero, times the density q left out."""
    t = np.exp(t_log)
    if a == 0:
        return t - 1 - t_log
    return t * t_log - t + 1 if a == 1 else (t**a - 1 - a * (t - 1)) / (a * (a - 1))


def _averaged(theta: np.ndarray, log_p: np.ndarray, mu: float, sigma: float, a: float) -> float:
    """The average of f(p / q) under q."""
    fine, log_fine = _finer(theta, log_p)
    log_q = norm.logpdf(fine, mu, sigma)
    seen = log_q > -650  # elsewhere nothing is added, and doubles end
    value = np.where(seen, np.exp(log_q) * _cost(np.where(seen, log_fine - log_q, 0.0), a), 0.0)
    return float(simpson(value, x=fine))


def _logs(theta: np.ndarray, log_p: np.ndarray, mu: Any, sigma: Any, a: float) -> Any:
    """The divergence of many normals at once, along the last axis."""
    log_q, step = norm.logpdf(theta, np.asarray(mu)[..., None], np.asarray(sigma)[..., None]), theta[1] - theta[0]
    if a == 0:
        return step * (np.exp(log_q) * (log_q - log_p)).sum(-1)
    if a == 1:
        return step * (np.exp(log_p) * (log_p - log_q)).sum(-1)
    with np.errstate(over="ignore"):
        return (step * np.exp(a * log_p + (1 - a) * log_q).sum(-1) - 1) / (a * (a - 1))


def _searched(theta: np.ndarray, log_p: np.ndarray, a: float) -> tuple[float, float]:
    """The lowest of a grid of normals, and then of finer ones around it."""
    mu, log_sigma, reach = 0.0, np.log(2.0), np.array([6.0, 1.5])
    for side in (49, *[9] * 8):
        m, s = np.meshgrid(mu + reach[0] * np.linspace(-1, 1, side), log_sigma + reach[1] * np.linspace(-1, 1, side), indexing="ij")
        best = np.unravel_index(np.nanargmin(_logs(theta, log_p, m, np.exp(s), a)), m.shape)
        mu, log_sigma, reach = m[best], s[best], reach * (0.1 if side == 49 else 0.4)
    return float(mu), float(np.exp(log_sigma))


def _bayes(theta: np.ndarray, belief: np.ndarray, loss: np.ndarray) -> int:
    risks = [simpson(belief * row, x=theta) for row in loss]
    return min(range(len(loss)), key=risks.__getitem__)


def _sent(theta: np.ndarray, log_p: np.ndarray, fits: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """One belief after the other: what it decides, and what that costs."""
    return np.array([simpson(np.exp(log_p) * loss[_bayes(theta, norm.pdf(theta, *fit), loss)], x=theta) for fit in fits])


def forward_stub(theta: np.ndarray, log_p: np.ndarray) -> Any:
    raise NotImplementedError


def divergence_stub(theta: np.ndarray, log_p: np.ndarray, mu: float, sigma: float, a: float) -> Any:
    raise NotImplementedError


def closest_stub(theta: np.ndarray, log_p: np.ndarray, a: float) -> Any:
    raise NotImplementedError


def risks_stub(theta: np.ndarray, log_p: np.ndarray, fits: np.ndarray, loss: np.ndarray) -> Any:
    raise NotImplementedError


def _peaks(theta, log_p):
    inside = np.flatnonzero((log_p[1:-1] > log_p[:-2]) & (log_p[1:-1] > log_p[2:])) + 1
    return theta[inside[np.argsort(log_p[inside])]]


def _peak_width(theta, log_p):
    top = np.argmax(log_p)
    return theta[top], (theta[1] - theta[0]) / np.sqrt(-np.diff(log_p[top - 1 : top + 2], 2)[0])


def _flat(theta, _):
    return theta.mean(), theta.std()


FORWARD_MISTAKES = {
    "variance": Mistake(
        lambda *case: (_moments(*case)[0], _moments(*case)[1] ** 2),
        "The mean is right, and the second number is a variance. The standard deviation was asked for.",
    ),
    "peak": Mistake(
        _peak_width,
        "That is Laplace's approximation: the peak and the bend there. The forward divergence looks at all of p, not at its peak.",
    ),
    "unweighted": Mistake(_flat, "Those are mean and spread of the grid's places. Each place counts with the probability that p gives it."),
    "around zero": Mistake(
        lambda *case: (_moments(*case)[0], np.hypot(*_moments(*case))),
        "The mean is right. The squares are to be taken around it, not around zero.",
    ),
    "reverse": Mistake(
        lambda theta, log_p: _searched(theta, log_p, 0.0),
        "That is the normal with the smallest KL(q || p). In KL(p || q) the average is under p, so q must be where p is, everywhere.",
    ),
}


def _turned(change):
    return lambda *case: change(_averaged(*case), case[-1])


def _between(change):
    """A divergence that is off for a other than 0 and 1 only."""
    return _turned(lambda d, a: d if a in (0, 1) else change(d, a))


def _exchanged(ends):
    return lambda theta, log_p, mu, sigma, a: _logs(theta, log_p, mu, sigma, a if a in (0, 1) and not ends else 1 - a)


def _unscaled(theta, log_p, mu, sigma, a):
    d, step = _averaged(theta, log_p, mu, sigma, a), theta[1] - theta[0]
    return d / step if a in (0, 1) else ((1 + a * (a - 1) * d) / step - 1) / (a * (a - 1))


def _spread(change):
    return lambda theta, log_p, mu, sigma, a: _logs(theta, log_p, mu, change(sigma), a)


DIVERGENCE_NAMES = {
    "concave": Mistake(
        lambda *case: -_averaged(*case),
        "The sign is turned: yours is never above 0, and lowest where q is worst. That is what a concave f does.",
    ),
    "Renyi": Mistake(
        _between(lambda d, a: np.log1p(a * (a - 1) * d) / (a - 1)),
        "For a other than 0 and 1 that is Renyi's divergence, a function of the same integral. Here no logarithm is taken of it.",
    ),
    "turned round": Mistake(
        _exchanged(ends=True),
        "You have p and q exchanged: a is the exponent of p, and 1 - a that of q.",
    ),
    "limits exchanged": Mistake(
        lambda theta, log_p, mu, sigma, a: _averaged(theta, log_p, mu, sigma, 1 - a if a in (0, 1) else a),
        "Right but for a = 0 and a = 1, which you have exchanged. As a goes to 0, the average is under q alone.",
    ),
    "factor forgotten": Mistake(
        _between(lambda d, a: a * (a - 1) * d),
        "For a other than 0 and 1 the factor 1 / (a (a - 1)) is missing.",
    ),
    "factor's sign": Mistake(
        _between(lambda d, a: -d),
        "For a other than 0 and 1 the sign is turned. The factor is 1 / (a (a - 1)), and between 0 and 1 it is negative.",
    ),
    "one not taken off": Mistake(
        _between(lambda d, a: d + 1 / (a * (a - 1))),
        "For a other than 0 and 1 you did not take 1 off the integral. With q = p a divergence is 0.",
    ),
    "no step": Mistake(_unscaled, "You summed over the grid without its step. A density needs the width of a cell to be a probability."),
    "variance": Mistake(
        _spread(np.sqrt), "Your q has another spread. sigma is its standard deviation, as SciPy's normal wants it: no root, no square."
    ),
}
DIVERGENCE_KIN = {"turned round": [_exchanged(ends=False)], "variance": [_spread(np.square)]}
DIVERGENCE_MISTAKES = with_kin(DIVERGENCE_NAMES, DIVERGENCE_KIN)


def _from(theta, log_p, start, a):
    found = minimize(
        lambda z: _logs(theta, log_p, z[0], np.exp(z[1]), a), start, method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-10}
    )
    return found.x[0], np.exp(found.x[1])


DIP = (
    "You are at the bottom of a dip each time, but not always of the lowest one. For some a there are three, one on each bump and a wide "
    "one: start in all of them, and keep the lowest end."
)
ROUGH = (
    "In the right dip each time, but not within 0.01 of its bottom. Let the search go on, or make its grid finer at the end. Nelder-Mead's "
    "first steps are a twentieth of each number of the start, and tiny where that is 0."
)
OFF = (
    "For some p your normal lies off the grid, or slips between its places. There the sum misses a part of q, so it can be lower than any "
    "divergence. Keep the search on the grid, and sigma above its step."
)
CLOSEST_MISTAKES = {
    "only one dip": Mistake(lambda theta, log_p, a: _from(theta, log_p, (_peaks(theta, log_p)[0], -0.1), a), DIP),
    "forward always": Mistake(
        lambda theta, log_p, a: _moments(theta, log_p), "Those are the moments of p, whatever a is. They belong to a = 1 only."
    ),
    "logarithm": Mistake(
        lambda *case: (_searched(*case)[0], np.log(_searched(*case)[1])),
        "The mean is right. The second number is a logarithm of the standard deviation.",
    ),
    "variance": Mistake(
        lambda *case: (_searched(*case)[0], _searched(*case)[1] ** 2),
        "The mean is right. The second number is a variance, and a standard deviation was asked for.",
    ),
}


def _risk(judge=None, decide=_bayes, less=0.0, spread=lambda sigma: sigma):
    def answer(theta, log_p, fits, loss):
        p, out = np.exp(log_p), []
        for mu, sigma in fits:
            q = norm.pdf(theta, mu, spread(sigma))
            h = decide(theta, q, loss)
            out.append(simpson((p if judge is None else judge(p, q)) * loss[h], x=theta) - less * _sent_by(theta, p, loss))
        return np.array(out)

    return answer


def _sent_by(theta, p, loss):
    return simpson(p * loss[_bayes(theta, p, loss)], x=theta)


RISKS_NAMES = {
    "promised": Mistake(_risk(judge=lambda p, q: q), "Those are the risks that the normals promise. What they decide is paid for under p."),
    "p decides": Mistake(
        lambda theta, log_p, fits, loss: np.full(len(fits), _sent_by(theta, np.exp(log_p), loss)),
        "That is the risk of the best decision on p, for every normal. Each normal is to make its own decision, on its own belief.",
    ),
    "plugged in": Mistake(
        _risk(decide=lambda theta, q, loss: int(np.argmin(loss[:, np.argmax(q)]))),
        "You decided as if the normal's mean were known to be the truth. Average the loss over the whole normal, and then take the lowest.",
    ),
    "excess": Mistake(_risk(less=1.0), "You took off the least possible risk. The risk itself was asked for."),
    "no step": Mistake(
        lambda theta, log_p, fits, loss: _risk()(theta, log_p, fits, loss) / (theta[1] - theta[0]),
        "You summed a density. To be a probability it needs the width of a cell of the grid.",
    ),
    "decisions": Mistake(
        lambda theta, log_p, fits, loss: np.array([_bayes(theta, norm.pdf(theta, *fit), loss) for fit in fits]),
        "Those are the rows of the decisions. What each of them costs under p was asked for.",
    ),
    "variance": Mistake(
        _risk(spread=np.sqrt), "Your normals have other spreads. The second column of `fits` holds standard deviations: no root, no square."
    ),
}
RISKS_MISTAKES = with_kin(RISKS_NAMES, {"variance": [_risk(spread=np.square)]})

FAR = (
    "Right on a short grid. Far out p or q is rounded to 0, and then a ratio or a logarithm of it is lost; a floor does not bring it back. "
    "Stay with logarithms: `log_p` as it is, that of q from `norm.logpdf`, and `np.exp(a * log_p + (1 - a) * log_q)` last."
)
# Steps that are powers of two, so that they are exact in single precision, too.
GRID, FINE, WIDE = np.linspace(-16, 16, 257), np.linspace(-16, 17, 529), np.linspace(-60, 60, 961)


def _two(
    rng: np.random.Generator,
    grid: np.ndarray = GRID,
    apart: Ends = (2.2, 2.8),
    heavy: Ends = (0.6, 0.68),
    sds: Sequence[Ends] = (NEAR, NEAR),
    side: int | None = None,
) -> np.ndarray:
    """The log density of two bumps, the heavy one on either side; the first of ``sds`` is for that one."""
    drawn, share = rng.choice([-1, 1]), rng.uniform(*heavy)
    places = (drawn if side is None else side) * np.array([1.0, -1.0]) * rng.uniform(*apart) + rng.uniform(0.2, 0.5)
    widths = [rng.uniform(*ends) for ends in sds]
    log_p = logsumexp(norm.logpdf(grid[:, None], places, widths), axis=1, b=[share, 1 - share])
    return np.asarray(log_p - np.log((grid[1] - grid[0]) * np.exp(log_p).sum()))


def forward_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 380])
    cases = [(grid, _two(rng, grid)) for grid in (GRID, np.linspace(-14, 12, 131), np.linspace(-10, 15, 501))]
    nudge = "Not that normal. A p with half of its mass at -3 and half at 5, each in a narrow bump, has 1 and, nearly, 4."
    right = "Right. The mean of two bumps may lie where there is nearly nothing, and the forward divergence does not mind."
    verdict = quiet(answer, cases, _moments, FORWARD_MISTAKES, right=right, nudge=nudge, parts=("the mean", "the standard deviation"))
    return settled(verdict, answer, cases, forward_stub, nudge)


def divergence_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 381])
    places = ((0.5, GRID), (0.0, FINE), (1.0, GRID), (2.0, FINE), (0.3, GRID))
    cases = [(grid, _two(rng, grid), float(rng.uniform(-1, 1)), float(rng.uniform(2.2, 3.0)), a) for a, grid in places]
    nudge = "Not that divergence. If p is N(0, 1), mu = 1 and sigma = 1, it is 0.5 for a = 0 and for a = 1, 0.4700 for a = 1/2 and "
    nudge += "0.8591 for a = 2."
    right = "Right: one dial from KL(q || p) at 0 to KL(p || q) at 1 and beyond."
    verdict = quiet(answer, cases, _averaged, DIVERGENCE_MISTAKES, right=right, nudge=nudge)
    spreads = ((2.0, 2.4), (0.0, 2.4), (1.0, 2.4), (0.5, 2.4), (0.0, 0.9), (1.0, 0.9), (0.0, 15.0))
    far = [(WIDE, _two(rng, WIDE), 0.3, sigma, a) for a, sigma in spreads]
    return settled(beyond(verdict, answer, far, _averaged, FAR), answer, cases, divergence_stub, nudge)


def closest_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 382])
    apart, slim, side = (2.6, 3.0), (0.85, 0.92), 1 if rng.uniform() < 0.5 else -1
    fat = _two(rng, apart=apart, heavy=(0.56, 0.58), sds=((1.08, 1.15), (0.72, 0.78)), side=side)  # the light bump is the higher one
    wide, *narrow = (
        _two(rng, apart=(2.8, 3.0), heavy=heavy, sds=(slim, slim), side=one)
        for heavy, one in (((0.58, 0.62), None), ((0.62, 0.68), -side), ((0.62, 0.68), side))
    )  # with three dips: for a = 1/2 the wide one is the lowest, for a = 0.2 that on the heavy bump
    cases = [(GRID, fat, 0.0), (GRID, _two(rng, apart=apart), 1.0), (GRID, wide, 0.5), (GRID, _two(rng, apart=apart), 2.0)]
    cases += [(GRID, log_p, 0.2) for log_p in narrow]
    nudge = "Not that normal. With p = 0.65 N(3, 0.9^2) + 0.35 N(-2.8, 0.8^2) it is (2.9975, 0.9045) for a = 0, (1.0454, 2.7783) for "
    nudge += "a = 1/2 and (0.97, 2.8989) for a = 1."
    right = "Right, from the heavier bump alone to a wide normal over both. None of them has two bumps."
    parts = ("the mean", "the standard deviation")
    verdict = quiet(answer, cases, _searched, CLOSEST_MISTAKES, right=right, nudge=nudge, parts=parts, rtol=5e-3)
    if not verdict.passed and verdict.message.endswith(nudge):
        verdict = _dips(verdict, answer, cases, nudge)
    return settled(verdict, answer, cases, closest_stub, nudge)


def _dips(verdict: Verdict, answer: Any, cases: Sequence[tuple[Any, ...]], nudge: str) -> Verdict:
    """The verdict on a search that stops too early, or at the bottom of a dip that is not the lowest."""
    want = [_searched(*case) for case in cases]
    got = [_pair(read(call(answer, *case), numbers(end))) for case, end in zip(cases, want, strict=True)]
    if any(_misses(theta, *end) for (theta, *_), end in zip(cases, got, strict=True)):
        return Verdict(False, OFF)
    down = [_descent(case, end) for case, end in zip(cases, got, strict=True)]
    both_off = verdict.message == nudge
    if _apart(down, want) < 0.02 and (both_off or _apart(got, want) < 0.1):
        return Verdict(False, ROUGH)
    return Verdict(False, DIP) if _apart(down, got) < 0.02 else verdict


def _misses(theta: np.ndarray, mu: float, sigma: float) -> bool:
    """Whether the sum over the grid misses a part of this normal, or counts one twice."""
    return sigma > 0 and bool(abs((theta[1] - theta[0]) * norm.pdf(theta, mu, sigma).sum() - 1) > 0.01)


def _pair(parts: tuple[np.ndarray, ...]) -> Ends:
    mu, sigma = parts
    return float(mu), float(sigma)


def _apart(one: Sequence[Ends], other: Sequence[Ends]) -> float:
    return float(np.abs(np.subtract(one, other)).max())


def _descent(case: tuple[Any, ...], start: Ends) -> Ends:
    """Where a descent in small steps ends that starts from this normal."""
    (theta, log_p, a), (mu, sigma) = case, start
    if sigma <= 0:
        return np.nan, np.nan
    corners = {"initial_simplex": np.array([mu, np.log(sigma)]) + 0.01 * np.array([[0, 0], [1, 0], [0, 1]])}
    found = minimize(
        lambda z: _logs(theta, log_p, z[0], np.exp(z[1]), a), corners["initial_simplex"][0], method="Nelder-Mead", options=corners
    )
    return float(found.x[0]), float(np.exp(found.x[1]))


def _losses(rng: np.random.Generator, grid: np.ndarray) -> list[np.ndarray]:
    """A distance that is dearer on one side, and a place to be near, by a bell without a corner: sums then agree on any grid."""
    h = np.linspace(-6, 6, 25)[:, None] + rng.uniform(-0.1, 0.1)
    steep = rng.uniform(2, 4)
    return [np.where(grid > h, steep * (grid - h), h - grid) + 0.5, 3 - 3 * np.exp(-0.5 * (grid - h) ** 2) + 0.02 * abs(h - 1)]


def risks_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 383])
    cases = []
    for grid in (GRID, np.linspace(-15, 16, 621)):
        for loss in _losses(rng, grid):
            log_p = _two(rng, grid)
            centre, wide = _moments(grid, log_p)
            fits = np.array([[centre, wide], [_peaks(grid, log_p)[-1], 0.9], [centre + rng.uniform(0.8, 1.2), 1.4]])
            cases.append((grid, log_p, fits, loss))
    nudge = "Not those risks. With p = N(0, 1) and two decisions, one that loses 1 where theta < 1 and one that loses 0.1 everywhere, the "
    nudge += "normals (1.5, 0.5) and (3, 1) have the risks 0.1 and 0.8413."
    right = "Right. A belief is paid for by what it makes you do, and that depends on the loss."
    verdict = quiet(answer, cases, _sent, RISKS_MISTAKES, right=right, nudge=nudge, rtol=1e-3)
    return settled(verdict, answer, cases, risks_stub, nudge)


TASKS = (
    Task(
        "vi/two-bumps/forward",
        "One bump for two: the forward divergence",
        1,
        6,
        forward_stub,
        (
            "Write KL(p || q) with q's log density. It has mu and sigma in it only through averages of theta and of its square under p.",
            "mu = E_p theta and sigma^2 = E_p (theta - mu)^2, with E_p f = step * sum of p(theta_g) f(theta_g).",
            "Begin with `weight = np.exp(log_p) * (theta[1] - theta[0])`",
        ),
        FORWARD_MISTAKES,
        forward_verdict,
    ),
    Task(
        "vi/two-bumps/divergence",
        "One bump for two: the dial",
        1,
        14,
        divergence_stub,
        (
            "All three forms are sums over the grid, times its step. Two of them are averages of a log ratio, under q or under p.",
            "Step times sum of q (log q - log p) for 0, p (log p - log q) for 1, else of p^a q^(1 - a), less 1, over a (a - 1).",
            "Begin with `log_q, step = norm.logpdf(theta, mu, sigma), theta[1] - theta[0]`",
        ),
        DIVERGENCE_NAMES,
        divergence_verdict,
    ),
    Task(
        "vi/two-bumps/closest",
        "One bump for two: the closest normal",
        1,
        15,
        closest_stub,
        (
            "Let `scipy.optimize.minimize` go downhill in mu and log sigma. It stops in the first dip, so send it off more than once.",
            "From each start (mu, log sigma), minimise D_a(mu, exp(log sigma)); of the ends keep the one with the smallest D_a.",
            "Begin with `aim = lambda z: divergence(theta, log_p, z[0], np.exp(z[1]), a)`",
        ),
        CLOSEST_MISTAKES,
        closest_verdict,
    ),
    Task(
        "vi/two-bumps/risks",
        "One bump for two: which one for this loss",
        1,
        10,
        risks_stub,
        (
            "Two averages for each normal: one under the normal, to see what it decides, and one under p, to see what that costs.",
            "h = argmin over h of sum of q(theta_g) loss[h, g]; its risk is step * sum of p(theta_g) loss[h, g].",
            "For each pair mu, sigma in fits begin with `expected = loss @ norm.pdf(theta, mu, sigma)`",
        ),
        RISKS_NAMES,
        risks_verdict,
    ),
)
