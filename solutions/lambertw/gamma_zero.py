"""No skew yet. Roads: bisection, which does not care whether gamma is 0, and finite differences in gamma."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Trouble, numbers
from course_pkg.checks.record import Record
from solutions.lambertw import _tools
from solutions.lambertw._tools import W, density, real, steep


def score_by_differences(u):
    def log_density(gamma):
        w = W(gamma * u)
        return norm.logpdf(w / gamma) - w - np.log1p(w)

    return steep(log_density, 0.0)


and_slope = lambda f: lambda u, gamma, *_: (f(u, gamma), steep(lambda skew: f(u, skew), gamma))


def value_and_slope(answer, u, gamma, how="double"):
    """Value and derivative in gamma, as JAX finds it: in double precision, in single, or compiled."""
    with jax.enable_x64(how == "double"):
        inputs, skew = jnp.asarray(u), jnp.asarray(gamma)

        def of_skew(gamma):
            return real(answer, inputs, gamma)

        if how == "compiled":
            try:
                jax.eval_shape(of_skew, skew)
            except Exception as error:  # whatever a student's function does with a tracer
                raise Trouble(AN_IF) from error
        value = np.asarray(numbers(of_skew(skew))[0])
        if gamma == 0 and np.isnan(value).any():
            raise Trouble(ZERO_OVER_ZERO)
        try:  # backwards, as a climb does
            slope = np.asarray(jax.jacrev(of_skew)(skew), dtype=float)
        except Exception:  # as above
            raise Trouble(NO_JAX) from None
    if gamma == 0 and np.isfinite(value).all() and np.isnan(slope).any():
        raise Trouble(NAN_SLOPE)
    return value, slope


places = lambda rng: np.concatenate([rng.uniform(-1.4, -0.5, 2), rng.uniform(0.5, 1.4, 2)])
three_skews = lambda rng, *how: [(places(rng), gamma, *how) for gamma in (0.0, rng.uniform(0.15, 0.22), -rng.uniform(0.15, 0.22))]


def small_skews(rng):
    u = places(rng)
    return [(u, gamma, "single") for gamma in (8e-3, 1e-3, -1e-5, 1e-6, 1e-7)]


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
SCORE = Record(
    cases=lambda rng: [(rng.uniform(-2.5, 2.5, 6),)],
    reference=score_by_differences,
    right="Right. Where there is no skew yet, nearly every datum has an opinion on it.",
    nudge="Not that derivative. At u = 1 it is -1, at u = 2 it is 4, and at u = -2 it is -4.",
    hints=(
        "Write z as a series in gamma to first order, put it into the log density, and keep what is linear in gamma.",
        "z = u - gamma u^2 + ..., log p = -z^2/2 - gamma z - log(1 + gamma z) + const.",
        "Begin with `from_the_bell = u * u**2`, which is -z dz/dgamma.",
    ),
    mistakes={
        "That the map is the identity at gamma = 0 says nothing about how it changes with gamma.": "\nreturn 0 * u",
        "You differentiated the normal density of z. The density is also divided by the slope of the map, which changes with gamma.": "+ from_the_stretch -> ",
        "You differentiated the slope of the map only. z changes with gamma, too, and with it its normal density.": "from_the_bell + -> ",
        "The slope of the map has the wrong sign: the density is divided by it.": "-2 -> 2",
        "The slope of z e^(gamma z) has two terms, and both change with gamma. You have one of them.": "-2 * u -> -u",
    },
)
ORIGIN = Record(
    cases=three_skews,
    reference=and_slope(_tools.origin),
    right="Right: at zero, close to it and further out, in both precisions.",
    nudge="Not that z. With u = e and gamma = 1 it is 1, with u = 2e and gamma = 1/2 it is 2, and with gamma = 0 it is u.",
    hints=(
        "u = z e^(gamma z). You know gamma z as a value of W. Which other factor of the right-hand side do you know, then?",
        "z = u e^(-gamma z), and gamma z = W(gamma u).",
        "Begin with `w = lambertw(gamma * u)`",
    ),
    mistakes={
        ZERO_OVER_ZERO: "u * jnp.exp(-w) -> w / gamma",
        NAN_SLOPE: "return u * jnp.exp(-w) -> return jnp.where(gamma == 0, u, w / gamma)",
        FLAT: "return u * jnp.exp(-w) -> return jnp.where(gamma == 0, u, w / jnp.where(gamma == 0, 1.0, gamma))",
        "You put u where z belongs: the exponent holds gamma z, and that is W(gamma u). It agrees at gamma = 0, slope included.": "(-w) -> (-gamma * u)",
        "That is the beginning of the series at gamma = 0, and wrong further out. There is a form that holds everywhere.": "u * jnp.exp(-w) -> u - gamma * u**2",
    },
    later={
        COARSE: (lambda rng: three_skews(rng, "single"), "\nnear = gamma + 1e-7\nreturn lambertw(near * u) / near"),
        AN_IF: (
            lambda rng: [(places(rng), 0.0, "compiled")],
            """
            if abs(gamma) < 1e-3:
                return u - gamma * u**2 + 1.5 * gamma**2 * u**3
            return lambertw(gamma * u) / gamma
            """,
        ),
        NEAR_ZERO: (
            small_skews,
            """
            near = jnp.abs(gamma) < 1e-2
            return jnp.where(near, u - gamma * u**2, lambertw(gamma * u) / jnp.where(near, 1.0, gamma))
            """,
        ),
    },
    parts=("the value", "its derivative in gamma"),
    view=value_and_slope,
)
LOG_DENSITY = Record(
    cases=three_skews,
    reference=and_slope(lambda u, gamma: np.log(density(u, gamma))),
    right="Right, and a climb may start at no skew at all.",
    nudge="Not that log density. With gamma = 1 and u = 2.718, where z = 1, it is -3.112; where u is 0 it is -0.919 whatever gamma is.",
    hints=(
        "The normal log density at z, less the log slope of the map. Is there any division left?",
        "log p(u) = log phi(z) - gamma z - log(1 + gamma z).",
        "Begin with `z = origin(u, gamma)`",
    ),
    mistakes={
        FLAT: """
            skew = jnp.where(gamma == 0, 1.0, gamma)
            z = origin(u, skew)
            skewed = jax.scipy.stats.norm.logpdf(z) - skew * z - jnp.log1p(skew * z)
            return jnp.where(gamma == 0, jax.scipy.stats.norm.logpdf(u), skewed)
            """,
        ZERO_OVER_ZERO: "origin(u, gamma) -> lambertw(gamma * u) / gamma",
        "Right but for the derivative at gamma = 0, to which your z contributes nothing there. Use your `origin` from Part 2.": (
            "origin(u, gamma) -> jnp.where(gamma == 0, u, lambertw(gamma * u) / jnp.where(gamma == 0, 1.0, gamma))"
        ),
        "That is the normal log density at z. Subtract the log slope of the map.": "- gamma * z - jnp.log1p(gamma * z) -> ",
        "The slope of the map is e^(gamma z) (1 + gamma z). You took the first factor only.": "- jnp.log1p(gamma * z) -> ",
        "The bell is right. In the slope of the map it is z that stands beside gamma, not u.": "gamma * z -> gamma * u",
    },
    later={
        COARSE: (lambda rng: three_skews(rng, "single"), "origin(u, gamma) -> lambertw((gamma + 1e-7) * u) / (gamma + 1e-7)"),
        AN_IF: (
            lambda rng: [(places(rng), 0.0, "compiled")],
            "z = -> if gamma == 0:\n    return jax.scipy.stats.norm.logpdf(u) + gamma * (u**3 - 2 * u)\nz =",
        ),
        NEAR_ZERO: (
            small_skews,
            "origin(u, gamma) -> jnp.where(abs(gamma) < 1e-2, u - gamma * u**2, lambertw(gamma * u) / jnp.where(gamma == 0, 1.0, gamma))",
        ),
    },
    parts=("the value", "its derivative in gamma"),
    view=value_and_slope,
)
TASKS = {"score": SCORE, "origin": ORIGIN, "log-density": LOG_DENSITY}
