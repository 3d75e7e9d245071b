"""Drawings of the page on what a decision maker is told. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark, shade

COLOURS = (RED, BLUE, GREEN, PURPLE)
SHAPES = "os^D"


def two_evenings(y, evenings):
    """A panel for each evening: the predictive density, draws of it as ticks, two summaries of them as marks, and the p-optimal order.

    ``evenings`` maps titles to (density, draws, mean, quantiles, p-optimal).
    """
    fig, axes = plt.subplots(len(evenings), 1, figsize=(5.0, 2.5 * len(evenings)), sharex=True)
    for ax, (title, (density, draws, mean, quantiles, best)) in zip(np.atleast_1d(axes), evenings.items(), strict=True):
        shade(ax, y, density, color=ORANGE)
        rows = {"draws": (draws, "|", BLACK), "mean": ([mean], "o", BLUE), f"{len(quantiles)} quantiles": (quantiles, "^", RED)}
        top = max(density)
        for row, (name, (values, shape, colour)) in enumerate(rows.items()):
            height = top * (1.6 - 0.18 * row)
            opacity = 0.4 if name == "draws" else 1
            ax.plot(values, np.full(len(values), height), shape, color=colour, markersize=6, alpha=opacity, label=name)
        mark(ax, best, "p-optimal", height=0.2)
        ax.set(title=title, ylabel="density", ylim=(0, 1.75 * top))
    ax.set_xlabel("demand, from what is usual")
    np.atleast_1d(axes)[0].legend(loc="upper left")
    return fig


def noise_of_messages(sizes, simulated, fine, predicted, direct):
    """The regret, in per cent, that B quantiles of S draws leave: marks as simulated, lines as predicted.

    Each dictionary has an entry for each number of draws; ``direct`` is that of the Bayes rule on the draws, hollow at the right.
    """
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    right = 2.5 * max(sizes)
    for (name, values), colour, shape in zip(simulated.items(), COLOURS, SHAPES, strict=False):
        ax.plot(sizes, values, shape, color=colour, markersize=5, label=name)
        ax.plot(fine, predicted[name], color=colour, linewidth=1)
        ax.plot(right, direct[name], shape, color=colour, markersize=6, markerfacecolor="none")
    ax.set(xscale="log", yscale="log", xlabel="number of quantiles, $B$", ylabel="regret, %")
    ax.set_xticks([*sizes, right], [*(str(size) for size in sizes), "no correction"], minor=False)
    ax.minorticks_off()
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.42))
    return fig


def how_many(panels, uncorrected):
    """A panel for each number of outcomes, a column for each summary: ``panels`` maps titles to {summary: regrets in per cent}.

    The level line is the regret without a correction, ``uncorrected``.
    """
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 2.8 * len(panels)), sharey=True)
    for ax, (title, summaries) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for column, values in enumerate(summaries.values()):
            ax.plot(np.full(len(values), column), values, "o", color=PURPLE, alpha=0.3, markersize=4)
            ax.plot(column, np.mean(values), "_", color=BLACK, markersize=14)
        ax.axhline(uncorrected, color=RED, linestyle=":", label="no correction")
        ax.set_xticks(range(len(summaries)), list(summaries))
        ax.set(title=title, xlabel="what the decision maker is told", ylabel="regret, %", yscale="log")
        ax.set_yticks(ticks := (1, 3, 10, 30, 100, 300), [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.legend(loc="upper left")
    return fig
