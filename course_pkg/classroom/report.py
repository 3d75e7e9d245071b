"""Where a class is stuck: how many pass each part, and what those who do not are told most."""

import collections
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from course_pkg._extras import needs
from course_pkg.classroom.grading import written
from course_pkg.classroom.marks import Row

SHOWN = 3  # commonest words a part
LONGEST = 160  # characters of them


class Stuck(NamedTuple):
    """A part: how many handed its sheet in, how many passed it, how many left it blank, and the commonest words to the others."""

    part: str
    handed_in: int
    passed: int
    blank: int
    words: list[tuple[str, int]]

    @property
    def rate(self) -> float:
        return self.passed / self.handed_in if self.handed_in else 0.0


def stuck(rows: Sequence[Row]) -> list[Stuck]:
    """Every part, in the order of the sheets."""
    found = []
    for sheet in {row.sheet.name: row.sheet for row in rows}.values():
        for part in sheet.parts:
            verdicts = [row.result["parts"].get(part, [False, ""]) for row in rows if row.sheet.name == sheet.name and row.result]
            wrong = [str(words) for fine, words in verdicts if not fine]
            blank = sum(words.startswith(("Not written yet", "It needs an answer that is not written")) for words in wrong)
            told = collections.Counter(words for words in wrong if not words.startswith(("Not written yet", "It needs an answer")))
            found.append(Stuck(part, len(verdicts), sum(bool(fine) for fine, _ in verdicts), blank, told.most_common(SHOWN)))
    return found


def table(found: Sequence[Stuck]) -> str:
    """The same as a table in Markdown, the part that fewest pass first."""
    lines = ["| part | passed | of | blank | what the others are told most |", "|---|---|---|---|---|"]
    for one in sorted(found, key=lambda one: one.rate):
        words = "; ".join(f"{count} × {text[:LONGEST]}" for text, count in one.words).replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {one.part} | {one.rate:.0%} | {one.handed_in} | {one.blank} | {words} |")
    return "\n".join(lines) + "\n"


def picture(found: Sequence[Stuck], path: Path) -> None:
    """A bar a part: passed, wrong and blank."""
    figures = needs("matplotlib.figure", "plots")
    figure = figures.Figure(figsize=(8, 1 + 0.3 * len(found)), layout="constrained")
    axes = figure.subplots()
    names = [one.part for one in found]
    begun, left = [one.handed_in or 1 for one in found], [0.0] * len(found)
    kinds = [("passed", "#2c7a3f", ""), ("wrong", "#c0392b", "//"), ("blank", "#d9d9d9", "")]
    for words, colour, hatch in kinds:
        counts = [{"passed": one.passed, "blank": one.blank, "wrong": one.handed_in - one.passed - one.blank}[words] for one in found]
        shares = [100 * count / all_ for count, all_ in zip(counts, begun, strict=True)]
        axes.barh(names, shares, left=left, color=colour, hatch=hatch, edgecolor="white", label=words)
        left = [old + new for old, new in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="per cent of those who handed the sheet in")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    figure.savefig(path)


def report(rows: Sequence[Row], out: Path) -> str:
    """Write ``report.md`` and ``report.png``, and return the table."""
    found = stuck(rows)
    text = table(found)
    written(out / "report.md", f"# Where the class is stuck\n\n![Bars: passed, wrong, blank, part by part](report.png)\n\n{text}")
    picture(found, out / "report.png")
    return text
