"""The computations behind the errata of the chapter on Monte Carlo and Markov chains.

One function per item, named after it: ``N03`` is computed by ``n03``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.

Importance sampling is tried on a standard normal target with draws from ``N(0, WIDE^2)``, whose weights are bounded;
Hamiltonian Monte Carlo on the same target, with one leapfrog step a path, where its long-run law is known.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
Figures = dict[str, float]

WIDE = 1.4


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def normal(x, sd: float = 1.0):
    """Log density."""
    return -0.5 * (x / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def integral(f: Callable[[Array], Array], cut: float = 30.0) -> float:
    """Over the line by the trapezium rule, exact to rounding for smooth functions that vanish towards the ends."""
    x = np.linspace(-cut, cut, 40_001)
    return float(np.trapezoid(f(x), x))


def weighted_draws(seed: int, *shape: int) -> tuple[Array, Array]:
    """Draws from the wide normal and the ratios of the target to it."""
    x = WIDE * np.random.default_rng(seed).normal(size=shape)
    return x, np.exp(normal(x) - normal(x, WIDE))


def left_null(P: Array) -> Array:
    """The long-run law of a finite chain."""
    system = P.T - np.eye(len(P))
    system[-1] = 1
    return np.linalg.solve(system, np.eye(len(P))[-1])


def total_variation(p: Array, q: Array) -> float:
    return float(abs(p - q).sum() / 2)


# ---- integrals by dice ----


def n15() -> Figures:
    """The integral of exp(x_1 + ... + x_d) over the unit cube: on a grid its error follows from the one of an axis."""

    def left(n: int) -> tuple[int, float]:
        return n, np.exp(np.arange(n) / n).mean()

    def midpoint(n: int) -> tuple[int, float]:
        return n, np.exp((np.arange(n) + 0.5) / n).mean()

    def simpson(n: int) -> tuple[int, float]:
        weights = np.array([1.0, *[4.0, 2.0] * (n // 2 - 1), 4.0, 1.0])
        return n + 1, weights @ np.exp(np.linspace(0.0, 1.0, n + 1)) / (3 * n)

    def error(rule: Callable, n: int, d: int) -> tuple[float, float]:
        """Nodes on the whole grid, and the error there."""
        nodes, mean = rule(n)
        return float(nodes) ** d, abs((np.e - 1) ** d - mean**d)

    found = {}
    for rule in (left, midpoint, simpson):
        for d in (1, 2, 3):
            coarse, fine = error(rule, 64, d), error(rule, 256, d)
            found[f"slope_{rule.__name__}_{d}"] = np.log(fine[1] / coarse[1]) / np.log(fine[0] / coarse[0])
            printed = [e / (np.sqrt(d) * nodes ** (-1 / d)) for nodes, e in (coarse, fine)]
            found[f"ratio_{rule.__name__}_{d}"] = printed[0] / printed[1]
    # The worst integrand with Lipschitz constant 1 is the distance to the nearest node; its mean over a cell of side 1.
    nodes, weights = np.polynomial.legendre.leggauss(60)
    nodes, weights = (nodes + 1) / 4, weights / 2
    squares = nodes**2
    means = {
        1: weights @ nodes,
        2: weights @ np.sqrt(np.add.outer(squares, squares)) @ weights,
        3: np.einsum("i,j,k,ijk", weights, weights, weights, np.sqrt(np.add.outer(np.add.outer(squares, squares), squares))),
    }
    return found | {f"worst_{d}": mean / np.sqrt(d) for d, mean in means.items()} | {"worst_limit": 1 / np.sqrt(12)}


def nr8() -> Figures:
    """Frequencies of a coin that shows 0 with a small chance; all probabilities are binomial."""

    def tails(chance: float, size: int, alpha: float) -> tuple[float, float]:
        """One tail and both: the mean is below its expectation by so much, or off by so much."""
        zeros = np.arange(size + 1)
        off = zeros / size - chance  # expectation less mean
        far = alpha * np.sqrt(chance * (1 - chance) / size) * (1 - 1e-12)
        law = stats.binom.pmf(zeros, size, chance)
        return float(law[off >= far].sum()), float(law[abs(off) >= far].sum())

    found = {}
    extreme = 1 / (1 + 1.5**2)
    found["one"], found["both"] = tails(extreme, 1, 1.5)
    found["typical"], found["typical_both"] = tails(0.3, 100, 1.5)
    scan = [
        (a, *tails(chance, size, a))
        for a in (0.5, 1.0, 1.5, 2.0, 3.0)
        for size in (1, 2, 5, 20, 100)
        for chance in (0.02, 0.1, 1 / (1 + a**2), 0.5, 0.7, 0.98)
    ]
    return found | {
        "bound": 1 / 1.5**2,
        "half": 0.5 / 1.5**2,
        "cantelli": extreme,
        "scan_printed": max(one * a**2 for a, one, _ in scan),
        "scan_both": max(both * a**2 for a, _, both in scan),
        "scan_cantelli": max(one * (1 + a**2) for a, one, _ in scan),
        "scan_half": max(2 * one * a**2 for a, one, _ in scan),
    }


# ---- importance sampling ----


def n03(seed: int) -> Figures:
    size = 50
    x, ratio = weighted_draws(seed, 8_000, size)
    printed = (ratio * x**2).sum(axis=1)
    right = (ratio / size * x**2).sum(axis=1)
    return {
        "printed": printed.mean(),
        "right": right.mean(),
        "weights_printed": ratio.sum(axis=1).mean(),
        "weights_right": (ratio / size).sum(axis=1).mean(),
        "z_printed": z_score(printed, 1.0),
        "z_times": z_score(printed, size),
        "z_right": z_score(right, 1.0),
        "z_weights": z_score((ratio / size).sum(axis=1), 1.0),
    }


def n04(seed: int) -> Figures:
    x, ratio = weighted_draws(seed, 200_000)
    ratio = 3 * ratio  # the target's constant is not known
    f = np.exp(-(x**2))
    bare = integral(lambda t: np.exp(-(t**2)))
    limit = integral(lambda t: np.exp(-(t**2) + normal(t)))
    return {
        "estimate": (ratio @ f) / ratio.sum(),
        "printed": bare,
        "right": limit,
        "z_printed": z_score(ratio * (f - bare), 0.0),  # the ratio of means is right where this mean is zero
        "z_right": z_score(ratio * (f - limit), 0.0),
        "one": (ratio @ np.ones_like(f)) / ratio.sum(),
    }


def n05(seed: int) -> Figures:
    size, shift = 400, 2.0

    def second(f: Callable[[Array], Array]) -> float:
        return integral(lambda t: np.exp(2 * normal(t) - normal(t, WIDE)) * f(t) ** 2)

    x, ratio = weighted_draws(seed, 8_000, size)
    estimates = (ratio * (x + shift)).sum(axis=1) / ratio.sum(axis=1)
    spread = size * (estimates - shift) ** 2
    formula, unnormalised = second(lambda t: t), second(lambda t: t + shift) - shift**2

    def covered(variance) -> float:
        return float((abs(estimates - shift) < 1.96 * np.sqrt(variance / size)).mean())

    estimated = size * ((ratio * (x + shift - estimates[:, None])) ** 2).sum(axis=1) / ratio.sum(axis=1) ** 2
    return {
        "found": spread.mean(),
        "formula": formula,
        "unnormalised": unnormalised,
        "z_formula": z_score(spread, formula),
        "z_unnormalised": z_score(spread, unnormalised),
        "z_plain": z_score(spread, 1.0),  # the variance of f under the target
        "covered": covered(formula),
        "covered_estimated": covered(estimated),
        "covered_unnormalised": covered(unnormalised),
    }


def nr3() -> Figures:
    """Variance for the first coordinate in d dimensions, from integrals over one of them."""

    def moments(sd: float, cut: float = 30.0) -> tuple[float, float]:
        """Of the squared target over the proposal: the integral, and that of the squared coordinate."""

        def squared(x):
            return np.exp(2 * normal(x) - normal(x, sd))

        return integral(squared, cut), integral(lambda x: x**2 * squared(x), cut)

    sd = np.sqrt(1.5)
    one, first = moments(sd)

    def log_variance(d: int, differing: int) -> float:
        return float(np.log(first) + (differing - 1) * np.log(one))  # the other directions contribute log 1

    every = {d: log_variance(d, d) for d in (1, 5, 20, 50, 100, 200)}
    narrow = [moments(0.65, cut)[1] for cut in (6.0, 9.0, 12.0)]
    return {
        **{f"log_{d}": value for d, value in every.items()},
        "slope": (every[200] - every[100]) / 100,
        "theory": np.log(1.5 / np.sqrt(2 * 1.5 - 1)),
        "first_theory": np.log(1.5 / np.sqrt(2 * 1.5 - 1)) - np.log(2 - 1 / 1.5),
        "doubled": np.exp(every[200] - every[100]),
        "log_one_direction": log_variance(200, 1),
        "growth_narrow": min(b / a for a, b in pairwise(narrow)),
        "growth_wide": moments(sd, 12.0)[1] / moments(sd, 9.0)[1],
    }


# ---- Metropolis-Hastings ----


def tr1() -> Figures:
    """Chains on six states with a target and a proposal drawn at random."""
    printed, inverted, dropped = [], [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        target = rng.dirichlet(np.ones(6))
        unnormalised = 7 * target
        proposal = rng.dirichlet(np.full(6, 0.7), size=6) + 0.01
        proposal /= proposal.sum(axis=1, keepdims=True)
        there, back = proposal, proposal.T  # q(new | old) and q(old | new), rows are old
        old, new = unnormalised[:, None], unnormalised[None, :]

        def law(ratio: Array, proposal: Array = proposal) -> Array:
            P = proposal * np.minimum(1, ratio)
            np.fill_diagonal(P, 0)
            np.fill_diagonal(P, 1 - P.sum(axis=1))
            return left_null(P)

        for off, ratio in (
            (printed, (new / there) / (old / back)),
            (inverted, (new * there) / (old * back)),
            (dropped, new / old),
        ):
            off.append(total_variation(law(ratio), target))
    return {
        "printed": max(printed),
        "inverted_least": min(inverted),
        "inverted_most": max(inverted),
        "dropped_least": min(dropped),
        "dropped_most": max(dropped),
    }


def nr2(seed: int) -> Figures:
    """A walk on five steps of a stair, reflected at both ends: after an even number of steps it stands on an even one."""
    up, chains, steps = 0.8, 2_000, 1_000
    P = np.zeros((5, 5))
    P[0, 1] = P[4, 3] = 1
    for i in (1, 2, 3):
        P[i, i + 1], P[i, i - 1] = up, 1 - up
    law = left_null(P)
    f = np.arange(5.0)
    limit = float(law @ f)
    mean, expected = np.eye(5)[0], 0.0
    for _ in range(steps):
        mean = mean @ P
        expected += mean @ f / steps
    rng = np.random.default_rng(seed)
    x, total = np.zeros(chains, dtype=int), np.zeros((2, chains))
    for t in range(steps):
        rises = rng.uniform(size=chains) < up
        before = x
        x = np.where(x == 0, 1, np.where(x == 4, 3, x + 2 * rises - 1))
        total += np.stack([x * (t < steps // 16), x])
    short, averages = total[0] / (steps // 16), total[1] / steps
    return {
        "limit": limit,
        "expected": expected,
        "z_average": z_score(averages, expected),
        "rms": float(np.sqrt(((averages - limit) ** 2).mean())),
        "rms_ratio": float(np.sqrt(((short - limit) ** 2).mean() / ((averages - limit) ** 2).mean())),
        "worst": float(abs(averages - limit).max()),
        "even": mean @ f,
        "odd": mean @ P @ f,
        "z_even": z_score(x.astype(float), limit),
        "z_odd": z_score(before.astype(float), limit),
        "distance": min(total_variation(mean, law), total_variation(mean @ P, law)),
    }


# ---- Hamiltonian Monte Carlo ----


def leapfrog(slope: Callable, q, p, h: float, steps: int = 1, inverse_mass=1.0, sign: float = 1.0):
    """As printed; ``sign`` turns the two half kicks round."""
    for _ in range(steps):
        half = p + sign * h / 2 * slope(q)
        q = q + h * inverse_mass * half
        p = half + sign * h / 2 * slope(q)
    return q, p


def log_bent(q):
    """Log density of three coordinates, two of them coupled; not normal and unnormalised."""
    return -2 * np.log(np.cosh(q)).sum(axis=-1) - 0.3 * (q[..., 0] - q[..., 1]) ** 2 + 0.5 * q[..., 2]


def bent_slope(q):
    pull = 0.6 * (q[..., 0] - q[..., 1])
    return -2 * np.tanh(q) + np.stack([-pull, pull, np.full(q.shape[:-1], 0.5)], axis=-1)


def jacobian(f: Callable[[Array], Array], x: Array, step: float = 1e-5) -> Array:
    """Derivatives of a map of points ``(..., d)`` by central differences; the last axis is the argument's."""
    nudges = step * np.eye(x.shape[-1])
    return np.stack([(f(x + n) - f(x - n)) / (2 * step) for n in nudges], axis=-1)


