"""The Review page: one key or one click for each record that waits."""

from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer

PROJECT = "review-tests"
MAX_CLICKS = 4
DECISIONS = ("Confirm", "Edit", "Reject", "Later")


@pytest.fixture
def waiting(panel_server: PanelServer) -> list[str]:
    """Three records that wait in a project of its own, newest first; the last one comes from outside."""
    httpx.put(f"{panel_server.url}/api/v1/projects/{PROJECT}", headers=panel_server.headers).raise_for_status()
    for each in panel_server.request("GET", "records?limit=100", project=PROJECT)["items"]:
        panel_server.request("DELETE", f"records/{each['id']}", project=PROJECT)
    texts = [f"{name} {uuid4().hex[:6]}" for name in ("The queue is flushed hourly", "Uploads are scanned", "Vendor")]
    outside = {"taint": {"source": "https://vendor.example.com/limits", "reason": "web page"}}
    panel_server.request("POST", "records", {"text": texts[2], "session": "s1", **outside}, project=PROJECT)
    for text in (texts[1], texts[0]):
        record = panel_server.request("POST", "records", {"text": text, "session": "s1"}, project=PROJECT)
        panel_server.request("POST", f"records/{record['id']}/flag", {"note": "check it"}, project=PROJECT)
    return texts


def opened(open_panel: OpenPanel, waiting: list[str], **options: object) -> Page:
    page = open_panel("review", project=PROJECT, **options)
    expect(page.get_by_role("article")).to_have_count(len(waiting))
    return page


def focused(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? ''"))


def test_records_from_outside_are_apart_and_name_their_source(open_panel: OpenPanel, waiting: list[str]) -> None:
    page = opened(open_panel, waiting)
    outside = page.get_by_role("region", name="From outside")
    expect(outside.get_by_role("article")).to_have_count(1)
    expect(outside).to_contain_text("https://vendor.example.com/limits")
    expect(page.get_by_role("region", name="Learned").get_by_role("article")).to_have_count(2)
    trust = page.get_by_role("region", name="Trust level")
    expect(trust.locator("[aria-current=true]")).to_have_text("cautious")


def test_a_wrong_memory_is_found_and_gone_in_less_than_five_clicks(
    open_panel: OpenPanel, panel_server: PanelServer, waiting: list[str]
) -> None:
    page = open_panel("health", project=PROJECT)
    clicks = 0
    page.get_by_role("navigation").get_by_role("link", name="Review").click()
    clicks += 1
    page.get_by_role("article").filter(has_text=waiting[1]).get_by_role("button", name="Reject").click()
    clicks += 1
    expect(page.get_by_role("article").filter(has_text=waiting[1])).to_have_count(0)
    expect(page.get_by_text("Forgotten", exact=True)).to_be_visible()
    assert clicks <= MAX_CLICKS
    found = panel_server.request("POST", "search", {"query": waiting[1]}, project=PROJECT)
    assert waiting[1] not in [each["text"] for each in found["hits"]]


def test_a_wrong_memory_that_does_not_wait_is_flagged_in_less_than_five_clicks(
    open_panel: OpenPanel, panel_server: PanelServer, waiting: list[str]
) -> None:
    text = f"The cache is cleared at noon {uuid4().hex[:6]}."
    record = panel_server.request("POST", "records", {"text": text}, project=PROJECT)
    page = open_panel("health", project=PROJECT)
    clicks = 0
    page.get_by_role("navigation").get_by_role("link", name="Browse").click()
    clicks += 1
    page.get_by_role("searchbox").first.click()
    clicks += 1
    page.keyboard.type(text)
    article = page.get_by_role("article").filter(has_text=text)
    article.get_by_role("button", name="Flag").click()
    clicks += 1
    expect(page.get_by_text("Flagged; searches leave it out")).to_be_visible()
    assert clicks <= MAX_CLICKS
    stored = panel_server.request("GET", f"records/{record['id']}", project=PROJECT)["record"]
    assert stored["flagged"]
    found = panel_server.request("POST", "search", {"query": text}, project=PROJECT)
    assert record["id"] not in [each["id"] for each in found["hits"]]


def test_every_decision_has_a_key_and_the_focus_moves_on(
    open_panel: OpenPanel, panel_server: PanelServer, waiting: list[str]
) -> None:
    page = opened(open_panel, waiting)
    page.keyboard.press("j")
    expect(page.get_by_role("article").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.get_by_role("article").first).to_be_focused()
    first = focused(page)
    page.keyboard.press("l")
    expect(page.get_by_text("1 record left for later")).to_be_visible()
    assert focused(page) != first
    page.keyboard.press("c")
    expect(page.get_by_text("Confirmed", exact=True)).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press("r")
    expect(page.get_by_text("Everything else is decided")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("button", name="Show again").press("Enter")
    expect(page.get_by_role("article")).to_have_count(2)


def test_a_record_is_edited_by_keyboard(open_panel: OpenPanel, panel_server: PanelServer, waiting: list[str]) -> None:
    page = opened(open_panel, waiting)
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_role("textbox")
    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("The queue is flushed every ten minutes.")
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("article")).to_have_count(len(waiting) - 1)
    found = panel_server.request("POST", "search", {"query": "how often is the queue flushed"}, project=PROJECT)
    assert found["hits"][0]["text"] == "The queue is flushed every ten minutes."


def test_tab_reaches_every_decision_of_the_active_record(open_panel: OpenPanel, waiting: list[str]) -> None:
    page = opened(open_panel, waiting)
    page.get_by_role("article").first.focus()
    names = []
    for _ in range(8):
        page.keyboard.press("Tab")
        names.append(page.evaluate("() => document.activeElement.innerText.trim().split('\\n').pop()"))
    assert [each for each in names if each in DECISIONS][:4] == list(DECISIONS)


def test_cards_describe_the_keys_to_screen_readers(open_panel: OpenPanel, waiting: list[str]) -> None:
    page = opened(open_panel, waiting)
    expect(page.get_by_role("article").first).to_have_accessible_description(
        "Keys: c: Confirm, e: Edit, r: Reject, l: Later, j k: Move, u: Undo"
    )
    expect(page.get_by_role("article").first.get_by_role("button").first).to_have_accessible_name("Confirm")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_review_has_no_serious_accessibility_finding(theme: str, open_panel: OpenPanel, waiting: list[str]) -> None:
    page = opened(open_panel, waiting, theme=theme)
    assert accessibility_findings(page) == []


def test_review_in_french(open_panel: OpenPanel, waiting: list[str]) -> None:
    page = opened(open_panel, waiting, language="fr")
    expect(page.get_by_role("heading", level=2, name="Venu de l’extérieur")).to_be_visible()
    expect(page.get_by_role("button", name="Plus tard")).to_have_count(len(waiting))
    expect(page.get_by_role("region", name="Niveau de confiance")).to_contain_text("prudent")


def test_review_fits_a_phone(open_panel: OpenPanel, waiting: list[str]) -> None:
    page = opened(open_panel, waiting, width=390, height=844)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.get_by_role("article").first.get_by_role("button", name="Later").click()
    expect(page.get_by_text("1 record left for later")).to_be_visible()


def test_an_empty_review_says_what_to_expect(open_panel: OpenPanel) -> None:
    page = open_panel("review", project="web-shop")
    expect(page.get_by_text("Nothing waits for review")).to_be_visible()


def test_the_trust_card_leads_to_the_levels(open_panel: OpenPanel) -> None:
    page = open_panel("review")
    page.get_by_role("link", name="Change the level").click()
    expect(page.get_by_role("tab", name="Trust")).to_have_attribute("aria-selected", "true")
