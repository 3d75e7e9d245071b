"""Every code cell of every text notebook as a test: ``book/decisions/risk.md::cell3-line58``.

A page that was executed for the book is not executed again. The line is that of the cell's opening fence.
"""

import functools

import pytest

from tools import pages


class CellFailedError(Exception):
    """A cell raised, wrote to stderr or took too long."""


class PageFile(pytest.File):
    """One text notebook."""

    def collect(self):
        fences = pages.read_page(self.path, self.config.rootpath).fences
        for number, line in enumerate(fences, start=1):
            yield PageCell.from_parent(self, name=f"cell{number}-line{line}", number=number, line=line)

    @functools.cached_property
    def failure(self):
        (outcome,) = pages.run([self.path], self.config.rootpath)
        return outcome.failure


class PageCell(pytest.Item):
    """One code cell: passes if the page was executed beyond it."""

    def __init__(self, *, number, line, **kwargs):
        super().__init__(**kwargs)
        self.number = number
        self.line = line

    def runtest(self):
        failure = self.parent.failure
        if failure is None or self.number < failure.cell:
            return
        if self.number > failure.cell:
            pytest.skip(f"cell {failure.cell} of this page failed at line {failure.line}")
        raise CellFailedError(str(failure))

    def repr_failure(self, excinfo):
        if isinstance(excinfo.value, CellFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, self.line - 1, self.name


@functools.cache
def _text_notebooks(root):
    return frozenset(pages.find_pages(root))


def pytest_collect_file(file_path, parent):
    root = parent.config.rootpath
    if file_path.suffix == ".md" and file_path in _text_notebooks(root):
        return PageFile.from_parent(parent, path=file_path)
    return None
