"""The Sessions page: the list, one session, and the window of a conversation."""

from datetime import datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Route, expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import HOSTILE

SESSION = "sessions?id=build-047"
CONVERSATION = "sessions?conversation=planning"
VIEWS = {"list": "sessions", "session": SESSION, "conversation": CONVERSATION}


def test_the_list_shows_what_each_session_did_learned_and_used(open_panel: OpenPanel) -> None:
    page = open_panel("sessions")
    rows = page.get_by_role("list", name="Sessions").get_by_role("listitem")
    row = rows.filter(has_text="limit the number of requests per key")
    expect(row).to_contain_text("claude")
    expect(row).to_contain_text("17 events")
    expect(row).to_contain_text("of 4 given used")
    expect(row).to_contain_text("failure")
    page.get_by_role("button", name="Outcome").click()
    page.get_by_role("menuitemcheckbox", name="failure").click()
    page.keyboard.press("Escape")
    expect(rows.filter(has_text="render tiles in batches")).to_have_count(0)
    assert "outcome=failure" in page.url


def test_a_session_shows_its_timeline_with_errors_and_what_was_used(open_panel: OpenPanel) -> None:
    page = open_panel("sessions")
    page.get_by_role("link", name="render tiles in batches").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("render tiles in batches")
    timeline = page.get_by_role("list", name="Timeline")
    expect(timeline.locator("[data-kind=prompt]")).to_have_count(2)
    expect(timeline.locator("[data-kind=failed]")).to_contain_text("AssertionError: expected 200, got 500")
    expect(timeline.locator("[data-kind=given]")).to_have_count(4)
    expect(timeline.locator("[data-kind=given]").first).to_contain_text("used")
    kinds = timeline.locator("[data-kind]").evaluate_all("all => all.map(each => each.dataset.kind)")
    assert (kinds[0], kinds[1], kinds[-1]) == ("begin", "prompt", "end")
    assert kinds.index("failed") < kinds.index("succeeded")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("option", name="errors").click()
    expect(timeline.locator("[data-kind]")).to_have_count(1)


def test_a_session_shows_what_was_promoted_and_at_which_gate_the_rest_was_stopped(open_panel: OpenPanel) -> None:
    page = open_panel(SESSION)
    learned = page.get_by_role("region", name="What was learned")
    expect(learned.get_by_role("region", name="became a record")).to_contain_text("uv run pytest")
    expect(learned.get_by_role("region", name="rejected")).to_contain_text("Stopped at gate 3 of 7: frequency")
    expect(learned.get_by_role("region", name="rejected")).to_contain_text("seen in 1 of 4 sessions that it needs")
    expect(page.get_by_text("428 tokens")).to_be_visible()


def test_a_session_leads_to_its_review_and_its_records(open_panel: OpenPanel) -> None:
    page = open_panel(SESSION)
    page.get_by_role("button", name="Review what it learned").click()
    expect(page.get_by_role("heading", level=1, name="Review")).to_be_visible()
    expect(page.get_by_role("link", name="build-047").first).to_be_visible()


def test_a_conversation_shows_its_window_and_why_messages_left_it(open_panel: OpenPanel) -> None:
    page = open_panel("sessions")
    page.get_by_role("link", name="planning").click()
    messages = page.get_by_role("list", name="Window as it was built").get_by_role("listitem")
    expect(messages).to_have_count(14)
    expect(messages.first).to_contain_text("removed")
    expect(messages.first).to_contain_text("low value for its size")
    expect(messages.last).to_contain_text("in the window")
    expect(page.get_by_role("region", name="Tokens by role")).to_contain_text("user 27")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("option", name="in the window").click()
    expect(messages).to_have_count(2)


def test_sessions_are_opened_and_left_by_keyboard(open_panel: OpenPanel) -> None:
    page = open_panel("sessions")
    newest = page.get_by_role("link", name="render tiles in batches")
    expect(newest).to_be_visible()
    page.get_by_role("button", name="Type").focus()
    page.keyboard.press("Tab")
    expect(newest).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("render tiles in batches")
    page.get_by_role("link", name="All sessions").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")


