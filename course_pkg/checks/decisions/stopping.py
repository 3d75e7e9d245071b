"""Stopping rules. Roads: the density of the running sum carried from look to look; quadrature for the posterior."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, bound, call, judge, key_words, read

RUNS, LOOKS, FEWER, LEVEL = 20_000, 10, 4, 0.9


def _still_running(looks: int, *, prior: bool = False) -> np.ndarray:
    """P(no rejection at looks 1 to n), n = 0, ..., looks: the density of the running sum is carried from look to look.

    With theta = 0 the next observation is N(0, 1); averaged over the prior it is normal around the posterior mean.
    """
    grid = np.linspace(-1.96, 1.96, 401)
    density = norm.pdf(grid, 0, np.sqrt(2.0) if prior else 1.0)
    running = [1.0]
    for n in range(1, looks + 1):
        running.append(float(trapezoid(density, grid)))
        wider = np.linspace(-1.96, 1.96, 401) * np.sqrt(n + 1)
        centre, spread = (grid * (n + 2) / (n + 1), np.sqrt((n + 2) / (n + 1))) if prior else (grid, 1.0)
        density = trapezoid(density * norm.pdf(wider[:, None], centre[None, :], spread), grid, axis=1)
        grid = wider
    return np.array(running)


def _reject_by_quadrature(looks: int) -> float:
    """P(|S_n| > 1.96 sqrt(n) for some n <= looks) for a standard normal walk."""
    return float(1 - _still_running(looks)[-1])


def _end_by_quadrature(looks: int) -> tuple[float, float]:
    """Mean and standard deviation of the number of observations at the end of a run whose theta comes from the prior."""
    longer_than = _still_running(looks, prior=True)[:-1]
    mean = longer_than.sum()
    return float(mean), float(np.sqrt(((2 * np.arange(looks) + 1) * longer_than).sum() - mean**2))


def _interval_by_quadrature(
    n: Any, total: Any, *, prior: bool = True, given_rejection: bool = False, outside: float = 0.1
) -> tuple[Any, Any]:
    if np.ndim(n):
        pairs = zip(n, total, strict=True)
        ends = [_interval_by_quadrature(*pair, prior=prior, given_rejection=given_rejection, outside=outside) for pair in pairs]
        return tuple(np.array(ends).T)
    theta = np.linspace(-9, 9, 60_001)
    log_density = norm.logpdf(total / n, theta, 1 / np.sqrt(n)) + prior * norm.logpdf(theta)
    if given_rejection:
        log_density -= np.log(norm.sf(1.96 - np.sqrt(n) * theta) + norm.cdf(-1.96 - np.sqrt(n) * theta))
    cdf = np.cumsum(np.exp(log_density - log_density.max()))
    low, high = np.interp([outside / 2, 1 - outside / 2], cdf / cdf[-1], theta)
    return float(low), float(high)


def _rounded(n: Any, total: Any, z: float, power: float = 0.5) -> tuple[Any, Any]:
    reach = z / (n + 1) ** power
    return total / (n + 1) - reach, total / (n + 1) + reach


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


def _report(theta: np.ndarray, n: np.ndarray, total: np.ndarray, prior: float = 1.0) -> tuple[float, float]:
    reach = norm.ppf(0.95) / np.sqrt(n + prior)
    return float(np.mean(np.abs(theta - total / (n + prior)) < reach)), float(np.mean(n))


def _theta_zero(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    theta = np.zeros(runs)
    n, total, _ = _walk(_generator(key), theta, looks)
    return _report(theta, n, total)


def _prior_forgotten(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, _ = _walk(rng, theta, looks)
    return _report(theta, n, total, 0.0)


def _index_for_number(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, rejected = _walk(rng, theta, looks)
    return _report(theta, n - rejected, total)


def _index_throughout(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, _ = _walk(rng, theta, looks)
    return _report(theta, n - 1, total)


def _until_it_rejects(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, rejected = np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=bool)
    for _ in range(60):
        todo = np.flatnonzero(~rejected)
        new_n, new_total, hit = _walk(rng, theta[todo], looks)
        n[todo], total[todo], rejected[todo] = new_n, new_total, hit
    return _report(theta, n, total)


def _only_rejecting(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    n, total, rejected = _walk(rng, theta, looks)
    return _report(theta[rejected], n[rejected], total[rejected])


def _never_stops(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    rng = _generator(key)
    theta = rng.normal(size=runs)
    return _report(theta, np.full(runs, looks), looks * theta + np.sqrt(looks) * rng.normal(size=runs))


def _ends_at_the_first_look(key: jax.Array, runs: int, looks: int) -> tuple[float, float]:
    """As if argmax of a row of False were the last look: it is the first."""
    rng = _generator(key)
    theta = rng.normal(size=runs)
    sums = np.cumsum(theta[:, None] + rng.normal(size=(runs, looks)), axis=1)
    n = (np.abs(sums) > 1.96 * np.sqrt(np.arange(1, looks + 1))).argmax(axis=1) + 1
    return _report(theta, n, sums[np.arange(runs), n - 1])


def alarm_stub(key: jax.Array, runs: int, looks: int) -> Any:
    raise NotImplementedError


def interval_stub(n: int, total: float) -> Any:
    raise NotImplementedError


def coverage_stub(key: jax.Array, runs: int, looks: int) -> Any:
    raise NotImplementedError


ALARM_MISTAKES = {
    "one look": Mistake(
        lambda key, runs, looks: float((np.abs(_walk(_generator(key), np.zeros(runs), 1)[1]) > 1.96).mean()),
        "That is the error of a test looked at once. Count a run as rejected if any of its looks rejects. "
        "If you do count any, look at the scale: the sum is divided by sqrt(n), not by n.",
    ),
    "each observation alone": Mistake(
        lambda key, runs, looks: float((np.abs(_generator(key).normal(size=(runs, looks))) > 1.96).any(axis=1).mean()),
        "You tested every observation by itself. A look tests all that has come in so far: the running sum over sqrt(n).",
    ),
    "only runs that stopped": Mistake(
        lambda key, runs, looks: 1.0,
        "All of your runs reject. Did you divide by the number of stops, divide a sum by sqrt(0), or take `any` along the wrong axis?",
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
    "95 per cent": Mistake(lambda n, total: _interval_by_quadrature(n, total, outside=0.05), "That is a 95% interval; 90% was asked for."),
    "80 per cent": Mistake(
        lambda n, total: _interval_by_quadrature(n, total, outside=0.2),
        "That is an 80% interval: you left out 10% on either side. Left out are 10% in all, 5% on either side.",
    ),
    "1.64": Mistake(
        lambda n, total: _rounded(n, total, 1.64),
        "Right but rounded: take the quantile from `scipy.stats.norm`. (1.64 is a little too small.)",
    ),
    "1.65": Mistake(
        lambda n, total: _rounded(n, total, 1.65),
        "Right but rounded: take the quantile from `scipy.stats.norm`. (1.65 is a little too large.)",
    ),
    "variance for standard deviation": Mistake(
        lambda n, total: _rounded(n, total, norm.ppf(0.95), 1.0),
        "You used the variance where the standard deviation belongs.",
    ),
}
COVERAGE_MISTAKES = {
    "theta held at zero": Mistake(
        _theta_zero,
        "You held theta at 0. The promise of a posterior interval is an average over the prior: draw a theta for every run.",
    ),
    "prior forgotten": Mistake(
        _prior_forgotten,
        "Your intervals act as if there were one observation fewer: either the prior is left out (it counts as one), or n is the "
        "index of the look, which begins at 0.",
    ),
    "index for number": Mistake(
        _index_for_number,
        "Runs that reject end one observation early: n is the index of the look, which begins at 0. So your intervals act as if "
        "there were one observation fewer.",
    ),
    "index throughout": Mistake(
        _index_throughout,
        "All of your runs end one observation early: n is the index of the look, which begins at 0. So your intervals act as if "
        "there were one observation fewer.",
    ),
    "only runs that rejected": Mistake(
        _only_rejecting,
        "You kept only the runs that rejected. Those that went to the last look count, too: the average is over all runs.",
    ),
    "never stops": Mistake(
        _never_stops,
        "None of your runs stops before the last look. A run ends at the first look that rejects, and its interval uses the sum there.",
    ),
    "first look for the last": Mistake(
        _ends_at_the_first_look,
        "The argmax of a row of False is 0, so yours end at once: runs that never reject end at the last look.",
    ),
    "conditioned on the stop": Mistake(
        _until_it_rejects,
        "You ran each theta again until it rejected. That throws data away by their outcome, which is not the experiment you analyse.",
    ),
}


def _random_verdict(
    answer: Any,
    seed: int,
    law: Callable[[int], tuple[np.ndarray, np.ndarray]],
    mistakes: dict[str, Mistake],
    *,
    right: str,
    nudge: str,
    parts: tuple[str, ...],
) -> Verdict:
    """Compare with ``law(looks)``, the means and standard deviations of what one run adds to each part of the answer."""
    try:
        got = {looks: _parts(answer, seed, looks, parts) for looks in (LOOKS, FEWER)}
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    laws = {looks: law(looks) for looks in got}
    limit = bound(len(got) * len(parts))
    off = {looks: np.abs(got[looks] - mean) * np.sqrt(RUNS) / spread > limit for looks, (mean, spread) in laws.items()}
    if not any(map(np.any, off.values())):
        again = _parts(answer, seed, FEWER, parts)
        others = [_parts(answer, seed + step, FEWER, parts) for step in (1, 2)]
        for place in range(len(parts)):
            # a count can come out the same by chance, hence two other keys
            if words := key_words(got[FEWER][place], again[place], [other[place] for other in others]):
                return Verdict(False, words)
        return Verdict(True, right)
    for mistake in mistakes.values():
        known = {looks: np.ravel(mistake.answer(jax.random.key(1_000 + seed), RUNS, looks)) for looks in got}
        # the mistake is simulated, too: hence the root of 2
        near = [np.abs(got[looks] - known[looks]) <= limit * np.sqrt(2 / RUNS) * spread for looks, (_, spread) in laws.items()]
        if all(map(np.all, near)):
            return Verdict(False, mistake.words)
    wrong = np.any(list(off.values()), axis=0)
    if not wrong.all():
        words = f"{parts[int(np.argmin(wrong))]} is right, but {parts[int(np.argmax(wrong))]} is not. "
        nudge = words[0].upper() + words[1:] + nudge
    return Verdict(False, nudge)


def _parts(answer: Any, seed: int, looks: int, parts: tuple[str, ...]) -> np.ndarray:
    got = read(call(answer, jax.random.key(seed), RUNS, looks), tuple(np.zeros(()) for _ in parts))
    if len(got) != len(parts) or any(part.shape for part in got):
        shapes = ", ".join(str(part.shape) for part in got)
        raise Trouble(f"Expected {_NUMBERS[len(parts)]}: {' and '.join(parts)}. Your function returned something of shape {shapes}.")
    if not all(np.isfinite(part) for part in got):
        raise Trouble("Your answer is not a finite number.")
    return np.array([float(part) for part in got])


_NUMBERS = {1: "one number", 2: "a tuple of 2 numbers"}


def _alarm_law(looks: int) -> tuple[np.ndarray, np.ndarray]:
    rate = _reject_by_quadrature(looks)
    return np.array([rate]), np.array([np.sqrt(rate * (1 - rate))])


def _coverage_law(looks: int) -> tuple[np.ndarray, np.ndarray]:
    mean, spread = _end_by_quadrature(looks)
    return np.array([LEVEL, mean]), np.array([np.sqrt(LEVEL * (1 - LEVEL)), spread])


def alarm_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _random_verdict(
        answer,
        seed,
        _alarm_law,
        ALARM_MISTAKES,
        right="Right. Ten looks at five per cent each raise the false alarms almost fourfold: the p-value cares when you stop.",
        nudge="Not that fraction. With looks = 1 it must be 0.05.",
        parts=("the fraction of runs that reject",),
    )


def interval_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 50])
    cases = [(n, float(2.1 * np.sqrt(n) + rng.uniform(0, 1))) for n in (2, 6, 9)]
    right = "Right. It is the interval for a fixed n: given the data, why they stopped says nothing more about theta."
    numbers_first = judge(
        answer,
        cases,
        _interval_by_quadrature,
        INTERVAL_MISTAKES,
        right=right,
        nudge="With total = 0 the interval is symmetric about 0, and it shrinks as n grows.",
        rtol=1e-3,
        parts=("the lower end", "the upper end"),
    )
    if not numbers_first.passed:
        return numbers_first
    arrays = (np.array([n for n, _ in cases] + [4]), np.array([total for _, total in cases] + [-1.5]))
    try:
        call(answer, *arrays)
    except Trouble as trouble:
        return Verdict(False, f"Right for numbers, not yet for arrays of `n` and `total`. {trouble}")
    nudge = "Right for numbers. For arrays of `n` and `total` each end is an array, too: it is worked out entry by entry."
    entry_by_entry = judge(answer, [arrays], _interval_by_quadrature, {}, right=right, nudge=nudge, rtol=1e-3)
    return entry_by_entry if entry_by_entry.passed else Verdict(False, nudge)


def coverage_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _random_verdict(
        answer,
        seed,
        _coverage_law,
        COVERAGE_MISTAKES,
        right="Right. The intervals keep their promise although the run was stopped at its most striking moment.",
        nudge="Draw theta, then the data; end at the first look that rejects, or at the last; ask whether the interval holds theta.",
        parts=("the coverage", "the average number of observations"),
    )


TASKS = (
    Task(
        "decisions/stopping/alarm",
        "Stopping rules: the false alarm",
        2,
        12,
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
        10,
        interval_stub,
        (
            "Write prior times likelihood of the run, including 'it did not stop before n'. Which factors contain theta?",
            "That factor is 0 or 1, whatever theta is. What is left is a normal prior and n normal observations: precisions add.",
            "Begin with `sd = 1 / np.sqrt(n + 1)`; the mean counts the prior as one more observation, of 0.",
        ),
        INTERVAL_MISTAKES,
        interval_verdict,
    ),
    Task(
        "decisions/stopping/coverage",
        "Stopping rules: the promise kept",
        2,
        18,
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
