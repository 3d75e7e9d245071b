"""Drawings of the page on reparameterisation. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade

CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])


def arrows(panels, start, exact, q, posterior):
    """One draw's terms as arrows, a panel for each estimator: ``panels`` maps a title to (draws (M, 2), terms (M, 2)).

    ``exact`` is the true gradient, drawn from ``start``; ``q`` and ``posterior`` are (mean, covariance). Lengths are scaled panel by panel.
    """
    fig, axes = plt.subplots(1, len(panels), sharex=True, sharey=True, figsize=(7.4, 3.6))
    kind = {"angles": "xy", "scale_units": "xy", "scale": 1}
    for ax, (title, (at, term)) in zip(axes, panels.items(), strict=True):
        for (mean, covariance), colour, style in ((q, BLUE, "-"), (posterior, GREEN, "--")):
            for radius in (1.0, 2.0):
                edge = np.asarray(mean)[:, None] + radius * np.linalg.cholesky(covariance) @ CIRCLE
                ax.plot(*edge, color=colour, linestyle=style, linewidth=1)
        longest = np.linalg.norm(term, axis=1).max()
        ax.quiver(*at.T, *(1.8 * term / longest).T, color=ORANGE, width=0.01, **kind)
        ax.plot(*at.T, ".", color=BLACK, markersize=3)
        for arrow, colour in ((exact, BLACK), (term.mean(axis=0), RED)):
            ax.quiver(*start, *(1.8 * arrow / np.linalg.norm(arrow)), color=colour, width=0.016, **kind)
        ax.set(title=title, xlabel="intercept", aspect="equal")
    axes[0].set_ylabel("slope")
    names = ("q", "posterior", "one draw", "their mean", "exact")
    handles = [plt.Line2D([], [], color=c, linestyle=s) for c, s in ((BLUE, "-"), (GREEN, "--"), (ORANGE, "-"), (RED, "-"), (BLACK, "-"))]
    fig.legend(handles, names, loc="outside lower center", ncols=5, fontsize="small")
    return fig


def twice(theta, densities, paths):
    """Left: where the climbs of two objectives end, as densities. Right: the scale along each climb, with where it should end."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.3))
    for (name, density), colour in zip(densities.items(), (GREEN, RED), strict=True):
        shade(left, theta, density, color=colour, label=name)
    left.set(xlabel=r"$\theta$", ylabel="density")
    left.set_ylim(0, 1.35 * max(density.max() for density in densities.values()))
    left.legend(fontsize="small", loc="upper left")
    for (name, path), colour, style in zip(paths.items(), (BLUE, ORANGE, RED), ("-", "--", "-."), strict=True):
        right.plot(path, color=colour, linestyle=style, label=name)
    right.axhline(np.sqrt(0.5), color=BLACK, linewidth=0.8)
    right.set(xlabel="step", ylabel=r"$\sigma$", ylim=(0, None))
    right.legend(fontsize="small")
    return fig


def win_and_lose(dims, by_dimension, k, by_wave):
    """Variances of two estimators: against the number of parameters, and against the frequency of a wave; logarithmic axes."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.3))
    styles = (("o-", BLUE), ("s--", ORANGE))
    for (name, values), (style, colour) in zip(by_dimension.items(), styles, strict=True):
        left.plot(dims, values, style, color=colour, label=name, markersize=4)
    for (name, values), (style, colour) in zip(by_wave.items(), styles, strict=True):
        right.plot(k, values, style[1:], color=colour, label=name)
    left.set(xscale="log", yscale="log", xlabel="number of parameters", ylabel="variance for one mean")
    right.set(xscale="log", yscale="log", xlabel="frequency $k$", ylabel="variance for the mean")
    for ax in (left, right):
        ax.legend(fontsize="small")
    return fig


def climbs(runs, best):
    """Excess risk along climbs, median and range: ``runs`` maps a label to (evaluations (steps,), array (runs, steps))."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    for (name, (cost, values)), colour, style in zip(runs.items(), (RED, ORANGE, BLUE), ("-", "-.", "--"), strict=False):
        ax.fill_between(cost, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(cost, np.median(values, axis=0), color=colour, linestyle=style, label=name)
    ax.axhline(best, color=BLACK, linewidth=0.8, linestyle=":", label="the best of the family")
    ax.set(yscale="log", xlabel="evaluations of the log joint", ylabel="excess risk")
    ax.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 0.08))
    return fig
