"""embed: vectors for what has none, and how far that has come."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.options import AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.code.locations.embedding import ChunkEmbedding
    from treering.memory import Memory
    from treering.ports.models import Embedder

Advance = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Embedded:
    """How many got a vector now, and how many of all documents, and of all pieces of code, have one of the model."""

    model: str
    embedded: int
    documents: int
    vectors: int
    code: int
    code_vectors: int


def embed(
    status: Annotated[bool, typer.Option("--status", help="Only say how many documents have a vector.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Make the vectors that search by meaning compares.

    What has one keeps it; interrupted, the next run goes on where this one stopped.
    """
    with opened(db, project) as memory:
        embedder, *beside = _embedders(memory)
        made = 0 if status else _make(memory, embedder, beside)
        found = _state(memory, embedder, made)
    from treering.interfaces.cli import views as show

    code = f", {found.code_vectors:,} of {found.code:,} pieces of code" if found.code else ""
    covered = f"{found.vectors:,} of {found.documents:,} documents{code} have a vector of {found.model}"
    picture = (lambda: show.safe(covered)) if status else (lambda: show.done("embedded", f"{made:,} new", covered))
    emit(found, picture, as_json=as_json)


def _embedders(memory: "Memory") -> "list[Embedder]":
    from treering.compose import now
    from treering.search.embedding import embedders_of

    with memory.store.reading(memory.scope, now()) as tx:
        return embedders_of(memory.models, tx.index.models())


def _state(memory: "Memory", embedder: "Embedder", made: int) -> Embedded:
    from treering.compose import now
    from treering.search.embedding import coverage

    covered = coverage(memory.scope, memory.store, now(), embedder.model)
    code = _chunks(memory).coverage(embedder.model)
    return Embedded(embedder.model, made, covered.documents, covered.vectors, code.chunks, code.vectors)


def _chunks(memory: "Memory") -> "ChunkEmbedding":
    from treering.code.locations.embedding import ChunkEmbedding
    from treering.compose import now

    return ChunkEmbedding(memory.scope, memory.store, now, memory.settings)


def _make(memory: "Memory", embedder: "Embedder", beside: "list[Embedder]") -> int:
    """Vectors of the project's model, and of the local one `beside` a model elsewhere; those of others are removed."""
    from treering.compose import now
    from treering.search.embedding import drop_other_models, embed_all

    for local in beside:
        embed_all(memory.scope, memory.store, now(), local, memory.settings.embedder)
    before, chunks = _state(memory, embedder, 0), _chunks(memory)
    with _progress(embedder.model, before.documents - before.vectors + before.code - before.code_vectors) as advance:
        made = embed_all(memory.scope, memory.store, now(), embedder, memory.settings.embedder, between=advance)
        made += chunks.all(embedder, between=lambda more, _last: advance(made + more))
    drop_other_models(memory.scope, memory.store, now(), embedder.model, "".join(each.model for each in beside))
    chunks.drop_others(embedder.model)
    return made


@contextmanager
def _progress(model: str, waiting: int) -> Iterator[Advance]:
    """A bar on a terminal, gone when all is done; nothing where nobody looks."""
    if not sys.stderr.isatty() or not waiting:
        yield lambda _done: True
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(model, total=waiting)

        def advance(done: int) -> bool:
            progress.update(task, completed=done)
            return True

        yield advance
