"""Every task: its stub fails, its solution passes, each mistake fails by its own name, and nothing gives the answer away."""

import inspect
import itertools
import re

import jupytext
import nbformat
import numpy as np
import pytest

from course_pkg.checks import Verdict, catalogue, judge
from course_pkg.checks._judge import NOT_WRITTEN
from tests.exercises.conftest import answers, code_cells, source, student
from tools import exercises

NOTEBOOKS = exercises.names()
TASKS = catalogue()
# Some verdicts are random. Each turns a right answer away once in 10,000 fresh seeds; the seeds are fixed.
MANY = 25
# Tasks whose mistakes take more than a tenth of a second each: a third as many.
SLOW = (
    "mcmc/find-the-key/",
    "vi/two-bumps/",
    "lambertw/gamma-zero/origin",
    "lambertw/gamma-zero/log-density",
    "lambertw/moments/straighten",
)
DETERMINISTIC = [
    name for name in TASKS if name not in {"decisions/stopping/alarm", "decisions/stopping/coverage", "decisions/james-stein/risk"}
]


@pytest.mark.parametrize("name", TASKS)
def test_the_stub_fails_as_not_written_and_asks_for_the_arguments_that_the_notebook_shows(name, solved, unsolved):
    assert judge(name, TASKS[name].stub) == Verdict(False, NOT_WRITTEN)
    blank = unsolved("/".join(name.split("/")[:2]))[name]
    assert judge(name, blank) == Verdict(False, NOT_WRITTEN)
    wanted = list(inspect.signature(TASKS[name].stub).parameters)
    assert list(inspect.signature(solved[name]).parameters) == wanted
    assert list(inspect.signature(blank).parameters) == wanted


@pytest.mark.parametrize("name", TASKS)
def test_the_solution_passes_and_each_mistake_is_called_by_its_name(name, solved, seeds):
    mistakes = TASKS[name].mistakes
    assert len({mistake.words for mistake in mistakes.values()}) >= 2
    faults = []
    for seed in seeds(MANY // 3 if name.startswith(SLOW) else MANY):
        passed, message = judge(name, solved[name], seed)
        if not passed:
            faults.append(f"the solution, seed {seed}: {message}")
        for which, mistake in mistakes.items():
            got = judge(name, mistake.answer, seed)
            if got != Verdict(False, mistake.words):
                faults.append(f"{which}, seed {seed}: {got.message}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_an_answer_that_is_one_per_cent_off_does_not_pass(name, solved):
    def off(*args):
        got = solved[name](*args)
        parts = [np.asarray(part) for part in (got if isinstance(got, tuple) else (got,))]
        # numbers move by a hundredth; choices (booleans, whole numbers) are turned round or moved by one
        moved = [part * 1.01 if part.dtype.kind == "f" else (~part if part.dtype.kind == "b" else part + 1) for part in parts]
        return tuple(moved) if isinstance(got, tuple) else moved[0]

    assert not judge(name, off).passed


@pytest.mark.parametrize("name", TASKS)
def test_the_hints_are_three_and_hold_no_more_than_the_first_line(name):
    hints = TASKS[name].hints
    assert len(hints) == 3
    assert len(set(hints)) == 3
    parts = re.findall(r"### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION", _answer_cell(name), flags=re.S)
    lines = [line.strip() for line in parts[0].split("\n") if line.strip() and not line.strip().startswith("#")]
    for line in lines[1:] or lines:
        for words in hints:
            assert line.removeprefix("return ") not in words or len(line) < 10


def _answer_cell(name: str) -> str:
    task = "/".join(name.split("/")[:2])
    grade_id = name.split("/", 1)[1].replace("/", "-")
    for cell in source(task).cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id:
            return str(cell.source)
    raise AssertionError(f"{task} has no answer cell {grade_id}")


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_student_notebook_is_in_step_with_its_source(notebook):
    there = exercises.target(notebook).read_text("utf-8")
    assert there == exercises.text(student(notebook)), "run python tools/exercises.py (or solve your tasks in a copy)"
    nbformat.validate(nbformat.reads(there, as_version=4))


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_student_notebook_holds_no_line_of_the_solution(notebook):
    shown = {line.strip() for cell in student(notebook).cells for line in cell.source.split("\n")}
    assert "BEGIN SOLUTION" not in exercises.target(notebook).read_text("utf-8")
    secret = []
    for cell in source(notebook).cells:
        if "### BEGIN SOLUTION" in cell.source:
            secret += re.findall(r"### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION", cell.source, flags=re.S)[0].split("\n")
        elif cell.metadata.get("nbgrader", {}).get("solution"):
            secret += cell.source.split("\n")
    secret = [line.strip() for line in secret if len(line.strip()) > 8]
    assert secret
    assert not shown & set(secret)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_sheet_shows_no_hint_and_no_answer_before_it_is_asked(notebook):
    cells = [cell.source for cell in code_cells(student(notebook))]
    assert all(re.fullmatch(r'hint\("[^"]+", level=0\)', cell) for cell in cells if "hint(" in cell)
    for guess, demonstration in itertools.pairwise(cells):
        if guess.startswith("guess = "):
            assert guess.startswith("guess = ...  # ")
            assert "\nif guessed(guess):\n" in f"\n{demonstration}"
            assert "    compare(guess, " in demonstration
    assert sum("guessed(" in cell for cell in cells) == sum(cell.startswith("guess = ") for cell in cells)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_sheet_stands_alone(notebook):
    """Minutes and stars agree with the tasks, every task is judged once, points are given, and there is a way back."""
    text = "\n".join(cell.source for cell in source(notebook).cells)
    top = re.search(r"\*(\d+) minutes\. Level: (one star|two stars|three stars)\. Before this: ", text)
    assert top
    assert int(top[1]) <= (90 if top[2] == "three stars" else 45)  # projects, and proofs on paper
    tasks = [task for name, task in TASKS.items() if f"{name}/".startswith(f"{notebook}/")]
    judged = re.findall(r'^check\("([^"]+)"', text, flags=re.M)
    assert sorted(judged) == sorted(task.name for task in tasks)
    assert sum(task.minutes for task in tasks) <= int(top[1])
    assert all(("one star", "two stars", "three stars")[task.stars - 1] == top[2] for task in tasks)
    assert "*What this teaches:*" in text
    page = re.search(r"Back to the page: \[[^\]]+\]\(\.\./\.\./(book/[a-z_]+/[a-z-]+\.md)\)", text)
    assert page
    assert (exercises.ROOT / page[1]).is_file()


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_solved_sheet_runs_from_top_to_bottom(notebook):
    space: dict[str, object] = {}
    for cell in code_cells(source(notebook)):
        exec(compile(cell.source, f"solutions/{notebook}.md, cell {cell['id']}", "exec"), space)


def test_every_task_has_its_notebook():
    assert {name for sheet in NOTEBOOKS for name in answers(sheet)} == set(TASKS)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_two_readings_of_a_source_are_the_same(notebook):
    assert exercises.text(exercises.student(notebook)) == exercises.text(student(notebook))
    assert jupytext.read(exercises.ROOT / "solutions" / f"{notebook}.md").metadata["kernelspec"]["name"] == "python3"
