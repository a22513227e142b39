"""Knowledge in time: entities, facts over time, replaced records, search in the past, and hostile names."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import SCRATCH, PanelServer
from tests.panel.sample_data import HOSTILE


@pytest.fixture(scope="module")
def facts(panel_server: PanelServer) -> dict[str, Any]:
    """Two facts of which the second replaces the first, and an entity with a hostile name."""

    def stated(text: str, value: str, speaker: str) -> dict[str, Any]:
        payload = {"subject": "Ada Lovelace", "attribute": "lives_in", "value": value, "speaker": speaker}
        return panel_server.remember(text, type="fact", payload=payload, source="user_taught", session="call-ada")

    stated("Ada Lovelace lives in London.", "London", "maya")
    new = stated("Ada Lovelace lives in Turin.", "Turin", "ines")
    for name, kind in (("Ada Lovelace", "person"), (HOSTILE, "other")):
        link = {"record": new["id"], "name": name, "kind": kind}
        panel_server.request("POST", "entities/links", link, project=SCRATCH)
    found = panel_server.request("GET", "entities?name=Ada", project=SCRATCH)
    entity: dict[str, Any] = next(each for each in found["items"] if each["name"] == "Ada Lovelace")
    return entity


def test_an_entity_shows_its_facts_over_time_and_who_said_them(open_panel: OpenPanel, facts: dict[str, Any]) -> None:
    page = open_panel("time", project=SCRATCH)
    page.get_by_role("searchbox", name="Find a name").fill("lovelace")
    page.get_by_role("button", name="Ada Lovelace").click()
    expect(page.get_by_role("heading", level=2, name="Ada Lovelace")).to_be_visible()
    known = page.get_by_role("region", name="Known now")
    expect(known.get_by_text("Ada Lovelace lives in Turin.")).to_be_visible()
    expect(known.get_by_text("Ada Lovelace lives in London.")).to_have_count(0)
    rows = page.get_by_role("region", name="Lives or is in").get_by_role("listitem")
    expect(rows.filter(has_text="London").first).to_contain_text("ended")
    expect(rows.filter(has_text="London").first).to_contain_text("said by maya")
    expect(rows.filter(has_text="Turin").first).to_contain_text("said by ines")


def test_the_slider_shows_an_earlier_day_and_is_moved_by_keys(open_panel: OpenPanel, facts: dict[str, Any]) -> None:
    page = open_panel(f"time?entity={facts['id']}", project=SCRATCH)
    slider = page.get_by_role("slider", name="As of")
    expect(slider).to_have_attribute("aria-valuetext", "Now")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    expect(slider).to_have_attribute("aria-valuetext", f"{yesterday:%b} {yesterday.day}, {yesterday.year}")
    expect(page.get_by_text("Nothing was known on this day.")).to_be_visible()
    assert f"at={yesterday:%Y-%m-%d}" in page.url
    page.get_by_role("button", name="Now").click()
    expect(page.get_by_role("region", name="Known now")).to_be_visible()


def test_replaced_records_are_shown_with_what_replaced_them(open_panel: OpenPanel) -> None:
    page = open_panel("time?view=changes")
    chain = page.get_by_role("listitem").filter(has_text="PostgreSQL 16 on db-2.internal").first
    expect(chain).to_contain_text("PostgreSQL 18 on db-3.internal")
    before = (datetime.now(UTC) - timedelta(days=10)).date()
    page.goto(page.url.replace("view=changes", f"view=changes&at={before}"))
    versions = page.get_by_role("listitem").filter(has_text="PostgreSQL").get_by_role("listitem")
    expect(versions.filter(has_text="PostgreSQL 16 on db-2").first).to_contain_text("valid")
    expect(versions.filter(has_text="PostgreSQL 18 on db-3").first).to_contain_text("not known yet")


def test_a_search_in_the_past_finds_what_was_known_then(open_panel: OpenPanel) -> None:
    before = (datetime.now(UTC) - timedelta(days=10)).date()
    page = open_panel(f"time?view=search&at={before}")
    page.get_by_role("searchbox", name="Search in what was known").fill("staging database")
    expect(page.get_by_text("PostgreSQL 16 on db-2.internal").first).to_be_visible()
    expect(page.get_by_text("PostgreSQL 18 on db-3.internal")).to_have_count(0)


def test_views_are_changed_by_keys_alone(open_panel: OpenPanel) -> None:
    page = open_panel("time")
    page.get_by_role("tab", name="People and things").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="What was replaced")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("main").get_by_role("link", name="Open").first).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_be_visible()


def test_a_hostile_name_is_shown_as_text(open_panel: OpenPanel, facts: dict[str, Any]) -> None:
    page = open_panel("time", project=SCRATCH)
    page.get_by_role("searchbox", name="Find a name").fill("onerror")
    page.get_by_role("navigation", name="People and things").get_by_role("button").filter(has_text="<img").click()
    expect(page.get_by_role("heading", level=2, name="<img")).to_be_visible()
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["entities", "changes", "search"])
def test_no_serious_finding_in_any_view(open_panel: OpenPanel, facts: dict[str, Any], view: str, theme: str) -> None:
    page = open_panel(f"time?view={view}&entity={facts['id']}", project=SCRATCH, theme=theme)
    expect(page.get_by_role("tabpanel")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert accessibility_findings(page) == []


def test_the_page_in_french_fits_a_phone(open_panel: OpenPanel, facts: dict[str, Any]) -> None:
    page = open_panel(f"time?entity={facts['id']}", project=SCRATCH, language="fr", width=390, height=844)
    expect(page.get_by_role("heading", level=1, name="Savoir dans le temps")).to_be_visible()
    expect(page.get_by_role("heading", name="Faits dans le temps")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
