"""Identifiability: a line on a cosine predicts the same everywhere, and its summary cannot tell the points apart.

    python book/posthoc/results/slope_zero.py [--seeds 5]

Writes ``slope_zero.json``: a decision maker that sees the predictive's median alone, and one that sees x beside it, with no prior and with
one. Otherwise as in ``sine.py``, with early stopping.
"""

import argparse

import numpy as np
from sine import one_seed, summarise
from stored import store

CAREFUL = {"held_out": 0.25, "decay": True, "told_levels": np.array([0.5]), "flat": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = [123 + seed for seed in range(parser.parse_args().seeds)]
    parts = {
        "median": [one_seed(seed, strengths=[0.0], **CAREFUL) for seed in seeds],
        "median_and_x": [one_seed(seed, with_x=True, strengths=[0.0, 0.01], **CAREFUL) for seed in seeds],
    }
    summarise(parts)
    store(__file__, "slope_zero", 4, **parts)


if __name__ == "__main__":
    main()