def n06() -> Figures:
    mass = 2.0
    q, p = np.linspace(-12, 12, 601)[:, None], np.linspace(-16, 16, 801)[None, :]
    target = 0.3 * np.exp(normal(q + 2)) + 0.7 * np.exp(normal(q - 1, 0.5))
    right = target * np.exp(normal(p, np.sqrt(mass)))
    printed = right / 2

    def whole(f: Array) -> float:
        return float(np.trapezoid(np.trapezoid(f, p[0]), q[:, 0]))

    def marginal(f: Array) -> Array:
        return np.trapezoid(f, p[0])

    return {
        "printed": whole(printed),
        "right": whole(right),
        "marginal_printed": total_variation(marginal(printed), target[:, 0]) / total_variation(0 * target[:, 0], target[:, 0]),
        "marginal_right": total_variation(marginal(right), target[:, 0]) / total_variation(0 * target[:, 0], target[:, 0]),
        "ratio_off": float(abs(printed[320, 410] / printed[250, 380] / (right[320, 410] / right[250, 380]) - 1)),
    }


def n07(seed: int) -> Figures:
    h, chains, steps = 1.2, 40_000, 60
    wider = 1 / (1 - h**2 / 4)

    def roll(q, p):
        return leapfrog(np.negative, q, p, h)

    def log_joint(q, p):
        return normal(q) + normal(p)

    # Each rule as the logarithm of its acceptance, from the log densities before and after.
    rules = {
        "right": lambda before, after: after - before,
        "printed": lambda before, after: -before - after,  # with H = log density, as in the notes
        "energy": lambda before, after: before + after,  # with H = minus the log density
        "scaled": lambda before, after: -before - after - 2 * np.log(100),  # as printed; the target known up to a factor
    }
    # One step, by quadrature over the position and the kick.
    grid = np.linspace(-12, 12, 801)
    q, p = grid[:, None], grid[None, :]
    q_new, p_new = roll(q, p)
    before, after = log_joint(q, p), log_joint(q_new, p_new)

    def one_step(rule: str, sd: float = 1.0) -> tuple[float, float]:
        """Acceptance and change of the variance, from a normal position."""
        start = np.exp(normal(q, sd) + normal(p))
        taken = start * np.exp(np.minimum(0, rules[rule](before, after)))
        cell = (grid[1] - grid[0]) ** 2
        return float(taken.sum() * cell), float((taken * (q_new**2 - q**2)).sum() * cell)

    # In the long run, by simulation: each chain starts from the law in which the other one should end.
    rng = np.random.default_rng(seed)
    x = {"right": np.sqrt(wider) * rng.normal(size=chains), "printed": rng.normal(size=chains)}
    for _ in range(steps):
        for rule, at in x.items():
            kick = rng.normal(size=chains)
            there, speed = roll(at, kick)
            log_alpha = rules[rule](log_joint(at, kick), log_joint(there, speed))
            x[rule] = np.where(np.log1p(-rng.uniform(size=chains)) < log_alpha, there, at)
    return {
        "theory": wider,
        "variance_right": (x["right"] ** 2).mean(),
        "variance_printed": (x["printed"] ** 2).mean(),
        "z_right": z_score(x["right"] ** 2, 1.0),
        "z_printed": z_score(x["printed"] ** 2, 1.0),
        "z_wider": z_score(x["printed"] ** 2, wider),
        **{f"accept_{rule}": one_step(rule)[0] for rule in rules},
        **{f"change_{rule}": one_step(rule)[1] for rule in rules},
        **{f"change_wider_{rule}": one_step(rule, np.sqrt(wider))[1] for rule in rules},
    }


