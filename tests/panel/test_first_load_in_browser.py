"""What a browser loads before the first page is shown."""

import gzip

from playwright.sync_api import Response, expect

from tests.panel.browsers import DIST, first_load
from tests.panel.conftest import OpenPanel

BUDGET = 250 * 1024


def test_the_first_page_loads_little_javascript_and_no_map(open_panel: OpenPanel) -> None:
    page = open_panel(signed_in=True)
    expect(page.get_by_role("heading", level=1, name="Health")).to_be_visible()
    loaded: dict[str, int] = {}

    def note(response: Response) -> None:
        if response.url.endswith(".js"):
            loaded[response.url.rpartition("/")[2]] = len(gzip.compress(response.body()))

    page.on("response", note)
    page.reload()
    expect(page.get_by_role("heading", level=2, name="Score")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert 0 < sum(loaded.values()) <= BUDGET, loaded
    assert not [name for name in loaded if "Map" in name or "sigma" in name]


def test_the_built_files_of_the_first_load_fit_the_budget() -> None:
    assert sum(len(gzip.compress((DIST / file).read_bytes())) for file in first_load()) <= BUDGET
