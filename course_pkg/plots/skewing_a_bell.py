"""Drawings of the page on skewing a bell. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, ORANGE, RED

STYLES = ((RED, "--"), (BLACK, ":"), (BLUE, "-"))
READERS = ((BLACK, "-"), (ORANGE, "--"), (RED, "-."))


def bells(z, maps, x, densities):
    """Above: what the map makes of z. Below: the density of what it makes. Both map a label to values."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 5.4))
    for (name, values), (colour, style) in zip(maps.items(), STYLES, strict=True):
        top.plot(z, values, color=colour, linestyle=style, label=name)
    for (name, values), (colour, style) in zip(densities.items(), STYLES, strict=True):
        below.plot(x, values, color=colour, linestyle=style, label=name)
        below.fill_between(x, values, color=colour, alpha=0.1, linewidth=0)
    top.set(xlabel="$z$", ylabel="$x = z e^{\\gamma z}$", ylim=(x[0], x[-1]))
    below.set(xlabel="$x$", ylabel="density", xlim=(x[0], x[-1]), ylim=(0, 0.5))
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def edge(bins, heights, x, one, both):
    """The short side of a skewed density: a histogram of draws, the density by one branch and that by two."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    ax.stairs(heights, bins, fill=True, color="0.85", label="draws")
    ax.plot(x, one, color=RED, linestyle="--", label="one branch")
    ax.plot(x, both, color=BLUE, label="two branches")
    ax.set(xlabel="$x$", ylabel="density", ylim=(0, 1.4))
    ax.legend(loc="upper center")
    return fig


def tilts(level, regret):
    """What decisions lose against the best, by the level of the pinball loss: ``regret`` maps a label to per cent."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, values), (colour, style) in zip(regret.items(), READERS, strict=True):
        ax.plot(level, np.maximum(values, 1e-2), color=colour, linestyle=style, label=name)
    ax.set(xlabel="level of the loss", ylabel="regret, % of the least risk", yscale="log", ylim=(1e-2, None))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
