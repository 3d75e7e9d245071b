"""Drawings of the page on music. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED

STYLES = (("o", ORANGE), ("s", BLUE), ("D", GREEN))


def four_losses(losses, hidden, seen):
    """What calibration saves for each loss, in per cent: ``hidden`` and ``seen`` map a name to (means, sds)."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.6))
    place = np.arange(len(losses))
    for ax, groups, title in ((axes[0], hidden, "hidden cells"), (axes[1], seen, "seen cells")):
        ax.axhline(0, color=BLACK, linewidth=0.8)
        for k, ((name, (mean, sd)), (shape, colour)) in enumerate(zip(groups.items(), STYLES, strict=False)):
            at = place + 0.18 * (k - 1)
            reach = 2 * np.asarray(sd)
            ax.vlines(at, mean - reach, mean + reach, color=colour, linewidth=1)
            ax.plot(at, mean, shape, color=colour, markersize=5, label=name)
        ax.set(ylabel="saved, per cent", title=title)
    axes[1].set_xticks(place, losses)
    axes[1].set_xlabel("loss")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def changes(moved, bins=40):
    """Density over listeners of how far calibration moves their decisions on average; one panel for each loss."""
    fig, axes = plt.subplots(len(moved), 1, sharex=True, figsize=(5.0, 1.9 * len(moved)))
    edges = np.linspace(min(m.min() for m in moved.values()), max(m.max() for m in moved.values()), bins)
    for ax, (name, values), colour in zip(np.atleast_1d(axes), moved.items(), (BLUE, RED, PURPLE), strict=False):
        ax.hist(values, edges, density=True, color=colour, alpha=0.5)
        ax.axvline(0, color=BLACK, linewidth=0.8)
        ax.set(ylabel="density", title=name)
    last = np.atleast_1d(axes)[-1]
    last.set_xlabel("mean change of a listener's decisions, log plays")
    last.locator_params(axis="x", nbins=5)
    return fig


def intervals(fits, tilted, truth):
    """Intervals for some cells: ``fits`` maps a name to (centre, below, above), ``tilted`` holds two decisions of the last of them."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    place = np.arange(len(truth))
    for k, ((name, (centre, below, above)), colour) in enumerate(zip(fits.items(), (BLACK, BLUE, RED), strict=True)):
        ax.vlines(place + 0.2 * (k - 1), below, above, color=colour, linewidth=2, label=name)
        ax.plot(place + 0.2 * (k - 1), centre, "o", color=colour, markersize=4)
    for h, shape in zip(tilted, ("v", "^"), strict=True):
        ax.plot(place + 0.2, h, shape, color=RED, markersize=5)
    ax.plot(place, truth, "x", color=GREEN, markersize=7, label="what was there")
    ax.set(xlabel="hidden cell", ylabel="log(1 + plays)", xticks=place, xticklabels=place + 1)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def sweep(theirs, by_exp, ours, ascent, marks):
    """Hidden risk saved for every M: (M, mean, sd), but ``ours`` is (M, median, lowest, highest); ``marks`` maps names to an M."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 6.2))
    for ax, limits in zip(axes, ((-26, 7), (1.5, 6)), strict=True):
        M, mean, sd = theirs
        ax.fill_between(M, mean - sd, mean + sd, color=ORANGE, alpha=0.25, linewidth=0)
        ax.plot(M, mean, "o--", color=ORANGE, markersize=4, label="authors, linearised")
        ax.plot(*by_exp[:2], ":", color=PURPLE, linewidth=1.5, label="authors, exponential")
        ax.vlines(ours[0], ours[2], ours[3], color=BLUE, linewidth=1)
        ax.plot(*ours[:2], "s", color=BLUE, markersize=5, label="ours, Adam")
        ax.vlines(ascent[0], ascent[1] - 2 * ascent[2], ascent[1] + 2 * ascent[2], color=GREEN, linewidth=1)
        ax.plot(ascent[0], ascent[1], "D-", color=GREEN, markersize=4, linewidth=1, label="coordinate ascent")
        for (name, m), style in zip(marks.items(), (":", "-."), strict=False):
            ax.axvline(m, color=BLACK, linewidth=0.9, linestyle=style, label=name)
        ax.set(xscale="log", ylabel="saved, per cent", ylim=limits)
    axes[1].set(xlabel="M, squared log plays", xlim=(0.08, 70))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
