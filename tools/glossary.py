"""Write the glossary from its source, or say that the page is out of step.

    python tools/glossary.py          write book/appendix/glossary.md
    python tools/glossary.py --check  exit 1 where that would change it

The words come from book/appendix/glossary.toml; a term's page is its `page`, or the first, in the order of the table of contents, that
sets it in bold.
"""

import argparse
import functools
import re
import sys
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
SOURCE, PAGE = BOOK / "appendix" / "glossary.toml", BOOK / "appendix" / "glossary.md"
LABEL = re.compile(r"^\((page-[\w-]+)\)=$", re.MULTILINE)
CELLS = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
INTRODUCTION = """\
% Written by tools/glossary.py from glossary.toml. Do not edit: run the tool.

(page-glossary)=
# Glossary

The terms that this book sets in bold, what other books call them, and the homely word that a page may put beside one.
Each entry ends with the page that introduces it.

:::{glossary}
"""


def read() -> list[dict[str, Any]]:
    """The terms, each with its name, what it means and perhaps what others call it."""
    return tomllib.loads(SOURCE.read_text("utf8"))["term"]


@functools.cache
def pages() -> list[Path]:
    """The chapters' pages in the order in which the book shows them."""
    toc = yaml.safe_load((BOOK / "_toc.yml").read_text("utf8"))
    names = [entry["file"] for part in toc["parts"] if part["caption"].startswith("Chapter") for entry in part["chapters"]]
    return [BOOK / f"{name}.md" for name in names]


def bold_terms(text: str) -> set[str]:
    """What a page sets in bold outside its code, in lower case and on one line."""
    return {" ".join(term.split()).rstrip(".:,").lower() for term in re.findall(r"\*\*(.+?)\*\*", CELLS.sub("", text), re.DOTALL)}


def first_pages(terms: list[dict[str, Any]], texts: dict[Path, str]) -> dict[str, str]:
    """For each term the label of the page that introduces it."""
    bold = {path: bold_terms(text) for path, text in texts.items()}
    labels = {label[1] for text in texts.values() for label in LABEL.finditer(text)}
    found = {}
    for term in terms:
        if "page" in term:
            assert term["page"] in labels, f"{term['name']}: no page has the label {term['page']}"
            found[term["name"]] = term["page"]
            continue
        name = term["name"].lower()
        path = next((path for path, marks in bold.items() if {name, f"{name}s"} & marks), None)
        if path is None:
            sys.exit(f"no page sets **{term['name']}** in bold: mark its first use, or take it out of {SOURCE.relative_to(ROOT)}")
        label = LABEL.search(texts[path])
        assert label, f"{path} has no label (page-...)="
        found[term["name"]] = label[1]
    return found


def glossary(terms: list[dict[str, Any]], texts: dict[Path, str]) -> str:
    """The page."""
    where = first_pages(terms, texts)
    entries = []
    for term in sorted(terms, key=lambda term: unicodedata.normalize("NFKD", term["name"].lower())):
        others = [f"Also: {', '.join(term['also'])}."] if "also" in term else []
        here = [f"Here also: {', '.join(f'*{word}*' for word in term['here'])}."] if "here" in term else []
        entries.append(f"{term['name']}\n  {' '.join([term['means'], *others, *here])} [](#{where[term['name']]})\n")
    return INTRODUCTION + "\n".join(entries) + ":::\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    text = glossary(read(), {path: path.read_text("utf8") for path in pages()})
    if not check:
        PAGE.write_text(text, "utf8")
    elif PAGE.read_text("utf8") != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is out of step: python tools/glossary.py")


if __name__ == "__main__":
    main()
