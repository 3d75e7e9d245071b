"""Author and year in round brackets: "Berger (1985)" and "(Berger, 1985)", where the stock style has square ones.

And a word on how far the list of references can be trusted: which entries were looked up, by appendix/looked-up.toml.
"""

import functools
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pybtex.plugin
import sphinxcontrib.bibtex.plugin
from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

BOOK = Path(__file__).resolve().parents[1]
REFERENCES, LOOKED_UP = BOOK / "references.bib", BOOK / "appendix" / "looked-up.toml"
ENTRY = re.compile(r"^@\w+\{(\w+),$.*?author\s*=\s*\{(.*?)(?: and |\},?$).*?year\s*=\s*\{(\d+)\}", re.MULTILINE | re.DOTALL)


def entries() -> dict[str, str]:
    """Each key of the list of references with its first author and year, as a reader would say it."""
    found = {}
    for key, author, year in ENTRY.findall(REFERENCES.read_text("utf8")):
        family = re.sub(r"\\[\W]*(?:[A-Za-z]\s+)?", "", author.partition(",")[0])
        found[key] = f"{re.sub(r'[{}]', '', family)} ({year})"
    return found


def looked_up() -> dict[str, list[str]]:
    """The keys that were compared with something, by what it was."""
    return {kind: keys.split() for kind, keys in tomllib.loads(LOOKED_UP.read_text("utf8")).items()}


class LookedUp(SphinxDirective):
    """How many works were looked up, and which were not."""

    def run(self) -> list[nodes.Node]:
        for path in (REFERENCES, LOOKED_UP):
            self.env.note_dependency(str(path))
        known, found = looked_up(), entries()
        left = sorted(words for key, words in found.items() if not any(key in keys for keys in known.values()))
        counts = ", ".join(f"{len(known[kind])} with {words}" for kind, words in WITH.items())
        text = f"Of {len(found)} works, {sum(map(len, known.values()))} were looked up: {counts}."
        rest = f"Not compared with anything yet, and so perhaps from memory: {'; '.join(left)}."
        return [nodes.paragraph("", text), nodes.paragraph("", rest)]


WITH = {
    "publisher": "the publisher’s own record",
    "cited": "what others cite in public",
    "documents": "the lists of references of the four documents that the book follows",
}


def round_brackets() -> BracketStyle:
    return BracketStyle(left="(", right=")", sep="; ")


@dataclass
class RoundAuthorYear(AuthorYearReferenceStyle):
    bracket_textual: BracketStyle = field(default_factory=round_brackets)
    bracket_parenthetical: BracketStyle = field(default_factory=round_brackets)
    bracket_year: BracketStyle = field(default_factory=round_brackets)


def setup(app) -> dict:
    # asked anew at each citation, pybtex would look through all that is installed 800 times
    pybtex.plugin._load_entry_point = functools.cache(pybtex.plugin._load_entry_point)
    app.add_directive("looked-up", LookedUp)
    sphinxcontrib.bibtex.plugin.register_plugin("sphinxcontrib.bibtex.style.referencing", "author_year_round", RoundAuthorYear)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
