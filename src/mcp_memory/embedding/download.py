"""Downloads one file over HTTP: resumable, verified, and moved into place atomically."""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO
from urllib.parse import urljoin, urlsplit

from mcp_memory.embedding.digest import sha256_of
from mcp_memory.errors import Invalid, NotFound, Unavailable
from mcp_memory.model import Progress

_TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 20
_MAX_REDIRECTS = 5
_AGENT = {"User-Agent": "mcp-memory"}


@dataclass(frozen=True)
class RemoteFile:
    """A file as its server describes it."""

    url: str
    size: int
    etag: str
    """On a hub: the SHA-256 of a large file, the git object id of a small one."""
    revision: str
    """The commit it belongs to, or "" where the server has no commits."""


def look_up(url: str) -> RemoteFile:
    """A file's description, by a HEAD request. Raises `NotFound` if there is none."""
    headers = _head(url)
    size = headers.get("X-Linked-Size") or headers.get("Content-Length")
    if not size or not size.isdigit():
        raise Unavailable(f"{url} does not say how big it is")
    etag = headers.get("X-Linked-ETag") or headers.get("ETag") or ""
    return RemoteFile(
        url=url,
        size=int(size),
        etag=etag.removeprefix("W/").strip('"'),
        revision=headers.get("X-Repo-Commit") or "",
    )


def _head(url: str) -> Message:
    """A file's headers. A redirect to another host is not followed: a hub describes its big
    files itself and then sends elsewhere for the bytes."""
    for _ in range(_MAX_REDIRECTS):
        with _reaching(url), _directly.open(_request(url, method="HEAD"), timeout=_TIMEOUT) as response:
            headers: Message = response.headers
        target = urljoin(url, headers.get("Location", url))
        elsewhere = urlsplit(target).netloc != urlsplit(url).netloc
        if target == url or elsewhere or headers.get("X-Linked-ETag"):
            return headers
        url = target
    raise Unavailable(f"{url} leads round in circles")


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Returns a redirect as the response instead of following it."""

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message
    ) -> IO[bytes]:
        return fp

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


_directly = urllib.request.build_opener(_StayHere)


def download(file: RemoteFile, target: Path, progress: Progress) -> None:
    """Download the file to `target`, unless it is there. A partial download survives a failure."""
    if not _is_intact(target, file):
        target.parent.mkdir(parents=True, exist_ok=True)
        _bring(file, target, lambda arrived: progress(target.name, arrived, file.size))
    progress(target.name, file.size, file.size)


def _bring(file: RemoteFile, target: Path, report: Callable[[int], None]) -> None:
    # The partial file is named after its version, so parts of two versions are never joined.
    version = re.sub(r"\W", "", file.etag)[:16]
    part = target.with_name(f"{target.name}.{version}.part")
    part.touch()
    arrived = -1
    while _size(part) != file.size:
        if _size(part) <= arrived:
            raise Unavailable(f"{file.url} was interrupted after {arrived} of {file.size} bytes")
        arrived = _size(part)
        _go_on(file, part, report)
    if not _is_intact(part, file):
        part.unlink()
        raise Unavailable(f"{file.url} arrived damaged")
    part.replace(target)


def _go_on(file: RemoteFile, part: Path, report: Callable[[int], None]) -> None:
    """One range request for the missing bytes; a broken connection leaves a longer partial file."""
    start = _size(part)
    request = _request(file.url, {"Range": f"bytes={start}-"} if 0 < start < file.size else {})
    with _reaching(file.url):
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    resumed = response.status == http.client.PARTIAL_CONTENT
    with response, part.open("ab" if resumed else "wb") as out:
        for chunk in _chunks(response):
            out.write(chunk)
            report(out.tell())


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Chunks until the end, or until the connection breaks."""
    with suppress(OSError, http.client.HTTPException):
        while chunk := response.read1(_CHUNK):
            yield chunk


def _is_intact(path: Path, file: RemoteFile) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    if re.fullmatch(r"[0-9a-f]{64}", file.etag):
        return sha256_of(path) == file.etag
    if re.fullmatch(r"[0-9a-f]{40}", file.etag):
        return _git_object_id(path) == file.etag
    return True


def _git_object_id(path: Path) -> str:
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    digest.update(path.read_bytes())
    return digest.hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _request(url: str, headers: dict[str, str] | None = None, method: str = "GET") -> urllib.request.Request:
    if urlsplit(url).scheme not in ("http", "https"):
        raise Invalid(f"{url} is not an http or https address")
    return urllib.request.Request(url, headers={**_AGENT, **(headers or {})}, method=method)


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Translates HTTP failures into our errors. A hub answers 401 for a model it does not have."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        failure = NotFound if error.code in (401, 403, 404) else Unavailable
        raise failure(f"{url} answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Unavailable(f"{urlsplit(url).netloc} cannot be reached ({reason})") from error
