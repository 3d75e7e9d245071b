"""The figures' style, and the drawings that pages share.

Pages call `use_style()` once. Drawings of one chapter live in a module named after it, and return the figure.
"""

import io
import re
import sys

import jax.numpy as jnp
import numpy as np

from course_pkg._extras import needs

plt = needs("matplotlib.pyplot", "plots")

# Okabe and Ito's colours: told apart by readers with any colour vision, and in grey
BLUE, ORANGE, GREEN, PURPLE, RED, SKY, YELLOW, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#F0E442",
    "#222222",
)


HEAVY = 400_000  # characters of a drawing that a browser had better get as pixels: thousands of points


def use_style():
    """Set matplotlib's defaults to the course's; in a notebook, figures are drawn as vectors and numbers show as people write them."""
    plt.rcParams.update(
        {
            "axes.prop_cycle": plt.cycler(color=[BLUE, ORANGE, GREEN, PURPLE, RED, SKY]),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlesize": "medium",
            "axes.titlelocation": "left",
            "figure.constrained_layout.use": True,
            "figure.dpi": 140,
            "figure.facecolor": "white",
            "figure.figsize": (5.0, 3.2),
            "font.size": 10,
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "savefig.facecolor": "white",
            "svg.hashsalt": "course",  # the same figure, the same file
        }
    )
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        _show_plain_numbers(shell)
        plt.switch_backend(plt.get_backend())  # at its first figure the notebook's backend sets the formats anew: now, and not later
        shell.display_formatter.formatters["image/svg+xml"].for_type(plt.Figure, vector)


def plain(x: float) -> str:
    """A number with four digits, and all of those before the point.

    Example:
        >>> plain(1 / 3), plain(12345.678), plain(2e-7)
        ('0.3333', '12346', '2e-07')
    """
    return f"{x:.0f}" if 1000 <= abs(x) < 1e15 else f"{x:.4g}"


def vector(figure) -> str | None:
    """A figure as SVG on no ground, so that it stays sharp and follows the page into the dark; None if that would be heavy."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
    drawing = file.getvalue()
    pixels = lambda found: f'{found[1]}="{float(found[2]) * figure.dpi / 72:.0f}"'  # as large as the same figure in pixels
    return re.sub(r'\b(width|height)="([\d.]+)pt"', pixels, drawing, count=2) if len(drawing) < HEAVY else None


def _show_plain_numbers(shell) -> None:
    text = shell.display_formatter.formatters["text/plain"]
    text.for_type(float, lambda x, p, _: p.text(plain(x)))
    for name in ("float32", "float64", "int32", "int64", "bool"):
        text.for_type(np.dtype(name).type, lambda x, p, _: p.pretty(x.item()))
    text.for_type(type(jnp.zeros(1)), lambda x, p, _: p.pretty(np.asarray(x)[()]))
    np.set_printoptions(precision=4, suppress=True)


def shade(ax, x, density, *, color=BLUE, label=None):
    """Draw a density as a line over its shade."""
    ax.plot(x, density, color=color, label=label)
    ax.fill_between(x, density, color=color, alpha=0.15, linewidth=0)
    ax.set_ylim(0, max(ax.get_ylim()[1], 1.05 * float(max(density))))


def mark(ax, x, text, *, color=BLACK, height=0.95, side="right"):
    """Draw an upright line at a decision and write its name on one side of it, "right" or "left"."""
    ax.axvline(x, color=color, linestyle="--", linewidth=1.2)
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "xytext": (4 if side == "right" else -4, 0)}
    ax.annotate(text, (x, height), color=color, va="top", ha="left" if side == "right" else "right", **place)
