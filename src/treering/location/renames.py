"""What becomes of the memory of a repository that was renamed or moved."""

import os
from collections.abc import Sequence
from dataclasses import replace

from treering.core.errors import StoreError
from treering.location.choice import Choice, Identify, Place, all_chosen, choose, chosen
from treering.location.private_files import is_gone
from treering.location.repository import Home, project_name


def choice_of(home: Home, identify: Identify) -> Choice:
    """Where the memory is: as noted; else where a renamed repository has it; else, to begin with, the data folder."""
    return chosen(home) or _inherited(home, identify) or Choice(project_name(home.root))


def settled(home: Home, identify: Identify) -> Choice:
    """The same, noted from now on, so that the repository is known when it is renamed."""
    if noted := chosen(home):
        return noted
    choice = choice_of(home, identify)
    choose(home, choice)
    if choice.place is Place.PROJECT:
        for old, before in owners(home, choice.database):
            # Whoever makes a repository there again begins anew.
            choose(old, Choice(before.project))
    return choice


def owners(home: Home, database: str) -> Sequence[tuple[Home, Choice]]:
    """The other repositories of this user that this very database was put into."""
    return [
        (other, choice)
        for other, choice in all_chosen(home.data)
        if choice.place is Place.PROJECT and choice.database == database and other != home
    ]


def repositories_gone(home: Home) -> Sequence[Home]:
    """Those whose memory is in the data folder and whose root is no longer there, the last used first."""
    found = [
        other
        for other, choice in all_chosen(home.data)
        if choice.place is Place.DATA_FOLDER and os.path.isfile(other.in_data_folder) and is_gone(other.root)
    ]
    return sorted(found, key=lambda other: os.path.getmtime(other.in_data_folder), reverse=True)


def _inherited(home: Home, identify: Identify) -> Choice | None:
    """A database in the project that this user put into a repository, and that is no longer there but here.

    Nobody else knows its identity: what came with a repository has another. While the original is where it was, this is
    a copy, and nobody asked for that.
    """
    file = home.in_project
    linked = os.path.islink(file.parent) or os.path.islink(file)
    if linked or not os.path.isfile(file) or not is_gone(home.in_data_folder):
        return None
    try:
        known = owners(home, identify(file))
    except StoreError:
        return None
    if not known or not all(is_gone(old.in_project) for old, _ in known):
        return None
    return replace(known[0][1], remains=False)
