"""A cross-encoder in this process, here a tiny one that likes the word good and dislikes the word bad."""

from math import exp
from pathlib import Path

import onnx
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from treering.adapters.models import onnx_model
from treering.adapters.models.cross_encoder import LocalReranker
from treering.core.errors import ModelUnavailable
from treering.ports.models import Reranker

WORDS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "good": 4, "bad": 5}
ONE_LOGIT = [[100.0], [0.0], [0.0], [0.0], [2.0], [-2.0]]
"""By word; what stands on padding would be noticed."""
TWO_LOGITS = [[100.0, -100.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 1.0], [1.0, -1.0]]
THREE_LOGITS = [[1.0, 2.0, 3.0]] * 6


def put_tokenizer(directory: Path) -> None:
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", WORDS["[CLS]"]), ("[SEP]", WORDS["[SEP]"])],
    )
    tokenizer.save(str(directory / "tokenizer.json"))


def put_model(file: Path, weights: list[list[float]], *extra_inputs: str) -> None:
    """The sum of the weights of the words of the second text."""
    helper, number = onnx.helper, onnx.TensorProto
    names = ("input_ids", "attention_mask", "token_type_ids", *extra_inputs)
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["each"], axis=0),
        helper.make_node("Mul", ["attention_mask", "token_type_ids"], ["counted"]),
        helper.make_node("Cast", ["counted"], ["counted_real"], to=number.FLOAT),
        helper.make_node("Unsqueeze", ["counted_real", "last"], ["column"]),
        helper.make_node("Mul", ["each", "column"], ["of_the_text"]),
        helper.make_node("ReduceSum", ["of_the_text", "second"], ["logits"], keepdims=0),
    ]
    flat = [weight for row in weights for weight in row]
    graph = helper.make_graph(
        nodes,
        "likes",
        [helper.make_tensor_value_info(name, number.INT64, ["texts", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logits", number.FLOAT, ["texts", len(weights[0])])],
        [
            helper.make_tensor("weights", number.FLOAT, [len(weights), len(weights[0])], flat),
            helper.make_tensor("last", number.INT64, [1], [2]),
            helper.make_tensor("second", number.INT64, [1], [1]),
        ],
    )
    file.parent.mkdir(exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "tiny-likes"
    made.mkdir()
    put_tokenizer(made)
    put_model(made / "model.onnx", ONE_LOGIT)
    return made


def likely(logit: float) -> float:
    return 1 / (1 + exp(-logit))


def test_texts_are_scored_in_their_order(directory: Path) -> None:
    reranker: Reranker = LocalReranker(directory)
    scores = reranker.scores("good or bad ?", ["bad", "good good good thing", "thing"])
    assert scores == pytest.approx([likely(-2), likely(6), 0.5])
    assert reranker.model == "local/tiny-likes"


def test_a_score_does_not_depend_on_the_other_texts(directory: Path) -> None:
    reranker = LocalReranker(directory)
    texts = [f"{'good ' * (n % 4)}thing {'word ' * n}" for n in range(50)]
    alone = [reranker.scores("query", [text])[0] for text in texts]
    assert list(reranker.scores("query", texts)) == pytest.approx(alone)


def test_two_logits_are_against_and_for(directory: Path) -> None:
    put_model(directory / "model.onnx", TWO_LOGITS)
    assert LocalReranker(directory).scores("query", ["good", "bad"]) == pytest.approx([likely(2), likely(-2)])


def test_the_model_may_stand_in_a_folder_of_its_own(directory: Path) -> None:
    (directory / "model.onnx").unlink()
    put_model(directory / "onnx" / "model.onnx", ONE_LOGIT)
    assert LocalReranker(directory).scores("query", ["good"]) == pytest.approx([likely(2)])


def test_what_says_nothing_has_0(directory: Path) -> None:
    reranker = LocalReranker(directory)
    assert list(reranker.scores("query", [])) == []
    assert list(reranker.scores(" ", ["good"])) == [0.0]
    assert list(reranker.scores("query", ["", "thing", " "])) == [0.0, 0.5, 0.0]


def test_long_and_broken_texts_are_taken(directory: Path) -> None:
    reranker = LocalReranker(directory)
    scores = reranker.scores("query " * 100_000, ["good " * 100_000, "half \ud800 a character"])
    assert scores == pytest.approx([1.0, 0.5])


def test_it_loads_again_after_closing(directory: Path) -> None:
    reranker = LocalReranker(directory)
    before = reranker.scores("query", ["good"])
    reranker.close()
    assert reranker.scores("query", ["good"]) == before


def test_a_missing_runtime_is_told_with_advice(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_model, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'treering\[onnx\]', or choose another reranker"):
        LocalReranker(directory).scores("query", ["good"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_told_with_advice(directory: Path, name: str) -> None:
    (directory / name).unlink()
    with pytest.raises(ModelUnavailable, match=r"lacks model.onnx or tokenizer.json; put them there, or"):
        LocalReranker(directory).scores("query", ["good"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_told_with_advice(directory: Path, name: str) -> None:
    (directory / name).write_bytes(b"{ no model")
    with pytest.raises(ModelUnavailable, match=r"cannot be read; install it again, or"):
        LocalReranker(directory).scores("query", ["good"])


def test_a_model_of_another_kind_is_told(directory: Path) -> None:
    put_model(directory / "model.onnx", THREE_LOGITS)
    with pytest.raises(ModelUnavailable, match=r"does not give one score for each text; take a cross-encoder, or"):
        LocalReranker(directory).scores("query", ["good", "bad"])
    put_model(directory / "model.onnx", ONE_LOGIT, "pixel_values")
    with pytest.raises(ModelUnavailable, match=r"does not take pairs of texts; take a cross-encoder, or"):
        LocalReranker(directory).scores("query", ["good"])
