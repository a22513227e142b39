"""Settings from their sources: defaults < user's file < project's file < environment < arguments."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
MAX_WARNINGS = 20  # a file with more mistakes is probably not a settings file
MAX_FILE_BYTES = 65_536  # all settings with comments take a quarter of this
MODEL_FIELDS = ("provider", "model", "url", "directory", "key_variable", "dimension")
"""Taken from one source as a whole, so that a model is never combined with the URL or key of another source."""

_MODELS = ("embedder", "reranker", "writer")
_MODEL_VARIABLES = tuple(f"TREERING_{model.upper()}_{part}" for model in _MODELS for part in ("URL", "KEY"))
_TEST_SYNCHRONOUS = "TREERING_TEST_SYNCHRONOUS"
# Opening a pipe must not block. Windows has neither flag.
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
    """Reasons for which settings of the project's file were ignored, at most `MAX_WARNINGS`."""
    ignored: int = 0
    """Number of settings of the project's file that were ignored."""
    errors: tuple[str, ...] = ()
    """Mistakes in the user's file and the environment; only `inspect_settings` returns them."""

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
    return _load(settings, repository, os.environ if environment is None else environment, _refuse)


def inspect_settings(
    *, repository: str | os.PathLike[str] | None = None, environment: Mapping[str, str] | None = None
) -> LoadedSettings:
    """As `load_settings`, but mistakes are returned as `errors` instead of raised; wrong values are left out."""
    errors: list[str] = []
    loaded = _load(None, repository, os.environ if environment is None else environment, errors.append)
    return replace(loaded, errors=tuple(errors))


def _refuse(mistake: str) -> None:
    raise InvalidInput(mistake)


def _load(
    settings: Settings | None,
    repository: str | os.PathLike[str] | None,
    variables: Mapping[str, str],
    report: Callable[[str], None],
) -> LoadedSettings:
    user_file, project_file = config_directory(variables) / USER_FILE, _project_file(repository)
    warnings: list[str] = []
    project_values, ignored = ({}, 0) if project_file is None else _project_values(project_file, warnings)
    layers = {
        Origin.USER_FILE: _user_values(user_file, report),
        Origin.PROJECT_FILE: project_values,
        Origin.ENVIRONMENT: _environment_values(variables, report),
        Origin.ARGUMENT: dict(_set_in(settings)) if settings is not None else {},
    }
    _check_variables(variables, _key_variables(layers.values()), report)
    values, origins = _merged(layers)
    only_argument = set(origins.values()) <= {Origin.ARGUMENT}
    chosen = (settings or Settings.defaults()) if only_argument else Settings.make(**_nested(values))
    return LoadedSettings(
        chosen, origins, user_file, project_file or Path(PROJECT_FILE), tuple(warnings[:MAX_WARNINGS]), ignored
    )


def report_ignored(loaded: LoadedSettings) -> None:
    """Log one warning if settings of the project's file were ignored."""
    if not loaded.warnings:
        return
    summary = f"{loaded.project_file}: {loaded.ignored} settings are ignored; `treering config` shows which and why"
    logging.getLogger("treering").warning(visible(summary) if loaded.ignored > 1 else loaded.warnings[0])


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


def _user_values(path: Path, report: Callable[[str], None]) -> dict[str, Any]:
    """The settings in the user's file. Mistakes are reported and left out."""
    try:
        text = _text_of(path, follow=True)
        found = {} if text is None else dict(_flat(_parsed(text, path)))
    except InvalidInput as exc:
        report(str(exc))
        return {}
    values: dict[str, Any] = {}
    for name, value in found.items():
        if reason := _rejected(name, value):
            report(f"{path}: {reason}")
        else:
            values[name] = value
    return values


def _project_values(path: Path, warnings: list[str]) -> tuple[dict[str, Any], int]:
    """The settings that the project's file may set, and the number of ignored ones."""
    try:
        text = _text_of(path, follow=False)
        found = {} if text is None else dict(_flat(_parsed(text, path)))
    except InvalidInput as exc:
        warnings.append(_warning(f"{exc}", "the file is ignored"))
        return {}, 0
    values: dict[str, Any] = {}
    for name, value in found.items():
        if reason := _rejected(name, value) or _forbidden(name, value):
            warnings.append(_warning(f"{path}: {reason}", "the setting is ignored"))
        else:
            values[name] = value
    return values, len(found) - len(values)


def _warning(reason: str, effect: str) -> str:
    """The warning, shortened and without control characters, because the file is not trusted."""
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


def _environment_values(environment: Mapping[str, str], report: Callable[[str], None]) -> dict[str, Any]:
    """The settings in the environment: TREERING_<SECTION>_<NAME>, and the variables of models."""
    found = models_in(environment)
    if set_here := _set_variables(environment):
        names = _variables()
        found |= {names[each]: (each, _typed(environment[each])) for each in set_here if each in names}
    values: dict[str, Any] = {}
    for name, (variable, value) in found.items():
        if reason := _rejected(name, value):
            report(f"{variable}: {reason}")
        else:
            values[name] = value
    if environment.get(_TEST_SYNCHRONOUS) == "off":
        values["store.synchronous"] = "off"
    return values


def _set_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables that may be settings and are not empty."""
    return [each for each in environment if each.startswith("TREERING_") and each.count("_") > 1 and environment[each]]


def _check_variables(environment: Mapping[str, str], keys: Iterable[str], report: Callable[[str], None]) -> None:
    """Report variables that begin with the name of a section and are not a setting. `keys` hold API keys."""
    if not (set_here := _set_variables(environment)):
        return
    accepted = dict.fromkeys((*_variables(), *_MODEL_VARIABLES))
    for section in _sections():
        prefix = f"TREERING_{section.upper()}_"
        for variable in set_here:
            if variable.startswith(prefix) and variable not in accepted and variable not in keys:
                nearest = _nearest_variable(variable, prefix, accepted)
                report(f"{variable}: there is no such variable; did you mean {nearest}?")


def _nearest_variable(variable: str, prefix: str, accepted: Iterable[str]) -> str:
    from difflib import get_close_matches

    if variable.removeprefix(prefix).lower() in MODEL_FIELDS:
        return prefix.removesuffix("_")  # one variable names provider and model
    return get_close_matches(variable, [each for each in accepted if each.startswith(prefix)], 1, cutoff=0.0)[0]


def _key_variables(layers: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Variables that the settings name as holders of an API key."""
    names = [f"{model}.key_variable" for model in _MODELS]
    return frozenset(str(values[name]) for values in layers for name in names if name in values)


def _variables() -> Mapping[str, str]:
    """The setting of each variable, without those that choose a model, which `models_in` reads."""
    return {
        f"TREERING_{name.replace('.', '_').upper()}": name
        for name in setting_names()
        if not (name.startswith(_MODELS) and name.split(".")[1] in MODEL_FIELDS)
    }


def _typed(text: str) -> Any:
    """The value in TOML syntax, such as 5, true or ["a"]; other text unchanged."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _set_in(settings: Settings) -> Iterator[tuple[str, Any]]:
    """The settings that the caller set explicitly."""
    for section in settings.model_fields_set:
        values: Value = getattr(settings, section)
        yield from ((f"{section}.{name}", getattr(values, name)) for name in values.model_fields_set)


def _merged(layers: Mapping[Origin, Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Origin]]:
    """Merged values and their origins. The last source wins; `MODEL_FIELDS` come from one source as a whole."""
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
