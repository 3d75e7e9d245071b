"""One bump for two. Roads: densities on a finer grid through a spline; a search over a grid of normals; decisions one by one."""

import numpy as np
from scipy.integrate import simpson
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp
from scipy.stats import norm

from course_pkg.checks.record import Record

# Steps that are powers of two, so that they are exact in single precision, too.
GRID, FINE, WIDE = np.linspace(-16, 16, 257), np.linspace(-16, 17, 529), np.linspace(-60, 60, 961)


def finer(theta, log_p):
    fine = np.linspace(theta[0], theta[-1], 8 * (len(theta) - 1) + 1)
    return fine, CubicSpline(theta, log_p)(fine)


def moments(theta, log_p):
    """A cumulant function, and its first two derivatives at 0 by finite differences."""
    fine, log_fine = finer(theta, log_p)
    low, middle, high = (np.log(simpson(np.exp(log_fine + s * fine), x=fine)) for s in (-1e-3, 0, 1e-3))
    return (high - low) / 2e-3, np.sqrt((high - 2 * middle + low) / 1e-6)


def averaged(theta, log_p, mu, sigma, a):
    """The average under q of f(p / q), with a tangent so that f is never below zero."""
    fine, log_fine = finer(theta, log_p)
    log_q = norm.logpdf(fine, mu, sigma)
    seen = log_q > -650  # elsewhere nothing is added, and doubles end
    log_t = np.where(seen, log_fine - log_q, 0.0)
    t = np.exp(log_t)
    f = t - 1 - log_t if a == 0 else t * log_t - t + 1 if a == 1 else (t**a - 1 - a * (t - 1)) / (a * (a - 1))
    return simpson(np.where(seen, np.exp(log_q) * f, 0.0), x=fine)


def of_many(theta, log_p, mu, sigma, a):
    """The divergence of many normals at once, along the last axis."""
    log_q, step = norm.logpdf(theta, np.asarray(mu)[..., None], np.asarray(sigma)[..., None]), theta[1] - theta[0]
    if a in (0, 1):
        return step * (np.exp(log_p if a == 1 else log_q) * (2 * a - 1) * (log_p - log_q)).sum(-1)
    return (step * np.exp(a * log_p + (1 - a) * log_q).sum(-1) - 1) / (a * (a - 1))


def searched(theta, log_p, a):
    """The lowest of a grid of normals, and then of finer ones around it."""
    mu, log_sigma, reach = 0.0, np.log(2.0), np.array([6.0, 1.5])
    for side in (49, *[9] * 8):
        m, s = np.meshgrid(mu + reach[0] * np.linspace(-1, 1, side), log_sigma + reach[1] * np.linspace(-1, 1, side), indexing="ij")
        best = np.unravel_index(np.nanargmin(of_many(theta, log_p, m, np.exp(s), a)), m.shape)
        mu, log_sigma, reach = m[best], s[best], reach * (0.1 if side == 49 else 0.4)
    return mu, np.exp(log_sigma)


def sent(theta, log_p, fits, loss):
    """One belief after the other: what it decides, and what that costs."""
    out = []
    for fit in fits:
        expected = [simpson(norm.pdf(theta, *fit) * row, x=theta) for row in loss]
        out.append(simpson(np.exp(log_p) * loss[np.argmin(expected)], x=theta))
    return np.array(out)


def bumps(rng, grid=GRID, apart=(2.2, 2.8), heavy=(0.6, 0.68), sds=((0.85, 1.1), (0.85, 1.1)), side=None):
    """The log density of two bumps, the heavy one on either side; the first of ``sds`` is for that one."""
    drawn, share = rng.choice([-1, 1]), rng.uniform(*heavy)
    places = (side or drawn) * np.array([1.0, -1.0]) * rng.uniform(*apart) + rng.uniform(0.2, 0.5)
    log_p = logsumexp(norm.logpdf(grid[:, None], places, [rng.uniform(*ends) for ends in sds]), axis=1, b=[share, 1 - share])
    return log_p - np.log((grid[1] - grid[0]) * np.exp(log_p).sum())


def dials(rng):
    for a, grid in ((0.5, GRID), (2.0, FINE), (0.3, GRID)):
        yield grid, bumps(rng, grid), rng.uniform(-1, 1), rng.uniform(2.2, 3.0), a


def dial_ends(rng):
    for a, grid in ((0.0, FINE), (1.0, GRID)):
        yield grid, bumps(rng, grid), rng.uniform(-1, 1), rng.uniform(2.2, 3.0), a


def far_out(rng):
    for a, sigma in ((2.0, 2.4), (0.0, 2.4), (1.0, 2.4), (0.5, 2.4), (0.0, 0.9), (1.0, 0.9), (0.5, 0.9), (0.0, 15.0)):
        yield WIDE, bumps(rng, WIDE), 0.3, sigma, a


