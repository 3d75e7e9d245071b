"""What the tests of the exercises share: every notebook's functions, solved and not."""

from typing import Any

import pytest

import course_pkg.checks
from tools import exercises


def collect(notebook: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a notebook's code cells in order; return what it hands to ``check``, by task name."""
    handed: dict[str, Any] = {}
    monkeypatch.setattr(course_pkg.checks, "check", lambda name, answer: handed.update({name: answer}))
    monkeypatch.setattr(course_pkg.checks, "hint", lambda name, level: None)
    space: dict[str, Any] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            try:
                exec(compile(cell.source, cell["id"], "exec"), space)
            except NotImplementedError:
                continue  # a cell that shows the answers off, in a notebook that has none yet
    return handed


@pytest.fixture(scope="session")
def solved() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        return {name: answer for task in exercises.names() for name, answer in collect(exercises.source(task), patch).items()}


@pytest.fixture(scope="session")
def unsolved() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        return {name: answer for task in exercises.names() for name, answer in collect(exercises.student(task), patch).items()}
