"""Answers to hooks, and the work that follows after answering."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp_memory.capture import Turn, candidates, read_transcript
from mcp_memory.capture.conversation import Reading
from mcp_memory.capture.transcripts import read_messages
from mcp_memory.engine import Engine
from mcp_memory.engine.arrivals import Injection, Place, joined
from mcp_memory.engine.captures import Heard
from mcp_memory.engine.project import Project, project_of
from mcp_memory.errors import MemoryServerError
from mcp_memory.model import client_name
from mcp_memory.server.hooks.call import HookCall, read_call
from mcp_memory.server.hooks.transcript_file import read_from
from mcp_memory.thin import kept_digest
from mcp_memory.thin.hook_output import rendered

log = logging.getLogger(__name__)

TWICE = 5.0
"""Seconds within which equal prompts of a session count as one, reported by two hooks."""

CANNOT_INJECT = frozenset({("cursor", "prompt"), ("vscode", "prompt")})
"""Clients that ignore the output of this kind of hook."""

LONGEST_QUEUE = 200

Work = Callable[[], None]


class Hooks:
    """Answers at once; slow work is queued for a background thread."""

    def __init__(self) -> None:
        self._served: dict[tuple[str, str], float] = {}
        self._work: queue.Queue[Work] = queue.Queue(LONGEST_QUEUE)
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()
        self.starts: dict[str, None] = {}
        """Folders where sessions began, as keys of kept digests, most recent last."""

    def answer(
        self, engine: Engine, request: Mapping[str, Any], *, settings: Mapping[str, str] | None = None
    ) -> str:
        """The text for the hook to print, or empty. Never raises on client input.

        `settings` are those of the connection; a digest for the next start is kept under them.
        """
        payload = request.get("payload")
        call = read_call(
            str(request.get("event") or ""),
            str(request.get("client") or ""),
            payload if isinstance(payload, dict) else {},
        )
        if call.kind == "start":
            began = kept_digest.key(settings or {}, call.folder)
            self.starts.pop(began, None)
            self.starts[began] = None
        try:
            return self._answer(engine, call, str(request.get("start") or ""))
        except MemoryServerError as error:
            log.info("a hook got silence: %s", error)
        except Exception:
            log.exception("a hook could not be answered")
        return ""

    def drain(self) -> None:
        """Wait until the queue is empty."""
        self._work.join()

    def _answer(self, engine: Engine, call: HookCall, start: str) -> str:
        """`start`: `missed` if nothing was injected at the session's start, `shown` if a kept digest was."""
        called_by = replace(
            engine.caller, client=client_name(call.client), tool=client_name(f"hook {call.event}")
        )
        engine = engine.acting_for(called_by)
        project = project_of(call.folder)
        place = Place(session=call.session, client=call.client, project=project.key)
        if call.kind == "turn_end" or (call.kind == "prompt" and _keeps_no_transcript(call)):
            if project.capture:
                self._later(lambda: capture(engine, call, project))
            if call.kind == "turn_end":
                return ""
        if not project.recall or (call.client, call.kind) in CANNOT_INJECT or self._is_repeated(call):
            return ""
        digest = engine.arrivals.at_start(place) if start and call.kind == "prompt" else Injection()
        injection = self._injection(engine, call, place)
        if start == "missed":
            injection = joined(digest, injection)
        return rendered(call.client, call.event, injection.text)

    def _injection(self, engine: Engine, call: HookCall, place: Place) -> Injection:
        if call.kind == "start":
            self._later(engine.arrivals.warm_up)
            return engine.arrivals.at_start(place)
        if call.kind == "prompt":
            return engine.arrivals.for_prompt(call.prompt, place)
        if call.kind == "failure" and call.error:
            return engine.arrivals.for_failure(call.command, call.error, place)
        return Injection()

    def _is_repeated(self, call: HookCall) -> bool:
        """Cursor and VS Code run Claude Code's hooks beside their own: one prompt is served once."""
        if call.kind not in ("prompt", "start"):
            return False
        now, key = time.monotonic(), (call.session, f"{call.kind}\0{call.prompt}\0{call.source}")
        with self._lock:
            self._served = {one: at for one, at in self._served.items() if now - at < TWICE}
            repeated = key in self._served
            self._served[key] = now
        return repeated

    def _later(self, work: Work) -> None:
        with self._lock:
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._run, name="capture", daemon=True)
                self._worker.start()
        try:
            self._work.put_nowait(work)
        except queue.Full:
            log.warning("the capture queue is full; the next hook of this session will catch up")

    def _run(self) -> None:
        while True:
            work = self._work.get()
            try:
                work()
            except MemoryServerError as error:
                log.info("nothing was captured: %s", error)
            except Exception:
                log.exception("a conversation could not be captured")
            finally:
                self._work.task_done()


def capture(engine: Engine, call: HookCall, project: Project) -> None:
    """Read the transcript since the last hook, and store what the rules find."""
    if not call.session or engine.captures.is_paused():
        return
    reading = _reading(engine, call)
    engine.captures.take_in(
        Heard(
            session=call.session,
            client=call.client,
            project=project.key,
            candidates=tuple(candidates(reading.turns)),
            cursor=reading.cursor,
        )
    )
    engine.captures.note_uses(call.session, reading.turns)


def _reading(engine: Engine, call: HookCall) -> Reading:
    if call.messages:
        return read_messages(call.messages)
    if call.transcript:
        cursor = engine.captures.cursor(call.session)
        data, start = read_from(call.transcript, cursor)
        return read_transcript(data, start)
    said = (Turn(id="", text=call.prompt),) if call.prompt else ()
    return Reading(turns=said, cursor=0)


def _keeps_no_transcript(call: HookCall) -> bool:
    return not call.transcript and not call.messages and call.client in ("cursor", "vscode")
