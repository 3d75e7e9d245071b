"""A task as one record: how an answer to it is judged, and the words for slips that are known by name.

The records lie beside the sheets, in ``solutions/<chapter>/<sheet>.py``: a table ``TASKS`` from the names of the sheet's parts to a
`Record`. What an answer must be called, its arguments, title, stars and minutes are read from the sheet itself.
"""

import copy
import functools
import importlib
import sys
import tomllib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import course_pkg
from course_pkg.checks import sheet as sheets
from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, agree, call, numbers, read, shape_words
from course_pkg.checks._settle import settled
from course_pkg.checks._small import MEETS, meets
from course_pkg.checks._tables import telling
from course_pkg.checks.sheet import Slip
from course_pkg.checks.slips import named, shared_slip

Cases = Sequence[tuple[Any, ...]]
Draw = Callable[[np.random.Generator], Iterable[tuple[Any, ...]]]
ROOT = Path(course_pkg.__file__).parent.parent


class Record(NamedTuple):
    """One function to write.

    Attributes:
        cases: draws the inputs on which an answer is tried.
        reference: the right result, by another road than the sheet teaches.
        right: said of a right answer.
        nudge: said where nothing else is known: a small case, worked out by hand.
        hints: the idea, the equation, the first line.
        mistakes: words, and the slips that deserve them: edits of the solution's lines (`sheet.slipped`), split by ``||``, or functions.
        later: words for answers that are right on these cases and wrong on further ones: those cases, and a slip that meets them.
        parts: names of the parts of a result that is a tuple.
        view: ``view(answer, *case)`` is compared with the reference, where that is not the answer's own result.
        rtol: how near a result must come, relative to its largest number.
        apart: draw the cases again until reference and slips differ on them by a fiftieth; also slips without words, under ``""``.
        by: ``by(answer, seed, mistakes)`` judges in place of all this, where answers are random; ``mistakes`` holds functions by words.
    """

    right: str
    nudge: str
    hints: tuple[str, str, str]
    cases: Draw = lambda rng: []
    reference: Callable[..., Any] = lambda *case: ()
    mistakes: Mapping[str, Slip | tuple[Slip, ...]] = {}
    later: Mapping[str, tuple[Draw, Slip | tuple[Slip, ...]]] = {}
    parts: Sequence[str] = ()
    view: Callable[..., Any] = lambda answer, *case: answer(*case)
    rtol: float = 1e-4
    apart: bool = False
    by: Callable[[Any, int, dict[str, list[Callable[..., Any]]]], Verdict] | None = None


def _several(slips: Slip | tuple[Slip, ...]) -> tuple[Slip, ...]:
    if isinstance(slips, str):
        return tuple(slips.split(" || "))
    return slips if isinstance(slips, tuple) else (slips,)


def _named(record: Record) -> list[tuple[str, Slip | tuple[Slip, ...]]]:
    return [(words, slips) for words, slips in record.mistakes.items() if words]


def _mistakes(record: Record, sheet: sheets.Sheet, part: str) -> dict[str, list[Callable[..., Any]]]:
    table = [*_named(record), *((words, slips) for words, (_, slips) in record.later.items())]
    found: dict[str, list[Callable[..., Any]]] = {}
    for words, slips in table:  # a slip that shows only later may share its words with one that shows at once
        found.setdefault(words, []).extend(sheets.slipped(sheet, part, slip) for slip in _several(slips))
    return found


def _drawn(draw: Draw, *stream: int) -> Cases:
    return [tuple(case) for case in draw(np.random.default_rng(stream))]


def _cases(record: Record, sheet: sheets.Sheet, part: str, seed: int) -> Cases:
    stream = zlib.crc32(f"{sheet.name}/{part}".encode())
    if not record.apart:
        return _drawn(record.cases, seed, stream)
    rng = np.random.default_rng([seed, stream])
    wrong = [
        (words, partial(record.view, sheets.slipped(sheet, part, slip)))
        for words, slips in record.mistakes.items()
        for slip in _several(slips)
    ]
    return telling(lambda: [tuple(case) for case in record.cases(rng)], record.reference, wrong)


class Trial(NamedTuple):
    """What answers are tried on, found once for all of them."""

    cases: Cases
    want: list[tuple[np.ndarray, ...]]  # what the reference gives
    slips: Callable[[], list[tuple[str, list[tuple[np.ndarray, ...]]]]]  # words, and what the slips that deserve them give


def _trial(record: Record, sheet: sheets.Sheet, part: str, seed: int) -> Trial:
    cases = _cases(record, sheet, part, seed)
    want = _wanted(record, copy.deepcopy(cases))
    return Trial(cases, want, functools.cache(partial(_slips, record, sheet, part, cases)))


