"""Settings to a Memory: the only place that knows which adapters exist, and the only reader of the environment."""

import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from treering import __version__
from treering.archive.backup import blobs_beside
from treering.core.errors import InvalidInput, ModelUnavailable, PluginFailed, StoreReadOnly
from treering.core.jobs import EMBED_CODE, LEARN_SESSION, LINK_ENTITIES, Job
from treering.core.model_choice import from_environment
from treering.core.payloads import KnowledgeType, register_knowledge_type
from treering.core.redaction import refuse_secret
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.core.values import KEY_BYTES
from treering.learn.jobs import Handler, Lease, Worker
from treering.memory import Memory
from treering.parts import Ports
from treering.ports.blobs import Blobs
from treering.ports.clock import Clock, NewId
from treering.ports.models import Models
from treering.ports.store import Store
from treering.ports.tokens import Tokenizer

if TYPE_CHECKING:
    from treering.adapters.sql.salvage import Salvaged
    from treering.health.report import HealthReport
    from treering.index.asking.verbs import Surroundings
    from treering.index.history.chronicle import Repository as IndexedRepository
    from treering.learn.stages import StageRun
    from treering.learn.upkeep.background import Background
    from treering.learn.upkeep.verbs import Upkeep

_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")
_SQLITE = "sqlite:///"
PLUG_INS = "treering.knowledge_types"
"""The entry point group of packages that bring knowledge types."""


def now() -> datetime:
    """The only clock."""
    return datetime.now(UTC)


def new_id() -> str:
    """Sorts by time, so that new rows stand together in an index."""
    return str(uuid7())


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

    Without a path, TREERING_DB says where, else the file that belongs to the repository around the working directory;
    the project is then that repository's, if none is named. In a place that is given it is called `default`.
    A `background` thread does the jobs that this process queues, unless that or TREERING_BACKGROUND=off says no.
    Records are compared with the files of `repository`; of the one around the working directory only where neither a
    place nor a project is named, here or in the environment.
    """
    load_plug_ins()
    chosen = from_environment(settings or Settings(), os.environ)
    scope = Scope.make(
        tenant=tenant or os.environ.get("TREERING_TENANT") or "local",
        project=project or os.environ.get("TREERING_PROJECT") or _project_in(path_or_url),
        principal=principal or os.environ.get("TREERING_PRINCIPAL") or "local",
    )
    for name in ("tenant", "project", "principal"):
        refuse_secret(name, getattr(scope, name))
    location = _named_place(path_or_url)
    if location is None:
        location = str(_made(data_directory() / current_project()) / "memory.db")
    store = open_store(location, blobs or os.environ.get("TREERING_BLOBS"), chosen)
    models = _models(chosen)
    stop = threading.Event()
    root = _repository_in(_named_place(path_or_url), project or os.environ.get("TREERING_PROJECT"), repository)
    worker, upkeep = _workers(scope, store, models=models, settings=chosen, clock=clock, stop=stop, root=root)
    wanted = os.environ.get("TREERING_BACKGROUND") != "off" if background is None else background
    thread = (
        _background(scope, store, models=models, settings=chosen, clock=clock, stop=stop, root=root) if wanted else None
    )
    ports = Ports(
        store=store,
        blobs=store.blobs,
        worker=worker,
        upkeep=upkeep if thread is None else replace(upkeep, others=(thread.check,)),
        background=thread,
        models=models,
        tokenizers=_tokenizer,
        clock=clock,
        new_id=new_id,
        open_embedded=lambda path: open_store(str(path), None, chosen),
        surroundings=partial(_surroundings, root, chosen),
        version=__version__,
    )
    return Memory(scope, ports, chosen)


def open_store(location: str, blobs: str | os.PathLike[str] | None, settings: Settings, ids: NewId = new_id) -> Store:
    """The store at a path or URL, with its blobs."""
    from treering.adapters.sql.store import SqlStore

    if not location.strip() or "\0" in location:
        raise InvalidInput("the memory needs a place: a file path, or a URL such as postgresql://user@host/database")
    if location.startswith(_POSTGRES):
        from treering.adapters.sql.postgres import Postgres, server_url

        url = server_url(location.replace("postgres://", "postgresql://", 1))
        kept = _open_blobs(blobs or _server_blobs(url.render_as_string(hide_password=True)))
        return SqlStore(Postgres(url, settings.store), kept, settings, ids)
    if "://" in location and not location.startswith(_SQLITE):
        scheme = location.split("://", 1)[0]
        raise InvalidInput(f"no engine for {scheme}: URLs; give a file path or a postgresql:// URL")
    from treering.adapters.sql.sqlite import SQLite

    path = Path(location.removeprefix(_SQLITE)).expanduser().absolute()
    kept = _open_blobs(blobs or blobs_beside(path))
    return SqlStore(SQLite(path, settings.store), kept, settings, ids)


def embedded_path(path_or_url: str | os.PathLike[str] | None = None) -> Path | None:
    """The file that `open` would use; None where a server is meant."""
    location = _named_place(path_or_url) or str(data_directory() / current_project() / "memory.db")
    if "://" in location and not location.startswith(_SQLITE):
        return None
    return Path(location.removeprefix(_SQLITE)).expanduser().absolute()


def salvage(path: str | os.PathLike[str]) -> "Salvaged":
    """Save what is readable of a damaged SQLite file; the file as it was is kept beside the new one."""
    from treering.adapters.sql.salvage import salvage as save

    file = Path(os.fspath(path).removeprefix(_SQLITE)).expanduser().absolute()
    kept = _open_blobs(os.environ.get("TREERING_BLOBS") or blobs_beside(file))
    return save(file, kept, Settings(), now(), new_id)


def repository_root(start: Path) -> Path:
    """The nearest folder that holds a repository, or `start` where there is none."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def project_name(root: Path) -> str:
    """A name that is readable and differs for folders of the same name, whatever bytes the folder is named with."""
    digest = sha256(os.fsencode(root)).hexdigest()[:8]
    printable = "".join(char if char.isprintable() else "-" for char in root.name)
    readable = printable.encode()[: KEY_BYTES - len(digest) - 1].decode(errors="ignore")
    return f"{readable or 'root'}-{digest}"


