"""Drawings of the page on models and guides. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg import plots
from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED

SIZE = (5.0, 3.2)
ANGLE = np.linspace(0, 2 * np.pi, 100)


def readings(x, panels):
    """One panel for each reading of N(15, 2): ``panels`` maps a title to (prior, posterior, decision), densities on the grid ``x``."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, sharey=True, figsize=(5.0, 2.4 * len(panels)))
    for ax, (title, (prior, posterior, decision)) in zip(axes, panels.items(), strict=True):
        ax.plot(x, prior, color=BLACK, linestyle=":", label="before the reading")
        plots.shade(ax, x, posterior, color=BLUE, label="after it")
        plots.mark(ax, decision, f"say {decision:.1f}", color=RED, height=1.0)
        ax.set(title=title, ylim=(0, 0.62), ylabel="density")
        ax.legend(loc="upper left")
    axes[-1].set_xlabel("temperature (degrees)")
    return fig


def plane(mu, log_gamma, mass, normals):
    """Posterior mass over a grid, and mean-field normals on it: ``normals`` maps a name to (m, s, a, b)."""
    fig, ax = plt.subplots(figsize=SIZE)
    levels = mass.max() * np.exp([-4.5, -2.0, -0.5])  # of a normal: 3, 2 and 1 standard deviations out
    ax.contourf(mu, log_gamma, mass.T, [*levels, mass.max()], colors=["#E4E4E4", "#C8C8C8", "#A8A8A8"])
    styles = zip((BLUE, ORANGE, GREEN, PURPLE), ("-", "--", "-.", ":"), strict=True)
    for (name, (m, s, a, b)), (colour, line) in zip(normals.items(), styles, strict=False):
        for radius in (1, 2):
            label = name if radius == 1 else None
            ax.plot(m + radius * s * np.cos(ANGLE), a + radius * b * np.sin(ANGLE), line, color=colour, label=label)
    drawn = mass >= levels[0]
    across = np.concatenate([mu[drawn.any(axis=1)], *((m - 2 * s, m + 2 * s) for m, s, _, _ in normals.values())])
    upward = np.concatenate([log_gamma[drawn.any(axis=0)], *((a - 2 * b, a + 2 * b) for _, _, a, b in normals.values())])
    ax.set(xlabel="mean lateness $\\mu$ (minutes)", ylabel="log precision", xlim=_padded(across), ylim=_padded(upward))
    ax.legend(loc="upper right")
    return fig


def scales(bare, kept):
    """Scale parameters along runs, arrays (runs, steps): without a constraint, and with one."""
    fig, axes = plt.subplots(2, 1, sharex=True, sharey=True, figsize=(5.0, 5.0))
    titles = ("no constraint", "constraints.positive")
    for ax, title, runs, colour in zip(axes, titles, (bare, kept), (RED, BLUE), strict=True):
        for run in np.asarray(runs):
            ax.plot(run, color=colour, linewidth=1, alpha=0.6)
        ax.axhline(0, color=BLACK, linewidth=1)
        ax.set(title=title, ylabel="scale of q", ylim=(-0.6, 1.1))
    axes[-1].set_xlabel("step")
    return fig


def _padded(values):
    low, high = np.min(values), np.max(values)
    return low - 0.08 * (high - low), high + 0.08 * (high - low)
