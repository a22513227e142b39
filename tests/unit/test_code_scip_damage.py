"""SCIP indexes that are mismatched, damaged or malicious."""

import pytest

from tests.scip_indexes import Project
from treering.code.facts import DefinitionKind
from treering.code.scip import ScipLimits, ScipRejection, read_scip
from treering.code.scip.scip_pb2 import Document, Index
from treering.core.errors import InvalidInput

RUN = "scip x d 1 m/run()."


def _run(text: str = "def run(): ...\nrun()\n") -> Project:
    project = Project({"m.py": text})
    project.define("m.py", "run", DefinitionKind.FUNCTION, 1)
    project.mention("m.py", "run", RUN, defines=True)
    project.mention("m.py", "run", RUN, nth=1)
    return project


def _read(data: bytes) -> object:
    return read_scip(data, lambda _path: (), lambda _path: None)


@pytest.mark.parametrize(
    "data", [b"\xff\xff\xff", b"SQLite format 3\x00" * 20, b"\x12\x7fabc", b"", b"\x12\x00" * 1000]
)
def test_invalid_data_is_rejected_with_advice(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="indexer"):
        _read(data)


def test_every_truncated_index_is_an_error_or_readable() -> None:
    whole = _run().bytes()
    for length in range(len(whole)):
        try:
            _read(whole[:length])
        except InvalidInput:
            continue


def test_a_damaged_document_is_named() -> None:
    index = Index(documents=[b"\x0a\x02\xff\xfe"])
    index.metadata.tool_info.name = "hand"
    with pytest.raises(InvalidInput, match="document 1"):
        _read(index.SerializeToString())


def test_an_index_larger_than_allowed_is_not_decoded() -> None:
    with pytest.raises(InvalidInput, match="more than 10"):
        _run().read(limits=ScipLimits(index_bytes=10))


def test_a_document_larger_than_allowed_is_left_out() -> None:
    found = _run().read(limits=ScipLimits(document_bytes=10))
    assert found.edges == {}
    assert found.rejected == {ScipRejection.TOO_LARGE: 1}


def test_documents_of_changed_files_are_rejected() -> None:
    project = _run()
    project.files["m.py"] = b"# a line that came later\ndef run(): ...\nrun()\n"
    found = project.read()
    assert found.edges == {}
    assert found.rejected == {ScipRejection.OTHER_FILE: 1}
    assert found.problems == ("m.py: the file changed since it was indexed",)


def test_a_document_with_another_text_is_rejected() -> None:
    project = _run()
    project.documents["m.py"].text = "def run(): ...\nrun() \n"
    assert project.read().rejected == {ScipRejection.OTHER_FILE: 1}


@pytest.mark.parametrize(
    "span", [(9, 0, 3), (0, 0, 99), (0, -1, 3), (-1, 0, 3), (0, 5, 3), (0,), (), (0, 0, 0, 0, 0), (2**31 - 1, 0, 1)]
)
def test_positions_outside_the_file_are_rejected(span: tuple[int, ...]) -> None:
    project = _run()
    project.at("m.py", span, RUN)
    assert project.read().rejected == {ScipRejection.OTHER_FILE: 1}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../m.py", ScipRejection.OUTSIDE),
        ("/etc/passwd", ScipRejection.OUTSIDE),
        ("", ScipRejection.OUTSIDE),
        ("n.py", ScipRejection.NOT_HERE),
    ],
)
def test_no_file_outside_the_project_is_read(path: str, why: ScipRejection) -> None:
    project = _run()
    project.documents["m.py"].relative_path = path
    asked: list[str] = []

    def source_of(path: str) -> bytes | None:
        asked.append(path)
        return None

    found = read_scip(project.bytes(), lambda _path: (), source_of)
    assert found.rejected == {why: 1}
    assert asked == ([] if why is ScipRejection.OUTSIDE else [path])


def test_problems_are_listed_up_to_a_limit_and_all_counted() -> None:
    documents = [Document(relative_path=f"{number}.py").SerializeToString() for number in range(9)]
    index = Index(documents=documents)
    index.metadata.tool_info.name = "hand"
    found = read_scip(index.SerializeToString(), lambda _: (), lambda _: None, limits=ScipLimits(max_named_problems=2))
    assert len(found.problems) == 2
    assert found.rejected == {ScipRejection.NOT_HERE: 9}


@pytest.mark.parametrize(("encoding", "start"), [(1, 10), (2, 7), (3, 6), (0, 10), (0, 7), (0, 6)])
def test_the_position_encoding_is_declared_or_detected(encoding: int, start: int) -> None:
    project = Project({"m.py": "def run(): ...\n'é😀'; run()\n"})
    project.define("m.py", "run", DefinitionKind.FUNCTION, 1)
    project.documents["m.py"].position_encoding = encoding
    project.mention("m.py", "run", RUN, defines=True)
    project.at("m.py", (1, start, start + 3), RUN, defines=True)
    project.at("m.py", (1, start, start + 3), RUN)
    assert [edge.line for edge in project.read().edges["m.py"]] == [2]


def test_a_file_that_changes_between_passes_is_left_out() -> None:
    project, looks = _run(), iter([b"def run(): ...\nrun()\n", b"nothing\n"])
    found = read_scip(project.bytes(), lambda _path: project.definitions["m.py"], lambda _path: next(looks))
    assert found.edges == {}
