"""What the music experiment's gains look like under controls, and the times of Table 4.2; stored for the page that shows them.

    python tools/lcvi_controls.py tune                 # scales and strength of calibration chosen on cells held out of the seen ones
    python tools/lcvi_controls.py music [--seeds 10]   # variational fits by coordinate ascent, plain and calibrated, with these scales
    python tools/lcvi_controls.py curves               # risk along the sweeps
    python tools/lcvi_controls.py levels               # plain fits that decide at another quantile
    python tools/lcvi_controls.py sampler              # Gibbs runs of the same model
    python tools/lcvi_controls.py distance             # how far the fits' decisions lie from those of the Gibbs runs
    python tools/lcvi_controls.py table [--seeds 10]   # benchmarks/lcvi.py --table

Writes ``book/lcvi/results/controls.json`` and ``table_4_2.json``. What is already stored is not run again.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from course_pkg import data

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "book" / "lcvi" / "results"
CONTROLS, TABLE = FOLDER / "controls.json", FOLDER / "table_4_2.json"
K, SWEEPS = 20, 150
LEVELS = {"tilted(0.2)": 0.2, "tilted(0.5)": 0.5, "tilted(0.8)": 0.8}
RATES = {"squared": 0.3, "tilted(0.2)": 1.62, "tilted(0.5)": 1.0, "tilted(0.8)": 1.62}  # of the authors' runs
TUNING_NOISE, TUNING_PRIOR = (0.8, 1.0, 1.15, 1.3, 1.5, 1.75), (1.0, 10.0)
TUNING_RATES = {"squared": (0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0)} | dict.fromkeys(
    LEVELS, (0.3, 0.8, 1.62, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0, 100.0)
)
FINALISTS, STARTS = 5, (0, 1, 2)  # the best of the grid from the first start are judged by the mean over all


class Fit(NamedTuple):
    """Independent normals over both factors."""

    w: np.ndarray
    w_var: np.ndarray
    z: np.ndarray
    z_var: np.ndarray
    noise_sd: float
    prior_sd: tuple[float, float]


def climb(seed, value, seen, *, noise_sd=1.0, prior_sd=10.0, loss=None, rate=0.0, sweeps=SWEEPS, learn=False, watch=None) -> Fit:
    """The best independent normals, factor by factor, each step in closed form.

    The calibrated bound charges ``rate`` times the expected loss of the best decision: the variance of the cell's mean for squared loss,
    and for a tilted loss the predictive's standard deviation times a constant, its square root kept below its tangent.
    """
    rng = np.random.default_rng(seed)
    n, m = value.shape
    w, z = rng.normal(size=(n, K)), rng.normal(size=(m, K))
    w_var, z_var = np.full((n, K), 0.5), np.full((m, K), 0.5)
    mask, prior = seen.astype(float), [prior_sd, prior_sd]
    rest = mask * (value - w @ z.T)
    for sweep in range(sweeps):
        charge = _charge(loss, rate, noise_sd, w, w_var, z, z_var) * mask
        for side, (a, a_var, b, b_var) in enumerate(((w, w_var, z, z_var), (z, z_var, w, w_var))):
            on, paid, left = (part.T if side else part for part in (mask, charge, rest))
            base = prior[side] ** -2 + on @ (b**2 + b_var) / noise_sd**2
            a_var[:] = 1 / (base + paid @ (b**2 + b_var))
            precision = base + paid @ b_var
            for k in range(K):
                new = (left @ b[:, k] + a[:, k] * (on @ b[:, k] ** 2)) / noise_sd**2 / precision[:, k]
                left -= on * np.outer(new - a[:, k], b[:, k])
                a[:, k] = new
        if learn and sweep >= 5:
            spread = _variance(w, w_var, z, z_var)
            noise_sd = float(np.sqrt((rest**2 + mask * spread).sum() / mask.sum()))
            prior = [float(np.sqrt((a**2 + v).mean())) for a, v in ((w, w_var), (z, z_var))]
        if watch is not None:
            watch(sweep + 1, Fit(w, w_var, z, z_var, noise_sd, tuple(prior)))
    return Fit(w, w_var, z, z_var, noise_sd, tuple(prior))


def _variance(w, w_var, z, z_var):
    return w_var @ (z**2).T + w**2 @ z_var.T + w_var @ z_var.T


def _charge(loss, rate, noise_sd, *moments):
    """Twice the derivative of the charge in the variance of the cell's mean."""
    if loss is None or not rate:
        return 0.0
    if loss == "squared":
        return 2 * rate
    return rate * norm.pdf(ndtri(LEVELS[loss])) / np.sqrt(noise_sd**2 + _variance(*moments))


