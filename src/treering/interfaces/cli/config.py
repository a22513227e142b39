"""config: the settings that apply here, and where each comes from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.interfaces.cli.exit_codes import ExitCode
from treering.interfaces.cli.options import AsJson
from treering.interfaces.cli.output import emit
from treering.interfaces.masking import masked

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.compose import LoadedSettings


def config(
    changed: Annotated[bool, typer.Option("--changed", help="Leave out the settings that have their default.")] = False,
    repository: Annotated[
        Path | None,
        typer.Option(
            "--repository",
            metavar="PATH",
            help="Repository whose treering.toml is read. Default: the one around the working directory.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show each setting, its value and where it comes from.

    Sources, from the weakest: defaults, your own settings file, treering.toml in the repository, the environment.
    Lists the settings of a project's file that are ignored, with the reasons. Exits with 1 if your own settings file or
    the environment has a mistake, after showing the settings without it.
    """
    from treering.compose import Origin, inspect_settings

    loaded = inspect_settings(repository=repository)
    names = [name for name in loaded.names() if not changed or loaded.origin(name) is not Origin.DEFAULT]
    emit(_document(loaded, names), lambda: _view(loaded, names), as_json=as_json)
    if loaded.errors:
        raise typer.Exit(ExitCode.FAILED)


def _document(loaded: "LoadedSettings", names: list[str]) -> dict[str, Any]:
    return {
        "user_file": str(loaded.user_file),
        "project_file": str(loaded.project_file),
        "settings": {
            name: {"value": masked(loaded.value(name)), "origin": loaded.origin(name).value} for name in names
        },
        "warnings": list(loaded.warnings),
        "errors": masked(loaded.errors),
    }


def _view(loaded: "LoadedSettings", names: list[str]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.compose import Origin
    from treering.core.visible_text import visible
    from treering.interfaces.cli.layout import rows

    def row(name: str) -> tuple[Text, Text, Text]:
        origin = loaded.origin(name)
        style = "dim" if origin is Origin.DEFAULT else "bold"
        return Text(name), Text(origin.value, style), Text(visible(_shown(masked(loaded.value(name)))))

    files = (("your file", loaded.user_file), ("project file", loaded.project_file))
    return Group(
        rows((Text(name), Text(visible(f"{path}{'' if path.exists() else ' (none)'}"))) for name, path in files),
        Text(),
        rows(map(row, names)),
        *(Text(visible(f"ignored: {warning}"), "yellow") for warning in loaded.warnings),
        *(Text(visible(f"error: {error}"), "red") for error in masked(loaded.errors)),
    )


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
