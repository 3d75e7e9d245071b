"""The process that judges submissions: ``python -m course_pkg.classroom.judging``, which holds the references and runs no student's code.

It reads a job a line, as JSON, and writes its result. A student's functions live in a process of their own for each part (`answers`):
it sends them inputs drawn with seeds that it keeps to itself, and compares the numbers that come back.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import nbformat
import numpy as np

from course_pkg.checks import sheet as sheets
from course_pkg.checks._judge import Task, Trouble, Verdict, agree, numbers
from course_pkg.checks._limit import TooLong, limited
from course_pkg.checks.record import ROOT, sheet_tasks
from course_pkg.classroom.answers import Work, end_with_parent
from course_pkg.classroom.plan import BY_HAND
from course_pkg.classroom.values import encode
from course_pkg.classroom.wire import Gone, Line, Remote

SEEDS = 3  # draws of the inputs, each of which an answer must pass
CALLS, AGAIN = 200, 1.0  # after that it is called so often, or for so many seconds, with inputs that it has seen
FILE, FOLDER = 10 << 20, 100 << 20  # bytes
TEXT = 20_000  # characters of a free text that are shown
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "COURSE_DATA", "VIRTUAL_ENV", "TZ")
CALM = {"JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
WAVERS = (
    "Right at first. Called again with the same arguments, your function gave another result: what it returns must depend on them alone."
)


class Limits(NamedTuple):
    """For one part."""

    seed: int
    seconds: float
    memory: int  # bytes


class Nursery:
    """The warm Python in which students' processes begin; it knows nothing that is secret."""

    def __init__(self) -> None:
        self.home = tempfile.mkdtemp(prefix="course-answers-")
        own, its = socket.socketpair()
        self.asked = own
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        env = kept | CALM | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "HOME": self.home, "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-m", "course_pkg.classroom.answers"]
        self.process = subprocess.Popen(
            command, stdin=its.fileno(), stdout=subprocess.DEVNULL, env=env, cwd=self.home, start_new_session=True
        )
        its.close()
        self._answer()

    def _answer(self) -> str:
        said = self.asked.recv(100)
        if not said:
            raise RuntimeError("the process in which answers live has ended")
        return said.decode().strip()

    @contextlib.contextmanager
    def line(self, cells: list[str], name: str, limits: Limits) -> Iterator[Line]:
        """A line to a new process that runs the cells which ``name`` needs, and lends it."""
        folder = Path(tempfile.mkdtemp(dir=self.home))
        work = Work(cells, name, str(folder), limits.memory, FILE)
        (folder / "work.json").write_text(json.dumps(work), "utf8")
        (read, its_write), (its_read, write) = os.pipe(), os.pipe()
        socket.send_fds(self.asked, [json.dumps({"work": str(folder / "work.json")}).encode()], [its_read, its_write])
        child = int(self._answer())
        os.close(its_read)
        os.close(its_write)
        try:
            yield Line((read, write), limits.seconds, lambda: _small(folder), lambda: starved(child) + starved(os.getpid()))
        finally:
            self.asked.sendall(json.dumps({"end": child}).encode())
            self._answer()
            os.close(read)
            os.close(write)
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        self.asked.close()
        self.process.wait(10)
        shutil.rmtree(self.home, ignore_errors=True)


def starved(process: int) -> float:
    """For how many seconds a process has wanted a core and got none: of its threads, the one that waited longest. 0 where nobody counts."""
    waited = [0]
    with contextlib.suppress(OSError, ValueError, IndexError):
        waited += [int(path.read_text("ascii").split()[1]) for path in Path(f"/proc/{process}/task").glob("*/schedstat")]
    return max(waited) / 1e9


