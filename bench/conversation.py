"""What a conversation of 5,000 messages costs: adding, deciding what leaves, building, counting, and its memory."""

import gc
import random
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import treering
from bench.results import percentile, table, write_section
from treering.conversation import pruning
from treering.conversation.api import Conversation
from treering.conversation.strategies import STRATEGIES
from treering.core.messages import CallPart, Message, ResultPart, Role, TextPart

SIZES = (100, 500, 1_000, 2_000, 5_000)
QUESTION = {"role": "user", "content": "What did handle_77 in src/module_12.py do?"}
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [f"{a}{b}" for a in ("re", "in", "con", "pro", "de", "ex") for b in ("port", "form", "tain", "vide", "scribe")]


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    at: int
    p50: float
    p95: float
    goal: float | None = None


def messages(count: int, seed: int = 7) -> list[Message]:
    """A coding session of messages of a kilobyte: requests, calls, results, answers."""
    chance = random.Random(seed)
    said: list[Message] = []
    while len(said) < count:
        number = len(said)
        at = START + timedelta(seconds=number)
        call = CallPart(id=f"call-{number}", name="Read", arguments={"path": f"src/module_{number % 400}.py"})
        result = ResultPart(call_id=call.id, parts=(TextPart(text=_text(chance, number)),))
        said += [
            Message(role=Role.USER, parts=(TextPart(text=_text(chance, number)),), at=at),
            Message(role=Role.ASSISTANT, parts=(TextPart(text=_text(chance, number)), call), at=at),
            Message(role=Role.TOOL, parts=(result,), at=at),
            Message(role=Role.ASSISTANT, parts=(TextPart(text=_text(chance, number)),), at=at),
        ]
    return said[:count]


def _text(chance: random.Random, number: int) -> str:
    words = [chance.choice(WORDS) for _ in range(115)]
    return f"handle_{number % 900} in src/module_{number % 400}.py: {' '.join(words)}"[:1_000]


def timed(what: Callable[[], object], times: int = 15) -> list[float]:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        what()
        taken.append(time.perf_counter() - start)
    return taken


def resident() -> float:
    """Megabytes this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1_048_576


def decision(talk: Conversation, strategy: str) -> Callable[[], object]:
    """Deciding anew what has to leave of everything that was said."""
    held = talk._stored

    def decide() -> object:
        return pruning.decide(
            held.transcript,
            frozenset(),
            frozenset(),
            START + timedelta(days=1),
            room=pruning.WindowCapacity(tokens=100_000, messages=None),
            limit=pruning.WindowCapacity(tokens=128_000, messages=None),
            marker=pruning.MarkerSizes(tokens=15, max_markers=400, total=6_000),
            protection=pruning.Protection(keep_recent=10),
            strategy=STRATEGIES[strategy],
            fading=1_000,
        )

    return decide


def measured(memory: treering.Memory, size: int) -> list[Row]:
    talk = memory.conversation(f"talk-{size}", model="gpt-4o")
    start = time.perf_counter()
    talk.extend(messages(size))
    stored = (time.perf_counter() - start) / size
    rows = [Row("extend, a message", size, stored * 1000, stored * 1000)]
    last = size == SIZES[-1]
    for strategy in STRATEGIES:
        rows.append(
            _row(f"decide what leaves, {strategy}", size, timed(decision(talk, strategy)), 20 if last else None)
        )
    first = timed(talk.build, 1)
    rows.append(Row("first build, which prunes where it must", size, first[0] * 1000, first[0] * 1000))
    rows.append(_row("build", size, timed(talk.build), 50 if last else None))
    rows.append(_row("stats", size, timed(talk.stats), 5 if last else None))
    rows.append(_row("explain", size, timed(talk.explain, 5)))
    rows.append(_row("add one", size, timed(lambda: talk.add("user", "and the next one?"))))
    talk.search("handle_77 in src/module_12.py")
    rows.append(_row("build, with recall", size, timed(lambda: talk.build(QUESTION, recall=True), 5)))
    again = memory.conversation(f"talk-{size}")
    rows.append(_row("open again", size, timed(again.stats, 1)))
    return rows


def _row(what: str, size: int, taken: list[float], goal: float | None = None) -> Row:
    return Row(what, size, percentile(taken, 0.5), percentile(taken, 0.95), goal)


def memory_stored() -> tuple[float, float, float]:
    """Megabytes more: a conversation of one message above the import, then 5,000 and 10,000 messages above that."""
    imported = resident()
    with tempfile.TemporaryDirectory() as folder, treering.open(Path(folder) / "memory.db", project="bench") as memory:
        first = memory.conversation("warm", model="gpt-4o")
        first.add("user", "hello")
        first.build()
        gc.collect()
        before = resident()
        talk = memory.conversation("long", model="gpt-4o")
        held: list[float] = []
        for half in range(2):
            said = messages(5_000, seed=half)
            for start in range(0, len(said), 50):
                batch = [_renamed(each, half) for each in said[start : start + 50]]
                talk.extend(batch)
                talk.build()
            del said, batch
            gc.collect()
            held.append(resident() - before)
        return before - imported, held[0], held[1]


def _renamed(message: Message, half: int) -> Message:
    """The same session again is another one: its calls have other ids."""
    parts = tuple(
        part.replace(id=f"{half}-{part.id}")
        if isinstance(part, CallPart)
        else part.replace(call_id=f"{half}-{part.call_id}")
        if isinstance(part, ResultPart)
        else part
        for part in message.parts
    )
    return message.replace(parts=parts)


def main() -> None:
    one, five, ten = memory_stored()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, treering.open(Path(folder) / "memory.db", project="bench") as memory:
        for size in SIZES:
            rows += measured(memory, size)
    body = table(
        ("what", "messages", "p50, ms", "p95, ms", "goal, ms"),
        [(row.what, f"{row.at:,}", f"{row.p50:.2f}", f"{row.p95:.2f}", row.goal or "–") for row in rows],
    )
    held = (
        f"Resident memory: opening a memory and counting a message takes {one:.0f} MB above the import (vocabulary of "
        f"o200k_base, SQLAlchemy, the database); 5,000 messages of 1 KB take {five:.1f} MB more (goal 40), "
        f"10,000 {ten:.1f} MB. Only messages in the window are kept with their text."
    )
    write_section("conversation", "Conversation", f"{body}\n\n{held}")


if __name__ == "__main__":
    main()
