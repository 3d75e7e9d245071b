"""The leapfrog. Roads: a recursion for positions alone; determinants in closed form; paths written out; ratios of densities."""

import numpy as np
from scipy.stats import multivariate_normal

from course_pkg.checks.record import Record


def by_positions(slope, q, p, h, steps, inverse_mass):
    """Stoermer's rule: q_next - 2 q + q_before is the force times h squared; momenta are read off at the end."""
    seen = [q, q + h * inverse_mass * p + h**2 / 2 * inverse_mass * slope(q)]
    for _ in range(steps):
        seen.append(2 * seen[-1] - seen[-2] + h**2 * inverse_mass * slope(seen[-1]))
    return seen[-2], (seen[-1] - seen[-3]) / (2 * h * inverse_mass)


def bent(B, bend, push=0.0):
    """A matrix, and then some of its cube is added to each coordinate."""
    d, bow = len(B) // 2, lambda x: x + bend * x**3
    return lambda q, p: (bow(B[:d, :d] @ q + B[:d, d:] @ p + push), bow(B[d:, :d] @ q + B[d:, d:] @ p - push))


def way_back_step_by_step(path, q, p):
    far, speed = path(q, p)
    back, turned = path(far, -np.asarray(speed))
    return np.linalg.norm(np.concatenate([back - q, turned + p]), np.inf)


def alpha_by_densities(log_density, q, p, q_new, p_new, inverse_mass):
    kinetic = multivariate_normal(np.zeros(len(p)), np.diag(1 / inverse_mass))
    log_ratio = log_density(q_new) + kinetic.logpdf(p_new) - log_density(q) - kinetic.logpdf(p)
    return 1.0 if log_ratio > 0 else np.exp(log_ratio)


def step_by_densities(q, p, noise, keep, u, path, log_density):
    kicked = np.cos(np.arccos(keep)) * p + np.sin(np.arccos(keep)) * noise
    end = path(q, kicked)
    return end if u < alpha_by_densities(log_density, q, kicked, *end, np.ones(len(p))) else (q, -kicked)


wells = lambda rng, d: (rng.uniform(0.5, 2.5, d), rng.normal(size=d))
roll = lambda slope, h, steps: lambda q, p: by_positions(slope, q, p, h, steps, 1.0)
slope = lambda a, b: lambda q: b - a * q - 0.3 * q**3
log_density = lambda a, b: lambda q: -800 + b @ q - a @ q**2 / 2 - 0.075 * (q**4).sum()


def paths(rng):
    for d, h, steps, way in ((2, (0.3, 0.5), 3, 1), (3, (0.2, 0.3), 5, -1), (1, (0.4, 0.6), 2, 1)):
        yield slope(*wells(rng, d)), *rng.normal(size=(2, d)), rng.uniform(*h), steps, rng.uniform(0.3, 0.7, d) ** way


def volumes(rng):
    """Maps that turn volumes inside out, and the ten steps of the sheet, which bend them much."""
    for d in (3, 1, 2):
        B, (q, p) = rng.normal(size=(2 * d, 2 * d)), rng.normal(size=(2, d))
        B[0] *= -np.sign(np.linalg.det(B))
        yield bent(B, 0.1), q, p, abs(np.linalg.det(B)) * (1 + 0.3 * (B @ np.concatenate([q, p])) ** 2).prod()
    yield roll(lambda q: -(q**3), 0.2, 10), np.array([1.0, -0.5]), np.array([0.3, 0.8]), 1.0


def returns(rng):
    for d in (2, 3, 1):
        yield bent(rng.normal(size=(2 * d, 2 * d)), 0.0, rng.normal(size=d)), *rng.normal(size=(2, d))


def ends(rng):
    """Paths that lose energy, and their ways back."""
    for d in (1, 2, 3):
        alpha = 0.0
        while not 0.05 < alpha < 0.3:
            law, inverse_mass = log_density(*wells(rng, d)), rng.uniform(0.3, 0.7, d) ** rng.choice([-1, 1])
            start, end = 0.8 * rng.normal(size=(2, 2, d))
            alpha = alpha_by_densities(law, *start, *end, inverse_mass)
        yield law, *start, *end, inverse_mass
        yield law, *end, *start, inverse_mass


