"""Drawings of the page on what reuse must beat. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE


def slices(places, truth, estimates):
    """A bound along one of its parameters, one panel for each of ``estimates``, a map of titles to values at ``places``."""
    fig, axes = plt.subplots(len(estimates), 1, sharex=True, sharey=True, figsize=(5.0, 2.3 * len(estimates)))
    for ax, (title, values), colour in zip(axes, estimates.items(), (ORANGE, BLUE), strict=False):
        ax.plot(places, values, color=colour, label="from ten draws")
        ax.plot(places, truth, color=BLACK, linestyle="--", linewidth=1, label="the ELBO")
        ax.set(title=title, ylabel="nats")
    axes[-1].set_xlabel("mean of q for one coefficient, in its standard deviations")
    axes[0].legend(loc="lower center")
    return fig


def tables(passes, distances):
    """Distances from a goal along climbs: ``distances`` maps a label to (runs, len(passes)); median and middle 80 per cent."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    styles = ((ORANGE, "-"), (GREEN, "-."), (BLUE, "--"))
    for (label, values), (colour, style) in zip(distances.items(), styles, strict=False):
        ax.fill_between(passes, *np.quantile(values, (0.1, 0.9), axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(passes, np.median(values, axis=0), color=colour, linestyle=style, label=label)
    ax.set(yscale="log", xlabel="passes over the data", ylabel="distance, in sds of q")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig
