"""The leapfrog. Roads: a recursion for positions alone; determinants in closed form; paths written out; ratios of densities."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal, norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, agree, call, numbers, read
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import judged
from course_pkg.checks._tables import telling, with_kin

Path = Callable[[Any, Any], tuple[Any, Any]]


def _by_positions(
    slope: Callable[..., Any], q: np.ndarray, p: np.ndarray, h: float, steps: int, inverse_mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Stoermer's rule: q_next - 2 q + q_before is the force times h squared; momenta are read off at the end."""
    seen = [q, q + h * inverse_mass * p + h**2 / 2 * inverse_mass * slope(q)]
    for _ in range(steps):
        seen.append(2 * seen[-1] - seen[-2] + h**2 * inverse_mass * slope(seen[-1]))
    return seen[-2], (seen[-1] - seen[-3]) / (2 * h * inverse_mass)


class _Map:
    """A map of phase space whose determinant is known."""

    def __init__(self, move: Path, determinant: Callable[..., float]):
        self.move, self.determinant = move, determinant

    def __call__(self, q: Any, p: Any) -> tuple[Any, Any]:
        return self.move(q, p)


def _euler(A: np.ndarray, h: float, push: Any = 0.0) -> _Map:
    """Euler's step on push q - q^4 / 4 - q A q / 2; the determinant of [[1, h], [h F', 1]] is that of 1 - h^2 F'."""
    d = len(A)

    def move(q: Any, p: Any) -> tuple[Any, Any]:
        return q + h * p, p + h * (push - q**3 - A @ q)

    return _Map(move, lambda q, p: float(np.linalg.det(np.eye(d) + h**2 * (3 * np.diag(q**2) + A))))


def _linear(B: np.ndarray, push: Any = 0.0) -> _Map:
    d = len(B) // 2
    return _Map(
        lambda q, p: (B[:d, :d] @ q + B[:d, d:] @ p + push, B[d:, :d] @ q + B[d:, d:] @ p - push),
        lambda q, p: float(np.linalg.det(B)),
    )


def _many_steps(h: float) -> _Map:
    """Ten steps on -q^4 / 4, each of three shears: volume is kept, however much a drop is bent."""

    def move(q: Any, p: Any) -> tuple[Any, Any]:
        for _ in range(10):
            half = p - h / 2 * q**3
            q = q + h * half
            p = half - h / 2 * q**3
        return q, p

    return _Map(move, lambda q, p: 1.0)


def _volume_in_closed_form(path: _Map, q: np.ndarray, p: np.ndarray) -> float:
    return abs(path.determinant(q, p))


def _way_back_step_by_step(path: Path, q: np.ndarray, p: np.ndarray) -> float:
    far, speed = path(q, p)
    back, turned = path(far, -np.asarray(speed))
    worst = 0.0
    for got, start, sign in ((back, q, 1), (turned, p, -1)):
        for a, b in zip(np.asarray(got), start, strict=True):
            worst = max(worst, abs(sign * float(a) - b))
    return worst


def _alpha_by_densities(
    log_density: Callable[..., Any], q: np.ndarray, p: np.ndarray, q_new: np.ndarray, p_new: np.ndarray, inverse_mass: np.ndarray
) -> float:
    kinetic = multivariate_normal(np.zeros(len(p)), np.diag(1 / inverse_mass))
    log_ratio = log_density(q_new) + kinetic.logpdf(p_new) - log_density(q) - kinetic.logpdf(p)
    return 1.0 if log_ratio > 0 else float(np.exp(log_ratio))


def _step_by_densities(
    q: np.ndarray, p: np.ndarray, noise: np.ndarray, keep: float, u: float, path: Path, log_density: Callable[..., Any]
) -> tuple[np.ndarray, np.ndarray]:
    kicked = np.cos(np.arccos(keep)) * p + np.sin(np.arccos(keep)) * noise
    q_new, p_new = path(q, kicked)
    here = np.exp(log_density(q)) * np.prod(norm.pdf(kicked))
    there = np.exp(log_density(q_new)) * np.prod(norm.pdf(p_new))
    return (q_new, p_new) if u * here < there else (q, -kicked)


def path_stub(slope: Callable, q: np.ndarray, p: np.ndarray, h: float, steps: int, inverse_mass: np.ndarray) -> Any:
    raise NotImplementedError


def volume_stub(path: Callable, q: np.ndarray, p: np.ndarray) -> Any:
    raise NotImplementedError


def way_back_stub(path: Callable, q: np.ndarray, p: np.ndarray) -> Any:
    raise NotImplementedError


def alpha_stub(log_density: Callable, q: np.ndarray, p: np.ndarray, q_new: np.ndarray, p_new: np.ndarray, inverse_mass: np.ndarray) -> Any:
    raise NotImplementedError


def step_stub(q: np.ndarray, p: np.ndarray, noise: np.ndarray, keep: float, u: float, path: Callable, log_density: Callable) -> Any:
    raise NotImplementedError


def _rolled(
    first=0.5,
    last=0.5,
    sign=1,
    drift=1,
    speed: Callable[..., Any] = lambda half, old, M_inv: M_inv * half,
    where: str = "new",
    after: Callable[..., Any] = lambda p: p,
    more=0,
) -> Callable[..., Any]:
    """The leapfrog with any of its pieces changed."""

    def answer(slope, q, p, h, steps, M_inv):
        for _ in range(steps + more):
            half = p + sign * first * h * slope(q)
            q_new = q + drift * h * speed(half, p, M_inv)
            p = half + sign * last * h * slope(q_new if where == "new" else q)
            q = q_new
        return q, after(p)

    return answer


