"""No skew yet. Roads: bisection, which does not care whether gamma is 0, and finite differences in gamma."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.errors import ConcretizationTypeError
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, numbers
from course_pkg.checks.lambertw._tools import W, density, judge_real, origin, real, steep


def _log_density(u: Any, gamma: float) -> Any:
    return np.log(density(u, gamma))


def _score_by_differences(u: Any) -> Any:
    return steep(lambda gamma: _with_scipy(u, gamma), 0.0)


def _with_scipy(u: Any, gamma: float) -> Any:
    w = W(gamma * u)
    return norm.logpdf(w / gamma) - w - np.log1p(w)


def _and_slope(f: Any) -> Any:
    return lambda u, gamma: (f(u, gamma), steep(lambda skew: f(u, skew), gamma))


def score_stub(u: np.ndarray) -> Any:
    raise NotImplementedError


def origin_stub(u: Any, gamma: Any) -> Any:
    raise NotImplementedError


def log_density_stub(u: Any, gamma: Any) -> Any:
    raise NotImplementedError


ZERO_OVER_ZERO = "Not a number at gamma = 0: there you divide 0 by 0."
NAN_SLOPE = (
    "JAX's derivative at gamma = 0 is not a number, though the value is one. `jnp.where` computes both sides and drops one; a derivative "
    "passes through both, and 0/0 stays on its way."
)
NO_JAX = "JAX cannot differentiate your function. Use jnp and the given lambertw throughout, not np or SciPy."
AN_IF = (
    "Right as it stands, but JAX cannot compile it: while it does, gamma has no value for your `if` to compare. Is there a form without?"
)
FLAT = (
    "The values are right, and the derivative at gamma = 0 comes out as 0 for every u. At zero you return something that does not contain "
    "gamma, and a climb that starts there never leaves."
)
COARSE = (
    "Right in double precision, and wrong in single at gamma = 0, which is what JAX computes in unless told otherwise. Dividing by "
    "something close to zero loses the digits; there is a form that divides by nothing."
)
NEAR_ZERO = (
    "Right at gamma = 0 and far from it, and off in single precision where gamma is small, such as 0.00001. Dividing by gamma loses the "
    "digits of the derivative there, and a series cut short has too few. There is a form that needs neither."
)
SCORE_MISTAKES = {
    "flat": Mistake(
        lambda u: 0 * u,
        "You say that no datum cares about the skew where there is none. That the map is the identity at gamma = 0 says nothing about how "
        "it changes with gamma.",
    ),
    "stretch forgotten": Mistake(
        lambda u: u**3,
        "You differentiated the normal density of z. The density is also divided by the slope of the map, which changes with gamma.",
    ),
    "stretch alone": Mistake(
        lambda u: -2 * u,
        "You differentiated the slope of the map only. z changes with gamma, too, and with it its normal density.",
    ),
    "stretch multiplied": Mistake(
        lambda u: u**3 + 2 * u,
        "The slope of the map has the wrong sign: the density is divided by it.",
    ),
    "all turned": Mistake(
        lambda u: 2 * u - u**3,
        "Both signs are turned. A datum far on the right speaks for a positive gamma.",
    ),
    "origin turned": Mistake(
        lambda u: -(u**3) - 2 * u,
        "The first term has the wrong sign. A positive gamma lets u come from a z that is nearer to 0, whose density is higher.",
    ),
    "half a stretch": Mistake(
        lambda u: u**3 - u,
        "The slope of z e^(gamma z) has two terms, and both change with gamma. You have one of them.",
    ),
    "dz": Mistake(
        lambda u: -(u**2),
        "That is how fast z moves with gamma. The log density was asked for.",
    ),
    "summed": Mistake(
        lambda u: (u**3 - 2 * u).sum(),
        "That is the sum over the data. One number for each u was asked for.",
    ),
}


def _by_safe_division(u, gamma):
    nonzero = jnp.where(gamma == 0, 1.0, gamma)
    return jnp.where(gamma == 0, u, _w(gamma * u) / nonzero)


def _w(x):
    from course_pkg.lambertw import lambertw

    return lambertw(x)


def _switch(u, gamma):
    if abs(gamma) < 1e-3:
        return u - gamma * u**2 + 1.5 * gamma**2 * u**3
    return _w(gamma * u) / gamma


def _case_with_slope(width):
    def answer(u, gamma):
        near = jnp.abs(gamma) <= width
        return jnp.where(near, u - gamma * u**2, _w(gamma * u) / jnp.where(near, 1.0, gamma))

    return answer


ORIGIN_MISTAKES = {
    "two terms near zero": Mistake(_case_with_slope(1e-2), NEAR_ZERO),
    "0/0": Mistake(lambda u, gamma: _w(gamma * u) / gamma, ZERO_OVER_ZERO),
    "where": Mistake(lambda u, gamma: jnp.where(gamma == 0, u, _w(gamma * u) / gamma), NAN_SLOPE),
    "if": Mistake(_switch, AN_IF),
    "flat": Mistake(_by_safe_division, FLAT),
    "a small number": Mistake(lambda u, gamma: _w((gamma + 1e-7) * u) / (gamma + 1e-7), COARSE),
    "gamma z": Mistake(
        lambda u, gamma: _w(gamma * u),
        "That is gamma z. Dividing it by gamma is what must be avoided; look for z in another place of the equation.",
    ),
    "sign": Mistake(
        lambda u, gamma: u * jnp.exp(_w(gamma * u)),
        "u is z e^(gamma z): to get z, divide u by the exponential.",
    ),
    "u in the exponent": Mistake(
        lambda u, gamma: u * jnp.exp(-gamma * u),
        "You put u where z belongs: the exponent holds gamma z, and that is W(gamma u). It agrees at gamma = 0, slope included.",
    ),
    "first two terms": Mistake(
        lambda u, gamma: u - gamma * u**2,
        "That is the beginning of the series at gamma = 0: right there, slope included, and wrong further out. "
        "There is a form that holds everywhere.",
    ),
    "forward": Mistake(
        lambda u, gamma: u * jnp.exp(gamma * u),
        "You went forward. Where does u come from?",
    ),
}


CONSTANT = 0.5 * np.log(2 * np.pi)


def _jax_log_density(stretch, z=lambda u, gamma: u * jnp.exp(-_w(gamma * u)), constant=CONSTANT):
    def answer(u, gamma):
        place = z(u, gamma)
        return -0.5 * place**2 - constant + stretch(gamma * place)

    return answer


def _log_switch(u, gamma):
    if gamma == 0:
        return jax.scipy.stats.norm.logpdf(u) + gamma * (u**3 - 2 * u)
    return _jax_log_density(lambda c: -c - jnp.log1p(c))(u, gamma)


LOG_DENSITY_MISTAKES = {
    "if": Mistake(_log_switch, AN_IF),
    "flat": Mistake(
        lambda u, gamma: jnp.where(
            gamma == 0, jax.scipy.stats.norm.logpdf(u), _jax_log_density(lambda c: -c - jnp.log1p(c), _by_safe_division)(u, gamma)
        ),
        FLAT,
    ),
    "0/0": Mistake(_jax_log_density(lambda c: -c - jnp.log1p(c), lambda u, gamma: _w(gamma * u) / gamma), ZERO_OVER_ZERO),
    "flat origin": Mistake(
        _jax_log_density(lambda c: -c - jnp.log1p(c), _by_safe_division),
        "Right but for the derivative at gamma = 0, to which your z contributes nothing there. Use your `origin` from Part 2.",
    ),
    "stretch forgotten": Mistake(
        _jax_log_density(lambda c: 0.0),
        "That is the normal log density at z. Subtract the log slope of the map.",
    ),
    "stretch added": Mistake(
        _jax_log_density(lambda c: c + jnp.log1p(c)),
        "You added the log slope of the map. Where the map stretches, the density is lower.",
    ),
    "one factor": Mistake(
        _jax_log_density(lambda c: -c),
        "The slope of the map is e^(gamma z) (1 + gamma z). You took the first factor only.",
    ),
    "other factor": Mistake(
        _jax_log_density(lambda c: -jnp.log1p(c)),
        "The slope of the map is e^(gamma z) (1 + gamma z). You took the second factor only.",
    ),
    "u in the slope": Mistake(
        lambda u, gamma: _jax_log_density(lambda c: 0.0)(u, gamma) - gamma * u - jnp.log1p(gamma * u),
        "The bell is right. In the slope of the map it is z that stands beside gamma, not u.",
    ),
    "not the logarithm": Mistake(
        lambda u, gamma: jnp.exp(_jax_log_density(lambda c: -c - jnp.log1p(c))(u, gamma)),
        "That is the density. Its logarithm was asked for.",
    ),
    "constant": Mistake(
        _jax_log_density(lambda c: -c - jnp.log1p(c), constant=0.0),
        "Right but for the constant of the normal density, -log(2 pi) / 2.",
    ),
    "normal at u": Mistake(
        lambda u, gamma: (
            jax.scipy.stats.norm.logpdf(u)
            + _jax_log_density(lambda c: -c - jnp.log1p(c))(u, gamma)
            - _jax_log_density(lambda c: 0.0)(u, gamma)
        ),
        "You evaluated the normal density at u. It is z that is normal.",
    ),
    "summed": Mistake(
        lambda u, gamma: _jax_log_density(lambda c: -c - jnp.log1p(c))(u, gamma).sum(),
        "That is the sum over the data. One number for each u was asked for.",
    ),
}


def _in(double: bool, answer: Any, u: Any, gamma: float) -> Any:
    """Value and derivative in gamma, as JAX finds it."""
    with jax.enable_x64(double):
        inputs, skew = jnp.asarray(u), jnp.asarray(gamma)
        value = np.asarray(numbers(real(answer(inputs, skew)))[0])
        if gamma == 0 and np.isnan(value).any():
            raise Trouble(ZERO_OVER_ZERO)
        try:  # backwards, as a climb does
            slope = np.asarray(jax.jacrev(lambda t: answer(inputs, t))(skew), dtype=float)
        except Exception:  # whatever a student's function does with a tracer
            raise Trouble(NO_JAX) from None
    if gamma == 0 and np.isfinite(value).all() and np.isnan(slope).any():
        raise Trouble(NAN_SLOPE)
    return value, slope


PARTS = ("the value", "its derivative in gamma")


def _verdict(answer: Any, seed: list[int], reference: Any, mistakes: dict[str, Mistake], right: str, nudge: str) -> Verdict:
    rng = np.random.default_rng(seed)
    skews = (0.0, float(rng.uniform(0.15, 0.22)), -float(rng.uniform(0.15, 0.22)))
    cases = [(np.concatenate([rng.uniform(-1.4, -0.5, 2), rng.uniform(0.5, 1.4, 2)]), gamma) for gamma in skews]
    words = {"right": right, "nudge": nudge, "rtol": 1e-5, "parts": PARTS}
    verdict = judge_real(answer, cases, reference, mistakes, lambda called, *case: _in(True, called, *case), **words)
    if not verdict.passed:
        return verdict
    single = judge_real(answer, cases, reference, {}, lambda called, *case: _in(False, called, *case), **(words | {"rtol": 1e-3}))
    if not single.passed:
        return Verdict(False, COARSE)
    if not _compiles(answer, *cases[0]):
        return Verdict(False, AN_IF)
    small = [(cases[0][0], gamma) for gamma in (8e-3, 1e-3, -1e-5, 1e-6, 1e-7)]
    near = judge_real(answer, small, reference, {}, lambda called, *case: _in(False, called, *case), **(words | {"rtol": 2e-3}))
    return verdict if near.passed else Verdict(False, NEAR_ZERO)


def _compiles(answer: Any, u: Any, gamma: float) -> bool:
    try:
        jax.jit(answer)(jnp.asarray(u), jnp.asarray(gamma))
    except ConcretizationTypeError:
        return False
    return True


def score_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 650])
    return judge_real(
        answer,
        [(rng.uniform(-2.5, 2.5, 6),)],
        _score_by_differences,
        SCORE_MISTAKES,
        right="Right. Where there is no skew yet, nearly every datum has an opinion on it.",
        nudge="Not that derivative. At u = 1 it is -1, at u = 2 it is 4, and at u = -2 it is -4.",
    )


def origin_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        [seed, 651],
        _and_slope(origin),
        ORIGIN_MISTAKES,
        right="Right: at zero, close to it and further out, in both precisions.",
        nudge="Not that z. With u = e and gamma = 1 it is 1, with u = 2e and gamma = 1/2 it is 2, and with gamma = 0 it is u.",
    )


def log_density_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        [seed, 652],
        _and_slope(_log_density),
        LOG_DENSITY_MISTAKES,
        right="Right, and a climb may start at no skew at all.",
        nudge="Not that log density. At u = 0 it is -0.919 whatever gamma is; with gamma = 1 it is -3.112 at u = e, where z = 1.",
    )


TASKS = (
    Task(
        "lambertw/gamma-zero/score",
        "No skew yet: what the data say",
        2,
        9,
        score_stub,
        (
            "Write z as a series in gamma to first order, put it into the log density, and keep what is linear in gamma.",
            "z = u - gamma u^2 + ..., log p = -z^2/2 - gamma z - log(1 + gamma z) + const.",
            "Begin with `from_the_bell = u * u**2`, which is -z dz/dgamma.",
        ),
        SCORE_MISTAKES,
        score_verdict,
    ),
    Task(
        "lambertw/gamma-zero/origin",
        "No skew yet: a form without a case",
        2,
        8,
        origin_stub,
        (
            "u = z e^(gamma z). You know gamma z as a value of W. Which other factor of the right-hand side do you know, then?",
            "z = u e^(-gamma z), and gamma z = W(gamma u).",
            "Begin with `w = lambertw(gamma * u)`",
        ),
        ORIGIN_MISTAKES,
        origin_verdict,
    ),
    Task(
        "lambertw/gamma-zero/log-density",
        "No skew yet: the log density",
        2,
        7,
        log_density_stub,
        (
            "The normal log density at z, less the log slope of the map. Is there any division left?",
            "log p(u) = log phi(z) - gamma z - log(1 + gamma z).",
            "Begin with `z = origin(u, gamma)`",
        ),
        LOG_DENSITY_MISTAKES,
        log_density_verdict,
    ),
)
