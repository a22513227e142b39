"""The token of the HTTP server: made once, for one user, and refused where somebody else may know it."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from treering.core.errors import InvalidInput, StoreReadOnly
from treering.interfaces.servers.http.token import FILE, AccessToken, token_for

LONG_ENOUGH = "a-token-that-somebody-made-for-us-0001"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder; the working directory is a project."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def own(project: str | None = None) -> AccessToken:
    return token_for(project, file=None, given=None)


def brought(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_it_is_made_on_the_first_start_and_stays(data: Path) -> None:
    first = own()
    assert first == own()
    assert len(first.text) == 43


def test_only_the_user_can_read_it(data: Path) -> None:
    file = own().file
    assert file is not None
    assert file.parent.parent == data
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == [FILE]


def test_it_is_made_so_whatever_the_umask_is(data: Path) -> None:
    before = os.umask(0)
    try:
        file = own().file
    finally:
        os.umask(before)
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_servers_that_start_at_once_agree_on_one(data: Path) -> None:
    with ThreadPoolExecutor(8) as starting:
        tokens = set(starting.map(lambda _: own(), range(40)))
    assert len(tokens) == 1


def test_each_project_has_its_own(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, named, other = own(), own("shop"), own("../../other")
    assert len({here.text, named.text, other.text}) == 3
    assert all(token.file is not None and token.file.parent.parent == data for token in (here, named, other))


def test_the_project_around_is_the_same_by_its_name(data: Path) -> None:
    here = own()
    assert here.file is not None
    assert own(here.file.parent.name) == here


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_what_others_can_touch_is_refused(data: Path, mode: int) -> None:
    file = own().file
    assert file is not None
    file.chmod(mode)
    with pytest.raises(InvalidInput, match=rf"other users can read.*{mode:04o}.*chmod 600"):
        own()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has 0; create one"),
        ("x" * 31, "has 31; create one"),
        ("x" * 5_000, "32 to 1,000 characters"),
        ("two words that are long enough for a token", "a header cannot contain"),
        ("ein-Schlüssel-der-lang-genug-wäre-0123456", "a header cannot contain"),
    ],
)
def test_what_cannot_be_a_token_is_refused_and_not_shown(data: Path, tmp_path: Path, text: str, why: str) -> None:
    for wanted in (
        lambda: token_for(None, file=brought(tmp_path / "t", text), given=None),
        lambda: token_for(None, file=None, given=text),
    ):
        with pytest.raises(InvalidInput, match=why) as refused:
            wanted()
        assert not text or text not in str(refused.value)


def test_a_named_file_wins_over_the_environment(data: Path, tmp_path: Path) -> None:
    file = brought(tmp_path / "token", f"{LONG_ENOUGH}\n")
    assert token_for(None, file=file, given="b" * 40) == AccessToken(LONG_ENOUGH, file)
    assert token_for(None, file=None, given=LONG_ENOUGH) == AccessToken(LONG_ENOUGH, None)
    assert not data.exists()


def test_a_named_file_is_not_made(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read \(No such file.*create one"):
        token_for(None, file=tmp_path / "typo", given=None)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="is not a regular file"):
        token_for(None, file=tmp_path / "pipe", given=None)


def test_a_data_folder_that_cannot_be_written_says_what_to_do(data: Path) -> None:
    data.parent.joinpath("data").write_text("in the way")
    with pytest.raises(StoreReadOnly, match="TREERING_DATA_DIR"):
        own()


def test_it_is_not_shown_by_accident(data: Path) -> None:
    token = own()
    assert token.text not in repr(token)
