"""Run every page and every solved sheet a second time: a fresh run must give what the first one printed (``pytest --nbval``).

    python tools/reproduce.py                        all of book/ and solutions/
    python tools/reproduce.py book/vi solutions/vi   these

The outputs of the first run are those that the book shows. They are written as notebooks to ``.cache/reproduce``, and nbval compares
what their cells give now: text, tables and glued values, to the digit. Figures are not compared: what they draw is asserted or printed.

A cell whose output cannot repeat says why in a tag, ``varies-with-...``; those cells run, their outputs are not compared, and they are
listed at the end. What was found is written to book/appendix/checked.json.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/reproduce.py`, whose path begins in tools/

import nbformat
from jupyter_cache import get_cache

from tools import pages, record

TARGET = pages.ROOT / ".cache" / "reproduce"
VARIES = "varies-with-"
ALIKE = "[slider]\nregex: [0-9a-f]{32}\nreplace: its-name\n"  # Matplotlib names each slider at random


def written(path: Path, target: Path = TARGET, root: Path = pages.ROOT) -> tuple[Path, list[str]]:
    """Write an executed page as a notebook; its place, and for each cell that cannot repeat ``page:line: why``."""
    page = pages.read_page(path, root)
    _, notebook = get_cache(pages.store_folder(root)).merge_match_into_notebook(page.notebook)
    varying = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, line in zip(code, page.fences, strict=True):
        tags = cell.metadata.get("tags", [])
        reasons = [tag.removeprefix(VARIES) for tag in tags if tag.startswith(VARIES)]
        if reasons:
            varying.append(f"{page.name}:{line + 1}: {', '.join(reasons)}")
            cell.metadata["tags"] = [*tags, "nbval-ignore-output"]
        if cell.source.rstrip().endswith(";"):
            cell.source += "None"  # nbval keeps no history, and without one a semicolon does not silence a cell
    place = (target / page.name).with_suffix(".ipynb")
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, place)
    place.with_suffix(".cfg").write_text(ALIKE, "utf8")
    return place, varying


def again(notebook: Path) -> subprocess.CompletedProcess[str]:
    """Run a notebook and compare."""
    options = [f"--nbval-cell-timeout={pages.CELL_SECONDS}", f"--nbval-sanitize-with={notebook.with_suffix('.cfg')}"]
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", "--nbval", *options, str(notebook)]
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # figures go inline
    with pages.compiled_functions() as folder:
        environment |= {**pages.COMPILER, "JAX_COMPILATION_CACHE_DIR": str(folder), "PYTHONPATH": str(pages.ROOT)}
        return subprocess.run(command, cwd=notebook.parent, env=environment, capture_output=True, text=True, check=False)


def main() -> int:
    """Execute what the store does not hold, then everything again."""
    parser = argparse.ArgumentParser(description="Run pages again and compare their outputs with those that the book shows.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages or folders; all of book/ and solutions/ if none")
    chosen = [path.resolve() for path in parser.parse_args().pages]
    there = [path for path in pages.find_pages() if not chosen or any(path == one or one in path.parents for one in chosen)]
    paths = [path for path in there if pages.read_page(path).fences]  # a sheet for talking over has no cell
    if not paths:
        parser.error("no text notebook there")
    if not pages.run_and_report(paths):
        return 1
    shutil.rmtree(TARGET, ignore_errors=True)
    for folder in pages.FOLDERS:  # pages read stored results, and one reads the other pages, by relative paths
        shutil.copytree(pages.ROOT / folder, TARGET / folder, copy_function=os.symlink, ignore=shutil.ignore_patterns("_build", ".*"))
    (TARGET / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", "utf8")
    notebooks, varying = zip(*(written(path) for path in paths), strict=True)
    failed = 0
    with ThreadPoolExecutor(pages.PROCESSES) as pool:
        for path, notebook, result in zip(paths, notebooks, pool.map(again, notebooks), strict=True):
            record.note("reproduce", pages.read_page(path), {"same": not result.returncode})
            failed += bool(result.returncode)
            print("DIFFERS " if result.returncode else "the same", notebook.relative_to(TARGET), flush=True)
            if result.returncode:
                print(result.stdout, result.stderr, file=sys.stderr, flush=True)
    listed = [line for lines in varying for line in lines]
    print(f"{len(notebooks)} notebooks, {failed} that differ; {len(listed)} cells that cannot repeat", *listed, sep="\n  ")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
