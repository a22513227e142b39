"""The folder to index, and the folder whose index a project already contains."""

from pathlib import Path

from treering.core.errors import FolderUnavailable, InvalidInput, NotFound


def chosen_root(path: str | Path | None, usual: Path | None) -> Path:
    """Return the requested folder as a resolved path."""
    if path is None and usual is None:
        raise InvalidInput("the working directory cannot be read; name the folder that is to be indexed")
    try:
        root = Path(path if path is not None else str(usual)).expanduser().resolve()
    except (OSError, RuntimeError) as exc:
        raise FolderUnavailable(f"{path} cannot be found ({exc}); name the root of a project") from exc
    return readable(root)


def readable(root: Path) -> Path:
    if not root.is_dir():
        raise FolderUnavailable(f"{root} is not a folder that can be read; name the root of a project")
    return root


def still_indexed(known: str, root: Path, project: str) -> None:
    """Check that the project still contains the index of this folder; raise if it was removed or replaced."""
    if not known:
        raise NotFound(
            f"the index of {root} in project {project!r} was forgotten, and is not made again unasked; run "
            "`treering index` to make it"
        )
    if known != str(root):
        raise InvalidInput(
            f"project {project!r} holds the code of {known} now, which took the place of {root}; give {root} a project "
            "of its own (`--project NAME`, `project=…`), or put it back with `--replace` (`replace=True`)"
        )


def put_in_place_of(known: str, root: Path, project: str, *, replace: bool) -> tuple[str, ...]:
    """Return the notices to show when a project's index changes to this folder.

    Raise `InvalidInput` if the project contains the index of another existing folder, unless `replace` is set.
    """
    before = Path(known)
    if not known or before == root:
        return ()
    if replace:
        return (f"this took the place of {known} in project {project!r}",)
    if not before.is_dir():
        return (f"{known}, which project {project!r} held before, is no longer there: this took its place",)
    if before in root.parents:
        raise InvalidInput(
            f"{root} is a part of {known}, which project {project!r} holds; index all of it with "
            f"`treering index {known}`, or this part instead of it with `--replace` (`replace=True`)"
        )
    raise InvalidInput(
        f"project {project!r} holds the code of {known}; give {root} a project of its own (`--project NAME`, "
        "`project=…`), or put it in the place of the other with `--replace` (`replace=True`)"
    )
