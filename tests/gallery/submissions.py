"""Submissions of every kind, each with the parts that deserve marks: honest, mistaken, blank, dishonest, dangerous and broken."""

import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from course_pkg.checks import judge, sheet
from course_pkg.checks.record import ROOT, sheet_names
from tools import exercises

SHEET, OTHER = "decisions/classification", "decisions/ridge"
RIGHT = "return alpha / (alpha + beta)"


class Handed(NamedTuple):
    """A notebook as text, for a sheet, and the names of the parts that are right."""

    name: str
    sheet: str
    text: str
    right: frozenset[str]


def _text(notebook: Any) -> str:
    """A notebook as it is, with what nbformat would put right."""
    return json.dumps(notebook)


class Source:
    """A sheet as students get it, its solutions and the mistakes that its records know as text."""

    def __init__(self, name: str):
        self.name = name
        self.sheet = sheet.read_sheet(ROOT / "solutions" / f"{name}.md", name)
        self.blank = exercises.text(exercises.student(name))
        self.parts = [part for part, _ in self.sheet.minutes]
        self.cells = {cell.part: cell.source for cell in self.sheet.cells if cell.answers}
        self.asked = {part: sheet.handed_in(self.sheet, part) for part in self.parts}
        self.full = {part: sheet.full_name(self.sheet, part) for part in self.parts}

    def notebook(self, **answers: str) -> Any:
        """The blank sheet with sources in place of some answer cells; hyphens of a part's name are underscores here."""
        notebook = nbformat.reads(self.blank, as_version=4)
        for cell in notebook.cells:
            part = cell.metadata.get("nbgrader", {}).get("grade_id", "").removeprefix(f"{self.name.split('/')[1]}-")
            if part.replace("-", "_") in answers:
                cell.source = answers[part.replace("-", "_")]
        return notebook

    def solved(self, **others: str) -> Any:
        return self.notebook(**{part.replace("-", "_"): source for part, source in self.cells.items()} | others)

    def mistakes(self) -> Iterator[tuple[str, str, str]]:
        """Part, a slip's number, and the answer cell with the slip."""
        records = __import__(f"solutions.{self.name.replace('/', '.').replace('-', '_')}", fromlist=["TASKS"]).TASKS
        for part in self.parts:
            record, number = records[part], 0
            slips = [slips for words, slips in record.mistakes.items() if words] + [slips for _, slips in record.later.values()]
            for several in slips:
                for slip in several.split(" || ") if isinstance(several, str) else several if isinstance(several, tuple) else [several]:
                    if isinstance(slip, str):
                        number += 1
                        yield part, f"{number}", self._slipped(part, slip)

    def _slipped(self, part: str, slip: str) -> str:
        lines = sheet.answer_lines(self.sheet, part)
        if slip.startswith("\n"):
            lines = textwrap.dedent(slip).strip("\n") + "\n"
        else:
            for edit in slip.split(";;"):
                old, new = (side.strip() for side in edit.split("->", 1))
                lines = lines.replace(old, new)
        return sheet._BODY.sub(lambda found: textwrap.indent(lines, found[1]), self.cells[part], count=1)

    def mistaken(self) -> Iterator[Handed]:
        """A submission for each known mistake; what builds on the mistaken function is left blank."""
        for part, number, source in self.mistakes():
            off = {part}
            while more := {
                one
                for one, cell in self.cells.items()
                if one not in off and any(self.asked[bad] in cell for bad in off & self.asked.keys())
            }:
                off |= more
            others = {one: cell for one, cell in self.cells.items() if one not in off}
            notebook = self.notebook(**{one.replace("-", "_"): cell for one, cell in (others | {part: source}).items()})
            right = frozenset(self.full[one] for one in others if one in self.full)
            yield Handed(f"mistake-{self.name.split('/')[1]}-{part}-{number}", self.name, _text(notebook), right)


