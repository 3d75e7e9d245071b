"""Drawings of the page on climbing with noise. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY


def routes(mu, tau, height, paths, start, top):
    """Climbs over contours of ``height`` (len(tau), len(mu)), one below the other: ``paths`` maps a title to (mu, tau) arrays."""
    fig, axes = plt.subplots(len(paths), 1, sharex=True, sharey=True, figsize=(5.0, 6.4))
    below = np.array([-1.5, -0.8, -0.4, -0.2, -0.1, -0.05, -0.02, -0.005])
    for ax, (title, (along, up)), colour in zip(axes, paths.items(), (BLUE, ORANGE), strict=True):
        ax.contour(mu, tau, height - height.max(), levels=below, colors=BLACK, linewidths=0.5, linestyles="solid", alpha=0.5)
        ax.plot(np.append(start[0], along), np.append(start[1], up), color=colour, linewidth=1, marker=".", markersize=3)
        ax.plot(*start, "s", color=BLACK, markersize=6)
        ax.plot(*top, "*", color=RED, markersize=13)
        ax.set(title=title, ylabel="precision", xlim=(mu[0], mu[-1]), ylim=(tau[0], tau[-1]))
    axes[-1].set_xlabel("mean, thousand litres")
    return fig


def schedules(runs):
    """Climbs of a parabola from 10 under several rates: ``runs`` maps a label to the iterates, one panel each."""
    fig, axes = plt.subplots(len(runs), 1, sharex=True, sharey=True, figsize=(5.0, 5.4))
    for ax, (name, path), colour in zip(axes, runs.items(), (ORANGE, BLUE, PURPLE), strict=True):
        ax.axhline(0, color=BLACK, linewidth=0.7)
        ax.plot(np.arange(1, len(path) + 1), path, color=colour, linewidth=0.8)
        ax.set(title=name, xscale="log", ylim=(-2, 4), ylabel="x")
    axes[-1].set_xlabel("step")
    return fig


def excess(curves, every=10):
    """Mean regret along the run, in euros a day: ``curves`` maps a label to one number for each step."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    styles = ("-", "--", "-.", ":")
    for (name, curve), colour, style in zip(curves.items(), (ORANGE, BLUE, GREEN, SKY), styles, strict=True):
        step = np.arange(1, len(curve) + 1)
        keep = np.unique(np.geomspace(1, len(curve), 60 * every).astype(int)) - 1
        ax.plot(step[keep], curve[keep], color=colour, linestyle=style, label=name)
    ax.set(xscale="log", yscale="log", xlabel="step", ylabel="regret, euros a day")
    ax.legend(loc="lower left")
    return fig
