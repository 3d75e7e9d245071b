"""Sheets for a class: the student version without solutions, as assignments of nbgrader."""

from collections.abc import Sequence
from pathlib import Path

from course_pkg.classroom.plan import file_name, plan, pointed, tools


def release(folder: Path, sheets: Sequence[str], together: str = "") -> list[Path]:
    """Make an nbgrader course in ``folder`` and release an assignment a sheet, or one of that name for all.

    nbgrader does the releasing (`NbGraderAPI.generate_assignment`): it checks the marks of the cells, locks what is locked, takes the
    solutions out and writes down what each cell is worth. The student version is in ``release/``; ``source/`` has the solutions.

    Returns:
        The notebooks for the students.

    Raises:
        RuntimeError: if nbgrader will not release an assignment.
        ValueError: if one of them has been released there before.
    """
    exercises = tools()
    folder.mkdir(parents=True, exist_ok=True)
    assignments = {together: list(sheets)} if together else {plan(name).short: [name] for name in sheets}
    for assignment in assignments:
        if (folder / "release" / assignment).exists():
            raise ValueError(f"{folder / 'release' / assignment} is there already; remove it, or release to another folder")
    exercises.configured(folder)
    for assignment, names in assignments.items():
        for name in names:
            path = folder / "source" / assignment / f"{file_name(name)}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(exercises.text(pointed(name)), "utf8")
        done = exercises.grader(folder).generate_assignment(assignment, create=True)
        if not done["success"]:
            raise RuntimeError(f"nbgrader could not release {assignment}:\n{done['log']}")
    return sorted(path for assignment in assignments for path in (folder / "release" / assignment).glob("*.ipynb"))
