"""The post-hoc paper's Last.fm experiment: decision makers on plain VI's predictive, theirs beside ours.

    python book/posthoc/results/lastfm.py --skip-sweep [--seeds 5]
    python book/posthoc/results/lastfm.py --only-sweep

The first writes ``lastfm.json``: per seed and loss the test risks of VI, of the best single quantile, of the decision maker with the
paper's settings (B = 20, S = 1000, 10,000 Adam steps on 5,000 cells each, no prior), and of controls. The second writes
``lastfm_sweep.json``: the test risk for tilted 0.5 as B and S vary. Two minutes a seed, and some five for the sweep, on two quiet cores.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from lastfm_vi import factorise, predictive
from stored import store

from course_pkg import data
from course_pkg.decisions import risk_reduction, squared, tilted
from course_pkg.posthoc import Training, characterize, fit_decision_maker, single_quantile
from course_pkg.posthoc.features import levels

PUBLISHED = np.floor(100 * np.arange(1, 21) / 21) / 100  # whole percent, as in the authors' code
LOSSES = {"tilted0.2": tilted(0.2), "tilted0.5": tilted(0.5), "tilted0.8": tilted(0.8), "squared": squared()}
LEVEL = {"tilted0.2": 0.2, "tilted0.5": 0.5, "tilted0.8": 0.8}
SETTINGS = {"steps": 10_000, "batch": 5_000, "restarts": 1, "held_out": 0.0, "decay": False, "rate": 0.01}
KEY = jax.random.key(2020)
SETTLED = SETTINGS | {"steps": 3000, "decay": True}  # a rate that falls to zero: the jitter of the last step drowns small differences


def load():
    """log(1 + plays) of 992 listeners and 100 artists, and the cells that are held out."""
    listening = data.lastfm()
    if listening.simulated:
        raise SystemExit("the table of plays is not at hand, and nothing is stored of made-up listeners: set COURSE_DATA, or connect once")
    return np.asarray(listening.table.value), ~np.asarray(listening.table.seen)


def summaries(lam, draws, seed, wanted):
    """Each of the summaries of the predictive, by blocks of listeners: shape (listeners, artists, B) or without B."""
    blocks = [{n: f(predictive(lam, draws, seed + i, slice(i, i + 62))) for n, f in wanted.items()} for i in range(0, len(lam.w), 62)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in wanted}


def risk(loss, y, h):
    return float(np.mean(loss(y, np.asarray(h))))


def posterior(seed, y, test):
    """Plain VI with the paper's settings: 30,001 steps, 11 draws, prior standard deviations of 10."""
    return factorise(jax.random.fold_in(KEY, seed), jnp.asarray(y), jnp.asarray(~test), samples=11)


def one_seed(seed, y, test):
    key, lam = jax.random.fold_in(KEY, seed), posterior(seed, y, test)
    fine = np.arange(1, 200) / 200
    wanted = {"features": lambda d: characterize(d, PUBLISHED), "fine": lambda d: characterize(d, fine), "mean": lambda d: d.mean(axis=-1)}
    told = summaries(lam, 1000, 100 * seed, wanted)
    train, out = ~test, {}
    # a control: cells that the posterior has not seen, half of them to learn from, half to judge by
    half = np.random.default_rng(seed).random(test.shape) < 0.5
    learn, judge = test & half, test & ~half
    for name, loss in LOSSES.items():
        began = time.perf_counter()
        k = jax.random.fold_in(key, list(LOSSES).index(name))
        fit = fit_decision_maker(told["features"][train], y[train], loss, key=k, training=Training(**SETTINGS))
        seconds = time.perf_counter() - began
        longer = Training(**SETTLED)
        settled = fit_decision_maker(told["features"][train], y[train], loss, key=k, training=longer)
        linear = fit_decision_maker(told["features"][train], y[train], loss, key=k, training=longer._replace(hidden=()))
        only_mean = fit_decision_maker(told["mean"][train][:, None], y[train], loss, key=k, training=longer)
        single = single_quantile(told["fine"][train], y[train], loss)  # 199 quantiles stand in for the draws
        vi = told["mean"] if name == "squared" else told["fine"][..., round(200 * LEVEL[name]) - 1]
        ways = {
            "vi": vi,
            "single_quantile": single(told["fine"]),
            "decision_maker": fit.maker(told["features"]),
            "decision_maker_settled": settled.maker(told["features"]),
            "vi_clipped_at_zero": np.maximum(vi, 0),
            "linear_maker": linear.maker(told["features"]),
            "maker_of_the_mean": only_mean.maker(told["mean"][..., None]),
        }
        risks = {way: [risk(loss, y[part], np.asarray(h)[part]) for part in (train, test)] for way, h in ways.items()}
        saved = {way: 100 * float(risk_reduction(risks["vi"][1], r[1])) for way, r in risks.items() if way != "vi"}
        for way, hidden in (("decision_maker_from_unseen_cells", (20, 10)), ("linear_maker_from_unseen_cells", ())):
            fresh = fit_decision_maker(told["features"][learn], y[learn], loss, key=k, training=longer._replace(hidden=hidden))
            saved[way] = 100 * float(
                risk_reduction(risk(loss, y[judge], vi[judge]), risk(loss, y[judge], fresh.maker(told["features"][judge])))
            )
        out[name] = {"train_and_test_risk": risks, "saved_percent_of_test_risk": saved, "level": single.level, "seconds": seconds}
        print(seed, name, {way: round(value, 2) for way, value in saved.items()}, f"{seconds:.0f} s", flush=True)
    return out


def sweep(lam, y, test, draws, makers=2):
    """The test risk for tilted 0.5 with B quantiles of S draws, for a few decision makers on one posterior."""
    sizes, rows, loss = [1, 2, 5, 10, 20, 50], [], LOSSES["tilted0.5"]
    every = [levels(B) for B in sizes]
    for S in draws:
        told = summaries(lam, S, 7, {"all": lambda d: characterize(d, np.concatenate(every))})["all"]  # sorted once for all sizes
        for B, mine in zip(sizes, np.split(told, np.cumsum(sizes)[:-1], axis=-1), strict=True):
            longer, keys = Training(**SETTLED), map(jax.random.key, range(makers))
            fits = [fit_decision_maker(mine[~test], y[~test], loss, training=longer, key=key) for key in keys]
            rows.append([S, B, *(risk(loss, y[test], fit.maker(mine[test])) for fit in fits)])
            print(rows[-1], flush=True)
        store(__file__, "lastfm_sweep", columns=["S", "B", "test risk of each decision maker"], settings=SETTLED, rows=rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--skip-sweep", action="store_true")
    parser.add_argument("--only-sweep", action="store_true")
    parser.add_argument("--draws", type=int, nargs="+", default=[50, 100, 1000], help="values of S in the sweep")
    arguments = parser.parse_args()
    y, test = load()
    seeds = []
    for seed in range(0 if arguments.only_sweep else arguments.seeds):
        found = one_seed(seed, y, test)
        seeds.append(found)
        quartiles = {
            n: {way: np.quantile([s[n]["saved_percent_of_test_risk"][way] for s in seeds], [0.25, 0.5, 0.75]).tolist() for way in saved}
            for n, saved in ((n, found[n]["saved_percent_of_test_risk"]) for n in LOSSES)
        }
        store(__file__, "lastfm", settings=SETTINGS, settled=SETTLED, seeds=len(seeds), saved_percent_quartiles=quartiles, per_seed=seeds)
    if not arguments.skip_sweep:
        sweep(posterior(0, y, test), y, test, arguments.draws)


if __name__ == "__main__":
    main()
