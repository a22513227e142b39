"""The same failure is recognised although what varies in its message does; another failure is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from tests.samples import sample
from treering.core import failures
from treering.core.episodes import Episode
from treering.core.failures import failure_messages, failure_signature, failure_signatures, normalised_failure

SAME = {
    "unix paths": ("open /home/ada/project/src/app.py: denied", "open /tmp/build-x/y/z.py: denied"),
    "relative paths": ("cannot read src/app/main.py now", "cannot read lib/other.py now"),
    "windows paths": (r"C:\Users\ada\app.py not found", r"D:\work\b\c.py not found"),
    "numbers": ("timeout after 30 seconds", "timeout after 4500 seconds"),
    "line numbers": ("SyntaxError at line 12, column 7", "SyntaxError at line 9, column 44"),
    "uuids": (
        "no job 6f1c2a44-9e0b-4c77-8a55-0d6f0a1b2c3d",
        "no job 00000000-1111-2222-3333-444444444444",
    ),
    "hashes": (
        "bad object 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "bad object 1a410efbd13591db07496601ebc7a059dd55cfe9",
    ),
    "addresses in memory": ("segfault at 0x7ffe12ab", "segfault at 0xDEADBEEF"),
    "IP addresses": ("cannot reach 10.0.0.1:5432", "cannot reach 192.168.17.3:80"),
    "hosts with ports": ("connect to db.internal:5432 failed", "connect to localhost:6379 failed"),
    "URLs": ("GET https://a.example/x?y=1 failed", "GET http://b.example/zz failed"),
    "mails": ("no mailbox ada@example.com", "no mailbox bob.b@mail.example.org"),
    "times": ("expired at 2026-05-08T13:56:00Z", "expired at 2024-01-01 00:00:01.123+02:00"),
    "clock times": ("[13:56:01] died", "[00:00:59.5] died"),
    "colours": ("\x1b[31merror\x1b[0m: boom", "error: boom"),
    "spaces and case": ("Error:   BOOM\n  here", "error: boom here"),
    "times with units": ("timeout after 3.2s", "timeout after 10s"),
    "composed times": ("timeout after 1m30s", "timeout after 850ms"),
    "sizes": ("only 12.5MB left", "only 3GiB left"),
    "versions": ("needs version 3.11.2", "needs version 4.0"),
    "IPv6 addresses": ("cannot reach fe80::1%eth0 now", "cannot reach 2001:db8:0:0:0:0:0:17 now"),
    "IPv6 addresses with ports": ("cannot reach [2001:db8::1]:5432", "cannot reach [::1]:80"),
    "IPv6 and IPv4": ("cannot reach ::ffff:10.0.0.1 now", "cannot reach 10.0.0.2 now"),
    "network cards": ("no route to 02:42:ac:11:00:02", "no route to aa:bb:cc:dd:ee:ff"),
    "paths with spaces": ('cannot open "/home/ada/my files/a b.txt" now', 'cannot open "/srv/x/y" now'),
    "relative paths with spaces": ("cannot open 'my docs/a b.txt'", "cannot open 'other/b c.md'"),
    "windows paths with spaces": (r'"C:\Program Files\a b.exe" is gone', r'"D:\x\y.exe" is gone'),
    "containers": ("container deadbeefcafe died", "container 0123456789ab died"),
    "counts after an error": ("error: 17 files failed", "error: 3 files failed"),
    "versions of HTTP": ("HTTP/1.1 404 Not Found", "HTTP/2 404 Not Found"),
    "names with numbers": ("worker-12-34 stopped", "worker-99-1 stopped"),
}

DIFFERENT = [
    ("connection refused", "connection reset"),
    ("No module named 'requests'", "No module named 'httpx'"),
    ('column "total" does not exist', 'column "price" does not exist'),
    ("KeyError: 'id'", "KeyError: 'name'"),
    ("permission denied: /etc/passwd", "no such file: /etc/passwd"),
    ("TypeError: expected str", "ValueError: expected str"),
    ("timeout after 30 seconds", "timeout after 30 minutes"),
    ("cannot reach 10.0.0.1:5432", "cannot resolve db.internal:5432"),
    ("HTTP 404", "HTTP 500"),
    ("HTTP/1.1 404 for /a/b", "HTTP/1.1 500 for /a/b"),
    ("HTTP Error 404", "HTTP Error 403"),
    ("request failed with status code 404", "request failed with status code 503"),
    ('{"code": 404}', '{"code": 500}'),
    ("status_code=404", "status_code=500"),
    ("exit code 1", "exit code 137"),
    ("exit status 1", "exit status 2"),
    ("the process exited with 1", "the process exited with 137"),
    ("exited with code: 1", "exited with code: 2"),
    ("returncode=1", "returncode=-9"),
    ("killed by signal 9", "killed by signal 11"),
    ("[Errno 2] '/a/b'", "[Errno 13] '/a/b'"),
    ("ERROR 1045 (28000): denied", "ERROR 2003 (HY000): denied"),
    ("a.ts(3,4): error TS2304: no", "a.ts(3,4): error TS7006: no"),
    ("error[E0308]: no", "error[E0502]: no"),
    ("SQLSTATE[42S02]", "SQLSTATE[42S22]"),
    ("ORA-00942: no", "ORA-01017: no"),
    ("error code 0x80070005", "error code 0x80004005"),
    ('"/a/b: not found"', '"/a/b: is a directory"'),
    ("no method std::add", "no method std::sub"),
]


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_varies_makes_no_other_failure(one: str, other: str) -> None:
    assert normalised_failure(one) == normalised_failure(other)
    assert failure_signature(one) == failure_signature(other) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_failures_stay_different(one: str, other: str) -> None:
    assert failure_signature(one) != failure_signature(other)


@pytest.mark.parametrize("nothing", ["", "  \n\t"])
def test_a_message_that_says_nothing_has_no_signature(nothing: str) -> None:
    assert failure_signature(nothing) == ""


def test_a_traceback_is_known_by_its_last_line_too() -> None:
    traceback = "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in run\nKeyError: 'id'\n"
    episode = sample(Episode, outcome={"status": "FAILURE", "output": traceback})
    assert failure_signature("KeyError: 'id'") in failure_signatures(episode)
    assert failure_signature(traceback) in failure_signatures(episode)


def test_what_went_wrong_stands_in_steps_reflection_and_a_bad_end() -> None:
    steps = [
        {"at": "2026-05-08T00:00:00Z", "action": "run", "output": "boom", "is_error": True},
        {"at": "2026-05-08T00:00:00Z", "action": "crashed", "is_error": True},
        {"at": "2026-05-08T00:00:00Z", "action": "run", "output": "fine"},
    ]
    told: dict[str, Any] = {"execution": {"trace": steps}, "reflection": {"failures": ("too slow",)}}
    failed = sample(Episode, outcome={"status": "FAILURE", "output": "gave up"}, **told)
    succeeded = sample(Episode, outcome={"status": "SUCCESS", "output": "done"}, **told)
    assert list(failure_messages(failed)) == ["boom", "crashed", "too slow", "gave up"]
    assert list(failure_messages(succeeded)) == ["boom", "crashed", "too slow"]


PIECES = ("a-", "a.", "a/", "/a", "a:", "1:", "::", "0x", '"/a', "'a", "a@", "1.", "f", "1", "code: with ", "[::", "~/")


def test_no_message_takes_long_whatever_it_repeats() -> None:
    """Of every kind that a rule could begin with again and again."""
    for one in PIECES:

        def read_all(times: int, one: str = one) -> None:
            for other in PIECES:
                failure_signature((one + other) * times)

        assert growth(read_all, 250, 1_000) < LINEAR


@given(st.lists(st.sampled_from((*PIECES, " ", "-", "\n", "error ", "E123", "HTTP/1.1 404 ", "\x1b[")), max_size=1_500))
def test_any_message_is_normalised_once_and_for_all(pieces: list[str]) -> None:
    normal = normalised_failure("".join(pieces))
    assert normal == normal.strip()


def test_what_was_said_often_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [{"at": "2026-05-08T00:00:00Z", "action": "run", "output": "boom", "is_error": True}] * 50
    read = list[str]()

    def signature(message: str) -> str:
        read.append(message)
        return "signature"

    monkeypatch.setattr(failures, "failure_signature", signature)
    assert failure_signatures(sample(Episode, execution={"trace": steps})) == ("signature",)
    assert read == ["boom"]


def test_a_message_however_long_is_read_in_no_time() -> None:
    assert failure_signature("a/" * 500_000) == failure_signature("a/" * 600_000)


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("", ()),
        (" \n ", ()),
        ("KeyError: 'orders'", ("keyerror: 'orders'",)),
        ("Traceback:\n  File '/a/b.py', line 3\n\nKeyError: 'orders'\n", ("keyerror: 'orders'", "traceback:")),
        ("TypeError: x\n    at /srv/app.js:12", ("at", "typeerror: x")),
    ],
)
def test_the_last_line_or_the_first_tells_what_it_was(message: str, lines: tuple[str, ...]) -> None:
    assert failures.significant_lines(message) == lines
