"""A tiny ONNX embedder in a folder: words of one row of meanings have the same vector."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def put_embedder(
    directory: Path,
    meanings: Sequence[Mapping[str, float]],
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    pooled: bool = False,
) -> Path:
    """Each row gives a number of the words' vectors; the last number is 0.1 for every token, and [CLS] has 5 there."""
    directory.mkdir(exist_ok=True)
    words = {word: at for at, word in enumerate([*_SPECIAL, *sorted({word for row in meanings for word in row})])}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, words[name]) for name in ("[CLS]", "[SEP]")]
    )
    tokenizer.enable_padding(length=64)  # as in the published tokenizers of some models
    tokenizer.save(str(directory / "tokenizer.json"))
    rows = [[*(row.get(word, 0.0) for row in meanings), 5.0 if word == "[CLS]" else 0.1] for word in words]
    helper, number = onnx.helper, onnx.TensorProto
    size, flat = len(rows[0]), [value for row in rows for value in row]
    nodes = [helper.make_node("Gather", ["weights", "input_ids"], ["each" if pooled else output], axis=0)]
    constants = [helper.make_tensor("weights", number.FLOAT, [len(rows), size], flat)]
    if pooled:
        nodes.append(helper.make_node("ReduceSum", ["each", "second"], [output], keepdims=0))
        constants.append(helper.make_tensor("second", number.INT64, [1], [1]))
    graph = helper.make_graph(
        nodes,
        "meanings",
        [helper.make_tensor_value_info(name, number.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, number.FLOAT, ["texts", size] if pooled else ["texts", "tokens", size])],
        constants,
    )
    file = directory / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return directory
