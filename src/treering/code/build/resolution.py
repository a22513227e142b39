"""Looks up what one file uses, in the world that all files make."""

import msgspec

from treering.code.build.stored_symbols import Questions, StoredWorld
from treering.code.facts import Facts, format_failure
from treering.code.encoding import hash_of, pack_edges, pack_hashes, pack_unresolved, file_weights
from treering.code.language_choice import load_language


class Resolution(msgspec.Struct, frozen=True, array_like=True):
    """What a file uses, ready to be stored."""

    path: str
    edges: bytes
    unresolved: bytes
    asked: bytes
    used: int
    unknown: int
    ties: dict[str, float]
    problem: str = ""
    """Why nothing of it could be looked up; empty where it could."""


def unresolved_file(path: str, problem: str) -> Resolution:
    """A file whose uses nobody could look up."""
    return Resolution(path, b"", b"", b"", 0, 0, {}, problem)


def resolve_file(language: str, facts: Facts, world: StoredWorld) -> Resolution:
    questions = Questions(world)
    try:
        return _resolved(language, facts, questions)
    except Exception as exc:  # noqa: BLE001 - a language is a door: one file that it cannot resolve is told of
        told = format_failure("its uses cannot be resolved", exc)
        return Resolution(facts.path, b"", b"", _asked(questions), 0, 0, {}, told)


def _resolved(language: str, facts: Facts, questions: Questions) -> Resolution:
    found = load_language(language).resolve(facts, questions)
    return Resolution(
        facts.path,
        pack_edges(found.edges),
        pack_unresolved(found.unresolved),
        _asked(questions),
        len(found.edges),
        len(found.unresolved),
        dict(file_weights(facts.path, found.edges)),
    )


def _asked(questions: Questions) -> bytes:
    return pack_hashes(sorted(map(hash_of, questions.keys)))
