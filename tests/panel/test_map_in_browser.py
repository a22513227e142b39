"""The Map page: canvas, list, details, keyboard, phone, and hostile names of files."""

import re

import httpx
import pytest
from playwright.sync_api import Route, expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer


def test_a_circle_is_chosen_on_the_canvas_and_shows_its_details(open_panel: OpenPanel) -> None:
    page = open_panel("map")
    canvas = page.get_by_test_id("map-canvas")
    expect(canvas.locator("canvas").first).to_be_attached()
    page.wait_for_timeout(500)  # the first frame
    box = canvas.bounding_box()
    assert box is not None
    details = page.get_by_role("complementary", name="Details")
    expect(details.get_by_role("heading", name="The whole project")).to_be_visible()
    for across in (0.3, 0.4, 0.5, 0.6, 0.7):  # one of them is inside a circle
        page.mouse.click(box["x"] + box["width"] * across, box["y"] + box["height"] * 0.45)
        if "node=" in page.url:
            break
    expect(page).to_have_url(re.compile("node="))
    expect(details.get_by_role("region", name="Memories")).to_be_visible()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Show all").click()


def test_the_list_leads_to_files_impact_paths_memories_and_back(open_panel: OpenPanel) -> None:
    page = open_panel("map?view=list&group=files")
    page.get_by_role("button", name="geo/projection.py").click()
    details = page.get_by_role("complementary", name="Details")
    expect(details.get_by_role("heading", level=2, name="projection.py")).to_be_visible()
    expect(details.get_by_text("requires new golden tiles")).to_be_visible()
    impact = details.get_by_role("region", name="Reached by a change")
    expect(impact.get_by_role("button", name="api/routes.py").first).to_be_visible()
    impact.get_by_role("button", name="Show the path to").first.click()
    expect(impact.get_by_role("listitem").filter(has_text="geo/projection.py").first).to_be_visible()
    expect(details.get_by_role("region", name="Changes together with")).to_be_visible()
    page.go_back()
    expect(details.get_by_role("heading", name="The whole project")).to_be_visible()


def test_an_impact_without_certain_dependents_says_what_it_may_lack(open_panel: OpenPanel) -> None:
    def limited(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        limits = {"definitions_only": ["java"], "notes": ["the indexed folder /gone does not exist on this machine"]}
        found |= {"dependents": [], "total": 0, "unresolved_total": 22, "status": {**found["status"], **limits}}
        route.fulfill(response=answer, json=found)

    page = open_panel("map?view=list&group=files")
    page.route("**/code/impact?**", limited)
    page.get_by_role("button", name="geo/projection.py").click()
    impact = page.get_by_role("complementary", name="Details").get_by_role("region", name="Reached by a change")
    expect(impact.get_by_text("No certain dependent.")).to_be_visible()
    expect(impact.get_by_text("22 uses of its names could not be resolved")).to_be_visible()
    expect(impact.get_by_text("Definitions only in java")).to_be_visible()
    expect(impact.get_by_text("/gone does not exist on this machine")).to_be_visible()
    expect(impact.get_by_text("Nothing known depends on it.")).not_to_be_visible()


def test_a_module_lists_its_files(open_panel: OpenPanel) -> None:
    page = open_panel("map?view=list")
    page.get_by_role("row").filter(has_text="geo").get_by_role("button").click()
    files = page.get_by_role("region", name="Files", exact=True)
    files.get_by_role("button", name="geo/bounds.py").click()
    expect(page.get_by_role("heading", level=2, name="bounds.py")).to_be_visible()


def test_rows_are_sorted_by_any_figure_and_found_by_name(open_panel: OpenPanel) -> None:
    page = open_panel("map?view=list&group=folders")
    page.get_by_role("button", name="Name", exact=True).click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("searchbox", name="Find a module or file").fill("session.py")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("searchbox").fill("no such file")
    expect(page.get_by_text("Nothing has this name")).to_be_visible()


def test_everything_on_the_map_is_reached_by_keys_alone(open_panel: OpenPanel) -> None:
    page = open_panel("map")
    expect(page.get_by_test_id("map-canvas")).to_be_attached()
    page.keyboard.press("v")
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("tokens")
    expect(rows).to_have_count(2)
    row = rows.nth(1).get_by_role("button")
    for _ in range(30):
        page.keyboard.press("Tab")
        if row.evaluate("each => each === document.activeElement"):
            break
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2, name="tokens.py")).to_be_visible()


def test_a_project_without_an_index_says_how_to_make_one(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    httpx.put(f"{panel_server.url}/api/v1/projects/no-code", headers=panel_server.headers).raise_for_status()
    page = open_panel("map", project="no-code")
    expect(page.get_by_text("No code is indexed yet")).to_be_visible()
    expect(page.get_by_text("treering index")).to_be_visible()
    expect(page.get_by_role("button", name="Index this repository")).to_be_enabled()


def test_hostile_names_are_shown_as_text(open_panel: OpenPanel) -> None:
    name = "<img src=x onerror=window.hacked=1>.py"
    page = open_panel("health")
    page.route("**/code/files", lambda route: route.fulfill(json=_hostile_map(name)))
    page.goto(page.url.replace("/health", "/map?view=list&group=files"))
    page.get_by_role("button", name=name).first.click()
    expect(page.get_by_role("heading", level=2, name=name)).to_be_visible()
    page.keyboard.press("v")
    expect(page.get_by_test_id("map-canvas").locator("canvas").first).to_be_attached()
    assert page.evaluate("window.hacked") is None


def _hostile_map(name: str) -> dict[str, object]:
    status = {"stale": [], "incomplete": False, "guessed": [], "up_to_date": True}
    file = {"path": name, "module": name, "records": [], "commits": 0, "change_rate": 0.0}
    return {"files": [file], "uses": [], "without_history": "", "status": status}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_finding_with_details_open(open_panel: OpenPanel, theme: str) -> None:
    page = open_panel("map?view=list&group=files&node=api/auth/session.py", theme=theme)
    expect(page.get_by_role("heading", level=2, name="session.py")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert accessibility_findings(page) == []


def test_the_page_in_french_fits_a_phone(open_panel: OpenPanel) -> None:
    page = open_panel("map?node=api/auth/session.py", language="fr", width=390, height=844)
    expect(page.get_by_role("heading", level=1, name="Carte")).to_be_visible()
    expect(page.get_by_role("heading", name="Atteint par un changement")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
