"""Where a browser for the tests of the panel is, and whether the panel is built."""

import json
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DIST = ROOT / "src/treering/interfaces/panel/dist"
AXE = ROOT / "panel/node_modules/axe-core/axe.min.js"
_FIRST_PAGES = ("index.html", "src/pages/health/HealthPage.tsx")
VARIABLE = "TREERING_TEST_BROWSER"
"""Path of the browser; `required` makes its absence an error."""
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_FROM_NPM = ROOT / ".venv/browser/path"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
"""The last flag keeps every request on this machine."""


def browser_path() -> str | None:
    """The installed browser: the named one, one on the path, or the one that `make test` got from npm."""
    named = os.environ.get(VARIABLE, "")
    if named not in ("", "required"):
        return named
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None and _FROM_NPM.is_file():
        return _FROM_NPM.read_text().strip() or None
    return found


def missing() -> str | None:
    """The reason why browser tests cannot run, and what to do; None if they can."""
    if browser_path() is None:
        return f"no Chromium was found; install it (apt-get install chromium), or set {VARIABLE} to its path"
    if not (DIST / "index.html").is_file() or not AXE.is_file():
        return "the panel is not built; run `make panel`"
    return None


def first_load() -> list[str]:
    """The JavaScript files that the first page loads, by their paths in the built panel."""
    manifest = json.loads((DIST / ".vite/manifest.json").read_text())
    waiting, files = list(_FIRST_PAGES), set[str]()
    while waiting:
        chunk = manifest[waiting.pop()]
        if chunk["file"] not in files:
            files.add(chunk["file"])
            waiting += chunk.get("imports", [])
    return sorted(file for file in files if file.endswith(".js"))


def is_required() -> bool:
    return os.environ.get(VARIABLE) == "required"