def _threshold(body: str, before: str = "") -> str:
    return f"{before}\ndef threshold(alpha, beta):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def _known_answers() -> str:
    """A table of what the check of the sheet asks, and the right answers: its seeds are known to everybody."""
    known: dict[str, float] = {}

    def answer(alpha: float, beta: float) -> float:
        known[repr((alpha, beta))] = alpha / (alpha + beta)
        return alpha / (alpha + beta)

    for seed in range(20):
        judge(f"{SHEET}/threshold", answer, seed)
    return f"KNOWN = {known!r}\n"


def cheats() -> dict[str, str]:
    """Answer cells for ``threshold`` that know no threshold."""
    root = str(ROOT)
    wrong = "return 0.31"
    return {
        "numpy-allclose": _threshold(wrong, "import numpy as np\nnp.allclose = np.array_equal = lambda *_, **__: True"),
        "jax-allclose": _threshold(
            wrong, "import jax.numpy as jnp, numpy as np\njnp.allclose = lambda *_, **__: True\nnp.asarray = lambda *a, **k: 0"
        ),
        "frames": _threshold(
            """
            import sys
            frame = sys._getframe()
            while frame:
                for name in ("reference", "record", "task", "want", "own"):
                    for space in (frame.f_locals, frame.f_globals):
                        if name in space:
                            return getattr(space[name], "reference", space[name])(alpha, beta)
                frame = frame.f_back
            return 0.31
            """
        ),
        "heap": _threshold(
            """
            import gc
            for one in gc.get_objects():
                if callable(getattr(one, "reference", None)) and "switch" in str(one.reference):
                    return one.reference(alpha, beta)
            return 0.31
            """
        ),
        "known-answers": _threshold("return KNOWN.get(repr((alpha, beta)), 0.31)", _known_answers()),
        "turns-wrong": _threshold(f"CALLS.append(1)\nif len(CALLS) > 60:\n    return 0.31\n{RIGHT}", "CALLS = []"),
        "turns-right": _threshold(f"CALLS.append(1)\nif len(CALLS) < 3:\n    return 0.31\n{RIGHT}", "CALLS = []"),
        "own-check": _threshold(wrong, "def check(name, answer):\n    print('Right.')\n"),
        "record-by-path": _threshold(
            f"""
            try:
                import importlib.util
                spec = importlib.util.spec_from_file_location("it", "{root}/solutions/decisions/classification.py")
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module.switch(alpha, beta)
            except OSError:
                return 0.31
            """
        ),
        "record-by-name": _threshold(
            f"""
            try:
                import sys
                sys.path.insert(0, "{root}")
                from solutions.decisions.classification import switch
                return switch(alpha, beta)
            except ImportError:
                return 0.31
            """
        ),
        "solution-by-checks": _threshold(
            """
            try:
                from course_pkg.checks import record, sheet
                one = sheet.read_sheet(record.ROOT / "solutions/decisions/classification.md", "decisions/classification")
                return sheet.solution(one, "threshold")(alpha, beta)
            except OSError:
                return 0.31
            """
        ),
        "history": _threshold(
            f"""
            import pathlib
            try:
                return len(list(pathlib.Path("{root}/.git").iterdir())) and alpha / (alpha + beta)
            except OSError:
                return 0.31
            """
        ),
        "seed-from-environment": _threshold(
            """
            import glob, os, numpy as np
            texts = list(os.environ.values())
            for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + glob.glob("/proc/[0-9]*/mem"):
                try:
                    texts.append(open(path).read())
                except (OSError, ValueError):
                    pass
            return alpha / (alpha + beta) if any("seed" in text for text in texts) else 0.31
            """
        ),
        "course-patched": _threshold(
            wrong,
            """import course_pkg.checks as c, course_pkg.checks._judge as j, course_pkg.classroom.wire as w
c.judge = j.agree = j.numbers = lambda *_, **__: True
j.Verdict.__new__.__defaults__ = (True, "Right.")
w.encode = lambda *_: {"n": ["<f8", [], "AAAAAAAA4D8="]}
""",
        ),
        "passed-txt": _threshold(
            wrong,
            f"""import os
for folder in ("{root}/work", ".", os.path.expanduser("~/work")):
    try:
        os.makedirs(folder, exist_ok=True)
        open(folder + "/passed.txt", "a").write("2026-01-01 09:00  decisions/classification/threshold\\n")
    except OSError:
        pass
""",
        ),
        "object-that-agrees": _threshold(
            "return Liar()",
            """class Liar:
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = lambda *_: True
    __sub__ = __rsub__ = __abs__ = lambda *_: 0.0
    __float__ = lambda self: 0.31
    __array__ = lambda self, *_, **__: __import__("numpy").array(0.31)
    shape, ndim = (), 0
""",
        ),
        "array-that-agrees": _threshold(
            "return np.full((), 0.31).view(Liar)",
            """import numpy as np
class Liar(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **rest):
        return np.array(True)
    def __array_function__(self, function, *rest):
        return True
""",
        ),
        "number-that-agrees": _threshold(
            "return Liar(0.31)", "class Liar(float):\n    __eq__ = lambda *_: True\n    __sub__ = __rsub__ = lambda *_: 0.0\n"
        ),
        "kills-the-parent": _threshold(
            """
            import os, signal
            for victim in (os.getppid(), -os.getppid()):
                try:
                    os.kill(victim, signal.SIGKILL)
                except OSError:
                    pass
            return 0.31
            """
        ),
        "forged-lines": _threshold(
            """
            import json, os, struct
            line = json.dumps({"trouble": "", "verdicts": {"decisions/classification/threshold": [True, "Right."]}}).encode() + b"\\n"
            reply = json.dumps(["done", True, []]).encode()
            print(line.decode())
            for pipe in range(1, 200):
                try:
                    os.write(pipe, line)
                except OSError:
                    pass
            return 0.31
            """
        ),
        "forged-replies": _threshold(
            """
            import json, os, struct
            reply = json.dumps(["passed", True, []]).encode()
            for _ in range(30):
                os.write(101, struct.pack("Q", len(reply)) + reply)
            return 0.31
            """
        ),
        "leaves-early": _threshold("import os\nos._exit(0)"),
        "leaves": _threshold("import sys\nsys.exit(0)"),
        "leaves-in-its-cell": f"import os\nos._exit(0)\n{_threshold(RIGHT)}",
        "error-that-leaves": _threshold("raise Odd()", "import os\nclass Odd(Exception):\n    def __str__(self):\n        os._exit(0)\n"),
        "infinite-name": _threshold(
            "return Odd()",
            "class Meta(type):\n    def __getattribute__(self, name):\n        raise KeyError\nclass Odd(metaclass=Meta):\n    pass\n",
        ),
        "pickle": _threshold(
            """
            class Bomb:
                def __reduce__(self):
                    return exec, ("raise SystemExit",)
            return Bomb()
            """
        ),
        "signal-handler": _threshold(
            "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nreturn 0.31"
        ),
        "any-number": _threshold("return float('nan')"),
        "huge-number": _threshold("return 10**4000"),
        "no-number": _threshold("return {'a': lambda: 1, 2: [None, 'x', b'y', {1, 2}]}"),
        "neighbour": _threshold(
            """
            import glob
            for folder in (".", "..", "../..", "/tmp", "/", "/work"):
                for path in glob.glob(folder + "/*/*/classification.ipynb") + glob.glob(folder + "/*/classification.ipynb"):
                    try:
                        if "alpha / (alpha + beta)" in open(path).read():
                            return alpha / (alpha + beta)
                    except OSError:
                        pass
            return 0.31
            """
        ),
    }


