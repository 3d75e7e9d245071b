"""The program ``course``, for who does the exercises, and for who teaches with them. Nothing leaves this machine.

A sheet is named by its number in ``course list``, such as 1.2, or by its name, such as ridge.
"""

import contextlib
import difflib
import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from course_pkg._extras import needs
from course_pkg.checks import hint, progress, sheet
from course_pkg.checks.record import ROOT
from course_pkg.classroom import teacher

click: Any = needs("click", "book")
SECONDS = 120.0  # for all verdicts of a sheet; most take less than ten


class _Sheet(click.ParamType):
    name = "sheet"

    def convert(self, value, param, ctx):
        try:
            return progress.find(value.lower())
        except ValueError as error:
            if (ROOT / "exercises" / f"{value}.ipynb").is_file():
                self.fail(f"{value} is for talking over, without verdicts; `course open {value}` opens it", param, ctx)
            own = value.split("/")[-1].lower()
            near = difflib.get_close_matches(own, [entry.sheet.name.split("/")[1] for entry in progress.entries()], 1)
            self.fail(f"{error}. Did you mean {near[0]}?" if near and near[0] != own else str(error), param, ctx)


SHEET = _Sheet()


def _opened(name: str) -> Path:
    """A student's own copy of a sheet, made when it is first asked for and never written over."""
    path = progress.folder() / f"{name}.ipynb"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "exercises" / f"{name}.ipynb", path)
    return path


