"""The drawing of the page on whether reuse pays. The function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from course_pkg.plots import BLACK, BLUE, GREEN

STYLES = (("o", "-", BLUE), ("D", "-.", GREEN))


def rates(rates, prices):
    """Price of the way to the target at each rate, for two methods; how many times they differ at the first rate, and each at its best."""
    fig, axis = plt.subplots(figsize=(5.0, 3.8))
    values = {name: np.asarray(each, float) for name, each in prices.items()}
    left, right = rates[0] / 1.4, rates[-1] * 1.4
    for (name, each), (shape, line, colour) in zip(values.items(), STYLES, strict=True):
        axis.plot(rates, np.where(np.isfinite(each), each, np.nan), shape + line, color=colour, markersize=5, label=name)
        axis.plot([rates[int(each.argmin())], right], [each.min(), each.min()], color=colour, linewidth=0.9, linestyle=":")
    first, best = ([get(each) for each in values.values()] for get in (lambda each: each[0], min))
    axis.annotate("", (left, first[1]), (left, first[0]), arrowprops={"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0, "color": BLACK})
    for at, (one, two), side in ((left, first, "right"), (right, best, "left")):
        shift = {"right": (-5, 0), "left": (5, 0)}[side]
        axis.annotate(f"{one / two:.1f}\ntimes", (at, np.sqrt(one * two)), shift, textcoords="offset points", ha=side, va="center")
    axis.set(xscale="log", yscale="log", xlabel="learning rate", ylabel="model gradients to the target")
    axis.set(xlim=(rates[0] / 3.5, rates[-1] * 3.5), ylim=(10, 1000))
    axis.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axis.set_yticks([10, 30, 100, 300, 1000], ["10", "30", "100", "300", "1,000"])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_locator(NullLocator())
    axis.legend()
    return fig
