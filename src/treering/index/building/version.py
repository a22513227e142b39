"""What reads the code, as one short text: facts and edges that something else has read must be made anew."""

from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from treering.index.which_language import KNOWN

_INDEX = Path(__file__).parents[1]
_GRAMMARS = ("tree-sitter", *(f"tree-sitter-{known.name}" for known in KNOWN), "tree-sitter-javascript")
_PARTS = (
    *("languages/**/*.py", "languages/**/*.scm", "facts.py", "packing.py", "files/reading.py", "graph/kinds.py"),
    *(f"chunks/{name}.py" for name in ("cutting", "outline", "pieces", "sizes", "words")),
)


@cache
def reading_version() -> str:
    """Changes with every line of the readers: whoever edits one of them never meets what it read before."""
    digest = blake2b(digest_size=12)
    for name in _GRAMMARS:
        digest.update(f"{name} {_installed(name)}\n".encode())
    sources = {path for part in _PARTS for path in _INDEX.glob(part)} | {_INDEX.parent / "core" / "graph.py"}
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
