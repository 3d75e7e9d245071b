"""The drawing of the page "Many estimates at once". It takes what the page computed and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, PURPLE


def shrinkage(radii, curves, seen, dim):
    """Draw risks against the distance of the truth from the origin.

    Args:
        radii: distances, shape ``(k,)``.
        curves: a dict of names and risks, each of shape ``(k,)``.
        seen: a pair of distances and simulated risks.
        dim: the number of coordinates, which is the risk of least squares.
    """
    fig, ax = plt.subplots()
    styles = zip(curves.items(), (BLACK, BLUE, PURPLE), ("--", "-", "-."), strict=True)
    for (name, values), color, style in styles:
        ax.plot(radii, values, style, color=color, label=name)
    ax.plot(*seen, "o", color=BLUE, label="simulated")
    ax.set(xlabel="distance of the truth from the origin", ylabel="expected squared error", ylim=(0, 2 * dim))
    ax.legend()
    return fig
