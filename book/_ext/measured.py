"""The page *Measured*: what benchmarks/run.py stored in appendix/measured.json, as tables. Nothing runs for it."""

import json
import sys

import contents
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(contents.BOOK.parent))
from benchmarks import growth, report
from benchmarks.aims import RACES

SOURCE = contents.BOOK / "appendix" / "measured.json"


def small_words(stored) -> list[str]:
    """A warning, where something was measured in small."""
    parts = [*stored["races"].values(), *stored["growth"].values()]
    small = sum(part["about"]["small"] for part in parts)
    if not small:
        return []
    return [
        ":::{admonition} A trial",
        ":class: warning",
        f"{small} of the {len(parts)} measurements below were made at a small size, to try the scripts, beside other work.",
        "Their ratios say little about large work, for which the aims are stated.",
        ":::",
        "",
    ]


def race_lines(stored) -> list[str]:
    """Race by race: the table, and how to have it again."""
    lines = []
    for name, entry in RACES.items():
        lines += [f"**{entry.title}.**"]
        if name not in stored["races"]:
            lines += ["Not run.", ""]
            continue
        found = stored["races"][name]
        command = f'`python benchmarks/run.py{" --small" * found["about"]["small"]} --races "{name}"`'
        lines += [
            f"{found['size'][0].upper()}{found['size'][1:]}; {found['turns']} turns, {command}.",
            "",
            *report.race(found).splitlines(),
            "",
        ]
    return lines


def growth_lines(stored) -> list[str]:
    """One row a curve."""
    lines = ["| what grows | sizes | seconds | exponent | MiB | exponent |", "|:--|--:|--:|--:|--:|--:|"]
    for name, curve in growth.CURVES.items():
        parts = report.growth_parts(stored["growth"][name]) if name in stored["growth"] else ["not run", "", "", "", ""]
        lines.append(f"| {curve.title} | {' | '.join(parts)} |")
    return lines


def machine_lines(stored) -> list[str]:
    """When, on what and with what: a line for each state of these."""
    states: dict[str, int] = {}
    for part in [*stored["races"].values(), *stored["growth"].values()]:
        about = part["about"]
        versions = ", ".join(f"{name} {number}" for name, number in sorted(about["versions"].items()))
        words = f"{about['date']}: {about['processor']}, {about['cores']} cores; Python {about['python']}, {versions}."
        states[words] = states.get(words, 0) + 1
    loads = [part["about"]["load"] for part in stored["races"].values()]
    load = f"Mean number of running processes as the races began: {min(loads)} to {max(loads)}." if loads else ""
    return [f"{words} ({count} measurements)\n" for words, count in states.items()] + [load]


PARTS = {
    "small": small_words,
    "aims": lambda stored: report.aims(stored["races"]).splitlines(),
    "races": race_lines,
    "growth": growth_lines,
    "machine": machine_lines,
}


class Measured(SphinxDirective):
    """The part that its argument names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(SOURCE))
        lines = "\n".join(PARTS[self.arguments[0]](json.loads(SOURCE.read_text("utf8")))).splitlines()
        place = nodes.container()
        self.state.nested_parse(StringList(lines, str(SOURCE)), self.content_offset, place)
        return place.children


def setup(app) -> dict:
    app.add_directive("measured", Measured)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
