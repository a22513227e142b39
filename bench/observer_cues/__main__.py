"""The observer's cues on labelled sentences of recorded sessions: precision, recall, speed.

`--record NAME` adds the measurement to `measurements.jsonl`; the page lists all of them.
"""

import argparse
import gzip
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.cues import PROSE
from bench.data import DATA
from bench.observer_cues.draw import PROGRAM
from bench.observer_cues.scores import Outcomes, Row, interval, load, outcomes, totals
from bench.results import revision, table, today, write_section
from treering.observe.cues import CueKind, cues_in

MEASUREMENTS = Path(__file__).with_name("measurements.jsonl")
ABOUT = (
    "Sentences of `agent_sessions` (entireio/cli, MIT), labelled by one person before the first phrase was written "
    "([how](../observer_cues/LABELS.md)): `first` are the 300 of the goal, `all` has 251 more. The detector reads "
    "each sentence with up to 200 characters around it. Intervals are 95 % (Wilson). A kind without detections has "
    "no precision."
)
LIMITS = """\
Limits:

- The same person labelled the sentences and wrote the phrases within an hour and remembered the sentences. After the
  third measurement, ten phrases that only repeated one labelled sentence were removed (fourth row); the last row also
  leaves out every phrase that resembles one, even if it is common English. Recall on other sessions will be closer to
  that row.
- The sessions have no sentence about an unavailable environment and two rules, so these two kinds are hardly measured.
- The sessions are in English; the phrases of the other languages are tested on development sentences only.
- Phrases were narrowed on the sessions of another project (specstoryai/getspecstory).
- The first two measurements joined a sentence to the previous one without a space, which hid four detections.

Detections outside the labelled sentences were judged after the first measurement. In all other messages of
`agent_sessions`, 5 of 5 self-corrections were right, 0 of 1 user correction and 0 of 2 rules; these three phrases were
then narrowed (second measurement). In 17 sessions of a project that was used for nothing else (specstoryai/tnyOffice,
2,649 messages), 16 of 18 were right: 5 of 7 self-corrections, 5 of 5 abandoned approaches, 6 of 6 user corrections; the
two wrong ones begin with "Wait," and only pause."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", metavar="NAME", help="add this measurement to measurements.jsonl")
    name = parser.parse_args().record
    counted = outcomes(load())
    if name:
        _record(name, counted)
    parts = [ABOUT, _by_kind(counted), _history(), _in_whole_sessions(), LIMITS, _speed()]
    write_section("observer-cues", "Cues of the observer", "\n\n".join(filter(None, parts)))


def _share(right: int, total: int) -> str:
    if not total:
        return ""
    low, high = interval(right, total)
    return f"{right}/{total} = {right / total:.2f} ({max(low, 0):.2f}–{min(high, 1):.2f})"


def _by_kind(counted: Outcomes) -> str:
    rows: list[tuple[object, ...]] = []
    for part in ("first", "all"):
        for name, kinds in [*((str(kind), [kind]) for kind in CueKind), ("**every kind**", list(CueKind))]:
            right, wrong, missed = totals(counted, part, kinds)
            rows.append((part, name, right + missed, _share(right, right + wrong), _share(right, right + missed)))
    return table(("part", "cue", "labelled", "precision", "recall"), rows)


def _record(name: str, counted: Outcomes) -> None:
    row: Row = {"name": name, "date": today(), "commit": revision()}
    for part in ("first", "all"):
        row[part] = {str(kind): totals(counted, part, [kind]) for kind in CueKind}
    with MEASUREMENTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _history() -> str:
    if not MEASUREMENTS.exists():
        return ""
    rows: list[tuple[object, ...]] = []
    for measured in map(json.loads, MEASUREMENTS.read_text("utf-8").splitlines()):
        for part in ("first", "all"):
            right, wrong, missed = map(sum, zip(*measured[part].values(), strict=True))
            cells = ", ".join(
                f"{kind} {one}/{one + two}" for kind, (one, two, _) in measured[part].items() if one + two
            )
            shares = (_share(right, right + wrong), _share(right, right + missed))
            rows.append((measured["name"], measured["commit"], part, *shares, cells))
    headers = ("measurement", "commit", "part", "precision", "recall", "right of detected, by cue")
    return f"Every measurement on the labelled sentences, the first one first:\n\n{table(headers, rows)}"


def _in_whole_sessions() -> str:
    """How often a cue is detected in all messages, and in those that a program wrote in the name of the user."""
    if not DATA.exists():
        return ""
    counted: Counter[str] = Counter()
    messages: Counter[str] = Counter()
    for event in _events():
        by_user = event["kind"] == "user_text"
        speaker = "program" if by_user and event["text"].lstrip().startswith(PROGRAM) else event["kind"]
        messages[speaker] += 1
        counted.update(f"{speaker} {each.kind}" for each in cues_in(event["text"], by_user=by_user))
    rows = [(*key.split(), messages[key.split()[0]], count) for key, count in sorted(counted.items())]
    programs = sum(count for key, count in counted.items() if key.startswith("program"))
    return (
        f"All messages of the sessions:\n\n{table(('text', 'cue', 'messages', 'detected'), rows)}\n\n"
        f"In {messages['program']} messages that a program wrote in the name of the user: {programs}."
    )


def _events() -> Iterator[Row]:
    with gzip.open(DATA / "agent_sessions/events.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from (event for event in map(json.loads, file) if event["kind"] in ("user_text", "assistant_text"))


def _speed() -> str:
    plain = PROSE[:500]
    said = f"{PROSE[:440]} Wait, that's not right, I misread the test."
    rejected = f"{PROSE[:440]} No, use pnpm. Never push to main without asking me."
    rows: list[tuple[object, ...]] = []
    for name, by_user, text in (
        ("500 characters without a cue", False, plain),
        ("500 characters without a cue", True, plain),
        ("500 characters with a cue", False, said),
        ("500 characters with cues", True, rejected),
        ("10 MB of prose", False, PROSE * 10_000),
        ("10 MB, hostile", False, "i was wrong my fix let me try not available " * 230_000),
        ("10 MB, hostile", True, 'no, "never `always > not but ' * 350_000),
    ):
        rows.append((name, "user" if by_user else "agent", _time(lambda t=text, u=by_user: cues_in(t, by_user=u))))  # type: ignore[misc]
    return (
        f"{table(('text', 'of', 'processor time, median'), rows)}\n\n"
        "Goals: 40 µs for 500 characters without a cue, 150 µs with one."
    )


def _time(call: Callable[[], object]) -> str:
    call()
    seconds: list[float] = []
    until = time.perf_counter() + 1.0
    while len(seconds) < 300 and time.perf_counter() < until:
        begun = time.process_time_ns()
        for _ in range(5):
            call()
        seconds.append((time.process_time_ns() - begun) / 5e9)
    return f"{statistics.median(seconds) * 1e6:.0f} µs"


if __name__ == "__main__":
    main()
