"""Settings from their sources: defaults < user's file < project's file < environment < arguments."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from treering.core.errors import InvalidInput
from treering.core.model_choice import models_in
from treering.core.settings import Settings
from treering.core.values import Value
from treering.core.visible_text import visible
from treering.location.repository import repository_around

USER_FILE = "config.toml"
PROJECT_FILE = "treering.toml"
MAX_WARNING_CHARACTERS = 500
MAX_WARNINGS = 20  # a file that is wrong throughout is one mistake
MAX_FILE_BYTES = 65_536  # every setting with a comment takes a quarter of this
MODEL_FIELDS = ("provider", "model", "url", "directory", "key_variable", "dimension")
"""They belong together: a model of one source must not meet the URL or the key of another."""

_MODELS = ("embedder", "reranker", "writer")
_TEST_SYNCHRONOUS = "TREERING_TEST_SYNCHRONOUS"
# A pipe in the place of the file must not block, and Windows has neither flag.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Origin(StrEnum):
    DEFAULT = "default"
    USER_FILE = "user file"
    PROJECT_FILE = "project file"
    ENVIRONMENT = "environment"
    ARGUMENT = "argument"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings that apply, and where each comes from."""

    settings: Settings
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """By name, such as `search.limit`; a setting that is not here has its default."""
    user_file: Path = Path()
    project_file: Path = Path()
    warnings: tuple[str, ...] = ()
    """What was ignored in the project's file, and why."""

    def origin(self, name: str) -> Origin:
        """Where the value of a setting comes from."""
        return self.origins.get(name, Origin.DEFAULT)

    def value(self, name: str) -> Any:
        """The value of a setting by its name."""
        section, key = name.split(".")
        return getattr(getattr(self.settings, section), key)

    def names(self) -> tuple[str, ...]:
        """Every setting."""
        return tuple(setting_names())


