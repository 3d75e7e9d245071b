"""Drawings of the page on making the skewing map safe. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED

STYLES = ((RED, "--"), (BLUE, "-"), (GREEN, "-."), (ORANGE, ":"))


def along(gamma, log_likelihoods, left, spike):
    """A log likelihood along the skew, and its spike.

    ``log_likelihoods`` maps a label to values, minus infinity where data are impossible. The first of them has the values ``spike`` where
    the share ``left`` of the way to its end is still to go.
    """
    fig, (ax, near) = plt.subplots(2, 1, figsize=(5.0, 5.4), height_ratios=(3, 2))
    for row, ((name, values), (colour, style)) in enumerate(zip(log_likelihoods.items(), STYLES, strict=False)):
        seen = np.where(np.isfinite(values), values, np.nan)
        ax.plot(gamma, seen, color=colour, linestyle=style, label=name, zorder=3 - row)
        last = np.flatnonzero(np.isfinite(values))[-1]
        if last + 1 < len(gamma):
            ax.plot(gamma[last], values[last], "x", color=colour, markersize=9, markeredgewidth=2)
    ax.set(xlabel=r"skew $\gamma$", ylabel="log likelihood")
    ax.legend(loc="lower center")
    near.plot(left, spike, color=STYLES[0][0], linestyle=STYLES[0][1])
    near.set(xscale="log", xlabel="share of the way still to go", ylabel="log likelihood")
    return fig


def pole(x, forms, d, at, reach=5.0):
    """Continuations of W below ``d``: ``forms`` maps a label to values at ``x``; ``at`` is where one of them has its pole."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, values), (colour, style) in zip(forms.items(), STYLES, strict=False):
        ax.plot(x, np.where(np.abs(values) < 2 * reach, values, np.nan), color=colour, linestyle=style, label=name)
    ax.axvline(at, color=BLACK, linewidth=0.8, linestyle=":")
    ax.axvline(d, color=BLACK, linewidth=0.8, linestyle=":")
    ax.annotate("pole", (at, -0.9 * reach), xytext=(-4, 0), textcoords="offset points", ha="right")
    ax.annotate("$d$", (d, -0.9 * reach), xytext=(4, 0), textcoords="offset points")
    ax.set(xlabel="$u$", ylabel="$W_e(u)$", ylim=(-reach, reach))
    ax.legend(loc="lower right")
    return fig


def forward(z, maps, level, origins, leave):
    """The plain map and the safe one, which part at ``leave`` (z, x); ``origins`` maps each label to the z that lead to ``level``."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, values), (colour, style) in zip(maps.items(), STYLES, strict=False):
        ax.plot(z, values, color=colour, linestyle=style, label=name)
    ax.axhline(level, color=BLACK, linewidth=0.8, linestyle=":")
    for places, (colour, _), shape in zip(origins.values(), STYLES, "os", strict=False):
        ax.plot(places, np.full(len(places), level), shape, color=colour, markersize=6)
    ax.plot(*leave, "D", color=BLACK, markersize=5, label="breakpoint", zorder=4)
    ax.set(xlabel="$z$", ylabel="$x$")
    ax.legend(loc="upper left")
    return fig


def climbs(by_form):
    """The skew along climbs of the likelihood from 0: ``by_form`` maps a label to an array (runs, steps)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    for (name, runs), (colour, style) in zip(by_form.items(), STYLES, strict=False):
        for run, values in enumerate(runs):
            ax.plot(values, color=colour, linestyle=style, linewidth=1, label=name if run == 0 else None)
    ax.set(xlabel="step", ylabel=r"skew $\gamma$")
    ax.legend(loc=(0.62, 0.12))
    return fig