def _merged(opening: float, closing: float, between: float = 1.0) -> Callable[..., Any]:
    """The usual program: whole kicks between the drifts, and something else at both ends."""

    def answer(slope, q, p, h, steps, M_inv):
        p = p + opening * h * slope(q)
        for k in range(steps):
            q = q + h * M_inv * p
            p = p + (closing if k == steps - 1 else between) * h * slope(q)
        return q, p

    return answer


def _weighed_kicks(where: Callable[..., Any]) -> Callable[..., Any]:
    return lambda slope, q, p, h, steps, M_inv: _rolled()(lambda q: M_inv * slope(q), q, p, h, steps, where(M_inv))


def _drift_first(slope, q, p, h, steps, M_inv):
    for _ in range(steps):
        q = q + h / 2 * M_inv * p
        p = p + h * slope(q)
        q = q + h / 2 * M_inv * p
    return q, p


PATH_MISTAKES = {
    "slope's sign": Mistake(
        _rolled(sign=-1),
        "Your ball is pushed downhill in the density. Momentum changes at the rate of the slope of log pi, which leads uphill.",
    ),
    "whole kicks twice": Mistake(
        _rolled(first=1, last=1),
        "Your kicks add up to twice the slope in each step. Both are half as long.",
    ),
    "no kick after the drift": Mistake(
        _rolled(first=1, last=0),
        "You kick once a step, before the drift. That runs backwards into something else: half of the kick belongs after the drift.",
    ),
    "no kick before the drift": Mistake(
        _rolled(first=0, last=1),
        "You kick once a step, after the drift. Half of the kick belongs before it.",
    ),
    "half kick before the drift alone": Mistake(
        _rolled(last=0),
        "The second half of the kick is missing: the one after the drift, from the new position.",
    ),
    "half kick after the drift alone": Mistake(
        _rolled(first=0),
        "The first half of the kick is missing: the one before the drift.",
    ),
    "ends with a whole kick": Mistake(
        _merged(0.5, 1.0),
        "Right but for the end: the last kick is half a kick, like the first.",
    ),
    "begins with a whole kick": Mistake(
        _merged(1.0, 0.5),
        "Right but for the beginning: the first kick is half a kick, like the last.",
    ),
    "ends with a drift": Mistake(
        _merged(0.5, 0.0),
        "Right but for the end: after the last drift there is another half kick.",
    ),
    "half kicks between": Mistake(
        _merged(0.5, 0.5, 0.5),
        "Right at both ends. Between two drifts there are two half kicks, the last of one step and the first of the next: a whole one.",
    ),
    "masses in the kick": Mistake(
        _weighed_kicks(lambda M_inv: M_inv),
        "Your kicks are multiplied by `inverse_mass`. Momentum changes by the slope itself; it is the drift that knows the masses.",
    ),
    "drift with the old momentum": Mistake(
        _rolled(speed=lambda half, old, M_inv: M_inv * old),
        "You drift with the momentum that there was before the kick. The half kick comes first, and the drift takes what it leads to.",
    ),
    "slope of the old position": Mistake(
        _rolled(where="old"),
        "Your second half kick takes the slope where the step began. Take it where the drift has led.",
    ),
    "all from old values": Mistake(
        _rolled(first=0.5, last=0.5, where="old", speed=lambda half, old, M_inv: M_inv * old),
        "That is Euler's method: position and momentum both move by the old rates.",
    ),
    "mass for its inverse": Mistake(
        _rolled(speed=lambda half, old, M_inv: half / M_inv),
        "You multiplied by the masses. The velocity is the momentum divided by the mass, and `inverse_mass` is one over it.",
    ),
    "no mass": Mistake(
        _rolled(speed=lambda half, old, M_inv: half),
        "You left the masses out of the drift.",
    ),
    "root of the mass": Mistake(
        _rolled(speed=lambda half, old, M_inv: np.sqrt(M_inv) * half),
        "You took a root of the inverse masses. The velocity is the momentum divided by the mass itself.",
    ),
    "drift first": Mistake(
        _drift_first,
        "Half a drift, a kick, half a drift: a good integrator, with other ends. Here the kick is halved, not the drift.",
    ),
    "half drifts": Mistake(
        _rolled(drift=0.5),
        "Your drifts are half as long as they should be. Only the kicks are halved.",
    ),
    "turned round": Mistake(
        _rolled(after=lambda p: -p),
        "You turned the momentum round at the end. Here it is the end of the path itself that is asked for.",
    ),
    "a step short": Mistake(
        _rolled(more=-1),
        "You make a step too few.",
    ),
    "a step too many": Mistake(
        _rolled(more=1),
        "You make a step too many.",
    ),
    "one step": Mistake(
        lambda slope, q, p, h, steps, M_inv: _rolled()(slope, q, p, h, 1, M_inv),
        "You make one step, whatever `steps` is.",
    ),
    "one long step": Mistake(
        lambda slope, q, p, h, steps, M_inv: _rolled()(slope, q, p, h * steps, 1, M_inv),
        "You make one long step. Make many of size h.",
    ),
    "exchanged": Mistake(
        lambda *case: _rolled()(*case)[::-1],
        "The two have changed places: the position comes first.",
    ),
}
PATH_KIN = {"masses in the kick": (_weighed_kicks(np.ones_like),)}


