"""Drawing of the page on how many rows a gradient should see. It takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLUE, ORANGE


def noise_for_money(size, product, best):
    """Variance times price by size of the minibatch, each curve over its lowest value; dots at the sizes of the formula."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, values), colour, style in zip(product.items(), (ORANGE, BLUE), ("--", "-"), strict=False):
        low = np.min(values)
        ax.plot(size, values / low, style, color=colour, label=name)
        ax.plot(best[name], np.interp(best[name], size, values) / low, "o", color=colour)
    ax.set(xscale="log", yscale="log", xlabel="rows in the minibatch", ylabel="variance x price, over the least")
    ax.legend()
    return fig
