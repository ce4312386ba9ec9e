"""Runs a sentence model on this machine, with onnxruntime and the model's own tokenizer."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_memory.embedding.card import ModelCard, Purpose
from mcp_memory.errors import MemoryServerError, Unavailable

if TYPE_CHECKING:
    from mcp_memory.embedding.card import Vectors

# numpy, onnxruntime and tokenizers are imported where a model is used: a server must be able
# to answer its first request before it has paid for them.

_BATCH = 8  # texts; more cost memory and are no faster
_LONG = 48  # tokens; a single text of more is computed faster by several threads than by one
# A batch's longest text has at most so many times the tokens of its shortest, plus so many.
_STRETCH, _SPREAD = 1.5, 16
_MOST_FORESEEN = 500  # characters; a longer text takes so long that its beginning does not matter
_MAX_THREADS = 4
_BEGINNING = 0.0005  # seconds that a thread takes to begin at most, unless all are busy
_SPIN = 100  # microseconds; the operators of one run follow each other faster than a thread wakes up
_CHARACTERS_PER_TOKEN = 64  # far above any language's; avoids tokenizing text that is truncated anyway
_HIDDEN_STATES = ("last_hidden_state", "token_embeddings")


@dataclass(frozen=True)
class ModelWeights:
    """A model as onnxruntime takes it."""

    model: bytes | str
    """An ONNX model, or the path of one."""
    folder: Path
    """The folder of the weight files that the model refers to."""

    @property
    def are_apart(self) -> bool:
        """Whether the weights are in files beside the model, which are mapped and not read."""
        return isinstance(self.model, bytes)


class OnnxEmbedder:
    """One model, loaded once by the first text; safe to share between threads."""

    def __init__(self, card: ModelCard, tokenizer: Path, weights: Callable[[], ModelWeights]) -> None:
        """`weights` is called when the model is loaded, and may refuse with `Unavailable`."""
        self.card = card
        self._tokenizer = tokenizer
        self._weights = weights
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._foreseen: dict[tuple[str, Purpose], Future[Vectors]] = {}
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="embedding")

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        import numpy as np

        vectors = np.empty((len(texts), self.card.dimensions), np.float32)
        if not texts:
            return vectors
        model = self._model()
        tokens = [model.tokens(self._prefix(purpose) + text) for text in texts]
        if len(tokens) == 1:
            return model.vectors(tokens)

        def compute(batch: list[int]) -> None:
            vectors[batch] = model.vectors([tokens[index] for index in batch])

        share = -(-len(tokens) // model.runs_at_once)
        made = batches([len(ids) for ids in tokens], min(_BATCH, share))
        list((self._threads.map if model.runs_at_once > 1 else map)(compute, made))
        return vectors

    def begin(self, text: str, purpose: Purpose) -> Callable[[], Vectors] | None:
        """Start embedding a text in another thread; None while the model is not loaded."""
        if self._loaded is None:
            return None
        begun = self._foreseen.pop((text, purpose), None) or self._submitted(self._loaded, text, purpose)
        return begun.result

    def foresee(self, text: str, purpose: Purpose) -> None:
        if self._loaded is None or len(text) > _MOST_FORESEEN:
            return
        if len(self._foreseen) >= _MAX_THREADS:
            # Calls that were refused never come for theirs.
            for key, begun in list(self._foreseen.items()):
                if begun.done():
                    self._foreseen.pop(key, None)
            if len(self._foreseen) >= _MAX_THREADS:
                return  # all threads are busy: begun now or later, it is done at the same time
        self._foreseen[text, purpose] = self._submitted(self._loaded, text, purpose)

    def _submitted(self, model: _Loaded, text: str, purpose: Purpose) -> Future[Vectors]:
        # Cut into tokens here: that would let go of the interpreter in the other thread, and have it wait for
        # this one before it computes.
        tokens = model.tokens(self._prefix(purpose) + text)
        computing = threading.Lock()
        computing.acquire()
        begun = self._threads.submit(model.vectors, [tokens], computing.release)
        # To begin it needs the interpreter, which this thread would keep: what it does has time until later.
        computing.acquire(timeout=_BEGINNING)
        return begun

    def _prefix(self, purpose: Purpose) -> str:
        return self.card.query_prefix if purpose == "query" else self.card.passage_prefix

    def _model(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> _Loaded:
        try:
            return _Loaded(self.card, self._tokenizer, self._weights())
        except MemoryServerError:
            raise
        except Exception as error:  # onnxruntime's and tokenizers' errors have no common root
            raise Unavailable(f"the model {self.card.name} cannot be loaded: {error}") from error


class _Loaded:
    """The tokenizer and the sessions. They are only read once made, so threads may share them.

    One thread computes a short text as fast as two, with a third less processor time, and leaves a core to
    the search that waits for it; several batches side by side are faster than one after the other by all
    cores. So a session has one thread, and only a single long text is computed by all.
    """

    def __init__(self, card: ModelCard, tokenizer: Path, weights: ModelWeights) -> None:
        self._card = card
        self._tokenizer, self._pad_id = _open_tokenizer(tokenizer, card.max_tokens)
        self._weights = weights
        self._lock = threading.Lock()
        self._for_long: Any = None
        cores = min(_MAX_THREADS, os.cpu_count() or 1)
        # A second session on weights within the model's own file would hold all of them twice.
        self._cores, self.runs_at_once = (cores, cores) if weights.are_apart else (1, 1)
        self._session = _open_session(weights, 1 if weights.are_apart else cores)
        self._inputs = {entry.name: _integer(entry.type) for entry in self._session.get_inputs()}
        outputs = [entry.name for entry in self._session.get_outputs()]
        self._output = next((name for name in _HIDDEN_STATES if name in outputs), outputs[0])

    def tokens(self, text: str) -> list[int]:
        short = readable(text[: self._card.max_tokens * _CHARACTERS_PER_TOKEN])
        ids: list[int] = self._tokenizer.encode(short).ids
        return ids

    def vectors(
        self, batch: Sequence[Sequence[int]], computing: Callable[[], object] = lambda: None
    ) -> Vectors:
        """One row of length one per list of tokens. `computing` is called when the interpreter is needed no
        more, until all is computed.
        """
        import numpy as np

        width = max(1, *map(len, batch))
        ids = np.full((len(batch), width), self._pad_id, np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        session = self._session_for_long() if len(batch) == 1 and width > _LONG else self._session
        return unit_rows(self._pooled(self._run(session, ids, mask, computing), mask), self._card)

    def _session_for_long(self) -> Any:
        """Made when first needed: it keeps the mapped pages of the weights in memory beside their copy."""
        if self._cores == 1:
            return self._session
        with self._lock:
            if self._for_long is None:
                self._for_long = _open_session(self._weights, self._cores, copied=False)
            return self._for_long

    def _run(self, session: Any, ids: Any, mask: Any, computing: Callable[[], object]) -> Any:
        import numpy as np

        known = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.broadcast_to(np.arange(ids.shape[1]), ids.shape),
        }
        try:
            given = {name: known[name].astype(kind) for name, kind in self._inputs.items()}
            computing()
            return session.run([self._output], given)[0]
        except Exception as error:  # as in `_load`; a model may also want an input we do not know
            raise Unavailable(f"the model {self._card.name} cannot run: {error}") from error

    def _pooled(self, states: Any, mask: Any) -> Any:
        if states.ndim == 2:  # the model pools by itself
            return states
        if self._card.pooling == "cls":
            return states[:, 0]
        weights = mask[:, :, None].astype(states.dtype)
        return (states * weights).sum(axis=1) / weights.sum(axis=1).clip(min=1.0)


def _open_tokenizer(file: Path, max_tokens: int) -> tuple[Any, int]:
    """The tokenizer, cutting at `max_tokens` and never padding, and the id to pad with."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    padding = tokenizer.padding or {}
    candidates = (padding.get("pad_id"), tokenizer.token_to_id("[PAD]"), tokenizer.token_to_id("<pad>"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer, next((identifier for identifier in candidates if identifier is not None), 0)


def _open_session(weights: ModelWeights, threads: int, *, copied: bool = True) -> Any:
    """A session with so many threads; `copied`: with a copy of the weights in the order of computing."""
    # On import it writes a device id and queues a telemetry report, unless disabled before;
    # `disable_telemetry_events()` is too late for both.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 (set, not read)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: standard error belongs to the server
    # A number set by us also keeps onnxruntime from pinning its threads to cores it may not have.
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.intra_op.spin_duration_us", str(_SPIN))
    if not copied:
        options.add_session_config_entry("session.disable_prepacking", "1")
    if weights.are_apart:
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(weights.folder)
        )
    return onnxruntime.InferenceSession(weights.model, options, providers=["CPUExecutionProvider"])


def _integer(kind: str) -> str:
    """`tensor(int64)` to `int64`."""
    return kind.removeprefix("tensor(").removesuffix(")")


def batches(lengths: Sequence[int], most: int = _BATCH) -> Iterator[list[int]]:
    """Batches of at most so many text indices, of similar length to limit padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == most or lengths[index] > _STRETCH * lengths[batch[0]] + _SPREAD):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def readable(text: str) -> str:
    """The text as valid Unicode: pairs of surrogates joined, lone ones replaced, no NUL."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", " ")


def unit_rows(rows: Any, card: ModelCard) -> Vectors:
    """Rows of length one; refuses what is not a finite vector of the model's size."""
    import numpy as np

    if rows.ndim != 2 or rows.shape[1] != card.dimensions:
        raise Unavailable(
            f"{card.name} makes vectors of {rows.shape[-1]} dimensions, not {card.dimensions}: "
            f"set EMBEDDING_DIMENSIONS={rows.shape[-1]}"
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise Unavailable(f"{card.name} made a vector that is not a number")
    vectors: Vectors = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
    return vectors
