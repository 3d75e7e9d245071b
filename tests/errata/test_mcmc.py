"""Chapter on Monte Carlo and Markov chains: for each item the printed form fails and the mended one passes, or the other way round.

A simulated right form has to lie within ``NEAR`` standard errors. There are 8 such checks at 5 seeds, each with a
false-alarm rate of 6e-7: below 3e-5 for all of them together. A wrong form has to miss by more than ``FAR``.
"""

import pytest

NEAR, FAR = 5.0, 10.0
EXACT = 1e-6  # a quadrature, a linear system, or a difference of formulas in steps of 1e-5
seeds = pytest.mark.parametrize("seed", range(5))


def test_n15(figures):
    f = figures("N15")
    for d in (1, 2, 3):
        for rule, order in (("left", 1), ("midpoint", 2), ("simpson", 4)):
            assert f[f"slope_{rule}_{d}"] == pytest.approx(-order / d, abs=0.05)
        assert f[f"ratio_left_{d}"] == pytest.approx(1, abs=0.05)  # the printed order is this rule's
        assert f[f"ratio_midpoint_{d}"] > 3.9  # and not this one's
    assert f["worst_1"] == pytest.approx(0.25, abs=EXACT)
    assert f["worst_1"] < f["worst_2"] < f["worst_3"] < f["worst_limit"]  # so the root of d is the right factor for the worst


def test_nr8(figures):
    f = figures("NR8")
    for name in ("printed", "both", "cantelli"):
        assert f[f"scan_{name}"] < 1 + EXACT
    assert f["scan_half"] > 1.5
    assert f["one"] == pytest.approx(1 / 3.25)
    assert f["cantelli"] == pytest.approx(1 / 3.25)
    assert f["half"] < f["one"] < f["bound"]
    assert f["typical"] < f["typical_both"] < f["bound"]


@seeds
def test_n03(figures, seed):
    f = figures("N03", seed)
    assert abs(f["z_printed"]) > FAR
    assert abs(f["z_times"]) < NEAR  # too large by the number of draws
    assert abs(f["z_right"]) < NEAR
    assert abs(f["z_weights"]) < NEAR


@seeds
def test_n04(figures, seed):
    f = figures("N04", seed)
    assert f["printed"] == pytest.approx(1.7724539, abs=EXACT)  # the root of pi
    assert f["right"] == pytest.approx(0.5773503, abs=EXACT)  # that of 1/3
    assert abs(f["z_printed"]) > FAR
    assert abs(f["z_right"]) < NEAR
    assert f["one"] == pytest.approx(1)  # whatever the draws, though the integral of 1 is infinite


@seeds
def test_n05(figures, seed):
    f = figures("N05", seed)
    assert abs(f["z_formula"]) < NEAR
    assert abs(f["z_unnormalised"]) > FAR
    assert abs(f["z_plain"]) > FAR
    assert f["covered"] == pytest.approx(0.95, abs=0.015)
    assert f["covered_estimated"] == pytest.approx(0.95, abs=0.015)
    assert f["covered_unnormalised"] > 0.98


def test_nr3(figures):
    f = figures("NR3")
    assert f["slope"] == pytest.approx(f["theory"], abs=EXACT)
    assert f["log_1"] == pytest.approx(f["first_theory"], abs=EXACT)
    assert f["doubled"] > 300  # a variance of order d would be doubled
    assert f["log_one_direction"] == pytest.approx(f["log_1"])  # where one direction differs nothing grows
    assert f["growth_narrow"] > 1000  # the integral has no limit
    assert f["growth_wide"] == pytest.approx(1, abs=EXACT)


def test_tr1(figures):
    f = figures("TR1")
    assert f["printed"] < 1e-12
    assert f["inverted_least"] > 0.02
    assert f["dropped_least"] > 0.02


@seeds
def test_nr2(figures, seed):
    f = figures("NR2", seed)
    assert abs(f["z_average"]) < NEAR
    assert abs(f["expected"] - f["limit"]) < 0.01
    assert f["worst"] < 0.5
    assert 3 < f["rms_ratio"] < 5.5  # sixteen times the steps, a quarter of the error
    assert f["odd"] < f["limit"] - 0.2 < f["limit"] + 0.2 < f["even"]
    assert f["z_odd"] < -FAR < FAR < f["z_even"]  # many chains at one late step
    assert f["distance"] == pytest.approx(0.5)  # the law of a late step stays away


def test_n06(figures):
    f = figures("N06")
    assert f["right"] == pytest.approx(1, abs=EXACT)
    assert f["printed"] == pytest.approx(0.5, abs=EXACT)
    assert f["marginal_right"] < EXACT
    assert f["marginal_printed"] == pytest.approx(0.5, abs=EXACT)
    assert f["ratio_off"] < EXACT  # no ratio notices


@seeds
def test_n07(figures, seed):
    f = figures("N07", seed)
    assert abs(f["z_right"]) < NEAR
    assert abs(f["z_printed"]) > FAR
    assert abs(f["z_wider"]) < NEAR
    assert f["theory"] == pytest.approx(1.5625)
    assert abs(f["change_right"]) < 1e-4
    assert f["change_printed"] > 0.5
    assert f["change_energy"] > 1e-4
    for rule in ("printed", "energy", "scaled"):
        assert abs(f[f"change_wider_{rule}"]) < 1e-5  # a sum is symmetric: all keep what the leapfrog keeps
    assert f["accept_right"] == pytest.approx(0.865, abs=1e-3)
    assert f["accept_printed"] == pytest.approx(1)
    assert f["accept_scaled"] < 0.5
    assert f["accept_energy"] < 0.05


def test_nr1(figures):
    f = figures("NR1")
    assert f["flip"] < 1e-12
    assert f["stay_least"] > 0.02
    assert f["long_flip"] < 1e-12
    assert f["long_stay_least"] > 0.02
    assert f["fresh_flip"] < 1e-12
    assert f["fresh_stay"] < 1e-12  # a fresh direction hides the difference


@seeds
def test_nr4(figures, seed):
    f = figures("NR4", seed)
    assert f["volume"] < EXACT
    assert f["back"] < 1e-8
    assert f["ratio"] == pytest.approx(4, abs=0.5)  # second order
    assert f["ratio_tempting"] == pytest.approx(1, abs=0.1)  # no smaller step helps
    assert f["lost_tempting"] > 50 * f["lost"]
    assert f["accepted"] > 0.9 > f["accepted_tempting"]


@seeds
def test_nr9(figures, seed):
    f = figures("NR9", seed)
    for name in ("printed", "leapfrog", "textbook", "mixed_h", "mixed_j"):
        assert f[name] < 1e-4
    assert f["mixed_forwards"] > 1
    assert f["cosine"] == pytest.approx(-1, abs=1e-4)  # time reversed
    assert f["kept"] < EXACT
