"""The version of the code index covers the sources that determine its content."""

import pytest

from treering.code.index import version


@pytest.mark.parametrize("pattern", version._PARTS)
def test_every_pattern_of_the_version_matches_a_file(pattern: str) -> None:
    assert any(version._CODE.glob(pattern))
