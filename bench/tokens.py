"""How near token counts are to the real ones, and what counting costs.

Real vocabularies are looked for among the installed packages or, with `--vocabularies`, in a directory that they were
installed into (`calibration/vocabularies.py` says how). What is not there is reported as not measured.
"""

import argparse
import base64
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from bench.calibration.files import entries
from bench.calibration.pieces import PACKAGES, STANDARD, pieces, rows, said
from bench.calibration.vocabularies import Count, load, missing
from bench.data import DATA
from bench.results import percentile, table, write_section
from treering.adapters.tokenizers import tokenizer
from treering.core.messages import CallPart, Message, ResultPart, TextPart
from treering.ports.tokens import Tokenizer
from treering.render.model_windows import window_of
from treering.render.token_counts import Meter, rules_of

WINDOW = 2_000
SOURCE = 150_000
"""Characters of each source."""

MEASURED = {
    "claude": "claude",
    "claude-4.7": "claude-4.7",
    "gemini": "gemma-3",
    "llama": "llama-3",
    "mistral": "tekken",
    "qwen": "qwen",
    "deepseek": "deepseek-v3",
}
"""Families, and the vocabulary that each is measured against."""


def texts() -> Iterator[tuple[str, list[str]]]:
    """Kinds of text, each cut into pieces as long as messages are."""
    draw = random.Random(5)
    files = {
        "Python": sorted(STANDARD.glob("*.py")),
        "documentation": sorted(PACKAGES.glob("*.dist-info/METADATA")),
        "JSON": sorted(PACKAGES.glob("botocore/data/[s-z]*/*/*.json")),
    }
    for kind, found in files.items():
        draw.shuffle(found)
        yield kind, list(pieces((file.read_text("utf-8", "replace")[:20_000] for file in found), draw, SOURCE))
    sets = {"English": "locomo", "encyclopaedia": "xquad_en_en", "Spanish": "xquad_es_es", "Chinese": "memdaily"}
    for kind, name in sets.items():
        if (corpus := DATA / name / "corpus.jsonl.gz").exists():
            yield kind, list(pieces((row["text"] for row in rows(corpus)), draw, SOURCE))
    if (events := DATA / "agent_sessions" / "events.jsonl.gz").exists():
        yield "agent sessions", list(pieces((said(row) for row in islice(rows(events), 0, None, 7)), draw, SOURCE))


@dataclass(frozen=True)
class Error:
    """How estimates differ from the truth: windows and single texts below it, the lowest window, the sum."""

    windows: int
    under: float
    worst: float
    over: float
    single_under: float


def error(found: list[str], real: Count, estimate: Tokenizer) -> Error:
    true = [real(text) for text in found]
    guessed = [estimate.count(text) for text in found]
    shares, window = [], [0, 0]
    for one, other in zip(true, guessed, strict=True):
        window = [window[0] + one, window[1] + other]
        if window[0] >= WINDOW:
            shares.append(window[1] / window[0] - 1)
            window = [0, 0]
    below = sum(share < 0 for share in shares) / max(1, len(shares))
    single = sum(other < one for one, other in zip(true, guessed, strict=True)) / len(true)
    return Error(len(shares), below, min(shares, default=0.0), sum(guessed) / sum(true) - 1, single)


def accuracy(directory: Path) -> str:
    kinds = dict(texts())
    calibration = entries()
    lines: list[tuple[object, ...]] = []
    details: list[tuple[object, ...]] = []
    for family, vocabulary in MEASURED.items():
        held = calibration[family]["held_out"]
        half = (f"{held['over']:+.1%}", f"{held['under']:.1%}", f"{held['worst']:+.1%}")
        if missing({vocabulary}, directory):
            lines.append((family, "not measured", "", "", "", *half))
            continue
        real, estimate = load(vocabulary, directory), tokenizer(f"estimate:{family}")
        errors = {kind: error(found, real, estimate) for kind, found in kinds.items()}
        whole = error([text for found in kinds.values() for text in found], real, estimate)
        worst = min(each.worst for each in errors.values())
        under = sum(each.under * each.windows for each in errors.values()) / sum(e.windows for e in errors.values())
        lines.append(
            (
                family,
                f"{whole.over:+.1%}",
                f"{under:.1%}",
                f"{worst:+.1%}",
                f"{whole.single_under:.1%}",
                *half,
            )
        )
        details.append((family, *(f"{errors[kind].over:+.1%}" for kind in kinds)))
    heads = ("family", "sum", "windows under", "lowest window", "single texts under")
    summary = table((*heads, "held out: sum", "windows under", "lowest window"), lines)
    return f"{summary}\n\nSum by kind of text:\n\n{table(('family', *kinds), details)}" if details else summary


