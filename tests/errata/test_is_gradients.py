"""Chapter on importance-sampled gradients: for each item the printed form fails and the mended one passes, or the other way round.

A simulated right form has to lie within ``NEAR`` standard errors. There are 29 such checks at 5 seeds, each with a
false-alarm rate of 6e-7: below 9e-5 for all of them together. A wrong form has to miss by more than ``FAR``.
"""

import pytest

NEAR, FAR = 5.0, 10.0
EXACT = 1e-6  # a quadrature, a search, or a difference of formulas in steps of 1e-5
seeds = pytest.mark.parametrize("seed", range(5))


@seeds
def test_t23(figures, seed):
    f = figures("T23", seed)
    assert f["printed_integral"] == pytest.approx(f["old"], abs=EXACT)  # it cancels to the mean that was there before
    assert f["right_integral"] == pytest.approx(f["truth"], abs=EXACT)
    assert f["truth"] - f["old"] > 0.5
    assert abs(f["z_printed"]) > FAR
    assert abs(f["z_times"]) < NEAR  # too large by the number of draws
    assert abs(f["z_right"]) < NEAR


@seeds
def test_t24(figures, seed):
    f = figures("T24", seed)
    assert abs(f["z_printed"]) > FAR
    assert abs(f["z_mixed"]) < NEAR  # the first coordinate is new, the second one old
    assert abs(f["z_right"]) < NEAR
    assert f["truth"] < 0 < f["mixed"]
    assert f["bias_tenth"] == pytest.approx(f["bias"] / 10, abs=EXACT)
    assert f["bias_uncoupled"] < EXACT
    assert f["variance_joint"] > 100 * f["variance_own"]


@seeds
def test_t25(figures, seed):
    f = figures("T25", seed)
    assert abs(f["z_share"]) < NEAR
    assert abs(f["z_share_text"]) > FAR
    assert abs(f["z_stretch"]) < NEAR
    assert f["first_empty"] > 0.8
    assert f["empty_steps"] > 7
    assert f["empty_forced"] == 0


@seeds
def test_t26(figures, seed):
    f = figures("T26", seed)
    for name in ("mu", "sigma"):
        assert abs(f[f"z_printed_{name}"]) > FAR
        assert abs(f[f"z_right_{name}"]) < NEAR
    assert f["mean_weight"] == pytest.approx(0.8, abs=EXACT)  # the new scale over the old one
    assert f["mean_weight_ten"] < 0.11
    assert f["mean_right"] == pytest.approx(1, abs=EXACT)
    assert f["normalised_affine"] == pytest.approx(f["truth_mu"], abs=EXACT)  # a constant ratio cancels
    assert f["skew_right"] == pytest.approx(f["skew_truth"], abs=1e-3)
    assert f["skew_printed"] > 2 * f["skew_truth"]  # a ratio that is not constant does not


@seeds
def test_t27(figures, seed):
    f = figures("T27", seed)
    assert abs(f["z_printed"]) > FAR
    assert f["printed"] < -0.2  # away from where the mean went
    assert abs(f["z_right"]) < NEAR
    assert abs(f["z_bare"]) > FAR
    assert abs(f["z_both"]) < NEAR
    assert abs(f["z_both_mean"]) < NEAR


@seeds
def test_t28(figures, seed):
    f = figures("T28", seed)
    for name in ("mu", "sigma"):
        assert abs(f[f"z_printed_{name}"]) > FAR
        assert abs(f[f"z_bias_{name}"]) < NEAR
        assert abs(f[f"z_right_{name}"]) < NEAR
        assert abs(f[f"bias_{name}"]) > 0.3


@seeds
def test_t29(figures, seed):
    f = figures("T29", seed)
    assert f["right"] == pytest.approx(f["optimum"], abs=EXACT)
    assert f["printed"] == pytest.approx(f["first"], abs=EXACT)
    assert f["optimum"] - f["first"] > 1
    assert f["sgd_right"] == pytest.approx(f["full"])
    assert f["sgd_printed"] < 0 < f["full"]


def test_t30(figures):
    f = figures("T30")
    assert f["growth"] == pytest.approx(5)  # 0.3 times 20 batches is a step of 6
    assert f["averaged"] < 1e-8
    for name in ("", "_averaged"):
        assert f[f"mean{name}"] == pytest.approx(f["mean_theory"], abs=EXACT)
        assert f[f"sd{name}"] == pytest.approx(f["sd_theory"], abs=EXACT)
    assert f["sd_mixed"] > 3 * f["sd"]
    assert f["mean"] - f["mean_mixed"] > 0.2


@seeds
def test_t31(figures, seed):
    f = figures("T31", seed)
    for name in ("sgd", "svrg", "saga"):
        assert f[f"mean_{name}"] == pytest.approx(f["full"])
    assert abs(f["mean_sag"] - f["full"]) > 0.3
    assert f["variance_svrg"] < 0.01 * f["variance_sgd"]
    assert f["variance_saga"] < 0.1 * f["variance_sgd"]
    assert f["variance_sag"] < 0.001 * f["variance_sgd"]
    assert 1.2 < f["plain_quarter"] / f["plain_end"] < 3  # four times the steps, half the distance
    assert f["reduced_quarter"] < 1e-10


@seeds
def test_t32(figures, seed):
    f = figures("T32", seed)
    assert f["off_mean"] < EXACT
    assert f["median_1"] > 0.95 > 0.75 > f["median_20"] > 0.5
    assert f["median_100"] < 0.05
    assert f["variance"] > 20
    assert f["step"] < 0.4  # a table that is nearly all zeros shortens the step
    assert 0.9 < f["step_normalised"] < 1.4
    assert f["step_dropped"] == pytest.approx(1)
    assert f["kept"] < 0.02


def test_t58(figures):
    f = figures("T58")
    for m in (1, 10):
        assert f[f"sag_{m}"] == 200
        assert f[f"sag_full_{m}"] == 5150
        assert f[f"isag_{m}"] == 300 * m
        assert f[f"off_{m}"] < EXACT
    assert abs(f["one"] - f["other"]) > 1  # the average does not tell them apart


@seeds
def test_t59(figures, seed):
    f = figures("T59", seed)
    assert abs(f["z_same"]) > FAR
    assert abs(f["z_bias"]) < NEAR
    assert abs(f["z_other"]) < NEAR
    assert abs(f["z_same_ten"]) > FAR
    assert abs(f["z_other_ten"]) < NEAR
    assert 0.1 < f["bias_tenth"] / f["bias"] < 0.25  # it goes with the step
    assert 0.05 < f["bias_ten"] / f["bias"] < 0.25  # and with the number of draws


@seeds
def test_tr12(figures, seed):
    f = figures("TR12", seed)
    assert abs(f["z_weight"]) < NEAR
    assert abs(f["z_printed"]) < NEAR
    assert abs(f["z_tempting"]) > FAR


@seeds
def test_tr18(figures, seed):
    f = figures("TR18", seed)
    assert abs(f["z_printed"]) < NEAR
    assert abs(f["z_kept"]) > FAR
    assert abs(f["z_moved"]) > FAR
    assert abs(f["z_again"]) < NEAR  # old noise is right for a draw that is moved and evaluated anew
