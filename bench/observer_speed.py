"""What observing a session costs: processor time of an event, memory, time of the notes and of a checkpoint."""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
from dataclasses import asdict, dataclass
from statistics import mean

from bench.observer_stream import ROOT, events
from bench.process_memory import peak, resident
from bench.results import percentile, table, write_section
from treering.core.events import SessionType
from treering.observe.scratchpad import Scratchpad
from treering.observe.signals import notes_of

SIZES = (2_000, 20_000, 100_000)


@dataclass(frozen=True, slots=True)
class ObserverCost:
    """Microseconds of an event, megabytes, milliseconds of the rest."""

    events: int
    mean: float
    p50: float
    p95: float
    p99: float
    longest_ms: float
    traced_mb: float
    resident_mb: float
    notes_ms: float
    notes: int
    state_ms: float
    state_kb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print, do not write the results page")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        print(json.dumps(asdict(measured(options.size))))
        return
    body = _body([_in_own_process(size) for size in SIZES])
    if options.dry:
        print(body)
        return
    write_section("observer-speed", "Observer: cost of a session", body)


def measured(size: int) -> ObserverCost:
    """Cost of one session of this many events."""
    warm_up = _new_pad()
    for event in events(200, seed=1):  # loads the phrases of the cues
        warm_up.add(event)
    pad, base = _new_pad(), resident()
    seconds = [_timed(pad, event) for event in events(size)]
    gc.collect()
    grown = max(peak(), resident()) - base
    begun = time.process_time()
    notes = notes_of(pad)
    noted = time.process_time()
    state = json.dumps(pad.state())
    stored = time.process_time()
    return ObserverCost(
        events=size,
        mean=mean(seconds) * 1e6,
        p50=percentile(seconds, 0.5) * 1e3,
        p95=percentile(seconds, 0.95) * 1e3,
        p99=percentile(seconds, 0.99) * 1e3,
        longest_ms=max(seconds) * 1e3,
        traced_mb=_traced(size),
        resident_mb=grown,
        notes_ms=(noted - begun) * 1e3,
        notes=len(notes),
        state_ms=(stored - noted) * 1e3,
        state_kb=len(state) / 1e3,
    )


def figures() -> dict[str, float]:
    """Mean processor time of an event among 2,000, in milliseconds."""
    pad = _new_pad()
    return {"observer.event": mean(_timed(pad, event) for event in events(SIZES[0])) * 1e3}


def _new_pad() -> Scratchpad:
    return Scratchpad("bench", type=SessionType.BUILD, root=ROOT)


def _timed(pad: Scratchpad, event: dict[str, object]) -> float:
    begun = time.process_time_ns()
    pad.add(event)
    return (time.process_time_ns() - begun) / 1e9


def _traced(size: int) -> float:
    """Megabytes that the scratchpad and one event take at most."""
    pad = _new_pad()
    tracemalloc.start()
    for event in events(size):
        pad.add(event)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return largest / 1e6


def _in_own_process(size: int) -> ObserverCost:
    found = subprocess.run(
        [sys.executable, "-m", "bench.observer_speed", "--size", str(size)], capture_output=True, text=True, check=True
    )
    return ObserverCost(**json.loads(found.stdout))


def _body(rows: list[ObserverCost]) -> str:
    headers = (
        *(
            "events",
            "mean µs",
            "p50 µs",
            "p95 µs",
            "p99 µs",
            "longest ms",
            "peak MB (tracemalloc)",
            "growth MB (resident)",
        ),
        *("notes ms", "notes", "checkpoint ms", "checkpoint KB"),
    )
    cells = [
        (
            f"{row.events:,}",
            *(f"{each:.1f}" for each in (row.mean, row.p50, row.p95, row.p99, row.longest_ms)),
            *(f"{each:.1f}" for each in (row.traced_mb, row.resident_mb, row.notes_ms)),
            *(row.notes, f"{row.state_ms:.1f}", f"{row.state_kb:.0f}"),
        )
        for row in rows
    ]
    return (
        "Made-up session (`bench/observer_stream.py`): prompts, reasoning of about 600 characters, reads of 3 KB,"
        " edits, test runs that fail one time in three, outside content in the last third. Processor time; each size in"
        f" a process of its own, at a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
        " Goals: p95 ≤ 100 µs an event, ≤ 50 MB, notes of 2,000 events ≤ 40 ms.\n\n" + table(headers, cells)
    )


if __name__ == "__main__":
    main()
