"""Drawings of the page "Risk": pure functions of what they show, each returning its figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg import plots


def overfit(t, y, fine, fits, sizes, seen, fresh):
    """Above: data and fitted curves. Below: empirical risk and risk on fresh data against the number of coefficients.

    Args:
        t: shape ``(n,)``, where the data were taken.
        y: shape ``(n,)``.
        fine: shape ``(k,)``, a fine axis.
        fits: for each name, shape ``(k,)``, a curve.
        sizes: shape ``(d,)``, numbers of coefficients.
        seen: shape ``(d,)``, expected empirical risk.
        fresh: shape ``(d,)``, expected risk on fresh data.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 5.6))
    top.plot(t, y, "o", color=plots.BLACK, markersize=5)
    for (name, curve), color, style in zip(fits.items(), (plots.RED, plots.BLUE), ("-", "--"), strict=True):
        top.plot(fine, curve, color=color, linestyle=style, label=name)
    room = 0.6 * (y.max() - y.min())
    top.set(xlabel="$t$", ylabel="$y$", ylim=(y.min() - room, y.max() + room), title="Two curves, one data set")
    top.legend(loc="upper left")
    below.plot(sizes, seen, color=plots.GREEN, marker="o", markersize=3.5, label="training risk")
    below.plot(sizes, fresh, color=plots.RED, marker="s", markersize=3.5, label="test risk")
    below.set(xlabel="coefficients", ylabel="expected squared loss", title="The training risk is optimistic")
    below.set_ylim(bottom=0)
    below.legend(loc="upper right")
    return fig


def frequentist(theta, prior, curves):
    """Frequentist risks of several rules against the truth, over the shade of a prior.

    Args:
        theta: shape ``(n,)``, the axis.
        prior: shape ``(n,)``, a density, drawn without a scale.
        curves: for each rule's name, shape ``(n,)``, its risk.
    """
    fig, ax = plt.subplots()
    ceiling = 2.2
    ax.fill_between(theta, 0.8 * ceiling * prior / prior.max(), color=plots.BLACK, alpha=0.08, linewidth=0, label="prior (no scale)")
    for (name, curve), color, style in zip(curves.items(), (plots.ORANGE, plots.BLUE, plots.GREEN), ("-", "--", "-."), strict=True):
        ax.plot(theta, curve, color=color, linestyle=style, label=name)
    ax.set(xlabel=r"truth $\theta$", ylabel="frequentist risk", ylim=(0, ceiling))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return fig


def p_and_q(centre, p, q):
    """A normal posterior of two unknowns and its approximation, at one and two standard deviations.

    Args:
        centre: of both, in both unknowns.
        p: shape ``(2, 2)``, covariance of the posterior.
        q: shape ``(2, 2)``, that of the approximation.
    """
    fig, ax = plt.subplots(figsize=(4.2, 4.2))
    turn = np.linspace(0, 2 * np.pi, 200)
    for covariance, color, style, name in ((p, plots.BLUE, "-", "posterior p"), (q, plots.RED, "--", "approximation q")):
        for radius in (1, 2):
            edge = centre + radius * np.linalg.cholesky(covariance) @ np.stack([np.cos(turn), np.sin(turn)])
            ax.plot(*edge, color=color, linestyle=style, label=name if radius == 1 else None)
    ax.set(xlabel=r"bridge $\theta_1$", ylabel=r"village $\theta_2$", aspect="equal")
    ax.legend(loc="upper left")
    return fig


def coverage(rhos, narrow, wide, edge, level):
    """How often an interval of two standard errors holds the true risk, against the correlation that q ignores.

    Args:
        rhos: shape ``(k,)``.
        narrow: shape ``(k,)``, shares for the mean-field approximation.
        wide: shape ``(k,)``, shares for the widened one.
        edge: correlation above which the weights of the first have infinite variance.
        level: the nominal coverage.
    """
    fig, ax = plt.subplots()
    ax.axvspan(edge, rhos[-1], color=plots.RED, alpha=0.08, linewidth=0)
    ax.annotate("infinite variance", (edge, 0.05), xytext=(5, 0), textcoords="offset points", color=plots.RED)
    ax.axhline(level, color=plots.BLACK, linestyle=":", linewidth=1.2)
    ax.annotate("nominal", (rhos[0], level), xytext=(0, 4), textcoords="offset points")
    ax.plot(rhos, wide, color=plots.BLUE, marker="s", markersize=4, label="q widened")
    ax.plot(rhos, narrow, color=plots.RED, marker="o", markersize=4, label="q as fitted")
    ax.set(xlabel=r"correlation $\rho$ that q ignores", ylabel="coverage", ylim=(0, 1.05))
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 0.2))
    return fig
