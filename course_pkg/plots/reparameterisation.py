"""Drawings of the page on reparameterisation. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade

CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])


def arrows(panels, start, exact, q, posterior):
    """One draw's terms as arrows, a panel for each estimator, one below the other: ``panels`` maps a title to (draws (M, 2), terms (M, 2)).

    ``exact`` is the true gradient, drawn from ``start``; ``q`` and ``posterior`` are (mean, covariance). Lengths are scaled panel by panel.
    """
    fig, axes = plt.subplots(len(panels), 1, sharex=True, sharey=True, figsize=(5.0, 3.6 * len(panels)))
    kind = {"angles": "xy", "scale_units": "xy", "scale": 1}
    for ax, (title, (at, term)) in zip(axes, panels.items(), strict=True):
        for (mean, covariance), colour, style in ((q, BLUE, "-"), (posterior, GREEN, "--")):
            for radius in (1.0, 2.0):
                edge = np.asarray(mean)[:, None] + radius * np.linalg.cholesky(covariance) @ CIRCLE
                ax.plot(*edge, color=colour, linestyle=style, linewidth=1)
        scaled = 1.8 * term / np.linalg.norm(term, axis=1).max()
        ax.quiver(*at.T, *scaled.T, color=ORANGE, width=0.01, **kind)
        ax.update_datalim(at + scaled)  # a quiver makes room for its tails only
        ax.plot(*at.T, ".", color=BLACK, markersize=3)
        for arrow, colour in ((exact, BLACK), (term.mean(axis=0), RED)):
            ax.quiver(*start, *(1.8 * arrow / np.linalg.norm(arrow)), color=colour, width=0.016, **kind)
        ax.set(title=title, ylabel="slope", aspect="equal")
    axes[-1].set_xlabel("intercept")
    names, colours = ("q", "posterior", "one draw", "their mean", "exact"), (BLUE, GREEN, ORANGE, RED, BLACK)
    for name, colour in zip(names, colours, strict=True):
        axes[0].plot([], [], color=colour, linestyle="--" if name == "posterior" else "-", label=name)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def twice(theta, densities, paths):
    """Above: where the climbs of two objectives end, as densities. Below: the scale along each climb, with where it should end."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 5.6))
    for (name, density), colour in zip(densities.items(), (GREEN, RED), strict=True):
        shade(top, theta, density, color=colour, label=name)
    top.set(xlabel=r"$\theta$", ylabel="density")
    top.set_ylim(0, 1.5 * max(density.max() for density in densities.values()))
    top.legend(loc="upper left")
    for (name, path), colour, style in zip(paths.items(), (BLUE, ORANGE, RED), ("-", "--", "-."), strict=True):
        below.plot(path, color=colour, linestyle=style, label=name)
    below.axhline(np.sqrt(0.5), color=BLACK, linewidth=0.8)
    below.set(xlabel="step", ylabel=r"$\sigma$", ylim=(0, None))
    below.legend()
    return fig


def along(way, variances):
    """Variances of two estimators on the way of a climb (1 is its end): ``variances`` maps their names to values at ``way``."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    for (name, values), colour, style in zip(variances.items(), (BLUE, ORANGE), ("-", "--"), strict=True):
        ax.plot(way, values, color=colour, linestyle=style, label=name)
    ax.set(yscale="log", ylim=(1, None), xlabel="share of the way to the posterior", ylabel="variance for one mean")
    ax.legend(loc="lower left")
    return fig


def climbs(runs, best):
    """Regret along climbs, median and range: ``runs`` maps a label to (evaluations (steps,), array (runs, steps))."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, (cost, values)), colour, style in zip(runs.items(), (RED, ORANGE, BLUE), ("-", "-.", "--"), strict=False):
        ax.fill_between(cost, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(cost, np.median(values, axis=0), color=colour, linestyle=style, label=name)
    ax.axhline(best, color=BLACK, linewidth=0.8, linestyle=":", label="at the best ELBO")
    ax.set(yscale="log", xlabel="evaluations of the log joint", ylabel="regret")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 0.08))
    return fig
