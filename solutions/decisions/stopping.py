"""Stopping rules. Roads: the density of the running sum carried from look to look; quadrature for the posterior."""

from functools import cache

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.decisions._tools import RUNS, random_record

CASES = [(RUNS, 10), (RUNS, 4)]


@cache
def still_running(looks, prior=False):
    """P(no rejection at looks 1 to n), n = 0, ..., looks: the density of the running sum is carried from look to look.

    With theta = 0 the next observation is N(0, 1); averaged over the prior it is normal around the posterior mean.
    """
    grid = np.linspace(-1.96, 1.96, 401)
    density = norm.pdf(grid, 0, np.sqrt(2.0) if prior else 1.0)
    running = [1.0]
    for n in range(1, looks + 1):
        running.append(trapezoid(density, grid))
        wider = np.linspace(-1.96, 1.96, 401) * np.sqrt(n + 1)
        centre, spread = (grid * (n + 2) / (n + 1), np.sqrt((n + 2) / (n + 1))) if prior else (grid, 1.0)
        density = trapezoid(density * norm.pdf(wider[:, None], centre[None, :], spread), grid, axis=1)
        grid = wider
    return np.array(running)


# P(|S_n| > 1.96 sqrt(n) for some n <= looks) for a standard normal walk
reject_by_quadrature = lambda looks: 1 - still_running(looks)[-1]


def end_by_quadrature(looks):
    """Mean and standard deviation of the number of observations at the end of a run whose theta comes from the prior."""
    longer_than = still_running(looks, prior=True)[:-1]
    mean = longer_than.sum()
    return mean, np.sqrt(((2 * np.arange(looks) + 1) * longer_than).sum() - mean**2)


def alarm_law(runs, looks):
    rate = reject_by_quadrature(looks)
    return [rate], [np.sqrt(rate * (1 - rate) / runs)]


def coverage_law(runs, looks):
    mean, spread = end_by_quadrature(looks)
    return [0.9, mean], [np.sqrt(0.9 * 0.1 / runs), spread / np.sqrt(runs)]


def interval_by_quadrature(n, total, given_rejection=False):
    theta, ends = np.linspace(-9, 9, 60_001), []
    for one_n, one_total in zip(np.ravel(n), np.ravel(total), strict=True):
        log_density = norm.logpdf(one_total / one_n, theta, 1 / np.sqrt(one_n)) + norm.logpdf(theta)
        if given_rejection:
            log_density -= np.log(norm.sf(1.96 - np.sqrt(one_n) * theta) + norm.cdf(-1.96 - np.sqrt(one_n) * theta))
        cdf = np.cumsum(np.exp(log_density - log_density.max()))
        ends.append(np.interp([0.05, 0.95], cdf / cdf[-1], theta))
    return tuple(np.reshape(end, np.shape(n)) for end in np.transpose(ends))


