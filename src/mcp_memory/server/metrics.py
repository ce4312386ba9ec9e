"""Request counts and latencies for Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the latency histogram, in seconds."""

UNMATCHED = "unmatched"
"""The route label of unmatched paths, which would otherwise be unbounded."""

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
OTHER_METHOD = "other"
"""The label of every other method: a caller may invent them without end."""


@dataclass
class _Timing:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0


class Measured:
    """An ASGI layer that measures each request until its answer begins."""

    def __init__(self, app: ASGIApp, requests: Requests, clock: Callable[[], float]) -> None:
        """`clock` returns monotonic seconds."""
        self._app = app
        self._requests = requests
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_at, status, took = self._clock(), 500, 0.0

        async def measured(message: Message) -> None:
            nonlocal status, took
            if message["type"] == "http.response.start":
                status, took = message["status"], self._clock() - started_at
            await send(message)

        try:
            await self._app(scope, receive, measured)
        finally:
            route = getattr(scope.get("route"), "path_format", UNMATCHED)
            method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
            self._requests.count(method, route, status, took)


class Requests:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered: dict[tuple[str, str, int], int] = {}
        self._timings: dict[tuple[str, str], _Timing] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            key = (method, route, status)
            self._answered[key] = self._answered.get(key, 0) + 1
            timing = self._timings.setdefault((method, route), _Timing())
            timing.counts[bisect_left(BUCKETS, seconds)] += 1
            timing.seconds += seconds

    def lines(self) -> Iterator[str]:
        with self._lock:
            answered = dict(self._answered)
            timings = {key: (list(one.counts), one.seconds) for key, one in self._timings.items()}
        yield from family("mcp_memory_http_requests_total", "counter", "Requests answered.")
        for (method, route, status), count in answered.items():
            labels = {"method": method, "route": route, "status": str(status)}
            yield sample("mcp_memory_http_requests_total", count, labels)
        name = "mcp_memory_http_request_seconds"
        yield from family(name, "histogram", "Seconds until an answer began.")
        for (method, route), (counts, seconds) in timings.items():
            yield from _histogram(name, counts, seconds, {"method": method, "route": route})


def family(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, value: float, labels: Mapping[str, str] | None = None) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in (labels or {}).items())
    return f"{name}{{{inner}}} {value}" if inner else f"{name} {value}"


def gauge(name: str, help: str, values: Iterable[tuple[Mapping[str, str], float]]) -> Iterator[str]:
    yield from family(name, "gauge", help)
    for labels, value in values:
        yield sample(name, value, labels)


def _histogram(name: str, counts: list[int], seconds: float, labels: dict[str, str]) -> Iterator[str]:
    so_far = 0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
        so_far += count
        yield sample(f"{name}_bucket", so_far, {**labels, "le": bound})
    yield sample(f"{name}_sum", seconds, labels)
    yield sample(f"{name}_count", so_far, labels)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
