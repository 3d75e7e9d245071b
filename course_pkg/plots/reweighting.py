"""Drawings of the page on reweighting old draws. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED

WAYS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"))


def decay(steps, exact, measured, draws):
    """Relative effective sample size: ``exact`` and ``measured`` map a cut into blocks to shares (T,).

    ``measured`` shares come from ``draws`` draws and cannot fall below ``1 / draws``, which is marked.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, share), (colour, symbol) in zip(exact.items(), WAYS, strict=False):
        ax.plot(steps, share, color=colour, label=name)
        ax.plot(steps, measured[name], symbol, color=colour, markersize=3.5)
    ax.axhline(1 / draws, color=BLACK, linestyle=":", linewidth=1)
    ax.annotate("one draw", (steps[-1], 0.9 / draws), ha="right", va="top")
    ax.set(yscale="log", ylim=(0.2 / draws, 1.6), xlabel="steps since the draws were made", ylabel="relative ESS")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def coupled(moves, panels):
    """Estimated gradients against the length of a move: ``panels`` maps titles to {name: (formula (K,), simulated (K,))}.

    The first name of a panel is the truth, drawn black with dots for an unbiased estimate.
    """
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.7 * len(panels)), squeeze=False)
    styles = ((BLACK, "-", "o", 2.4), (BLUE, "-", "s", 1.8), (RED, "--", "^", 1.8))
    for ax, (title, ways) in zip(axes[:, 0], panels.items(), strict=True):
        for (name, (formula, simulated)), (colour, style, symbol, width) in zip(ways.items(), styles, strict=False):
            ax.plot(moves, formula, style, color=colour, linewidth=width, label=name)
            ax.plot(moves, simulated, symbol, color=colour, markersize=4)
        ax.set(title=title, ylabel="gradient, intercept")
        ax.margins(y=0.12)
    axes[-1, 0].set_xlabel("how far both coordinates moved, in sd of $q$")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig
