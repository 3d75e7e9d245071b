"""`course release`, `course grade` and `course report`: every kind of submission gets the marks it deserves, and harms nothing."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings

import nbformat
import pytest
from click.testing import CliRunner

from course_pkg.checks.record import ROOT, sheet_names
from course_pkg.classroom import fence, judging, marks, plan, report
from course_pkg.classroom.command import main
from tests.gallery import submissions
from tests.gallery.submissions import OTHER, SHEET, Handed, Source

FENCED = pytest.mark.skipif(not all(fence.versions().values()), reason="no fences here: such code is not run without them")
COURSE = [sys.executable, "-c", "from course_pkg.classroom.command import main; main()"]
FIRST, SECOND = f"{SHEET}/threshold", f"{SHEET}/decide"


def course(*arguments):
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture
def canary(tmp_path):
    folder = tmp_path / "canary"
    folder.mkdir()
    (folder / "kept.txt").write_text("still here", "utf8")
    return folder


@pytest.fixture
def listener():
    """A port of this machine, and the calls that came in."""
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        over = threading.Event()

        def listen():
            while not over.is_set():
                try:
                    there, _ = server.accept()
                except TimeoutError:
                    continue
                calls.append(there)
                there.close()

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], calls
        over.set()
        thread.join()


def found(out):
    """The parts that got marks, by student."""
    results = (json.loads(path.read_text("utf8")) for path in out.glob("results/*/*.json"))
    return {one["student"]: {part for part, (fine, _) in one["parts"].items() if fine} for one in results}


def table(path):
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


def faults(out, handed):
    got = found(out)
    return {one.name: (sorted(one.right), sorted(got.get(one.name, ["lost"]))) for one in handed if got.get(one.name) != set(one.right)}


def begun(folder, out, *more):
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [*COURSE, "grade", folder, out, *map(str, more)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@FENCED
def test_a_few_submissions_of_every_kind_get_exactly_their_marks(tmp_path, canary, listener):
    source, one = Source(SHEET), frozenset({SECOND})
    port, calls = listener
    cells = submissions.cheats()
    handed = [Handed(f"cheat-{name}", SHEET, json.dumps(source.solved(threshold=cells[name])), one) for name in ("frames", "turns-wrong")]
    forms = submissions.honest()
    both = frozenset({FIRST, SECOND})
    handed += [Handed(f"honest-{name}", SHEET, json.dumps(forms[name](source)), both) for name in ("solution", "constant-in-another-cell")]
    for name, (cell, fine) in submissions.dangers(canary, port, quick=True).items():
        handed.append(Handed(f"danger-{name}", SHEET, json.dumps(source.solved(threshold=cell)), both if fine else one))
    handed.append(Handed("broken", SHEET, submissions.broken(source)["json"], frozenset()))
    submissions.hand_in(handed, tmp_path / "in")
    (tmp_path / "in" / "nobody").mkdir()
    out = tmp_path / "out"
    assert course("grade", tmp_path / "in", out, "--workers", 1, "--time", 2, "--memory", 1500)[0] == 0
    assert faults(out, handed) == {}
    assert calls == []
    assert sorted(path.name for path in canary.iterdir()) == ["kept.txt"]
    points = {row["student"]: float(row["total"]) for row in table(out / "marks.csv")}
    assert points == {one.name: 2.0 * len(one.right) for one in handed} | {"nobody": 0.0}
    before = {path: path.stat().st_mtime_ns for path in out.glob("results/*/*.json")}
    said = course("grade", tmp_path / "in", out, "--workers", 1)[1]
    assert f"{len(handed)} notebooks of {len(handed) + 1} students" in said
    assert {path: path.stat().st_mtime_ns for path in out.glob("results/*/*.json")} == before
    said = course("report", out)[1]
    assert f"| {FIRST} | " in said
    assert (out / "report.png").stat().st_size > 5000


@FENCED
def test_a_folder_that_students_code_may_read_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    (tmp_path / "in").mkdir()
    status, said = course("grade", tmp_path / "in", tmp_path / "out")
    assert status == 1
    assert "may read" in said


@pytest.mark.thorough
@FENCED
def test_two_hundred_submissions_get_exactly_their_marks_also_when_killed_half_way(tmp_path, canary, listener):
    port, calls = listener
    handed = submissions.everything(canary, port)
    assert len(handed) >= 200
    folder, out = tmp_path / "in", tmp_path / "out"
    submissions.hand_in(handed, folder)
    before = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    options = ("--workers", 2, "--time", 30, "--seed", 20)  # a sheet that simulates takes 7 s on a busy machine
    marking = begun(folder, out, *options)
    while len(list(out.glob("results/*/*.json"))) < len(handed) // 2:
        assert marking.poll() is None
        time.sleep(0.5)
    marking.send_signal(signal.SIGKILL)
    marking.communicate()
    time.sleep(2)
    assert processes() == []  # none outlives it
    half = {path: path.read_bytes() for path in out.glob("results/*/*.json")}
    marking = begun(folder, out, *options)
    said, _ = marking.communicate()
    assert marking.returncode == 0, said
    assert all(path.read_bytes() == text for path, text in half.items())
    assert faults(out, handed) == {}
    assert len(table(out / "marks.csv")) == len(handed)
    assert calls == []
    assert sorted(path.name for path in canary.iterdir()) == ["kept.txt"]
    assert processes() == []
    assert subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout == before
    assert not list(out.glob("results/*/.*"))
    assert not (out / "working").exists()


@pytest.fixture(scope="module")
def judge():
    judge = judging.Judge(judging.Limits(1, 60.0, 2 << 30))
    yield judge
    judge.nursery.close()


@pytest.mark.thorough
@FENCED
@pytest.mark.parametrize("name", sheet_names())
def test_every_solution_passes_from_a_process_of_its_own(name, judge, monkeypatch):
    monkeypatch.setattr(judging, "SEEDS", 1)
    source = Source(name)
    code = [cell.source for cell in source.solved().cells if cell.cell_type == "code"]
    with warnings.catch_warnings(action="ignore"):
        verdicts = judge.judged(name, code)
    assert {part: verdict.message for part, verdict in verdicts.items() if not verdict.passed} == {}
    assert set(verdicts) == set(source.full.values()) - plan.BY_HAND
    assert set(plan.plan(name).parts) == set(verdicts)


def processes():
    """What runs of ours, but for the test itself."""
    said = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
    return [line for line in said.splitlines() if "course_pkg.classroom.judging" in line or "course_pkg.classroom.answers" in line]


def test_a_release_has_points_for_texts_and_no_solution(tmp_path):
    folder = tmp_path / "class"
    status, said = course("release", folder, "--sheets", "ridge", "von-neumann-morgenstern", "--as-set", "week-1")
    assert status == 0, said
    assert "28 points, 18 of them for you to give" in said
    made = nbformat.read(folder / "release" / "week-1" / "von-neumann-morgenstern.ipynb", as_version=4)
    given = [cell.metadata["nbgrader"]["points"] for cell in made.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert sum(given) == plan.plan("decisions/von-neumann-morgenstern").points
    text = (folder / "release" / "week-1" / "ridge.ipynb").read_text("utf8")
    assert "raise NotImplementedError" in text
    assert "SOLUTION" not in text
    assert "gram" not in text
    assert "is there already" in course("release", folder, "--sheets", "ridge", "--as-set", "week-1")[1]


def test_sheets_are_chosen_by_name_number_and_chapter_and_never_guessed():
    assert plan.chosen(["ridge, linex", "1.3"]) == [OTHER, "decisions/linex", SHEET]
    assert all(name.startswith("lcvi/") for name in plan.chosen(["lcvi"]))
    with pytest.raises(ValueError, match="no sheet is called 'rigde'"):
        plan.chosen(["rigde"])
    with pytest.raises(ValueError, match="find-the-bug"):
        plan.chosen(["find-the-bug"])


@pytest.mark.parametrize(
    ("path", "sheet"),
    [
        ("ann/ridge.ipynb", OTHER),
        ("ann/decisions/ridge (1).ipynb", OTHER),
        ("ann/decisions-ridge.ipynb", OTHER),
        ("ann/Ridge-2.ipynb", OTHER),
        ("ann/lcvi-find-the-bug/find-the-bug.ipynb", "lcvi/find-the-bug"),
        ("ann/find-the-bug.ipynb", "gradients/find-the-bug"),  # what it checks says so
        ("ann/ridge-notes.ipynb", ""),
    ],
)
def test_a_submission_is_known_by_its_name_or_by_what_it_checks(path, sheet, tmp_path):
    place = tmp_path / path
    place.parent.mkdir(parents=True)
    place.write_text('check("gradients/find-the-bug/elbo", elbo)', "utf8")
    assert plan.meant(place, plan.every_sheet()) == sheet


def row(student, passed, words="", given=None):
    parts = {FIRST: [passed, words], SECOND: [False, "Not written yet."]}
    return marks.Row(student, plan.plan(SHEET), {"parts": parts, "texts": {}, "notes": []}, given or {})


def test_a_report_counts_what_a_class_is_told():
    rows = [row("a", True), row("b", False, "Upside down."), row("c", False, "Upside down."), row("d", False, "One half.")]
    first, second = report.stuck([*rows, marks.Row("e", plan.plan(SHEET), None, {})])
    assert (first.handed_in, first.passed, first.blank) == (4, 1, 0)
    assert first.words == [("Upside down.", 2), ("One half.", 1)]
    assert (second.passed, second.blank, second.words) == (0, 4, [])
    assert report.table([first, second]).splitlines()[2].startswith(f"| {SECOND} | 0% | 4 | 4 |")


def test_a_teacher_may_give_half_of_a_part_and_what_the_verdict_said_stays(tmp_path):
    sheet = plan.plan(SHEET)
    result = {"student": "ann", "sheet": SHEET, "digest": "", "parts": {FIRST: [False, "Upside down."], SECOND: [True, "Right."]}}
    (tmp_path / "results" / "ann").mkdir(parents=True)
    (tmp_path / "results" / "ann" / f"{sheet.short}.json").write_text(json.dumps(result | {"texts": {}, "notes": []}), "utf8")
    given = tmp_path / "to-mark.csv"
    given.write_text(f"student,sheet,cell,of,given\nann,{sheet.short},{FIRST},2,1\n", "utf8")
    for _ in range(2):  # and it stays
        rows = marks.rows(tmp_path, ["ann"], [sheet])
        marks.tables(tmp_path, rows, ["ann"], [sheet])
        assert table(tmp_path / "marks.csv")[0]["total"] == "3"
    marks.feedback(tmp_path, rows, ["ann"])
    assert "Marked by your teacher. The verdict was: Upside down." in (tmp_path / "feedback" / "ann.html").read_text("utf8")
    given.write_text(f"student,sheet,cell,of,given\nann,{sheet.short},treshold,2,1\n", "utf8")
    with pytest.raises(ValueError, match="has no cell or part 'treshold'"):
        marks.rows(tmp_path, ["ann"], [sheet])


def test_what_a_teacher_gives_is_added_and_more_than_there_is_refused(tmp_path):
    sheet = plan.plan("decisions/discussion")
    result = {
        "student": "ann",
        "sheet": sheet.name,
        "digest": "",
        "parts": {},
        "texts": {"discussion-1": "<b>& my view", "discussion-2": marks.BLANK},
        "notes": [],
    }
    (tmp_path / "results" / "ann").mkdir(parents=True)
    (tmp_path / "results" / "ann" / "decisions-discussion.json").write_text(json.dumps(result), "utf8")

    def marked():
        rows = marks.rows(tmp_path, ["ann", "=ben"], [sheet])
        marks.tables(tmp_path, rows, ["ann", "=ben"], [sheet])
        marks.feedback(tmp_path, rows, ["ann", "=ben"])
        return table(tmp_path / "marks.csv")

    assert [(one["student"], one["total"], one["to mark"]) for one in marked()] == [
        ("ann", "0", f"{sheet.points - sheet.texts['discussion-2']:g}"),  # nobody has to mark a blank
        ("'=ben", "0", "0"),
    ]
    lines = (tmp_path / "to-mark.csv").read_text("utf8")
    assert lines.count("\n") == len(sheet.texts)
    (tmp_path / "to-mark.csv").write_text(lines.replace("discussion-1,2,", "discussion-1,2,1.5"), "utf8")
    for _ in range(2):  # and it stays
        assert marked()[0]["total"] == "1.5"
    assert table(tmp_path / "moodle.csv")[0] == {"username": "ann", "decisions-discussion": "1.5"}
    canvas = table(tmp_path / "canvas.csv")
    assert (canvas[0]["decisions-discussion"], canvas[1]["SIS Login ID"], canvas[1]["decisions-discussion"]) == (
        f"{sheet.points:g}",
        "ann",
        "1.5",
    )
    page = (tmp_path / "feedback" / "ann.html").read_text("utf8")
    assert "&lt;b&gt;&amp; my view" in page
    assert "Marked by your teacher." in page
    assert "Left blank." in page
    (tmp_path / "to-mark.csv").write_text(lines.replace("discussion-1,2,", "discussion-1,2,20"), "utf8")
    with pytest.raises(ValueError, match="write a number up to 2"):
        marked()
