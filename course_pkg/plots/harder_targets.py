"""Drawings of the page on harder targets. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED

COLOURS = (ORANGE, BLUE, GREEN, PURPLE)


def _map(ax, side, density, stations):
    """Level lines of a density on a square grid with axis ``side``, and the stations."""
    ax.contour(side, side, density.T, levels=density.max() * np.array([0.02, 0.1, 0.3, 0.6, 0.9]), colors=BLACK, linewidths=0.7, zorder=3)
    ax.plot(*stations.T, "^", color=BLACK, markersize=4)
    ax.set(aspect="equal", xlim=(-5, 5), ylim=(-5, 5))


def lost(side, density, stations, chains):
    """The map with the first steps of each of the ``chains`` (chains, steps, 2); below, how far north each is at each step."""
    fig, (ax, below) = plt.subplots(2, 1, figsize=(5.0, 6.4), height_ratios=(4.2, 1.8))
    _map(ax, side, density, stations)
    for chain, colour in zip(chains, COLOURS, strict=False):
        ax.plot(*chain[:150].T, "-", color=colour, linewidth=0.8)
        ax.plot(*chain[0], "o", color=colour, markersize=6)
        below.plot(chain[:, 1], color=colour, linewidth=0.8)
    ax.set(xlabel="east, km", ylabel="north, km")
    below.set(xlabel="step", ylabel="north, km", ylim=(-5, 5))
    return fig


def ladder(side, densities, stations, draws):
    """A map for each rung, ``densities`` by title, and below them how far north the first rung is along its ``draws`` (steps, 2)."""
    fig = plt.figure(figsize=(5.0, 4.0))
    grid = fig.add_gridspec(2, len(densities), height_ratios=(1.5, 1.4))
    for number, (title, density) in enumerate(densities.items()):
        ax = fig.add_subplot(grid[0, number])
        _map(ax, side, density, stations)
        ax.set(title=title, xlabel="east", xticks=[], yticks=[])
    below = fig.add_subplot(grid[1, :])
    below.plot(draws[:, 1], color=BLUE, linewidth=0.6)
    below.set(xlabel="step", ylabel="north, km", ylim=(-5, 5))
    return fig


def narrow(betas, shares):
    """The share of a narrow mode along the ladder, ``shares`` by number of dimensions."""
    fig, ax = plt.subplots(figsize=(5.0, 3.0))
    for (dimensions, share), colour, style in zip(shares.items(), (BLUE, GREEN, ORANGE, RED), ("-", "-.", "--", ":"), strict=False):
        ax.plot(betas, share, style, color=colour, label=f"{dimensions} dimension{'s' if dimensions > 1 else ''}")
    ax.set(xlabel=r"inverse temperature $\beta$", ylabel="share of the narrow mode", yscale="log", ylim=(1e-9, 1.5))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
