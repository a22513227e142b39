"""The Ask page."""

import pytest
from playwright.sync_api import expect

from tests.panel.conftest import OpenPanel, accessibility_findings

QUESTION = "When do access tokens expire?"


def test_an_answer_quotes_records_and_opens_them_with_the_keyboard(open_panel: OpenPanel) -> None:
    page = open_panel("ask")
    page.get_by_label("Question").fill(QUESTION)
    page.keyboard.press("Enter")
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text("Access tokens expire after 24 hours")
    answer.get_by_role("button", name="Open source 1").focus()
    page.keyboard.press("Enter")
    source = page.get_by_role("dialog", name="Source 1")
    expect(source).to_contain_text("taught by a person")
    expect(source.get_by_role("link", name="Open with its history")).to_be_visible()
    page.keyboard.press("Escape")
    expect(answer.get_by_role("button", name="Open source 1")).to_be_focused()


def test_a_question_without_an_answer_is_not_found(open_panel: OpenPanel) -> None:
    page = open_panel("ask?q=Who won the world cup in 1998?")
    expect(page.get_by_text("Not found", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Answer")).to_have_count(0)
    page.get_by_role("link", name="Teach the answer").click()
    expect(page.get_by_role("heading", level=1, name="Teach")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_accessibility_finding(theme: str, open_panel: OpenPanel) -> None:
    page = open_panel(f"ask?q={QUESTION}", theme=theme)
    page.get_by_text("less relevant passage").click()
    assert accessibility_findings(page) == []
    page.get_by_role("button", name="Open source 1").click()
    expect(page.get_by_role("dialog")).to_contain_text("taught by a person")
    assert accessibility_findings(page) == []


def test_the_page_is_complete_in_french_and_on_a_phone(open_panel: OpenPanel) -> None:
    page = open_panel(f"ask?q={QUESTION}", language="fr", width=390, height=844)
    expect(page.get_by_role("region", name="Réponse")).to_contain_text("cités mot pour mot")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_stored_text_is_shown_as_text(open_panel: OpenPanel) -> None:
    page = open_panel("ask?q=Which record has markup?")
    expect(page.get_by_text("A record with markup <img src=x").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