@click.group(help=(__doc__ or "").replace("``", ""), context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    if not (ROOT / "exercises").is_dir():
        raise click.ClickException(f"there are no exercises in {ROOT}: run it in a clone of the course, after `make env`")


for _command in (teacher.release, teacher.grade, teacher.report):
    main.add_command(_command)


@main.command("list")
@click.argument("word", default="", metavar="[CHAPTER|WORD]")
def list_(word: str) -> None:
    """Every sheet with its number, minutes and stars; x is done, / begun."""
    done, entries = progress.passed(), progress.entries()
    shown = [entry for entry in entries if entry.sheet.name.startswith(word) or entry.number.split(".")[0] == word]
    shown = shown or [entry for entry in entries if word.lower() in f"{entry.sheet.name} {entry.sheet.title}".lower()]
    if not shown:
        raise click.ClickException(f"no sheet has {word!r} in its name; `course list` without it shows all")
    for entry in shown:
        words = f"{entry.sheet.total:>4} min  {'*' * entry.sheet.stars:<3}  {entry.sheet.name:<34}  {entry.sheet.title}"
        click.echo(f"{entry.mark(done)} {entry.number:<5}{words}")


@main.command()
def status() -> None:
    """What is done in each chapter, and the minutes that are left."""
    progress.status()


@main.command("next")
def next_() -> None:
    """The first sheet of which a part has not passed."""
    entry = progress.following(progress.passed())
    if entry is None:
        click.echo("All parts have passed.")
        return
    click.echo(f"{entry.number} {entry.sheet.title} ({'*' * entry.sheet.stars}), {entry.left(progress.passed())} minutes left")
    click.echo(f"course open {entry.number}")


@main.command("open")
@click.argument("word", default="", metavar="[SHEET]")
@click.pass_context
def open_(ctx: Any, word: str) -> None:
    """Make your own copy of a sheet in work/, or of all; one that is there stays as it is."""
    names = [path.relative_to(ROOT / "exercises").with_suffix("").as_posix() for path in (ROOT / "exercises").glob("*/*.ipynb")]
    if word:  # also a sheet for talking over, which has no number
        names = [word] if word in names else [SHEET.convert(word, None, ctx).sheet.name]
    for name in names:
        path = _opened(name)
    click.echo(f"{path if word else progress.folder()}   (`make lab` opens it in a browser)")


def _checked(path: Path, seconds: float, saved: int | None = None) -> int:
    """Judge a notebook in a process of its own; 0 if all parts pass, 124 after ``seconds``, 1 also where it is ``saved`` anew meanwhile."""
    trial = subprocess.Popen([sys.executable, "-m", "course_pkg.classroom.trial", str(path)], cwd=path.parent, start_new_session=True)
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return trial.wait(min(0.3, seconds))
            if saved is not None and _saved(path, saved) != saved:
                return 1
        click.echo(f"No end after {seconds:g} seconds: is there a loop that never ends in a cell?")
        return 124
    finally:
        if trial.poll() is None:
            os.killpg(trial.pid, signal.SIGKILL)
            trial.wait()


@main.command()
@click.argument("entry", type=SHEET, metavar="SHEET")
@click.option("--seconds", default=SECONDS, show_default=True, help="for all parts together")
def check(entry: progress.Entry, seconds: float) -> None:
    """Judge every part of a sheet, each without waiting for the one before it."""
    sys.exit(_checked(_opened(entry.sheet.name), seconds))


@main.command()
@click.argument("entry", type=SHEET, metavar="SHEET")
@click.option("--seconds", default=SECONDS, show_default=True, help="for all parts together")
def watch(entry: progress.Entry, seconds: float) -> None:
    """Judge a sheet each time that it is saved, until Ctrl-C."""
    path, judged = _opened(entry.sheet.name), 0
    click.echo(f"watching {path}; end with Ctrl-C")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            if (saved := _saved(path, judged)) != judged:
                judged = saved
                click.echo(time.strftime("-- %H:%M:%S"))
                _checked(path, seconds, saved)
            time.sleep(0.5)
    click.echo()


def _saved(path: Path, before: int) -> int:
    """When a file was saved; ``before`` where it is away for a moment, as some editors replace a file."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return before


def _parts(entry: progress.Entry, word: str) -> list[str]:
    """The names of the parts that end in a word: all, where it is empty."""
    names = [name for name in entry.minutes if name.endswith(word)]
    if not names:
        raise click.ClickException(f"{entry.sheet.name} has no part {word!r}; it has {', '.join(entry.minutes)}")
    return names


@main.command("hint")
@click.argument("entry", type=SHEET, metavar="SHEET")
@click.argument("part", default="")
@click.option("--level", type=click.IntRange(1, 3), default=1, show_default=True, help="1 the idea, 2 the equation, 3 the first line")
def hint_(entry: progress.Entry, part: str, level: int) -> None:
    """A hint for a part, or for the first that has not passed."""
    names = _parts(entry, part)
    name = next((name for name in names if name not in progress.passed()), names[0])
    click.echo(name)
    hint(name, level)


@main.command()
@click.argument("entry", type=SHEET, metavar="SHEET")
def reset(entry: progress.Entry) -> None:
    """Begin a sheet anew; what you had is put aside in work/aside."""
    path = progress.folder() / f"{entry.sheet.name}.ipynb"
    if path.exists():
        aside = progress.folder() / "aside" / f"{entry.sheet.name}-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1000:03}.ipynb"
        aside.parent.mkdir(parents=True, exist_ok=True)
        path.replace(aside)
        click.echo(f"put aside: {aside}")
    click.echo(_opened(entry.sheet.name))


@main.command()
@click.argument("entry", type=SHEET, metavar="SHEET")
@click.argument("part", default="")
@click.option("--give-up", is_flag=True, help="also where a part has not passed")
def solution(entry: progress.Entry, part: str, give_up: bool) -> None:
    """Our answers to a sheet, or to one part, once yours have passed."""
    names = _parts(entry, part)
    left = [name for name in names if name not in progress.passed()]
    if left and not give_up:
        ways = f"`course hint {entry.number}` says less, and `--give-up` shows the answers all the same"
        own = f"; with the name of a part, such as {left[0].split('/')[-1]}, of that part alone" if len(names) > 1 else ""
        raise click.ClickException(f"not passed yet: {', '.join(left)}. {ways}{own}")
    for own_part, _ in entry.sheet.minutes:
        if (name := sheet.full_name(entry.sheet, own_part)) in names:
            click.echo(f"# {name}: {sheet.handed_in(entry.sheet, own_part)}\n{sheet.answer_lines(entry.sheet, own_part)}")
    if len(names) == len(entry.minutes):
        click.echo(f"The whole sheet: {ROOT / 'solutions' / entry.sheet.name}.md")
    if left:
        click.echo(f"It counts once it has passed in your own copy: `course check {entry.number}`.")


@main.command()
def doctor() -> None:
    """What may be wrong with this installation, and the mend."""
    pins = [line.split("==") for line in (ROOT / "constraints.txt").read_text("utf8").splitlines() if "==" in line]
    off = [f"{name} {found or 'missing'}" for name, pin in pins if (found := _version(name)) != pin]
    data = os.environ.get("COURSE_DATA")
    room = shutil.disk_usage(ROOT).free / 1e9
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    rows = [
        ("Python", sys.version_info >= (3, 12), sys.version.split()[0], "install 3.12 or newer, then `make env`"),
        ("packages", not off, f"{len(pins)} pinned" if not off else f"other than pinned: {', '.join(off[:5])}", "`make env`"),
        ("data", not data or Path(data).is_dir(), data or "downloaded when needed", "unset COURSE_DATA, or let it name a folder"),
        ("disk", room > 1, f"{room:.0f} GB free", "make room for a gigabyte"),
        ("browser", bool(browser), browser or "none", "only `make test` needs Chromium and its driver"),
    ]
    for name, fine, words, mend in rows:
        click.echo(f"{'ok' if fine else '--'} {name:<9} {words}{'' if fine else f'   mend: {mend}'}")
    sys.exit(not all(fine for name, fine, *_ in rows if name != "browser"))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name.split("[")[0])
    except importlib.metadata.PackageNotFoundError:
        return None