def cold_and_cached(name: str) -> tuple[object, ...]:
    counter = tokenizer(name)
    counter.count("load")
    source = "".join(file.read_text() for file in sorted(STANDARD.glob("[a-d]*.py")))
    messages = [source[start : start + 10_240] for start in range(0, 60 * 10_240, 10_240)]
    meter = Meter(counter, rules_of("other"))
    cold, cached = [], []
    for text in messages:
        cold.append(seconds(partial(meter.text, text)))
        cached.append(min(seconds(partial(meter.text, text)) for _ in range(20)))
    first, rest = cold[0] * 1e3, f"{percentile(cold, 0.5):.2f} ms"
    return name, f"{first:.2f} ms", rest, f"{percentile(cold, 0.95):.2f} ms", f"{percentile(cached, 0.5) * 1e3:.2f} µs"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


_LOAD = """
import resource, time
from treering.adapters.tokenizers import tokenizer
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
import numpy, tiktoken
before, start = resident(), time.perf_counter()
tokenizer({name!r}).count("first")
print(time.perf_counter() - start, resident() - before)
"""


def loading(name: str) -> tuple[object, ...]:
    command = [sys.executable, "-c", _LOAD.format(name=name)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(5)]
    taken, room = sorted(float(run[0]) for run in runs)[2], sorted(float(run[1]) for run in runs)[2]
    return name, f"{taken * 1e3:.0f} ms", f"{room:.0f} MB"


def hard() -> list[tuple[object, ...]]:
    noise = base64.b64encode(random.Random(1).randbytes(750_000)).decode()
    inputs = {"one letter": "a" * 10**6, "spaces": " " * 10**6, "base64": noise, "line ends": "\n" * 10**6}
    names = ("o200k_base", "cl100k_base", "estimate:claude")
    return [
        (kind, *(f"{seconds(partial(tokenizer(name).count, text)) * 1e3:.0f} ms" for name in names))
        for kind, text in inputs.items()
    ]


def replay() -> str:
    """Each session's messages are added one by one, and after each the whole window is counted again."""
    events = DATA / "agent_sessions" / "events.jsonl.gz"
    if not events.exists():
        return "Replay: not measured, the sessions are not here."
    sessions: dict[str, list[Message]] = {}
    for row in rows(events):
        sessions.setdefault(row["session"], []).append(message_of(row))
    window = window_of("claude-sonnet-4-5")
    meter = Meter(tokenizer(window.tokenizer), rules_of(window.rules))
    requests, start = 0, time.perf_counter()
    for messages in islice(sessions.values(), 40):
        for end in range(10, len(messages) + 1, 10):
            sum(map(meter.message, messages[max(0, end - 200) : end]))
            requests += 1
    taken, asked = time.perf_counter() - start, meter.hits + meter.misses
    return (
        f"Replay of {min(40, len(sessions))} sessions, the last 200 messages counted at each of {requests:,} requests: "
        f"{asked:,} texts, {meter.hits / asked:.1%} from the cache, {taken / requests * 1e3:.2f} ms per request."
    )


def message_of(row: Mapping[str, str]) -> Message:
    if row["kind"] == "tool_use":
        call = CallPart.make(id=row["id"], name=row["tool"], arguments=row["input"])
        return Message.make(role="assistant", parts=(call,))
    if row["kind"] == "tool_result":
        text = TextPart.make(text=row["text"].replace("\x00", ""))
        return Message.make(role="tool", parts=(ResultPart.make(call_id=row["id"], parts=(text,)),))
    return Message.of("user" if row["kind"] == "user_text" else "assistant", row["text"].replace("\x00", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabularies", type=Path, default=PACKAGES)
    directory: Path = parser.parse_args().vocabularies
    names = ("o200k_base", "cl100k_base", "estimate:claude")
    heads = ("10 KB of Python", "first", "p50, goal 3 ms", "p95", "cached, goal 5 µs")
    speed = table(heads, [cold_and_cached(name) for name in names])
    loads = table(("first count of a process", "time", "memory"), [loading(name) for name in names])
    limits = table(("1 MB of", *names), hard())
    note = (
        "Estimates compared with real vocabularies, windows of 2,000 tokens; they were fitted to texts of these "
        "sources, among others. Held out: the same fit on half of its sources, measured on the other half."
    )
    body = "\n\n".join((speed, loads, limits, replay(), note, accuracy(directory)))
    write_section("tokens", "Token counts", body)


if __name__ == "__main__":
    main()
