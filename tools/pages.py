"""Execute the text notebooks of the book and of the solutions, once, and keep what they put out.

The book and the tests both read the store that this module fills, so no page runs twice. The store is a jupyter-cache
folder in which myst-nb finds the outputs. There is one for each state of the pins. With each output the store keeps what its
page imported and opened, of the package and of the data: when one of these files changes, that page runs again, and no other.

    python tools/pages.py                       every page of book/ and solutions/
    python tools/pages.py book/intro.md         this one
"""

import argparse
import asyncio
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/pages.py`, whose path begins in tools/

from tools import reads

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("book", "solutions")
CELL_SECONDS = 600  # a cell that takes longer hangs
PAGE_SECONDS = 60  # what a page may take on two cores before it is worth a remark
KEPT_KEYS = 3  # so that going back and forth between two states of the package re-executes nothing
PROCESSES = 2
# Two fifths of a page's time is compiling. Without LLVM's costlier passes a long function takes half as long to compile and runs as fast,
# and most results are the same to the bit; without any of its passes, long chains would take three times as long. Nothing is cut into
# parts to compile side by side, since both cores are busy.
COMPILER = {
    "XLA_FLAGS": "--xla_backend_optimization_level=1 --xla_backend_extra_options=xla_cpu_disable_loop_unrolling"
    " --xla_cpu_parallel_codegen_split_count=1"
}


class Page(NamedTuple):
    """A text notebook, and where its code cells begin."""

    path: Path
    name: str  # relative to the project, as error messages and test ids show it
    notebook: Any
    fences: tuple[int, ...]  # line of each code cell's opening fence, counted from 1


class Failure(NamedTuple):
    """Why a page could not be executed, and where."""

    page: str
    cell: int  # among the code cells, counted from 1
    line: int  # in the page's file
    message: str

    def __str__(self) -> str:
        """One line that names page, line and cell, then the exception."""
        return f"{self.page}:{self.line}: cell {self.cell}: {self.message}"


class Outcome(NamedTuple):
    """What became of one page."""

    page: Page
    seconds: float
    cached: bool
    failure: Failure | None


# --- which pages, and in which state of the project -----------------------------------------------


def find_pages(root: Path = ROOT, folders: Iterable[str] = FOLDERS) -> list[Path]:
    """Text notebooks below ``folders``, in reading order of their paths; built files are left out."""
    from myst_nb.core.read import is_myst_markdown_notebook

    found = (path for folder in folders for path in sorted((root / folder).rglob("*.md")))
    return [
        path
        for path in found
        if not any(part.startswith(("_", ".")) for part in path.relative_to(root).parts)
        and is_myst_markdown_notebook(path.read_text("utf8"))
    ]


@functools.cache
def _myst_config(config_file: Path) -> Any:
    """The book's own Markdown extensions: they decide where a cell begins."""
    from jupyter_book.config import get_final_config
    from myst_parser.config.main import MdParserConfig

    user = config_file if config_file.exists() else None
    final, _ = get_final_config(user_yaml=user, cli_config={"latex_individualpages": False})
    return MdParserConfig(enable_extensions=set(final["myst_enable_extensions"]))


def read_page(path: Path, root: Path = ROOT) -> Page:
    """Read a page as myst-nb will, so that the two agree on what was executed."""
    from myst_nb.core.read import read_myst_markdown_notebook

    config = _myst_config(root / "book" / "_config.yml")
    notebook = read_myst_markdown_notebook(path.read_text("utf8"), config=config, add_source_map=True, path=path)
    starts = notebook.metadata["source_map"]
    fences = tuple(line for cell, line in zip(notebook.cells, starts, strict=True) if cell.cell_type == "code")
    return Page(path, path.relative_to(root).as_posix(), notebook, fences)


def data_files(environment: Mapping[str, str] | None = None) -> dict[str, int]:
    """Size of each data set at hand, by name."""
    folder = (os.environ if environment is None else environment).get("COURSE_DATA")
    found = sorted(Path(folder).rglob("*")) if folder else []
    return {str(path.relative_to(str(folder))): path.stat().st_size for path in found if path.is_file()}


def cache_key(root: Path = ROOT, environment: Mapping[str, str] | None = None) -> str:
    """Name the state that every page's output depends on: pins, executor, Python, and which data sets are at hand."""
    digest = hashlib.sha256()
    for path in [root / "constraints.txt", Path(__file__), Path(reads.__file__)]:
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes() if path.exists() else b"absent")
    digest.update(repr((list(data_files(environment)), sys.version_info[:2])).encode())
    return digest.hexdigest()[:16]


def _digests(files: Iterable[str], root: Path) -> dict[str, str]:
    """Fingerprints of files; those of the project by their place in it."""
    paths = {file: root / file for file in files}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "absent" for name, path in paths.items()}


# --- the store ------------------------------------------------------------------------------------


def store_folder(root: Path = ROOT) -> Path:
    """Folder of the outputs that belong to the present state of the project."""
    return root / ".cache" / "pages" / cache_key(root)


@contextlib.contextmanager
def _store(folder: Path) -> Iterator[Any]:
    """The jupyter-cache in ``folder``, held by one process at a time."""
    from jupyter_cache import get_cache

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield get_cache(folder)


def _look_up(folder: Path, page: Page, root: Path) -> float | None:
    """Seconds that the stored execution of ``page`` took; None if there is none, or none that is up to date."""
    with _store(folder) as cache:
        try:
            record = cache.match_cache_notebook(page.notebook)
        except KeyError:
            return None
        read = record.data.get("reads")  # none where Sphinx itself has stored a page that was not run first
        if read is not None and read == _digests(read, root):
            return float(record.data["execution_seconds"])
        cache.remove_cache(record.pk)  # or the book would show it
        return None


def stored_at(folder: Path, page: Page) -> float:
    """When the stored execution of ``page`` was stored, in seconds since the epoch; 0 if there is none."""
    with _store(folder) as cache:
        try:
            record = cache.match_cache_notebook(page.notebook)
        except KeyError:
            return 0.0
        return float((folder / "executed" / record.hashkey / "base.ipynb").stat().st_mtime)


def _keep(folder: Path, page: Page, seconds: float, files: list[str], root: Path) -> None:
    from jupyter_cache.base import CacheBundleIn

    names = [os.path.relpath(file, root) if Path(file).is_relative_to(root) else file for file in files]
    with _store(folder) as cache:
        bundle = CacheBundleIn(page.notebook, str(page.path), data={"execution_seconds": seconds, "reads": _digests(names, root)})
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        times_file = folder / "times.json"
        times = json.loads(times_file.read_text("utf8")) if times_file.exists() else {}
        times[page.name] = round(seconds, 2)
        times_file.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n", "utf8")


def _prune(folder: Path) -> None:
    os.utime(folder)
    others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in others[KEPT_KEYS:]:
        shutil.rmtree(stale, ignore_errors=True)


# --- execution ------------------------------------------------------------------------------------


def prepare_environment(root: Path = ROOT) -> None:
    """Point every cache into the project, so that pages run the same with any home folder, or none."""
    cache = root / ".cache"
    defaults = {
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PLATFORMS": "cpu",
        "OPENBLAS_NUM_THREADS": "1",  # pages run side by side, and on small matrices threads cost more than they bring
        "OMP_NUM_THREADS": "1",
        "MPLCONFIGDIR": cache / "matplotlib",
        "IPYTHONDIR": cache / "ipython",
        "JUPYTER_RUNTIME_DIR": cache / "jupyter",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, str(value))
    if "COURSE_DATA" in os.environ:  # a page runs in its own folder, where a relative path would point elsewhere
        os.environ["COURSE_DATA"] = str((root / os.environ["COURSE_DATA"]).resolve())
    if not any(Path(os.environ["MPLCONFIGDIR"]).glob("fontlist*.json")):
        # matplotlib's first import says on stderr that it reads the fonts, and stderr on a page is an error
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, capture_output=True)


@contextlib.contextmanager
def compiled_functions(root: Path = ROOT) -> Iterator[Path]:
    """A folder for JAX's compilation cache that starts with all that was compiled before, and hands back what is new.

    JAX writes an entry in place, so a process that shares the folder can read half of one, and an interrupted process
    leaves half of one for ever. Here each process has its own folder of links, and whole entries are moved on success.
    """
    shared, private = root / ".cache" / "compiled", root / ".cache" / "compiling"
    for folder in (shared, private):
        folder.mkdir(parents=True, exist_ok=True)
    for left_over in private.iterdir():
        if time.time() - left_over.stat().st_mtime > 24 * 3600:
            shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=private, ignore_cleanup_errors=True) as name:
        own = Path(name)
        for entry in shared.iterdir():
            os.link(entry, own / entry.name)
        yield own
        for entry in own.iterdir():
            if not (shared / entry.name).exists():
                entry.replace(shared / entry.name)


def code_line(page: Page, cell: int, offset: int) -> int:
    """Line in the file of a code cell's line ``offset`` (from 1); the cell's options stand between fence and code."""
    source = [c.source for c in page.notebook.cells if c.cell_type == "code"][cell - 1].splitlines()
    lines = page.path.read_text("utf8").splitlines()
    fence = page.fences[cell - 1]
    first = next((i for i in range(fence, len(lines)) if lines[i : i + len(source)] == source), fence)
    return first + offset


def raised(page: Page, cell: int) -> Failure | None:
    """The exception among a code cell's outputs, and the line of the file at which it left the cell."""
    code = [c for c in page.notebook.cells if c.cell_type == "code"][cell - 1]
    for error in (o for o in code.outputs if o.output_type == "error"):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
        places = re.findall(rf"Cell In\[{code.execution_count}\], line (\d+)", plain)
        line = code_line(page, cell, int(places[0]) if places else 1)
        return Failure(page.name, cell, line, f"{error.ename}: {error.evalue}\n{plain}")
    return None


def _explain(page: Page, cell: int, error: Exception) -> Failure:
    from nbclient.exceptions import CellTimeoutError

    if failure := raised(page, cell):
        return failure
    if isinstance(error, CellTimeoutError):
        return Failure(page.name, cell, page.fences[cell - 1], f"took longer than {CELL_SECONDS} s")
    return Failure(page.name, cell, page.fences[cell - 1], f"{type(error).__name__}: {error}")


def first_stderr(page: Page) -> Failure | None:
    """The first cell that wrote to stderr, which on a page is an error: warnings end there."""
    code = [c for c in page.notebook.cells if c.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr")
        if text:
            message = f"wrote to stderr, which would show on the page; mend its cause:\n{text}"
            return Failure(page.name, number, code_line(page, number, 1), message)
    return None


def _first_nothing(page: Page) -> Failure | None:
    """A cell whose last line is a tuple of calls that return nothing: a reader would see ``(None, None)``."""
    code = [c for c in page.notebook.cells if c.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        shown = [o.data.get("text/plain", "") for o in cell.outputs if o.output_type == "execute_result"]
        if any(re.fullmatch(r"[(\[](None[,\s]*)+[)\]]", text) for text in shown):
            last = cell.source.rstrip().count("\n") + 1
            return Failure(page.name, number, code_line(page, number, last), f"shows {shown[0]}: end its last line with a semicolon")
    return None


def run_cells(page: Page, root: Path = ROOT, environment: Mapping[str, str] | None = None, **options: Any) -> None:
    """Run a page from top to bottom in a kernel of its own, in its own folder; its notebook receives the outputs.

    ``environment`` is added to this process's own; ``options`` go to nbclient.
    """
    from nbclient import NotebookClient

    client = NotebookClient(
        page.notebook,
        timeout=CELL_SECONDS,
        record_timing=False,  # times in the cells' metadata would change the page's fingerprint
        resources={"metadata": {"path": str(page.path.parent)}},
        **options,
    )
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # figures go inline
    with compiled_functions(root) as folder:
        variables = {**inherited, **COMPILER, **(environment or {}), "JAX_COMPILATION_CACHE_DIR": str(folder)}
        asyncio.run(client.async_execute(env=variables))


def _execute(page: Page, root: Path) -> tuple[Outcome, list[str]]:
    """The outcome of a page, and the files that it read."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    codes = [i for i, cell in enumerate(page.notebook.cells) if cell.cell_type == "code"]
    if not codes:
        return Outcome(page, 0.0, False, None), []
    current = 1

    def remember(cell: Any, cell_index: int) -> None:  # an exception does not say which cell raised it
        nonlocal current
        if cell.cell_type == "code":
            current = codes.index(cell_index) + 1

    failure, files = None, []
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        kept = Path(name) / "reads.json"
        search = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)])  # the kernel finds tools/
        environment = {"PYTHONPATH": search, reads.ROOT: str(root), reads.TARGET: str(kept)}
        try:
            run_cells(page, root, environment, on_cell_start=remember, extra_arguments=["--ext=tools.reads"])
            files = json.loads(kept.read_text("utf8"))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            failure = _explain(page, current, error)
    return Outcome(page, time.perf_counter() - start, False, failure or first_stderr(page) or _first_nothing(page)), files


def run(paths: Iterable[Path], root: Path = ROOT, processes: int = PROCESSES) -> Iterator[Outcome]:
    """Yield the outcome of each page, executing those that the store does not hold, ``processes`` kernels at a time.

    A page that fails stops at the failing cell and is not stored; the other pages still run.
    """
    prepare_environment(root)
    folder = store_folder(root)
    waiting = []
    for path in paths:
        page = read_page(path, root)
        seconds = _look_up(folder, page, root)
        if seconds is None:
            waiting.append(page)
        else:
            yield Outcome(page, seconds, True, None)
    with ThreadPoolExecutor(processes) as pool:  # threads, because the work is done by the kernels' processes
        for outcome, files in pool.map(functools.partial(_execute, root=root), waiting):
            if outcome.failure is None:
                _keep(folder, outcome.page, outcome.seconds, files, root)
            yield outcome
    _prune(folder)


def run_and_report(paths: Iterable[Path], root: Path = ROOT) -> bool:
    """Execute pages with a line for each that ran; True if all of them passed."""
    start = time.perf_counter()
    outcomes = []
    for outcome in run(paths, root):
        outcomes.append(outcome)
        if not outcome.cached:
            note = f"  (over {PAGE_SECONDS} s: give it less to do)" if outcome.seconds > PAGE_SECONDS else ""
            verdict = "FAILED  " if outcome.failure else "executed"
            print(f"{verdict} {outcome.page.name:<44} {outcome.seconds:6.1f} s{note}", flush=True)
        if outcome.failure:
            print(f"{outcome.failure}\n", file=sys.stderr, flush=True)
    failures = [outcome.failure for outcome in outcomes if outcome.failure]
    stored = sum(outcome.cached for outcome in outcomes)
    print(f"{len(outcomes)} pages: {stored} from the store, {len(outcomes) - stored} executed", end="")
    print(f" in {time.perf_counter() - start:.1f} s, {len(failures)} failed")
    for failure in failures:
        print(f"  {str(failure).splitlines()[0]}", file=sys.stderr)
    return not failures


def main() -> int:
    """Execute the pages named on the command line, or all of them."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # in order with what goes to stderr
    parser = argparse.ArgumentParser(description="Execute pages into the store that the book and the tests read.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages or folders; all of book/ and solutions/ if none")
    chosen = [path.resolve() for path in parser.parse_args().pages]
    pages = find_pages()
    if chosen:
        pages = [page for page in pages if any(page == path or path in page.parents for path in chosen)]
        if not pages:
            parser.error("no text notebook there: a page is a .md file with a jupytext header")
    return 0 if run_and_report(pages) else 1


if __name__ == "__main__":
    sys.exit(main())
