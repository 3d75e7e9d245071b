"""Build the book into book/_build/html, executing only what changed, and say where it lies.

If nothing the book is made of changed since the last build, and the site is as that build left it, nothing is done.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
SITE = BOOK / "_build" / "html"
DOCTREES = BOOK / "_build" / "doctrees"
STAMP = BOOK / "_build" / "stamp.json"
# scripts in tools/ whose --check says whether their output is in step
GENERATORS = ("errata.py", "exercises.py", "glossary.py", "start.py")
ADDRESS = "http://127.0.0.1:8000"


def _files(folders: Iterable[Path]) -> list[Path]:
    found = (path for folder in folders for path in ([folder] if folder.is_file() else sorted(folder.rglob("*"))))
    built = {"_build", "__pycache__", ".ipynb_checkpoints", "conf.py"}
    sheets = BOOK / "exercises"  # written while the book is built, from solutions/
    return [path for path in found if path.is_file() and not built & set(path.relative_to(ROOT).parts) and sheets not in path.parents]


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def inputs() -> dict[str, str]:
    """Fingerprints of what the book is made of.

    ``text`` is what Sphinx follows by itself; when ``frame`` changes (configuration, extensions, styles, tools, pins)
    only a build from nothing is sure to be right; ``outputs`` names the state that the pages' outputs belong to.
    """
    from tools.pages import cache_key, data_files
    from tools.record import RECORD

    everything = _files([BOOK, ROOT / "course_pkg", ROOT / "solutions", ROOT / "tools", ROOT / "constraints.txt"])
    followed = [RECORD, ROOT / "course_pkg", ROOT / "solutions"]
    text = [path for path in everything if path.suffix in {".md", ".ipynb"} or any(one in (path, *path.parents) for one in followed)]
    frame = [path for path in everything if path not in set(text)]
    return {"text": _digest(text), "frame": _digest(frame), "outputs": f"{cache_key(ROOT)} {data_files()}"}


def site_fingerprint() -> str:
    """Names and sizes of the built files: enough to notice a site that was touched or half removed."""
    digest = hashlib.sha256()
    for path in sorted(SITE.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(SITE)} {path.stat().st_size}\n".encode())
    return digest.hexdigest()


def _previous() -> dict[str, str]:
    try:
        return json.loads(STAMP.read_text("utf8"))
    except (OSError, ValueError):
        return {}


def _start_checks() -> dict[str, subprocess.Popen]:
    """Ask each generator, while the pages execute, whether its output is what its source makes."""
    scripts = [ROOT / "tools" / name for name in GENERATORS]
    return {
        f"tools/{script.name}": subprocess.Popen([sys.executable, str(script), "--check"], cwd=ROOT)
        for script in scripts
        if script.exists()
    }


def _in_step(checks: dict[str, subprocess.Popen]) -> bool:
    late = [name for name, check in checks.items() if check.wait()]
    for name in late:
        print(f"what {name} generates is out of step: run `make generate` and look at the change", file=sys.stderr)
    return not late


def _stored(folder: Path) -> int:
    return sum(1 for _ in folder.glob("executed/*/base.ipynb"))


def _forget_older(store: Path) -> None:
    """Have Sphinx read again the pages whose outputs are newer than what it made of them: it looks at their text alone."""
    from tools.pages import find_pages, read_page, stored_at

    for path in find_pages(ROOT, ["book"]):
        doctree = DOCTREES / path.relative_to(BOOK).with_suffix(".doctree")
        if doctree.exists() and doctree.stat().st_mtime < stored_at(store, read_page(path, ROOT)):
            doctree.unlink()


def _sphinx(store: Path) -> bool:
    """Render; every warning is an error, and so is a page that Sphinx had to execute itself."""
    jupyter_book = "from jupyter_book.cli.main import main; main()"
    configure = [sys.executable, "-c", jupyter_book, "config", "sphinx", str(BOOK)]
    done = subprocess.run(configure, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        return False
    _forget_older(store)
    before = _stored(store)
    # its trees are large and stay: for cycles in them Python need not look every few hundred objects
    sphinx = "import gc, sys; gc.set_threshold(20_000, 10, 10); from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
    build = [sys.executable, "-c", sphinx, "-b", "html", "-q", "-W", "-n", "--keep-going"]
    build += ["-D", f"nb_execution_cache_path={store}", "-D", "nb_execution_mode=cache"]
    # every page is written anew (-a): Sphinx's search forgets the index entries of pages that it does not write
    build += ["-a", "-d", str(DOCTREES), str(BOOK), str(SITE)]
    local_extensions = {**os.environ, "PYTHONPATH": str(BOOK / "_ext")}
    if subprocess.run(build, cwd=ROOT, env=local_extensions).returncode:
        return False
    if _stored(store) != before:
        print("Sphinx executed a page itself: tools/pages.py and myst-nb disagree on how to read it", file=sys.stderr)
        return False
    return True


def _say_where() -> None:
    print(f"the book: {(SITE / 'index.html').relative_to(ROOT)}   (`make serve` shows it at {ADDRESS})")


def main() -> int:
    """Build what is out of date."""
    start = time.perf_counter()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # in order with the programs called here
    os.chdir(ROOT)
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from tools.pages import find_pages, prepare_environment, run_and_report, store_folder

    prepare_environment(ROOT)
    before, now = _previous(), inputs()
    if before and before == {**now, "site": site_fingerprint()}:
        print("the book is up to date")
        _say_where()
        return 0
    STAMP.unlink(missing_ok=True)
    if before.get("frame") != now["frame"] or before.get("site") != site_fingerprint():
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.rmtree(DOCTREES, ignore_errors=True)
    checks = _start_checks()
    passed = run_and_report(find_pages(ROOT, ["book"]), ROOT)
    in_step = _in_step(checks)
    if not passed:
        print("the book was not built: mend the pages above first", file=sys.stderr)
        return 1
    if not _sphinx(store_folder(ROOT)):
        print("the book was not built: mend the warnings above first", file=sys.stderr)
        return 1
    if not in_step:
        return 1
    STAMP.write_text(json.dumps({**now, "site": site_fingerprint()}), "utf8")
    print(f"built in {time.perf_counter() - start:.0f} s")
    _say_where()
    return 0


if __name__ == "__main__":
    sys.exit(main())
