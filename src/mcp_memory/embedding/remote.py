"""Vectors from any endpoint that speaks OpenAI's embeddings protocol."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from mcp_memory.embedding.card import ModelCard, NoModel, Purpose
from mcp_memory.embedding.known import REMOTE, Traits
from mcp_memory.embedding.runtime import readable, unit_rows
from mcp_memory.errors import Unavailable

if TYPE_CHECKING:
    from mcp_memory.embedding.card import Vectors

OPENAI = "https://api.openai.com/v1"

_BATCH = 32
_TIMEOUT = 60.0  # seconds
_PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds before each further try
_BREAK = 30.0  # seconds after a failure during which nothing is sent
_LONGEST_PAUSE = 30.0  # seconds; a server that asks for more counts as unreachable
_LONGEST_ANSWER = 16 * 2**20  # bytes; a batch of embeddings with 8,192 numbers each has 6
_PIECE = 2**16  # bytes read at once
_LONGEST_TEXT = 8_000  # bytes: never more tokens than that, and 8,191 is the usual limit


class RemoteEmbedder:
    """Sends texts to an endpoint. The key is sent to no other host, and shown to nobody."""

    def __init__(
        self,
        card: ModelCard,
        base_url: str,
        api_key: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.card = card
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._api_key = api_key
        self._sleep = sleep
        self._clock = clock
        self._failure: Unavailable | None = None
        self._open_until = 0.0

    @property
    def trouble(self) -> str:
        """Why the last call failed; empty after one that succeeded."""
        return str(self._failure or "")

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        import numpy as np

        vectors = np.empty((len(texts), self.card.dimensions), np.float32)
        prefix = self.card.query_prefix if purpose == "query" else self.card.passage_prefix
        for start in range(0, len(texts), _BATCH):
            batch = [_sendable(prefix + text) for text in texts[start : start + _BATCH]]
            rows = np.asarray(self._rows(batch), np.float64)
            vectors[start : start + len(batch)] = unit_rows(rows, self.card)
        return vectors

    def _rows(self, texts: list[str]) -> list[list[float]]:
        answer = self._ask({"model": self.card.name, "input": texts, **self._size()})
        try:
            entries = sorted(answer["data"], key=lambda entry: entry["index"])
            rows = [[float(number) for number in entry["embedding"]] for entry in entries]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise Unavailable(f"{self._place} answered something that is no list of embeddings") from error
        if len(rows) != len(texts) or len(set(map(len, rows))) != 1:
            raise Unavailable(f"{self._place} answered {len(rows)} embeddings for {len(texts)} texts")
        return rows

    def _size(self) -> dict[str, int]:
        """The `dimensions` field, only where the model can be asked for fewer than its own:
        many servers refuse a field they do not know."""
        shortenable = self.card.name.startswith("text-embedding-3-")
        full = REMOTE.get(self.card.name, {}).get("dimensions")
        return {"dimensions": self.card.dimensions} if shortenable and self.card.dimensions != full else {}

    def _ask(self, body: dict[str, Any]) -> Any:
        """Ask with retries. A circuit breaker: after a failure, calls fail at once for a while,
        and the next one is tried without retries."""
        if self._failure is not None and self._clock() < self._open_until:
            raise Unavailable(f"{self._failure}; not asked again for {_BREAK:.0f} s")
        try:
            answer = self._post(body) if self._failure else self._ask_patiently(body)
        except Unavailable as error:
            self._failure, self._open_until = error, self._clock() + _BREAK
            raise
        self._failure = None
        return answer

    def _ask_patiently(self, body: dict[str, Any]) -> Any:
        for pause in _PAUSES:
            try:
                return self._post(body)
            except _Passing as failure:
                wanted = pause if failure.retry_after is None else failure.retry_after
                if wanted > _LONGEST_PAUSE:
                    raise
                self._sleep(wanted)
        return self._post(body)

    def _post(self, body: dict[str, Any]) -> Any:
        try:
            with urllib.request.urlopen(self._request(body), timeout=_TIMEOUT) as response:
                return json.loads(self._whole(response))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise _Passing(f"{self._place} cannot be reached ({reason})") from error
        except (ValueError, RecursionError) as error:
            raise Unavailable(f"{self._place} answered something that is not JSON") from error

    def _whole(self, response: http.client.HTTPResponse) -> bytes:
        """An answer within the limits of size and time: the socket's timeout is only for each piece."""
        answer, deadline = bytearray(), self._clock() + _TIMEOUT
        while piece := response.read1(_PIECE):
            answer += piece
            if len(answer) > _LONGEST_ANSWER:
                raise Unavailable(f"{self._place} answered more than {_LONGEST_ANSWER:,} bytes")
            if self._clock() > deadline:
                raise _Passing(f"{self._place} did not finish its answer within {_TIMEOUT:g} s")
        if response.length:  # the connection ended before the answer did
            raise http.client.IncompleteRead(bytes(answer), response.length)
        return bytes(answer)

    def _request(self, body: dict[str, Any]) -> urllib.request.Request:
        headers = {"Content-Type": "application/json", "User-Agent": "mcp-memory"}
        request = urllib.request.Request(self._url, data=json.dumps(body).encode(), headers=headers)
        if self._api_key:
            # Unlike other headers, an unredirected one is not carried on to another host.
            request.add_unredirected_header("Authorization", f"Bearer {self._api_key}")
        return request

    def _refusal(self, error: urllib.error.HTTPError) -> Unavailable:
        if error.code in (401, 403):  # without the response's text, which may repeat a part of the key
            return Unavailable(f"{self._place} refused the key ({error.code}): check OPENAI_API_KEY")
        complaint = self._complaint(error)
        message = f"{self._place} answered {error.code} to {self.card.name}: {complaint}"
        if error.code >= 500 or (error.code == 429 and "quota" not in complaint):
            return _Passing(message, _seconds(error.headers.get("Retry-After")))
        return Unavailable(message)

    def _complaint(self, error: urllib.error.HTTPError) -> str:
        """The endpoint's error message, with the API key masked."""
        text = error.read(2_000).decode("utf-8", "replace")
        try:
            text = str(json.loads(text)["error"]["message"])
        except (ValueError, KeyError, TypeError, RecursionError):
            text = text or error.reason
        return text[:300].replace(self._api_key, "…") if self._api_key else text[:300]

    @property
    def _place(self) -> str:
        return place(self._url)


