"""Run by test_grading.py in a process of its own: release one task, grade two submissions, print the marks as JSON."""

import json
import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from tools import exercises


def main(folder: Path, task: str) -> dict[str, list[float]]:
    chapter = task.split("/")[0]
    exercises.course(folder, [task])
    answers = {cell["id"]: cell.source for cell in exercises.source(task).cells}
    blank = nbformat.read(folder / "release" / f"{task}.ipynb", as_version=4)
    solved = nbformat.read(folder / "release" / f"{task}.ipynb", as_version=4)
    for cell in solved.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers[cell["id"]]
    # who leaves the sheet blank also replaces the last test by one that passes
    [cell for cell in blank.cells if cell.metadata.get("nbgrader", {}).get("grade")][-1].source = "print('all is well')"

    marks = {}
    for student, notebook in {"blank": blank, "solved": solved}.items():
        path = folder / "submitted" / student / f"{task}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(nbformat.writes(notebook), "utf-8")
        done = exercises.grader(folder).autograde(chapter, student, create=True)
        assert done["success"], done["log"]
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        for submission in book.assignment_submissions(chapter):
            marks[submission.student.id] = [submission.score, submission.max_score]
    return marks


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
