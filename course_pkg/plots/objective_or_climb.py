"""Drawings of the page on the objective and the climb. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED

STYLES = (("o", ORANGE), ("s", BLUE))


def branches(theirs, ours, nothing):
    """Per cent saved on hidden cells by strength ``M``: the authors' and ours, each M -> per cent, and a line for guessing zero."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    ax.axhline(nothing, color=BLACK, linestyle="--", linewidth=1, label="guessing zero")
    series = {"authors": theirs, "coordinate ascent, from the plain fit": ours}
    for (name, saved), (shape, colour) in zip(series.items(), STYLES, strict=True):
        ax.plot(saved.keys(), saved.values(), shape, color=colour, markersize=5, label=name)
    ax.set(xscale="log", xlabel="M (strong calibration to the left)", ylabel="saved, per cent")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig


def joint_against_em(theirs, ours, summit):
    """Hidden risk saved along the climb. Above, the authors': name -> (seconds, mean). Below, ours: name -> (steps, values by start)."""
    fig, axes = plt.subplots(2, 1, sharey=True, figsize=(5.0, 5.8))
    for (name, (seconds, mean)), colour, style in zip(theirs.items(), (BLUE, GREEN, ORANGE, RED), ("-", "--", "-.", ":"), strict=False):
        axes[0].plot(seconds, mean, color=colour, linestyle=style, label=name)
    for (name, (steps, values)), (shape, colour) in zip(ours.items(), (("o-", BLUE), ("s--", GREEN)), strict=False):
        axes[1].plot(steps, [np.median(v) for v in values], shape, color=colour, markersize=5, label=name)
        axes[1].vlines(steps, [min(v) for v in values], [max(v) for v in values], color=colour, linewidth=1)
    for ax, across, title in ((axes[0], "seconds", "authors"), (axes[1], "step", "ours")):
        if title == "ours":  # their savings have another base
            ax.axhline(summit, color=BLACK, linewidth=0.9, linestyle=":", label="coordinate ascent")
        ax.set(xlabel=across, ylabel="saved, per cent", title=title)
        ax.legend(loc="lower right")
    axes[0].set_ylim(-12, 6.5)
    axes[1].set_xlim(0, None)
    return fig


def direct(rows, constant):
    """Hidden risk of the direct utility: ``rows`` maps a name to (risk, whether the authors'); a line for the best constant."""
    fig, ax = plt.subplots(figsize=(5.0, 0.42 * len(rows) + 1.6))
    place = np.arange(len(rows))[::-1]
    for by_them, (shape, colour), who in ((True, STYLES[0], "authors"), (False, STYLES[1], "ours")):
        chosen = [(p, risk) for p, (risk, theirs) in zip(place, rows.values(), strict=True) if theirs == by_them]
        if chosen:
            at, values = zip(*chosen, strict=True)
            ax.plot(values, at, shape, color=colour, markersize=6, label=who)
    ax.axvline(constant, color=RED, linestyle="--", linewidth=1.2, label="the same decision for every cell")
    ax.set_yticks(place, list(rows))
    ax.set(xlabel="risk on hidden cells", ylabel="run")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig
