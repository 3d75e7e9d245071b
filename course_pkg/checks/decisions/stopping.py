"""Stopping rules. Roads: the density of the running sum carried from look to look; quadrature for the posterior."""

from typing import Any

import jax
import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, judge, judge_random, numbers

RUNS, LOOKS, LEVEL = 20_000, 10, 0.9


def _reject_by_quadrature(looks: int) -> float:
    """P(|S_n| > 1.96 sqrt(n) for some n <= looks) for a standard normal walk: what has not stopped is carried on."""
    alive = 1.0
    edge = 1.96
    grid = np.linspace(-edge, edge, 401)
    density = norm.pdf(grid)
    for n in range(1, looks + 1):
        alive = float(trapezoid(density, grid))
        edge = 1.96 * np.sqrt(n + 1)
        wider = np.linspace(-edge, edge, 401)
        density = trapezoid(density * norm.pdf(wider[:, None] - grid[None, :]), grid, axis=1)
        grid = wider
    return 1 - alive


def _interval_by_quadrature(n: int, total: float, *, prior: bool = True, given_rejection: bool = False) -> tuple[float, float]:
    theta = np.linspace(-9, 9, 60_001)
    log_density = norm.logpdf(total / n, theta, 1 / np.sqrt(n)) + prior * norm.logpdf(theta)
    if given_rejection:
        log_density -= np.log(norm.sf(1.96 - np.sqrt(n) * theta) + norm.cdf(-1.96 - np.sqrt(n) * theta))
    cdf = np.cumsum(np.exp(log_density - log_density.max()))
    low, high = np.interp([0.05, 0.95], cdf / cdf[-1], theta)
    return float(low), float(high)


def _generator(key: jax.Array) -> np.random.Generator:
    """NumPy's generator, started from a key: the shapes below change from call to call, and each would be compiled."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def _walk(rng: np.random.Generator, theta: np.ndarray, looks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When each run stops, its sum there, and whether it rejected."""
    sums = np.cumsum(theta[:, None] + rng.normal(size=(len(theta), looks)), axis=1)
    beyond = np.abs(sums) > 1.96 * np.sqrt(np.arange(1, looks + 1))
    rejected = beyond.any(axis=1)
    n = np.where(rejected, beyond.argmax(axis=1) + 1, looks)
    return n, sums[np.arange(len(theta)), n - 1], rejected


def _covered(theta: np.ndarray, n: np.ndarray, total: np.ndarray, prior: float) -> float:
    reach = norm.ppf(0.95) / np.sqrt(n + prior)
    return float(np.mean(np.abs(theta - total / (n + prior)) < reach))


def _theta_zero(key: jax.Array, runs: int, looks: int) -> float:
    theta = np.zeros(runs)
    n, total, _ = _walk(_generator(key), theta, looks)
    return _covered(theta, n, total, 1.0)


def _prior_forgotten(key: jax.Array, runs: int, looks: int) -> float:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, _ = _walk(rng, theta, looks)
    return _covered(theta, n, total, 0.0)


def _until_it_rejects(key: jax.Array, runs: int, looks: int) -> float:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, rejected = np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=bool)
    for _ in range(60):
        todo = np.flatnonzero(~rejected)
        new_n, new_total, hit = _walk(rng, theta[todo], looks)
        n[todo], total[todo], rejected[todo] = new_n, new_total, hit
    return _covered(theta, n, total, 1.0)


def alarm_stub(key: jax.Array, runs: int, looks: int) -> Any:
    raise NotImplementedError


def interval_stub(n: int, total: float) -> Any:
    raise NotImplementedError


def coverage_stub(key: jax.Array, runs: int, looks: int) -> Any:
    raise NotImplementedError


