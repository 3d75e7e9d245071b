"""Calls between two processes that do not trust each other.

A message is JSON (`values`). A function is sent as a number, by which the other side may call it where it is.
"""

import json
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg.checks._judge import Trouble
from course_pkg.classroom import keys
from course_pkg.classroom.values import decode, encode

MOST = 1 << 25  # bytes of a message
TOO_MUCH = f"More was returned than {MOST >> 20} megabytes."
UNREADABLE = "What was returned cannot be read."


class Gone(BaseException):
    """The other side has ended, or has taken too long; no `except Exception` on the way stops it."""


class Line:
    """A pair of pipes, and the functions that this side lends to the other by number.

    Args:
        pipes: to read from, and to write to.
        seconds: how long this side waits for the other, all in all. The time in which the other wants a core and gets none does not
            count, up to four times as long: a busy machine refuses no right answer.
        watch: called while it waits; may raise `Gone`.
        starved: for how many seconds, all in all, the other, or this side when it is answered, has wanted a core and got none.
    """

    def __init__(
        self,
        pipes: tuple[int, int],
        seconds: float = float("inf"),
        watch: Callable[[], None] = lambda: None,
        starved: Callable[[], float] = lambda: 0.0,
    ):
        self.pipes, self.seconds, self.watch, self.starved = pipes, seconds, watch, starved
        self.spare, self.without = 4 * seconds, 0.0
        self.lent: list[Callable[..., Any]] = []
        self.watching: Any = None  # the kind of the keys whose use is to be known
        self.lock, self.looked = threading.RLock(), 0.0

    def borrowed(self, number: int) -> "Remote":
        """The other side's function of that number."""
        return Remote(self, number)

    def send(self, message: Any) -> None:
        raw = json.dumps(message).encode()
        if len(raw) > MOST:
            raise Trouble(TOO_MUCH)
        left = memoryview(struct.pack("Q", len(raw)) + raw)
        try:
            while left:
                self._wait([], [self.pipes[1]])
                left = left[os.write(self.pipes[1], left[: select.PIPE_BUF]) :]  # so much never blocks
        except OSError:
            raise Gone("The process with the answer has ended.") from None

    def receive(self) -> Any:
        (length,) = struct.unpack("Q", self._read(8))
        if length > MOST:
            raise Gone(TOO_MUCH)
        try:
            message = json.loads(self._read(length))
        except (ValueError, RecursionError):
            raise Gone(UNREADABLE) from None
        if not isinstance(message, list) or not message:
            raise Gone(UNREADABLE)
        return message

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            self._wait([self.pipes[0]], [])
            part = os.read(self.pipes[0], min(length, 1 << 20))
            if not part:
                raise Gone("Your code ended the process that it ran in, or needed more memory than there is for it.")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _wait(self, read: list[int], write: list[int]) -> None:
        while True:
            began = time.monotonic()
            ready = select.select(read, write, [], min(0.25, max(self.seconds, 0.0)))
            now = time.monotonic()
            self.seconds -= now - began - self._starved(now - began)
            if now > self.looked + 0.25:
                self.looked = now
                self.watch()
            if any(ready):
                return
            if self.seconds <= 0:
                raise Gone("No answer in the time that there is. Is there a loop that never ends, or one that could be an array?")

    def _starved(self, seconds: float) -> float:
        """How much of the last seconds does not count."""
        if seconds < 0.002:  # not worth a look
            return 0.0
        before, self.without = self.without, self.starved()
        found = min(max(self.without - before, 0.0), seconds, self.spare)
        self.spare -= found
        return found

    def ask(self, number: int, args: Sequence[Any], moving: Sequence[int] = (), order: int = -1) -> Any:
        """What the other side's function ``number`` gives, or its derivative of an ``order`` in the ``moving`` leaves of its arguments.

        An order of -1 is a plain call; then what the function has changed in its arguments is changed here, too.
        """
        with self.lock:
            self.send(["call", number, encode(list(args), self), list(moving), order, bool(jax.config.jax_enable_x64)])
            while (message := self.receive())[0] == "call":
                self.serve(message)
            try:
                kind, value, changed, uses = message
                if uses and self.watching:
                    keys.again(uses, self.watching)
                if kind == "done":
                    _repeat(changed, args, self)
                    return decode(value, self)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError):
                raise Gone(UNREADABLE) from None
            raise Trouble(str(value))

    def serve(self, message: Any) -> None:
        """Answer a call of the other side."""
        _, number, sent, moving, order, double = message
        try:
            with np.errstate(all="ignore"), jax.enable_x64(double):
                args = decode(sent, self)
                if order < 0:
                    value = self.lent[number](*args)
                    held = [k for k, old in enumerate(sent["l"]) if isinstance(old, dict) and {"a", "l"} & old.keys()]
                    changed = [[k, new] for k in held if (new := encode(args[k], self)) != sent["l"][k]]
                    reply = ["done", encode(value, self), changed, keys.uses()]
                else:
                    reply = ["done", encode(_derivative(self.lent[number], args, moving, order), self), [], []]
        except Trouble as trouble:
            reply = ["trouble", str(trouble), [], []]
        except Exception as error:
            reply = ["trouble", f"{type(error).__name__}: {error}"[:2000], [], []]
        try:
            self.send(reply)
        except Trouble as trouble:
            self.send(["trouble", str(trouble), [], []])


