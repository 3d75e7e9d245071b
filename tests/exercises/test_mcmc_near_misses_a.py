"""The first sheets on Monte Carlo and chains: what is nearly right must not pass, what is right in another way must."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special
from scipy.stats import norm

from course_pkg.decisions import normalised_weights
from course_pkg.mcmc import langevin, metropolis_hastings, random_walk
from course_pkg.mcmc import self_normalised as ratio
from solutions.mcmc import self_normalised
from solutions.mcmc._keys import BELL, SKEWED, Case, moments
from tests.exercises import near_misses

CHAPTER = "mcmc/"
KEYS = ("find-the-key/first", "find-the-key/second", "find-the-key/third")
SHEETS = ("self-normalised", "dimensions-price", "metropolis", "find-the-key")


def _a(*numbers):
    return np.array(numbers, dtype=float)


# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "self-normalised/estimate": [((_a(1, 2, 4), np.log(_a(1, 1, 2))), 2.75)],
    "self-normalised/standard-error": [((_a(0, 4), np.log(_a(3, 1))), 1.061)],
    "self-normalised/limit": [((lambda x: x**2, 1.4), 1.157)],
    "dimensions-price/nodes": [((2, 0.17), 25)],
    "dimensions-price/log-variance": [((_a(2),), -0.262), ((_a(1, 2),), 0.144)],
    "dimensions-price/most-dimensions": [((2.0, 1_000), 50), ((0.6, 1_000), 19)],
    "metropolis/matrix": [((_a(1, 2), _a([0.5, 0.5], [1, 0])), [[0.5, 0.5], [0.25, 0.75]])],
    "metropolis/walk": [((0, _a(1, 2, 4), 0.8, np.array([1, -1, -1, 1, -1]), _a(0.47, 0.9, 0.6, 0.3, 0.7)), [1, 0, 2, 2, 1])],
    "metropolis/step": [((_a(1, 1, 1), _a(0.34657, 0.34657, -0.34657), _a(0.7, 0.8, 0.9), lambda x: -x, 2.0), [2, 1, 1])],
}


def _w(x):
    return np.exp(x - x.max())


def _p(x):
    return _w(x) / _w(x).sum()


def _clipped(x, most):
    w = np.minimum(_w(x) / _w(x).mean(), most)
    return w / w.sum()


def _error(f, p):
    return np.sqrt((p**2 * (f - p @ f) ** 2).sum())


X = np.linspace(-25, 25, 20_001)


def _quad(f, s, law, centre=None):
    """The integral of a law, given by its logarithm, times the squared distance of f from I."""
    mean = np.trapezoid(norm.pdf(X) * f(X), X) if centre is None else centre
    return np.trapezoid(np.exp(law(s)) * (f(X) - mean) ** 2, X)


def _squared(s):
    return 2 * norm.logpdf(X) - norm.logpdf(X, 0, s)


def _if_finite(answer, at=0.5, else_=np.inf):
    return lambda f, s: answer(f, s) if s**2 > at else else_


def _simulated(draws):
    def answer(f, s):
        if s**2 <= 0.5:
            return np.inf
        x = s * np.random.default_rng(0).normal(size=draws)
        w = norm.pdf(x) / norm.pdf(x, 0, s)
        return np.mean(w**2 * (f(x) - np.mean(w * f(x))) ** 2)

    return answer


def _cut(edge):
    def answer(f, s):
        x = np.linspace(-edge, edge, 4_001)
        mean = np.trapezoid(norm.pdf(x) * f(x), x)
        return np.trapezoid(norm.pdf(x) ** 2 / norm.pdf(x, 0, s) * (f(x) - mean) ** 2, x) if s**2 > 0.5 else np.inf

    return answer


def _shifted(f, x, level):
    return np.exp(x - level) @ f / np.exp(x - level).sum()


def _of_mean_square(f, x, w):
    return np.sqrt(np.mean(w**2 * (f - w @ f / w.sum()) ** 2) / len(f))


def _log_v(v):
    return np.log(v) - 0.5 * np.log(2 * v - 1)


def _sum_v(v, each=_log_v, first=lambda v: np.log(2 - 1 / v[0])):
    return each(v).sum() - first(v) if (v > 0.5).all() else np.inf


def _most(v, S, add=0.0):
    return max(0, math.floor((math.log(S) + math.log(2 - 1 / v)) / _log_v(v) + add))


def _alpha(w, s):
    return np.minimum(1, w[None, :] * s.T / (w[:, None] * s))


def _rest_stays(P):
    P = P - np.diag(np.diag(P))
    return P + np.diag(1 - P.sum(1))


def _walk(accept, place=lambda x, k: x % k):
    def answer(start, w, up, moves, coins):
        x, path = start, []
        for move, coin in zip(moves, coins, strict=True):
            y = int(place(x + move, len(w)))
            there = up if move > 0 else 1 - up
            x = y if accept(w[y] / w[x], (1 - there) / there, coin) else x
            path.append(x)
        return path

    return answer


def _step(gain, accept=lambda coin, g: np.log(coin) < g, factor=lambda m: np.exp(m)):
    def answer(x, noise, coin, log_density, scale):
        y = x * factor(scale * noise)
        return np.where(accept(coin, gain(log_density(y) - log_density(x), x, y)), y, x)

    return answer


def _all(g, x, y):
    return g + np.log(y / x)


def _log_u(key, x):
    return jnp.log(jax.random.uniform(key, x.shape))


def _rw(key, x, log_density, scale, noise=None, log_u=None, rule=lambda u, g: u < g):
    move, coin = jax.random.split(key)
    y = x + scale * (jax.random.normal(move, x.shape) if noise is None else noise(move, x))
    return jnp.where(rule(_log_u(coin, x) if log_u is None else log_u(coin, x), log_density(y) - log_density(x)), y, x)


def _varied(**how):
    return lambda key, x, log_density, scale: _rw(key, x, log_density, scale, **how)


def _repeat(step):
    def answer(key, x, steps, log_density, scale):
        for k in jax.random.split(key, steps):
            x = step(k, x, log_density, scale)
        return x

    return answer


def _path(key, x, steps, log_density, scale):
    path = []
    for k in jax.random.split(key, steps):
        x = _rw(k, x, log_density, scale)
        path.append(x)
    return jnp.stack(path)


def _every_chain_the_same(key, x, steps, log_density, scale):
    return _repeat(_varied(noise=lambda k, x: jax.random.normal(k)))(key, x, steps, log_density, scale)


def _folded(move, coin):
    def answer(key, x, steps, log_density, scale):
        for t in range(steps):
            y = x + scale * jax.random.normal(jax.random.fold_in(key, move(t)), x.shape)
            x = jnp.where(_log_u(jax.random.fold_in(key, coin(t)), x) < log_density(y) - log_density(x), y, x)
        return x

    return answer


def _grown(child):
    """The coin's key is made of the noise's."""

    def answer(key, x, steps, log_density, scale):
        for t in range(steps):
            move = jax.random.fold_in(key, t)
            y = x + scale * jax.random.normal(move, x.shape)
            x = jnp.where(_log_u(child(move), x) < log_density(y) - log_density(x), y, x)
        return x

    return answer


def _neighbours(key, x, steps, log_density, scale):
    keys = jax.random.split(key, steps + 1)
    for t in range(steps):
        y = x + scale * jax.random.normal(keys[t], x.shape)
        x = jnp.where(_log_u(keys[t + 1], x) < log_density(y) - log_density(x), y, x)
    return x


def _mala(
    key,
    x,
    log_density,
    slope,
    h,
    *,
    rule=lambda u, g: u < g,
    width=lambda h: h,
    back=1.0,
    ahead=1.0,
    seen=None,
    noise=1.0,
    keys=jax.random.split,
):
    move, coin = keys(key)
    y = x + h**2 / 2 * slope(x) + noise * h * jax.random.normal(move, x.shape)
    centre = x if seen == "x" else y
    there = -((y - x - h**2 / 2 * slope(x)) ** 2) / 2 / width(h) ** 2
    away = -((x - y - h**2 / 2 * slope(centre)) ** 2) / 2 / width(h) ** 2
    log_r = log_density(y) - log_density(x) + back * away - ahead * there
    return jnp.where(rule(_log_u(coin, x), log_r), y, x)


def _other(**how):
    return lambda key, x, log_density, slope, h: _mala(key, x, log_density, slope, h, **how)


NOT_STEP = "Not the step"
NEAR_MISSES = [
    ("self-normalised/estimate", "clipped", lambda f, x: _clipped(x, 1) @ f, "Not that estimate"),
    ("self-normalised/estimate", "roots", lambda f, x: _p(x / 2) @ f, "Not that estimate"),
    ("self-normalised/estimate", "base two", lambda f, x: _p(x * np.log(2)) @ f, ("Not that estimate", "Close, but not exact")),
    ("self-normalised/estimate", "negative", lambda f, x: -_p(x) @ f, "The sign is turned round."),
    ("self-normalised/estimate", "weighted twice", lambda f, x: _p(x) @ f / len(f), "Off by how many there are: a mean for a"),
    ("self-normalised/estimate", "terms", lambda f, x: _p(x) * f, "shape"),
    (
        "self-normalised/estimate",
        "shifted by the mean",
        lambda f, x: np.exp(x - x.mean()) @ f / np.exp(x - x.mean()).sum(),
        "hundreds apart",
    ),
    ("self-normalised/estimate", "shifted by the last", lambda f, x: np.exp(x - x[-1]) @ f / np.exp(x - x[-1]).sum(), "hundreds apart"),
    ("self-normalised/estimate", "clipped logarithms", lambda f, x: _p(np.clip(x, -30, 30)) @ f, "a logarithm is large"),
    (
        "self-normalised/estimate",
        "shifted by the first",
        lambda f, x: np.exp(x - x[0]) @ f / np.exp(x - x[0]).sum(),
        "take off the largest",
    ),
    ("self-normalised/estimate", "shifted by the median", lambda f, x: _shifted(f, x, np.median(x)), "take off the largest"),
    ("self-normalised/estimate", "shifted by the least", lambda f, x: _shifted(f, x, x.min()), "take off the largest"),
    ("self-normalised/standard-error", "sum 1", lambda f, x: _of_mean_square(f, x, _p(x)), "Off by how many there are: a mean for a"),
    ("self-normalised/standard-error", "median of f", lambda f, x: np.sqrt((_p(x) ** 2 * (f - np.median(f)) ** 2).sum()), "Not that"),
    ("self-normalised/standard-error", "two numbers", lambda f, x: (_p(x) @ f, _error(f, _p(x))), "2 values"),
    ("self-normalised/standard-error", "doubled", lambda f, x: 1.96 * _error(f, _p(x)), "Not that error"),
    ("self-normalised/standard-error", "fourth power", lambda f, x: _error(f, _p(2 * x)), "Not that error"),
    (
        "self-normalised/standard-error",
        "exponentials",
        lambda f, x: _error(f, np.exp(x) / np.exp(x).sum()),
        "until a logarithm is large",
    ),
    ("self-normalised/limit", "never infinite", lambda f, s: _quad(f, s, _squared), "Right for a wide q"),
    ("self-normalised/limit", "infinite from 1", _if_finite(lambda f, s: _quad(f, s, _squared), 1.0), "narrower than pi"),
    ("self-normalised/limit", "infinite from 0.65", _if_finite(lambda f, s: _quad(f, s, _squared), 0.65), "You say infinite"),
    ("self-normalised/limit", "infinite from s = 0.75", _if_finite(lambda f, s: _quad(f, s, _squared), 0.75**2), "You say infinite"),
    ("self-normalised/limit", "infinite from 0.55", _if_finite(lambda f, s: _quad(f, s, _squared), 0.55), "You say infinite"),
    ("self-normalised/limit", "infinite from 0.48", _if_finite(lambda f, s: _quad(f, s, _squared), 0.48), "If q is narrow"),
    ("self-normalised/limit", "infinite from s = 0.5", _if_finite(lambda f, s: _quad(f, s, _squared), 0.25), "If q is narrow"),
    ("self-normalised/limit", "grid to 4", _cut(4), "How far does your grid go"),
    ("self-normalised/limit", "grid to 5", _cut(5), "How far does your grid go"),
    ("self-normalised/limit", "grid to 8", _cut(8), "How far does your grid go"),
    ("self-normalised/limit", "a million draws", _simulated(1_000_000), ""),
    ("self-normalised/limit", "zero", _if_finite(lambda f, s: _quad(f, s, _squared), else_=0.0), "Right for a wide q"),
    ("self-normalised/limit", "not a number", _if_finite(lambda f, s: _quad(f, s, _squared), else_=np.nan), "Right for a wide q"),
    ("self-normalised/limit", "minus infinity", _if_finite(lambda f, s: _quad(f, s, _squared), else_=-np.inf), "Right for a wide q"),
    (
        "self-normalised/limit",
        "root 2 pi forgotten",
        _if_finite(lambda f, s: _quad(f, s, lambda s: _squared(s) + np.log(2 * np.pi) / 2)),
        "Not that variance",
    ),
    ("self-normalised/limit", "f at zero", _if_finite(lambda f, s: _quad(f, s, _squared, f(np.zeros(1))[0])), "Not that variance"),
    ("self-normalised/limit", "simulated", _simulated(100_000), "Close, but not exact"),
    ("self-normalised/limit", "error of 2,000 draws", _if_finite(lambda f, s: _quad(f, s, _squared) / 2_000), "Not that variance"),
    ("dimensions-price/nodes", "cut off and one more", lambda d, e: int(np.sqrt(d) / (2 * e) + 1) ** d, "cut off and add 1"),
    ("dimensions-price/nodes", "strict", lambda d, e: (math.floor(np.sqrt(d) / 2 / e) + 1) ** d, "cut off and add 1"),
    ("dimensions-price/nodes", "int64", lambda d, e: np.ceil(np.sqrt(d) / (2 * e)).astype(int) ** d, "beyond about 9e18"),
    ("dimensions-price/nodes", "one dimension", lambda d, e: math.ceil(0.5 / e), "Not that many"),
    ("dimensions-price/nodes", "both", lambda d, e: (math.ceil(np.sqrt(d) / 2 / e), d), "2 values"),
    ("dimensions-price/nodes", "root of d - 1", lambda d, e: math.ceil(np.sqrt(max(d - 1, 1)) / 2 / e) ** d, ""),
    ("dimensions-price/log-variance", "minus one", lambda v: np.log(np.expm1(np.abs(_log_v(v).sum()) + 1)), "Not that"),
    ("dimensions-price/log-variance", "mean over the coordinates", lambda v: _log_v(v).mean() - np.log(2 - 1 / v[0]), ""),
    ("dimensions-price/log-variance", "last for first", lambda v: _sum_v(v, first=lambda v: np.log(2 - 1 / v[-1])), "Not that number"),
    ("dimensions-price/log-variance", "half of all", lambda v: _sum_v(v) / 2, "Not that number"),
    ("dimensions-price/log-variance", "one for each", lambda v: _log_v(v) - np.log(2 - 1 / v), "shape"),
    ("dimensions-price/log-variance", "nan", lambda v: _log_v(v).sum() - np.log(2 - 1 / v[0]), "too narrow"),
    ("dimensions-price/log-variance", "large", lambda v: _sum_v(v) if (v > 0.5).all() else 1e300, "too narrow"),
    (
        "dimensions-price/log-variance",
        "first asked only",
        lambda v: np.abs(_log_v(np.abs(v - 0.5) + 0.5)).sum() - np.log(np.abs(2 - 1 / v[0])) if v[0] > 0.5 else np.inf,
        "",
    ),
    ("dimensions-price/log-variance", "infinite from 1", lambda v: _sum_v(v) if (v >= 1).all() else np.inf, "You say infinite"),
    ("dimensions-price/log-variance", "infinite from 0.6", lambda v: _sum_v(v) if (v > 0.6).all() else np.inf, "You say infinite"),
    ("dimensions-price/log-variance", "infinite from 0.52", lambda v: _sum_v(v) if (v > 0.52).all() else np.inf, "You say infinite"),
    ("dimensions-price/log-variance", "kept away from 1/2", lambda v: _sum_v(np.where(v > 0.5, np.maximum(v, 0.51), v)), "not so far"),
    (
        "dimensions-price/log-variance",
        "infinite from 0.48",
        lambda v: _sum_v(np.maximum(v, 0.5001)) if (v > 0.48).all() else np.inf,
        "too narrow",
    ),
    ("dimensions-price/log-variance", "product", lambda v: np.log(np.prod(v**2 / (2 * v - 1))) / 2 - np.log(2 - 1 / v[0]), ""),
    ("dimensions-price/most-dimensions", "strict by one", lambda v, S: max(0, _most(v, S) - 1), "Not that many"),
    ("dimensions-price/most-dimensions", "at least 1", lambda v, S: max(1, _most(v, S)), "the answer is 0"),
    ("dimensions-price/most-dimensions", "search to 60", lambda v, S: min(60, _most(v, S)), "stop looking too soon"),
    ("dimensions-price/most-dimensions", "search to 500", lambda v, S: min(500, _most(v, S)), "stop looking too soon"),
    ("dimensions-price/most-dimensions", "search to 2,000", lambda v, S: min(2_000, _most(v, S)), "stop looking too soon"),
    ("dimensions-price/most-dimensions", "towards zero", lambda v, S: int((np.log(S) + np.log(2 - 1 / v)) / _log_v(v)), "not negative"),
    ("dimensions-price/most-dimensions", "none if narrow", lambda v, S: _most(v, S) if v > 1 else 0, "Not that many"),
    ("metropolis/matrix", "acceptance of the ratio's root", lambda w, s: _rest_stays(s * np.minimum(1, np.sqrt(_alpha(w, s)))), "Not that"),
    ("metropolis/matrix", "maximum", lambda w, s: _rest_stays(s * np.maximum(1, w[None] * s.T / (w[:, None] * s))), "Your answer is right"),
    ("metropolis/matrix", "plain ratio", lambda w, s: _rest_stays(s * np.minimum(1, w[None] * s.T / (w[:, None] * s))), "mind zeros"),
    ("metropolis/matrix", "one row", lambda w, s: _rest_stays(s * _alpha(w, s))[0], "shape"),
    ("metropolis/matrix", "weights squared", lambda w, s: _rest_stays(s * _alpha(w**2, s)), "Your answer is right for other inputs"),
    ("metropolis/walk", "ratio against log", _walk(lambda r, b, c: c < np.log(r * b)), "Not that walk"),
    ("metropolis/walk", "shares", lambda start, w, up, moves, coins: w / w.sum(), "shape"),
    ("metropolis/walk", "index -1", _walk(lambda r, b, c: c < r * b, place=lambda x, k: x if -k <= x < k else 0), "not among 0"),
    ("metropolis/walk", "not wrapped", lambda *a: _not_wrapped(*a), "not among 0"),
    ("metropolis/step", "difference for ratio", _step(lambda g, x, y: g + y - x), "Not those places"),
    ("metropolis/step", "accepted only", lambda x, n, c, f, s: _accepted_only(x, n, c, f, s), "shape"),
    ("metropolis/step", "logs", lambda *a: np.log(_step(_all)(*a)), "That is the logarithm of it."),
    ("metropolis/step", "whole batch", lambda x, n, c, f, s: _whole_batch(x, n, c, f, s), ""),
    ("find-the-key/first", "one noise", _varied(noise=lambda k, x: jax.random.normal(k)), "same noise"),
    ("find-the-key/first", "one coin", _varied(log_u=lambda k, x: jnp.log(jax.random.uniform(k))), ""),
    ("find-the-key/first", "a key of its own choice", lambda key, *a: _rw(jax.random.key(3), *a), "same whatever"),
    ("find-the-key/first", "NumPy's draws", lambda *a: _by_numpy(*a), "same whatever"),
    ("find-the-key/first", "coin from the parent", lambda *a: _coin_from_the_parent(*a), "children only"),
    ("find-the-key/first", "one child for both", lambda key, *a: _one_key(jax.random.split(key)[0], *a), "same key and print"),
    (
        "find-the-key/first",
        "the bell's density",
        lambda key, x, f, s: _rw(key, x, BELL.log_density, s),
        "not for another target",
    ),
    ("find-the-key/first", "the first scale", lambda key, x, f, s: _rw(key, x, f, 2.4), "not for another target"),
    (
        "find-the-key/first",
        "noise from NumPy",
        lambda key, x, f, s: _rw(jax.random.key(int(np.random.default_rng().integers(1 << 30))), x, f, s),
        "same key gave",
    ),
    ("find-the-key/first", "greedy", _varied(rule=lambda u, g: g > 0), "Not the step that was asked for"),
    ("find-the-key/first", "Laplace noise", _varied(noise=lambda k, x: jax.random.laplace(k, x.shape)), NOT_STEP),
    ("find-the-key/first", "lazy", _varied(log_u=lambda k, x: _log_u(k, x) + 0.3), NOT_STEP),
    ("find-the-key/first", "proposals", _varied(rule=lambda u, g: u < 1), "accept everything"),
    (
        "find-the-key/first",
        "child and parent",
        lambda key, x, f, s: _rw(key, x, f, s, log_u=lambda k, x: _log_u(key, x)),
        "children only",
    ),
    ("find-the-key/first", "only one chain", lambda key, x, f, s: _rw(key, x[:1], f, s), "shape"),
    ("find-the-key/first", "sorted", lambda *a: jnp.sort(_rw(*a)), NOT_STEP),
    ("find-the-key/first", "fresh draws", lambda key, x, f, s: jax.random.normal(key, x.shape), NOT_STEP),
    ("find-the-key/second", "path", _path, "shape"),
    ("find-the-key/second", "all chains alike", _every_chain_the_same, "same noise"),
    ("find-the-key/second", "coin is the last noise", _folded(lambda t: t + 1, lambda t: t), ""),
    ("find-the-key/second", "two steps apart", _folded(lambda t: t, lambda t: t + 2), ""),
    *[
        ("find-the-key/second", f"{apart} steps apart", _folded(lambda t: t, lambda t, apart=apart: t + apart), "drawn from twice")
        for apart in (3, 100)
    ],
    ("find-the-key/second", "t and 2 t + 1", _folded(lambda t: t, lambda t: 2 * t + 1), ""),
    ("find-the-key/second", "coin from a child of the noise's key", _grown(lambda key: jax.random.split(key)[0]), "children only"),
    ("find-the-key/second", "coin from a fold of the noise's key", _grown(lambda key: jax.random.fold_in(key, 1)), "children only"),
    ("find-the-key/second", "neighbours of a list", lambda *a: _neighbours(*a), "Still a lean"),
    (
        "find-the-key/second",
        "the bell's density",
        lambda key, x, n, f, s: _handed_on(key, x, n, BELL.log_density, s),
        "another target",
    ),
    ("find-the-key/second", "starts at 0 twice", _folded(lambda t: t // 2 * 2, lambda t: 1_000 + t), "drawn from twice"),
    ("find-the-key/second", "only the first", lambda key, x, n, f, s: _rw(key, x, f, s), "Not that chain"),
    ("find-the-key/second", "one long step", lambda key, x, n, f, s: _rw(key, x, f, s * n**0.5), "Not that chain"),
    ("find-the-key/second", "same key at each step", lambda key, x, n, f, s: _same_key(key, x, n, f, s), "A key is drawn from"),
    ("find-the-key/second", "a key of its own choice", lambda key, *a: _repeat(_rw)(jax.random.key(3), *a), ""),
    ("find-the-key/second", "sorted", lambda *a: jnp.sort(_repeat(_rw)(*a)), "Not that chain"),
    (
        "find-the-key/second",
        "shuffled",
        lambda key, *a: jax.random.permutation(jax.random.fold_in(key, 10_000), _repeat(_rw)(key, *a)),
        "Not that",
    ),
    (
        "find-the-key/second",
        "shuffled by what is a child's key, too",
        lambda key, *a: jax.random.permutation(jax.random.fold_in(key, 9), _repeat(_rw)(key, *a)),
        "drawn from twice",
    ),
    ("find-the-key/second", "counter that does not count", _folded(lambda t: 0, lambda t: t + 1), "same noise"),
    ("find-the-key/third", "bare recursion", _other(rule=lambda u, g: u < 1), "accept everything"),
    ("find-the-key/third", "slope at x for both", _other(seen="x"), NOT_STEP),
    ("find-the-key/third", "width not squared", _other(width=lambda h: h**0.5), NOT_STEP),
    ("find-the-key/third", "way there left out", _other(ahead=0.0), NOT_STEP),
    ("find-the-key/third", "greedy", _other(rule=lambda u, g: g > 0), "Not the step that was asked for"),
    ("find-the-key/third", "refuses a tenth more", _other(rule=lambda u, g: u + 0.1 < g), NOT_STEP),
    ("find-the-key/third", "random walk", lambda key, x, f, d, h: _rw(key, x, f, h), "Not the step that was asked for"),
    ("find-the-key/third", "downhill", lambda key, x, f, d, h: _mala(key, x, f, lambda z: -d(z), h), NOT_STEP),
    ("find-the-key/third", "a key of its own choice", lambda key, *a: _mala(jax.random.key(3), *a), "same whatever"),
    ("find-the-key/third", "one key", _other(keys=lambda key: (key, key)), "drawn from twice"),
    ("find-the-key/third", "above the ratio", _other(rule=lambda u, g: u > g), "Not the step that was asked for"),
    ("find-the-key/third", "stays", lambda key, x, f, d, h: x, "Not the step that was asked for"),
    ("find-the-key/third", "the first h", lambda key, x, f, d, h: _mala(key, x, f, d, 1.2), "not for another target"),
    ("find-the-key/third", "the bell's slope", lambda key, x, f, d, h: _mala(key, x, f, lambda z: -z, h), "Right for a standard"),
    (
        "find-the-key/third",
        "the bell's density",
        lambda key, x, f, d, h: _mala(key, x, BELL.log_density, d, h),
        "another target",
    ),
    ("find-the-key/third", "one chain's place", lambda key, x, f, d, h: _mala(key, x, f, d, h)[0], "shape"),
    ("find-the-key/third", "fresh draws", lambda key, x, f, d, h: jax.random.normal(key, x.shape), NOT_STEP),
]


def _not_wrapped(start, w, up, moves, coins):
    x, path, k = start, [], len(w)
    for move, coin in zip(moves, coins, strict=True):
        y, there = x + int(move), up if move > 0 else 1 - up
        x = y if coin < w[y % k] * (1 - there) / (w[x % k] * there) else x
        path.append(x)
    return np.array(path)


def _by_numpy(key, x, log_density, scale):
    rng = np.random.default_rng(0)
    y = x + scale * rng.normal(size=x.shape)
    return np.where(np.log(rng.random(x.shape)) < log_density(y) - log_density(x), y, x)


def _coin_from_the_parent(key, x, log_density, scale):
    y = x + scale * jax.random.normal(jax.random.fold_in(key, 0), x.shape)
    return jnp.where(_log_u(key, x) < log_density(y) - log_density(x), y, x)


def _accepted_only(x, n, c, f, s):
    y = x * np.exp(s * n)
    return y[np.log(c) < f(y) - f(x) + s * n]


def _whole_batch(x, n, c, f, s):
    y = x * np.exp(s * n)
    return y if np.log(c[0]) < (f(y) - f(x) + s * n).sum() else x


def _same_key(key, x, n, f, s):
    for _ in range(n):
        x = _rw(key, x, f, s)
    return x


def _one_key(key, x, f, s):
    y = x + s * jax.random.normal(key, x.shape)
    return jnp.where(_log_u(key, x) < f(y) - f(x), y, x)


def _by_mean_one(f, x):
    w = _p(x) * len(x)
    return np.sqrt(np.mean(w**2 * (f - np.mean(w * f)) ** 2) / len(x))


def _by_quad(f, s, edge=30.0):
    if 2 * s**2 <= 1:
        return float("inf")
    mean = integrate.quad(lambda x: norm.pdf(x) * f(x), -edge, edge)[0]
    return (
        integrate.quad(lambda x: math.exp(-(x**2) * (1 - 1 / (2 * s**2))) * (f(x) - mean) ** 2, -edge, edge, limit=200)[0]
        * s
        / math.sqrt(2 * math.pi)
    )


def _by_jax_grid(f, s):
    if s <= math.sqrt(0.5):
        return jnp.inf
    x = jnp.linspace(-20, 20, 8001)
    mean = jnp.trapezoid(jax.scipy.stats.norm.pdf(x) * f(x), x)
    return jnp.trapezoid(jnp.exp(-(x**2) * (1 - 0.5 / s**2)) * (f(x) - mean) ** 2, x) * s / jnp.sqrt(2 * jnp.pi)


def _loop_over_dimensions(v, S):
    d, total = 0, math.log(v / math.sqrt(2 * v - 1)) - math.log(2 - 1 / v)
    while total <= math.log(S):
        d, total = d + 1, total + math.log(v / math.sqrt(2 * v - 1))
    return d


def _by_part_2(v, S):
    sizes = [d for d in range(1, 5_000) if _sum_v(np.full(d, v)) <= np.log(S)]
    return max(sizes, default=0)


def _matrix_by_loops(w, s):
    P = [[0.0] * len(w) for _ in w]
    for x in range(len(w)):
        for y in range(len(w)):
            if s[x][y] > 0:
                a = min(1.0, w[y] * s[y][x] / (w[x] * s[x][y]))
                P[x][y] += s[x][y] * a
                P[x][x] += s[x][y] * (1 - a)
    return P


def _matrix_by_jax(w, s):
    there = jnp.asarray(w)[:, None] * jnp.asarray(s)
    r = jnp.where(there > 0, there.T / jnp.where(there > 0, there, 1.0), 0.0)
    P = s * jnp.minimum(1.0, r)
    return P + jnp.diag(1 - P.sum(axis=1))


def _walk_by_table(start, w, up, moves, coins):
    k = len(w)
    s = up * np.roll(np.eye(k), 1, 1) + (1 - up) * np.roll(np.eye(k), -1, 1)
    P = np.array(_matrix_by_loops(w, s))
    x, path = start, []
    for move, coin in zip(moves, coins, strict=True):
        y = (x + move) % k
        if coin < P[x, y] / s[x, y]:
            x = y
        path.append(int(x))
    return path


def _walk_by_logs(start, w, up, moves, coins):
    log_w, odds = np.log(w), np.log((1 - up) / up)
    path = np.empty(len(moves))
    x = start
    for t in range(len(moves)):
        y = int(x + moves[t]) % len(w)
        x = y if np.log(coins[t]) <= log_w[y] - log_w[x] + moves[t] * odds else x
        path[t] = x
    return path


def _walk_by_scan(start, w, up, moves, coins):
    w = jnp.asarray(w)

    def one(x, at):
        move, coin = at
        y = (x + move) % len(w)
        back = jnp.where(move > 0, (1 - up) / up, up / (1 - up))
        x = jnp.where(coin < w[y] / w[x] * back, y, x)
        return x, x

    return jax.lax.scan(one, jnp.int32(start), (jnp.asarray(moves), jnp.asarray(coins)))[1]


def _step_by_logs(x, noise, coin, log_density, scale):
    z, new = np.log(x), np.log(x) + scale * noise
    keep = np.log(coin) < log_density(np.exp(new)) + new - log_density(x) - z
    return np.exp(np.where(keep, new, z))


def _step_by_densities_of_proposals(x, noise, coin, log_density, scale):
    y = x * np.exp(scale * noise)
    log_s = lambda to, of: norm.logpdf(np.log(to), np.log(of), scale) - np.log(to)
    alpha = np.minimum(1, np.exp(log_density(y) - log_density(x) + log_s(x, y) - log_s(y, x)))
    return [float(b) if u < a else float(o) for o, b, u, a in zip(x, y, coin, alpha, strict=True)]


def _step_by_jax(x, noise, coin, log_density, scale):
    y = jnp.asarray(x) * jnp.exp(scale * jnp.asarray(noise))
    gain = jnp.asarray(log_density(y)) - jnp.asarray(log_density(jnp.asarray(x))) + jnp.log(y) - jnp.log(jnp.asarray(x))
    return jnp.where(jnp.log(jnp.asarray(coin)) < gain, y, x)


def _by_a_kernel(kernel):
    """A step by the package: each chain has a key of its own."""

    def answer(key, x, *rest):
        k = kernel(*rest)
        return jax.vmap(lambda key, x: k.step(key, k.init(x))[0].position)(jax.random.split(key, x.size), x)

    return answer


def _package_walk(log_density, scale):
    return metropolis_hastings(log_density, lambda key, x: x + scale * jax.random.normal(key, x.shape))


def _bernoulli(key, x, log_density, scale):
    a, b = jax.random.split(key)
    y = x + jax.random.normal(a, x.shape) * scale
    alpha = jnp.minimum(1.0, jnp.exp(log_density(y) - log_density(x)))
    return jnp.where(jax.random.bernoulli(b, alpha), y, x)


def _exponential(key, x, log_density, scale):
    a, b = jax.random.split(key)
    y = x + jax.random.normal(a, x.shape) * scale
    return np.where(np.asarray(jax.random.exponential(b, x.shape)) > np.asarray(log_density(x) - log_density(y)), y, x)


def _by_folding(key, x, log_density, scale):
    y = x + scale * jax.random.normal(jax.random.fold_in(key, 0), x.shape)
    return jnp.where(_log_u(jax.random.fold_in(key, 1), x) < log_density(y) - log_density(x), y, x)


def _handed_on(key, x, steps, log_density, scale):
    for _ in range(steps):
        key, move, coin = jax.random.split(key, 3)
        y = x + scale * jax.random.normal(move, x.shape)
        x = jnp.where(_log_u(coin, x) < log_density(y) - log_density(x), y, x)
    return x


def _scanned(key, x, steps, log_density, scale):
    return jax.lax.scan(lambda x, k: (_rw(k, x, log_density, scale), None), x, jax.random.split(key, steps))[0]


def _all_noise_first(key, x, steps, log_density, scale):
    a, b = jax.random.split(key)
    for noise, u in zip(jax.random.normal(a, (steps, *x.shape)), jax.random.uniform(b, (steps, *x.shape)), strict=True):
        y = x + scale * noise
        x = jnp.where(jnp.log(u) < log_density(y) - log_density(x), y, x)
    return x


def _split_anew(key, x, steps, log_density, scale):
    """Makes all children of a key at each step, and uses another one each time."""
    for t in range(steps):
        x = _rw(jax.random.split(key, steps)[t], x, log_density, scale)
    return x


def _two_streams(key, x, steps, log_density, scale):
    for t in range(steps):
        move, coin = (jax.random.fold_in(stream, t) for stream in jax.random.split(key))
        y = x + scale * jax.random.normal(move, x.shape)
        x = jnp.where(_log_u(coin, x) < log_density(y) - log_density(x), y, x)
    return x


def _by_fori_loop(key, x, steps, log_density, scale):
    return jax.lax.fori_loop(0, steps, lambda t, x: _rw(jax.random.fold_in(key, t), x, log_density, scale), x)


def _mala_plain(key, x, log_density, slope, h):
    a, b = jax.random.split(key)
    at = lambda z: z + h**2 / 2 * slope(z)
    y = at(x) + h * jax.random.normal(a, x.shape)
    pdf = jax.scipy.stats.norm.pdf
    r = jnp.exp(log_density(y) - log_density(x)) * pdf(x, at(y), h) / pdf(y, at(x), h)
    return jnp.where(jax.random.uniform(b, x.shape) < r, y, x)


def _mala_by_noise(key, x, log_density, slope, h):
    a, b = jax.random.split(key)
    xi = jax.random.normal(a, x.shape)
    y = x + h * (xi + h / 2 * slope(x))
    eta = (x - y) / h - h / 2 * slope(y)
    return jnp.where(jax.random.exponential(b, x.shape) > log_density(x) - log_density(y) + (eta**2 - xi**2) / 2, y, x)


LEGITIMATE = [
    ("self-normalised/estimate", "the package's", lambda f, x: ratio(f, x).value),
    ("self-normalised/estimate", "shares", lambda f, x: np.asarray(normalised_weights(x)) @ f),
    ("self-normalised/estimate", "average", lambda f, x: np.average(f, weights=_w(x))),
    ("self-normalised/estimate", "softmax", lambda f, x: float(special.softmax(x) @ f)),
    ("self-normalised/estimate", "JAX", lambda f, x: jnp.sum(jax.nn.softmax(jnp.asarray(x)) * jnp.asarray(f))),
    ("self-normalised/estimate", "logsumexp", lambda f, x: (np.exp(x - special.logsumexp(x)) * f).sum()),
    ("self-normalised/standard-error", "the package's", lambda f, x: ratio(f, x).standard_error),
    ("self-normalised/standard-error", "mean one", _by_mean_one),
    ("self-normalised/standard-error", "softmax", lambda f, x: _error(f, special.softmax(x))),
    ("self-normalised/standard-error", "norm", lambda f, x: float(np.linalg.norm(_p(x) * (f - _p(x) @ f)))),
    ("self-normalised/standard-error", "JAX", lambda f, x: jnp.linalg.norm(jax.nn.softmax(jnp.asarray(x)) * (f - _p(x) @ f))),
    ("self-normalised/limit", "quad", _by_quad),
    ("self-normalised/limit", "quad over the line", lambda f, s: _by_quad(f, s, np.inf)),
    ("self-normalised/limit", "naive grid", _cut(25)),
    ("self-normalised/limit", "JAX", _by_jax_grid),
    ("self-normalised/limit", "a coarse grid", _if_finite(lambda f, s: _quad(f, s, _squared))),
    ("dimensions-price/nodes", "whole numbers", lambda d, e: math.ceil(math.sqrt(d) / (2 * e)) ** d),
    ("dimensions-price/nodes", "JAX", lambda d, e: jnp.ceil(jnp.sqrt(d) / (2 * e)) ** d),
    ("dimensions-price/nodes", "search", lambda d, e: next(k for k in range(1, 10_000) if d / (2 * k) ** 2 <= e**2) ** d),
    ("dimensions-price/log-variance", "where", lambda v: np.where((v > 0.5).all(), _sum_v(np.maximum(v, 0.5001)), np.inf)),
    (
        "dimensions-price/log-variance",
        "loops",
        lambda v: _sum_v(v, each=lambda v: np.array([math.log(a / math.sqrt(2 * a - 1)) for a in v])),
    ),
    ("dimensions-price/log-variance", "JAX", lambda v: _sum_v_by_jax(v)),
    ("dimensions-price/most-dimensions", "a loop", _loop_over_dimensions),
    ("dimensions-price/most-dimensions", "Part 2", _by_part_2),
    (
        "dimensions-price/most-dimensions",
        "JAX",
        lambda v, S: jnp.maximum(0, jnp.floor((jnp.log(S) + jnp.log(2 - 1 / v)) / jnp.log(v / jnp.sqrt(2 * v - 1)))),
    ),
    ("metropolis/matrix", "loops", _matrix_by_loops),
    ("metropolis/matrix", "JAX", _matrix_by_jax),
    ("metropolis/walk", "a table", _walk_by_table),
    ("metropolis/walk", "logarithms", _walk_by_logs),
    ("metropolis/walk", "scan", _walk_by_scan),
    ("metropolis/step", "logarithms", _step_by_logs),
    ("metropolis/step", "a list", _step_by_densities_of_proposals),
    ("metropolis/step", "JAX", _step_by_jax),
    ("find-the-key/first", "the package's", _by_a_kernel(_package_walk)),
    ("find-the-key/first", "Bernoulli", _bernoulli),
    ("find-the-key/first", "exponential", _exponential),
    ("find-the-key/first", "folded", _by_folding),
    ("find-the-key/first", "compiled", lambda *a: jax.jit(_rw, static_argnums=2)(*a)),
    ("find-the-key/second", "handed on", _handed_on),
    ("find-the-key/second", "scan", _scanned),
    ("find-the-key/second", "all noise first", _all_noise_first),
    ("find-the-key/second", "split anew", lambda *a: _split_anew(*a)),
    ("find-the-key/second", "two streams", lambda *a: _two_streams(*a)),
    ("find-the-key/second", "far apart", lambda key, x, n, f, s: _folded(lambda t: t, lambda t: t + n)(key, x, n, f, s)),
    ("find-the-key/second", "loop", lambda *a: _by_fori_loop(*a)),
    ("find-the-key/second", "folded", _folded(lambda t: 2 * t, lambda t: 2 * t + 1)),
    ("find-the-key/second", "the package's", _repeat(_by_a_kernel(_package_walk))),
    ("find-the-key/third", "densities", _mala_plain),
    ("find-the-key/third", "noise there and back", _mala_by_noise),
    ("find-the-key/third", "written out", _mala),
]


def _sum_v_by_jax(v):
    v = jnp.asarray(v)
    return jnp.where((v > 0.5).all(), (jnp.log(v) - jnp.log(2 * v - 1) / 2).sum() - jnp.log(2 - 1 / v[0]), jnp.inf)


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, random=KEYS, many=3, sheets=SHEETS)


def test_what_is_said_of_exact_draws_is_true():
    """In closed form, a random walk on a standard normal accepts with probability 2 arctan(2 / scale) / pi."""
    means, _ = moments(Case(BELL, 2.4))
    assert np.isclose(means[0], 2 * np.arctan(2 / 2.4) / np.pi, atol=1e-4)
    assert round(100 * means[0]) == 44
    pushed, _ = moments(Case(BELL, 1.2, pushed=True))
    assert 0.5 < pushed[0] < 0.99


@pytest.mark.parametrize(
    ("case", "step"),
    [
        (Case(SKEWED, 1.7), lambda f, d: lambda k, x: random_walk(f, 1.7).step(k, random_walk(f, 1.7).init(x))),
        (Case(SKEWED, 0.8, pushed=True), lambda f, d: lambda k, x: langevin(f, 0.8).step(k, langevin(f, 0.8).init(x))),
    ],
)
def test_the_sums_over_the_grid_are_what_the_package_s_kernels_do(case, step):
    target = case.target
    start = jnp.asarray(target.law.ppf(np.random.default_rng(0).uniform(size=(50_000, 1))), dtype=float)
    log_density = lambda x: target.log_density(x[0])
    _, info = jax.vmap(step(log_density, target.slope))(jax.random.split(jax.random.key(1), 50_000), start)
    means, spreads = moments(case)
    assert abs(float(info.accepted.mean()) - means[0]) < 4.5 * spreads[0] / np.sqrt(50_000)


@pytest.mark.parametrize("s", [1.4, 1.0])
def test_replicated_2000_times_the_estimate_has_the_variance_of_the_limit(s, solved):
    """The error of a mean of 2,000 squares is about 1.4 / sqrt(2,000) of it; four of these, and something for S = 500."""
    f, estimate = lambda x: x + 2, solved["mcmc/self-normalised/estimate"]
    runs = []
    for seed in range(2_000):
        x = s * np.random.default_rng(seed).normal(size=500)
        runs.append(estimate(f(x), -(x**2) / 2 - norm.logpdf(x, 0, s)))
    assert abs(500 * np.mean(np.square(np.array(runs) - 2)) / self_normalised.by_hermite(f, s) - 1) < 0.15