def nr1() -> Figures:
    """A ring of nine places with a direction: S turns it round, Phi goes on one place. Targets are drawn at random."""
    n = 9
    places = np.arange(n)
    off = {(refused, kept): [] for refused in ("flip", "stay") for kept in (1.0, 0.9, 0.5)}
    for seed in range(5):
        target = np.random.default_rng(seed).dirichlet(np.ones(n)) + 0.01
        target /= target.sum()
        eta = np.concatenate([target, target]) / 2  # forwards first
        on = np.concatenate([(places + 1) % n, (places - 1) % n + n])  # Phi
        turned = np.concatenate([places + n, places])  # S
        assert (turned[on[turned[on]]] == np.arange(2 * n)).all()  # S Phi S is the inverse of Phi
        alpha = np.minimum(1, eta[on] / eta)
        for refused, to in (("flip", turned), ("stay", np.arange(2 * n))):
            P = np.zeros((2 * n, 2 * n))
            np.add.at(P, (np.arange(2 * n), on), alpha)
            np.add.at(P, (np.arange(2 * n), to), 1 - alpha)
            for kept in (1.0, 0.9, 0.5):
                R = kept * np.eye(2 * n) + (1 - kept) * np.eye(2 * n)[turned]
                law = eta @ P if kept == 1 else left_null(P @ R)
                off[refused, kept].append(total_variation(law, eta))
    return {
        "flip": max(off["flip", 1.0]),
        "stay_least": min(off["stay", 1.0]),
        "stay_most": max(off["stay", 1.0]),
        "long_flip": max(off["flip", 0.9]),
        "long_stay_least": min(off["stay", 0.9]),
        "long_stay_most": max(off["stay", 0.9]),
        "fresh_flip": max(off["flip", 0.5]),
        "fresh_stay": max(off["stay", 0.5]),
    }