def elbo(fit, value, seen):
    """Lower bound of the log evidence."""
    off = (value - fit.w @ fit.z.T)[seen] ** 2 + _variance(fit.w, fit.w_var, fit.z, fit.z_var)[seen]
    total = -0.5 * off.sum() / fit.noise_sd**2 - off.size * np.log(fit.noise_sd * np.sqrt(2 * np.pi))
    for a, v, sd in ((fit.w, fit.w_var, fit.prior_sd[0]), (fit.z, fit.z_var, fit.prior_sd[1])):
        total -= (0.5 * (a**2 + v) / sd**2 - 0.5 * np.log(v / sd**2) - 0.5).sum()
    return float(total)


def cell_means(seed, fit, draws=100):
    """Draws of the mean of every cell under the fit."""
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        w, z = (a + np.sqrt(v) * rng.normal(size=a.shape) for a, v in ((fit.w, fit.w_var), (fit.z, fit.z_var)))
        yield (w @ z.T).astype(np.float32), fit.noise_sd


def gibbs(seed, value, seen, *, noise_sd=1.0, prior_sd=10.0, learn=False, sweeps=1000, burn=300, keep=200):
    """Draws from the posterior: all rows' factors given the columns', then the columns' given the rows'.

    With ``learn`` the variances of noise and factors have inverse-gamma(1, 1) priors, and are drawn as well.
    """
    rng = np.random.default_rng(seed)
    n, m = value.shape
    w, z, mask = rng.normal(size=(n, K)), rng.normal(size=(m, K)), seen.astype(float)
    prior = [prior_sd, prior_sd]
    kept = set(np.linspace(burn, sweeps - 1, keep).astype(int).tolist())
    for sweep in range(sweeps):
        w = _draw_factors(rng, mask, value, z, noise_sd, prior[0])
        z = _draw_factors(rng, mask.T, value.T, w, noise_sd, prior[1])
        if learn:
            off = mask * (value - w @ z.T)
            noise_sd = _draw_sd(rng, off, mask.sum())
            prior = [_draw_sd(rng, a, a.size) for a in (w, z)]
        if sweep in kept:
            yield (w @ z.T).astype(np.float32), noise_sd


def _draw_factors(rng, mask, value, b, noise_sd, prior_sd):
    pairs = (b[:, :, None] * b[:, None, :]).reshape(len(b), -1)
    precision = (mask @ pairs).reshape(-1, K, K) / noise_sd**2 + np.eye(K) / prior_sd**2
    root = np.linalg.cholesky(precision)
    right = (mask * value) @ b / noise_sd**2
    half = np.linalg.solve(root, right[..., None])
    return np.linalg.solve(root.transpose(0, 2, 1), half + rng.normal(size=half.shape))[..., 0]


def _draw_sd(rng, x, count):
    return float(np.sqrt((1 + 0.5 * (x**2).sum()) / rng.gamma(1 + 0.5 * count)))


def risks(means, value, seen, losses=None):
    """Risks of the best decisions under the predictive of each cell, a mixture of normals; also clipped at nought."""
    pairs = list(means)
    m, sd = np.stack([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs], dtype=np.float32)[:, None, None]
    centre, width = m.mean(axis=0), np.sqrt(m.var(axis=0) + (sd**2).mean())
    table = {}
    for name in losses or ["squared", *LEVELS, "direct"]:
        if name == "squared":
            h = centre
        elif name == "direct":
            h = _highest(m, sd, centre)
        else:
            h = _quantile(m, sd, LEVELS[name], centre, width)
        for ending, decided in (("", h), (", clipped", np.maximum(h, 0))):
            cost = _loss(name, value, decided)
            table[name + ending] = {"train": float(cost[seen].mean()), "test": float(cost[~seen].mean())}
    return table


def _quantile(m, sd, level, centre, width):
    h = centre + ndtri(level).astype(np.float32) * width
    for _ in range(6):  # Newton from the normal's quantile
        z = (h - m) / sd
        h = h - (ndtr(z).mean(axis=0) - level) / (np.exp(-0.5 * z**2) / sd).mean(axis=0) * np.sqrt(2 * np.pi)
    return h


