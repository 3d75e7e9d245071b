"""Marks as tables, for a person, for Moodle and for Canvas, and a page of feedback for each student."""

import csv
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from course_pkg.classroom.grading import standing, written
from course_pkg.classroom.plan import SheetPoints

NOTHING, BLANK = "Not handed in.", "*Your answer here.*"  # the latter is what a text holds before anybody writes
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{student}</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100% }}
td, th {{ border-bottom: 1px solid #ccc; padding: .3rem .5rem; text-align: left; vertical-align: top }}
td:first-child, td:nth-child(3) {{ white-space: nowrap }}
td:nth-child(2) {{ overflow-wrap: anywhere; min-width: 8rem }}
td:last-child {{ width: 100% }}
pre {{ white-space: pre-wrap; background: #f4f4f4; padding: .5rem }}
</style>
<h1>{student}</h1>
<p><strong>{total:g} of {most:g} points{waiting}</strong></p>
{sheets}
</html>
"""
ROW = "<tr><td>{mark}</td><td>{name}</td><td>{points:g} of {most:g}</td><td>{words}</td></tr>"


class Row(NamedTuple):
    """What a student has on a sheet; ``waiting`` are the points of texts that nobody has marked yet."""

    student: str
    sheet: SheetPoints
    result: dict[str, Any] | None
    given: dict[str, float]  # by the teacher: for texts, and for parts in place of the verdict's

    @property
    def parts(self) -> dict[str, float]:
        verdicts = self.result["parts"] if self.result else {}
        own = {name: points if verdicts.get(name, [False])[0] else 0.0 for name, points in self.sheet.parts.items()}
        return {name: self.given.get(name, points) for name, points in own.items()}

    @property
    def points(self) -> float:
        return sum(self.parts.values(), 0.0) + sum(self.given.get(name, 0.0) for name in self.sheet.texts)

    @property
    def waiting(self) -> float:
        return sum((self.sheet.texts[name] for name in self.written if name not in self.given), 0.0)

    @property
    def written(self) -> list[str]:
        """The texts that hold something: nobody has to mark a blank."""
        texts = self.result["texts"] if self.result else {}
        return [name for name in self.sheet.texts if self.result and texts.get(name, "").strip() != BLANK]


def rows(out: Path, students: Sequence[str], sheets: Sequence[SheetPoints]) -> list[Row]:
    """A row a student and sheet, handed in or not, with the points that stand in ``to-mark.csv``.

    Raises:
        ValueError: if the points given there are no number, or more than there are, or for what the sheet does not have.
    """
    given = _given(out / "to-mark.csv", {plan.short: plan for plan in sheets})
    return [
        Row(student, plan, standing(out, student, plan.name), given.get((student, plan.short), {}))
        for student in students
        for plan in sheets
    ]


def _given(path: Path, plans: dict[str, SheetPoints]) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = {}
    if not path.is_file():
        return found
    with path.open(encoding="utf8", newline="") as file:
        for row in csv.DictReader(file):
            if row["given"].strip() and row["sheet"] in plans:
                most = (plans[row["sheet"]].texts | plans[row["sheet"]].parts).get(row["cell"])
                if most is None:
                    raise ValueError(f"{path}: {row['sheet']} has no cell or part {row['cell']!r}; its parts stand in parts.csv")
                points = _number(row["given"])
                if not 0 <= points <= most:
                    raise ValueError(
                        f"{path}: {row['given']!r} points for {row['cell']} of {row['student']}; write a number up to {most:g}"
                    )
                found.setdefault((row["student"], row["sheet"]), {})[row["cell"]] = points
    return found


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return -1.0


def tables(out: Path, found: Sequence[Row], students: Sequence[str], sheets: Sequence[SheetPoints]) -> None:
    """Write every table; of a submission that was not handed in, 0 points."""
    names = [plan.short for plan in sheets]
    most = [plan.points for plan in sheets]
    by = {(row.student, row.sheet.short): row for row in found}
    points = {student: [by[student, name].points for name in names] for student in students}
    notes = {
        student: "; ".join(f"{name}: {_notes(by[student, name])}" for name in names if _notes(by[student, name])) for student in students
    }
    waiting = {student: sum(by[student, name].waiting for name in names) for student in students}
    head = ["student", *names, "total", "of", "to mark", "notes"]
    _table(out / "marks.csv", [head, *([s, *points[s], sum(points[s]), sum(most), waiting[s], notes[s]] for s in students)])
    _table(out / "moodle.csv", [["username", *names], *([s, *points[s]] for s in students)])
    canvas = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    possible = ["    Points Possible", "", "", "", "", *most]
    _table(out / "canvas.csv", [[*canvas, *names], possible, *([s, "", "", s, "", *points[s]] for s in students)])
    parts = [[row.student, name, got, row.sheet.parts[name], _words(row, name)] for row in found for name, got in row.parts.items()]
    _table(out / "parts.csv", [["student", "part", "points", "of", "words"], *parts])
    texts = [
        [row.student, row.sheet.short, name, most, row.given.get(name, "")]
        for row in found
        for name, most in (row.sheet.texts | row.sheet.parts).items()
        if name in row.given or name in row.written
    ]
    _table(out / "to-mark.csv", [["student", "sheet", "cell", "of", "given"], *texts])


def _words(row: Row, name: str) -> str:
    said = str(row.result["parts"].get(name, [False, ""])[1]) if row.result else NOTHING
    return f"Marked by your teacher. The verdict was: {said}" if name in row.given else said


def _notes(row: Row) -> str:
    return ", ".join(row.result["notes"]) if row.result else "not handed in"


def _table(path: Path, lines: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[_cell(one) for one in line] for line in lines])
    written(path, text.getvalue())


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula begins with an apostrophe."""
    if isinstance(value, float):
        return f"{value:g}"
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value


def feedback(out: Path, found: Sequence[Row], students: Sequence[str]) -> None:
    """Write ``feedback/<student>.html``: the verdict's words on each part, and the texts with their points."""
    for student in students:
        own = [row for row in found if row.student == student]
        waiting = sum(row.waiting for row in own)
        page = PAGE.format(
            student=html.escape(student),
            total=sum(row.points for row in own),
            most=sum(row.sheet.points for row in own),
            waiting=f", and texts worth {waiting:g} that are not marked yet" if waiting else "",
            sheets="\n".join(map(_sheet, own)),
        )
        written(out / "feedback" / f"{student}.html", page)


def _sheet(row: Row) -> str:
    title = f"<h2>{html.escape(row.sheet.name)}: {row.points:g} of {row.sheet.points:g}</h2>"
    if not row.result:
        return f"{title}<p>{NOTHING}</p>"
    lines = [
        ROW.format(
            mark="✓" if got else "·",
            name=html.escape(name.removeprefix(f"{row.sheet.name}/")),
            points=got,
            most=row.sheet.parts[name],
            words=html.escape(_words(row, name)),
        )
        for name, got in row.parts.items()
    ]
    for name, most in row.sheet.texts.items():
        words = "Marked by your teacher." if name in row.given else "Waits for your teacher." if name in row.written else "Left blank."
        text = f"<pre>{html.escape(row.result['texts'].get(name, ''))}</pre>" if name in row.written else ""
        lines.append(ROW.format(mark="✎", name=html.escape(name), points=row.given.get(name, 0.0), most=most, words=f"{words}{text}"))
    return f"{title}\n<table>{''.join(lines)}</table>"