def dips(rng):
    """With the closest normals, as they take time to find."""
    side, slim = rng.choice([-1, 1]), ((0.85, 0.92), (0.85, 0.92))
    for a, drawn in (
        (0.0, {"apart": (2.6, 3.0), "heavy": (0.56, 0.58), "sds": ((1.08, 1.15), (0.72, 0.78)), "side": side}),  # the light bump is higher
        (1.0, {"apart": (2.6, 3.0)}),
        (2.0, {"apart": (2.6, 3.0)}),
        # with three dips: for a = 1/2 the wide one is the lowest, for a = 0.2 that on the heavy bump
        (0.5, {"apart": (2.95, 3.05), "heavy": (0.6, 0.62), "sds": slim}),
        (0.2, {"apart": (2.8, 3.0), "heavy": (0.62, 0.68), "sds": slim, "side": -side}),
        (0.2, {"apart": (2.8, 3.0), "heavy": (0.62, 0.68), "sds": slim, "side": side}),
    ):
        log_p = bumps(rng, **drawn)
        yield GRID, log_p, a, searched(GRID, log_p, a)


def choices(rng):
    """A distance that is dearer on one side, and a place to be near, by a bell without a corner: sums then agree on any grid."""
    for grid in (GRID, np.linspace(-15, 16, 621)):
        h, steep = np.linspace(-6, 6, 25)[:, None] + rng.uniform(-0.1, 0.1), rng.uniform(2, 4)
        dear = np.where(grid > h, steep * (grid - h), h - grid) + 0.5
        for loss in (dear, 3 - 3 * np.exp(-0.5 * (grid - h) ** 2) + 0.02 * abs(h - 1)):
            log_p = bumps(rng, grid)
            centre, wide = moments(grid, log_p)
            yield grid, log_p, np.array([[centre, wide], [grid[log_p.argmax()], 0.9], [centre + rng.uniform(0.8, 1.2), 1.4]]), loss