def memory_place(root: Path) -> str:
    """Where the memory of a repository is kept that nobody placed elsewhere."""
    return str(_made(data_directory() / project_name(root)) / "memory.db")


def current_project() -> str:
    """The project of the repository around the working directory."""
    try:
        return project_name(repository_root(Path.cwd()))
    except OSError as exc:
        raise InvalidInput(f"the working directory cannot be read ({exc}); go to another, or name a project") from exc


@cache
def load_plug_ins() -> None:
    """Register the knowledge types that installed packages bring, once a process."""
    for entry in entry_points(group=PLUG_INS):
        try:
            _register(entry.load())
        except Exception as exc:
            package = entry.dist.name if entry.dist else entry.value
            raise PluginFailed(
                f"the knowledge type {entry.name!r} of the package {package!r} cannot be loaded "
                f"({type(exc).__name__}: {exc}); upgrade the package or uninstall it"
            ) from exc


def _register(plug_in: KnowledgeType | Callable[[], object]) -> None:
    if isinstance(plug_in, KnowledgeType):
        register_knowledge_type(plug_in.name, plug_in.payload, plug_in.half_life_days)
    else:
        plug_in()


def _named_place(path_or_url: str | os.PathLike[str] | None) -> str | None:
    return os.environ.get("TREERING_DB") or None if path_or_url is None else os.fspath(path_or_url)


def _repository_in(place: str | None, project: str | None, repository: str | os.PathLike[str] | None) -> Path | None:
    """The repository whose files records are about; None where a place or a project was named, and no repository.

    A worker may stand in any other repository then.
    """
    if repository is not None:
        return repository_root(Path(repository).expanduser().absolute())
    return repository_root(Path.cwd()) if not place and not project else None


