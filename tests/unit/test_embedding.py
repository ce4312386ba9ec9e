"""Embedding without a model: names, bytes, digests, and saying what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.embedding import ModelCard, NoModel, open_embedder
from mcp_memory.embedding.bert import EncoderShape, graph
from mcp_memory.embedding.digest import remembered_sha256, sha256_of
from mcp_memory.embedding.install import install_command, install_local, run
from mcp_memory.embedding.known import KNOWN, repository
from mcp_memory.embedding.minilm import FILES, WEIGHTS, open_minilm, wheel_folder
from mcp_memory.embedding.onnx_format import message
from mcp_memory.embedding.runtime import OnnxEmbedder, batches, readable, unit_rows
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.model import unreported
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.unit

CARD = ModelCard(name="m", dimensions=2, fingerprint="f")


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'onnxruntime', 'tokenizers', 'urllib.request', 'subprocess', 'http.client'}"
    code = f"import sys, mcp_memory.embedding; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_opening_the_default_model_loads_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
import sys, pathlib, mcp_memory.embedding as e
here = pathlib.Path({str(tmp_path)!r})
e.open_embedder("local", "all-MiniLM-L6-v2", 384, models_dir=here, cache_dir=here)
print(sorted({{'numpy', 'onnxruntime', 'tokenizers'}} & set(sys.modules)))
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_card_without_a_fingerprint_is_no_card() -> None:
    with pytest.raises(ValueError, match="no fingerprint"):
        ModelCard(name="m", dimensions=2, fingerprint="")


def test_embedding_can_be_turned_off(tmp_path: Path) -> None:
    opened = open_embedder("none", "", 0, models_dir=tmp_path, cache_dir=tmp_path)
    assert isinstance(opened, NoModel)
    assert "words only" in opened.reason


def test_an_unknown_provider_is_refused_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="local, openai, none"):
        open_embedder("opnai", "m", 0, models_dir=tmp_path, cache_dir=tmp_path)


def test_a_default_model_that_is_not_installed_is_an_answer(tmp_path: Path) -> None:
    opened = open_minilm(None, tmp_path)
    assert isinstance(opened, NoModel)
    assert "`mcp-memory model install`" in opened.reason


def test_weights_that_are_not_the_published_ones_are_never_loaded(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_bytes(b"something else")
    opened = open_minilm(tmp_path, tmp_path)
    assert isinstance(opened, OnnxEmbedder)
    with pytest.raises(Unavailable, match=r"not the published file of all-MiniLM-L6-v2"):
        opened.embed(["hello"], "query")


def test_a_file_that_is_no_safetensors_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / WEIGHTS).write_bytes(b"\xff" * 100)
    with pytest.raises(Unavailable, match="not a safetensors file"):
        graph(tmp_path / WEIGHTS, EncoderShape(layer_count=1, head_count=1, hidden_size=4, epsilon=1e-12))


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("Multilingual-E5-small", "intfloat/multilingual-e5-small"),
        ("baai/bge-small-en-v1.5", "BAAI/bge-small-en-v1.5"),
        ("somebody/else", "somebody/else"),
    ],
)
def test_known_models_may_be_called_by_their_name_alone(given: str, full: str) -> None:
    assert repository(given) == full


def test_every_known_model_says_how_long_its_vectors_are() -> None:
    assert all(traits["dimensions"] > 0 for traits in KNOWN.values())


@pytest.mark.parametrize(
    ("fields", "encoded"),
    [
        ([(1, 150)], b"\x08\x96\x01"),  # the example of protobuf's own description
        ([(2, "testing")], b"\x12\x07testing"),
        ([(1, -2)], b"\x08\xfe" + b"\xff" * 8 + b"\x01"),
        ([(3, 1.0)], b"\x1d\x00\x00\x80\x3f"),
        ([(3, message((1, 150)))], b"\x1a\x03\x08\x96\x01"),
        ([(20, 0)], b"\xa0\x01\x00"),
    ],
)
def test_messages_are_written_as_protobuf_does(
    fields: list[tuple[int, int | float | str | bytes]], encoded: bytes
) -> None:
    assert message(*fields) == encoded


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("naïve 猫", "naïve 猫"),
        ("a\0b", "a b"),
        ("\ud83d\ude00", "😀"),
        ("x\ud800y", "x\ufffdy"),
        ("\udc00", "\ufffd"),
    ],
)
def test_any_string_becomes_readable(text: str, clean: str) -> None:
    assert readable(text) == clean
    clean.encode()


@given(st.lists(st.integers(0, 512), max_size=50))
def test_batches_hold_every_text_once_and_only_texts_of_like_length(lengths: list[int]) -> None:
    made = [[lengths[index] for index in batch] for batch in batches(lengths)]
    assert sorted(index for batch in batches(lengths) for index in batch) == list(range(len(lengths)))
    assert all(len(batch) <= 8 and max(batch) <= 1.5 * min(batch) + 16 for batch in made)


def test_rows_become_vectors_of_length_one_and_zero_stays_zero() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]), CARD)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize("row", [[1.0, 2.0, 3.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_rows_that_are_no_vectors_of_the_model_are_refused(row: list[float]) -> None:
    with pytest.raises(Unavailable):
        unit_rows(np.array([row]), CARD)


def test_a_digest_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    file, cache_dir = tmp_path / "file", tmp_path / "new" / "cache"
    file.write_bytes(b"one")
    os.utime(file, ns=(1, 1))
    first = remembered_sha256(file, cache_dir)
    assert first == sha256_of(file)
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert remembered_sha256(file, cache_dir) == first, "same size and time: the note is used"
    os.utime(file, ns=(1, 2))
    assert remembered_sha256(file, cache_dir) == sha256_of(file) != first


def test_notes_of_digests_that_cannot_be_read_or_written_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    (tmp_path / "digests.json").write_text("{broken")
    assert remembered_sha256(file, tmp_path) == sha256_of(file)
    assert remembered_sha256(file, file) == sha256_of(file), "a file is no folder for notes"


def test_the_wheel_is_installed_without_its_dependencies_by_what_there_is() -> None:
    by_pip = install_command("py", Path("here"), has_pip=True, uv="uv")
    by_uv = install_command("py", Path("here"), has_pip=False, uv="uv")
    assert by_pip is not None
    assert by_pip[:4] == ["py", "-m", "pip", "install"]
    assert by_uv is not None
    assert by_uv[:3] == ["uv", "pip", "install"]
    assert all("--no-deps" in command and command[-1].endswith("==0.1.0") for command in (by_pip, by_uv))
    assert all(command[command.index("--target") + 1] == "here" for command in (by_pip, by_uv))
    assert install_command("py", Path("here"), has_pip=False, uv=None) is None


def test_what_an_installer_says_is_passed_on() -> None:
    said: list[str] = []
    run([sys.executable, "-c", "print('one'); print('two')"], lambda doing, done, total: said.append(doing))
    assert said == ["one", "two"]


def test_an_installer_that_fails_is_quoted() -> None:
    with pytest.raises(Unavailable, match="no such wheel"):
        run([sys.executable, "-c", "raise SystemExit('no such wheel')"], unreported)


@pytest.fixture
def wheel() -> Path:
    folder = wheel_folder()
    if folder is None:
        pytest.skip("the default model's wheel is not in this environment: run `make setup`")
    return folder


def test_installing_puts_the_files_into_the_models_folder_and_a_second_time_only_checks(
    tmp_path: Path, wheel: Path
) -> None:
    said: list[str] = []
    folder = install_local(tmp_path / "models", lambda doing, done, total: said.append(doing))
    assert folder.parent == tmp_path / "models"
    assert sorted(file.name for file in folder.iterdir()) == sorted(FILES)
    assert [file.name for file in folder.parent.iterdir()] == [folder.name], "nothing else is left behind"
    changed_at = (folder / WEIGHTS).stat().st_mtime_ns
    assert install_local(tmp_path / "models", lambda doing, done, total: said.append(doing)) == folder
    assert (folder / WEIGHTS).stat().st_mtime_ns == changed_at


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json"])
def test_a_file_that_was_changed_is_refused_and_installing_repairs_it(
    tmp_path: Path, wheel: Path, name: str
) -> None:
    folder = install_local(tmp_path, unreported)
    (folder / name).write_text("{}")
    opened = open_embedder("local", "all-MiniLM-L6-v2", 0, models_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert isinstance(opened, OnnxEmbedder)
    with pytest.raises(Unavailable, match=f"{name} is not the published file"):
        opened.embed(["hello"], "query")
    install_local(tmp_path, unreported)
    assert sha256_of(folder / name) == FILES[name]


def test_the_embedder_of_other_tests_behaves_like_a_real_one() -> None:
    embedder = HashEmbedder(64)
    same, near, far = embedder.embed(["Tea with milk", "tea with sugar", "Jupiter's moons"], "passage")
    assert float(same @ near) > 0.5 > float(same @ far)
    np.testing.assert_allclose(np.linalg.norm([same, near, far], axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(HashEmbedder(64).embed(["tea WITH milk"], "query"), [same])
    assert embedder.embed([], "query").shape == (0, 64)
