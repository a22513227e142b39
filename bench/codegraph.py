"""The code graph against what compilers and language servers say of the same code, beside a naive matcher.

Two sets: repositories that a shared folder holds the truth of, where it and they are there, and published source
that anybody can fetch again, for which the truth is made here.
"""

import argparse
import hashlib
import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from platformdirs import user_cache_path

from bench import codegraph_python
from bench.codegraph_found import Found, indexed, naive_calls
from bench.codegraph_packages import (
    PACKAGES,
    PYRIGHT,
    TYPESCRIPT,
    Package,
    Unavailable,
    fetched,
    pyright,
    typescript,
)
from bench.codegraph_scoring import Truth, read_shared, read_truth, score_calls, score_imports
from bench.data import DATA
from bench.results import table, write_section

SHARED = DATA / "codegraph" / "truth"
COMPILER = Path(__file__).with_name("codegraph_typescript.mjs")
HEADERS = (
    *("code", "language", "imports F1", "calls", "call F1", "precision", "recall", "judged precision"),
    *("cross-file F1", "naive F1", "naive judged precision", "naive cross-file F1"),
)
IMPORT_HEADERS = (
    *("code", "files", "imports by parser", "by grimp", "by Treering", "Treering and parser differ in"),
    *("Treering and grimp differ in", "parser and grimp differ in"),
)
Row = tuple[object, ...]


def row(name: str, truth: Truth, root: Path, found: Found) -> Row:
    calls = score_calls(truth, found.calls)
    naive = score_calls(truth, naive_calls(root, found.definitions))
    measured = (
        *(name, truth.language, _share(score_imports(truth, found.imports).f1), f"{calls.all.expected:,}"),
        *map(_share, (calls.all.f1, calls.all.precision, calls.all.recall, calls.judged, calls.across.f1)),
        *map(_share, (naive.all.f1, naive.judged, naive.across.f1)),
    )
    print(*measured, flush=True)
    return measured


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def shared_rows(repositories: Path) -> Iterator[Row]:
    if not SHARED.is_dir():
        print(f"{SHARED} is not there: nothing of the shared set is scored")
        return
    for path in sorted(SHARED.glob("*.json.gz")):
        name = path.name.removesuffix(".json.gz")
        truth, root = read_shared(path), repositories / name
        if not root.is_dir():
            print(f"{root} is missing: fetch {name} at {truth.commit} to score it")
        elif not _is_at(root, truth.commit):
            print(f"{root} is not at {truth.commit}: not scored")
        else:
            yield row(f"{name} @ {truth.commit[:10]}", truth, root, indexed(root))


def _is_at(root: Path, commit: str) -> bool:
    """A folder whose commit git cannot tell is taken at its word."""
    command = ["git", f"--git-dir={root / '.git'}", "rev-parse", "--verify", "HEAD"]
    head = subprocess.run(command, check=False, capture_output=True, text=True)
    return head.stdout.strip() in ("", commit)


def package_rows(cache: Path) -> Iterator[tuple[Row, Row | None]]:
    """A row of each package, and one on its imports where it is Python."""
    cache.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        try:
            root = fetched(package, cache)
            truth = package_truth(package, root, cache)
        except Unavailable as exc:
            print(f"{package.title} is left out: {exc}")
            continue
        found = indexed(root)
        yield row(package.title, truth, root, found), import_row(package, truth, root, found)


def package_truth(package: Package, root: Path, cache: Path) -> Truth:
    """Asked once: it is kept under the digest of the question."""
    oracle = ORACLES[package.language]
    stamp = oracle.version.encode() + oracle.source.read_bytes()
    kept = cache / "truth" / f"{package.folder}-{hashlib.sha256(stamp).hexdigest()[:12]}.json"
    if not kept.exists():
        print(f"asking {oracle.version} about {package.title}", flush=True)
        told = oracle.ask(root, cache)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(told)
    return read_truth(kept.read_text(), package.language)


def _ask_server(root: Path, cache: Path) -> str:
    return codegraph_python.truth(root, pyright(cache))


def _ask_compiler(root: Path, cache: Path) -> str:
    command = ["node", str(COMPILER), str(typescript(cache)), str(root)]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as exc:
        raise Unavailable("node is not installed") from exc


class Oracle(NamedTuple):
    version: str
    source: Path
    """Whose text decides what it is asked."""
    ask: Callable[[Path, Path], str]


ORACLES = {
    "python": Oracle(f"basedpyright {PYRIGHT}", Path(codegraph_python.__file__), _ask_server),
    "typescript": Oracle(f"TypeScript {TYPESCRIPT}", COMPILER, _ask_compiler),
}


def import_row(package: Package, truth: Truth, root: Path, found: Found) -> Row | None:
    """Three readings of the same imports, and in how many edges each two of them differ."""
    if package.language != "python":
        return None
    by_grimp = {pair for pair in codegraph_python.imports_by_grimp(root, package.name) if pair[0] != pair[1]}
    return (
        *(package.title, len(truth.files), len(truth.imports), len(by_grimp), len(found.imports)),
        *(len(found.imports ^ truth.imports), len(found.imports ^ by_grimp), len(truth.imports ^ by_grimp)),
    )


def body(shared: list[Row], packages: list[tuple[Row, Row | None]]) -> str:
    parts = [
        "Calls and imports stored by `memory.code.index`, compared with those of an oracle. Nested functions count "
        "as the function around them, constructors as their class. Judged precision counts a false call only where the "
        "oracle itself resolved a call of that name in that caller; cross-file are calls between files. The naive "
        "matcher takes a definition of that name in the same file, else the only one of that name anywhere; it has no "
        "imports."
    ]
    if shared:
        parts += [
            "### Shared repositories\n\nThe ground truth comes with them: pyright 1.1.414 and calls seen at run time "
            "for Python, the compiler and scip-typescript for TypeScript, go/types for Go (without the calls that "
            "judging needs), rust-analyzer for Rust. The language rules were written while reading these repositories: "
            "the figures show how well the rules work there, not how well they generalise.",
            table(HEADERS, shared),
        ]
    if packages:
        of_imports = [imports for _, imports in packages if imports is not None]
        parts += [
            "### Published packages\n\nDownloaded from PyPI and npm at the named version, verified by digest; "
            "tests that are not in the package are not read. Calls by "
            f"{ORACLES['python'].version} (go to definition, no "
            f"third-party packages installed) and {ORACLES['typescript'].version} (checker); imports by the standard "
            "library's parser and the import system's rules, and by the compiler. These projects, too, were read "
            "while the rules were written. The compiler does not follow `this` in functions that are assigned "
            "to an object, which is the style of express: calls that it cannot see count as false, and are not "
            "judged.",
            table(HEADERS, [calls for calls, _ in packages]),
        ]
        if of_imports:
            parts += [
                f"Python imports by three readers: the standard library's parser, grimp {version('grimp')} and "
                "Treering.",
                table(IMPORT_HEADERS, of_imports),
            ]
    return "\n\n".join(parts)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--repositories",
        type=Path,
        default=user_cache_path("treering") / "bench-repositories",
        help="of the shared set",
    )
    options.add_argument("--cache", type=Path, default=user_cache_path("treering") / "bench-codegraph")
    chosen = options.parse_args()
    shared, packages = list(shared_rows(chosen.repositories)), list(package_rows(chosen.cache.resolve()))
    if shared or packages:
        write_section("codegraph", "Code graph", body(shared, packages))


if __name__ == "__main__":
    main()