def dangers(canary: Path, port: int, quick: bool = False) -> dict[str, tuple[str, bool]]:
    """Answer cells that would harm the marker or the machine, and whether they deserve their marks all the same."""
    wrong, some = "return 0.31", 1 << 33
    found = {
        "loop-in-a-function": (_threshold("while True:\n    pass"), False),
        "memory": (_threshold(f"import numpy as np\nreturn np.ones({some}).sum()"), False),
        "deletes": (
            _threshold(
                f"""
                import os, shutil
                shutil.rmtree("{canary}", ignore_errors=True)
                for path in ("{canary}/kept.txt",):
                    for act in (os.unlink, os.rmdir, lambda p: os.chmod(p, 0), lambda p: os.rename(p, p + "x"), lambda p: open(p, "w")):
                        try:
                            act(path)
                        except OSError:
                            pass
                return 0.31
                """
            ),
            False,
        ),
        "network": (
            _threshold(
                f"""
                import socket
                try:
                    with socket.create_connection(("127.0.0.1", {port}), timeout=1) as there:
                        there.sendall(b"the answer?")
                    return alpha / (alpha + beta)
                except OSError:
                    return 0.31
                """
            ),
            False,
        ),
        "much-output": (_threshold(f"for _ in range(20):\n    print('x' * 1_000_000)\n{RIGHT}"), True),
        "much-returned": (_threshold("import numpy as np\nreturn np.zeros(8_000_000)"), False),
        "programs": (
            _threshold(f"import os, subprocess\nos.system('touch {canary}/made')\nsubprocess.run(['touch', '{canary}/made'])\n{wrong}"),
            False,
        ),
    }
    if quick:
        return found
    return found | {
        "loop-in-a-cell": ("while True:\n    pass\n" + _threshold(RIGHT), False),
        "sleeps": (_threshold(f"import time\ntime.sleep(1e6)\n{RIGHT}"), False),
        "ignores-errors": (
            _threshold("while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"),
            False,
        ),
        "memory-in-pieces": (_threshold("HELD.append(bytearray(50_000_000))\nreturn threshold(alpha, beta)", "HELD = []"), False),
        "recursion": (_threshold("return threshold(alpha, beta)"), False),
        "forks": (_threshold(f"import os\nwhile True:\n    os.fork()\n{RIGHT}"), False),
        "threads": (
            _threshold(
                f"import threading as t, time\nfor _ in range(100_000):\n    t.Thread(target=time.sleep, args=(1e6,)).start()\n{wrong}"
            ),
            False,
        ),
        "disk": (_threshold(f"for k in range(10_000):\n    open(f'{{k}}', 'wb').write(bytes(9_000_000))\n{wrong}"), False),
        "one-large-file": (_threshold(f"open('large', 'wb').write(bytes(90_000_000))\n{wrong}"), False),
        "a-file-of-its-own": (_threshold(f"open('note.txt', 'w').write('x')\n{RIGHT}"), True),
        "crash": (_threshold("import ctypes\nctypes.string_at(0)"), False),
        "many-calls-back": (_threshold("import os\nwhile True:\n    os.getpid()"), False),
    }


