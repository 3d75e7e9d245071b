"""A page for each exercise sheet, made from its source in solutions/ without the answers, and links wherever a sheet is named.

The pages are written into book/exercises/, which is not under version control; a sheet is written again when its source changes.
They are never executed, search leads to the pages that teach instead, and what the notebook asks `hint` for is folded in three.
"""

import html
import importlib
import re
import subprocess
import sys
from pathlib import Path

import contents
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

ROOT = contents.BOOK.parent
PAGES, NOTEBOOKS = contents.BOOK / "exercises", contents.BOOK / "_build" / "sheets"
STAGES = ("the idea", "the equation", "the first line")
HINT = re.compile(r'\bhint\("([^"]+)"')
COLUMN = 88  # letters of code that the page's column shows
LONG = re.compile(rf"^(?=.{{{COLUMN + 1}}})( *)(\S.*?)  # (.+)$", re.MULTILINE)  # a line with a comment at its end
CALLS = re.compile(r"^(?:from course_pkg\.checks import .*|(?:check|hint)\(.*\))\n?", re.MULTILINE)
NAMED = re.compile(r"exercises/([a-z_]+/[a-z-]+)\.ipynb")

logger = logging.getLogger(__name__)
sys.path.insert(0, str(ROOT))


# --- the page of a sheet --------------------------------------------------------------------------


def hints(name: str) -> tuple[str, ...]:
    """The hints of a task, such as ``decisions/ridge/penalty``."""
    chapter, sheet, *part = name.split("/")
    tasks = importlib.import_module(f"solutions.{chapter}.{sheet.replace('-', '_')}").TASKS
    return (tasks[part[0]] if part else next(iter(tasks.values()))).hints


def folded(name: str) -> str:
    """A task's hints, each behind its own line."""
    rows = []
    for stage, words in zip(STAGES, hints(name), strict=True):
        words = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(" ".join(words.split()), quote=False))
        rows.append(f'<details class="hint"><summary>Hint: {stage}</summary><p>{words}</p></details>')
    return f'<div class="hints">{"".join(rows)}</div>'


