"""Drawings of the page on Bayes rules. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, mark, shade


def two_days(x, days):
    """Densities below one another, each with its decisions: ``days`` holds (title, density, {name: decision})."""
    fig, axes = plt.subplots(len(days), 1, sharex=True, figsize=(5.0, 4.8))
    for ax, (title, density, decisions) in zip(axes, days, strict=True):
        shade(ax, x, density)
        for k, (name, h) in enumerate(decisions.items()):
            mark(ax, h, name, color=(BLACK, RED, GREEN)[k], height=0.99 - 0.1 * k)
        # room above the curve, so that no name lies on it
        ax.set(title=title, yticks=[], xlim=(x[0], x[-1]), ylim=(0, 1.5 * density.max()))
    axes[-1].set_xlabel("loaves asked for")
    return fig


def valleys(h, curves, lowest):
    """Expected losses along the decisions, each as a multiple of its lowest value, with a dot at the bottom."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    colours, styles = (BLUE, ORANGE, GREEN, RED, PURPLE), ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for (name, curve), colour, style in zip(curves.items(), colours, styles, strict=True):
        ax.plot(h, curve / curve.min(), color=colour, linestyle=style, label=name.replace("linex", "LinEx"))
        ax.plot(lowest[name], 1.0, "o", color=colour, clip_on=False)
    ax.set(ylim=(1, 2.2), xlim=(h[0], h[-1]), xlabel="loaves baked, h", ylabel="expected loss / its lowest")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return fig


def staircase(x, samples, limit):
    """Slopes of mean absolute losses: ``samples`` maps a label to sorted points, ``limit`` is the slope of the expectation."""
    fig, ax = plt.subplots()
    for (label, y), colour in zip(samples.items(), (ORANGE, BLUE), strict=True):
        ax.step(np.r_[x[0], y, x[-1]], np.r_[-1, 2 * np.arange(1, len(y) + 1) / len(y) - 1, 1], where="post", color=colour, label=label)
    ax.plot(x, limit, color=BLACK, linewidth=1, label="expectation")
    ax.axhline(0, color=BLACK, linewidth=0.6, linestyle=":")
    ax.set(xlabel="decision h", ylabel="slope", xlim=(x[0], x[-1]))
    ax.legend()
    return fig


def two_valleys(h, curve, looks, look_risks, ends):
    """A risk with two valleys, the points looked at, and where searches ended: ``ends`` maps a name to (decision, risk)."""
    fig, ax = plt.subplots()
    ax.plot(h, curve, color=BLUE)
    ax.plot(looks, look_risks, "o", color=SKY, markersize=4, label="points looked at")
    for (name, (at, risk)), colour, shape in zip(ends.items(), (RED, GREEN), ("X", "D"), strict=True):
        ax.plot(at, risk, shape, color=colour, markersize=9, label=name, linestyle="none")
    ax.set(xlabel="decision h", ylabel="expected capped loss", xlim=(h[0], h[-1]))
    ax.legend(loc="lower left")
    return fig
