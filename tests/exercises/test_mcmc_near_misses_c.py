"""The sheets on diagnosing chains: what is nearly right must not pass, what is right in another way must."""

import arviz as az
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from scipy import signal, stats

from course_pkg.checks import judge
from course_pkg.checks.five_chains import prepared, walk
from solutions.mcmc import five_chains
from tests.exercises import near_misses

CHAPTER = "mcmc/"
SHEETS = ("rhat-and-ess", "five-chains")
DIAGNOSES = "five-chains/diagnoses"


def _a(*numbers):
    return np.array(numbers, dtype=float)


# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "rhat-and-ess/rhat": [((_a([0, 3, 3, 6, 6, 9], [1, 2, 6, 3, 5, 4]),), 2**0.5)],
    "rhat-and-ess/correlations": [((_a([0, 1, 3, 4], [2, 5, 6, 7]), 2), [1, 0.55, 0.35])],
    "rhat-and-ess/ess": [((_a(1, 0.5, 0.3, -0.1, 0.15, 0.15, 0.1, -0.2), 150), 53.571)],
    "five-chains/folded": [((_a([0, 1, 2, 8], [4, 5, 6, 5]),), 2.789)],
}


def _halves(x):
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _three(x):
    """n, W and B/n of chains."""
    return x.shape[1], x.var(axis=1, ddof=1).mean(), x.mean(axis=1).var(ddof=1)


def _plain(x, cut=_halves):
    n, w, b_n = _three(cut(x))
    return np.sqrt(((n - 1) / n * w + b_n) / w)


def _thirds(x):
    third = x.shape[1] // 3
    return np.concatenate([x[:, :third], x[:, third : 2 * third], x[:, -third:]])


def _median_w(x):
    n, _, b_n = _three(_halves(x))
    w = np.median(_halves(x).var(axis=1, ddof=1))
    return np.sqrt(((n - 1) / n * w + b_n) / w)


def _covariance(x, t):
    off = x - x.mean(axis=1, keepdims=True)
    return (off[:, : x.shape[1] - t] * off[:, t:]).sum(axis=1).mean() / x.shape[1]


def _rho(x, lags, formula):
    n, w, b_n = _three(x)
    return np.array([1.0] + [formula(_covariance(x, t), w, (n - 1) / n * w + b_n, b_n, n) for t in range(1, lags + 1)])


def _by_corrcoef(x, lags):
    return [1.0] + [np.mean([np.corrcoef(c[:-t], c[t:])[0, 1] for c in x]) for t in range(1, lags + 1)]


def _pooled_chain(x, lags):
    row = x.ravel() - x.mean()
    return [1.0] + [(row[:-t] * row[t:]).sum() / (row**2).sum() for t in range(1, lags + 1)]


def _pairs(rho):
    return rho[::2] + rho[1::2]


def _kept(rho):
    pairs = _pairs(rho)
    return pairs[: np.argmin(np.append(pairs > 0, False))]


def _tau(rho):
    return 2 * np.minimum.accumulate(_kept(rho)).sum() - 1


def _far(x):
    return abs(x - np.median(x))


def _spoilt(right):
    """A right answer that leaves noughts behind."""

    def answer(first, *rest):
        got = right(first, *rest)
        first[:] = 0
        return got

    return answer


def _about(x, lags, centre, less=0):
    off, (n, w, b_n) = x - centre, _three(x)
    v = (n - 1) / n * w + b_n
    return [1.0] + [1 - (w - (off[:, :-t] * off[:, t:]).sum() / len(x) / (n - less)) / v for t in range(1, lags + 1)]


def _n_less_one(x, lags):
    return _about(x, lags, x.mean(axis=1, keepdims=True), 1)


def _centred(x, lags):
    n, w, b_n = _three(x)
    v = (n - 1) / n * w + b_n
    x -= x.mean(axis=1, keepdims=True)
    return [1.0] + [1 - (w - (x[:, :-t] * x[:, t:]).sum() / x.size) / v for t in range(1, lags + 1)]


def _by_np_cov(x, lags):
    n, w, b_n = _three(x)
    v = (n - 1) / n * w + b_n
    return [1.0] + [1 - (w - np.mean([np.cov(row[:-t], row[t:])[0, 1] for row in x])) / v for t in range(1, lags + 1)]


def _total_var(x, lags):
    return _rho(x, lags, lambda c, w, v, b, n: 1 - (w - c) / x.var(ddof=1))


