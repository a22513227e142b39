"""References in TypeScript, Go and Rust against what compilers say of the same code.

The repositories are those of the shared set, at the commits of its ground truth. A Go module, or a folder with a
`package.json`, can be given instead: then go/types or the TypeScript compiler is asked.
"""

import argparse
import gzip
import json
import random
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from platformdirs import user_cache_path

from bench.codegraph_found import Found, indexed
from bench.codegraph_packages import TYPESCRIPT, typescript
from bench.codegraph_scoring import Pair, file_of, folded
from bench.data import DATA
from bench.results import table, write_section
from treering.code.facts import MODULE, Edge
from treering.code.languages.references import REFERENCE_KINDS
from treering.core.graph import EdgeKind

SHARED = DATA / "codegraph" / "truth"
HERE = Path(__file__).parent
CALLABLE = ("function", "method")
VALUES = ("variable", "constant")
"""Kinds of targets that are left out: only some of them are definitions of the graph."""
HEADERS = (
    *("code", "oracle", "references", "found before", "recall before", "found", "recall", "edges added"),
    *("right", "precision"),
)


class Uses(NamedTuple):
    """What an oracle says: definitions by id, uses that are not calls, and every use."""

    oracle: str
    files: frozenset[str]
    kinds: dict[str, str]
    references: frozenset[Pair]
    every: frozenset[Pair]


def read_shared_uses(path: Path) -> Uses:
    with gzip.open(path) as file:
        told = json.load(file)
    kinds = {each["id"]: each["kind"] for each in told["defs"]}
    every = {(one, other) for one, other in told["ref_edges"]} | {(one, other) for one, other in told["call_edges"]}
    if "sites" in told:
        written = {(site[3], site[4]) for site in told["sites"] if site[5] not in ("call", "import")}
        every |= {(site[3], site[4]) for site in told["sites"]}
    else:
        calls = {(one, other) for one, other in told["call_edges"]}
        written = {(one, other) for one, other in told["ref_edges"]} - calls
    tools = ", ".join(f"{name.replace('_', '-')} {version}" for name, version in told["tools"].items())
    return _uses(tools, told["files"], kinds, written, every)


def ask(root: Path, cache: Path) -> Uses:
    """Ask go/types or the TypeScript compiler about a folder."""
    if (root / "go.mod").exists():
        oracle, command = "go/types", ["go", "run", str(HERE / "codegraph_go.go"), str(root)]
    else:
        compiler = str(typescript(cache))
        oracle, command = (
            f"TypeScript {TYPESCRIPT}",
            ["node", str(HERE / "codegraph_typescript.mjs"), compiler, str(root)],
        )
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    written = {(one, other) for one, other, _ in told["references"]}
    every = written | {(one, other) for one, other in told["calls"]}
    return _uses(oracle, told["files"], told["kinds"], written, every)


def _uses(
    oracle: str, files: Iterable[str], kinds: dict[str, str], references: Iterable[Pair], every: Iterable[Pair]
) -> Uses:
    known = {id: kind for id, kind in kinds.items() if kind not in VALUES}
    return Uses(oracle, frozenset(files), known, _normal(references, known), _normal(every, known))


def _normal(pairs: Iterable[Pair], kinds: dict[str, str]) -> frozenset[Pair]:
    """Uses by functions, or by the code of a file outside them; never of a definition by what is inside it."""
    normal: set[Pair] = set()
    for origin, target in pairs:
        user, used = folded(origin, kinds), folded(target, kinds, constructor=True)
        if kinds.get(user) not in CALLABLE:
            user = f"{file_of(user)}::{MODULE}"
        if used in kinds and user != used and not user.startswith(f"{used}."):
            normal.add((user, used))
    return frozenset(normal)


class ReferenceScore(NamedTuple):
    expected: int
    before: int
    found: int
    added: int
    right: int
    false: tuple[Pair, ...]
    missing: tuple[Pair, ...]


