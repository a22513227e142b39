"""From settings to a Memory: the only package that imports adapters, and the only reader of the environment."""

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
    default_project,
    embedded_path,
    keep_in_data_folder,
    keep_in_project,
    location_status,
    may_be_renamed,
    memory_paths,
    named_location,
    open_repository_store,
    repository_for,
)
from treering.compose.plug_ins import PLUG_INS, load_plug_ins
from treering.compose.preload import preload_modules
from treering.compose.services import Services
from treering.compose.setting_descriptions import setting_descriptions
from treering.compose.settings import LoadedSettings, Origin, inspect_settings, load_settings, report_ignored
from treering.compose.stores import data_directory, new_id, now, open_store, salvage
from treering.compose.unopened import unopened_report
from treering.core.redaction import refuse_secret
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.location.repository import project_name, repository_around, repository_root
from treering.memory import Memory

if TYPE_CHECKING:
    from treering.code.history.stored_history import ProjectRepository as IndexedRepository
    from treering.code.sources import CodeSources
    from treering.jobs.worker import Worker
    from treering.maintenance.api import Maintenance
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
    "inspect_settings",
    "keep_in_data_folder",
    "keep_in_project",
    "load_plug_ins",
    "load_settings",
    "location_status",
    "may_be_renamed",
    "new_id",
    "now",
    "open",
    "open_store",
    "preload_modules",
    "project_name",
    "repository_around",
    "repository_root",
    "salvage",
    "setting_descriptions",
    "unopened_report",
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
    """Open a memory: a SQLite file (created if missing) or a PostgreSQL database.

    Without a path, TREERING_DB names it; otherwise it is the file that belongs to `repository`, by default the one
    around the working directory. The project is then that repository's, unless named; in a given path or URL it is
    `default`. `?mode=ro` after the path or URL opens it read-only, as does a file that cannot be written.

    A `background` thread runs the jobs that this process queues, unless disabled here or by TREERING_BACKGROUND=off.
    Records are compared with the files of `repository`; the repository around the working directory is used only if
    neither a path nor a project is named, here or in the environment.
    """
    load_plug_ins()
    loaded = load_settings(settings, repository=repository)
    report_ignored(loaded)
    chosen = loaded.settings
    _check_schedule(chosen)
    if chosen.store.vectors_only:
        # Names found in a text are part of that text.
        chosen = chosen.replace(entities=chosen.entities.replace(most_mentions=0))
    scope = Scope.named(
        tenant=tenant or os.environ.get("TREERING_TENANT") or "local",
        project=project or os.environ.get("TREERING_PROJECT") or default_project(path_or_url, repository),
        principal=principal or os.environ.get("TREERING_PRINCIPAL") or "local",
    )
    for name in ("tenant", "project", "principal"):
        refuse_secret(name, getattr(scope, name))
    named = named_location(path_or_url)
    blob_location = blobs or os.environ.get("TREERING_BLOBS")
    store = (
        open_repository_store(memory_paths(repository), blob_location, chosen)
        if named is None
        else open_store(named, blob_location, chosen)
    )
    models = _models(chosen)
    stop = threading.Event()
    root = repository_for(named, project or os.environ.get("TREERING_PROJECT"), repository)
    make_workers = partial(_workers, scope, models=models, settings=chosen, clock=clock, stop=stop, root=root)
    wanted = os.environ.get("TREERING_BACKGROUND") != "off" if background is None else background
    thread = None
    if wanted and not store.read_only:
        from treering.compose import workers as workers_module

        thread = workers_module.background(scope, store, make_workers, chosen.maintenance, stop)
    services = Services(
        scope=scope,
        settings=chosen,
        store=store,
        blobs=store.blobs,
        models=models,
        clock=clock,
        new_id=new_id,
        tokenizers=_tokenizer,
        make_workers=partial(make_workers, store),
        stop=stop,
        background=thread,
        open_embedded=lambda path: open_store(str(path), None, chosen),
        code_sources=partial(_surroundings, root, chosen),
        location_status=partial(location_status, named, repository),
        version=__version__,
    )
    return Memory(services)


def _surroundings(root: Path | None, settings: Settings) -> CodeSources:
    """What the code graph is read from."""
    from treering.adapters.processes import has_ended, this_writer
    from treering.code.files.outer_ignore_rules import git_home
    from treering.code.sources import CodeSources

    try:
        around = repository_root(Path.cwd())
    except OSError:
        around = None
    return CodeSources(
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
    """History of the repository that contains an indexed folder."""
    from treering.adapters.git.commits import GitCommits
    from treering.code.history.stored_history import ProjectRepository

    top = repository_root(root)
    inside = "" if root == top else f"{root.relative_to(top).as_posix()}/"
    return ProjectRepository(GitCommits(top, os.environ, seconds), inside)


def _workers(scope: Scope, store: Store, **parts: Any) -> tuple[Worker, Maintenance]:
    from treering.compose.workers import workers

    return workers(scope, store, **parts)


def _check_schedule(settings: Settings) -> None:
    """`InvalidInput` for an unknown time zone or stage: raised here, because maintenance is loaded later."""
    if settings.maintenance.by_hand:
        from treering.maintenance.stages import check_stages

        check_stages(settings.maintenance.by_hand)
    if settings.maintenance.timezone:
        from treering.maintenance.schedule import zone_named

        zone_named(settings.maintenance.timezone)


def _models(settings: Settings) -> Models:
    """Models by the settings; where these leave the choice open, by the environment."""
    from treering.adapters.models.selection import ConfiguredModels

    return ConfiguredModels(settings, os.environ)


def _tokenizer(name: str) -> Tokenizer:
    from treering.adapters.tokenizers import tokenizer

    return tokenizer(name)
