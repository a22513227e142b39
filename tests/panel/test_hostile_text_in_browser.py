"""Text that would run as HTML, in every field that can be stored, on every page."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.panel.conftest import OpenPanel
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import HOSTILE
from tests.panel.test_shell_in_browser import PAGES

PROJECT = "hostile-text"
MARKDOWN = (
    f"{HOSTILE} [x](javascript:hacked=1) ![x](x onerror=hacked=1) <https://x> **b** `c` "
    f"[Memory #1a2b3c4d: {HOSTILE}] [Memory #{HOSTILE}]"
)
SESSION = "s<svg onload=hacked=1>"
VIEWS = (
    *PAGES,
    *(f"teach?tab={tab}" for tab in ("rules", "trust", "jobs", "audit")),
    *("episodes?tab=patterns", "episodes?tab=failures&error=<script>hacked=1</script>", "time?view=changes"),
    *("browse?q=<script>hacked=1</script>&tag=<svg onload=hacked=1>", "ask?q=what about <b>bold</b> and script?"),
)


@pytest.fixture(scope="module")
def hostile(panel_server: PanelServer) -> dict[str, str]:
    """A project in which every text is hostile; addresses of what was stored, by name."""
    panel_server.create(PROJECT)

    def stored(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = panel_server.request("POST", path, body, project=PROJECT)
        return answer

    record = stored(
        "records",
        {
            "text": MARKDOWN,
            "type": "decision",
            "session": SESSION,
            "tags": [HOSTILE],
            "files": [f"{HOSTILE}.py"],
            "modules": [HOSTILE],
            "commit": "<b>c0ffee</b>",
            "payload": {"rationale": MARKDOWN},
            "taint": {"source": f"https://x/{HOSTILE}", "reason": HOSTILE},
        },
    )
    stored(f"records/{record['id']}/flag", {"note": MARKDOWN})
    wrong = stored("records", {"text": f"Old {MARKDOWN}"})
    stored(f"records/{wrong['id']}/correct", {"reason": "outdated", "text": f"New {MARKDOWN}"})
    call = {"tool": "<b>Read</b>", "call_id": "c", "arguments": {"file_path": f"{HOSTILE}.py"}}
    at = "2026-05-08T13:56:00Z"
    events = [
        {"kind": "prompt", "at": at, "text": MARKDOWN, "id": "1"},
        {"kind": "reasoning", "at": at, "text": MARKDOWN, "id": "2"},
        {"kind": "tool_call", "at": at, "id": "3", **call},
        {"kind": "tool_result", "at": at, "id": "4", "text": HOSTILE, "is_error": True, **call},
    ]
    stored(f"sessions/{HOSTILE[:4]}hostile/events", {"events": events, "agent": HOSTILE, "finish": "failure"})
    stored("turns", {"session": "talk", "role": "user", "speaker": HOSTILE, "text": f"Acme {HOSTILE} Corp. {MARKDOWN}"})
    step = {"action": HOSTILE, "tool": HOSTILE, "input": HOSTILE, "output": HOSTILE, "is_error": True}
    episode = stored(
        "episodes", {"task": MARKDOWN, "outcome": "FAILURE", "output": MARKDOWN, "fields": {"trace": [step]}}
    )
    content = {"form": "strategy", "approach": MARKDOWN, "principles": [HOSTILE]}
    pattern = stored("patterns", {"name": HOSTILE, "category": "strategy", "content": content})
    return {
        "record": f"browse?record={record['id']}",
        "session": f"sessions?id={HOSTILE[:4]}hostile",
        "episode": f"episodes?episode={episode['id']}",
        "pattern": f"episodes?tab=patterns&pattern={pattern['id']}",
    }


def _check(page: Page) -> None:
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.wait_for_timeout(200)
    assert page.evaluate("() => window.hacked") is None
    for made in ("img[src='x']", "main script", "svg[onload]", "a[href^='javascript']", "main b", "main iframe"):
        assert page.locator(made).count() == 0, made


@pytest.mark.parametrize("view", VIEWS)
def test_no_page_runs_what_was_stored(view: str, open_panel: OpenPanel, hostile: dict[str, str]) -> None:
    _check(open_panel(view, project=PROJECT))


@pytest.mark.parametrize("name", ["record", "session", "episode", "pattern"])
def test_no_details_run_what_was_stored(name: str, open_panel: OpenPanel, hostile: dict[str, str]) -> None:
    page = open_panel(hostile[name], project=PROJECT)
    expect(page.get_by_text("<script>").first).to_be_visible()
    _check(page)
