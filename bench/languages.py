"""Definitions of languages that are read by a query, beside those that universal-ctags finds.

    python -m bench.languages FOLDER...

Each folder is a checkout. A definition agrees with one of ctags if both have the same file, name and line. Kinds that
only one of the two reads (fields, constants, enumerators) are left out on both sides. Speed is processor time of
reading: parsing, the query, and the chunks. `--differences N` prints N of the differences to read by hand.
"""

import argparse
import json
import random
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import NamedTuple

from treering.code.encoding import unpack_definitions
from treering.code.facts import DefinitionKind
from treering.code.files.discovery import discover
from treering.code.files.source_file import read_file
from treering.code.language_choice import has_definitions_only
from treering.code.limits import CHUNK_LIMITS
from treering.core.settings import CodeSettings

ORACLES = {
    "bash": "Sh", "c": "C", "cpp": "C++", "csharp": "C#", "css": "CSS", "elixir": "Elixir", "erlang": "Erlang",
    "haskell": "Haskell", "java": "Java", "julia": "Julia", "kotlin": "Kotlin", "lua": "Lua", "objc": "ObjectiveC",
    "ocaml": "OCaml", "perl": "Perl", "php": "PHP", "powershell": "PowerShell", "proto": "Protobuf", "r": "R",
    "ruby": "Ruby", "scss": "SCSS", "sql": "SQL",
}  # fmt: skip
"""Names of the languages in ctags; it does not read the others."""
_COMPARED = frozenset(DefinitionKind) - {DefinitionKind.CONSTANT, DefinitionKind.MODULE}
_KINDS = frozenset(
    ("class", "interface", "function", "method", "enum", "struct", "union", "typedef", "trait", "object", "record")
) | frozenset(
    ("singletonMethod", "guard", "delegate", "protocol", "implementation", "subroutine", "table", "view")
) | frozenset(
    ("procedure", "trigger", "message", "service", "rpc", "annotation", "type", "generator", "mixin")
) | frozenset(
    ("typealias", "operator", "constructor", "data", "instance", "abstract")
)  # fmt: skip

Place = tuple[str, str, int]
"""File, name and line of a definition."""


class LanguageRun(NamedTuple):
    files: int
    seconds: float
    ours: set[Place]
    others: set[Place] | None
    """Definitions of ctags; None if it does not read the language."""


def run(root: Path) -> dict[str, LanguageRun]:
    """Read every file of a definitions-only language below a folder."""
    settings = CodeSettings.defaults()
    by_language: defaultdict[str, list[str]] = defaultdict(list)
    for file in discover(root, settings).found:
        if has_definitions_only(file.language):
            by_language[file.language].append(file.path)
    return {name: _run(root, name, paths, settings) for name, paths in sorted(by_language.items())}


def _run(root: Path, language: str, paths: Sequence[str], settings: CodeSettings) -> LanguageRun:
    read_file(root, paths[0], language, settings.largest_file, CHUNK_LIMITS)
    began, read, ours = process_time(), 0, set[Place]()
    for path in paths:
        file = read_file(root, path, language, settings.largest_file, CHUNK_LIMITS)
        read += not file.skipped
        for each in unpack_definitions(file.definitions):
            if each.kind in _COMPARED:
                ours.add((path, each.qualname.rpartition(".")[2], each.line))
    seconds = process_time() - began
    oracle = ORACLES.get(language)
    return LanguageRun(read, seconds, ours, set(_ctags(root, oracle, paths)) if oracle else None)


def _ctags(root: Path, language: str, paths: Sequence[str]) -> Iterator[Place]:
    command = ["ctags", "--output-format=json", "--fields=+nK", f"--language-force={language}"]
    kinds = [] if language not in ("C", "C++", "ObjectiveC") else ["--kinds-C++=-p+d", "--kinds-C=-p+d"]
    done = subprocess.run(
        [*command, *kinds, "-f", "-", "-L", "-"], cwd=root, input="\n".join(paths), capture_output=True, text=True,
        errors="replace", check=True,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("kind") in _KINDS and not tag["name"].startswith(("__anon", "anonymous")):
            yield tag["path"], tag["name"].rpartition(".")[2].rpartition("::")[2], tag["line"]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", nargs="+", type=Path)
    options.add_argument("--differences", type=int, default=0)
    options.add_argument("--language")
    asked = options.parse_args()
    print("| repository | language | files | files/s | definitions | ctags | recall | precision |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for root in asked.folders:
        for language, found in run(root.resolve()).items():
            if asked.language not in (None, language):
                continue
            others, ours = found.others, found.ours
            both = ours & (others or set())
            scores = ("–", "–", "–")
            if others is not None:
                scores = (f"{len(others):,}", _share(len(both), len(others)), _share(len(both), len(ours)))
            rate = f"{found.files / found.seconds:,.0f}"
            print(f"| {root.name} | {language} | {found.files} | {rate} | {len(ours):,} | {' | '.join(scores)} |")
            for title, places in (("missing", (others or set()) - ours), ("only here", ours - (others or ours))):
                for place in random.Random(1).sample(sorted(places), min(asked.differences, len(places))):
                    print("   ", title, *place)


if __name__ == "__main__":
    main()
