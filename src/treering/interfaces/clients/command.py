"""How a client starts this very Treering."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from treering.core.errors import InvalidInput, SecretRefused
from treering.core.secrets import scan

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


def server_options(db: str | None, project: str | None) -> tuple[str, ...]:
    """What the server is told; a file is named in full, since clients start it in folders of their choice."""
    if db is not None and scan(db):
        raise SecretRefused(
            "no password belongs into a configuration file; set TREERING_DB where the client starts instead"
        )
    place = () if db is None else ("--db", db if "://" in db else os.fspath(Path(db).expanduser().absolute()))
    named = () if project is None else ("--project", project)
    return tuple(map(_as_text, (*place, *named)))


def _as_text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{name!a} is not UTF-8, which configuration files are; give it another name") from exc
    return name
