"""A small real web server on loopback that tests script request by request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass
class Response:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    break_after: int | None = None
    """Close the connection after this many bytes of the body."""

    @classmethod
    def json(cls, content: object, status: int = 200, **headers: str) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(content).encode(), named)


@dataclass
class Server:
    url: str
    requests: list[Request] = field(default_factory=list)


@contextmanager
def serving(answer: Callable[[Request], Response]) -> Iterator[Server]:
    """A server that gives each request to `answer`; it keeps what it was asked."""
    server: Server

    class Conversation(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(length))
            server.requests.append(request)
            response = answer(request)
            self.send_response(response.status)
            for name, value in {"Content-Length": str(len(response.body)), **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.body[: response.break_after])

        do_GET = do_HEAD = do_POST = _reply  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Conversation) as listener:
        server = Server(f"http://127.0.0.1:{listener.server_port}")
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


def free_address() -> str:
    """An address on loopback where nobody listens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as listener:
        return f"http://127.0.0.1:{listener.server_port}"
