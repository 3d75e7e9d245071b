"""The reference of the package: a section for each module that exists, and small corrections to autodoc."""

import pkgutil
import re

import course_pkg

ALIAS = re.compile(r"Alias for field number \d+")
PLACE = re.compile(r"^% modules:.*$", re.MULTILINE)
# From what lies at the bottom to what stands on top; a module that is not named here follows, by its name.
ORDER = (
    *("data", "models", "families", "decisions"),
    *("gradients", "implicit", "convergence", "fit", "mcmc", "vi", "is_gradients", "lambertw", "lcvi", "posthoc"),
    *("plots", "checks"),
)
SECTION = """## `{name}`

```{{eval-rst}}
.. automodule:: course_pkg.{name}
   :members:
```
"""


def modules() -> list[str]:
    """The package's public modules, in the order of the reference."""
    names = [info.name for info in pkgutil.iter_modules(course_pkg.__path__) if not info.name.startswith("_")]
    return sorted(names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def write_sections(app, docname, source) -> None:
    """Put the modules' sections where the page says so; a new module changes no file that Sphinx watches, so always read again."""
    if docname == "appendix/api":
        app.env.note_reread()
        source[0] = PLACE.sub("\n".join(SECTION.format(name=name) for name in modules()), source[0])


def skip_generated(_app, _what, name, obj, _skip, _options):
    """Leave out what nobody wrote: a ``NamedTuple``'s field descriptors, which the class's own docstring explains."""
    if ALIAS.match(getattr(obj, "__doc__", None) or "") or name in {"_asdict", "_make", "_replace", "_fields"}:
        return True
    return None


def setup(app) -> dict:
    app.connect("source-read", write_sections)
    app.connect("autodoc-skip-member", skip_generated)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
