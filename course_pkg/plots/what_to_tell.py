"""Drawings of the page on what a decision maker is told. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, mark, shade

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


def parts_of_regret(piles, uncorrected, top):
    """A panel for each table in ``piles``: a bar for each row (a summary), stacked from the columns (the parts), in per cent.

    Bars that are higher than ``top`` end there, with their height written on them. The level line is the regret without a correction.
    """
    fig, axes = plt.subplots(len(piles), 1, figsize=(5.0, 2.6 * len(piles)), sharex=True)
    for ax, (title, parts) in zip(np.atleast_1d(axes), piles.items(), strict=True):
        place, floor = np.arange(len(parts)), np.zeros(len(parts))
        for (name, heights), colour in zip(parts.items(), (ORANGE, SKY, PURPLE), strict=False):
            ax.bar(place, heights, bottom=floor, color=colour, label=name, width=0.75)
            floor = floor + np.asarray(heights)
        for x, height in zip(place, floor, strict=True):
            said = f"{height:.1f}" if height < 100 else f"{height:.0f}"
            ax.annotate(said, (x, min(height, 0.93 * top)), ha="center", va="bottom", fontsize=8)
        ax.axhline(uncorrected, color=BLACK, linestyle=":", linewidth=1)
        ax.set_xticks(place, list(parts.index))
        ax.set(title=title, ylabel="regret, %", ylim=(0, top))
    np.atleast_1d(axes)[-1].set_xlabel("told: the mean, or quantiles")
    handles, names = np.atleast_1d(axes)[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside upper center", ncols=3, fontsize=9)
    return fig
