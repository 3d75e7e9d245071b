"""Chapter on corrections after inference: for each item the printed form fails and the mended one passes.

A simulated right form has to lie within ``NEAR`` standard errors. There are 2 such checks at 5 seeds, each with a
false-alarm rate of 6e-7: below 6e-6 for all of them together. A wrong form has to miss by more than ``FAR``.
"""

import pytest

NEAR, FAR = 5.0, 10.0
EXACT = 1e-6  # a search, or a sum over a grid
seeds = pytest.mark.parametrize("seed", range(5))


def test_t52(figures):
    f = figures("T52")
    assert f["in_order"] < f["printed"] - 0.5  # one belief, three answers
    assert f["reversed"] > f["printed"] + 0.5
    assert f["off_weighted"] < EXACT
    assert f["off_once"] < EXACT
    assert f["off_one"] < EXACT  # at nu = 1 the printed update is Bayes' rule
    assert f["off_mode"] < EXACT
    assert f["sd_printed"] > 1.5 * f["sd_weighted"]  # the same mode, not the same belief


def test_t53(figures):
    f = figures("T53")
    for n in (10, 1_000):
        assert f[f"right_{n}"] == pytest.approx(f[f"theory_{n}"], abs=EXACT)
        assert f[f"printed_{n}"] > 2 * f[f"right_{n}"]
        assert f[f"mode_printed_{n}"] == pytest.approx(f[f"mode_multiplied_{n}"], abs=EXACT)
        assert f[f"mode_right_{n}"] > f[f"mode_printed_{n}"] + 0.1
    assert f["printed_1000"] == pytest.approx(f["printed_10"], abs=EXACT)  # a hundred times the data, nothing learned


def test_t54(figures):
    f = figures("T54")
    assert f["averaged_10"] > 1.9  # near the data, far from the q-optimal decision
    for n in (100, 10_000):
        assert f[f"averaged_{n}"] == pytest.approx(f["averaged_10"], abs=EXACT)
        assert f[f"summed_{n}"] == pytest.approx(f["averaged_10"], abs=EXACT)
        assert f[f"printed_{n}"] < f["printed_10"] / 3
    assert f["printed_10000"] < 0.01


@seeds
def test_t55(figures, seed):
    f = figures("T55", seed)
    assert abs(f["z_sd_printed"]) > FAR
    assert abs(f["z_variance"]) < NEAR  # what is printed is the unbiased variance
    assert abs(f["z_theory"]) < NEAR
    assert abs(f["z_sd_right"]) > FAR  # its root is a little low: not unbiased, either
    assert f["right"] == pytest.approx(f["sd"], rel=0.05)
    assert f["rescaled_printed"] == pytest.approx(10_000)
    assert f["rescaled_right"] == pytest.approx(100)


def test_t56(figures):
    f = figures("T56")
    assert f["mode"] == pytest.approx(f["least"], abs=1e-5)
    assert f["sd"] == pytest.approx(3**-0.5, abs=EXACT)  # three observations of unit noise: no point
    assert f["distance"] < EXACT
    assert f["sd_averaged"] == pytest.approx(1, abs=EXACT)
    assert f["sd_tiny"] > 10 * f["sd_hundredth"]  # a bounded loss: there is no limit to tend to
    assert f["mass"] > 1.9 * f["mass_half"]
    assert f["share_two"] > 0.5  # the loss still says more than the prior
    assert f["share_hundred"] < 0.05
