"""The LinEx loss. Road: search the weighted average loss for its lowest point."""

import numpy as np
from scipy.optimize import minimize_scalar

from course_pkg.checks.record import Record


def lowest(y, weights, c):
    def risk(h):
        return np.average(np.exp(c * (h - y)) - c * (h - y) - 1, weights=weights)

    return minimize_scalar(risk, bounds=(y.min(), y.max()), method="bounded", options={"xatol": 1e-10}).x


def draws(rng, settings):
    for c, far in settings:
        y = rng.gamma(2.0, 1.0, 200)
        yield y + far, rng.uniform(0.1, 2.0, 200) * np.exp(-0.3 * y), c


LINEX = Record(
    cases=lambda rng: draws(rng, [(1.3, 0.0), (-0.7, 0.0)]),
    reference=lowest,
    rtol=1e-5,
    right="Right. An exponential price on one side moves the decision away from that side, the more the wider the posterior.",
    nudge="Not that decision. With y = [0, 1], weights = [1, 1] and c = 1 it is 0.380.",
    hints=(
        "Differentiate the average loss with respect to h. The linear part leaves a constant.",
        "c E[exp(c(h - y))] - c = 0. Take exp(c h) out of the expectation and solve for h.",
        "Begin with `shifted = np.log(weights / weights.sum()) - c * y` and look at what is imported.",
    ),
    mistakes={
        "Your weights do not sum to one: a common factor in them must not move the decision.": "/ weights.sum() -> ",
        "That is the mean, the answer to squared loss. Here the two sides cost differently.": "-logsumexp(shifted) / c -> weights @ y / weights.sum()",
        "Solve for h to the end: your logarithm is c h, not yet h.": "/ c -> ",
    },
    later={
        "Right on small numbers, but with draws near 2000 or -2000 the exponential leaves the floating-point range. "
        "Shift the draws first, or find the function that takes the logarithm of a sum of exponentials.": (
            lambda rng: draws(rng, [(1.3, 2_000.0), (1.3, -2_000.0)]),
            "logsumexp(shifted) -> np.log(np.exp(shifted).sum())",
        ),
    },
)
TASKS = {"linex": LINEX}
