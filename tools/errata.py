"""Write the errata's pages from their source, or say that they are out of step.

    python tools/errata.py            write book/appendix/errata.md, the list, and the pages in book/appendix/errata/
    python tools/errata.py --check    exit 1 where that would change them
    python tools/errata.py --show T02 the figures behind one item

The words come from book/appendix/errata.toml, the numbers from the functions that the tests judge
(tests/errata/<chapter>.py), the links back from the pages that link here.
"""

import argparse
import importlib.util
import inspect
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = re.compile(r"\{([a-z]\w*):([^{}]*)\}")
LINK = re.compile(r"\[([A-Z]+\d+)\]\(#erratum-([A-Z]+\d+)\)")
CELL = re.compile(r"\{code-cell\}|\{code-block\}|[^{]|$")  # a fence whose text is not read as text
SEED = 0  # the pages print this seed's figures; the tests run several

CHAPTERS = {
    "decisions": "Decisions",
    "mcmc": "Monte Carlo and Markov chains",
    "vi": "Variational inference",
    "gradients": "Gradients",
    "is_gradients": "Importance-sampled gradients",
    "lambertw": "Skewed densities",
    "lcvi": "Loss-calibrated variational inference",
    "posthoc": "Corrections after inference",
}
DOCUMENTS = {
    "thesis": "sakaya2021thesis",
    "paper": "kusmierczyk2019lcvi",
    "slides": "probai2023slides",
    "notes": "bardenet2021notes",
}
KINDS = {
    "wrong result": "following the text gives a wrong number or a wrong decision",
    "misleading": "a statement that holds in some cases only, printed without them",
    "typo": "a slip that a reader can mend alone, once seen",
    "extraction artefact": "damage done when the document was turned into text, not by its authors",
    "right": "looks wrong and is right: the tempting change is what fails",
    "wording": "a word, a letter or a reference, read and not computed",
}
INTRODUCTION = """\
# Errata

% Written by tools/errata.py from errata.toml and tests/errata. Do not edit: run the tool.

This book leans on four documents. We read them closely, and where a formula did not survive a computation we say so
here. The list is no verdict on them: all four are worth reading, and most of what follows is a letter or a sign.

Each item but those marked *wording* has a computation of its own. For a mistake, the printed form has to fail by a
stated margin and the mended one has to pass. For a statement that only looks wrong, it is the other way round: the
printed form passes, and the change that tempts a reader fails. Exact items compare closed forms, enumeration, quadrature
or a search. Simulated ones are judged in standard errors at five seeds: the right form has to stay within 5, the wrong
one has to miss by more than 10. The figures below come from the same computations, at seed 0.

To run one item's test, or all of them:

```sh
.venv/bin/python -m pytest tests/errata -k test_t02
.venv/bin/python -m pytest tests/errata
```

## The list

:::{{table}}
:class: filtered errata

| Item | What | Chapter | Document | Kind |
| --- | --- | --- | --- | --- |
{rows}
:::

## The kinds

{kinds}

*Illustrative* marks a slip that a computation can do little more than restate. Places are in the documents' own
numbering. Items are added with the chapters that use them, so a document's later parts are not covered yet.
"""


PAGES = CHAPTERS | {
    "gradients": "Gradients: the thesis and the notes",
    "gradients-slides": "Gradients: the slides",
}  # none longer than 20 screens


TOP = """\
# Errata: {title}

% Written by tools/errata.py from errata.toml and tests/errata. Do not edit: run the tool.

What the kinds mean, and how an item is tested, stands in front of the [list of all errata](../errata.md).
"""


class Item(NamedTuple):
    """One item of the errata. ``mend`` is the right form or, for a statement that is right, the tempting change."""

    id: str
    title: str
    document: str
    place: str
    kind: str
    illustrative: bool
    chapter: str
    pages: tuple[str, ...]
    printed: str
    mend: str
    why: str
    shown: str

    @property
    def computed(self) -> bool:
        return self.kind != "wording"

    @property
    def page(self) -> str:
        """Which of ``PAGES`` it stands on."""
        split = f"{self.chapter}-{self.document}"
        return split if split in PAGES else self.chapter


