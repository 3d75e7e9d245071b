"""Drawings of the page on the evidence lower bound. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade

STYLES = ((BLUE, "-"), (ORANGE, "-"), (GREEN, "--"), (RED, ":"))


def street(theta, beliefs, dug):
    """Above: beliefs about a place, the first of them shaded. Below: the stretches dug on each, as masks over ``theta``."""
    thin = slice(None, None, -(-len(theta) // 1000))  # a pixel sees no more, and as vectors the drawing follows the page into the dark
    theta = theta[thin]
    fig, (top, below) = plt.subplots(2, 1, sharex=True, height_ratios=(2, 1), figsize=(5.0, 4.8))
    for row, ((name, density), (colour, style)) in enumerate(zip(beliefs.items(), STYLES, strict=False)):
        if row == 0:
            shade(top, theta, density[thin], color=colour, label=name)
        else:
            top.plot(theta, density[thin], style, color=colour, label=name)
        below.fill_between(theta, -row - 0.35, -row + 0.35, where=dug[name][thin], color=colour, alpha=0.7, linewidth=0)
    top.set(ylabel="density", ylim=(0, 0.4))
    below.set(xlabel="metres towards the mill", ylabel="dug", xlim=(theta[0], theta[-1]), ylim=(0.6 - len(beliefs), 0.6), yticks=[])
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def trenches(theta, densities, dug):
    """Above: the posterior, shaded, a normal and a level line for each price. Below: ``dug`` maps it to what is dug, masks."""
    thin = slice(None, None, -(-len(theta) // 1000))
    theta = theta[thin]
    fig, (top, below) = plt.subplots(2, 1, sharex=True, height_ratios=(2, 1), figsize=(5.0, 4.6))
    shade(top, theta, densities[0][thin], color=BLUE, label="posterior")
    top.plot(theta, densities[1][thin], "--", color=GREEN, label="forward KL")
    for row, (price, mask) in enumerate(dug.items()):
        top.axhline(1 / price, color=BLACK, linewidth=0.8)
        top.annotate(f"1/{price}", (theta[0], 1 / price), (2, 1), textcoords="offset points", fontsize=9)
        below.fill_between(theta, -row - 0.35, -row + 0.35, where=mask[thin], color=GREEN, alpha=0.7, linewidth=0)
        below.annotate(f"price {price}", (theta[0], -row), (2, 0), textcoords="offset points", va="center")
    top.set(ylabel="density", ylim=(0, 0.1))
    below.set(xlabel="metres towards the mill", ylabel="dug", xlim=(theta[0], theta[-1]), ylim=(0.6 - len(dug), 0.6), yticks=[])
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def ledger(bounds, log_evidence):
    """What each q is short of the log evidence: ``bounds`` maps a name to its ELBO, the bar from there to the line is KL(q ‖ p)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    for row, (name, bound) in enumerate(bounds.items()):
        ax.barh(-row, log_evidence - bound, left=bound, height=0.35, color=ORANGE, alpha=0.7)
        ax.plot(bound, -row, "o", color=BLUE)
        ax.annotate(name, (log_evidence, -row + 0.28), (-5, 0), textcoords="offset points", ha="right")
        ax.annotate(f"{log_evidence - bound:.2f}", (bound, -row), (-8, 0), textcoords="offset points", ha="right", va="center")
    ax.axvline(log_evidence, color=BLACK, linestyle="--", linewidth=1.2, label="log evidence")
    ax.plot([], [], "o", color=BLUE, label="ELBO")
    lowest = min(bounds.values())
    reach = log_evidence - lowest
    ax.set(xlabel="nats", yticks=[], xlim=(lowest - 0.15 * reach, log_evidence + 0.06 * reach), ylim=(0.6 - len(bounds), 0.8))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def letting_go(distance, panels):
    """Panels over the distance heard, one below the other: ``panels`` maps a y-label to named curves."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.3 * len(panels) + 0.5))
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        for (name, values), (colour, style) in zip(curves.items(), STYLES, strict=False):
            ax.plot(distance, values, style, color=colour, label=name)
        ax.set(ylabel=label, ylim=(0, None))
    axes[-1].set_xlabel("mean distance heard (metres)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def prices(price, paid, here):
    """Risk under the posterior against the price of a missed leak; ``here`` is the price on the page."""
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    for (name, values), (colour, style) in zip(paid.items(), STYLES, strict=False):
        ax.plot(price, values, style, color=colour, label=name)
    ax.axvline(here, color=BLACK, linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="price of a missed leak (metres of digging)", ylabel="risk (metres of digging)")
    ax.set_xticks([5, 10, 20, 40, 100, 400], ["5", "10", "20", "40", "100", "400"])
    ax.set_yticks([5, 10, 20, 40, 100], ["5", "10", "20", "40", "100"])
    ax.minorticks_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
