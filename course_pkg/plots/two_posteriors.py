"""Drawings of the page "Two posteriors, one decision". Each takes what the page computed and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark

COLOURS = {"VI": BLUE, "moments": PURPLE, "calibrated": RED, "best": BLACK}
STYLES = {"VI": (0, (1, 1)), "moments": "--", "calibrated": "-.", "best": "-"}


def _believe(ax, x, p, normals):
    """A density over its shade, and its stand-ins, each in its own colour and dashes."""
    ax.fill_between(x, p, color=BLACK, alpha=0.12, linewidth=0)
    ax.plot(x, p, color=BLACK, linewidth=1.2)
    for name, q in normals.items():
        ax.plot(x, q, color=COLOURS[name], linestyle=STYLES[name], label=name)
    ax.set(yticks=[], ylim=(0, None), xlim=(x[0], x[-1]))


def three_decisions(x, p, normals, gain, decisions):
    """The posterior with its stand-ins, and below it the gain of every place to search, with the decisions on the curve.

    Args:
        x: places, shape ``(n,)``.
        p: density of the posterior there, shape ``(n,)``.
        normals: "VI" and "moments", each a density of shape ``(n,)``.
        gain: chance of success of a decision at each place, shape ``(n,)``.
        decisions: name -> (decision, its gain), the names being "VI", "moments" or "best".
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 4.8), sharex=True)
    _believe(top, x, p, normals)
    top.set_title("Beliefs")
    top.legend()
    below.plot(x, gain, color=BLACK, linewidth=1.2)
    for name, (h, value) in decisions.items():
        below.plot(h, value, "o", color=COLOURS[name], clip_on=False)
        place = {"VI": (-16, 6), "moments": (7, -11)}.get(name, (7, 3))
        below.annotate(name, (h, value), xytext=place, textcoords="offset points", color=COLOURS[name])
    below.set(title="Chance of success", xlabel="kilometres along the coast", ylabel="chance", ylim=(0, 1.15 * gain.max()))
    return fig


def beside(x, panels):
    """Beliefs in panels one above the other: ``panels`` holds (title, density, {name: stand-in}, {name: decision})."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 5.4), sharex=True)
    for ax, (title, p, normals, decisions) in zip(axes, panels, strict=True):
        _believe(ax, x, p, normals)
        ax.set_title(title)
        for name, h in decisions.items():
            mark(ax, h, name, color=COLOURS[name], height=0.99)
        if decisions:  # room for their names above the curves
            ax.set_ylim(0, 1.2 * ax.get_ylim()[1])
    axes[0].legend()
    axes[-1].set_xlabel("kilometres along the coast")
    return fig


def widths(width, shares, turn):
    """What each way of fitting attains of the largest gain, against how far one sees.

    Args:
        width: widths of view, shape ``(k,)``.
        shares: "VI", "moments" and "calibrated", each of shape ``(k,)``, 1 at best.
        turn: the width at which the best of two humps changes.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for name, share in shares.items():
        ax.plot(width, share, color=COLOURS[name], linestyle=STYLES[name], label=name)
    ax.axhline(1, color=BLACK, linewidth=0.8)
    mark(ax, turn, "modes level", height=0.3)
    ax.set(xscale="log", xlabel="width of view w, km", ylabel="share of the largest chance", ylim=(0, 1.05))
    ax.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    ax.minorticks_off()
    ax.legend(loc="lower right")
    return fig


def plant(x, p, normals, critical):
    """The plant's posterior and, below one another, normals calibrated with two utilities of the same decisions.

    Args:
        x: temperatures, shape ``(n,)``.
        p: density of the posterior there, shape ``(n,)``.
        normals: title -> (q for "on", q for "off"), densities of shape ``(n,)``.
        critical: the temperature above which the plant must be off.
    """
    fig, axes = plt.subplots(len(normals), 1, figsize=(5.0, 5.0), sharex=True)
    for ax, (title, (on, off)) in zip(axes, normals.items(), strict=True):
        ax.fill_between(x, p, color=BLACK, alpha=0.12, linewidth=0)
        ax.plot(x, p, color=BLACK, linewidth=1.2)
        ax.plot(x, on, color=ORANGE, linestyle="--", label='q for "on"')
        ax.plot(x, off, color=GREEN, linestyle="-.", label='q for "off"')
        mark(ax, critical, "critical", color=RED, side="left")
        ax.set(title=title, yticks=[], ylim=(0, None), xlim=(x[0], x[-1]))
    axes[0].legend()
    axes[-1].set_xlabel("temperature")
    return fig