def _highest(m, sd, h):
    """Where the expected exp(-(h - y)^2) is highest: every step weights the draws by how near they are."""
    flat = 1 + 2 * sd**2
    for _ in range(20):
        weight = np.exp(-((h - m) ** 2) / flat) / np.sqrt(flat) / flat
        h = (weight * m).sum(axis=0) / weight.sum(axis=0)
    return h


def _loss(name, y, h):
    if name == "squared":
        return (h - y) ** 2
    if name == "direct":
        return 1 - np.exp(-((h - y) ** 2))
    return np.where(y >= h, LEVELS[name], LEVELS[name] - 1) * (y - h)


def music(seeds):
    """Plain and calibrated, with the published scales and with those that `tune` chose."""
    value, seen, store = _start()
    jobs: dict[str, dict] = {"plain": {}, "scales by the bound": {"learn": True}}
    jobs |= {f"calibrated, {name}": {"loss": name, "rate": rate} for name, rate in RATES.items()}
    for way in ("plain", "only the rate", "scales and rate"):
        jobs |= {f"tuned, {way}, {name}": best["options"] for name, best in store.get("tuned", {}).get(way, {}).items()}
    for name, best in store.get("tuned", {}).get("plain", {}).items():
        jobs[f"tuned, plain, then the published rate, {name}"] = best["options"] | {"loss": name, "rate": RATES[name]}
    _forget(store, jobs)
    for seed in range(seeds):
        for name, options in jobs.items():
            if _has(store, name, seed):
                continue
            begin = time.perf_counter()
            fit = climb(seed, value, seen, **options)
            seconds = time.perf_counter() - begin
            losses = [loss for loss in RATES if name.endswith(loss)] or None
            found = {"risks": risks(cell_means(1000 + seed, fit), value, seen, losses), "elbo": round(elbo(fit, value, seen), 1)}
            _add(store, name, seed, seconds, found | {"noise_sd": fit.noise_sd, "prior_sd": fit.prior_sd, "options": options})


def curves():
    """Squared risk along the sweeps."""
    value, seen, store = _start()
    store["curves"] = []
    jobs: dict[str, dict] = {"plain": {}, "calibrated": {"loss": "squared", "rate": 0.3}, "plain, noise sd 1.3": {"noise_sd": 1.3}}
    for name, options in jobs.items():
        rows: list[list[float]] = []

        def watch(sweep, fit, rows=rows):
            if sweep in (5, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400):
                cost = (value - fit.w @ fit.z.T) ** 2
                rows.append([sweep, round(float(cost[seen].mean()), 5), round(float(cost[~seen].mean()), 5)])

        climb(0, value, seen, sweeps=400, watch=watch, **options)
        store["curves"].append({"name": name, "sweep, train, test": rows})
        _write(CONTROLS, store)


def tune():
    """A tenth of the seen cells stands in for the hidden ones: the scales, and the strength of calibration, for each loss."""
    value, seen, store = _start()
    aside = seen & (np.random.default_rng(7).random(seen.shape) < 0.1)
    part, grid = seen & ~aside, store.setdefault("grid", [])
    for noise in TUNING_NOISE:
        for prior in TUNING_PRIOR:
            for loss, rates in {"plain": (0.0,), **TUNING_RATES}.items():
                for rate in rates:
                    if any(row[:2] == [noise, prior] and row[3] == rate and loss in (row[2], "plain") for row in grid):
                        continue
                    fit = climb(0, value, part, noise_sd=noise, prior_sd=prior, loss=loss if rate else None, rate=rate, sweeps=80)
                    for judged in RATES if loss == "plain" else [loss]:
                        cost = _loss(judged, value, _nearly_best(judged, fit))
                        grid.append([noise, prior, judged, rate, round(float(cost[aside].mean()), 5), round(float(cost[~seen].mean()), 5)])
            _write(CONTROLS, store)
            print(noise, prior, flush=True)
    ways = {
        "plain": lambda row: row[3] == 0,
        "only the rate": lambda row: row[:2] == [1.0, 10.0],
        "scales and rate": lambda row: True,  # noqa: ARG005
    }
    again, store["tuned"] = store.setdefault("grid, other starts", []), {}
    for way, allowed in ways.items():
        rows = {loss: sorted((r for r in grid if r[2] == loss and allowed(r)), key=lambda row: row[4])[:FINALISTS] for loss in RATES}
        store["tuned"][way] = {loss: _best([_from_all_starts(row, again, value, seen, aside) for row in rows[loss]]) for loss in RATES}
        _write(CONTROLS, store)
        print(way, json.dumps(store["tuned"][way]), flush=True)


