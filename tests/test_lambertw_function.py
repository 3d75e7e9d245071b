"""The function W: against many decimal digits, SciPy and finite differences, over the whole domain."""

from decimal import Decimal, localcontext
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special

from course_pkg import lambertw as lw
from course_pkg.lambertw import function

PRECISIONS = {"double": (np.float64, 1e-14), "single": (np.float32, 1e-6)}
RNG = np.random.default_rng(6)


@pytest.fixture(params=PRECISIONS)
def precision(request):
    with jax.enable_x64(request.param == "double"):
        yield PRECISIONS[request.param]


def exact(delta: Decimal, branch: int) -> Decimal:
    """1 + W(-1/e + delta), by Newton's method on (v - 1) e^v + 1 = e delta, with digits enough for what cancels at the branch point."""
    with localcontext(prec=60 + 2 * max(0, -delta.adjusted())):
        e_delta = Decimal(1).exp() * delta
        v = (2 * e_delta).sqrt() * (1 if branch == 0 else -1)
        if branch == 0 and e_delta > 10:
            v = e_delta.ln() + 1
        if branch == -1 and e_delta > Decimal("0.9"):
            v = (1 - e_delta).ln()
        return settle(v, lambda v: (v - 1 + (1 - e_delta) * (-v).exp()) / v)


def direct(x: Decimal, branch: int) -> Decimal:
    """W close to zero or far out, by Newton's method on w = x e^-w."""
    with localcontext(prec=60):
        w = x if branch == 0 and abs(x) < 1 else abs(x).ln() - abs(abs(x).ln()).ln()
        return settle(w, lambda w: (w - x * (-w).exp()) / (1 + w))


def settle(value, step):
    for _ in range(100):
        change = step(value)
        value -= change
        if abs(change) <= abs(value) * Decimal(10) ** -25:  # the next step would be below 10^-50 of it
            return value
    raise AssertionError("no root found")


def reference(x, branch) -> Decimal:
    x = Decimal(float(x))
    if abs(x) < Decimal("1e-3") or x > 1000:
        return direct(x, branch)
    with localcontext(prec=60):
        delta = x + Decimal(-1).exp()
        return exact(delta, branch) - 1


def relative(ours, theirs):
    return np.array([float(abs((Decimal(float(a)) - b) / b)) for a, b in zip(np.asarray(ours), theirs, strict=True)])


def points(dtype, branch):
    """Over the whole domain, densely where the ways of computing meet, and at its ends."""
    info = np.finfo(dtype)
    small, big = np.log10(float(info.tiny)) + 0.01, np.log10(float(info.max)) - 0.01
    negative = np.concatenate([-(10 ** RNG.uniform(small, -0.4344, 60)), RNG.uniform(-0.3678, 0, 60)])
    p = np.array([0.29, 0.3, 0.31, 1.09, 1.1, 1.11])
    meet = ((p**2) / 2 - 1) / np.e
    near = -(1 - 10 ** -RNG.uniform(1, 15 if dtype == np.float64 else 6, 40)) / np.e
    parts = [negative, meet, near[near > -0.3678794]]
    if branch == 0:
        parts += [
            10 ** RNG.uniform(small, big, 60),
            RNG.uniform(0, 10, 60),
            [9.9e-5, 1.01e-4, 2.57, 2.58, float(info.max), float(info.tiny)],
        ]
    return np.concatenate(parts).astype(dtype)


@pytest.mark.parametrize("branch", [0, -1])
def test_accuracy_over_the_whole_domain(precision, branch):
    dtype, tolerance = precision
    x = points(dtype, branch)
    ours = jax.jit(lw.lambertw, static_argnums=1)(jnp.asarray(x), branch)
    assert ours.dtype == dtype
    error = relative(ours, [reference(one, branch) for one in x])
    assert error.max() < tolerance, (x[error.argmax()], error.max())


@pytest.mark.parametrize("branch", [0, -1])
def test_nothing_is_lost_at_the_branch_point(precision, branch):
    dtype, tolerance = precision
    delta = (10 ** RNG.uniform(-36 if dtype == np.float32 else -200, -0.45, 40)).astype(dtype)
    theirs = [exact(Decimal(float(one)), branch) for one in delta]
    assert relative(lw.one_plus_w(jnp.asarray(delta), branch), theirs).max() < tolerance
    slope = jax.vmap(jax.grad(lambda one: lw.one_plus_w(one, branch)))(jnp.asarray(delta))
    assert relative(slope, [(1 - v).exp() / v for v in theirs]).max() < 3 * tolerance


@given(st.floats(1e-300, 1.7e308), st.sampled_from([1, -1]), st.sampled_from([0, -1]))
def test_w_solves_its_equation(size, sign, branch):
    x = sign * size
    assume(x > -1 / np.e and (branch == 0 or x < 0))
    with jax.enable_x64(True):
        w = float(lw.lambertw(x, branch))
    assert (w >= -1) if branch == 0 else (w <= -1)
    # the equation in logarithms, which no x overflows; W moves by (1 + W) of what log x does
    assert np.log(abs(w)) + w == pytest.approx(np.log(size), rel=1e-13, abs=1e-13)


@given(st.floats(-0.36, 1e6))
def test_scipy_agrees(x):
    with jax.enable_x64(True):
        assert float(lw.lambertw(x)) == pytest.approx(special.lambertw(x).real, rel=1e-13)
        if x < 0:
            assert float(lw.lambertw(x, -1)) == pytest.approx(special.lambertw(x, -1).real, rel=1e-13)


