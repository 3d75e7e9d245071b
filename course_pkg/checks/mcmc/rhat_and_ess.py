"""Split R-hat and the effective sample size. Roads: an analysis of variance; sums lag by lag; a walk along the pairs."""

from collections.abc import Callable
from functools import lru_cache, partial
from math import fsum
from typing import Any

import numpy as np
from scipy.stats import f_oneway, norm, rankdata

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._settle import judged
from course_pkg.checks._tables import telling, with_kin


def halves(draws: np.ndarray) -> np.ndarray:
    """Both halves of every chain as chains; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.vstack([draws[:, :half], draws[:, -half:]])


def rhat_by_anova(draws: np.ndarray) -> float:
    """B / W is the F statistic of a one-way analysis of variance, with the halves for groups."""
    groups = halves(np.asarray(draws, dtype=float))
    n = groups.shape[1]
    return float(np.sqrt((n - 1 + f_oneway(*groups).statistic) / n))


def _correlations_by_sums(draws: np.ndarray, lags: int) -> list[float]:
    m, n = draws.shape
    centres = [fsum(chain) / n for chain in draws]
    grand = fsum(centres) / m
    inside = fsum((x - c) ** 2 for chain, c in zip(draws, centres, strict=True) for x in chain) / (m * (n - 1))
    total = inside * (n - 1) / n + fsum((c - grand) ** 2 for c in centres) / (m - 1)
    found = [1.0]
    for t in range(1, lags + 1):
        products = [(chain[i] - c) * (chain[i + t] - c) for chain, c in zip(draws, centres, strict=True) for i in range(n - t)]
        found.append(1 - (inside - fsum(products) / (m * n)) / total)
    return found


def _ess_by_walk(rho: np.ndarray, size: int) -> float:
    total, least = 0.0, np.inf
    for even, odd in zip(rho[::2], rho[1::2], strict=True):
        if even + odd <= 0:
            break
        least = min(least, even + odd)
        total += least
    return size / (2 * total - 1)


def rhat_stub(draws: np.ndarray) -> Any:
    raise NotImplementedError


def correlations_stub(draws: np.ndarray, lags: int) -> Any:
    raise NotImplementedError


def ess_stub(rho: np.ndarray, S: int) -> Any:
    raise NotImplementedError


def _parts(chains: np.ndarray, within: int = 1, between: int = 1) -> tuple[int, float, float]:
    """n, W and B/n; the last two arguments say what is taken off the counts."""
    return chains.shape[1], chains.var(axis=1, ddof=within).mean(), chains.mean(axis=1).var(ddof=between)


def plain_rhat(chains: np.ndarray, within: int = 1, between: int = 1) -> float:
    """R-hat of chains as they are."""
    n, w, b_n = _parts(chains, within, between)
    return float(np.sqrt(((n - 1) / n * w + b_n) / w))


def normal_scores(draws: np.ndarray) -> np.ndarray:
    """Ranks among all draws, as a normal distribution would have them."""
    return norm.ppf((rankdata(draws) - 0.375) / (draws.size + 0.25)).reshape(draws.shape)


def _other(formula: Callable[[int, float, float], Any]) -> Callable[[np.ndarray], Any]:
    """Another formula in n, W and B/n, after the chains were cut."""
    return lambda draws: formula(*_parts(halves(draws)))


def _ranked(draws: np.ndarray) -> float:
    """The larger of the two that ArviZ takes from ranks."""
    scores, far = (normal_scores(x) for x in (halves(draws), abs(halves(draws) - np.median(halves(draws)))))
    return max(plain_rhat(scores), plain_rhat(far))


def _pieces(draws: np.ndarray, *cuts: slice) -> np.ndarray:
    return np.vstack([draws[:, cut] for cut in cuts])


def _wide_halves(draws: np.ndarray) -> np.ndarray:
    half = -(-draws.shape[1] // 2)
    return _pieces(draws, slice(half), slice(-half, None))


def _by_turns(draws: np.ndarray) -> np.ndarray:
    even = draws[:, : draws.shape[1] // 2 * 2]
    return _pieces(even, slice(0, None, 2), slice(1, None, 2))


def _own_n(draws: np.ndarray) -> float:
    """The number of draws before the cut where that after it belongs."""
    n, w, b_n = draws.shape[1], *_parts(halves(draws))[1:]
    return float(np.sqrt(((n - 1) / n * w + b_n) / w))


RHAT_MISTAKES = {
    "not cut": Mistake(plain_rhat, "You did not cut the chains into halves. A drift that all chains share stays hidden."),
    "B without n": Mistake(
        _other(lambda n, w, b_n: np.sqrt((n - 1) / n + b_n / n / w)),
        "What is between the chains counts n times too little: B/n is the variance of the means, and B is n times that.",
    ),
    "B for B/n": Mistake(
        _other(lambda n, w, b_n: np.sqrt((n - 1) / n + n * b_n / w)),
        "What is between the chains counts n times too much: the variance of the means is B/n already.",
    ),
    "no root": Mistake(_other(lambda n, w, b_n: (n - 1) / n + b_n / w), "You left out the square root."),
    "turned round": Mistake(
        _other(lambda n, w, b_n: 1 / np.sqrt((n - 1) / n + b_n / w)),
        "Yours is turned round: the chains' own W belongs below the line.",
    ),
    "W in full": Mistake(
        _other(lambda n, w, b_n: np.sqrt(1 + b_n / w)),
        "You left out the (n-1)/n before W. Chains that agree as independent draws do would then give more than 1.",
    ),
    "divided by the count": Mistake(
        lambda draws: plain_rhat(halves(draws), 0, 0),
        "Variances are divided by the count less one here, those within the chains and that of the means. NumPy needs ddof=1.",
    ),
    "variance of all draws": Mistake(
        lambda draws: np.sqrt(halves(draws).var(ddof=1) / _parts(halves(draws))[1]),
        "You divided the variance of the m means by m, or took the variance of all draws, in which nearly the same happens. Divide by "
        "m - 1: NumPy needs ddof=1.",
    ),
    "standard deviations averaged": Mistake(
        lambda draws: np.sqrt((n := halves(draws).shape[1]) and (n - 1) / n + _parts(halves(draws))[2] / _mean_sd(halves(draws)) ** 2),
        "You averaged standard deviations. W is the average of the variances.",
    ),
    "dealt in turn": Mistake(
        lambda draws: plain_rhat(_by_turns(draws)),
        "You dealt the draws out in turn. Cut each chain in the middle: its first half may differ from its second.",
    ),
    "one half": Mistake(
        lambda draws: plain_rhat(halves(draws)[: len(draws)]),
        "You kept one half of each chain. Both count, as chains of their own.",
    ),
    "another draw left out": Mistake(
        lambda draws: plain_rhat(halves(draws[:, : draws.shape[1] // 2 * 2])),
        "Right where the number of draws is even. Where it is odd, leave out the one in the middle.",
    ),
    "middle in both": Mistake(
        lambda draws: plain_rhat(_wide_halves(draws)),
        "Right where the number of draws is even. Where it is odd, you have the middle draw in both halves; leave it out.",
    ),
    "n of the whole": Mistake(_own_n, "Your n is the number of draws before the cut. Take that of a half."),
    "chain by chain": Mistake(
        lambda draws: np.mean([plain_rhat(halves(chain[None])) for chain in draws]),
        "You compared the halves of each chain, and averaged. Chains that disagree stay hidden; compare all halves at once.",
    ),
    "rows and columns": Mistake(
        lambda draws: plain_rhat(halves(draws.T)),
        "Rows and columns have changed places: a row is a chain.",
    ),
    "ranks": Mistake(
        _ranked,
        "That is taken from ranks, of the draws or of their distances from the median. Here the draws themselves were asked for.",
    ),
    "B over W": Mistake(
        _other(lambda n, w, b_n: np.sqrt(n * b_n / w)),
        "That is the root of B/W. The line above has two terms, of which the first is (n-1)/n W.",
    ),
}


def _mean_sd(chains: np.ndarray) -> float:
    return float(chains.std(axis=1, ddof=1).mean())


RHAT_KIN: dict[str, list[Callable[..., Any]]] = {
    "variance of all draws": [lambda draws: plain_rhat(halves(draws), 1, 0)],
    "divided by the count": [
        lambda draws: plain_rhat(halves(draws), 0, 1),
    ],
    "one half": [
        lambda draws: plain_rhat(halves(draws)[len(draws) :]),
        lambda draws: plain_rhat(draws[:, draws.shape[1] // 2 :]),
        lambda draws: plain_rhat(_wide_halves(draws)[: len(draws)]),
    ],
    "another draw left out": [lambda draws: plain_rhat(halves(draws[:, draws.shape[1] % 2 :]))],
    "rows and columns": [lambda draws: plain_rhat(draws.T)],
    "ranks": [
        lambda draws: plain_rhat(normal_scores(halves(draws))),
        lambda draws: plain_rhat(normal_scores(abs(halves(draws) - np.median(halves(draws))))),
    ],
    "not cut": [lambda draws: plain_rhat(draws, 0, 0)],
}
ALL_RHATS = with_kin(RHAT_MISTAKES, RHAT_KIN)


def _lagged(chains: np.ndarray, t: int, centre: Any = None, count: int | None = None) -> np.ndarray:
    """One autocovariance of each chain."""
    n = chains.shape[1]
    off = chains - (chains.mean(axis=1, keepdims=True) if centre is None else centre)
    return (off[:, : n - t] * off[:, t:]).sum(axis=1) / (n if count is None else count)


def _curve(
    draws: np.ndarray,
    lags: int,
    formula: Callable[[float, float, float], Any] = lambda c, w, v: 1 - (w - c) / v,
    covariance: Callable[[np.ndarray, int], Any] = _lagged,
    total: Callable[[int, float, float], Any] = lambda n, w, b_n: (n - 1) / n * w + b_n,
    first: int = 1,
    counts: tuple[int, int] = (1, 1),
) -> list[float]:
    """The correlations, with one part of the recipe replaced; lags below ``first`` are 1."""
    n, w, b_n = _parts(draws, *counts)
    v = total(n, w, b_n)
    return [1.0] * first + [float(formula(covariance(draws, t).mean(), w, v)) for t in range(first, lags + 1)]


def _in_a_circle(chains: np.ndarray, t: int) -> np.ndarray:
    off = chains - chains.mean(axis=1, keepdims=True)
    return (off * np.roll(off, -t, axis=1)).mean(axis=1)


def _by_cov(chains: np.ndarray, t: int, less: int = 1) -> np.ndarray:
    """The covariance of the first n - t draws and the last n - t, each about a mean of its own."""
    count = chains.shape[1] - t
    return np.array([np.cov(chain[:count], chain[t:], ddof=less)[0, 1] for chain in chains])


CORRELATIONS_MISTAKES = {
    "each chain its own": Mistake(
        lambda draws, lags: [np.mean(_lagged(draws, t) / _lagged(draws, 0)) for t in range(lags + 1)],
        "You averaged each chain's own correlations. They know nothing of how far the chains are apart.",
    ),
    "about the mean of all": Mistake(
        lambda draws, lags: [_lagged(draws, t, draws.mean()).sum() / _lagged(draws, 0, draws.mean()).sum() for t in range(lags + 1)],
        "You took distances from the mean of all draws. Each chain's are taken from its own mean, and what is between the chains comes in "
        "through V.",
    ),
    "about the mean of each draw": Mistake(
        partial(_curve, covariance=lambda chains, t: _lagged(chains, t, chains.mean(axis=0))),
        "You took distances from the mean over the chains, one for each draw (axis=0). Take them from each chain's own mean (axis=1).",
    ),
    "by np.cov": Mistake(
        partial(_curve, covariance=_by_cov),
        "You took the covariance of two stretches, each about its own mean, perhaps by np.cov. Take distances from the mean of the whole "
        "chain, and divide by n.",
    ),
    "summed over chains": Mistake(
        partial(_curve, covariance=lambda chains, t: len(chains) * _lagged(chains, t)),
        "You added the chains' autocovariances up. Take their average: divide by m as well.",
    ),
    "divided by n - 1": Mistake(
        partial(_curve, covariance=lambda chains, t: _lagged(chains, t, count=chains.shape[1] - 1)),
        "You divided a lag's sum by n - 1, which is right for W. The autocovariances are divided by n, at every lag.",
    ),
    "divided by n - t": Mistake(
        partial(_curve, covariance=lambda chains, t: _lagged(chains, t, count=chains.shape[1] - t)),
        "You divide a lag's sum by the n - t products in it. Divide by n, at every lag.",
    ),
    "W below": Mistake(
        partial(_curve, formula=lambda c, w, v: c / w),
        "You divided by W. Below the line belongs V, in which the distance between the chains counts, too.",
    ),
    "without 1 minus": Mistake(
        partial(_curve, formula=lambda c, w, v: (w - c) / v),
        "You have what is taken off 1, and forgot the 1.",
    ),
    "covariances": Mistake(
        lambda draws, lags: [_lagged(draws, t).mean() for t in range(lags + 1)],
        "Those are autocovariances. What do the correlations need besides?",
    ),
    "covariance over V": Mistake(
        partial(_curve, formula=lambda c, w, v: c / v),
        "You divided the autocovariance by V. Chains that are far apart would then look uncorrelated: it is 1 less (W - c)/V.",
    ),
    "in a circle": Mistake(
        partial(_curve, covariance=_in_a_circle),
        "You go round in a circle: np.roll, or a Fourier transform without padding, lets a chain's end meet its beginning.",
    ),
    "divided by the count": Mistake(
        partial(_curve, counts=(0, 1)),
        "W is divided by n - 1, as in Part 1, although the autocovariances are divided by n. NumPy needs ddof=1.",
    ),
    "means divided by the count": Mistake(
        partial(_curve, counts=(1, 0)),
        "In your V the variance of the m means is divided by m, or you took the variance of all draws, in which nearly the same happens. "
        "Divide by m - 1: NumPy needs ddof=1.",
    ),
    "V without B": Mistake(
        partial(_curve, total=lambda n, w, b_n: (n - 1) / n * w),
        "Your V lacks B/n, the variance of the chains' means.",
    ),
    "B for B/n": Mistake(
        partial(_curve, total=lambda n, w, b_n: (n - 1) / n * w + n * b_n),
        "Your V has B where B/n belongs: the variance of the means as it is.",
    ),
    "W in full": Mistake(
        partial(_curve, total=lambda n, w, b_n: w + b_n),
        "Your V has W in full. It is (n-1)/n W + B/n.",
    ),
    "no lag 0": Mistake(
        lambda draws, lags: _curve(draws, lags)[1:],
        "Your answer begins with lag 1. It should begin with lag 0, where the correlation is 1, and have lags + 1 numbers.",
    ),
    "one too few": Mistake(
        lambda draws, lags: _curve(draws, lags - 1),
        "Your answer ends one lag too early. It should have lags + 1 numbers, of which the first is for lag 0.",
    ),
    "lag 0 by formula": Mistake(
        partial(_curve, first=0),
        "Right but for lag 0, where the formula misses 1 by a little. Put 1 there.",
    ),
    "cut": Mistake(
        lambda draws, lags: _curve(halves(draws), lags),
        "You cut the chains into halves. Here take them as they come; whoever calls the function hands over halves.",
    ),
    "not centred": Mistake(
        partial(_curve, covariance=lambda chains, t: _lagged(chains, t, 0.0)),
        "You multiply the draws themselves. Subtract each chain's mean first.",
    ),
    "rows and columns": Mistake(
        lambda draws, lags: _curve(draws.T, lags),
        "Rows and columns have changed places: a row is a chain.",
    ),
}
CORRELATIONS_KIN: dict[str, list[Callable[..., Any]]] = {
    "each chain its own": [
        lambda draws, lags: [_lagged(draws, t).mean() / _lagged(draws, 0).mean() for t in range(lags + 1)],
        lambda draws, lags: [1.0] + [np.mean([np.corrcoef(x[:-t], x[t:])[0, 1] for x in draws]) for t in range(1, lags + 1)],
    ],
    "about the mean of all": [
        partial(_curve, covariance=lambda chains, t: _lagged(chains, t, chains.mean())),
        partial(_curve, covariance=lambda chains, t: _lagged(chains, t, chains.mean()), first=0),
    ],
    "about the mean of each draw": [partial(_curve, covariance=lambda chains, t: _lagged(chains, t, chains.mean(axis=0)), first=0)],
    "by np.cov": [partial(_curve, covariance=_by_cov, first=0), partial(_curve, covariance=partial(_by_cov, less=0))],
    "summed over chains": [partial(_curve, covariance=lambda chains, t: len(chains) * _lagged(chains, t), first=0)],
    "means divided by the count": [lambda draws, lags: _curve(draws, lags, total=lambda *_: draws.var(ddof=1))],
    "covariances": [lambda draws, lags: [1.0] + [_lagged(draws, t).mean() for t in range(1, lags + 1)]],
    "cut": [lambda draws, lags: _curve(halves(draws), lags, first=0)],
    "divided by the count": [
        partial(_curve, counts=(0, 1), first=0),
        partial(_curve, counts=(0, 0)),
        lambda draws, lags: _curve(draws, lags, formula=lambda c, w, v: 1 - (_lagged(draws, 0).mean() - c) / v),
    ],
    "without 1 minus": [partial(_curve, formula=lambda c, w, v: (w - c) / v, first=0)],
    "divided by n - t": [partial(_curve, covariance=lambda chains, t: _lagged(chains, t, count=chains.shape[1] - t), first=0)],
}
ALL_CORRELATIONS = with_kin(CORRELATIONS_MISTAKES, CORRELATIONS_KIN)


def _pairs(rho: np.ndarray, start: int = 0) -> np.ndarray:
    even = (len(rho) - start) // 2 * 2
    return rho[start : start + even].reshape(-1, 2).sum(axis=1)


def _kept(pairs: np.ndarray) -> np.ndarray:
    """Those before the first that is not positive."""
    return pairs[: np.argmin(np.append(pairs > 0, False))]


def _falling(pairs: np.ndarray) -> np.ndarray:
    return np.minimum.accumulate(pairs) if len(pairs) else pairs


def _tau(rho: np.ndarray) -> float:
    return float(2 * _falling(_kept(_pairs(rho))).sum() - 1)


def _first_negative(rho: np.ndarray) -> np.ndarray:
    return rho[: np.argmin(np.append(rho > 0, False))]


def _until_rise(rho: np.ndarray) -> np.ndarray:
    pairs = _kept(_pairs(rho))
    return pairs[: np.argmin(np.append(np.diff(pairs, prepend=np.inf) <= 0, False))]


def _one_more(rho: np.ndarray) -> np.ndarray:
    pairs = _pairs(rho)
    return pairs[: len(_kept(pairs)) + 1]


def _one_lag_more(rho: np.ndarray, size: int, times: int = 1, low: float = 0.0) -> float:
    """With the even lag at which the sum ends."""
    end = 2 * len(_kept(_pairs(rho)))
    more = max(rho[end], low) if end < len(rho) else 0.0
    return size / (_tau(rho) + times * more)


ESS_MISTAKES = {
    "all lags": Mistake(
        lambda rho, size: size / (2 * rho.sum() - 1),
        "You summed all lags. The late ones are noise, and there are many of them: stop at the first pair that is not positive.",
    ),
    "first negative": Mistake(
        lambda rho, size: size / (2 * _first_negative(rho).sum() - 1),
        "You stop at the first correlation that is not positive. Stop at the first *pair* that is not: a single one may well be negative.",
    ),
    "may rise again": Mistake(
        lambda rho, size: size / (2 * _kept(_pairs(rho)).sum() - 1),
        "You stop where you should, but let the pairs rise on the way. Replace each by the smallest so far.",
    ),
    "pairs from lag 1": Mistake(
        lambda rho, size: size / (2 * _falling(_kept(_pairs(rho, 1))).sum() + 1),
        "Your pairs begin with lag 1. The first pair is that of the lags 0 and 1.",
    ),
    "lag 0 twice": Mistake(
        lambda rho, size: size / (2 * _falling(_kept(_pairs(rho))).sum() + 1),
        "You have a +1 where a -1 belongs: the first pair has lag 0 in it already, which is not to be doubled.",
    ),
    "lag 0 doubled": Mistake(
        lambda rho, size: size / (2 * _falling(_kept(_pairs(rho))).sum()),
        "You doubled lag 0 as well. It counts once; take 1 off.",
    ),
    "not doubled": Mistake(
        lambda rho, size: size / _falling(_kept(_pairs(rho))).sum(),
        "You did not double the sum. Each lag occurs twice, before a draw and after it.",
    ),
    "tau": Mistake(lambda rho, size: _tau(rho), "That is how many draws are worth one independent draw. How many are S of them worth?"),
    "a share": Mistake(lambda rho, size: 1 / _tau(rho), "That is what one draw is worth. How much are S of them worth?"),
    "multiplied": Mistake(
        lambda rho, size: size * _tau(rho), "You multiplied where you should divide: the higher the correlations, the less."
    ),
    "goes on": Mistake(
        lambda rho, size: size / (2 * _falling((pairs := _pairs(rho))[pairs > 0]).sum() - 1),
        "You leave out the pairs that are not positive, and go on behind them. Stop at the first.",
    ),
    "one pair more": Mistake(
        lambda rho, size: size / (2 * _falling(_one_more(rho)).sum() - 1),
        "The first pair that is not positive still counts in your sum. Stop before it.",
    ),
    "no more than S": Mistake(
        lambda rho, size: min(size / _tau(rho), float(size)),
        "You allow no more than S. Where neighbours lie on opposite sides, S draws are worth more than S independent ones.",
    ),
    "P_0 apart": Mistake(
        lambda rho, size: size / (2 * ((kept := _kept(_pairs(rho)))[0] + _falling(kept[1:]).sum()) - 1),
        "Right as long as P_0 is the largest. It caps the pairs behind it like any other: your smallest so far should begin with P_0.",
    ),
    "larger pairs left out": Mistake(
        lambda rho, size: size / (2 * (kept := _kept(_pairs(rho)))[kept <= _falling(kept)].sum() - 1),
        "You leave out a pair that is larger than one before it. It counts, with the smallest so far in its place.",
    ),
    "one lag more": Mistake(
        _one_lag_more,
        "You add one more correlation where the sum ends, as ArviZ does. Here the sum ends with the last kept pair.",
    ),
    "stops at a rise": Mistake(
        lambda rho, size: size / (2 * _until_rise(rho).sum() - 1),
        "You stop at the first pair that is larger than the one before. Go on, with the smallest so far in its place.",
    ),
    "one before": Mistake(
        lambda rho, size: size / (2 * np.minimum(kept := _kept(_pairs(rho)), np.append(np.inf, kept[:-1])).sum() - 1),
        "You compare each pair with the one before it. Compare it with the smallest of all before it.",
    ),
    "lag by lag": Mistake(
        lambda rho, size: size / (2 * _kept(_pairs(np.minimum.accumulate(rho))).sum() - 1),
        "You made the single correlations fall. It is the pairs that must not rise.",
    ),
    "nothing kept": Mistake(
        lambda rho, size: size / (2 * _falling(_pairs(rho)[: np.argmax(_pairs(rho) <= 0)]).sum() - 1),
        "Where all pairs are positive, yours keeps none: argmax of nothing but False is 0. Then all of them count.",
    ),
    "without signs": Mistake(
        lambda rho, size: size / (2 * _falling(_kept(_pairs(abs(rho)))).sum() - 1),
        "You took the sizes of the correlations. Negative ones help, and count with their sign.",
    ),
}
ESS_KIN: dict[str, list[Callable[..., Any]]] = {
    "not doubled": [lambda rho, size: size / (_falling(_kept(_pairs(rho))).sum() - 1)],
    "one lag more": [
        lambda rho, size: _one_lag_more(rho, size, low=-np.inf),
        lambda rho, size: _one_lag_more(rho, size, 2),
    ],
    "pairs from lag 1": [lambda rho, size: size / (2 * _kept(_pairs(rho, 1)).sum() + 1)],
    "goes on": [lambda rho, size: size / (2 * (pairs := _pairs(rho))[pairs > 0].sum() - 1)],
    "one pair more": [lambda rho, size: size / (2 * _one_more(rho).sum() - 1)],
    "all lags": [
        lambda rho, size: size / (2 * _pairs(rho).cumsum()[-1] - 1),
        lambda rho, size: size / (2 * _falling(_pairs(rho)).sum() - 1),
    ],
    "may rise again": [lambda rho, size: min(size / (2 * _kept(_pairs(rho)).sum() - 1), size)],
    "without signs": [lambda rho, size: size / (2 * abs(rho).sum() - 1)],
    "nothing kept": [lambda rho, size: size / (2 * _pairs(rho)[: np.argmax(_pairs(rho) <= 0)].sum() - 1)],
}
ALL_ESS = with_kin(ESS_MISTAKES, ESS_KIN)


def effective(draws: np.ndarray) -> float:
    """The three parts together, on halves."""
    lags = draws.shape[1] // 4 * 2 - 1
    return _ess_by_walk(np.array(_curve(halves(draws), lags)), draws.size)


def walk(rng: np.random.Generator, chains: int, draws: int, memory: float) -> np.ndarray:
    """Chains in which a draw is ``memory`` times the one before, plus noise, from the long-run law N(0, 1)."""
    noise = rng.normal(size=(chains, draws))
    x = np.empty((chains, draws))
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = memory * x[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return x


def _few_chains(rng: np.random.Generator, chains: int, draws: int, apart: float) -> np.ndarray:
    """A handful of chains that drift together, stand apart and differ in width; now and then a draw is far out."""
    drift = np.linspace(-1, 1, draws) * rng.uniform(0.3, 0.8)
    places, widths = rng.normal(0, apart, (chains, 1)), rng.uniform(0.4, 2, (chains, 1))
    return 3 + places + drift + widths * rng.exponential(size=(chains, draws))


@lru_cache(maxsize=32)
def _rhat_cases(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 290])
    return telling(lambda: [(_few_chains(rng, *size),) for size in [(4, 12, 1.5), (5, 11, 0.4), (4, 9, 1.0)]], rhat_by_anova, ALL_RHATS)


def rhat_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _rhat_cases(seed),
        rhat_by_anova,
        ALL_RHATS,
        stub=rhat_stub,
        right="Right. It compares the spread of the halves' means with the spread inside the halves.",
        nudge="Not that R-hat. With draws = [[0, 3, 3, 6, 6, 9], [1, 2, 6, 3, 5, 4]] there are four halves, W = 3.5, B/n = 14/3, and R-hat "
        "is the root of 2, about 1.414.",
    )


@lru_cache(maxsize=32)
def _correlation_cases(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 291])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (0.5 + rng.normal(0, 0.5, (chains, 1)) + rng.uniform(0.6, 1.6, (chains, 1)) * walk(rng, chains, draws, 0.7), lags)
            for chains, draws, lags in [(5, 10, 4), (6, 12, 3)]
        ]

    return telling(draw, _correlations_by_sums, ALL_CORRELATIONS)


def correlations_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _correlation_cases(seed),
        _correlations_by_sums,
        ALL_CORRELATIONS,
        stub=correlations_stub,
        right="Right. Chains that stand apart are correlated at every lag, as they should be: none of them brings news of the others.",
        nudge="Not those correlations. With draws = [[0, 1, 3, 4], [2, 5, 6, 7]] and lags = 2, W = 4, B/n = 4.5, V = 7.5, c(1) = 0.625 and "
        "c(2) = -0.875, and the answer is [1, 0.55, 0.35].",
    )


def _noisy(rng: np.random.Generator, memory: float, pairs: list[float]) -> np.ndarray:
    """Correlations that fall like powers of ``memory`` at first; then pairs that are given up to noise, with odd lags lower or higher."""
    start = memory ** np.arange(4)
    scaled = np.array(pairs) * rng.uniform(0.8, 1.25, len(pairs))
    tilt = np.where(scaled > 0, rng.uniform(-0.2, 0.2, len(pairs)), rng.uniform(0.25, 0.35, len(pairs)))
    rest = np.column_stack([scaled / 2 + tilt, scaled / 2 - tilt]).ravel()
    return np.concatenate([start, rest])


def _to_and_fro(rng: np.random.Generator) -> np.ndarray:
    """Correlations whose second pair is larger than the first, as lag 1 is negative."""
    first, last = rng.uniform(0.2, 0.35), rng.uniform(0.05, 0.1)
    return np.array([1, -first, 0.6, rng.uniform(0.3, 0.5), 0.2, last, last, -0.3])


@lru_cache(maxsize=32)
def _ess_cases(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 292])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (_noisy(rng, rng.uniform(0.5, 0.7), [0.15, 0.4, 0.25, -0.3, 0.2, -0.1]), int(rng.integers(200, 900))),
            (_noisy(rng, -rng.uniform(0.25, 0.45), [0.06, 0.03, -0.1, 0.15]), int(rng.integers(200, 900))),
            (_noisy(rng, rng.uniform(0.6, 0.8), [0.5, 0.2, 0.3, 0.1]), int(rng.integers(200, 900))),
            (_to_and_fro(rng), int(rng.integers(200, 900))),
        ]

    return telling(draw, _ess_by_walk, ALL_ESS)


def ess_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _ess_cases(seed),
        _ess_by_walk,
        ALL_ESS,
        stub=ess_stub,
        right="Right. Slow chains are worth less than their draws, and chains that swing to and fro may be worth more.",
        nudge="Not that size. With rho = [1, 0.5, 0.3, -0.1, 0.15, 0.15, 0.1, -0.2] and S = 150 the pairs are 1.5, 0.2, 0.3 and -0.1, of "
        "which 1.5, 0.2 and once more 0.2 count, and the effective sample size is 150 / 2.8 = 53.571, not rounded.",
    )


TASKS = (
    Task(
        "mcmc/rhat-and-ess/rhat",
        "R-hat and ESS: do the chains agree?",
        2,
        10,
        rhat_stub,
        (
            "Cut first, then forget which half came from which chain: you have twice as many chains of half the length.",
            "Divide under the root: R-hat squared = (n-1)/n + (B/n)/W. With one half to a row, W and B/n need one number from each row.",
            "Begin with `half = draws.shape[1] // 2`; the halves are `draws[:, :half]` and `draws[:, -half:]`, one set above the other.",
        ),
        RHAT_MISTAKES,
        rhat_verdict,
    ),
    Task(
        "mcmc/rhat-and-ess/correlations",
        "R-hat and ESS: how alike are neighbours?",
        2,
        15,
        correlations_stub,
        (
            "W and V are two numbers, the same for all lags. With the lag changes the average product of distances from a chain's mean.",
            "rho = 1 - (W - c)/V. Let off be draws less the chains' means: c sums off[j, i] off[j, i + t] over i and j, divided by m n.",
            "Begin with `n = draws.shape[1]`. At lag t the factors are `off[:, : n - t]` and `off[:, t:]`, element by element.",
        ),
        CORRELATIONS_MISTAKES,
        correlations_verdict,
    ),
    Task(
        "mcmc/rhat-and-ess/ess",
        "R-hat and ESS: how many draws is that?",
        2,
        12,
        ess_stub,
        (
            "Add neighbours two by two. Which of the sums are kept? And which of these are replaced by a smaller one before them?",
            "ESS = S / (-1 + 2 (P_0 + P_1 + ... + P_K)), where P_K is the last one before the first that is not positive.",
            "Begin with `pairs = rho[::2] + rho[1::2]`",
        ),
        ESS_MISTAKES,
        ess_verdict,
    ),
)
