"""The right file for the text of an issue."""

from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from treering.code.chunks import CodeChunk
from treering.code.chunks.words import stored_chunks
from treering.code.locations.chunk_search import ChunkSearch
from treering.code.locations.defined_names import DefinedNames
from treering.code.locations.file_roles import ROLES, role_of, role_weights
from treering.code.locations.named_files import NamedFiles
from treering.code.locations.question import read_question
from treering.ports.code_chunks import StoredChunk

PADDING = (
    "\nThis happens on every request since the last upgrade, on two machines, with and without a proxy in front." * 2
)


def stored(path: str, *definitions: tuple[str, str]) -> tuple[StoredChunk, ...]:
    return stored_chunks(
        [
            CodeChunk(path, name, line, line, text, "", f"{path} {name} {line}")
            for line, (name, text) in enumerate(definitions, 1)
        ]
    )


OTHERS = [stored(f"other_{number}.py", (f"other_{number}", f"def other_{number}(): pass")) for number in range(20)]


def first_file(query: str, *files: tuple[StoredChunk, ...]) -> str:
    return ChunkSearch([chunk for file in (*files, *OTHERS) for chunk in file]).find(query)[0].path


SENDING = stored("web/sending.py", ("send", "def send(request): return connection.write(request)"))
RETRIES = stored("web/retries.py", ("retry", "def retry(send): return again(send)"))


def test_only_closed_comments_are_left_out_in_linear_time() -> None:
    assert read_question("one <!-- two --> three <!-- four").text == "one  three <!-- four"
    assert growth(read_question, "<!-- " * 1_000, "<!-- " * 4_000) < LINEAR