def _small(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if sum(entry.stat().st_size for entry in os.scandir(folder)) > FOLDER:
            raise Gone("Your code wrote more files than there is room for.")


class Again:
    """An answer, with the first calls written down."""

    def __init__(self, remote: Remote):
        self.remote, self.seen = remote, list[tuple[Any, Any]]()

    def __call__(self, *args: Any) -> Any:
        got = self.remote(*args)
        traced = any(isinstance(leaf, jax.core.Tracer) or callable(leaf) for leaf in jax.tree.leaves(args))
        if len(self.seen) < 8 and not traced and not jax.config.jax_enable_x64:
            self.seen.append((args, got))
        return got

    def wavers(self) -> bool:
        """Whether the same arguments give another result at a later call."""
        until = time.monotonic() + AGAIN
        for k in range(CALLS if self.seen else 0):
            args, before = self.seen[k % len(self.seen)]
            if time.monotonic() > until:
                break
            try:
                if not _same(self.remote(*args), before):
                    return True
            except Trouble:
                return True
        return False


def _same(now: Any, before: Any) -> bool:
    nobody = Line((-1, -1))
    try:
        return encode(now, nobody) == encode(before, nobody) or agree(numbers(now), numbers(before), 1e-5)
    except Trouble:
        return False


def drawn_seeds(task: Task, own: Any, seed: int) -> list[int]:
    """Seeds for a task at which the course's own solution passes: a random answer that is right may fail at one in ten thousand."""
    rng = np.random.default_rng([seed, zlib.crc32(task.name.encode())])
    found: list[int] = []
    while len(found) < SEEDS:
        one = int(rng.integers(10_000, 2**31 - 10**6))
        if task.verdict(own, one).passed:
            found.append(one)
    return found


class Judge:
    """What is known of the sheets, and kept from one submission to the next."""

    def __init__(self, limits: Limits):
        self.limits, self.nursery, self.seeds = limits, Nursery(), dict[str, list[int]]()

    def judged(self, name: str, cells: list[str]) -> dict[str, Verdict]:
        """The verdict on each part of a sheet, of which ``cells`` is the code that was handed in."""
        tasks = sheet_tasks(name)
        sheet = sheets.read_sheet(ROOT / "solutions" / f"{name}.md", name)
        verdicts = {}
        for part, _ in sheet.minutes:
            task = tasks[sheets.full_name(sheet, part)]
            if task.name in BY_HAND:
                continue
            if task.name not in self.seeds:
                self.seeds[task.name] = drawn_seeds(task, sheets.solution(sheet, part), self.limits.seed)
            try:
                verdicts[task.name] = self._verdict(task, sheets.handed_in(sheet, part), cells)
            except Gone as gone:
                verdicts[task.name] = Verdict(False, str(gone))
        return verdicts

    def _verdict(self, task: Task, answer_name: str, cells: list[str]) -> Verdict:
        with self.nursery.line(cells, answer_name, self.limits) as line:
            words = line.receive()[1]
            if words:
                return Verdict(False, str(words))
            answer = Again(Remote(line, 0))
            for seed in self.seeds[task.name]:
                verdict = _calm(task, answer, seed, self.limits.seconds)
                if not verdict.passed:
                    return verdict
            line.seconds = self.limits.seconds  # who was slow has not wavered
            return Verdict(False, WAVERS) if answer.wavers() else verdict


def _calm(task: Task, answer: Any, seed: int, seconds: float) -> Verdict:
    try:
        with limited(60 + 5 * seconds):
            return task.verdict(answer, seed)
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    except TooLong:
        return Verdict(False, "What your function returned takes too long to compare.")
    except Exception as error:  # numbers of a kind that nobody has thought of
        return Verdict(False, f"What your function returned cannot be compared ({type(error).__name__}).")


def opened(path: Path) -> tuple[list[str], list[list[Any]]]:
    """The code cells of a notebook, and of each cell that nbgrader knows: its id, points, the rest of its marks, and its text.

    Raises:
        ValueError: if it is no notebook.
    """
    try:
        cells = nbformat.read(path, as_version=4).cells
        code = [str(cell.source) for cell in cells if cell.cell_type == "code"]
        known = [(cell.metadata["nbgrader"], str(cell.source)) for cell in cells if "nbgrader" in cell.metadata]
        marks = [[str(has.get("grade_id")), has.get("points"), has.get("grade"), has.get("solution"), text[:TEXT]] for has, text in known]
    except (Exception, RecursionError) as error:
        raise ValueError(
            f"This is no notebook that can be read: it is empty or cut off, or something else is in it ({type(error).__name__})."
        ) from None
    return code, marks


def listen() -> None:
    """Judge one job a line until there are no more."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing but results goes there
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides when to end
    end_with_parent()
    judge: Judge | None = None
    for text in sys.stdin:
        job = json.loads(text)
        if judge is None:
            judge = Judge(Limits(*job["limits"]))
        result: dict[str, Any] = {"trouble": ""}
        try:
            code, result["cells"] = opened(Path(job["path"]))
            result["verdicts"] = judge.judged(job["sheet"], code)
        except ValueError as error:
            result["trouble"] = str(error)
        out.write(json.dumps(result) + "\n")
        out.flush()
    if judge:
        judge.nursery.close()


if __name__ == "__main__":
    listen()
