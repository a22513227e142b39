"""The folder to index, and the folder whose index a project already contains."""

from pathlib import Path

from treering.core.errors import FolderUnavailable, InvalidInput, NotFound


def resolve_root(path: str | Path | None, usual: Path | None) -> Path:
    """Return the requested folder as a resolved path."""
    if path is None and usual is None:
        raise InvalidInput("the working directory cannot be read; pass the folder to index")
    try:
        root = Path(path if path is not None else str(usual)).expanduser().resolve()
    except (OSError, RuntimeError) as exc:
        raise FolderUnavailable(f"{path} cannot be found ({exc}); pass the root of a project") from exc
    return check_readable(root)


def check_readable(root: Path) -> Path:
    if not root.is_dir():
        raise FolderUnavailable(f"{root} is not a readable folder; pass the root of a project")
    return root


def check_still_indexed(known: str, root: Path, project: str) -> None:
    """Check that the project still contains the index of this folder; raise if it was removed or replaced."""
    if not known:
        raise NotFound(
            f"the index of {root} in project {project!r} was removed and is not rebuilt automatically; run "
            "`treering index` to rebuild it"
        )
    if known != str(root):
        raise InvalidInput(
            f"the index of {root} in project {project!r} was replaced by that of {known}; use a separate project for "
            f"{root} (`--project NAME`, `project=…`), or restore it with `--replace` (`replace=True`)"
        )


def check_replacement(known: str, root: Path, project: str, *, replace: bool) -> tuple[str, ...]:
    """Return the notices to show when a project's index changes to this folder.

    Raise `InvalidInput` if the project contains the index of another existing folder, unless `replace` is set.
    """
    before = Path(known)
    if not known or before == root:
        return ()
    if replace:
        return (f"replaced the index of {known} in project {project!r}",)
    if not before.is_dir():
        return (f"replaced the index of {known} in project {project!r}: that folder no longer exists",)
    if before in root.parents:
        raise InvalidInput(
            f"{root} is inside {known}, which project {project!r} already indexes; index all of it with "
            f"`treering index {known}`, or replace it by this folder with `--replace` (`replace=True`)"
        )
    raise InvalidInput(
        f"project {project!r} already indexes {known}; use a separate project for {root} (`--project NAME`, "
        "`project=…`), or replace the index with `--replace` (`replace=True`)"
    )
