"""What the tests of the exercises share: every notebook's functions, solved and not, and the seeds at which they are tried."""

import functools
from typing import Any

import pytest

import course_pkg.checks
from course_pkg.checks.sheet import needed
from tools import exercises

QUICK = 1_000  # the quick tier's seed: none of the thorough tier's
source, student = functools.cache(exercises.source), functools.cache(exercises.student)  # read once for all that is asked of them


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def answer_cells(notebook: Any) -> list[Any]:
    """The cells that hold answers or hand them in, and those that give a name to what these read; demonstrations are left out."""
    code = code_cells(notebook)
    wanted = {place for place, cell in enumerate(code) if "nbgrader" in cell.metadata}
    return [code[place] for place in needed([cell.source for cell in code], wanted)]


def collect(cells: list[Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a notebook's cells in order; return what it hands to ``check``, by task name."""
    handed: dict[str, Any] = {}
    monkeypatch.setattr(course_pkg.checks, "check", lambda name, answer: handed.update({name: answer}))
    monkeypatch.setattr(course_pkg.checks, "hint", lambda name, level: None)
    space: dict[str, Any] = {}
    for cell in cells:
        try:
            exec(compile(cell.source, cell["id"], "exec"), space)
        except NotImplementedError:
            continue  # a cell that shows the answers off, in a notebook that has none yet
    return handed


@functools.cache
def answers(sheet: str) -> dict[str, Any]:
    """What the answers of a sheet hand in, without the demonstrations."""
    with pytest.MonkeyPatch.context() as patch:
        return collect(answer_cells(source(sheet)), patch)


class Solved(dict[str, Any]):
    """The answers by task; a sheet's cells run when one of its answers is first asked for."""

    def __missing__(self, name: str) -> Any:
        self.update(answers("/".join(name.split("/")[:2])))
        return self.copy()[name]


@pytest.fixture(scope="session")
def solved() -> Solved:
    return Solved()


@pytest.fixture(scope="session")
def unsolved() -> Any:
    """What a blank sheet hands in, demonstrations run: a function of the sheet, which each worker runs when a test asks for it."""

    @functools.lru_cache
    def handed(sheet: str) -> dict[str, Any]:
        with pytest.MonkeyPatch.context() as patch:
            return collect(code_cells(student(sheet)), patch)

    return handed


@pytest.fixture(scope="session")
def seeds(request: pytest.FixtureRequest) -> Any:
    """``seeds(25)``: that many in the thorough tier; otherwise one, which is none of those."""
    thorough = request.config.getoption("--thorough")
    return lambda many: range(many) if thorough else [QUICK]
