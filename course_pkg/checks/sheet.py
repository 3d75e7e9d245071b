"""What a solved sheet holds: its cells, its answers, and what these become when a slip is written into them."""

import contextlib
import functools
import io
import json
import re
import symtable
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Slip = str | Callable[..., Any]  # edits of the solution's own lines, or a wrong answer as a function

_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?::nbgrader: ([^\n]*)\n)?(?::tags: [^\n]*\n)?(.*?)^```$", re.M | re.S)
_BODY = re.compile(r"( *)### BEGIN SOLUTION\n(.*?) *### END SOLUTION\n?", re.S)
_TOP = re.compile(r"^\*(\d+) minutes\. Level: (one star|two stars|three stars)\.(?:[^*]*\sBy parts: ([\d +]+) minutes\.)?", re.M)


class Cell(NamedTuple):
    """A code cell, and the name of the part that it answers or hands in."""

    source: str
    part: str = ""
    answers: bool = False
    heading: str = ""


class Sheet(NamedTuple):
    """A solved sheet: ``solutions/<name>.md``."""

    name: str
    title: str
    stars: int
    cells: tuple[Cell, ...]
    minutes: tuple[tuple[str, int], ...]  # of each part that has a verdict
    total: int  # minutes, with those of what has none


@functools.lru_cache
def read_sheet(path: Path, name: str) -> Sheet:
    """Read a sheet from its text."""
    text = path.read_text("utf8")
    cells, stem = [], path.stem + "-"
    for found in _CELL.finditer(text):
        options = json.loads(found[1] or "{}")
        part = options.get("grade_id", "").removesuffix("-verdict" if options.get("grade") else "")
        headings = re.findall(r"^## (?:Part \d+[^.]*\. )?(.*)$", text[: found.start()], re.M)
        cells.append(Cell(found[2], part.removeprefix(stem), bool(options.get("solution")), headings[-1] if headings else ""))
    top, title = _TOP.search(text), re.search(r"^# (.*)$", text, re.M)
    if not (top and title):
        raise ValueError(f"{path} has no title, or no line of minutes and level under it")
    minutes = map(int, (top[3] or top[1]).split(" + "))
    parts = [cell.part for cell in cells if cell.source.startswith("check(")]
    stars = ("one star", "two stars", "three stars").index(top[2]) + 1
    return Sheet(name, title[1], stars, tuple(cells), tuple(zip(parts, minutes, strict=True)), int(top[1]))


def _tables(source: str) -> list[symtable.SymbolTable]:
    """The cell's own table of names, and those of all functions in it."""
    tables = [symtable.symtable(source, "a cell", "exec")]
    for table in tables:
        tables += table.get_children()
    return tables


def names_made(source: str) -> set[str]:
    """The names that a cell's code gives, outside its functions."""
    rules = set(re.findall(r"\b(\w+)\.defjvp\b", source))  # a function is whole only with its rule
    return rules | {symbol.get_name() for symbol in _tables(source)[0].get_symbols() if symbol.is_assigned() or symbol.is_imported()}


def names_read(source: str) -> set[str]:
    """The names that a cell's code, or a function in it, takes from outside."""
    first, *inner = _tables(source)
    read = {symbol.get_name() for symbol in first.get_symbols() if symbol.is_referenced()}
    return read | {symbol.get_name() for table in inner for symbol in table.get_symbols() if symbol.is_global()}


def needed(sources: Sequence[str], wanted: set[int]) -> list[int]:
    """Places of the ``wanted`` cells and of those that give a name to what these read.

    A cell that is needed for its effect alone, on an array or a setting, is not found.
    """
    names: set[str] = set()
    while True:
        kept = [place for place, source in enumerate(sources) if place in wanted or names & names_made(source)]
        more = names.union(*(names_read(sources[place]) for place in kept))
        if more == names:
            return kept
        names = more


def full_name(sheet: Sheet, part: str) -> str:
    """What a part is called in ``check``: the sheet alone, where it has one part and ``check`` calls it so."""
    name = f"{sheet.name}/{part}"
    return name if any(f'check("{name}"' in cell.source for cell in sheet.cells) else sheet.name


def _answer(sheet: Sheet, part: str) -> int:
    return next(place for place, cell in enumerate(sheet.cells) if cell.answers and cell.part == part)


def handed_in(sheet: Sheet, part: str) -> str:
    """The name of the function that a part asks for."""
    for cell in sheet.cells:
        if found := re.search(rf'^check\("{re.escape(full_name(sheet, part))}", (\w+)\)', cell.source, re.M):
            return found[1]
    raise LookupError(f"solutions/{sheet.name}.md never checks {part!r}")


@functools.lru_cache
def _space(sheet: Sheet, part: str) -> dict[str, Any]:
    """What the cells before an answer, and the answer itself, have made."""
    answer = _answer(sheet, part)
    # a demonstration after it may give the same names to other things; only a rule is handed over there
    sources = [cell.source if place <= answer or ".defjvp(" in cell.source else "" for place, cell in enumerate(sheet.cells)]
    space: dict[str, Any] = {}
    imports = {
        place for place, source in enumerate(sources) if source.startswith(("import ", "from "))
    }  # a slip may need what the answer does not
    with contextlib.redirect_stdout(io.StringIO()):
        for place in needed(sources, {answer, *imports}):
            if sheet.cells[place].answers or not sheet.cells[place].part:
                exec(compile(sources[place], f"solutions/{sheet.name}.md", "exec"), space)
    return space


def solution(sheet: Sheet, part: str) -> Callable[..., Any]:
    """The sheet's own answer."""
    answer: Callable[..., Any] = _space(sheet, part)[handed_in(sheet, part)]
    return answer


def answer_lines(sheet: Sheet, part: str) -> str:
    """The lines of the solution, without their indentation."""
    found = _BODY.search(sheet.cells[_answer(sheet, part)].source)
    if not found:
        raise LookupError(f"solutions/{sheet.name}.md has no BEGIN SOLUTION in the answer {part!r}")
    return textwrap.dedent(found[2])


@functools.cache
def slipped(sheet: Sheet, part: str, slip: Slip) -> Callable[..., Any]:
    """The solution with a slip in it.

    A slip is text: ``old -> new``, several of them split by ``;;``, each applied wherever ``old`` stands; or, if it begins with a
    new line, other lines in place of the solution's. It may also be a function.

    Raises:
        LookupError: if the solution does not hold what is to be replaced.
    """
    if not isinstance(slip, str):
        return slip
    lines = answer_lines(sheet, part)
    if slip.startswith("\n"):
        lines = textwrap.dedent(slip).strip("\n") + "\n"
    else:
        for edit in slip.split(";;"):
            old, new = (side.strip() for side in edit.split("->", 1))
            if old not in lines:
                raise LookupError(f"solutions/{sheet.name}.md: {old!r} is not in the answer {part!r}")
            lines = lines.replace(old, new)
    space, source = dict(_space(sheet, part)), sheet.cells[_answer(sheet, part)].source
    changed = _BODY.sub(lambda found: textwrap.indent(lines, found[1]), source, count=1)
    exec(compile(changed, f"a slip in solutions/{sheet.name}.md", "exec"), space)
    wrong: Callable[..., Any] = space[handed_in(sheet, part)]
    return wrong
