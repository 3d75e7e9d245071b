"""Does it pay? Importance-sampled gradients against plain SGD on the three published models, in one run.

    python benchmarks/is_gradients.py [--models normal regression mixture] [--seeds 5] [--out results.json] [--pieces folder] [--small]

What is stored is made by ``--out book/is_gradients/results/does_it_pay.json``, in half an hour or more.

First as published: the printed rate and decay, reuse with probability 0.9; how long until each reaches the ELBO that plain SGD has at the
end of its published run. The normal model runs a second time with its likelihood tempered, as the published code has it. Then tuned: each
method with its own best rate and schedule, found on seed 0 by the sweep stated in the results, and run again at fresh seeds. An ELBO is
looked at after 60 numbers of steps in geometric order, so times come in steps of a tenth. All methods take minibatches as blocks of
neighbouring rows, so none pays for a gather.

With ``--pieces`` finished pieces are kept in a folder, and a run that was stopped goes on from them.

On a shared machine a stopwatch measures the neighbours. So the steps and model gradients until the target are counted, and the unit costs
of both are timed in turns, the least of each kept: seconds = steps x cost of a cheap step + model gradients x cost of a model gradient.
"""

import argparse
import json
import shlex
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from course_pkg import families
from course_pkg.gradients import Estimator
from course_pkg.is_gradients import Subsample, Weighting, anchored, isag, isgd, sag, state_bytes
from course_pkg.is_gradients import published as pub

FAMILY = families.mean_field_normal()
ADAM = (0.9, 0.999)
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
BUDGETS = {"normal": (160, 640, 2560), "regression": (40, 160, 640), "mixture": (160, 640, 2560)}  # gradients; the rate falls to 1/100
TARGETS = {  # nats below the optimum for each parameter; for the first two 1, 0.1 and 0.01 per cent of where a run starts
    "normal": {"coarse": 2500.0, "middle": 250.0, "fine": 25.0},
    "regression": {"coarse": 12000.0, "middle": 1200.0, "fine": 120.0},
    "mixture": {"coarse": 6.0, "middle": 3.0, "fine": 1.5},
}
SMALL = {"rows": 2000, "size": 100}


class Method(NamedTuple):
    """What a row of the table runs."""

    estimator: Estimator
    per: int  # steps for each model gradient, about
    adam: tuple = ADAM  # how much of its two averages Adam keeps at each step


def methods(problem):
    """Name -> `Method`.

    Reuse speeds up Adam's clock too: ten steps from one gradient forget ten times as much for each gradient. A second plain SGD does the
    same without reuse, so that what the cached gradient is good for is told from what the clock is good for.
    """
    model, blocks = problem.model, Subsample(problem.size, partition=True)
    batches = jax.tree.leaves(problem.data)[0].shape[0] // problem.size
    reusing = partial(isgd, model, FAMILY, subsample=blocks)
    half, scaled = Weighting(min_ess=0.5), Weighting(min_ess=0.5, scale_by_ess=True)
    return {
        "SGD": Method(reusing(1, reuse=0.0), 1),
        "SGD, Adam forgets faster": Method(reusing(1, reuse=0.0), 1, (0.9**10, 0.999**10)),
        "ISGD": Method(reusing(1), 10),
        "ISGD, no weights": Method(reusing(1, weighting=Weighting("none")), 10),
        "ISGD, refresh by ESS": Method(reusing(1, reuse=0.98, weighting=Weighting(min_ess=0.8)), 10),
        "ISGD, ESS and coupled steps": Method(reusing(1, weighting=scaled), 10),
        "ISGD, the same, p = 0.97": Method(reusing(1, reuse=0.97, weighting=scaled), 10),
        "ISGD by agreement": Method(reusing(1, reuse=0.95, weighting=half, adaptive=True), 3),
        "ISGD, 4 draws": Method(reusing(4, weighting=half), 10),
        "SAG": Method(sag(model, FAMILY, 1, batches), 1),
        "I-SAG": Method(isag(model, FAMILY, 1, batches), 1),
        "anchor and ISGD": Method(anchored(model, FAMILY, 1, blocks, every=2 * batches, reuse=0.9, weighting=half), 10),
    }