def score(uses: Uses, found: Found) -> ReferenceScore:
    """What the edges of references add to the calls, bases and dependencies that the graph held before."""
    edges = [edge for edge in found.edges if edge.kind not in (EdgeKind.IMPORTS, EdgeKind.EXPORTS)]
    edges = [edge for edge in edges if {file_of(edge.origin), file_of(edge.target)} <= uses.files]
    other = _normal(_pairs(edge for edge in edges if edge.kind not in REFERENCE_KINDS), uses.kinds)
    added = _normal(_pairs(edge for edge in edges if edge.kind in REFERENCE_KINDS), uses.kinds) - other
    all_found = other | added
    return ReferenceScore(
        len(uses.references),
        len(uses.references & other),
        len(uses.references & all_found),
        len(added),
        len(added & uses.every),
        tuple(sorted(added - uses.every)),
        tuple(sorted(uses.references - all_found)),
    )


def _pairs(edges: Iterable[Edge]) -> Iterator[Pair]:
    return ((_with_module(edge.origin), _with_module(edge.target)) for edge in edges)


def _with_module(id: str) -> str:
    return id if "::" in id else f"{id}::{MODULE}"


def row(name: str, uses: Uses, scored: ReferenceScore) -> tuple[object, ...]:
    measured = (
        *(name, uses.oracle, f"{scored.expected:,}", f"{scored.before:,}", f"{scored.before / scored.expected:.3f}"),
        *(f"{scored.found:,}", f"{scored.found / scored.expected:.3f}", f"{scored.added:,}", f"{scored.right:,}"),
        f"{scored.right / scored.added:.3f}",
    )
    print(*measured, flush=True)
    return measured


def show(scored: ReferenceScore, number: int) -> None:
    """Print random false and missing edges, to be read by hand."""
    chosen = random.Random(24)
    for title, pairs in (("false", scored.false), ("missing", scored.missing)):
        for origin, target in chosen.sample(pairs, min(number, len(pairs))):
            print(title, origin, "→", target)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    cache = user_cache_path("treering")
    options.add_argument(
        "folders", nargs="*", type=Path, help="folders to ask an oracle about, instead of the shared set"
    )
    options.add_argument("--repositories", type=Path, default=cache / "bench-repositories", help="of the shared set")
    options.add_argument("--cache", type=Path, default=cache / "bench-codegraph")
    options.add_argument("--show", type=int, default=0, help="number of false and missing edges to print")
    options.add_argument("--only", help="name of one repository of the shared set")
    chosen = options.parse_args()
    rows: list[tuple[object, ...]] = []
    for folder in chosen.folders:
        uses = ask(folder, chosen.cache.resolve())
        scored = score(uses, indexed(folder))
        row(folder.name, uses, scored)
        show(scored, chosen.show)
    for path in sorted(SHARED.glob("*.json.gz")) if not chosen.folders else ():
        name = path.name.removesuffix(".json.gz")
        root = chosen.repositories / name
        if chosen.only in (None, name) and root.is_dir():
            uses = read_shared_uses(path)
            scored = score(uses, indexed(root))
            rows.append(row(name, uses, scored))
            show(scored, chosen.show)
    if rows and chosen.only is None:
        write_section("references-compiled", "References in TypeScript, Go and Rust", body(rows))


def body(rows: list[tuple[object, ...]]) -> str:
    return "\n\n".join(
        (
            "Uses of functions, methods, classes, interfaces and types that are not calls: in annotations, as values, "
            "in tables, in `throw` and `catch`. A use counts once for each function, or for the code of a file outside "
            "functions; imports do not count, and neither do variables, fields and constants, of which only some are "
            "definitions. *Before* are the uses that calls, bases and other dependencies already connect; *right* are "
            "added edges between which the oracle sees any use. `--show 20` prints false and missing edges; "
            "`python -m bench.codegraph_compiled FOLDER` asks the TypeScript compiler or go/types about other code.",
            table(HEADERS, rows),
        )
    )


if __name__ == "__main__":
    main()
