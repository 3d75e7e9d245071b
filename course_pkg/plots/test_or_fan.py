"""Drawings of the page "Test, fan or nothing": pure functions of what they show, each returning its figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg import plots

ACTIONS = ("nothing", "long test", "fan")
COLORS = (plots.BLUE, plots.ORANGE, plots.RED)


def regions(first, by_survey, action):
    """Each house at its first test and at what the survey says of it, with a mark for its action.

    Args:
        first: shape ``(n,)``, in pCi/L.
        by_survey: shape ``(n,)``, in pCi/L.
        action: shape ``(n,)``, 0, 1 or 2.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for number, (name, color, mark) in enumerate(zip(ACTIONS, COLORS, "o^s", strict=True)):
        here = action == number
        ax.plot(first[here], by_survey[here], mark, color=color, markersize=3.5, alpha=0.75, label=name)
    ax.axvline(4, color=plots.BLACK, linewidth=0.8, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="first test (pCi/L)", ylabel="median by the survey (pCi/L)")
    for axis, ticks in ((ax.xaxis, [0.3, 1, 4, 10, 40]), (ax.yaxis, [1, 2, 4, 8])):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_minor_locator(plt.NullLocator())
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return fig


def prices(price, shares, believed):
    """Shares of the three actions against the price of a picocurie.

    Args:
        price: shape ``(k,)``, in dollars.
        shares: shape ``(k, 3)``.
        believed: the ends of the interval that is shaded.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    bands = ax.stackplot(price, 100 * np.asarray(shares).T, colors=COLORS, alpha=0.6)
    for band, hatch in zip(bands, ("", "..", "//"), strict=True):
        band.set_hatch(hatch)
        band.set_edgecolor("white")
    for end in believed:
        ax.axvline(end, color=plots.BLACK, linewidth=0.8, linestyle=":")
    ax.axvline(1000, color=plots.BLACK, linewidth=1.2)
    middle = len(price) // 2
    heights = 100 * (np.cumsum(shares, axis=1) - np.asarray(shares) / 2)
    for number, (name, at) in enumerate(zip(ACTIONS, (2, middle, len(price) - 3), strict=True)):
        ax.text(price[at], heights[at, number], name, ha="center", va="center", bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0})
    ticks = [250, 500, 1000, 2000, 4000]
    ax.set(xscale="log", xlim=(price[0], price[-1]), ylim=(0, 100), xlabel="price of 1 pCi/L for thirty years (\\$)", ylabel="houses (%)")
    ax.xaxis.set_ticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.xaxis.set_minor_locator(plt.NullLocator())
    return fig