@pytest.mark.parametrize(
    "run", ["_", "```", "https://a/", "# ", "**", " ", "\n", "-\n", "- ", "a ", "1.1", "a 1.", "a/", "a."]
)
def test_a_long_run_of_the_same_characters_is_read_in_little_time(run: str) -> None:
    begin = process_time()
    question = read_question(run * (20_000 // len(run)) + "x")
    assert question.paths is not None
    assert question.dotted_names is not None
    assert question.links is not None
    assert question.names is not None
    assert process_time() - begin < 1


def test_the_last_frame_of_a_traceback_names_the_file() -> None:
    report = (
        f"Crash after an upgrade{PADDING}\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3/site-packages/web/sending.py", line 3, in send\n'
        '  File "C:\\envs\\x\\web\\retries.py", line 1, in retry\n'
    )
    assert first_file(report, SENDING, RETRIES) == "web/retries.py"


def test_a_path_in_a_report_names_the_file() -> None:
    for path in ("web/retries.py", "retries.py", "src/web/retries.py:12"):
        assert first_file(f"Send a request: see {path}{PADDING}", SENDING, RETRIES) == "web/retries.py", path


def test_a_link_to_a_hosted_file_names_the_file() -> None:
    for link in (
        "https://github.com/owner/name/blob/3d4b3bc/web/retries.py#L10-L12",
        "[here](https://github.com/owner/name/blame/main/web/retries.py).",
        "https://gitlab.com/owner/name/-/blob/main/web/retries.py?ref_type=heads#L1",
    ):
        assert first_file(f"Send a request: see {link}{PADDING}", SENDING, RETRIES) == "web/retries.py", link
    assert read_question("https://github.com/owner/name/issues/12 and https://example.org/a/b/c.py").links == ()


def test_a_link_to_lines_names_their_definition() -> None:
    parts = stored("web/parts.py", *((f"part_{number}", f"def part_{number}(): send(request)") for number in range(9)))
    link = "https://github.com/owner/name/blob/main/web/parts.py#L6"
    assert read_question(link).links == (("web/parts.py", 6),)
    search = ChunkSearch([chunk for file in (parts, *OTHERS) for chunk in file])
    assert search.find(f"Send a request: see {link}{PADDING}")[0].symbol == "part_5"


def test_the_form_of_a_report_is_not_searched_for() -> None:
    form = stored("web/form.py", ("behavior", "expected behavior checked latest release operating system"))
    report = (
        "Send of a request fails\n### Expected behavior\n**Operating system**\n- [x] I checked the latest release\n"
        "_No response_\n### Expected behavior\n- [ ] the operating system was checked\n"
        f"https://example.org/expected/behavior/operating/system\nThe connection is closed.{PADDING}"
    )
    assert first_file(report, form, SENDING) == "web/sending.py"
    assert {"expected", "operating"}.isdisjoint(term.word for term in read_question(report).terms)
    assert "expected" in {term.word for term in read_question("# Expected behavior").terms}


def test_the_form_of_an_issue_comes_behind_the_code() -> None:
    form = stored(".github/ISSUE_TEMPLATE/bug.yml", ("", "expected behavior send request connection fails closed"))
    report = f"Send of a request fails\nThe connection is closed, against the expected behavior.{PADDING}"
    assert first_file(report, form, SENDING) == "web/sending.py"
    assert first_file("where is the issue template?", form, SENDING) == ".github/ISSUE_TEMPLATE/bug.yml"


def test_a_module_in_a_report_names_the_file() -> None:
    assert first_file(f"`web.retries.give_up` is missing{PADDING}", SENDING, RETRIES) == "web/retries.py"


def test_words_of_the_title_count_more_than_those_below() -> None:
    one = stored("a.py", ("handle", "cookies jar expiry"))
    other = stored("b.py", ("handle", "headers case folding"))
    body = "\nWhile I looked at {}, I noticed it." + PADDING
    assert first_file(f"Cookies expiry is ignored{body.format('headers case folding')}", one, other) == "a.py"
    assert first_file(f"Headers folding is ignored{body.format('cookies jar expiry')}", one, other) == "b.py"


def test_words_that_are_only_in_a_block_of_code_count_half() -> None:
    described = stored("a.py", ("handle", "cookies jar expiry"))
    example = stored("b.py", ("handle", "headers case folding"))
    report = f"Something is ignored\nIt is the cookies jar expiry\n```\nheaders case folding\n```{PADDING}"
    words = {term.word for term in read_question(report).terms}
    assert {"cookies", "headers"} <= words
    assert first_file(report, described, example) == "a.py"
    assert first_file(report, example) == "b.py"


def test_a_name_in_the_prose_is_that_of_a_definition_only_if_it_is_spelled_alike() -> None:
    report = (
        "Wrong result of `Expiry`\n_private, jar_size, HTTPError and maxAge differ from Plain words"
        f"\n```\nOther_name()\n```{PADDING}"
    )
    assert read_question(report).names == ("Expiry", "_private", "jar_size", "HTTPError", "maxAge")
    files = [stored("a.py", ("Jar.jar_size", "")), stored("b.py", ("jarSize, JAR_SIZE", ""))]
    chunks = [chunk for file in files for chunk in file]
    names = DefinedNames(chunks, np.array([0, 1], np.int32), 2)
    assert names.in_prose(read_question(report)).tolist() == [1.0, 0.0]
    assert names.in_prose(read_question(f"`JAR_SIZE` and `Jar`{PADDING}")).tolist() == [1.0, 1.0]
    shared = DefinedNames([*chunks, *stored("c.py", ("jar_size", ""))], np.array([0, 1, 2], np.int32), 3)
    assert 0 < shared.in_prose(read_question(report))[0] == shared.in_prose(read_question(report))[2] < 1


def test_a_file_that_defines_a_named_definition_comes_first() -> None:
    user = stored("web/client.py", ("Client", "the jar size of the cookie jar, its jar_size and max jar size"))
    defining = stored("web/store.py", ("Jar.jar_size", "return total"))
    assert first_file(f"Wrong result\nThe value of `jar_size` is wrong{PADDING}", user, defining) == "web/store.py"


def test_several_chunks_count_for_their_file() -> None:
    once = stored("a.py", ("single", "cache eviction policy"), ("x", "nothing"), ("y", "nothing"))
    often = stored("b.py", *((f"part_{number}", "cache eviction policy") for number in range(3)))
    assert first_file(f"Cache eviction policy is wrong{PADDING}", once, often) == "b.py"


def test_a_report_that_mentions_tests_does_not_ask_for_them() -> None:
    test = stored("tests/test_sending.py", ("test_send", "def test_send(request): connection.write(request) send"))
    report = f"Send of a request fails. I ran the tests of the connection and they pass.{PADDING}"
    assert first_file(report, test, SENDING) == "web/sending.py"
    assert first_file("which test covers send?", test, SENDING) == "tests/test_sending.py"


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("tests/models.py", "test"),
        ("src/app/tests/data.py", "test"),
        ("pkg/test_io.py", "test"),
        ("web/app.spec.ts", "test"),
        ("io_test.go", "test"),
        ("testing/python/raises.py", "test"),
        ("examples/hello.py", "example"),
        ("pip/_vendor/rich/text.py", "vendored"),
        ("docs/conf.py", "documentation"),
        ("README.md", "documentation"),
        ("setup.py", "set-up"),
        ("app/_version.py", "set-up"),
        ("compose.yaml", "set-up"),
        (".github/ISSUE_TEMPLATE/bug.md", "form"),
        (".github/pull_request_template.md", "form"),
        (".github/workflows/test.yml", "set-up"),
        ("django/test/client.py", None),
        ("app/testing/__init__.py", None),
        ("app/latest.py", None),
        ("app/documents.py", None),
    ],
)
def test_files_have_a_role_by_their_path(path: str, role: str | None) -> None:
    assert (ROLES[role_of(path)].name if role_of(path) >= 0 else None) == role


