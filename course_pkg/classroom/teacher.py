"""What a teacher's `course` does: hand sheets out, mark what comes back, and see where the class is stuck."""

import json
import os
import secrets
import sys
from pathlib import Path
from typing import Any

from course_pkg._extras import needs
from course_pkg.checks.record import ROOT

click: Any = needs("click", "book")

FOLDER = click.Path(file_okay=False, path_type=Path)
SHEETS = click.option("--sheets", multiple=True, metavar="SHEET…", help="names, numbers in `course list`, or chapters; else all")
MORE = click.argument("more", nargs=-1, metavar="")  # the second and further words after --sheets


def _chosen(sheets: tuple[str, ...], more: tuple[str, ...]) -> list[str]:
    from course_pkg.classroom.plan import chosen  # these imports take a second that `course list` need not wait for

    if more and not sheets:
        raise click.ClickException(f"what is {more[0]!r}? Sheets are named after --sheets")
    try:
        return chosen((*sheets, *more))
    except ValueError as error:
        raise click.ClickException(str(error)) from None


@click.command()
@click.argument("folder", type=FOLDER)
@SHEETS
@MORE
@click.option("--as-set", default="", metavar="NAME", help="one assignment of this name for all; else one a sheet")
def release(folder: Path, sheets: tuple[str, ...], more: tuple[str, ...], as_set: str) -> None:
    """Make the student version of some sheets, without solutions.

    FOLDER becomes a course of nbgrader: give students what is in release/, and keep source/, which has the solutions. Answers, free
    texts and proofs carry points. A sheet comes back under the name that it had.
    """
    from course_pkg.classroom import plan
    from course_pkg.classroom import release as releasing

    wanted = _chosen(sheets, more)
    try:
        made = releasing.release(folder, wanted, as_set)
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    for path in made:
        click.echo(path)
    plans = [plan.plan(name) for name in wanted]
    click.echo(f"{sum(one.points for one in plans):g} points, {sum(sum(one.texts.values()) for one in plans):g} of them for you to give")


@click.command()
@click.argument("submissions", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("out", type=FOLDER)
@SHEETS
@MORE
@click.option("--workers", default=os.cpu_count() or 1, show_default=True, help="notebooks at a time; each takes a gigabyte")
@click.option("--seed", type=click.IntRange(0, 2**31), help="draws the inputs; by default a secret one, kept in OUT")
@click.option("--time", "seconds", default=60.0, show_default=True, help="seconds for a student's code, a part")
@click.option("--memory", default=2048, show_default=True, help="megabytes for a student's code")
@click.option("--unfenced", is_flag=True, help="also where this machine cannot shut students' code in")
def grade(
    submissions: Path, out: Path, sheets: Any, more: Any, workers: int, seed: int | None, seconds: float, memory: int, unfenced: bool
) -> None:
    """Mark a folder of submissions: <student>/<sheet>.ipynb, or as nbgrader collects them.

    OUT gets marks.csv, moodle.csv and canvas.csv (to be imported; there a student is known by the folder's name, which must be the login),
    parts.csv, a page a student in feedback/, and to-mark.csv, a line for each free text and for the two programs that are yours to judge:
    write points into its column `given`, and run this again. What is marked already is not marked again, unless the notebook has changed.

    How it is judged. Only the cells that an answer needs are run, in a process of its own for each part; its function is called with
    inputs drawn with secret seeds, and only numbers come back. Solutions and references live in another process. Edited tests, points
    and ids have no effect: points are the sheet's. Of nbgrader come the marks of the cells; its autograder is not used, as it judges
    within the student's own process.

    What students' code can do on Linux (x86-64, kernel 5.13 or newer): read Python, the course's package and its data; write in one
    folder that is removed. It has no network, begins no program, signals no process, reads no solution, no other submission and none of
    your files. Time, memory, the size of files and of results are limited; what it prints is dropped. What is not prevented: it may use
    all cores while its time runs, call what the course's package computes, and know by heart the one part that asks everybody the same
    (mcmc/five-chains/diagnoses).

    On other machines those fences are missing, and this refuses to run: use a container or a virtual machine, or --unfenced for a
    class that you trust.
    """
    if sys.platform == "win32":
        raise click.ClickException("this needs Linux: use WSL, or a container")
    from course_pkg.classroom import answers, fence, grading, judging

    wanted = _chosen(sheets, more)
    missing = [name for name, there in fence.versions().items() if not there]
    if missing and not unfenced:
        raise click.ClickException(f"this machine has no fence for {' and '.join(missing)}; see --help, --unfenced")
    for place in (ROOT / "solutions", submissions, out):
        if shown := [path for path in answers.readable() if place.resolve().is_relative_to(path)]:
            raise click.ClickException(f"students' code may read {shown[0]}, and {place} lies within; move one of them")
    out.mkdir(parents=True, exist_ok=True)
    settings = _settings(out)
    seed = seed if seed is not None else settings.get("seed", secrets.randbelow(2**31))
    found, passed_over = grading.submissions(submissions, wanted)
    if not sheets:
        wanted = [name for name in wanted if any(one.sheet == name for one in found)]
    kept: dict[str, Any] = {"seed": seed, "sheets": wanted, "students": grading.students(submissions)}
    grading.written(out / "settings.json", json.dumps(kept, indent=1))
    for path, why in passed_over.items():
        click.echo(f"passed over: {path} ({why})")
    failed = grading.grade(found, out, judging.Limits(seed, seconds, memory << 20), workers)
    for one in failed:
        click.echo(f"not marked: {one.path}; the marker failed on it, and the next run tries again")
    rows = _rows(out)
    click.echo(
        f"{len(found)} notebooks of {len(kept['students'])} students: {sum(row.points for row in rows):g} points; {out / 'marks.csv'}"
    )
    if waiting := sum(row.waiting for row in rows):
        click.echo(f"{waiting:g} points are for you to give: {out / 'to-mark.csv'}")


def _settings(out: Path) -> dict[str, Any]:
    path = out / "settings.json"
    return json.loads(path.read_text("utf8")) if path.is_file() else {}


def _rows(out: Path) -> Any:
    """Bring the tables and pages up to date."""
    from course_pkg.classroom import marks, plan

    settings = _settings(out)
    plans = [plan.plan(name) for name in settings["sheets"]]
    try:
        rows = marks.rows(out, settings["students"], plans)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    marks.tables(out, rows, settings["students"], plans)
    marks.feedback(out, rows, settings["students"])
    return rows


@click.command()
@click.argument("out", type=click.Path(exists=True, file_okay=False, path_type=Path))
def report(out: Path) -> None:
    """Where the class is stuck: pass rates, and what those who do not pass are told most.

    OUT is a folder that `course grade` has filled; it gets report.md and report.png.
    """
    from course_pkg.classroom import report as reporting

    if not _settings(out):
        raise click.ClickException(f"{out} has no settings.json; run `course grade` first")
    click.echo(reporting.report(_rows(out), out))
