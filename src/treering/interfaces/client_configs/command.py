"""How a client starts this very Treering."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from treering.core.errors import InvalidInput, SecretRefused
from treering.core.secrets import scan

_PASSWORD = re.compile(r"[^:/]*:[^@]+@")
"""Behind the name of a user, as the engine reads it: up to the first @, whatever stands before."""
_CACHES = frozenset({".cache", "cache", "Caches"})
_ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")


def own_script(invoked: str, scripts: Path) -> Path:
    """The program that runs now: as it was called, else the one that was installed with the package."""
    for candidate in (invoked, os.fspath(scripts / "treering")):
        if Path(candidate).stem == "treering" and (found := shutil.which(candidate)):
            return Path(found).absolute()
    raise InvalidInput(f"no `treering` command stands in {scripts}; install the package, then run `treering init`")


def command_for(script: Path, variables: Mapping[str, str]) -> str:
    """The bare name where any shell would find this program by it, else the whole path.

    An environment that is active in this terminal only does not count: the client may be started from another.
    """
    own = {Path(variables[name]) for name in _ENVIRONMENTS if variables.get(name)}
    folders = [folder for folder in variables.get("PATH", "").split(os.pathsep) if own.isdisjoint(Path(folder).parents)]
    found = shutil.which("treering", path=os.pathsep.join(folders))
    return "treering" if found and os.path.samefile(found, script) else _as_text(os.fspath(script))


def is_in_a_cache(command: str) -> bool:
    """Whether a program was put there for one run, as `uvx` and `pipx run` do."""
    return not _CACHES.isdisjoint(Path(command).parts)


def server_options(db: str | None, project: str | None) -> tuple[str, ...]:
    """What the server is told; a file is named in full, since clients start it in folders of their choice."""
    place = () if db is None else ("--db", _in_full(db))
    named = () if project is None else ("--project", project)
    return tuple(map(_as_text, (*place, *named)))


def _in_full(db: str) -> str:
    from treering.compose import embedded_path

    if not db.strip():
        raise InvalidInput("--db names no memory; give a file path or a postgresql:// URL")
    if _has_password(db) or scan(db):
        raise SecretRefused(
            "no password belongs into a configuration file; leave --db out and set TREERING_DB where the client starts"
        )
    file = embedded_path(db)
    if file is None and not db.startswith("postgres"):
        raise InvalidInput(f"no engine for {db.partition('://')[0]}: URLs; give a file path or a postgresql:// URL")
    return db if file is None else os.fspath(file)


def _has_password(db: str) -> bool:
    """Whether a URL carries one, before its host or among its options."""
    address = db.partition("://")[2]
    options = parse_qsl(address.partition("?")[2])
    return bool(_PASSWORD.match(address)) or any(key.lower().endswith("password") for key, _ in options)


def _as_text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{name!a} is not UTF-8, which configuration files are; give it another name") from exc
    return name
