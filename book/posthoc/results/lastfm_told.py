"""What the Last.fm decision makers are told: how much of it is the mean, and what more draws add to it.

    python book/posthoc/results/lastfm_told.py

Writes ``lastfm_told.json``, piece by piece, for the posterior of seed 0. How wide the predictives are, and how much of twenty quantiles is
one number; the test risk for tilted 0.5 of makers that are told the mean of S draws, and of makers that are told B quantiles of 10,000;
and the same with a rate that does not fall, as published. Some five minutes on one core.
"""

import jax
import numpy as np
from lastfm import LOSSES, SETTINGS, SETTLED, load, posterior, risk, summaries
from stored import store

from course_pkg.posthoc import Training, characterize, fit_decision_maker
from course_pkg.posthoc.features import levels

LOSS, MAKERS, SIZES = LOSSES["tilted0.5"], 2, (1, 5, 20, 50)


def test_risks(told, y, test, settings):
    """The test risk of a few makers that differ in their first weights and minibatches."""
    training, keys = Training(**settings), map(jax.random.key, range(MAKERS))
    fits = [fit_decision_maker(told[~test], y[~test], LOSS, training=training, key=key) for key in keys]
    return [risk(LOSS, y[test], fit.maker(told[test])) for fit in fits]


def spread(told, test):
    """Quantiles over the test cells of the predictive standard deviation, and each principal component's share of twenty quantiles."""
    quantiles = told["told"][..., 1:].reshape(-1, told["told"].shape[-1] - 1).astype(float)
    variance = np.linalg.eigvalsh(np.cov(quantiles[test.ravel()].T))[::-1]
    return np.quantile(told["sd"][test], [0.05, 0.5, 0.95]).tolist(), (variance / variance.sum())[:3].tolist()


def main():
    y, test = load()
    lam, found = posterior(0, y, test), {"mean_of_draws": [], "quantiles_of_draws": [], "rate_that_does_not_fall": []}

    def keep():
        store(__file__, "lastfm_told", settled=SETTLED, published=SETTINGS, **found)
        print(found, flush=True)

    every = np.concatenate([levels(B) for B in SIZES])
    for S in (50, 100, 1000):
        wanted = {
            "told": lambda d: np.concatenate([d.mean(axis=-1)[..., None], characterize(d, 20)], axis=-1),
            "sd": lambda d: d.std(axis=-1),
        }
        told = summaries(lam, S, 7, wanted)
        if S == 1000:
            found["sd_quantiles"], found["principal_shares"] = spread(told, test)
        found["mean_of_draws"].append([S, *test_risks(told["told"][..., :1], y, test, SETTLED)])
        keep()
    for B, mine in ((1, told["told"][..., 10:12].mean(axis=-1, keepdims=True)), (20, told["told"][..., 1:])):
        found["rate_that_does_not_fall"].append([1000, B, *test_risks(mine, y, test, SETTINGS)])
        keep()
    told = summaries(lam, 10_000, 7, {"all": lambda d: characterize(d, every)})["all"]
    for B, mine in zip(SIZES, np.split(told, np.cumsum(SIZES)[:-1], axis=-1), strict=True):
        found["quantiles_of_draws"].append([10_000, B, *test_risks(mine, y, test, SETTLED)])
        keep()


if __name__ == "__main__":
    main()
