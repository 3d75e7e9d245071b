"""A limit on the time that an answer may take."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class TooLong(BaseException):
    """Raised in the midst of an answer that goes on for too long; no `except Exception` of its own stops it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in what computes for longer, or for five times as long by the clock: a busy machine refuses no right answer.

    Without effect off the main thread, and where the system has no timers (Windows).
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLong

    timers = [(signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, 5 * seconds)]
    before = [signal.signal(bell, stop) for bell, _, _ in timers]
    for _, timer, after in timers:
        signal.setitimer(timer, after)
    try:
        yield
    finally:
        for (bell, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(bell, handler)
