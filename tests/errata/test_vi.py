"""Chapter on variational inference: for each item the printed form fails and the mended one passes, or the other way round.

No item simulates, so none needs a seed.
"""

import pytest

EXACT = 1e-6  # a quadrature, a sum over tables, or a fixed point


def test_t05(figures):
    f = figures("T05")
    assert f["first_right"] == pytest.approx(f["closed"], abs=EXACT)
    assert f["second_right"] == pytest.approx(f["closed"], abs=EXACT)
    assert f["at_posterior_right"] == pytest.approx(0, abs=EXACT)
    assert f["first"] > f["closed"] + 1
    assert f["second"] > f["first"] + 1  # the printed lines are not equal to each other either
    assert f["first"] == pytest.approx(1 + f["chi"], abs=EXACT)
    assert f["at_posterior"] == pytest.approx(1, abs=EXACT)
    assert f["least"] >= 1
    assert f["sd_right"] == pytest.approx(0.19**0.5, abs=1e-5)  # one over the root of the precision
    assert f["sd_printed"] < f["sd_right"] - 0.05


def test_t06(figures):
    f = figures("T06")
    assert f["right"] == pytest.approx(f["bound"], abs=EXACT)
    assert f["best_right"] == pytest.approx(f["evidence"], abs=EXACT)
    assert f["printed"] < f["bound"] - 1
    assert f["best_printed"] < f["evidence"] - 1  # not tight where it should be
    assert f["thin_printed"] > f["evidence"] + 1  # and no lower bound
    assert f["thin_right"] < f["evidence"]
    assert f["least_rise"] > 0  # the narrower the better


def test_t07(figures):
    f = figures("T07")
    assert f["sum"] == pytest.approx(f["log_evidence"], abs=EXACT)
    assert f["evidence"] > f["sum"] + 1
    assert f["gap"] > 0


def test_nr5(figures):
    f = figures("NR5")
    assert f["lemma"] < 1e-12
    assert f["lemma_tempting"] > 1
    assert f["constant"] < 1e-12
    assert f["gain"] < 1e-12
    assert f["lost_least"] > 0  # no other factor is as good
    assert f["turned_least"] > 0.01


def test_tr8(figures):
    f = figures("TR8")
    assert f["apart"] < 1e-12
    assert f["first"] == pytest.approx(1 - 0.81 / 2, abs=EXACT)
    assert f["second"] == pytest.approx(2 - 0.81, abs=EXACT)
    assert f["direct_first"] == pytest.approx(f["first"], abs=1e-4)
    assert f["direct_second"] == pytest.approx(f["second"], abs=1e-4)
    assert f["lost"] == pytest.approx(f["lost_direct"], abs=EXACT)
    assert f["lost_mean"] > f["lost"] + 0.02
    assert f["mean_first"] > f["first"] + 0.1


def test_n08(figures):
    f = figures("N08")
    assert f["spread_right"] < 1e-12
    assert f["spread_printed"] > 1  # so the two differ by more than a constant
    assert f["spread_first"] > 0.1
    assert f["ends_right"] == pytest.approx(f["ends"], abs=1e-3)  # a sharp edge on a grid
    assert f["ends_printed"] < 0.1
    assert f["mean_right"] == pytest.approx(f["mean"], abs=EXACT)
    assert f["mean_printed"] < f["mean"] - 0.05


def test_n09(figures):
    f = figures("N09")
    assert f["sum_right"] == pytest.approx(f["need"], abs=EXACT)
    assert f["sum_printed"] > f["need"] + 10
    assert f["spread_printed"] == 0  # an even mixture, whatever the words
    assert f["exact"] > 0.8
    assert f["right"] > 0.8


def test_n10(figures):
    f = figures("N10")
    assert f["formula"] == pytest.approx(f["exact"], abs=EXACT)
    assert f["many"] == pytest.approx(f["exact_many"], abs=EXACT)
    assert f["simplex"] == pytest.approx(f["exact_simplex"], abs=EXACT)  # the lemma holds there too, for another Dirichlet
    assert f["simplex"] < f["exact"] - 2
    assert f["many"] == pytest.approx(f["limit"], abs=0.01)


def test_nr10(figures):
    f = figures("NR10")
    assert f["one_topic"] == pytest.approx(0, abs=1e-9)  # with one topic the factors are the posterior
    assert f["printed"] < f["evidence"]
    assert f["fall"] > -1e-9
    assert abs(f["settled"]) < 1e-9
    assert f["shaken"] < f["printed"]
    assert f["step_loss"] > 1
    assert f["tempting_all"] < f["printed"] - 1


def test_t03(figures):
    f = figures("T03")
    for name in ("chi", "power", "forward", "reverse"):
        assert f[name] > 0.3
    assert f["bend_least"] > 0  # all that the sentence lists are convex
    assert f["tables_convex"] > 0
    assert f["tables_concave"] < 0
    assert f["negative"] == pytest.approx(-f["chi"])
    assert f["far"] < -40  # the farther off the less
    assert f["straight"] == pytest.approx(0, abs=EXACT)


def test_t04(figures):
    f = figures("T04")
    assert abs(f["printed"] - f["renyi"]) > 0.05
    assert abs(f["printed"] - f["renyi_alpha"]) > 0.05  # nor of the other order
    assert f["transform"] == pytest.approx(f["renyi"], abs=EXACT)
    assert f["renyi_two"] == pytest.approx(2 * f["renyi"], abs=EXACT)
    assert f["printed_two"] < 1.95 * f["printed"]
    assert f["printed_far"] == pytest.approx(f["ceiling"], abs=EXACT)
    assert f["renyi_far"] > 50
    assert f["printed_halves"] == pytest.approx(f["printed"] / 2, abs=EXACT)  # as for every f-divergence
    assert f["renyi_halves"] < f["renyi"] / 2 - 0.002
    assert abs(f["to_forward"]) < 1e-4
    assert abs(f["to_reverse"]) < 1e-4


def test_tr2(figures):
    f = figures("TR2")
    for name in ("forward", "reverse", "chi"):
        assert f[f"printed_{name}"] == pytest.approx(f[name], abs=EXACT)
    assert abs(f["printed_forward"] - f["reverse"]) > 0.3
    assert abs(f["printed_reverse"] - f["forward"]) > 0.3
    assert f["sd_forward"] == pytest.approx(4.25**0.5, abs=1e-3)  # the moments of the two bumps
    assert f["sd_reverse"] == pytest.approx(0.5, abs=0.01)  # one of them


def test_t18(figures):
    f = figures("T18")
    assert f["off"] < 1e-9  # a fixed point
    assert f["best_mean"] == pytest.approx(f["mean"], abs=1e-4)  # least divergence: the moments
    assert f["best_variance"] == pytest.approx(f["variance"], abs=1e-3)
    assert f["ep_lost"] > f["lost"] + 1
    assert f["ep_sd"] < f["sd"] - 1
    assert f["one_off"] < 1e-9  # with a single site the two agree
