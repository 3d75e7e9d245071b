"""What the pages say of themselves in their first lines, in the order of the table of contents.

*56 minutes. Level: two stars. Before this: [Decision problems](#page-problems) and [Bayes rules](#page-bayes-rules).*

A risk is an average of a loss: over what is the average taken, and can you trust the number?
"""

import functools
import graphlib
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import yaml

BOOK = Path(__file__).resolve().parents[1]
STARS = ("no stars", "one star", "two stars", "three stars")
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
TOP = re.compile(
    r"^# (?P<title>.+)\n+(?:.*\n)*?"
    r"\*(?P<minutes>\d+) minutes\. Level: (?P<stars>[^.,]+).*?Before this: (?P<before>.*)\*$",
    re.MULTILINE,
)


class Page(NamedTuple):
    """A page that says how long it takes."""

    name: str  # its file without the suffix, such as "decisions/risk"
    part: str  # the caption under which the contents list it
    number: str  # "1.6"; empty in the appendix
    title: str
    minutes: int
    stars: int
    question: str
    before: tuple[str, ...]  # names of the pages that it builds on


@functools.cache
def _toc() -> list[dict]:
    return yaml.safe_load((BOOK / "_toc.yml").read_text("utf8"))["parts"]


def below() -> dict[str, list[str]]:
    """The pages that stand under another one."""
    return {
        entry["file"]: [inner["file"] for inner in entry["sections"]]
        for part in _toc()
        for entry in part["chapters"]
        if "sections" in entry
    }


def parts() -> dict[str, list[str]]:
    """The parts of the contents with the names of their pages, but for those below other pages."""
    return {part["caption"]: [entry["file"] for entry in part["chapters"]] for part in _toc()}


def chapters() -> dict[str, str]:
    """The title of each chapter with its number, by its folder: "1 Decisions"."""
    found = {names[0].partition("/")[0]: re.fullmatch(r"Chapter (\d+): (.*)", part) for part, names in parts().items()}
    return {folder: f"{title[1]} {title[2]}" for folder, title in found.items() if title}


@functools.cache
def pages() -> dict[str, Page]:
    """Every page with minutes and level, in the order of the contents.

    Raises:
        ValueError: if a page builds on one that is not there, or, in the end, on itself.
    """
    listed = [(part, k, name) for part, names in parts().items() for k, name in enumerate(names, 1)]
    texts = {name: (BOOK / f"{name}.md").read_text("utf8") for _, _, name in listed}
    at = {label: name for name, text in texts.items() for label in LABEL.findall(text)}
    found = {}
    for part, k, name in listed:
        if top := TOP.search(texts[name][:2500]):
            labels = re.findall(r"\]\(#([\w-]+)\)", top["before"])
            if lost := [label for label in labels if label not in at]:
                raise ValueError(f"{name}.md asks to have read {lost}: no page of the book has these labels")
            chapter = re.match(r"Chapter (\d+): ", part)
            found[name] = Page(
                name=name,
                part=part.removeprefix(chapter[0]) if chapter else part,
                number=f"{chapter[1]}.{k}" if chapter else "",
                title=top["title"],
                minutes=int(top["minutes"]),
                stars=STARS.index(top["stars"]),
                question=first_paragraph(texts[name][top.end() :]),
                before=tuple(at[label] for label in labels),
            )
    try:
        graphlib.TopologicalSorter({page.name: page.before for page in found.values()}).prepare()
    except graphlib.CycleError as error:
        raise ValueError(f"pages that ask to have read one another: {' after '.join(error.args[1])}") from error
    return found


def first_paragraph(text: str) -> str:
    """The first paragraph of a piece of Markdown as plain words."""
    paragraph = next((piece for piece in re.split(r"\n\s*\n", text) if re.match(r"[A-Za-z“\"*]", piece.lstrip())), "")
    return plain(paragraph)


