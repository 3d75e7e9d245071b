"""Two questions about the Last.fm decision makers: how far do they go from the model, and what can be had without any posterior?

    python book/posthoc/results/lastfm_controls.py [--seeds 10]

Writes ``lastfm_controls.json``. Per loss: the test risk of a network of the same shape that is told two averages of the training cells and
no posterior, for a few seeds; and, for the posterior of seed 0, the decisions of a decision maker that sees the predictive mean only, along
that mean, and the distance of the one that sees 20 quantiles from VI's own decisions. Some four minutes on two quiet cores.
"""

import argparse

import jax
import numpy as np
from lastfm import LEVEL, LOSSES, PUBLISHED, SETTLED, load, posterior, risk, summaries
from stored import store

from course_pkg.decisions import squared
from course_pkg.posthoc import Training, characterize, fidelity, fit_decision_maker


def other_means(y, train):
    """What a listener's and an artist's other training cells say of a cell, on average: no posterior, shape (992, 100, 2)."""
    sums = [np.where(train, y, 0).sum(axis=axis, keepdims=True) - np.where(train, y, 0) for axis in (1, 0)]
    counts = [train.sum(axis=axis, keepdims=True) - train for axis in (1, 0)]
    return np.stack([total / np.maximum(count, 1) for total, count in zip(sums, counts, strict=True)], axis=-1).astype(np.float32)


def without_posterior(seed, y, test):
    told = other_means(y, ~test)
    found = {}
    for name, loss in LOSSES.items():
        fit = fit_decision_maker(told[~test], y[~test], loss, key=jax.random.key(seed), training=Training(**SETTLED))
        found[name] = risk(loss, y[test], np.asarray(fit.maker(told))[test])
    print(seed, found, flush=True)
    return found


def with_posterior(y, test, seed=0):
    lam = posterior(seed, y, test)
    wanted = {
        "features": lambda d: characterize(d, PUBLISHED),
        "own": lambda d: characterize(d, list(LEVEL.values())),
        "mean": lambda d: d.mean(axis=-1),
        "sd": lambda d: d.std(axis=-1),
    }
    told, train, found = summaries(lam, 1000, 100 * seed, wanted), ~test, {}
    grid = np.linspace(-1.5, 6.5, 81, dtype=np.float32)
    for name, loss in LOSSES.items():
        fit = fit_decision_maker(told["features"][train], y[train], loss, key=jax.random.key(seed), training=Training(**SETTLED))
        curve = fit_decision_maker(told["mean"][train][:, None], y[train], loss, key=jax.random.key(seed), training=Training(**SETTLED))
        vi = told["mean"] if name == "squared" else told["own"][..., list(LEVEL).index(name)]
        near = np.abs(told["mean"] - grid[:, None, None]).argmin(axis=0)
        far = fidelity(np.asarray(fit.maker(told["features"]))[test], vi[test], told["sd"][test])
        found[name] = {
            "predictive_mean": grid.tolist(),
            "decision_by_the_mean": np.asarray(curve.maker(grid[:, None])).tolist(),
            "vi_on_average": [float(vi[near == k].mean()) if (near == k).any() else None for k in range(len(grid))],
            "maker_from_vi": far._asdict(),
            "clipped_from_vi": fidelity(np.maximum(vi, 0)[test], vi[test], told["sd"][test])._asdict(),
        }
        print(name, found[name]["maker_from_vi"], flush=True)
    zeros = float((y[test] == 0).mean())
    residual = {part: risk(squared(), y[where], told["mean"][where]) for part, where in (("train", train), ("test", test))}
    return {
        "share_of_zeros": zeros,
        "share_of_negative_means": float((told["mean"][test] < 0).mean()),
        "squared_error": residual,
        "mean_predictive_sd": float(told["sd"][test].mean()),
        "per_loss": found,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    y, test = load()
    averages = [without_posterior(seed, y, test) for seed in range(seeds)]
    risks = {name: [found[name] for found in averages] for name in LOSSES}
    store(__file__, "lastfm_controls", settings=SETTLED, test_risk_without_posterior=risks, posterior_of_seed_0=with_posterior(y, test))


if __name__ == "__main__":
    main()
