"""The streams that the package draws from are JAX's own, to the last bit; what is computed from a word may be rounded otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg import _streams
from course_pkg._streams import normal, unrolled
from course_pkg.checks._keys import NOTED

KEYS = [jax.random.key(0), jax.random.key(2**31 + 5), jax.random.fold_in(jax.random.key(7), 2**32 - 1)]
DRAWS = {
    "split": lambda k: jax.random.key_data(jax.random.split(k, (2, 3))),
    "fold in": lambda k: jax.random.key_data(jax.random.fold_in(k, 2**32 - 2)),
    "normal": lambda k: jax.random.normal(k, (3, 5)),
    "gamma": lambda k: jax.random.gamma(k, 0.7, (9,)),
    "permutation": lambda k: jax.random.permutation(k, 100),
    "choice": lambda k: jax.random.randint(k, (50,), -3, 1000),
    "one number": jax.random.uniform,
    "none": lambda k: jax.random.uniform(k, (0, 4)),
    **{f"{width} bits": lambda k, width=width: jax.random.bits(k, (7, 3), f"uint{width}") for width in (8, 16, 32)},
}


@pytest.mark.parametrize("name", DRAWS)
def test_every_draw_is_the_ordinary_one(name):
    draw = jax.jit(jax.vmap(DRAWS[name]))
    keys = jnp.stack(KEYS)
    # A gamma is of the same words, and the exponential of a sum of logarithms that is compiled together with them: on some processors a
    # quarter of all gammas differ, by a few roundings of the logarithm, which a small gamma shows as up to 20 of its own.
    rtol = 32 * np.finfo(np.float32).eps if name == "gamma" else 0
    np.testing.assert_allclose(draw(jax.vmap(unrolled)(keys)), draw(keys), rtol=rtol)


def test_double_precision_too():
    with jax.enable_x64(True):
        for draw in (lambda k: jax.random.bits(k, (5,), "uint64"), lambda k: jax.random.normal(k, (5,))):
            np.testing.assert_array_equal(draw(unrolled(KEYS[0])), draw(KEYS[0]))


def test_numbers_in_a_row_are_the_same_numbers():
    for shape in ((4, 3, 2), (), (0, 3)):
        np.testing.assert_array_equal(normal(KEYS[1], shape), jax.random.normal(KEYS[1], shape))


def test_other_keys_stay_what_they_are():
    for key in (jax.random.key(0, impl="rbg"), jax.random.key(0, impl=NOTED), unrolled(KEYS[0])):
        assert unrolled(key) is key


def test_keys_that_come_out_are_of_the_kind_that_went_in():
    for key in (KEYS[0], jax.random.key(0, impl="rbg"), jax.random.key(0, impl=NOTED), jax.random.PRNGKey(3)):
        pairs = ((_streams.split(key, 3), jax.random.split(key, 3)), (_streams.fold_in(key, 5), jax.random.fold_in(key, 5)))
        for made, ordinary in pairs:
            assert made.dtype == ordinary.dtype
            np.testing.assert_array_equal(jax.random.key_data(made), jax.random.key_data(ordinary))
        np.testing.assert_array_equal(_streams.uniform(key, (3,)), jax.random.uniform(key, (3,)))


def test_an_array_beyond_the_count_of_places_is_refused():
    with pytest.raises(ValueError, match="in parts"):
        jax.jit(lambda k: jax.random.bits(k, (2**17, 2**16))).lower(unrolled(KEYS[0]))
