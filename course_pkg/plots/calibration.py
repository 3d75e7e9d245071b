"""The figure of a calibration's result: what each approximation believes of a decision, and where the two differ."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLUE, RED

COLOURS = {"plain": RED, "calibrated": BLUE}
LONGEST = 18  # letters of a name: a longer one would leave no room for the drawing


def risks_and_moves(h, risks, errors, best, moves, title=""):
    """Risk over decisions for each approximation, and the unknowns that moved most.

    Args:
        h: decisions, shape ``(H,)``; whole numbers where they are listed.
        risks: expected losses, shape ``(H,)``, of ``"plain"`` and ``"calibrated"``.
        errors: their Monte Carlo standard errors.
        best: the decision that each takes.
        moves: of an unknown, the shift of its mean and the ratio of its standard deviations, in the plain standard deviation.
        title: of the left side.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.2), width_ratios=(3, 2), layout="constrained")
    for name, risk in risks.items():
        _risk(left, np.asarray(h), risk, errors[name], best[name], name)
    left.set(xlabel="decision", ylabel="risk, ± 2 standard errors", title=title)
    left.legend()
    _moves(right, moves)
    return fig


def _risk(ax, h, risk, error, best, name):
    colour, listed = COLOURS[name], h.dtype.kind in "iu"
    if listed:
        at = h + (-0.06 if name == "plain" else 0.06)
        ax.vlines(at, risk - 2 * error, risk + 2 * error, color=colour)
        ax.plot(at, risk, "_", color=colour, label=name, markersize=10)
        ax.set_xticks(h)
    else:
        at = h
        ax.fill_between(h, risk - 2 * error, risk + 2 * error, color=colour, alpha=0.25, linewidth=0)
        ax.plot(h, risk, color=colour, label=name)
    place = int(np.abs(h - best).argmin())
    ax.plot(at[place], risk[place], "o", color=colour)


def _moves(ax, moves):
    y = -np.arange(len(moves))
    shift, ratio = np.array(list(moves.values()), float).reshape(-1, 2).T
    for at, width, centre, name in ((y + 0.12, np.ones(len(y)), 0 * shift, "plain"), (y - 0.12, ratio, shift, "calibrated")):
        ax.hlines(at, centre - width, centre + width, color=COLOURS[name])
        ax.plot(centre, at, "o", color=COLOURS[name])
    ax.set_yticks(y, [name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[1 - LONGEST // 2 :]}" for name in moves])
    ax.set_ylim(0.6 - len(moves), 0.4)
    ax.set(xlabel="plain standard deviations", ylabel="parameter", title="moved most: mean ± sd")
