"""A made-up conversation of several weeks with records beside it, and what is asked about it."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from treering.memory import Memory
from treering.ports.clock import Clock

GOLDEN = Path(__file__).with_name("results.txt")
_NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
_START = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)
_LIMIT = 10

_PEOPLE = ("Ana", "Bruno", "Chen", "Dilek", "Emil", "Farah")
_TOOLS = ("Redis", "Kafka", "Postgres", "Terraform", "Grafana", "Celery", "Vite", "Poetry")
_PLACES = ("Lisbon", "Kraków", "Bergen", "Lyon", "Torino", "Graz")
_SAID = (
    "I moved to {place} last month and the flat is tiny.",
    "We use {tool} for the import queue, version {number}.",
    "Can you check whether {tool} is still running?",
    "{person} decided to replace {tool} because it loses messages.",
    "The deadline of the {place} project is postponed to {number} May.",
    "My sister {person} is allergic to nuts, please remember that.",
    "J'ai déménagé à {place} avec {person} au mois de mars.",
    "Wir nutzen jetzt {tool} statt der alten Lösung in {place}.",
    "{person} führt das Team in {place} seit {number} Wochen.",
    "If we ever switch away from {tool}, the dashboards break.",
    "No, the port of {tool} is {number}00, not 8080.",
    "Yesterday {person} fixed src/{tool}/client.py after {number} hours.",
)
_KNOWN = (
    ("gotcha", "{tool} refuses connections until the migrations of {place} have run"),
    ("decision", "Keep {tool} in {place} because {person} maintains it"),
    ("preference", "{person} wants short answers about {tool}"),
    ("fact", "The {place} office has {number} desks"),
)
QUERIES = (
    "where do I live now",
    "which version of Kafka do we use",
    "who is allergic to nuts",
    "when is the deadline of the Bergen project",
    "why does Postgres refuse connections",
    "what did Chen decide about Redis",
    "Où est-ce que j'habite maintenant ?",
    "wer leitet das Team in Graz",
    "what did we use before Terraform",
    "port of Grafana",
    "src/Celery/client.py",
    "what happened in April",
    "how many desks are there in Lyon",
    "preferences of Farah",
    "dashboards break",
    "is Vite still running",
    "messages lost in the queue",
    "Poetry statt der alten Lösung",
    "what did Emil fix last week",
    "decision about Graz",
)


def ticking() -> Clock:
    """A clock that never shows the same time twice: what is as new is ordered by random ids."""
    ticks = count()
    return lambda: _NOW + timedelta(milliseconds=next(ticks))


def tell(memory: Memory) -> None:
    """Store the conversation and the records; the same on every engine and in every run."""
    chance = random.Random(20)
    for number in range(240):
        said = chance.choice(_SAID).format(**_chosen(chance))
        role, session = ("user", "assistant")[number % 3 == 2], f"week-{number // 40}"
        at = _START + timedelta(hours=5 * number)
        memory.turn(session=session, role=role, text=said, id=f"turn-{number}", at=at)
    for number in range(60):
        type, known = chance.choice(_KNOWN)
        memory.remember(f"{known.format(**_chosen(chance))} ({number})", type=type, id=f"record-{number}")
    memory.settle(timeout=120.0)


def results(memory: Memory) -> str:
    """For each query a line with the first results; learned records, whose ids differ, by their text."""
    return "".join(f"{query}: {', '.join(_labels(memory, query))}\n" for query in QUERIES)


def _labels(memory: Memory, query: str) -> Sequence[str]:
    hits = memory.search(query, limit=_LIMIT)
    return [hit.id if hit.id.startswith(("turn-", "record-")) else repr(hit.text) for hit in hits]


def _chosen(chance: random.Random) -> dict[str, object]:
    return {
        "person": chance.choice(_PEOPLE),
        "tool": chance.choice(_TOOLS),
        "place": chance.choice(_PLACES),
        "number": chance.randint(2, 30),
    }
