"""Pack the built book into one file: unpacked anywhere, its index.html opens without a server."""

import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/pack.py`, whose path begins in tools/

from tools.build_book import ROOT, SITE

NAME = "deciding-with-approximations"


def pack(site: Path = SITE, target: Path = SITE.parent / f"{NAME}.zip") -> Path:
    """Write the archive, all of it in one folder, and return its place."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(site.rglob("*")):
            archive.write(path, Path(NAME) / path.relative_to(site))
    return target


if __name__ == "__main__":
    packed = pack()
    print(f"{packed.relative_to(ROOT)}, {packed.stat().st_size / 1e6:.0f} MB: unpack it and open {NAME}/index.html")