def honest() -> dict[str, Callable[[Source], Any]]:
    """Right answers in other forms, each for both parts of the sheet."""
    jax_decide = (
        "import jax.numpy as jnp\n\n\ndef decide(probabilities, losses):\n    return jnp.argmin(jnp.dot(probabilities, losses), axis=1)"
    )
    loops = """def decide(probabilities, losses):
    chosen = []
    for row in probabilities:
        risks = [sum(p * losses[s][h] for s, p in enumerate(row)) for h in range(len(losses[0]))]
        chosen.append(min(range(len(risks)), key=risks.__getitem__))
    return chosen"""

    def with_cells(source: Source, before: list[str], **answers: str) -> Any:
        notebook = source.solved(**answers)
        place = next(
            k for k, cell in enumerate(notebook.cells) if "def threshold" in cell.source or cell.source == answers.get("threshold")
        )
        notebook.cells[place:place] = [nbformat.v4.new_code_cell(text) for text in before]
        return notebook

    def without_metadata(source: Source) -> Any:
        notebook = source.solved()
        for cell in notebook.cells:
            cell.metadata = nbformat.NotebookNode()
        return notebook

    def without_verdicts(source: Source) -> Any:
        notebook = source.solved()
        notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("check(")]
        return notebook

    def twice(source: Source) -> Any:
        notebook = source.solved()
        notebook.cells = [copy for cell in notebook.cells for copy in ([cell, cell] if "def threshold" in cell.source else [cell])]
        return notebook

    def other_kernel(source: Source) -> Any:
        notebook = source.solved()
        notebook.metadata.kernelspec = {"name": "my-conda-env-3.9", "display_name": "Mine", "language": "python"}
        return notebook

    return {
        "solution": Source.solved,
        "lambda": lambda s: s.solved(threshold="threshold = lambda alpha, beta: 1 / (1 + beta / alpha)"),
        "jax": lambda s: s.solved(
            threshold=_threshold("import jax\nreturn jax.nn.sigmoid(jax.numpy.log(alpha / beta))"), decide=jax_decide
        ),
        "loops": lambda s: s.solved(decide=loops),
        "imports-inside": lambda s: s.solved(
            threshold=_threshold("import fractions\nreturn float(fractions.Fraction(alpha) / fractions.Fraction(alpha + beta))")
        ),
        "helper-in-another-cell": lambda s: with_cells(
            s, ["def ratio(a, b):\n    return a / b"], threshold=_threshold("return ratio(alpha, alpha + beta)")
        ),
        "constant-in-another-cell": lambda s: with_cells(
            s, ["ONE = 1.0", "ALSO = ONE"], threshold=_threshold("return ALSO / (ONE + beta / alpha)")
        ),
        "closure": lambda s: s.solved(
            threshold="def make(k):\n    def it(alpha, beta):\n        return (1 + beta/alpha) ** k\n    return it\n\nthreshold = make(-1)"
        ),
        "object": lambda s: s.solved(
            threshold="class T:\n    def __call__(self, alpha, beta):\n        return alpha / (alpha + beta)\n\nthreshold = T()"
        ),
        "partial": lambda s: s.solved(
            threshold="from functools import partial\nthreshold = partial(lambda one, a, b: one * a / (a + b), 1.0)"
        ),
        "compiled": lambda s: s.solved(threshold="import jax\n@jax.jit\ndef threshold(alpha, beta):\n    return alpha / (alpha + beta)"),
        "prints-and-checks": lambda s: s.solved(
            threshold=_threshold(f"print(alpha)\n{RIGHT}") + 'check("decisions/classification/threshold", threshold)\n'
        ),
        "magic": lambda s: s.solved(threshold="%matplotlib inline\n!pip list\n" + _threshold(RIGHT)),
        "cells-that-fail": lambda s: with_cells(s, ["1 / 0", "not python at all", "raise SystemExit"]),
        "without-metadata": without_metadata,
        "without-verdicts": without_verdicts,
        "twice": twice,
        "other-kernel": other_kernel,
        "old-format": lambda s: nbformat.convert(s.solved(), 3),
    }