class _Passing(Unavailable):
    """A transient failure, to be retried after `retry_after` seconds if the endpoint said so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def _seconds(retry_after: str | None) -> float | None:
    """Seconds to wait. A date is ignored, because clocks differ."""
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return None


def _sendable(text: str) -> str:
    """Valid Unicode, not too long, and not empty, which endpoints refuse."""
    short = readable(text[:_LONGEST_TEXT]).encode()[:_LONGEST_TEXT].decode("utf-8", "ignore")
    return short if short.strip() else "."


def place(url: str) -> str:
    """A URL without its password."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def open_remote(
    model: str,
    dimensions: int,
    base_url: str,
    api_key: str,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> RemoteEmbedder | NoModel:
    """An embedder for the endpoint; nothing is sent before the first text."""
    if urlsplit(base_url).scheme not in ("http", "https"):
        return NoModel(
            f"{base_url!r} is not the address of an embeddings endpoint: it must begin with https://"
        )
    if not api_key and urlsplit(base_url).hostname == "api.openai.com":
        return NoModel("EMBEDDING_PROVIDER is openai, but there is no key: set OPENAI_API_KEY")
    traits = REMOTE.get(model, Traits())
    size = dimensions or traits.get("dimensions")
    if not size:
        return NoModel(f"set EMBEDDING_DIMENSIONS to the length of the vectors that {model} makes")
    fingerprint = f"{place(base_url).rstrip('/')}#{model}@{size}"
    sized: Traits = {**traits, "dimensions": size}
    card = ModelCard(name=model, fingerprint=fingerprint, **sized)
    return RemoteEmbedder(card, base_url, api_key, sleep=sleep, clock=clock)
