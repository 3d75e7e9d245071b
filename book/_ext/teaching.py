"""What a teacher's pages say of the sheets: the goals that they test, and the mistakes that show a misconception.

Nothing of it is written twice: a goal's sheets must be there, and the words of a verdict are read from the sheet's record.
"""

import importlib
import sys

import contents
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(contents.BOOK.parent))


def goals(chapter: str, lines: list[str]) -> list[tuple[str, list[contents.Sheet]]]:
    """Goals with the sheets that test them, from lines such as ``- Compute a risk: james-stein``.

    Raises:
        ValueError: if a goal has no sheet, or one that is not there.
    """
    found = []
    for line in filter(None, map(str.strip, lines)):
        goal, _, names = line.removeprefix("- ").rpartition(": ")
        wanted = [f"{chapter}/{name}" for name in names.split()]
        if not goal or (lost := [name for name in wanted if name not in contents.sheets()]):
            raise ValueError(f"a goal ends in a colon and names of sheets; there is no {', '.join(lost) if goal else names}")
        found.append((goal, [contents.sheets()[name] for name in wanted]))
    return found


def said(name: str, words: str) -> str:
    """The whole of what the verdict on a part, such as ``decisions/ridge/fit``, says of the mistake whose words begin like this.

    Raises:
        ValueError: if no mistake's words begin so, or several do.
    """
    chapter, sheet, part = name.split("/")
    record = importlib.import_module(f"solutions.{chapter}.{sheet.replace('-', '_')}").TASKS[part]
    found = [said for said in (*record.mistakes, *record.later) if said.startswith(words)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} verdicts on {name} begin with {words!r}")
    return found[0]


class FromSheets(SphinxDirective):
    """A directive whose text is made from the sheets."""

    has_content = True
    required_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        holder = nodes.container("", classes=[self.name])
        try:
            lines = self.lines()
        except ValueError as error:
            raise self.error(str(error)) from error
        self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, holder)
        return [holder]

    def follow(self, sheet: str) -> None:
        source = contents.BOOK.parent / "solutions" / f"{sheet}.md"
        for path in (source, source.with_name(f"{source.stem.replace('-', '_')}.py")):
            self.env.note_dependency(str(path))


class Goals(FromSheets):
    """The goals of a chapter; its argument is the chapter's folder, its content a list."""

    def lines(self) -> list[str]:
        rows = ["| A student can … | shown by |", "|:--|:--|"]
        for goal, sheets in goals(self.arguments[0], list(self.content)):
            for sheet in sheets:
                self.follow(sheet.name)
            links = ", ".join(f"[{sheet.title}](/exercises/{sheet.name}.md)" for sheet in sheets)
            rows.append(f"| {goal[0].lower()}{goal[1:]} | {links} |")
        return rows


class Misconception(FromSheets):
    """What students believe; the content says how it looks in class and what cures it, the record what the verdict says."""

    option_spec = {"part": str, "says": str}  # noqa: RUF012

    def lines(self) -> list[str]:
        sheet = self.options["part"].rpartition("/")[0]
        self.follow(sheet)
        words = " ".join(said(self.options["part"], self.options["says"]).split())
        link = f"[{contents.sheets()[sheet].title}](/exercises/{sheet}.md)"
        return [f"**{self.arguments[0]}**", "", *self.content, "", f"> {words}", ">", f"> The verdict on {link}"]


def setup(app) -> dict:
    app.add_directive("goals", Goals)
    app.add_directive("misconception", Misconception)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
