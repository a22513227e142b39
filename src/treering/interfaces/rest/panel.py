"""The panel's files, and the headers that keep its page from loading anything else."""

from pathlib import Path

from starlette.responses import FileResponse, HTMLResponse, Response

DIST = Path(__file__).parent.parent / "panel" / "dist"
_LASTING = "public, max-age=31536000, immutable"
"""Files under `assets/` have the hash of their content in their name."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
        "worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Treering</title>
<h1>Treering is running</h1>
<p>The panel is not built. In a checkout, run <code>make panel</code>, then restart <code>treering serve</code>.</p>
<p>The API is at <a href="/api/v1/docs">/api/v1/docs</a>.</p></html>"""


def panel_file(path: str, folder: Path = DIST) -> Response:
    """The file of the panel with this path; its page for paths of the panel itself, which have no file."""
    page = folder / "index.html"
    if not page.is_file():
        return HTMLResponse(_NOT_BUILT) if path in ("", "index.html") else _missing()
    root = folder.resolve()
    try:
        wanted = (root / path).resolve()
        inside = wanted.is_relative_to(root) and wanted.is_file()
    except (OSError, ValueError):  # a name that no file can have
        inside = False
        wanted = root
    if path and inside:
        cached = _LASTING if path.startswith("assets/") else "no-cache"
        return FileResponse(wanted, headers={"Cache-Control": cached})
    if "." in path.rpartition("/")[2]:
        return _missing()
    return FileResponse(page, headers={"Cache-Control": "no-cache"})


def _missing() -> Response:
    return HTMLResponse("<!doctype html><title>Not found</title><h1>Not found</h1>", 404)