def nr4(seed: int) -> Figures:
    inverse_mass = np.array([2.0, 1.0, 0.5])
    x = np.random.default_rng(seed).normal(size=(200, 6))

    def roll(x: Array, h: float, steps: int, sign: float) -> Array:
        return np.concatenate(leapfrog(bent_slope, x[..., :3], x[..., 3:], h, steps, inverse_mass, sign), axis=-1)

    def energy(x: Array) -> Array:
        return -log_bent(x[..., :3]) + 0.5 * (inverse_mass * x[..., 3:] ** 2).sum(axis=-1)

    flip = np.array([1, 1, 1, -1, -1, -1])
    determinants = np.linalg.det(jacobian(lambda at: roll(at, 0.1, 5, 1.0), x))
    back = flip * roll(flip * roll(x, 0.1, 20, 1.0), 0.1, 20, 1.0)

    def lost(h: float, sign: float) -> float:
        """Typical error of the energy after half a unit of time."""
        return float(np.median(abs(energy(roll(x, h, round(0.5 / h), sign)) - energy(x))))

    def accepted(sign: float) -> float:
        """From the points drawn, which are not the target's, over half a unit of time."""
        return float(np.minimum(1, np.exp(np.minimum(0, energy(x) - energy(roll(x, 0.05, 10, sign))))).mean())

    return {
        "volume": float(abs(determinants - 1).max()),
        "back": float(abs(back - x).max()),
        "lost": lost(0.05, 1.0),
        "ratio": lost(0.05, 1.0) / lost(0.025, 1.0),
        "lost_tempting": lost(0.05, -1.0),
        "ratio_tempting": lost(0.05, -1.0) / lost(0.025, -1.0),
        "accepted": accepted(1.0),
        "accepted_tempting": accepted(-1.0),
    }


def nr9(seed: int) -> Figures:
    mass = np.array([0.5, 1.0, 2.0])
    x = np.random.default_rng(seed).normal(size=(200, 6))
    zero, one = np.zeros((3, 3)), np.eye(3)
    printed_j = np.block([[zero, -one], [one, zero]])

    def log_joint(x: Array) -> Array:
        return (log_bent(x[..., :3]) - 0.5 * (x[..., 3:] ** 2 / mass).sum(axis=-1))[..., None]

    gradient = jacobian(log_joint, x)[..., 0, :]
    forwards = np.concatenate([x[:, 3:] / mass, bent_slope(x[:, :3])], axis=1)

    def step(h: float) -> Array:
        return np.concatenate(leapfrog(bent_slope, x[:, :3], x[:, 3:], h, 1, 1 / mass), axis=1)

    rolling = (step(1e-4) - step(-1e-4)) / 2e-4  # what the leapfrog does in a short time

    def off(field: Array, other: Array) -> float:
        return float(abs(field - other).max())

    printed = gradient @ printed_j.T
    textbook = -gradient @ -printed_j.T
    return {
        "printed": off(printed, forwards),
        "leapfrog": off(printed, rolling),
        "textbook": off(textbook, forwards),
        "mixed_h": off(-gradient @ printed_j.T, -forwards),
        "mixed_j": off(gradient @ -printed_j.T, -forwards),
        "mixed_forwards": off(-gradient @ printed_j.T, forwards),
        "cosine": float(np.median((-gradient @ printed_j.T * rolling).sum(1) / (forwards**2).sum(1))),
        "kept": float(abs((printed * gradient).sum(axis=1)).max()),
    }
