"""Browser tests of the panel. They run if there is a Chromium and the panel is built; else pytest says why not."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.panel.browsers import AXE, FLAGS, browser_path, is_required, missing
from tests.panel.panel_server import SCRATCH, PanelServer
from tests.panel.sample_data import PROJECT, fill

_REASON = missing()
collect_ignore_glob = ["test_*_in_browser.py"] if _REASON and not is_required() else []
OpenPanel = Callable[..., Page]
expect.set_options(timeout=30_000)  # a busy machine is not a failure
_SERIOUS = ("serious", "critical")


def pytest_report_header() -> str | None:
    return None if _REASON is None else f"panel: its browser tests do not run: {_REASON}"


@pytest.fixture(scope="session")
def panel_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    assert _REASON is None, _REASON
    folder = tmp_path_factory.mktemp("panel")
    fill(folder)
    server = PanelServer(folder)
    server.create(SCRATCH)
    yield server
    server.stop()


# Not for the session: until it ends, Playwright keeps an event loop running, beside which other tests cannot start one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def open_panel(browser: Browser, panel_server: PanelServer) -> Iterator[OpenPanel]:
    """Opens a page of the panel, signed in. The test fails if the page asks another machine, or has an error."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def opened(
        path: str = "health",
        *,
        project: str = PROJECT,
        theme: Any = "light",
        width: int = 1280,
        height: int = 860,
        language: str = "en",
        signed_in: bool = True,
        in_tab_of: Page | None = None,
        server: PanelServer = panel_server,
    ) -> Page:
        if in_tab_of is None:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                locale=language,
                reduced_motion="reduce",
            )
            context.set_default_timeout(30_000)
            contexts.append(context)
            context.on("request", lambda request: _check_request(request.url, server.url, faults))
            if signed_in:
                sign_in(context, server)
        else:
            context = in_tab_of.context
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"error in the page: {error}"))
        page.goto(f"{server.url}/p/{project}/{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)


def _check_request(url: str, server: str, faults: list[str]) -> None:
    if not url.startswith((f"{server}/", "data:", "blob:")):
        faults.append(f"the panel asked for {url}")


def sign_in(context: BrowserContext, server: PanelServer) -> None:
    body = json.dumps({"token": server.token})
    headers = {"Origin": server.url, "Content-Type": "application/json"}
    answer = context.request.post(f"{server.url}/api/v1/sign-in", data=body, headers=headers)
    assert answer.ok, answer.text()


def accessibility_findings(page: Page) -> list[str]:
    """Serious and critical findings of axe, one line each."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in _SERIOUS
        for node in each["nodes"][:3]
    ]


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder of screenshots, which is not committed."""
    folder = Path(__file__).parent / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder
