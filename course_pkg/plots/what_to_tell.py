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


def how_many(panels, uncorrected):
    """A panel for each number of outcomes, a column for each summary: ``panels`` maps titles to {summary: regrets in per cent}.

    The level line is the regret without a correction, ``uncorrected``.
    """
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 2.8 * len(panels)), sharey=True)
    for ax, (title, summaries) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for column, values in enumerate(summaries.values()):
            ax.plot(np.full(len(values), column), values, "o", color=PURPLE, alpha=0.3, markersize=4)
            ax.plot(column, np.mean(values), "_", color=BLACK, markersize=14)
            above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center", "fontsize": 8}
            ax.annotate(f"{np.mean(values):.1f}" if np.mean(values) < 100 else f"{np.mean(values):.0f}", (column, max(values)), **above)
        ax.axhline(uncorrected, color=RED, linestyle=":", label=f"no correction, {uncorrected:.1f}")
        ax.set_xticks(range(len(summaries)), list(summaries))
        ax.set(title=title, xlabel="what the decision maker is told", ylabel="regret, %", yscale="log")
        ax.set_ylim(top=700)
        ax.set_yticks(ticks := (1, 3, 10, 30, 100, 300), [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.legend(loc="upper left")
    return fig


def four_losses(piles, top):
    """A panel for each table in ``piles``: a bar for each row (a summary), stacked from the columns (the losses), in per cent.

    Bars that are higher than ``top`` end there, with their height written on them.
    """
    fig, axes = plt.subplots(len(piles), 1, figsize=(5.0, 2.1 * len(piles)), sharex=True)
    colours = (ORANGE, RED, SKY, PURPLE)
    for ax, (title, parts) in zip(axes, piles.items(), strict=True):
        place, floor = np.arange(len(parts)), np.zeros(len(parts))
        for (name, heights), colour in zip(parts.items(), colours, strict=False):
            ax.bar(place, heights, bottom=floor, color=colour, label=name, width=0.75)
            floor = floor + np.asarray(heights)
        for x, height in zip(place, floor, strict=True):
            ax.annotate(
                f"{height:.1f}" if height < 100 else f"{height:.0f}", (x, min(height, 0.93 * top)), ha="center", va="bottom", fontsize=8
            )
        ax.set_xticks(place, [name.replace(", ", ",\n").replace("B = ", "") for name in parts.index])
        ax.set(title=title, ylabel="regret, %", ylim=(0, top))
    axes[-1].set_xlabel("told: mean (and sd), or $B$ quantiles")
    handles, names = axes[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside upper center", ncols=4, fontsize=9)
    return fig


def sweep(by_draws):
    """Test risks against the number of quantiles told: lines for the published figures, marks for ours.

    ``by_draws`` maps numbers of draws to ({B: published risk}, {B: risks of our networks}).
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (draws, (theirs, ours)), colour, shape in zip(by_draws.items(), COLOURS, SHAPES, strict=False):
        ax.plot(list(theirs), list(theirs.values()), color=colour, linewidth=1)
        for column, risks in ours.items():
            ax.plot(np.full(len(risks), column), risks, shape, color=colour, markersize=4, alpha=0.7)
        ax.plot([], [], shape, color=colour, label=f"S = {draws:,}, ours")
    ax.plot([], [], color=BLACK, linewidth=1, label="the authors'")
    ax.set(xscale="log", xlabel="quantiles told, $B$", ylabel="test risk")
    ax.set_xticks(ticks := (1, 2, 5, 10, 20, 50), [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return fig


def bends(means, losses):
    """A panel for each loss: the network's decision against the mean that it is told, beside the model's own, cut off below 0.

    ``losses`` maps titles to (the network's decisions, the model's own).
    """
    fig, axes = plt.subplots(len(losses), 1, figsize=(5.0, 2.1 * len(losses)), sharex=True, sharey=True)
    for ax, (title, (network, own)) in zip(np.atleast_1d(axes), losses.items(), strict=True):
        ax.plot(means, np.maximum(own, 0), color=BLACK, linestyle=":", label="no correction, never below 0")
        ax.plot(means, network, color=BLUE, label="network")
        ax.set(title=title, ylabel="decision")
    np.atleast_1d(axes)[-1].set_xlabel("predictive mean")
    handles, names = np.atleast_1d(axes)[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize=9)
    return fig