def rolls(rng):
    """Each path with coins of two kinds: one that accepts what gains or loses as much, one that accepts only what loses it."""
    for d, sign in ((1, 1), (2, 1), (3, 1), (1, -1), (2, -1), (3, -1)):
        lost = 0.0
        while not 0.3 < sign * lost < 3:
            (a, b), (q, p, noise), keep = wells(rng, d), 0.9 * rng.normal(size=(3, d)), rng.uniform(0.7, 0.9)
            path, law, kicked = roll(slope(a, b), rng.uniform(0.8, 1.1), 1), log_density(a, b), keep * p + np.sqrt(1 - keep**2) * noise
            q_new, p_new = path(q, kicked)
            lost = law(q_new) - law(q) + (kicked @ kicked - p_new @ p_new) / 2
        for low, high in 2 * ((0.0, np.exp(-abs(lost))), (np.exp(-abs(lost)), 1.0)):
            yield q, p, noise, keep, low + rng.uniform(0.1, 0.9) * (high - low), path, law


NEW_KICK = "half + h / 2 * slope(q)"
PATH = Record(
    cases=paths,
    reference=by_positions,
    parts=("the position", "the momentum"),
    right="Right. Each line moves one of the two by something that depends on the other alone.",
    nudge="Not that path. With slope(q) = -q, q = [1], p = [0], h = 0.5 and inverse_mass = [0.5] one step leads to q = [0.938] and p = "
    "[-0.484], and two steps to q = [0.758] and p = [-0.908].",
    hints=(
        "One variable at a time, each with the newest value of the other: half a kick, a drift, half a kick, and again.",
        "Half a kick: p becomes p + (h/2) slope(q). A drift: q becomes q + h M^{-1} p. Each with q and p as they are at that moment.",
        "Begin with `for _ in range(steps):` and, within it, `p = p + h / 2 * slope(q)`; this p moves q, and the new q moves p again.",
    ),
    mistakes={
        "Your ball is pushed downhill in the density. Momentum changes at the rate of the slope of log pi, which leads uphill.": "+ h / 2 -> - h / 2",
        "Your kicks add up to twice the slope in each step. Both are half as long.": "h / 2 -> h",
        "You kick once a step, before the drift. That runs backwards into something else: half of the kick belongs after the drift.": f"{NEW_KICK} -> half ;; h / 2 -> h",
        "The second half of the kick is missing: the one after the drift, from the new position.": f"{NEW_KICK} -> half",
        "Your kicks are multiplied by `inverse_mass`. Momentum changes by the slope itself; it is the drift that knows the masses.": "/ 2 * -> / 2 * inverse_mass *",
        "You drift with the momentum that there was before the kick. The half kick comes first, and the drift takes what it leads to.": "* half -> * p",
        "That is Euler's method: position and momentum both move by the old rates.": f"* half -> * p ;; {NEW_KICK} -> half ;; h / 2 -> h",
    },
)
VOLUME = Record(
    cases=volumes,
    reference=lambda path, q, p, factor: factor,
    view=lambda answer, path, q, p, factor: answer(path, q, p),
    rtol=2e-3,
    right="Right, for maps that keep volume and for maps that do not.",
    nudge="Not that factor. With path(q, p) = (3 p, q^3 - p), q = [1] and p = [1] it is 9. Is yours near? Large nudges do not see how a map "
    "bends, and small ones drown in rounding: 1e-5 will do in double precision (NumPy), and no step in single precision (JAX).",
    hints=(
        "How does the end move if one of the 2d coordinates of the start is nudged? Do it for each of them.",
        "|det J| with J_jk = (end_k(x + e_j s) - end_k(x - e_j s)) / (2 s), where x is q and p in one array and s is small.",
        "Begin with `x, d = np.concatenate([q, p]), len(q)`",
    ),
    mistakes={
        "Your derivative is off by a factor. Nudges to both sides are 2 s apart.": "2 * s) -> s) || / (2 * s) -> || x - nudge -> x",
        "Right in size. A volume has no sign: a map that turns a drop inside out does not make it negative.": "abs -> ",
        "You let positions move positions alone. A drop lies in the space of both: the derivative has 2d rows and 2d columns.": "np.array(rows) -> np.array(rows)[:d, :d]",
    },
)
OFF, WORST = "np.concatenate([back - q, -turned - p])", "max(np.abs(back - q).max(), np.abs(-turned - p).max())"
FAR, TURN, HERE = "path(far, -> path(-far,", "-speed -> speed ;; -turned -> turned", "back - q -> -back - q"
WAY_BACK = Record(
    cases=returns,
    reference=way_back_step_by_step,
    apart=True,
    right="Right. A path that runs backwards when it is turned round has none of it.",
    nudge="Not that difference. With path(q, p) = (q + p, p - q^2), q = [1] and p = [2] the path leads to (3, 1), and from (3, -1) to "
    "(2, -10). The answer is 8.",
    hints=(
        "What would you do with a ball whose motion runs backwards? Where, and how fast, should it be in the end?",
        "S Phi S Phi x = x, where Phi is the path and S turns the momentum round.",
        "Begin with `far, speed = path(q, p)`",
    ),
    mistakes={
        "You went on for another path. Turn the momentum round before the second one.": TURN,
        "You turned the position round. It is the momentum alone that turns.": f"{FAR} || {FAR} ;; {HERE} || {FAR} ;; {TURN} ;; {HERE}",
        "You came back with the momentum turned round, and compare it with the one that you set out with. Turn it once more.": "-turned -> turned",
        "You compare positions. The momentum has to come back as well.": f"{WORST} -> np.abs(back - q).max()",
        "A coordinate may come back too small as well. Take sizes.": f"{WORST} -> {OFF}.max()",
    },
)
LOST = "energy(q, p) - energy(q_new, p_new)"
ALPHA = f"np.exp(min(0.0, {LOST}))"
ACCEPTANCE = Record(
    cases=ends,
    reference=alpha_by_densities,
    rtol=5e-3,  # single precision leaves four digits of a difference of large numbers
    right="Right. It is the exponential of the energy lost, stopped at 1; what the density is short of, its constant, cancels.",
    nudge="Not that probability. With log_density(q) = -(q_1^2 + q_2^2) / 2, q = [1, 1], p = [1, 1], q_new = [0, 0], p_new = [2, 2] "
    "and inverse_mass = [0.5, 0.5] the energies are 1.5 and 2, and the probability is 0.6065. The other way round it is 1.",
    hints=(
        "The ratio of the densities of position and momentum together, after the path and before it, stopped at 1.",
        "H(q, p) = -log pi(q) + (1/2) sum over j of p_j^2 / M_j is minus the log of that density, but for a constant.",
        "Begin by writing a small function: `def energy(q, p):`",
    ),
    mistakes={
        "You accept everything. The exponent is a difference of energies. As a ratio it is 0/0 where log pi is -800, and min(1, 0/0) is 1 in Python.": f"{ALPHA} -> 1.0",
        "Upside down: you accept where energy is gained. Energy lost means density won.": f"{LOST} -> energy(q_new, p_new) - energy(q, p)",
        "A probability is not larger than 1.": f"{ALPHA} -> np.exp({LOST})",
        "A factor is missing in the energy of motion: look at the exponent of a normal density.": "/ 2 -> ",
    },
)
COIN, OLD = "np.log(u) < lost", "p = keep -> old, p = p, keep"
STEP = Record(
    cases=rolls,
    reference=step_by_densities,
    apart=True,
    parts=("the position", "the momentum"),
    right="Right. What a refusal takes from a point reaches the one with the opposite momentum, and that one gives back as much.",
    nudge="Not that step. With q = [1], p = [1], noise = [2], keep = 0.6, path(q, p) = (q + p, p - 2 q) and log_density(q) = -q^2 / 2 the path "
    "leads from (1, 2.2) to (3.2, 0.2), with probability 0.1086. There the step ends for u = 0.1; for u = 0.2 it ends with q = [1].",
    hints=(
        "Kick, path, test. Then draw up an account: what reaches a point by acceptance, and from where must the rest of it come?",
        "The kick: keep p + (1 - keep^2)^{1/2} noise. A path to (q, p), turned round, begins at (q, -p): so (q, p) lacks what is refused there.",
        "Begin with `p = keep * p + np.sqrt(1 - keep**2) * noise`. Who is refused at (q, p) is lacking at the opposite momentum.",
    ),
    mistakes={
        "Right where the path is accepted. A refused one does not keep the target so: count what arrives at a point.": "(q, -p) -> (q, p)",
        "Right where the path is accepted. Where it is refused you undo the new noise.": f"{OLD} ;; (q, -p) -> (q, old) || {OLD} ;; (q, -p) -> (q, -old)",
        "Right where the path is refused. An accepted one goes on in the same direction.": "(q_new, p_new) if -> (q_new, -p_new) if",
        "Your momentum loses variance at each kick. Which factor of the noise keeps the variance at 1?": "np.sqrt(1 - keep**2) -> (1 - keep)",
        "You compare with the energy before the kick. The path began after it, and the kick by itself keeps the target.": f"{OLD} ;; p @ p - -> old @ old -",
        "Your test is upside down: you accept where energy is gained.": f"{COIN} -> np.log(u) < -lost",
        "You compare log pi at both ends. The momenta have an energy, too.": "+ (p @ p - p_new @ p_new) / 2 -> ",
    },
)
TASKS = {"path": PATH, "volume": VOLUME, "way-back": WAY_BACK, "acceptance": ACCEPTANCE, "step": STEP}
