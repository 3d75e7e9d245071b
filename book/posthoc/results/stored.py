"""How the scripts of this folder keep what they found: small JSON files, rounded, with the command that makes them."""

import json
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent


def store(script: str, name: str, digits: int = 5, **content):
    """Write ``name.json`` beside the scripts, with the command as it was given."""
    whole = {"made_by": shlex.join(["python", f"book/posthoc/results/{Path(script).name}", *sys.argv[1:]]), **content}
    rounded = json.loads(json.dumps(whole), parse_float=lambda value: round(float(value), digits))
    (HERE / f"{name}.json").write_text(json.dumps(rounded) + "\n")
