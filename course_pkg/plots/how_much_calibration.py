"""Drawings of the page on how much to calibrate. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark, shade

TASKS = {
    "pinball, 0.8": {"color": BLUE, "linestyle": "-"},
    "pinball, 0.2": {"color": ORANGE, "linestyle": "--"},
    "squared": {"color": RED, "linestyle": "-."},
}


def mixture(theta, posterior, calibrated, target, h):
    """The posterior, the calibrated posterior of the plan ``h``, and the mixture of both that a fit has for its target."""
    fig, ax = plt.subplots(figsize=(5.0, 3.0))
    shade(ax, theta, posterior, color=BLUE, label="posterior")
    ax.plot(theta, calibrated, color=PURPLE, linestyle=":", label="calibrated posterior")
    ax.plot(theta, target, color=GREEN, linestyle="--", label="mixture, the target")
    mark(ax, h, f"plan {h:.2f}", color=RED)
    top = max(float(max(density)) for density in (posterior, calibrated, target))
    ax.set(xlabel=r"$\theta$, log of failures a year", ylabel="density", ylim=(0, 1.1 * top))
    ax.legend(loc="upper left")
    return fig


def another(theta, posterior, worth, decisions, averages, best):
    """Two utilities of one loss: above over ``theta``, below their averages over the ``decisions``; ``best`` marks the peaks."""
    looks = {"1 - loss/M": {"color": BLUE, "linestyle": "--"}, "exp(-loss/M)": {"color": RED, "linestyle": "-"}}
    fig, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 4.6))
    shade(above, theta, posterior, color=BLUE, label="posterior")
    for name, values in worth.items():
        above.plot(theta, values, label=name, **looks[name])
    above.set(ylim=(0, 1.1), ylabel="utility, density")
    above.legend(loc="upper left", fontsize=8)
    for name, values in averages.items():
        below.plot(decisions, [value - max(values) for value in values], **looks[name])
        mark(below, best[name], f"{best[name]:.2f}", color=looks[name]["color"])
    below.set(xlim=(-6, 2), ylim=(-0.4, 0.08), ylabel="average, less its top", xlabel=r"above $\theta$, below the decision $h$")
    return fig


def sweep(M, panels, quantiles):
    """Curves over the scale M, a panel for each title of ``panels``; ``quantiles`` maps a name to an M, marked in the first panel."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.5 * len(panels)))
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        for name, values in curves.items():
            ax.plot(M, values, label=name, **TASKS[name])
        ax.set(xscale="log", ylabel="per cent")
        ax.set_title(title, pad=16 if ax is axes[0] else None)  # room for the quantiles' names
        ax.legend(loc="best")
    for name, at in quantiles.items():
        axes[0].axvline(at, color=BLACK, linestyle=":", linewidth=0.8)
        axes[0].annotate(name, (at, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
    axes[-1].set_xlabel(r"scale $M$: less calibration to the right")
    return fig
