"""How fast the panel answers at 100,000 records: interaction to next paint in Chromium, and size of its first load."""

import argparse
import gzip
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from bench.results import percentile, table, write_section
from tests.panel.browsers import DIST, FLAGS, browser_path, first_load, missing
from tests.panel.conftest import sign_in
from tests.panel.panel_server import PanelServer
from tests.panel.sample_data import PROJECT, fill

RECORDS = 100_000
GOAL = 100
"""Milliseconds from an interaction to the next paint."""
_OBSERVE = """
window.interactions = [];
new PerformanceObserver((list) => {
  for (const {interactionId, duration} of list.getEntries()) {
    if (interactionId) window.interactions.push([interactionId, duration]);
  }
}).observe({type: "event", durationThreshold: 16, buffered: true});
window.frames = [];
let last = performance.now();
const frame = (now) => { window.frames.push(now - last); last = now; requestAnimationFrame(frame); };
requestAnimationFrame(frame);
"""


@dataclass(frozen=True)
class Measured:
    """Interactions of one kind: seconds to the next paint of each, and processor seconds of the page's main thread."""

    name: str
    count: int
    paints: list[float]
    processor: float

    def row(self) -> tuple[object, ...]:
        worst = max(self.paints, default=0.0) * 1000
        middle = percentile(self.paints, 0.5) if self.paints else 0.0
        shown = [f"{value:.0f} ms" if value else "< 16 ms" for value in (middle, worst)]
        return self.name, self.count, *shown, f"{self.processor / self.count * 1000:.0f} ms"


class Probe:
    """Measures what a page does between two moments."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page, self._session = page, session
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def measure(self, name: str, count: int, act: Callable[[Page], None]) -> Measured:
        self.page.evaluate("() => { interactions.length = 0; frames.length = 0; }")
        before = self._processor()
        act(self.page)
        self.page.wait_for_timeout(1_000)
        paints: dict[int, float] = {}
        for interaction, duration in self.page.evaluate("() => interactions"):
            paints[interaction] = max(paints.get(interaction, 0.0), duration / 1000)
        known = [*paints.values(), *[0.0] * max(0, count - len(paints))]
        return Measured(name, count, known, self._processor() - before)

    def longest_frame(self) -> float:
        longest: float = self.page.evaluate("() => Math.max(0, ...frames)")
        return longest

    def _processor(self) -> float:
        found = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


def _type(page: Page) -> None:
    page.get_by_role("searchbox").click()
    page.keyboard.type("tile rendered zoom 7", delay=120)
    page.get_by_role("article").first.wait_for()


def _erase(page: Page) -> None:
    for _ in range(20):
        page.keyboard.press("Backspace")
        page.wait_for_timeout(60)


def _move(page: Page) -> None:
    page.get_by_role("article").first.focus()
    for _ in range(40):
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(40)


def _page_down(page: Page) -> None:
    for _ in range(60):
        page.keyboard.press("PageDown")
        page.wait_for_timeout(40)


def _wheel(page: Page) -> None:
    page.get_by_role("article").nth(4).hover()
    for _ in range(150):
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(16)


def _open(page: Page) -> None:
    for place in range(5):
        page.get_by_role("article").nth(place + 3).click(position={"x": 200, "y": 12})
        page.get_by_role("complementary", name="Record").wait_for()
        page.wait_for_timeout(150)


def _filter(page: Page) -> None:
    page.get_by_role("button", name="Type").click()
    for name in ("decision", "fact", "gotcha"):
        page.get_by_role("menuitemcheckbox", name=name, exact=True).click()
        page.wait_for_timeout(200)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear filters").click()


def _act(page: Page) -> None:
    for key in ("p", "u", "p", "u"):
        page.keyboard.press(key)
        page.wait_for_timeout(500)


STEPS: tuple[tuple[str, int, Callable[[Page], None]], ...] = (
    ("type a search of 20 letters", 21, _type),
    ("erase it", 20, _erase),
    ("arrow keys", 40, _move),
    ("page down", 60, _page_down),
    ("open records beside the list", 5, _open),
    ("pin and undo", 4, _act),
    ("choose and clear filters", 5, _filter),
)


@contextmanager
def _browsing(folder: Path) -> Iterator[Probe]:
    server = PanelServer(folder)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
            context = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en")
            context.set_default_timeout(120_000)
            sign_in(context, server)
            page = context.new_page()
            page.add_init_script(_OBSERVE)
            page.goto(f"{server.url}/p/{PROJECT}/browse")
            page.get_by_role("article").first.wait_for()
            page.wait_for_timeout(2_000)
            yield Probe(page, context.new_cdp_session(page))
            browser.close()
    finally:
        server.stop()


def measure(folder: Path) -> tuple[list[Measured], float]:
    """Every kind of interaction, and the longest frame in milliseconds while the wheel scrolls."""
    with _browsing(folder) as probe:
        measured = [probe.measure(name, count, act) for name, count, act in STEPS]
        probe.measure("wheel", 1, _wheel)
        return measured, probe.longest_frame()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, help="where the store is kept; it is filled if it is missing")
    folder = parser.parse_args().folder
    reason = missing()
    if reason is not None:
        raise SystemExit(f"the panel cannot be measured: {reason}")
    with tempfile.TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        if not (place / "memory.db").exists():
            print(f"filling {place} with {RECORDS:,} records …", flush=True)
            fill(place, records=RECORDS)
        measured, longest = measure(place)
    _write(measured, longest)


def _write(measured: list[Measured], longest: float) -> None:
    sizes = {file: len(gzip.compress((DIST / file).read_bytes(), 9)) for file in first_load()}
    headers = ("interaction", "number", "median", "worst", "processor time each")
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    body = f"""Goal: at most {GOAL} ms from an interaction to the next paint (event-timing API, steps of 8 ms). The
processor time is that of the page's main thread and includes what follows the paint, such as the answer of the server.
Longest frame while the wheel scrolls: {longest:.0f} ms. Load of the machine in the last minute: {load}.

{table(headers, [each.row() for each in measured])}

First load: {sum(sizes.values()) / 1024:.0f} KB of gzipped JavaScript in {len(sizes)} files, of at most 250 KB."""
    write_section("panel", f"The panel at {RECORDS:,} records", body)


if __name__ == "__main__":
    main()