def load_settings(
    settings: Settings | None = None,
    *,
    repository: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> LoadedSettings:
    """Read the settings that apply to a repository, by default the one around the working directory.

    A mistake in the user's file or the environment is `InvalidInput`. The project's file comes with a clone: it sets
    only what `PROJECT_KEYS` lists, and everything else in it is ignored with a warning.
    """
    variables = os.environ if environment is None else environment
    user_file, project_file = config_directory(variables) / USER_FILE, _project_file(repository)
    warnings: list[str] = []
    layers = {
        Origin.USER_FILE: _user_values(user_file),
        Origin.PROJECT_FILE: {} if project_file is None else _project_values(project_file, warnings),
        Origin.ENVIRONMENT: _environment_values(variables),
        Origin.ARGUMENT: dict(_set_in(settings)) if settings is not None else {},
    }
    values, origins = _merged(layers)
    only_argument = set(origins.values()) <= {Origin.ARGUMENT}
    chosen = (settings or Settings.defaults()) if only_argument else Settings.make(**_nested(values))
    return LoadedSettings(
        chosen, origins, user_file, project_file or Path(PROJECT_FILE), tuple(warnings[:MAX_WARNINGS])
    )


def report_ignored(loaded: LoadedSettings) -> None:
    """Log what was ignored in the project's file."""
    for warning in loaded.warnings:
        logging.getLogger("treering").warning(warning)


def config_directory(environment: Mapping[str, str]) -> Path:
    """The folder of the user's own settings file."""
    if chosen := environment.get("TREERING_CONFIG_DIR"):
        return Path(chosen).expanduser()
    from platformdirs import user_config_path

    return user_config_path("treering", appauthor=False)


def setting_names() -> Iterator[str]:
    """Every setting, such as `search.limit`."""
    for section, kind in _sections().items():
        yield from (f"{section}.{name}" for name in kind.model_fields)


def _project_file(repository: str | os.PathLike[str] | None) -> Path | None:
    try:
        return repository_around(repository) / PROJECT_FILE
    except InvalidInput:
        return None


def _user_values(path: Path) -> dict[str, Any]:
    """What the user's file sets; any mistake in it is an error."""
    text = _text_of(path, follow=True)
    if text is None:
        return {}
    values = dict(_flat(_parsed(text, path)))
    for name, value in values.items():
        if reason := _rejected(name, value):
            raise InvalidInput(f"{path}: {reason}")
    return values


def _project_values(path: Path, warnings: list[str]) -> dict[str, Any]:
    """What the project's file sets and may set."""
    try:
        text = _text_of(path, follow=False)
        found = {} if text is None else dict(_flat(_parsed(text, path)))
    except InvalidInput as exc:
        warnings.append(_warning(f"{exc}", "the file is ignored"))
        return {}
    values: dict[str, Any] = {}
    for name, value in found.items():
        if reason := _rejected(name, value) or _forbidden(name, value):
            warnings.append(_warning(f"{path}: {reason}", "the setting is ignored"))
        else:
            values[name] = value
    return values


def _warning(reason: str, effect: str) -> str:
    """Names and values in it are a stranger's: short, and nothing that a terminal obeys."""
    return f"{visible(reason)[:MAX_WARNING_CHARACTERS]}; {effect}"


def _forbidden(name: str, value: object) -> str:
    from treering.core.settings.project_file import PROJECT_KEYS

    if name not in PROJECT_KEYS:
        return f"{name} cannot be set by a project; set it in your own settings file or the environment"
    if isinstance(value, int | float) and value > PROJECT_KEYS[name]:
        return f"{name} = {value} is more than the {PROJECT_KEYS[name]:g} that a project may set"
    return ""


def _text_of(path: Path, *, follow: bool) -> str | None:
    """The text of a settings file; None if there is none. A link is followed in the user's own folder only."""
    try:
        descriptor = os.open(path, _READ if follow else _READ | _NO_LINK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        why = "it is a symbolic link" if not follow and path.is_symlink() else exc.strerror
        raise InvalidInput(f"{path}: cannot be read ({why})") from exc
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidInput(f"{path}: not a regular file")
        data = os.read(descriptor, MAX_FILE_BYTES + 1)
    except OSError as exc:
        raise InvalidInput(f"{path}: cannot be read ({exc.strerror})") from exc
    finally:
        os.close(descriptor)
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput(f"{path}: larger than {MAX_FILE_BYTES:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path}: not UTF-8 ({exc.reason} at byte {exc.start})") from exc


def _parsed(text: str, path: Path) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"{path}: not valid TOML ({exc})") from exc


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, values in document.items():
        if isinstance(values, dict):
            yield from ((f"{section}.{name}", value) for name, value in values.items())
        else:
            yield section, values


def _rejected(name: str, value: object) -> str:
    """Reason that a value cannot be set; empty if it can."""
    section, _, key = name.partition(".")
    kind = _sections().get(section)
    if kind is None or key not in kind.model_fields:
        return f"there is no setting {name}{_nearest(name)}"
    default = kind.model_fields[key].get_default(call_default_factory=True)
    number = isinstance(default, int | float)
    if number and (isinstance(value, bool) != isinstance(default, bool) or not isinstance(value, int | float)):
        return f"{name} = {value!r}: expected {'true or false' if isinstance(default, bool) else 'a number'}"
    try:
        kind.make(**{key: value})
    except InvalidInput as exc:
        return f"{name} = {value!r}: {str(exc).partition(f'{key}: ')[2] or exc}"
    return ""


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    known = list(setting_names())
    section, _, key = name.partition(".")
    found = get_close_matches(name, known, 1) or [each for each in known if key and each.split(".")[1] == key][:1]
    own = [each for each in known if each.startswith(f"{section}.")][:3]
    return f"; did you mean {found[0]}?" if found else f"; {section} has {', '.join(own)}…" if own else ""


def _environment_values(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the environment sets: TREERING_<SECTION>_<NAME>, and the variables that name models."""
    values: dict[str, Any] = {}
    for name, (variable, value) in models_in(environment).items():
        if reason := _rejected(name, value):
            raise InvalidInput(f"{variable}: {reason}")
        values[name] = value
    if environment.get(_TEST_SYNCHRONOUS) == "off":
        values["store.synchronous"] = "off"
    set_here = [name for name in environment if name.startswith("TREERING_") and name.count("_") > 1]
    names = _variables() if set_here else {}
    for variable in set_here:
        if variable in names and environment[variable]:
            value = _typed(environment[variable])
            if reason := _rejected(names[variable], value):
                raise InvalidInput(f"{variable}: {reason}")
            values[names[variable]] = value
    return values


def _variables() -> Mapping[str, str]:
    """The setting of each variable. Those of models have variables of their own."""
    return {
        f"TREERING_{name.replace('.', '_').upper()}": name
        for name in setting_names()
        if not (name.startswith(_MODELS) and name.split(".")[1] in MODEL_FIELDS)
    }


def _typed(text: str) -> Any:
    """As TOML writes it, such as 5, true or ["a"]; any other text is itself."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _set_in(settings: Settings) -> Iterator[tuple[str, Any]]:
    """What the caller set, as opposed to what has its default."""
    for section in settings.model_fields_set:
        values: Value = getattr(settings, section)
        yield from ((f"{section}.{name}", getattr(values, name)) for name in values.model_fields_set)


def _merged(layers: Mapping[Origin, Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Origin]]:
    """The last source wins; which model is used, and where, comes from one source as a whole."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for origin, found in layers.items():
        for section in _MODELS:
            names = {f"{section}.{name}" for name in MODEL_FIELDS}
            if names & found.keys():
                values, origins = ({k: v for k, v in each.items() if k not in names} for each in (values, origins))
        values |= found
        origins |= dict.fromkeys(found, origin)
    return values, origins


def _nested(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, key = name.split(".")
        nested.setdefault(section, {})[key] = value
    return nested


def _sections() -> Mapping[str, type[Value]]:
    return {name: cast(type[Value], each.annotation) for name, each in Settings.model_fields.items()}
