"""The Ask page with a language model: sentences with citations, one after the other, and nothing invented."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import treering
from tests.integration.model_server import ModelServer, Reply, chat_stream, model_server
from tests.panel.conftest import OpenPanel, accessibility_findings
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import HOSTILE, PROJECT

CHAT = "/v1/chat/completions"
FACTS = (
    "Access tokens expire after 24 hours.",
    "Refresh tokens expire after 30 days, and are revoked when a password changes.",
)
QUESTION = "When do access tokens and refresh tokens expire?"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


@pytest.fixture(scope="module")
def server_with_model(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    folder = tmp_path_factory.mktemp("panel-with-model")
    with treering.open(folder / "memory.db", project=PROJECT, background=False) as memory:
        for fact in FACTS:
            memory.remember(fact, type="decision")
    server = PanelServer(folder, TREERING_WRITER="scripted", TREERING_WRITER_URL=f"{model.url}/v1")
    yield server
    server.stop()


def asked(open_panel: OpenPanel, server: PanelServer, **options: object) -> Page:
    page = open_panel("ask", server=server, **options)
    page.get_by_role("textbox").fill(QUESTION)
    page.keyboard.press("Enter")
    return page


def number_of(page: Page, text: str) -> str:
    """The number of the passage with this text: the ranking decides it."""
    passages = page.get_by_role("region", name="Passages").get_by_role("listitem")
    return passages.filter(has_text=text).get_by_role("button").first.inner_text()


def test_sentences_appear_as_they_are_written_and_open_their_sources(
    open_panel: OpenPanel, server_with_model: PanelServer, model: ModelServer
) -> None:
    sentences = ("Both expire [1][2].\n", "Nothing lasts for 99 years [1].\n", "This is common knowledge.\n")
    model.answer(CHAT, chat_stream(*sentences, drip_seconds=0.004))
    page = asked(open_panel, server_with_model)
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text("Both expire.")
    expect(answer).to_contain_text("Writing…")
    expect(answer).to_contain_text("Written by a language model from the passages below")
    expect(answer).not_to_contain_text("Writing…")
    expect(answer.get_by_text("Nothing lasts for 99 years.")).to_be_hidden()
    answer.get_by_text("2 sentences without a valid source were left out").click()
    expect(answer.get_by_text("Nothing lasts for 99 years.")).to_be_visible()
    number = number_of(page, "Access tokens expire after 24 hours")
    answer.get_by_role("button", name=f"Open source {number}").click()
    source = page.get_by_role("dialog", name=f"Source {number}")
    expect(source).to_contain_text(FACTS[0])
    expect(source.get_by_role("link", name="Open with its history")).to_be_visible()


def test_a_model_that_finds_nothing_is_not_found_and_the_passages_stay(
    open_panel: OpenPanel, server_with_model: PanelServer, model: ModelServer
) -> None:
    model.answer(CHAT, chat_stream("NOT_FOUND"))
    page = asked(open_panel, server_with_model)
    expect(page.get_by_role("region", name="Answer")).to_contain_text("Not found")
    expect(page.get_by_role("region", name="Passages")).to_contain_text(FACTS[0])


def test_an_answer_without_sources_is_left_out(
    open_panel: OpenPanel, server_with_model: PanelServer, model: ModelServer
) -> None:
    model.answer(CHAT, chat_stream("They never expire."))
    page = asked(open_panel, server_with_model)
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text("No sentence had a valid source")
    expect(answer.get_by_text("They never expire.")).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_a_model_writes_is_text_and_the_page_is_accessible(
    theme: str, open_panel: OpenPanel, server_with_model: PanelServer, model: ModelServer
) -> None:
    model.answer(CHAT, chat_stream(f"They expire {HOSTILE} [x](javascript:window.hacked=1) [1]."))
    page = asked(open_panel, server_with_model, theme=theme, width=390, height=844)
    expect(page.get_by_role("region", name="Answer")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert accessibility_findings(page) == []


def test_calls_and_tokens_of_the_model_are_shown(
    open_panel: OpenPanel, server_with_model: PanelServer, model: ModelServer
) -> None:
    model.answer(CHAT, chat_stream("Both expire [1][2].", tokens=(90, 12)))
    page = asked(open_panel, server_with_model)
    expect(page.get_by_role("region", name="Answer")).to_contain_text("Written by a language model")
    page.goto(page.url.replace("/ask", "/teach").partition("?")[0] + "?tab=jobs")
    expect(page.get_by_role("region", name="Tokens of the language model")).to_contain_text(
        re.compile(r"\d+ calls? · \d+")
    )


# The last one: after a failure, the model is not asked for a while.
def test_a_model_that_fails_leaves_the_quotations_and_says_why(
    open_panel: OpenPanel, server_with_model: PanelServer, model: ModelServer
) -> None:
    model.answer(CHAT, Reply({"error": {"message": "no such model"}}, 404))
    page = asked(open_panel, server_with_model)
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text(FACTS[0])
    expect(answer).to_contain_text("The language model did not answer: the writing server")
