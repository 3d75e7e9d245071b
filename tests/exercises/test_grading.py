"""Through nbgrader and back: full marks for the solution, none for a blank, and edited tests are put right before grading."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools import exercises

TASK = "decisions/ridge"
POINTS = 4.0


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    # a path without the environment's own programs, as in a shell where nothing is activated
    bare = os.environ | {"PATH": os.defpath, "PYTHONPATH": str(exercises.ROOT)}
    script = Path(__file__).with_name("grade.py")
    done = subprocess.run([sys.executable, script, folder, TASK], env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_the_solution_has_full_marks_and_a_blank_none_even_with_its_test_edited(graded):
    assert graded[1] == {"solved": [POINTS, POINTS], "blank": [0.0, POINTS]}


def test_a_student_sees_one_calm_line(graded):
    notebook = nbformat.read(graded[0] / "autograded" / "blank" / f"{TASK}.ipynb", as_version=4)
    errors = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"]
    said = [(error.ename, error.traceback) for error in errors]
    assert said.count(("NotYet", ["Not written yet. Ask for a hint when you want one."])) == 2
    assert ("NotImplementedError", ["This needs `ridge`, which is not written yet. Write that part first, and come back."]) in said
    assert len(said) == 3  # of a demonstration
