"""Random answers of this chapter, judged by their Monte Carlo error."""

from functools import partial

import jax
import numpy as np

from course_pkg.checks._judge import Trouble, Verdict, bound, call, key_words, read, shape_words
from course_pkg.checks._keys import key_trouble
from course_pkg.checks.record import Record

RUNS, FEW = 20_000, 3  # few, where keys are written down


def random_record(cases, law, *, right, nudge, parts, **rest):
    """A task whose answer takes a key first, then a case.

    ``law(*case)`` gives what each of the ``parts`` should be, and with what standard error it comes out.
    """
    return Record(right=right, nudge=nudge, parts=parts, by=partial(_judged, cases, law, right, nudge, parts), **rest)


def _judged(cases, law, right, nudge, parts, answer, seed, mistakes):
    limit, laws = bound(len(cases) * len(parts)), [law(*case) for case in cases]
    got = [_numbers(answer, seed, case, parts) for case in cases]

    def near(one, other, factor=1.0):
        return np.array([np.abs(a - b) <= factor * limit * np.array(error) for a, b, (_, error) in zip(one, other, laws, strict=True)])

    want = [np.array(truth) for truth, _ in laws]
    fits = near(got, want).all(axis=0)
    if fits.all():
        again, *others = (_numbers(answer, seed + step, cases[-1], parts) for step in (0, 1, 2))
        # a count can come out the same by chance, hence two other keys
        words = [key_words(got[-1][k], again[k], [other[k] for other in others]) for k in range(len(parts))]
        words.append(key_trouble(answer, seed, *(FEW if part is RUNS else part for part in cases[-1]), redrawn=True))
        return Verdict(not any(words), next(filter(None, words), right))
    for words, slips in mistakes.items():
        # a slip is random, too: hence the root of 2
        if any(near(got, [_numbers(slip, seed, case, parts) for case in cases], np.sqrt(2)).all() for slip in slips):
            return Verdict(False, words)
    if near([one[::-1] for one in got], want).all():
        return Verdict(False, "These are right, and in the wrong order.")
    off = f"{parts[int(np.argmax(fits))]} is right, but {parts[int(np.argmin(fits))]} is not. " if fits.any() else ""
    return Verdict(False, f"{off[:1].upper()}{off[1:]}{nudge}")


def _numbers(answer, seed, case, parts):
    want = (np.zeros(()),) * len(parts)
    got = read(call(answer, jax.random.key(seed), *case), want)
    if words := shape_words(got, want):
        raise Trouble(words)
    return np.array(got)
