"""Models pulled from a hub, over real HTTP on loopback, and run."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from mcp_memory.embedding import Embedder, ModelCard, NoModel, open_embedder
from mcp_memory.embedding.hub import pull
from mcp_memory.errors import Invalid, NotFound, Unavailable
from mcp_memory.model import unreported
from tests.embedding import tiny_model
from tests.embedding.loopback import Request, Response, free_address, serving

pytestmark = pytest.mark.unit

NAME = "someone/tiny"
FOLDER = "someone--tiny"
REVISION = "c0ffee"


@dataclass
class Hub:
    """Answers as a hub does: big files are described here and fetched elsewhere."""

    files: dict[str, bytes] = field(default_factory=tiny_model.files)
    repository: str = NAME
    break_after: list[int] = field(default_factory=list)
    damaged: bool = False
    ignores_ranges: bool = False

    def __call__(self, request: Request) -> Response:
        if request.path.startswith("/storage/"):
            return self._stored(request, self.files[request.path.removeprefix("/storage/")])
        match = re.fullmatch(rf"/{self.repository}/resolve/(main|{REVISION})/(.+)", request.path)
        if not match or match[2] not in self.files:
            return Response(404)
        return self._described(match[2], self.files[match[2]])

    def _described(self, path: str, content: bytes) -> Response:
        headers = {"X-Repo-Commit": REVISION}
        if not path.endswith(".onnx"):
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            return Response(200, content, {**headers, "ETag": f'W/"{blob}"'})
        digest = hashlib.sha256(content).hexdigest()
        sent_on = {"X-Linked-ETag": f'"{digest}"', "X-Linked-Size": str(len(content))}
        return Response(302, headers={**headers, **sent_on, "Location": f"/storage/{path}"})

    def _stored(self, request: Request, content: bytes) -> Response:
        if self.damaged:
            content = b"?" * len(content)
        until = self.break_after.pop(0) if self.break_after else None
        asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("range", ""))
        if not asked or self.ignores_ranges:
            return Response(200, content, break_after=until)
        return Response(206, content[int(asked[1]) :], break_after=until)


ignore = unreported


def opened(models_dir: Path, name: str = NAME, dimensions: int = 0) -> Embedder:
    found = open_embedder("local", name, dimensions, models_dir=models_dir, cache_dir=models_dir / "cache")
    assert not isinstance(found, NoModel), found.reason
    return found


def reason(models_dir: Path, name: str = NAME, dimensions: int = 0) -> str:
    found = open_embedder("local", name, dimensions, models_dir=models_dir, cache_dir=models_dir / "cache")
    assert isinstance(found, NoModel)
    return found.reason


def storage_requests(requests: list[Request]) -> list[str]:
    return [r.headers.get("range", "whole") for r in requests if r.path.startswith("/storage/")]


def test_a_pulled_model_turns_text_into_vectors(tmp_path: Path) -> None:
    with serving(Hub()) as server:
        card = pull(NAME, tmp_path, server.url, ignore)
    vectors = opened(tmp_path).embed(["cat", "cat dog", "dog"], "passage")
    half = 0.5**0.5
    np.testing.assert_allclose(vectors, [[0, 1, 0, 0], [0, half, half, 0], [0, 0, 1, 0]], atol=1e-6)
    assert card == opened(tmp_path).card
    assert card.fingerprint == hashlib.sha256(tiny_model.onnx_model()).hexdigest()


def test_all_files_come_from_one_revision(tmp_path: Path) -> None:
    with serving(Hub()) as server:
        pull(NAME, tmp_path, server.url, ignore)
    described = [r.path for r in server.requests if "/resolve/" in r.path]
    assert all(f"/{REVISION}/" in path for path in described[1:])


def test_progress_ends_with_every_file_whole(tmp_path: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}
    with serving(Hub()) as server:
        pull(NAME, tmp_path, server.url, lambda file, arrived, total: seen.update({file: (arrived, total)}))
    sizes = {Path(path).name: len(content) for path, content in tiny_model.files().items()}
    assert seen == {name: (size, size) for name, size in sizes.items()}


def test_a_connection_that_breaks_is_taken_up_again_where_it_broke(tmp_path: Path) -> None:
    with serving(Hub(break_after=[100, 50])) as server:
        pull(NAME, tmp_path, server.url, ignore)
    assert storage_requests(server.requests) == ["whole", "bytes=100-", "bytes=150-"]
    assert (tmp_path / FOLDER / "model.onnx").read_bytes() == tiny_model.onnx_model()


def test_what_an_interrupted_pull_left_is_not_fetched_again(tmp_path: Path) -> None:
    with (
        serving(Hub(break_after=[100, 0])) as server,
        pytest.raises(Unavailable, match="same command resumes"),
    ):
        pull(NAME, tmp_path, server.url, ignore)
    assert not (tmp_path / FOLDER / "model.onnx").exists()
    with serving(Hub()) as server:
        pull(NAME, tmp_path, server.url, ignore)
    assert storage_requests(server.requests) == ["bytes=100-"]
    assert opened(tmp_path).embed(["cat"], "query").shape == (1, 4)


def test_a_server_that_cannot_resume_sends_the_whole_file(tmp_path: Path) -> None:
    with serving(Hub(break_after=[100], ignores_ranges=True)) as server:
        pull(NAME, tmp_path, server.url, ignore)
    assert (tmp_path / FOLDER / "model.onnx").read_bytes() == tiny_model.onnx_model()


def test_a_part_of_another_version_is_not_continued(tmp_path: Path) -> None:
    with serving(Hub(break_after=[100, 0])) as server, pytest.raises(Unavailable):
        pull(NAME, tmp_path, server.url, ignore)
    newer = {**tiny_model.files(), "onnx/model.onnx": tiny_model.onnx_model("token_embeddings")}
    with serving(Hub(newer)) as server:
        pull(NAME, tmp_path, server.url, ignore)
    assert storage_requests(server.requests) == ["whole"]


def test_a_file_that_is_already_here_is_not_fetched_again(tmp_path: Path) -> None:
    with serving(Hub()) as server:
        pull(NAME, tmp_path, server.url, ignore)
        pull(NAME, tmp_path, server.url, ignore)
    assert storage_requests(server.requests) == ["whole"]


def test_a_damaged_file_is_refused_and_thrown_away(tmp_path: Path) -> None:
    with serving(Hub(damaged=True)) as server, pytest.raises(Unavailable, match="arrived damaged"):
        pull(NAME, tmp_path, server.url, ignore)
    assert not list((tmp_path / FOLDER).glob("model.onnx*"))
    assert "model pull someone/tiny" in reason(tmp_path)


def test_without_a_network_the_way_around_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"copy model.onnx, tokenizer.json and config.json") as failure:
        pull(NAME, tmp_path, free_address(), ignore)
    assert str(tmp_path / FOLDER) in str(failure.value)


def test_a_model_the_hub_does_not_have_is_not_found(tmp_path: Path) -> None:
    with serving(Hub()) as server, pytest.raises(NotFound, match="no model someone/else"):
        pull("someone/else", tmp_path, server.url, ignore)


def test_a_model_without_onnx_is_not_found(tmp_path: Path) -> None:
    files = tiny_model.files()
    del files["onnx/model.onnx"]
    with serving(Hub(files)) as server, pytest.raises(NotFound, match=r"offers no onnx/model.onnx"):
        pull(NAME, tmp_path, server.url, ignore)


def test_a_model_that_cannot_run_gets_no_card(tmp_path: Path) -> None:
    files = {**tiny_model.files(), "onnx/model.onnx": b"not a model"}
    with serving(Hub(files)) as server, pytest.raises(Unavailable, match="cannot be loaded"):
        pull(NAME, tmp_path, server.url, ignore)
    assert not (tmp_path / FOLDER / "card.json").exists()


def test_a_model_that_wants_more_than_tokens_gets_no_card(tmp_path: Path) -> None:
    files = {**tiny_model.files(), "onnx/model.onnx": tiny_model.onnx_model(further_input="pixels")}
    with serving(Hub(files)) as server, pytest.raises(Unavailable, match=r"cannot run.*pixels"):
        pull(NAME, tmp_path, server.url, ignore)
    assert not (tmp_path / FOLDER / "card.json").exists()


def test_a_small_file_moved_within_the_hub_is_followed(tmp_path: Path) -> None:
    hub = Hub()

    def moved(request: Request) -> Response:
        if request.path.endswith("/config.json") and not request.path.startswith("/moved"):
            return Response(307, headers={"Location": f"/moved{request.path}"})
        return hub(Request(request.method, request.path.removeprefix("/moved"), request.headers, b""))

    with serving(moved) as server:
        assert pull(NAME, tmp_path, server.url, ignore).dimensions == 4


def test_a_hub_that_leads_in_circles_is_left(tmp_path: Path) -> None:
    def circling(request: Request) -> Response:
        return Response(302, headers={"Location": "/b" if request.path == "/a" else "/a"})

    with serving(circling) as server, pytest.raises(Unavailable, match="in circles"):
        pull(NAME, tmp_path, server.url, ignore)


def test_a_model_with_a_layer_beyond_its_graph_is_refused(tmp_path: Path) -> None:
    modules = json.dumps([{"type": "sentence_transformers.models.Dense"}]).encode()
    with (
        serving(Hub({**tiny_model.files(), "modules.json": modules})) as server,
        pytest.raises(Invalid, match="not supported"),
    ):
        pull(NAME, tmp_path, server.url, ignore)


@pytest.mark.parametrize("name", ["../../etc", "no slash", "a/../b", "", "a/b/c", "-x/y"])
def test_a_name_that_is_no_name_reaches_neither_disk_nor_network(name: str, tmp_path: Path) -> None:
    with serving(Hub()) as server, pytest.raises(Invalid):
        pull(name, tmp_path, server.url, ignore)
    assert server.requests == []
    assert list(tmp_path.iterdir()) == []
    if name:  # as a setting, no name means the default model
        assert "mcp-memory model pull" in reason(tmp_path, name)


def test_only_web_addresses_are_fetched(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="not an http or https address"):
        pull(NAME, tmp_path, "file:///etc", ignore)


def test_what_a_model_says_of_itself_is_kept_on_its_card(tmp_path: Path) -> None:
    own = {
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "sentence_bert_config.json": {"max_seq_length": 7},
        "config_sentence_transformers.json": {"prompts": {"query": "query ", "document": "dog "}},
    }
    files = {path: json.dumps(content).encode() for path, content in own.items()}
    with serving(Hub({**tiny_model.files(), **files})) as server:
        card = pull(NAME, tmp_path, server.url, ignore)
    assert (card.pooling, card.max_tokens, card.query_prefix, card.passage_prefix) == (
        "cls",
        7,
        "query ",
        "dog ",
    )
    assert card.unrelated_cosine <= card.same_cosine <= 1
    model = opened(tmp_path)
    np.testing.assert_allclose(model.embed(["cat"], "query"), [[0, 0, 0, 1]])
    np.testing.assert_allclose(model.embed(["cat"], "passage"), [[0, 0, 1, 0]])


def test_the_prefixes_of_a_known_model_are_used(tmp_path: Path) -> None:
    name = "intfloat/multilingual-e5-small"
    tiny_model.write_to(tmp_path / "intfloat--multilingual-e5-small")
    card = opened(tmp_path, "multilingual-e5-small").card
    assert card.name == name
    assert (card.query_prefix, card.passage_prefix, card.pooling) == ("query: ", "passage: ", "mean")
    assert (card.unrelated_cosine, card.same_cosine) == (0.75, 0.95)


def test_a_model_copied_by_hand_needs_no_card(tmp_path: Path) -> None:
    tiny_model.write_to(tmp_path / FOLDER)
    model = opened(tmp_path)
    assert model.card == ModelCard(
        name=NAME,
        dimensions=4,
        fingerprint=hashlib.sha256(tiny_model.onnx_model()).hexdigest(),
        max_tokens=64,
    )
    np.testing.assert_allclose(model.embed(["dog"], "passage"), [[0, 0, 1, 0]])


def test_padding_does_not_leak_into_shorter_texts(tmp_path: Path) -> None:
    tiny_model.write_to(tmp_path / FOLDER)
    vectors = opened(tmp_path).embed(["cat", "cat " * 30, ""], "passage")
    np.testing.assert_allclose(vectors, [[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], atol=1e-6)


def test_weights_that_changed_after_the_pull_are_refused(tmp_path: Path) -> None:
    with serving(Hub()) as server:
        pull(NAME, tmp_path, server.url, ignore)
    opened(tmp_path).embed(["cat"], "query")
    (tmp_path / FOLDER / "model.onnx").write_bytes(tiny_model.onnx_model("token_embeddings"))
    with pytest.raises(Unavailable, match="has changed since"):
        opened(tmp_path).embed(["cat"], "query")


def test_a_missing_model_is_an_answer_that_says_what_to_do(tmp_path: Path) -> None:
    assert "`mcp-memory model pull someone/tiny`" in reason(tmp_path)


def test_a_folder_that_cannot_be_read_is_an_answer_too(tmp_path: Path) -> None:
    tiny_model.write_to(tmp_path / FOLDER)
    (tmp_path / FOLDER / "config.json").write_text("[broken")
    assert "model pull someone/tiny` again" in reason(tmp_path)


def test_a_model_of_another_size_than_configured_is_an_answer_too(tmp_path: Path) -> None:
    tiny_model.write_to(tmp_path / FOLDER)
    assert "set EMBEDDING_DIMENSIONS=4" in reason(tmp_path, dimensions=384)