class Remote:
    """A function that lives in the other process. JAX may trace it: its derivatives are asked for where it lives."""

    def __init__(self, line: Line, number: int):
        self.line, self.number, self.__name__ = line, number, "answer"

    def __call__(self, *args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        moving = [k for k, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]
        if not moving:
            return self.line.ask(self.number, args)

        def asked(order: int, values: Sequence[Any]) -> Any:
            filled = dict(zip(moving, values, strict=True))
            return self.line.ask(
                self.number, jax.tree.unflatten(tree, [filled.get(k, leaf) for k, leaf in enumerate(leaves)]), moving, order
            )

        first = len(jax.tree.leaves(args[:1]))
        if len(args) == 2 and isinstance(args[1], tuple) and moving[-1] >= first:  # a rule, of primals and tangents
            return _along(asked, [leaves[k] for k in moving], [k >= first for k in moving])
        return _traceable(asked, 0)(*(leaves[k] for k in moving))


def _along(asked: Callable[[int, Sequence[Any]], Any], moving: Sequence[Any], tangent: Sequence[bool]) -> Any:
    """A value and its speed, which is linear in the tangents: written so that JAX sees it, as it has to turn that round to go backwards."""
    at = [jnp.zeros_like(one) if is_tangent else one for one, is_tangent in zip(moving, tangent, strict=True)]
    (value, speed), slopes = _traceable(asked, 0)(*at), _traceable(asked, 1)(*at)
    pairs = zip(slopes, moving, tangent, strict=True)
    return value, _moved(speed, [(slope[1], one) for slope, one, is_tangent in pairs if is_tangent])


def _moved(start: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """The start, and every slope times how far one goes along it."""
    for slope, step in pairs:
        start = jax.tree.map(lambda old, one, step=step: old + jnp.tensordot(one, step, axes=jnp.ndim(step)), start, slope)
    return start


def _traceable(asked: Callable[[int, Sequence[Any]], Any], order: int) -> Callable[..., Any]:
    @jax.custom_jvp
    def value(*moving: Any) -> Any:
        moving = tuple(map(jnp.asarray, moving))
        shapes = [np.zeros(one.shape, one.dtype) for one in moving]  # only shapes are looked at
        like = jax.tree.map(lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype), asked(1000 + order, shapes))

        def fetched(*there: Any) -> Any:
            return jax.tree.map(lambda got, form: np.asarray(got, form.dtype), asked(order, there), like)

        return jax.pure_callback(fetched, like, *moving, vmap_method="sequential")

    def rule(primals: Any, tangents: Any) -> Any:
        out, slopes = value(*primals), _traceable(asked, order + 1)(*primals)
        return out, _moved(jax.tree.map(jnp.zeros_like, out), list(zip(slopes, tangents, strict=True)))

    value.defjvp(rule)
    return value


def _derivative(f: Callable[..., Any], args: list[Any], moving: Sequence[int], order: int) -> Any:
    """The derivative of an ``order`` at the arguments; from 1000 on only its form, of the order above that."""
    leaves, tree = jax.tree.flatten(args)

    def of(*values: Any) -> Any:
        filled = dict(zip(moving, values, strict=True))
        return jax.tree.map(jnp.asarray, f(*jax.tree.unflatten(tree, [filled.get(k, leaf) for k, leaf in enumerate(leaves)])))

    if order % 1000 > 3:
        raise Trouble("No derivative of that order is given.")
    slope = of
    for _ in range(order % 1000):
        slope = _slopes(slope)
    at = [jnp.asarray(leaves[k]) for k in moving]
    if order < 1000:
        return slope(*at)
    return jax.tree.map(lambda one: np.zeros(one.shape, one.dtype), jax.eval_shape(slope, *at))


def _slopes(f: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative in each argument, one after the other."""
    return lambda *values: tuple(jax.jacfwd(f, argnums=k)(*values) for k in range(len(values)))


def _repeat(changed: Any, args: Sequence[Any], line: Line) -> None:
    """Make the changes to arguments that the other side has made to its copies."""
    for k, new in changed:
        value, there = decode(new, line), args[k]
        if isinstance(there, list) or (isinstance(there, np.ndarray) and np.shape(value) == there.shape):
            there[:] = value
