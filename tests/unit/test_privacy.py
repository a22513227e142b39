"""What may be sent to a model on another machine."""

from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.adapters.models.http import ModelEndpoint
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern
from treering.core.privacy import ModelLocation, is_private, location_of, may_leave, text_may_leave
from treering.core.records import Knowledge
from treering.core.turns import Turn

HERE, ELSEWHERE = ModelLocation.HERE, ModelLocation.ELSEWHERE
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434",
        "http://127.8.9.1",
        "http://localhost/v1",
        "http://LOCALHOST",
        "http://[::1]:80",
        "http://[::ffff:127.0.0.1]",
        "https://[::ffff:7f00:1]:443",
    ],
)
def test_loopback_addresses_are_here(url: str) -> None:
    assert ModelEndpoint("the server", url, instead="").location is HERE


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.evil.com",
        "http://evil-localhost",
        "http://models.localhost",
        "http://localhost.",
        "http://127.0.0.1.nip.io",
        "http://127.0.0.1.evil.com:80/v1",
        "http://0.0.0.0:11434",
        "http://[::]",
        "http://2130706433",
        "http://0x7f000001",
        "http://127.1",
        "http://[::ffff:192.0.2.2]",
        "http://[::ffff:0.0.0.0]",
        "http://[::127.0.0.1]",
        "http://[fe80::1]",
        "http://10.0.0.1",
        "http://128.0.0.1",
        "https://api.openai.com/v1",
    ],
)
def test_every_other_host_is_elsewhere(url: str) -> None:
    assert ModelEndpoint("the server", url, instead="").location is ELSEWHERE


def test_a_loopback_address_before_the_host_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without a password"):
        ModelEndpoint("the server", "http://127.0.0.1@evil.com", instead="")


@pytest.mark.parametrize("host", ["", " ", "127.0.0.1 ", "::1]", "①②⑦.0.0.1", "localhost\0", "127.0.0.1:80"])
def test_what_is_not_a_host_is_elsewhere(host: str) -> None:
    assert location_of(host) is ELSEWHERE


def knowledge(**fields: Any) -> Knowledge:
    made = {"id": "k", "type": "fact", "content": "tea at four", **dict.fromkeys(MOMENTS, NOW), **fields}
    return Knowledge.make(**made)


MOMENTS = ("created_at", "updated_at", "last_accessed_at")


@pytest.mark.parametrize(
    "fields",
    [
        {"visibility": "personal"},
        {"flagged": True},
        {"needs_review": True},
        {"tainted": True},
        {"content": "the key is [redacted:github_token]"},
        {"tags": ("[redacted:password]",)},
        {"payload": {"subject": "gate", "attribute": "code", "value": "[redacted:password]"}},
    ],
    ids=str,
)
def test_private_records_and_those_that_held_a_secret_stay(fields: dict[str, Any]) -> None:
    record = knowledge(**fields)
    assert not may_leave(record, ELSEWHERE)
    assert may_leave(record, HERE)


def test_everything_else_may_leave() -> None:
    assert may_leave(knowledge(), ELSEWHERE)
    assert may_leave(knowledge(visibility="team"), ELSEWHERE)
    assert not is_private(knowledge())


@pytest.mark.parametrize("kind", [Turn, Episode, Pattern])
def test_records_of_every_kind_are_judged(kind: type[Any]) -> None:
    record: Any = sample(kind, visibility="project")
    assert may_leave(record, ELSEWHERE)
    assert not may_leave(record.replace(visibility="personal"), ELSEWHERE)


def test_a_tainted_turn_stays() -> None:
    turn = Turn(id="t", session="s", role="user", text="hello", at=NOW, recorded_at=NOW, tainted=True)
    assert not may_leave(turn, ELSEWHERE)


def test_text_with_a_secret_stays() -> None:
    assert text_may_leave("where is the token?", ELSEWHERE)
    assert not text_may_leave(f"what is {TOKEN} for?", ELSEWHERE)
    assert not text_may_leave("what is [redacted:github_token] for?", ELSEWHERE)
    assert text_may_leave(f"what is {TOKEN} for?", HERE)
