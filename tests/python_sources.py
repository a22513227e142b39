"""A small Python library, and helpers for tests of code that uses it."""

import textwrap

from tests.resolver_projects import edges_of
from treering.code.languages.python import LANGUAGE

LIBRARY = """
import contextlib, functools
from collections.abc import Iterator
from typing import Generic, NamedTuple, Optional, TypeVar, Union

T = TypeVar("T", bound="Base")

class Base:
    name: str = ""
    def run(self): ...
    def me(self: T) -> T: ...
    @classmethod
    def make(cls): return cls()
    @staticmethod
    def tool(): ...

class Child(Base):
    def __init__(self, other: "Other"):
        self.other = other
        self.made = Other()
    def __enter__(self): return self.other
    def __exit__(self, *failure): ...
    def __iter__(self) -> Iterator["Other"]: ...
    def __getitem__(self, key) -> "Other": ...
    def __call__(self): ...
    def __add__(self, more): return Other()
    async def __aenter__(self) -> "Other": ...
    async def __aexit__(self, *failure): ...
    @property
    def linked(self) -> "Other": ...
    @functools.cached_property
    def shown(self): return Other()
    async def fetch(self) -> "Other": ...
    def give(self): return self.other

class Other:
    def act(self): ...

class Pair(NamedTuple):
    first: int
    second: Other

def build() -> Child: ...
def guess():
    child = Child(Other())
    return child
def pair(): return Child(Other()), Other()
def maybe() -> Optional[Other]: ...
def several() -> list[Other]: ...
def same(thing: T) -> T: ...
async def later(): return Other()
@contextlib.contextmanager
def managed():
    yield Other()
def counted():
    yield Other()
shared = Child(Other())
declared: Union[Other, None] = None
"""

ACT = "lib.py::Other.act"
RUN = "lib.py::Base.run"


def calls(files: dict[str, str]) -> set[tuple[str, str]]:
    """The call edges of a project as `(caller, callee)`."""
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    return {(origin, target) for origin, kind, target in edges_of(sources, LANGUAGE) if kind == "calls"}


def targets(code: str, origin: str = "main.py::f") -> set[str]:
    """Return what `origin` calls in a file with this code, next to the library."""
    files = {"lib.py": LIBRARY, "main.py": "from lib import *\nimport lib\n" + textwrap.dedent(code)}
    return {target for caller, target in calls(files) if caller == origin}
