"""Whatever a client's file looks like: our entry comes and goes, and nothing else moves."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.client_desk import connecting_change, removing_change
from treering.interfaces.client_configs import json_text, toml_text
from treering.interfaces.client_configs.apply import apply_change
from treering.interfaces.client_configs.edits import Edit
from treering.interfaces.client_configs.formats import ConfigFormat, Place, with_entry, without_entry
from treering.interfaces.client_configs.ledger import Ledger
from treering.interfaces.client_configs.table import CLIENTS, client_named

SERVERS: Place = ("mcpServers", "treering")
TABLES: Place = ("mcp_servers", "treering")
ENTRY = {"command": "/home/zoë/bin/treering", "args": ["mcp", "--root", "${workspaceFolder}"], "alwaysLoad": True}

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ['"', "\\", "// no comment", "/* none */", "},{", "[a]", "treering", "mcpServers", "\n", "\x7f", "é😀"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OTHER_SERVERS = st.dictionaries(TEXTS.filter(lambda name: name != SERVERS[1]), VALUES, max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """What a file says, with a table of servers at some place or none."""
    said: dict[str, Any] = draw(st.dictionaries(TEXTS.filter(lambda name: name != SERVERS[0]), VALUES, max_size=3))
    if draw(st.booleans()):
        members = [*said.items()]
        members.insert(draw(st.integers(0, len(members))), (SERVERS[0], draw(OTHER_SERVERS)))
        said = dict(members)
    return said


@st.composite
def formatted(draw: st.DrawFn, said: dict[str, Any]) -> str:
    """A document as programs write it."""
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (",", ": ")]))
    text = json.dumps(said, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", "\r\n", "  \n\n"]))


@st.composite
def plain_json(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    said = draw(documents())
    return said, draw(formatted(said))


@st.composite
def commented(draw: st.DrawFn, said: dict[str, Any]) -> str:
    """A document as people write it: anything may stand between two tokens, commas may stand at the end."""
    between = st.sampled_from(
        [
            "",
            "",
            "",
            " ",
            "\n",
            "\n  ",
            "\r\n\t",
            " // note\n",
            "// }, ] \r\n",
            "/* { */",
            " /* a\n b */ ",
            "/**/\n",
            "\r",
        ]
    )

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value)
        items = [f"{draw(between)}{item}{draw(between)}" for item in members(value)]
        end = draw(st.sampled_from(["", ","])) if items else ""
        brackets = "{}" if isinstance(value, dict) else "[]"
        return f"{brackets[0]}{','.join(items)}{end}{draw(between)}{brackets[1]}"

    def members(value: dict[str, Any] | list[Any]) -> list[str]:
        if isinstance(value, list):
            return [written(item) for item in value]
        return [f"{json.dumps(key)}{draw(between)}:{draw(between)}{written(item)}" for key, item in value.items()]

    return f"{draw(st.sampled_from(['', chr(0xFEFF)]))}{draw(between)}{written(said)}{draw(between)}"


@st.composite
def commented_json(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    said = draw(documents())
    return said, draw(commented(said))


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """Some comments and values look like headers of ours."""
    values = st.sampled_from(
        [
            "1",
            "1.5",
            "nan",
            "true",
            "1979-05-27",
            '"[mcp_servers.treering]"',
            "'''\n[mcp_servers.treering]\n'''",
            '"""\n[mcp_servers.treering]\ncommand = 1\n"""',
            "[\n  1, # [x]\n  2,\n]",
            "{ a = 1, b = [2] }",
            "''",
            '""""a"""',
        ]
    )
    between = st.sampled_from(["", "", "\n", "# [mcp_servers.treering]\n", "  # note\n", "\n\n"])
    headers = st.sampled_from(
        [
            "[t{0}]",
            "[ t{0} . 'a b' ]  # [x]",
            '[["q{0}"]]',
            "[mcp_servers.s{0}]",
            "[mcp_servers.s{0}.env]",
            "[treering{0}]",
        ]
    )
    lines: list[str] = []

    def assignments(table: int) -> None:
        for key in range(draw(st.integers(0, 2))):
            name = draw(st.sampled_from(["k{0}_{1}", '"k {0}.{1}"', "k{0}_{1}.sub", "  k{0}_{1}"])).format(table, key)
            lines.append(f"{name} = {draw(values)}{draw(st.sampled_from(['', ' # = [']))}\n{draw(between)}")

    assignments(0)
    for table in range(1, draw(st.integers(1, 4))):
        lines.append(f"{draw(headers).format(table)}\n{draw(between)}")
        assignments(table)
    text = draw(between) + "".join(lines)
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    text = text if draw(st.booleans()) else text.rstrip("\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


def comes_and_goes(format: ConfigFormat, text: str, place: Place) -> str:
    """Hold for every file; returns it with our entry."""
    after = with_entry(format, text, place, ENTRY)

    before, there = format.content(text), format.content(after)
    assert there[place[0]].pop(place[1]) == ENTRY
    assert {**before, place[0]: before.get(place[0], {})} == there
    assert with_entry(format, after, place, ENTRY) == after
    assert is_kept_in(text, after)
    assert Edit.between(text, after).undone(after) == text
    assert format.content(without_entry(format, after, place)).get(place[0], {}) == before.get(place[0], {})
    return after


def is_kept_in(text: str, after: str) -> bool:
    """Whether every character is still there, in its order."""
    rest = iter(after)
    return all(char in rest for char in text)


@given(plain_json() | commented_json())
def test_an_entry_comes_into_json_and_leaves_it_again(drawn: tuple[dict[str, Any], str]) -> None:
    said, text = drawn
    assert json_text.content(text) == said
    after = comes_and_goes(json_text, text, SERVERS)
    if said.get(SERVERS[0]):
        assert without_entry(json_text, after, SERVERS) == text


@given(toml_files())
def test_an_entry_comes_into_toml_and_leaves_it_again(text: str) -> None:
    after = comes_and_goes(toml_text, text, TABLES)
    if text.endswith("\n"):
        assert without_entry(toml_text, after, TABLES) == text


@given(plain_json() | commented_json(), VALUES)
def test_an_entry_that_differs_is_replaced_in_its_place(drawn: tuple[dict[str, Any], str], theirs: Any) -> None:
    _, text = drawn
    there = with_entry(json_text, text, SERVERS, {"theirs": [theirs]})
    replaced = with_entry(json_text, there, SERVERS, ENTRY)
    assert json_text.content(replaced)[SERVERS[0]][SERVERS[1]] == ENTRY
    # A lone carriage return becomes half a line break behind which a line begins: the style is read anew from it.
    assert replaced.replace("\r", "") == with_entry(json_text, text, SERVERS, ENTRY).replace("\r", "")


@given(toml_files())
def test_a_table_that_differs_is_replaced_in_its_place(text: str) -> None:
    there = with_entry(toml_text, text, TABLES, {"command": "theirs", "env": {}})
    assert with_entry(toml_text, there, TABLES, ENTRY) == with_entry(toml_text, text, TABLES, ENTRY)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str | None]:
    """A client, and its file or none."""
    client = client_named(draw(st.sampled_from([client.name for client in CLIENTS])))
    if draw(st.sampled_from([False, False, True])):
        return client.name, None
    if client.format is toml_text:
        return client.name, draw(toml_files())
    _, text = draw(plain_json() | commented_json())
    return client.name, text.replace(SERVERS[0], client.servers)


