"""Drawings of the page on other distances. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, mark, shade

COLOURS = {
    "posterior": BLUE,
    "Laplace": PURPLE,
    "reverse KL": ORANGE,
    "Hellinger": SKY,
    "forward KL": GREEN,
    "chi-squared": RED,
    "EP": ORANGE,
    "moments matched": GREEN,
}
STYLES = {
    "Laplace": ":",
    "reverse KL": "-",
    "Hellinger": "-.",
    "forward KL": "--",
    "chi-squared": (0, (6, 1, 1, 1)),
    "EP": "-",
    "moments matched": "--",
}


def _legend(fig, ax, ncols=2):
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=ncols)


def village(depth, density, dry, struck, pipe, screen):
    """A belief about a depth, the holes it comes from, the length of the casing and the two ends of the screen."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    shade(ax, depth, density)
    top = max(density)
    ax.plot(dry, np.full(len(dry), 0.04 * top), "v", color=BLACK, label="dry hole")
    ax.plot([struck], [0.04 * top], "^", color=GREEN, label="hole that struck gravel")
    ax.plot(screen, [0.15 * top] * 2, color=RED, linewidth=6, solid_capstyle="butt", label="screen")
    mark(ax, pipe, "casing")
    ax.set(xlabel="depth of the gravel (metres)", ylabel="density", ylim=(0, 1.1 * top), xlim=(depth[0], depth[-1]))
    _legend(fig, ax, 3)
    return fig


def costs(ratio, curves):
    """What each divergence charges for a ratio p/q: ``curves`` maps its name to f(ratio)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for name, values in curves.items():
        ax.plot(ratio, values, linestyle=STYLES[name], color=COLOURS[name], label=name)
    ax.axvline(1, color=BLACK, linewidth=0.8)
    ax.set(xlabel="ratio p / q", ylabel="cost", ylim=(-0.1, 3.2), xlim=(0, max(ratio)))
    _legend(fig, ax)
    return fig


def pulled(theta, density, panels):
    """What pulls a normal: ``panels`` maps a title to (curve of q, its mean and sd) and the same of the density that it should match."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, sharey=True, figsize=(5.0, 5.4))
    top = 1.25 * max(curve.max() for pair in panels.values() for curve, _ in pair)
    for ax, (title, pair) in zip(axes, panels.items(), strict=True):
        ax.fill_between(theta, density, color=GREEN, alpha=0.25, linewidth=0, label="p, the posterior")
        looks = ((RED, "--", "q"), (BLUE, "-", "p₂"))
        for row, ((curve, (mean, sd)), (colour, style, name)) in enumerate(zip(pair, looks, strict=True)):
            ax.plot(theta, curve, style, color=colour, label=name)
            height = top * (0.97 - 0.07 * row)
            ax.plot([mean - sd, mean + sd], [height, height], style, color=colour, linewidth=2)
            ax.plot(mean, height, "o", color=colour, markersize=5)
        ax.set(title=title, ylabel="density", ylim=(0, 1.04 * top))
    axes[-1].set_xlabel("depth of the gravel (metres)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def five(depth, density, normals, orders):
    """Above: a posterior and normals. Below: a row for each of ``orders``, name to (casing, middle of the screen)."""
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.6), height_ratios=(3, 2))
    shade(top, depth, density, label="posterior")
    for name, values in normals.items():
        top.plot(depth, values, linestyle=STYLES[name], color=COLOURS[name], label=name)
    for row, (name, (casing, middle)) in enumerate(orders.items()):
        below.plot([middle - 5, middle + 5], [-row, -row], color=COLOURS[name], linewidth=6, solid_capstyle="butt")
        below.plot(casing, -row, "o", color=COLOURS[name])
    truth = next(iter(orders.values()))
    for place in (truth[0], truth[1] - 5, truth[1] + 5):
        below.axvline(place, color=BLACK, linewidth=0.7, linestyle=":")
    below.set_yticks([-row for row in range(len(orders))], list(orders))
    below.set(xlabel="metres", ylabel="belief", ylim=(0.6 - len(orders), 0.6))
    highest = max(np.max(density), *(np.max(values) for values in normals.values()))
    top.set(ylabel="density", xlim=(depth[0], depth[-1]), ylim=(0, 1.05 * highest))
    _legend(fig, top, 3)
    return fig


def prices(ratio, curves, here):
    """The regret of each normal against a price ratio; a strip below shows whose is lowest."""
    fig, (ax, strip) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 4.8), height_ratios=(12, 1))
    for name, values in curves.items():
        ax.plot(ratio, 100 * np.maximum(values, 1e-6), linestyle=STYLES[name], color=COLOURS[name], label=name)
    names = list(curves)
    lowest = np.argmin(np.array(list(curves.values())), axis=0)
    between = np.sqrt(ratio[1:] * ratio[:-1])
    for left, right, k in zip([ratio[0], *between], [*between, ratio[-1]], lowest, strict=True):
        strip.axvspan(left, right, color=COLOURS[names[k]], linewidth=0)
    ax.axvline(here, color=BLACK, linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(0.02, 500), ylabel="regret (% of the least risk)", xlim=(ratio[0], ratio[-1]))
    ax.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    strip.set(xlabel="price of a missing metre, in surplus metres", yticks=[], ylabel="best")
    strip.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    _legend(fig, ax, 3)
    return fig


def copies(count, panels, ceiling):
    """One panel for each divergence, name to curves of several normals; the first panel has a ceiling."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 5.0))
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        for name, values in curves.items():
            ax.plot(count, values, linestyle=STYLES[name], color=COLOURS[name], label=name)
        ax.set(ylabel=label, ylim=(0, None))
    axes[0].axhline(ceiling, color=BLACK, linestyle="--", linewidth=1)
    axes[-1].set(xlabel="villages", xlim=(0, max(count)))
    _legend(fig, axes[0], 3)
    return fig


def tapes(depth, density, readings, normals):
    """A posterior, the readings behind it as ticks, and normals for it."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    shade(ax, depth, density, label="posterior")
    for name, values in normals.items():
        ax.plot(depth, values, linestyle=STYLES[name], color=COLOURS[name], label=name)
    top = max(density)
    ax.plot(readings, np.full(len(readings), 0.04 * top), "|", color=BLACK, markersize=11, markeredgewidth=1.8, label="tape")
    ax.set(xlabel="depth of the gravel (metres)", ylabel="density", ylim=(0, 1.1 * top), xlim=(depth[0], depth[-1]))
    _legend(fig, ax)
    return fig


def vague(spread, curves):
    """The casing ordered on each belief against the prior's standard deviation."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for name, values in curves.items():
        ax.plot(spread, values, linestyle=STYLES.get(name, "-"), color=COLOURS[name], label=name)
    ax.set(xlabel="the prior's standard deviation (metres)", ylabel="casing (metres)", xlim=(spread[0], spread[-1]))
    _legend(fig, ax)
    return fig
