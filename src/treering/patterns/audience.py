"""Shared patterns and the personal patterns of one principal are mined, counted and judged separately.

Shared patterns are judged by shared episodes only: a verdict that everyone reads must not reveal personal episodes, and
must be the same for every reader.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from treering.core.scope import EVERY_VISIBILITY, Scope, Visibility


@dataclass(frozen=True, slots=True)
class Audience:
    """The readers of a set of patterns; `scope` selects the episodes that the patterns are judged by."""

    scope: Scope
    personal: bool

    @property
    def visibility(self) -> Visibility:
        """Visibility of newly mined patterns."""
        return Visibility.PERSONAL if self.personal else Visibility.PROJECT

    def owns(self, visibility: Visibility) -> bool:
        return is_personal(visibility) is self.personal


def is_personal(visibility: Visibility) -> bool:
    return visibility is Visibility.PERSONAL


def audiences(scope: Scope) -> Iterator[Audience]:
    """The shared audience and, if the scope includes it, the personal one, judged by all the principal sees."""
    if shared := scope.visible - {Visibility.PERSONAL}:
        yield Audience(scope.replace(visible=shared), personal=False)
    if Visibility.PERSONAL in scope.visible:
        yield Audience(scope.replace(visible=EVERY_VISIBILITY), personal=True)
