"""Citations `[Memory #id: text]` in what an agent wrote: chips that show, open and flag the record."""

import pytest
from playwright.sync_api import Page, expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer

PROJECT = "citations"


@pytest.fixture(scope="module")
def cited(panel_server: PanelServer) -> dict[str, str]:
    """Ids by text: a gotcha, a dead end and six rules; sessions `few` and `many` cite them."""
    panel_server.create(PROJECT)
    texts = {"The dredger draws six metres.": "gotcha", "Steering by compass alone failed.": "dead_end"}
    texts |= {f"Rule {number} of the harbour.": "preference" for number in range(6)}
    ids = {}
    for text, type in texts.items():
        stored = panel_server.request("POST", "records", {"text": text, "type": type}, project=PROJECT)
        ids[text] = str(stored["id"])
    marks = [f"[Memory #{id}: {text}]" for text, id in ids.items()]
    for session, said in (("few", marks[:2]), ("many", marks)):
        events = [
            {"kind": "prompt", "at": "2026-05-08T13:56:00Z", "text": "Sail", "id": "1"},
            {"kind": "reasoning", "at": "2026-05-08T13:57:00Z", "text": f"I know {', '.join(said)}.", "id": "2"},
        ]
        body = {"events": events, "agent": "claude", "finish": "success"}
        panel_server.request("POST", f"sessions/{session}/events", body, project=PROJECT)
    return ids


def _session(open_panel: OpenPanel, name: str, **options: object) -> Page:
    page = open_panel(f"sessions?id={name}", project=PROJECT, **options)
    expect(page.get_by_role("button", name="Cited").first).to_be_visible()
    return page


def test_a_chip_is_amber_and_red_for_a_dead_end(open_panel: OpenPanel, cited: dict[str, str]) -> None:
    page = _session(open_panel, "few")
    amber = page.get_by_role("button", name="Cited record: The dredger draws six metres.")
    red = page.get_by_role("button", name="Cited dead end: Steering by compass alone failed.")
    expect(amber).to_have_css("color", "rgb(138, 82, 0)")
    expect(red).to_have_css("color", "rgb(179, 38, 30)")


def test_a_chip_opens_its_record(open_panel: OpenPanel, cited: dict[str, str]) -> None:
    page = _session(open_panel, "few")
    page.get_by_role("button", name="Cited dead end").press("Enter")
    card = page.get_by_role("dialog", name="Cited record")
    expect(card).to_contain_text("dead end")
    card.get_by_role("link", name="Open with its history").click()
    details = page.get_by_role("complementary", name="Record")
    expect(details).to_contain_text("Steering by compass alone failed.")


def test_more_than_five_collapse_to_numbers(open_panel: OpenPanel, cited: dict[str, str]) -> None:
    page = _session(open_panel, "many")
    expect(page.get_by_role("button", name="Cited")).to_have_count(len(cited))
    expect(page.get_by_text("Rule 5 of the harbour.")).to_have_count(0)
    page.get_by_role("button", name="Cites 8 records: show all").click()
    expect(page.get_by_text("Rule 5 of the harbour.")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_accessibility_finding(theme: str, open_panel: OpenPanel, cited: dict[str, str]) -> None:
    page = _session(open_panel, "many", theme=theme)
    assert accessibility_findings(page) == []
    page.get_by_role("button", name="Cited").first.click()
    expect(page.get_by_role("dialog", name="Cited record")).to_contain_text("The dredger")
    assert accessibility_findings(page) == []


def test_a_wrong_record_is_flagged_from_its_chip(
    open_panel: OpenPanel, panel_server: PanelServer, cited: dict[str, str]
) -> None:
    text = "Rule 3 of the harbour."
    page = _session(open_panel, "many", width=390, height=844)
    page.get_by_role("button", name=f"Cited record: {text}").click()
    page.get_by_role("dialog", name="Cited record").get_by_role("button", name="Flag as wrong").click()
    expect(page.get_by_role("region", name="Messages")).to_contain_text("Flagged")
    found = panel_server.request("GET", f"records/{cited[text]}", project=PROJECT)["record"]
    assert found["flagged"]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