ALARM_MISTAKES = {
    "one look": Mistake(
        lambda key, runs, looks: float((np.abs(_walk(_generator(key), np.zeros(runs), 1)[1]) > 1.96).mean()),
        "That is the error of a test looked at once. Count a run as rejected if any of its looks rejects.",
    ),
    "each observation alone": Mistake(
        lambda key, runs, looks: float((np.abs(_generator(key).normal(size=(runs, looks))) > 1.96).any(axis=1).mean()),
        "You tested every observation by itself. A look tests all that has come in so far: the running sum over sqrt(n).",
    ),
    "only runs that stopped": Mistake(
        lambda key, runs, looks: 1.0,
        "You kept only the runs that stopped early, and of those all reject. Divide by the number of runs, not of stops.",
    ),
}
INTERVAL_MISTAKES = {
    "conditioned on the stop": Mistake(
        lambda n, total: _interval_by_quadrature(n, total, given_rejection=True),
        "You divided by the probability of rejecting. The stop is a function of the data you already conditioned on: it adds nothing.",
    ),
    "prior forgotten": Mistake(
        lambda n, total: _interval_by_quadrature(n, total, prior=False),
        "That is the average plus or minus 1.64/sqrt(n): the prior N(0, 1) is missing. It counts as one observation of 0.",
    ),
}
COVERAGE_MISTAKES = {
    "theta held at zero": Mistake(
        _theta_zero,
        "You held theta at 0. The promise of a posterior interval is an average over the prior: draw a theta for every run.",
    ),
    "prior forgotten": Mistake(
        _prior_forgotten,
        "Your intervals leave out the prior, so stopping at a lucky moment hurts them. Use the posterior from the second part.",
    ),
    "conditioned on the stop": Mistake(
        _until_it_rejects,
        "You ran each theta again until it rejected. That throws data away by their outcome, which is not the experiment you analyse.",
    ),
}


def _random_verdict(answer: Any, seed: int, truth: float, mistakes: dict[str, Mistake], right: str, nudge: str) -> Verdict:
    key = jax.random.key(seed)
    try:
        (got,) = numbers(call(answer, key, RUNS, LOOKS))
        if got.shape != ():
            raise Trouble(f"Expected one number, the fraction of runs; your answer has shape {got.shape}.")
    except (Trouble, ValueError) as trouble:
        return Verdict(False, str(trouble) if isinstance(trouble, Trouble) else "Expected one number.")
    other = jax.random.key(1_000 + seed)
    known = {name: (mistake.answer(other, RUNS, LOOKS), mistake.words) for name, mistake in mistakes.items()}
    error = float(np.sqrt(truth * (1 - truth) / RUNS))
    return judge_random(float(got), error, truth, known, right=right, nudge=nudge)


def alarm_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _random_verdict(
        answer,
        seed,
        _reject_by_quadrature(LOOKS),
        ALARM_MISTAKES,
        "Right. Ten looks at five per cent each raise the false alarms almost fourfold: the p-value cares when you stop.",
        "Not that fraction. With looks = 1 it must be 0.05.",
    )


def interval_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 50])
    cases = [(n, float(2.1 * np.sqrt(n) + rng.uniform(0, 1))) for n in (2, 6, 9)]
    return judge(
        answer,
        cases,
        _interval_by_quadrature,
        INTERVAL_MISTAKES,
        right="Right. It is the interval for a fixed n: given the data, why they stopped says nothing more about theta.",
        nudge="Not those ends. With total = 0 the interval is symmetric about 0, and it shrinks as n grows.",
        rtol=1e-3,
    )


def coverage_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _random_verdict(
        answer,
        seed,
        LEVEL,
        COVERAGE_MISTAKES,
        "Right. The intervals keep their promise although the run was stopped at its most striking moment.",
        "Not that fraction. Draw theta, then the data, stop, and ask whether the interval holds theta.",
    )


TASKS = (
    Task(
        "decisions/stopping/alarm",
        "Stopping rules: the false alarm",
        2,
        10,
        alarm_stub,
        (
            "Each run is a row of noise. What is tested after n observations is their sum over the root of n.",
            "Reject at look n if |y_1 + ... + y_n| > 1.96 sqrt(n); a run counts if any look rejects.",
            "Begin with `sums = jnp.cumsum(jax.random.normal(key, (runs, looks)), axis=1)`",
        ),
        ALARM_MISTAKES,
        alarm_verdict,
    ),
    Task(
        "decisions/stopping/interval",
        "Stopping rules: the posterior",
        2,
        8,
        interval_stub,
        (
            "Write prior times likelihood of the run, including 'it did not stop before n'. Which factors contain theta?",
            "The posterior is normal with precision n + 1 and mean total / (n + 1).",
            "Begin with `sd = 1 / np.sqrt(n + 1)`",
        ),
        INTERVAL_MISTAKES,
        interval_verdict,
    ),
    Task(
        "decisions/stopping/coverage",
        "Stopping rules: the promise kept",
        2,
        12,
        coverage_stub,
        (
            "One run: theta from the prior, data given theta, stop, interval. Then count how often theta is inside.",
            "n is the first look beyond 1.96 sqrt(n), or the last look; total is the running sum there.",
            "Begin with `prior_key, noise_key = jax.random.split(key)`",
        ),
        COVERAGE_MISTAKES,
        coverage_verdict,
    ),
)
