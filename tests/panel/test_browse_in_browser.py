"""The Browse page: search, filters, actions by mouse and keyboard, forgetting, conflicts and hostile text."""

from playwright.sync_api import Page, expect

from tests.panel.conftest import OpenPanel
from tests.panel.panel_server import SCRATCH, PanelServer
from tests.panel.sample_data import HOSTILE


def _toast(page: Page, text: str) -> None:
    expect(page.get_by_role("region", name="Messages")).to_contain_text(text)


def _found(page: Page, query: str) -> None:
    page.get_by_role("searchbox").fill(query)
    page.wait_for_url("**q=**")


def test_search_as_you_type_ranks_as_the_library_does(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    body = {"query": "redis", "limit": 100, "code": False, "where": {"kinds": ["knowledge"]}}
    hits = panel_server.request("POST", "search", body)["hits"]
    page = open_panel("browse")
    _found(page, "redis")
    expect(page.get_by_role("article").first).to_have_attribute("aria-label", hits[0]["text"])
    expect(page.get_by_role("article")).to_have_count(len(hits))


def test_provenance_is_always_visible(open_panel: OpenPanel) -> None:
    page = open_panel("browse?q=token refresh redis")
    card = page.get_by_role("article").first
    for part in ("observed in a session", "build-042", "auth/session.py"):
        expect(card.get_by_role("list", name="Provenance")).to_contain_text(part)


def test_filters_and_sort_are_in_the_address(open_panel: OpenPanel) -> None:
    page = open_panel("browse")
    page.get_by_role("button", name="Type").click()
    page.get_by_role("menuitemcheckbox", name="decision").click()
    page.keyboard.press("Escape")
    page.wait_for_url("**type=decision**")
    expect(page.get_by_role("article").filter(has_not_text="decision")).to_have_count(0)
    expect(page.get_by_role("article").first).to_be_visible()
    page.get_by_role("button", name="Sort by").click()
    page.get_by_role("option", name="Confidence").click()
    page.wait_for_url("**sort=confidence**")
    page.reload()
    expect(page.get_by_role("button", name="Sort by")).to_contain_text("Confidence")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("article").nth(3)).to_be_visible()


def test_the_explain_drawer_shows_why_a_record_ranks_here(open_panel: OpenPanel) -> None:
    page = open_panel("browse?q=redis")
    page.get_by_role("article").first.get_by_role("button", name="Explain the ranking").click()
    drawer = page.get_by_role("dialog", name="Why it ranks here")
    expect(drawer.get_by_text("Place 1, relevance")).to_be_visible()
    expect(drawer.get_by_text("Trust in the source")).to_be_visible()


