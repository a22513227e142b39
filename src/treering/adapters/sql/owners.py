"""Principals with personal records: maintenance works for them, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from treering.adapters.sql.context import PrincipalName
from treering.adapters.sql.rows import insert_new
from treering.adapters.sql.tables import principals

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

SHARED = ""


def owners_of_personal(context: TransactionContext) -> Sequence[str]:
    """Distinct, sorted names; reads nothing else."""
    named = context.dialect.names(context.connection, context.scope.tenant, context.scope.project)
    # The engines sort text differently, and a run resumed after a crash may compare names.
    return sorted(each.principal for each in named if each.principal != SHARED)


def register(context: TransactionContext, names: Iterable[str]) -> None:
    """Register owners before their first record is stored."""
    scope, known = context.scope, context.dialect.registered
    for name in sorted(set(names)):
        row = PrincipalName(scope.tenant, scope.project, name)
        if row not in known and row not in context.registering:
            insert_new(context.connection, principals, row._asdict())
            context.registering.add(row)
            context.after_commit.append(partial(known.add, row))
