"""Where students' functions live: ``python -m course_pkg.classroom.answers``, a warm Python that forks a fenced process for each.

It knows no reference and no seed. The process that judges asks for a fork over standard input, a socket, and gives it the pipes to
talk through (`wire`).
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple

import course_pkg.checks
from course_pkg.checks._judge import Trouble, calmly
from course_pkg.classroom import fence, wire
from course_pkg.classroom.trial import MAGIC, made

WARM = ("jax.numpy", "scipy.stats", "scipy.optimize", "scipy.special", "scipy.integrate")
LATER = ("matplotlib.pyplot", "numpyro.distributions", "optax")  # once some cell names them
SYSTEM = "/usr /lib /lib64 /etc/ld.so.cache /etc/localtime /etc/fonts /dev/urandom"
MACHINE = "/proc/cpuinfo /proc/meminfo /proc/self /sys/devices/system/cpu"


class Work(NamedTuple):
    """What a fork is to do: run ``cells`` for the function ``name``, and lend it, in ``folder``."""

    cells: list[str]
    name: str
    folder: str
    memory: int  # bytes
    file: int  # bytes


def readable() -> list[Path]:
    """What a student's code may read: Python, its libraries, the course's package and its data, and no solution."""
    data = [Path(os.environ["COURSE_DATA"])] if os.environ.get("COURSE_DATA") else []
    own = [Path(sys.prefix), Path(sys.base_prefix), Path(course_pkg.__file__).parent, *data]
    return [path.resolve() for path in own] + [Path(path) for path in f"{SYSTEM} {MACHINE}".split()]


def end_with_parent() -> None:
    """Let this process end with the one that began it, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def fork(work: Work, pipes: tuple[int, int]) -> int:
    """Begin a process that lends a student's function, and return its number."""
    child = os.fork()
    if not child:
        try:
            _live(work, pipes)
        finally:
            os._exit(0)
    return child


def _live(work: Work, pipes: tuple[int, int]) -> None:
    os.setsid()
    end_with_parent()
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")  # the first to go where memory is short
    kept = [os.dup(pipe) for pipe in pipes]
    for place in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), place)
    for place, pipe in enumerate(kept, 100):
        os.dup2(pipe, place)
    os.closerange(3, 100)
    os.closerange(102, 4096)
    os.chdir(work.folder)
    os.environ.update({"HOME": work.folder, "TMPDIR": work.folder, "MPLCONFIGDIR": work.folder})
    for name in ("check", "hint"):  # a student may have left some in the cell of an answer
        setattr(course_pkg.checks, name, lambda *_, **__: None)
    fence.limit(work.memory, work.file)
    fence.shut(Path(work.folder), readable())
    line = wire.Line((100, 101))
    try:
        line.send(["ready", _lend(work, line), []])
        while True:
            line.serve(line.receive())
    except wire.Gone:
        pass


def _lend(work: Work, line: wire.Line) -> str:
    """Make the function and lend it, under the number 0; or say why not."""
    try:
        answer = made(upto([MAGIC.sub(r"\1pass", cell) for cell in work.cells], work.name), work.name)
    except NotImplementedError:
        return "It needs an answer that is not written yet."
    except (KeyboardInterrupt, Exception, SystemExit) as problem:
        if isinstance(problem, NameError) and problem.name == work.name:
            return f"`{work.name}` is defined in no cell."
        return f"A cell that it needs stops: {type(problem).__name__}: {problem}"[:2000]
    if not callable(answer):
        return f"`{work.name}` should be a function; this is a {type(answer).__name__}."

    def lent(*args: Any) -> Any:
        try:
            return calmly(answer, *args)
        except (KeyboardInterrupt, GeneratorExit) as problem:
            raise Trouble(f"Your function raised {type(problem).__name__}.") from None

    line.lent.append(lent)
    return ""


def upto(cells: list[str], name: str) -> list[str]:
    """The cells before the one that hands ``name`` in; if there is none, up to the last that defines it or gives it a rule."""
    defined = [place for place, cell in enumerate(cells) if re.search(rf"^(def {name}\b|{name} *=|{name}\.defjvp\b)", cell, re.M)]
    handed = [place for place, cell in enumerate(cells) if re.search(rf'^check\("[^"]+", ?{name}\)', cell, re.M)]
    handed = [place for place in handed if place not in defined]  # who checks in the cell of the answer
    last = handed or [place + 1 for place in defined]
    return cells[: last[-1]] if last else cells


def begin() -> None:
    """Warm up, and fork whenever one is asked for, until nobody asks."""
    end_with_parent()
    for library in WARM:
        importlib.import_module(library)
    gc.freeze()
    asked, children = socket.socket(fileno=0), set[int]()
    asked.sendall(b"ready\n")
    while True:
        message, pipes, *_ = socket.recv_fds(asked, 1 << 16, 2)
        if not message:
            break
        order = json.loads(message)
        if "end" in order:
            child = order["end"]
            if child in children:
                children.remove(child)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        else:
            work = Work(*json.loads(Path(order["work"]).read_text("utf8")))
            for library in LATER:
                if any(library.split(".")[0] in cell for cell in work.cells):
                    with contextlib.suppress(ImportError):
                        importlib.import_module(library)
            child = fork(work, (pipes[0], pipes[1]))
            children.add(child)
            for pipe in pipes:
                os.close(pipe)
        asked.sendall(f"{child}\n".encode())


if __name__ == "__main__":
    begin()