def test_every_action_works_by_key_and_can_be_undone(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    stored = panel_server.remember("The harbour crane needs a licence.", type="requirement")
    page = open_panel("browse?q=harbour crane licence", project=SCRATCH)
    card = page.get_by_role("article", name="The harbour crane")
    card.focus()
    for key, message, state in (("c", "Confirmed", "confirmed"), ("p", "Pinned", "pinned"), ("m", "Muted", "muted")):
        page.keyboard.press(key)
        _toast(page, message)
        expect(card).to_contain_text(state)
    page.keyboard.press("u")
    _toast(page, "Undone")
    expect(card).not_to_contain_text("muted")
    page.keyboard.press("Delete")
    expect(card).to_be_hidden()
    page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").last.click()
    expect(card).to_be_visible()
    assert panel_server.request("GET", f"records/{stored['id']}", project=SCRATCH)["record"]["user_verified"] is True


def test_a_correction_keeps_the_old_version(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    stored = panel_server.remember("The tide tables are printed every month.")
    page = open_panel("browse?q=tide tables printed", project=SCRATCH)
    page.get_by_role("article").first.focus()
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Correct this record")
    dialog.get_by_label("Corrected text").fill("The tide tables are printed every week.")
    dialog.get_by_role("button", name="Save correction").click()
    _toast(page, "Corrected")
    expect(page.get_by_text("The tide tables are printed every week.")).to_be_visible()
    assert (
        panel_server.request("GET", f"records/{stored['id']}", project=SCRATCH)["record"]["superseded_by"] is not None
    )


def test_a_wrong_record_is_found_flagged_and_gone_in_two_clicks(
    open_panel: OpenPanel, panel_server: PanelServer
) -> None:
    panel_server.remember("Buoys are painted blue.")
    page = open_panel("browse", project=SCRATCH)
    clicks = 0
    page.get_by_role("searchbox").click()
    clicks += 1
    page.keyboard.type("buoys painted")
    card = page.get_by_role("article", name="Buoys are painted blue.")
    card.get_by_role("button", name="Flag as wrong").click()
    clicks += 1
    _toast(page, "Flagged")
    expect(card).to_be_hidden()
    assert clicks < 5


def test_the_whole_text_and_the_history_open(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    text = "Beacon. " + "The lamp is cleaned on Mondays. " * 60 + "End of the text."
    stored = panel_server.remember(text)
    page = open_panel(f"browse?record={stored['id']}", project=SCRATCH)
    details = page.get_by_role("complementary", name="Record")
    expect(details.get_by_text("End of the text.")).to_be_visible()
    expect(details.get_by_text("created")).to_be_visible()


def test_forget_by_filter_shows_what_goes_and_can_be_undone(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    for number in range(3):
        panel_server.remember(f"Anchor {number} is rusty.", tags=["anchors"])
    page = open_panel("browse?tag=anchors", project=SCRATCH)
    expect(page.get_by_role("article")).to_have_count(3)
    page.get_by_role("button", name="Forget these…").click()
    dialog = page.get_by_role("alertdialog", name="Forget these records?")
    expect(dialog.get_by_text("3 records match")).to_be_visible()
    expect(dialog.get_by_text("Anchor 1 is rusty.")).to_be_visible()
    dialog.get_by_role("button", name="Forget 3 records").click()
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("article")).to_have_count(3)


def test_forgetting_without_a_filter_is_not_offered(open_panel: OpenPanel) -> None:
    page = open_panel("browse")
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.get_by_role("button", name="Forget these…")).to_be_disabled()


def test_a_stale_edit_shows_both_versions(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    stored = panel_server.remember("The pilot boat leaves at noon.")
    page = open_panel("browse?q=pilot boat leaves", project=SCRATCH)
    page.get_by_role("article").first.focus()
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Correct this record")
    page.route("**/events", lambda route: route.abort())
    dialog.get_by_label("Corrected text").fill("The pilot boat leaves at one.")
    panel_server.request("POST", f"records/{stored['id']}/pin", project=SCRATCH)
    dialog.get_by_role("button", name="Save correction").click()
    conflict = page.get_by_role("alertdialog", name="This record was changed")
    expect(conflict.get_by_text("The pilot boat leaves at one.")).to_be_visible()
    expect(conflict.get_by_text("As it is now (version 2)")).to_be_visible()
    conflict.get_by_role("button", name="Apply my change anyway").click()
    _toast(page, "Corrected")


def test_two_tabs_show_the_same(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    panel_server.remember("The quay is closed on Sundays.")
    first = open_panel("browse?q=quay closed sundays", project=SCRATCH)
    second = open_panel("browse?q=quay closed sundays", project=SCRATCH, in_tab_of=first)
    first.get_by_role("article").first.get_by_role("button", name="Pin").click()
    expect(second.get_by_role("article").first).to_contain_text("pinned")


def test_a_failed_change_is_taken_back_and_reported(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    panel_server.remember("The winch is oiled in March.")
    page = open_panel("browse?q=winch oiled", project=SCRATCH)
    card = page.get_by_role("article").first
    expect(card).to_be_visible()
    page.route("**/pin", lambda route: route.fulfill(status=503, content_type="application/json", body="{}"))
    card.get_by_role("button", name="Pin").click()
    _toast(page, "The change failed and was taken back")
    expect(card).not_to_contain_text("pinned")


def test_stored_markup_is_shown_and_never_runs(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    stored = panel_server.remember(
        f"{HOSTILE} **bold** `<code>` [label](javascript:alert(1))",
        files=["<img src=x onerror=x>.py"],
        tags=["<i>x</i>"],
    )
    page = open_panel(f"browse?record={stored['id']}&q=bold label", project=SCRATCH)
    details = page.get_by_role("complementary", name="Record")
    expect(details).to_contain_text("<script>window.hacked=1</script>")
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("a[href^='javascript']").count() == 0


def test_the_list_is_usable_by_keyboard_only(open_panel: OpenPanel) -> None:
    page = open_panel("browse")
    expect(page.get_by_role("article").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.tagName") == "ARTICLE":
            break
    expect(page.get_by_role("article").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("article").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Record")).to_be_visible()


def test_u_restores_the_record_that_delete_took_out_of_the_list(
    open_panel: OpenPanel, panel_server: PanelServer
) -> None:
    for number in range(3):
        panel_server.remember(f"Mooring {number} is free.", tags=["moorings"])
    page = open_panel("browse?tag=moorings", project=SCRATCH)
    articles = page.get_by_role("article")
    expect(articles).to_have_count(3)
    articles.first.focus()
    page.keyboard.press("Delete")
    expect(articles).to_have_count(2)
    expect(articles.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(articles.nth(1)).to_be_focused()
    page.keyboard.press("u")
    _toast(page, "Undone")
    expect(articles).to_have_count(3)


def test_own_changes_are_not_conflicts(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    stored = panel_server.remember("The ferry bell rings twice.")
    page = open_panel("browse?q=ferry bell rings", project=SCRATCH)
    card = page.get_by_role("article", name="The ferry bell rings twice.")
    card.focus()
    page.route("**/search", lambda route: route.abort())  # the list stays as it is
    for key, message in (("p", "Pinned"), ("u", "Undone"), ("m", "Muted")):
        page.keyboard.press(key)
        _toast(page, message)
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    record = panel_server.request("GET", f"records/{stored['id']}", project=SCRATCH)["record"]
    assert (record["pinned"], record["muted"]) == (False, True)


def test_spaces_are_not_a_search(open_panel: OpenPanel) -> None:
    page = open_panel("browse?q=%20%20")
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.get_by_role("button", name="Sort by")).to_contain_text("Created")
    expect(page.get_by_role("button", name="Forget these…")).to_be_disabled()


def test_evidence_of_another_kind_leads_to_its_page(open_panel: OpenPanel, panel_server: PanelServer) -> None:
    episode = panel_server.request("GET", "episodes?limit=1")["items"][0]
    page = open_panel(f"browse?record={episode['id']}")
    page.get_by_role("link", name="Open on its own page").click()
    expect(page.get_by_role("dialog", name="Episode")).to_contain_text(episode["task"]["input"])
