"""Find the key. Road: many chains start at exact draws; what a right step does to them is known from sums over a fine grid."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl, threefry_prng_impl
from scipy.stats import gumbel_r, norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, agree, bound, call, key_words, numbers

CHAINS, LATER = 20_000, 6
FEW, MANY_STEPS = 2, 104  # where keys are written down


class Target(NamedTuple):
    """A distribution on the line of which everything is known."""

    log_density: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    law: Any  # SciPy's
    edges: tuple[float, float]


BELL = Target(lambda x: -(x**2) / 2, lambda x: -x, norm, (-7.0, 7.0))
SKEWED = Target(lambda x: -x - jnp.exp(-x), lambda x: jnp.exp(-x) - 1, gumbel_r, (-3.2, 17.0))


@lru_cache(maxsize=16)
def _moments(target: Target, size: float, pushed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of `_measured`, for the right chain."""
    x = np.linspace(*target.edges, 701)
    pi = target.law.pdf(x)
    pi = pi / pi.sum()
    centre = x + (size**2 / 2 * np.asarray(target.slope(x), dtype=float) if pushed else 0.0)
    offered = norm.pdf(x[None, :], centre[:, None], size) * (x[1] - x[0]) * pi[:, None]
    moved = np.minimum(offered, offered.T) / pi[:, None]  # the smaller of the two flows
    rate = float(pi @ moved.sum(axis=1))  # moves within a cell of the grid are moves, too
    np.fill_diagonal(moved, 0)
    P = moved + np.diag(1 - moved.sum(axis=1))
    level = target.law.cdf(x) - 0.5
    later = np.linalg.matrix_power(P, LATER)

    def both(matrix: np.ndarray, before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
        mean, square = pi @ (before * (matrix @ after)), pi @ (before**2 * (matrix @ after**2))
        return float(mean), float(np.sqrt(square - mean**2))

    jump, fourth = (float(pi @ (moved * (x[None, :] - x[:, None]) ** power).sum(axis=1)) for power in (2, 4))
    rows = [(rate, np.sqrt(rate * (1 - rate))), (jump, np.sqrt(fourth - jump**2))]
    for matrix in (P, later):
        rows += [(0.0, np.sqrt(1 / 12)), (1 / 3, np.sqrt(4 / 45)), both(matrix, level, level)]
    means, spreads = np.array(rows).T
    return means, spreads


def _measured(target: Target, start: np.ndarray, once: np.ndarray, later: np.ndarray) -> np.ndarray:
    """Means over the chains and, in a second row, their standard errors.

    The share of chains that moved at the first step, their mean squared move, and then, after one step and after some, three means each.
    """
    level = target.law.cdf(start) - 0.5
    out = [once != start, (once - start) ** 2]
    for x in (once, later):
        there = target.law.cdf(x) - 0.5
        out += [there, 4 * there**2, level * there]
    return np.array([(one.mean(), one.std() / np.sqrt(CHAINS)) for one in out]).T


class Case(NamedTuple):
    """What an answer is tried on."""

    target: Target
    size: float
    pushed: bool


def _places(got: Any) -> np.ndarray:
    parts = numbers(got)
    if len(parts) != 1 or parts[0].shape != (CHAINS,):
        shapes = ", ".join(str(part.shape) for part in parts).replace(str(CHAINS), "n")
        raise Trouble(f"Expected one array of shape (n,), a place for each chain; your function returned something of shape {shapes}.")
    if not np.isfinite(parts[0]).all():
        raise Trouble("Your answer contains a number that is not finite. Where could a logarithm, a power or a ratio run away?")
    return parts[0]


Run = Callable[[Any, Case, jax.Array, Any, int], Any]


def _step_run(answer: Any, case: Case, key: jax.Array, x: Any, steps: int) -> Any:
    """A step that is repeated from outside, with a new key each time."""
    rest = (case.target.log_density, case.target.slope, case.size) if case.pushed else (case.target.log_density, case.size)
    for step_key in jax.random.split(key, steps):
        x = jnp.asarray(_places(call(answer, step_key, x, *rest)), dtype=float)
    return x


def _chain_run(answer: Any, case: Case, key: jax.Array, x: Any, steps: int) -> Any:
    return call(answer, key, x, steps, case.target.log_density, case.size)


def _tried(run: Run, answer: Any, case: Case, seed: int) -> np.ndarray:
    """`_measured` on an answer; the chains' starts are exact draws."""
    rng = np.random.default_rng([seed, 240])
    start = jnp.asarray(case.target.law.ppf(rng.uniform(size=CHAINS)), dtype=float)
    one, more = jax.random.split(jax.random.key(seed))
    once, later = (_places(run(answer, case, key, start, steps)) for key, steps in ((one, 1), (more, LATER)))
    return _measured(case.target, np.asarray(start, dtype=float), once, later)


def _all_tried(run: Run, answer: Any, cases: list[Case], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors, a row for each case."""
    tried = np.array([_tried(run, answer, case, seed) for case in cases])
    return tried[:, 0], tried[:, 1]


KEY_TWICE = (
    "A key is drawn from twice, in one step or in two that may lie far apart. What comes from one key twice is not independent, even where "
    "it does not show. Give each draw a key of its own."
)
PARENT = (
    "You draw from a key from which you also make others, with split or fold_in. Nothing promises that its numbers are independent of "
    "theirs, even where nothing shows. Draw from children only."
)
NO_KEY = "Your answer is the same whatever `key` is. Take all randomness from `key`: each step is given another one."
ALL_ALIKE = "All your chains move by the same noise. Each of them needs noise of its own: draw with the shape of x."
ONE_COIN = "All your chains share one coin. Each of them needs its own: draw with the shape of x."


def _alike(run: Run, answer: Any, case: Case, seed: int) -> str | None:
    """Whether noise, or coin, is one for all chains."""
    rng = np.random.default_rng([seed, 241])
    start = jnp.asarray(case.target.law.ppf(rng.uniform(size=CHAINS)), dtype=float)
    once = _places(run(answer, case, jax.random.key(seed + 77), start, 1))
    x = np.asarray(start, dtype=float)
    moved = once != x
    if moved.sum() < 100:
        return None
    push = case.size**2 / 2 * np.asarray(case.target.slope(x), dtype=float) if case.pushed else 0.0
    noise = (once - x - push)[moved]
    if np.ptp(noise) < 1e-3:
        return ALL_ALIKE
    gain = np.asarray(case.target.log_density(once), dtype=float) - np.asarray(case.target.log_density(x), dtype=float)
    # with a coin for each, some of so many chains go far down; a chain that climbs only is another matter
    return ONE_COIN if not case.pushed and -2.5 < gain[moved].min() < -1e-3 else None


Words = tuple[int, ...]
_drawn: list[Words] = []
_parents: list[Words] = []


def _note(where: list[Words]) -> Callable[[Any], None]:
    return lambda key: where.append(tuple(np.asarray(key).ravel().tolist()))


def _split(key: Any, shape: Any) -> Any:
    jax.debug.callback(_note(_parents), key)
    return threefry_prng_impl.split(key, shape)


def _fold_in(key: Any, data: Any) -> Any:
    jax.debug.callback(_note(_parents), key)
    return threefry_prng_impl.fold_in(key, data)


def _random_bits(key: Any, width: Any, shape: Any) -> Any:
    jax.debug.callback(_note(_drawn), key)
    return threefry_prng_impl.random_bits(key, width, shape)


# JAX's ordinary keys, which write down what is drawn from them and what is made of them, within compiled functions and loops as well.
NOTED = define_prng_impl(
    key_shape=threefry_prng_impl.key_shape,
    seed=threefry_prng_impl.seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="noted",
    tag="noted",
)


def _key_trouble(answer: Any, seed: int, run: Run, case: Case) -> str | None:
    """Whether a key is drawn from twice, or made others of, in many steps of a few chains."""
    rest = (case.target.log_density, case.target.slope, case.size) if case.pushed else (case.target.log_density, case.size)
    key, x = jax.random.key(seed, impl=NOTED), jnp.linspace(-0.5, 0.7, FEW)
    _drawn.clear()
    _parents.clear()
    try:
        call(answer, key, x, MANY_STEPS, *rest) if run is _chain_run else call(answer, key, x, *rest)
    except Trouble:  # keys of two kinds, for one: what runs with ordinary keys is not blamed for these
        return None
    finally:
        jax.effects_barrier()
    if len(set(_drawn)) < len(_drawn):
        return KEY_TWICE
    return PARENT if set(_drawn) & set(_parents) else None


def _deaf(answer: Any, seed: int, run: Run, case: Case) -> bool:
    """Whether an answer moves its chains, and to the same places with each of two keys."""
    x = jnp.asarray(case.target.law.ppf(np.random.default_rng([seed, 243]).uniform(size=CHAINS)), dtype=float)
    one, other = (np.asarray(run(answer, case, jax.random.key(place), x, 1), dtype=float) for place in (seed, seed + 1))
    return agree((one,), (other,), 1e-9) and not agree((one,), (np.asarray(x, dtype=float),), 1e-9)


def _verdict(
    answer: Any, seed: int, run: Run, cases: list[Case], mistakes: dict[str, Mistake], *, right: str, nudge: str, special: str
) -> Verdict:
    """What is said; ``special`` is for an answer that is right in the first case and not in the others."""
    try:
        got, off = _all_tried(run, answer, cases, seed)
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    means, spreads = (np.array(part) for part in zip(*(_moments(*case) for case in cases), strict=True))
    limit, error = bound(got.size), spreads / np.sqrt(CHAINS)
    if (np.abs(got - means) <= limit * error).all():
        return _use_of_keys(answer, seed, run, cases[0], right)
    if _deaf(answer, seed, run, cases[0]):
        return Verdict(False, NO_KEY)
    for mistake in mistakes.values():
        if mistake.words in (KEY_TWICE, PARENT, NO_KEY):
            continue  # right in law, or known by what they do with keys
        known, own = _all_tried(run, mistake.answer, cases, 1_000 + seed)
        if (np.abs(got - known) <= limit * np.sqrt(off**2 + own**2)).all():  # a wrong chain has spreads of its own
            return Verdict(False, mistake.words)
    for case in cases:
        if words := _alike(run, answer, case, seed):
            return Verdict(False, words)
    if words := _key_trouble(answer, seed, run, cases[0]):
        return Verdict(False, words)
    return Verdict(False, special if (np.abs(got - means) <= limit * error)[0].all() else nudge)


def _use_of_keys(answer: Any, seed: int, run: Run, case: Case, right: str) -> Verdict:
    """The law is right; is the answer a function of the key, and is no key used twice?"""
    rng = np.random.default_rng([seed, 242])
    x = jnp.asarray(case.target.law.ppf(rng.uniform(size=CHAINS)), dtype=float)
    first, again, other = (np.asarray(run(answer, case, jax.random.key(place), x, LATER), dtype=float) for place in (seed, seed, seed + 1))
    if words := key_words(first, again, [other]) or _key_trouble(answer, seed, run, case):
        return Verdict(False, words)
    return Verdict(True, right)


def first_stub(key: jax.Array, x: jax.Array, log_density: Callable, scale: float) -> Any:
    raise NotImplementedError


def second_stub(key: jax.Array, x: jax.Array, steps: int, log_density: Callable, scale: float) -> Any:
    raise NotImplementedError


def third_stub(key: jax.Array, x: jax.Array, log_density: Callable, slope: Callable, h: float) -> Any:
    raise NotImplementedError


def _log_u(key, x):
    return jnp.log1p(-jax.random.uniform(key, x.shape))


def _walks(keys=jax.random.split, coin=_log_u, rule=lambda log_u, gain: log_u < gain, noise=jax.random.normal, power=1.0):
    def answer(key, x, log_density, scale):
        move, toss = keys(key)
        y = x + scale**power * noise(move, x.shape)
        return jnp.where(rule(coin(toss, x), log_density(y) - log_density(x)), y, x)

    return answer


def _same(key):
    return key, key


def _parent(key):
    return key, jax.random.split(key)[1]


def _folded_and_parent(key):
    return jax.random.fold_in(key, 0), key


def _first_child_twice(key):
    child = jax.random.split(key)[0]
    return child, jax.random.split(child)[0]


ACCEPTS_ALL = "You accept everything, or nearly so: the coin has no say, and the chains stray from the target. What is compared with what?"
ONE_TARGET = (
    " = {}, and not for another target with another {}. Is something of the first written into your function, or does something hold only "
    "for a target that is symmetric?"
)
FIRST_SPECIAL = "Right for a standard normal with scale" + ONE_TARGET.format(2.4, "scale")
THIRD_SPECIAL = "Right for a standard normal with h" + ONE_TARGET.format(1.2, "h")
FIRST_MISTAKES = {
    "one key for both": Mistake(
        _walks(_same, coin=lambda key, x: jnp.log(jax.random.uniform(key, x.shape))),
        "The chains still lean to one side. Draw the noise and the uniform number from the same key and print them next to each other.",
    ),
    "one key, turned round": Mistake(
        _walks(_same),
        "Now the chains lean the other way. Noise and coin are still made of the same bits.",
    ),
    "proposes with the parent": Mistake(_walks(_parent), PARENT),
    "key not used": Mistake(lambda key, *rest: _walks()(jax.random.key(0), *rest), NO_KEY),
    "density of the first target": Mistake(lambda key, x, log_density, scale: _walks()(key, x, BELL.log_density, scale), FIRST_SPECIAL),
    "accepts everything": Mistake(_walks(rule=lambda log_u, gain: log_u < jnp.exp(gain)), ACCEPTS_ALL),
    "upside down": Mistake(
        _walks(rule=lambda log_u, gain: log_u < -gain),
        "Now the ratio is upside down: the chains flee from where the density is high. It was right.",
    ),
    "coin against the logarithm": Mistake(
        _walks(coin=lambda key, x: jax.random.uniform(key, x.shape)),
        "You compared a number between 0 and 1 with a logarithm, so no step down is ever taken. Take the logarithm of the coin as well.",
    ),
    "only uphill": Mistake(
        _walks(rule=lambda log_u, gain: gain >= 0),
        "You take every step up and none down: the coin has no say. That climbs to the top and stays there.",
    ),
    "other rule": Mistake(
        _walks(coin=lambda key, x: -jax.random.logistic(key, x.shape)),
        "The chains keep their target, but they accept with r/(1+r), less often than asked for: min(1, r).",
    ),
    "scale squared": Mistake(
        _walks(power=2.0),
        "Your steps have another length: the noise is multiplied by scale.",
    ),
    "scale forgotten": Mistake(
        _walks(power=0.0),
        "Your steps have another length: scale does not count in them.",
    ),
    "uniform noise": Mistake(
        _walks(noise=lambda key, shape: jax.random.uniform(key, shape, minval=-1.0)),
        "Your noise is uniform. Normal noise was asked for.",
    ),
    "never moves": Mistake(
        lambda key, x, log_density, scale: x,
        "Your chains never move. That keeps any target, and visits nothing.",
    ),
}


def _chained(pair, coin=_log_u, rule=lambda log_u, gain: log_u < gain, power=1.0):
    """A chain whose keys at step t are ``pair(key, t)``."""

    def answer(key, x, steps, log_density, scale):
        for t in range(steps):
            move, toss = pair(key, t)
            y = x + scale**power * jax.random.normal(move, x.shape)
            x = jnp.where(rule(coin(toss, x), log_density(y) - log_density(x)), y, x)
        return x

    return answer


def _fold(key, t):
    return jax.random.fold_in(key, t)


def _fresh(key, t):
    return _fold(key, 2 * t), _fold(key, 2 * t + 1)


def _proposes_with_the_next_parent(key, x, steps, log_density, scale):
    for _ in range(steps):
        y = x + scale * jax.random.normal(key, x.shape)
        key, toss = jax.random.split(key)
        x = jnp.where(_log_u(toss, x) < log_density(y) - log_density(x), y, x)
    return x


def _other_number(change):
    right = _chained(_fresh)
    return lambda key, x, steps, log_density, scale: right(key, x, change(steps), log_density, scale)


def _plain_log(key, x):
    return jnp.log(jax.random.uniform(key, x.shape))


SECOND_MISTAKES = {
    "coin is the next noise": Mistake(
        _chained(lambda key, t: (_fold(key, t), _fold(key, t + 1)), coin=_plain_log),
        "Still a lean. Write down for the first four steps from which key the noise is drawn and from which the coin: does one occur "
        "twice?",
    ),
    "coin is the next noise, turned round": Mistake(
        _chained(lambda key, t: (_fold(key, t), _fold(key, t + 1))),
        "They still lean, though not in the same way. A coin and a noise share their key, in steps that are next to each other.",
    ),
    "one key for both": Mistake(
        _chained(lambda key, t: (_fold(key, t), _fold(key, t)), coin=_plain_log),
        "Now noise and coin share a key within each step, as in Part 1.",
    ),
    "same noise at each step": Mistake(
        _chained(lambda key, t: (_fold(key, 10_000), _fold(key, t))),
        "Each step proposes with the same noise: its key never changes.",
    ),
    "same coin at each step": Mistake(
        _chained(lambda key, t: (_fold(key, t), _fold(key, 10_000))),
        "Each step tosses the same coin: its key never changes.",
    ),
    "same keys at each step": Mistake(
        _chained(lambda key, t: jax.random.split(key)),
        "Each step uses the same two keys, for the key that they are made from never changes.",
    ),
    "coin is a much later noise": Mistake(_chained(lambda key, t: (_fold(key, t), _fold(key, t + 50))), KEY_TWICE),
    "proposes with the parent": Mistake(_proposes_with_the_next_parent, PARENT),
    "density of the first target": Mistake(
        lambda key, x, steps, log_density, scale: _chained(_fresh)(key, x, steps, BELL.log_density, scale), FIRST_SPECIAL
    ),
    "one step": Mistake(
        _other_number(lambda steps: 1),
        "Your chains take one step, whatever `steps` is.",
    ),
    "one step too few": Mistake(
        _other_number(lambda steps: steps - 1),
        "One step too few: with steps = 1 your chains have not moved.",
    ),
    "one step too many": Mistake(
        _other_number(lambda steps: steps + 1),
        "One step too many: with steps = 1 your chains have taken two.",
    ),
    "accepts everything": Mistake(_chained(_fresh, rule=lambda log_u, gain: log_u < jnp.exp(gain)), ACCEPTS_ALL),
    "upside down": Mistake(
        _chained(_fresh, rule=lambda log_u, gain: log_u < -gain),
        "Now the ratio is upside down: the chains flee from where the density is high. It was right.",
    ),
}


def _pushed(log_ratio, rule=lambda log_u, ratio: log_u < jnp.log(ratio), keys=jax.random.split, push=lambda h: h**2 / 2, width=lambda h: h):
    def answer(key, x, log_density, slope, h):
        move, toss = keys(key)
        y = x + push(h) * slope(x) + width(h) * jax.random.normal(move, x.shape)
        # the squared noise that leads there, and back; finite for the computer's sake
        there, back = ((end - begin - push(h) * slope(begin)) / width(h) for begin, end in ((x, y), (y, x)))
        ratio = jnp.exp(jnp.clip(log_ratio(log_density(y) - log_density(x), -(there**2) / 2, -(back**2) / 2), -80, 80))
        return jnp.where(rule(_log_u(toss, x), ratio), y, x)

    return answer


def _balanced(gain, there, back):
    return gain + back - there


THIRD_MISTAKES = {
    "accepts everything": Mistake(_pushed(_balanced, rule=lambda log_u, ratio: log_u < ratio), ACCEPTS_ALL),
    "coin against the logarithm": Mistake(
        _pushed(_balanced, rule=lambda log_u, ratio: jnp.exp(log_u) < jnp.log(ratio)),
        "Now a number between 0 and 1 is compared with a logarithm, and no step with a ratio below 1 is ever taken. Both plain, or both in "
        "logarithms.",
    ),
    "way back left out": Mistake(
        _pushed(lambda gain, there, back: gain),
        "You compare the densities only. The push differs from place to place, so the way back is not as likely as the way there. That "
        "part was right.",
    ),
    "way back upside down": Mistake(
        _pushed(lambda gain, there, back: gain + there - back),
        "The proposals have changed places: the one that leads back belongs above the bar, as it was.",
    ),
    "upside down": Mistake(
        _pushed(lambda gain, there, back: there - back - gain),
        "Now the ratio is upside down. It was right.",
    ),
    "densities left out": Mistake(
        _pushed(lambda gain, there, back: back - there),
        "The target's densities are missing from the ratio.",
    ),
    "way back without its half": Mistake(
        _pushed(lambda gain, there, back: gain + 2 * (back - there)),
        "The log of a normal density has a half before the squared distance. Yours count twice.",
    ),
    "one key for both": Mistake(_pushed(_balanced, keys=_same), KEY_TWICE),
    "proposes with the parent": Mistake(_pushed(_balanced, keys=_parent), PARENT),
    "key not used": Mistake(lambda key, *rest: _pushed(_balanced)(jax.random.key(0), *rest), NO_KEY),
    "slope of the first target": Mistake(
        lambda key, x, log_density, slope, h: _pushed(_balanced)(key, x, log_density, BELL.slope, h),
        "The chains keep their target, but something else than its slope pushes them. That pushes right only for the standard normal.",
    ),
    "density of the first target": Mistake(
        lambda key, x, log_density, slope, h: _pushed(_balanced)(key, x, BELL.log_density, slope, h), THIRD_SPECIAL
    ),
    "coin turned round": Mistake(
        _pushed(_balanced, rule=lambda log_u, ratio: log_u > jnp.log(ratio)),
        "You accept if the coin is above the ratio, which happens the less often the larger that is. It was the other way round.",
    ),
    "never moves": Mistake(
        lambda key, x, *rest: x,
        "Your chains never move. That keeps any target, and visits nothing.",
    ),
    "push not halved": Mistake(
        _pushed(_balanced, push=lambda h: h**2),
        "The chains keep their target, but the push is h^2 times the slope. It should be half of that.",
    ),
    "push left out": Mistake(
        _pushed(_balanced, push=lambda h: 0.0),
        "The chains keep their target, but the slope does not push them: that is the random walk of Part 1.",
    ),
    "push of h": Mistake(
        _pushed(_balanced, push=lambda h: h / 2),
        "The chains keep their target, but the push is h/2 times the slope. It should be h^2/2 times.",
    ),
    "only uphill": Mistake(
        _pushed(_balanced, rule=lambda log_u, ratio: ratio >= 1),
        "You accept if the ratio is at least 1 and refuse all else: the coin has no say.",
    ),
    "other rule": Mistake(
        _pushed(_balanced, rule=lambda log_u, ratio: jnp.exp(log_u) < ratio / (1 + ratio)),
        "The chains keep their target, but they accept with r/(1+r), less often than asked for: min(1, r).",
    ),
}


def first_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        seed,
        _step_run,
        [Case(BELL, 2.4, False), Case(SKEWED, 1.7, False)],
        FIRST_MISTAKES,
        right="Right. Exact draws stay exact draws, as often as the step is repeated.",
        nudge="Not the step that was asked for. From exact draws of a standard normal, with scale = 2.4, 44 in 100 proposals are accepted, "
        "and the places stay standard normal. Has each chain a noise and a coin of its own?",
        special=FIRST_SPECIAL,
    )


def second_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        seed,
        _chain_run,
        [Case(BELL, 2.4, False), Case(SKEWED, 1.7, False)],
        SECOND_MISTAKES,
        right=f"Right. Exact draws stay exact, and in {MANY_STEPS} steps no key was drawn from twice.",
        nudge="Not that chain. From exact draws the places stay exact draws after any number of steps; with steps = 1, scale = 2.4 and a "
        "standard normal target 44 in 100 chains have moved. Has each chain, at each step, a noise and a coin of its own?",
        special=FIRST_SPECIAL,
    )


def third_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        seed,
        _step_run,
        [Case(BELL, 1.2, True), Case(SKEWED, 0.8, True)],
        THIRD_MISTAKES,
        right="Right. The proposal alone would settle near the target and not on it; what is refused is the difference.",
        nudge="Not the step that was asked for. From exact draws of a standard normal, with h = 1.2, the places stay standard normal, and "
        "most proposals are accepted, though not all. Has each chain a noise and a coin of its own?",
        special=THIRD_SPECIAL,
    )


TASKS = (
    Task(
        "mcmc/find-the-key/first",
        "Find the key: the first sampler",
        2,
        9,
        first_stub,
        (
            "The formula for the ratio is right. Which of the proposals are refused too often, those to the left or those to the right? "
            "How could the coin know where the proposal goes?",
            "A key determines its bits. uniform(key) and normal(key) are made of the same ones, one growing with the other. Two draws need "
            "two keys, and split makes them.",
            "Begin with `noise_key, coin_key = jax.random.split(key)`",
        ),
        FIRST_MISTAKES,
        first_verdict,
    ),
    Task(
        "mcmc/find-the-key/second",
        "Find the key: the second sampler",
        2,
        10,
        second_stub,
        (
            "Every step by itself is right, as the first line of the output shows. So something passes from one step to the next that "
            "should not. Make a table: the step, the key of its noise, the key of its coin.",
            "fold_in(key, t + 1) is the coin's key at step t. Whose key is it at step t + 1? Make two keys for each step that appear "
            "nowhere else in the table.",
            "Begin with `for step_key in jax.random.split(key, steps):`",
        ),
        SECOND_MISTAKES,
        second_verdict,
    ),
    Task(
        "mcmc/find-the-key/third",
        "Find the key: the third sampler",
        2,
        13,
        third_stub,
        (
            "Print how many proposals are accepted. Are there any that should be refused?",
            "log u < log r, or u < r. The log of a number below 1 is negative; what is the sign of the other side?",
            "Begin with `move_key, u_key = jax.random.split(key)`, and give the push a function of its own: it is needed at both ends.",
        ),
        THIRD_MISTAKES,
        third_verdict,
    ),
)
