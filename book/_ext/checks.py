"""Fold set-up and checks to one quiet line that says what is in them.

A cell tagged ``setup`` or ``check`` is folded whole. Its line is written from the cell's own code: how many asserts it holds, at how
many seeds, or that it only hands numbers to the text; then the cell's first comment. A tick stands only on a cell that was executed, as
a failed assert stops the build. Seeds are claimed for an assert only if it stands in, or mentions something made in, a loop
``for seed in range(20)``; names carry that from cell to cell. What this cannot see, the line does not claim.
"""

import ast
from collections.abc import Iterator

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, NbMetadataCollector

KINDS = ("setup", "check")
CLAIMS = "seeds of its claims"  # under this name a page's build keeps them for the page What was checked


def seeds_of(turn: ast.AST) -> int:
    """N of ``for seed in range(N)``, as a statement or in a comprehension; 0 of anything else."""
    match getattr(turn, "target", None), getattr(turn, "iter", None):
        case ast.Name(id="seed"), ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(n))]):
            return n
    return 0


def given(*trees: ast.AST) -> set[str]:
    """The names that are assigned in these trees."""
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def unpicked(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression without ``found[0]`` and ``found[best]``, of who knows how many seeds; ``found["name"]`` stays."""
    if isinstance(node, ast.Subscript):
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not any(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys):
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from unpicked(child)


def reach(expression: ast.AST, made: dict[str, int]) -> int:
    """At how many seeds an expression was computed, by what it loops over and what it mentions; what picks a place claims none."""
    found = list(unpicked(expression))
    own = {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}  # of comprehensions, hide others
    return max((seeds_of(node) or made.get(getattr(node, "id", ""), 0) * (getattr(node, "id", "") not in own) for node in found), default=0)


def asserts(body: list[ast.stmt], made: dict[str, int], around: int = 0) -> list[int]:
    """For each assert in ``body`` its number of seeds, 0 for none; ``made`` learns which names hold something of every seed."""
    found = []
    for statement in body:
        match statement:
            case ast.Assert():
                found.append(around or reach(statement.test, made))
            case ast.For() | ast.With() | ast.If() | ast.While():
                turns = seeds_of(statement) or (reach(statement.iter, made) if isinstance(statement, ast.For) else 0)
                found += asserts(statement.body + getattr(statement, "orelse", []), made, around or turns)
            case ast.Assign():  # in a loop over seeds a name ends up with the last seed's value alone
                made.update(dict.fromkeys(given(*statement.targets), 0 if around else reach(statement.value, made)))
            case ast.AugAssign(target=ast.Name(id=name)) | ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))):
                made[name] = max(made.get(name, 0), around)
    return found


def some(count: int, word: str) -> str:
    """A count with its noun."""
    return f"{count} {word}" + "s" * (count != 1)


def line(kind: str, code: str, *, executed: bool, made: dict[str, int]) -> str:
    """What stands in place of a cell."""
    held = asserts(ast.parse(code).body, made)
    seeded = [n for n in held if n]
    badge = "Set-up" if kind == "setup" else "Numbers for the text"
    if held:
        badge = "✓ " * executed + some(len(held), "check")
    if seeded:
        badge += (" at " if len(seeded) == len(held) else f", {len(seeded)} at ") + some(min(seeded), "seed")
    first = code.lstrip().splitlines()[0]
    return badge + (" · " + first.lstrip("# ").rstrip(".").replace("`", "") if first.startswith("#") else "")


def fold(app, doctree) -> None:
    """Give set-up and check cells their line, and keep the page's counts."""
    made: dict[str, int] = {}
    claims: list[int] = []
    for cell in doctree.findall(lambda n: isinstance(n, nodes.container) and n.get("nb_element") == "cell_code"):
        kind = next((k for k in KINDS if f"tag_{k}" in cell["classes"]), None)
        code = next((n.astext() for n in cell.findall(nodes.literal_block)), "")
        claims += asserts(ast.parse(code).body, dict(made))
        if kind:
            text = line(kind, code, executed=cell.get("exec_count") is not None, made=made)
            cell["classes"].append("quiet")
            cell["hide_mode"], cell["prompt_show"], cell["prompt_hide"] = "all", text, text
        else:
            asserts(ast.parse(code).body, made)  # its loops over seeds count for later cells
    NbMetadataCollector.set_doc_data(app.env, app.env.docname, CLAIMS, claims)


def row_of(docname: str) -> str:
    """The anchor of a page's row on the page What was checked."""
    return f"checked-{docname.replace('/', '-')}"


def on_paper(app, doctree, _docname) -> None:
    """Folding is for HTML; elsewhere a check is its line, and a set-up is left out."""
    if app.builder.format == "html":
        return
    for cell in list(doctree.findall(lambda n: isinstance(n, nodes.container) and "quiet" in n["classes"])):
        text = cell["prompt_show"]
        cell.replace_self([] if "tag_setup" in cell["classes"] else [nodes.paragraph("", "", nodes.emphasis(text, text))])


def open_fold(self, node) -> None:
    """As in myst-nb, but the summary's own words are its name: there, each is "Toggle hidden content" to a screen reader."""
    shown, hidden = (self.encode(node[f"prompt_{key}"]) for key in ("show", "hide"))
    titles = f'<p class="collapsed admonition-title">{shown}</p><p class="expanded admonition-title">{hidden}</p>'
    summary = shown if shown == hidden else titles
    link = ""
    if shown.startswith("✓"):  # not in the line itself: what is in a button cannot be reached by a screen reader
        row = self.builder.get_relative_uri(self.builder.current_docname, "appendix/checked") + "#" + row_of(self.builder.current_docname)
        link = f'<p class="record"><a href="{row}">What was checked on this page, and when</a></p>\n'
    self.body.append(f'<details class="admonition hide {" ".join(node["classes"])}">\n<summary>{summary}</summary>\n{link}')


def setup(app) -> dict:
    """Tell Sphinx."""
    app.connect("doctree-read", fold)
    app.connect("doctree-resolved", on_paper)
    app.add_node(HideCodeCellNode, override=True, html=(open_fold, lambda self, _node: self.body.append("</details>\n")))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
