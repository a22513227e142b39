"""Version of the code that reads files: facts and edges from another version have to be read again."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from treering.code.language_table import LANGUAGES
from treering.code.limits import CHUNK_LIMITS, TEXT_CHUNK_LIMITS, limits_text

_CODE = Path(__file__).parents[1]
_WHEELS = (
    *("tree-sitter", "pystemmer", *(f"tree-sitter-{known.name}" for known in LANGUAGES), "tree-sitter-javascript"),
    *("tree-sitter-language-pack", "tree-sitter-c-sharp"),
)
_PARTS = (
    *(
        "languages/**/*.py",
        "languages/**/*.scm",
        "languages/**/*.txt",
        "facts.py",
        "encoding.py",
        "graph/kinds.py",
        "language_table.py",
        "tsconfig_names.py",
    ),
    *("files/source_file.py", "files/secrets.py", "files/stamps.py", "index/resolution.py"),
    *(f"chunks/{name}.py" for name in ("split", "outline", "pieces", "sizes", "words")),
)


def reading_version() -> str:
    """Changes with every line of the readers and with the chunk settings, so that stale facts are never used."""
    cut = blake2b((limits_text(CHUNK_LIMITS) + limits_text(TEXT_CHUNK_LIMITS)).encode(), digest_size=4).hexdigest()
    return f"{_readers()}-{cut}"


@cache
def _readers() -> str:
    digest = blake2b(digest_size=12)
    for name in _WHEELS:
        digest.update(f"{name} {_installed(name)}\n".encode())
    core = _CODE.parent / "core"
    sources = {path for part in _PARTS for path in _CODE.glob(part)} | {core / "graph.py", *core.glob("secret*.py")}
    sources |= {path for path in (core / "language").rglob("*") if path.suffix in {".py", ".txt"}}
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
