"""Scope: the first argument of every read and write."""

from enum import StrEnum
from typing import Annotated, Self, cast

from pydantic import AfterValidator, Field

from treering.core.values import Key, Value, is_key


class Visibility(StrEnum):
    """Visibility of a record, narrowest first."""

    PERSONAL = "personal"
    PROJECT = "project"
    TEAM = "team"
    ORGANISATION = "organisation"


EVERY_VISIBILITY = frozenset(Visibility)


def _some(visible: frozenset[Visibility]) -> frozenset[Visibility]:
    if not visible:
        raise ValueError("`visible` is empty; pass at least one visibility")
    return visible


class Scope(Value):
    """One project of one tenant, seen by one principal.

    Personal records are visible to their owner only; `visible` narrows further. There are no wildcards: a scope has
    exactly one project.
    """

    tenant: Key = "local"
    project: Key
    principal: Key = "local"
    visible: Annotated[frozenset[Visibility], AfterValidator(_some)] = Field(default=EVERY_VISIBILITY)

    @classmethod
    def named(cls, *, tenant: str, project: str, principal: str) -> Self:
        """Like `make`, but without building the slow validator."""
        if all(is_key(name) for name in (tenant, project, principal)):
            return cast(Self, cls.model_construct(tenant=tenant, project=project, principal=principal))
        return cls.make(tenant=tenant, project=project, principal=principal)
