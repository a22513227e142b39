"""After any edits, resolving only the dependents of changed keys equals a fresh build."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import facts_of, resolve_all
from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import Facts, Resolved
from treering.code.languages.python import LANGUAGE

PROJECT = {
    "pkg/__init__.py": "from .base import Base\nfrom .deep import *\n__all__ = ['Base', 'make']\n",
    "pkg/base.py": "from .deep.leaf import Leaf\nclass Base:\n    leaf: Leaf\n    def run(self): return self.leaf\n",
    "pkg/deep/__init__.py": "from .leaf import make\nfrom . import leaf\n",
    "pkg/deep/leaf.py": "class Leaf:\n    def grow(self): ...\ndef make():\n    it = Leaf()\n    return it\n",
    "src/pkg/deep/leaf.py": "def make(): ...\n",
    "pkg/told.py": "from .base import Base\nLIMIT = 3\nclass Told(Base):\n    def __init__(self): self.held = LIMIT\n"
    "    @property\n    def size(self): return self.held\n    def __enter__(self): return self\n",
    "pkg/uses.py": "from .told import LIMIT, Told\nfrom . import told\ndef use(one: Told):\n    with one:\n"
    "        return one.size + LIMIT, told.LIMIT\n",
    "main.py": "import pkg.deep.leaf\nfrom pkg import *\nclass Sub(Base):\n    def run(self): return super().run()\n"
    "make().grow()\nSub().run().grow()\npkg.deep.leaf.make().grow()\n",
    "tests/conftest.py": "import pytest\nfrom pkg import make\n@pytest.fixture\ndef leaf():\n    yield make()\n"
    "@pytest.fixture(autouse=True)\ndef clean(leaf): ...\n",
    "tests/test_it.py": "from main import Sub\ndef test_it(leaf):\n    leaf.grow()\n    Sub().run().grow()\n",
    "pyproject.toml": "[project.scripts]\nrun = 'pkg.deep.leaf:make'\n",
}


@dataclass
class Index:
    """A project that is kept current the way the graph is."""

    table: SymbolTable = field(default_factory=SymbolTable)
    facts: dict[str, Facts] = field(default_factory=dict)
    resolved: dict[str, Resolved] = field(default_factory=dict)

    def write(self, path: str, source: str) -> None:
        self.facts[path] = LANGUAGE.extract(path, source.encode())
        changed = self.table.put(path, LANGUAGE.surface(self.facts[path]))
        self._resolve(self.table.dependents(changed) | {path})

    def remove(self, path: str) -> None:
        del self.facts[path], self.resolved[path]
        self.table.remove_lookups(path)
        self._resolve(self.table.dependents(self.table.remove(path)))

    def _resolve(self, paths: set[str]) -> None:
        for path in paths:
            lookup = RecordingLookup(self.table)
            self.resolved[path] = LANGUAGE.resolve(self.facts[path], lookup)
            self.table.record_lookups(path, lookup.keys)


LINES = sorted({line for source in PROJECT.values() for line in source.splitlines(keepends=True)})
EDITS = st.lists(
    st.tuples(
        st.sampled_from(sorted(PROJECT)),
        st.sampled_from(["delete", "restore", "drop a line", "replace a line", "insert a line"]),
        st.integers(0, 9),
        st.sampled_from(LINES),
    ),
    max_size=12,
)


def edited(source: str, how: str, at: int, line: str) -> str:
    lines = source.splitlines(keepends=True)
    ways = {
        "drop a line": lines[:at] + lines[at + 1 :],
        "replace a line": [*lines[:at], line, *lines[at + 1 :]],
        "insert a line": [*lines[:at], line, *lines[at:]],
    }
    return "".join(ways[how])


@given(EDITS)
def test_updates_equal_a_fresh_build(edits: list[tuple[str, str, int, str]]) -> None:
    files = dict(PROJECT)
    index = Index()
    for path, source in files.items():
        index.write(path, source)
    for path, how, at, line in edits:
        if how == "delete":
            if files.pop(path, None) is not None:
                index.remove(path)
            continue
        known = how != "restore" and path in files
        files[path] = edited(files[path], how, at, line) if known else PROJECT[path]
        index.write(path, files[path])
    assert index.resolved == resolve_all(facts_of(files, LANGUAGE), LANGUAGE)
