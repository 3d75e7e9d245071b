"""Drawings of the page on deciding from draws. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark, shade

STYLES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"))


def valley(axis, density, decisions, risks, chosen, paid, best):
    """Above: a density of the unknown, with ticks at the ``chosen`` decisions. Below: the risk of each decision, with what they pay.

    ``best`` is (value, words) of the exact decision.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 6.2))
    shade(top, axis, density)
    top.plot(chosen, np.full(len(chosen), 0.05 * max(density)), "|", color=ORANGE, markersize=11, label="forty decisions")
    mark(top, *best, side="left")
    top.set(xlabel="life in the cold room (years)", ylabel="density")
    top.legend(loc="upper right")
    below.plot(decisions, risks, color=GREEN, label="exact risk")
    below.plot(chosen, paid, "o", color=ORANGE, markersize=5, alpha=0.8, label="forty decisions")
    mark(below, *best, side="left")
    below.set(xlabel="year of sowing", ylabel="risk", ylim=(0, None))
    below.legend(loc="lower right")
    return fig


def _measured(ax, counts, curves):
    """Markers for what was measured and lines for what a formula says; each curve is (measured, formula), and zeros are left out."""
    for (name, (values, formula)), (colour, marker, line) in zip(curves.items(), STYLES, strict=False):
        ax.plot(counts, formula, line, color=colour, linewidth=1.3)
        seen = np.asarray(values) > 0
        ax.plot(counts[seen], values[seen], marker, color=colour, markersize=5, linestyle="none")
        ax.plot([], [], line, marker=marker, color=colour, markersize=5, linewidth=1.3, label=name)
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(counts, [f"{n:,}" for n in counts])
    ax.minorticks_off()


def regret(counts, curves):
    """Regret in per cent of the lowest risk against the steps of a chain; each curve is (measured, formula)."""
    fig, ax = plt.subplots(figsize=(5.0, 4.4))
    _measured(ax, counts, curves)
    ax.set(xlabel="steps of the chain", ylabel="regret (per cent of the lowest risk)")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def crossing(decisions, slopes, error, found, exact):
    """The mean slope of a loss over draws, with a band of one ``error``; ``found`` is (decision, low, high)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.plot(decisions, slopes, color=BLUE, label="mean slope")
    ax.fill_between(decisions, slopes - error, slopes + error, color=BLUE, alpha=0.2, linewidth=0, label="one standard error")
    ax.axhline(0, color=BLACK, linewidth=0.8)
    decision, low, high = found
    ax.plot(decision, 0, "o", color=RED, label="decision of the run")
    for n, end in enumerate((low, high)):
        ax.axvline(end, color=RED, linestyle=":", linewidth=1.3, label=None if n else "one standard error away")
    ax.axvline(exact, color=GREEN, linestyle="--", linewidth=1.3, label="exact decision")
    ax.set(xlabel="year of sowing", ylabel="slope")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
