"""What the exercises call: ``check`` judges an answer, ``hint`` helps, ``tasks`` lists what there is.

A verdict is immediate and needs no network: the same answer gets the same verdict. Where the answer is random, it is judged by
its Monte Carlo error. What has passed is noted in a plain file in the student's own folder (`progress`); nothing leaves the
machine. An answer that does not pass raises :class:`NotYet`, which a notebook shows as one line, and which a grader or a test
sees as a failure.
"""

import difflib
import functools
import sys
import traceback
from typing import Any

from course_pkg.checks._guess import compare, guessed
from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, unwritten
from course_pkg.checks._limit import TooLong, limited
from course_pkg.checks.progress import note, status
from course_pkg.checks.record import sheet_names, sheet_tasks

__all__ = [
    "Mistake",
    "NotYet",
    "Task",
    "Trouble",
    "Verdict",
    "catalogue",
    "check",
    "compare",
    "guessed",
    "hint",
    "judge",
    "status",
    "tasks",
]

_STAGES = ("the idea", "the equation", "the first line")
SECONDS = 60.0  # for a verdict; an honest answer takes one or two


class NotYet(Exception):  # noqa: N818  (a verdict, not a malfunction)
    """An answer that does not pass yet. A notebook shows its message and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"Not yet. {self}" if not str(self).startswith("Not ") else str(self)]


class NoSuchHint(ValueError):  # noqa: N818  (read in a sheet, where it is one line as well)
    """A level that no hint has. A notebook shows its message and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@functools.lru_cache
def catalogue() -> dict[str, Task]:
    """Every task by its name, in the order in which a reader meets them.

    Example:
        >>> catalogue()["decisions/classification/threshold"].stars
        1
    """
    return {name: task for sheet in sheet_names() for name, task in sheet_tasks(sheet).items()}


def _find(name: str) -> Task:
    found = sheet_tasks("/".join(str(name).split("/")[:2])).get(name)
    if found:
        return found
    near = difflib.get_close_matches(str(name), catalogue(), n=1, cutoff=0.0)
    raise ValueError(f"there is no task named {name!r}; did you mean {near[0]!r}? tasks() lists them all")


def judge(name: str, answer: Any, seed: int = 0) -> Verdict:
    """The verdict on an answer as a value, for those who want to look at it rather than be stopped by it.

    Args:
        name: a task's name, such as ``"decisions/ridge"``.
        answer: the function that was to be written.
        seed: draws the inputs on which the answer is tried.

    Raises:
        ValueError: if no task has this name.

    Example:
        >>> judge("decisions/classification/threshold", lambda alpha, beta: 0.5).passed
        False
    """
    verdict = _find(name).verdict
    try:
        with limited(SECONDS):
            return verdict(answer, seed)
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    except TooLong:
        return Verdict(False, f"No answer after {SECONDS:.0f} seconds. Is there a loop that never ends, or one that could be an array?")


def check(name: str, answer: Any, seed: int = 0) -> None:
    """Print the verdict on an answer.

    Args:
        name: a task's name, such as ``"decisions/ridge"``.
        answer: the function that was to be written.
        seed: draws the inputs on which the answer is tried.

    Raises:
        NotYet: if the answer does not pass; the message says what to look at.
        ValueError: if no task has this name.

    Example:
        >>> check("decisions/classification/threshold", lambda alpha, beta: 0.5)
        Traceback (most recent call last):
        ...
        course_pkg.checks.NotYet: ...
    """
    verdict = judge(name, answer, seed)
    if not verdict.passed:
        raise NotYet(verdict.message)
    note(name)
    print(verdict.message)


def hint(name: str, level: int = 1) -> None:
    """Print a hint: level 1 is the idea, 2 the equation, 3 the first line of code; 0 waits to be asked, and prints nothing.

    Raises:
        ValueError: if no task has this name, or ``level`` is not 0, 1, 2 or 3.

    Example:
        >>> hint("decisions/classification/threshold")
        Hint 1 of 3, the idea: ...
    """
    task = _find(name)
    if level not in (0, 1, 2, 3):
        raise NoSuchHint(f"level is {level!r}; hints have level 1, the idea, 2, the equation, and 3, the first line of code")
    if level:
        print(f"Hint {level} of 3, {_STAGES[level - 1]}: {task.hints[level - 1]}")


def tasks() -> None:
    """List every task's name, stars and minutes.

    Example:
        >>> tasks()
        decisions/...
    """
    width = max(map(len, catalogue()))
    for task in catalogue().values():
        print(f"{task.name:<{width}}  {'*' * task.stars:<3}  {task.minutes:>2} min  {task.title}")


def _calm(shell: Any, kind: type, error: Exception, trace: Any, tb_offset: Any = None) -> None:
    """One line, in a notebook, for a cell that calls what is not written yet, or hands in what no cell that has run defines."""
    words = ""
    if isinstance(error, NotImplementedError) and not str(error):
        words = unwritten(error)
    elif isinstance(error, NameError) and (traceback.extract_tb(trace)[-1].line or "").startswith("check("):
        words = f"`{error.name}` is not there. Run the cells above that one; if none of them defines it, was its cell deleted or renamed?"
    if words:
        shell._showtraceback(kind, error, [words])
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()):
    _shell.set_custom_exc((NotImplementedError, NameError), _calm)
