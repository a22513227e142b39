"""The Teach page."""

import pytest
from playwright.sync_api import expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import HOSTILE

TABS = ("remember", "rules", "trust", "settings", "jobs", "audit")
RULES = "# Rules\n\n- Never use print in the ferry module.\n- Prefer small commits.\n"


def test_a_rule_is_taught_with_the_keyboard_and_undone(open_panel: OpenPanel) -> None:
    page = open_panel("teach")
    page.get_by_label("What should agents know?").focus()
    page.keyboard.type("/remember Harbour times are in UTC.")
    page.get_by_label("Files it is about").fill("harbour/times.py")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Remembered")).to_be_visible()
    known = page.get_by_role("region", name="Known about these files")
    expect(known).to_contain_text("Harbour times are in UTC.")
    expect(known).not_to_contain_text("/remember")
    page.get_by_role("button", name="Undo").click()
    expect(known.get_by_text("Harbour times are in UTC.")).to_have_count(0)


def test_a_rule_file_is_previewed_then_imported(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    page = open_panel("teach?tab=rules")
    page.set_input_files(
        "input[type=file]", {"name": "AGENTS.md", "mimeType": "text/markdown", "buffer": RULES.encode()}
    )
    preview = page.get_by_role("region", name="What the import changes")
    expect(preview).to_contain_text("2 new")
    expect(preview).to_contain_text("Never use print in the ferry module.")
    before = panel_server.request("GET", "records?total=true&limit=1")["total"]
    page.get_by_role("button", name="Import 2 changes").click()
    expect(page.get_by_text("2 changes imported")).to_be_visible()
    assert panel_server.request("GET", "records?total=true&limit=1")["total"] == before + 2
    page.get_by_role("button", name="Create the text").click()
    expect(page.get_by_label("Export as a rule file").last).to_contain_text("Never use print in the ferry module.")


def test_a_rule_file_outside_the_project_is_refused(open_panel: OpenPanel) -> None:
    page = open_panel("teach?tab=rules")
    page.get_by_label("Path in the repository").fill("../CLAUDE.md")
    page.get_by_label("Text", exact=True).fill("- Anything.")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("outside the project")
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()


def test_the_trust_level_is_changed_and_undone(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    page = open_panel("teach?tab=trust")
    expect(page.get_by_role("radio", name="Cautious")).to_be_checked()
    page.get_by_role("radio", name="Cautious").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Trust level: Standard")).to_be_visible()
    assert panel_server.request("GET", "trust")["level"] == "standard"
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("radio", name="Cautious")).to_be_checked()


def test_settings_are_found_by_their_descriptions(open_panel: OpenPanel) -> None:
    page = open_panel("teach?tab=settings")
    page.get_by_label("Search settings").fill("blob store")
    expect(page.get_by_text("store.blob_bytes")).to_be_visible()
    expect(page.get_by_text("search.limit")).to_have_count(0)


def test_maintenance_runs_and_its_result_appears(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    page = open_panel("teach?tab=jobs")
    page.get_by_role("button", name="Run now: Validate patterns").click()
    expect(page.get_by_text("Done: Validate patterns")).to_be_visible()
    expect(page.get_by_role("region", name="Last runs")).to_contain_text("Validate patterns")
    panel_server.request("POST", "maintenance/runs", {"stage": "report"})
    expect(page.get_by_role("region", name="Last runs")).to_contain_text("Report")
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_role("region", name="Backup")).to_contain_text("backups")


def test_the_audit_log_is_filtered_by_action(open_panel: OpenPanel) -> None:
    page = open_panel("teach?tab=audit&action=flag")
    expect(page.get_by_role("table")).to_contain_text("measured on a debug build")
    expect(page.get_by_role("table")).not_to_contain_text("created")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", TABS)
def test_no_serious_accessibility_finding(tab: str, theme: str, open_panel: OpenPanel) -> None:
    page = open_panel(f"teach?tab={tab}", theme=theme)
    expect(page.get_by_role("tabpanel")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert accessibility_findings(page) == []


@pytest.mark.parametrize("tab", TABS)
def test_every_part_fits_a_phone_in_french(tab: str, open_panel: OpenPanel) -> None:
    page = open_panel(f"teach?tab={tab}", language="fr", width=390, height=844)
    expect(page.get_by_role("heading", level=1, name="Enseigner")).to_be_visible()
    expect(page.get_by_role("status", name="Chargement")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_taught_is_shown_as_text(open_panel: OpenPanel) -> None:
    page = open_panel("teach")
    page.get_by_label("Files it is about").fill("<svg onload=x>.py")
    known = page.get_by_role("region", name="Known about these files")
    expect(known).to_contain_text("<script>window.hacked=1</script>")
    page.goto(page.url + "?tab=rules")
    page.get_by_label("Text", exact=True).fill(f"- Never write {HOSTILE} into a page.")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="What the import changes")).to_contain_text("<img src=x")
    assert page.evaluate("window.hacked") is None