def _jacobian(path: Path, q: np.ndarray, p: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Row j: how the end moves with coordinate j of the start."""
    x, d = np.concatenate([q, p]), len(q)

    def end(x: np.ndarray) -> np.ndarray:
        return np.concatenate([np.asarray(part) for part in path(x[:d], x[d:])])

    return np.array([end(x + nudge) - end(x - nudge) for nudge in step * np.eye(2 * d)]) / (2 * step)


def _of_jacobian(change: Callable[..., Any]) -> Callable[..., Any]:
    return lambda path, q, p: change(_jacobian(path, q, p), len(q))


BY_A_FACTOR = (
    "Your derivative is off by one and the same factor in all its entries. Divide a difference of ends by the distance of the beginnings: "
    "that is 2 s for nudges to both sides."
)
NEARLY = (
    "Near, but not within a thousandth. Nudges that are too large do not see how a map bends, and nudges that are too small drown in "
    "rounding: a step of 1e-5 does in double precision (NumPy), and none does in single precision (JAX)."
)
COARSE = (
    "Right for maps that bend little, and not for the ten leapfrog steps of the table below. If you nudge, do it by less: the error goes "
    "with the size of the nudge, or with its square."
)
VOLUME_MISTAKES = {
    "not halved": Mistake(_of_jacobian(lambda J, d: abs(np.linalg.det(2 * J))), BY_A_FACTOR),
    "signed": Mistake(
        lambda path, q, p: path.determinant(q, p),
        "Right in size. A volume has no sign: a map that turns a drop inside out does not make it negative.",
    ),
    "positions alone": Mistake(
        _of_jacobian(lambda J, d: abs(np.linalg.det(J[:d, :d]))),
        "You let positions move positions alone. A drop lies in the space of both: the derivative has 2d rows and 2d columns.",
    ),
    "momenta alone": Mistake(
        _of_jacobian(lambda J, d: abs(np.linalg.det(J[d:, d:]))),
        "You let momenta move momenta alone. A drop lies in the space of both: the derivative has 2d rows and 2d columns.",
    ),
    "blocks of the diagonal": Mistake(
        _of_jacobian(lambda J, d: abs(np.linalg.det(J[:d, :d]) * np.linalg.det(J[d:, d:]))),
        "You left out how momenta move positions and positions momenta.",
    ),
    "diagonal": Mistake(
        _of_jacobian(lambda J, d: abs(np.prod(np.diag(J)))),
        "That is the product of the diagonal. The coordinates also move each other.",
    ),
    "trace": Mistake(
        _of_jacobian(lambda J, d: np.trace(J)),
        "That is the trace. A volume changes by the determinant.",
    ),
    "less one": Mistake(
        lambda *case: _volume_in_closed_form(*case) - 1,
        "That is by how much the volume grows. The factor itself was asked for.",
    ),
    "squared": Mistake(
        lambda *case: _volume_in_closed_form(*case) ** 2,
        "That is the square of the factor.",
    ),
    "logarithm": Mistake(
        lambda *case: np.log(_volume_in_closed_form(*case)),
        "That is the logarithm of the factor.",
    ),
    "upside down": Mistake(
        lambda *case: 1 / _volume_in_closed_form(*case),
        "Upside down: the volume after, divided by the volume before.",
    ),
    "nudged by one": Mistake(
        lambda path, q, p: abs(np.linalg.det(_jacobian(path, q, p, 1.0))),
        "Nearly. A derivative is the limit of small nudges, and yours are large.",
    ),
    "nothing but one": Mistake(
        lambda path, q, p: 1.0,
        "That is so for the leapfrog. Your function is to find out for any map.",
    ),
}


def _there_and_back(
    first=1, middle=-1, end=-1, place=1, home=1, gather=lambda off: np.abs(np.concatenate(off)).max()
) -> Callable[..., Any]:
    """Path, flip, path, flip, with signs in place of the flips."""

    def answer(path, q, p):
        far, speed = path(q, first * p)
        back, turned = path(place * np.asarray(far), middle * np.asarray(speed))
        return gather((home * np.asarray(back) - q, end * np.asarray(turned) - p))

    return answer


WAY_BACK_MISTAKES = {
    "not turned": Mistake(
        _there_and_back(middle=1, end=1),
        "You went on for another path. Turn the momentum round before the second one.",
    ),
    "position turned as well": Mistake(
        _there_and_back(place=-1, home=-1),
        "You turned the position round. It is the momentum alone that turns; the second path begins where the first has led.",
    ),
    "nothing": Mistake(
        lambda *case: 0.0,
        "That is so for a motion that runs backwards. Your function is to find out for any map.",
    ),
    "turned at the end alone": Mistake(
        _there_and_back(middle=1),
        "You turned round after the second path, but not before it.",
    ),
    "turned once": Mistake(
        _there_and_back(end=1),
        "You came back with the momentum turned round, and compare it with the one that you set out with. Turn it once more.",
    ),
    "positions alone": Mistake(
        _there_and_back(gather=lambda off: np.abs(off[0]).max()),
        "You compare positions. The momentum has to come back as well.",
    ),
    "momenta alone": Mistake(
        _there_and_back(gather=lambda off: np.abs(off[1]).max()),
        "You compare momenta. The position has to come back as well.",
    ),
    "summed": Mistake(
        _there_and_back(gather=lambda off: np.abs(np.concatenate(off)).sum()),
        "You summed over the coordinates. The largest difference was asked for.",
    ),
    "averaged": Mistake(
        _there_and_back(gather=lambda off: np.abs(np.concatenate(off)).mean()),
        "You averaged over the coordinates. The largest difference was asked for.",
    ),
    "distance": Mistake(
        _there_and_back(gather=lambda off: np.linalg.norm(np.concatenate(off))),
        "You took the distance from the start. The largest difference in a coordinate was asked for.",
    ),
    "signed": Mistake(
        _there_and_back(gather=lambda off: np.concatenate(off).max()),
        "A coordinate may come back too small as well. Take sizes.",
    ),
    "signed, too small": Mistake(
        _there_and_back(gather=lambda off: -np.concatenate(off).min()),
        "A coordinate may come back too large as well. Take sizes.",
    ),
    "one way": Mistake(
        lambda path, q, p: max(np.abs(np.asarray(path(q, p)[0]) - q).max(), np.abs(np.asarray(path(q, p)[1]) - p).max()),
        "That is how far the path leads. Turn round and come back.",
    ),
    "squared": Mistake(
        _there_and_back(gather=lambda off: (np.concatenate(off) ** 2).max()),
        "You squared the differences.",
    ),
}
WAY_BACK_KIN = {
    "position turned as well": (
        _there_and_back(place=-1),
        _there_and_back(place=-1, middle=1, home=-1, end=1),
        _there_and_back(place=-1, middle=1, end=1),
    )
}


def _energies(kinetic: Callable[..., Any] = lambda p, M_inv: (M_inv * p**2).sum() / 2) -> Callable[..., Any]:
    def answer(log_density, q, p, q_new, p_new, M_inv):
        return kinetic(p, M_inv) - log_density(q), kinetic(p_new, M_inv) - log_density(q_new)

    return answer


def _tested(rule: Callable[..., Any], **energy: Any) -> Callable[..., Any]:
    return lambda *case: rule(*_energies(**energy)(*case))


def _usual(before, after):
    return np.exp(min(0.0, before - after))


ALPHA_MISTAKES = {
    "sum for difference": Mistake(
        _tested(lambda before, after: np.exp(min(0.0, -before - after))),
        "Yours multiplies the densities at both ends. It is their ratio that counts: the exponent is a difference.",
    ),
    "always one": Mistake(
        lambda *case: 1.0,
        "You accept everything. If you wrote exp(-H - H') with H = log pi~, that is what a sum does: the exponent has to be a difference.",
    ),
    "upside down": Mistake(
        _tested(lambda before, after: np.exp(min(0.0, after - before))),
        "Upside down: you accept where energy is gained. Energy lost means density won.",
    ),
    "not stopped at one": Mistake(
        _tested(lambda before, after: np.exp(before - after)),
        "A probability is not larger than 1.",
    ),
    "logarithm": Mistake(
        _tested(lambda before, after: min(0.0, before - after)),
        "That is the logarithm of the probability.",
    ),
    "positions alone": Mistake(
        _tested(_usual, kinetic=lambda p, M_inv: 0.0),
        "You compare log pi at both ends. The momenta have an energy, too.",
    ),
    "momenta alone": Mistake(
        lambda log_density, q, p, q_new, p_new, M_inv: _usual((M_inv * p**2).sum() / 2, (M_inv * p_new**2).sum() / 2),
        "You compare the energies of motion. The position has an energy, too: minus log pi.",
    ),
    "half forgotten": Mistake(
        _tested(_usual, kinetic=lambda p, M_inv: (M_inv * p**2).sum()),
        "A factor is missing in the energy of motion: look at the exponent of a normal density.",
    ),
    "mass for its inverse": Mistake(
        _tested(_usual, kinetic=lambda p, M_inv: (p**2 / M_inv).sum() / 2),
        "You multiplied by the masses. M is the momentum's variance, so that its square is divided by it.",
    ),
    "no mass": Mistake(
        _tested(_usual, kinetic=lambda p, M_inv: (p**2).sum() / 2),
        "You left the masses out of the energy of motion.",
    ),
    "motion's sign": Mistake(
        _tested(_usual, kinetic=lambda p, M_inv: -(M_inv * p**2).sum() / 2),
        "The energy of motion has the wrong sign: fast is high energy, and low density.",
    ),
    "position's sign": Mistake(
        lambda log_density, *rest: _tested(_usual)(lambda q: -log_density(q), *rest),
        "The energy of the position has the wrong sign: it is minus log pi.",
    ),
    "square of the sum": Mistake(
        _tested(_usual, kinetic=lambda p, M_inv: (M_inv * p).sum() ** 2 / 2),
        "You squared a sum. Square each momentum, then add up.",
    ),
    "stopped too late": Mistake(
        _tested(lambda before, after: np.exp(min(1.0, before - after))),
        "You stop the exponent at 1. It is the probability that is not larger than 1, and exp(1) is.",
    ),
    "larger for smaller": Mistake(
        _tested(lambda before, after: np.exp(max(0.0, before - after))),
        "Yours is never less than 1. Of the ratio and 1, take the smaller.",
    ),
    "logistic": Mistake(
        _tested(lambda before, after: 1 / (1 + np.exp(after - before))),
        "Yours is a rule that keeps the target, too, and refuses more often. The one asked for accepts whatever does not gain energy.",
    ),
    "densities themselves": Mistake(
        lambda log_density, q, p, q_new, p_new, M_inv: min(
            1.0, abs(log_density(q_new) - (M_inv * p_new**2).sum() / 2) / abs(log_density(q) - (M_inv * p**2).sum() / 2)
        ),
        "You divided log densities. Divide densities: subtract the logarithms, then take the exponential.",
    ),
}


CONSTANT = (
    "Right, but not with another constant in log pi. A density of much data has a logarithm such as -800, whose exponential is 0 in the "
    "computer: 0/0 is nan, and min(1, nan) is 1 in Python, which accepts everything. Subtract the logarithms, then take the exponential."
)


def _ratio_of_exponentials(log_density, q, p, q_new, p_new, M_inv):
    there = np.exp(log_density(q_new)) * np.exp(-(M_inv * p_new**2).sum() / 2)
    return min(1.0, there / (np.exp(log_density(q)) * np.exp(-(M_inv * p**2).sum() / 2)))


def _stepped(
    ends: Callable[..., Any] = lambda q, kicked, old: (q, -kicked),
    accepted: Callable[..., Any] = lambda q, p: (q, p),
    kick: Callable[..., Any] = lambda p, noise, keep: keep * p + np.sqrt(1 - keep**2) * noise,
    passes: Callable[..., Any] = lambda u, lost: np.log(u) < lost,
    weighed: Callable[..., Any] = lambda kicked, old: kicked,
    motion=1,
) -> Callable[..., Any]:
    """A step of the chain that keeps part of its momentum, with any of its pieces changed."""

    def answer(q, p, noise, keep, u, path, log_density):
        kicked = kick(p, noise, keep)
        q_new, p_new = path(q, kicked)
        start = weighed(kicked, p)
        lost = log_density(q_new) - log_density(q) + motion * ((start**2).sum() - (p_new**2).sum()) / 2
        return accepted(q_new, p_new) if passes(u, lost) else ends(q, kicked, p)

    return answer


def _kick_last(q, p, noise, keep, u, path, log_density):
    q_new, p_new = _stepped(kick=lambda p, noise, keep: p)(q, p, noise, keep, u, path, log_density)
    return q_new, keep * p_new + np.sqrt(1 - keep**2) * noise


def _at_the_refused_end(sign: int) -> Callable[..., Any]:
    """A step that keeps the momentum of a refused end, turned or not."""

    def answer(q, p, noise, keep, u, path, log_density):
        got = _stepped()(q, p, noise, keep, u, path, log_density)
        refused_end = sign * np.asarray(path(q, keep * p + np.sqrt(1 - keep**2) * noise)[1])
        return (q, refused_end) if got[0] is q else got

    return answer


STEP_MISTAKES = {
    "stays": Mistake(
        _stepped(ends=lambda q, kicked, old: (q, kicked)),
        "Right where the path is accepted. A refused path that ends where it began, with the same momentum, does not "
        "keep the target: count "
        "what arrives at a point, by acceptance and by refusal.",
    ),
    "stays with the old momentum": Mistake(
        _stepped(ends=lambda q, kicked, old: (q, old)),
        "Right where the path is accepted. Where it is refused you undo the new noise, and the momentum goes on as it was before the step.",
    ),
    "turns the old momentum": Mistake(
        _stepped(ends=lambda q, kicked, old: (q, -old)),
        "Right where the path is accepted. Where it is refused you undo the new noise: the path began with the momentum after the kick.",
    ),
    "turns in both cases": Mistake(
        _stepped(accepted=lambda q, p: (q, -p)),
        "Right where the path is refused. An accepted one goes on in the same direction.",
    ),
    "turns when accepted": Mistake(
        _stepped(accepted=lambda q, p: (q, -p), ends=lambda q, kicked, old: (q, kicked)),
        "It is the other way round: your accepted path turns, and your refused one does not.",
    ),
    "refused path's momentum": Mistake(
        _at_the_refused_end(-1),
        "Right where the path is accepted. Where it is refused you keep the momentum of its end. The end was refused as a whole.",
    ),
    "exchanged": Mistake(
        lambda *case: _stepped()(*case)[::-1],
        "The two have changed places: the position comes first.",
    ),
    "kick last": Mistake(
        _kick_last,
        "You kick after the test. The kick comes first, and the path begins with the momentum that it gives.",
    ),
    "fresh momentum": Mistake(
        _stepped(kick=lambda p, noise, keep: noise),
        "You drew the momentum afresh. A part of it, `keep`, is kept.",
    ),
    "no noise": Mistake(
        _stepped(kick=lambda p, noise, keep: p),
        "You left the noise out: part of the momentum is drawn anew.",
    ),
    "no root": Mistake(
        _stepped(kick=lambda p, noise, keep: keep * p + (1 - keep) * noise),
        "Your momentum loses variance at each kick. Which factor of the noise keeps the variance at 1?",
    ),
    "parts exchanged": Mistake(
        _stepped(kick=lambda p, noise, keep: np.sqrt(1 - keep**2) * p + keep * noise),
        "Noise and momentum have changed places: `keep` is the factor of the old momentum.",
    ),
    "noise added": Mistake(
        _stepped(kick=lambda p, noise, keep: keep * p + noise),
        "Your momentum gains variance at each kick. Which factor of the noise keeps the variance at 1?",
    ),
    "energy before the kick": Mistake(
        _stepped(weighed=lambda kicked, old: old),
        "You compare with the energy before the kick. The path began after it, and the kick by itself keeps the target.",
    ),
    "coin turned": Mistake(
        _stepped(passes=lambda u, lost: np.log(u) > lost),
        "You refuse what should be accepted. The path is accepted if u is below its probability.",
    ),
    "upside down": Mistake(
        _stepped(passes=lambda u, lost: np.log(u) < -lost),
        "Your test is upside down: you accept where energy is gained.",
    ),
    "accepts all": Mistake(
        _stepped(passes=lambda u, lost: True),
        "You accept every path. Compare u with the probability.",
    ),
    "refuses all": Mistake(
        _stepped(passes=lambda u, lost: False),
        "You refuse every path. Compare u with the probability.",
    ),
    "accepts what loses energy": Mistake(
        _stepped(passes=lambda u, lost: lost > 0),
        "You accept what loses energy, and refuse all else. A path that gains some is accepted with a probability.",
    ),
    "positions alone": Mistake(
        _stepped(motion=0),
        "You compare log pi at both ends. The momenta have an energy, too.",
    ),
    "half forgotten": Mistake(
        _stepped(motion=2),
        "A factor is missing in the energy of motion.",
    ),
    "u for its logarithm": Mistake(
        _stepped(passes=lambda u, lost: u < lost),
        "You compare u with the logarithm of a ratio.",
    ),
}
STEP_KIN = {
    "refused path's momentum": (_at_the_refused_end(1),),
    "no root": (
        _stepped(kick=lambda p, noise, keep: keep * p + np.sqrt(1 - keep) * noise),
        _stepped(kick=lambda p, noise, keep: keep * p + (1 - keep**2) * noise),
    ),
}


def _wells(rng: np.random.Generator, d: int) -> tuple[np.ndarray, np.ndarray]:
    root = rng.normal(size=(d, d))
    return root @ root.T / d + 0.5 * np.eye(d), rng.normal(size=d)


def _slope(A: np.ndarray, b: np.ndarray) -> Callable[[Any], Any]:
    return lambda q: b - A @ q - 0.3 * q**3


def _log_density(A: np.ndarray, b: np.ndarray) -> Callable[[Any], Any]:
    return lambda q: -3 + b @ q - q @ (A @ q) / 2 - 0.075 * (q**4).sum()


@lru_cache(maxsize=64)
def _paths(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 270])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (
                _slope(*_wells(rng, d)),
                rng.normal(size=d),
                rng.normal(size=d),
                float(rng.uniform(*h)),
                steps,
                rng.uniform(0.3, 0.7, d) ** way,
            )
            for d, h, steps, way in ((2, (0.3, 0.5), 3, 1), (3, (0.2, 0.3), 5, -1), (1, (0.4, 0.6), 2, 1))
        ]

    return telling(draw, _by_positions, with_kin(PATH_MISTAKES, PATH_KIN))


def path_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _paths(seed),
        _by_positions,
        with_kin(PATH_MISTAKES, PATH_KIN),
        stub=path_stub,
        right="Right. Each line moves one of the two by something that depends on the other alone.",
        nudge="Not that path. With slope(q) = -q, q = [1], p = [0], h = 0.5 and inverse_mass = [0.5] one step leads to q = [0.938] and p = "
        "[-0.484], and two steps to q = [0.758] and p = [-0.908].",
        parts=("the position", "the momentum"),
    )


@lru_cache(maxsize=64)
def _volumes(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 271])

    def draw() -> list[tuple[Any, ...]]:
        maps = [
            _euler(_wells(rng, 2)[0], 0.4),
            _linear(rng.normal(size=(6, 6))),
            _linear(np.array([[1.0, 2], [2, 1]]) + rng.uniform(0, 0.3, (2, 2))),
        ]
        return [(path, rng.normal(size=d), rng.normal(size=d)) for path, d in zip(maps, (2, 3, 1), strict=True)]

    def clear(path: _Map, q: np.ndarray, p: np.ndarray) -> bool:
        return 0.3 < abs(path.determinant(q, p)) < 20

    return telling(draw, _volume_in_closed_form, VOLUME_MISTAKES, clear=clear)


@lru_cache(maxsize=64)
def _bends(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 275])
    q, p = np.array([1.0, -0.5]), np.array([0.3, 0.8])
    return [(_many_steps(0.2), q, p), *((_many_steps(0.2), q + x, p + y) for x, y in rng.uniform(-0.2, 0.2, (2, 2, 2)))]


def _way_off(answer: Any, cases: list[tuple[Any, ...]]) -> str | None:
    """Words for an answer that is near on all cases, or whose derivative is off by a factor."""
    with np.errstate(all="ignore"):
        ratios = np.array([float(numbers(call(answer, *case))[0]) / _volume_in_closed_form(*case) for case in cases])
        factors = np.abs(ratios) ** (0.5 / np.array([len(q) for _, q, _ in cases]))
    if (np.abs(ratios - 1) < 0.1).all():
        return NEARLY
    if np.isfinite(factors).all() and (factors > 0).all() and (ratios > 0).all() and np.ptp(factors) < 1e-3 * factors.max():
        return BY_A_FACTOR
    return None


def volume_verdict(answer: Any, seed: int = 0) -> Verdict:
    verdict = judged(
        answer,
        _volumes(seed),
        _volume_in_closed_form,
        VOLUME_MISTAKES,
        stub=volume_stub,
        rtol=2e-3,
        right="Right, for maps that keep volume and for maps that do not.",
        nudge="Not that factor. With path(q, p) = (3 p, q^3 - p), q = [1] and p = [1] it is 9.",
    )
    if "Not that factor" in verdict.message and (words := _way_off(answer, _volumes(seed))):
        return Verdict(False, words)
    if verdict.passed and not quiet(answer, _bends(seed), _volume_in_closed_form, {}, right="", nudge="", rtol=2e-3).passed:
        return Verdict(False, COARSE)
    return verdict


@lru_cache(maxsize=64)
def _returns(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 272])

    def draw() -> list[tuple[Any, ...]]:
        maps = [
            _euler(_wells(rng, 2)[0], 0.3, 1.5),
            _linear(rng.normal(size=(6, 6)), rng.normal(size=3)),
            _euler(_wells(rng, 1)[0], 0.5, -1.0),
        ]
        return [(path, rng.normal(size=d), rng.normal(size=d)) for path, d in zip(maps, (2, 3, 1), strict=True)]

    return telling(draw, _way_back_step_by_step, with_kin(WAY_BACK_MISTAKES, WAY_BACK_KIN))


def way_back_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _returns(seed),
        _way_back_step_by_step,
        with_kin(WAY_BACK_MISTAKES, WAY_BACK_KIN),
        stub=way_back_stub,
        right="Right. A path that runs backwards when it is turned round has none of it.",
        nudge="Not that difference. With path(q, p) = (q + p, p - q^2), q = [1] and p = [2] the path leads to (3, 1), and from (3, -1) to "
        "(2, -10). The answer is 8.",
    )


@lru_cache(maxsize=64)
def _ends(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 273])

    def draw() -> list[tuple[Any, ...]]:
        cases: list[tuple[Any, ...]] = []
        for d in (1, 2, 3, 2, 3, 1):
            A, b = _wells(rng, d)
            places = (0.8 * rng.normal(size=d) for _ in range(4))
            cases.append((_log_density(A, 0.3 * b), *places, rng.uniform(0.3, 0.7, d) ** rng.choice([-1, 1])))
        return cases

    def clear(*case: Any) -> bool:
        alpha = _alpha_by_densities(*case)
        return 0.05 < alpha < 0.9 or alpha == 1

    def draw_both() -> list[tuple[Any, ...]]:
        """Three paths that gain energy and three that lose some."""
        kept: dict[bool, list[tuple[Any, ...]]] = {True: [], False: []}
        while min(map(len, kept.values())) < 3:
            for case in draw():
                if clear(*case):
                    kept[_alpha_by_densities(*case) == 1].append(case)
        return kept[True][:3] + kept[False][:3]

    return telling(draw_both, _alpha_by_densities, ALPHA_MISTAKES)


def _shifted(log_density: Callable[[Any], Any], constant: float) -> Callable[[Any], Any]:
    return lambda q: log_density(q) + constant


def alpha_verdict(answer: Any, seed: int = 0) -> Verdict:
    verdict = judged(
        answer,
        _ends(seed),
        _alpha_by_densities,
        ALPHA_MISTAKES,
        stub=alpha_stub,
        right="Right. It is the exponential of the energy lost, stopped at 1; what the density is short of, its constant, cancels.",
        nudge="Not that probability. With log_density(q) = -(q_1^2 + q_2^2) / 2, q = [1, 1], p = [1, 1], q_new = [0, 0], p_new = [2, 2] "
        "and inverse_mass = [0.5, 0.5] the energies are 1.5 and 2, and the probability is 0.6065. The other way round it is 1.",
    )
    far = [(_shifted(f, constant), *rest) for f, *rest in _ends(seed) for constant in (-800.0, 800.0)]
    # single precision leaves four digits of a difference of such numbers
    if verdict.passed and not quiet(answer, far, _alpha_by_densities, {}, right="", nudge="", rtol=5e-3).passed:
        return Verdict(False, CONSTANT)
    return verdict


class _Roll:
    """One leapfrog step with unit masses."""

    def __init__(self, slope: Callable[..., Any], h: float):
        self.slope, self.h = slope, h

    def __call__(self, q: Any, p: Any) -> tuple[Any, Any]:
        half = p + self.h / 2 * self.slope(q)
        new = q + self.h * half
        return new, half + self.h / 2 * self.slope(new)


@lru_cache(maxsize=64)
def _rolls(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 274])

    def one() -> tuple[tuple[Any, ...], bool]:
        """A step whose coin does not lie on its edge, and whether it is accepted though energy is gained."""
        while True:
            d = int(rng.integers(1, 4))
            A, b = _wells(rng, d)
            path, log_density = _Roll(_slope(A, b), float(rng.uniform(0.8, 1.1))), _log_density(A, b)
            q, p, noise = 0.9 * rng.normal(size=(3, d))
            keep, u = float(rng.uniform(0.7, 0.9)), float(rng.uniform(0.1, 0.9))
            kicked = keep * p + np.sqrt(1 - keep**2) * noise
            q_new, p_new = path(q, kicked)
            lost = log_density(q_new) - log_density(q) + (kicked @ kicked - p_new @ p_new) / 2
            if abs(np.log(u) - lost) > 0.03 and abs(lost) < 4:
                return (q, p, noise, keep, u, path, log_density), bool(np.log(u) < lost)

    def draw() -> list[tuple[Any, ...]]:
        kept: dict[bool, list[tuple[Any, ...]]] = {True: [], False: []}
        while min(map(len, kept.values())) < 6:
            case, accepted = one()
            kept[accepted].append(case)
        return kept[True][:6] + kept[False][:6]

    return telling(draw, _step_by_densities, with_kin(STEP_MISTAKES, STEP_KIN))


def _refused_momentum(answer: Any, cases: list[tuple[Any, ...]]) -> bool:
    """Whether an answer that is not right is so but for the momentum after a refusal."""

    def given(case: tuple[Any, ...]) -> Any:
        got, want = read(call(answer, *case), (case[0], case[1])), _step_by_densities(*case)
        return (got, want) if want[0] is not case[0] else (got[:1], want[:1])

    try:
        return all(agree(numbers(got), numbers(want), 1e-4) for got, want in map(given, cases))
    except Trouble:
        return False


def step_verdict(answer: Any, seed: int = 0) -> Verdict:
    nudge = (
        "Not that step. With q = [1], p = [1], noise = [2], keep = 0.6, path(q, p) = (q + p, p - 2 q) and log_density(q) = -q^2 / 2 for "
        "one coordinate the path begins at (1, 2.2) and leads to (3.2, 0.2), with probability 0.1086. For u = 0.1 "
        "that is where the step ends; "
        "for u = 0.2 it ends with q = [1]."
    )
    verdict = judged(
        answer,
        _rolls(seed),
        _step_by_densities,
        with_kin(STEP_MISTAKES, STEP_KIN),
        stub=step_stub,
        right="Right. What a refusal takes from a point reaches the one with the opposite momentum, and that one gives back as much.",
        nudge=nudge,
    )
    if verdict.message == nudge and _refused_momentum(answer, _rolls(seed)):
        return Verdict(False, "Right but for one thing: the momentum at the end of a refused path. Which one keeps the target?")
    return verdict


TASKS = (
    Task(
        "mcmc/leapfrog/path",
        "The leapfrog: the path",
        2,
        9,
        path_stub,
        (
            "One variable at a time, each with the newest value of the other: half a kick, a drift, half a kick, and again.",
            "Half a kick: p becomes p + (h/2) slope(q). A drift: q becomes q + h M^{-1} p. Each with q and p as they are at that moment.",
            "Begin with `for _ in range(steps):` and, within it, `p = p + h / 2 * slope(q)`; this p moves q, and the new q moves p again.",
        ),
        PATH_MISTAKES,
        path_verdict,
    ),
    Task(
        "mcmc/leapfrog/volume",
        "The leapfrog: volume",
        2,
        12,
        volume_stub,
        (
            "How does the end move if one of the 2d coordinates of the start is nudged? Do it for each of them.",
            "|det J| with J_jk = (end_k(x + e_j s) - end_k(x - e_j s)) / (2 s), where x is q and p in one array and s is small.",
            "Begin with `x, d = np.concatenate([q, p]), len(q)`",
        ),
        VOLUME_MISTAKES,
        volume_verdict,
    ),
    Task(
        "mcmc/leapfrog/way-back",
        "The leapfrog: the way back",
        2,
        5,
        way_back_stub,
        (
            "What would you do with a ball whose motion runs backwards? Where, and how fast, should it be in the end?",
            "S Phi S Phi x = x, where Phi is the path and S turns the momentum round.",
            "Begin with `far, speed = path(q, p)`",
        ),
        WAY_BACK_MISTAKES,
        way_back_verdict,
    ),
    Task(
        "mcmc/leapfrog/acceptance",
        "The leapfrog: the test",
        2,
        7,
        alpha_stub,
        (
            "The ratio of the densities of position and momentum together, after the path and before it, stopped at 1.",
            "H(q, p) = -log pi(q) + (1/2) sum over j of p_j^2 / M_j is minus the log of that density, but for a constant.",
            "Begin by writing a small function: `def energy(q, p):`",
        ),
        ALPHA_MISTAKES | {"ratio of exponentials": Mistake(_ratio_of_exponentials, CONSTANT)},
        alpha_verdict,
    ),
    Task(
        "mcmc/leapfrog/step",
        "The leapfrog: a step that keeps part of its momentum",
        2,
        12,
        step_stub,
        (
            "Kick, path, test. Then draw up an account: what reaches a point by acceptance, and from where must the rest of it come?",
            "The kick: keep p + (1 - keep^2)^{1/2} noise. A path that ends at (q, p) is, turned round, one that begins at (q, -p), and as "
            "much is accepted on the one as on the other. So (q, p) lacks just what is refused to those who begin at (q, -p).",
            "Begin with `p = keep * p + np.sqrt(1 - keep**2) * noise`. Whoever is refused at (q, p) is lacking at the point with the same "
            "q and the opposite momentum.",
        ),
        STEP_MISTAKES,
        step_verdict,
    ),
)
