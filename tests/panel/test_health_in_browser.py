"""The Health page."""

from playwright.sync_api import expect

from tests.panel.conftest import OpenPanel
from tests.panel.panel_server import SCRATCH, PanelServer


def test_health_shows_the_numbers_the_score_and_what_would_raise_it(open_panel: OpenPanel) -> None:
    page = open_panel("health")
    score = page.get_by_role("region", name="Score")
    expect(score.get_by_role("img")).to_have_attribute("aria-label", "90 of 100")
    expect(score.get_by_text("Confirm or correct the")).to_be_visible()
    expect(page.get_by_text("Tokens saved")).to_be_visible()
    expect(page.get_by_role("meter").first).to_be_visible()
    expect(page.get_by_role("region", name="Last sessions").get_by_role("link")).to_have_count(3)


def test_attention_leads_to_the_records(open_panel: OpenPanel) -> None:
    page = open_panel("health")
    page.get_by_role("link", name="flagged as wrong").click()
    expect(page.get_by_role("heading", level=1, name="Browse")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)


def test_a_change_elsewhere_appears_without_a_reload(open_panel: OpenPanel, panel_server: PanelServer) -> None:

    panel_server.remember("The ferry is white.")
    page = open_panel("browse", project=SCRATCH)
    expect(page.get_by_role("feed")).to_be_visible()
    panel_server.remember("The ferry timetable changes in spring.")
    expect(page.get_by_text("The ferry timetable changes in spring.")).to_be_visible()


def test_an_empty_project_says_what_to_do(open_panel: OpenPanel, panel_server: PanelServer) -> None:

    panel_server.create("empty")
    page = open_panel("health", project="empty")
    expect(page.get_by_text("This memory is empty")).to_be_visible()
    expect(page.get_by_text("treering init")).to_be_visible()


def test_a_coverage_bar_leads_to_the_module_on_the_map(open_panel: OpenPanel) -> None:
    page = open_panel("health")
    page.get_by_role("region", name="Module coverage").get_by_role("link", name="worker").click()
    expect(page.get_by_role("heading", name="worker", exact=True)).to_be_visible()
