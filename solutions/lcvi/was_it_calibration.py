"""Was it calibration? Roads: decisions by trying and risks by quadrature; savings that multiply."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks.record import Record

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def risk_by_quadrature(h, mean, sd, level):
    """Expected tilted loss, integrated on either side of the decision."""
    total = 0.0
    for low, high in ((mean - 12 * sd, h), (h, mean + 12 * sd)):
        y = low + (high - low) * (NODES + 1) / 2
        loss = np.maximum(level * (y - h), (level - 1) * (y - h))
        total += (high - low) / 2 * float(WEIGHTS @ (loss * norm.pdf(y, mean, sd)))
    return total


def risks_by_search(p_mean, p_sd, q_mean, q_sd, level):
    ends = (q_mean - 5 * q_sd, q_mean + 5 * q_sd)
    h = minimize_scalar(lambda at: risk_by_quadrature(at, q_mean, q_sd, level), bounds=ends, options={"xatol": 1e-9}).x
    return risk_by_quadrature(h, p_mean, p_sd, level), risk_by_quadrature(h, q_mean, q_sd, level)


def credit_by_products(early, long, calibrated):
    """What is left of a risk after two savings is the product of what each of them leaves."""
    by_steps, by_both = sum(long) / sum(early), sum(calibrated) / sum(early)
    return 1 - by_both, 1 - by_steps, 1 - by_both / by_steps


def runs(rng):
    for n, steps, calibration in [(6, (0.6, 0.9), (0.7, 1.05)), (15, (0.6, 0.9), (0.7, 1.05)), (9, (0.9, 1.3), (1.05, 1.3))]:
        early = rng.exponential(2, n) + 0.1
        long = early * rng.uniform(*steps, n)
        yield early, long, long * rng.uniform(*calibration, n)  # at last calibration makes it worse


RISKS = Record(
    cases=lambda rng: [(*rng.uniform([0.0, 1.0, 0.5, 0.3], [0.3, 1.6, 1.2, 0.7]).tolist(), level) for level in (0.2, 0.7, 0.9)],
    reference=risks_by_search,
    right="Right. A narrow q thinks highly of its decisions. Only the first number says whether it should.",
    nudge="Not those two. With level = 0.5, p = N(0, 1) and q = N(1, 0.2^2) they are 0.583 and 0.080.",
    hints=(
        "Who decides, and who judges? There is one decision here, and two judges of it.",
        "h = q_mean + q_sd z with Phi(z) = level. Under N(m, s^2) it costs s (phi(d) + d (Phi(d) - level)), with d = (h - m) / s.",
        "Begin with `h = norm.ppf(level, q_mean, q_sd)`",
    ),
    mistakes={
        "Those are the losses of the mean outcomes. An expected loss is the mean of the losses of all outcomes, and is larger.": (
            "sd * (norm.pdf(d) + d * (norm.cdf(d) - level)) -> max(level * (mean - h), (level - 1) * (mean - h))"
        ),
        "You decided by the quantile at 1 - level. Deciding too low costs `level` for each unit.": "ppf(level -> ppf(1 - level",
        "The two sides of the loss have changed places, in the decision and in the cost.": "ppf(level -> ppf(1 - level ;; - level)) -> - 1 + level))",
        "You decided by the mean of q. That is best only if both sides are equally dear.": "norm.ppf(level, q_mean, q_sd) -> q_mean",
        "Your decision is right. In its cost the two sides have changed places.": "- level)) -> - 1 + level))",
        "You let p make the decision. p is the truth and has no vote; q decides, and both judge.": "ppf(level, q_mean, q_sd) -> ppf(level, p_mean, p_sd)",
    },
    parts=("the first risk", "the second"),
)
CREDIT = Record(
    cases=runs,
    reference=credit_by_products,
    right="Right. The savings do not add up; what they leave multiplies: (1 - second) (1 - third) = 1 - first.",
    nudge="Not those three. With early = [6, 4], long = [5, 3] and calibrated = [6, 5] they are -0.1, 0.2 and -0.375.",
    hints=(
        "Each saving compares two runs that differ in one thing, except the first. Which two belong to calibration?",
        "1 - R(calibrated)/R(early), 1 - R(long)/R(early), 1 - R(calibrated)/R(long), with R the mean loss.",
        "Begin with `first, control, last = early.mean(), long.mean(), calibrated.mean()`",
    ),
    mistakes={
        "The third is compared with the early run. Calibration starts from where the control is.": "1 - last / control -> (control - last) / first",
        "You averaged the savings of single points. Compare mean losses: a point where little is lost must not count as much.": (
            "\n    return (1 - calibrated / early).mean(), (1 - long / early).mean(), (1 - calibrated / long).mean()"
        ),
        "You divided by the new risk. A saving is a share of what there was before.": "\n    R = np.mean\n    return R(early) / R(calibrated) - 1, R(early) / R(long) - 1, R(long) / R(calibrated) - 1",
        "Those are differences in the unit of the loss. Savings as shares were asked for.": "1 - last / first, 1 - control / first, 1 - last / control -> first - last, first - control, control - last",
        "The third is the first again: it gives calibration the credit for the steps, too.": "1 - last / control -> 1 - last / first",
    },
    parts=("the first", "the second", "the third"),
)
TASKS = {"risks": RISKS, "credit": CREDIT}
