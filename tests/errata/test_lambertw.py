"""Chapter on skewed densities: for each item the printed form fails and the mended one passes, or the other way round.

A simulated right form has to lie within ``NEAR`` standard errors. There are 2 such checks at 5 seeds, each with a
false-alarm rate of 6e-7: below 6e-6 for all of them together. A wrong form has to miss by more than ``FAR``.
"""

import numpy as np
import pytest

NEAR, FAR = 5.0, 10.0
EXACT = 1e-6  # a quadrature or a difference
seeds = pytest.mark.parametrize("seed", range(5))


def test_t33(figures):
    f = figures("T33")
    assert f["upper"] == pytest.approx(-1, abs=EXACT)
    assert f["gap"] < EXACT  # they meet at -1/e
    assert f["gap_half"] > 2
    assert f["lower_plus_imaginary"] < -4  # at 1/e the lower branch is not even real
    assert f["plus"] == pytest.approx(0.2785, abs=1e-4)


def test_t34(figures):
    f = figures("T34")
    assert f["skewness_plus"] > 1  # to the right
    assert f["skewness_minus"] == pytest.approx(-f["skewness_plus"])


def test_t35(figures):
    f = figures("T35")
    assert f["least_plus"] > 0.1  # convex
    assert f["most_minus"] < -0.1  # concave
    assert f["off_theory"] < EXACT
    assert f["far"] < 0  # beyond gamma z = -2 it bends the other way


def test_t36(figures):
    f = figures("T36")
    assert f["mean"] == pytest.approx(f["mean_formula"], abs=EXACT)
    assert f["variance"] == pytest.approx(f["variance_formula"], abs=EXACT)
    assert f["mean"] > 0.2
    assert f["variance"] > 1.2


def test_t37(figures):
    f = figures("T37")
    assert f["same_at_knee"] < EXACT
    assert f["left_of_pole"] > 4 > -3 > f["right_of_pole"]
    assert f["right_left"] < f["right_right"] < 0
    assert f["falls_printed"] > 0
    assert f["falls_right"] == 0
    assert f["mass_printed"] == pytest.approx(f["mass_theory"], abs=1e-5)
    assert f["mass_theory"] > 1.09
    assert f["mass_right"] == pytest.approx(1, abs=EXACT)


def test_t38(figures):
    f = figures("T38")
    for name, exact in (("half", 1e-6), ("fifth", 1e-8), ("heavy", 1e-4)):  # the heavy tail ends at the last place of the quadrature
        assert f[f"lower_{name}"] == pytest.approx(1 - f[f"theory_{name}"], abs=exact)
        assert f[f"upper_{name}"] + f[f"lower_{name}"] == pytest.approx(1, abs=exact)
    assert f["upper_half"] < 0.98
    assert f["lower_fifth"] < EXACT  # a small skew and light tails hide it
    assert f["lower_heavy"] > 0.001


def test_t39(figures):
    f = figures("T39")
    assert f["complex"] == 1
    assert f["refused"] == 1
    assert f["gradient"] == pytest.approx(f["difference"], rel=1e-4)
    assert f["unguarded_nan"] == 1


def test_t40(figures):
    f = figures("T40")
    assert f["wrapped"] > 0 > f["clipped"]  # the other end of the table
    assert f["clipped"] == f["first"]
    assert f["beyond"] == 1
    assert f["cut_mean"] < -0.005  # always the entry to the left
    assert f["line_most"] < 0.02 * f["cut_most"]


def test_t41(figures):
    f = figures("T41")
    assert f["series"] == pytest.approx(f["difference"], rel=1e-4)
    assert f["series"] > 100
    assert f["branch"] == 0
    assert f["best"] > 0.1  # an ascent that starts at 0 never gets there


@seeds
def test_t57(figures, seed):
    f = figures("T57", seed)
    assert abs(f["z_share"]) < NEAR
    assert f["share"] > 0.01
    assert f["most"] > 1
    assert f["right_most"] < 1e-12
    assert f["fifth"] == pytest.approx(0.00118, abs=1e-5)


@seeds
def test_tr9(figures, seed):
    f = figures("TR9", seed)
    assert abs(f["z_formula"]) < NEAR
    assert abs(f["z_sigma"]) > FAR
    assert abs(f["z_gamma"]) > FAR
    assert f["slope"] == pytest.approx(f["difference"], abs=EXACT)
    assert f["least"] > f["support"]


def test_tr10(figures):
    f = figures("TR10")
    assert np.round(100 * f["share"], 1) == 0.1
    assert f["halley"] < 1e-15


def test_tr11(figures):
    f = figures("TR11")
    assert f["off_plus"] == f["off_minus"] == 0
    assert f["same_sign_minus"] > 4000  # every point on the wrong side, but the knee's own
    assert f["cutoff_minus"] > 0 > f["cutoff_plus"]
