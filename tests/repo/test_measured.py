"""The page *Measured* says what is stored, and the runner's arithmetic is right."""

import json

import numpy as np
import pytest

from benchmarks import aims, run
from benchmarks.aims import AIMS, OURS, TITLES, Aim


def race(ours, theirs, reached=True):
    row = lambda seconds, reached: {"first": 2.0, "seconds": seconds, "error": 0.01, "reached": reached}
    return {"unit": [1.0, "s"], "measure": "nats", "roads": {OURS: row(ours, True), "theirs": row(theirs, reached)}}


def test_the_page_is_what_the_runner_writes():
    assert run.PAGE.read_text("utf8") == run.page(json.loads(run.STORED.read_text("utf8"))), "python benchmarks/run.py --page"


def test_a_ratio_is_that_of_one_turn():
    found = race([1.0, 2.0, 10.0], [2.0, 6.0, 10.0])
    assert run.ratios(found, "theirs", OURS).tolist() == [2.0, 3.0, 1.0]
    assert "2.00 (1.00 to 3.00)" in run.printed(found)
    assert "not comparable" in run.printed(race([1.0], [2.0], reached=False))


@pytest.mark.parametrize(
    ("aim", "now", "met"),
    [
        (Aim("r", "", "", 2.0, None, "theirs", OURS), "2.00 (1.00 to 3.00)", "yes"),
        (Aim("r", "", "", 2.1, None, "theirs", OURS), "2.00 (1.00 to 3.00)", "no"),
        (Aim("r", "", "", None, 1.9, "theirs", OURS), "2.00 (1.00 to 3.00)", "no"),
        (Aim("r", "", "", None, 2.5, None, OURS), "2.0 s", "yes"),
        (Aim("r", "", "", None, 1.5, None, OURS, True), "2.0 s", "no"),
        (Aim("other", "", "", None, 1.5, None, OURS), "not run", ""),
        (Aim("r", "", "", 2.0, None, "nobody", OURS), "not run", ""),
    ],
)
def test_an_aim_is_judged_by_the_median(aim, now, met):
    assert run.aim_row(aim, {"r": race([1.0, 2.0, 10.0], [2.0, 6.0, 10.0])}) == (now, met)


def test_a_road_that_did_not_reach_the_others_meets_no_aim():
    found = {"r": race([1.0], [9.0], reached=False)}
    assert run.aim_row(Aim("r", "", "", 2.0, None, "theirs", OURS), found) == ("not comparable", "")


def test_every_aim_has_its_race_and_its_bound():
    for aim in AIMS:
        assert aim.race in TITLES
        assert (aim.least is None) != (aim.most is None)
    assert np.unique([aim.asked + aim.race for aim in aims.AIMS]).size == len(AIMS)
