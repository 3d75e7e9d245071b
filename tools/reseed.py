"""Run pages of the book with every seed shifted, and say which of their asserts were true by luck.

A page claims what its asserts check at the seeds that it was written with. Here each seed that the page itself gives, to NumPy,
JAX, SciPy, scikit-learn, PyMC, nutpie or NumPyro, is moved by 1000, 2000, ...; asserts are counted and not obeyed.
Seeds that the package gives inside its own functions stay. What was found is written to book/appendix/checked.json.

    python tools/reseed.py                                         every page of book/, at 5 shifts
    python tools/reseed.py book/mcmc/gibbs.md --shifts 2           this one, shifted by 1000 and by 2000
    python tools/reseed.py book/mcmc/gibbs.md --shifts 1 --first 4 by 4000 alone
"""

import argparse
import ast
import builtins
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from inspect import unwrap
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/reseed.py`, whose path begins in tools/

from tools import pages, record

STRIDE = 1000  # a page's own seeds lie closer together, and its functions would meet them again
KEYWORDS = {"seed", "rng", "rng_seed", "random_seed", "random_state"}
BIT_GENERATORS = {"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"}
FIRST = {"key", "PRNGKey", "default_rng", "seed", "Random", "RandomState", "SeedSequence"} | BIT_GENERATORS  # argument is the seed
LIBRARIES = {"jax", "numpy", "numpyro", "random"}  # whose functions of these names are meant


class Fault(NamedTuple):
    """An assert that failed at shifted seeds, or an exception."""

    page: str
    line: int  # in the page's file
    shift: int
    evaluations: int  # both counts are zero for an exception
    failures: int
    text: str

    def __str__(self) -> str:
        """One line; it begins as editors and terminals expect."""
        counts = f"fails {self.failures} of {self.evaluations}: " if self.evaluations else ""
        return f"{self.page}:{self.line}: shift {self.shift}: {counts}{self.text}"


class Trial(NamedTuple):
    """One page at one shift."""

    page: str
    shift: int
    seeds: int  # how often one was shifted
    asserts: int
    faults: list[Fault]
    seconds: float


# --- inside the page's kernel ---------------------------------------------------------------------


def _shifted(seed: Any, shift: int) -> Any:
    """Integers are shifted, alone, in a sequence or in an array; anything else (a generator, a key, None) is no seed of the page's."""
    if isinstance(seed, bool):
        return seed
    if isinstance(seed, Integral) or str(getattr(seed, "dtype", "")).startswith(("int", "uint")):
        return seed + shift
    if isinstance(seed, list | tuple | range):
        return [_shifted(s, shift) for s in seed]
    return seed


class Reseeder(ast.NodeTransformer):
    """Rewrites code: what takes a seed goes through ``fresh``, and what an assert tests through ``judge``."""

    def __init__(self, shift: int) -> None:
        """Nothing is shifted yet."""
        self.shift = shift
        self.cell = 0  # the one being rewritten, counted from 1
        self.names = set(FIRST)
        self.seeds = 0
        self.counts: dict[tuple[int, int], list[int]] = {}  # (cell, line): [evaluations, failures]
        self.helpers = {"__reseed_fresh__": self.fresh, "__reseed_judge__": self.judge}

    def fresh(self, f: Any) -> Any:
        """The same function or class with its seeds shifted; one that the page defined shifts them where it draws."""
        if f is partial:
            return lambda g, *args, **kwargs: partial(self.fresh(g), *args, **kwargs)
        origin = f.func if isinstance(f, partial) else f
        module = getattr(unwrap(origin), "__module__", None) or "" if callable(origin) else "__main__"
        if module in {"__main__", "builtins"}:
            return f
        library = module.partition(".")[0]
        named = library in LIBRARIES and getattr(f, "__name__", "") in FIRST
        place = 1 if library == "numpyro" else 0  # seed(model, rng_seed)

        def move(seed: Any) -> Any:
            moved = _shifted(seed, self.shift)
            self.seeds += moved is not seed
            return moved

        def call(*args: Any, **kwargs: Any) -> Any:
            given = (move(a) if named and i == place else a for i, a in enumerate(args))
            return f(*given, **{name: move(a) if name in KEYWORDS else a for name, a in kwargs.items()})

        call.__module__ = "__main__"  # shifted once is enough
        return call

    def judge(self, cell: int, line: int, verdict: Any) -> bool:
        """Count, and let the page go on."""
        count = self.counts[cell, line]
        count[0] += 1
        count[1] += not verdict
        return True

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        self.counts[self.cell, node.lineno] = [0, 0]
        place: list[ast.expr] = [ast.Constant(self.cell), ast.Constant(node.lineno)]
        node.test = ast.Call(ast.Name("__reseed_judge__", ast.Load()), [*place, node.test], [])
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        self.names |= {alias.asname for alias in node.names if alias.asname and alias.name in FIRST}
        return node

    def _seeded(self, node: Any, name: str) -> ast.AST:
        self.generic_visit(node)
        if name not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        return ast.Call(ast.Name("__reseed_fresh__", ast.Load()), [node], [])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._seeded(node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._seeded(node, node.attr)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        done = getattr(node.func, "id", getattr(node.func, "attr", None)) in self.names
        self.generic_visit(node)
        if not done and any(word.arg is None or word.arg in KEYWORDS for word in node.keywords):
            node.func = ast.Call(ast.Name("__reseed_fresh__", ast.Load()), [node.func], [])
        return node


def load_ipython_extension(shell: Any) -> None:
    """Rewrite each cell before it runs; leave the counts in a file after each, in case a later one kills the kernel."""
    reseeder = Reseeder(int(os.environ["RESEED_SHIFT"]))
    vars(builtins).update(reseeder.helpers)
    shell.ast_transformers.append(reseeder)

    def begin(_: Any) -> None:
        reseeder.cell += 1

    def keep(_: Any) -> None:
        counts = [[*place, *count] for place, count in reseeder.counts.items()]
        Path(os.environ["RESEED_COUNTS"]).write_text(json.dumps({"seeds": reseeder.seeds, "counts": counts}), "utf8")

    keep(None)
    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", keep)


# --- outside --------------------------------------------------------------------------------------


def _faults(page: pages.Page, shift: int, counts: Iterable[Iterable[int]]) -> list[Fault]:
    """Asserts that failed, exceptions and the first warning, in the order of their lines."""
    lines = page.path.read_text("utf8").splitlines()
    code = [cell for cell in page.notebook.cells if cell.cell_type == "code"]
    executed = [i for i, cell in enumerate(code, start=1) if cell.source.strip()]
    faults = []
    for cell, offset, evaluations, failures in counts:
        if failures:
            line = pages.code_line(page, executed[cell - 1], offset)
            faults.append(Fault(page.name, line, shift, evaluations, failures, lines[line - 1].strip()))
    others = [pages.raised(page, i) for i in executed] + [pages.first_stderr(page)]
    faults += [Fault(page.name, other.line, shift, 0, 0, other.message.replace(":\n", ": ").splitlines()[0]) for other in others if other]
    return sorted(faults, key=lambda fault: fault.line)


def reseed(path: Path, shift: int, root: Path = pages.ROOT) -> Trial:
    """Run a page at shifted seeds, to its end whatever fails."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    page, start, faults = pages.read_page(path, root), time.perf_counter(), []
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "counts.json"
        search = os.pathsep.join([str(pages.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])  # the kernel finds this file
        environment = {"PYTHONPATH": search, "RESEED_SHIFT": str(shift), "RESEED_COUNTS": str(kept)}
        try:
            pages.run_cells(page, root, environment, allow_errors=True, extra_arguments=["--ext=tools.reseed"])
        except (CellTimeoutError, DeadKernelError) as error:
            faults = [Fault(page.name, 1, shift, 0, 0, f"{type(error).__name__}: {error}")]
        found = json.loads(kept.read_text("utf8"))
    faults += _faults(page, shift, found["counts"])
    return Trial(page.name, shift, found["seeds"], len(found["counts"]), faults, time.perf_counter() - start)


def main() -> int:
    """Try the pages named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description="Run pages with every seed shifted; report the asserts that fail.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages or folders; all of book/ if none")
    parser.add_argument("--shifts", type=int, default=5, help=f"how many shifts: {STRIDE}, {2 * STRIDE}, ... (default 5)")
    parser.add_argument("--first", type=int, default=1, help="the first of them (default 1)")
    parser.add_argument("--processes", type=int, default=pages.PROCESSES, help="pages at a time (default %(default)s)")
    asked = parser.parse_args()
    chosen = [path.resolve() for path in asked.pages] or [pages.ROOT / "book"]
    there = [page for page in pages.find_pages(folders=["book"]) if any(path in (page, *page.parents) for path in chosen)]
    if lost := [str(path) for path in chosen if not any(path in (page, *page.parents) for page in there)]:
        parser.error(f"no page of the book there: {', '.join(lost)}")
    if asked.shifts < 1:
        parser.error(f"--shifts is {asked.shifts}; give 1 or more")
    pages.prepare_environment()
    shifts = [STRIDE * (asked.first + i) for i in range(asked.shifts)]
    tasks = [(page, shift) for page in there for shift in shifts]
    start, faults = time.perf_counter(), []
    with ThreadPoolExecutor(asked.processes) as pool:  # threads, because the work is done by the kernels' processes
        for trial in pool.map(lambda task: reseed(*task), tasks):
            counts = f"{trial.asserts} asserts, {trial.seeds} seeds shifted, {trial.seconds:.1f} s"
            print(f"{trial.page} shift {trial.shift}: {counts}", flush=True)
            for fault in trial.faults:
                print(f"  {fault}", flush=True)
            faults += trial.faults
            if trial.shift == shifts[-1]:  # the page's last
                fails = sorted({fault.line for fault in faults if fault.page == trial.page})
                found = {"asserts": trial.asserts, "shifts": shifts, "fails": fails}
                record.note("reseed", pages.read_page(pages.ROOT / trial.page), found)
    places = len({(fault.page, fault.line) for fault in faults})
    print(f"{len(there)} pages at {asked.shifts} shifts in {time.perf_counter() - start:.0f} s: {places or 'no'} lines fail")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
