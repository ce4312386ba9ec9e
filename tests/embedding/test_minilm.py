"""The default model, with its real weights."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from mcp_memory.embedding import Embedder
from mcp_memory.embedding.calibration import measure
from mcp_memory.embedding.minilm import open_minilm, wheel_folder
from mcp_memory.embedding.runtime import OnnxEmbedder

TEXTS = [
    "User prefers dark mode",
    "The deployment runs every night at two, unless the queue is still full from the day before.",
    "猫は窓の上で眠る",
    "x",
    "Alice's birthday is on March 14th",
    "long " * 300,
]


@pytest.mark.parametrize(
    ("one", "other", "cosine"),
    [
        ("User prefers dark mode", "The user likes dark mode", 0.9325),
        ("User prefers dark mode", "User prefers light mode", 0.8371),
        ("how to train dogs", "canine behavior training tips", 0.771),
        ("The API port is 8080", "The API port is 8081", 0.9053),
        ("User is allergic to peanuts", "User is not allergic to peanuts", 0.979),
        ("Alice's birthday is on March 14th", "Alice's birthday is on March 15th", 0.9682),
    ],
)
@pytest.mark.seed("004 §3.2")
def test_cosines_are_those_of_the_published_model(
    minilm: Embedder, one: str, other: str, cosine: float
) -> None:
    left, right = minilm.embed([one, other], "passage")
    assert float(left @ right) == pytest.approx(cosine, abs=1e-3)


@pytest.mark.seed("004 §3.4")
def test_vectors_are_float32_of_length_one(minilm: Embedder) -> None:
    vectors = minilm.embed(TEXTS, "passage")
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_in_any_company(minilm: Embedder) -> None:
    together = minilm.embed(TEXTS * 5, "passage")
    alone = np.concatenate([minilm.embed([text], "passage") for text in TEXTS])
    np.testing.assert_allclose(together, np.tile(alone, (5, 1)), atol=1e-5)


def test_vectors_come_in_the_order_of_their_texts(minilm: Embedder) -> None:
    forwards = minilm.embed(TEXTS, "passage")
    backwards = minilm.embed(TEXTS[::-1], "passage")
    np.testing.assert_allclose(forwards, backwards[::-1], atol=1e-5)


def test_the_same_text_always_has_the_same_vector(minilm: Embedder) -> None:
    np.testing.assert_array_equal(minilm.embed(TEXTS, "query"), minilm.embed(TEXTS, "query"))


def test_a_text_can_be_begun_once_the_model_is_loaded(minilm: Embedder, tmp_path: Path) -> None:
    unloaded = open_minilm(wheel_folder(), tmp_path)
    assert isinstance(unloaded, OnnxEmbedder)
    assert unloaded.begin(TEXTS[0], "query") is None
    assert isinstance(minilm, OnnxEmbedder)
    [vector] = minilm.embed(TEXTS[:1], "query")
    begun = [minilm.begin(TEXTS[0], "query") for _ in range(12)]
    assert all((result()[0] == vector).all() for result in begun if result)
    assert None not in begun


class Counting(OnnxEmbedder):
    """Counts the texts that it begins with in another thread."""

    begun_count = 0

    def _submitted(self, *arguments: Any) -> Any:
        self.begun_count += 1
        return super()._submitted(*arguments)


def test_a_foreseen_text_is_computed_once(minilm: OnnxEmbedder) -> None:
    model = Counting(minilm.card, minilm._tokenizer, minilm._weights)
    model.foresee(TEXTS[0], "query")
    assert model.begun_count == 0  # the model is not loaded yet: the first call that needs it loads it
    [loaded] = model.embed(TEXTS[:1], "query")

    model.foresee(TEXTS[0], "query")
    begun = model.begin(TEXTS[0], "query")
    assert begun is not None
    [vector] = begun()
    assert model.begun_count == 1
    np.testing.assert_array_equal(vector, loaded)

    again = model.begin(TEXTS[0], "query")
    assert again is not None
    np.testing.assert_array_equal(again(), [loaded])
    assert model.begun_count == 2


def test_texts_foreseen_in_vain_are_not_kept(minilm: OnnxEmbedder) -> None:
    for number in range(50):
        minilm.foresee(f"a call that is refused, number {number}", "passage")
    assert len(minilm._foreseen) < 10


def test_questions_and_passages_are_read_alike(minilm: Embedder) -> None:
    np.testing.assert_array_equal(minilm.embed(TEXTS, "query"), minilm.embed(TEXTS, "passage"))


def test_two_hundred_and_fifty_six_tokens_are_read_and_no_more(minilm: Embedder) -> None:
    words = "one two three four five six seven eight nine ten " * 40
    read = " ".join(words.split()[:254])  # and two tokens that mark beginning and end
    longer, shorter = f"{read} zebra", read.removesuffix(read.split()[-1])
    [whole, with_more, with_less] = minilm.embed([read, longer, shorter], "passage")
    np.testing.assert_allclose(whole, with_more, atol=1e-5)
    assert np.abs(whole - with_less).max() > 1e-4


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\0",
        "a\0b",
        "\ud800",
        "lone \udfff surrogate",
        "\ud83d\ude00 as two halves",
        "\ufeff\u200b\u202e",
        "e\u0301" * 500,
        "🏳️‍🌈" * 200,
        "a" * 1_000_000,
        "word " * 200_000,
        " " * 1_000_000 + "end",
        "[CLS] [SEP] [MASK]",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_no_text_is_too_strange(minilm: Embedder, text: str) -> None:
    [vector] = minilm.embed([text], "passage")
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)


def test_no_texts_make_no_vectors(minilm: Embedder) -> None:
    assert minilm.embed([], "query").shape == (0, 384)


def test_threads_may_share_a_model_from_its_first_text_on(minilm: Embedder, tmp_path: Path) -> None:
    """`minilm` says whether there is a model; the one tested has not been loaded yet."""
    fresh = open_minilm(wheel_folder(), tmp_path)
    assert isinstance(fresh, OnnxEmbedder)
    start = Barrier(4)

    def together(number: int) -> bool:
        start.wait()
        vectors = [fresh.embed(TEXTS[number % 3 :], "passage") for _ in range(3)]
        return all(np.allclose(vector, expected[number % 3 :], atol=1e-5) for vector in vectors)

    expected = minilm.embed(TEXTS, "passage")
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(together, range(4)))


def test_the_card_holds_the_cosines_that_are_measured(minilm: Embedder) -> None:
    measured = measure(minilm)
    assert minilm.card.unrelated_cosine == pytest.approx(measured["unrelated_cosine"], abs=0.02)
    assert minilm.card.same_cosine == pytest.approx(measured["same_cosine"], abs=0.02)


def test_running_it_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    """onnxruntime would leave a device id and a report about the machine, which it sends to its maker."""
    home = tmp_path / "home"
    home.mkdir()
    code = (
        "from pathlib import Path\n"
        "from mcp_memory.embedding.minilm import open_minilm, wheel_folder\n"
        f"model = open_minilm(wheel_folder(), Path({str(tmp_path / 'cache')!r}))\n"
        "print(model.embed(['hello'], 'query').shape)\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    said = subprocess.check_output(
        [sys.executable, "-c", code], env={**environment, "HOME": str(home)}, text=True
    )
    assert said.strip() == "(1, 384)"
    assert list(home.rglob("*")) == []
