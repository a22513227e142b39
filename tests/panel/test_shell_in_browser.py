"""The frame of every page: navigation, keyboard, themes, languages, connection and sign-in."""

from playwright.sync_api import Page, expect

from tests.panel.conftest import OpenPanel
from tests.panel.panel_server import SCRATCH, PanelServer
from tests.panel.sample_data import OTHER_PROJECT

PAGES = ("health", "browse", "review", "sessions", "map", "time", "episodes", "ask", "teach")


def test_the_first_page_is_the_health_of_the_default_project(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    page = open_panel()
    page.goto(panel_server.url)
    page.wait_for_url("**/p/atlas/health")
    expect(page.get_by_role("heading", level=1, name="Health")).to_be_visible()


def test_the_navigation_opens_every_page(open_panel: OpenPanel) -> None:
    page = open_panel()
    links = page.get_by_role("navigation").get_by_role("link")
    for name in links.all_inner_texts():
        title = name.split("\n")[0]
        page.get_by_role("navigation").get_by_role("link", name=title).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_keys_open_pages_and_the_help(open_panel: OpenPanel) -> None:
    page = open_panel()
    expect(page.get_by_role("heading", level=1, name="Health")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("b")
    expect(page.get_by_role("heading", level=1, name="Browse")).to_be_visible()
    page.keyboard.press("?")
    help = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(help.get_by_text("Flag as wrong")).to_be_visible()
    page.keyboard.press("Escape")
    expect(help).to_be_hidden()


def test_single_keys_can_be_turned_off(open_panel: OpenPanel) -> None:
    page = open_panel()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("?")
    page.get_by_text("Use single-key shortcuts").click()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_skip_link_is_the_first_stop_and_leads_to_the_content(open_panel: OpenPanel) -> None:
    page = open_panel()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_the_theme_can_be_changed_and_is_kept(open_panel: OpenPanel) -> None:
    page = open_panel(theme="light")
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Theme: as the system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(html).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(html).to_have_attribute("data-theme", "dark")


def test_the_panel_speaks_french(open_panel: OpenPanel) -> None:
    page = open_panel(language="fr")
    expect(page.get_by_role("heading", level=1, name="Santé")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", level=1, name="Health")).to_be_visible()


def test_the_project_can_be_switched(open_panel: OpenPanel) -> None:
    page = open_panel("browse")
    page.get_by_role("button", name="Project").click()
    page.get_by_role("option", name=OTHER_PROJECT).click()
    expect(page.get_by_text("The shop runs on PostgreSQL 18")).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="Browse")).to_be_visible()


def test_a_phone_has_a_menu_and_nothing_is_cut_off(open_panel: OpenPanel) -> None:
    page = open_panel(width=390, height=844)
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("dialog").get_by_role("link", name="Browse").click()
    expect(page.get_by_role("heading", level=1, name="Browse")).to_be_visible()
    for name in PAGES:
        page.goto(page.url.rpartition("/")[0] + f"/{name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert _overflow(page) <= 0, name


def _overflow(page: Page) -> int:
    overflow: int = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    return overflow


def test_without_a_cookie_the_panel_says_how_to_sign_in(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    page = open_panel(signed_in=False)
    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
    expect(page.get_by_text("treering serve --open")).to_be_visible()
    page.get_by_label("Token").fill("not the token")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("token")
    page.get_by_label("Token").fill(panel_server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1, name="Health")).to_be_visible()


def test_an_expired_cookie_shows_the_sign_in_page(open_panel: OpenPanel) -> None:
    page = open_panel("browse")
    expect(page.get_by_role("feed")).to_be_visible()
    page.context.clear_cookies()
    page.get_by_role("searchbox").fill("redis")
    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()


def test_a_restarted_server_is_found_again_and_nothing_is_lost(
    open_panel: OpenPanel, panel_server: PanelServer
) -> None:
    panel_server.remember("The breakwater is inspected every year.")
    page = open_panel("browse", project=SCRATCH)
    expect(page.get_by_role("feed")).to_be_visible()
    page.get_by_role("searchbox").fill("lighthouse")
    panel_server.stop()
    try:
        expect(page.get_by_text("The server does not answer. What you see may be old")).to_be_visible()
        expect(page.get_by_role("searchbox")).to_have_value("lighthouse")
    finally:
        panel_server.start()
    panel_server.remember("The lighthouse keeper starts the nightly backup.")
    expect(page.get_by_text("The server does not answer. What you see may be old")).to_be_hidden()
    expect(page.get_by_text("The lighthouse keeper starts the nightly backup.")).to_be_visible()


def test_offline_the_panel_keeps_what_it_shows_and_recovers(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    text = "The pier is painted in spring."
    panel_server.remember(text)
    page = open_panel("browse?q=pier painted", project=SCRATCH)
    card = page.get_by_role("article", name=text)
    expect(card).to_be_visible()
    page.context.set_offline(True)
    card.get_by_role("button", name="Pin").click()
    messages = page.get_by_role("region", name="Messages")
    expect(messages).to_contain_text("The change failed and was taken back")
    expect(page.get_by_text("The server does not answer. What you see may be old")).to_be_visible()
    expect(card).not_to_contain_text("pinned")
    page.context.set_offline(False)
    expect(page.get_by_text("The server does not answer. What you see may be old")).to_be_hidden()
    card.get_by_role("button", name="Pin").click()
    expect(card).to_contain_text("pinned")


def test_an_unknown_project_is_an_honest_error(open_panel: OpenPanel) -> None:
    page = open_panel("browse", project="nowhere")
    expect(page.get_by_role("alert")).to_contain_text("nowhere")


_HIDE = """() => {
    Object.defineProperty(document, "visibilityState", {value: "hidden", configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""
_SHOW = """() => {
    delete document.visibilityState;
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_tabs_in_the_background_leave_connections_to_the_visible_one(
    open_panel: OpenPanel, panel_server: PanelServer
) -> None:
    """A browser opens six connections to a server; a stream of events takes one."""
    first = open_panel("browse", project=SCRATCH)
    page = first
    for _ in range(6):
        expect(page.get_by_role("heading", level=1, name="Browse")).to_be_visible()
        page.evaluate(_HIDE)
        page = open_panel("browse", project=SCRATCH, in_tab_of=first)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    panel_server.remember("The background tab shows this later.")
    expect(page.get_by_text("The background tab shows this later.")).to_be_visible()
    expect(first.get_by_text("The background tab shows this later.")).to_have_count(0)
    page.evaluate(_HIDE)
    first.evaluate(_SHOW)
    expect(first.get_by_text("The background tab shows this later.")).to_be_visible()
