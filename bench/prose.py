"""Real English prose that every Python brings along: the sentences of its own documentation strings."""

import ast
import random
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_SENTENCE = re.compile(r"[A-Z][^.!?\n]{30,200}[.!?]")


@cache
def sentences() -> tuple[str, ...]:
    """Distinct sentences, in a fixed order."""
    found: dict[str, None] = {}
    library = Path(sysconfig.get_path("stdlib"))
    for file in sorted(library.rglob("*.py")):
        if "site-packages" in file.parts or "test" in file.parts:
            continue
        try:
            tree = ast.parse(file.read_text("utf-8"))
        except (SyntaxError, ValueError, OSError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = " ".join((ast.get_docstring(node) or "").split())
                found.update(dict.fromkeys(_SENTENCE.findall(text)))
    return tuple(found)


def records(count: int, seed: int = 7) -> Iterator[str]:
    """Texts of one or two sentences; pairs are drawn at random, so that a million of them differ."""
    chosen, known = random.Random(seed), sentences()
    for _ in range(count):
        yield " ".join(chosen.choices(known, k=chosen.choice((1, 2))))


def questions(count: int, seed: int = 11) -> list[str]:
    """Queries as people type them: some words of a sentence, in their order."""
    chosen, known = random.Random(seed), sentences()
    asked = []
    for _ in range(count):
        words = chosen.choice(known).rstrip(".!?").split()
        kept = sorted(chosen.sample(range(len(words)), min(len(words), chosen.randint(3, 8))))
        asked.append(" ".join(words[place] for place in kept))
    return asked