def _slips(record: Record, sheet: sheets.Sheet, part: str, cases: Cases) -> list[tuple[str, list[tuple[np.ndarray, ...]]]]:
    found = []
    for words, slips in _named(record):
        for slip in _several(slips):
            wrong = sheets.slipped(sheet, part, slip)
            try:
                found.append((words, [numbers(record.view(wrong, *case)) for case in copy.deepcopy(cases)]))
            except (Exception, Trouble):  # a slip that cannot be carried out here
                continue
    return found


def judge_record(record: Record, sheet: sheets.Sheet, part: str, trial: Callable[[int], Trial], answer: Any, seed: int) -> Verdict:
    """The verdict on an answer to the trial for a seed."""
    with np.errstate(all="ignore"):
        if record.by:
            return record.by(answer, seed, _mistakes(record, sheet, part))
        tried, own = trial(seed), sheets.solution(sheet, part)
        cases = copy.deepcopy(tried.cases)
        verdict = settled(_judged(record, sheet, part, answer, tried._replace(cases=cases)), answer, cases, own, record.nudge)
        for k, (words, (later, _)) in enumerate(record.later.items()):
            if verdict.passed:
                cases = _drawn(later, seed, zlib.crc32(part.encode()), k)
                right = _right(record, answer, cases)
                verdict = settled(verdict, answer, cases, own, record.nudge) if right else Verdict(False, words)
        return verdict


def _wanted(record: Record, cases: Cases) -> list[tuple[np.ndarray, ...]]:
    return [numbers(record.reference(*case)) for case in cases]


def _results(record: Record, answer: Any, cases: Cases, want: list[tuple[np.ndarray, ...]]) -> list[tuple[np.ndarray, ...]]:
    return [read(record.view(partial(call, answer), *case), w) for case, w in zip(cases, want, strict=True)]


def _right(record: Record, answer: Any, cases: Cases) -> bool:
    want = _wanted(record, cases)
    try:
        return _same(record, _results(record, answer, cases, want), want)
    except Trouble:
        return False


def _judged(record: Record, sheet: sheets.Sheet, part: str, answer: Any, trial: Trial) -> Verdict:
    cases, want, _ = trial
    got = _results(record, answer, cases, want)
    if _same(record, got, want):
        return Verdict(True, record.right)
    for words, given in trial.slips():
        if _same(record, got, given):
            return Verdict(False, words)
    own = sheets.solution(sheet, part)
    known = functools.wraps(own)(partial(record.view, own))
    words = shared_slip(got, want, cases, known, record.parts)
    if not named(words):
        words += next(filter(None, map(shape_words, got, want)), "")
    if named(words):
        return Verdict(False, words.rstrip())
    small = meets(answer, own, record.nudge, list(signature(own).parameters), cases[0])
    return Verdict(False, words + (MEETS if small else record.nudge))


def _same(record: Record, got: Sequence[Any], given: Sequence[Any]) -> bool:
    return all(agree(g, w, record.rtol) for g, w in zip(got, given, strict=True))


def _stub(own: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the same arguments that is yet to be written."""

    def stub(*_: Any) -> Any:
        raise NotImplementedError

    stub.__signature__ = signature(own)  # type: ignore[attr-defined]
    return stub


@functools.lru_cache
def sheet_tasks(name: str) -> dict[str, Task]:
    """The tasks of one sheet, such as ``"decisions/ridge"``, by their names; none if it has no record.

    Raises:
        LookupError: if a record does not fit its sheet, as where a slip edits what the solution does not hold.
    """
    path = ROOT / "solutions" / f"{name}.py"
    path = path.with_name(path.name.replace("-", "_"))
    if not path.is_file():
        return {}
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    records: dict[str, Record] = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)).TASKS
    sheet = sheets.read_sheet(ROOT / "solutions" / f"{name}.md", name)
    return {sheets.full_name(sheet, part): _task(record, sheet, part) for part, record in records.items()}


def _task(record: Record, sheet: sheets.Sheet, part: str) -> Task:
    own = sheets.solution(sheet, part)
    heading = next(cell.heading for cell in sheet.cells if cell.answers and cell.part == part)
    mistakes = {
        f"{words} {k}": Mistake(one, words) for words, slips in _mistakes(record, sheet, part).items() for k, one in enumerate(slips)
    }
    trial = functools.lru_cache(maxsize=8)(partial(_trial, record, sheet, part))  # references, and cases drawn until slips part, take time
    verdict = partial(judge_record, record, sheet, part, trial)
    below = f" {heading}" if sheet.title.endswith("?") else f": {heading[:1].lower()}{heading[1:]}"
    title = sheet.title + (below if heading else "")
    return Task(sheets.full_name(sheet, part), title, sheet.stars, dict(sheet.minutes)[part], _stub(own), record.hints, mistakes, verdict)


def sheet_names() -> list[str]:
    """Every sheet that has a record, in the order in which a reader meets them."""
    order = tomllib.loads((ROOT / "solutions" / "order.toml").read_text("utf8"))
    return [f"{chapter}/{name}" for chapter, names in order.items() for name in names]
