"""Drawings of the page on right decisions from a wrong posterior. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, PURPLE, RED

COLOURS = (RED, BLUE, GREEN)


def savings(panels):
    """A panel for each tilt, a row for each way to decide, a dot for each repetition: ``panels`` maps titles to {way: per cent saved}."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 1.9 * len(panels)))
    for ax, (title, ways) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for row, (name, values) in enumerate(reversed(ways.items())):
            colour = BLUE if name == "p-optimal" else PURPLE
            ax.plot(values, np.full(len(values), row), "o", color=colour, alpha=0.3, markersize=4)
            ax.plot(np.mean(values), row, "|", color=BLACK, markersize=14)
        ax.axvline(0, color=BLACK, linewidth=0.8, linestyle="--")
        ax.set_yticks(range(len(ways)), list(reversed(ways)))
        ax.set(title=title, xlabel="saved of the q-optimal risk, %", ylabel="decided by", ylim=(-0.6, len(ways) - 0.4))
    return fig


def seen_and_unseen(levels, added):
    """Above: levels learnt from the posterior's "training" outcomes and those "held out" of it. Below: the risk they add, in per cent."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 4.0))
    for ax, what in ((top, levels), (below, added)):
        for row, (name, values) in enumerate(reversed(what.items())):
            ax.plot(values, np.full(len(values), row), "o", color=RED if name == "training" else BLUE, alpha=0.4, markersize=5)
        ax.set_yticks(range(len(what)), list(reversed(what)))
        ax.set(ylabel="learnt from", ylim=(-0.6, len(what) - 0.4))
    top.axvline(0.9, color=BLACK, linewidth=0.8, linestyle="--")
    below.axvline(0, color=BLACK, linewidth=0.8, linestyle="--")
    top.set_xlabel("level of the quantile that is taken")
    below.set_xlabel("risk above that of the q-optimal decision, %")
    return fig
