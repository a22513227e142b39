"""Whose memory: the first argument of every read and write."""

from enum import StrEnum
from typing import Annotated, Self, cast

from pydantic import AfterValidator, Field

from treering.core.values import Key, Value, is_key


class Visibility(StrEnum):
    """Who may see a record, from the narrowest."""

    PERSONAL = "personal"
    PROJECT = "project"
    TEAM = "team"
    ORGANISATION = "organisation"


EVERY_VISIBILITY = frozenset(Visibility)


def _some(visible: frozenset[Visibility]) -> frozenset[Visibility]:
    if not visible:
        raise ValueError("a scope that sees nothing is a mistake; name at least one visibility")
    return visible


class Scope(Value):
    """One project of one tenant, seen by one principal.

    Personal records are seen by their owner only; `visible` narrows further. There is no wildcard: a scope always
    names one project.
    """

    tenant: Key = "local"
    project: Key
    principal: Key = "local"
    visible: Annotated[frozenset[Visibility], AfterValidator(_some)] = Field(default=EVERY_VISIBILITY)

    @classmethod
    def named(cls, *, tenant: str, project: str, principal: str) -> Self:
        """What `make` gives. The validator, which takes longer to build than a file to open, is not used for it."""
        if all(is_key(name) for name in (tenant, project, principal)):
            return cast(Self, cls.model_construct(tenant=tenant, project=project, principal=principal))
        return cls.make(tenant=tenant, project=project, principal=principal)
