"""Pages are numbered by chapter: the third page of chapter 4 is 4.3, and its figures and equations count on through the chapter."""

from docutils import nodes
from sphinx import addnodes
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles


def by_chapter(self, env):  # noqa: ARG001
    """Number each page of the k-th numbered part of the contents (k, 1), (k, 2), and so on; return the pages whose number changed."""
    before, env.toc_secnumbers = env.toc_secnumbers, {}
    parts = [
        toctree for page in env.numbered_toctrees for toctree in env.get_doctree(page).findall(addnodes.toctree) if toctree.get("numbered")
    ]
    for chapter, part in enumerate(parts, 1):
        for place, (_, page) in enumerate(part["entries"], 1):
            number = (chapter, place)
            first, *rest = env.tocs[page].findall(nodes.reference)
            env.toc_secnumbers[page] = {first["anchorname"]: number} | {entry["anchorname"]: () for entry in rest}
            first["secnumber"] = env.titles[page]["secnumber"] = number
    return [page for page, numbers in env.toc_secnumbers.items() if numbers != before.get(page)]


def setup(app):  # noqa: ARG001
    TocTreeCollectorWithStyles.assign_section_numbers = by_chapter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
