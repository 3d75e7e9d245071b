"""The direct utility of the Last.fm experiment climbed in two ways of writing it: as the authors' code has it, and by its logarithm.

    python book/lcvi/results/music_single_precision.py [--seeds 3]

Writes ``music_single_precision.json`` beside it. Both ways have one outcome for each draw of the factors and the same starts; only a tenth
of the published steps are made, which is enough to see where each of them goes.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import data
from course_pkg.lcvi import published, utilities

STEPS, FLOOR = 3_000, 1e-16


def as_coded(y, h):
    """One minus a loss that is one minus the exponential, and a floor under the logarithm: all in single precision."""
    return jnp.log(1 - (1 - jnp.exp(-((h - y) ** 2))) + FLOOR)


def by_logarithm(y, h):
    """The same function of decision and outcome."""
    return -((h - y) ** 2)


def main():
    """Run both from every start, and store where they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    listening = data.lastfm()
    y, hidden = np.asarray(listening.table.value), ~np.asarray(listening.table.seen)
    runs = {}
    for name, log in (("as coded", as_coded), ("by its logarithm", by_logarithm)):
        utility = utilities.direct(lambda y, h: jnp.exp(-((h - y) ** 2)), log=log, name=name)
        found = []
        for seed in range(seeds):
            lam = published.music_run(jax.random.key(seed), listening.table, utility, iterations=STEPS, draws=1).lam
            mean = np.asarray(lam.row_mu @ lam.column_mu.T)
            found.append([((y - mean) ** 2)[hidden].mean(), (1 - np.exp(-((y - mean) ** 2)))[hidden].mean(), np.sqrt((mean**2).mean())])
        columns = zip(("squared risk", "direct risk", "spread of cell means"), np.transpose(found).tolist(), strict=True)
        runs[name] = {label: [round(value, 4) for value in values] for label, values in columns}
        print(name, runs[name], flush=True)
    told = {"command": shlex.join(["python", "book/lcvi/results/music_single_precision.py", *sys.argv[1:]])}
    told |= {"simulated": listening.simulated, "seeds": seeds, "steps": STEPS}
    result = told | {"note": "on hidden cells, deciding by the mean of every cell", "runs": runs}
    Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
