"""The version of the readers: it covers every file that decides what is stored."""

import pytest

from treering.code.index import version


@pytest.mark.parametrize("pattern", version._PARTS)
def test_every_pattern_of_the_version_names_an_existing_file(pattern: str) -> None:
    assert list(version._CODE.glob(pattern))