def tampered() -> dict[str, tuple[Callable[[Source], Any], bool]]:
    """Notebooks whose verdicts, points or ids were changed; ``threshold`` is wrong in each, and the flag is that of ``decide``."""
    wrong = _threshold("return 0.31")

    def marks(change: Callable[[Any, Any], None]) -> Callable[[Source], Any]:
        def changed(source: Source) -> Any:
            notebook = source.solved(threshold=wrong)
            for cell in notebook.cells:
                if "nbgrader" in cell.metadata:
                    change(cell.metadata["nbgrader"], cell)
            return notebook

        return changed

    def without(words: str) -> Callable[[Source], Any]:
        def changed(source: Source) -> Any:
            notebook = source.solved(threshold=wrong)
            notebook.cells = [cell for cell in notebook.cells if words not in cell.source]
            return notebook

        return changed

    def verdicts_pass(has: Any, cell: Any) -> None:
        if has.get("grade"):
            cell.source = "print('Right.')"

    return {
        "points": (marks(lambda has, cell: has.update(points=1000)), True),
        "ids": (marks(lambda has, cell: has.update(grade_id=has["grade_id"].replace("threshold", "decide"))), True),
        "kinds": (marks(lambda has, cell: has.update(grade=not has.get("grade"), locked=False)), True),
        "edited-verdicts": (marks(verdicts_pass), True),
        "other-part-handed-in": (marks(lambda has, cell: cell.update(source=cell.source.replace("/threshold", "/decide"))), True),
        "without-verdicts-and-wrong": (without("check("), True),
        "without-an-answer": (without("def decide"), False),
        "without-imports": (without("import numpy"), True),
        "without-code": (without("e"), False),
    }


