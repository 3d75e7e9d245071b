"""Drawings of the page on skewed posteriors. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLUE, GREEN, ORANGE, PURPLE, RED, shade

COLOURS = (RED, BLUE, GREEN, PURPLE)
STYLES = ("--", "-", ":", "-.")


def leaning(t, exact, fitted):
    """A density and what was fitted to it, above as they are and below on a logarithmic scale: ``fitted`` maps names to log densities."""
    fig, (above, below) = plt.subplots(2, 1, figsize=(5.0, 5.2), sharex=True)
    shade(above, t, np.exp(exact), color=ORANGE, label="posterior")
    below.plot(t, exact, color=ORANGE, linewidth=4, alpha=0.6)
    for (name, values), colour, style in zip(fitted.items(), COLOURS, STYLES, strict=False):
        above.plot(t, np.exp(values), style, color=colour, label=name)
        below.plot(t, values, style, color=colour)
    above.set(ylabel="density")
    above.legend(loc="upper right")
    below.set(xlabel=r"log variance $\theta$", ylabel="its logarithm", ylim=(-9, 0))
    return fig


def readings(n, panels):
    """The regret of a decision against the number of readings: ``panels`` maps a title to {name: per cent}."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 2.7 * len(panels)), sharex=True, sharey=True)
    for ax, (title, curves) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for (name, values), colour, shape in zip(curves.items(), COLOURS, "os", strict=False):
            ax.plot(n, values, color=colour, marker=shape, markersize=5, label=name)
        ax.set(title=title, xscale="log", yscale="log", ylabel="regret, %")
        ax.set_xticks(n, [str(k) for k in n])
        ax.minorticks_off()
    ax.set(xlabel="readings, $n$")
    np.atleast_1d(axes)[0].legend(loc="lower left")
    return fig


def ridge(axes, density, clouds, names=("intercept", "slope")):
    """A posterior on a grid as shade, a panel for each approximation, of which 300 draws are shown: ``clouds`` maps titles to (s, 2)."""
    fig, panels = plt.subplots(len(clouds), 1, figsize=(5.0, 2.5 * len(clouds)), sharex=True, sharey=True)
    first, second = (axis[span] for axis, span in zip(axes, _seen(density), strict=True))
    density = density[_seen(density)]
    for ax, (title, draws), colour in zip(np.atleast_1d(panels), clouds.items(), COLOURS, strict=False):
        ax.contourf(first, second, density.T, levels=density.max() * np.array([0.02, 0.1, 0.3, 0.6, 1.01]), cmap="Oranges", alpha=0.7)
        ax.plot(*np.asarray(draws)[:300].T, ".", color=colour, markersize=3, alpha=0.6)
        ax.set(title=title, ylabel=names[1], xlim=(first[0], first[-1]), ylim=(second[0], second[-1]))
    ax.set(xlabel=names[0])
    return fig


def _seen(density):
    """The rows and columns of a grid that hold all but its faintest parts, as slices."""
    spans = []
    for axis in (1, 0):
        (bright,) = np.nonzero(density.max(axis=axis) > 0.002 * density.max())
        spans.append(slice(bright[0], bright[-1] + 1))
    return tuple(spans)