def schedule(rate, decay, step):
    """The rate at a step: ``decay`` is its factor for each step."""
    return rate * decay**step


@partial(jax.jit, static_argnums=(0, 1, 2))
def advance(estimator, betas, count, key, first, rate, decay, carry, data):
    """``count`` steps of Adam, as `fit` takes them, with the rate as an argument: a sweep compiles once."""
    adam = optax.scale_by_adam(*betas)

    def step(carry, number):
        lam, moments, state = carry
        estimate, state = estimator.estimate(estimator.draw(jax.random.fold_in(key, number), lam, data), lam, state, data)
        update, moments = adam.update(estimate.gradient, moments)
        lam = jax.tree.map(lambda a, u: a + schedule(rate, decay, number) * u, lam, update)
        return (lam, moments, state), (lam, spent(state, number + 1))

    return jax.lax.scan(step, carry, first + jnp.arange(count))


def spent(state, steps):
    """Model gradients so far, and anchors."""
    if not hasattr(state, "fresh"):
        return steps, jnp.array(0)
    return state.fresh, state.source.count if state.source else jnp.array(0)


def trajectory(problem, method, seed, steps, rate, decay, enough, points=60):
    """ELBO at up to `points` geometric steps of a run: rows of (steps, model gradients, anchors, ELBO); ends early at `enough`."""
    key = jax.random.key(seed)
    carry = begin(problem, method.estimator, seed)
    chunk = max(1, steps // 8)
    marks = np.unique(np.geomspace(max(1, steps / 200), steps, points).astype(int))
    rows, done = [], 0
    while done < steps:
        carry, (lams, (fresh, anchors)) = advance(method.estimator, method.adam, chunk, key, done, rate, decay, carry, problem.data)
        for mark in marks[(marks > done) & (marks <= done + chunk)]:
            lam = jax.tree.map(lambda a, i=mark - done - 1: a[i], lams)
            value = problem.elbo(lam) if all(np.isfinite(a).all() for a in jax.tree.leaves(lam)) else -np.inf
            rows.append((int(mark), int(fresh[mark - done - 1]), int(anchors[mark - done - 1]), value))
            if not np.isfinite(value) or value >= enough:
                return rows
        done += chunk
    return rows


def seconds(row, cost):
    """What the steps and model gradients of a row of `trajectory` cost."""
    steps, fresh, anchors, _ = row
    return steps * cost["cheap"] + fresh * cost["fresh"] + anchors * cost["anchor"]


def reached(rows, target, cost):
    """Seconds until the ELBO first is at the target; infinite if it never is."""
    return min((seconds(row, cost) for row in rows if row[3] >= target), default=np.inf)


def unit_costs(problem, table, repeats):
    """Seconds of a step that calls the model, of one that does not, and of an anchor, for each method: the least of `repeats`, in turns."""
    model, blocks, bare = problem.model, Subsample(problem.size, partition=True), Weighting("none")
    always = partial(isgd, model, FAMILY, subsample=blocks, reuse=0.0)
    never = partial(isgd, model, FAMILY, subsample=blocks, reuse=0.999999)
    anchor = partial(anchored, model, FAMILY, 1, blocks)
    kinds = {
        "1 draw": (always(1), never(1)),
        "1 draw, no weights": (always(1, weighting=bare), never(1, weighting=bare)),
        "adaptive": (always(1, adaptive=True), never(1, adaptive=True)),
        "4 draws": (always(4), never(4)),
        "SAG": (table["SAG"].estimator, None),
        "I-SAG": (table["I-SAG"].estimator, None),
        "anchor": (anchor(every=10**6), never(1)),
        "anchor each step": (anchor(every=1), None),
    }
    least = {kind: [np.inf, np.inf] for kind in kinds}
    for turn in range(repeats + 1):
        for kind, (heavy, light) in kinds.items():
            carry = begin(problem, heavy, 0)
            carry = advance(heavy, ADAM, 20, jax.random.key(0), 0, 1e-6, 1.0, carry, problem.data)[0]
            for place, (estimator, count) in enumerate(((heavy, 20), (light, 400))):
                if estimator is None:
                    continue
                if place:
                    carry = (*carry[:2], carry[2]._replace(source=(), agreement=jnp.array(1.0)))
                jax.block_until_ready(carry)
                start = time.perf_counter()
                jax.block_until_ready(advance(estimator, ADAM, count, jax.random.key(1), 0, 1e-6, 1.0, carry, problem.data))
                took = (time.perf_counter() - start) / count
                least[kind][place] = min(least[kind][place], took) if turn else np.inf
    kind_of = {
        "ISGD, no weights": "1 draw, no weights",
        "ISGD by agreement": "adaptive",
        "ISGD, 4 draws": "4 draws",
        "SAG": "SAG",
        "I-SAG": "I-SAG",
        "anchor and ISGD": "anchor",
    }
    costs = {}
    for name in table:
        heavy, light = least[kind_of.get(name, "1 draw")]
        light = 0.0 if np.isinf(light) or table[name].per == 1 else light
        costs[name] = {"fresh": heavy - light, "cheap": light, "anchor": least["anchor each step"][0] - least["anchor"][0]}
    return costs


def begin(problem, estimator, seed):
    """What a run starts from."""
    start = problem.start
    return start, optax.scale_by_adam().init(start), estimator.init(jax.random.key(seed), start, problem.data)


def best_elbo(problem, rows_of_runs):
    """The optimum: in closed form for the regression, to a thousandth of a nat for the columns, else the best that any run has seen."""
    seen = max((row[3] for rows in rows_of_runs for row in rows), default=-np.inf)
    if problem.name == "regression":
        x = np.asarray(problem.data.x, np.float64)
        precision = x.T @ x + np.eye(x.shape[1])
        mean = np.linalg.solve(precision, x.T @ np.asarray(problem.data.y, np.float64))
        return problem.elbo(families.Diagonal(mean, -0.5 * np.log(np.diag(precision))))
    if problem.name == "normal":
        return problem.elbo(columns_optimum(np.asarray(problem.data, np.float64)))
    return seen


def columns_optimum(x, temper=1.0):
    """Where the columns' ELBO is highest, but for terms of order 1/N: mean, precision and curvature in closed form."""
    n = temper * len(x)
    mean = n * x.mean(axis=0) / (n + 1)
    tau = (n + 1) / (temper * ((x - mean) ** 2).sum(axis=0) + mean**2)
    t = np.log(np.expm1(tau))
    slope = tau / (1 / (1 + np.exp(-t)))  # tau over its derivative
    mu = np.concatenate([mean, t])
    sd = np.concatenate([1 / np.sqrt((n + 1) * tau), slope * np.sqrt(2 / (n + 1))])
    return families.Diagonal(mu, np.log(sd))


def piece(settings, problem, name, make):
    """What `make` returns, kept where ``--pieces`` says and read from there the next time."""
    jax.clear_caches()  # a process that keeps some thousands of compiled programs falls
    if not settings.pieces:
        return make()
    path = settings.pieces / f"{problem.name}-{name.replace(' ', '-')}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".part")
        whole.write_text(json.dumps(make(), default=float))
        whole.rename(path)
    return json.loads(path.read_text())


def as_published(problem, table, costs, settings):
    """The printed rate and decay; the steps that the published runs took in about the same time."""
    steps = {"normal": (200, 1850), "regression": (130, 800), "mixture": (800, 6200)}[problem.name]
    result = {}
    for seed in range(settings.seeds):
        plain = trajectory(problem, table["SGD"], seed, steps[0], problem.rate, 0.9**0.01, np.inf)
        reused = trajectory(problem, table["ISGD"], seed, steps[1], problem.rate, 0.9**0.01, np.inf)
        target = plain[-1][3]
        throughput = seconds(plain[-1], costs["SGD"]) / steps[0] / (seconds(reused[-1], costs["ISGD"]) / steps[1])
        speedup = seconds(plain[-1], costs["SGD"]) / reached(reused, target, costs["ISGD"])
        result[seed] = {"steps a second, ratio": throughput, "time to SGD's last ELBO, ratio": speedup, "ELBO": [target, reused[-1][3]]}
    return result


def as_coded(problem, costs, settings):
    """`as_published` for the objective of the code, which does not scale a minibatch of the normal model up to all rows."""
    rows, columns = problem.data.shape
    tempered = pub.normal_columns(rows, columns, problem.size, temper=problem.size / rows)
    return as_published(tempered, methods(tempered), costs, settings)


def configurations(problem, method):
    """Name, steps, rate and decay of every run in the sweep of a method."""
    for rate in RATES:
        for budget in BUDGETS[problem.name]:
            yield f"{rate}, falling over {budget}", budget * method.per, rate, 0.01 ** (1 / (budget * method.per))


def tuned(problem, table, costs, settings):
    """Sweep on seed 0, then the best configuration of each method and target at fresh seeds."""
    known = -np.inf if problem.name == "mixture" else best_elbo(problem, [])
    targets = TARGETS[problem.name]
    enough = known - targets["fine"] * problem.model.dim if np.isfinite(known) else np.inf
    sweep = {}
    for name, method in table.items():

        def runs(method=method):
            return {
                c: trajectory(problem, method, 0, steps, rate, decay, enough) for c, steps, rate, decay in configurations(problem, method)
            }

        sweep[name] = piece(settings, problem, f"sweep {name}", runs)
        print(f"  swept {name}", flush=True)
    optimum = best_elbo(problem, [rows for runs in sweep.values() for rows in runs.values()])
    result: dict = {"optimum": optimum, "start": problem.elbo(problem.start), "methods": {}}
    for name, method in table.items():
        found = {"least gap": (optimum - max(row[3] for rows in sweep[name].values() for row in rows)) / problem.model.dim}
        for word, nats in targets.items():
            target = optimum - nats * problem.model.dim
            best = min(sweep[name], key=lambda c, n=name, t=target: reached(sweep[n][c], t, costs[n]))
            if not np.isfinite(reached(sweep[name][best], target, costs[name])):
                found[word] = {"configuration": None, "seconds": []}
                continue
            _, steps, rate, decay = next(c for c in configurations(problem, method) if c[0] == best)

            def again(run=(method, steps, rate, decay, target)):
                method, steps, rate, decay, target = run
                return [trajectory(problem, method, seed, steps, rate, decay, target) for seed in range(1, settings.seeds + 1)]

            runs = piece(settings, problem, f"{name} {best} to {target:.1f}", again)
            gradients = [min((row[1] for row in rows if row[3] >= target), default=None) for rows in runs]
            found[word] = {"configuration": best, "seconds": [reached(rows, target, costs[name]) for rows in runs], "gradients": gradients}
        result["methods"][name] = found
    return result


def agreements(problem, result):
    """Target -> for each fresh seed, how far the signs of SGD's gradient agree with those of the gradient before it, on its way there.

    SGD runs in its own best configuration, and the older gradient is re-weighted, as a reused one would be. The mean over the steps is 1 if
    every sign stays, and about 0 if signs are chance.
    """
    watching = Method(isgd(problem.model, FAMILY, 1, reuse=0.0, adaptive=True, subsample=Subsample(problem.size, partition=True)), 1)
    rates = {c: (rate, decay) for c, _, rate, decay in configurations(problem, watching)}
    found: dict = {}
    for word in TARGETS[problem.name]:
        best = result["methods"]["SGD"][word]
        found[word] = []
        for number, steps in enumerate(best.get("gradients", ())):
            if steps is None:
                continue
            seed, carry, seen = number + 1, begin(problem, watching.estimator, number + 1), []
            for step in range(steps):
                before = float(carry[2].agreement)
                carry, _ = advance(
                    watching.estimator, ADAM, 1, jax.random.key(seed), step, *rates[best["configuration"]], carry, problem.data
                )
                if step:
                    seen.append((float(carry[2].agreement) - 0.8 * before) / 0.2)  # out of the state's mean that forgets
            found[word].append(float(np.mean(seen)) if seen else 1.0)
    return found


def strictly(content):
    """Without infinities, which JSON does not know: never is None."""
    if isinstance(content, dict):
        return {name: strictly(part) for name, part in content.items()}
    if isinstance(content, list | tuple):
        return [strictly(part) for part in content]
    return content if content is None or isinstance(content, str | bool) or np.isfinite(content) else None


def report(name, result):
    """Print one model's table: medians over seeds, speed-ups over tuned SGD with their range."""
    print(f"\n{name}: as published, over {len(result['published'])} seeds")
    for key in ("steps a second, ratio", "time to SGD's last ELBO, ratio"):
        values = [run[key] for run in result["published"].values()]
        print(f"  {key:<34}{np.median(values):8.2f}   ({min(values):.2f} to {max(values):.2f})")
    words = TARGETS[name]
    print(f"{name}: each method tuned, optimum {result['tuned']['optimum']:.1f}")
    heads = "".join(f"{word + ' s':>12}{'gain':>7}{'range':>14}" for word in words)
    print(f"  {'method':<30}{'ms fresh':>9}{'µs cheap':>9}{'bytes':>9}{heads}")
    base = result["tuned"]["methods"]["SGD"]
    for method, found in result["tuned"]["methods"].items():
        cost = result["costs"][method]
        line = f"  {method:<30}{1e3 * cost['fresh']:>9.2f}{1e6 * cost['cheap']:>9.1f}{result['bytes'][method]:>9}"
        for word in words:
            took, plain = found[word]["seconds"], base[word]["seconds"]
            if not took or not plain or not np.isfinite(np.median(took)):
                line += f"{'never':>12}{'':>7}{'':>14}"
                continue
            ratios = [p / t for p, t in zip(plain, took, strict=True)]
            line += f"{np.median(took):>12.3f}{np.median(plain) / np.median(took):>7.2f}{f'{min(ratios):.2f} to {max(ratios):.2f}':>14}"
        print(line, flush=True)


def main():
    """Run what is asked for, print the tables, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["normal", "regression", "mixture"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="2,000 rows: a trial of the script, not a result")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--pieces", type=Path)
    settings = parser.parse_args()
    makers = {"normal": pub.normal_columns, "regression": pub.regression, "mixture": pub.gaussian_mixture}
    results = {}
    for name in settings.models:
        problem = makers[name](**(SMALL if settings.small else {}))
        table = methods(problem)
        costs = piece(settings, problem, "costs", lambda p=problem, t=table: unit_costs(p, t, settings.repeats))
        # plain SGD keeps nothing: the cache that isgd(reuse=0) carries is never read
        sizes = {w: 0 if w.startswith("SGD") else state_bytes(m.estimator, problem.start, problem.data) for w, m in table.items()}
        published = piece(settings, problem, "published", lambda p=problem, t=table, c=costs: as_published(p, t, c, settings))
        results[name] = {"costs": costs, "bytes": sizes, "published": published, "tuned": tuned(problem, table, costs, settings)}
        watched = piece(settings, problem, "agreement", lambda p=problem, r=results[name]["tuned"]: agreements(p, r))
        results[name]["agreement"] = watched
        if name == "normal":
            coded = piece(settings, problem, "published tempered", lambda p=problem, c=costs: as_coded(p, c, settings))
            results[name]["published, tempered"] = coded
        report(name, results[name])
    if settings.out:
        about = {
            "rows": "small" if settings.small else "as published",
            "seeds": settings.seeds,
            "rates": RATES,
            "budgets": BUDGETS,
            "targets": TARGETS,
        }
        command = shlex.join(["python", "benchmarks/is_gradients.py", *sys.argv[1:]])
        content = json.loads(json.dumps({"made_by": command, "about": about, "results": results}, default=float))
        settings.out.write_text(json.dumps(strictly(content), indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
