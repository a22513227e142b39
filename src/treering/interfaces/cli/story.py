"""What the demo plays: a recorded conversation, what was learned from it, and what changed later. Only data."""

from dataclasses import dataclass

PROJECT = "web-shop"
SESSION = "deploy-fix"
SETTING = "A made-up project, played on a temporary file:"

# Looks like a credential, opens nothing.
LEAKED = "ghp_R4nD0mL00k1ngButF4ke" + "Tok3nForD3mo0042"


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn of the conversation."""

    speaker: str
    role: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """Something worth knowing next time."""

    type: str
    text: str
    files: tuple[str, ...]
    tags: tuple[str, ...]


CONVERSATION = (
    Spoken("maya", "user", "The nightly deploy is red again, can you look?", "2026-05-08 13:56"),
    Spoken("pytest", "tool", "FAILED test_orders: relation orders_v2 does not exist", "2026-05-08 13:57"),
    Spoken("agent", "assistant", "The workers start before the migrations ran.", "2026-05-08 13:58"),
    Spoken("maya", "user", f"Fix it. To push, use GITHUB_TOKEN={LEAKED}", "2026-05-08 13:59"),
)

LESSONS = (
    Lesson("decision", "The shop runs on PostgreSQL 16, not MySQL", ("shop/db.py",), ("database",)),
    Lesson("gotcha", "Run the migrations before the workers start, or every job fails", ("deploy.yml",), ("deploy",)),
)

QUESTION = "why is the deploy broken, which database?"
CORRECTED = 0
"""Which lesson turns out to be old."""
CORRECTION = "The shop runs on PostgreSQL 18 since the May upgrade"
REASON = "outdated"
FOLLOW_UP = "postgresql"
# What a stranger can type next; the command is written as it can be called.
NEXT = (
    ("keep something", '{treering} remember "Deploy from main" --type decision'),
    ("find it again", '{treering} search "deploy" --explain'),
    ("from Python", 'import treering; treering.open().recall("deploy")'),
    ("more", "README.md, docs/quickstart.md, {treering} --help"),
)
