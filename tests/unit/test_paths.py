"""One file of a repository has one name."""

import pytest

from treering.core.errors import InvalidInput
from treering.core.values import FilePath, Value


class Named(Value):
    path: FilePath


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("./a//b", "a/b"),
        ("a/./b.py", "a/b.py"),
        ("././a", "a"),
        ("a/.", "a"),
        ("a//", "a/"),
        ("src/", "src/"),
        (".", "."),
        ("./", "."),
        (".github/ci.yml", ".github/ci.yml"),
        ("a..b/..c/d..", "a..b/..c/d.."),
        ("odd\\name", "odd\\name"),
        ("a:b", "a:b"),
        (" a ", " a "),
    ],
)
def test_a_path_is_told_without_detours_and_otherwise_as_written(written: str, meant: str) -> None:
    assert Named.make(path=written).path == meant
    assert Named.make(path=meant).path == meant


@pytest.mark.parametrize("path", ["", " ", "./ ", "a\nb"])
def test_a_path_that_names_nothing_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput):
        Named.make(path=path)
