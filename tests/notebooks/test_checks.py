"""What the line of a folded cell claims, and what it does not."""

import importlib.util

import pytest

from tools import lesson
from tools.pages import ROOT

_spec = importlib.util.spec_from_file_location("checks", ROOT / "book" / "_ext" / "checks.py")
checks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checks)

LOOP = "for seed in range(7):\n    x = draw(seed)\n    "


@pytest.mark.parametrize(
    ("code", "claim"),
    [
        ("assert a", "✓ 1 check"),
        ("# the mean.\nassert a\nassert b", "✓ 2 checks · the mean"),
        (LOOP + "assert x > 0", "✓ 1 check at 7 seeds"),
        (LOOP + "found.append(x)\nassert min(found) > 0", "✓ 1 check at 7 seeds"),
        (LOOP + "found.append(x)\nassert min(found) > 0\nassert a", "✓ 2 checks, 1 at 7 seeds"),
        (LOOP + "assert x\nfor seed in range(3):\n    assert seed", "✓ 2 checks at 3 seeds"),  # the smaller number
        (LOOP + "pass\nassert x > 0", "✓ 1 check"),  # the last seed's alone
        ("found = [draw(seed) for seed in range(9)]\nassert all(found)", "✓ 1 check at 9 seeds"),
        ("assert all(draw(seed) for seed in range(9))", "✓ 1 check at 9 seeds"),
        ("for turn in range(9):\n    assert turn", "✓ 1 check"),  # no seed
        ("found = [draw(seed) for seed in range(9)]\nassert all(found for found in other)", "✓ 1 check"),  # another found
        ("found = [draw(seed) for seed in range(9)]\nfound = 1\nassert found", "✓ 1 check"),
        ("found = [draw(seed) for seed in range(9)]\nassert found[0] > 0", "✓ 1 check"),  # of one seed
        ("found = [draw(seed) for seed in range(9)]\nfirst = found[0]\nassert first > 0", "✓ 1 check"),
        ('found = {"a": [draw(seed) for seed in range(9)]}\nassert min(found["a"])', "✓ 1 check at 9 seeds"),
        ('say("a", 1)', "Numbers for the text"),
    ],
)
def test_seeds_are_claimed_where_a_loop_over_seeds_reaches_the_assert(code, claim):
    assert checks.line("check", code, executed=True, made={}) == claim


@pytest.mark.parametrize(
    ("code", "shown"),
    [("x = 1\nx + 1", True), ("draw(x);", False), ('say("a", 1)', False), ("[say(n, v) for n, v in a]", False), ("x = 1", False)],
)
def test_a_cell_shows_what_its_last_line_is(code, shown):
    assert lesson.shows(code) == shown


def test_a_page_states_the_minutes_that_readers_take_and_nothing_else_of_it_changes():
    counted = lesson.Lesson(words=2000, lines=40, cells=5, showing=5, longest=9, before=0, loud=0, asserts=3)
    assert counted.minutes == 45  # 1.5 (20 + 10)
    assert counted._replace(words=30, lines=0).minutes == 5
    page = "# A page\n\n*12 minutes. Level: one star. Before this: nothing.*\n\n*12 minutes. Level: as a quotation.*\n"
    assert lesson.restated(page, 45) == page.replace("*12", "*45", 1)


def test_names_carry_seeds_from_cell_to_cell_and_a_cell_that_did_not_run_has_no_tick():
    made = {}
    assert checks.line("setup", "found = [draw(seed) for seed in range(20)]", executed=True, made=made) == "Set-up"
    assert checks.line("check", "assert min(found) > 0", executed=False, made=made) == "1 check at 20 seeds"