def test_text_of_a_session_never_becomes_markup(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    call = {"tool": "Read", "call_id": "c", "arguments": {"file_path": f"{HOSTILE}.py"}}
    events = [
        {"kind": "prompt", "at": "2026-05-08T13:56:00Z", "text": HOSTILE, "id": "1"},
        {"kind": "tool_call", "at": "2026-05-08T13:56:01Z", "id": "2", **call},
    ]
    body = {"events": events, "agent": "<b>agent</b>", "finish": "success"}
    project = "hostile-sessions"
    httpx.put(f"{panel_server.url}/api/v1/projects/{project}", headers=panel_server.headers).raise_for_status()
    panel_server.request("POST", "sessions/hostile/events", body, project=project)
    for path in ("sessions", "sessions?id=hostile"):
        page = open_panel(path, project=project)
        expect(page.get_by_text("<script>").first).to_be_visible()
        assert page.evaluate("() => window.hacked") is None


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_sessions_have_no_serious_accessibility_finding(view: str, theme: str, open_panel: OpenPanel) -> None:
    page = open_panel(VIEWS[view], theme=theme)
    expect(page.get_by_role("listitem").filter(has_text="tok" if view != "list" else "claude").first).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert accessibility_findings(page) == []


def test_a_session_in_french(open_panel: OpenPanel) -> None:
    page = open_panel(SESSION, language="fr")
    expect(page.get_by_role("heading", level=2, name="Chronologie")).to_be_visible()
    expect(page.get_by_text("Arrêté au filtre 3 sur 7 : fréquence").first).to_be_visible()
    expect(page.get_by_text("utilisé", exact=True).first).to_be_visible()


@pytest.mark.parametrize(
    ("language", "minutes", "shown"),
    [("en", 0, "1 min"), ("en", 61, "1 hr, 1 min"), ("en", 14_061, "9 days, 18 hr"), ("fr", 14_061, "9 j et 18 h")],
)
def test_the_length_of_a_session_has_a_unit_that_fits(
    language: str, minutes: int, shown: str, open_panel: OpenPanel
) -> None:
    page = open_panel(SESSION, language=language)

    def answer(route: Route) -> None:
        found = route.fetch()
        details = found.json()
        begun = datetime.fromisoformat(details["session"]["started_at"])
        details["session"]["finished_at"] = (begun + timedelta(minutes=minutes)).isoformat()
        route.fulfill(response=found, json=details)

    page.route("**/sessions/build-047", answer)
    page.reload()
    facts = page.locator("span", has=page.get_by_text("build-047", exact=True)).last
    expect(facts.get_by_text(shown, exact=True)).to_be_visible()


@pytest.mark.parametrize("view", VIEWS)
def test_sessions_fit_a_phone(view: str, open_panel: OpenPanel) -> None:
    page = open_panel(VIEWS[view], width=390, height=844)
    expect(page.get_by_role("listitem").filter(has_text="tok" if view != "list" else "claude").first).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_an_unknown_session_says_so(open_panel: OpenPanel) -> None:
    page = open_panel("sessions?id=nothing")
    expect(page.get_by_role("main")).to_contain_text("This session was not observed")


def test_a_project_without_sessions_says_what_to_do(open_panel: OpenPanel) -> None:
    page = open_panel("sessions", project="web-shop")
    expect(page.get_by_text("No session was observed yet")).to_be_visible()
    expect(page.get_by_text("treering init")).to_be_visible()


def test_a_session_that_was_not_observed_leads_to_its_records(open_panel: OpenPanel) -> None:
    page = open_panel("sessions?id=build-040")
    expect(page.get_by_text("This session was not observed")).to_be_visible()
    page.get_by_role("link", name="Show the records of this session").click()
    expect(page.get_by_role("article").first).to_contain_text("build-040")