def _from_all_starts(row, again, value, seen, aside):
    """A row of the grid with its risks averaged over the starts; those of the other starts are kept in ``again``, each with its start."""
    noise, prior, loss, rate, *risk = row
    found = [risk]
    for start in STARTS[1:]:
        told = [other[5:] for other in again if other[:5] == [*row[:4], start]]
        if not told:
            options = {"noise_sd": noise, "prior_sd": prior, "loss": loss if rate else None, "rate": rate}
            fit = climb(start, value, seen & ~aside, sweeps=80, **options)
            cost = _loss(loss, value, _nearly_best(loss, fit))
            told = [[round(float(cost[cells].mean()), 5) for cells in (aside, ~seen)]]
            again.append([*row[:4], start, *told[0]])
        found.append(told[0])
    return [*row[:4], *np.mean(found, axis=0).round(5).tolist()]


def levels(seeds=5):
    """Plain fits that decide at another quantile, chosen with the scales on the cells held out of the seen ones; q is left alone."""
    value, seen, store = _start()
    aside = seen & (np.random.default_rng(7).random(seen.shape) < 0.1)
    scales = [(noise, prior) for noise in TUNING_NOISE for prior in TUNING_PRIOR]
    fits = {s: climb(0, value, seen & ~aside, noise_sd=s[0], prior_sd=s[1], sweeps=80) for s in scales}
    tried, store["levels"] = np.arange(0.02, 0.99, 0.02), []
    for loss in LEVELS:
        for way, allowed in {"published scales": [(1.0, 10.0)], "tuned scales": scales}.items():
            rows = [(_loss(loss, value, _nearly_best(loss, fits[s], q))[aside].mean(), s, q) for s in allowed for q in tried]
            _, (noise, prior), level = min(rows)
            for seed in range(seeds):
                h = _nearly_best(loss, climb(seed, value, seen, noise_sd=noise, prior_sd=prior), level)
                found = {"loss": loss, "way": way, "noise_sd": noise, "prior_sd": prior, "level": round(float(level), 2), "seed": seed}
                for name, decided in (("test", h), ("test, clipped", np.maximum(h, 0))):
                    found[name] = round(float(_loss(loss, value, decided)[~seen].mean()), 5)
                store["levels"].append(found)
            _write(CONTROLS, store)
            print(store["levels"][-1], flush=True)


def _nearly_best(loss, fit, level=None):
    """The decision, were the predictive a normal: quick, and near enough to choose by. ``level``: of another quantile."""
    centre = fit.w @ fit.z.T
    if loss == "squared":
        return centre
    spread = np.sqrt(fit.noise_sd**2 + _variance(fit.w, fit.w_var, fit.z, fit.z_var))
    return centre + ndtri(LEVELS[loss] if level is None else level) * spread


def _best(rows):
    noise, prior, loss, rate, aside, test = min(rows, key=lambda row: row[4])
    options = {"noise_sd": noise, "prior_sd": prior} | ({"loss": loss, "rate": rate} if rate else {})
    return {"options": options, "aside": aside, "test": test}


def sampler():
    """Gibbs runs: the model as published, with the tuned scales, and with scales that are unknown too."""
    value, seen, store = _start()
    jobs = {"Gibbs": {}, "Gibbs, scales drawn": {"learn": True}}
    if "tuned" in store:
        jobs["Gibbs, tuned"] = store["tuned"]["plain"]["squared"]["options"]
    _forget(store, jobs)
    for name, options in jobs.items():
        for seed in range(2):
            if _has(store, name, seed):
                continue
            begin = time.perf_counter()
            draws = list(gibbs(seed, value, seen, **options))
            seconds = time.perf_counter() - begin
            sd = [pair[1] for pair in draws]
            found = {"risks": risks(draws, value, seen), "noise_sd": float(np.mean(sd)), "options": options}
            found["squared by halves"] = [
                float(((value - np.mean([p[0] for p in half], axis=0)) ** 2)[~seen].mean()) for half in (draws[:100], draws[100:])
            ]
            _add(store, name, seed, seconds, found)


