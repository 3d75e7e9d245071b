"""Libraries that only some uses of the package need, each installed by an extra of its name."""

import importlib
from typing import Any


def needs(library: str, extra: str) -> Any:
    """Import a library, or say which extra installs it.

    Raises:
        ModuleNotFoundError: if it is not installed.

    Example:
        >>> needs("math", "maths").sqrt(4.0)
        2.0
    """
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as missing:
        top = library.split(".")[0]
        if missing.name != top:
            raise
        words = f"this needs {top}, which is not installed: pip install 'deciding-with-approximations[{extra}]'"
        raise ModuleNotFoundError(words, name=top) from None
