"""Data of the demo: a recorded conversation, what was learned from it, and a later correction."""

from dataclasses import dataclass

PROJECT = "web-shop"
SESSION = "deploy-fix"
SETTING = "An invented project in a temporary file:"

# Looks like a credential, but is invalid.
LEAKED = "ghp_R4nD0mL00k1ngButF4ke" + "Tok3nForD3mo0042"


@dataclass(frozen=True, slots=True)
class DemoTurn:
    """One turn of the conversation."""

    speaker: str
    role: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class DemoFact:
    """A record to remember."""

    type: str
    text: str
    files: tuple[str, ...]
    tags: tuple[str, ...]


CONVERSATION = (
    DemoTurn("maya", "user", "The nightly deploy is red again, can you look?", "2026-05-08 13:56"),
    DemoTurn("pytest", "tool", "FAILED test_orders: relation orders_v2 does not exist", "2026-05-08 13:57"),
    DemoTurn("agent", "assistant", "The workers start before the migrations ran.", "2026-05-08 13:58"),
    DemoTurn("maya", "user", f"Fix it. To push, use GITHUB_TOKEN={LEAKED}", "2026-05-08 13:59"),
)

FACTS = (
    DemoFact("decision", "The shop runs on PostgreSQL 16, not MySQL", ("shop/db.py",), ("database",)),
    DemoFact("gotcha", "Run the migrations before the workers start, or every job fails", ("deploy.yml",), ("deploy",)),
)

NEXT_NIGHT = "next-night"
SMALL_WINDOW = 220
"""Tokens of a window that does not hold the whole next conversation."""
LONG_TALK = (
    ("system", "You look after the web shop. Never touch the production database."),
    ("user", "Always run the migrations first. Now look at deploy.yml, please."),
    ("assistant", "deploy.yml starts shop/worker.py and then migrate.sh; the order is wrong."),
    ("user", "Show me what shop/worker.py does when a table is missing."),
    ("assistant", "It raises MissingRelation in load_orders and retries three times, then the job is dead."),
    ("user", "And what does migrate.sh do when it fails half-way?"),
    ("assistant", "It stops at the first error; the next run goes on after the last migration that was done."),
    ("user", "Good. Change the order in deploy.yml."),
    ("assistant", "Done: migrate.sh runs first, the workers wait for it."),
    ("user", "Does the nightly run pass now?"),
)

QUESTION = "why is the deploy broken, which database?"
CORRECTED = 0
"""Index of the fact that is corrected."""
CORRECTION = "The shop runs on PostgreSQL 18 since the May upgrade"
REASON = "outdated"
FOLLOW_UP = "postgresql"
# Commands to try next.
NEXT = (
    ("store something", '{treering} remember "Deploy from main" --type decision'),
    ("find it again", '{treering} search "deploy" --explain'),
    ("from Python", 'import treering; treering.open().search("deploy")'),
    ("more", "README.md, docs/quickstart.md"),
)
