"""Every page in both themes and on a phone: no serious finding of axe, and a screenshot of each."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.test_shell_in_browser import PAGES

LOOKS = {"light": ("light", 1280, 860), "dark": ("dark", 1280, 860), "phone": ("light", 390, 844)}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_no_serious_accessibility_finding(name: str, look: str, open_panel: OpenPanel, screenshots: Path) -> None:
    theme, width, height = LOOKS[look]
    page = open_panel(name, theme=theme, width=width, height=height)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_load_state("load")
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.wait_for_timeout(300)  # charts and graphs draw after their data
    page.screenshot(path=screenshots / f"{name}-{look}.png")
    assert accessibility_findings(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_no_message_of_a_page_is_missing_in_french(name: str, open_panel: OpenPanel) -> None:
    page = open_panel(name, language="fr")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("navigation").first).to_contain_text("Santé")
