"""Settings to a Memory: the only place that knows which adapters exist, and the only reader of the environment."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering import __version__
from treering.compose.locations import (
    current_project,
    embedded_path,
    home_of,
    keep_in_data_folder,
    keep_in_project,
    named_place,
    project_in,
    repository_in,
    standing,
    store_of,
)
from treering.compose.plug_ins import PLUG_INS, load_plug_ins
from treering.compose.preload import load_ahead
from treering.compose.settings import LoadedSettings, Origin, load_settings, report_ignored
from treering.compose.stores import data_directory, new_id, now, open_store, salvage
from treering.core.redaction import refuse_secret
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.location.repository import project_name, repository_around, repository_root
from treering.memory import Memory
from treering.parts import Ports

if TYPE_CHECKING:
    from treering.code.history.stored_history import Repository as IndexedRepository
    from treering.code.sources import Surroundings
    from treering.jobs.worker import Worker
    from treering.maintenance.api import Upkeep
    from treering.maintenance.health_report import HealthReport
    from treering.ports.clock import Clock
    from treering.ports.models import Models
    from treering.ports.store import Store
    from treering.ports.tokens import Tokenizer

__all__ = [
    "PLUG_INS",
    "LoadedSettings",
    "Origin",
    "current_project",
    "data_directory",
    "embedded_path",
    "keep_in_data_folder",
    "keep_in_project",
    "load_ahead",
    "load_plug_ins",
    "load_settings",
    "new_id",
    "now",
    "open",
    "open_store",
    "project_name",
    "repository_around",
    "repository_root",
    "salvage",
    "standing",
]


def open(
    path_or_url: str | os.PathLike[str] | None = None,
    *,
    project: str | None = None,
    tenant: str | None = None,
    principal: str | None = None,
    blobs: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    clock: Clock = now,
    background: bool | None = None,
    repository: str | os.PathLike[str] | None = None,
) -> Memory:
    """Open a memory: a SQLite file (made where there is none) or a PostgreSQL database.

    Without a path, TREERING_DB says where, else the file that belongs to `repository`, or to the one around the working
    directory; the project is then that repository's, if none is named. In a place that is given it is called `default`.
    `?mode=ro` after the path or URL opens it to read only; a file that cannot be written is opened so anyway.
    A `background` thread does the jobs that this process queues, unless that or TREERING_BACKGROUND=off says no.
    Records are compared with the files of `repository`; of the one around the working directory only where neither a
    place nor a project is named, here or in the environment.
    """
    load_plug_ins()
    loaded = load_settings(settings, repository=repository)
    report_ignored(loaded)
    chosen = loaded.settings
    _check_schedule(chosen)
    if chosen.store.vectors_only:
        # Names that are read in a text are part of it.
        chosen = chosen.replace(entities=chosen.entities.replace(most_mentions=0))
    scope = Scope.named(
        tenant=tenant or os.environ.get("TREERING_TENANT") or "local",
        project=project or os.environ.get("TREERING_PROJECT") or project_in(path_or_url, repository),
        principal=principal or os.environ.get("TREERING_PRINCIPAL") or "local",
    )
    for name in ("tenant", "project", "principal"):
        refuse_secret(name, getattr(scope, name))
    named = named_place(path_or_url)
    kept = blobs or os.environ.get("TREERING_BLOBS")
    store = store_of(home_of(repository), kept, chosen) if named is None else open_store(named, kept, chosen)
    models = _models(chosen)
    stop = threading.Event()
    root = repository_in(named, project or os.environ.get("TREERING_PROJECT"), repository)
    staff = partial(_workers, scope, models=models, settings=chosen, clock=clock, stop=stop, root=root)
    wanted = os.environ.get("TREERING_BACKGROUND") != "off" if background is None else background
    thread = None
    if wanted and not store.read_only:
        from treering.compose import workers as working

        thread = working.background(scope, store, staff, chosen.upkeep, stop)
    ports = Ports(
        store=store,
        blobs=store.blobs,
        staff=partial(staff, store),
        stop=stop,
        background=thread,
        models=models,
        tokenizers=_tokenizer,
        clock=clock,
        new_id=new_id,
        open_embedded=lambda path: open_store(str(path), None, chosen),
        surroundings=partial(_surroundings, root, chosen),
        standing=partial(standing, named, repository),
        version=__version__,
    )
    return Memory(scope, ports, chosen)


def _surroundings(root: Path | None, settings: Settings) -> Surroundings:
    """What the code graph is read from."""
    from treering.adapters.processes import has_ended, this_writer
    from treering.code.files.outer_ignore_rules import git_home
    from treering.code.sources import Surroundings

    try:
        around = repository_root(Path.cwd())
    except OSError:
        around = None
    return Surroundings(
        root=root,
        around=around,
        repository=partial(_indexed_repository, settings.staleness.git_seconds),
        watcher=_watched,
        owner=str(this_writer(new_id())),
        ended=has_ended,
        git=git_home(os.environ),
    )


def _watched(root: Path, quiet_ms: int, stop: threading.Event) -> Iterator[frozenset[str]]:
    from treering.adapters.watcher.files import watched

    return watched(root, quiet_ms, stop)


def _indexed_repository(seconds: float, root: Path) -> IndexedRepository:
    """The history of the repository that an indexed folder lies in."""
    from treering.adapters.git.commits import GitCommits
    from treering.code.history.stored_history import Repository

    top = repository_root(root)
    inside = "" if root == top else f"{root.relative_to(top).as_posix()}/"
    return Repository(GitCommits(top, os.environ, seconds), inside)


def _workers(scope: Scope, store: Store, **parts: Any) -> tuple[Worker, Upkeep[HealthReport]]:
    from treering.compose.workers import workers

    return workers(scope, store, **parts)


def _check_schedule(settings: Settings) -> None:
    """`InvalidInput` for an unknown time zone or stage: at once, although maintenance is loaded later."""
    if settings.upkeep.by_hand:
        from treering.maintenance.stages import check_stages

        check_stages(settings.upkeep.by_hand)
    if settings.upkeep.timezone:
        from treering.maintenance.schedule import zone_named

        zone_named(settings.upkeep.timezone)


def _models(settings: Settings) -> Models:
    """What the settings say; where they leave the choice open, what the environment says."""
    from treering.adapters.models.selection import ChosenModels

    return ChosenModels(settings, os.environ)


def _tokenizer(name: str) -> Tokenizer:
    from treering.adapters.tokenizers import tokenizer

    return tokenizer(name)
