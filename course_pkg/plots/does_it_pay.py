"""The drawing of the page on whether reuse pays. The function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED

STYLES = (("o", "-", BLUE), ("s", "--", ORANGE), ("D", "-.", GREEN), ("^", ":", RED))


def rates(rates, curves, ceiling):
    """Above: price of the way to the target at each rate, a curve for each method. Below: that of the first over that of the others."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 6.0))
    for (name, prices), (shape, line, colour) in zip(curves.items(), STYLES, strict=False):
        prices = np.asarray(prices, float)
        arrived = np.where(np.isfinite(prices), prices, np.nan)
        axes[0].plot(rates, arrived, shape + line, color=colour, markersize=5, label=name)
        with np.errstate(invalid="ignore"):
            ratio = np.asarray(next(iter(curves.values()))) / prices
        axes[1].plot(rates, np.where(np.isfinite(ratio) & (ratio > 0), ratio, np.nan), shape + line, color=colour, markersize=5)
    axes[1].axhline(ceiling, color=BLACK, linewidth=0.9, linestyle=":")
    axes[1].annotate(
        "ceiling", (1, ceiling), (-2, -3), xycoords=("axes fraction", "data"), textcoords="offset points", ha="right", va="top"
    )
    axes[0].set(xscale="log", yscale="log", ylabel="price, model gradients")
    axes[1].set(xlabel="rate of Adam", ylabel="times as fast, same rate", ylim=(0, 1.15 * ceiling))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
