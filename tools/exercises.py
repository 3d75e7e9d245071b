"""Make the student notebooks in exercises/ from their source, the solved text notebooks in solutions/.

    python tools/exercises.py                            write every exercise notebook that is missing or out of step
    python tools/exercises.py --check                    say what is out of step, and fail if anything is
    python tools/exercises.py --course FOLDER            set up an nbgrader course there, ready to release and grade

A solved part of a cell stands between `### BEGIN SOLUTION` and `### END SOLUTION`; nbgrader's own preprocessors take it out,
so that a notebook made here and one released by nbgrader are the same. The cell for hints before each verdict is written here,
and asks for nothing until a student does; a guess that the source has filled in is left open.
"""

import argparse
import os
import re
import sys
import time
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, ClearSolutions, ComputeChecksums, LockCells
from nbgrader.utils import is_solution
from traitlets.config import Config

OWN = "-install"  # ends the id of the cell that is there for other machines
HINTS = "Stuck? Put 1 (the idea), 2 (the equation) or 3 (the first line) in place of 0, and run the cell."
GUESS = re.compile(r"^guess = .*?(?=  #)")
INSTALL = """\
# where the course is not at hand, as on Colab, this fetches and installs it; it takes some minutes
import importlib.util, os, sys

if importlib.util.find_spec("course_pkg") is None:
    !git clone --quiet --depth 1 --branch {branch} {url} course
    %pip install --quiet "./course[arviz,data,numpyro,plots,pymc]"
    sys.path.insert(0, os.path.abspath("course"))
    os.chdir("course/exercises/{chapter}")
"""
ROOT = Path(__file__).resolve().parent.parent
STUB = Config(
    {
        "ClearSolutions": {
            "code_stub": {"python": "# your code here\nraise NotImplementedError"},
            "text_stub": "*Your answer here.*",
        }
    }
)


def source(name: str, root: Path = ROOT) -> NotebookNode:
    """The solved notebook of a task, with cell ids that do not change from one reading to the next."""
    path = root / "solutions" / f"{name}.md"
    if not path.is_file():
        raise SystemExit(f"no task {name!r}: {path} does not exist; the names are {', '.join(names(root))}")
    notebook = jupytext.read(path)
    notebook.cells = [cell for found in notebook.cells for cell in (*_hints(found), found)]
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{path.stem}-{number:02d}"
    notebook.metadata = NotebookNode(
        kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"},
        language_info={"name": "python"},
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _hints(cell: NotebookNode) -> list[NotebookNode]:
    """What stands before a verdict."""
    handed_in = re.match(r'check\(("[^"]+")', cell.source) if cell.cell_type == "code" else None
    return [new_markdown_cell(HINTS), new_code_cell(f"hint({handed_in[1]}, level=0)")] if handed_in else []


def student(name: str, root: Path = ROOT) -> NotebookNode:
    """The same notebook without its solution."""
    notebook = source(name, root)
    for cell in notebook.cells:
        cell.source = GUESS.sub("guess = ...", cell.source)
    resources: dict[str, str] = {}
    for step in (LockCells, ClearSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums):
        notebook, resources = step(config=STUB).preprocess(notebook, resources)
    notebook.cells[1:1] = install(name)
    return notebook


def repository() -> dict[str, str]:
    """Where the project lies, as book/_config.yml has it; its ``url`` may be empty."""
    return yaml.safe_load((ROOT / "book" / "_config.yml").read_text("utf8"))["repository"]


def install(name: str) -> list[NotebookNode]:
    """The cell with which a sheet works on its own, once the project has an address."""
    place = repository()
    code = INSTALL.format(**place, chapter=name.partition("/")[0]).strip()
    return [new_code_cell(code, id=f"{name.rpartition('/')[2]}{OWN}")] if place["url"] else []


def names(root: Path = ROOT) -> list[str]:
    """Every task that has a source, such as ``decisions/ridge``."""
    folder = root / "solutions"
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.glob("*/*.md"))


