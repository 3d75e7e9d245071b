"""A page that prints something else the second time is found, and one that says so is let be."""

from tests.notebooks.test_pages import project, write_page
from tools import pages, reproduce

__all__ = ["project"]  # a fixture


def test_what_the_clock_says_differs_and_a_tag_says_so(project):
    path = write_page(
        project,
        """
        ```{code-cell} python
        :tags: [varies-with-the-clock]
        import time
        time.time_ns()
        ```

        ```{code-cell} python
        40 + 2;
        ```

        ```{code-cell} python
        time.time_ns()
        ```

        ```{code-cell} python
        import os
        os.environ["XLA_FLAGS"]  # compiled with the same passes, or the last digits may differ
        ```
        """,
    )
    (outcome,) = pages.run([path], project)
    assert outcome.failure is None
    notebook, varying = reproduce.written(path, project / "again", project)
    assert varying == ["book/decisions/page.md:10: the-clock"]
    result = reproduce.again(notebook)
    assert "1 failed, 3 passed" in result.stdout
    assert "Cell 2" in result.stdout
