"""Run the published experiments of loss-calibrated variational inference again, and store what comes out.

    python tools/lcvi_results.py schools [--seeds 10]
    python tools/lcvi_results.py music [--seeds 0 1 2] [--extra]

Writes ``book/lcvi/results/eight_schools.json`` and ``music.json``. A run that is already stored is not run again. ``--extra`` adds the
runs of the paper's last figure: the sweep of M, EM, and the direct utility.
"""

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import data, decisions
from course_pkg.lcvi import factors, published, utilities

FOLDER = Path(__file__).parent.parent / "book" / "lcvi" / "results"
MUSIC = FOLDER / "music.json"
SETTLED = 14_999  # evaluations from here on are averaged: one alone has 0.4 to 0.6 % of noise


def schools(seeds: int):
    """Every seed plain and calibrated, from the same start, evaluated every thousand steps."""
    table, begin = data.schools(), time.perf_counter()
    runs: dict[bool, list] = {False: [], True: []}
    for seed in range(seeds):
        for calibrate, kept in runs.items():
            kept.append(published.eight_schools_run(jax.random.key(seed), table, calibrate=calibrate))
    seconds = time.perf_counter() - begin
    tails = {c: np.array([r.empirical_risk[r.iteration >= SETTLED].mean() for r in kept]) for c, kept in runs.items()}
    exact = {c: np.array([r.exact_risk[r.iteration >= SETTLED].mean() for r in kept]) for c, kept in runs.items()}
    final = runs[False], runs[True]
    curve = np.mean([1 - b.exact_risk / a.exact_risk[-1] for a, b in zip(*final, strict=True)], axis=0)
    result = {
        "command": _call(),
        "seeds": seeds,
        "seconds": round(seconds, 1),
        "plain_risk": _summary(tails[False]),
        "calibrated_risk": _summary(tails[True]),
        "reduction_percent": _summary(100 * (1 - tails[True] / tails[False])),
        "reduction_percent_exact_decisions": _summary(100 * (1 - exact[True] / exact[False])),
        "one_evaluation_reduction_percent": _summary(
            np.array([100 * (1 - b.empirical_risk[-1] / a.empirical_risk[-1]) for a, b in zip(*final, strict=True)])
        ),
        "iteration": final[0][0].iteration.tolist(),
        "reduction_percent_by_iteration": (100 * curve).round(3).tolist(),
        "calibrated_q": _shape(final[1]),
        "plain_q": _shape(final[0]),
    }
    _write(FOLDER / "eight_schools.json", result)
    print(json.dumps({k: result[k] for k in ("seconds", "plain_risk", "calibrated_risk", "reduction_percent")}, indent=1))


def _shape(runs):
    q = {"mu": [r.lam.mu[0] for r in runs], "mu_sd": [jax.nn.softplus(r.lam.raw[0]) for r in runs]}
    q |= {"tau": [jax.nn.softplus(r.lam.mu[1]) for r in runs], "t_sd": [jax.nn.softplus(r.lam.raw[1]) for r in runs]}
    return {name: _summary(np.array(values, dtype=float)) for name, values in q.items()}


def music(seeds, extra: bool):
    """Every seed: plain, and calibrated for each loss; the risks of the Bayes decisions on seen and hidden cells."""
    listening = data.lastfm()
    table, losses = listening.table, [decisions.squared(), *map(decisions.tilted, (0.2, 0.5, 0.8))]
    jobs: list[tuple] = [(loss.name, utilities.linearised(loss, 1 / published.GAMMA[loss.name]), [loss], {}) for loss in losses]
    jobs.insert(0, ("plain", None, losses, {}))
    if extra:
        jobs += _extra(losses)
    for name, utility, judged, options in jobs:
        for seed in seeds:
            if any(run["seed"] == seed and run["name"] == name for run in _stored(MUSIC)):
                continue
            begin = time.perf_counter()
            run = published.music_run(jax.random.key(seed), table, utility, **options)
            seconds = time.perf_counter() - begin
            key = jax.random.key(1000 + seed)
            risks = {loss.name: published.music_risks(key, run.lam, table, loss) for loss in judged}
            risks["direct"] = _direct(jax.random.fold_in(key, 1), run.lam, table)
            scales = [float(jax.nn.softplus(raw).mean()) for raw in (run.lam.row_raw, run.lam.column_raw)]
            ran = {"seed": seed, "name": name, "seconds": round(seconds, 1), "risks": risks, "mean_scales": scales}
            stored = [*_stored(MUSIC), ran]  # read again: another process may have added to it
            told = {"command": _calls(MUSIC), "simulated": listening.simulated}
            _write(MUSIC, told | {"runs": stored} | _table(stored))
            print(seed, name, stored[-1], flush=True)


