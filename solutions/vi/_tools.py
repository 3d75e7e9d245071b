"""What several records of this chapter share: a normal sample, bounds at two places, mean logarithms without digamma, parameters near 0."""

from itertools import product

import numpy as np
from scipy.stats import gamma, norm

from course_pkg.checks._judge import numbers

TINY = 1e-3
NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)
AT, MASS = (NODES + 1) / 2, WEIGHTS / 2
ABOVE = 3  # the integrand is smooth three above a parameter; a recurrence leads back
CUT = (
    "Right for moderate parameters. Parameters of 0.001 and 0.002 have mean logarithms hundreds apart, and then one topic has nearly all "
    "the probability. Exponentials may round to 0 there, and logarithms cut off below, or parameters raised, become alike. Take the "
    "largest logarithm off before the exponential, and change nothing else."
)
CROSSED = (
    "Right but for one thing. Where a note has 0.001 for one topic and an entry 0.001 for all others, every product of an exponential of "
    "the note's with one of the entry's rounds to 0, even if the largest of either was taken off before. Add the logarithms of note and "
    "entry first, then take the largest sum off."
)


def beside(other):
    """A view: how much an answer moves from ``other(*case)`` to a case, and its value there. What is off may be the same for every q."""

    def view(answer, *case):
        value, there = numbers(answer(*case)), numbers(answer(*other(*case)))
        return (value[0] - there[0], value[0]) if len(value) == len(there) == 1 else value

    return view


def log_joint(mu, precision, x, m, tau, alpha, beta):
    """The log of prior times likelihood of a normal sample x, density by density: mu is N(m, 1 / tau), its precision Gamma(alpha, beta)."""
    prior = norm.logpdf(mu, m, tau**-0.5) + gamma.logpdf(precision, alpha, scale=1 / beta)
    return prior + sum(norm.logpdf(one, mu, precision**-0.5) for one in x)


def parabola(f):
    """The top of a log density that is a parabola, and its precision, from three places."""
    low, middle, high = map(f, (-1.0, 0.0, 1.0))
    bend = 2 * middle - low - high
    return (high - low) / 2 / bend, bend


def gamma_of(f):
    """Shape and rate of a gamma from its log density c + (a - 1) log g - b g at five places."""
    at = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
    _, a, b = np.linalg.lstsq(np.stack([np.ones(5), np.log(at), -at], axis=1), np.array([f(g) for g in at]))[0]
    return a + 1, b


def mean_logs(eta):
    """Means of the logarithms under a Dirichlet, along the last axis, by quadrature of (x^(a-1) - x^(s-1)) / (1 - x)."""
    one = np.asarray(eta, dtype=float)
    total = one.sum(axis=-1, keepdims=True)
    high = (AT ** (one[..., None] + ABOVE - 1) - AT ** (total[..., None] + ABOVE - 1)) / (1 - AT) @ MASS
    return sum(1 / (total + j) - 1 / (one + j) for j in range(ABOVE)) - high


# Probabilities along the last axis from differences of their logarithms
shared = lambda scores: 1 / np.exp(scores[..., None, :] - scores[..., :, None]).sum(axis=-1)


def assignments(z):
    """Every way to give each word one topic, with its probability if word l has topic k with probability z[l, k]."""
    for chosen in product(range(z.shape[1]), repeat=len(z)):
        yield np.array(chosen), float(np.prod(z[np.arange(len(z)), np.array(chosen)]))


def edge(kind, pi, B, entry):
    """Tables with parameters near 0, of the first note, of one entry, or of both."""
    pi, B, steps, first = pi.copy(), B.copy(), TINY * (1 + np.arange(len(B))), np.arange(len(B)) == 0
    notes = {"graded note": steps, "tiny": TINY, "crossed": np.where(first, TINY, pi[0]), "lopsided": np.where(first, TINY, pi[0])}
    entries = {"graded entry": steps, "tiny": TINY, "crossed": np.where(first, B[:, entry], TINY)}
    pi[0], B[:, entry] = notes.get(kind, pi[0]), entries.get(kind, B[:, entry])
    return pi, B


def edges(cases, underflow, cut, naive, apart):
    """Later cases with parameters near 0: logarithms cut off, exponentials that round to 0, and products of them that do."""
    return {
        CUT: (lambda rng: [*cases(rng, "graded note"), *cases(rng, "graded entry")], cut),
        underflow: (lambda rng: cases(rng, "tiny"), naive),
        CROSSED: (lambda rng: cases(rng, "crossed"), apart),
    }
