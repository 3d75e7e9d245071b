"""The program `course`, used as a student would, in a folder of the test's own."""

import contextlib
import io
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from click.testing import CliRunner

from course_pkg import checks
from course_pkg.checks import catalogue, progress
from course_pkg.checks.record import ROOT
from course_pkg.classroom.command import SECONDS, main
from course_pkg.classroom.trial import main as judged
from tools import exercises

SHEET = "decisions/classification"
THRESHOLD = "def threshold(alpha, beta):\n    return alpha / (alpha + beta)"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "work"))
    return tmp_path / "work"


@pytest.fixture
def course(work):
    def run(*arguments):
        done = CliRunner().invoke(main, arguments)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


def answer(work, **answers):
    """Write answers into the student's copy, by the name that they define."""
    path = work / f"{SHEET}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for name, source in answers.items():
            if cell.source.startswith(f"def {name}("):
                cell.source = source
    nbformat.write(notebook, path)
    return path


def trial(path):
    """What is said of each part, as `course check` says it, in this process."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        passing = judged(path)
    return int(not passing), out.getvalue()


def trial_apart(path):
    """The same in a process of its own, as students have it."""
    done = subprocess.run([sys.executable, "-m", "course_pkg.classroom.trial", path], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def test_a_sheet_is_solved_in_two_sittings_and_the_next_one_comes(course, work):
    assert "1.1 Conjugacy, twice" in course("next")[1]
    assert course("open", "1.3")[0] == 0
    for entry in progress.entries()[:2]:
        for name in entry.minutes:
            progress.note(name)
    assert "1.3 Asymmetric classification" in course("next")[1]
    solved = {cell["id"]: cell.source for cell in exercises.source(SHEET).cells}
    decide = next(source for source in solved.values() if source.startswith("def decide("))
    status, said = trial_apart(answer(work, decide=decide))  # the second part, before the first
    assert status == 1
    assert f". {SHEET}/threshold\n    Not written yet." in said
    assert f"x {SHEET}/decide" in said
    assert "/ 1.3" in course("list", "decisions")[1]
    assert course("solution", "1.3")[0] == 1
    status, said = course("solution", "1.3", "decide")  # what has passed is not given up
    assert status == 0
    assert "alpha" not in said
    assert "counts once" in course("solution", "1.3", "threshold", "--give-up")[1]
    assert trial(answer(work, threshold=THRESHOLD))[0] == 0
    assert {f"{SHEET}/threshold", f"{SHEET}/decide"} <= progress.passed()
    assert "1.4 " in course("next")[1]
    assert f"{len(progress.passed())}/{sum(task.startswith('decisions/') for task in catalogue())}" in course("status")[1]
    assert "alpha / (alpha + beta)" in course("solution", "classification")[1]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def threshold(alpha, beta):\n    return alpha +", "SyntaxError: invalid syntax"),
        ("def threshold(alpha, beta):\n    return 1 / 0", "ZeroDivisionError"),
        ("def threshold(alpha, beta):\n    import sys; sys.exit()", "ends Python"),
        ("def threshold(alpha, beta):\n    return beta / (alpha + beta)", "changed places"),
        ("import nothing_of_that_name\ndef threshold(alpha, beta):\n    return 1.0", "ModuleNotFoundError"),
        ("%time 1\n!ls\n" + THRESHOLD, f"x {SHEET}/threshold"),
    ],
    ids=["no Python", "error", "leaves", "wrong", "no module", "magic"],
)
def test_whatever_an_answer_does_its_part_is_told_and_the_next_one_judged(source, words, course, work):
    course("open", SHEET)
    told = trial(answer(work, threshold=source))[1]
    first, second = told.split(f"{SHEET}/decide")
    assert words in first
    assert "Not written yet" in second


def test_a_notebook_that_has_lost_something_is_told_what(course, work):
    assert course("open", "1.3")[0] == 0
    path = answer(work, threshold=THRESHOLD.replace("threshold", "cut"))
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith(f'check("{SHEET}/decide"')]
    nbformat.write(notebook, path)
    status, said = trial(path)
    assert status == 1
    assert "`threshold` is defined in no cell above" in said
    assert f'Its cell is missing: put back `check("{SHEET}/decide", decide)`' in said
    for text, words in (("", "It is empty"), (path.read_text("utf8")[:500], "It is cut off")):
        path.write_text(text, "utf8")
        status, said = trial(path)
        assert status == 1
        assert "Traceback" not in said
        assert words in said
        assert "`course reset classification`" in said
    course("open", "lcvi/find-the-bug")
    path = work / "lcvi" / "find-the-bug.ipynb"
    path.write_text("", "utf8")
    assert "`course reset lcvi/find-the-bug`" in trial(path)[1]  # there is another sheet of this name


def test_a_cell_without_end_is_ended(course, work):
    course("open", SHEET)
    answer(work, threshold="while True:\n    pass\n" + THRESHOLD)
    began = time.time()
    status, said = course("check", "1.3", "--seconds", "6")
    assert (status, "No end after 6 seconds" in said) == (124, True)
    assert time.time() - began < 30


def test_watching_judges_at_every_save_also_when_a_cell_never_ends_until_ctrl_c(course, work):
    course("open", SHEET)
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # what a shell starts with & ignores Ctrl-C
    command = [sys.executable, "-c", f"{heard}; from course_pkg.classroom.command import main; main()", "watch", "1.3"]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        said = iter(watching.stdout.readline, "")
        next(line for line in said if "Not written" in line)
        answer(work, threshold=THRESHOLD + "\nwhile True:\n    pass")
        next(line for line in said if line.startswith("--"))
        mended = time.time()
        answer(work, threshold=THRESHOLD)
        assert next(line for line in said if line.startswith("x"))
        assert time.time() - mended < SECONDS / 2
        watching.send_signal(signal.SIGINT)
        assert watching.wait(10) == 0
    finally:
        watching.kill()
        watching.wait()
        watching.stdout.close()


def test_no_answer_is_ever_lost(course, work):
    course("open", SHEET)
    path = answer(work, threshold=THRESHOLD)
    mine = path.read_bytes()
    course("open", SHEET)
    course("open")
    assert path.read_bytes() == mine
    for _ in range(2):  # twice in a second
        course("reset", SHEET)
    assert path.read_bytes() == (ROOT / "exercises" / f"{SHEET}.ipynb").read_bytes()
    aside = [kept.read_bytes() for kept in (work / "aside").rglob("*.ipynb")]
    assert len(aside) == 2
    assert mine in aside
    makefile = (ROOT / "Makefile").read_text("utf8")
    assert "work" not in makefile[makefile.index("\nclean:") :]
    assert subprocess.run(["git", "check-ignore", "work/decisions/ridge.ipynb"], cwd=ROOT, capture_output=True).returncode == 0


def test_nothing_is_noted_where_nobody_works(work):
    checks.check(f"{SHEET}/threshold", lambda alpha, beta: alpha / (alpha + beta))
    assert not work.exists()
    work.mkdir()
    for _ in range(2):
        checks.check(f"{SHEET}/threshold", lambda alpha, beta: alpha / (alpha + beta))
    assert len((work / "passed.txt").read_text("utf8").splitlines()) == 1


def test_hints_go_to_the_first_part_that_has_not_passed(course, work):
    work.mkdir()
    progress.note(f"{SHEET}/threshold")
    assert course("hint", "1.3")[1].startswith(f"{SHEET}/decide\nHint 1 of 3")
    assert "Hint 3 of 3" in course("hint", "1.3", "threshold", "--level", "3")[1]
    assert "has no part 'nothing'" in course("hint", "1.3", "nothing")[1]
    assert "1<=x<=3" in course("hint", "1.3", "--level", "4")[1]


def test_names_of_sheets_are_forgiving_and_never_guessed(course):
    for name in ("1.2", "ridge", "decisions/ridge", "exercises/decisions/ridge.ipynb"):
        assert progress.find(name).sheet.name == "decisions/ridge"
    assert "gradients/find-the-bug and of lcvi/find-the-bug" in course("check", "find-the-bug")[1]
    assert "no sheet is called 'rigde'" in course("open", "rigde")[1]
    assert "Did you mean ridge?" in course("open", "rigde")[1]
    assert "Did you mean" not in course("open", "find-the-bug")[1]
    assert course("list", "Ridge")[1].count("\n") == course("list", "1.2")[1].count("\n") == 1
    assert course("list", "nothing-like-it")[0] == 1


def test_every_sheet_that_start_here_links_to_is_made(course, work):
    assert course("open")[0] == 0
    made = {path.relative_to(work).with_suffix("").as_posix() for path in work.glob("*/*.ipynb")}
    assert made == set(exercises.names())
    assert "for talking over" in course("check", "mcmc/discussion")[1]
    assert str(work / "mcmc" / "discussion.ipynb") in course("open", "mcmc/discussion")[1].replace("\n", "")


def test_the_doctor_names_what_is_wrong(course, monkeypatch, tmp_path):
    assert course("doctor")[0] == 0
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "gone"))
    status, said = course("doctor")
    assert status == 1
    assert "-- data" in said
    assert "mend: unset COURSE_DATA" in said


def test_when_all_has_passed_there_is_no_next(course, work):
    work.mkdir()
    lines = "".join(f"2026-01-01 09:00  {name}\n" for entry in progress.entries() for name in entry.minutes)
    (work / "passed.txt").write_text(lines, "utf8")
    assert "All parts have passed" in course("next")[1]
    assert "All parts have passed" in course("status")[1]
    assert course("list")[1].count("x ") >= len(progress.entries())
