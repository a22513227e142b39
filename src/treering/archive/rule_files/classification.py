"""The knowledge type of a statement, from its form, its headings and its words. No model is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treering.archive.rule_files.statements import RuleStatement

SHELLS = frozenset(
    {"sh", "bash", "zsh", "fish", "shell", "console", "shell-session", "shellsession", "powershell", "cmd"}
)
_PROGRAMS = frozenset(
    [
        "alembic",
        "ansible",
        "aws",
        "az",
        "bash",
        "bazel",
        "black",
        "brew",
        "bun",
        "bundle",
        "bunx",
        "cargo",
        "cmake",
        "composer",
        "conda",
        "curl",
        "deno",
        "django-admin",
        "docker",
        "docker-compose",
        "dotnet",
        "eslint",
        "flake8",
        "flutter",
        "gcloud",
        "gh",
        "git",
        "go",
        "gradle",
        "gradlew",
        "helm",
        "hatch",
        "invoke",
        "jest",
        "just",
        "kubectl",
        "ls",
        "make",
        "mix",
        "mkdir",
        "mvn",
        "mvnw",
        "mypy",
        "ninja",
        "node",
        "npm",
        "npx",
        "nx",
        "pdm",
        "php",
        "pip",
        "pip3",
        "pipenv",
        "pipx",
        "playwright",
        "pnpm",
        "poetry",
        "pre-commit",
        "prettier",
        "psql",
        "pulumi",
        "pytest",
        "python",
        "python3",
        "rails",
        "rake",
        "rspec",
        "ruff",
        "rustup",
        "sbt",
        "sh",
        "swift",
        "task",
        "tox",
        "treering",
        "ts-node",
        "tsc",
        "turbo",
        "uv",
        "uvx",
        "vite",
        "vitest",
        "yarn",
    ]
)
_CODE_SPAN = re.compile(r"`+([^`]+)`+")
_LABELLED = re.compile(r"^(?:[*_]*[\w /+.-]{1,60}[*_]*\s*(?::|–|—|-|→)\s*[*_]*\s*)?`")

_YOU = r"(?:you|agents?|claude|codex|gemini|copilot|cursor|developers?|contributors?|we|everyone)"
_EMPHASIS = r"^(?:[*_>#\s]|important|note|rule)*[:*_\s]*"
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "never",
        re.compile(rf"{_EMPHASIS}(?:{_YOU} (?:must|should|may) )?(?:never|do not|don['’]t|must not|not)\b", re.I),
    ),
    ("never", re.compile(rf"{_EMPHASIS}{_YOU} (?:must not|mustn['’]t|should not|shouldn['’]t|may not|cannot)\b", re.I)),
    ("avoid", re.compile(rf"{_EMPHASIS}(?:please )?avoid\b", re.I)),
    ("must", re.compile(rf"{_EMPHASIS}(?:always|(?:{_YOU} )?(?:must|have to|need to)|make sure|ensure|only)\b", re.I)),
    (
        "prefer",
        re.compile(rf"{_EMPHASIS}(?:please )?(?:prefer|favou?r|use|keep|write|follow|run|add|put|name)\b", re.I),
    ),
    ("prefer", re.compile(rf"{_EMPHASIS}{_YOU} (?:should|prefer)\b", re.I)),
    ("never", re.compile(r"\b(?:NEVER|DO NOT|MUST NOT)\b")),
    ("must", re.compile(r"\b(?:ALWAYS|MUST)\b")),
)


@dataclass(frozen=True, slots=True)
class _TypeWords:
    """Words at the start of a statement, in a heading above it, and anywhere in it that decide about a type."""

    type: str
    label: re.Pattern[str]
    heading: re.Pattern[str]
    anywhere: re.Pattern[str] | None = None


_TYPES = (
    _TypeWords(
        "gotcha",
        re.compile(
            rf"{_EMPHASIS}(?:gotcha|caution|careful|beware|warning|watch out|caveat|pitfall|known issue)\b", re.I
        ),
        re.compile(
            r"\b(?:gotchas?|pitfalls?|caveats?|known (?:issues|problems|bugs)|troubleshooting|warnings?)\b", re.I
        ),
        re.compile(
            r"\b(?:beware|watch out|be careful|fails silently|breaks (?:if|when)|fails (?:if|when)|hangs)\b", re.I
        ),
    ),
    _TypeWords(
        "decision",
        re.compile(rf"{_EMPHASIS}(?:decision|decided|adr)\b|^we (?:decided|chose|picked|opted)\b", re.I),
        re.compile(r"\b(?:decisions?|adrs?)\b", re.I),
        re.compile(r"\bwe (?:have )?(?:decided|chose|chosen|opted for)\b|\binstead of\b.*\bbecause\b", re.I),
    ),
    _TypeWords(
        "requirement",
        re.compile(rf"{_EMPHASIS}requirement\b", re.I),
        re.compile(r"\b(?:requirements?|acceptance criteria|constraints?)\b", re.I),
        re.compile(
            r"^(?!(?:you|we|agents?|claude)\b)[A-Z`*][^.]{0,80}?\b(?:must|shall|has to|have to|is required to)\b"
        ),
    ),
)
_COMMAND_HEADING = re.compile(
    r"\b(?:commands?|scripts?|build(?:ing)?|tests?|testing|run(?:ning)?|set ?up|install)\b", re.I
)


def is_command(line: str) -> bool:
    """Whether a line begins with a program that is known, or with a path to one."""
    first = line.split(maxsplit=1)[0] if line.split() else ""
    return first in _PROGRAMS or first.startswith(("./", "../")) or bool(re.match(r"[A-Z_]+=\S", first))


def is_rule(text: str) -> bool:
    """Whether a statement tells the reader what to do always or never."""
    return _strength(text) in ("never", "avoid", "must")


def type_of(statement: RuleStatement) -> tuple[str, Mapping[str, Any] | None]:
    """The knowledge type of a statement, and the fields of its payload."""
    if statement.steps or statement.form == "commands":
        return "workflow_recipe", _recipe(statement)
    if statement.form == "code":
        return "pattern", None
    if command := _command(statement):
        return "workflow_recipe", {"task_pattern": statement.text, "steps": ({"description": command},)}
    heading, strength = statement.headings[-1] if statement.headings else "", _strength(statement.text)
    if strength and not _named_type(statement.text, heading):
        return "preference", {"strength": strength}
    found = (each.type for each in _TYPES if each.anywhere is not None and each.anywhere.search(statement.text))
    return _named_type(statement.text, heading) or next(found, "fact"), None


def _named_type(text: str, heading: str) -> str | None:
    """The type that the first word of a statement or the heading above it names."""
    labels = (each.type for each in _TYPES if each.label.search(text))
    return next(labels, None) or next((each.type for each in _TYPES if each.heading.search(heading)), None)


def _recipe(statement: RuleStatement) -> Mapping[str, Any]:
    title = statement.headings[-1] if statement.headings else None
    return {"task_pattern": title, "steps": tuple({"description": step} for step in statement.steps)}


def _command(statement: RuleStatement) -> str | None:
    """The command of an item such as “Build: `make`”; None for any other statement."""
    found = _CODE_SPAN.search(statement.text)
    if found is None or not _LABELLED.match(statement.text):
        return None
    about_commands = any(_COMMAND_HEADING.search(each) for each in statement.headings[-2:])
    return found[1] if is_command(found[1]) and (about_commands or " " in found[1].strip()) else None


def _strength(text: str) -> str | None:
    return next((strength for strength, pattern in _RULES if pattern.search(text)), None)
