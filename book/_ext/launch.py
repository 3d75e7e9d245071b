"""Buttons that open a page or a sheet on Binder, and a sheet on Colab, once `repository: url:` in _config.yml says where the project lies.

The theme has such buttons, too. Its own open a sheet's page where the notebook should be, and a text notebook on Colab, which has none.
"""

import re
from urllib.parse import quote

ICONS = {"Binder": "_static/images/logo_binder.svg", "Colab": "_static/images/logo_colab.png"}
GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def addresses(url: str, branch: str, path: str) -> dict[str, str]:
    """Where a file of the repository opens as a notebook; empty where the repository has no address."""
    if not url:
        return {}
    name = GITHUB.fullmatch(url)
    place = f"gh/{name[1]}" if name else f"git/{quote(url, safe='')}"
    found = {"Binder": f"https://mybinder.org/v2/{place}/{quote(branch, safe='')}?urlpath=lab/tree/{quote(path)}"}
    if name and path.endswith(".ipynb"):
        found["Colab"] = f"https://colab.research.google.com/github/{name[1]}/blob/{quote(branch)}/{quote(path)}"
    return found


def path_of(pagename: str, metadata: dict) -> str:
    """The file in the repository that a page is made from, if it opens as a notebook: a sheet, or a page that runs."""
    if pagename.startswith("exercises/"):
        return f"{pagename}.ipynb"
    return f"book/{pagename}.md" if "kernelspec" in metadata else ""


def add_buttons(app, pagename, _templatename, context, doctree) -> None:
    """A group of links above the page."""
    options = app.config.html_theme_options
    path = path_of(pagename, app.env.metadata.get(pagename, {})) if doctree else ""
    found = addresses(options.get("repository_url", ""), options.get("repository_branch", "main"), path) if path else {}
    buttons = [
        {"type": "link", "text": name, "tooltip": f"Open on {name}", "icon": ICONS[name], "url": address} for name, address in found.items()
    ]
    if buttons:
        look = {"tooltip": "Open without installing", "icon": "fas fa-rocket", "label": "launch-buttons"}
        context["header_buttons"].append({"type": "group", "buttons": buttons, **look})


def setup(app) -> dict:
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's own
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
