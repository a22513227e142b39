"""Failures in tool results are recognised, told apart, and worded as a colleague would quote them."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from treering.observe.errors import Failure, failure_of
from treering.observe.tools import tool_use

ROOT = "/home/ada/shop"


@dataclass(frozen=True)
class FailingOutput:
    """One output of a labelled group; all outputs of a group show the same error."""

    group: str
    number: int
    command: str
    dialect: str
    summary: str
    text: str


def _labelled() -> list[FailingOutput]:
    outputs = []
    for block in Path(__file__).with_name("failing_outputs.txt").read_text().split("#### ")[1:]:
        head, _, body = block.partition("\n")
        group, command, dialect, summary = head.split(" | ")
        for number, text in enumerate(body.split("%%%%\n")):
            outputs.append(FailingOutput(group, number, command, dialect, summary, text))
    return outputs


OUTPUTS = _labelled()


def failed(command: str, text: str, *, is_error: bool = True, root: str = ROOT) -> Failure | None:
    use = tool_use("Bash", {"command": command}, root)
    return failure_of("Bash", use, text, is_error=is_error, root=root)


def test_there_are_enough_labelled_outputs() -> None:
    assert len(OUTPUTS) >= 120


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: f"{output.group} {output.number}")
def test_an_output_is_named_by_its_decisive_line(output: FailingOutput) -> None:
    failure = failed(output.command, f"Exit code 1\n{output.text}")
    assert failure is not None
    assert output.summary in failure.summary
    assert len(failure.fingerprint) == 32
