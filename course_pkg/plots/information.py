"""Drawings of the page *What is information worth?*."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, mark, shade


def share(grid, density, limit):
    """The density of the share, and the limit beyond which the box should go back; shares, not per cent."""
    fig, ax = plt.subplots(figsize=(5.0, 2.4))
    shade(ax, 100 * grid, density)
    beyond = grid > limit
    ax.fill_between(100 * grid[beyond], density[beyond], color=RED, alpha=0.5, linewidth=0)
    mark(ax, 100 * limit, "send it back", color=RED, height=0.98)
    ax.set(xlabel="faulty seals in per cent", yticks=[], ylim=(0, 1.2 * density.max()))
    return fig


def worth(tests, value, price, perfect):
    """What a number of tests is worth, and what it costs."""
    fig, ax = plt.subplots()
    ax.plot(tests, value, color=BLUE, label="what they are worth")
    ax.plot(tests, price * tests, color=RED, linestyle="--", label="what they cost")
    ax.axhline(perfect, color=BLACK, linewidth=1, linestyle=":")
    ax.text(tests[0], perfect, "perfect information", va="bottom")
    best = int(np.argmax(value - price * tests))
    ax.plot([tests[best]] * 2, [price * tests[best], value[best]], color=GREEN, linewidth=4, label="the best number, and its gain")
    ax.set(xlabel="tests, bought at once", ylabel="euros", ylim=(0, 1.25 * perfect))
    ax.legend(loc="lower right")
    return fig


def plan(tests, low, high):
    """Faulty seals found against tests made: between the two edges it pays to test on; low is -1 where no count is low enough."""
    fig, ax = plt.subplots()
    top = high.max() + 1
    ax.fill_between(tests, high, top, step="mid", color=RED, alpha=0.35, linewidth=0)
    ax.fill_between(tests, np.maximum(low, -0.5), -0.5, step="mid", color=BLUE, alpha=0.35, linewidth=0)
    ax.fill_between(tests, np.maximum(low, -0.5), high, step="mid", color=ORANGE, alpha=0.25, linewidth=0)
    ax.text(0.04 * tests[-1], top - 0.5, "send it back", va="top")
    ax.text(0.5 * tests[-1], 0.5 * (low + high)[len(tests) // 2], "test one more", ha="center")
    ax.text(0.96 * tests[-1], -0.2, "keep it", ha="right", va="bottom")
    ax.set(xlabel="tests so far", ylabel="faulty ones among them", xlim=(0, tests[-1]), ylim=(-0.5, top))
    return fig
