"""The same failure is recognised although what varies in its message does; another failure is not."""

import pytest

from tests.samples import sample
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
    told = {"execution": {"trace": steps}, "reflection": {"failures": ("too slow",)}}
    failed = sample(Episode, outcome={"status": "FAILURE", "output": "gave up"}, **told)
    succeeded = sample(Episode, outcome={"status": "SUCCESS", "output": "done"}, **told)
    assert list(failure_messages(failed)) == ["boom", "crashed", "too slow", "gave up"]
    assert list(failure_messages(succeeded)) == ["boom", "crashed", "too slow"]


def test_a_message_however_long_is_read_in_no_time() -> None:
    assert failure_signature("a/" * 500_000) == failure_signature("a/" * 600_000)
