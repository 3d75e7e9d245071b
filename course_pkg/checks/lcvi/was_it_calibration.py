"""Was it calibration? Roads: decisions by trying and risks by quadrature; savings that multiply."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def _risk_by_quadrature(h: float, mean: float, sd: float, level: float) -> float:
    """Expected tilted loss, integrated on either side of the decision."""
    total = 0.0
    for low, high in ((mean - 12 * sd, h), (h, mean + 12 * sd)):
        y = low + (high - low) * (NODES + 1) / 2
        loss = np.maximum(level * (y - h), (level - 1) * (y - h))
        total += (high - low) / 2 * float(WEIGHTS @ (loss * norm.pdf(y, mean, sd)))
    return total


def _risks_by_search(p_mean: float, p_sd: float, q_mean: float, q_sd: float, level: float) -> tuple[float, float]:
    ends = (q_mean - 5 * q_sd, q_mean + 5 * q_sd)
    h = minimize_scalar(lambda at: _risk_by_quadrature(at, q_mean, q_sd, level), bounds=ends, options={"xatol": 1e-9}).x
    return _risk_by_quadrature(h, p_mean, p_sd, level), _risk_by_quadrature(h, q_mean, q_sd, level)


def _credit_by_products(early: np.ndarray, long: np.ndarray, calibrated: np.ndarray) -> tuple[float, float, float]:
    """What is left of a risk after two savings is the product of what each of them leaves."""
    left_by_steps = sum(long) / sum(early)
    left_by_both = sum(calibrated) / sum(early)
    return 1 - left_by_both, 1 - left_by_steps, 1 - left_by_both / left_by_steps


def risks_stub(p_mean: float, p_sd: float, q_mean: float, q_sd: float, level: float) -> Any:
    raise NotImplementedError


def credit_stub(early: np.ndarray, long: np.ndarray, calibrated: np.ndarray) -> Any:
    raise NotImplementedError


def _risk(h, mean, sd, level):
    d = (h - mean) / sd
    return sd * (norm.pdf(d) + d * (norm.cdf(d) - level))


def _risks(p_mean, p_sd, q_mean, q_sd, level, *, decide=None, cost=None):
    h = q_mean + q_sd * norm.ppf(level if decide is None else decide)
    cost = level if cost is None else cost
    return _risk(h, p_mean, p_sd, cost), _risk(h, q_mean, q_sd, cost)


def _h(q_mean, q_sd, level):
    return q_mean + q_sd * norm.ppf(level)


RISKS_MISTAKES = {
    "changed places": Mistake(
        lambda *case: _risks(*case)[::-1],
        "The two are right and have changed places: first what the decision costs under the truth p, then what q expects it to cost.",
    ),
    "p decides under p": Mistake(
        lambda pm, ps, qm, qs, level: (_risks(pm, ps, pm, ps, level)[0], _risks(pm, ps, qm, qs, level)[1]),
        "The second is right. For the first you let p decide for itself; it shall judge the decision of q.",
    ),
    "q's opinion twice": Mistake(
        lambda *case: (_risks(*case)[1],) * 2,
        "You gave what q expects of its own decision twice. The first shall be judged by p.",
    ),
    "p's judgement twice": Mistake(
        lambda *case: (_risks(*case)[0],) * 2,
        "You gave what p expects of the decision twice. The second is what q expects of it.",
    ),
    "loss of the mean": Mistake(
        lambda pm, ps, qm, qs, level: tuple(
            max(level * (mean - _h(qm, qs, level)), (level - 1) * (mean - _h(qm, qs, level))) for mean in (pm, qm)
        ),
        "Those are the losses of the mean outcomes. An expected loss is the mean of the losses of all outcomes, and is larger.",
    ),
    "levels turned": Mistake(
        lambda *case: _risks(*case, decide=1 - case[4]),
        "You decided by the quantile at 1 - level. Deciding too low costs `level` for each unit.",
    ),
    "all turned": Mistake(
        lambda pm, ps, qm, qs, level: _risks(pm, ps, qm, qs, 1 - level),
        "The two sides of the loss have changed places, in the decision and in the cost.",
    ),
    "cost turned": Mistake(
        lambda *case: _risks(*case, cost=1 - case[4]),
        "Your decision is right. In its cost the two sides have changed places.",
    ),
    "the mean": Mistake(
        lambda *case: _risks(*case, decide=0.5),
        "You decided by the mean of q. That is best only if both sides are equally dear.",
    ),
    "p decides for both": Mistake(
        lambda pm, ps, qm, qs, level: _risks(qm, qs, pm, ps, level)[::-1],
        "You let p make the decision. p is the truth and has no vote; q decides, and both judge.",
    ),
    "decision": Mistake(
        lambda *case: (case[0] + case[1] * norm.ppf(case[4]), case[2] + case[3] * norm.ppf(case[4])),
        "Those are two decisions. Their expected losses were asked for, and both of them of the decision of q.",
    ),
}
CREDIT_MISTAKES = {
    "difference": Mistake(
        lambda early, long, calibrated: (
            1 - calibrated.mean() / early.mean(),
            1 - long.mean() / early.mean(),
            (long.mean() - calibrated.mean()) / early.mean(),
        ),
        "The first two are right. The third is compared with the run that stopped early; calibration starts from where the control is.",
    ),
    "mean of the ratios": Mistake(
        lambda early, long, calibrated: (
            (1 - calibrated / early).mean(),
            (1 - long / early).mean(),
            (1 - calibrated / long).mean(),
        ),
        "You averaged the savings of single points. Compare mean losses: a point where little is lost must not count as much.",
    ),
    "other baseline": Mistake(
        lambda early, long, calibrated: (
            early.mean() / calibrated.mean() - 1,
            early.mean() / long.mean() - 1,
            long.mean() / calibrated.mean() - 1,
        ),
        "You divided by the new risk. A saving is a share of what there was before.",
    ),
    "sign": Mistake(
        lambda early, long, calibrated: tuple(-part for part in _credit_by_products(early, long, calibrated)),
        "The signs are turned: where less is lost than before, a saving is positive.",
    ),
    "size": Mistake(
        lambda early, long, calibrated: tuple(abs(part) for part in _credit_by_products(early, long, calibrated)),
        "You took the sign away. Where more is lost than before, the saving is negative, and calibration may do that.",
    ),
    "cut off at zero": Mistake(
        lambda early, long, calibrated: tuple(max(0.0, part) for part in _credit_by_products(early, long, calibrated)),
        "You made 0 of a negative saving. Calibration may make things worse, and then the report should say so.",
    ),
    "not relative": Mistake(
        lambda early, long, calibrated: (early.mean() - calibrated.mean(), early.mean() - long.mean(), long.mean() - calibrated.mean()),
        "Those are differences in the unit of the loss. Savings as shares were asked for.",
    ),
    "changed places": Mistake(
        lambda early, long, calibrated: tuple(_credit_by_products(early, long, calibrated)[place] for place in (0, 2, 1)),
        "The last two have changed places: first what more steps saved, then what calibration saved.",
    ),
    "all to calibration": Mistake(
        lambda early, long, calibrated: (
            1 - calibrated.mean() / early.mean(),
            1 - long.mean() / early.mean(),
            1 - calibrated.mean() / early.mean(),
        ),
        "The third is the first again: it gives calibration the credit for the steps, too.",
    ),
    "shares left": Mistake(
        lambda early, long, calibrated: tuple(1 - part for part in _credit_by_products(early, long, calibrated)),
        "Those are the shares of the risk that are left. What was saved is the rest.",
    ),
    "per cent": Mistake(
        lambda early, long, calibrated: tuple(100 * part for part in _credit_by_products(early, long, calibrated)),
        "Right, in per cent. Here shares were asked for.",
    ),
    "medians": Mistake(
        lambda early, long, calibrated: (
            1 - np.median(calibrated) / np.median(early),
            1 - np.median(long) / np.median(early),
            1 - np.median(calibrated) / np.median(long),
        ),
        "You compared medians. A risk is a mean.",
    ),
}


def risks_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 795])
    cases = []
    for level in (0.2, 0.7, 0.9):
        p_mean, p_sd, q_mean, q_sd = map(float, rng.uniform([0.0, 1.0, 0.5, 0.3], [0.3, 1.6, 1.2, 0.7]))
        cases.append((p_mean, p_sd, q_mean, q_sd, level))
    return judge(
        answer,
        cases,
        _risks_by_search,
        RISKS_MISTAKES,
        right="Right. A narrow q thinks highly of its decisions. Only the first number says whether it should.",
        nudge="Not those two. With level = 0.5, p = N(0, 1) and q = N(1, 0.2^2) they are 0.583 and 0.080.",
        parts=("the first risk", "the second"),
        rtol=1e-3,  # the sheet asks for four digits
    )


def credit_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 796])
    cases = []
    for n in (6, 15):
        early = rng.exponential(2, n) + 0.1
        long = early * rng.uniform(0.6, 0.9, n)
        cases.append((early, long, long * rng.uniform(0.7, 1.05, n)))
    early = rng.exponential(2, 9) + 0.1
    long = early * rng.uniform(0.9, 1.3, 9)
    cases.append((early, long, long * rng.uniform(1.05, 1.3, 9)))  # calibration may make it worse
    return judge(
        answer,
        cases,
        _credit_by_products,
        CREDIT_MISTAKES,
        right="Right. The savings do not add up; what they leave multiplies: (1 - second) (1 - third) = 1 - first.",
        nudge="Not those three. With early = [6, 4], long = [5, 3] and calibrated = [3, 3] they are 0.4, 0.2 and 0.25.",
        parts=("the first", "the second", "the third"),
    )


TASKS = (
    Task(
        "lcvi/was-it-calibration/risks",
        "Was it calibration? Whose risk?",
        2,
        14,
        risks_stub,
        (
            "Who decides, and who judges? There is one decision here, and two judges of it.",
            "h = q_mean + q_sd z with Phi(z) = level. Under N(m, s^2) it costs s (phi(d) + d (Phi(d) - level)), with d = (h - m) / s.",
            "Begin with `h = norm.ppf(level, q_mean, q_sd)`",
        ),
        RISKS_MISTAKES,
        risks_verdict,
    ),
    Task(
        "lcvi/was-it-calibration/credit",
        "Was it calibration? Whose credit?",
        2,
        8,
        credit_stub,
        (
            "Each saving compares two runs that differ in one thing, except the first. Which two belong to calibration?",
            "1 - R(calibrated)/R(early), 1 - R(long)/R(early), 1 - R(calibrated)/R(long), with R the mean loss.",
            "Begin with `first, control, last = early.mean(), long.mean(), calibrated.mean()`",
        ),
        CREDIT_MISTAKES,
        credit_verdict,
    ),
)