PARTS = ("the mean", "the standard deviation")
FORWARD = Record(
    cases=lambda rng: [(grid, bumps(rng, grid)) for grid in (GRID, np.linspace(-14, 12, 131), np.linspace(-10, 15, 501))],
    reference=moments,
    right="Right. The mean of two bumps may lie where there is nearly nothing, and the forward divergence does not mind.",
    nudge="Not that normal. A p with half of its mass at -3 and half at 5, each in a narrow bump, has 1 and, nearly, 4.",
    hints=(
        "Write KL(p || q) with q's log density. It has mu and sigma in it only through averages of theta and of its square under p.",
        "mu = E_p theta and sigma^2 = E_p (theta - mu)^2, with E_p f = step * sum of p(theta_g) f(theta_g).",
        "Begin with `weight = np.exp(log_p) * (theta[1] - theta[0])`",
    ),
    mistakes={
        "Those are mean and spread of the grid's places. Each place counts with the probability that p gives it.": "\nreturn theta.mean(), theta.std()",
        "The mean is right. The squares are to be taken around it, not around zero.": "theta - mu -> theta",
        "That is the smallest KL(q || p). In KL(p || q) q must be where p is, everywhere.": lambda theta, log_p: searched(theta, log_p, 0),
    },
    parts=PARTS,
)
DIVERGENCE = Record(
    cases=dials,
    reference=averaged,
    right="Right: one dial from KL(q || p) at 0 to KL(p || q) at 1 and beyond.",
    nudge="Not that divergence. If p is N(0, 1), mu = 1 and sigma = 1, it is 0.5 for a = 0 and for a = 1, 0.4700 for a = 1/2 and 0.8591 for a = 2.",
    hints=(
        "All three forms are sums over the grid, times its step. Two of them are averages of a log ratio, under q or under p.",
        "Step times sum of q (log q - log p) for 0, p (log p - log q) for 1, else of p^a q^(1 - a), less 1, over a (a - 1).",
        "Begin with `log_q, step = norm.logpdf(theta, mu, sigma), theta[1] - theta[0]`",
    ),
    mistakes={
        "For a other than 0 and 1 that is Renyi's divergence. Here no logarithm is taken.": "(integral - 1) / (a * (a - 1)) -> np.log(integral) / (a - 1)",
        "You have p and q exchanged: a is the exponent of p, and 1 - a that of q.": "log_q, step = -> a = 1 - a\nlog_q, step = || integral = -> a = 1 - a\nintegral =",
        "For a other than 0 and 1 the factor 1 / (a (a - 1)) is missing.": "/ (a * (a - 1)) -> ",
        "For a other than 0 and 1 you did not take 1 off the integral. With q = p a divergence is 0.": "integral - 1 -> integral",
        "You summed over the grid without its step. A density needs the width of a cell to be a probability.": "step * -> ",
    },
    later={
        "Right but for a = 0 and a = 1. There the formula is 0 / 0, and its limit is wanted: as a goes to 0, an average under q alone.": (
            dial_ends,
            "a == 0 -> False ;; a == 1 -> False || a == 0 -> a == 1.0 ;; a == 1: -> a == 0:",
        ),
        "Right on a short grid. Far out p or q is rounded to 0, and then a ratio or a logarithm of it is lost; a floor does not bring it back. "
        "Stay with logarithms: `log_p` as it is, that of q from `norm.logpdf`, and `np.exp(a * log_p + (1 - a) * log_q)` last.": (
            far_out,
            "(log_q - log_p) -> np.log(np.exp(log_q) / np.exp(log_p)) ;; (log_p - log_q) -> np.log(np.exp(log_p) / np.exp(log_q))",
        ),
    },
)
STARTS = "[-3, 0.1], [0.1, 1], [3, 0.1] -> "
CLOSEST = Record(
    cases=dips,
    reference=lambda theta, log_p, a, closest: closest,
    view=lambda answer, theta, log_p, a, closest: answer(theta, log_p, a),
    rtol=5e-3,
    right="Right, from the heavier bump alone to a wide normal over both. None of them has two bumps.",
    nudge="Not that normal. With p = 0.65 N(3, 0.9^2) + 0.35 N(-2.8, 0.8^2) it is (2.9975, 0.9045) for a = 0, (1.0454, 2.7783) for a = 1/2 and "
    "(0.97, 2.8989) for a = 1. There may be a dip on each bump and a wide one: start in all of them, let each search go on to the bottom, and "
    "keep the lowest end that lies on the grid.",
    hints=(
        "Let `scipy.optimize.minimize` go downhill in mu and log sigma. It stops in the first dip, so send it off more than once.",
        "From each start (mu, log sigma), minimise D_a(mu, exp(log sigma)); of the ends keep the one with the smallest D_a.",
        "Begin with `aim = lambda z: divergence(theta, log_p, z[0], np.exp(z[1]), a)`",
    ),
    mistakes={
        "You are at the bottom of a dip each time, but not always of the lowest one. For some a there are three, one on each bump and a wide "
        "one: start in all of them, and keep the lowest end.": f"{STARTS}[-3, 0.1], [3, 0.1], || {STARTS}[0.1, 1], [3, 0.1], || {STARTS}[-3, 0.1], [0.1, 1], || {STARTS}[3, 0.1], || {STARTS}[-3, 0.1], || {STARTS}[0.1, 1], || min(ends -> max(ends",
        "Those are the moments of p, whatever a is. They belong to a = 1 only.": """
            p = np.exp(log_p) / np.exp(log_p).sum()
            return p @ theta, np.sqrt(p @ (theta - p @ theta) ** 2)
            """,
    },
    parts=PARTS,
)
RISKS = Record(
    cases=choices,
    reference=sent,
    right="Right. A belief is paid for by what it makes you do, and that depends on the loss.",
    nudge="Not those risks. With p = N(0, 1) and two decisions, one that loses 1 where theta < 1 and one that loses 0.1 everywhere, the normals "
    "(1.5, 0.5) and (3, 1) have the risks 0.1 and 0.8413.",
    hints=(
        "Two averages for each normal: one under the normal, to see what it decides, and one under p, to see what that costs.",
        "h = argmin over h of sum of q(theta_g) loss[h, g]; its risk is step * sum of p(theta_g) loss[h, g].",
        "For each pair mu, sigma in fits begin with `expected = loss @ norm.pdf(theta, mu, sigma)`",
    ),
    mistakes={
        "Those are the risks that the normals promise. What they decide is paid for under p.": "p * loss[h] -> norm.pdf(theta, mu, sigma) * loss[h]",
        "That is the risk of the best decision on p, for every normal. Each normal is to make its own decision, on its own belief.": "norm.pdf(theta, mu, sigma) -> p",
        "You decided as if the normal's mean were the truth. Average the loss over the normal.": "loss @ norm.pdf(theta, mu, sigma) -> loss[:, abs(theta - mu).argmin()]",
        "Your normals have other spreads: no root, no square.": "mu, sigma)) -> mu, np.sqrt(sigma))) || mu, sigma)) -> mu, sigma**2))",
        "You summed a density. To be a probability it needs the width of a cell of the grid.": "step * -> ",
    },
    rtol=1e-3,
)
TASKS = {"forward": FORWARD, "divergence": DIVERGENCE, "closest": CLOSEST, "risks": RISKS}
