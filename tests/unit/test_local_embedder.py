"""An embedder in ONNX format from a folder, here a tiny one."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.onnx_models import put_embedder
from treering.adapters.models import onnx_model
from treering.adapters.models.local_embedder import LocalEmbedder
from treering.adapters.models.selection import ConfiguredModels
from treering.core.errors import ModelUnavailable
from treering.core.settings import EmbedderSettings, Settings
from treering.ports.models import Embedder

MEANINGS = ({"cat": 1.0, "feline": 1.0}, {"car": 1.0}, {"query": 1.0}, {"passage": 1.0})


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return put_embedder(tmp_path / "tiny", MEANINGS)


def put(directory: Path, name: str, content: object) -> None:
    (directory / name).parent.mkdir(exist_ok=True)
    (directory / name).write_text(json.dumps(content))


def unit(*numbers: float) -> list[float]:
    return (np.array(numbers) / np.linalg.norm(numbers)).tolist()


def test_the_default_is_the_mean_of_the_tokens(directory: Path) -> None:
    embedder: Embedder = LocalEmbedder(directory)
    found = embedder.documents(["cat car cat", " ", "Feline"])
    assert found[0] == pytest.approx(unit(2, 1, 0, 0, 5.4), abs=1e-6)
    assert not found[1].any()
    assert found[2] == pytest.approx(embedder.query("cat")[0])
    assert (embedder.dimension, embedder.local, found.dtype) == (5, False, np.float32)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"pooling_mode_cls_token": True}, (0, 0, 0, 0, 5)),
        ({"pooling_mode": "cls"}, (0, 0, 0, 0, 5)),
        ({"pooling_mode_lasttoken": True}, (0, 0, 0, 0, 0.1)),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, (1, 0, 0, 0, 5.2)),
    ],
)
def test_pooling_is_that_of_the_folder(directory: Path, config: dict[str, object], expected: tuple[float]) -> None:
    put(directory, "1_Pooling/config.json", config)
    assert LocalEmbedder(directory).query("cat")[0] == pytest.approx(unit(*expected), abs=1e-6)


def test_an_unknown_pooling_and_further_layers_are_errors(directory: Path) -> None:
    put(directory, "1_Pooling/config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(ModelUnavailable, match="pooling that is not supported: max; take one with"):
        LocalEmbedder(directory).query("cat")
    put(directory, "modules.json", [{"type": "sentence_transformers.models.Dense"}])
    with pytest.raises(ModelUnavailable, match="needs layers after pooling"):
        LocalEmbedder(directory).query("cat")


def test_a_sentence_embedding_needs_no_pooling(tmp_path: Path) -> None:
    directory = put_embedder(tmp_path / "m", MEANINGS, output="sentence_embedding", pooled=True, inputs=["input_ids"])
    put(directory, "modules.json", [{"type": "sentence_transformers.models.Dense"}])
    assert LocalEmbedder(directory).query("car")[0] == pytest.approx(unit(0, 1, 0, 0, 5.2), abs=1e-6)


def test_prompts_are_those_of_the_folder_else_of_the_family(directory: Path, tmp_path: Path) -> None:
    put(directory, "config_sentence_transformers.json", {"prompts": {"query": "query ", "passage": "passage "}})
    prompted = LocalEmbedder(directory)
    assert prompted.query("cat")[0, 2] > 0 == prompted.query("cat")[0, 3]
    assert prompted.documents(["cat"])[0, 3] > 0
    family = LocalEmbedder(put_embedder(tmp_path / "multilingual-e5-small", MEANINGS))
    assert family.query("cat")[0, 2] > 0


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 4}),
        ("tokenizer_config.json", {"model_max_length": 4}),
        ("config.json", {"max_position_embeddings": 4}),
    ],
)
def test_texts_are_cut_at_the_limit(directory: Path, file: str, content: object) -> None:
    put(directory, file, content)
    embedder = LocalEmbedder(directory)
    assert embedder.query("cat car cat car")[0] == pytest.approx(embedder.query("cat car")[0])


def test_long_and_broken_texts_are_accepted(directory: Path) -> None:
    found = LocalEmbedder(directory).documents(["cat " * 100_000, "half \ud800 a character"])
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text("cat r\n", max_size=40), max_size=6))
def test_a_vector_does_not_depend_on_the_other_texts(directory: Path, texts: list[str]) -> None:
    embedder = LocalEmbedder(directory)
    alone = [embedder.documents([text])[0] for text in texts]
    assert np.allclose(embedder.documents(texts), np.reshape(alone, (len(texts), 5)), atol=1e-6)


def test_other_files_or_options_have_another_name(directory: Path) -> None:
    first = LocalEmbedder(directory)
    assert first.model.startswith("local/tiny-")
    assert LocalEmbedder(directory).model == first.model
    put(directory, "1_Pooling/config.json", {"pooling_mode": "cls"})
    second = LocalEmbedder(directory).model
    put_embedder(directory, ({"cat": 2.0},))
    third = LocalEmbedder(directory).model
    assert len({first.model, second, third, LocalEmbedder(directory, 2).model}) == 4
    with pytest.raises(ModelUnavailable, match="cannot be read"):  # its name is that of the former files
        first.query("cat")


def test_vectors_are_cut_to_the_dimension(directory: Path) -> None:
    assert LocalEmbedder(directory, 2).query("cat").tolist() == [[1.0, 0.0]]
    with pytest.raises(ModelUnavailable, match="fewer than embedder\\.dimension; remove that setting, or"):
        LocalEmbedder(directory, 9).query("cat")


def test_it_loads_again_after_closing(directory: Path) -> None:
    embedder = LocalEmbedder(directory)
    before = embedder.query("cat").tolist()
    embedder.close()
    assert embedder.query("cat").tolist() == before


def test_a_missing_runtime_names_the_extra(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_model, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'treering\[onnx\]', or choose another embedder"):
        LocalEmbedder(directory).query("cat")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_missing_and_damaged_files_are_errors(directory: Path, name: str) -> None:
    (directory / name).write_bytes(b"{ no model")
    with pytest.raises(ModelUnavailable, match=r"cannot be read; install it again, or"):
        LocalEmbedder(directory).query("cat")
    (directory / name).unlink()
    with pytest.raises(ModelUnavailable, match=r"lacks model.onnx or tokenizer.json; put them there, or"):
        LocalEmbedder(directory)


def test_a_damaged_configuration_is_an_error(directory: Path) -> None:
    (directory / "config.json").write_text("{")
    with pytest.raises(ModelUnavailable, match=r"config.json cannot be read; install the model again, or"):
        LocalEmbedder(directory)


def test_other_inputs_are_named(tmp_path: Path) -> None:
    directory = put_embedder(tmp_path / "m", MEANINGS, inputs=["input_ids", "position_ids"])
    with pytest.raises(ModelUnavailable, match=r"\(its inputs: input_ids, position_ids\); take one with input_ids"):
        LocalEmbedder(directory).query("cat")


def test_the_settings_name_the_folder(directory: Path) -> None:
    chosen = Settings(embedder=EmbedderSettings.make(provider="local", directory=str(directory)))
    models = ConfiguredModels(chosen, {})
    assert models.embedder((), hurried=True) is models.embedder((), hurried=False)
    with pytest.raises(ModelUnavailable, match="needs a folder; set embedder\\.directory"):
        ConfiguredModels(Settings(embedder=EmbedderSettings.make(provider="local")), {}).embedder((), hurried=False)