ALARM = random_record(
    CASES,
    alarm_law,
    parts=("the fraction of runs that reject",),
    right="Right. Ten looks at five per cent each raise the false alarms almost fourfold: the p-value cares when you stop.",
    nudge="Not that fraction. With looks = 1 it must be 0.05.",
    hints=(
        "Each run is a row of noise. What is tested after n observations is their sum over the root of n.",
        "Reject at look n if |y_1 + ... + y_n| > 1.96 sqrt(n); a run counts if any look rejects.",
        "Begin with `sums = jnp.cumsum(jax.random.normal(key, (runs, looks)), axis=1)`",
    ),
    mistakes={
        "That is a test looked at once. Count a run if any of its looks rejects, and divide the sum by sqrt(n), not by n.": "beyond.any(axis=1) -> beyond[:, -1]",
        "You tested every observation by itself. A look tests all that has come in so far: the running sum over sqrt(n).": (
            "jnp.cumsum(jax.random.normal(key, (runs, looks)), axis=1) -> jax.random.normal(key, (runs, looks)) ;; "
            "* jnp.sqrt(jnp.arange(1, looks + 1))[None, :] -> "
        ),
        "All of your runs reject. Did you divide by the number of stops, divide a sum by sqrt(0), or take `any` along the wrong axis?": "any(axis=1) -> any(axis=0)",
        "You compared the sum itself with 1.96. What is tested is the sum over sqrt(n).": "* jnp.sqrt(jnp.arange(1, looks + 1))[None, :] -> ",
        "You count the runs in which every look rejects. One is enough.": "any(axis=1) -> all(axis=1)",
        "You test one side only: drops reject as rises do.": "jnp.abs(sums) -> sums",
    },
)
INTERVAL = Record(
    cases=lambda rng: [(n, 2.1 * np.sqrt(n) + rng.uniform(0, 1)) for n in (2, 6, 9)],
    reference=interval_by_quadrature,
    rtol=1e-3,
    parts=("the lower end", "the upper end"),
    right="Right. It is the interval for a fixed n: given the data, why they stopped says nothing more about theta.",
    nudge="Not those ends. With n = 3 and total = 2 they are -0.322 and 1.322.",
    hints=(
        "Write prior times likelihood of the run, including 'it did not stop before n'. Which factors contain theta?",
        "That factor is 0 or 1, whatever theta is. What is left is a normal prior and n normal observations: precisions add.",
        "Begin with `sd = 1 / np.sqrt(n + 1)`; the mean counts the prior as one more observation, of 0.",
    ),
    mistakes={
        "You divided by the chance of rejecting. Given the data the stop adds nothing.": lambda n, total: interval_by_quadrature(
            n, total, True
        ),
        "That is the average plus or minus 1.64/sqrt(n): the prior N(0, 1) is missing. It counts as one observation of 0.": "n + 1 -> n",
        "The width is right and the middle is the average: the prior draws it towards 0.": "total / (n + 1) -> total / n",
        "Right but rounded: take the quantile from `scipy.stats.norm`. (1.64 is a little too small, 1.65 a little too large.)": "norm.ppf(0.95) -> 1.64",
        "You used the variance where the standard deviation belongs.": "np.sqrt(n + 1) -> (n + 1)",
    },
    later={
        "Right for numbers. For arrays of `n` and `total` each end is an array, too: it is worked out entry by entry.": (
            lambda rng: [(np.array([2, 6, 9, 4]), np.array([*rng.uniform(3, 7, 3), -1.5]))],
            "sd = -> n, total = float(n), float(total)\nsd =",
        ),
    },
)
ALL_EARLY = "argmax(axis=1) + 1, looks -> argmax(axis=1), looks - 1 ;; n - 1 -> n"
COVERAGE = random_record(
    CASES,
    coverage_law,
    parts=("the coverage", "the average number of observations"),
    right="Right. The intervals keep their promise although the run was stopped at its most striking moment.",
    nudge="Draw theta, then the data; end at the first look that rejects, or at the last; ask whether the interval holds theta.",
    hints=(
        "One run: theta from the prior, data given theta, stop, interval. Then count how often theta is inside.",
        "n is the first look beyond 1.96 sqrt(n), or the last look; total is the running sum there.",
        "Begin with `prior_key, noise_key = jax.random.split(key)`",
    ),
    mistakes={
        "You held theta at 0. The promise is an average over the prior: draw a theta for every run.": "sums = -> theta = np.zeros(runs)\nsums =",
        "Your intervals act as if there were one observation fewer: the prior counts as one, and n is no index.": "posterior_interval(n, -> posterior_interval(n - 1,",
        "Runs that reject end one observation early, so your intervals act as if there were one observation fewer.": "argmax(axis=1) + 1 -> argmax(axis=1) ;; n - 1 -> np.minimum(n, looks - 1)",
        "All of your runs end one observation early: n is the index of the look, which begins at 0.": ALL_EARLY,
        "You kept only the runs that rejected. Those that went to the last look count, too: the average is over all runs.": (
            "return -> low, high, theta, n = (x[beyond.any(axis=1)] for x in (low, high, theta, n))\nreturn"
        ),
        "None of your runs stops early. A run ends at the first look that rejects, with the sum there.": "low, high -> n = np.full(runs, looks)\nlow, high",
        "The argmax of a row of False is 0, so yours end at once: runs that never reject end at the last look.": (
            "np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1, looks) -> beyond.argmax(axis=1) + 1"
        ),
    },
)
TASKS = {"alarm": ALARM, "interval": INTERVAL, "coverage": COVERAGE}