def fitted(code: str) -> str:
    """Code no wider than the page's column, by the formatter where it is installed; the notebook's own lines may be longer."""
    code = re.sub(r"\n{4,}", "\n\n\n", code)
    if max(map(len, code.splitlines())) <= COLUMN:
        return code
    code = LONG.sub(r"\1# \3\n\1\2", code)
    call = [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated", "--line-length", str(COLUMN), "-"]
    done = subprocess.run(call, input=code, capture_output=True, text=True)
    return code if done.returncode else done.stdout.strip()


def text(sheet: contents.Sheet, cells: list) -> str:
    """The page as MyST text, from the cells of the student's notebook."""
    pieces = []
    for cell in cells:
        if cell.id.endswith("-install"):
            continue
        if cell.cell_type == "code":
            if task := HINT.search(cell.source):
                pieces.append(folded(task[1]))
            elif code := CALLS.sub("", cell.source).strip():
                pieces.append(f"```python\n{fitted(code)}\n```")
        elif not cell.metadata.get("nbgrader", {}).get("solution"):  # else a place to answer in
            pieces.append(re.sub(r"^(Stuck\?|Back to the page:).*$", "", cell.source, flags=re.MULTILINE))
    body = re.sub(r"\]\(\.\./\.\./book/appendix/errata\.md#", "](#", "\n\n".join(pieces))
    body = re.sub(r"\]\(\.\./\.\./book/", "](/", body)
    body = re.sub(r"\]\(((?:\.\./\w+/)?[\w-]+)\.ipynb\)", r"](\1.md)", body)
    title, top, rest = body.strip().split("\n\n", 2)
    back = f"For the page [](/{sheet.page}.md) · " if sheet.page else ""
    door = f"{{sheet-notebook}}`{sheet.name}` · {back}[All exercises](/exercises.md)"
    return f"---\norphan: true\nnosearch: true\n---\n\n{title}\n\n{top}\n\n:::{{div}} sheet-door\n{door}\n:::\n\n{rest}\n"


def write_pages(app, config) -> None:  # noqa: ARG001
    """Write what is older than its source, or than the programs that make it."""
    known = contents.sheets()
    makers = [Path(__file__), ROOT / "tools" / "exercises.py", contents.BOOK / "_config.yml"]
    for name, sheet in known.items():
        source = ROOT / "solutions" / f"{name}.md"
        page, notebook = PAGES / f"{name}.md", NOTEBOOKS / f"{name}.ipynb"
        record = source.with_name(source.stem.replace("-", "_") + ".py")
        newest = max(path.stat().st_mtime for path in (source, record, *makers) if path.exists())
        if all(path.exists() and path.stat().st_mtime > newest for path in (page, notebook)):
            continue
        from tools import exercises  # takes seconds to import, and most builds do without

        student = exercises.student(name)
        for path, words in ((page, text(sheet, student.cells)), (notebook, exercises.text(student))):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(words, "utf8")
    for page in PAGES.glob("*/*.md"):
        if page.relative_to(PAGES).with_suffix("").as_posix() not in known:
            page.unlink()


def notebook_link(_name, _raw, name, _line, _inliner, options=None, content=None):  # noqa: ARG001
    """``{sheet-notebook}`decisions/ridge` ``: the student's notebook, to take away."""
    file = name.rpartition("/")[2]
    link = f'<a class="sheet-notebook" href="../../_sources/exercises/{name}.ipynb" download="{file}.ipynb">Take the notebook</a>'
    return [nodes.raw("", link, format="html")], []


def hand_out(app, pagename, _templatename, context, _doctree) -> None:
    """Put a sheet's notebook beside its page's source, and lead from sheet to sheet."""
    name = pagename.removeprefix("exercises/")
    if name == pagename:
        return
    target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes((NOTEBOOKS / f"{name}.ipynb").read_bytes())
    context["ipynb_source"] = f"{pagename}.ipynb"
    names = list(app.sheets)
    place = names.index(name)
    for key, near in (("prev", names[place - 1] if place else None), ("next", (names[place + 1 :] or [None])[0])):
        context[key] = near and {"link": context["pathto"](f"exercises/{near}"), "title": html.escape(app.sheets[near].title)}


# --- where sheets are named -----------------------------------------------------------------------


class SheetTable(SphinxDirective):
    """The list of all sheets; without a script it is a plain table."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ROOT / "solutions" / "order.toml"))
        chapters = self.env.app.chapters
        rows = ["| Sheet | Chapter | Level | Minutes | After |", "|:--|:--|:--|--:|:--|"]
        for name, sheet in self.env.app.sheets.items():
            self.env.note_dependency(str(ROOT / "solutions" / f"{name}.md"))
            chapter = chapters.get(name.partition("/")[0], "Capstone")
            after = f"[](/{sheet.page}.md)" if sheet.page else ""
            rows.append(
                f"| [{sheet.title}](/exercises/{name}.md) | {chapter} | {contents.STARS[sheet.stars]} | {sheet.minutes} | {after} |"
            )
        lines = [":::{table}", ":class: filtered sheets", "", *rows, ":::"]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, holder)
        return holder.children


def link_names(app, doctree) -> None:
    """Turn each mention of a sheet's file into a link to its page, under its title."""
    for literal in list(doctree.findall(nodes.literal)):
        named = NAMED.fullmatch(literal.astext())
        if not named or isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            continue
        if named[1] not in app.sheets:
            logger.warning("%s is no sheet", literal.astext(), location=literal)
            continue
        target = addnodes.pending_xref(
            "", refdomain="std", reftype="doc", reftarget=f"/exercises/{named[1]}", refexplicit=False, refwarn=True, refdoc=app.env.docname
        )
        target += nodes.inline("", named[1])
        literal.replace_self(target)


def learn(app) -> None:
    """Read the list once a build."""
    app.sheets = contents.sheets()
    app.chapters = contents.chapters()


def setup(app) -> dict:
    app.connect("config-inited", write_pages)
    app.connect("builder-inited", learn)
    app.connect("doctree-read", link_names)
    app.connect("html-page-context", hand_out, priority=400)  # before the theme draws its buttons
    app.add_directive("sheet-table", SheetTable)
    app.add_role("sheet-notebook", notebook_link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
