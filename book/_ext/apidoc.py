"""The reference of the package: a page's tables of names with their entries, and small corrections to autodoc.

A page of `appendix/api` says in comments what it holds, and everything else is read off the package:

    % module: posthoc              what the module's docstring says; names below are looked up there
    % more of: posthoc             the same without the docstring, on a second page
    % table: correct report mark   names with their first sentences: those that a file of the module defines, or single ones
    % entries                      signature and docstring of every name in a table of the page
"""

import functools
import importlib
import inspect
import re

from sphinx.util.nodes import make_refnode

MARK = re.compile(r"^% (module|more of|table|entries):? *(.*)$", re.MULTILINE)
ALIAS = re.compile(r"Alias for field number \d+")
FIELD = re.compile(r"^    (\w+):[^#\n]*#\s*(.*)$", re.MULTILINE)
PARAMETERS = re.compile(r'<dl>\s*(<dd><em class="sig-param">.*?)</dl>', re.DOTALL)
BLOCK = "```{{eval-rst}}\n{}\n```"
# What autodoc makes of a signature, and what the code says: a key of JAX, defaults that are functions or a record of them.
SPELLED = (
    (re.compile(r"~?(?:\w+\.)*Key\[[^]]*\] \| ~?(?:\w+\.)*UInt32\[[^]]*\] \| ~?(?:\w+\.)*UInt32\[[^]]*\]"), "PRNGKeyArray"),
    (re.compile(r"= \([^()]*<function [^()]*\)"), "= DEFAULT"),
    (re.compile(r"<function (\w+)(?: at \w+)?>"), r"\1"),
)


@functools.cache
def public(module: str) -> list[str]:
    """The functions and classes that a module offers: what ``__all__`` says, else what it defines itself, in the order of the files."""
    found = importlib.import_module(f"course_pkg.{module}")
    own = [name for name, thing in vars(found).items() if getattr(thing, "__module__", "") == found.__name__]
    names = [name for name in getattr(found, "__all__", own) if not name.startswith("_") and callable(getattr(found, name))]
    return sorted(names, key=lambda name: inspect.getsourcelines(getattr(found, name))[1])


def held(module: str, place: str) -> list[str]:
    """What a word of a table stands for: the names that this file of the module defines, or the one name that it is."""
    found, names = importlib.import_module(f"course_pkg.{module}"), public(module)
    there = [name for name in names if getattr(found, name).__module__ == f"{found.__name__}.{place}"]
    there = there or [name for name in names if name == place]
    if not there:
        raise ValueError(f"the reference has a table with {place!r}, and course_pkg.{module} has no public name of it")
    return there


def tables(text: str) -> list[list[str]]:
    """The full names in each table of a page, in its order."""
    module, found = "", []
    for kind, words in MARK.findall(text):
        if kind in ("module", "more of"):
            module = words.strip()
        elif kind == "table":
            found.append([f"course_pkg.{module}.{name}" for place in words.split() for name in held(module, place)])
    return found


def expanded(text: str) -> str:
    """A page with its comments replaced by what they ask for."""
    of_page = tables(text)
    left = iter(of_page)

    def block(mark):
        kind, words = mark[1], mark[2].strip()
        if kind == "module":
            return BLOCK.format(f".. automodule:: course_pkg.{words}\n   :no-members:")
        if kind == "more of":
            return ""
        if kind == "table":
            return BLOCK.format(_table(next(left)))
        return BLOCK.format("\n\n".join(_entry(name) for table in of_page for name in table))

    return MARK.sub(block, text)


def _table(names: list[str]) -> str:
    module = names[0].rpartition(".")[0]
    rows = [f"   {name.rpartition('.')[2]}" for name in names]
    return "\n".join([f".. py:currentmodule:: {module}", "", ".. autosummary::", "   :nosignatures:", "", *rows])


def _entry(name: str) -> str:
    module, short = name.rsplit(".", 1)
    thing = getattr(importlib.import_module(module), short)
    kind = "autofunction" if not isinstance(thing, type) else "autoexception" if issubclass(thing, Exception) else "autoclass"
    return f".. {kind}:: {name}" + ("" if kind == "autofunction" else "\n   :members:")


def write_entries(app, docname, source) -> None:
    """Expand a page of the reference; a new name changes no file that Sphinx watches, so always read again."""
    if docname.startswith("appendix/api/"):
        app.env.note_reread()
        # its names are found as names; its words belong to the pages that teach them
        source[0] = "---\nnosearch: true\n---\n" + expanded(source[0])


def skip_generated(_app, _what, name, obj, _skip, _options):
    """Leave out what nobody wrote: a ``NamedTuple``'s field descriptors, which `add_fields` explains."""
    if ALIAS.match(getattr(obj, "__doc__", None) or "") or name in {"_asdict", "_make", "_replace", "_fields"}:
        return True
    return None


def add_fields(_app, what, _name, obj, _options, lines) -> None:
    """Say what the fields of a ``NamedTuple`` are, from the comments beside them, where its docstring does not."""
    if what == "class" and issubclass(obj, tuple) and not any(line.startswith(":param") for line in lines):
        fields = FIELD.findall(inspect.getsource(obj))
        lines += ["", *(f":param {name}: " + re.sub(r"([*|_\\])", r"\\\1", words) for name, words in fields if name in obj._fields)]


def spell(_app, _what, _name, _obj, _options, signature, returned):
    """Write a signature as the code has it; autodoc leaves one that it cannot parse as it is, reprs and all."""
    for pattern, words in SPELLED:
        signature, returned = (text and pattern.sub(words, text) for text in (signature, returned))
    return signature, returned


def find_elsewhere(app, env, node, shown):
    """Link a name of another module, such as ``Family`` or ``families.compose``, where one thing alone is called so."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not (target[:1].isupper() or {".", "_"} & set(target)):
        return None  # a plain word may be an argument's name
    known = env.domaindata["py"]["objects"]
    kinds = {"function", "class", "exception"}
    found = [name for name, entry in known.items() if name.endswith(f".{target}") and entry.objtype in kinds and not entry.aliased]
    if len(found) != 1:
        return None
    entry = known[found[0]]
    return make_refnode(app.builder, node.get("refdoc", env.docname), entry.docname, entry.node_id, shown, found[0])


def plain_parameters(_app, pagename, _templatename, context, _doctree) -> None:
    """A signature's parameters, a line each, are no list of definitions: Sphinx gives them descriptions and no terms."""
    if pagename.startswith("appendix/api/"):
        context["body"] = PARAMETERS.sub(
            lambda found: f'<div class="sig-parameters">{re.sub(r"(</?)dd>", r"\1div>", found[1])}</div>', context["body"]
        )


def setup(app) -> dict:
    app.setup_extension("sphinx.ext.autosummary")
    app.connect("source-read", write_entries)
    app.connect("html-page-context", plain_parameters)
    app.connect("autodoc-process-signature", spell)
    app.connect("missing-reference", find_elsewhere)
    app.connect("autodoc-skip-member", skip_generated)
    app.connect("autodoc-process-docstring", add_fields, priority=900)  # after napoleon
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
