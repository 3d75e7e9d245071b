"""Drawings of the page on staying faithful to a model. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter, ScalarFormatter

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, mark

STYLES = ((BLACK, "--", 1.6), (RED, "-", 1.8), (ORANGE, "-", 2.4), (GREEN, "-.", 1.8), (BLUE, ":", 2.0))


def decisions(points, x, curves, edge=None, title=None):
    """Decisions against a covariate, over the outcomes: ``points`` is (x, y), ``curves`` maps names to decisions at ``x`` (K,).

    ``edge`` marks where the data end.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.plot(*points, ".", color="0.72", markersize=3, zorder=0, label="outcomes")
    if edge is not None:
        mark(ax, edge, "last week", side="left", height=0.06)
    for (name, h), (colour, style, width) in zip(curves.items(), STYLES, strict=False):
        ax.plot(x, h, color=colour, linestyle=style, linewidth=width, label=name)
    ax.set(xlabel="week from midsummer", ylabel="level, cm")
    if title is not None:
        ax.set_title(title)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def price(distances, worlds, strengths, ylabel="risk"):
    """Risk against distance from the model: ``worlds`` maps a panel's title to {name: risks (K,)}, ``distances`` to its distances (K,).

    What is not a risk is named by ``ylabel``.
    ``strengths`` (K,) are words, or None, that name the points, written along the first curve of each panel.
    """
    fig, axes = plt.subplots(len(worlds), 1, sharex=True, figsize=(5.0, 2.8 * len(worlds)), squeeze=False)
    for ax, (title, risks) in zip(axes[:, 0], worlds.items(), strict=True):
        for (name, risk), (colour, symbol) in zip(risks.items(), ((BLUE, "o-"), (RED, "s--")), strict=False):
            ax.plot(distances[title], risk, symbol, color=colour, markersize=4, label=name)
        first, *others = risks.values()
        rising = first[distances[title].argmax()] > first[distances[title].argmin()]
        for words, there, height, *rest in zip(strengths, distances[title], first, *others, strict=True):
            if words:  # on the side where no other curve runs
                above = bool(rest) and height > max(rest)
                place = {"xytext": (0, 6), "ha": "center"} if above else {"xytext": (0, -13), "ha": "left" if rising else "right"}
                ax.annotate(words, (there, height), textcoords="offset points", color=BLUE, **place)
        ax.set(title=title, ylabel=ylabel, xscale="log")
        ax.margins(x=0.12, y=0.15)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.legend()
    axes[-1, 0].set_xlabel("distance from the model's decisions, predictive sd")
    return fig