def _call():
    return shlex.join(["python", "tools/lcvi_results.py", *sys.argv[1:]])


def _calls(path):
    """This call after those that have made what is stored."""
    earlier = json.loads(path.read_text())["command"].split("; ") if path.exists() else []
    return "; ".join(earlier if earlier[-1:] == [_call()] else [*earlier, _call()])


def _stored(path):
    return json.loads(path.read_text())["runs"] if path.exists() else []


def _extra(losses):
    """The runs of the paper's last figure, and plain inference with other scales."""
    squared = losses[0]
    bump = utilities.exponential(squared, 1.0)
    shortfall = decisions.Loss("shortfall", lambda y, h: 1 - bump(y, h))
    jobs: list[tuple] = [
        ("squared, M = 1, joint", utilities.linearised(squared, 1.0), [squared], {}),
        ("squared, M = 1, EM", utilities.linearised(squared, 1.0), [squared], {"em": True}),
        ("direct utility, inner integral done", bump, [squared], {}),
    ]
    of_shortfall = {"M at 50 %": 0.4372, "M = 1": 1.0, "M at 20 %": 0.0742, "M at 80 %": 0.8908}
    jobs += [(f"direct utility, linearised, {at}", utilities.linearised(shortfall, m), [squared], {}) for at, m in of_shortfall.items()]
    # quantiles of the losses of a converged plain fit, as the authors computed them
    percentiles = {70: 1.4077, 90: 3.5538, 50: 0.5962, 80: 2.1528, 30: 0.1945, 60: 0.9291, 40: 0.3603, 99: 8.76}
    jobs += [(f"squared, M at {p} %", utilities.linearised(squared, m), [squared], {}) for p, m in percentiles.items()]
    jobs += [
        ("plain, noise sd 1.3", None, [squared], {"noise_sd": 1.3}),
        ("plain, noise sd 1.3, prior sd 1", None, [squared], {"noise_sd": 1.3, "prior_sd": 1.0}),
    ]
    for n, part in {3_000: "a tenth", 6_000: "a fifth"}.items():
        for name, em in (("joint", False), ("EM", True)):
            utility = utilities.linearised(squared, 1.0)
            jobs.append((f"squared, M = 1, {name}, {part} of the steps", utility, [squared], {"em": em, "iterations": n}))
    return jobs


def _direct(key, lam, table):
    """Mean of 1 - exp(-(h - y)^2) at the decisions that are best for it, from 200 predictive draws."""
    utility = utilities.exponential(decisions.squared(), 1.0)
    h = []
    for start in range(0, table.value.shape[0], 124):
        y = factors.predicted_rows(jax.random.fold_in(key, start), lam, jnp.arange(start, start + 124), 200)
        h.append(decisions.bayes_decision(decisions.Loss("direct", lambda y, h: 1 - utility(y, h)), jnp.moveaxis(y, 0, -1)))
    costs = 1 - utility(table.value, jnp.concatenate(h))
    return {"train": float(costs[table.seen].mean()), "test": float(costs[~table.seen].mean())}


def _table(runs):
    plain = {run["seed"]: run["risks"] for run in runs if run["name"] == "plain"}
    summary: dict = {}
    for run in runs:
        if run["name"] == "plain" or run["seed"] not in plain:
            continue
        for loss, risks in run["risks"].items():
            for split, risk in risks.items():
                saved = 100 * (1 - risk / plain[run["seed"]][loss][split])
                summary.setdefault(run["name"], {}).setdefault(f"{loss}, {split}", []).append(saved)
    return {"reduction_percent": {n: {k: _summary(np.array(v)) for k, v in s.items()} for n, s in summary.items()}}


def _summary(values):
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return {"mean": round(float(values.mean()), 4), "sd": None if spread is None else round(spread, 4), "n": len(values)}


def _write(path, result):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=["schools", "music"])
    parser.add_argument("--seeds", type=int, nargs="+", default=None)
    parser.add_argument("--extra", action="store_true")
    settings = parser.parse_args()
    if settings.experiment == "schools":
        schools((settings.seeds or [10])[0])
    else:
        music(settings.seeds or [0, 1, 2], settings.extra)


if __name__ == "__main__":
    main()