def distance(seeds):
    """Root mean square, over hidden cells, between the fits' decisions and those of two Gibbs runs together; and between the two runs."""
    value, seen, store = _start()
    draws = [list(gibbs(seed, value, seen)) for seed in range(2)]

    def decide(run, name):
        m, sd = np.stack([pair[0][~seen] for pair in run]), np.float32(1)  # the published noise
        centre = m.mean(axis=0)
        return centre if name == "squared" else _quantile(m, sd, LEVELS[name], centre, np.sqrt(m.var(axis=0) + 1))

    def apart(a, b):
        return round(float(np.sqrt(((a - b) ** 2).mean())), 5)

    fits = [climb(seed, value, seen) for seed in range(seeds)]
    store["distance"] = []
    for name, rate in RATES.items():
        one, other, both = (decide(run, name) for run in (*draws, draws[0] + draws[1]))
        charged = [climb(seed, value, seen, loss=name, rate=rate) for seed in range(seeds)]
        found = {"loss": name, "between the runs": apart(one, other)}
        for way, group in (("plain", fits), ("calibrated", charged)):
            found[way] = [apart(_nearly_best(name, fit)[~seen], both) for fit in group]
        store["distance"].append(found)
        _write(CONTROLS, store)
        print(found, flush=True)


def table(seeds):
    """Times and errors of numerical and amortised decisions, as the benchmark prints them."""
    command = [sys.executable, str(ROOT / "benchmarks" / "lcvi.py"), "--table", "--repeats", str(seeds)]
    store_table(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)


def store_table(printed):
    """Keep what the benchmark printed."""
    rows = [list(map(float, line.split())) for line in printed.splitlines() if re.match(r"\s*\d+\s", line)]
    names = ("points", "start", "solved_seconds", "solved_excess", "network_seconds", "network_excess")
    result = {
        "command": "",
        "machine": "two cores, shared with other work",
        "rows": [dict(zip(names, row, strict=True)) for row in rows],
        "published": {
            "points": [1e3, 1e4, 1e5, 1e6],
            "solved_seconds": [0.04, 0.42, 3.44, 39.3],
            "network_seconds": [4.43, 4.23, 4.27, 4.69],
        },
    }
    _write(TABLE, result)


def _start():
    listening = data.lastfm()
    value, seen = np.asarray(listening.table.value, float), np.asarray(listening.table.seen)
    if CONTROLS.exists():
        store = json.loads(CONTROLS.read_text())
    else:
        store = {"command": "", "simulated": listening.simulated, "runs": []}
    if "constant" not in store:
        store["constant"] = _constants(value, seen)
    return value, seen, store


def _constants(value, seen):
    """One decision for every cell, the best on the seen ones."""
    found = {}
    for name in ("squared", *LEVELS, "direct"):
        h = min(np.linspace(0, 8, 801), key=lambda h: _loss(name, value[seen], h).mean())
        cost = _loss(name, value, h)
        found[name] = {"h": float(h), "train": float(cost[seen].mean()), "test": float(cost[~seen].mean())}
    return found


def _forget(store, jobs):
    """Drop the runs of an earlier choice of scales or strength: they are made anew."""
    store["runs"] = [run for run in store["runs"] if run["options"] == jobs.get(run["name"], run["options"])]


def _has(store, name, seed):
    return any(run["name"] == name and run["seed"] == seed for run in store["runs"])


def _add(store, name, seed, seconds, found):
    found["risks"] = {n: {k: round(v, 5) for k, v in r.items()} for n, r in found["risks"].items()}
    store["runs"].append({"name": name, "seed": seed, "seconds": round(seconds, 1), **found})
    _write(CONTROLS, store)
    print(seed, name, round(seconds, 1), {n: r["test"] for n, r in found["risks"].items()}, flush=True)


def _write(path, result):
    """A line for every row of a list, so that a difference can be read; this call is named after those that made the rest."""
    call = shlex.join(["python", "tools/lcvi_controls.py", *sys.argv[1:]])
    earlier = [*filter(None, result["command"].split("; "))]
    result["command"] = "; ".join(earlier if earlier[-1:] == [call] else [*earlier, call])
    parts = []
    for key, value in result.items():
        body = "[\n" + ",\n".join(map(json.dumps, value)) + "\n]" if isinstance(value, list) else json.dumps(value)
        parts.append(f"{json.dumps(key)}: {body}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["music", "curves", "levels", "tune", "sampler", "distance", "table"])
    parser.add_argument("--seeds", type=int, default=10)
    settings = parser.parse_args()
    if settings.what in ("music", "distance", "table"):
        {"music": music, "distance": distance, "table": table}[settings.what](settings.seeds)
    else:
        {"tune": tune, "curves": curves, "levels": levels, "sampler": sampler}[settings.what]()


if __name__ == "__main__":
    main()
