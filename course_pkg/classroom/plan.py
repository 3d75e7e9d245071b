"""What a sheet's cells are worth, and which notebook is for which sheet."""

import functools
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from course_pkg._extras import needs
from course_pkg.checks import progress
from course_pkg.checks.record import ROOT, sheet_names

BY_HAND = {"gradients/guide/guide", "lcvi/your-own/program"}  # programs that NumPyro reads from within: they hold no numbers to send
OPEN = 2.0  # points of a free text, a proof or a discussion whose sheet says nothing else


class SheetPoints(NamedTuple):
    """A sheet's points.

    Attributes:
        parts: points of each part that has a verdict, by its name in ``check``.
        texts: points of each cell that the teacher marks, by its ``grade_id``: free texts, and the few programs no verdict is sent for.
        cells: what nbgrader's metadata must say of each of its cells: points, whether it is marked, whether it is to be filled in.
    """

    name: str
    parts: dict[str, float]
    texts: dict[str, float]
    cells: dict[str, tuple[float, bool, bool]]

    @property
    def points(self) -> float:
        return sum(self.parts.values(), 0.0) + sum(self.texts.values())

    @property
    def short(self) -> str:
        """Its name as one word, such as ``decisions-ridge``."""
        return self.name.replace("/", "-")


def tools() -> Any:
    """``tools/exercises.py``, which makes the student version; it stands beside the package and not in it."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module("tools.exercises")


def pointed(name: str) -> Any:
    """A sheet's solved notebook, in which free texts carry points as well."""
    notebook = tools().source(name)
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade") and marks.get("solution") and not marks.get("points"):
            marks["points"] = OPEN
    return notebook


@functools.lru_cache
def plan(name: str) -> SheetPoints:
    """A sheet's points, as its source has them. nbgrader's own functions say what a cell is."""
    kinds = needs("nbgrader.utils", "dev")
    found = SheetPoints(name, {}, {}, {})
    for cell in pointed(name).cells:
        if "nbgrader" not in cell.metadata:
            continue
        marks = cell.metadata["nbgrader"]
        name_in_check = re.match(r'check\("([^"]+)"', cell.source)
        points = float(marks.get("points", 0))
        if kinds.is_grade(cell) and kinds.is_solution(cell):
            found.texts[marks["grade_id"]] = points
        elif name_in_check and name_in_check[1] in BY_HAND:
            found.texts[marks["grade_id"].removesuffix("-verdict")] = points
        elif name_in_check:
            found.parts[name_in_check[1]] = points
        found.cells[marks["grade_id"]] = (points, kinds.is_grade(cell), kinds.is_solution(cell))
    return found


@functools.lru_cache
def every_sheet() -> tuple[str, ...]:
    """Every sheet, those for discussion last in their chapter."""
    return (*sheet_names(), *(name for name in tools().names() if name not in sheet_names()))


def file_name(name: str) -> str:
    """What a sheet's notebook is called where it is handed out: its own name, with its chapter where another has that name."""
    own = name.split("/")[1]
    return own if sum(other.endswith(f"/{own}") for other in every_sheet()) == 1 else name.replace("/", "-")


def meant(path: Path, among: tuple[str, ...]) -> str:
    """The sheet that a submitted notebook is for, by its name, its folder or what it checks; none if that is not clear."""
    stem = re.sub(r"(?<=\w)[ _-]?\(?\d+\)?$", "", path.stem)  # a browser's second download has a number
    stems = {path.stem.casefold(), stem.casefold()}
    found = [name for name in among if stems & {name.split("/")[1], name.replace("/", "-")}]
    if len(found) > 1:
        found = [name for name in found if path.parent.name.startswith(name.split("/")[0])] or found
    if len(found) > 1:
        text = path.read_text("utf8", errors="replace")
        found = [name for name in found if f"{name}/" in text]
    return found[0] if len(found) == 1 else ""


def chosen(words: Sequence[str]) -> list[str]:
    """Sheets by name, with or without chapter, by number in ``course list``, or a whole chapter; all sheets for no words.

    Raises:
        ValueError: if a word is no sheet, or may be several.
    """
    found: list[str] = []
    for word in (one for text in words for one in text.replace(",", " ").split()):
        number = {entry.number: entry.sheet.name for entry in progress.entries()}.get(word, word)
        fits = [name for name in every_sheet() if number in (name, name.split("/")[0], file_name(name), name.replace("/", "-"))]
        if not fits:
            fits = [progress.find(word).sheet.name]
        found += [name for name in fits if name not in found]
    return found or list(every_sheet())