def text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, indent=1) + "\n"


def target(name: str, root: Path = ROOT) -> Path:
    return root / "exercises" / f"{name}.ipynb"


def out_of_step(root: Path = ROOT) -> list[str]:
    """What --check complains about: notebooks that are missing, have no source, or ask something else than it does.

    What a student wrote into an answer, ran, or added is no complaint.
    """
    wrong = [name for name in names(root) if not _asks_the_same(target(name, root), student(name, root))]
    folder = root / "exercises"
    found = {str(path.relative_to(folder).with_suffix("")) for path in folder.glob("*/*.ipynb")}
    return wrong + sorted(found - set(names(root)))


def _asks_the_same(path: Path, fresh: NotebookNode) -> bool:
    if not path.is_file():
        return False
    there = {cell.get("id"): cell for cell in nbformat.read(path, as_version=4).cells}
    return all(cell["id"] in there and (_own(cell) or there[cell["id"]].source == cell.source) for cell in fresh.cells)


def _own(cell: NotebookNode) -> bool:
    """Whether a cell is the student's to fill in."""
    return is_solution(cell) or cell.source.startswith(("guess = ", "hint("))


def write(name: str, root: Path = ROOT) -> Path | None:
    """Write the student notebook of ``name``; if something else was there it is kept, and its place returned."""
    path, fresh, kept = target(name, root), text(student(name, root)), None
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.read_text("utf-8") != fresh:
        kept = root / "work" / "aside" / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.ipynb"
        kept.parent.mkdir(parents=True, exist_ok=True)
        path.replace(kept)
    path.write_text(fresh, "utf-8")
    return kept


def grader(folder: Path) -> NbGraderAPI:
    """nbgrader, at work in ``folder``. It calls `alembic` by name, so this interpreter's own programs go on the path first."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    config = Config(STUB)
    config.CourseDirectory.root = str(folder.resolve())
    return NbGraderAPI(config=config)


def configured(folder: Path) -> None:
    """Write nbgrader's configuration for a course folder."""
    stubs = {key: dict(value) if isinstance(value, dict) else value for key, value in STUB.ClearSolutions.items()}
    lines = ["c = get_config()", *(f"c.ClearSolutions.{key} = {value!r}" for key, value in stubs.items())]
    (folder / "nbgrader_config.py").write_text("\n".join(lines) + "\n", "utf-8")


def course(folder: Path, wanted: list[str], root: Path = ROOT) -> None:
    """An nbgrader course folder: sources in place, configuration written, every assignment (a chapter) released."""
    folder.mkdir(parents=True, exist_ok=True)
    configured(folder)
    for name in wanted:
        path = folder / "source" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(source(name, root)), "utf-8")
    for chapter in sorted({name.split("/")[0] for name in wanted}):
        done = grader(folder).generate_assignment(chapter, create=True)
        if not done["success"]:
            raise RuntimeError(f"nbgrader could not release {chapter}:\n{done['log']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="say what is out of step")
    choice.add_argument("--course", metavar="FOLDER", type=Path, help="set up an nbgrader course there")
    options = parser.parse_args()
    if options.course:
        course(options.course, names())
        print(f"released to {options.course / 'release'}; grade with `nbgrader autograde` in {options.course}")
        return 0
    wrong = out_of_step()
    if options.check:
        for name in wrong:
            print(f"exercises/{name}.ipynb is out of step with solutions/{name}.md; run python tools/exercises.py")
        return 1 if wrong else 0
    for name in names():
        if not target(name).is_file() or target(name).read_text("utf-8") != text(student(name)):
            _say(name, write(name))
    for name in set(wrong) - set(names()):
        print(f"exercises/{name}.ipynb has no source; remove it or write solutions/{name}.md")
    return 0


def _say(name: str, kept: Path | None) -> None:
    print(f"wrote exercises/{name}.ipynb" + (f"; what was there is kept in {kept.relative_to(ROOT)}" if kept else ""))


if __name__ == "__main__":
    sys.exit(main())
