"""Long recorded sessions under each strategy: does the window stay within its limit, and contain what is needed next?

A session's events become messages; after every few of them a request is built. At each request, of the files and
identifiers that the next messages mention and that were mentioned before, how many are in the window (markers and
their summaries included)? Consecutive sessions of one day form the longer histories: an agent that is never
restarted. Not a blind test: the fading of a unit and the end of a task were tuned on these same sessions.
"""

import argparse
import gzip
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import treering
from bench.data import DATA
from bench.results import table, write_section
from treering.adapters.tokenizers import tokenizer
from treering.conversation.identifiers import names_in
from treering.conversation.window_context import ConversationContext
from treering.core.messages import CallPart, Message, ResultPart, Role, TextPart
from treering.render.token_counts import Meter, rules_of

EVENTS = DATA / "agent_sessions" / "events.jsonl.gz"
LIMITS = (32_000, 64_000, 128_000)
WAYS: dict[str, dict[str, Any]] = {
    "rolling_window": {"strategy": "rolling_window"},
    "importance": {"strategy": "importance"},
    "hybrid": {"strategy": "hybrid"},
    "hybrid, 50 messages": {"strategy": "hybrid", "max_messages": 50},
}
CHUNK = 10
"""Messages between two requests."""
AHEAD = 30
"""Messages whose names are needed after a request."""


@dataclass
class Outcome:
    """What the requests of one strategy at one limit were like."""

    requests: int = 0
    pruned: int = 0
    over: int = 0
    orphans: int = 0
    kept: list[float] = field(default_factory=list)
    """Of each history: the share of what was needed that stood in the window, where something had left."""
    fullest: float = 0.0


def sessions() -> dict[str, list[Message]]:
    """Each recorded session as messages, in order."""
    events = defaultdict(list)
    with gzip.open(EVENTS, "rt") as lines:
        for line in lines:
            event = json.loads(line)
            events[event["session"]].append(event)
    ordered = sorted(events, key=lambda session: events[session][0]["ts"])
    return {session: [_message(each) for each in sorted(events[session], key=_place)] for session in ordered}


def _place(event: dict[str, Any]) -> int:
    return int(event["seq"])


def _message(event: dict[str, Any]) -> Message:
    kind, said = event["kind"], TextPart(text=(event.get("text") or "").replace("\0", ""))
    if kind == "tool_use":
        call = CallPart.make(id=event["id"], name=event["tool"], arguments=event["input"])
        return Message(role=Role.ASSISTANT, parts=(call,), at=event["ts"])
    if kind == "tool_result":
        result = ResultPart(call_id=event["id"], parts=(said,), is_error=bool(event.get("is_error")))
        return Message(role=Role.TOOL, parts=(result,), at=event["ts"])
    role = Role.USER if kind == "user_text" else Role.ASSISTANT
    return Message(role=role, parts=(said,), at=event["ts"])


def histories(recorded: dict[str, list[Message]]) -> list[list[Message]]:
    """The sessions, and the days made of several of them."""
    days = defaultdict(list)
    for session in recorded:
        days[session[:10]].append(session)
    joined = [[each for session in day for each in recorded[session]] for day in days.values() if len(day) > 1]
    return [*recorded.values(), *joined]


def replay(history: Sequence[Message], limit: int, way: dict[str, Any], outcome: Outcome) -> None:
    """One history, from its first message to its last."""
    names = [names_in(message.text) for message in history]
    shares: list[float] = []
    now, meter = [history[0].at], Meter(tokenizer("o200k_base"), rules_of("openai"))

    def clock() -> datetime:
        return now[0] or datetime.now(UTC)

    place = tempfile.TemporaryDirectory()
    with place as folder, treering.open(Path(folder) / "memory.db", project="bench", clock=clock) as memory:
        talk = memory.conversation("replay", model="gpt-4o", limit=limit, oversize="truncate", **way)
        for end in range(CHUNK, len(history) + CHUNK, CHUNK):
            talk.extend(history[end - CHUNK : end])
            now[0] = history[min(end, len(history)) - 1].at
            built = talk.build()
            outcome.requests += 1
            outcome.over += meter.priming + sum(map(meter.message, built.messages)) > 0.8 * limit
            outcome.orphans += _alone(built.to("chat").messages)
            outcome.fullest = max(outcome.fullest, built.tokens / built.max_tokens)
            if not built.markers:
                continue
            outcome.pruned += 1
            known = frozenset[str]().union(*names[:end])
            needed = frozenset[str]().union(*names[end : end + AHEAD]) & known
            if needed:
                shares.append(len(needed & _held(built)) / len(needed))
    if shares:
        outcome.kept.append(fmean(shares))


def _alone(messages: list[dict[str, Any]]) -> int:
    """Calls that the next messages do not answer, and results of no call right before them, as OpenAI would see it."""
    waiting, alone = set[str](), 0
    for message in messages:
        if message["role"] == "tool":
            alone += message["tool_call_id"] not in waiting
            waiting.discard(message["tool_call_id"])
        else:
            alone += len(waiting)
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
    return alone + len(waiting)


def _held(built: ConversationContext) -> frozenset[str]:
    return frozenset[str]().union(*(names_in(message.text) for message in built.messages))


def row(limit: int, name: str, every: int) -> tuple[object, ...]:
    """One way at one limit, on every n-th of the histories that are longer: what fits is sent whole by every way."""
    found = histories(sessions())
    long = [each for each in found if sum(len(message.text) for message in each) > 3 * limit][::every]
    outcome = Outcome()
    for history in long:
        replay(history, limit, WAYS[name], outcome)
    kept = f"{fmean(outcome.kept):.3f}" if outcome.kept else "–"
    pruned, full = f"{len(outcome.kept)} of {len(long)}", f"{100 * outcome.fullest:.0f} %"
    return f"{limit // 1000}K", name, pruned, f"{outcome.requests:,}", outcome.over, outcome.orphans, full, kept


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--every", type=int, default=1, help="only every n-th history, for a quick look")
    every = options.parse_args().every
    if not EVENTS.exists():
        raise SystemExit(f"{EVENTS} is not here: the recorded sessions belong to the workplace, not to the project")
    cases = [(limit, name, every) for limit in LIMITS for name in WAYS]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(row, *zip(*cases, strict=True)))
    headers = ("limit", "way", "histories pruned", "requests", "over", "orphans", "fullest", "needed again, kept")
    body = table(headers, found)
    if every == 1:
        write_section("replay", "Conversation replay", f"{__doc__}\n{body}")
    else:
        print(body)


if __name__ == "__main__":
    main()
