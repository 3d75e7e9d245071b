"""A sheet's answers judged one by one, in a process of its own: ``python -m course_pkg.classroom.trial NOTEBOOK [NAME]``.

Of the notebook only those cells run that give an answer what it needs, so a part does not wait for the one before it.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from course_pkg.checks import judge, sheet
from course_pkg.checks.progress import note
from course_pkg.checks.record import ROOT, sheet_names
from course_pkg.checks.sheet import needed

ASKED = re.compile(r'^check\("([^"]+)", ?(.+)\)\s*$', re.M)
MAGIC = re.compile(r"^(\s*)[%!].*$", re.M)


class Unreadable(Exception):  # noqa: N818  (a word to the student, not a malfunction)
    """A file that is no notebook."""


def verdicts(path: Path) -> Iterator[tuple[str, bool, str]]:
    """Name of a part, whether it passes, and the words, for each part of a notebook in turn, and at last for those that it has lost.

    Raises:
        Unreadable: if the file is no notebook.
    """
    word = path.stem if [name.split("/")[1] for name in sheet_names()].count(path.stem) < 2 else f"{path.parent.name}/{path.stem}"
    anew = f"`course reset {word}` puts this file aside, where you can copy from it, and begins the sheet anew."
    try:
        notebook = nbformat.read(path, as_version=4)
        cells = [MAGIC.sub(r"\1pass", cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    except Exception as problem:
        cut = f"It is cut off, or something else was written into it ({type(problem).__name__})"
        kind = cut if path.stat().st_size else "It is empty"
        raise Unreadable(f"{path} cannot be read as a notebook. {kind}. {anew}") from None
    missing = _parts(path)
    for place, source in enumerate(cells):
        if asked := ASKED.search(source):
            name, answer = asked[1], asked[2]
            missing.pop(name, None)
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    verdict = judge(name, made(cells[:place], answer))
            except NotImplementedError:
                yield name, False, "It needs an answer that is not written yet."
            except BaseException as problem:  # also an answer that leaves the process
                if isinstance(problem, NameError) and problem.name == answer:
                    yield name, False, f"`{answer}` is defined in no cell above. Was its cell renamed, deleted, or made a text? {anew}"
                else:
                    yield name, False, f"A cell that it needs stops: {type(problem).__name__}: {problem}"
            else:
                yield name, *verdict
    for name, answer in missing.items():
        yield name, False, f'Its cell is missing: put back `check("{name}", {answer})`. Or {anew}'


def _parts(path: Path) -> dict[str, str]:
    """The parts of the sheet that a notebook is a copy of, each with the name of what it hands in; none if it is of no sheet."""
    name = f"{path.parent.name}/{path.stem}"
    if name not in sheet_names():
        return {}
    own = sheet.read_sheet(ROOT / "solutions" / f"{name}.md", name)
    return {sheet.full_name(own, part): sheet.handed_in(own, part) for part, _ in own.minutes}


def made(cells: list[str], name: str) -> Any:
    """What the cells before a verdict hand in."""
    readable = []
    for number, source in enumerate(cells, 1):
        try:
            compile(source, f"code cell {number}", "exec")
        except SyntaxError:
            if re.search(rf"\bdef {re.escape(name)}\b|^{re.escape(name)} *=", source, re.M):
                raise
            source = ""
        readable.append(source)
    space: dict[str, Any] = {}
    for place in needed([*readable, f"_ = {name}"], {len(cells)}):
        if place < len(cells):
            exec(compile(readable[place], f"code cell {place + 1}", "exec"), space)
    return eval(name, space)


def main(path: Path) -> bool:
    """Print a verdict a part; whether all have passed."""
    passing = True
    try:
        for name, fine, words in verdicts(path):
            passing &= fine
            if fine:
                note(name)
            print(f"{'x' if fine else '.'} {name}\n    {words}", flush=True)
    except Unreadable as problem:
        print(problem)
        return False
    return passing


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1])))