def test_the_tests_at_the_end_of_a_file_of_rust_are_tests() -> None:
    rust = stored("src/routing.rs", ("Router.merge", "fn merge routes"), ("tests.works", "fn works merge routes merge"))
    report = f"Merge of routes fails\nThe routes are lost in a merge.{PADDING}"
    search = ChunkSearch([chunk for file in (rust, *OTHERS) for chunk in file])
    assert search.find(report)[0].symbol == "Router.merge"
    assert search.find("which tests are there of merge routes?")[0].symbol == "tests.works"


def test_each_role_counts_in_full_if_it_is_asked_for() -> None:
    questions = {
        "form": "where is the issue template?",
        "test": "which tests cover retries?",
        "example": "is there an example of retries?",
        "vendored": "where is the vendored copy?",
        "documentation": "where is this documented?",
        "set-up": "where is the build configured?",
    }
    assert questions.keys() == {role.name for role in ROLES}
    for number, role in enumerate(ROLES):
        assert role_weights(read_question(questions[role.name]))[number] == 1.0
        assert role_weights(read_question("where is a request sent again?"))[number] == role.weight < 1.0


def test_comments_and_lists_of_versions_are_not_part_of_a_report() -> None:
    report = (
        "It fails\n<!-- describe\nthe bug -->\nPython 3.11.4\n- numpy: 1.26.0\nscipy==1.11.3\nwith 2.5 seconds left"
    )
    assert read_question(report).text.split() == ["It", "fails", "with", "2.5", "seconds", "left"]
    assert read_question("numpy==1.26.0").text == "numpy==1.26.0"


def test_a_file_name_in_many_folders_counts_for_each_a_share() -> None:
    files = NamedFiles(["a/utils.py", "b/utils.py", "b/main.py"])
    assert files.by_path(read_question("see utils.py")).tolist() == [0.5, 0.5, 0.0]
    assert files.by_path(read_question("see x/b/utils.py")).tolist() == [0.0, 1.0, 0.0]
    assert files.by_path(read_question("see c/utils.py")).tolist() == [0.0, 0.0, 0.0]


def test_modules_are_found_from_a_folder_of_sources_and_by_their_package() -> None:
    files = NamedFiles(["src/web/retries.py", "src/web/__init__.py", "lib/cli/index.ts"])
    assert files.by_module(read_question("web.retries.again")).tolist() == [1.0, 0.0, 0.0]
    assert files.by_module(read_question("src.web.gone")).tolist() == [0.0, 1.0, 0.0]


def test_further_definitions_of_a_file_come_later() -> None:
    many = stored("a.py", *((f"part_{number}", "cache eviction policy") for number in range(4)))
    single = stored("b.py", ("other", "cache eviction policy, and more of it, which is about something else"))
    found = ChunkSearch([*many, *single]).find(f"Cache eviction policy is wrong{PADDING}", limit=5)
    assert [place.path for place in found].index("b.py") in (1, 2)
    scores = [place.score for place in found]
    assert scores == sorted(scores, reverse=True)


WORDS = st.sampled_from(
    ["cache", "eviction", "policy", "retry", "send", "request", "cookie", "jar", "path.py", "a.b", "File"]
)


@given(
    st.lists(st.tuples(st.sampled_from(["a.py", "b.py", "tests/c.py"]), st.lists(WORDS, min_size=1)), min_size=1),
    st.lists(WORDS, min_size=1, max_size=60),
)
def test_an_answer_is_the_beginning_of_a_longer_one(files: list[tuple[str, list[str]]], asked: list[str]) -> None:
    chunks = [
        chunk
        for path in ("a.py", "b.py", "tests/c.py")
        for chunk in stored(
            path, *((f"part_{row}", " ".join(words)) for row, (name, words) in enumerate(files) if name == path)
        )
    ]
    search, query = ChunkSearch(chunks), " ".join(asked)
    every = search.find(query, limit=100)
    assert [place.score for place in every] == sorted((place.score for place in every), reverse=True)
    assert len({(place.path, place.start_line) for place in every}) == len(every)
    for limit in (1, 2, 5):
        assert search.find(query, limit=limit) == every[:limit]
