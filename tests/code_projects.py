"""Projects on disk for tests of the code graph, and what a fresh build makes of the same files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

from treering.core.scope import Scope
from treering.core.settings import IndexSettings
from treering.index.facts import Facts
from treering.index.graph import CodeGraph
from treering.index.packing import edges_in, unpack_definitions, unpack_edges, unpack_unresolved
from treering.index.relatives import Repository
from treering.index.verbs import Code, Surroundings
from treering.index.which_language import language_named, load_language
from treering.index.world import Asking, World
from treering.memory import Memory


class Kept(NamedTuple):
    """One file's part of a graph, comparable."""

    definitions: tuple[object, ...]
    edges: tuple[object, ...]
    unresolved: tuple[object, ...]


def written(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def code_of(memory: Memory, scope: Scope | None = None, **settings: object) -> Code:
    """A door of its own, as another process would have it; every question looks at the files."""

    def without_history(root: Path) -> Repository:
        from treering.core.errors import RepositoryUnavailable

        raise RepositoryUnavailable(f"{root} has no history")

    ports = memory._ports
    around = Surroundings(
        root=None, around=None, repository=without_history, watcher=no_watcher, owner=f"test-{ports.new_id()}"
    )
    chosen = IndexSettings.make(**{"look_seconds": 0, **settings})
    return Code(scope or memory.scope, memory.store, ports.clock, chosen, around)


def no_watcher(_root: Path, _quiet_ms: int, _stop: Event) -> Iterable[frozenset[str]]:
    return iter(())


def stored(memory: Memory, scope: Scope | None = None) -> dict[str, Kept]:
    """What the store holds."""
    with memory.store.reading(scope or memory.scope, memory._ports.clock()) as tx:
        contents = list(tx.code.contents())
        unresolved = tx.code.unresolved([file.path for file in contents])
    assert all(file.resolved for file in contents)
    return {
        file.path: _kept(
            unpack_definitions(file.definitions),
            edges_in(unpack_edges(file.edges)),
            unpack_unresolved(unresolved.get(file.path, b"")),
        )
        for file in contents
    }


def fresh(files: Mapping[str, str | bytes]) -> dict[str, Kept]:
    """What comes of the same files when all of them are read and resolved at once, without any store."""
    facts = _facts(files)
    world = World()
    for path, (language, read) in facts.items():
        world.put(path, load_language(language).surface(read))
    built = {}
    for path, (language, read) in facts.items():
        resolved = load_language(language).resolve(read, Asking(world))
        built[path] = _kept(read.definitions, resolved.edges, resolved.unresolved)
    return built


def fresh_graph(files: Mapping[str, str | bytes]) -> CodeGraph:
    facts = _facts(files)
    world, graph = World(), CodeGraph()
    for path, (language, read) in facts.items():
        world.put(path, load_language(language).surface(read))
    for path, (language, read) in facts.items():
        graph.replace_file(path, read.definitions, load_language(language).resolve(read, Asking(world)).edges)
    return graph


def _facts(files: Mapping[str, str | bytes]) -> dict[str, tuple[str, Facts]]:
    facts = {}
    for path, content in sorted(files.items()):
        language = language_named(path.rpartition("/")[2])
        if language is not None:
            source = content.encode() if isinstance(content, str) else content
            facts[path] = (language, load_language(language).extract(path, source))
    return facts


def _kept(definitions: Iterable[object], edges: Iterable[object], unresolved: Iterable[object]) -> Kept:
    return Kept(tuple(definitions), tuple(sorted(map(_plain, edges))), tuple(sorted(map(_plain, unresolved))))


def _plain(value: object) -> tuple[object, ...]:
    """Confidence is stored with the seven digits that it is worth."""
    fields = (getattr(value, name) for name in value.__struct_fields__)  # type: ignore[attr-defined]
    return tuple(round(each, 5) if isinstance(each, float) else each for each in fields)
