"""Every page in both themes and on a phone: no serious finding of axe, and a screenshot of each."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.test_catalogues import catalogue
from tests.panel.test_shell_in_browser import PAGES

VIEWS = (
    *PAGES,
    *(f"teach?tab={tab}" for tab in ("rules", "trust", "settings", "jobs", "audit")),
    *("episodes?tab=failures", "episodes?tab=patterns", "time?view=changes", "time?view=search"),
    *("sessions?id=build-045", "sessions?conversation=planning", "map?view=list", "ask?q=redis"),
)
_FOCUSED = """() => {
  const focused = document.activeElement;
  if (focused === document.body) return ["body", true];
  const box = focused.getBoundingClientRect();
  const near = [focused, ...focused.querySelectorAll("*"), focused.parentElement, focused.closest("label, li")];
  const isMarked = near.some((each) => each && getComputedStyle(each).outlineStyle !== "none");
  const name = focused.getAttribute("aria-label") ?? focused.innerText?.slice(0, 60) ?? focused.tagName;
  return [`${focused.tagName} ${name}`, box.width > 0 && box.height > 0 && isMarked];
}"""
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


@pytest.mark.parametrize("view", VIEWS)
def test_no_message_of_a_page_is_missing_in_french(view: str, open_panel: OpenPanel) -> None:
    page = open_panel(view, language="fr")
    expect(page.get_by_role("navigation").first).to_contain_text("Santé")
    expect(page.get_by_role("status", name="Chargement")).to_have_count(0)
    english, french = catalogue("en"), catalogue("fr")
    only_english = {text for text in english.values() if text not in french.values() and "{" not in text}
    page.add_style_tag(content="code { display: none }")  # values are not messages
    shown = set(page.locator("body").inner_text().splitlines())
    assert not shown & only_english
    assert not shown & set(english)


@pytest.mark.parametrize("view", VIEWS)
def test_tab_reaches_only_what_is_visible_and_shows_where_it_is(view: str, open_panel: OpenPanel) -> None:
    page = open_panel(view)
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    reached = set()
    for _ in range(45):
        page.keyboard.press("Tab")
        name, is_marked = page.evaluate(_FOCUSED)
        assert is_marked, name
        reached.add(name)
    assert len(reached) > 12
