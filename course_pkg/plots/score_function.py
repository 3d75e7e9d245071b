"""Drawings of the page on the score function. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, SKY

CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])


def _ellipse(ax, normal, colour, style):
    mean, covariance = normal
    for radius in (1.0, 2.0):
        edge = np.asarray(mean)[:, None] + radius * np.linalg.cholesky(covariance) @ CIRCLE
        ax.plot(*edge, color=colour, linestyle=style, linewidth=1)


def arrows(samples, exact, q, posterior, *, shrink=0.03):
    """Terms of score-function estimates, a panel for each: ``samples`` maps a title to (draws (M, 2), terms (M, 2)).

    ``exact`` is the true gradient, ``q`` and ``posterior`` are (mean, covariance). The arrows of the mean start at the mode of q.
    """
    columns = 2 if len(samples) > 1 else 1
    rows = -(-len(samples) // columns)
    fig, axes = plt.subplots(rows, columns, sharex=True, sharey=True, squeeze=False, figsize=(2.8 * columns, 0.9 + 2.2 * rows))
    for ax, (title, (at, term)) in zip(axes.flat, samples.items(), strict=False):
        _ellipse(ax, q, BLUE, "-")
        _ellipse(ax, posterior, GREEN, "--")
        kind = {"angles": "xy", "scale_units": "xy", "scale": 1}
        ax.quiver(*at.T, *(shrink * term).T, color=ORANGE, width=0.008, **kind)
        ax.plot(*at.T, ".", color=BLACK, markersize=4)
        ax.quiver(*q[0], *(shrink * exact), color=BLACK, width=0.02, **kind)
        ax.quiver(*q[0], *(shrink * term.mean(axis=0)), color=RED, width=0.02, **kind)
        ax.set(title=title, xlim=(-3.6, 3.6), ylim=(-2.6, 2.8), aspect="equal", xlabel="intercept", ylabel="slope")
        ax.label_outer()
    for spare in axes.flat[len(samples) :]:
        spare.axis("off")
        spare.figure.axes[len(samples) - columns].tick_params(labelbottom=True)
    names = ("q", "posterior", "one draw's term", "their mean", "exact gradient")
    for name, colour in zip(names, (BLUE, GREEN, ORANGE, RED, BLACK), strict=True):
        axes[0, 0].plot([], [], color=colour, linestyle="--" if name == "posterior" else "-", label=name)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def parabola(offsets, variance, marks):
    """Variance of one term against the constant added to log p: ``marks`` maps a label to (offset, variance)."""
    fig, ax = plt.subplots()
    ax.plot(offsets, variance, color=BLUE)
    for (name, (at, value)), colour, shape in zip(marks.items(), (BLACK, RED, ORANGE, GREEN), ("o", "X", "^", "D"), strict=True):
        ax.plot(at, value, shape, color=colour, markersize=8, linestyle="none", label=name)
    ax.set(xlabel="constant added to log p", ylabel="variance of one term", ylim=(0, None))
    ax.legend()
    return fig


def climbs(runs, best):
    """Regret of the decision along climbs: ``runs`` maps a label to an array (runs, steps)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, values), colour, style in zip(runs.items(), (ORANGE, BLUE, SKY), ("-", "--", "-."), strict=True):
        low, mid, high = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
        share = np.arange(1, len(mid) + 1) / len(mid)
        ax.fill_between(share, low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(share, mid, color=colour, linestyle=style, label=name)
    ax.axhline(best, color=BLACK, linewidth=0.8, linestyle=":", label="the best q")
    ax.set(yscale="log", ylim=(2e-4, 3), xlabel="share of the run", ylabel="regret")
    ax.legend(loc="upper right")
    return fig
