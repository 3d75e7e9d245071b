"""What a page reads: an IPython extension that lists the files of the project and of the data that a kernel imported or opened.

``tools/pages.py`` loads it into the kernel of each page. A stored output is out of date once one of these files has changed.
"""

import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT, TARGET = "PAGE_READS_ROOT", "PAGE_READS"  # environment variables: the project, and where the list is to lie


def load_ipython_extension(shell: Any) -> None:
    """Listen to what is opened, and write the list anew after each cell."""
    root, data = os.environ[ROOT], os.environ.get("COURSE_DATA")
    folders = tuple(os.path.join(folder, "") for folder in (root, data) if folder)
    opened: set[str] = set()

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str):
            opened.add(os.path.abspath(arguments[0]))

    def belongs(path: str) -> bool:
        parts = Path(os.path.relpath(path, root)).parts
        hidden = any(part == "__pycache__" or part.endswith(".egg-info") or (part[0] == "." and part != "..") for part in parts)
        return path.startswith(folders) and not hidden and os.path.isfile(path)

    def write(_: Any) -> None:
        imported = {os.path.abspath(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
        Path(os.environ[TARGET]).write_text(json.dumps(sorted(filter(belongs, opened | imported))), "utf8")

    gc.set_threshold(20_000, 10, 10)  # tracing makes many small objects and few cycles: a tenth of a page was looking for these
    sys.addaudithook(listen)
    shell.events.register("post_run_cell", write)
