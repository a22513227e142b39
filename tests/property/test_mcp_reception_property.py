"""A client cannot tell who answered: for any beginning of a talk, it hears what the SDK alone would have said."""

import json
from collections.abc import Iterator
from functools import cache, reduce
from typing import Any, NoReturn

from hypothesis import example, given
from hypothesis import strategies as st

from treering.compose import now
from treering.interfaces.mcp.desk import Desk
from treering.interfaces.mcp.stdio.printing import LISTS, envelope, line, programme_now, told
from treering.interfaces.mcp.stdio.programme import Programme, programme
from treering.interfaces.mcp.stdio.reception import Reception
from treering.interfaces.mcp.stdio.serving import serve

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01")
METHODS = ("ping", "server/discover", *LISTS, "completion/complete", "nothing/known")

ids = st.one_of(st.integers(0, 5), st.sampled_from(["a", "b", "0", "ü"]), st.integers(), st.floats(0, 9), st.booleans())
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=5))
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
objects = st.recursive(
    st.just({}), lambda inner: st.dictionaries(st.sampled_from(["form", "url", "tools", "x"]), inner, max_size=2)
)
names = st.sampled_from(["roots", "sampling", "elicitation", "experimental", "extensions", "tasks", "other"])
capabilities = st.one_of(
    st.just({}),
    st.builds(lambda said: {"roots": {"listChanged": said}}, st.one_of(st.booleans(), scalars)),
    st.dictionaries(names, objects, max_size=3),
    st.dictionaries(names, trees, max_size=2),
)
clients = st.one_of(
    st.just({"name": "c", "version": "1"}),
    st.fixed_dictionaries(
        {"name": st.text(max_size=5), "version": st.text(max_size=5)},
        optional={key: st.one_of(st.text(max_size=9), scalars) for key in ("title", "description", "websiteUrl", "x")},
    ),
)
metas = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"progressToken": st.one_of(scalars, st.text(max_size=3))}),
    st.builds(
        lambda version, client, able: {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": able,
        },
        st.sampled_from(VERSIONS),
        clients,
        capabilities,
    ),
)
greetings = st.builds(
    lambda version, client, able, id: line(
        "initialize", {"protocolVersion": version, "capabilities": able, "clientInfo": client}, id
    ),
    st.sampled_from(VERSIONS),
    clients,
    capabilities,
    ids,
)
requests = st.one_of(
    st.builds(line, st.sampled_from(METHODS), st.none(), ids),
    st.builds(lambda method, id: line(method, envelope("2026-07-28"), id), st.sampled_from(METHODS), ids),
    st.builds(
        lambda method, meta, more, id: line(method, {"_meta": meta, **more}, id),
        st.sampled_from(METHODS),
        metas,
        st.sampled_from([{}, {}, {"cursor": "x"}, {"uri": "treering://nowhere"}]),
        ids,
    ),
)
others = st.sampled_from(
    [line("notifications/initialized"), line("notifications/initialized", {}), b"\n", b"{}\n", b"garbage\n", b"\xff\n"]
)
openings = st.one_of(greetings, requests)
talks = st.builds(
    lambda first, rest: [*first, *rest],
    st.lists(openings, min_size=1, max_size=2),
    st.lists(st.one_of(requests, requests, others, greetings), max_size=5),
)
NESTED = [reduce(lambda inner, _: around(inner), range(300), 1) for around in (lambda x: [x], lambda x: {"a": x})]
DISCOVER = line("server/discover", envelope("2026-07-28"), "probe")
GREETING = line(
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
    0,
)


def able(told: Any) -> tuple[bytes, bytes]:
    """A client that says of itself what nobody knows, in a greeting and in an envelope."""
    greeting = {"protocolVersion": "2025-11-25", "capabilities": told, "clientInfo": {"name": "c", "version": "1"}}
    meta = envelope("2026-07-28")["_meta"] | {"io.modelcontextprotocol/clientCapabilities": told}
    return line("initialize", greeting, 0), line("tools/list", {"_meta": meta}, 0)


@given(talks, st.integers(0, 7))
@example([able({"x": NESTED[0]})[0], line("tools/list", id=1)], 9)
@example([able({"x": NESTED[1]})[0], line("tools/list", id=1)], 9)
@example([able({"x": NESTED[0]})[1], line("tools/list", envelope("2026-07-28"), 1)], 9)
@example([able({"x": NESTED[1]})[1], line("tools/list", envelope("2026-07-28"), 1)], 9)
@example([able({"x": 10**4_000})[0], line("tools/list", id=1)], 9)
@example([able({"x": float("nan")})[0], line("tools/list", id=1)], 9)
@example([able({"x": float("inf")})[1], line("tools/list", envelope("2026-07-28"), 1)], 9)
@example([DISCOVER, GREETING, line("tools/list", envelope("2026-07-28"), 1), line("ping", id=2)], 9)
@example([GREETING, line("notifications/initialized"), line("tools/list", id=1), line("ping", id=1), DISCOVER], 9)
@example([GREETING, line("notifications/initialized"), line("tools/list", id=1), line("prompts/list", id=2)], 3)
def test_the_programme_and_the_sdk_say_the_same_wherever_one_takes_over(lines: list[bytes], loaded_after: int) -> None:
    heard = list[bytes]()

    def said() -> Iterator[bytes]:
        for number, each in enumerate(lines):
            if number == loaded_after:
                reception.hand_over()
            yield each

    reception = Reception(said(), heard.append, _fresh())
    reception.listen()
    serve(Desk(_no_memory, session="", clock=now), reception, heard.append)
    assert [json.loads(each) for each in b"".join(heard).splitlines()] == told(lines)


@cache
def _fresh() -> Programme:
    """That the printed one is the same is tested elsewhere."""
    return programme(programme_now()["answers"])


def _no_memory() -> NoReturn:
    raise AssertionError("neither the greeting nor the lists need a memory")
