"""Did the correction help, and how far did it go? Paired intervals for the risk saved, and distances from the model's own decisions."""

from typing import NamedTuple

import numpy as np

from course_pkg import _guard


class Interval(NamedTuple):
    """A number with a bootstrap interval around it."""

    value: float
    low: float
    high: float


class Fidelity(NamedTuple):
    """How far decisions are from the q-optimal ones, in standard deviations of each point's predictive."""

    root_mean_square: float
    median: float
    largest: float
    beyond_two: float  # share of the points


class Report(NamedTuple):
    """Risks of three ways to decide, what the decision maker saves, and how far it went from the model."""

    train: dict[str, float]  # risk of "q-optimal", "single quantile", "decision maker" on the points learnt from
    held_out: dict[str, float]  # the same on points that the decision maker has not seen
    against_q_optimal: Interval  # share of the held-out risk saved
    against_single_quantile: Interval
    fidelity: Fidelity  # on the held-out points
    points: tuple[int, int]  # how many of each
    by_chance: float  # how often outcomes drawn from the model itself would show a saving of the q-optimal's risk as large

    def __str__(self):
        """The report as a table."""
        rows = [f"{'risk':16}{'train':>10}{'held out':>10}   ({self.points[0]} and {self.points[1]} points)"]
        rows += [f"{name:16}{self.train[name]:10.4f}{self.held_out[name]:10.4f}" for name in self.train]
        for name, saved in (("q-optimal", self.against_q_optimal), ("single quantile", self.against_single_quantile)):
            rows.append(f"saved of the {name}'s held-out risk: {saved.value:.1%} ({saved.low:.1%} to {saved.high:.1%})")
        rows.append(
            f"were the model right, outcomes would show such a saving of the q-optimal's risk with probability {self.by_chance:.3f}"
        )
        far = self.fidelity
        rows.append(
            f"from the q-optimal, in predictive sd: root mean square {far.root_mean_square:.2f}, median {far.median:.2f}, "
            f"largest {far.largest:.2f}; beyond two {far.beyond_two:.0%}"
        )
        return "\n".join(rows)

    def _repr_pretty_(self, printer, cycle):  # noqa: ARG002
        """The table, where a notebook's cell ends in the report."""
        printer.text(str(self))


def fidelity(h, h_q, predictive_sd) -> Fidelity:
    """How far decisions ``h`` went from the q-optimal ``h_q``, in standard deviations of each point's predictive; shapes ``(N,)``.

    Raises:
        ValueError: if the shapes differ, a number is not finite or a standard deviation is not above 0.

    Example:
        >>> far = fidelity(np.array([1.0, 5.0]), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
        >>> far.largest, far.beyond_two
        (3.0, 0.5)

    Source: thesis, section 4.2.6, for the question; the measure is this package's own.
    """
    h, h_q, sd = (np.asarray(_guard.numbers(n, a), float) for n, a in (("h", h), ("h_q", h_q), ("predictive_sd", predictive_sd)))
    if not h.shape == h_q.shape == sd.shape:
        raise ValueError(f"h, h_q and predictive_sd have shapes {h.shape}, {h_q.shape} and {sd.shape}; give three of the same shape")
    if not (sd > 0).all():
        raise ValueError(f"predictive_sd holds {sd.min():g}; give standard deviations above 0")
    far = np.abs(h - h_q) / sd
    return Fidelity(float(np.sqrt((far**2).mean())), float(np.median(far)), float(far.max()), float((far > 2).mean()))
