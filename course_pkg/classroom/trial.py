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

from course_pkg.checks import judge
from course_pkg.checks.progress import note
from course_pkg.checks.sheet import needed

ASKED = re.compile(r'^check\("([^"]+)", ?(.+)\)\s*$', re.M)
MAGIC = re.compile(r"^(\s*)[%!].*$", re.M)


def verdicts(path: Path) -> Iterator[tuple[str, bool, str]]:
    """Name of a part, whether it passes, and the words, for each part of a notebook in turn."""
    cells = [MAGIC.sub(r"\1pass", cell.source) for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for place, source in enumerate(cells):
        if asked := ASKED.search(source):
            name, answer = asked[1], asked[2]
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    verdict = judge(name, made(cells[:place], answer))
            except NotImplementedError:
                yield name, False, "It needs an answer that is not written yet."
            except BaseException as problem:  # also an answer that leaves the process
                yield name, False, f"A cell that it needs stops: {type(problem).__name__}: {problem}"
            else:
                yield name, *verdict


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
    for name, fine, words in verdicts(path):
        passing &= fine
        if fine:
            note(name)
        print(f"{'x' if fine else '.'} {name}\n    {words}", flush=True)
    return passing


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1])))
