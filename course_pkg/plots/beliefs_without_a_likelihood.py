"""Drawings of the page on beliefs without a likelihood. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, mark

STYLES = ((BLUE, "-", 3.6), (ORANGE, "--", 2.0), (BLACK, ":", 1.6), (GREEN, "-.", 1.6), (PURPLE, "-", 1.2))


def beliefs(eta, panels, marks=None):
    """Densities of one number, a panel for each rule: ``panels`` maps a title to {name: density (K,)}; ``marks`` names places on the axis.

    Lines get thinner from the first to the last, so that those that coincide can all be seen.
    """
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.5 * len(panels)), squeeze=False)
    names = dict.fromkeys(name for densities in panels.values() for name in densities)
    styles = dict(zip(names, STYLES, strict=False))  # a name looks the same in every panel
    for ax, (title, densities) in zip(axes[:, 0], panels.items(), strict=True):
        for name, density in densities.items():
            colour, style, width = styles[name]
            ax.plot(eta, density, color=colour, linestyle=style, linewidth=width, label=name)
        ax.set(title=title, ylabel="density", ylim=(0, None))
        for text, place in (marks or {}).items():
            mark(ax, place, text)
        ax.legend(loc="upper left")
    axes[-1, 0].set_xlabel(r"$\eta$")
    return fig


def coverage(weights, shares, promised, marks):
    """How often an interval holds the number that it is about, against the learning rate; ``marks`` names rates."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    ax.plot(weights, shares, "o-", color=BLUE, markersize=5)
    ax.axhline(promised, color=BLACK, linewidth=0.8, linestyle=":")
    ax.annotate("promised", (weights[-1], promised), xytext=(0, 4), textcoords="offset points", ha="right")
    for text, weight in marks.items():
        mark(ax, weight, text, height=0.2, side="right" if weight < weights[-1] / 3 else "left")
    ax.set(xscale="log", xlabel="learning rate $w$, per hundred loaves", ylabel="share that hold it", ylim=(0, 1.05))
    return fig
