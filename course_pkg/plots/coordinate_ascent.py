"""Drawings of the two pages on coordinate ascent. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLUE, GREEN, ORANGE, RED, SKY


def ridges(panels):
    """One panel for each coding, ``{title: (labels, centre, exact, product, path or None)}``: two covariances (2, 2), steps (S, 2)."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 3.7 * len(panels)))
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for ax, (title, (labels, centre, exact, product, path)) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for covariance, colour, style, name in ((exact, GREEN, "-", "exact"), (product, ORANGE, "--", "a factor for each weight")):
            for size in (1.0, 2.0):
                ring = np.asarray(centre)[:, None] + size * np.linalg.cholesky(covariance) @ circle
                ax.plot(*ring, style, color=colour, label=name if size == 1.0 else None, linewidth=1.5)
        if path is not None:
            ax.plot(*np.asarray(path).T, ".-", color=BLUE, linewidth=0.9, markersize=4, label="rounds")
        ax.set(title=title, xlabel=labels[0], ylabel=labels[1])
    fig.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def climbs(gaps, errors):
    """Above: what the bound lacks of the log evidence after each round. Below: the slope's distance from the posterior's, in its sds."""
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 6.2))
    for ax, curves in ((top, gaps), (below, errors)):
        for (name, values), (colour, style) in zip(curves.items(), ((ORANGE, "o-"), (SKY, "^--"), (GREEN, "s:")), strict=False):
            ax.plot(np.arange(1, len(values) + 1), values, style, color=colour, markersize=3.5, label=name)
        ax.set(yscale="log")
    top.set(ylabel="log evidence − bound (nats)")
    below.set(xlabel="round", ylabel="slope off, in sds", ylim=(5e-3, None))
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig


def two_decisions(panels):
    """One panel for each decision, ``{title: (label, h, {name: losses}, {name: decision})}``: the first curve is exact, the second q's."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 3.2 * len(panels)))
    for ax, (title, (label, h, losses, decisions)) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for (name, values), (colour, style) in zip(losses.items(), ((GREEN, "-"), (RED, "--")), strict=False):
            ax.plot(h, values, style, color=colour, label=name)
        values = np.asarray(next(iter(losses.values())))
        for (name, place), (colour, marker) in zip(decisions.items(), ((GREEN, "s"), (ORANGE, "o")), strict=False):
            ax.plot(place, np.interp(place, h, values), marker, color=colour, markersize=8, label=name, zorder=5)
        ax.set(title=title, xlabel=label, ylabel="expected loss", ylim=(0, None))
    fig.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
