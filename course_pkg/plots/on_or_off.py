"""The drawing of the page on decisions from a table. It takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, PURPLE, RED, mark

LOOKS = {"least KL(q, p)": (BLUE, (0, (1, 1))), "moments matched": (PURPLE, "--"), "made for the decision": (GREEN, "-.")}


def plant(x, p, normals, critical):
    """The plant's posterior and its normal approximations: ``normals`` maps a label of ``LOOKS`` to a density."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.fill_between(x, p, color=BLACK, alpha=0.12, linewidth=0)
    ax.plot(x, p, color=BLACK, label="posterior")
    for name, q in normals.items():
        colour, style = LOOKS[name]
        ax.plot(x, q, color=colour, linestyle=style, label=name)
    mark(ax, critical, "critical", color=RED)
    ax.set(xlabel="temperature", yticks=[], ylim=(0, None), xlim=(x[0], x[-1]))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return fig
