"""No line begins with the comma, bracket or letter that belongs to the formula before it, nor with the mark that ends a proof."""

import re

from docutils import nodes

BEFORE, AFTER = re.compile(r"[(\[“‘]+$"), re.compile(r"^[^\s(/]{1,12}")


def keep(app, doctree):  # noqa: ARG001
    """Put an inline formula and what touches it on one line, and the end of a proof on its last; a browser would break between them."""
    for text in [text for text in doctree.findall(nodes.Text) if " ∎" in text]:
        text.parent.replace(text, nodes.Text(text.replace(" ∎", "\N{NO-BREAK SPACE}∎")))
    for formula in list(doctree.findall(nodes.math)):
        parent, place = formula.parent, formula.parent.index(formula)
        before, after = (parent[i] if 0 <= i < len(parent) else None for i in (place - 1, place + 1))
        left = BEFORE.search(before) if isinstance(before, nodes.Text) else None
        right = AFTER.search(after) if isinstance(after, nodes.Text) else None
        if left is None and right is None:
            continue
        pieces = [nodes.Text(left[0])] if left else []
        pieces += [formula] + ([nodes.Text(right[0])] if right else [])
        if right:
            parent[place + 1] = nodes.Text(after[right.end() :])
        if left:
            parent[place - 1] = nodes.Text(before[: left.start()])
        parent[place] = nodes.inline("", "", *pieces, classes=["kept"])


def setup(app):
    app.connect("doctree-read", keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
