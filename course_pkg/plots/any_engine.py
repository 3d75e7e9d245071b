"""Drawings of the pages on correcting any engine and on second models. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED

COLOURS = (BLUE, RED, GREEN, PURPLE)


def beside(published, ours):
    """Savings as printed, bars from one quartile to the other, and as run again, hollow marks: both map a loss to {way: numbers}.

    Printed are (lower quartile, median, upper quartile); run again is one number.
    """
    ways = list(next(iter(published.values())))
    fig, ax = plt.subplots(figsize=(5.0, 0.75 * len(published) + 1.6))
    for k, (loss, found) in enumerate(published.items()):
        for j, (way, colour) in enumerate(zip(ways, (ORANGE, BLUE), strict=True)):
            row, first = len(published) - k - 0.3 * j, k == 0
            low, middle, high = found[way]
            ax.plot([low, high], [row, row], color=colour, linewidth=5, alpha=0.5, solid_capstyle="butt")
            ax.plot(middle, row, "|", color=colour, markersize=13, markeredgewidth=2, label=way if first else None)
            again = "run again" if first and j == 0 else None
            ax.plot(ours[loss][way], row, "o", color=BLACK, markerfacecolor="none", label=again)
    ax.axvline(0, color=BLACK, linewidth=0.8, linestyle="--")
    ax.set_yticks(len(published) - 0.15 - np.arange(len(published)), list(published))
    ax.set(xlabel="saved of plain VI's test risk, %", ylabel="loss", ylim=(0.3, len(published) + 0.4))
    ax.legend(loc="lower right")
    return fig


def intervals(panels):
    """A panel for each loss, a row for each engine, a dot with its interval for each seed: {title: {engine: (seeds, 3)}} in per cent."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.4 * len(panels)))
    for ax, (title, engines) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for row, (values, colour) in enumerate(zip(reversed(engines.values()), COLOURS, strict=False)):
            values = np.asarray(values)
            at = row + np.linspace(-0.3, 0.3, len(values)) * (len(values) > 1)
            ax.hlines(at, values[:, 1], values[:, 2], color=colour, linewidth=1, alpha=0.6)
            ax.plot(values[:, 0], at, "o", color=colour, markersize=3.5)
        ax.axvline(0, color=BLACK, linewidth=0.8, linestyle="--")
        ax.set_yticks(range(len(engines)), list(reversed(engines)))
        ax.set(title=title, ylabel="engine", ylim=(-0.6, len(engines) - 0.4))
    np.atleast_1d(axes)[-1].set_xlabel("saved of the held-out risk, %")
    return fig


def files(short, long, outcomes, names):
    """Two files' bars, each (2, points) from low to high, side by side at every point, and the outcome as a dot; names of the two."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    at = np.arange(len(outcomes))
    for (low, high), name, colour, width, step in zip((short, long), names, (ORANGE, BLUE), (4, 1.5), (-0.15, 0.15), strict=True):
        ax.vlines(at + step, low, high, color=colour, linewidth=width, label=name)
    ax.plot(at, outcomes, "o", color=BLACK, markersize=3.5, label="measured")
    ax.set(xlabel="house left out, by predicted mean", ylabel="log activity", xticks=[])
    ax.legend(loc="lower right")
    return fig


def controls(panels):
    """A panel for each loss, a row for each way to decide, a bar to its saving in per cent: {title: {way: saving}}."""
    names = list(dict.fromkeys(way for ways in panels.values() for way in ways))
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 0.32 * len(names) * len(panels) + 0.9))
    for ax, (title, ways) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        rows = np.arange(len(ways))[::-1]
        values = np.array(list(ways.values()))
        colours = [ORANGE if name == "LCVI" else BLUE if name == "decision maker" else BLACK for name in ways]
        ax.hlines(rows, 0, values, color=colours, linewidth=2)
        for row, value, colour in zip(rows, values, colours, strict=True):
            ax.plot(value, row, "o", color=colour, markersize=5)
        ax.axvline(0, color=BLACK, linewidth=0.8, linestyle="--")
        ax.set_yticks(rows, list(ways))
        ax.set(title=title, ylabel="way to decide", ylim=(-0.6, len(ways) - 0.4))
    np.atleast_1d(axes)[-1].set_xlabel("saved of plain VI's test risk, %")
    return fig


def second_model(predicted, plain, maps, cells):
    """What is decided against what the model predicts: its own rule, maps learnt later {name: decisions}, and some cells (predicted, y)."""
    fig, ax = plt.subplots(figsize=(5.0, 4.0))
    ax.plot(*cells, ".", color=BLACK, alpha=0.12, markersize=3, rasterized=True)
    ax.plot(predicted, plain, ":", color=BLACK, label="the model's own")
    styles = (("-", ORANGE), ("--", RED), ("-.", BLUE))
    for (name, values), (style, colour) in zip(maps.items(), styles, strict=False):
        ax.plot(predicted, values, style, color=colour, label=name)
    low, high = min(plain.min(), -0.5), np.max([np.max(v) for v in maps.values()])
    ax.set(xlabel="predicted mean", ylabel="outcome, decision", xlim=(predicted.min(), predicted.max()), ylim=(low, 1.6 * high))
    ax.legend(loc="upper left")
    return fig