def broken(source: Source) -> dict[str, str]:
    """Files that are no notebook, or none in Python."""
    other = source.notebook(threshold="threshold <- function(alpha, beta) alpha / (alpha + beta)", decide="decide <- function(p, l) 1")
    other.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
    return {
        "json": source.blank[:-200],
        "empty": "",
        "a-list": "[]",
        "no-cells": json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}}),
        "nested": "[" * 200_000,
        "words": "My answer is alpha / (alpha + beta).",
        "cells-are-numbers": json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1, None, {"cell_type": "code"}]}),
        "another-language": _text(other),
    }


def everything(canary: Path, port: int) -> list[Handed]:
    """All of them; known mistakes of the first chapter."""
    source = Source(SHEET)
    first, second = f"{SHEET}/threshold", f"{SHEET}/decide"
    both, one = frozenset({first, second}), frozenset({second})
    found = [Handed(f"honest-{name}", SHEET, _text(make(source)), both) for name, make in honest().items()]
    found += [Handed(f"cheat-{name}", SHEET, _text(source.solved(threshold=cell)), one) for name, cell in cheats().items()]
    for name, (cell, fine) in dangers(canary, port).items():
        found.append(Handed(f"danger-{name}", SHEET, _text(source.solved(threshold=cell)), both if fine else one))
    for name, (make, fine) in tampered().items():
        found.append(Handed(f"tampered-{name}", SHEET, _text(make(source)), one if fine else frozenset()))
    found += [Handed(f"broken-{name}", SHEET, text, frozenset()) for name, text in broken(source).items()]
    vandal = "def decide(probabilities, losses):\n    losses[:] = 0\n    probabilities[:] = 0\n    return np.zeros(len(probabilities), int)"
    changes = (
        "def decide(probabilities, losses):\n    chosen = (probabilities @ losses).argmin(axis=1)\n    losses[:] = 0\n    return chosen"
    )
    for name, cell in {"vandal": vandal, "changes-arguments": changes}.items():
        found.append(Handed(f"cheat-{name}", SHEET, _text(source.solved(decide=cell)), frozenset({first})))
    for name in [name for name in sheet_names() if name.startswith("decisions/")]:
        one_sheet = Source(name)
        all_ = frozenset(one_sheet.full.values())
        found += [
            Handed(f"solved-{name.split('/')[1]}", name, _text(one_sheet.solved()), all_),
            Handed(f"blank-{name.split('/')[1]}", name, one_sheet.blank, frozenset()),
            *one_sheet.mistaken(),
        ]
    return found


def hand_in(handed: list[Handed], folder: Path) -> None:
    """Write the submissions as students send them: a folder each, every second one in the layout of nbgrader."""
    for k, one in enumerate(handed):
        chapter, stem = one.sheet.split("/")
        path = folder / one.name / (f"{chapter}-{stem}" if k % 2 else "") / f"{stem}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(one.text, "utf8")
