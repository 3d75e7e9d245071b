"""A limit on the time that an answer may take."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any


class TooLong(BaseException):
    """Raised in the midst of an answer that goes on for too long; no `except Exception` of its own stops it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in what computes for longer, or waits for five times as long: a busy machine refuses no right answer.

    What computes is this thread: the cores that it sets to work do not add up. Without effect off the main thread, and where the system has
    no timers (Windows).
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    computed, waited = time.thread_time() + seconds, time.monotonic() + 5 * seconds

    def look(*_: Any) -> None:
        if time.thread_time() > computed or time.monotonic() > waited:
            raise TooLong

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds / 10)  # looks once after that long, and then again and again
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
