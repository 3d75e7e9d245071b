"""The teacher's pages: plans keep the order that pages ask for, every sheet tests a goal, every misconception has its verdict."""

import importlib
import re
import sys

import jupytext
import pytest

from course_pkg.classroom.command import main as course
from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
contents = importlib.import_module("contents")
teaching = importlib.import_module("teaching")
PAGES = ROOT / "book" / "teaching"
TEXT = {path.stem: path.read_text("utf8") for path in sorted(PAGES.glob("*.md"))}
GOALS = re.findall(r"^:::\{goals\} (\w+)\n(.*?)^:::$", TEXT["goals"], re.MULTILINE | re.DOTALL)
BELIEFS = re.findall(r"^:::\{misconception\} (.+)\n:part: (.+)\n:says: (.+)\n((?:.*\n)*?):::$", TEXT["misconceptions"], re.MULTILINE)


# --- plans ----------------------------------------------------------------------------------------


def test_there_is_a_plan_for_a_day_five_days_six_and_twelve_weeks():
    plans = contents.plans()
    assert {title: len(plan.blocks) for title, plan in plans.items()} == {
        "One day": 2,
        "Five days": 5,
        "Six weeks": 6,
        "Twelve weeks": 12,
    }
    assert TEXT["plans"].count(":::{plan}") == len(plans), "a plan was not read"
    assert contents.course() == plans["Twelve weeks"]


def test_a_plan_leaves_room_for_a_class():
    plans = contents.plans()
    for title, most in (("One day", 3), ("Five days", 5), ("Six weeks", 6), ("Twelve weeks", 6)):
        hours = [block.minutes / 60 for block in plans[title].blocks]
        assert max(hours) <= most, f"{title}: {max(hours):.1f} hours in one block"
    assert plans["One day"].minutes <= 6 * 60


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["decisions/gone"], "block 1: there is no page decisions/gone"),
        (["decisions/a-first-decision | decisions/gone"], "there is no sheet decisions/gone"),
        (["decisions/a-first-decision", "decisions/risk"], "risk comes before decisions/problems, decisions/bayes-rules"),
        (["decisions/a-first-decision | decisions/lupus"], "lupus comes before decisions/on-or-off"),
        (["decisions/a-first-decision", "decisions/a-first-decision"], "comes twice"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(lines, words):
    with pytest.raises(ValueError, match=words):
        contents.plan("A plan", "Week", lines)


MORE = re.findall(r"^:::\{more\} (.+)\n:rows: .+\n\n((?:.*\n)*?):::$", TEXT["plans"], re.MULTILINE)


@pytest.mark.parametrize(("title", "lines"), MORE, ids=[title for title, _ in MORE])
def test_what_a_plan_has_no_time_for_can_follow_it(title, lines):
    lines = lines.splitlines()
    assert [block.label for block in contents.more(title, "After week", lines).blocks] == [line.partition(":")[0] for line in lines]
    with pytest.raises(ValueError, match="classification comes twice"):
        contents.more(title, "After week", ["2: | decisions/classification"])
    with pytest.raises(ValueError, match=r"comes before .*mcmc/nuts"):
        contents.more(title, "After week", ["3: mcmc/harder-targets"])


def test_every_plan_s_pages_that_may_follow_are_read():
    assert len(MORE) == TEXT["plans"].count(":::{more}") == 2


def test_a_block_has_its_name_or_its_number():
    plan = contents.plan("A day", "Part", ["Before noon: decisions/a-first-decision | decisions/conjugacy", "decisions/problems"])
    assert [block.label for block in plan.blocks] == ["Before noon", "2"]
    first = contents.pages()["decisions/a-first-decision"].minutes + contents.sheets()["decisions/conjugacy"].minutes
    assert plan.blocks[0].minutes == first


# --- goals, misconceptions, rubrics ---------------------------------------------------------------


def test_every_sheet_with_a_verdict_tests_one_goal():
    assert [chapter for chapter, _ in GOALS] == [*contents.chapters(), "capstone"]
    tested = [sheet.name for chapter, lines in GOALS for _, sheets in teaching.goals(chapter, lines.splitlines()) for sheet in sheets]
    assert sorted(tested) == sorted(name for name in contents.sheets() if not name.endswith("/discussion"))


@pytest.mark.parametrize("line", ["- Compute a risk: no-such-sheet", "- Compute a risk"])
def test_a_goal_without_a_sheet_is_refused(line):
    with pytest.raises(ValueError, match="a goal ends in a colon and names of sheets"):
        teaching.goals("decisions", [line])


@pytest.mark.parametrize(("belief", "part", "says", "text"), BELIEFS, ids=[part for _, part, _, _ in BELIEFS])
def test_a_misconception_has_a_verdict_a_scene_and_a_cure(belief, part, says, text):
    assert belief.endswith(".")
    assert teaching.said(part, says).startswith(says)
    _, scene, cure = re.split(r"\*In class\.\*|\*Cure\.\*", text)
    assert scene.strip()
    assert re.search(r"\{numref\}`fig-[\w-]+`|\]\(#page-[\w-]+\)", cure)


def test_every_chapter_has_its_misconceptions():
    assert len(BELIEFS) == TEXT["misconceptions"].count(":::{misconception}")
    found = [part.split("/")[0] for _, part, _, _ in BELIEFS]
    assert min(map(found.count, contents.chapters())) >= 3


@pytest.mark.parametrize("words", ["Your penalty", "No verdict says this"])
def test_words_that_no_verdict_or_several_say_are_refused(words):
    with pytest.raises(ValueError, match=r"[02345] verdicts on decisions/ridge/penalty begin with"):
        teaching.said("decisions/ridge/penalty", words)


def test_every_sheet_with_an_open_part_has_a_rubric():
    def is_open(cell):
        return cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution")

    sheets = [name for name in contents.sheets() if any(map(is_open, jupytext.read(ROOT / "solutions" / f"{name}.md").cells))]
    assert len(sheets) > 8
    assert [name for name in sheets if f"(/exercises/{name}.md)" not in TEXT["rubrics"]] == []


# --- commands -------------------------------------------------------------------------------------


def test_every_command_of_course_that_a_page_names_exists():
    pytest.importorskip("course_pkg.classroom.teacher", reason="the teacher's half of `course` is not here")
    code = [words for text in TEXT.values() for words in re.findall(r"`course ([a-z]+)|^course ([a-z]+)", text, re.MULTILINE)]
    named = {name for pair in code for name in pair if name}
    assert {"release", "grade", "report"} <= named
    assert named <= set(course.commands), named - set(course.commands)
