"""The page *Measured*: its arithmetic, its races' names, and that what is stored can be shown."""

import importlib
import json
import sys

import pytest

from benchmarks import report, run
from benchmarks.aims import AIMS, OURS, RACES, Aim

sys.path.insert(0, str(run.ROOT / "book" / "_ext"))
page = importlib.import_module("measured")
STORED = json.loads(run.STORED.read_text("utf8"))


def race(ours, theirs, reached=(True, True)):
    row = lambda seconds, reached: {"first": 2.0, "seconds": seconds, "error": 0.01, "reached": reached}
    rows = {OURS: row(ours, reached[0]), "theirs": row(theirs, reached[1])}
    return {"unit": [1.0, "s"], "measure": "nats", "order": list(rows), "roads": rows, "absent": [], "about": {"small": False}}


def test_a_ratio_is_that_of_one_turn():
    found = race([1.0, 2.0, 10.0], [2.0, 6.0, 10.0])
    assert report.ratios(found, "theirs", OURS).tolist() == [2.0, 3.0, 1.0]
    assert "2.00 (1.50 to 2.50)" in report.race(found)


@pytest.mark.parametrize("reached", [(True, False), (False, True)])
def test_without_the_same_accuracy_there_is_no_ratio(reached):
    found = race([1.0], [9.0], reached)
    assert "withheld" in report.race(found)
    assert "9.00 (9" not in report.race(found).partition("| theirs |")[2].split("|")[2]
    assert report.aim(Aim("r", "", "", 2.0, None, "theirs", OURS), {"r": found}) == ("accuracy failed", "")


@pytest.mark.parametrize(
    ("aim", "now", "met"),
    [
        (Aim("r", "", "", 2.0, None, "theirs", OURS), "2.00 (1.50 to 2.50)", "reached"),
        (Aim("r", "", "", 2.1, None, "theirs", OURS), "2.00 (1.50 to 2.50)", "missed"),
        (Aim("r", "", "", None, 1.9, "theirs", OURS), "2.00 (1.50 to 2.50)", "missed"),
        (Aim("r", "", "", None, 2.5, None, OURS), "2.00 (1.50 to 6.00) s", "reached"),
        (Aim("r", "", "", None, 1.5, None, OURS, True), "2.0 s", "missed"),
        (Aim("other", "", "", None, 1.5, None, OURS), "not run", ""),
        (Aim("r", "", "", 2.0, None, "nobody", OURS), "not run", ""),
    ],
)
def test_an_aim_is_judged_by_the_median(aim, now, met):
    assert report.aim(aim, {"r": race([1.0, 2.0, 10.0], [2.0, 6.0, 10.0])}) == (now, met)


def test_an_exponent_is_a_slope_between_the_steepest_and_the_flattest_step():
    slope, least, greatest = report.exponent([10, 100, 1000], [1.0, 10.0, 1000.0])
    assert (slope, least, greatest) == pytest.approx((1.5, 1.0, 2.0))
    assert report.exponent([10], [1.0]) is None


def test_every_aim_has_its_race_and_one_bound():
    for aim in AIMS:
        assert aim.race in RACES
        assert (aim.least is None) != (aim.most is None)


def test_every_race_is_a_function_of_its_script():
    for entry in RACES.values():
        assert f"def {entry.function}(" in (run.ROOT / "benchmarks" / f"{entry.module}.py").read_text("utf8")


@pytest.mark.parametrize("part", page.PARTS)
def test_the_page_shows_what_is_stored(part):
    assert set(STORED["races"]) <= set(RACES), "a race that no longer exists is stored"
    assert all(isinstance(line, str) for line in page.PARTS[part](STORED))


def test_the_roads_of_the_aims_are_those_that_ran():
    for aim in AIMS:
        if aim.race in STORED["races"]:
            assert {aim.over or aim.under, aim.under} <= set(STORED["races"][aim.race]["roads"]), aim


def test_a_race_runs_at_a_small_size(tmp_path):
    out = tmp_path / "measured.json"
    run.main(["--small", "--races", "decide tilted", "--out", str(out)])
    found = json.loads(out.read_text("utf8"))["races"]["decide tilted"]
    assert found["about"]["small"]
    assert all(row["reached"] for row in found["roads"].values())
    assert min(len(row["seconds"]) for row in found["roads"].values()) == found["turns"] >= 2