def _no_first_cap(rho, S):
    total, low = rho[0] + rho[1], rho[2] + rho[3]
    for k in range(2, len(rho), 2):
        pair = rho[k] + rho[k + 1]
        if pair <= 0:
            break
        low = min(low, pair)
        total += low
    return S / (2 * total - 1)


def _skips(rho, S):
    kept = _kept(rho)
    return S / (2 * kept[kept <= np.minimum.accumulate(kept)].sum() - 1)


FALL_RHAT, FALL_RHO, FALL_ESS, FALL_FOLD = (
    "Not that R-hat. With",
    "Not those correlations. With",
    "Not that size. With",
    "Not that R-hat. With",
)
NEAR_MISSES = [
    ("rhat-and-ess/rhat", "thirds", lambda x: _plain(x, _thirds), FALL_RHAT),
    ("rhat-and-ess/rhat", "median of variances", _median_w, FALL_RHAT),
    ("rhat-and-ess/rhat", "less one", lambda x: _plain(x) - 1, FALL_RHAT),
    ("rhat-and-ess/rhat", "halved", lambda x: _plain(x) / 2, FALL_RHAT),
    ("rhat-and-ess/rhat", "the largest half", lambda x: np.sqrt((_three(_halves(x))[2] + x.var(ddof=1)) / x.var(ddof=1)), FALL_RHAT),
    ("rhat-and-ess/rhat", "the mean of all at the root", lambda x: np.sqrt(_plain(x)), "That is its square root."),
    ("rhat-and-ess/rhat", "two numbers", lambda x: (_plain(x), _three(x)[1]), "one value"),
    ("rhat-and-ess/rhat", "each chain's", lambda x: np.array([_plain(chain[None]) for chain in x]), "shape"),
    ("rhat-and-ess/rhat", "rounded", lambda x: round(float(_plain(x)), 2), "Close, but not exact"),
    ("rhat-and-ess/rhat", "folded", lambda x: _plain(_far(x)), FALL_RHAT),
    ("rhat-and-ess/rhat", "quarters kept", lambda x: _plain(x, lambda y: y[:, : y.shape[1] // 4 * 2]), FALL_RHAT),
    ("rhat-and-ess/rhat", "variance of sums", lambda x: _plain(x, _halves) * 1.01, FALL_RHAT),
    ("rhat-and-ess/rhat", "ArviZ's default", lambda x: float(az.rhat(x)), "Not that R-hat"),
    ("rhat-and-ess/rhat", "in place", _spoilt(_plain), "The right numbers, but afterwards `draws`"),
    ("rhat-and-ess/correlations", "in place", _spoilt(lambda x, k: _by_loops(x, k)), "The right numbers, but afterwards `draws`"),
    ("rhat-and-ess/correlations", "centred in place", _centred, "The right numbers, but afterwards `draws`"),
    ("rhat-and-ess/correlations", "cov", _by_np_cov, ("Not those correlations", "Close, but not exact")),
    ("rhat-and-ess/correlations", "variance of all", _total_var, "Not those correlations"),
    ("rhat-and-ess/correlations", "axis 0", lambda x, k: _about(x, k, x.mean(axis=0)), "Not those correlations"),
    ("rhat-and-ess/correlations", "n - 1", _n_less_one, "Close, but not exact"),
    ("rhat-and-ess/ess", "in place", _spoilt(lambda rho, S: _walk(rho, S)), "The right numbers, but afterwards `rho`"),
    ("rhat-and-ess/ess", "no cap by the first", _no_first_cap, "Right in the small case that was worked"),
    ("rhat-and-ess/ess", "larger ones skipped", _skips, FALL_ESS),
    ("rhat-and-ess/ess", "rounded", lambda rho, S: round(float(_walk(rho, S))), "Close, but not exact"),
    ("five-chains/folded", "in place", _spoilt(lambda x: _plain(_far(x))), "The right numbers, but afterwards `draws`"),
    ("five-chains/folded", "axis 0", lambda x: _plain(abs(x - np.median(x, axis=0))), ""),
    (DIAGNOSES, "wrong pairs", lambda: list((five_chains.TRUTH | {"A": "well"}).items()), "Set A is not 'well'"),
    ("rhat-and-ess/correlations", "one long chain", _pooled_chain, FALL_RHO),
    ("rhat-and-ess/correlations", "plus for minus", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 + (w - c) / v), FALL_RHO),
    ("rhat-and-ess/correlations", "W and V exchanged", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (v - c) / w), FALL_RHO),
    (
        "rhat-and-ess/correlations",
        "powers of the first",
        lambda x, k: _rho(x, 1, lambda c, w, v, b, n: 1 - (w - c) / v)[1] ** np.arange(k + 1),
        FALL_RHO,
    ),
    (
        "rhat-and-ess/correlations",
        "c plus B/n",
        lambda x, k: _rho(x, k, lambda c, w, v, b, n: (c + b) / v),
        ("Not those correlations", "Close, but not exact"),
    ),
    ("rhat-and-ess/correlations", "root", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - np.sqrt(abs(w - c) / v)), FALL_RHO),
    ("rhat-and-ess/correlations", "squared", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (w - c) / v) ** 2, "That is its square."),
    ("rhat-and-ess/correlations", "n below twice", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (w - c / n) / v), FALL_RHO),
    ("rhat-and-ess/correlations", "sum over chains", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (w - c * len(x)) / v), "Not those"),
    ("rhat-and-ess/correlations", "first chain", lambda x, k: _by_corrcoef(x[:1], k), FALL_RHO),
    ("rhat-and-ess/correlations", "one number", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (w - c) / v)[-1], "shape"),
    ("rhat-and-ess/correlations", "a lag too many", lambda x, k: _rho(x, k + 1, lambda c, w, v, b, n: 1 - (w - c) / v), "were one more"),
    ("rhat-and-ess/correlations", "backwards", lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (w - c) / v)[::-1], "The order is turned"),
    (
        "rhat-and-ess/correlations",
        "2 % off",
        lambda x, k: _rho(x, k, lambda c, w, v, b, n: 1 - (w - c) / (1.02 * v)),
        "Close, but not exact",
    ),
    ("rhat-and-ess/ess", "root of it", lambda rho, S: np.sqrt(S / _tau(rho)), "That is its square root."),
    ("five-chains/folded", "ArviZ's default", lambda x: float(az.rhat(x)), "Not that R-hat"),
    ("five-chains/folded", "1 % off", lambda x: 1.01 * _plain(_far(x)), FALL_FOLD),
    ("five-chains/folded", "each chain's", lambda x: np.array([_plain(_far(chain[None])) for chain in x]), "shape"),
    (DIAGNOSES, "nothing found", lambda: dict.fromkeys("ABCDE", "well"), "Set A is not 'well'"),
    (DIAGNOSES, "all by R-hat", lambda: dict(zip("ABCDE", ["slow", "well", "well", "apart", "apart"], strict=True)), "Set B is not 'well'"),
    (DIAGNOSES, "A and E exchanged", lambda: five_chains.TRUTH | {"A": "apart", "E": "slow"}, "Set A is not 'apart'"),
    (DIAGNOSES, "B and C exchanged", lambda: five_chains.TRUTH | {"B": "well", "C": "widths"}, "Set B is not 'well'"),
    (DIAGNOSES, "one missing", lambda: {k: v for k, v in five_chains.TRUTH.items() if k != "D"}, "no word for set D"),
    (DIAGNOSES, "a word of one's own", lambda: five_chains.TRUTH | {"D": "burn-in"}, "none of the words"),
    (DIAGNOSES, "a set too many", lambda: five_chains.TRUTH | {"F": "well"}, "no set 'F'"),
    (DIAGNOSES, "four words", lambda: list(five_chains.TRUTH.values())[:4], "Expected a dictionary"),
    (DIAGNOSES, "one word", lambda: "slow", "Expected a dictionary"),
]


