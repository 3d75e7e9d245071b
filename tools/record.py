"""When pages were last tried at other seeds, and last run a second time: book/appendix/checked.json, which a page of the book shows.

`tools/reseed.py` and `tools/reproduce.py` write it. An entry holds for the code that a page had then, and says which package it met.
"""

import datetime
import fcntl
import hashlib
import json
from pathlib import Path
from typing import Any

from tools import pages

RECORD = pages.ROOT / "book" / "appendix" / "checked.json"


def code(page: pages.Page) -> str:
    """A fingerprint of a page's code: another sentence is no other version, another line of code is."""
    cells = [cell.source for cell in page.notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(cells).encode()).hexdigest()[:12]


def package(root: Path = pages.ROOT) -> str:
    """A fingerprint of the package and of the pins."""
    digest = hashlib.sha256((root / "constraints.txt").read_bytes())
    for path in sorted((root / "course_pkg").rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def read(file: Path = RECORD) -> dict[str, dict[str, Any]]:
    """For each page what ``reseed`` and ``reproduce`` found."""
    return json.loads(file.read_text("utf8")) if file.exists() else {}


def current(page: pages.Page, kind: str, known: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """What is recorded of this version of a page's code; None if there is nothing."""
    entry = known.get(page.name, {}).get(kind)
    return entry if entry and entry["code"] == code(page) else None


def note(kind: str, page: pages.Page, found: dict[str, Any], file: Path = RECORD, root: Path = pages.ROOT) -> None:
    """Write down what was found. Lists, of shifts and of lines that fail, grow while page and package stay as they are."""
    state, today = package(root), datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lock = root / ".cache" / "record.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:  # pages are tried side by side, also by hand
        fcntl.flock(held, fcntl.LOCK_EX)
        known = read(file)
        before = current(page, kind, known)
        if before and before["package"] == state:
            found = {key: sorted({*before[key], *fact}) if isinstance(fact, list) else fact for key, fact in found.items()}
        known.setdefault(page.name, {})[kind] = found | {"date": today, "code": code(page), "package": state}
        rows = (f"{json.dumps(name)}: {json.dumps(known[name], sort_keys=True)}" for name in sorted(known) if (root / name).exists())
        file.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf8")
