"""The Episodes and patterns page."""

import pytest
from playwright.sync_api import Page, expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import HOSTILE


def _pattern(server: PanelServer, name: str) -> str:
    found = server.request("GET", "patterns")["items"]
    return str(next(each["id"] for each in found if each["name"] == name))


def _has_no_overflow(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_an_episode_opens_with_its_steps_and_similar_failures(open_panel: OpenPanel) -> None:
    page = open_panel("episodes")
    page.get_by_role("button", name="Outcome").click()
    page.get_by_role("menuitemcheckbox", name="failure").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Fix the failing login test")).to_have_count(0)
    page.get_by_role("link", name="Speed up the tile worker").first.click()
    drawer = page.get_by_role("dialog", name="Episode")
    expect(drawer.get_by_text("docker compose up -d redis")).to_be_visible()
    expect(drawer.get_by_role("list", name="Similar failures")).to_contain_text("same error")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def test_an_error_is_compared_with_all_episodes(open_panel: OpenPanel) -> None:
    page = open_panel("episodes?tab=failures")
    expect(page.get_by_text("Has this error occurred before?")).to_be_visible()
    page.get_by_label("Error message").fill("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379")
    page.get_by_role("button", name="Find similar failures").click()
    expect(page.get_by_role("list", name="Similar failures").get_by_text("recovered").first).to_be_visible()


def test_a_pattern_shows_its_evidence_versions_and_history(open_panel: OpenPanel) -> None:
    page = open_panel("episodes?tab=patterns")
    page.get_by_role("link", name="Reproduce, then fix").click()
    expect(page.get_by_role("heading", level=1, name="Reproduce, then fix")).to_be_visible()
    chart = page.get_by_role("figure", name="Outcomes by session")
    expect(chart.get_by_role("img")).to_be_visible()
    chart.get_by_text("Show as table").click()
    expect(chart.get_by_role("table").get_by_role("row")).to_have_count(9)
    versions = page.get_by_role("region", name="Versions")
    expect(versions.locator("del", has_text="fix, chore")).to_be_visible()
    expect(versions.locator("ins", has_text="then change the code")).to_be_visible()
    expect(page.get_by_role("region", name="Validation history")).to_contain_text("stored by a person or an agent")


def test_a_proposed_refinement_is_shown_and_applied(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    id = _pattern(panel_server, "Retry with a longer timeout")
    page = open_panel(f"episodes?tab=patterns&pattern={id}")
    proposal = page.get_by_role("region", name="Proposed refinement")
    expect(proposal.locator("ins")).to_contain_text("only where domain is api")
    proposal.get_by_role("button", name="Refine").click()
    expect(page.get_by_role("region", name="Versions").locator("ins", has_text="domain = api")).to_be_visible()
    expect(page.get_by_role("region", name="Validation history")).to_contain_text("by refinement")


def test_patterns_are_reached_with_the_keyboard(open_panel: OpenPanel) -> None:
    page = open_panel("episodes")
    page.get_by_role("tab", name="Episodes").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Reproduce, then fix")).to_be_visible()
    page.get_by_role("link", name="Reproduce, then fix").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Deprecate").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("alertdialog")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    expect(dialog.get_by_role("button", name="Deprecate")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("part", ["tab=patterns", "tab=failures&error=redis", "pattern"])
def test_no_serious_accessibility_finding(
    part: str, theme: str, open_panel: OpenPanel, panel_server: PanelServer
) -> None:
    query = f"tab=patterns&pattern={_pattern(panel_server, 'Reproduce, then fix')}" if part == "pattern" else part
    page = open_panel(f"episodes?{query}", theme=theme)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert accessibility_findings(page) == []


def test_the_page_is_complete_in_french_and_on_a_phone(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    id = _pattern(panel_server, "Reproduce, then fix")
    page = open_panel(f"episodes?tab=patterns&pattern={id}", language="fr", width=390, height=844)
    expect(page.get_by_role("region", name="Historique de validation")).to_be_visible()
    expect(page.get_by_role("figure", name="Résultats par session")).to_be_visible()
    assert _has_no_overflow(page)
    page.get_by_role("link", name="Tous les modèles d’action").click()
    expect(page.get_by_role("tab", name="Épisodes")).to_be_visible()
    assert _has_no_overflow(page)


def test_stored_text_is_shown_as_text(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    page = open_panel("episodes")
    page.get_by_role("link", name="Escape").click()
    expect(page.get_by_role("dialog").get_by_text("<b>Bash</b>")).to_be_visible()
    page.goto(page.url.partition("?")[0] + f"?tab=patterns&pattern={_pattern(panel_server, f'Markup {HOSTILE}')}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Markup {HOSTILE}")
    assert page.evaluate("window.hacked") is None


def test_an_empty_project_says_what_to_do(open_panel: OpenPanel) -> None:
    page = open_panel("episodes", project="web-shop")
    expect(page.get_by_text("No episodes yet")).to_be_visible()
    page.get_by_role("tab", name="Patterns").click()
    expect(page.get_by_text("No patterns yet")).to_be_visible()