def _project_in(path_or_url: str | os.PathLike[str] | None) -> str:
    return current_project() if path_or_url is None else "default"


def data_directory() -> Path:
    """Where memories are kept that nobody placed elsewhere."""
    if chosen := os.environ.get("TREERING_DATA_DIR"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("treering", appauthor=False)


def _handlers(
    store: Store, models: Models, settings: Settings, clock: Clock, stop: threading.Event
) -> Mapping[str, Handler]:
    def embed(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.retrieve.embed import do_embedding

        do_embedding(scope, store, job, clock, models=models, settings=settings)

    def embed_code(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.index.where.embedding import ChunkEmbedding, do_chunk_embedding

        do_chunk_embedding(ChunkEmbedding(scope, store, clock, settings), job, models, new_id)

    def summarise(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.session.conversation.summarising import do_summaries

        do_summaries(scope, store, job, clock, models=models, settings=settings.conversation)

    def learn(scope: Scope, job: Job, moment: datetime) -> None:
        from treering.learn.sessions import Learner, learn_session
        from treering.retrieve.embed import queue_embedding

        lease = Lease(store, scope, job, clock, settings.jobs.lease_seconds, stop)
        learn_session(Learner(store, models, settings, new_id), scope, job, moment, lease.keep)
        queue_embedding(scope, store, clock(), models, new_id())

    def link(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.learn.entities.reading import do_linking

        do_linking(scope, store, job, clock, settings=settings, new_id=new_id)

    return {
        "sweep_blobs": partial(_sweep_blobs, store),
        "embed": embed,
        EMBED_CODE: embed_code,
        "summarise_removed": summarise,
        LEARN_SESSION: learn,
        LINK_ENTITIES: link,
    }


def _workers(
    scope: Scope,
    store: Store,
    *,
    models: Models,
    settings: Settings,
    clock: Clock,
    stop: threading.Event,
    root: Path | None = None,
) -> tuple[Worker, "Upkeep[HealthReport]"]:
    """Who does jobs, and who looks after the schedule."""
    from treering.learn.upkeep.queueing import MAINTAIN
    from treering.learn.upkeep.running import Maintenance
    from treering.learn.upkeep.schedule import zone_named
    from treering.learn.upkeep.verbs import Upkeep
    from treering.learn.upkeep.work import STAGES, nightly

    name = f"{socket.gethostname()}:{os.getpid()}"
    stages = nightly(settings.upkeep, staleness=partial(_mark_stale, root), vectors=_make_vectors, report=_count_health)
    maintenance = Maintenance(store, stages, settings, models, clock, new_id, name, stop)
    handlers = {**_handlers(store, models, settings, clock, stop), MAINTAIN: maintenance.do}

    def report(scope: Scope, moment: datetime) -> "HealthReport":
        from treering.health.report import health_report

        return health_report(scope, store, moment, stages=STAGES, settings=settings)

    worker = Worker(store, handlers, clock, settings.jobs, name=name, stop=stop)
    return worker, Upkeep(scope, maintenance, zone_named(settings.upkeep.timezone), worker, report)


def _background(
    scope: Scope,
    store: Store,
    *,
    models: Models,
    settings: Settings,
    clock: Clock,
    stop: threading.Event,
    root: Path | None = None,
) -> "Background":
    """A thread that begins when this store has queued a job."""
    from treering.learn.upkeep.background import Background, Gate

    gate, times = Gate(), settings.upkeep
    guarded = gate.guarding(store)
    worker, upkeep = _workers(scope, guarded, models=models, settings=settings, clock=clock, stop=stop, root=root)

    def work() -> None:
        look = partial(upkeep.look, thread.trouble)
        worker.run_forever(scope, look, every=times.look_seconds, idle=times.idle_seconds, pause=thread.pause)

    thread = Background(work, stop, gate, times.close_seconds)
    store.on_queued = thread.wake
    return thread


def _make_vectors(run: "StageRun") -> None:
    """Where the model is local: nothing is sent anywhere at night that nobody asked for."""
    from treering.index.where.embedding import ChunkEmbedding
    from treering.retrieve.embed import embed_all

    try:
        with run.store.reading(run.scope, run.now) as tx:
            embedder = run.models.embedder(tx.index.models(), hurried=True)
            covered, code = tx.index.coverage(embedder.model), tx.chunks.coverage(embedder.model)
        run.progress.expect(covered.documents - covered.vectors + code.chunks - code.vectors)
        made = 0

        def between(total: int) -> bool:
            nonlocal made
            run.progress.advance(None, total - made, embedded=total - made)
            made = total
            return True

        if embedder.local and not run.dry_run:
            told = embed_all(run.scope, run.store, run.now, embedder, run.settings.embedder, between=between)
            chunks = ChunkEmbedding(run.scope, run.store, lambda: run.now, run.settings)
            chunks.all(embedder, between=lambda more, _last: between(told + more))
    except ModelUnavailable as exc:
        run.models.failed("embedder", exc)


def _count_health(run: "StageRun") -> Mapping[str, int]:
    from treering.health.report import health_report
    from treering.learn.upkeep.work import STAGES

    return health_report(run.scope, run.store, run.now, stages=STAGES, settings=run.settings).counts()


def _mark_stale(root: Path | None, run: "StageRun") -> None:
    from treering.adapters.git.history import open_repository
    from treering.learn.staleness import mark_stale

    seconds = run.settings.staleness.git_seconds
    mark_stale(run, None if root is None else open_repository(root, os.environ, seconds))


def _surroundings(root: Path | None, settings: Settings) -> "Surroundings":
    """What the code graph is read from."""
    from treering.adapters.processes import has_ended, this_writer
    from treering.adapters.watcher.files import watched
    from treering.index.asking.verbs import Surroundings
    from treering.index.files.ignoring_around import git_home

    try:
        around = repository_root(Path.cwd())
    except OSError:
        around = None
    return Surroundings(
        root=root,
        around=around,
        repository=partial(_indexed_repository, settings.staleness.git_seconds),
        watcher=watched,
        owner=str(this_writer(new_id())),
        ended=has_ended,
        git=git_home(os.environ),
    )


def _indexed_repository(seconds: float, root: Path) -> "IndexedRepository":
    """The history of the repository that an indexed folder lies in."""
    from treering.adapters.git.commits import GitCommits
    from treering.index.history.chronicle import Repository

    top = repository_root(root)
    inside = "" if root == top else f"{root.relative_to(top).as_posix()}/"
    return Repository(GitCommits(top, os.environ, seconds), inside)


def _models(settings: Settings) -> Models:
    """What the settings say; where they leave the choice open, what the environment says."""
    from treering.adapters.models.choosing import ChosenModels

    return ChosenModels(settings, os.environ)


def _tokenizer(name: str) -> Tokenizer:
    from treering.adapters.tokenizers import tokenizer

    return tokenizer(name)


def _sweep_blobs(store: Store, scope: Scope, job: Job, moment: datetime) -> None:
    store.sweep_blobs(scope, job.payload["digests"], moment)


def _open_blobs(location: str | os.PathLike[str]) -> Blobs:
    from treering.adapters.blobs import open_blobs

    return open_blobs(location if isinstance(location, str) else Path(location), os.environ)


def _server_blobs(url: str) -> Path:
    """A server's blobs stay on this machine until TREERING_BLOBS names a place that all share."""
    return data_directory() / "blobs" / sha256(url.encode()).hexdigest()[:16]


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be made ({exc}); set TREERING_DB or TREERING_DATA_DIR") from exc
    return folder