def test_outside_and_at_the_ends(precision):
    dtype, _ = precision
    ours = np.asarray(lw.lambertw(jnp.asarray([-1 / np.e, -0.37, 0.0, np.inf, -np.inf, np.nan], dtype)))
    assert np.array_equal(ours, [-1, np.nan, 0, np.inf, np.nan, np.nan], equal_nan=True)
    other = np.asarray(lw.lambertw(jnp.asarray([-1 / np.e, -0.37, 0.0, 0.1, np.nan], dtype), -1))
    assert np.array_equal(other, [-1, np.nan, -np.inf, np.nan, np.nan], equal_nan=True)
    assert np.isnan(lw.one_plus_w(jnp.asarray([-1e-9, 0.4], dtype), -1)).all()
    assert float(lw.one_plus_w(0.0)) == 0


@pytest.mark.parametrize("branch", [0, -1])
def test_derivatives_of_two_orders_in_both_modes(branch):
    with jax.enable_x64(True):
        f = lambda x: lw.lambertw(x, branch)

        @jax.jit
        @jax.vmap
        def derivatives(x):
            seconds = [outer(inner(f))(x) for outer in (jax.jacfwd, jax.jacrev) for inner in (jax.jacfwd, jax.jacrev)]
            return jax.grad(f)(x), jax.jvp(f, (x,), (1.0,))[1], jnp.stack(seconds)

        x = np.array([-0.367, -0.3, -0.2, -0.05, *((0.0, 1e-5, 0.5, 2.6, 50.0) if branch == 0 else ())])
        h = 1e-6 * np.minimum(np.minimum(1, x + 1 / np.e), -x if branch else 1)
        backward, forward, second = derivatives(np.stack([x, x + h, x - h], axis=1).ravel())
        slopes = np.asarray(backward).reshape(-1, 3).T
        slope = (special.lambertw(x + h, branch) - special.lambertw(x - h, branch)).real / (2 * h)
        assert np.allclose(slopes[0], slope, rtol=1e-5, atol=0)
        assert np.array_equal(forward, backward)
        assert np.allclose(second[::3], ((slopes[1] - slopes[2]) / (2 * h))[:, None], rtol=1e-4)
    assert float(jax.grad(lw.lambertw)(0.0)) == 1
    assert float(jax.grad(jax.grad(lw.lambertw))(0.0)) == -2
    assert float(jax.grad(lw.lambertw)(-1 / np.e)) == np.inf


def test_any_shape_any_transformation_and_whole_numbers():
    x = jnp.linspace(-0.3, 4.0, 12).reshape(3, 4)
    assert lw.lambertw(x).shape == (3, 4)
    assert np.allclose(jax.vmap(jax.vmap(lw.lambertw))(x), lw.lambertw(x))
    assert lw.lambertw(np.array([1, 2])).dtype == jnp.result_type(float)
    assert lw.lambertw(jnp.zeros((0,))).shape == (0,)


def test_the_quotient_is_the_pade_quotient_of_the_series():
    """In fractions: the recurrence of Corless and others (1996), 4.22 to 4.24, divided by p, times the denominator is the numerator."""
    mu, alpha = [Fraction(-1), Fraction(1)], [Fraction(2), Fraction(-1)]
    for k in range(2, 14):
        alpha.append(sum((mu[j] * mu[k + 1 - j] for j in range(2, k)), Fraction(0)))
        mu.append(Fraction(k - 1, k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4) - alpha[k] / 2 - mu[k - 1] / (k + 1))
    series, degree = mu[1:], len(function.DENOMINATOR) - 1
    # the denominator solves sum_j b_j c_{m + i - j} = 0 for i = 1..m: eliminate in fractions
    rows = [[series[degree + i - j] for j in range(1, degree + 1)] + [-series[degree + i]] for i in range(1, degree + 1)]
    for i in range(degree):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(degree):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    denominator = [Fraction(1)] + [row[-1] for row in rows]
    numerator = [sum(denominator[j] * series[i - j] for j in range(i + 1)) for i in range(degree + 1)]
    assert [float(b) for b in denominator] == pytest.approx(function.DENOMINATOR, rel=1e-15)
    assert [float(a) for a in numerator] == pytest.approx(function.NUMERATOR, rel=1e-15)


@pytest.mark.parametrize("iteration", [lw.newton, lw.halley])
def test_textbook_iterations_arrive_and_say_when(iteration):
    with jax.enable_x64(True):
        x, guess = jnp.array([1.0, 10.0, -0.2, -0.2]), jnp.array([0.0, 1.0, -0.1, -2.0])
        run = iteration(x, guess)
        truth = np.append(special.lambertw(np.asarray(x[:3])).real, special.lambertw(-0.2, -1).real)
        assert np.allclose(run.path[-1], truth, rtol=1e-13)
        assert run.path.shape == (51, 4)
        assert np.array_equal(run.path[0], guess)
        assert np.allclose(np.take_along_axis(np.asarray(run.path), np.asarray(run.converged_at)[None], 0)[0], truth, rtol=1e-13)
    assert int(lw.newton(1.0, -1.0).converged_at) == -1  # at -1 the tangent is flat
    assert int(lw.newton(-0.5, 0.0).converged_at) == -1  # no root


def test_halley_needs_fewer_steps_than_newton():
    with jax.enable_x64(True):
        x = jnp.linspace(-0.3, 10.0, 50)
        assert bool((lw.halley(x, 0.5).converged_at < lw.newton(x, 0.5).converged_at).all())


BAD = [
    (lambda: lw.lambertw(1.0, branch=1), "branch is 1"),
    (lambda: lw.lambertw(1j), "x has type complex"),
    (lambda: lw.one_plus_w(1.0, branch=2), "branch is 2"),
    (lambda: lw.newton(1.0, 0.0, steps=0), "steps is 0"),
    (lambda: lw.halley(1.0, np.nan), "guess holds nan"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
