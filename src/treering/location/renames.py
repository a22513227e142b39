"""The memory of a repository that was renamed or moved."""

import os
from collections.abc import Sequence
from dataclasses import replace

from treering.core.errors import StoreError
from treering.location.choice import Choice, Identify, MemoryLocation, all_choices, read_choice, save_choice
from treering.location.private_files import is_absent
from treering.location.repository import MemoryPaths, project_name


def choice_of(paths: MemoryPaths, identify: Identify) -> Choice:
    """The stored choice; else that of the renamed repository; else the data folder."""
    return read_choice(paths) or _inherited(paths, identify) or Choice(project_name(paths.root))


def ensure_choice(paths: MemoryPaths, identify: Identify) -> Choice:
    """Like `choice_of`, but stored, so that the repository is recognised after a rename."""
    if noted := read_choice(paths):
        return noted
    choice = choice_of(paths, identify)
    save_choice(paths, choice)
    if choice.place is MemoryLocation.PROJECT:
        for old, before in owning_repositories(paths, choice.database):
            # A new repository at the old path starts with an empty memory.
            save_choice(old, Choice(before.project))
    return choice


def owning_repositories(paths: MemoryPaths, database: str) -> Sequence[tuple[MemoryPaths, Choice]]:
    """The other repositories of this user into which this database was put."""
    return [
        (other, choice)
        for other, choice in all_choices(paths.data_folder)
        if choice.place is MemoryLocation.PROJECT and choice.database == database and other != paths
    ]


def missing_repositories(paths: MemoryPaths) -> Sequence[MemoryPaths]:
    """Repositories whose memory is in the data folder and whose root no longer exists, last used first."""
    found = [
        other
        for other, choice in all_choices(paths.data_folder)
        if choice.place is MemoryLocation.DATA_FOLDER and os.path.isfile(other.in_data_folder) and is_absent(other.root)
    ]
    return sorted(found, key=lambda other: os.path.getmtime(other.in_data_folder), reverse=True)


def _inherited(paths: MemoryPaths, identify: Identify) -> Choice | None:
    """The choice of another repository of this user whose database is now here and no longer there.

    The identity proves the origin: a database that arrived with the repository has a different one. While the original
    exists, this one is only a copy.
    """
    file = paths.in_project
    linked = os.path.islink(file.parent) or os.path.islink(file)
    if linked or not os.path.isfile(file) or not is_absent(paths.in_data_folder):
        return None
    try:
        known = owning_repositories(paths, identify(file))
    except StoreError:
        return None
    if not known or not all(is_absent(old.in_project) for old, _ in known):
        return None
    return replace(known[0][1], remains=False)