def plain(text: str) -> str:
    """Markdown without its marks, on one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|\{[\w:]+\}`([^`<]*?)\s*(?:<[^`]*>)?`", lambda m: m[1] or m[2] or "", text)
    return " ".join(re.sub(r"[*`$]", "", text).split())


@functools.cache
def ancestors(name: str) -> set[str]:
    """All that a page builds on."""
    return {name}.union(*(ancestors(before) for before in pages()[name].before)) if name in pages() else set()


def road(targets: list[str]) -> list[Page]:
    """The pages to read for ``targets`` and these themselves, in the order of the contents; ``vi/*`` stands for a folder."""
    wanted = {page for target in targets for page in pages() if page == target or (target.endswith("/*") and page.startswith(target[:-1]))}
    if lost := [target for target in targets if not any(page == target or page.startswith(target.removesuffix("*")) for page in wanted)]:
        raise ValueError(f"a path leads to {lost}: no such page")
    needed = set().union(*map(ancestors, wanted))
    return [page for page in pages().values() if page.name in needed]


def needed_links() -> list[tuple[str, str]]:
    """Pairs (before, after) that tell all the others: without what follows from the rest."""
    found = []
    for page in pages().values():
        indirect = set().union(*(ancestors(before) - {before} for before in page.before))
        found += [(before, page.name) for before in dict.fromkeys(page.before) if before not in indirect]
    return found


def hours(minutes: float) -> str:
    """A time to plan with."""
    if minutes < 90:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours"


# --- exercises ------------------------------------------------------------------------------------

SHEET_TOP = re.compile(r"^# (?P<title>.+)\n\n\*(?P<minutes>\d+) minutes\. Level: (?P<stars>one star|two stars|three stars)\.", re.MULTILINE)
BACK = re.compile(r"^Back to the page: \[[^\]]*\]\(\.\./\.\./book/([\w/-]+)\.md\)", re.MULTILINE)


class Sheet(NamedTuple):
    """What a sheet of exercises says of itself."""

    name: str  # "decisions/ridge"
    title: str
    minutes: int
    stars: int
    page: str  # the page that it belongs to; empty if it names none


class Block(NamedTuple):
    """A row of a plan, such as a week of a course."""

    label: str
    pages: tuple[Page, ...]
    sheets: tuple[Sheet, ...]

    @property
    def minutes(self) -> int:
        return sum(thing.minutes for thing in (*self.pages, *self.sheets))


class Plan(NamedTuple):
    """A course."""

    title: str
    rows: str  # what a row is: "Week"
    blocks: tuple[Block, ...]

    @property
    def minutes(self) -> int:
        return sum(block.minutes for block in self.blocks)


def sheets() -> dict[str, Sheet]:
    """All sheets in the order in which a reader meets them; what is to be discussed ends a chapter."""
    folder = BOOK.parent / "solutions"
    found = {}
    for chapter, order in tomllib.loads((folder / "order.toml").read_text("utf8")).items():
        others = sorted(path.stem for path in (folder / chapter).glob("*.md") if path.stem not in order)
        for name in [f"{chapter}/{stem}" for stem in [*order, *others]]:
            text = (folder / f"{name}.md").read_text("utf8")
            top, back = SHEET_TOP.search(text), BACK.search(text)
            if not top:
                raise ValueError(f"solutions/{name}.md has no line of minutes and level under its title")
            found[name] = Sheet(name, top["title"], int(top["minutes"]), STARS.index(top["stars"]), back[1] if back else "")
    return found


PLAN = re.compile(r"^:::\{plan\} (?P<title>.+)\n:rows: (?P<rows>.+)\n\n?(?P<lines>(?:.*\n)*?):::$", re.MULTILINE)


def plans() -> dict[str, Plan]:
    """The courses that the page of plans lays out, by title: a line a block, its pages and, after a bar, its sheets."""
    text = (BOOK / "teaching" / "plans.md").read_text("utf8")
    return {found["title"]: plan(found["title"], found["rows"], found["lines"].strip().splitlines()) for found in PLAN.finditer(text)}


def plan(title: str, rows: str, lines: list[str]) -> Plan:
    """A course from its lines, such as ``Morning: decisions/risk | decisions/lupus``; without a name a block has its number.

    Raises:
        ValueError: if a page or sheet is not there, comes twice, or before a page that it builds on.
    """
    blocks, known, seen = [], {"page": pages(), "sheet": sheets()}, set()
    for number, line in enumerate(lines, 1):
        label, _, names = line.rpartition(": ")
        found: dict[str, list] = {"page": [], "sheet": []}
        for kind, part in zip(found, names.partition("|")[::2], strict=True):
            for name in part.split():
                if name not in known[kind]:
                    raise ValueError(f"{title}, block {number}: there is no {kind} {name}")
                thing = known[kind][name]
                before = thing.before if kind == "page" else (thing.page,)
                if missing := [page for page in before if ("page", page) not in seen]:
                    raise ValueError(f"{title}, block {number}: {name} comes before {', '.join(missing)}, on which it builds")
                if (kind, name) in seen:
                    raise ValueError(f"{title}, block {number}: {name} comes twice")
                seen.add((kind, name))
                found[kind].append(thing)
        blocks.append(Block(label or str(number), tuple(found["page"]), tuple(found["sheet"])))
    return Plan(title, rows, tuple(blocks))


def more(title: str, rows: str, lines: list[str]) -> Plan:
    """What a course has no time for, from lines such as ``5: mcmc/harder-targets | mcmc/trading-places``: each may follow that block.

    Raises:
        ValueError: as for a plan; also if the course has the page or the sheet already.
    """
    told = [" | ".join(" ".join(thing.name for thing in things) for things in block[1:]) for block in plans()[title].blocks]
    return Plan(title, rows, tuple(plan(title, rows, [*told[: int(line.partition(":")[0])], line]).blocks[-1] for line in lines))


def course() -> Plan:
    """The longest course."""
    return max(plans().values(), key=lambda plan: plan.minutes)
