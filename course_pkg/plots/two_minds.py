"""Drawings of the page on the Lambert W function. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, SKY, mark

STYLES = ((BLUE, "o-"), (ORANGE, "s--"), (RED, "^:"), (GREEN, "D-."))
ENDS = {0: ("branch 0", SKY), -1: ("branch −1", ORANGE), 1: ("neither", BLACK)}


def tablet(t, level, enough, crossings):
    """A concentration over time, the level that is enough, and the times at which it is reached: ``crossings`` maps words to hours."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    ax.plot(t, level, color=BLUE, label="concentration")
    ax.axhline(enough, color=BLACK, linewidth=0.9, linestyle=":", label="enough")
    for (words, hour), colour in zip(crossings.items(), (GREEN, RED), strict=True):
        mark(ax, hour, words, color=colour)
    ax.set(xlabel="hours after the tablet", ylabel="mg in a litre", ylim=(0, 1.35 * max(level)))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1))
    return fig


def branches(upper, lower, pair):
    """Both branches, each as (x, w), and the two values ``pair`` that they give at one argument: (x, (w, w))."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.plot(*upper, color=BLUE, label="$W_0$")
    ax.plot(*lower, color=RED, linestyle="--", label="$W_{-1}$")
    ax.plot(-1 / np.e, -1, "o", color=BLACK, markersize=5)
    ax.annotate("branch point, $x = -1/e$", (-1 / np.e, -1), xytext=(40, 0), textcoords="offset points", va="center")
    at, values = pair
    ax.plot([at, at], [min(lower[1]), max(values)], color=BLACK, linewidth=0.8, linestyle=":")
    for value in values:
        ax.plot(at, value, "s", color=BLACK, markersize=4)
    ax.set(xlabel="$x$", ylabel="$w$ with $w e^w = x$")
    ax.legend(loc="lower right")
    return fig


def errors(by_step):
    """Distance from W after each step of an iteration: ``by_step`` maps a name to distances, the guess's first."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    for (name, values), (colour, style) in zip(by_step.items(), STYLES, strict=False):
        ax.plot(np.maximum(values, 1e-17), style, color=colour, markersize=4, label=name)
    ax.axhline(2.0**-53, color=BLACK, linewidth=0.8, linestyle=":")
    ax.set(xlabel="step", ylabel="distance from $W$", yscale="log")
    ax.legend()
    return fig


def walks(x, steps):
    """Steps until an iteration settled, against the argument: ``steps`` maps a name to counts, NaN where that never came."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, counts), (colour, style) in zip(steps.items(), STYLES, strict=False):
        ax.plot(x, counts, style[1:], color=colour, label=name)
        last = np.flatnonzero(np.isfinite(counts))[-1]
        if last + 1 < len(x):
            ax.plot(x[last], counts[last], "x", color=colour, markersize=9, markeredgewidth=2)
    ax.set(xscale="log", yscale="log", xlabel="$x$", ylabel="steps until settled")
    ax.legend(loc="upper left")
    return fig


def one_step(w, missing, guess, lands, answers):
    """A step of Newton: the curve ``missing`` over ``w``, its tangent at the pair ``guess`` and where it ``lands``, and the answers."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.plot(w, missing, color=BLUE, label="$w e^w - x$")
    ax.plot([lands, guess[0]], [0, guess[1]], "--", color=RED, label="tangent at the guess")
    ax.plot(*guess, "o", color=RED, markersize=5)
    ax.plot(lands, 0, "X", color=RED, markersize=8, label="where it lands")
    ax.plot(answers, [0, 0], "s", color=BLACK, markersize=5, label="the two answers")
    ax.set(xlabel="$w$", ylabel="what is missing", ylim=(1.3 * min(missing), None))
    ax.legend(loc="upper left")
    return fig


def basins(x, guess, ends, roots):
    """Where an iteration ends by its guess: ``ends`` maps a title to an array (guesses, arguments) of 0, -1 or, for neither, 1.

    ``roots`` are the two branches at ``x``, drawn over the colours.
    """
    fig, axes = plt.subplots(len(ends), 1, sharex=True, figsize=(5.0, 3.2 * len(ends)))
    for ax, (title, kind) in zip(np.atleast_1d(axes), ends.items(), strict=True):
        colours = ListedColormap([ENDS[end][1] for end in (-1, 0, 1)])
        extent = (x[0], x[-1], guess[0], guess[-1])
        ax.imshow(kind, cmap=colours, vmin=-1, vmax=1, origin="lower", aspect="auto", extent=extent, interpolation="nearest")
        for root, style in zip(roots, ("-", "--"), strict=True):
            ax.plot(x, root, color=BLACK, linestyle=style, linewidth=1.2)
        ax.set(title=title, ylabel="guess $w_0$", ylim=(guess[0], guess[-1]))
    np.atleast_1d(axes)[-1].set_xlabel("$x$")
    fig.legend(handles=[Patch(color=colour, label=name) for name, colour in ENDS.values()], loc="outside lower center", ncols=3)
    return fig
