"""Which folder is indexed: the one that is meant, and the one that a project already holds."""

from pathlib import Path

from treering.core.errors import FolderUnavailable, InvalidInput, NotFound


def chosen_root(path: str | Path | None, usual: Path | None) -> Path:
    """The folder that is meant, as it really stands on disk."""
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
    """For whoever keeps the index of this folder: an error where somebody took it away, or replaced it meanwhile."""
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
    """What to say where a project's index becomes that of this folder.

    `InvalidInput` where it is the index of another folder that is still there, unless that is to be replaced.
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