def _with_b(halves):
    n = halves.shape[1]
    W, B = halves.var(axis=1, ddof=1).mean(), n * halves.mean(axis=1).var(ddof=1)
    return ((n - 1) / n * W + B / n) / W


def _in_jax_too(x):
    half = x.shape[1] // 2
    x = jnp.asarray(x)
    parts = jnp.vstack([x[:, :half], x[:, -half:]])
    W = jnp.var(parts, axis=1, ddof=1).mean()
    return jnp.sqrt((half - 1) / half + jnp.var(parts.mean(axis=1), ddof=1) / W)


def _by_autocov(x, lags):
    """With SciPy's correlation by Fourier transforms."""
    n = x.shape[1]
    off = x - x.mean(axis=1, keepdims=True)
    full = np.array([signal.correlate(row, row, method="fft")[n - 1 :] for row in off]) / n
    W = full[:, 0].mean() * n / (n - 1)
    V = W * (n - 1) / n + x.mean(axis=1).var(ddof=1)
    found = 1 - (W - full.mean(axis=0)) / V
    found[0] = 1
    return found[: lags + 1]


def _by_loops(x, lags):
    m, n = len(x), len(x[0])
    W = sum(np.var(row, ddof=1) for row in x) / m
    V = (n - 1) / n * W + np.var([np.mean(row) for row in x], ddof=1)
    out = [1.0]
    for t in range(1, lags + 1):
        c = 0.0
        for row in x:
            mean = np.mean(row)
            c += sum((row[i] - mean) * (row[i + t] - mean) for i in range(n - t)) / n / m
        out.append(1 - (W - c) / V)
    return out


