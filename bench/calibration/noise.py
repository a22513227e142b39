"""Texts that nobody wrote: logs, tables, identifiers and signs, made from a seed."""

import base64
from collections.abc import Callable, Mapping
from random import Random
from uuid import UUID

_SIGNS = "😀🎉🚀🔥💡🧪🌳🧠✅❌⚠️➡️👍🏽👩‍💻🇩🇪📦🐛✨"
_MATHS = "∑∫∂√∞≤≥≠±×÷∈∀∃αβγδλμσπθ∇·→⇒"


def _uuid(draw: Random) -> str:
    return str(UUID(int=draw.getrandbits(128)))


def _log(draw: Random) -> str:
    day = f"2026-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    time = f"{draw.randint(0, 23):02}:{draw.randint(0, 59):02}:{draw.randint(0, 59):02}.{draw.randint(0, 999):03}Z"
    level, part = draw.choice(("INFO", "WARN", "ERROR", "DEBUG")), draw.choice(("api", "worker", "db.pool", "http"))
    event = draw.choice(("request finished", "slow query", "connection reset by peer", "retrying job", "cache miss"))
    path = f"/v1/{draw.choice(('users', 'orders', 'items'))}/{draw.randint(1, 99_999)}"
    return f"{day}T{time} {level} [{part}-{draw.randint(1, 64)}] {event} id={_uuid(draw)} path={path}"


def _trace(draw: Random) -> str:
    file = f"/app/{draw.choice('abcdefg')}{draw.randint(1, 99)}/{draw.choice(('views', 'models', 'tasks'))}.py"
    error = draw.choice(("KeyError", "ValueError", "TimeoutError"))
    return f'  File "{file}", line {draw.randint(1, 900)}, in run\n    raise {error}("{draw.randint(0, 10**6)}")'


def _url(draw: Random) -> str:
    path = "/".join(f"{draw.choice(('v1', 'repos', 'files', 'img'))}{draw.randint(0, 999)}" for _ in range(4))
    return f"https://{draw.choice(('example.com', 'cdn.site.io'))}/{path}?t={draw.randbytes(6).hex()}"


def _box(draw: Random) -> str:
    bar = "█" * draw.randint(1, 20) + "░" * draw.randint(1, 9)
    return f"│ {draw.choice(('ok', 'fail', '—', 'n/a'))} │ {'─' * draw.randint(3, 30)} ┼ {bar} • → ✓"


def _row(draw: Random) -> str:
    cells = (f"{draw.choice(('total', 'mean', 'x_1', 'error rate'))} {draw.randint(0, 5_000)}" for _ in range(5))
    return f"| {' | '.join(cells)} |"


NOISE: Mapping[str, tuple[str, int, Callable[[Random], str]]] = {
    "log": ("\n", 700, _log),
    "trace": ("\n", 500, _trace),
    "base64": ("\n", 1, lambda draw: base64.b64encode(draw.randbytes(33_000)).decode()),
    "hex": ("\n", 1, lambda draw: draw.randbytes(22_000).hex()),
    "uuid": ("\n", 1_000, _uuid),
    "digits": (" ", 5_000, lambda draw: str(draw.randint(0, 10 ** draw.randint(1, 12)))),
    "csv": ("\n", 600, lambda draw: ",".join(f"{draw.uniform(-1e3, 1e3):.{draw.randint(1, 6)}f}" for _ in range(8))),
    "emoji": ("", 8_000, lambda draw: draw.choice(_SIGNS)),
    "boxes": ("\n", 700, _box),
    "urls": ("\n", 600, _url),
    "rules": ("\n", 900, lambda draw: draw.choice("-=*#_~.") * draw.randint(3, 100)),
    "capitals": (" ", 3_000, lambda draw: "".join(draw.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", k=draw.randint(3, 18)))),
    "tables": ("\n", 600, _row),
    "spaces": ("\n", 3_000, lambda draw: " " * draw.randint(0, 60) + draw.choice(("x", "}", "end", "0"))),
    "maths": (" ", 4_000, lambda draw: draw.choice(_MATHS) + draw.choice(("x", "y", "_i", "(n)", "²"))),
}
"""By name: what stands between the parts, how many there are, and what makes one."""


def noise(name: str, draw: Random) -> str:
    """One long text of the noise called `name`."""
    between, count, make = NOISE[name]
    return between.join(make(draw) for _ in range(count))
