"""Drawings of the page "Decision problems": pure functions of what they show, each returning its figure."""

import matplotlib.pyplot as plt

from course_pkg import plots


def bus(minutes, density, regret, decisions):
    """The predictive density of an arrival above, below it what each traveller regrets, with both decisions marked.

    Args:
        minutes: shape ``(n,)``, the axis.
        density: shape ``(n,)``.
        regret: for each traveller's name, shape ``(n,)``, the risk above the smallest.
        decisions: for each traveller's name, a minute.
    """
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 4.8))
    plots.shade(top, minutes, density)
    top.set(ylabel="density", yticks=[], title="When the bus comes, for both of them")
    below.set(ylabel="regret (minutes)", xlabel="minute after the timetable", ylim=(0, 30))
    below.set_title("What standing there costs, less the best")
    looks = ((plots.RED, "-", 0.95), (plots.GREEN, "--", 0.75))
    for (name, cost), (color, style, height) in zip(regret.items(), looks, strict=True):
        plots.mark(top, decisions[name], name.removeprefix("the "), color=color, height=height, side="left")
        below.axvline(decisions[name], color=color, linestyle="--", linewidth=1.2)
        below.plot(minutes, cost, color=color, linestyle=style, label=name)
    below.legend(loc="upper right")
    return fig


def chain(arrivals, h, utilities):
    """States, what one action makes of each, and the number that each traveller gives to that: a row for each state.

    Args:
        arrivals: shape ``(n,)``, whole minutes.
        h: minute of being at the stop.
        utilities: for each traveller's name, shape ``(n,)``.
    """
    fig, ax = plt.subplots(figsize=(5.0, 0.7 * len(arrivals) + 1.1))
    ax.set(xlim=(0, 10), ylim=(-len(arrivals) + 0.4, 1.3))
    ax.set(xticks=[], yticks=[], xlabel="what is the case → what happens to you → what it is worth")
    ax.spines[:].set_visible(False)
    frame = {"boxstyle": "round,pad=0.4", "facecolor": "none"}
    places = (1.3, 4.9, *(7.9 + 1.6 * k for k in range(len(utilities))))
    heads = ("state:\nbus comes at", "reward", *utilities)
    for place, head in zip(places, heads, strict=True):
        ax.text(place, 0.6, head, ha="center", va="bottom", fontsize=9)
    ax.text(8.7, 1.0, "utility", ha="center", va="bottom", fontsize=9)
    for row, y in enumerate(arrivals):
        reward = f"waits {y - h:g}" if y >= h else "missed"
        ax.text(places[0], -row, f"{y:g}".replace("-", "−"), ha="center", va="center", bbox=frame | {"edgecolor": plots.BLACK})
        ax.text(places[1], -row, reward, ha="center", va="center", bbox=frame | {"edgecolor": plots.BLUE})
        for place, values, color in zip(places[2:], utilities.values(), (plots.RED, plots.GREEN), strict=False):
            ax.text(place, -row, f"{values[row]:g}".replace("-", "−"), ha="center", va="center", bbox=frame | {"edgecolor": color})
        for left, right, name in ((1.9, 3.9, f"$a_{{{h:g}}}$"), (5.9, 7.2, "$u$")):
            ax.plot([left, right], [-row, -row], color=plots.BLACK, linewidth=1.2)
            ax.plot(right, -row, ">", color=plots.BLACK, markersize=5)
            ax.text((left + right) / 2, -row + 0.12, name, ha="center", va="bottom", fontsize=9)
    return fig


def interval(theta, density, price, ends):
    """A density cut at a height, and the interval that this leaves.

    Args:
        theta: shape ``(k,)``, the axis.
        density: shape ``(k,)``.
        price: height of the cut.
        ends: the two ends of the interval.
    """
    fig, ax = plt.subplots(figsize=(5.0, 2.9))
    ax.plot(theta, density, color=plots.BLUE)
    inside = (theta >= ends[0]) & (theta <= ends[1])
    ax.fill_between(theta, density, where=inside, color=plots.BLUE, alpha=0.25, linewidth=0)
    ax.axhline(price, color=plots.BLACK, linestyle=":", linewidth=1.2)
    ax.annotate("price of length", (theta[-1], price), xytext=(0, 4), textcoords="offset points", ha="right")
    ax.set(xlabel=r"$\theta_1$, delay by rain (minutes)", ylabel="density", title="The best interval, cut at the price")
    ax.set_ylim(bottom=0)
    return fig