def _in_jax(x, lags):
    x = jnp.asarray(x)
    n = x.shape[1]
    off = x - x.mean(axis=1, keepdims=True)
    W = x.var(axis=1, ddof=1).mean()
    V = (n - 1) / n * W + x.mean(axis=1).var(ddof=1)
    return jnp.stack([jnp.ones(())] + [1 - (W - (off[:, :-t] * off[:, t:]).sum() / x.size) / V for t in range(1, lags + 1)])


def _walk(rho, S):
    total, smallest = -1.0, float("inf")
    for k in range(0, len(rho), 2):
        pair = rho[k] + rho[k + 1]
        if pair <= 0:
            break
        smallest = min(smallest, pair)
        total += 2 * smallest
    return S / total


def _cut_later(rho, S):
    falling = np.minimum.accumulate(_pairs(rho))
    return S / (2 * falling[falling > 0].sum() - 1)


LEGITIMATE = [
    ("rhat-and-ess/rhat", "ArviZ", lambda x: az.rhat(x, method="split")),
    ("rhat-and-ess/rhat", "ArviZ after a cut", lambda x: float(az.rhat(_halves(x), method="identity"))),
    ("rhat-and-ess/rhat", "analysis of variance", lambda x: np.sqrt(1 + (stats.f_oneway(*_halves(x)).statistic - 1) / (x.shape[1] // 2))),
    ("rhat-and-ess/rhat", "JAX", _in_jax_too),
    ("rhat-and-ess/rhat", "float32", lambda x: _plain(x.astype(np.float32))),
    ("rhat-and-ess/rhat", "pandas", lambda x: _plain(x, lambda y: pd.DataFrame(_halves(y)).to_numpy())),
    ("rhat-and-ess/rhat", "split by reshape", lambda x: _plain(np.delete(x, x.shape[1] // 2, 1) if x.shape[1] % 2 else x)),
    ("rhat-and-ess/rhat", "B itself", lambda x: np.sqrt(_with_b(_halves(x)))),
    ("rhat-and-ess/correlations", "Fourier", _by_autocov),
    ("rhat-and-ess/correlations", "loops", _by_loops),
    ("rhat-and-ess/correlations", "JAX", _in_jax),
    ("rhat-and-ess/correlations", "another form", lambda x, k: _rho(x, k, lambda c, w, v, b, n: (c + b - w / n) / v)),
    ("rhat-and-ess/correlations", "a list", lambda x, k: list(_rho(x, k, lambda c, w, v, b, n: (v - w + c) / v))),
    ("rhat-and-ess/correlations", "a tuple", lambda x, k: tuple(_by_loops(x, k))),
    ("rhat-and-ess/correlations", "float32", lambda x, k: _by_autocov(x.astype(np.float32), k)),
    ("rhat-and-ess/ess", "a walk", _walk),
    ("rhat-and-ess/ess", "cut after falling", _cut_later),
    ("rhat-and-ess/ess", "float32", lambda rho, S: _walk(rho.astype(np.float32), S)),
    ("rhat-and-ess/ess", "JAX", lambda rho, S: S / (2 * jnp.maximum(jnp.asarray(np.minimum.accumulate(_pairs(rho))), 0).sum() - 1)),
    ("rhat-and-ess/ess", "reshape", lambda rho, S: _cut_later(rho.reshape(-1, 2).ravel(), float(S))),
    ("five-chains/folded", "ArviZ", lambda x: az.rhat(_far(x), method="split")),
    ("five-chains/folded", "by hand", lambda x: _plain(_far(x))),
    (
        "five-chains/folded",
        "JAX",
        lambda x: float(az.rhat(np.asarray(jnp.abs(jnp.asarray(x) - jnp.median(jnp.asarray(x)))), method="split")),
    ),
    ("five-chains/folded", "float32", lambda x: float(_plain(_far(x.astype(np.float32))))),
    ("five-chains/folded", "the other sign", lambda x: _plain(-_far(x))),
    (DIAGNOSES, "a list", lambda: list(five_chains.TRUTH.values())),
    (DIAGNOSES, "pairs", lambda: tuple(five_chains.TRUTH.items())),
    (DIAGNOSES, "a tuple", lambda: tuple(five_chains.TRUTH.values())),
    (DIAGNOSES, "small letters", lambda: {letter.lower(): word for letter, word in five_chains.TRUTH.items()}),
    (DIAGNOSES, "capitals", lambda: {letter: f" {word.upper()} " for letter, word in five_chains.TRUTH.items()}),
    (DIAGNOSES, "another order", lambda: dict(reversed(five_chains.TRUTH.items()))),
]


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, random=[DIAGNOSES], sheets=SHEETS)


@pytest.mark.parametrize("memory", [0.9, 0.5, -0.4])
def test_the_three_parts_together_give_the_sizes_of_arviz(memory, solved):
    """ArviZ adds one more lag, which is a few per cent at most."""
    rhat, correlations, ess = (solved[f"{CHAPTER}rhat-and-ess/{part}"] for part in ("rhat", "correlations", "ess"))
    for seed in range(5):
        draws = walk(np.random.default_rng(seed), 4, 1000, memory)
        assert np.isclose(rhat(draws), float(az.rhat(draws, method="split")), rtol=1e-9)
        mine = ess(correlations(_halves(draws), 499), draws.size)
        assert np.isclose(mine, float(az.ess(draws, method="mean")), rtol=0.05)


def test_each_set_is_what_it_is_said_to_be():
    """What the verdict's words take for granted of the numbers in them."""
    sets = prepared()
    by_word = {word: sets[letter] for letter, word in five_chains.TRUTH.items()}
    r_hat = {word: float(az.rhat(draws, method="split")) for word, draws in by_word.items()}
    folded = {word: float(az.rhat(_far(draws), method="split")) for word, draws in by_word.items()}
    size = {word: float(az.ess(draws, method="mean")) for word, draws in by_word.items()}
    alike = {word: five_chains.alike(draws) for word, draws in by_word.items()}
    assert max(r_hat["well"], folded["well"], r_hat["widths"]) < 1.01 < folded["widths"] - 0.05
    assert size["well"] > 1000 > 250 > size["slow"]
    assert np.isclose(five_chains.effective(by_word["slow"]), size["slow"], rtol=0.05)
    assert min(r_hat["start"], r_hat["apart"]) > 1.05
    assert alike["slow"] > 0.9 > 0.6 > max(alike[word] for word in ("well", "widths", "start", "apart"))
    assert five_chains.crossings(by_word["apart"]) < 10
    assert min(five_chains.crossings(by_word[word]) for word in ("well", "slow", "widths", "start")) > 20
    for word, draws in by_word.items():
        begins = draws[:, 0] - np.median(draws)
        reach = abs(draws[:, 500:] - np.median(draws)).max()
        assert (draws[:, 1:] != draws[:, :-1]).all()
        if word == "start":
            assert begins.min() > reach
        else:
            assert begins.min() < 0 < begins.max()
            assert abs(begins).max() <= reach
            assert five_chains.reach(draws) < 3.5
        if word not in ("slow", "widths"):
            sd = draws[:, 500:].std(axis=1)
            assert sd.max() < 1.15 * sd.min()


def test_what_the_discussion_says_of_three_normals_drawn_side_by_side():
    """new = A old + noise: the variance v that is kept solves v = A v A' + noise."""
    weights, noise = (np.ones((3, 3)) - np.eye(3)) / 3, np.eye(3) * 2 / 3
    kept = np.linalg.solve(np.eye(9) - np.kron(weights, weights), noise.ravel()).reshape(3, 3)
    assert np.allclose(np.diag(kept), 0.9)


def test_nobody_else_is_told_of_an_exchange_of_words():
    """Each wrong word for a set has words of its own, and they name the set and what was said of it."""
    for letter, truth in five_chains.TRUTH.items():
        for word in set(five_chains.WORDS) - {truth}:
            message = judge(CHAPTER + DIAGNOSES, lambda letter=letter, word=word: five_chains.TRUTH | {letter: word}).message
            assert message.startswith(f"Set {letter} is not '{word}'. ")
