"""What is done and what is next: the sheets in order, and a plain file of the parts that have passed on this machine.

Nothing is written where nobody works: the file lies in the folder of a student's own sheets, ``work/``.
"""

import contextlib
import functools
import os
import time
from pathlib import Path
from typing import NamedTuple

from course_pkg.checks.record import ROOT, sheet_names
from course_pkg.checks.sheet import Sheet, full_name, read_sheet


def folder() -> Path:
    """Where a student's own sheets lie: ``work/`` in the course, or what the variable ``COURSE_WORK`` names. It may not be there yet."""
    return Path(os.environ.get("COURSE_WORK") or ROOT / "work")


def passed() -> set[str]:
    """Names of the parts that have passed here."""
    try:
        lines = (folder() / "passed.txt").read_text("utf8").splitlines()
    except OSError:
        return set()
    return {line.split()[-1] for line in lines if line.strip()}


def note(name: str) -> None:
    """Write down that a part has passed, once, if somebody works on this machine."""
    if folder().is_dir() and name not in passed():
        # a verdict is not lost with a disk that is full or read-only
        with contextlib.suppress(OSError), (folder() / "passed.txt").open("a", encoding="utf8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M')}  {name}\n")


class Entry(NamedTuple):
    """A sheet's place in the course."""

    number: str  # chapter and place, such as "1.4"
    sheet: Sheet
    minutes: dict[str, int]  # of each part, by its full name

    def left(self, done: set[str]) -> int:
        """Minutes of the parts that have not passed."""
        return sum(minutes for name, minutes in self.minutes.items() if name not in done)

    def mark(self, done: set[str]) -> str:
        """``x`` done, ``/`` begun, a point otherwise."""
        known = done & set(self.minutes)
        return "x" if len(known) == len(self.minutes) else "/" if known else "."


@functools.lru_cache
def entries() -> tuple[Entry, ...]:
    """Every sheet that has a verdict, in the order in which a reader meets them.

    Example:
        >>> entries()[0].number, entries()[0].sheet.name
        ('1.1', 'decisions/conjugacy')
    """
    chapters: dict[str, int] = {}
    found = []
    for name in sheet_names():
        chapter = name.split("/")[0]
        chapters[chapter] = chapters.get(chapter, 0) + 1
        sheet = read_sheet(ROOT / "solutions" / f"{name}.md", name)
        minutes = {full_name(sheet, part): minutes for part, minutes in sheet.minutes}
        found.append(Entry(f"{len(chapters)}.{chapters[chapter]}", sheet, minutes))
    return tuple(found)


def find(name: str) -> Entry:
    """The sheet that is meant by a number, such as ``1.2``, or by its name, with or without the chapter.

    Raises:
        ValueError: if no sheet, or more than one, is called so.

    Example:
        >>> find("ridge").sheet.name
        'decisions/ridge'
    """
    name = name.removesuffix(".ipynb").removeprefix("exercises/").removeprefix("work/")
    found = [entry for entry in entries() if name in (entry.number, entry.sheet.name, entry.sheet.name.split("/")[1])]
    if len(found) > 1:
        raise ValueError(f"{name!r} is the name of {' and of '.join(entry.sheet.name for entry in found)}; say which")
    if not found:
        raise ValueError(f"no sheet is called {name!r}; `course list` names them all")
    return found[0]


def following(done: set[str]) -> Entry | None:
    """The first sheet, in the course's order, of which a part has not passed."""
    return next((entry for entry in entries() if entry.left(done)), None)


def status() -> None:
    """Print what is done in each chapter, the minutes that are left, and what is next.

    Example:
        >>> status()
        chapter...
    """
    done = passed()
    print(f"{'chapter':<14}{'parts':>9}{'stars':>9}{'minutes left':>15}")
    for chapter in dict.fromkeys(entry.sheet.name.split("/")[0] for entry in entries()):
        here = [entry for entry in entries() if entry.sheet.name.startswith(f"{chapter}/")]
        parts = {name for entry in here for name in entry.minutes}
        stars = [entry.sheet.stars for entry in here if entry.mark(done) == "x"]
        counts = f"{len(parts & done)}/{len(parts)}", f"{sum(stars)}/{sum(entry.sheet.stars for entry in here)}"
        print(f"{chapter:<14}{counts[0]:>9}{counts[1]:>9}{sum(entry.left(done) for entry in here):>15}")
    if entry := following(done):
        print(f"next: {entry.number} {entry.sheet.title} ({entry.sheet.name}), {entry.left(done)} minutes")
    else:
        print("All parts have passed.")
