"""A folder of submissions, marked: a process a worker that judges (`judging`), and a file a submission with what was found."""

import contextlib
import hashlib
import json
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from course_pkg.checks.record import ROOT
from course_pkg.classroom.judging import Limits
from course_pkg.classroom.plan import SheetPoints, meant, plan

LARGEST = 20 << 20  # bytes of a notebook
FAILED = "The marker failed on this notebook, twice. Look at it, and run `course grade` again."


class Submission(NamedTuple):
    student: str
    sheet: str
    path: Path


def submissions(folder: Path, sheets: Sequence[str]) -> tuple[list[Submission], dict[Path, str]]:
    """What was handed in for ``sheets``, and the files that are passed over, each with the reason.

    The first folder is the student, whatever stands between it and the notebook; nbgrader's course folder will do as well. Of two
    notebooks for a sheet the one that was saved last counts.
    """
    folder = folder / "submitted" if (folder / "submitted").is_dir() else folder
    found, passed_over = dict[tuple[str, str], Submission](), dict[Path, str]()
    for path in sorted(folder.glob("*/**/*.ipynb")):
        student = path.relative_to(folder).parts[0]
        if ".ipynb_checkpoints" in path.parts or "__MACOSX" in path.parts:
            continue
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            passed_over[path] = f"a link, no file, or more than {LARGEST >> 20} megabytes"
            continue
        sheet = meant(path, tuple(sheets))
        if not sheet:
            passed_over[path] = "for none of the sheets, by its name; give it the name that the sheet was handed out under"
            continue
        before = found.get((student, sheet))
        if before and before.path.stat().st_mtime > path.stat().st_mtime:
            passed_over[path] = f"older than {before.path.name}"
            continue
        if before:
            passed_over[before.path] = f"older than {path.name}"
        found[student, sheet] = Submission(student, sheet, path)
    return sorted(found.values(), key=lambda one: (sheets.index(one.sheet), one.student)), passed_over


def students(folder: Path) -> list[str]:
    folder = folder / "submitted" if (folder / "submitted").is_dir() else folder
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))


def result_path(out: Path, student: str, sheet: str) -> Path:
    return out / "results" / student / f"{sheet.replace('/', '-')}.json"


def written(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    aside.write_text(text, "utf8")
    aside.replace(path)


def _digest(one: Submission, limits: Limits) -> str:
    """Changes with the submission, with the sheet and with the seed."""
    source = ROOT / "solutions" / f"{one.sheet}.md"
    record = source.with_name(f"{source.stem.replace('-', '_')}.py")
    raw = b"".join(path.read_bytes() for path in (one.path, source, record) if path.is_file())
    return hashlib.sha256(raw + str(limits.seed).encode()).hexdigest()


def standing(out: Path, student: str, sheet: str) -> dict[str, Any] | None:
    """The result that stands for a submission, if one does."""
    try:
        return json.loads(result_path(out, student, sheet).read_text("utf8"))
    except (OSError, ValueError):
        return None


class Worker:
    """A process that judges, begun anew whenever it ends."""

    def __init__(self, limits: Limits, working: Path):
        self.limits, self.working = limits, working
        self.process: Any = None

    def ask(self, one: Submission, seconds: float) -> dict[str, Any] | None:
        """What is found in a submission; nothing if the process fails on it."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-m", "course_pkg.classroom.judging"]
            paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            env = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": paths, "TMPDIR": str(self.working.resolve())}
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=env,
                start_new_session=True,
            )
        job = {"limits": self.limits, "sheet": one.sheet, "path": str(one.path.resolve())}
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], seconds)[0]:
                return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            pass
        self.close()
        return None

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.process:
            for pipe in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()
        self.process = None


def _altered(sheet: SheetPoints, cells: Sequence[Sequence[Any]]) -> list[str]:
    """What of the sheet's own marks a notebook has lost or changed. It has no effect on points, which are the sheet's."""
    ids = [cell[0] for cell in cells]
    notes = [f"{name}: missing" for name in sheet.cells if name not in ids]
    notes += [f"{name}: there {ids.count(name)} times" for name in sheet.cells if ids.count(name) > 1]
    for name, points, grade, solution, _ in cells:
        if name not in sheet.cells:
            notes.append(f"{name[:60]}: not of this sheet")
        elif (bool(grade), bool(solution)) != sheet.cells[name][1:] or (grade and points not in (sheet.cells[name][0], 0)):
            notes.append(f"{name}: its points or kind were changed")
    return sorted(set(notes))


def _noted(one: Submission, digest: str, found: dict[str, Any] | None) -> dict[str, Any]:
    sheet, cells = plan(one.sheet), (found or {}).get("cells", [])
    texts = {name: next((str(cell[4]) for cell in reversed(cells) if cell[0] == name), "") for name in sheet.texts}
    trouble = found["trouble"] if found else FAILED
    verdicts = (found or {}).get("verdicts", {})
    parts = {name: verdicts.get(name, [False, trouble]) for name in sheet.parts}
    notes = _altered(sheet, cells) if not trouble else [trouble]
    return {"student": one.student, "sheet": one.sheet, "digest": digest, "parts": parts, "texts": texts, "notes": notes}


def grade(found: Sequence[Submission], out: Path, limits: Limits, workers: int) -> list[Submission]:
    """Mark what has no result yet; return those on which the marker itself failed, which a further run tries again."""
    left: queue.Queue[tuple[Submission, str]] = queue.Queue()
    for one in found:
        before, digest = standing(out, one.student, one.sheet), _digest(one, limits)
        if not before or before["digest"] != digest:
            left.put((one, digest))
        plan(one.sheet)
    working = out / "working"  # a run that was killed may have left something there
    shutil.rmtree(working, ignore_errors=True)
    working.mkdir()
    failed: list[Submission] = []
    bar = tqdm(total=len(found), initial=len(found) - left.qsize(), unit="notebook", disable=None)
    threads = [
        threading.Thread(target=_work, args=(left, out, limits, failed, bar), daemon=True) for _ in range(min(workers, left.qsize()))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bar.close()
    shutil.rmtree(working, ignore_errors=True)
    return failed


def _work(left: queue.Queue[tuple[Submission, str]], out: Path, limits: Limits, failed: list[Submission], bar: Any) -> None:
    worker = Worker(limits, out / "working")
    try:
        for one, digest in _taken(left):
            seconds = 600 + len(plan(one.sheet).parts) * (60 + 5 * limits.seconds) * 4
            result = worker.ask(one, seconds) or worker.ask(one, seconds)
            if result is None:
                failed.append(one)
                digest = ""  # tried again by the next run
            written(result_path(out, one.student, one.sheet), json.dumps(_noted(one, digest, result), indent=1))
            bar.update()
    finally:
        worker.close()


def _taken(left: queue.Queue[tuple[Submission, str]]) -> Iterator[tuple[Submission, str]]:
    with contextlib.suppress(queue.Empty):
        while True:
            yield left.get_nowait()