@given(files(), st.lists(st.sampled_from(["treering", "/opt/treering", "/a b/treering"]), min_size=1, max_size=3))
def test_a_file_is_given_back_byte_for_byte(drawn: tuple[str, str | None], commands: list[str]) -> None:
    name, text = drawn
    client = client_named(name)
    with TemporaryDirectory() as folder:
        path, ledger = Path(folder) / "deep" / "er" / "config", Ledger(Path(folder) / "kept")
        if text is not None:
            path.parent.mkdir(parents=True)
            path.write_bytes(text.encode())
        for command in commands:
            apply_change(connecting_change(client, path, client.entry(command), ledger), ledger)
        apply_change(removing_change(client, path, ledger), ledger)
        if text is None:
            assert not (Path(folder) / "deep").exists()
        else:
            assert path.read_bytes() == text.encode()


@given(files(), st.booleans())
def test_an_entry_that_was_theirs_comes_back_whatever_others_wrote_since(
    drawn: tuple[str, str | None], again: bool
) -> None:
    name, text = drawn
    client = client_named(name)
    theirs = with_entry(client.format, text or "", client.place, {"command": "theirs", "args": ["mcp", "--x", "é"]})
    with TemporaryDirectory() as folder:
        path, ledger = Path(folder) / "config", Ledger(Path(folder) / "kept")
        path.write_bytes(theirs.encode())
        for number in range(1 + again):
            apply_change(connecting_change(client, path, client.entry(f"treering{number}"), ledger), ledger)
            there = path.read_bytes().decode()
            path.write_bytes(with_entry(client.format, there, (client.servers, f"z{number}"), {"c": 1}).encode())
        apply_change(removing_change(client, path, ledger), ledger)
        said = client.format.content(path.read_bytes().decode())
    for number in range(1 + again):
        del said[client.servers][f"z{number}"]
    assert said == client.format.content(theirs)


@given(files())
def test_what_others_wrote_since_stays(drawn: tuple[str, str | None]) -> None:
    name, text = drawn
    client = client_named(name)
    theirs = ("zzz", {"command": "theirs"})
    with TemporaryDirectory() as folder:
        path, ledger = Path(folder) / "config", Ledger(Path(folder) / "kept")
        if text is not None:
            path.write_bytes(text.encode())
        apply_change(connecting_change(client, path, client.entry("treering"), ledger), ledger)
        ours = path.read_bytes().decode()
        both = with_entry(client.format, ours, (client.servers, theirs[0]), theirs[1])
        path.write_bytes(both.encode())
        apply_change(removing_change(client, path, ledger), ledger)
        said = client.format.content(path.read_bytes().decode())
    assert said[client.servers].pop(theirs[0]) == theirs[1]
    before = client.format.content(text or "")
    assert said == {**before, client.servers: before.get(client.servers, {})}
