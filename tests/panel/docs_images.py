"""Makes the pictures of the panel in docs/images from the sample project: `make panel-images`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, expect, sync_playwright

from tests.panel.browsers import FLAGS, ROOT, browser_path, missing
from tests.panel.conftest import sign_in
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import PROJECT, fill

IMAGES = ROOT / "docs/images"
MAX_BYTES = 150_000
PICTURES = {
    "health": ("health", "light"),
    "browse": ("browse?q=redis", "light"),
    "review": ("review", "light"),
    "session": ("sessions?id=build-045", "light"),
    "map": ("map?node=worker", "dark"),
    "ask": ("ask?q=When do access tokens expire?", "dark"),
}
"""Address and theme of each picture, by its name."""


def image(name: str) -> Path:
    return IMAGES / f"panel-{name}.png"


def make_images() -> None:
    reason = missing()
    if reason is not None:
        raise SystemExit(f"the pictures of the panel cannot be made: {reason}")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        fill(Path(folder))
        server = PanelServer(Path(folder))
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        try:
            for name in PICTURES:
                _make(name, browser, server)
        finally:
            browser.close()
            server.stop()


def _make(name: str, browser: Browser, server: PanelServer) -> None:
    path, theme = PICTURES[name]
    context = browser.new_context(
        viewport={"width": 1200, "height": 760},
        color_scheme="dark" if theme == "dark" else "light",
        locale="en",
        reduced_motion="reduce",
    )
    sign_in(context, server)
    page = context.new_page()
    page.goto(f"{server.url}/p/{PROJECT}/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.wait_for_timeout(2_000)  # charts and graphs draw after their data
    page.screenshot(path=image(name))
    context.close()
    size = image(name).stat().st_size
    print(f"{image(name).relative_to(ROOT)}  {size:,} bytes")
    if size > MAX_BYTES:
        raise SystemExit(f"{image(name).name} has more than {MAX_BYTES:,} bytes; choose a smaller page")


if __name__ == "__main__":
    make_images()
