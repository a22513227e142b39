"""Patterns that a project shares, and those of one person: each are found, counted and judged by themselves.

What is shared is judged by shared episodes alone: no verdict that others read may tell what somebody keeps to himself,
and it is the same whoever asks for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from treering.core.scope import EVERY_VISIBILITY, Scope, Visibility


@dataclass(frozen=True, slots=True)
class Audience:
    """Who sees the patterns that are worked on: `scope` is what they are judged by."""

    scope: Scope
    personal: bool

    @property
    def visibility(self) -> Visibility:
        """Of what is newly found."""
        return Visibility.PERSONAL if self.personal else Visibility.PROJECT

    def owns(self, visibility: Visibility) -> bool:
        return is_personal(visibility) is self.personal


def is_personal(visibility: Visibility) -> bool:
    return visibility is Visibility.PERSONAL


def audiences(scope: Scope) -> Iterator[Audience]:
    """Everybody's, and where this scope sees them the principal's own. Those are held against all that he sees."""
    if shared := scope.visible - {Visibility.PERSONAL}:
        yield Audience(scope.replace(visible=shared), personal=False)
    if Visibility.PERSONAL in scope.visible:
        yield Audience(scope.replace(visible=EVERY_VISIBILITY), personal=True)
