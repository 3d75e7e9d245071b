"""Drawings of the page *Deciding about a pandemic*."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark, shade


def prevalence(grid, prior, posterior, truth):
    """Prior and posterior of the prevalence, and the truth that the simulation used; weights on an even grid."""
    fig, ax = plt.subplots()
    pitch = 100 * (grid[1] - grid[0])
    ax.plot(100 * grid, prior / pitch, color=ORANGE, label="before the tests")
    shade(ax, 100 * grid, posterior / pitch, label="after 96 tests")
    mark(ax, 100 * truth, "the truth", color=BLACK)
    ax.set(xlabel="prevalence in per cent", yticks=[], xlim=(0, 8), ylim=(0, 1.25 * posterior.max() / pitch))
    ax.legend(loc="center right")
    return fig


def demand(draws, mean, order):
    """How many patients will need a ventilator, and the two orders."""
    fig, ax = plt.subplots()
    bins = np.arange(draws.min(), np.quantile(draws, 0.9995)) - 0.5
    share, edges = np.histogram(draws, bins=bins, density=True)
    middle = 0.5 * (edges[1:] + edges[:-1])
    ax.bar(middle, share, width=1.0, color=np.where(middle > order, RED, BLUE), alpha=0.5)
    mark(ax, mean, "mean", height=0.98)
    mark(ax, order, "10 to 1", color=RED, height=0.98)
    ax.set(xlabel="patients who need a ventilator", yticks=[], ylim=(0, 1.2 * share.max()))
    return fig


def pool_sizes(sizes, tests, deviation, clear):
    """Pool sizes for two purposes, each curve relative to its lowest point."""
    fig, ax = plt.subplots()
    for values, colour, text in ((tests, BLUE, "tests to find every case"), (deviation, GREEN, "error of the prevalence")):
        relative = values / values.min()
        ax.plot(sizes, relative, color=colour, label=text)
        ax.plot(sizes[relative.argmin()], 1.0, "o", color=colour)
    ax.plot(sizes, clear, color=PURPLE, linestyle=":", label="chance that a pool is negative")
    ax.set(xscale="log", xlabel="swabs in a pool", ylabel="relative to the best", ylim=(0, 4))
    ax.set_xticks([2, 5, 10, 20, 50, 100, 200, 400], labels=["2", "5", "10", "20", "50", "100", "200", "400"])
    ax.minorticks_off()
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return fig


def positive_pools(counts, right, swapped):
    """How many pools turn out positive: simulated, with each count in its place, with the two counts swapped."""
    fig, ax = plt.subplots()
    n = np.arange(len(right))
    share = np.bincount(counts, minlength=len(right))[: len(right)] / len(counts)
    ax.bar(n, share, width=1.0, color=BLUE, alpha=0.3, label="simulated")
    ax.plot(n, right, "o", color=BLUE, markersize=4, label="each count in its place")
    ax.plot(np.arange(len(swapped)), swapped, "x", color=RED, markersize=5, label="counts swapped")
    ax.set(xlabel="positive pools out of 96", yticks=[], xlim=(-1, 36))
    ax.legend(loc="upper right")
    return fig
