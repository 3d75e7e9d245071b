"""Drawings of the page on what a decision maker is told. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, shade

COLOURS = (RED, BLUE, GREEN, PURPLE)
SHAPES = "os^D"


def one_evening(y, density, draws, mean, median, quantiles):
    """A predictive density, draws of it as ticks below, and the three summaries of the draws as marks on rows of their own."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    shade(ax, y, density, color=ORANGE, label="predictive")
    top = max(density)
    rows = {"draws": (draws, "|", BLACK), "mean": ([mean], "o", BLUE), "median": ([median], "s", GREEN)}
    rows[f"{len(quantiles)} quantiles"] = (quantiles, "^", RED)
    for row, (name, (values, shape, colour)) in enumerate(rows.items()):
        height = top * (1.55 - 0.12 * row)
        ax.plot(values, np.full(len(values), height), shape, color=colour, markersize=6, alpha=0.4 if name == "draws" else 1, label=name)
    ax.set(xlabel="demand $y$", ylabel="density", ylim=(0, 1.65 * top))
    ax.legend(loc="center right")
    return fig


def noise_of_messages(sizes, simulated, fine, predicted, direct):
    """How much dearer a message of B quantiles is than the whole predictive: marks as simulated, lines as predicted.

    Each dictionary has an entry for each number of draws; ``direct`` is what the Bayes rule costs on the draws themselves, drawn dotted.
    """
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    for (name, values), colour, shape in zip(simulated.items(), COLOURS, SHAPES, strict=False):
        ax.plot(sizes, values, shape, color=colour, markersize=5, label=name)
        ax.plot(fine, predicted[name], color=colour, linewidth=1)
        ax.axhline(direct[name], color=colour, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="quantiles told, $B$", ylabel="dearer than knowing all, %")
    ax.set_xticks(sizes, [str(size) for size in sizes], minor=False)
    ax.minorticks_off()
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.42))
    return fig


def how_many(panels, floor, uncorrected):
    """A panel for each number of outcomes, a column for each message: ``panels`` maps titles to {message: risks}.

    Level lines are the risks of the p-optimal decision, ``floor``, and of the q-optimal one, ``uncorrected``.
    """
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 2.8 * len(panels)), sharey=True)
    for ax, (title, messages) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for column, values in enumerate(messages.values()):
            ax.plot(np.full(len(values), column), values, "o", color=PURPLE, alpha=0.3, markersize=4)
            ax.plot(column, np.mean(values), "_", color=BLACK, markersize=14)
        ax.axhline(uncorrected, color=RED, linestyle=":", label="q-optimal")
        ax.axhline(floor, color=BLUE, label="p-optimal")
        ax.set_xticks(range(len(messages)), list(messages))
        ax.set(title=title, xlabel="what the maker is told", ylabel="risk on new evenings", yscale="log")
        ax.set_yticks(ticks := (0.25, 0.3, 0.4, 0.6, 0.8), [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.legend(loc="upper left")
    return fig


def sweeps(panels):
    """Test risk against B, a line for each S, one panel above another on the same scale: ``panels`` maps titles to {S: (B, risk)}."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 3.1 * len(panels)), sharey=True)
    for ax, (title, curves) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for (name, (sizes, risks)), colour, shape in zip(curves.items(), COLOURS, SHAPES, strict=False):
            ax.plot(sizes, risks, color=colour, marker=shape, markersize=4, linewidth=1.2, label=name)
        ax.set(title=title, xlabel="quantiles told, $B$", ylabel="test risk")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=4, columnspacing=1.0, handletextpad=0.4)
    return fig


def one_over_draws(draws, risks):
    """Test risk against one over the number of draws, with a straight line through the marks of each message."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    inverse = 1 / np.asarray(draws, float)
    span = np.array([0.0, inverse.max()])
    for (name, values), colour, shape in zip(risks.items(), (RED, BLUE, GREEN), SHAPES, strict=False):
        slope, start = np.polyfit(inverse, values, 1)
        ax.plot(inverse, values, shape, color=colour, markersize=6, label=name)
        ax.plot(span, start + slope * span, color=colour, linewidth=1)
    ax.set_xticks(inverse, [f"1/{int(S)}" for S in draws])
    ax.set(xlabel="one over the number of draws, $1/S$", ylabel="test risk")
    ax.legend(loc="upper left")
    return fig