def read(path: Path = ROOT / "book/appendix/errata.toml") -> list[Item]:
    """The items in their order; ValueError names the item and the field that is missing, unknown or wrong."""
    return [parse(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["item"]]


def parse(entry: dict) -> Item:
    name = entry.get("id", "an item without an id")
    mend = "tempting" if entry.get("kind") == "right" else "right"
    needed = {"id", "title", "document", "place", "kind", "chapter", "pages", "printed", mend}
    if entry.get("kind") != "wording":
        needed |= {"why", "shown"}
    if missing := sorted(needed - entry.keys()):
        raise ValueError(f"{name} lacks {', '.join(missing)}: add it to errata.toml")
    if unknown := sorted(entry.keys() - needed - {"illustrative"}):
        raise ValueError(f"{name} has {', '.join(unknown)}, which this kind does not use: remove it")
    for field, known in (("document", DOCUMENTS), ("kind", KINDS), ("chapter", CHAPTERS)):
        if entry[field] not in known:
            raise ValueError(f"{name}: {field} is {entry[field]!r}; use one of {', '.join(known)}")
    return Item(
        illustrative=entry.get("illustrative", False),
        pages=tuple(entry["pages"]),
        mend=entry[mend].strip(),
        why=entry.get("why", "").strip(),
        shown=entry.get("shown", "").strip(),
        printed=entry["printed"].strip(),
        **{key: entry[key] for key in ("id", "title", "document", "place", "kind", "chapter")},
    )


def load(chapter: str) -> ModuleType:
    """The module with a chapter's computations, by its path: the tests are not a package."""
    name = f"errata_{chapter}"
    if name in sys.modules:
        return sys.modules[name]
    path = ROOT / "tests" / "errata" / f"{chapter}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise ValueError(f"no computations for the chapter {chapter!r}: add {path.relative_to(ROOT)}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def simulated(item: Item) -> bool:
    """Whether an item's figures depend on a seed."""
    return bool(inspect.signature(getattr(load(item.chapter), item.id.lower())).parameters)


def figures(item: Item, seed: int = SEED) -> dict[str, float]:
    """The figures behind an item, by name."""
    function = getattr(load(item.chapter), item.id.lower())
    return function(seed) if simulated(item) else function()


def fill(text: str, values: dict[str, float]) -> str:
    """Put figures into ``{name:format}``; other braces are LaTeX's. A rounded zero has no sign."""

    def number(match: re.Match[str]) -> str:
        written = format(float(values[match[1]]), match[2])
        return written.lstrip("-") if not re.search("[1-9]", written) else written

    return PLACEHOLDER.sub(number, text)


def definition(term: str, text: str) -> str:
    return f"{term}\n: {textwrap.indent(text, '  ').lstrip()}\n"


def prose(text: str) -> str:
    """A page's text without its cells and listings, where a link is only characters."""
    lines = text.splitlines()
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.map and CELL.match(token.info.strip()):
            lines[slice(*token.map)] = [""] * (token.map[1] - token.map[0])
    return "\n".join(lines)


def links(book: Path = ROOT / "book") -> dict[str, list[tuple[str, str]]]:
    """The links to errata on every page but the errata's own: (shown, target) pairs by the page's name."""
    names = {path.relative_to(book).with_suffix("").as_posix(): path for path in sorted(book.rglob("*.md"))}
    made = ("_build/", "exercises/", "appendix/errata")
    return {name: LINK.findall(prose(path.read_text(encoding="utf-8"))) for name, path in names.items() if not name.startswith(made)}


def entry(item: Item, linking: list[str]) -> str:
    """One item as a heading and a list of definitions, which a narrow screen can show."""
    kind = "Right, though it looks wrong" if item.kind == "right" else item.kind.capitalize()
    parts = [
        f"(erratum-{item.id})=\n## {item.id}: {item.title}\n",
        f"{{cite:t}}`{DOCUMENTS[item.document]}`, {item.place}. *{kind}{', illustrative' if item.illustrative else ''}.*\n",
        definition("Printed", item.printed),
        definition("Tempting change" if item.kind == "right" else "Mended", item.mend),
    ]
    if item.computed:
        how = f"{f'simulation, seed {SEED}' if simulated(item) else 'exact'}; `test_{item.id.lower()}`"
        parts += [
            definition("Why", item.why),
            definition(f"Shown ({how})", fill(item.shown, figures(item))),
        ]
    if linking:
        parts.append(definition("Used on", ", ".join(f"{{doc}}`/{page}`" for page in linking)))
    return "\n".join(parts)


def pages(items: list[Item], book: Path = ROOT / "book") -> dict[str, str]:
    """The list and the pages of entries as MyST text, by their files in the folder of the appendix."""
    linked = {name: {target for _, target in found} for name, found in links(book).items()}
    rows = "\n".join(
        f"| [{item.id}](#erratum-{item.id}) | {item.title} | {CHAPTERS[item.chapter]} | {item.document} | {item.kind} |"
        for chapter in CHAPTERS
        for item in items
        if item.chapter == chapter
    )
    kinds = "\n".join(definition(kind.capitalize(), f"{text}.") for kind, text in KINDS.items())
    found = {"errata.md": INTRODUCTION.format(rows=rows, kinds=kinds.strip())}
    for page, title in PAGES.items():
        own = [entry(item, [name for name in linked if item.id in linked[name]]) for item in items if item.page == page]
        found[f"errata/{page}.md"] = "\n".join([TOP.format(title=title), *own])
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 where the page is out of step with its source")
    parser.add_argument("--show", metavar="ID", help="print the figures behind one item")
    chosen = parser.parse_args(arguments)
    items = read()
    if chosen.show:
        found = [item for item in items if item.id == chosen.show.upper() and item.computed]
        if not found:
            print(f"{chosen.show}: no computed item of that name", file=sys.stderr)
            return 1
        for name, value in figures(found[0]).items():
            print(f"{name:18} {value:.6g}")
        return 0
    folder = ROOT / "book/appendix"
    texts = {folder / name: text for name, text in pages(items).items()}
    late = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    late += [path for path in folder.glob("errata/*.md") if path not in texts]
    if chosen.check:
        for path in late:
            print(f"{path.relative_to(ROOT)} is out of step: run python tools/errata.py", file=sys.stderr)
        return 1 if late else 0
    for path in late:
        if path in texts:
            path.parent.mkdir(exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        else:
            path.unlink()
    print(f"{len(items)} items on {len(texts)} pages, {len(late)} of them new or changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
