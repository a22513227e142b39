"""The command with which a client starts this installation of Treering."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from treering.core.errors import InvalidInput, SecretRefused
from treering.core.secrets import scan

_PASSWORD = re.compile(r"[^:/]*:[^@]+@")
"""After the user name, as the engine reads it: everything up to the first @."""
_CACHES = frozenset({".cache", "cache", "Caches"})
_ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")


def own_script(invoked: str, scripts: Path) -> Path:
    """The running program: as it was invoked, else the script installed with the package."""
    for candidate in (invoked, os.fspath(scripts / "treering")):
        if Path(candidate).stem == "treering" and (found := shutil.which(candidate)):
            return Path(found).absolute()
    raise InvalidInput(f"there is no `treering` command in {scripts}; install the package, then run `treering init`")


def command_for(script: Path, variables: Mapping[str, str]) -> str:
    """The bare name if every shell finds this program by it, else the full path.

    An environment that is active only in this terminal does not count: the client may be started from another.
    """
    own = {Path(variables[name]) for name in _ENVIRONMENTS if variables.get(name)}
    folders = [folder for folder in variables.get("PATH", "").split(os.pathsep) if own.isdisjoint(Path(folder).parents)]
    found = shutil.which("treering", path=os.pathsep.join(folders))
    return "treering" if found and os.path.samefile(found, script) else _as_text(os.fspath(script))


def is_in_cache(command: str) -> bool:
    """Whether the program was installed for a single run, as `uvx` and `pipx run` do."""
    return not _CACHES.isdisjoint(Path(command).parts)


def server_options(db: str | None, project: str | None) -> tuple[str, ...]:
    """Options of the server; a file is given by its full path, because clients start servers in any folder."""
    place = () if db is None else ("--db", _in_full(db))
    named = () if project is None else ("--project", project)
    return tuple(map(_as_text, (*place, *named)))


def _in_full(db: str) -> str:
    from treering.compose import embedded_path

    if not db.strip():
        raise InvalidInput("--db is empty; pass a file path or a postgresql:// URL")
    if _has_password(db) or scan(db):
        raise SecretRefused(
            "--db contains a password, which does not belong in a configuration file; omit --db and set TREERING_DB "
            "in the environment of the client"
        )
    file = embedded_path(db)
    if file is None and not db.startswith("postgres"):
        raise InvalidInput(f"{db.partition('://')[0]}: URLs are not supported; pass a file path or a postgresql:// URL")
    return db if file is None else os.fspath(file)


def _has_password(db: str) -> bool:
    """Whether a URL has a password, before its host or among its options."""
    address = db.partition("://")[2]
    options = parse_qsl(address.partition("?")[2])
    return bool(_PASSWORD.match(address)) or any(key.lower().endswith("password") for key, _ in options)


def _as_text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{name!a} is not UTF-8, as configuration files are; rename it") from exc
    return name
