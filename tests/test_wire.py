"""Values and calls between two processes: what arrives is what was sent, and nothing else can be."""

import contextlib
import os
import struct
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg.checks import Trouble
from course_pkg.classroom import wire


@contextlib.contextmanager
def elsewhere(function, seconds=300.0):
    """A function behind a wire, in another thread."""
    (read, its_write), (its_read, write) = os.pipe(), os.pipe()
    its = wire.Line((its_read, its_write))
    its.lent.append(function)

    def serve():
        with contextlib.suppress(wire.Gone):
            while True:
                its.serve(its.receive())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield wire.Remote(wire.Line((read, write), seconds), 0)
    finally:
        os.close(write)
        thread.join()
        for pipe in (read, its_write, its_read):
            os.close(pipe)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        10**30,
        0.1,
        float("inf"),
        "ä",
        (1, [2.0, (np.float64(3.0),)]),
        {"a": 1, "b": [None]},
        np.arange(6).reshape(2, 3)[:, ::2],
        np.array(["x", "yy"]),
        np.array([]),
        np.array([1 + 2j]),
        np.int64(7),
    ],
    ids=str,
)
def test_a_value_arrives_as_it_was_sent(value):
    with elsewhere(lambda x: x) as answer:
        got = answer(value)
    assert type(got) is type(value)
    assert repr(got) == repr(value)


def test_arrays_and_keys_of_jax_arrive_as_such():
    with elsewhere(lambda key, x: jax.random.normal(key, (3,)) + x) as answer:
        key, x = jax.random.key(3), jnp.arange(3.0)
        got = answer(key, x)
    assert isinstance(got, jax.Array)
    assert np.array_equal(got, jax.random.normal(key, (3,)) + x)


def test_a_function_among_the_arguments_stays_where_it_is():
    secret = np.arange(3.0)
    with elsewhere(lambda f, x: f(x) + f(2 * x)) as answer:
        assert answer(lambda x: float(secret @ x), np.ones(3)) == 9.0


def test_what_is_changed_there_is_changed_here():
    def vandal(x, rows):
        x[0] = 9.0
        rows.append(1)
        return 0.0

    x, rows = np.zeros(2), [0]
    with elsewhere(vandal) as answer:
        answer(x, rows)
    assert (x.tolist(), rows) == ([9.0, 0.0], [0, 1])


def test_jax_differentiates_a_function_that_lives_elsewhere():
    def f(x, y):
        return (jnp.sin(x) * y**2).sum()

    x, y = jnp.array([0.3, 1.2]), 1.7
    with elsewhere(f) as there:
        assert there(x, y) == f(x, y)
        for how in (jax.grad, lambda g: jax.jit(jax.grad(g)), jax.jacfwd, jax.hessian, lambda g: jax.grad(g, argnums=1)):
            assert np.allclose(how(there)(x, y), how(f)(x, y), rtol=1e-5)
        assert np.allclose(jax.vmap(there, (0, None))(x, y), jax.vmap(f, (0, None))(x, y))
        assert np.allclose(jax.jacrev(jax.grad(there, argnums=(0, 1)), argnums=1)(x, y)[1], jax.hessian(f, argnums=1)(x, y))
        with jax.enable_x64(True):
            assert np.allclose(jax.grad(there)(jnp.asarray(0.3), y), np.cos(0.3) * y**2, rtol=1e-12)


def test_a_pair_is_differentiated_part_by_part():
    def pair(x):
        return x**2, jnp.stack([x, x**3])

    with elsewhere(pair) as there:
        got, want = (jax.jacrev(f)(1.5) for f in (there, pair))
    assert np.allclose(got[0], want[0])
    assert np.allclose(got[1], want[1])


def test_a_rule_that_lives_elsewhere_serves_forwards_and_backwards():
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        return jnp.sin(x), jnp.cos(x) * dx

    with elsewhere(rule) as there:
        taught = jax.custom_jvp(lambda x: x)
        taught.defjvp(there)
        assert np.allclose(jax.jvp(taught, (0.3,), (2.0,)), [np.sin(0.3), 2 * np.cos(0.3)])
        assert np.allclose(jax.jit(jax.grad(taught))(0.3), np.cos(0.3))
        assert np.allclose(jax.grad(jax.grad(taught))(0.3), -np.sin(0.3), atol=1e-6)


def test_a_derivative_that_is_not_there_is_a_trouble():
    with elsewhere(lambda x: float(np.sin(x))) as there, pytest.raises(Trouble, match="Tracer"):
        jax.grad(there)(1.0)


class Liar(float):
    __eq__ = __lt__ = lambda *_: True
    __sub__ = __rsub__ = lambda *_: 0.0
    __hash__ = None


class Odd:
    def __reduce__(self):
        return os.getcwd, ()


def test_an_object_that_lies_arrives_as_its_number_and_any_other_as_a_name():
    with elsewhere(lambda: Liar(0.3)) as answer:
        assert answer() != 0.4
        assert answer() == 0.3
    with elsewhere(Odd) as answer:
        assert type(answer()).__name__ == "Odd"
        assert type(answer()) is not Odd


@pytest.mark.parametrize(
    "reply",
    [
        b"{",
        b"[]",
        b"7",
        b'["done"]',
        b'["done", {"a": ["|O", [1], ""]}, [], []]',
        b'["done", {"a": ["<f8", [1000], ""]}, [], []]',
        b'["done", {"f": "x"}, [], []]',
        b'["done", {}, [], []]',
        b'["done", 1, [[5, 1]], []]',
        b'["done", 1' + b"0" * 5000 + b", [], []]",
        b"[" * 100_000,
    ],
    ids=lambda raw: raw[:30].decode(),
)
def test_a_forged_reply_ends_the_line(reply):
    (read, its_write), (its_read, write) = os.pipe(), os.pipe()
    threading.Thread(target=lambda: os.write(its_write, struct.pack("Q", len(reply)) + reply)).start()
    with pytest.raises(wire.Gone):
        wire.Remote(wire.Line((read, write), 5.0), 0)()
    for pipe in (read, write, its_read, its_write):
        os.close(pipe)


def test_time_without_a_core_does_not_count_up_to_four_times_as_long():
    (read, its_write), (its_read, write) = os.pipe(), os.pipe()
    line, began = wire.Line((read, write), 0.1, starved=time.monotonic), time.monotonic()
    line.without = began
    with pytest.raises(wire.Gone, match="never ends"):
        line.receive()
    assert time.monotonic() - began > 0.45
    for pipe in (read, write, its_read, its_write):
        os.close(pipe)


def test_silence_and_too_large_a_message_end_the_line():
    (read, its_write), (its_read, write) = os.pipe(), os.pipe()
    line = wire.Line((read, write), 0.3)
    with pytest.raises(wire.Gone, match="never ends"):
        line.receive()
    os.write(its_write, struct.pack("Q", 1 << 40))
    with pytest.raises(wire.Gone, match="More was returned"):
        wire.Line((read, write), 5.0).receive()
    with pytest.raises(Trouble, match="More was returned"):
        line.send("x" * (wire.MOST + 1))
    os.close(its_write)
    with pytest.raises(wire.Gone, match="ended the process"):
        wire.Line((read, write), 5.0).receive()
    for pipe in (read, write, its_read):
        os.close(pipe)
