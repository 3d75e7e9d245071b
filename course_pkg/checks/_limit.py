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
    """Raise `TooLong` in what runs for longer; without effect off the main thread, and where the system has no timers (Windows)."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
